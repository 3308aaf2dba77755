"""The table for a terminal, in the shape of the paper.

Nothing is cut or wrapped: a line is as long as it must be, on a terminal and in a pipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from skillshift_frames.render.escape import escape_text
from skillshift_frames.render.layout import (
    GAP,
    blocks,
    heading,
    measure,
    place,
    segments,
    span_width,
    translate,
    width,
    with_marks,
    without_repeats,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from skillshift_frames.render.document import Document, Row
    from skillshift_frames.render.layout import Box

# Styles only repeat what position and marks already say.
_HEADING = "bold"
_MARK = "yellow"
_NOTE = "dim"

_BETWEEN = (" " * GAP, "")

#: Pieces of text, each with its style. Rich, which turns styles into colours, is imported where colour is wanted.
Line: TypeAlias = list[tuple[str, str]]


def render_text(document: Document, *, color: bool = False) -> str:
    r"""Show a table as lines of text.

    Parameters
    ----------
    document
        The table.
    color
        Add ANSI styles. The caller decides; neither the environment nor the terminal is asked.

    Returns
    -------
    str
        The lines, the last one ended as well.

    Examples
    --------
    >>> from skillshift_frames.render.document import Cell, Column, Document, Row, Spanner
    >>> print(
    ...     render_text(
    ...         Document(
    ...             title="",
    ...             columns=(Column("", "left"), Column("GitLab"), Column("Magento")),
    ...             rows=(Row((Cell("SR"), Cell("17.71"), Cell("25.49", ("⚠",)))),),
    ...             spanners=(Spanner("Website", 1, 2),),
    ...         ),
    ...     ),
    ...     end="",
    ... )  # doctest: -NORMALIZE_WHITESPACE
             Website
        GitLab  Magento
    SR   17.71    25.49 ⚠
    """
    if color:
        return _ansi(text_lines(document))
    lines = ("".join(text for text, _ in line).rstrip() for line in _lines(document))
    return "".join(f"{line}\n" for line in lines)


def text_lines(document: Document) -> Text:
    """Build the lines of a table with their styles.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    Text
        For ``Console.print(..., soft_wrap=True)``; the last line is not ended. It holds no markup, so that a label
        such as ``[bold]`` stays what it is.
    """
    from rich.text import Text  # noqa: PLC0415 - only colour needs rich

    lines = [Text.assemble(*line) for line in _lines(document)]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def _lines(document: Document) -> Iterator[Line]:
    document = translate(document, escape_text)
    boxes = measure(document)
    if document.title:
        yield [(document.title, _HEADING)]
        yield []
    if document.spanners:
        yield _spanner_line(document, boxes)
    yield _row_line(heading(document), document, boxes, style=_HEADING)
    for index, block in enumerate(blocks(document)):
        if index:
            yield []
        for row in without_repeats(block):
            yield _row_line(row, document, boxes)
    if document.notes:
        yield []
    for note in document.notes:
        yield [(with_marks(note.mark, (note.text,)), _NOTE)]


def _spanner_line(document: Document, boxes: list[Box]) -> Line:
    line: Line = []
    for segment in segments(document):
        free = span_width(boxes, segment) - width(segment.title)
        line.append((" " * (free // 2), ""))
        line.append((segment.title, _HEADING))
        line.append((" " * (free - free // 2 + GAP), ""))
    return line


def _row_line(row: Row, document: Document, boxes: list[Box], *, style: str = "") -> Line:
    line: Line = []
    for cell, column, box in zip(row.cells, document.columns, boxes, strict=True):
        text, marks = place(cell, column, box)
        line += [(text, style), (marks, _MARK if cell.marks else ""), _BETWEEN]
    return line


def _ansi(lines: Text) -> str:
    from io import StringIO  # noqa: PLC0415

    from rich.console import Console  # noqa: PLC0415

    console = Console(
        file=StringIO(),
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        no_color=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(lines, soft_wrap=True)
    return capture.get()
