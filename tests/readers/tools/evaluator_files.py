"""Results trees as SkillEvaluator writes them, from the metrics of each trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.readers.tools.harbor_files import result, trajectory
from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SIX = (
    "security",
    "skill_execution",
    "skill_efficiency",
    "accuracy",
    "goal_accuracy",
    "behavior_check",
)
RUN = "20260801_120000_4242_0123456789ab"


def reward(
    case: str, metrics: Sequence[float | None], names: Sequence[str] = SIX, **more: object
) -> dict[str, Any]:
    """A reward.json; where a judge failed, with the 0.0 that the tool writes as the whole."""
    content: dict[str, Any] = dict(zip(names, metrics, strict=True))
    failed = [name for name, value in content.items() if value is None]
    numbers = [value for value in metrics if value is not None]
    content["overall"] = 0.0 if failed else round(sum(numbers) / len(numbers), 4)
    content |= {"metric_set": "skill-evaluator-default-v2", "entry_id": case}
    if failed:
        content |= {
            "evaluation_status": "failed",
            "evaluation_errors": dict.fromkeys(failed, "timeout"),
        }
    return content | more


def trial(
    arm: Path,
    case: str,
    suffix: str,
    outcome: Sequence[float | None] | str,
    *,
    minute: int = 0,
    name: str | None = None,
    shown: dict[str, Any] | None = None,
    **more: object,
) -> Path:
    """Write a trial's folder below an arm."""
    physical = f"{case}__{suffix:0<7}"
    folder = arm / "trials" / (name or physical)
    if isinstance(outcome, str):
        failure: dict[str, object] = {
            "status": "unscored",
            "trial": folder.name,
            "agent": "codex",
            "variant": "with_skill",
        }
        failure |= {"task_name": case, "trial_name": physical}
        failure |= {
            "error": {"type": outcome, "message": "m", "occurred_at": "2026-08-01T10:00:00Z"}
        }
        write_json(folder / "failure.json", failure | more)
    else:
        write_json(folder / "reward.json", reward(case, outcome, **{"trial_id": physical, **more}))  # type: ignore[arg-type]
        write_json(folder / "result.json", result(case, physical, None, minute=minute))
    if shown is not None:
        write_json(folder / "trajectory.json", shown)
    return folder


def run(
    root: Path,
    arms: Mapping[str, Mapping[str, Sequence[Sequence[float | None] | str]]],
    *,
    attempts: int = 2,
    stop: bool = False,
    negative: Sequence[str] = (),
    cases: Sequence[str] | None = None,
    skipped: bool = False,
    agent: str = "codex",
    name: str = RUN,
    **more: object,
) -> Path:
    """Write a run: per arm (``with``, ``without``) each case with its outcomes, in the order of their starts."""
    folder = root / name
    minute = 0
    for arm, of_arm in arms.items():
        for case, outcomes in of_arm.items():
            for number, outcome in enumerate(outcomes, start=1):
                # The names are in the opposite order of the starts.
                suffix = chr(122 - minute % 26) + str(minute)
                long = f"tables-{agent}-{arm}-{case}-attempt{number:03}__{case}__{suffix:0<7}"
                trial(
                    folder / agent / f"{arm}-skill", case, suffix, outcome, minute=minute,
                    name=long if stop else None, shown=trajectory([("Skill", {"skill": "t"}, None)]),
                )  # fmt: skip
                minute += 1
    known = (
        sorted({case for of_arm in arms.values() for case in of_arm}) if cases is None else cases
    )
    dataset = [
        {"id": case, "expected_skill": None if case in negative else "tables"} for case in known
    ]
    policy = {"max_attempts": attempts, "pass_threshold": 0.5, "stop_on_pass": stop}
    status = {"with_skill": "succeeded", "without_skill": "skipped" if skipped else "succeeded"}
    content = {
        "run_id": name,
        "skill_name": "tables",
        "agents": {
            agent: {
                "model": "model-1",
                "conditions": {key: {"execution_status": value} for key, value in status.items()},
            }
        },
        "metric_set": "skill-evaluator-default-v2",
        "metrics": list(SIX),
        "attempt_policy": policy,
        "dataset_snapshot": {"dataset": dataset},
    }
    write_json(folder / "result.json", content | more)
    write_json(folder / "attempt_policy.json", policy)
    write_json(folder / "dataset_snapshot.json", {"dataset": dataset})
    return folder


#: Two cases and one in which the skill should not be used, two attempts each, with round numbers.
WITH = {
    "case-1": [(1.0, 1.0, 0.5, 1.0, 0.5, 0.5), (1.0, 0.5, 0.5, 0.5, 0.5, 0.0)],
    "case-2": [(1.0, 1.0, 1.0, 1.0, 1.0, 1.0), (0.0, 1.0, 0.5, 0.5, 0.5, 0.5)],
    "case-3": [(1.0, 1.0, 1.0, 0.5, 0.5, 0.5), (1.0, 1.0, 1.0, 1.0, 0.5, 0.0)],
}
WITHOUT = {
    "case-1": [(1.0, 0.0, 0.0, 0.5, 0.0, 0.0), (1.0, 0.0, 0.0, 0.5, 0.5, 0.4)],
    "case-2": [(1.0, 0.0, 0.0, 0.0, 0.0, 0.2), (1.0, 0.0, 0.0, 1.0, 0.5, 0.5)],
    "case-3": [(1.0, 1.0, 1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 0.5, 1.0, 0.0)],
}
