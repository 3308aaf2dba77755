"""How far to trust a number: intervals for every slot of the table and for every cell.

What is resampled are families, within each site: the same tasks are run under all conditions, so a site's six cells are
not six samples but six views of one, and a hard task is hard in all of them. Treating cells, trials or records as
independent makes intervals too short by exactly that dependence. All of a family's numbers therefore stay together, and
every slot of every metric is computed from the same draws.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.cells import cells as compute_cells
from skillshift_frames.errors import InputError, check_frame
from skillshift_frames.outcomes import contributions, is_tally, with_families
from skillshift_frames.progress import start
from skillshift_frames.sampling import (
    DEFAULT_LEVEL,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    FEWEST_FAMILIES,
    MANY_FAMILIES,
    NEEDS_FAMILIES,
    SPREAD,
    Plan,
    Summary,
    families_by_site,
)
from skillshift_frames.schema import METRICS
from skillshift_frames.stats.bootstrap import UNDEFINED_LIMIT
from skillshift_frames.stats.intervals import all_alike, exact_binomial, wilson
from skillshift_frames.stats.macro import cell_ratios, macro_means
from skillshift_frames.stats.resampling import total
from skillshift_frames.summaries import summaries
from skillshift_frames.table import slots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.sampling import Ends, Method, Rng, Sample
    from skillshift_frames.stats.resampling import Statistic
    from skillshift_frames.table import Null

#: Columns that say what an interval is, after those that say of what.
_RESULT: list[tuple[str, pl.DataType]] = [
    ("estimate", pl.Float64()),
    ("low", pl.Float64()),
    ("high", pl.Float64()),
    ("families", pl.Int64()),
    ("undefined", pl.Float64()),  # share of resamples without a denominator
    ("method", pl.String()),  # bootstrap, delta, wilson or exact
    ("reason", pl.String()),  # why there is no interval
]

#: One row is one run × metric × slot.
INTERVALS = pl.Schema([*((name, pl.String()) for name in ("run", "metric", "slot")), *_RESULT])

#: One row is one run × site × condition × metric.
CELL_INTERVALS = pl.Schema(
    [*((name, pl.String()) for name in ("run", "site", "condition", "metric")), *_RESULT]
)
_Make: TypeAlias = "Callable[[Sample | Summary, Sequence[int]], Statistic]"
_SCALES = [100.0, 1.0, 1.0, 100.0]  # in the order of METRICS
_LARGEST = {"SR": 100.0, "SFR": 100.0}


def intervals(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    moments: pl.DataFrame | None = None,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = DEFAULT_SEED,
    method: Method = "auto",
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
    null: Null = "propagate",
) -> pl.DataFrame:
    """Give an interval for every number of the table.

    One row is one run × metric × slot.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, or their tally, made with ``families=True`` unless there are ``moments``.
    moments
        From `skillshift_frames.moments`, beside the tally that they were made with: then the method is ``"delta"``, and
        under ``"auto"`` a metric with fewer families behind a number than that needs has no interval.
    level
        Nominal coverage, between 0 and 1.
    resamples
        How many (bootstrap only).
    rng
        A seed, or a NumPy generator from which one is drawn. Every run starts from it afresh, so a run's intervals do not
        depend on which other runs are there.
    method
        ``"bootstrap"``: percentiles over resamples of families within sites. ``"delta"``: estimate ± normal quantile × the
        standard error that the families' second moments give. ``"auto"``: the second for a metric with
        at least 1,000 families behind each of its numbers, at a cost that does not grow with the records; else the first.
    benchmark, errors, null
        As for `skillshift_frames.cells` and `skillshift_frames.table`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `INTERVALS`, in the order of `skillshift_frames.slots`. ``estimate`` is the table's number
        (it does not depend on ``rng``); ``low`` and ``high`` are in its unit; ``families`` counts those behind the slot;
        ``undefined`` is the share of resamples in which the metric had no denominator: they are left out, and above 5 %
        there is no interval. ``low`` and ``high`` are null where there is none, and ``reason`` says why. Where all
        families fail (or all pass), SR has the exact bound on families: 1 − (α/2)^(1/families). No interval has width 0:
        a single family, or another metric on which all agree, has none.

    Raises
    ------
    InputError
        ``level`` is not between 0 and 1, ``resamples`` is below 100, a seed is negative, or a tally has no families and there
        are no moments; moments are not the tally's, were made with other ``errors``, or are to be resampled.

    Notes
    -----
    Near 0 % and 100 % a percentile interval rests on few families and covers less than its name says where outcomes
    cluster strongly in families; the number of families stands beside it.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13; Davison and Hinkley (1997), Bootstrap
    Methods and their Application, sections 2.7 and 3.8 (clusters).

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 40}, conditions=("plain",))
    >>> row = {
    ...     "run": "asi",
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "steps": 3,
    ...     "skill_calls": 0,
    ...     "skill_failures": 0,
    ... }
    >>> tasks = pl.DataFrame([row | {"uid": str(i), "success": i < 10} for i in range(40)])
    >>> found = sf.intervals(sf.from_frame(tasks, benchmark=shop), benchmark=shop).filter(
    ...     slot="overall"
    ... )
    >>> found.select("metric", "estimate", "low", "high", "reason").row(0)
    ('SR', 25.0, 12.5, 37.5, None)
    >>> found.select("metric", "estimate", "low", "high", "reason").row(1)
    ('AS', 3.0, None, None, 'all 40 families agree')
    """
    plan = Plan.of(level, resamples, rng, method)
    frame = _with_moments(tasks, moments)
    axes = resolve_benchmark(benchmark, frame)
    numbers = slots(compute_cells(frame, benchmark=axes, errors=errors), benchmark=axes, null=null)
    rows: list[tuple[Any, ...]] = []
    advance = start("intervals", frame.get_column("run").n_unique())
    for run, sample in _samples(frame, moments, axes, errors):
        make = partial(_slots_of, available=null == "available")
        behind = _families_of_slots(sample)
        found = _ends(plan, sample, make, [sum(counts) for counts in behind])
        of_run = numbers.filter(run=run).select("metric", "slot", "value")
        for number, (metric, slot, value) in enumerate(of_run.iter_rows()):
            judged = _judge(metric, value, behind[number], found[number], plan)
            rows.append((run, metric, slot, value, *judged))
        advance(1)
    return pl.DataFrame(rows, schema=INTERVALS, orient="row")


def cell_intervals(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    moments: pl.DataFrame | None = None,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = DEFAULT_SEED,
    method: Method = "auto",
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
) -> pl.DataFrame:
    """Give an interval for every metric of every cell.

    One row is one run × site × condition × metric. Parameters and errors as for `intervals`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `CELL_INTERVALS`, in the order of `skillshift_frames.cells`. SR has Wilson's interval where
        each task has one trial (``method`` says ``wilson``); SFR the wider of the exact binomial interval on its calls
        (``exact``) and the one by families, because calls of one task are not independent; everything else is as in
        `intervals`.

    References
    ----------
    Wilson (1927) and Clopper and Pearson (1934): see `skillshift_frames.stats.intervals`.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 5}, conditions=("plain",))
    >>> row = {
    ...     "run": "asi",
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "steps": 3,
    ...     "skill_calls": 0,
    ...     "skill_failures": 0,
    ... }
    >>> tasks = pl.DataFrame([row | {"uid": str(i), "success": False} for i in range(5)])
    >>> found = sf.cell_intervals(sf.from_frame(tasks, benchmark=shop), benchmark=shop)
    >>> found.select("metric", "low", pl.col("high").round(2), "method").row(0)
    ('SR', 0.0, 43.45, 'wilson')
    """
    plan = Plan.of(level, resamples, rng, method)
    frame = _with_moments(tasks, moments)
    axes = resolve_benchmark(benchmark, frame)
    computed = compute_cells(frame, benchmark=axes, errors=errors)
    rows: list[tuple[Any, ...]] = []
    advance = start("intervals", frame.get_column("run").n_unique())
    for run, sample in _samples(frame, moments, axes, errors):
        behind = _families_of_cells(sample)
        found = _ends(plan, sample, _cells_of, behind)
        of_run = list(computed.filter(run=run).iter_rows(named=True))
        for place, cell in enumerate(of_run):
            key = (run, cell["site"], cell["condition"])
            for index, metric in enumerate(METRICS):
                number = index * len(of_run) + place
                judged = _judge(metric, cell[metric], [behind[number]], found[number], plan)
                rows.append((*key, metric, cell[metric], *_of_cell(metric, cell, judged, plan)))
        advance(1)
    return pl.DataFrame(rows, schema=CELL_INTERVALS, orient="row")


def _with_moments(tasks: pl.DataFrame | pl.LazyFrame, moments: pl.DataFrame | None) -> pl.DataFrame:
    """Collect what the numbers come from; families are asked for where nothing else is there to judge them by."""
    if moments is None:
        return with_families(tasks)
    check_frame("tasks", tasks, "read_tasks")
    frame = tasks.lazy().collect()
    if not is_tally(frame):
        msg = "moments go with the tally that they were made with, and these are tasks, which need none"
        raise InputError(msg)
    return frame


def _samples(
    tasks: pl.DataFrame, moments: pl.DataFrame | None, axes: Benchmark, errors: Errors
) -> Iterator[tuple[str, Sample | Summary]]:
    """Give each run's families as numbers, or what is known of their sums, runs by label."""
    if moments is not None:
        yield from summaries(tasks, moments, axes, errors)
        return
    kinds = [[f"{metric}_{part}" for metric in METRICS] for part in ("top", "bottom")]
    of_runs = contributions(tasks, errors=errors).partition_by("run", as_dict=True)
    for (run,), sums in sorted(of_runs.items()):
        yield str(run), families_by_site(sums, kinds, axes)


def _ends(plan: Plan, sample: Sample | Summary, make: _Make, behind: Sequence[int]) -> list[Ends]:
    if isinstance(sample, Summary):
        return plan.ends_of_sums(sample, make, behind)
    (found,) = plan.ends(sample, make, behind)
    return found


def _slots_of(sample: Sample | Summary, metrics: Sequence[int], *, available: bool) -> Statistic:
    """Make the statistic of every slot, over the cells that are defined in the sample itself if ``available``."""
    import numpy as np

    top, bottom = sample.columns
    used = None
    if available:  # a resample without one of them is undefined, not a mean of fewer
        used = np.moveaxis(total(sample.groups)[:, bottom] > 0, 0, 1)
    return macro_means(top, bottom, np.array(_SCALES)[list(metrics)], used=used)


def _cells_of(sample: Sample | Summary, metrics: Sequence[int]) -> Statistic:
    """Make the statistic of every cell."""
    import numpy as np

    top, bottom = sample.columns
    return cell_ratios(top, bottom, np.array(_SCALES)[list(metrics)])


def _families_of_cells(sample: Sample | Summary) -> list[int]:
    import numpy as np

    return [int(n) for n in np.moveaxis(sample.families_of_cells(), 0, 1).ravel()]


def _families_of_slots(sample: Sample | Summary) -> list[list[int]]:
    """Count the families behind every slot, site by site: those that add to the denominator of one of its cells."""
    of_sites, per_cell = sample.families_of_sites(), sample.families_of_cells()
    listed: list[list[int]] = []
    for metric in range(of_sites.shape[1]):
        whole = [int(n) for n in of_sites[:, metric]]
        listed += [[n] for n in whole]
        listed += per_cell[:, metric].T.tolist()
        listed.append(whole)
    return listed


_Judged: TypeAlias = "tuple[float | None, float | None, int, float | None, str | None, str | None]"


def _judge(metric: str, value: float | None, by_site: list[int], ends: Ends, plan: Plan) -> _Judged:
    """Decide what may be said: ends or the reason why there are none; never a point.

    ``by_site`` counts the families behind the number, site by site.
    """
    families = sum(by_site)
    if value is None:
        return (None, None, families, None, None, "the number is undefined")
    if families < FEWEST_FAMILIES:
        return (None, None, families, None, None, "a single family tells nothing about the next")
    if metric == "SR" and value in {0.0, 100.0}:
        bound = all_alike([n for n in by_site if n], passed=value > 0, level=plan.level)
        assert bound is not None
        return (100 * bound[0], 100 * bound[1], families, 0.0, "exact", None)
    if ends.method == NEEDS_FAMILIES:
        few = f"fewer than {MANY_FAMILIES:,} families behind a number of the metric: these are resampled, which takes a tally with families"
        return (None, None, families, None, None, few)
    reason = None
    if math.isnan(ends.low):
        reason = f"undefined in {100 * ends.undefined:.1f} % of the resamples"
    elif ends.high - ends.low <= SPREAD * max(1.0, abs(ends.high)):
        reason = f"all {families} families agree"
    if reason is not None:
        return (None, None, families, ends.undefined, ends.method, reason)
    # A normal interval knows nothing of where a metric ends; percentiles are within it anyway.
    low, high = max(ends.low, 0.0), min(ends.high, _LARGEST.get(metric, math.inf))
    return (low, high, families, ends.undefined, ends.method, None)


def _of_cell(metric: str, cell: dict[str, Any], judged: _Judged, plan: Plan) -> _Judged:
    """Put the interval of a single proportion in place where it is known better than by resampling."""
    low, high, families, undefined, _, reason = judged
    if metric == "SR" and cell["n"] and cell["trials"] == cell["n"]:
        ends = wilson(cell["successes"], cell["n"], level=plan.level)
        assert ends is not None
        return (100 * ends[0], 100 * ends[1], families, 0.0, "wilson", None)
    too_little = families < FEWEST_FAMILIES or (undefined or 0.0) > UNDEFINED_LIMIT
    if metric != "SFR" or cell["SFR"] is None or too_little:
        return judged
    exact = exact_binomial(cell["skill_failures"], cell["skill_calls"], level=plan.level)
    assert exact is not None
    candidates = [exact]
    if low is not None and high is not None:
        candidates.append((low / 100, high / 100))
    elif cell["SFR"] in {0.0, 100.0}:
        # Calls of one family are not independent: that all agree says no more than so many families can.
        alike = all_alike([families], passed=cell["SFR"] > 0, level=plan.level)
        assert alike is not None
        candidates.append(alike)
    elif reason is not None:
        return judged
    widest = max(candidates, key=lambda ends: ends[1] - ends[0])
    if widest is exact or low is None:
        return (100 * widest[0], 100 * widest[1], families, undefined, "exact", None)
    return judged
