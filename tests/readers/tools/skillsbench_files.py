"""Files of SkillsBench's leaderboard, in both nestings, and its registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from pathlib import Path

AGENT = "0cc175b9"


def row(
    task: str,
    reward: float,
    condition: str | None = "with_skills",
    number: int = 0,
    **changed: Any,  # noqa: ANN401
) -> dict[str, Any]:
    content = {
        "task_id": task,
        "trial_id": f"{task}__{condition}__{number}",
        "task_set": "demo-v1",
        "condition": condition,
        "score_eligible": True,
        "passed": reward == 1,
        "reward": reward,
        "max_score": 1.0,
        "time_used": 40.0 + number,
        "has_skills": True,
    }
    return content | changed


def ineligible(task: str, condition: str, number: int = 0) -> dict[str, Any]:
    failure = {"infra_failure_type": "verifier_error", "error_type": "other"}
    return row(task, 0.0, condition, number, score_eligible=False, **failure)


WITH = [
    row(task, reward, number=n)
    for n, rewards in enumerate(([1, 1, 0], [1, 0, 0]))
    for task, reward in zip("abc", rewards, strict=True)
]
WITHOUT = [
    row("a", 0.0, "no_skills"),
    row("a", 1.0, "no_skills", 1),
    row("b", 0.0, "no_skills"),
    ineligible("b", "no_skills", 1),
    row("c", 0.0, "no_skills"),
    row("c", 0.0, "no_skills", 1),
]


def flat(results: list[Any], **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"status": "completed", "participants": {"agent": AGENT}, "results": results} | changed


def nested(*results: list[Any]) -> dict[str, Any]:
    inner = [
        {"status": "completed", "participants": {"agent": "http://127.0.0.1"}, "results": each}
        for each in results
    ]
    return flat(inner)


def cell(
    task: str, condition: str, score: float | None, trials: int = 2, passed: int = 1
) -> dict[str, Any]:
    return {
        "task": task,
        "model": "Codex (Example 1)",
        "modelShort": "Example 1",
        "harness": "Codex",
        "family": "example",
        "condition": condition,
        "score": score,
        "trials": trials,
        "passCount": passed,
        "perfectCount": 0,
    }


def write_results(root: Path) -> Path:
    """Both arms in one nested file, and one arm flat; gives the folder."""
    write_json(root / "nested.json", nested(WITH, WITHOUT))
    write_json(root / "flat.json", flat(WITH))
    return root
