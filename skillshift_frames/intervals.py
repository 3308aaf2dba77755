"""How far to trust a number: intervals for every slot of the table and for every cell.

What is resampled are families, within each site: the same tasks are run under all conditions, so a site's six cells are
not six samples but six views of one, and a hard task is hard in all of them. Treating cells, trials or records as
independent makes intervals too short by exactly that dependence. All of a family's numbers therefore stay together, and
every slot of every metric is computed from the same draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import polars as pl

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.cells import cells as compute_cells
from skillshift_frames.errors import InputError
from skillshift_frames.schema import METRICS
from skillshift_frames.stats.bootstrap import UNDEFINED_LIMIT, bootstrap
from skillshift_frames.stats.delta import delta_method
from skillshift_frames.stats.intervals import all_alike, exact_binomial, wilson
from skillshift_frames.stats.macro import cell_ratios, macro_means
from skillshift_frames.stats.resampling import distinct_columns, merge_alike, total
from skillshift_frames.table import slots
from skillshift_frames.tally import family_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.stats.resampling import Array, Group, Statistic
    from skillshift_frames.table import Null

#: How intervals are made: ``auto`` resamples, unless every site has so many families that it would add nothing.
Method: TypeAlias = Literal["auto", "bootstrap", "delta"]

#: A seed, or a generator from which one is drawn.
Rng: TypeAlias = "int | np.random.Generator"

DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED = 0.95, 10_000, 0

#: With this many families in every site the delta method and the bootstrap agree to within simulation error.
MANY_FAMILIES = 1_000

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
_SCALE = {"SR": 100.0, "AS": 1.0, "ASC": 1.0, "SFR": 100.0}
_LARGEST = {"SR": 100.0, "SFR": 100.0}
SPREAD = 1e-9  # of an interval's ends, below which they are one point


def intervals(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
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
        Records as `skillshift_frames.TASKS`.
    level
        Nominal coverage, between 0 and 1.
    resamples
        How many (bootstrap only).
    rng
        A seed, or a NumPy generator from which one is drawn. Every run starts from it afresh, so a run's intervals do not
        depend on which other runs are there.
    method
        ``"bootstrap"``: percentiles over resamples of families within sites. ``"delta"``: estimate ± normal quantile × the
        standard error that the families' second moments give. ``"auto"``: the second where every site of a run has at
        least 1,000 families, at a cost that does not grow with the records; else the first.
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
        ``level`` is not between 0 and 1, ``resamples`` is below 100, or a seed is negative.

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
    axes = resolve_benchmark(benchmark, _axes_source(tasks))
    numbers = slots(compute_cells(tasks, benchmark=axes, errors=errors), benchmark=axes, null=null)
    plan = Plan.of(level, resamples, rng, method)
    rows: list[tuple[Any, ...]] = []
    for run, sample in _samples(tasks, axes, errors):
        statistic = sample.slots(available=null == "available")
        found = plan.ends(sample.groups, statistic)
        of_run = numbers.filter(run=run).select("metric", "slot", "value")
        behind = sample.families_of_slots()
        for number, (metric, slot, value) in enumerate(of_run.iter_rows()):
            judged = _judge(metric, value, behind[number], found[number], plan)
            rows.append((run, metric, slot, value, *judged))
    return pl.DataFrame(rows, schema=INTERVALS, orient="row")


def cell_intervals(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
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
    axes = resolve_benchmark(benchmark, _axes_source(tasks))
    computed = compute_cells(tasks, benchmark=axes, errors=errors)
    plan = Plan.of(level, resamples, rng, method)
    rows: list[tuple[Any, ...]] = []
    for run, sample in _samples(tasks, axes, errors):
        found = plan.ends(sample.groups, sample.cells())
        behind = sample.families_of_cells()
        of_run = list(computed.filter(run=run).iter_rows(named=True))
        for place, cell in enumerate(of_run):
            key = (run, cell["site"], cell["condition"])
            for index, metric in enumerate(METRICS):
                number = index * len(of_run) + place
                judged = _judge(metric, cell[metric], behind[number], found[number], plan)
                rows.append((*key, metric, cell[metric], *_of_cell(metric, cell, judged, plan)))
    return pl.DataFrame(rows, schema=CELL_INTERVALS, orient="row")


def _axes_source(tasks: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Give what a benchmark is inferred from."""
    return tasks.lazy().select("run", "site", "condition", "uid").collect()


class Ends(NamedTuple):
    """What resampling says of one statistic: ends (NaN where none), undefined share, and how they were found."""

    low: float
    high: float
    undefined: float
    method: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How intervals are to be made."""

    level: float
    resamples: int
    seed: int
    method: Method

    @classmethod
    def of(cls, level: float, resamples: int, rng: Rng, method: Method) -> Plan:
        """Check what was asked for; raises `InputError`."""
        if not 0 < level < 1:
            msg = f"level {level} is not between 0 and 1 (0.95 for 95 %)"
            raise InputError(msg)
        if resamples < _FEWEST_RESAMPLES:
            msg = f"{resamples} resamples are too few for an interval; {_FEWEST_RESAMPLES} or more are needed"
            raise InputError(msg)
        return cls(level, resamples, seed_of(rng), method)

    def ends(self, groups: list[Group], statistic: Statistic) -> list[Ends]:
        """Give the ends of every statistic of sums over these families."""
        # A site without a record has nothing to resample either way.
        many = min((g.families for g in groups if g.families), default=0) >= MANY_FAMILIES
        if self.method == "delta" or (self.method == "auto" and many):
            low, high = delta_method(groups, statistic, level=self.level)
            undefined = [float(math.isnan(end)) for end in low]
            return list(
                map(Ends, low.tolist(), high.tolist(), undefined, ["delta"] * len(undefined))
            )
        found = bootstrap(
            groups, statistic, level=self.level, resamples=self.resamples, seed=self.seed
        )
        listed = (found.low.tolist(), found.high.tolist(), found.undefined.tolist())
        return [Ends(*ends, "bootstrap") for ends in zip(*listed, strict=True)]


def seed_of(rng: Rng) -> int:
    """Give the seed that ``rng`` stands for: itself, or one drawn from a generator."""
    draw = getattr(rng, "integers", None)
    seed = int(draw(1 << 63)) if draw else int(cast("int", rng))
    if seed < 0:
        msg = f"seed {seed} is negative; 0 or more is needed"
        raise InputError(msg)
    return seed


@dataclass(frozen=True, slots=True)
class _Sample:
    """One run's families by site, as rows of numbers, and which columns make which metric."""

    groups: list[Group]
    top: NDArray[np.int64]
    bottom: NDArray[np.int64]
    scale: Array

    def slots(self, *, available: bool) -> Statistic:
        """Give the statistic of every slot, over the cells that are defined in the sample itself if ``available``."""
        import numpy as np

        used = None
        if available:  # a resample without one of them is undefined, not a mean of fewer
            used = np.moveaxis(total(self.groups)[:, self.bottom] > 0, 0, 1)
        return macro_means(self.top, self.bottom, self.scale, used=used)

    def cells(self) -> Statistic:
        """Give the statistic of every cell."""
        return cell_ratios(self.top, self.bottom, self.scale)

    def families_of_slots(self) -> list[int]:
        """Count the families behind every slot: those that add to the denominator of one of its cells."""
        import numpy as np

        sites = np.array([g.times @ self._adds(g).any(axis=2) for g in self.groups]).T
        conditions = self._per_cell().sum(axis=0)
        counted = np.hstack([sites, conditions, sites.sum(axis=1, keepdims=True)])
        return [int(n) for n in counted.ravel()]

    def families_of_cells(self) -> list[int]:
        """Count the families behind every cell."""
        import numpy as np

        return [int(n) for n in np.moveaxis(self._per_cell(), 0, 1).ravel()]

    def _per_cell(self) -> NDArray[np.int64]:
        """Count the families of ``(sites, metrics, conditions)``."""
        import numpy as np

        return np.array([np.tensordot(g.times, self._adds(g), axes=1) for g in self.groups])

    def _adds(self, group: Group) -> NDArray[np.bool_]:
        """Tell of each distinct family whether it adds to a denominator: ``(…, metrics, conditions)``."""
        return group.rows[:, self.bottom] > 0


def _samples(
    tasks: pl.DataFrame | pl.LazyFrame, axes: Benchmark, errors: Errors
) -> Iterator[tuple[str, _Sample]]:
    """Give each run's families as numbers, runs by label."""
    import numpy as np

    parts = [f"{metric}_{part}" for part in ("top", "bottom") for metric in METRICS]
    scale = np.array([_SCALE[metric] for metric in METRICS])
    of_runs = family_sums(tasks, errors=errors).partition_by("run", as_dict=True)
    for (run,), sums in sorted(of_runs.items()):
        groups, columns = families_by_site(sums, parts, axes)
        top, bottom = columns[: len(METRICS)], columns[len(METRICS) :]
        yield str(run), _Sample(groups, top, bottom, scale)


def families_by_site(
    sums: pl.DataFrame, parts: list[str], axes: Benchmark
) -> tuple[list[Group], NDArray[np.int64]]:
    """Give a run's families as rows of numbers, site by site, and the column of each part under each condition.

    ``sums`` has one row per site × family × condition, in any order; the second half of ``parts`` are denominators.
    """
    import numpy as np

    order = {condition: index for index, condition in enumerate(axes.conditions)}
    rows = []
    for site in axes.sites:
        of_site = sums.filter(site=site).with_columns(
            pl.col("condition").replace_strict(order, return_dtype=pl.Int64),
            # Any number per family will do: alike ones are merged, and the others put in an order of their own.
            pl.col("family").cast(pl.Categorical).to_physical().rank("dense") - 1,
        )
        families = of_site.get_column("family").n_unique()
        numbers = np.zeros((families, len(parts), len(order)))
        family, condition = of_site.select("family", "condition").to_numpy().T
        numbers[family, :, condition] = of_site.select(parts).to_numpy()
        # A family without any measured trial says nothing, and must not be drawn as if it did.
        measured = numbers[:, len(parts) // 2 :].any(axis=(1, 2))
        rows.append(numbers[measured].reshape(int(measured.sum()), len(parts) * len(order)))
    # Many columns are one number under several names (one trial each: every denominator but SFR's is 1).
    first, same = distinct_columns(np.concatenate(rows))
    groups = [merge_alike(of_site[:, first]) for of_site in rows]
    return groups, same.reshape(len(parts), len(order))


_Judged: TypeAlias = "tuple[float | None, float | None, int, float | None, str | None, str | None]"


def _judge(metric: str, value: float | None, families: int, ends: Ends, plan: Plan) -> _Judged:
    """Decide what may be said: ends or the reason why there are none; never a point."""
    if value is None:
        return (None, None, families, None, None, "the number is undefined")
    if families < FEWEST_FAMILIES:
        return (None, None, families, None, None, "a single family tells nothing about the next")
    if metric == "SR" and value in {0.0, 100.0}:
        bound = all_alike(families, passed=value > 0, level=plan.level)
        assert bound is not None
        return (100 * bound[0], 100 * bound[1], families, 0.0, "exact", None)
    if math.isnan(ends.low):
        reason = f"undefined in {100 * ends.undefined:.1f} % of the resamples"
        return (None, None, families, ends.undefined, ends.method, reason)
    if ends.high - ends.low <= SPREAD * max(1.0, abs(ends.high)):
        reason = f"all {families} families agree"
        return (None, None, families, ends.undefined, ends.method, reason)
    # A normal interval knows nothing of where a metric ends; percentiles are within it anyway.
    low, high = max(ends.low, 0.0), min(ends.high, _LARGEST.get(metric, math.inf))
    return (low, high, families, ends.undefined, ends.method, None)


def _of_cell(metric: str, cell: dict[str, Any], judged: _Judged, plan: Plan) -> _Judged:
    """Put the interval of a single proportion in place where it is known better than by resampling."""
    low, high, families, undefined, _, _ = judged
    if metric == "SR" and cell["n"] and cell["trials"] == cell["n"]:
        ends = wilson(cell["successes"], cell["n"], level=plan.level)
        assert ends is not None
        return (100 * ends[0], 100 * ends[1], families, 0.0, "wilson", None)
    if metric == "SFR" and cell["SFR"] is not None:
        ends = exact_binomial(cell["skill_failures"], cell["skill_calls"], level=plan.level)
        assert ends is not None
        exact = (100 * ends[0], 100 * ends[1])
        if low is not None and high is not None and exact[1] - exact[0] < high - low:
            return judged
        if families >= FEWEST_FAMILIES and (undefined or 0.0) <= UNDEFINED_LIMIT:
            return (*exact, families, undefined, "exact", None)
    return judged


FEWEST_FAMILIES = 2
_FEWEST_RESAMPLES = 100
