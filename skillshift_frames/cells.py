"""Tasks → cells: for every run, site and condition the counts, and the four metrics that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.benchmark import Benchmark, BenchmarkLike, resolve_benchmark
from skillshift_frames.errors import BenchmarkError
from skillshift_frames.schema import CELLS, family, measured
from skillshift_frames.stats.exact import as_ratio, mean_of_ratios, weighted_mean
from skillshift_frames.tally import CELL, OUTCOME, tally

if TYPE_CHECKING:
    from skillshift_frames.metrics import Errors


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
        Records as `skillshift_frames.TASKS` (from `read_tasks` or `from_frame`).
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
    counts = tally(tasks)
    axes = _axes_of(counts, benchmark)
    per_run = counts.select(pl.col("run").unique().sort())
    grid = per_run.join(_grid(axes), how="cross")
    coverage = counts.group_by(CELL).agg(
        scored=pl.col("tasks").filter(pl.col("trials") > 0).sum(),
        errored=pl.col("tasks").filter(pl.col("trials") == 0).sum(),
        errored_trials=(pl.col("errored_trials") * pl.col("tasks")).sum(),
    )
    joined = grid.join(coverage, on=CELL, how="left").join(
        _metrics(counts, errors), on=CELL, how="left"
    )
    counted = [
        "scored",
        "errored",
        "errored_trials",
        "trials",
        "n",
        "n_steps",
        "n_calls",
        "successes",
    ]
    filled = joined.with_columns(pl.col(counted).fill_null(0))
    gap = pl.col("expected") - pl.col("scored") - pl.col("errored")
    ordered = filled.with_columns(missing=pl.max_horizontal(gap, 0)).sort("run", "_order")
    return ordered.select(pl.col(name).cast(dtype) for name, dtype in CELLS.items())


def _axes_of(counts: pl.DataFrame, benchmark: BenchmarkLike) -> Benchmark:
    per_cell = counts.group_by(CELL).agg(expected=pl.col("tasks").sum())
    axes = resolve_benchmark(benchmark, per_cell)
    for name, known in (("site", list(axes.sites)), ("condition", list(axes.conditions))):
        unknown = counts.filter(~pl.col(name).is_in(known)).get_column(name).unique().sort()
        if unknown.len():
            msg = f"benchmark {axes.name} has no {name} {unknown[0]!r}; give the benchmark that the records were read under"
            raise BenchmarkError(msg)
    return axes


def _grid(axes: Benchmark) -> pl.DataFrame:
    rows = [
        (site, condition, tasks)
        for site, tasks in axes.sites.items()
        for condition in axes.conditions
    ]
    schema = {"site": pl.String, "condition": pl.String, "expected": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_row_index("_order")


def _metrics(counts: pl.DataFrame, errors: Errors) -> pl.DataFrame:
    """Compute what follows from the outcomes of each cell under a policy about errors."""
    used = counts.select(
        *CELL, "tasks", *(_used(name, errors) for name in OUTCOME if not name.startswith("errored"))
    )
    # Tasks with equally many trials share a denominator: their sums are enough.
    shapes = used.group_by(*CELL, "trials", "steps_trials", "calls_trials").agg(
        pl.col("tasks").sum(),
        *(
            (pl.col(name) * pl.col("tasks")).sum()
            for name in ("successes", "steps", "skill_calls", "skill_failures")
        ),
    )
    by_cell: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for shape in shapes.iter_rows(named=True):
        by_cell.setdefault(tuple(shape[name] for name in CELL), []).append(shape)
    rows = [
        dict(zip(CELL, cell, strict=True)) | _cell_metrics(shape) for cell, shape in by_cell.items()
    ]
    schema = {name: CELLS[name] for name in CELLS if name in {*CELL, *_cell_metrics([])}}
    return pl.DataFrame(rows, schema=schema)


def _used(name: str, errors: Errors) -> pl.Expr:
    if errors == "exclude" or name == "successes":
        return pl.col(name)
    return (pl.col(name) + pl.col(f"errored_{name}")).alias(name)


def _cell_metrics(shapes: list[dict[str, Any]]) -> dict[str, int | float | None]:
    """Compute the metrics of one cell from the sums over its tasks, one entry per number of trials."""

    def total(name: str, trials: str) -> int:
        return sum(shape[name] for shape in shapes if shape[trials])

    def tasks(trials: str) -> int:
        return total("tasks", trials)

    def mean(name: str, trials: str, scale: int = 1) -> float | None:
        terms = [(shape[name], shape[trials], shape["tasks"]) for shape in shapes if shape[trials]]
        return weighted_mean(terms, scale=scale)

    has_steps, has_calls = tasks("steps_trials"), tasks("calls_trials")
    calls, failures = total("skill_calls", "calls_trials"), total("skill_failures", "calls_trials")
    return {
        "trials": sum(shape["trials"] * shape["tasks"] for shape in shapes),
        "n": tasks("trials"),
        "n_steps": has_steps,
        "n_calls": has_calls,
        "successes": total("successes", "trials"),
        "steps": total("steps", "steps_trials") if has_steps else None,
        "skill_calls": calls if has_calls else None,
        "skill_failures": failures if has_calls else None,
        "SR": mean("successes", "trials", 100),
        "AS": mean("steps", "steps_trials"),
        "ASC": mean("skill_calls", "calls_trials"),
        "SFR": 100 * failures / calls if calls else None,
    }


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
    counts = ["expected", "scored", "errored", "missing", "errored_trials"]
    return cells.group_by("run").agg(pl.col(counts).sum().cast(pl.Int64)).sort("run")


def bounds(cells: pl.DataFrame) -> pl.DataFrame:
    """Bound each run's overall SR by what its gaps could hold: every unmeasured task failed, every one passed.

    One row is one run, by label: ``run``, ``SR`` (null where a cell has no scored task), ``low`` and ``high``, in percent;
    the three are equal where nothing is missing. Macro means over the cells, as in the table.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {
    ...         "run": ["asi"],
    ...         "expected": [8],
    ...         "scored": [6],
    ...         "n": [6],
    ...         "trials": [6],
    ...         "successes": [2],
    ...     }
    ... )
    >>> bounds(frame.with_columns(SR=pl.lit(100 * 2 / 6))).row(0)
    ('asi', 33.333333333333336, 25.0, 50.0)
    """
    rows = []
    for (run,), of_run in cells.sort("run").group_by("run", maintain_order=True):
        sr, low, high = [], [], []
        for cell in of_run.iter_rows(named=True):
            size = max(cell["expected"], cell["scored"])
            value = (0, 1)
            if cell["SR"] is not None:
                value = as_ratio(cell["SR"], 100 * cell["successes"], cell["trials"])
                sr.append(value)
            passed = value[0] * cell["n"]
            low.append((passed, value[1] * size))
            high.append((passed + 100 * value[1] * (size - cell["scored"]), value[1] * size))
        whole = mean_of_ratios(sr) if len(sr) == of_run.height else None
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
    named = tasks.select("run", "site", "condition", family(), "error")
    axes = resolve_benchmark(benchmark, tasks)
    families = named.select("site", "family").unique()
    wanted = (
        named.select(pl.col("run").unique())
        .join(_grid(axes).drop("expected"), how="cross")
        .join(families, on="site")
    )
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
    runs = used.group_by("run").agg(
        cell=pl.struct("site", "condition"),
        recorded=pl.struct(
            pl.col("steps").is_not_null().any(), pl.col("skill_calls").is_not_null().any()
        ),
    )
    groups: dict[tuple[object, ...], list[tuple[str, set[tuple[str, ...]]]]] = {}
    for run, cell, recorded in runs.sort("run").iter_rows():
        groups.setdefault(tuple(recorded.values()), []).append(
            (run, {tuple(c.values()) for c in cell})
        )
    alike = [group for group in groups.values() if len(group) > 1]
    return [
        [run for run, _ in group]
        for group in alike
        if sum(len(own) for _, own in group) == len(set().union(*(own for _, own in group)))
    ]
