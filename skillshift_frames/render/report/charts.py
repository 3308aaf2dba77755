"""The charts of a report: drawn on the page, and brought to life where scripts run."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from typing import Any, NamedTuple

from skillshift_frames.render.charts.live import specification_html
from skillshift_frames.render.charts.save import chart_text
from skillshift_frames.render.escape import escape_html

#: What the extra `plots` brings.
PLOTS = ("altair", "vl_convert")

#: Labels are text between the tags, which stays as it is.
_TAG = re.compile(r"<[a-zA-Z][^>]*>")
#: What its marks are called is not heard in a picture with a name of its own.
_ARIA = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_ID = re.compile(r'\bid="([^"]*)"|\burl\(#([^)]*)\)|\bhref="#([^"]*)"')


class Figure(NamedTuple):
    """A chart with the name of its kind, its heading, and the sentence below it."""

    kind: str
    title: str
    chart: Any  # altair's, of whatever class
    caption: str


def plots_installed() -> bool:
    """Tell whether charts can be drawn on this installation."""
    return all(find_spec(module) is not None for module in PLOTS)


def figure_html(figure: Figure, *, alive: bool) -> str:
    """Show a chart: inline svg, and where it is to come ``alive`` its specification beside it.

    The svg is one picture with a name; a reader that cannot see it has the tables, which say all that it shows.
    """
    spec = json.loads(chart_text(figure.chart, "json"))
    # What a reader hears in place of the picture.
    said = f"{figure.title}. {spec.get('description', '')}"
    svg = _named(chart_text(figure.chart, "svg"), figure.kind, said)
    name = escape_html(figure.title)
    lines = [
        f'<figure id="chart-{figure.kind}"{" data-chart" if alive else ""}>',
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">',
        f'<div class="plot">{svg}</div>',
        "</div>",
        f"<figcaption><b>{name}.</b> {escape_html(figure.caption)}</figcaption>",
    ]
    if alive:
        lines.append(specification_html(spec))
    return "".join(f"{line}\n" for line in [*lines, "</figure>"])


def _named(svg: str, kind: str, said: str) -> str:
    """Give the svg a name of its own, and its inner ids a prefix, for the ids of several charts are alike."""

    def prefixed(match: re.Match[str]) -> str:
        for form, name in zip(('id="{}"', "url(#{})", 'href="#{}"'), match.groups(), strict=True):
            if name is not None:
                return form.format(f"{kind}-{name}")
        return match[0]

    inner = _TAG.sub(lambda tag: _ID.sub(prefixed, _ARIA.sub("", tag[0])), svg)
    return inner.replace("<svg ", f'<svg role="img" aria-label="{escape_html(said)}" ', 1)
