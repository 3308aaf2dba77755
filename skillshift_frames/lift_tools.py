"""A tool's own number, as the tool computes it, beside ours: one function for every policy of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.lift_cases import ARM, SIDE
from skillshift_frames.lift_means import difference
from skillshift_frames.lift_policies import POLICIES
from skillshift_frames.readers.tools.evaluator_scores import DIMENSIONS, SIX
from skillshift_frames.trials import WITH, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillshift_frames.lift_cases import Sides
    from skillshift_frames.lift_policies import Policy


@dataclass(frozen=True, slots=True)
class ToolLift:
    """What a tool computes of the same trials.

    Attributes
    ----------
    policy, errors, unit, decimals
        The policy's name, what a trial without a score counts as, what is averaged, and digits it is rounded to.
    metrics, composite
        ``with``, ``without`` and ``lift``, per number and of the headline, as the tool rounds them; None where it gives
        none.
    extra
        What else the tool prints: pass^k of tau-bench, per side.
    difference
        Our lift less the tool's; None where either is.
    reason
        How the tool comes to its number, and where ours differs from it, in one line.
    """

    policy: str
    errors: str
    unit: str
    decimals: int | None
    metrics: dict[str, dict[str, float | None]]
    composite: dict[str, float | None]
    extra: dict[str, dict[str, float | None]]
    difference: float | None
    reason: str


def tool_lift(sides: Sides, name: str, ours: float | None, made: str) -> ToolLift:
    """Compute the tool's own number of the trials of both sides, beside our lift of a composite of that name."""
    policy = POLICIES[name]
    trials = _counted(sides, policy)
    if policy.composite is None:
        headline = [policy.headline] if policy.headline in sides.metrics else []
        rest = [metric for metric in sides.metrics if metric not in {"score", "success"}]
        names = [*headline, *rest] if policy.headline == "score" else headline
    else:
        names = [metric for metric in sides.metrics if metric not in {"score", "success"}]
    means = {metric: _means(trials, metric, policy, sides.key) for metric in names}
    metrics = {metric: _row(*pair, policy) for metric, pair in means.items()}
    if policy.composite is None:
        composite = metrics.get(policy.headline, _row(None, None, policy))
    else:
        own = [_composite({m: means[m][side] for m in names}, policy) for side in (0, 1)]
        composite = _row(own[0], own[1], policy)
    theirs = composite["lift"]
    gap = None if ours is None or theirs is None else difference(ours, theirs)
    return ToolLift(
        policy=name,
        errors=policy.errors,
        unit=policy.unit,
        decimals=policy.decimals,
        metrics=metrics,
        composite=composite,
        extra=_extra(trials, name, sides),
        difference=gap,
        reason=_reason(policy, sides, trials, (ours, theirs, gap), made),
    )


def _counted(sides: Sides, policy: Policy) -> pl.DataFrame:
    """Give the trials with what the tool takes as their values; null where it leaves them out."""
    status = pl.col("status")
    scored = status == "scored"
    values = pl.col(sides.metrics)
    if policy.fail_arm:
        whole = scored.all().over(ARM)
        return sides.trials.with_columns(pl.when(whole).then(values))
    zero = status.is_in(policy.zero)
    if policy.zero_errors:
        zero |= (~scored & pl.col("error_type").is_in(policy.zero_errors)).fill_null(value=False)
    if policy.left_out_errors:
        zero &= ~pl.col("error_type").is_in(policy.left_out_errors).fill_null(value=False)
    return sides.trials.with_columns(pl.when(scored).then(values).when(zero).then(0.0))


def _means(
    trials: pl.DataFrame, metric: str, policy: Policy, key: Sequence[str]
) -> tuple[float | None, float | None]:
    known = trials.filter(pl.col(metric).is_not_null())
    if policy.unit == "pair":
        wide = (
            known.group_by(*key, "trial")
            .agg(
                *(
                    pl.col(metric).filter(pl.col(SIDE) == side).mean().alias(side)
                    for side in (WITH, WITHOUT)
                )
            )
            .drop_nulls([WITH, WITHOUT])
            .group_by(key)
            .agg(pl.col(WITH, WITHOUT).sort().mean())
        )
        return _mean(wide.get_column(WITH), policy), _mean(wide.get_column(WITHOUT), policy)
    sides = []
    for side in (WITH, WITHOUT):
        of_side = known.filter(pl.col(SIDE) == side)
        if policy.unit == "case":
            of_side = of_side.group_by(key).agg(pl.col(metric).sort().mean())
        sides.append(_mean(of_side.get_column(metric), policy))
    return sides[0], sides[1]


def _mean(values: pl.Series, policy: Policy) -> float | None:
    if not values.len():
        return None
    mean = math.fsum(values) / values.len()
    return mean if policy.decimals is None else round(mean, policy.decimals)


def _row(first: float | None, second: float | None, policy: Policy) -> dict[str, float | None]:
    lift = None if first is None or second is None else difference(first, second)
    if lift is not None and policy.lift_decimals is not None:
        lift = round(lift, policy.lift_decimals)
    return {"with": first, "without": second, "lift": lift}


def _composite(means: Mapping[str, float | None], policy: Policy) -> float | None:
    """Average metrics or dimensions as the tool does: each rounded before, the mean after."""
    own = {name: value for name, value in means.items() if name in SIX and value is not None}
    if set(SIX) - set(own) - {"security"}:
        return None
    values = list(own.values())
    if policy.composite == "dimensions":
        dimensions = dict(DIMENSIONS)
        if "security" not in own:
            dimensions["security"] = {"behavior_check": 1.0}
        values = [
            round(sum(weight * own[name] for name, weight in of.items()), policy.decimals)
            for of in dimensions.values()
        ]
    return round(sum(values) / len(values), policy.decimals)


def _extra(trials: pl.DataFrame, name: str, sides: Sides) -> dict[str, dict[str, float | None]]:
    """Give what else the tool prints of an arm."""
    if name == "tau-bench" and "score" in sides.metrics:
        return _pass_hat(trials, sides)
    if name == "skillsbench" and "success" in sides.metrics:
        rates: dict[str, float | None] = {}
        for side in (WITH, WITHOUT):
            tasks = (
                trials.filter(pl.col("success").is_not_null(), pl.col(SIDE) == side)
                .group_by(sides.key)
                .agg((pl.col("success") == 1).any())
                .get_column("success")
            )
            rates[side] = round(100 * int(tasks.sum()) / tasks.len(), 1) if tasks.len() else None
        return {"pass rate, %": rates}
    return {}


def _pass_hat(trials: pl.DataFrame, sides: Sides) -> dict[str, dict[str, float | None]]:
    """Give tau-bench's pass^k: the mean over tasks of C(c, k) / C(n, k), n being how many trials there are."""
    of_sides = {}
    for side in (WITH, WITHOUT):
        of_side = trials.filter(pl.col("score").is_not_null(), pl.col(SIDE) == side)
        passed = of_side.group_by(sides.key).agg(n=(pl.col("score") - 1).abs().le(1e-6).sum())
        of_sides[side] = (of_side.get_column("trial").n_unique(), passed.get_column("n").to_list())
    most = max(n for n, _ in of_sides.values())
    return {
        f"pass^{k}": {
            side: math.fsum(comb(c, k) / comb(n, k) for c in passed) / len(passed)
            if passed and k <= n
            else None
            for side, (n, passed) in of_sides.items()
        }
        for k in range(1, most + 1)
    }


def _reason(
    policy: Policy,
    sides: Sides,
    trials: pl.DataFrame,
    numbers: tuple[float | None, float | None, float | None],
    made: str,
) -> str:
    ours, theirs, gap = numbers
    if theirs is None:
        lacking = (
            "an arm has a trial without a score"
            if policy.fail_arm and _lacks(sides)
            else "an arm has no number"
        )
        return f"{policy.rule}; here it gives no number: {lacking}"
    if ours is None:
        return f"{policy.rule}; ours is undefined: no case has both sides"
    if gap == 0:
        return f"{policy.rule}; ours is the same"
    why = []
    if sides.trials.get_column("negative").any():
        why.append("negative cases are apart in ours")
    if _lacks(sides) and policy.errors != "exclude":
        why.append("trials without a score count otherwise")
    if policy.unit == "trial":
        counted = trials.filter(pl.any_horizontal(pl.col(sides.metrics).is_not_null()))
        attempts = counted.group_by(SIDE, *sides.key).len().get_column("len")
        if attempts.n_unique() > 1:
            why.append("cases with more attempts weigh more in the tool's")
    if policy.decimals is not None and abs(gap or 0.0) <= 2 * 10.0**-policy.decimals:
        why = ["only by rounding"]
    if policy.composite is not None and ("dimensions" in made) != (
        policy.composite == "dimensions"
    ):
        why.append("dimensions weigh metrics otherwise")
    return (
        f"{policy.rule}; ours differs: {'; '.join(why) or 'cases without a partner are left out'}"
    )


def _lacks(sides: Sides) -> bool:
    return bool((sides.trials.get_column("status") != "scored").any())
