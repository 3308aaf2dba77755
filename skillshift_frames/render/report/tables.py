"""The tables that only a report has: coverage, gaps, intervals, verdicts, digests, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner
from skillshift_frames.render.intervals import ends, interval_notes
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.render.tables import (
    AVAILABLE,
    NOT_APPLICABLE,
    UNDEFINED,
    UNSTABLE,
    coverage_by_run_notes,
)
from skillshift_frames.schema import METRICS, STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.compare import Comparison

#: A page is read by people: of a cell so many gaps are named, of an error so much, of all cells with gaps so many.
_TASKS_NAMED, _ERROR_SHOWN, _GAPS_SHOWN = 5, 80, 60

_COUNTS = ("expected", "scored", "errored", "missing")


def coverage_document(
    cells: pl.DataFrame,
    coverage: pl.DataFrame,
    bounds: pl.DataFrame,
    records: Mapping[str, int],
    benchmark: Benchmark,
) -> Document:
    """Describe what was measured, one row per run, and between what its gaps leave the overall SR."""
    columns = (
        Column("Run", "left"),
        Column("Records"),
        *(Column(name.capitalize()) for name in _COUNTS),
        *(Column(title) for title in ("As measured", "Gaps failed", "Gaps passed")),
    )
    between = {run: numbers for run, *numbers in bounds.select("run", "SR", "low", "high").rows()}
    rows = tuple(
        Row(
            (
                Cell(row["run"]),
                Cell(format_count(records[row["run"]])),
                *(Cell(format_count(row[name])) for name in _COUNTS),
                *(Cell(format_number(x, undefined=UNDEFINED)) for x in between[row["run"]]),
            )
        )
        for row in coverage.iter_rows(named=True)
    )
    spanners = (Spanner("Tasks", 2, 5), Spanner("SR overall", 6, 8))
    incomplete = coverage.filter(
        (pl.col("errored") + pl.col("missing") + pl.col("errored_trials") > 0)
        | (pl.col("scored") != pl.col("expected"))
    )
    lacking = set(incomplete.get_column("run"))
    said = [note for run, note in coverage_by_run_notes(cells, bounds, benchmark) if run in lacking]
    complete = coverage.height - len(lacking)
    if complete:
        whole = "No gaps" if not lacking else f"{complete} of {coverage.height} runs have no gaps"
        said.append(Note(f"{whole}: every expected task was scored"))
    return Document(
        f"{benchmark.name}: tasks and gaps of each run", columns, rows, spanners, tuple(said)
    )


def gaps_document(gaps: pl.DataFrame, coverage: pl.DataFrame, benchmark: Benchmark) -> Document:
    """Describe the tasks that were not measured, one row per run, cell and kind of gap."""
    columns = tuple(
        Column(title, "right" if title == "Tasks" else "left")
        for title in ("Run", "Site", "Condition", "Status", "Tasks", "Which")
    )
    key = ["run", "site", "condition", "status"]
    groups = gaps.partition_by(key, maintain_order=True)
    rows: list[Row] = []
    for group in groups[:_GAPS_SHOWN]:
        run, site, condition, status = group.select(key).row(0)
        named = [
            f"{family} ({_shortened(error)})" if error else str(family)
            for family, error in group.select("family", "error").head(_TASKS_NAMED).iter_rows()
        ]
        rest = group.height - len(named)
        starts = not rows or rows[-1].cells[0].text != run
        texts = (
            run,
            benchmark.title(site),
            benchmark.title(condition),
            status,
            format_count(group.height),
            ", ".join(named) + (f" and {format_count(rest)} more" if rest else ""),
        )
        rows.append(Row(tuple(map(Cell, texts)), starts_group=starts))
    notes = []
    if len(groups) > _GAPS_SHOWN:
        notes.append(
            Note(
                f"{format_count(len(groups) - _GAPS_SHOWN)} more rows; the command check lists every gap"
            )
        )
    named_of = dict(gaps.filter(status="missing").group_by("run").len().iter_rows())
    for run, missing in coverage.select("run", "missing").iter_rows():
        unnamed = missing - named_of.get(run, 0)
        if unnamed > 0:
            notes.append(
                Note(
                    f"{run}: {format_count(unnamed)} missing tasks have no name, because no cell of these runs has them"
                )
            )
    return Document("Tasks that were not measured", columns, tuple(rows), notes=tuple(notes))


def _shortened(error: str) -> str:
    return error if len(error) <= _ERROR_SHOWN else f"{error[:_ERROR_SHOWN]}…"


def intervals_document(
    slots: pl.DataFrame,
    intervals: pl.DataFrame,
    benchmark: Benchmark,
    *,
    level: float,
    seed: int,
    resamples: int,
) -> Document:
    """Describe every number of the table with its interval, one row per run and slot: narrow enough for a sheet of paper.

    ``slots`` has ``low`` and ``high`` (`skillshift_frames.render.machine.slots_with_ends`).
    """
    columns = (
        Column("Run", "left"),
        Column("Slot", "left"),
        *(Column(*of) for _ in METRICS for of in (("Value",), ("Interval", "left"))),
        Column("Families"),
    )
    spanners = tuple(
        Spanner(f"{metric} in {unit}", 2 + 2 * place, 3 + 2 * place)
        for place, (metric, unit) in enumerate(METRICS.items())
    )
    families = {
        (run, slot): n
        for run, slot, n in intervals.filter(metric="SR").select("run", "slot", "families").rows()
    }
    by_number = slots.rows_by_key(["run", "slot", "metric"], named=True, unique=True)
    rows = tuple(
        Row(
            (
                Cell(run),
                Cell("O/A" if slot == "overall" else benchmark.title(slot)),
                *(
                    cell
                    for metric in METRICS
                    for cell in _with_ends(metric, by_number[run, slot, metric])
                ),
                Cell(format_count(families[run, slot])),
            ),
            starts_group=slot == benchmark.slots[0],
        )
        for run in slots.get_column("run").unique(maintain_order=True)
        for slot in benchmark.slots
    )
    marks = [
        (UNSTABLE, "unstable", f"SFR over fewer than {STABLE_CALLS} skill calls"),
        (AVAILABLE, "available", "mean of the defined cells only"),
        (NOT_APPLICABLE, "not-applicable", "does not apply: the run records no skill calls"),
        (UNDEFINED, "undefined", "undefined; the notes of the table say why"),
    ]
    there = set(slots.get_column("marks").explode().drop_nulls())
    notes = (
        *(Note(words, sign) for sign, mark, words in marks if mark in there),
        *interval_notes(intervals, level=level, seed=seed, resamples=resamples),
        Note(
            "Families: tasks of a site that are the same under every condition; they are what is resampled"
        ),
    )
    return Document(f"{100 * level:g} % intervals", columns, rows, spanners, notes)


def _with_ends(metric: str, slot: dict[str, Any]) -> Iterator[Cell]:
    if "not-applicable" in slot["marks"]:
        yield Cell(NOT_APPLICABLE)
        yield Cell("")
        return
    signs = {"unstable": UNSTABLE, "available": AVAILABLE}
    marks = tuple(sign for mark, sign in signs.items() if mark in slot["marks"])
    yield Cell(format_number(slot["value"], undefined=UNDEFINED), marks)
    yield Cell(ends(metric, slot["low"], slot["high"]))


def verdicts_document(comparisons: Sequence[Comparison]) -> Document:
    """Describe the decisions of several comparisons with one base, one row each."""
    columns = (
        Column("Treatment", "left"),
        Column("Lift of SR"),
        Column("Pairs"),
        *(Column(title, "left") for title in ("Verdict", "Why", "Recommendation")),
    )
    rows = tuple(Row(tuple(_decision_cells(comparison))) for comparison in comparisons)
    notes = [Note("Lift: treatment − base, in percentage points")]
    if len(comparisons) > 1:
        notes.append(
            Note(
                f"{len(comparisons)} comparisons, each judged by itself, without a correction for their number"
            )
        )
    return Document(f"Against {comparisons[0].base}", columns, rows, notes=tuple(notes))


def _decision_cells(comparison: Comparison) -> Iterator[Cell]:
    overall = comparison.lifts.filter(metric="SR", slot="overall").row(0, named=True)
    lift = format_number(overall["lift"], undefined=UNDEFINED)
    signed = f"+{lift}" if overall["lift"] is not None and overall["lift"] > 0 else lift
    shown = ends("SR", overall["low"], overall["high"])
    yield Cell(comparison.treatment)
    yield Cell(signed, (shown,) if shown else ())
    yield Cell(format_count(comparison.pairs))
    yield Cell(comparison.decision.verdict)
    yield Cell(comparison.decision.reason)
    yield Cell(comparison.decision.recommendation)


def pairs_document(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> Document:
    """Describe texts beside each other, such as packages and their versions."""
    return Document(
        title,
        tuple(Column(name, "left") for name in columns),
        tuple(Row(tuple(map(Cell, row))) for row in rows),
    )
