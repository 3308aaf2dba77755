"""A frame or a result → the description that the command line would print of it, as far as it tells."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.benchmark import SKILLSHIFT
from skillshift_frames.cells import bounds, cells as cells_of
from skillshift_frames.errors import InputError
from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner
from skillshift_frames.render.known import (
    ROWS,
    benchmark_of,
    errors_policy,
    is_whole,
    null_policy,
    schema_name,
)
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.render.plain import fields_document, plain_document
from skillshift_frames.render.tables import (
    UNDEFINED,
    cells_document,
    coverage_notes,
    table_document,
)

if TYPE_CHECKING:
    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

_RECORDS = ("TASKS", "TALLY", "FAMILY_TALLY")

#: Numbers are ranked as printed, with two decimals: both sides of a gap may be off by half of the last one.
_HAIR = 0.011


def describe(
    what: Any,  # noqa: ANN401 - a frame, or one of several results
    *,
    cells: pl.DataFrame | None = None,
    benchmark: BenchmarkLike | None = None,
    rows: int | None = None,
) -> Document:
    """Describe what this library gives; the arguments are those of `skillshift_frames.show`.

    Raises
    ------
    InputError
        It is neither a Polars frame nor a result of this library.
    """
    if isinstance(what, Document):
        return what
    if isinstance(what, pl.DataFrame):
        document = _of_frame(what, cells, benchmark)
    else:
        document = _of_result(what, benchmark)
    if rows is None or len(document.rows) <= rows:
        return document
    cut = Note(f"the first {format_count(rows)} of {format_count(len(document.rows))} rows; rows=None shows all")  # fmt: skip
    return replace(document, rows=document.rows[:rows], notes=(cut, *document.notes))


def _of_frame(
    frame: pl.DataFrame, cells: pl.DataFrame | None, given: BenchmarkLike | None
) -> Document:
    name = schema_name(frame)
    axes = benchmark_of(frame, given) if name in {*_RECORDS, "CELLS", "SLOTS", "TABLE"} else None
    if axes is None and given is not None and frame.columns[:2] == ["run", "metric"]:
        name, axes = _table_of(frame, given)
    found = None
    if frame.height and axes is not None:
        found = _of_runs(name, frame, cells, axes)
    elif frame.height:
        found = _of_entries(name, frame, given)
    return found or plain_document(frame, _title(frame, name), schema=name)


def _of_runs(
    name: str | None, frame: pl.DataFrame, cells: pl.DataFrame | None, axes: Benchmark
) -> Document | None:
    """Describe what is made of records, if it is whole."""
    match name:
        case "CELLS" if is_whole(frame, axes):
            return cells_document(frame, bounds(frame), axes, errors=errors_policy(frame))
        case "SLOTS" if is_whole(frame, axes):
            return table_document(
                frame,
                cells,
                None if cells is None else bounds(cells),
                axes,
                errors=None if cells is None else errors_policy(cells),
                null=null_policy(frame),
            )
        case "TABLE":
            return _table_document(frame, cells, axes)
        case "TASKS" | "TALLY" | "FAMILY_TALLY":
            return _coverage_document(frame, axes)
    return None


def _of_entries(
    name: str | None, frame: pl.DataFrame, given: BenchmarkLike | None
) -> Document | None:
    """Describe what is made of published entries, and of probes."""
    match name:
        case "FINDINGS":
            from skillshift_frames.render.findings import findings_document  # noqa: PLC0415 - for these only

            return findings_document(frame, frame.get_column("entry").n_unique(), "Findings")
        case "LEADERBOARD":
            return _leaderboard_document(frame, benchmark_of(frame, given) or SKILLSHIFT)
        case "HEADROOM":
            from skillshift_frames.render.headroom import headroom_document  # noqa: PLC0415 - as above

            return headroom_document(frame)
    return None


def _table_of(frame: pl.DataFrame, given: BenchmarkLike) -> tuple[str | None, Benchmark | None]:
    """Recognise the table of a benchmark that the caller names: it has a column per slot, whatever they are called."""
    axes = benchmark_of(frame, given)
    is_table = axes is not None and frame.columns[2:] == list(axes.slots)
    return ("TABLE", axes) if is_table else (None, None)


def _title(frame: pl.DataFrame, name: str | None) -> str:
    rows = f"{format_count(frame.height)} {'row' if frame.height == 1 else 'rows'}"
    return f"{name}, {ROWS[name]}: {rows}" if name else rows


def _coverage_document(records: pl.DataFrame, benchmark: Benchmark) -> Document:
    """Describe records, or their tally, by what they cover, one row per run: a record by itself says little."""
    cells = cells_of(records, benchmark=benchmark)
    counts = ("expected", "scored", "errored", "missing", "errored_trials", "trials")
    titles = ("Expected", "Scored", "Errored", "Missing", "Errored trials", "Trials")
    totals = cells.group_by("run", maintain_order=True).agg(pl.col(counts).sum())
    rows = tuple(
        Row((Cell(run), *(Cell(format_count(n)) for n in numbers)), starts_group=True)
        for run, *numbers in totals.iter_rows()
    )
    runs = f"{format_count(totals.height)} {'run' if totals.height == 1 else 'runs'}"
    return Document(
        title=f"{benchmark.name}: what the records of {runs} cover, in tasks",
        columns=(Column("Run", "left"), *map(Column, titles)),
        rows=rows,
        notes=tuple(coverage_notes(cells, bounds(cells), benchmark)),
    )


def _table_document(
    table: pl.DataFrame, cells: pl.DataFrame | None, benchmark: Benchmark
) -> Document:
    """Describe the wide table: numbers without what they rest on, which only cells can add."""
    last = 1 + len(benchmark.sites)
    site, condition = ("Website", "Environment") if benchmark.name == "skillshift" else ("Site", "Condition")  # fmt: skip
    rows: list[Row] = []
    for run, metric, *values in table.select("run", "metric", *benchmark.slots).iter_rows():
        first = not rows or rows[-1].cells[0].text != run
        numbers = (Cell(format_number(value, undefined=UNDEFINED)) for value in values)
        rows.append(Row((Cell(run), Cell(metric), *numbers), starts_group=first))
    notes = [
        Note("undefined, or does not apply: the slots tell which (sf.slots)", UNDEFINED)
        if table.select(pl.any_horizontal(pl.col(benchmark.slots).is_null()).any()).item()
        else None,
        Note("Unweighted means of cells"),
        Note("How many tasks are behind a number, and its marks, are in the slots (sf.slots)"),
        *(coverage_notes(cells, bounds(cells), benchmark) if cells is not None else ()),
    ]
    return Document(
        title=f"{benchmark.name}: means of cells",
        columns=(
            *(Column(title, "left") for title in ("Run", "Metric")),
            *(Column(benchmark.title(slot)) for slot in benchmark.slots[:-1]),
            Column(""),
        ),
        rows=tuple(rows),
        spanners=(
            Spanner(site, 2, last),
            Spanner(condition, last + 1, last + len(benchmark.conditions)),
            Spanner("O/A", 1 + len(benchmark.slots), 1 + len(benchmark.slots)),
        ),
        notes=tuple(note for note in notes if note is not None),
    )


def _leaderboard_document(board: pl.DataFrame, axes: Benchmark) -> Document | None:
    """Describe ranked entries; what they are ranked by, and among whom, is read off ranks and gaps, else None."""
    from skillshift_frames.render.leaderboard import leaderboard_document  # noqa: PLC0415 - for leaderboards only

    ranked = board.filter(pl.col("rank").is_not_null())
    best = ranked.filter(rank=1)
    across = best.get_column("model").n_unique() < ranked.get_column("model").n_unique()
    groups = [ranked] if across else ranked.partition_by("model")
    for metric in ("SR", "AS"):
        if all(_is_ranked_by(metric, group) for group in groups):
            return leaderboard_document(board, axes, sort=metric, slot=None, across_models=across)
    return None


def _is_ranked_by(metric: str, ranked: pl.DataFrame) -> bool:
    """Tell whether the gaps of a group are those of a metric, as far as printed numbers can tell."""
    best = ranked.filter(rank=1).get_column(metric)
    if not best.count():
        return False
    away = (pl.col(metric) - best.drop_nulls()[0]).abs() - pl.col("gap")
    return bool(ranked.select((away.abs() < _HAIR).all()).item()) and not ranked.get_column(metric).null_count()  # fmt: skip


def _of_result(what: Any, given: BenchmarkLike | None) -> Document:  # noqa: ANN401 - as above
    ours = is_dataclass(type(what)) and type(what).__module__.startswith("skillshift_frames.")
    if not ours:
        hint = "; collect() it first" if isinstance(what, pl.LazyFrame) else ""
        msg = f"{what!r:.60} cannot be shown: a Polars frame, or a result of this library, is needed{hint}"
        raise InputError(msg)
    match type(what).__name__:
        case "Comparison":
            from skillshift_frames.render.comparison import comparison_document  # noqa: PLC0415 - one result's

            axes = benchmark_of(what.lifts, given) or SKILLSHIFT
            return comparison_document(what, axes, flips=False)
        case "SkillLift":
            from skillshift_frames.render.lift import lift_document  # noqa: PLC0415

            return lift_document(what)
        case "Regression":
            from skillshift_frames.render.regress import regression_document  # noqa: PLC0415

            return regression_document(what)
        case "Agreement":
            from skillshift_frames.render.agreement import agreement_document  # noqa: PLC0415

            return agreement_document(what)
        case "Calibration":
            from skillshift_frames.render.calibration import calibration_document  # noqa: PLC0415

            return calibration_document(what)
    return fields_document(what)
