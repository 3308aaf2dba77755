"""How a number falls from the source condition to each shifted one: of published entries, and of runs with intervals.

The same tasks run under all conditions. So a fall is a paired difference: families are resampled with all their
conditions together, and what makes a task hard everywhere cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.cells import cells as compute_cells
from skillshift_frames.errors import InputError, check_choice, check_frame
from skillshift_frames.outcomes import contributions, with_families
from skillshift_frames.sampling import (
    DEFAULT_LEVEL,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Plan,
    difference,
    differences,
    families_behind,
    families_by_site,
    judge_difference,
    rounded,
)
from skillshift_frames.schema import METRICS
from skillshift_frames.stats.macro import macro_means
from skillshift_frames.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.sampling import Ends, Method, Rng, Sample
    from skillshift_frames.stats.resampling import Array, Statistic

#: What differs from the source, by the name of a condition: another version of the site, its looks, or how it acts.
_SHIFTS = {
    "src": (),
    "src-perc": ("perceptual",),
    "src-exec": ("execution",),
    "tgt": ("contextual",),
    "tgt-perc": ("contextual", "perceptual"),
    "tgt-exec": ("contextual", "execution"),
}

#: What is said of one row and one shifted condition.
_FALL: dict[str, type[pl.DataType]] = {
    "condition": pl.String,
    "shift": pl.String,
    "source_value": pl.Float64,
    "value": pl.Float64,
    "drop": pl.Float64,
    "relative": pl.Float64,
}

#: One row is one run × shifted condition.
SHIFTS = pl.Schema(
    {
        "run": pl.String,
        "metric": pl.String,
        "condition": pl.String,
        "shift": pl.String,  # contextual, perceptual, execution or two; null where names do not say
        "source_value": pl.Float64,
        "value": pl.Float64,
        "drop": pl.Float64,  # source_value − value
        "low": pl.Float64,
        "high": pl.Float64,
        "relative": pl.Float64,  # drop in percent of source_value
        "relative_low": pl.Float64,
        "relative_high": pl.Float64,
        "families": pl.Int64,  # with the metric under either condition
        "method": pl.String,  # bootstrap or delta
        "reason": pl.String,  # why the drop has no interval
        "relative_reason": pl.String,  # why the relative one has none
    }
)

#: What names a row, in the order in which rows are listed.
_NAMES = ("run", "method", "model", "date", "entry")
_LARGEST = 1e15
_SCALE = {"SR": 100.0, "SFR": 100.0}


def shift(
    rows: pl.DataFrame,
    *,
    metric: str = "SR",
    source: str | None = None,
    benchmark: BenchmarkLike = "skillshift",
) -> pl.DataFrame:
    """Give how a metric falls from the source condition to each other one.

    One row is one row of ``rows`` with the metric × shifted condition.

    Parameters
    ----------
    rows
        A frame with ``metric`` and a column per slot: from `skillshift_frames.table`, `skillshift_frames.read_entries` or
        `skillshift_frames.published`.
    metric
        ``"SR"``, ``"AS"``, ``"ASC"`` or ``"SFR"``. An entry that has no row of it has none here.
    source
        The condition to fall from; by default the benchmark's first.
    benchmark
        Names the conditions.

    Returns
    -------
    polars.DataFrame
        The columns of ``rows`` that are no slots, then String ``condition`` and ``shift`` (what differs from the source:
        ``"contextual"``, ``"perceptual"``, ``"execution"``, or two of them; null where the names of the conditions do not
        say), and Float64 ``source_value``, ``value``, ``drop`` (source − value: positive where the metric fell; in points
        for SR and SFR) and ``relative`` (100 · drop / source, null where that is 0 or undefined). Null where a side is. By
        run, method, model, date and entry, as far as there are such columns; conditions in the benchmark's order.

    Raises
    ------
    InputError
        A slot is missing or holds what is no number, no such metric or condition, or the benchmark has one condition only.

    See Also
    --------
    shift_intervals : the same for records, with intervals.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> mpcr = sf.published().filter(method="MPCR")
    >>> shift(mpcr).select("condition", "shift", "drop", pl.col("relative").round(2))
    shape: (5, 4)
    ┌───────────┬─────────────────────────┬───────┬──────────┐
    │ condition ┆ shift                   ┆ drop  ┆ relative │
    │ ---       ┆ ---                     ┆ ---   ┆ ---      │
    │ str       ┆ str                     ┆ f64   ┆ f64      │
    ╞═══════════╪═════════════════════════╪═══════╪══════════╡
    │ src-perc  ┆ perceptual              ┆ -0.42 ┆ -0.74    │
    │ src-exec  ┆ execution               ┆ 23.44 ┆ 41.36    │
    │ tgt       ┆ contextual              ┆ 13.35 ┆ 23.56    │
    │ tgt-perc  ┆ contextual + perceptual ┆ 19.43 ┆ 34.29    │
    │ tgt-exec  ┆ contextual + execution  ┆ 36.68 ┆ 64.73    │
    └───────────┴─────────────────────────┴───────┴──────────┘
    """
    check_frame("rows", rows, "read_entries")
    if "uid" in rows.columns:
        msg = "rows are records, which shift_intervals takes; a table of them is made by table"
        raise InputError(msg)
    if "tasks" in rows.columns and "metric" not in rows.columns:
        msg = "rows are a tally; one with families is for shift_intervals, and a table is made by table of its cells"
        raise InputError(msg)
    axes = benchmark_of_rows(rows, benchmark)
    start, shifted = conditions_of(axes, metric, source)
    named = [name for name in _NAMES if name in rows.columns]
    kept = [name for name in rows.columns if name not in axes.slots]
    taken = sorted(set(kept) & set(_FALL))
    if taken:
        msg = f"the frame has a column {taken[0]!r} already, which the result needs; rename it"
        raise InputError(msg)
    of_metric = check_rows(rows, axes).filter(pl.col("metric") == metric)
    listed = of_metric.sort(named, nulls_last=True, maintain_order=True) if named else of_metric
    falls = [
        (*(row[name] for name in kept), *_fall(row, start, condition))
        for row in listed.iter_rows(named=True)
        for condition in shifted
    ]
    schema = {name: rows.schema[name] for name in kept} | _FALL
    return pl.DataFrame(falls, schema=schema, orient="row")


def benchmark_of_rows(rows: pl.DataFrame, benchmark: BenchmarkLike) -> Benchmark:
    """Resolve the benchmark of a frame with one column per slot, of which it cannot be read off.

    Raises
    ------
    InputError
        It was to be inferred.
    """
    if benchmark == "infer":
        msg = "which columns are sites and which are conditions cannot be inferred; give the benchmark"
        raise InputError(msg)
    return resolve_benchmark(benchmark, rows)


def check_rows(rows: pl.DataFrame, axes: Benchmark) -> pl.DataFrame:
    """Give a frame with one column per slot, its numbers as Float64.

    Raises
    ------
    InputError
        ``metric`` or a slot is missing, or a slot holds something that nobody can have measured: text, NaN, an infinity.
    """
    for name in ("metric", *axes.slots):
        if name not in rows.columns:
            what = "the column 'metric'" if name == "metric" else f"the slot {name!r}"
            msg = f"the frame lacks {what}; it needs metric and the slots of benchmark {axes.name}"
            raise InputError(msg)
    for slot in axes.slots:
        column = rows.get_column(slot)
        if not (column.dtype.is_numeric() or column.dtype == pl.Null):
            msg = f"slot {slot!r} is {column.dtype}; numbers are needed"
            raise InputError(msg)
        # For Polars NaN is above every number, so it is not below this one either.
        if not (column.drop_nulls().cast(pl.Float64).abs() < _LARGEST).all():
            msg = f"slot {slot!r} holds NaN or a number beyond measure; what is not known is null"
            raise InputError(msg)
    return rows.with_columns(pl.col(axes.slots).cast(pl.Float64))


def conditions_of(axes: Benchmark, metric: str, source: str | None) -> tuple[str, list[str]]:
    """Give the condition to fall from, and the others.

    Raises
    ------
    InputError
        No such metric or condition, or there is one condition only.
    """
    check_choice("metric", metric, tuple(METRICS))
    start = axes.conditions[0] if source is None else source
    check_choice("source", start, axes.conditions)
    if len(axes.conditions) == 1:
        msg = (
            f"benchmark {axes.name} has the condition {start} only; there is no shift to fall under"
        )
        raise InputError(msg)
    return start, [condition for condition in axes.conditions if condition != start]


def shift_kind(source: str, condition: str) -> str | None:
    """Say what differs between two conditions, null where their names do not say or something is taken back.

    Examples
    --------
    >>> shift_kind("src", "tgt-exec"), shift_kind("tgt", "tgt-exec"), shift_kind("tgt", "src")
    ('contextual + execution', 'execution', None)
    """
    before, after = _SHIFTS.get(source), _SHIFTS.get(condition)
    if before is None or after is None or not set(before) < set(after):
        return None
    return " + ".join(part for part in after if part not in before)


def _fall(row: dict[str, float | None], source: str, condition: str) -> tuple[object, ...]:
    """Give the columns of one shifted condition, in the order of `_FALL`."""
    before, after = row[source], row[condition]
    drop = difference(before, after)
    kind = shift_kind(source, condition)
    return (condition, kind, before, after, drop, _relative(drop, before))


def _relative(drop: float | None, before: float | None) -> float | None:
    if drop is None or not before:
        return None
    percent = 100 * drop / before
    return rounded(percent) if math.isfinite(percent) else None


def shift_intervals(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    metric: str = "SR",
    source: str | None = None,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = DEFAULT_SEED,
    method: Method = "auto",
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
) -> pl.DataFrame:
    """Give how a metric of each run falls from the source condition to each other one, with paired intervals.

    One row is one run × shifted condition.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, or their tally, made with ``families=True``.
    metric, source
        As for `shift`.
    level, resamples, rng, method
        As for `skillshift_frames.intervals`: families are resampled within sites, with their tasks of all conditions
        together, and every run starts from the seed afresh.
    benchmark, errors
        As for `skillshift_frames.cells`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `SHIFTS`; runs by label, conditions in the benchmark's order. As `shift` of the runs'
        `skillshift_frames.table`, with the intervals of ``drop`` (``low``, ``high``) and of ``relative``
        (``relative_low``, ``relative_high``), ``families`` with the metric under either condition, ``method``, and
        where there is no interval ``reason`` or ``relative_reason``. No interval has width 0: a single family, or a drop
        on which all families agree, has none. A resample in which the metric is undefined under a condition (or is 0 at
        the source, for ``relative``) is left out; above 5 % there is no interval. Empty for no tasks.

    Raises
    ------
    InputError
        As `shift` and `skillshift_frames.intervals`.
    BenchmarkError
        The records are not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> found = shift_intervals(sf.read_tasks("data/demo/induced.jsonl"))
    >>> found.select("condition", pl.col("drop", "low", "high").round(1)).row(4)
    ('tgt-exec', 42.3, 36.3, 48.5)
    """
    plan = Plan.of(level, resamples, rng, method)
    frame = with_families(tasks)
    axes = resolve_benchmark(benchmark, frame)
    start, shifted = conditions_of(axes, metric, source)
    numbers = table(compute_cells(frame, benchmark=axes, errors=errors), benchmark=axes)
    falls = shift(numbers, metric=metric, source=start, benchmark=axes)
    of_runs = contributions(frame, errors=errors).partition_by("run", as_dict=True)
    order = list(axes.conditions)
    places = [order.index(condition) for condition in shifted]
    make = _Shift(
        _SCALE.get(metric, 1.0), len(axes.sites) + order.index(start), len(axes.sites), places
    )
    rows: list[dict[str, object]] = []
    for (run,), sums in sorted(of_runs.items()):
        sample = families_by_site(sums, [[f"{metric}_top"], [f"{metric}_bottom"]], axes)
        behind = [
            families_behind(sample, [0], conditions=[order.index(start), place]) for place in places
        ]
        (ends,) = plan.ends(sample, make, 2 * behind)
        of_run = falls.filter(run=run)
        for number, row in enumerate(of_run.iter_rows(named=True)):
            families, found = behind[number], ends[number :: len(shifted)]
            said = _judged(row, families, found)
            rows.append(row | {"families": families} | said)
    return pl.DataFrame(rows, schema=SHIFTS, orient="row")


def _judged(row: dict[str, Any], families: int, found: Sequence[Ends]) -> dict[str, object]:
    """Give the intervals of a drop and of its share of the source, or why there are none."""
    drop, relative = found
    low, high, reason = judge_difference(row["drop"], families, drop)
    near, far, why = judge_difference(row["relative"], families, relative)
    if row["source_value"] == 0:
        why = "nothing is a share of 0"
    return {
        "low": low,
        "high": high,
        "relative_low": near,
        "relative_high": far,
        "method": None if low is None and near is None else drop.method,
        "reason": reason,
        "relative_reason": why,
    }


@dataclass(frozen=True, slots=True)
class _Shift:
    """Makes the statistic of one metric: every drop, then every drop in percent of the source.

    ``source`` is the slot to fall from, ``first`` that of the first condition, from which ``shifted`` are counted.
    """

    scale: float
    source: int
    first: int
    shifted: list[int]

    def __call__(self, sample: Sample, metrics: Sequence[int]) -> Statistic:
        import numpy as np

        top, bottom = sample.columns
        means = macro_means(top, bottom, np.full(len(metrics), self.scale))
        after = [self.first + place for place in self.shifted]

        def falls(sums: Array) -> Array:
            slots = means(sums)
            before = slots[..., [self.source]]
            drop = differences(before, slots[..., after])
            relative = np.full(drop.shape, np.nan)
            np.divide(100 * drop, before, out=relative, where=before > 0)
            return np.concatenate([drop, relative], axis=-1)

        return falls
