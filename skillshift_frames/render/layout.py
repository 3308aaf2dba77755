"""What the renderers share: escaping a whole document, blocks of rows, and widths for output in one typeface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GAP = 2  # spaces between two columns of text


def translate(
    document: Document,
    escape: Callable[[str], str],
    *,
    prose: Callable[[str], str] | None = None,
) -> Document:
    """Escape every text of a document, so that no renderer can forget one.

    Parameters
    ----------
    document
        The table.
    escape
        The escape of the output language.
    prose
        Another escape for title and notes, which are set as paragraphs.

    Returns
    -------
    Document
        The same table in the output language.

    Examples
    --------
    >>> table = Document("a", (Column("b"),), (Row((Cell("c", ("d",)),)),))
    >>> translate(table, str.upper).rows
    (Row(cells=(Cell(text='C', marks=('D',)),), starts_group=False),)
    """
    prose = prose or escape
    escape = cache(escape)  # the cells of a table share most of their texts
    return Document(
        title=prose(document.title),
        columns=tuple(replace(column, title=escape(column.title)) for column in document.columns),
        rows=tuple(
            replace(row, cells=tuple(_translate_cell(cell, escape) for cell in row.cells))
            for row in document.rows
        ),
        spanners=tuple(replace(s, title=escape(s.title)) for s in document.spanners),
        notes=tuple(Note(prose(note.text), prose(note.mark)) for note in document.notes),
    )


def _translate_cell(cell: Cell, escape: Callable[[str], str]) -> Cell:
    text = escape(cell.text)
    if text == cell.text and not cell.marks:
        return cell  # nearly all are numbers
    return Cell(text, tuple(map(escape, cell.marks)))


def heading(document: Document) -> Row:
    """Give the headings of the columns as one more row.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    Row
        One cell per column.
    """
    return Row(tuple(Cell(column.title) for column in document.columns))


def blocks(document: Document) -> list[list[Row]]:
    """Split the rows where a reader wants to see a gap: between groups.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    list[list[Row]]
        One list per group; one list in all where each group is a single row, for then a gap
        around every row would separate nothing.

    Examples
    --------
    >>> first, second = Row((Cell("a"),), starts_group=True), Row((Cell("a"),))
    >>> [len(block) for block in blocks(Document("", (Column(""),), (first, second, first)))]
    [2, 1]
    >>> [len(block) for block in blocks(Document("", (Column(""),), (first, first, first)))]
    [3]
    """
    groups: list[list[Row]] = []
    for row in document.rows:
        if row.starts_group or not groups:
            groups.append([])
        groups[-1].append(row)
    if all(len(group) == 1 for group in groups):
        return [list(document.rows)] if groups else []
    return groups


def label_spans(block: list[Row]) -> list[int]:
    """Count for each row how many rows its first cell stands for: 0 where it repeats the one above.

    Parameters
    ----------
    block
        Consecutive rows.

    Returns
    -------
    list[int]
        One count per row; they add up to the number of rows.

    Examples
    --------
    >>> label_spans([Row((Cell("a"),)), Row((Cell("a"),)), Row((Cell("b"),))])
    [2, 0, 1]
    """
    spans: list[int] = []
    owner = 0
    for index, row in enumerate(block):
        if index and not row.starts_group and row.cells[0] == block[owner].cells[0]:
            spans[owner] += 1
            spans.append(0)
        else:
            owner = index
            spans.append(1)
    return spans


def without_repeats(block: list[Row]) -> list[Row]:
    """Blank the first cell of each row where it repeats the one above.

    Parameters
    ----------
    block
        Consecutive rows.

    Returns
    -------
    list[Row]
        The same rows, each label once.
    """
    return [
        row if span else replace(row, cells=(Cell(""), *row.cells[1:]))
        for row, span in zip(block, label_spans(block), strict=True)
    ]


def segments(document: Document) -> Iterator[Spanner]:
    """Cover all columns from left to right: the spanners, and one without title for each column between them.

    Parameters
    ----------
    document
        The table.

    Yields
    ------
    Spanner
        Neighbours without gap or overlap.

    Examples
    --------
    >>> table = Document("", (Column("a"), Column("b"), Column("c")), (), (Spanner("S", 1, 2),))
    >>> list(segments(table))
    [Spanner(title='', first=0, last=0), Spanner(title='S', first=1, last=2)]
    """
    starts = {spanner.first: spanner for spanner in document.spanners}
    index = 0
    while index < len(document.columns):
        segment = starts.get(index, Spanner("", index, index))
        yield segment
        index = segment.last + 1


def with_marks(text: str, marks: tuple[str, ...], *, gap: str = " ") -> str:
    """Join a text and its marks; the marks stand behind it.

    Parameters
    ----------
    text
        The text; may be empty.
    marks
        The marks, in order.
    gap
        What stands between two of them.

    Returns
    -------
    str
        The parts that are not empty, joined.

    Examples
    --------
    >>> with_marks("17.71", ("⚠", "158/162"))
    '17.71 ⚠ 158/162'
    """
    return gap.join(filter(None, (text, *marks)))


def has_own_marks(document: Document, index: int) -> bool:
    """Tell whether the marks of a column need a width of their own, so that its numbers stay aligned.

    Parameters
    ----------
    document
        The table.
    index
        The column, counted from 0.

    Returns
    -------
    bool
        True for a column that leans to the right and in which any cell has a mark.
    """
    return document.columns[index].align == "right" and any(
        row.cells[index].marks for row in document.rows
    )


def width(text: str) -> int:
    """Count the columns that a text takes on a terminal.

    Parameters
    ----------
    text
        One line without controls.

    Returns
    -------
    int
        Two for a wide character, none for one that combines.

    Examples
    --------
    >>> width("abc"), width("漢字")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - formats that do not count columns do not pay for it

    return cell_len(text)


@dataclass(frozen=True, slots=True)
class Box:
    """The width of a column: of its texts, and of the marks behind them."""

    text: int
    marks: int = 0

    @property
    def width(self) -> int:
        """Both together."""
        return self.text + self.marks


def measure(document: Document) -> list[Box]:
    """Find the width of every column, wide enough for its heading and for the spanner above.

    Parameters
    ----------
    document
        The table, escaped.

    Returns
    -------
    list[Box]
        One per column.
    """
    rows = [heading(document), *document.rows]
    boxes = [
        _box([row.cells[index] for row in rows], column)
        for index, column in enumerate(document.columns)
    ]
    for spanner in document.spanners:
        covered = range(spanner.first, spanner.last + 1)
        lacking = max(0, width(spanner.title) - span_width(boxes, spanner))
        for position, index in enumerate(covered):
            extra = (lacking + position) // len(covered)  # shares that differ by one at most
            boxes[index] = replace(boxes[index], text=boxes[index].text + extra)
    return boxes


def _box(cells: list[Cell], column: Column) -> Box:
    # The cells of a table share most of their texts, and few have marks.
    text = max(map(width, {cell.text for cell in cells}))
    marked = [cell for cell in cells if cell.marks]
    if column.align == "left":
        return Box(max([text, *(width(cell.text) + width(_tail(cell)) for cell in marked)]))
    return Box(text, max((width(_tail(cell)) for cell in marked), default=0))


def span_width(boxes: list[Box], spanner: Spanner) -> int:
    """Count the columns of the terminal below a spanner, with the gaps between its columns.

    Parameters
    ----------
    boxes
        All columns.
    spanner
        The heading above some of them.

    Returns
    -------
    int
        The width.

    Examples
    --------
    >>> span_width([Box(5), Box(5, 2)], Spanner("Website", 0, 1))
    14
    """
    covered = boxes[spanner.first : spanner.last + 1]
    return sum(box.width for box in covered) + GAP * (len(covered) - 1)


def place(cell: Cell, column: Column, box: Box) -> tuple[str, str]:
    """Fill the box of a column with a cell: texts meet at one edge, marks begin there.

    Parameters
    ----------
    cell
        The cell, escaped.
    column
        Where its texts lean to.
    box
        The space it has.

    Returns
    -------
    tuple[str, str]
        The text and the marks with their padding; together as wide as the box.

    Examples
    --------
    >>> place(Cell("7.10", ("⚠",)), Column("Src"), Box(5, 4))
    (' 7.10', ' ⚠  ')
    """
    used = width(cell.text)
    lead = box.text - used if column.align == "right" else 0
    rest = box.width - lead - used
    if not cell.marks:
        return " " * lead + cell.text, " " * rest
    tail = _tail(cell)
    return " " * lead + cell.text, tail + " " * (rest - width(tail))


def _tail(cell: Cell) -> str:
    return "".join(f" {mark}" for mark in cell.marks) if cell.marks else ""
