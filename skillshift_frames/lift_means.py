"""Cases → the mean of one number on both sides, its lift and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.readers.tools.evaluator_scores import SIX
from skillshift_frames.sampling import Ends, Sample, judge_difference, rounded
from skillshift_frames.stats.clusters import clustered_mean
from skillshift_frames.stats.macro import cell_ratios
from skillshift_frames.stats.resampling import merge_alike
from skillshift_frames.trials import WITH, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillshift_frames.lift_cases import Sides
    from skillshift_frames.sampling import Plan
    from skillshift_frames.stats.resampling import Statistic

#: Of a case's name, what makes it another family: agents, models and runs try the same case again.
FAMILY = ("tool", "skill", "uid")
_NEGLIGIBLE = 1e-9
#: Tools whose score is a share: a mean of the six metrics, of expectations that were met, of checks that passed.
_SHARE_SCORES = {"skillevaluator", "skill-creator", "tau-bench", "asi"}


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a number over cases, on both sides.

    Attributes
    ----------
    name
        Of the number.
    with_, without, lift
        Means of the cases that have it on both sides, and the difference; None without such a case.
    low, high, reason
        The interval of the lift, or why there is none.
    inner_low, inner_high
        The interval at 2 · level − 1, for a test of equivalence.
    uncut
        The four ends as they are before they are cut off where the lift cannot be: what more cases would shrink.
    cases, families
        How many cases, and how many of them are taken for independent.
    """

    name: str
    with_: float | None
    without: float | None
    lift: float | None
    low: float | None
    high: float | None
    inner_low: float | None
    inner_high: float | None
    cases: int
    families: int
    reason: str | None
    uncut: tuple[float, float, float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give what is printed of it."""
        return {
            "with": self.with_,
            "without": self.without,
            **{
                name: getattr(self, name)
                for name in ("lift", "low", "high", "cases", "families", "reason")
            },
        }


def mean_of(
    cases: pl.DataFrame,
    name: str,
    weights: Mapping[str, float],
    *,
    key: Sequence[str],
    plan: Plan,
    method: str,
    span: float = math.inf,
) -> Mean:
    """Average a weighted sum of metrics over the cases that have them all on both sides.

    ``cases`` are those of `skillshift_frames.lift_cases.cases_of`; ``key`` names one. The sum is known to lie between 0 and
    ``span``, so that no interval of its lift goes beyond ±span.
    """
    if not weights:
        return _nothing(name)
    sides = [
        pl.sum_horizontal(
            *(weight * pl.col(f"{metric}_{side}") for metric, weight in weights.items()),
            ignore_nulls=False,
        ).alias(side)
        for side in (WITH, WITHOUT)
    ]
    family = [column for column in FAMILY if column in key]
    values = cases.select(*family, *sides).drop_nulls([WITH, WITHOUT])
    if not values.height:
        return _nothing(name)
    first, second = (math.fsum(values.get_column(side)) / values.height for side in (WITH, WITHOUT))
    lift = difference(first, second)
    # Sorted: what comes of adding up fractions must not depend on the order of the rows.
    sums = (
        values.with_columns(difference=pl.col(WITH) - pl.col(WITHOUT))
        .group_by(family)
        .agg(pl.col("difference").sort().sum(), n=pl.len())
        .sort("difference", "n")
    )
    families = sums.height
    levels = [plan.level, *([2 * plan.level - 1] if plan.level > 0.5 else [])]  # noqa: PLR2004 - two tests at 1 − level
    found = _ends(sums, levels, plan, method)
    outer, *inner = [ends.within(span) for ends in found]
    low, high, reason = judge_difference(lift, families, outer)
    inside = (
        judge_difference(lift, families, inner[0]) if inner and low is not None else (None, None)
    )
    return Mean(
        name,
        rounded(first),
        rounded(second),
        lift,
        low,
        high,
        inside[0],
        inside[1],
        values.height,
        families,
        reason,
        None if low is None or not inner else (*found[0][:2], *found[1][:2]),
    )


def shares_of(sides: Sides) -> set[str]:
    """Name the metrics that are known to lie between 0 and 1: by what they are, and by every value that was recorded.

    A score is one where its tool's always is, or where it is no more than pass or fail.
    """
    scored = sides.trials.filter(status="scored")
    named = {*SIX, "success"} & set(sides.metrics)
    if "score" in sides.metrics:
        is_success = (scored.get_column("score") == scored.get_column("success")).fill_null(
            value=False
        )
        tools = set(scored.get_column("tool"))
        if is_success.all() or tools <= _SHARE_SCORES:
            named.add("score")
    return {name for name in named if scored.get_column(name).drop_nulls().is_between(0, 1).all()}


def difference(first: float, second: float) -> float:
    """Give first − second, 0 where what is left of two equal sums is rounding.

    Examples
    --------
    >>> difference(0.1 + 0.2, 0.3), difference(0.9, 0.5)
    (0.0, 0.4)
    """
    left = first - second
    return 0.0 if abs(left) <= _NEGLIGIBLE * max(abs(first), abs(second)) else rounded(left)


def _nothing(name: str) -> Mean:
    return Mean(name, None, None, None, None, None, None, None, 0, 0, "no pairs")


def _ends(sums: pl.DataFrame, levels: Sequence[float], plan: Plan, method: str) -> list[Ends]:
    if method == "t":
        found = [
            clustered_mean(
                sums.get_column("difference").to_list(), sums.get_column("n").to_list(), level=level
            )
            for level in levels
        ]
        return [
            Ends(math.nan, math.nan, 0.0, "t")
            if math.isnan(mean.low)
            else Ends(rounded(mean.low), rounded(mean.high), 0.0, "t")
            for mean in found
        ]
    import numpy as np

    group = merge_alike(sums.select("difference", pl.col("n").cast(pl.Float64)).to_numpy())
    sample = Sample([group], np.array([[[0]], [[1]]]))

    def make(sample: Sample, metrics: Sequence[int]) -> Statistic:
        top, bottom = (columns[list(metrics)] for columns in sample.columns)
        return cell_ratios(top, bottom, np.ones(len(metrics)))

    return [ends[0] for ends in plan.ends(sample, make, [sums.height], levels)]
