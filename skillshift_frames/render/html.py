"""The table in HTML: one small page without scripts and without anything to fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift_frames.render.escape import escape_html
from skillshift_frames.render.layout import (
    blocks,
    label_spans,
    segments,
    translate,
    with_marks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillshift_frames.render.document import Cell, Column, Document, Row

_STYLE = """\
:root { color-scheme: light dark; --mark: #8a4b00; --line: #8888; }
body { font: 1rem/1.4 system-ui, sans-serif; margin: 1.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; border-block: 2px solid; font-variant-numeric: tabular-nums; }
caption { font-weight: bold; text-align: start; padding-block: .5rem; }
th, td { padding: .15rem .6rem; text-align: left; vertical-align: baseline; white-space: nowrap; }
th.right, td.right { text-align: right; }
thead th[colspan] { text-align: center; border-bottom: 1px solid var(--line); }
thead th { vertical-align: bottom; }
tbody { border-top: 1px solid var(--line); }
tbody th { font-weight: normal; }
.mark { color: var(--mark); font-size: .85em; }
.notes { font-size: .85rem; list-style: none; padding: 0; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { :root { --mark: #ffc46b; } }
@media print { :root { color-scheme: light; --mark: #000; } .scroll { overflow: visible; } tr { break-inside: avoid; } }"""

_UNTITLED = "Table"


def render_html(document: Document) -> str:
    """Show a table as a complete page.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    str
        HTML 5 with its style inside.

    Examples
    --------
    >>> from skillshift_frames.render.document import Column, Document
    >>> render_html(Document("SkillShift", (Column("Run"),), ())).splitlines()[:2]
    ['<!DOCTYPE html>', '<html lang="en">']
    """
    title = escape_html(document.title) or _UNTITLED
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<main>
{html_table(document)}</main>
</body>
</html>
"""


def html_table(document: Document) -> str:
    """Show a table as a fragment, for a page that brings its own style.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    str
        The table, inside a region that scrolls, and the notes as a list.

    Examples
    --------
    >>> from skillshift_frames.render.document import Cell, Column, Document, Row
    >>> table = Document("", (Column("Run"), Column("SR")), (Row((Cell("<b>"), Cell("1.00"))),))
    >>> [line for line in html_table(table).splitlines() if "1.00" in line]
    ['<tr><th scope="row" class="right">&lt;b&gt;</th><td class="right">1.00</td></tr>']
    """
    return "".join(f"{line}\n" for line in _lines(translate(document, escape_html)))


def _lines(document: Document) -> Iterator[str]:
    # Whoever uses a keyboard must be able to reach what scrolls, and to hear what it is.
    name = document.title or _UNTITLED
    yield f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">'
    yield "<table>"
    if document.title:
        yield f"<caption>{document.title}</caption>"
    for segment in segments(document):
        yield f'<colgroup span="{segment.last - segment.first + 1}"></colgroup>'
    yield "<thead>"
    yield from map(_line, _head(document))
    yield "</thead>"
    for block in blocks(document):
        yield "<tbody>"
        for row, span in zip(block, label_spans(block), strict=True):
            yield _line(_cells(row, document, block, span))
        yield "</tbody>"
    yield "</table>"
    yield "</div>"
    yield from _notes(document)


def _head(document: Document) -> Iterator[list[str]]:
    above: list[str] = []
    below: list[str] = []
    for segment in segments(document):
        columns = document.columns[segment.first : segment.last + 1]
        if segment.title and any(column.title for column in columns):
            above.append(f'<th scope="colgroup" colspan="{len(columns)}">{segment.title}</th>')
            below += [_heading(column, column.title) for column in columns]
        else:  # one of the two headings is missing: the other takes both lines
            above += [
                _heading(column, column.title or segment.title, rows=1 + bool(document.spanners))
                for column in columns
            ]
    yield above
    if document.spanners:
        yield below


def _heading(column: Column, title: str, *, rows: int = 1) -> str:
    tag = 'th scope="col"' if title else "td"  # an empty heading would be read out as one
    return _element(f"{tag}{_rowspan(rows)}{_side(column)}", title)


def _cells(row: Row, document: Document, block: list[Row], span: int) -> Iterator[str]:
    for index, (cell, column) in enumerate(zip(row.cells, document.columns, strict=True)):
        tag = "td"
        if index == 0:
            scope = "rowgroup" if span == len(block) > 1 else "row"
            tag = f'th scope="{scope}"{_rowspan(span)}'
        elif (
            index == 1 and span != 1
        ):  # the label is that of several rows: this cell tells them apart
            tag = 'th scope="row"'
        if index or span:
            yield _element(f"{tag}{_side(column)}", _content(cell))


def _notes(document: Document) -> Iterator[str]:
    if document.notes:
        yield '<ul class="notes">'
        for note in document.notes:
            marks = (_mark(note.mark),) if note.mark else ()
            yield _element("li", " ".join((*marks, note.text)))
        yield "</ul>"


def _content(cell: Cell) -> str:
    return with_marks(cell.text, tuple(map(_mark, cell.marks)))


def _mark(mark: str) -> str:
    return _element('span class="mark"', mark)


def _side(column: Column) -> str:
    return ' class="right"' if column.align == "right" else ""


def _rowspan(count: int) -> str:
    return f' rowspan="{count}"' if count > 1 else ""


def _line(cells: Iterable[str]) -> str:
    return _element("tr", "".join(cells))


def _element(tag: str, content: str) -> str:
    return f"<{tag}>{content}</{tag.split(maxsplit=1)[0]}>"
