"""What probes say: whether each left room for a skill to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.numbers import format_count, format_number

if TYPE_CHECKING:
    import polars as pl


def headroom_document(found: pl.DataFrame) -> Document:
    """Describe probes, one row each."""
    left, right = ("Probe", "Skill", "Headroom", "Efforts"), ("Control", "Treatment", "Cards")
    rows = []
    for row in found.iter_rows(named=True):
        rates = [
            Cell(format_number(row[f"{arm}_rate"]), (share(row, arm),))
            for arm in ("control", "treatment")
        ]
        named = (row["probe"], row["skill"], row["headroom"], ", ".join(row["efforts"]))
        rows.append(Row((*map(Cell, named), *rates, Cell(format_count(row["cards"])))))
    columns = (*(Column(title, "left") for title in left), *map(Column, right))
    note = Note("Control and Treatment: share of usable trials in which the act was seen")
    return Document("Headroom", columns, tuple(rows), notes=(note,))


def share(row: dict[str, Any], arm: str) -> str:
    """Give the trials of an arm in which the act was seen, of those that could be judged."""
    return f"{row[f'{arm}_present']}/{row[f'{arm}_usable']}"
