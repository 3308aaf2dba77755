"""What SkillEvaluator's numbers of one trial mean: which metrics make its score, and when there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillshift_frames.readers.tools.values import is_number, text
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

#: The metrics of the default set, in the tool's order; the set before it had no security.
SIX = (
    "security",
    "skill_execution",
    "skill_efficiency",
    "accuracy",
    "goal_accuracy",
    "behavior_check",
)
FIVE = SIX[1:]
SETS = {
    "skill-evaluator-default-v2": SIX,
    "skill-evaluator-default-v1": FIVE,
    "custom-only": (),
}
#: SkillEvaluator's dimensions: which metrics each is made of, and with which weights.
DIMENSIONS: dict[str, dict[str, float]] = {
    "security": {"security": 1.0},
    "correctness": {"accuracy": 1.0},
    "discoverability": {"skill_execution": 1.0},
    "effectiveness": {"goal_accuracy": 0.5, "behavior_check": 0.5},
    "efficiency": {"skill_efficiency": 1.0},
}
_BY_DIMENSION = "skill-evaluator-dimension-mean-v1"
_THRESHOLD = 0.5
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a run's trials are scored.

    Attributes
    ----------
    metrics
        The metrics of its set, None where the run does not say: then a trial's own set is taken.
    by_dimension
        The score is the mean of five dimensions, not of the metrics.
    threshold
        What a trial's score, to four digits, has to reach for a pass.
    """

    metrics: tuple[str, ...] | None
    by_dimension: bool
    threshold: float


@dataclass(frozen=True, slots=True)
class Judged:
    """What one ``reward.json`` says; ``why`` is why it is no score."""

    metrics: dict[str, float]
    score: float | None
    why: str | None


def scoring_of(result: dict[str, Any], policy: dict[str, Any], found: Trials) -> Scoring:
    """Find out how a run's trials are scored, from its ``result.json`` and its policy on attempts."""
    threshold = policy.get("pass_threshold")
    named = result.get("metrics")
    metrics = SETS.get(str(result.get("metric_set")))
    if metrics is None and isinstance(named, list) and all(text(name) for name in named):
        metrics = tuple(name for name in named if name in SIX)
    by_dimension = _says_dimensions(result) or _says_dimensions(policy)
    if by_dimension:
        found.note(f"the score is the mean of five dimensions, as {_BY_DIMENSION} says")
    return Scoring(metrics, by_dimension, threshold if is_number(threshold) else _THRESHOLD)


def _says_dimensions(content: Mapping[str, Any]) -> bool:
    return content.get("score_policy") == _BY_DIMENSION


def judge(reward: dict[str, Any], scoring: Scoring, path: Path, found: Trials) -> Judged:
    """Take the metrics from a ``reward.json``, and the score where every judge gave one.

    A metric outside 0 to 1 is a problem and as if it were not there.
    """
    own = SETS.get(str(reward.get("metric_set")))
    needed = own if own is not None else scoring.metrics
    if needed is None:
        needed = SIX if "security" in reward else FIVE
    metrics = {name: x for name in SIX if (x := _share(reward, name, path, found)) is not None}
    custom = reward.get("custom_metrics")
    extra = {
        name: value
        for name, value in (custom.items() if isinstance(custom, dict) else ())
        if value is not None and name not in metrics
    }
    failed = _failures(reward, needed, metrics)
    if failed:
        return Judged(metrics | extra, None, failed)
    if not needed:  # a grader of one's own alone
        overall = _share(reward, "overall", path, found)
        return Judged(metrics | extra, overall, None if overall is not None else "no overall score")
    if scoring.by_dimension or _says_dimensions(reward):
        return Judged(metrics | extra, dimension_mean(metrics), None)
    return Judged(metrics | extra, sum(metrics[name] for name in needed) / len(needed), None)


def _share(reward: dict[str, Any], name: str, path: Path, found: Trials) -> float | None:
    value = reward.get(name)
    if value is None:
        return None
    if not is_number(value) or not 0 <= value <= 1:
        written = snippet(as_written(value))
        found.problem(
            path, f"{written}; a number from 0 to 1 is needed", "it is left out", field=name, value=written,
            rule="range", stands=True,
        )  # fmt: skip
        return None
    return float(value)


def _failures(
    reward: dict[str, Any], needed: tuple[str, ...], metrics: Mapping[str, float]
) -> str | None:
    """Say which judges gave nothing: the tool's word for it goes first, since it writes 0.0 for the whole then."""
    errors = reward.get("evaluation_errors")
    absent = [name for name in needed if name not in metrics]
    if reward.get("evaluation_status") == "failed" or errors:
        named = sorted(errors) if isinstance(errors, dict) else absent
        return "judge failed" + (f": {', '.join(map(str, named))}" if named else "")
    return f"no {', '.join(absent)}" if absent else None


def dimension_mean(metrics: Mapping[str, float]) -> float:
    """Give the mean of the five dimensions; without security, behaviour stands in for it, as in the tool's old files.

    Examples
    --------
    >>> round(dimension_mean(dict.fromkeys(SIX, 0.5) | {"goal_accuracy": 1.0}), 4)
    0.55
    """
    known = {"security": metrics["behavior_check"], **metrics}
    means = [
        sum(weight * known[name] for name, weight in parts.items()) for parts in DIMENSIONS.values()
    ]
    return sum(means) / len(means)


def passes(score: float, scoring: Scoring) -> bool:
    """Tell whether a score is a pass: the tool compares it at four digits."""
    return round(score, _DECIMALS) >= scoring.threshold
