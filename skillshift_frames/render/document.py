"""One description of a table, finished and formatted; every renderer only reads it.

A `Document` holds text that is ready to be shown: numbers are already rounded, dashes already chosen. A renderer
decides where the text goes and escapes it for its language, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading and the side its cells lean to."""

    title: str
    align: Literal["left", "right"] = "right"


@dataclass(frozen=True, slots=True)
class Spanner:
    """A heading above the columns ``first`` to ``last`` (both included, counted from 0)."""

    title: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, and the marks that qualify it (``⚠``, ``158/162``), shown behind it in this order."""

    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row of cells, one per column; ``starts_group`` where a new run begins (its first cell is the run's label)."""

    cells: tuple[Cell, ...]
    starts_group: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence below the table; ``mark`` is the sign it explains, or empty."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A table ready to be shown: title, columns under spanners, rows in groups, notes."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    spanners: tuple[Spanner, ...] = ()
    notes: tuple[Note, ...] = ()
