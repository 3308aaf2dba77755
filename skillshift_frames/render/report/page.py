"""The page of a report: sections under headings, everything it needs inside, and nothing that it may fetch."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.render.charts.live import policy_html, scripts_html
from skillshift_frames.render.escape import escape_html
from skillshift_frames.render.html import html_table
from skillshift_frames.render.tables import AVAILABLE, UNSTABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillshift_frames.render.document import Document


class Section(NamedTuple):
    """A part of the page: the name that links use, its heading, and its HTML."""

    name: str
    title: str
    body: str


def page_html(
    title: str, lead: Sequence[str], sections: Sequence[Section], scripts: Sequence[str] = ()
) -> str:
    """Put the sections on one page, which fetches nothing and runs nothing but the given scripts."""
    links = "".join(
        f'<li><a href="#{section.name}">{escape_html(section.title)}</a></li>'
        for section in sections
    )
    parts = "".join(
        f'<section id="{section.name}" aria-labelledby="{section.name}-heading">\n'
        f'<h2 id="{section.name}-heading">{escape_html(section.title)}</h2>\n{section.body}</section>\n'
        for section in sections
    )
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy_html(scripts)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape_html(title)}</title>
<style>
{asset("report.css")}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="page">
<header>
<h1>{escape_html(title)}</h1>
{"".join(map(paragraph, lead))}<nav aria-label="Sections">
<ul>{links}</ul>
</nav>
</header>
<main id="main" tabindex="-1">
{parts}</main>
</div>
{scripts_html(scripts)}</body>
</html>
"""


def asset(name: str) -> str:
    """Give a file that lies beside this module."""
    return files("skillshift_frames.render.report").joinpath(name).read_text(encoding="utf-8")


def paragraph(text: str) -> str:
    """Show a text as a paragraph."""
    return f"<p>{escape_html(text)}</p>\n"


def preformatted(text: str, name: str) -> str:
    """Show lines as they are, in a box that can be reached and scrolled with the keyboard."""
    shown = "\n".join(map(escape_html, text.split("\n")))
    return f'<pre role="region" tabindex="0" aria-label="{escape_html(name)}"><code>{shown}</code></pre>\n'


def table_html(document: Document) -> str:
    """Show a table; marks of one sign hang beside their numbers, so that these stay below one another."""
    shown = html_table(document)
    for sign in (UNSTABLE, AVAILABLE):
        shown = shown.replace(f'"mark">{sign}<', f'"mark sign">{sign}<')
    return shown


def terms(pairs: Iterable[tuple[str, str]]) -> str:
    """Show terms with what they mean."""
    items = "".join(
        f"<dt>{escape_html(term)}</dt>\n<dd>{escape_html(words)}</dd>\n" for term, words in pairs
    )
    return f"<dl>\n{items}</dl>\n"


def folded(summary: str, body: str) -> str:
    """Show what is long behind a line that opens it; printed, it is open."""
    return f"<details>\n<summary>{escape_html(summary)}</summary>\n{body}</details>\n"
