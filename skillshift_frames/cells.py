"""Tasks → cells: for every run, site and condition the counts, and the four metrics that follow from them."""

from __future__ import annotations

from typing import get_args

import polars as pl

from skillshift_frames.benchmark import Benchmark, BenchmarkLike, resolve_benchmark
from skillshift_frames.errors import BenchmarkError, check_choice
from skillshift_frames.metrics import Errors
from skillshift_frames.outcomes import CELL, OUTCOME, count_outcomes, is_tally
from skillshift_frames.schema import CELLS, family, measured
from skillshift_frames.stats.exact import as_ratio, mean_of_ratios, weighted_mean


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
    # Collected once: a lazy frame may read its files again for every question that is put to it.
    frame = tasks.lazy().collect()
    counts = frame if is_tally(frame) else count_outcomes(frame)
    axes = _axes_of(counts, benchmark)
    by_cell = _outcomes_by_cell(counts)
    rows = [
        (run, site, condition, *_cell(by_cell.get((run, site, condition), []), expected, errors))
        for run in sorted({run for run, _, _ in by_cell})
        for site, expected in axes.sites.items()
        for condition in axes.conditions
    ]
    return pl.DataFrame(rows, schema=CELLS, orient="row")


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


def _outcomes_by_cell(counts: pl.DataFrame) -> dict[tuple[str, str, str], list[dict[str, int]]]:
    """Sum the outcomes of each cell's tasks, apart only where they have different numbers of trials."""
    # Tasks with equally many trials share a denominator, so their sums are enough.
    shape = [name for name in OUTCOME if name.endswith("trials")]
    sums = [(pl.col(name) * pl.col("tasks")).sum() for name in OUTCOME if name not in shape]
    summed = counts.group_by(*CELL, *shape).agg(pl.col("tasks").sum(), *sums)
    by_cell: dict[tuple[str, str, str], list[dict[str, int]]] = {}
    for outcome in summed.iter_rows(named=True):
        cell = (outcome.pop("run"), outcome.pop("site"), outcome.pop("condition"))
        by_cell.setdefault(cell, []).append(outcome)
    return by_cell


def _cell(
    outcomes: list[dict[str, int]], expected: int, errors: Errors
) -> tuple[int | float | None, ...]:
    """Compute the columns of one cell after its key, in the order of `CELLS`."""
    scored = sum(outcome["tasks"] for outcome in outcomes if outcome["trials"])
    errored = sum(outcome["tasks"] for outcome in outcomes if not outcome["trials"])
    missing = max(0, expected - scored - errored)
    errored_trials = sum(outcome["errored_trials"] * outcome["tasks"] for outcome in outcomes)

    def used(outcome: dict[str, int], name: str) -> int:
        return outcome[name] + (outcome.get(f"errored_{name}", 0) if errors == "zero" else 0)

    def terms(name: str, trials: str) -> list[tuple[int, int, int]]:
        """Give sum, trials per task and tasks, where there are trials to divide by."""
        listed = [(used(o, name), used(o, trials), o["tasks"]) for o in outcomes]
        return [term for term in listed if term[1]]

    success, steps = terms("successes", "trials"), terms("steps", "steps_trials")
    calls, failures = terms("skill_calls", "calls_trials"), terms("skill_failures", "calls_trials")
    called, failed = _total(calls), _total(failures)
    return (
        *(expected, scored, errored, missing, errored_trials),
        sum(trials * tasks for _, trials, tasks in success),
        *(sum(tasks for _, _, tasks in metric) for metric in (success, steps, calls)),
        _total(success) or 0,
        *(_total(steps), called, failed),
        *(weighted_mean(success, scale=100), weighted_mean(steps), weighted_mean(calls)),
        100 * failed / called if called and failed is not None else None,
    )


def _total(terms: list[tuple[int, int, int]]) -> int | None:
    """Add up sums, None where nothing was recorded: no number is not 0."""
    return sum(total for total, _, _ in terms) if terms else None


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
    rows = []
    for (run,), of_run in cells.sort("run").group_by("run", maintain_order=True):
        sr, low, high = [], [], []
        for cell in of_run.iter_rows(named=True):
            size = max(cell["expected"], cell["scored"] + cell["errored"])
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
