"""A tool's own number, as the tool computes it, beside ours: one function for every policy of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.lift_cases import COMPOSITE, SIDE
from skillshift_frames.lift_groups import (
    counted,
    counts_otherwise,
    lacks_scores,
    parts_of,
    refused_of,
)
from skillshift_frames.lift_means import difference
from skillshift_frames.lift_policies import POLICIES
from skillshift_frames.readers.tools.evaluator_scores import DIMENSIONS, SIX
from skillshift_frames.sampling import rounded
from skillshift_frames.trials import WITH, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillshift_frames.lift_cases import Sides
    from skillshift_frames.lift_groups import Part
    from skillshift_frames.lift_policies import Composite, LiftErrors, Policy

#: What stands where a tool gives no number.
_NONE: dict[str, float | None] = {"with": None, "without": None, "lift": None}


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """What a tool prints for one of its jobs, agents and models.

    Attributes
    ----------
    of
        Whose trials: column → value, joined with a slash where the sides differ in it; None: not said.
    metrics, composite
        ``with``, ``without`` and ``lift``, per number and of the headline, as the tool rounds them; None where it gives
        none.
    extra
        What else the tool prints: pass^k of tau-bench, per side.
    ours
        Our means of the composite over the same cases, their lift, and how many ``cases`` these are.
    difference
        Our lift less the tool's; None where either is.
    reason
        Where ours differs from it, or why there is none, in one line; how the tool comes to it is its `ToolLift`'s.
    """

    of: dict[str, str | None]
    metrics: dict[str, dict[str, float | None]]
    composite: dict[str, float | None]
    extra: dict[str, dict[str, float | None]]
    ours: dict[str, float | int | None]
    difference: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class ToolLift:
    """What a tool computes of the same trials.

    Attributes
    ----------
    policy, errors, unit, decimals
        The policy's name, what a trial without a score counts as, what is averaged, and digits it is rounded to.
    metrics, composite, extra, difference
        As of `ToolGroup` where there is one group. Of several the tool prints no number over all, and so they are empty
        or None.
    reason
        How the tool comes to its number, and where ours differs from it, in one line.
    groups
        One for each number that the tool prints: by run, skill, agent, model and dataset, as far as it tells them apart.
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
    groups: tuple[ToolGroup, ...]


def tool_lift(
    sides: Sides,
    name: str,
    ours: float | None,
    complete: pl.DataFrame,
    *,
    made: Composite,
    errors: LiftErrors,
    unlisted: int = 0,
) -> ToolLift:
    """Compute the tool's own numbers of the trials of both sides, beside our lift of the composite that was ``made``.

    ``complete`` are the cases behind our lift, ``errors`` what a trial without a score counts as in it; ``unlisted`` trials
    were planned, and nothing says of which arm.
    """
    policy = POLICIES[name]
    parts = list(parts_of(sides, policy))
    groups = []
    for part in parts:
        own = _ours(part, complete)
        if len(parts) == 1:
            own["lift"] = ours
        groups.append(_group(part, name, own, (made, errors), _failed(policy, unlisted)))
    one = groups[0] if len(groups) == 1 else None
    several = f"{len(groups)} numbers, since the tool prints none over several {_told_by(groups)}"
    return ToolLift(
        policy=name,
        errors=policy.errors,
        unit=policy.unit,
        decimals=policy.decimals,
        metrics=one.metrics if one else {},
        composite=one.composite if one else dict(_NONE),
        extra=one.extra if one else {},
        difference=one.difference if one else None,
        reason=f"{policy.rule}; {one.reason if one else several}",
        groups=tuple(groups),
    )


def _told_by(groups: Sequence[ToolGroup]) -> str:
    names = [name for name in groups[0].of if len({group.of[name] for group in groups}) > 1]
    return ", ".join(f"{name}s" for name in names) if names else "groups"


def _ours(part: Part, complete: pl.DataFrame) -> dict[str, float | int | None]:
    """Average our composite over the cases of a group; of a side without a partner there is no such case."""
    key = list(part.sides.key)
    own = part.sides.trials.select(key).unique()
    cases = complete.join(own, on=key, how="semi", nulls_equal=True)
    if part.lone or not cases.height:
        return {**_NONE, "cases": 0}
    first, second = (
        math.fsum(cases.get_column(f"{COMPOSITE}_{side}")) / cases.height
        for side in (WITH, WITHOUT)
    )
    lift = difference(first, second)
    return {
        "with": rounded(first),
        "without": rounded(second),
        "lift": lift,
        "cases": cases.height,
    }


def _failed(policy: Policy, unlisted: int) -> str | None:
    """Say that one trial without a score would blank an arm, and it is not known which."""
    if not policy.fail_arm or not unlisted:
        return None
    return (
        f"here no number: {unlisted:,} planned trials are not there, and nothing says of which arm"
    )


def _group(
    part: Part,
    name: str,
    own: dict[str, float | int | None],
    how: tuple[Composite, LiftErrors],
    failed: str | None,
) -> ToolGroup:
    """Compute what the tool prints for one group; nothing where it is ``failed``. Ours came about as ``how`` says."""
    policy, sides = POLICIES[name], part.sides
    refused = failed or refused_of(sides, policy)
    trials = counted(sides, policy)
    there = [metric for metric in sides.metrics if sides.trials.get_column(metric).count()]
    rest = [metric for metric in there if metric not in {"score", "success"}]
    if policy.composite is None:
        headline = [policy.headline] if policy.headline in there else []
        names = [*headline, *rest] if policy.headline == "score" else headline
    else:
        names = rest
    means = {metric: _means(trials, metric, policy, sides.key) for metric in names}
    metrics = {metric: _row(*pair, policy) for metric, pair in means.items()}
    if policy.composite is None:
        composite = metrics.get(policy.headline, _row(None, None, policy))
    else:
        both = [_composite({m: means[m][side] for m in names}, policy) for side in (0, 1)]
        composite = _row(both[0], both[1], policy)
    extra, no_extra = _extra(trials, name, replace(sides, metrics=tuple(there)))
    if refused:
        metrics, composite, extra = {}, dict(_NONE), {}
    ours, theirs = own["lift"], composite["lift"]
    gap = None if ours is None or theirs is None else difference(ours, theirs)
    reason = refused or _reason(policy, part, trials, (ours, theirs, gap), how)
    reason += f"; {no_extra}" if no_extra and not refused else ""
    return ToolGroup(part.of, metrics, composite, extra, own, gap, reason)


def _means(
    trials: pl.DataFrame, metric: str, policy: Policy, key: Sequence[str]
) -> tuple[float | None, float | None]:
    if policy.unit == "pair":
        trials = trials.filter(pl.len().over(SIDE, *key, "trial") == 1)
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


def _extra(
    trials: pl.DataFrame, name: str, sides: Sides
) -> tuple[dict[str, dict[str, float | None]], str]:
    """Give what else the tool prints of an arm, and why not, where it cannot be given."""
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
        return {"pass rate, %": rates}, ""
    return {}, ""


def _pass_hat(trials: pl.DataFrame, sides: Sides) -> tuple[dict[str, dict[str, float | None]], str]:
    """Give tau-bench's pass^k: the mean over tasks of C(c, k) / C(n, k), n being how many trials there are.

    The tool takes the numbers of trials for their count, so that of a number that comes twice it makes more than 1.
    """
    place = [SIDE, *sides.key, "trial"]
    twice = trials.filter(trials.select(place).is_duplicated()).sort(*place, "path")
    if twice.height:
        rows = twice.head(2).select("uid", "trial", "path").rows()
        where = ", ".join(str(path) for _, _, path in rows)
        return {}, f"no pass^k: trial {rows[0][1]} of {rows[0][0]} is there twice ({where})"
    of_sides = {}
    for side in (WITH, WITHOUT):
        of_side = trials.filter(pl.col("score").is_not_null(), pl.col(SIDE) == side)
        passed = of_side.group_by(sides.key).agg(n=(pl.col("score") - 1).abs().le(1e-6).sum())
        of_sides[side] = (of_side.get_column("trial").n_unique(), passed.get_column("n").to_list())
    most = max(n for n, _ in of_sides.values())
    rates: dict[str, dict[str, float | None]] = {
        f"pass^{k}": {
            side: math.fsum(comb(c, k) / comb(n, k) for c in passed) / len(passed)
            if passed and k <= n
            else None
            for side, (n, passed) in of_sides.items()
        }
        for k in range(1, most + 1)
    }
    return rates, ""


def _reason(
    policy: Policy,
    part: Part,
    trials: pl.DataFrame,
    numbers: tuple[float | None, float | None, float | None],
    how: tuple[Composite, LiftErrors],
) -> str:
    ours, theirs, gap = numbers
    made, errors = how
    if theirs is None:
        return f"here it gives no number: {_lacking(policy, part)}"
    if ours is None:
        failing = errors == "fail-arm" and lacks_scores(part.sides)
        why_none = "an arm has a trial without a score" if failing else "no case has both sides"
        return f"ours is undefined: {why_none}"
    if gap == 0:
        return "ours is the same"
    why = _differences(policy, part.sides, trials, errors)
    if policy.decimals is not None and abs(gap or 0.0) <= 2 * 10.0**-policy.decimals:
        why = ["only by rounding"]
    if _of_other_metrics(policy, made, part.sides):
        why.append(f"it is of {', '.join(made.weights)}")
    elif policy.composite and bool(made.dimensions) != (policy.composite == "dimensions"):
        why.append("dimensions weigh metrics otherwise")
    return f"ours differs: {'; '.join(why) or 'cases without a partner are left out'}"


def _lacking(policy: Policy, part: Part) -> str:
    if policy.fail_arm and lacks_scores(part.sides):
        return "an arm has a trial without a score"
    return (
        f"only {part.lone} the skill, without a single partner"
        if part.lone
        else "an arm has no number"
    )


def _of_other_metrics(policy: Policy, made: Composite, sides: Sides) -> bool:
    """Tell whether our composite is of other values than the tool's number is, or weighs them in a way of its own."""
    if policy.composite is None:
        # Pass or fail is often all that a score says.
        scored = sides.trials.filter(pl.col("status") == "scored")
        theirs = scored.get_column(policy.headline)
        return not all(scored.get_column(name).equals(theirs) for name in made.weights)
    return not made.dimensions and made.policy not in {"five metrics", "six metrics"}


def _differences(
    policy: Policy, sides: Sides, trials: pl.DataFrame, errors: LiftErrors
) -> list[str]:
    why = []
    if sides.trials.get_column("negative").any():
        why.append("negative cases are apart in ours")
    if errors == "fail-arm" and lacks_scores(sides):
        why.append("an arm with a trial without a score is left out of ours")
    elif _filled_otherwise(policy, sides, trials, errors):
        why.append("trials without a score count otherwise")
    if policy.recorded and counts_otherwise(sides, policy):
        why.append("rewards beside an exception count otherwise")
    if policy.unit == "pair" and trials.select(SIDE, *sides.key, "trial").is_duplicated().any():
        why.append("a repetition that an arm has twice is in none of the tool's pairs")
    if policy.unit == "trial":
        used = trials.filter(pl.any_horizontal(pl.col(sides.metrics).is_not_null()))
        attempts = used.group_by(SIDE, *sides.key).len().get_column("len")
        if attempts.n_unique() > 1:
            why.append("cases with more attempts weigh more in the tool's")
    return why


def _filled_otherwise(
    policy: Policy, sides: Sides, trials: pl.DataFrame, errors: LiftErrors
) -> bool:
    """Tell whether a trial without a score or a reward is 0 to the tool and left out of ours, or the other way round."""
    lacking = trials.filter(pl.col("status") != "scored")
    if policy.recorded:  # what was written beside an exception is told by itself
        lacking = lacking.filter(pl.col("recorded").is_null())
    names = [name for name in sides.metrics if name in SIX or name == policy.headline]
    zero = lacking.select(pl.any_horizontal(pl.col(names).is_not_null())).to_series()
    return bool((zero != (errors == "zero")).any())
