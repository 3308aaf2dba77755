"""Frames → descriptions: what a table, its marks and its notes say, ready for any renderer.

Nothing is computed here: numbers are formatted, and what is already in the frames is put into words.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.render.costs import cost_cells, cost_columns, cost_notes
from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner
from skillshift_frames.render.intervals import ends
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.schema import METRICS, STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors
    from skillshift_frames.table import Null

NOT_APPLICABLE, UNDEFINED, UNSTABLE, AVAILABLE = "--", "–", "⚠", "*"

ERRORS = {
    "exclude": "tasks with an error are in no mean (--errors exclude)",
    "zero": "tasks with an error count as failures (--errors zero)",
}
_NULLS = {
    "propagate": "a mean over an undefined cell is undefined (--null propagate)",
    "available": "a mean over an undefined cell is that of the defined ones, and marked (--null available)",
}
_CELLS_NAMED = 4


def table_document(
    slots: pl.DataFrame,
    cells: pl.DataFrame | None,
    bounds: pl.DataFrame | None,
    benchmark: Benchmark,
    *,
    errors: Errors | None,
    null: Null | None,
    uncertainty: Sequence[Note] = (),
) -> Document:
    """Describe the website × condition table in the paper's shape, with every mark explained below it.

    Where ``slots`` has the columns ``low`` and ``high``, they stand behind their numbers; ``uncertainty`` says how they
    were found. Without ``cells`` the coverage is what the slots say of it, and no cell is named; a policy that is None
    is not known, or made no difference, and is not named.
    """
    titles = [benchmark.title(slot) for slot in benchmark.slots[:-1]]
    first, last = 2, 1 + len(benchmark.sites)
    first_metric = next(iter(METRICS))
    spanners = (
        Spanner("Website" if benchmark.name == "skillshift" else "Site", first, last),
        Spanner(
            "Environment" if benchmark.name == "skillshift" else "Condition",
            last + 1,
            last + len(benchmark.conditions),
        ),
        Spanner("O/A", 1 + len(benchmark.slots), 1 + len(benchmark.slots)),
    )
    columns = (Column("Run", "left"), Column("Metric", "left"), *map(Column, titles), Column(""))
    said = [name for name in ("n", "n_expected", "marks", "low", "high") if name in slots.columns]
    silent = pl.col("marks").list.len() == 0
    if "low" in said:
        silent &= pl.col("low").is_null()
    # Most slots have nothing to say but their value; what is null is quickly handed over.
    shown = slots.select("run", "metric", "value", pl.when(~silent).then(pl.struct(said)))
    rows = [
        Row(
            (Cell(run), Cell(metric), *map(_slot_cell, of_row)),
            starts_group=metric == first_metric,
        )
        for (run, metric), of_row in groupby(shown.rows(), key=itemgetter(0, 1))
    ]
    return Document(
        title=f"{benchmark.name}: means of cells, {', '.join(f'{metric} in {unit}' for metric, unit in METRICS.items())}",
        columns=columns,
        rows=tuple(rows),
        spanners=spanners,
        notes=(
            *_mark_notes(slots, cells, benchmark),
            *uncertainty,
            *(
                _coverage_of_slots(slots)
                if cells is None or bounds is None
                else coverage_notes(cells, bounds, benchmark)
            ),
            *_policy_notes(errors, null, means=True),
        ),
    )


def _coverage_of_slots(slots: pl.DataFrame) -> Iterator[Note]:
    """Say per run how many of the expected tasks are behind SR: all that slots know of the coverage."""
    of_runs = slots.filter(metric="SR", slot="overall").select("run", "n", "n_expected")
    for run, n, expected in of_runs.iter_rows():
        yield Note(f"{run}: {format_count(n)} of {format_count(expected)} tasks behind SR")


def _slot_cell(slot: tuple[Any, ...]) -> Cell:
    _, metric, value, said = slot
    number = format_number(value, undefined=UNDEFINED)
    if said is None:  # the usual case
        return Cell(number)
    marks = said["marks"]
    if "not-applicable" in marks:
        return Cell(NOT_APPLICABLE)
    shown = ends(metric, said.get("low"), said.get("high"))
    tail = [shown] if shown else []
    tail += [UNSTABLE] if "unstable" in marks else []
    tail += [AVAILABLE] if "available" in marks else []
    if "partial" in marks or "excess" in marks:
        tail.append(_of(said["n"], said["n_expected"]))
    return Cell(number, tuple(tail))


def _of(n: int, expected: int) -> str:
    return f"{n}/{expected}"


def cells_document(
    cells: pl.DataFrame,
    bounds: pl.DataFrame,
    benchmark: Benchmark,
    *,
    errors: Errors | None,
    uncertainty: Sequence[Note] = (),
) -> Document:
    """Describe the cells, one row each, with their counts; with ``SR_low`` and costs behind the metrics, if there."""
    counts = ("expected", "scored", "errored", "missing")
    columns = (
        *(Column(title, "left") for title in ("Run", "Site", "Condition")),
        *(Column(title) for title in METRICS),
        *(Column(title.capitalize()) for title in counts),
        Column("Calls"),
        Column("Failures"),
        *cost_columns(cells),
    )
    rows = []
    previous = None
    applies = set(cells.filter(pl.col("skill_calls").is_not_null()).get_column("run"))
    measured = set(cells.filter(pl.col("n") > 0).get_column("run"))
    for cell in cells.iter_rows(named=True):
        skills = cell["run"] in applies or cell["run"] not in measured
        rows.append(_cell_row(cell, benchmark, skills=skills, starts_group=cell["run"] != previous))
        previous = cell["run"]
    notes = [
        _partial_note(cells.filter(pl.col("n") != pl.col("expected"))),
        Note(f"SFR over fewer than {STABLE_CALLS} skill calls", UNSTABLE)
        if cells.filter((pl.col("skill_calls") > 0) & (pl.col("skill_calls") < STABLE_CALLS)).height
        else None,
        Note("does not apply: the run records no skill calls", NOT_APPLICABLE)
        if measured - applies
        else None,
        Note("undefined: no scored task, or for SFR no skill call", UNDEFINED)
        if cells.select(pl.any_horizontal(pl.col(list(METRICS)).is_null()).any()).item()
        else None,
        *uncertainty,
        *cost_notes(cells),
        *coverage_notes(cells, bounds, benchmark),
        *_policy_notes(errors, None, means=False),
    ]
    return Document(
        title=f"{benchmark.name}: one row per run and cell",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(note for note in notes if note is not None),
    )


def _cell_row(
    cell: dict[str, Any], benchmark: Benchmark, *, skills: bool, starts_group: bool
) -> Row:
    partial = (_of(cell["n"], cell["expected"]),) if cell["n"] != cell["expected"] else ()
    unstable = (UNSTABLE,) if cell["SFR"] is not None and cell["skill_calls"] < STABLE_CALLS else ()
    no_skills = UNDEFINED if skills else NOT_APPLICABLE

    def number(metric: str, undefined: str, *marks: str) -> Cell:
        interval = ends(metric, cell.get(f"{metric}_low"), cell.get(f"{metric}_high"))
        shown = (interval, *marks) if interval else marks
        return Cell(format_number(cell[metric], undefined=undefined), shown)

    def count(value: int | None) -> Cell:
        return Cell(no_skills if value is None else format_count(value))

    return Row(
        (
            Cell(cell["run"]),
            Cell(benchmark.title(cell["site"])),
            Cell(benchmark.title(cell["condition"])),
            number("SR", UNDEFINED, *partial),
            number("AS", UNDEFINED),
            number("ASC", no_skills),
            number("SFR", no_skills, *unstable),
            *(
                Cell(format_count(cell[name]))
                for name in ("expected", "scored", "errored", "missing")
            ),
            count(cell["skill_calls"]),
            count(cell["skill_failures"]),
            *cost_cells(cell),
        ),
        starts_group=starts_group,
    )


def _mark_notes(
    slots: pl.DataFrame, cells: pl.DataFrame | None, benchmark: Benchmark
) -> Iterator[Note]:
    def marked(mark: str) -> pl.DataFrame:
        return slots.filter(pl.col("marks").list.contains(mark))

    unstable, available = marked("unstable"), marked("available")
    if unstable.height:
        counts = _per_run(
            unstable, lambda slot: f"{benchmark.title(_slot_title(slot))} {slot['calls']}"
        )
        yield Note(f"SFR over fewer than {STABLE_CALLS} skill calls: {counts}", UNSTABLE)
    absent = sorted(set(marked("not-applicable").get_column("run")))
    if absent:
        records = "records" if len(absent) == 1 else "record"
        yield Note(f"does not apply: {', '.join(absent)} {records} no skill calls", NOT_APPLICABLE)
    undefined = marked("undefined").select("run", "metric").unique(maintain_order=True)
    lacks_one = pl.any_horizontal(pl.col(list(METRICS)).is_null())
    of_runs = (
        None
        if cells is None
        else _by_run(cells.filter(lacks_one).select("run", "site", "condition", "n", *METRICS))
    )
    reasons: dict[tuple[str, str], list[str]] = {}
    for run, metric in undefined.iter_rows():
        reason = (
            "in a cell behind it, or in all"
            if of_runs is None
            else _why_undefined(of_runs[run], metric, benchmark)
        )
        reasons.setdefault((run, reason), []).append(metric)
    for (run, reason), metrics in reasons.items():
        yield Note(f"undefined: {run} {', '.join(metrics)}: {reason}", UNDEFINED)
    if available.height:
        counts = _per_run(
            available,
            lambda slot: (
                f"{slot['metric']} {benchmark.title(_slot_title(slot))} {_of(slot['cells'], slot['cells_expected'])}"
            ),
        )
        yield Note(f"mean of the defined cells only: {counts}", AVAILABLE)
    partial = slots.filter((pl.col("metric") == "SR") & (pl.col("n") != pl.col("n_expected")))
    note = _partial_note(partial)
    if note is not None:
        yield note


def _slot_title(slot: dict[str, Any]) -> str:
    return "O/A" if slot["slot"] == "overall" else str(slot["slot"])


def _by_run(frame: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Give the rows of each run, once for all: to filter for one run after the other takes runs times runs."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        rows.setdefault(row["run"], []).append(row)
    return rows


def _per_run(slots: pl.DataFrame, words: Callable[[dict[str, Any]], str]) -> str:
    return "; ".join(
        f"{run}: {', '.join(map(words, rows))}" for run, rows in _by_run(slots).items()
    )


def _partial_note(rows: pl.DataFrame) -> Note | None:
    if not rows.height:
        return None
    return Note("tasks behind the number, of those that the benchmark has", "n/N")


def _why_undefined(cells: list[dict[str, Any]], metric: str, benchmark: Benchmark) -> str:
    undefined = [cell for cell in cells if cell[metric] is None]
    unscored = [cell for cell in undefined if cell["n"] == 0]
    scored = [cell for cell in undefined if cell["n"] > 0]
    if metric == "SFR" and scored:
        if len(undefined) == len(benchmark.sites) * len(benchmark.conditions):
            return "no skill was called"
        reason = f"no skill was called in {_name_cells(scored, benchmark)}"
        return (
            f"{reason}; no scored task in {_name_cells(unscored, benchmark)}"
            if unscored
            else reason
        )
    if metric == "AS" and scored:
        return "steps are not recorded"
    return f"no scored task in {_name_cells(unscored, benchmark)}"


def _name_cells(cells: list[dict[str, Any]], benchmark: Benchmark) -> str:
    return _first_few([_cell_name(cell, benchmark) for cell in cells[:_CELLS_NAMED]], len(cells))


def _first_few(named: list[str], count: int) -> str:
    rest = count - len(named)
    return ", ".join(named) + (f" and {rest} more cells" if rest else "")


def _cell_name(cell: dict[str, Any], benchmark: Benchmark) -> str:
    return f"{benchmark.title(cell['site'])} × {benchmark.title(cell['condition'])}"


def coverage_notes(
    cells: pl.DataFrame, bounds: pl.DataFrame, benchmark: Benchmark
) -> Iterator[Note]:
    """Say per run how many of the expected tasks were scored, and which cells lack some."""
    for _, note in coverage_by_run_notes(cells, bounds, benchmark):
        yield note


def coverage_by_run_notes(
    cells: pl.DataFrame, bounds: pl.DataFrame, benchmark: Benchmark
) -> Iterator[tuple[str, Note]]:
    """Give each run's label with the sentence that `coverage_notes` says of it."""
    ranges = {
        run: (low, high) for run, low, high in bounds.select("run", "low", "high").iter_rows()
    }
    tried = pl.col("scored") + pl.col("errored")
    lacking = _by_run(cells.filter(pl.col("errored") + pl.col("missing") > 0))
    exceeding = _by_run(cells.filter(tried > pl.col("expected")))
    counts = ("expected", "scored", "errored", "missing", "errored_trials")
    for totals in (
        cells.group_by("run", maintain_order=True).agg(pl.col(counts).sum()).iter_rows(named=True)
    ):
        run = totals["run"]
        said = f"{run}: {format_count(totals['scored'])} of {format_count(totals['expected'])} tasks scored"
        gaps = [
            f"{format_count(totals[name])} {name}"
            for name in ("errored", "missing")
            if totals[name]
        ]
        if gaps:
            low, high = map(format_number, ranges[run])
            where = _list_cells(lacking[run], benchmark)
            said += f", {', '.join(gaps)} ({where}); SR between {low} and {high} whatever the unmeasured tasks hold"
        if totals["errored_trials"] > totals["errored"]:
            trials = totals["errored_trials"]
            said += f"; {format_count(trials)} {'trial' if trials == 1 else 'trials'} errored"
        if run in exceeding:
            said += (
                f"; more tasks than the benchmark has in {_list_cells(exceeding[run], benchmark)}"
            )
        yield run, Note(said)


def _list_cells(cells: list[dict[str, Any]], benchmark: Benchmark) -> str:
    named = [
        f"{_cell_name(cell, benchmark)} {_of(cell['scored'], cell['expected'])}"
        for cell in cells[:_CELLS_NAMED]
    ]
    return _first_few(named, len(cells))


def _policy_notes(errors: Errors | None, null: Null | None, *, means: bool) -> Iterator[Note]:
    said = [
        *(["Unweighted means of cells"] if means else []),
        *([ERRORS[errors]] if errors else []),
        *([_NULLS[null]] if null else []),
    ]
    if said:
        yield Note("; ".join(said))
