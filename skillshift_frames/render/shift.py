"""What a shift says: how a metric falls from the source condition to each other one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.intervals import ends, say_methods
from skillshift_frames.render.leaderboard import entry_names, partial_note
from skillshift_frames.render.machine import SCHEMA_VERSION, coverage_by_run, to_json
from skillshift_frames.render.numbers import format_number
from skillshift_frames.render.tables import (
    ERRORS,
    NOT_APPLICABLE,
    UNDEFINED,
    UNSTABLE,
    coverage_notes,
)
from skillshift_frames.schema import METRICS, STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors

_NAMED = 4

#: A success rate is said to fall; steps and calls may as well rise.
_VERBS = {"SR": "falls"}


def shift_document(
    falls: pl.DataFrame,
    benchmark: Benchmark,
    *,
    metric: str,
    source: str,
    without: Sequence[str] = (),
    uncertainty: Sequence[Note] = (),
    slots: pl.DataFrame | None = None,
) -> Document:
    """Describe how a metric falls, one row per entry or run and condition.

    ``falls`` is a frame of `skillshift_frames.shift` or `skillshift_frames.shift_intervals`; ``without`` names the entries
    that do not have the metric; ``uncertainty`` says how intervals were found; ``slots`` are those of the runs, with marks.
    """
    marks = _Marks(metric, source, slots)
    start = benchmark.title(source)
    columns = (
        Column("Run" if "run" in falls.columns else "Entry", "left"),
        Column("Condition", "left"),
        Column("Shift", "left"),
        *map(Column, (start, "Shifted", "Drop", f"% of {start}")),
    )
    rows: list[Row] = []
    named = named_rows(falls)
    for row in named.iter_rows(named=True):
        first = not rows or rows[-1].cells[0].text != row["name"]
        rows.append(_row(row, benchmark, marks, starts_group=first))
    unit = "points" if METRICS[metric] == "percent" else METRICS[metric]
    notes = [
        *_absence_notes(named, rows, metric),
        *_unstable_notes(rows),
        Note(
            f"Drop: {metric} under {start} − {metric} under the shifted condition, in {unit}; positive where it fell"
        ),
        *_without_notes(without, metric),
        *_partial_notes(named),
        *uncertainty,
    ]
    if any(map(_does_not_subtract, falls.iter_rows(named=True))):
        notes.append(
            Note(
                "Drops are computed before rounding: printed values may differ from a printed drop in the last digit"
            )
        )
    return Document(
        title=f"{benchmark.name}: how {metric} {_VERBS.get(metric, 'changes')} from {start}",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(notes),
    )


def named_rows(falls: pl.DataFrame) -> pl.DataFrame:
    """Give the frame with what its rows are called first: the run, or the entry."""
    if "run" in falls.columns:
        return falls.select(pl.col("run").alias("name"), pl.all())
    key = [name for name in ("entry", "date", "method", "model") if name in falls.columns]
    entries = falls.select(key).unique(maintain_order=True)
    names = entries.with_columns(name=pl.Series(entry_names(entries), dtype=pl.String))
    return falls.join(names, on=key, how="left", nulls_equal=True, maintain_order="left")


def names_without(entries: pl.DataFrame, metric: str) -> list[str]:
    """Name the entries that have no row of a metric; columns as `skillshift_frames.ENTRIES`."""
    key = ["entry", "date", "method", "model"]
    listed = entries.select(key).unique(maintain_order=True)
    named = listed.with_columns(name=pl.Series(entry_names(listed), dtype=pl.String))
    having = entries.filter(pl.col("metric") == metric).select(key)
    left = named.join(having, on=key, how="anti", nulls_equal=True, maintain_order="left")
    return sorted(left.get_column("name"))


class _Marks:
    """Which of the numbers do not apply, and which SFR rests on too few calls: by the runs' slots, or as an entry states."""

    def __init__(self, metric: str, source: str, slots: pl.DataFrame | None) -> None:
        self.metric, self.source = metric, source
        listed = [] if slots is None else slots.filter(metric=metric).iter_rows(named=True)
        self._of_run: dict[tuple[object, object], list[str]] = {
            (row["run"], row["slot"]): row["marks"] for row in listed
        }

    def does_not_apply(self, row: dict[str, Any]) -> bool:
        """Tell whether the metric does not apply to the run or entry."""
        return row.get("applies") is False or "not-applicable" in self._of(row, self.source)

    def of_side(self, row: dict[str, Any], side: str) -> tuple[str, ...]:
        """Give the marks behind a side's number."""
        slot = self.source if side == "source_value" else row["condition"]
        if "run" in row:
            unstable = "unstable" in self._of(row, slot)
        else:
            unstable = self.metric == "SFR" and (row.get("skill_calls") or 0) < STABLE_CALLS
        return (UNSTABLE,) if unstable else ()

    def _of(self, row: dict[str, Any], slot: str) -> list[str]:
        return self._of_run.get((row.get("run"), slot), [])


def _row(row: dict[str, Any], benchmark: Benchmark, marks: _Marks, *, starts_group: bool) -> Row:
    sides = ("source_value", "value")
    partial = row.get("tasks_reason") is not None
    behind = (f"{row['tasks']}/{row['tasks_expected']}",) if partial else ()

    def number(name: str, interval: str = "") -> Cell:
        if row[name] is None:
            of_sides = any(row[side] is None for side in (sides if name not in sides else (name,)))
            absent = of_sides and marks.does_not_apply(row)
            return Cell(NOT_APPLICABLE if absent else UNDEFINED)
        said = marks.of_side(row, name) if name in sides else ()
        return Cell(format_number(row[name]), (*((interval,) if interval else ()), *said, *behind))

    share = ends("SR", row.get("relative_low"), row.get("relative_high"))
    return Row(
        (
            Cell(row["name"]),
            Cell(benchmark.title(row["condition"])),
            Cell(row["shift"] or ""),
            number("source_value"),
            number("value"),
            number("drop", ends(marks.metric, row.get("low"), row.get("high"))),
            number("relative", share),
        ),
        starts_group=starts_group,
    )


def _absence_notes(named: pl.DataFrame, rows: Sequence[Row], metric: str) -> Iterator[Note]:
    """Explain the dashes that the rows show."""
    absent = [
        name
        for name, row in zip(named.get_column("name"), rows, strict=True)
        if any(cell.text == NOT_APPLICABLE for cell in row.cells)
    ]
    if absent:
        names = _list(list(dict.fromkeys(absent)))
        yield Note(f"does not apply: {metric} of {names}", NOT_APPLICABLE)
    if any(cell.text == UNDEFINED for row in rows for cell in row.cells):
        yield Note("undefined on a side, or no share of 0", UNDEFINED)


def _unstable_notes(rows: Sequence[Row]) -> Iterator[Note]:
    if any(UNSTABLE in cell.marks for row in rows for cell in row.cells):
        yield Note(
            f"SFR over fewer than {STABLE_CALLS} skill calls, or over unknown many", UNSTABLE
        )


def _partial_notes(named: pl.DataFrame) -> Iterator[Note]:
    if "tasks_reason" not in named.columns:
        return
    partial = named.filter(pl.col("tasks_reason").is_not_null())
    if partial.height:
        listed = partial.select("name", "tasks_reason").unique(maintain_order=True)
        names, reasons = (listed.get_column(name).to_list() for name in listed.columns)
        yield partial_note(names, reasons, "not comparable with a complete run")


def _list(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _does_not_subtract(row: dict[str, Any]) -> bool:
    """Tell whether the printed drop is not the difference of the printed values."""
    if row["drop"] is None:
        return False
    before, after = (float(format_number(row[name])) for name in ("source_value", "value"))
    return format_number(before - after) != format_number(row["drop"])


def _without_notes(names: Sequence[str], metric: str) -> Iterator[Note]:
    if names:
        yield Note(f"Without {metric}, and so not listed: {_list(names)}")


def shift_notes(
    falls: pl.DataFrame,
    cells: pl.DataFrame,
    bounds: pl.DataFrame,
    benchmark: Benchmark,
    *,
    errors: Errors,
    level: float,
    seed: int,
    resamples: int,
) -> Iterator[Note]:
    """Say how the intervals of runs were found, where there is none, and what was measured."""
    used = set(falls.get_column("method").drop_nulls())
    said = say_methods(used, seed=seed, resamples=resamples)
    together = ", a family's conditions together" if used else ""
    yield Note(f"{100 * level:g} % interval: {said}{together}", "[ ]")
    for what, column, value in (
        ("the drop", "reason", "drop"),
        ("its share", "relative_reason", "relative"),
    ):
        lacking = falls.filter(pl.col(column).is_not_null() & pl.col(value).is_not_null())
        for (reason,), rows in lacking.group_by(column, maintain_order=True):
            named = [
                f"{run} {benchmark.title(condition)}"
                for run, condition in rows.select("run", "condition").head(_NAMED).iter_rows()
            ]
            rest = rows.height - len(named)
            yield Note(
                f"no interval of {what}: {reason}: {', '.join(named)}{f' and {rest} more' if rest else ''}"
            )
    yield from coverage_notes(cells, bounds, benchmark)
    yield Note(f"Unweighted means of cells; {ERRORS[errors]}")


def shift_json(
    falls: pl.DataFrame,
    benchmark: Benchmark,
    *,
    metric: str,
    source: str,
    cells: pl.DataFrame | None = None,
    said: Mapping[str, object] | None = None,
) -> str:
    """Give every fall as one object; of records also their coverage, and ``said`` of how the intervals were found."""
    shown = falls.with_columns(pl.col(pl.Date).cast(pl.String))
    header = {"schema_version": SCHEMA_VERSION, "benchmark": benchmark.name}
    asked = {"metric": metric, "source": source, **(said or {})}
    coverage = {} if cells is None else {"coverage": coverage_by_run(cells)}
    return to_json(header | asked | coverage | {"rows": shown.to_dicts()})
