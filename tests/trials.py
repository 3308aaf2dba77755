"""Frames of trials, made by hand: one line per trial, everything that is not said unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.trials import TRIALS, concat_trials

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def trial(uid: str, arm: str | None, score: float | None = None, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - of any column
    """Give one trial: scored if it has a score, else errored, unless ``fields`` say otherwise."""
    status = "errored" if score is None else "scored"
    return {"uid": uid, "arm": arm, "score": score, "trial": 1, "status": status} | fields


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Give trials as a frame; keys that are no column of `TRIALS` are metrics."""
    listed = [dict(row) for row in rows]
    metrics = dict.fromkeys(name for row in listed for name in row if name not in TRIALS)
    schema = pl.Schema([*TRIALS.items(), *((name, pl.Float64()) for name in metrics)])
    blank = dict.fromkeys(schema)
    return concat_trials([pl.DataFrame([blank | row for row in listed], schema=schema)])


def pairs(scores: Mapping[str, tuple[float, float]], **fields: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - of any column
    """Give a trial with the skill and one without for each case: its scores, in this order."""
    return [
        trial(uid, arm, score, **fields)
        for uid, both in scores.items()
        for arm, score in zip(("with", "without"), both, strict=True)
    ]


#: The six metrics of SkillEvaluator, in its order.
SIX = (
    "security",
    "skill_execution",
    "skill_efficiency",
    "accuracy",
    "goal_accuracy",
    "behavior_check",
)
#: Six metrics per trial: three cases with two attempts each, the last case negative; then the same without the skill.
EVALUATED: dict[tuple[str, str], list[tuple[float, ...]]] = {
    ("c1", "with"): [(1, 0.9, 0.5, 0.7, 0.5, 0.6), (1, 1, 0.75, 0.9, 1, 0.8)],
    ("c2", "with"): [(0.5, 0.6, 0.4, 0.2, 0.1, 0.3), (1, 0.8, 0.6, 0.4, 0.3, 0.5)],
    ("c3", "with"): [(1, 1, 1, 0.85, 0.65, 0.7), (1, 1, 1, 0.95, 0.85, 0.9)],
    ("c1", "without"): [(1, 0, 0, 0.5, 0.6, 0.3), (1, 0, 0, 0.6, 0.4, 0.2)],
    ("c2", "without"): [(1, 0, 0, 0.3, 0.2, 0.1), (1, 0, 0, 0.1, 0, 0.2)],
    ("c3", "without"): [(1, 1, 1, 0.7, 0.9, 0.75), (1, 1, 1, 0.9, 0.8, 0.85)],
}


def evaluated() -> list[dict[str, Any]]:
    """Give the trials of `EVALUATED`, as a reader of SkillEvaluator's trees does."""
    return [
        trial(
            uid,
            arm,
            round(sum(values) / 6, 4),
            tool="skillevaluator",
            run="one",
            skill="tables",
            agent="codex",
            trial=number,
            negative=uid == "c3",
            **dict(zip(SIX, map(float, values), strict=True)),
        )
        for (uid, arm), attempts in EVALUATED.items()
        for number, values in enumerate(attempts, 1)
    ]
