"""How intervals are made: families as rows of numbers, site by site, and the method that suits how many there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
)

import polars as pl

from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.stats.bootstrap import draw, percentiles
from skillshift_frames.stats.delta import delta_method
from skillshift_frames.stats.resampling import Moments, distinct_columns, merge_alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.stats.resampling import Group, Statistic

#: How intervals are made: ``auto`` resamples, unless every site has so many families that it would add nothing.
Method: TypeAlias = Literal["auto", "bootstrap", "delta"]

#: A seed, or a generator from which one is drawn.
Rng: TypeAlias = "int | np.random.Generator"

DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED = 0.95, 10_000, 0

#: With this many families behind every number the delta method and the bootstrap agree to within simulation error.
MANY_FAMILIES = 1_000
FEWEST_FAMILIES = 2

#: In place of a method, where one is needed that sums do not allow.
NEEDS_FAMILIES = "needs families"
_FEWEST_RESAMPLES = 100

#: Of an interval's ends: below this they are one point.
SPREAD = 1e-9

#: Digits of an end that are kept: the last ones of a sum of fractions depend on how many threads added it up.
_DIGITS = 12

#: Relative to two numbers: a difference below this is rounding. The steps of the delta method are far larger.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Sample:
    """Families by site, as rows of numbers, and which column is what.

    Attributes
    ----------
    groups
        One per site of the benchmark, in its order.
    columns
        ``(kinds, metrics, conditions)``: the column of each sum; kinds are numerators, then denominators.
    """

    groups: list[Group]
    columns: NDArray[np.int64]

    def only(self, metric: int) -> Sample:
        """Give the same families with the numbers of one metric only, of which many more are alike."""
        import numpy as np

        wanted, columns = np.unique(self.columns[:, [metric]], return_inverse=True)
        groups = [merge_alike(group.rows[:, wanted], group.times) for group in self.groups]
        return Sample(groups, columns.reshape(self.columns[:, [metric]].shape))

    def families_of_sites(self) -> NDArray[np.int64]:
        """Count the families that add to a metric's denominator in any cell of a site: ``(sites, metrics)``."""
        import numpy as np

        bottom = self.columns[1]
        return np.array([g.times @ (g.rows[:, bottom] > 0).any(axis=2) for g in self.groups])

    def families_of_cells(self) -> NDArray[np.int64]:
        """Count the families that add to the denominator of each cell: ``(sites, metrics, conditions)``."""
        import numpy as np

        bottom = self.columns[1]
        return np.array([np.tensordot(g.times, g.rows[:, bottom] > 0, axes=1) for g in self.groups])


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of a `Sample` where its families were added up elsewhere: nothing to resample.

    Attributes
    ----------
    groups, columns
        As of a `Sample`.
    of_sites, of_cells
        What its methods count.
    """

    groups: list[Moments]
    columns: NDArray[np.int64]
    of_sites: NDArray[np.int64]
    of_cells: NDArray[np.int64]

    def only(self, metric: int) -> Summary:
        """Give the same families with the numbers of one metric only."""
        import numpy as np

        wanted, columns = np.unique(self.columns[:, [metric]], return_inverse=True)
        groups = [
            Moments(group.families, group.sums[wanted], group.centred[np.ix_(wanted, wanted)])
            for group in self.groups
        ]
        parts = self.of_sites[:, [metric]], self.of_cells[:, [metric]]
        return Summary(groups, columns.reshape(self.columns[:, [metric]].shape), *parts)

    def families_of_sites(self) -> NDArray[np.int64]:
        """Count the families that add to a metric's denominator in any cell of a site: ``(sites, metrics)``."""
        return self.of_sites

    def families_of_cells(self) -> NDArray[np.int64]:
        """Count the families that add to the denominator of each cell: ``(sites, metrics, conditions)``."""
        return self.of_cells


S_contra = TypeVar("S_contra", Sample, Summary, contravariant=True)


class MakeStatistic(Protocol[S_contra]):
    """Makes the statistic of some metrics (by number) of a sample that holds just these."""

    def __call__(self, sample: S_contra, metrics: Sequence[int], /) -> Statistic:
        """Give it; values are ordered by metric."""


class Ends(NamedTuple):
    """What is found of one number: ends (NaN where none), undefined share, and how they were found."""

    low: float
    high: float
    undefined: float
    method: str

    def within(self, span: float) -> Ends:
        """Cut the ends off at ±span, beyond which the number cannot be.

        Examples
        --------
        >>> Ends(-0.2, 1.3, 0.0, "t").within(1.0)[:2]
        (-0.2, 1.0)
        """
        if math.isnan(self.low):
            return self
        return self._replace(low=max(self.low, -span), high=min(self.high, span))


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
        check_choice("method", method, get_args(Method))
        return cls(level, resamples, seed_of(rng), method)

    def ends(
        self,
        sample: Sample,
        make: MakeStatistic[Sample],
        behind: Sequence[int],
        levels: Sequence[float] = (),
    ) -> list[list[Ends]]:
        """Give the ends of every number, at each of ``levels`` (by default at the plan's own).

        ``behind`` counts the families behind each number, metric by metric.
        """
        levels = levels or [self.level]
        everything = range(sample.columns.shape[1])
        many = _many(g.families for g in sample.groups)
        if self.method != "auto" or not many:
            by_delta = self.method == "delta"
            return self._ends(sample.groups, make(sample, everything), levels, by_delta=by_delta)
        # Sites may be large and a metric sparse: few skill calls in many families. Each metric is taken by itself, in
        # which nearly all families are alike where it is sparse, so that resampling it costs next to nothing.
        found: list[list[Ends]] = [[] for _ in levels]
        per_metric = len(behind) // len(everything)
        for metric in everything:
            enough = _many(behind[metric * per_metric : (metric + 1) * per_metric])
            alone = sample.only(metric)
            ends = self._ends(alone.groups, make(alone, [metric]), levels, by_delta=enough)
            for listed, more in zip(found, ends, strict=True):
                listed.extend(more)
        return found

    def ends_of_sums(
        self, summary: Summary, make: MakeStatistic[Summary], behind: Sequence[int]
    ) -> list[Ends]:
        """Give the ends of every number as `ends` does, of families of which the sums are all that is known.

        Raises
        ------
        InputError
            Families are to be resampled.
        """
        if self.method == "bootstrap":
            msg = "moments are sums over families, and hold none to resample; a tally with families=True does"
            raise InputError(msg)
        everything = range(summary.columns.shape[1])
        if self.method == "delta":
            statistic = make(summary, everything)
            return _by_delta(summary.groups, statistic, self.level)
        many = _many(g.families for g in summary.groups)
        found: list[Ends] = []
        per_metric = len(behind) // len(everything)
        for metric in everything:
            counts = behind[metric * per_metric : (metric + 1) * per_metric]
            if many and _many(counts):
                alone = summary.only(metric)
                found += _by_delta(alone.groups, make(alone, [metric]), self.level)
            else:
                found += [Ends(math.nan, math.nan, math.nan, NEEDS_FAMILIES)] * per_metric
        return found

    def _ends(
        self,
        groups: list[Group],
        statistic: Statistic,
        levels: Sequence[float],
        *,
        by_delta: bool,
    ) -> list[list[Ends]]:
        if by_delta:
            return [_by_delta(groups, statistic, level) for level in levels]
        drawn = draw(groups, statistic, resamples=self.resamples, seed=self.seed)
        intervals = [percentiles(drawn, level=level) for level in levels]
        return [
            [
                Ends(rounded(low), rounded(high), undefined, "bootstrap")
                for low, high, undefined in zip(
                    found.low.tolist(), found.high.tolist(), found.undefined.tolist(), strict=True
                )
            ]
            for found in intervals
        ]


def _many(families: Iterable[int]) -> bool:
    """Tell whether all numbers that have families at all have so many that resampling would add nothing."""
    return min((n for n in families if n), default=0) >= MANY_FAMILIES


def _by_delta(groups: Sequence[Group | Moments], statistic: Statistic, level: float) -> list[Ends]:
    lows, highs = delta_method(groups, statistic, level=level)
    return [
        Ends(rounded(low), rounded(high), float(math.isnan(low)), "delta")
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
    ]


def rounded(value: float) -> float:
    """Drop the digits that depend on the order in which fractions were added up."""
    return float(f"{value:.{_DIGITS}g}")


def differences(after: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract statistics; what rounding leaves of two that are equal is 0, which is on no side of 0."""
    import numpy as np

    found: NDArray[np.float64] = after - before
    with np.errstate(invalid="ignore"):  # undefined stays undefined
        found[np.abs(found) <= _ROUNDING * np.maximum(np.abs(after), np.abs(before))] = 0.0
    return found


def seed_of(rng: Rng) -> int:
    """Give the seed that ``rng`` stands for: itself, or one drawn from a generator."""
    integers = getattr(rng, "integers", None)
    seed = int(integers(1 << 63)) if integers else int(cast("int", rng))
    if seed < 0:
        msg = f"seed {seed} is negative; 0 or more is needed"
        raise InputError(msg)
    return seed


def families_by_site(sums: pl.DataFrame, kinds: Sequence[Sequence[str]], axes: Benchmark) -> Sample:
    """Give a run's families as rows of numbers, site by site.

    ``sums`` has rows of site, family and condition, in any order; those that share all three are added up. ``kinds`` names
    its other columns, one per metric in each kind; the second half of the kinds are denominators. A column ``times``, where
    there is one, says how many families each stands for, the same in all its rows.
    """
    import numpy as np

    # Metric by metric: families are put in order by their numbers, the first ones first, so that what is drawn for a
    # metric does not depend on those that come after it.
    parts = [name for metric in zip(*kinds, strict=True) for name in metric]
    denominators = [parts.index(name) for kind in kinds[len(kinds) // 2 :] for name in kind]
    order = {condition: index for index, condition in enumerate(axes.conditions)}
    # Any number per family will do: alike ones are merged, and the others put in an order of their own.
    number = pl.col("family")
    if sums.schema["family"] == pl.String:
        number = number.cast(pl.Categorical).to_physical()
    rows, times = [], []
    for site in axes.sites:
        of_site = sums.filter(site=site).with_columns(
            pl.col("condition").replace_strict(order, return_dtype=pl.Int64),
            number.rank("dense") - 1,
        )
        families = of_site.get_column("family").n_unique()
        family, condition = of_site.select("family", "condition").to_numpy().T.astype(np.int64)
        cell, values = family * len(order) + condition, of_site.select(parts).to_numpy()
        summed = np.zeros((families * len(order), len(parts)))
        if np.bincount(cell).max(initial=0) <= 1:
            summed[cell] = values
        else:  # several tasks of one family; sorted, because a sum of fractions depends on the order of its terms
            by_value = np.lexsort(values.T)
            np.add.at(summed, cell[by_value], values[by_value])
        numbers = summed.reshape(families, len(order), len(parts)).transpose(0, 2, 1)
        # A family without any measured trial says nothing, and must not be drawn as if it did.
        measured = numbers[:, denominators].any(axis=(1, 2))
        rows.append(numbers[measured].reshape(int(measured.sum()), len(parts) * len(order)))
        stand_for = np.ones(families, dtype=np.int64)
        if "times" in of_site.columns:
            stand_for[family] = of_site.get_column("times").to_numpy()
        times.append(stand_for[measured])
    # Many columns are one number under several names (one trial each: every denominator but SFR's is 1).
    first, same = distinct_columns(np.concatenate(rows))
    groups = [
        merge_alike(of_site[:, first], of_all) for of_site, of_all in zip(rows, times, strict=True)
    ]
    columns = same.reshape(-1, len(kinds), len(order))
    return Sample(groups, np.moveaxis(columns, 0, 1))


def families_behind(
    sample: Sample,
    metrics: Sequence[int],
    *,
    sites: Sequence[int] | None = None,
    conditions: Sequence[int] | None = None,
) -> int:
    """Count the families that have any of the metrics in any of the cells: by number, by default in all of them."""
    bottom = sample.columns[1][list(metrics)]
    columns = (bottom if conditions is None else bottom[:, list(conditions)]).ravel()
    groups = sample.groups if sites is None else [sample.groups[site] for site in sites]
    return sum(int(g.times @ (g.rows[:, columns] > 0).any(axis=1)) for g in groups)


def difference(before: float | None, after: float | None) -> float | None:
    """Give before − after without the digits that subtracting floats makes up, None where a side is undefined.

    Examples
    --------
    >>> difference(50.07, 16.90), difference(50.07, None)
    (33.17, None)
    """
    return None if before is None or after is None else rounded(before - after)


def judge_difference(
    value: float | None, families: int, ends: Ends
) -> tuple[float | None, float | None, str | None]:
    """Give the interval of a difference, or the reason why there is none; never a point."""
    if value is None:
        return None, None, "undefined on a side"
    if families < FEWEST_FAMILIES:
        return None, None, "a single family tells nothing about the next"
    if math.isnan(ends.low):
        return None, None, f"undefined in {100 * ends.undefined:.1f} % of the resamples"
    if ends.high - ends.low <= SPREAD * max(1.0, abs(ends.high)):
        return None, None, f"no spread: all {families} families agree"
    return ends.low, ends.high, None
