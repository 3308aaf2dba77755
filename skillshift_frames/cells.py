"""Tasks → cells: for every run, site and condition the counts, and the four metrics that follow from them."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, get_args

import polars as pl

from skillshift_frames.benchmark import Benchmark, BenchmarkLike, resolve_benchmark
from skillshift_frames.errors import (
    BenchmarkError,
    check_cells,
    check_choice,
    check_frame,
    check_records,
)
from skillshift_frames.metrics import Errors
from skillshift_frames.outcomes import CELL, OUTCOME, count_outcomes, is_tally
from skillshift_frames.schema import CELLS, family, measured
from skillshift_frames.stats.exact import as_ratio, mean_of_ratios, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Iterator


def cells(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
) -> pl.DataFrame:
    """Compute SR, AS, ASC and SFR of every cell, with the counts that they rest on.

    One row is one run × site × condition of the benchmark, also where the run has no record.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS` (from `read_tasks` or `from_frame`), or a tally of them (from `tally`,
        `read_tally` or `merge`).
    benchmark
        Names the cells and the tasks expected in each; ``"infer"`` takes both from the records.
    errors
        ``"exclude"`` leaves trials with an error out of every mean, ``"zero"`` counts them as failures, with their steps
        and calls where recorded. They are in the coverage either way.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `CELLS`, runs by label, sites and conditions in the benchmark's order.
        ``expected`` = ``scored`` + ``errored`` + ``missing`` (in tasks), unless a cell has more tasks than the benchmark.
        SR (percent, higher is better), AS (steps per task, lower is better) and SFR (percent of calls, lower is better)
        and ASC (calls per task). SR is null for n = 0; AS and ASC are null where steps or calls are not recorded; SFR is
        null where no skill was called. ``steps``, ``skill_calls`` and ``skill_failures`` are sums, null where nothing
        was recorded. Trials of one task are averaged first, so SR = 100 · successes / trials only where all tasks
        have equally many.

    Raises
    ------
    BenchmarkError
        A record's site or condition is not the benchmark's.
    InputError
        ``errors`` is neither of the two, or the frame is neither tasks nor a tally.

    Notes
    -----
    Each metric is computed in integers and divided once, so it is the float nearest to the exact value. Definitions:
    SkillShift paper, section 2.4.

    Examples
    --------
    >>> from skillshift_frames import Benchmark
    >>> shop = Benchmark("shop", sites={"cart": 2}, conditions=("plain",))
    >>> row = {
    ...     "run": "asi",
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "trial": 1,
    ...     "success": True,
    ...     "steps": 3,
    ... }
    >>> row |= {"uid": "a", "skill_calls": 0, "skill_failures": 0, "error": None}
    >>> cells(pl.DataFrame([row]), benchmark=shop).select(
    ...     "scored", "expected", "SR", "ASC", "SFR"
    ... ).row(0)
    (1, 2, 100.0, 0.0, None)
    """
    check_choice("errors", errors, get_args(Errors))
    check_frame("tasks", tasks, "read_tasks")
    # Collected once: a lazy frame may read its files again for every question that is put to it.
    frame = tasks.lazy().collect()
    counts = frame if is_tally(frame) else count_outcomes(frame)
    outcomes = _outcomes_by_cell(counts)
    axes = _axes_of(outcomes, benchmark)
    grid = pl.DataFrame(
        [(site, condition, n) for site, n in axes.sites.items() for condition in axes.conditions],
        schema=["site", "condition", "expected"],
        orient="row",
    )
    runs = outcomes.select(pl.col("run").unique().sort())
    rows = runs.join(grid, how="cross", maintain_order="left_right").with_row_index("_cell")
    used = _used(outcomes, errors).join(rows.select("_cell", *CELL), on=CELL)
    summed = rows.join(
        used.group_by("_cell").agg(_sums()), on="_cell", how="left", maintain_order="left"
    ).with_columns(pl.col(_COUNTED).fill_null(0))
    rates = summed.select("skill_failures", "skill_calls").rows()
    missing = pl.col("expected") - pl.col("scored") - pl.col("errored")
    return summed.with_columns(
        missing=missing.clip(lower_bound=0),
        SR=_means(used, rows.height, "successes", "trials", scale=100),
        AS=_means(used, rows.height, "steps", "steps_trials"),
        ASC=_means(used, rows.height, "skill_calls", "calls_trials"),
        SFR=pl.Series([100 * failed / called if called else None for failed, called in rates]),
    ).select(pl.col(name).cast(dtype) for name, dtype in CELLS.items())


def _axes_of(counts: pl.DataFrame, benchmark: BenchmarkLike) -> Benchmark:
    per_cell = counts.group_by(CELL).agg(expected=pl.col("tasks").sum())
    axes = resolve_benchmark(benchmark, per_cell)
    for name, known in (("site", axes.sites), ("condition", axes.conditions)):
        unknown = sorted(set(per_cell.get_column(name)) - set(known))
        if unknown:
            msg = (
                f"benchmark {axes.name} has no {name} {unknown[0]!r}; "
                "give the benchmark that the records were read under"
            )
            raise BenchmarkError(msg)
    return axes


def _outcomes_by_cell(counts: pl.DataFrame) -> pl.DataFrame:
    """Sum the outcomes of each cell's tasks, apart only where they have different numbers of trials."""
    # Tasks with equally many trials share a denominator, so their sums are enough.
    shape = [name for name in OUTCOME if name.endswith("trials")]
    sums = [(pl.col(name) * pl.col("tasks")).sum() for name in OUTCOME if name not in shape]
    grouped = counts.lazy().group_by(*CELL, *shape).agg(pl.col("tasks").sum(), *sums)
    return grouped.collect(engine="streaming")


#: Columns of `CELLS` that are 0 in a cell without a record; sums of what was not recorded stay null.
_COUNTED = ("scored", "errored", "errored_trials", "trials", "n", "n_steps", "n_calls", "successes")


def _used(outcomes: pl.DataFrame, errors: Errors) -> pl.DataFrame:
    """Add what trials with an error took to the rest, where they count; ``measured`` says which tasks have others."""
    measured = outcomes.with_columns(measured=pl.col("trials") > 0)
    if errors == "exclude":
        return measured
    added = [name.removeprefix("errored_") for name in OUTCOME if name.startswith("errored_")]
    return measured.with_columns(pl.col(name) + pl.col(f"errored_{name}") for name in added)


def _sums() -> Iterator[pl.Expr]:
    """Sum up the outcomes of a cell: null where nothing was recorded, since no number is not 0."""
    tasks, measured = pl.col("tasks"), pl.col("measured")
    yield tasks.filter(measured).sum().alias("scored")
    yield tasks.filter(~measured).sum().alias("errored")
    yield from ((pl.col(name) * tasks).sum() for name in ("errored_trials", "trials"))
    for name, trials in (("n", "trials"), ("n_steps", "steps_trials"), ("n_calls", "calls_trials")):
        yield tasks.filter(pl.col(trials) > 0).sum().alias(name)
    yield pl.col("successes").sum()
    for name, trials in (
        ("steps", "steps_trials"),
        ("skill_calls", "calls_trials"),
        ("skill_failures", "calls_trials"),
    ):
        counted = pl.col(trials) > 0
        yield pl.when(counted.any()).then(pl.col(name).filter(counted).sum())


def _means(used: pl.DataFrame, cells: int, total: str, trials: str, *, scale: int = 1) -> pl.Series:
    """Give each cell's mean over its tasks, which have the means of their trials."""
    columns = ("_cell", total, trials, "tasks")
    counted = (
        used.filter(pl.col(trials) > 0).group_by("_cell", trials).agg(pl.col(total, "tasks").sum())
    )
    alike = pl.col("_cell").is_unique()
    means: list[float | None] = [None] * cells
    for cell, numerator, denominator, weight in counted.filter(alike).select(columns).rows():
        means[cell] = scale * numerator / (denominator * weight)
    # Where tasks differ in their numbers of trials, their means have to be brought to one denominator.
    for cell, terms in counted.filter(~alike).select(columns).rows_by_key("_cell").items():
        means[cell] = weighted_mean(terms, scale=scale)
    return pl.Series(means, dtype=pl.Float64)


def coverage(cells: pl.DataFrame) -> pl.DataFrame:
    """Count per run what was expected, scored, errored and missing.

    One row is one run, by label: ``run`` and, as Int64, ``expected``, ``scored``, ``errored``, ``missing`` (tasks over all
    cells; the first is the sum of the others, unless a cell has more tasks than the benchmark) and ``errored_trials``
    (also those of tasks with another trial that was measured).

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {
    ...         "run": ["asi"] * 2,
    ...         "expected": [5, 5],
    ...         "scored": [5, 3],
    ...         "errored": [0, 1],
    ...         "missing": [0, 1],
    ...     }
    ... )
    >>> coverage(frame.with_columns(errored_trials=pl.lit(0))).row(0)
    ('asi', 10, 8, 1, 1, 0)
    """
    check_cells(cells)
    counts = ["expected", "scored", "errored", "missing", "errored_trials"]
    return cells.group_by("run").agg(pl.col(counts).sum().cast(pl.Int64)).sort("run")


def bounds(cells: pl.DataFrame) -> pl.DataFrame:
    """Bound each run's overall SR by what its gaps could hold: every unmeasured task failed, every one passed.

    One row is one run, by label: ``run``, ``SR`` (null where a cell has no scored task), ``low`` and ``high``, in percent;
    the three are equal where nothing is missing. Macro means over the cells, as in the table. Gaps are tasks: one with a
    measured trial is none, whatever became of its other trials.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {
    ...         "run": ["asi"],
    ...         "expected": [8],
    ...         "scored": [6],
    ...         "errored": [0],
    ...         "n": [6],
    ...         "trials": [6],
    ...         "successes": [2],
    ...     }
    ... )
    >>> bounds(frame.with_columns(SR=pl.lit(100 * 2 / 6))).row(0)
    ('asi', 33.333333333333336, 25.0, 50.0)
    """
    check_cells(cells)
    numbers = cells.sort("run").select(
        "run", "expected", "scored", "errored", "n", "SR", "successes", "trials"
    )
    rows = []
    for run, of_run in groupby(numbers.rows(), key=itemgetter(0)):
        sr, low, high = [], [], []
        for _, expected, scored, errored, n, rate, successes, trials in of_run:
            size = max(expected, scored + errored)
            value = (0, 1)
            if rate is not None:
                value = as_ratio(rate, 100 * successes, trials)
                sr.append(value)
            passed = value[0] * n
            low.append((passed, value[1] * size))
            high.append((passed + 100 * value[1] * (size - scored), value[1] * size))
        whole = mean_of_ratios(sr) if len(sr) == len(low) else None
        rows.append((run, whole, mean_of_ratios(low), mean_of_ratios(high)))
    schema = {"run": pl.String, "SR": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def gaps(tasks: pl.DataFrame, *, benchmark: BenchmarkLike = "skillshift") -> pl.DataFrame:
    """List the tasks without a measured trial: those that errored, and those that are missing where they can be named.

    A missing task can be named where any cell of its site, in any of the runs, has its family; what the benchmark counts
    and nobody ran has no name, and `cells` counts it.

    Returns
    -------
    polars.DataFrame
        One row per run × site × condition × family: ``run``, ``site``, ``condition``, ``family``, ``status``
        (``"errored"`` or ``"missing"``) and ``error`` (null for missing ones), sorted. Empty where nothing is missing.

    Examples
    --------
    >>> rows = [
    ...     ("asi", "gitlab", "src", "skillshift.gitlab.v1.9"),
    ...     ("asi", "gitlab", "tgt", "skillshift.gitlab.v2.4"),
    ... ]
    >>> tasks = pl.DataFrame(rows, schema=["run", "site", "condition", "uid"], orient="row")
    >>> both = gaps(tasks.with_columns(error=pl.lit(None, dtype=pl.String)), benchmark="infer")
    >>> both.select("condition", "family", "status").rows()
    [('src', 'gitlab.4', 'missing'), ('tgt', 'gitlab.9', 'missing')]
    """
    check_frame("tasks", tasks, "read_tasks")
    check_records("tasks", tasks)
    named = tasks.select("run", "site", "condition", family(), "error")
    axes = resolve_benchmark(benchmark, tasks)
    grid = pl.DataFrame(
        [(site, condition) for site in axes.sites for condition in axes.conditions],
        schema=["site", "condition"],
        orient="row",
    ).with_row_index("_order")
    families = named.select("site", "family").unique()
    wanted = named.select(pl.col("run").unique()).join(grid, how="cross").join(families, on="site")
    per_task = named.group_by(*CELL, "family").agg(
        measured=measured().any(), error=pl.col("error").drop_nulls().sort().first()
    )
    found = wanted.join(per_task, on=[*CELL, "family"], how="left").filter(
        ~pl.col("measured").fill_null(value=False)
    )
    status = (
        pl.when(pl.col("measured").is_null()).then(pl.lit("missing")).otherwise(pl.lit("errored"))
    )
    listed = found.with_columns(status=status).sort("run", "_order", "family")
    return listed.select(*CELL, "family", "status", "error")


def shards(cells: pl.DataFrame) -> list[list[str]]:
    """Find runs that look like shards of one: they share no cell, and record the same things.

    Returns the labels of each such group, sorted; empty where every run stands for itself.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {"run": ["a", "b"], "site": ["s", "s"], "condition": ["x", "y"], "scored": [3, 3]}
    ... )
    >>> shards(frame.with_columns(errored=pl.lit(0), skill_calls=pl.lit(0), steps=pl.lit(9)))
    [['a', 'b']]
    """
    used = cells.filter(pl.col("scored") + pl.col("errored") > 0)
    recorded = pl.col("steps", "skill_calls").is_not_null().any().over("run")
    alike = used.with_columns(recorded).group_by("steps", "skill_calls")
    groups = alike.agg(
        pl.col("run").unique().sort(),
        apart=pl.len() == pl.struct("site", "condition").n_unique(),
    )
    found = groups.filter("apart", pl.col("run").list.len() > 1)
    return found.sort(pl.col("run").list.first()).get_column("run").to_list()
