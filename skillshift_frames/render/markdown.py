"""The table in GitHub's Markdown, padded so that the source reads as a table too."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from skillshift_frames.render.escape import escape_markdown
from skillshift_frames.render.layout import (
    Box,
    heading,
    measure,
    place,
    segments,
    translate,
    with_marks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.render.document import Column, Document, Row

# The shortest cell of the alignment row: ``---``, or ``--:``.
_NARROWEST = 3

# At the start of an item these would begin a list inside it.
_LIST_START = re.compile(r"^(?:(?=[-+])|(?<=^)(\d+)(?=[.)]))")


def render_markdown(document: Document) -> str:
    r"""Show a table as a GitHub pipe table.

    Markdown has no cells across several columns: a spanner is left out where the headings below it are clear without
    it, and joined to them where they are empty or occur twice.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    str
        The title in bold, the table, the notes as a list.

    Examples
    --------
    >>> from skillshift_frames.render.document import Cell, Column, Document, Note, Row
    >>> print(
    ...     render_markdown(
    ...         Document(
    ...             title="SkillShift",
    ...             columns=(Column("Run", "left"), Column("SR")),
    ...             rows=(Row((Cell("a|b"), Cell("17.71", ("⚠",)))),),
    ...             notes=(Note("few calls", "⚠"),),
    ...         ),
    ...     ),
    ...     end="",
    ... )
    **SkillShift**
    <BLANKLINE>
    | Run  |    SR   |
    | :--- | ------: |
    | a\|b | 17.71 ⚠ |
    <BLANKLINE>
    - ⚠ few calls
    """
    document = replace(_fold_spanners(translate(document, escape_markdown)), spanners=())
    parts = ["\n".join(_table(document))]
    if title := document.title.strip():
        parts.insert(0, f"**{title}**")
    if document.notes:
        parts.append("\n".join(_item(note.mark, note.text) for note in document.notes))
    return "\n\n".join(parts) + "\n"


def _fold_spanners(document: Document) -> Document:
    occurrences = Counter(column.title for column in document.columns)
    columns = list(document.columns)
    for segment in segments(document):
        for index in range(segment.first, segment.last + 1):
            title = columns[index].title
            if not title or occurrences[title] > 1:
                columns[index] = replace(columns[index], title=with_marks(segment.title, (title,)))
    return replace(document, columns=tuple(columns))


def _table(document: Document) -> Iterator[str]:
    boxes = [replace(box, text=max(box.text, _NARROWEST - box.marks)) for box in measure(document)]
    yield _line(heading(document), document, boxes)
    rules = (_rule(c, b) for c, b in zip(document.columns, boxes, strict=True))
    yield f"| {' | '.join(rules)} |"
    for row in document.rows:
        yield _line(row, document, boxes)


def _line(row: Row, document: Document, boxes: list[Box]) -> str:
    placed = map(place, row.cells, document.columns, boxes)
    return f"| {' | '.join(text + marks for text, marks in placed)} |"


def _rule(column: Column, box: Box) -> str:
    dashes = "-" * (box.width - 1)
    return f":{dashes}" if column.align == "left" else f"{dashes}:"


def _item(mark: str, text: str) -> str:
    return "- " + _LIST_START.sub(r"\1\\", with_marks(mark, (text,)).strip())
