"""Skill Lift: what a skill adds, from trials with and without it, paired by case."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from skillshift_frames.costs import costs_of
from skillshift_frames.decide import check_margin
from skillshift_frames.errors import InputError, check_choice, check_frame
from skillshift_frames.lift_cases import (
    COMPOSITE,
    as_trials,
    cases_of,
    coverage_of,
    list_cases,
    sides_of,
    usable,
)
from skillshift_frames.lift_means import FAMILY, Mean, mean_of, shares_of
from skillshift_frames.lift_notes import notes_of, unlisted_of
from skillshift_frames.lift_policies import OUTCOME, POLICIES, LiftErrors, composite_of
from skillshift_frames.lift_result import METRIC_LIFTS, LiftMethod, Positive, SkillLift
from skillshift_frames.lift_tools import tool_lift
from skillshift_frames.readers.tools.evaluator_scores import SIX
from skillshift_frames.sampling import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED, Plan, rounded
from skillshift_frames.schema import FAULTS
from skillshift_frames.stats.clusters import clustered_share
from skillshift_frames.trials import WITH, WITHOUT

if TYPE_CHECKING:
    from skillshift_frames.lift_policies import Composite, CompositeLike
    from skillshift_frames.sampling import Rng


def skill_lift(
    frame: pl.DataFrame | pl.LazyFrame,
    *,
    errors: LiftErrors = "exclude",
    as_: str | None = None,
    composite: CompositeLike = "default",
    margin: float | None = None,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = DEFAULT_SEED,
    method: LiftMethod = "t",
    with_: str | None = None,
    without: str | None = None,
    faults: pl.DataFrame | None = None,
) -> SkillLift:
    """Measure what a skill adds: with against without, per metric and in all.

    Parameters
    ----------
    frame
        Trials as `skillshift_frames.TRIALS`, with any metrics after them (Float64).
    errors
        What a trial without a score (unscored, errored, missing) counts as: ``"exclude"`` leaves it out of every mean,
        ``"zero"`` takes it for 0 in all, ``"fail-arm"`` leaves out all of its run's arm.
    as_
        A policy, such as ``"harbor-0.13"``: also compute the number that this tool prints.
    composite
        ``"default"`` is the equal mean of SkillEvaluator's metrics that were recorded, else ``score``, else ``success``;
        ``"dimensions"`` its five dimensions; or names of metrics, or names with weights.
    margin
        See `skillshift_frames.decide`.
    level
        Nominal coverage of intervals.
    resamples, rng
        For ``method="bootstrap"``.
    method
        ``"t"``: Student's interval on cases; it needs no resampling and keeps its level with five cases, where the
        percentile bootstrap falls short. ``"bootstrap"`` and ``"delta"``: as for `skillshift_frames.intervals`.
    with_, without
        Names of the two sides: arms, else runs, else agents. By default the arms ``with`` and ``without``.
    faults
        What was wrong with the files (`skillshift_frames.FAULTS`), as `skillshift_frames.check_trials` gives it: what no
        trial stands for is said, and planned trials that nothing names are counted in the coverage.

    Returns
    -------
    SkillLift
        Cases are paired by uid, within what the two sides share of tool, skill, agent, model and run; attempts are averaged
        first, whatever their order. What shares skill and uid (one case tried by several agents, or in several runs) is one
        family to the interval. No case: every number is None. One family: no interval, with the reason. Where a metric is
        known to lie between 0 and 1 (success, SkillEvaluator's metrics, a score that is one of these), no interval goes
        beyond ±1.

    Raises
    ------
    InputError
        No trials frame; a side that is not there; an unknown policy or metric; a level, margin or number of resamples out of
        range.

    References
    ----------
    Skill Lift, as in "Evaluating Skills, Not Just Agents: Agentic Continuous Evaluation of Skills" (ACES), with NVIDIA's
    SkillEvaluator.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> trials = pl.DataFrame(
    ...     [
    ...         {"arm": arm, "uid": uid, "trial": 1, "status": "scored", "score": score}
    ...         for arm, scores in (("with", (0.9, 0.8, 0.7)), ("without", (0.5, 0.6, 0.1)))
    ...         for uid, score in zip("abc", scores)
    ...     ],
    ...     schema=sf.TRIALS,
    ... )
    >>> found = sf.skill_lift(trials)
    >>> found.composite.lift, round(found.composite.low, 3), found.positive.share
    (0.4, -0.097, 1.0)
    """
    check_choice("errors", errors, get_args(LiftErrors))
    check_choice("method", method, get_args(LiftMethod))
    if as_ is not None:
        check_choice("as_", as_, tuple(POLICIES))
    check_margin(margin, level)
    lost = _as_faults(faults)
    plan = Plan.of(level, resamples, rng, "auto" if method == "t" else method)
    sides = sides_of(as_trials(frame), with_, without)
    trials, notes = usable(sides, errors)
    made = composite_of(composite, sides.metrics)
    cases = _with_composite(cases_of(trials, sides), made)
    used = cases.filter(~pl.col("negative"))

    shares = shares_of(sides)

    def mean(of: pl.DataFrame, name: str, weights: dict[str, float]) -> Mean:
        span = sum(weights.values()) if shares.issuperset(weights) else math.inf
        return mean_of(of, name, weights, key=sides.key, plan=plan, method=method, span=span)

    complete = used.filter(pl.col("complete"))
    means = [
        mean(complete if name in made.weights else used, name, {name: 1.0})
        for name in sides.metrics
        # SkillEvaluator's score is the mean of its metrics, rounded: the composite once more.
        if name != "score" or name in made.weights or not set(SIX) & set(sides.metrics)
    ]
    by_name = {found.name: found for found in means}
    headline = _headline(mean(complete, "composite", dict(made.weights)), by_name, made)
    paired = cases.filter(pl.col("complete"))
    negative = paired.filter(pl.col("negative"))
    both = [name for name in OUTCOME if name in sides.metrics]
    lift = SkillLift(
        metrics=_frame(means, made.weights),
        dimensions=_frame(
            [mean(complete, name, dict(of)) for name, of in made.dimensions.items()],
            dict.fromkeys(made.dimensions, 1 / max(1, len(made.dimensions))),
        ),
        composite=headline,
        policy=made,
        outcome=mean(used, "outcome", dict.fromkeys(both, 1 / len(both)))
        if len(both) == len(OUTCOME)
        else None,
        positive=_positive(complete, level),
        negative=mean(negative, "negative", dict(made.weights)) if negative.height else None,
        pooled=mean(paired, "pooled", dict(made.weights)) if negative.height else None,
        cases=list_cases(paired),
        coverage=coverage_of(sides, unlisted_of(lost)) | {"paired_cases": complete.height},
        costs=costs_of(sides.trials, sides.key),
        tool=None
        if as_ is None
        else tool_lift(
            sides,
            as_,
            headline.lift,
            complete,
            made=made,
            errors=errors,
            unlisted=unlisted_of(lost),
        ),
        faults=lost,
        notes=(),
        errors=errors,
        level=level,
        seed=plan.seed,
        resamples=resamples,
        method=method,
        margin=margin,
        bounded=bool(made.weights) and shares.issuperset(made.weights),
    )
    return replace(lift, notes=(*notes, *sides.notes, *notes_of(lift, cases, sides)))


def _as_faults(faults: pl.DataFrame | None) -> pl.DataFrame:
    """Give the faults as a frame, raising `InputError` for what is none."""
    if faults is None:
        return FAULTS.to_frame()
    check_frame("faults", faults, "check_trials")
    if faults.schema != FAULTS:
        msg = "faults is no frame of faults; check_trials gives one beside the trials"
        raise InputError(msg)
    return faults.sort("path", "field", "message", maintain_order=True)


def _with_composite(cases: pl.DataFrame, made: Composite) -> pl.DataFrame:
    """Add the composite of both sides, and whether a case has it on both."""
    sides = [
        pl.sum_horizontal(
            *(weight * pl.col(f"{name}_{side}") for name, weight in made.weights.items()),
            ignore_nulls=False,
        ).alias(f"{COMPOSITE}_{side}")
        if made.weights
        else pl.lit(None, pl.Float64).alias(f"{COMPOSITE}_{side}")
        for side in (WITH, WITHOUT)
    ]
    known = [pl.col(f"{COMPOSITE}_{side}").is_not_null() for side in (WITH, WITHOUT)]
    return cases.with_columns(*sides).with_columns(complete=known[0] & known[1])


def _headline(found: Mean, rows: dict[str, Mean], made: Composite) -> Mean:
    """Give the composite its lift as the weighted mean of the lifts of its metrics: the printed rows, not cases again."""
    lifts = [(weight, rows[name].lift) for name, weight in made.weights.items()]
    if found.lift is None or any(lift is None for _, lift in lifts):
        return found
    total = math.fsum(weight * lift for weight, lift in lifts if lift is not None)
    return replace(found, lift=rounded(total))


def _frame(means: list[Mean], weights: Any) -> pl.DataFrame:  # noqa: ANN401 - a mapping of any kind
    rows = [found.to_dict() | {"metric": found.name} for found in means]
    frame = (
        pl.DataFrame(rows, schema=METRIC_LIFTS, strict=False) if rows else METRIC_LIFTS.to_frame()
    )
    return frame.with_columns(
        weight=pl.Series([weights.get(found.name, 0.0) for found in means], dtype=pl.Float64)
    )


def _positive(complete: pl.DataFrame, level: float) -> Positive:
    cases = list_cases(complete).with_columns(above=pl.col("lift") > 0)
    above = int(cases.get_column("above").sum())
    of_families = cases.group_by(FAMILY).agg(pl.col("above").sum(), n=pl.len())
    found = clustered_share(
        *(of_families.get_column(name).to_list() for name in ("above", "n")), level=level
    )
    low, high, effective = found or (None, None, None)
    return Positive(above, above / cases.height if cases.height else None, low, high, effective)
