"""What became of lifts between two dates: baseline, with the skill, and the lift, each with its change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillshift_frames.lift_notes import coverage_text
from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner
from skillshift_frames.render.lift import interval, shown, signed
from skillshift_frames.render.numbers import format_count
from skillshift_frames.stats.paired import fewest_to_tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillshift_frames.regress import Regression

_GROUPS = (("without", "Without"), ("with", "With"), ("lift", "Lift"))


def regression_document(found: Regression) -> Document:
    """Describe the changes, one row for all cases and one per skill and agent."""
    columns = [Column("Skill", "left"), Column("Agent", "left"), Column("Cases")]
    spanners = []
    for _, title in _GROUPS:
        first = len(columns)
        columns += map(Column, ("Old", "New", "Change"))
        spanners.append(Spanner(title, first, first + 2))
    columns.append(Column("What happened", "left"))
    changes = found.changes.to_dicts()
    rows = [_row(row, everything=not place) for place, row in enumerate(changes)]
    head = changes[0]
    return Document(
        title=f"Skill Lift {shown(head['lift_old'])} → {shown(head['lift_new'])}: {head['change']}",
        columns=tuple(columns),
        rows=tuple(rows),
        spanners=tuple(spanners),
        notes=tuple(_notes(found)),
    )


def _row(row: Mapping[str, Any], *, everything: bool) -> Row:
    names = ("all", "all") if everything else (row["skill"] or "–", row["agent"] or "–")
    cells = [*map(Cell, names), Cell(format_count(row["cases"]))]
    for name, _ in _GROUPS:
        ends = interval(row[f"{name}_low"], row[f"{name}_high"])
        cells += [Cell(shown(row[f"{name}_{date}"])) for date in ("old", "new")]
        cells.append(Cell(signed(row[f"{name}_change"]), (ends,) if ends else ()))
    return Row((*cells, Cell(row["change"])), starts_group=everything)


def _too_few(found: Regression) -> str:
    if "too few" not in found.changes.get_column("change"):
        return ""
    needed = fewest_to_tell(found.level)
    return (
        f"too few: all change alike, of which it takes {needed} to reach {100 * found.level:g} %; "
    )


def _notes(found: Regression) -> Iterator[Note]:
    for place, row in enumerate(found.changes.to_dicts()):
        if place and found.changes.height == 2:  # noqa: PLR2004 - one group says what all do
            break
        who = "all" if not place else " ".join(filter(None, (row["skill"], row["agent"]))) or "–"
        yield Note(f"{who}: {row['change']}: {row['reason']}")
    for date, counted in found.coverage.items():
        said = "not said by its files" if counted is None else coverage_text(counted)
        yield Note(f"coverage of the {date} set: {said}")
    yield from map(Note, found.notes)
    yield Note(
        "caught up: without the skill it rose and the lift fell; regressed: the lift fell, and no rise of the baseline is "
        f"shown; {_too_few(found)}groups are looked at one by one, without a correction for their number"
    )
    yield Note(
        f"Lift = with − without; composite: {found.composite}; --errors {found.errors}; negative cases left out"
    )
    yield Note(
        f"{100 * found.level:g} % interval: of changes of the same cases, Student's t, those that share skill and uid taken as one; "
        "where all of these change alike, an exact sign test on them in its place",
        "[ ]",
    )
