"""How tools come to their numbers: composites with their weights, and the policies behind ``as_=``, in one table.

The tools disagree on what a trial without a score counts as, on what is averaged, and on when it is rounded; each line
below says what one of them does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from skillshift_frames.errors import InputError
from skillshift_frames.readers.tools.evaluator_scores import DIMENSIONS, SIX
from skillshift_frames.readers.tools.harbor_rewards import NO_RESULT

#: What a trial without a score counts as; as in `skillshift_frames.skill_lift`.
LiftErrors: TypeAlias = Literal["exclude", "zero", "fail-arm"]

#: Which metrics make the composite: by default the tool's own, else a policy's name, names, or names with weights.
CompositeLike: TypeAlias = "str | Sequence[str] | Mapping[str, float]"

#: The metrics of which the outcome-only lift is the mean: what came out, not how.
OUTCOME = ("accuracy", "goal_accuracy")
#: SkillEvaluator's metrics before there was one for security.
_FIVE = 5


@dataclass(frozen=True, slots=True)
class Composite:
    """Which metrics make the composite.

    Attributes
    ----------
    policy
        Its name: ``six metrics``, ``five metrics``, ``five dimensions``, ``score``, ``success``, ``chosen metrics``.
    weights
        Metric → weight; they sum to 1. Empty where nothing was recorded that a composite could be made of.
    dimensions
        Of five dimensions: what each is made of; else empty.
    """

    policy: str
    weights: Mapping[str, float]
    dimensions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.weights:
            return self.policy
        if self.dimensions:
            parts = [
                name if list(of) == [name] else f"{name} = {_sum(of)}"
                for name, of in self.dimensions.items()
            ]
            return f"{self.policy}, 1/{len(parts)} each: {'; '.join(parts)}"
        equal = len(set(self.weights.values())) == 1
        if equal and len(self.weights) == 1:
            return next(iter(self.weights))
        shown = ", ".join(self.weights) if equal else _sum(self.weights)
        return (
            f"{self.policy}, 1/{len(self.weights)} each: {shown}"
            if equal
            else f"{self.policy}: {shown}"
        )


def _sum(weights: Mapping[str, float]) -> str:
    return " + ".join(
        name if weight == 1 else f"{weight:g} {name}" for name, weight in weights.items()
    )


def composite_of(asked: CompositeLike, recorded: Sequence[str]) -> Composite:
    """Find out what the composite is made of, from the metrics that were recorded.

    Raises
    ------
    InputError
        A metric that is not there, weights that are not positive, an empty list.

    Examples
    --------
    >>> str(composite_of("default", ["accuracy", "goal_accuracy", "success"]))
    'two metrics, 1/2 each: accuracy, goal_accuracy'
    >>> str(composite_of("default", ["score", "success"]))
    'score'
    """
    if isinstance(asked, str):
        if asked == "default":
            return _default(recorded)
        if asked == "metrics":
            own = [name for name in SIX if name in recorded]
            if not own:
                msg = f"none of SkillEvaluator's metrics was recorded ({', '.join(recorded)})"
                raise InputError(msg)
            return _equal(own)
        if asked == "dimensions":
            return _five_dimensions(recorded)
        if asked not in recorded:
            msg = f"composite {asked!r} is neither default, metrics or dimensions nor a metric ({', '.join(recorded)})"
            raise InputError(msg)
        return Composite(asked, {asked: 1.0})
    weights = (
        dict(asked) if isinstance(asked, Mapping) else dict.fromkeys(dict.fromkeys(asked), 1.0)
    )
    if unknown := [name for name in weights if name not in recorded]:
        msg = f"there is no metric {unknown[0]!r} to make a composite of ({', '.join(recorded)})"
        raise InputError(msg)
    total = sum(weights.values())
    if not weights or not all(0 < weight < float("inf") for weight in weights.values()):
        msg = f"composite {asked!r}: metrics with positive weights are needed"
        raise InputError(msg)
    return Composite("chosen metrics", {name: weight / total for name, weight in weights.items()})


_WORDS = {1: "one metric", 2: "two metrics", 3: "three metrics", 4: "four metrics"}
_WORDS |= {5: "five metrics", 6: "six metrics"}


def _equal(names: Sequence[str]) -> Composite:
    if not names:
        return Composite("none: nothing was recorded that a composite is made of", {})
    return Composite(_WORDS[len(names)], dict.fromkeys(names, 1 / len(names)))


def _default(recorded: Sequence[str]) -> Composite:
    own = [name for name in SIX if name in recorded]
    # Another tool's score may be called accuracy, and has a headline of its own.
    if len(own) >= _FIVE or (own and "score" not in recorded):
        return _equal(own)
    for headline in ("score", "success"):
        if headline in recorded:
            return Composite(headline, {headline: 1.0})
    if not recorded:
        return _equal([])
    return Composite("recorded metrics", dict.fromkeys(recorded, 1 / len(recorded)))


def _five_dimensions(recorded: Sequence[str]) -> Composite:
    dimensions = dict(DIMENSIONS)
    if "security" not in recorded:
        dimensions["security"] = {
            "behavior_check": 1.0
        }  # what the tool does with its old metric set
    lacking = [name for of in dimensions.values() for name in of if name not in recorded]
    if lacking:
        msg = f"five dimensions need {lacking[0]}, which was not recorded ({', '.join(recorded)})"
        raise InputError(msg)
    weights: dict[str, float] = {}
    for of in dimensions.values():
        for name, weight in of.items():
            weights[name] = weights.get(name, 0.0) + weight / len(dimensions)
    return Composite("five dimensions", weights, dimensions)


@dataclass(frozen=True, slots=True)
class Policy:
    """How a tool computes its own number.

    Attributes
    ----------
    unit
        What is averaged: every ``trial``; every ``case``, its trials first; or every ``pair`` of trials of one number,
        by case.
    zero
        Statuses that count as 0; the others are left out.
    zero_errors
        Types of errors that count as 0 although their status is left out.
    left_out_errors
        Types of errors that are left out although their status counts as 0.
    fail_arm
        Whether an arm with any trial without a score has no numbers at all.
    headline
        ``score`` or ``success``, where the composite is not one of metrics.
    composite
        ``metrics`` or ``dimensions`` where the tool has these.
    decimals, lift_decimals
        Digits that an arm's mean and the lift are rounded to; None: not at all.
    by
        What it prints a number of its own for.
    recorded
        Whether it takes a reward as it was written, also where the version that wrote it does not count it.
    valid_only
        Whether of these it takes the valid ones alone.
    rule
        The same in words, ending in what differs from ours.
    """

    unit: Literal["trial", "case", "pair"]
    rule: str
    zero: tuple[str, ...] = ()
    zero_errors: tuple[str, ...] = ()
    left_out_errors: tuple[str, ...] = ()
    fail_arm: bool = False
    headline: str = "score"
    composite: Literal["metrics", "dimensions"] | None = None
    decimals: int | None = None
    lift_decimals: int | None = None
    by: tuple[str, ...] = ("run", "skill", "agent", "model", "dataset")
    recorded: bool = False
    valid_only: bool = False

    @property
    def errors(self) -> str:
        """What a trial without a score counts as, in a word or two."""
        if self.fail_arm:
            return "fail-arm"
        parts = [*self.zero, *self.zero_errors]
        if not parts:
            return "exclude"
        but = f" but {', '.join(self.left_out_errors)}" if self.left_out_errors else ""
        return f"zero for {', '.join(parts)}{but}"


#: Every policy that ``as_=`` knows.
POLICIES: dict[str, Policy] = {
    "harbor-0.13": Policy(
        unit="trial",
        zero=("unscored", "errored"),
        left_out_errors=(NO_RESULT,),
        recorded=True,
        rule="mean over all trials, one without a reward counts as 0",
    ),
    "harbor-0.26": Policy(
        unit="trial", recorded=True, valid_only=True, rule="mean over trials with a valid reward"
    ),
    "skillevaluator": Policy(
        unit="trial",
        fail_arm=True,
        composite="metrics",
        decimals=4,
        lift_decimals=4,
        rule="means over trials rounded to 4 decimals before they are subtracted; one trial without a score blanks its arm",
    ),
    "skillevaluator-5d": Policy(
        unit="trial",
        fail_arm=True,
        composite="dimensions",
        decimals=4,
        lift_decimals=4,
        rule="five dimensions of means over trials, rounded to 4 decimals at each step; one trial without a score blanks its arm",
    ),
    "inspect": Policy(unit="case", rule="mean over the samples of each arm, epochs averaged first"),
    "agentlab": Policy(
        unit="trial",
        zero=("errored",),
        left_out_errors=("incomplete",),
        decimals=3,
        lift_decimals=3,
        rule="mean over rows rounded to 3 decimals, an error counts with its reward of 0 and an incomplete one is left out",
    ),
    "tau-bench": Policy(
        unit="trial",
        zero=("unscored", "errored"),
        left_out_errors=("infrastructure_error",),
        rule="mean over trials, a crash has a reward of 0 and an infrastructure error is left out; "
        "one whose number comes twice is one trial more (the tool would print a pass^k above 1)",
    ),
    "skill-creator": Policy(
        unit="trial",
        zero=("unscored",),
        decimals=4,
        lift_decimals=2,
        rule="mean over runs, a grading without a pass rate counts as 0 and a run without a grading is dropped",
    ),
    "skillsbench": Policy(
        unit="trial",
        decimals=3,
        lift_decimals=3,
        rule="mean over eligible rows rounded to 3 decimals",
    ),
    "agentops": Policy(
        unit="pair",
        zero_errors=("execution_error",),
        headline="success",
        by=("run",),
        rule="pairs of repetitions averaged by task; an execution error counts as 0, an infrastructure error drops its pair",
    ),
    "asi": Policy(
        unit="trial",
        zero=("errored",),
        left_out_errors=("incomplete",),
        headline="success",
        rule="share of tasks with a reward above 0, an error counts as a failure",
    ),
}
