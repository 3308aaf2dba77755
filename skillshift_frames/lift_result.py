"""What a Skill Lift is: its numbers, the verdict on them, and how both are written down."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from skillshift_frames.decide import Decision, decide
from skillshift_frames.lift_means import FAMILY
from skillshift_frames.lifts import LIFTS
from skillshift_frames.stats.paired import smallest_p

if TYPE_CHECKING:
    from skillshift_frames.lift_means import Mean
    from skillshift_frames.lift_policies import Composite, LiftErrors
    from skillshift_frames.lift_tools import ToolLift

#: How intervals are made: Student's, or as those of `skillshift_frames.intervals`.
LiftMethod: TypeAlias = Literal["t", "bootstrap", "delta"]

#: One row is one metric.
METRIC_LIFTS = pl.Schema(
    {
        "metric": pl.String,
        "weight": pl.Float64,  # in the composite; 0 where it plays no part
        "with": pl.Float64,  # mean over the cases, attempts averaged first
        "without": pl.Float64,
        "lift": pl.Float64,  # with − without
        "low": pl.Float64,
        "high": pl.Float64,
        "cases": pl.Int64,  # with the metric on both sides
        "families": pl.Int64,  # distinct uids of a skill: what is taken for independent
        "reason": pl.String,  # why there is no interval
    }
)


@dataclass(frozen=True, slots=True)
class Positive:
    """The cases in which the composite is higher with the skill.

    Attributes
    ----------
    cases, share
        How many, and of all; the share is None without any case.
    low, high
        Wilson's interval of the share, on ``effective`` cases.
    effective
        How many independent cases they are worth: fewer than there are where one case was tried by several agents, or in
        several runs (`skillshift_frames.stats.clusters.clustered_share`).
    """

    cases: int
    share: float | None
    low: float | None
    high: float | None
    effective: float | None


@dataclass(frozen=True, eq=False)  # frames have no one answer to ==
class SkillLift:
    """What a skill adds, case by case.

    Attributes
    ----------
    metrics
        Columns and dtypes as `skillshift_frames.METRIC_LIFTS`. Of the metrics that make the composite the same cases
        count, those that have all of them on both sides, so that the composite's lift is their weighted mean exactly.
    dimensions
        The same for five dimensions, where these make the composite; else empty.
    composite, outcome
        The composite's mean, and the mean of accuracy and goal accuracy (None where either is not recorded).
    positive
        Cases with a composite lift above 0.
    negative, pooled
        The composite's mean over the cases in which the skill should not be used, and over all cases; None where there
        is no such case. Everything else is without these cases.
    cases
        One row per paired case, negative ones included: `skillshift_frames.LIFT_CASES`.
    coverage
        Trials by status, in all and per arm, and ``paired_cases``.
    costs
        Cost and time per arm: `skillshift_frames.COSTS`.
    tool
        What ``as_`` asked for: a tool's own numbers; else None.
    faults
        What was wrong with the files, as `skillshift_frames.check_trials` gives it.
    notes
        What limits all this, in sentences.
    bounded
        Whether the composite is known to lie between 0 and 1, and so its lift between −1 and 1.
    """

    metrics: pl.DataFrame
    dimensions: pl.DataFrame
    composite: Mean
    policy: Composite
    outcome: Mean | None
    positive: Positive
    negative: Mean | None
    pooled: Mean | None
    cases: pl.DataFrame
    coverage: dict[str, Any]
    costs: pl.DataFrame
    tool: ToolLift | None
    faults: pl.DataFrame
    notes: tuple[str, ...]
    errors: LiftErrors
    level: float
    seed: int
    resamples: int
    method: LiftMethod
    margin: float | None = None
    bounded: bool = False

    @cached_property
    def decision(self) -> Decision:
        """Verdict on the composite, with its reason, as `skillshift_frames.decide` finds it; nothing is recommended."""
        return _decision(self)

    def to_dict(self) -> dict[str, Any]:
        """Give what ``lift --format json`` prints: plain values, no NaN."""
        outcome, negative, pooled = (
            None if mean is None else mean.to_dict()
            for mean in (self.outcome, self.negative, self.pooled)
        )
        return {
            "schema_version": 1,
            "errors": self.errors,
            "level": self.level,
            "method": self.method,
            "seed": self.seed if self.method == "bootstrap" else None,
            "resamples": self.resamples if self.method == "bootstrap" else None,
            "margin": self.margin,
            "metrics": _by_name(self.metrics),
            "dimensions": _by_name(self.dimensions),
            "composite": self.composite.to_dict()
            | {
                "policy": self.policy.policy,
                "weights": dict(self.policy.weights),
                "positive_cases": self.positive.cases,
                "positive_share": self.positive.share,
                "positive_low": self.positive.low,
                "positive_high": self.positive.high,
                "positive_effective": self.positive.effective,
                "bounded": self.bounded,
            },
            "outcome": outcome,
            "negative": negative,
            "pooled": pooled,
            "coverage": self.coverage,
            "costs": _costs(self.costs),
            "as": None if self.tool is None else asdict(self.tool),
            "verdict": self.decision.verdict,
            "reason": self.decision.reason,
            "settle": self.decision.settle,
            "cases": self.cases.to_dicts(),
            "faults": self.faults.filter(severity="error").drop("line", "severity").to_dicts(),
            "notes": list(self.notes),
        }


def _by_name(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row.pop("metric"): row for row in frame.to_dicts()}


def _costs(frame: pl.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    arms: dict[str, dict[str, dict[str, Any]]] = {}
    for row in frame.to_dicts():
        arms.setdefault(row.pop("arm"), {})[row.pop("quantity")] = row
    return arms


@dataclass(frozen=True, slots=True)
class _Evidence:
    lifts: pl.DataFrame
    metric: str
    level: float
    pairs: int


def _in_four_digits(decision: Decision, found: Mean) -> Decision:
    """Write the interval as lifts are written here: two digits, as for percent, would hide most of them."""
    reason = decision.reason
    for low, high in ((found.low, found.high), (found.inner_low, found.inner_high)):
        if low is not None and high is not None:
            reason = reason.replace(f"[{low:.2f}, {high:.2f}]", f"[{low:.4f}, {high:.4f}]")
    return replace(decision, reason=reason)


def _decide(row: dict[str, Any], lift: SkillLift) -> Decision:
    lifts = pl.DataFrame([row], schema=LIFTS)
    return decide(
        _Evidence(lifts, "composite", lift.level, lift.composite.cases), margin=lift.margin
    )


def _decision(lift: SkillLift) -> Decision:
    found = lift.composite
    cases = lift.cases.filter(~pl.col("negative"))
    differences = cases.get_column("lift")
    discordant = int((differences != 0).sum())
    of_families = cases.group_by(FAMILY).agg(pl.col("lift").sort().mean()).get_column("lift")
    wins, losses = int((of_families > 0).sum()), int((of_families < 0).sum())
    row = {
        **dict.fromkeys(LIFTS),
        "metric": "composite",
        "slot": "overall",
        **{name: getattr(found, name) for name in ("lift", "low", "high", "families", "reason")},
        "equivalence_low": found.inner_low,
        "equivalence_high": found.inner_high,
        "discordant": discordant,
        "tasks": of_families.len(),
        "wins": wins,
        "losses": losses,
        "ties": of_families.len() - wins - losses,
    }
    decision = _in_four_digits(_decide(row, lift), found)
    if decision.settle is not None and found.uncut is not None:
        ends = ("low", "high", "equivalence_low", "equivalence_high")
        uncut = row | dict(zip(ends, found.uncut, strict=True))
        decision = replace(decision, settle=_decide(uncut, lift).settle)
    yes_or_no = differences.is_in([-1.0, 0.0, 1.0]).all()
    smallest = smallest_p(discordant)
    if decision.verdict in {"helps", "harms"} and yes_or_no and smallest >= 1 - lift.level:
        reason = (
            f"too few discordant cases: with {discordant} no outcome could be significant "
            f"(the smallest p is {smallest:.3f})"
        )
        return replace(decision, verdict="undetermined", reason=reason)
    return decision
