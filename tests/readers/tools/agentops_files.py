"""Native reports, launch receipts and probe scorecards as agentops writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: (arm, task, repetition) → outcome.
OUTCOMES = {
    ("control", "stop", 1): "failed",
    ("control", "stop", 2): "success",
    ("control", "handoff", 1): "infrastructure_error",
    ("control", "handoff", 2): "failed",
    ("control", "scope", 1): "execution_error",
    ("control", "scope", 2): "failed",
    ("treatment", "stop", 1): "success",
    ("treatment", "stop", 2): "success",
    ("treatment", "handoff", 1): "success",
    ("treatment", "handoff", 2): "failed",
    ("treatment", "scope", 1): "success",
    ("treatment", "scope", 2): "unknown_outcome",
}


def job(arm: str, task: str, rep: int, outcome: str, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """A job of one trial; what is changed is the trial's."""
    name = f"{arm}-{task}-r{rep}"
    used = {
        "n_input_tokens": 12000,
        "n_cache_tokens": 8000,
        "n_output_tokens": 700,
        "cost_usd": None,
    }
    skills = ["/skills/x"] if arm == "treatment" else []
    agent = {"name": "codex", "model_name": "example/model-1", "skills": skills}
    trial = {
        "directory": f"/jobs/{name}/{task}__abc",
        "id": "",
        "name": f"{task}__abc",
        "task_name": task,
        "task_checksum": f"sum of {task}",
        "arm": arm,
        "outcome": outcome,
        # By the clock the second repetition was first: receipts say which is which, times do not.
        "timing": {"started_at": f"2026-08-01T1{9 - rep}:00:00Z", "elapsed_seconds": 330.0},
        "documents": {
            "config.json": {"path": "", "sha256": "", "data": {"agent": agent}},
            "result.json": {"path": "", "sha256": "", "data": {"agent_result": used}},
        },
    }
    counts = {"expected": 1, "observed": 1}
    return {
        "directory": f"/jobs/{name}",
        "arm": trial["arm"],
        "counts": counts,
        "trials": [trial | changed],
    }


def jobs() -> list[dict[str, Any]]:
    return [job(*key, outcome) for key, outcome in OUTCOMES.items()]


def report(content: Sequence[object]) -> dict[str, Any]:
    return {"reward_key": "reward", "jobs": list(content), "sessions": [], "limits": []}


def receipts(without: Sequence[str] = ()) -> dict[str, Any]:
    entries = [
        {
            "job_name": f"{arm}-{task}-r{rep}",
            "task": task,
            "rep": rep,
            "arm": arm,
            "task_checksum": f"sum of {task}",
            "skills_sha256": None if arm == "control" else "32c1",
            "runtime": {"model": "example/model-1"},
        }
        for arm, task, rep in OUTCOMES
        if f"{arm}-{task}-r{rep}" not in without
    ]
    return {"schema_version": 1, "trials": entries, "diagnostics": []}


def write_report(root: Path) -> Path:
    write_json(root / "native-report.json", report(jobs()))
    write_json(root / "launch-receipts.json", receipts())
    return root


def card(shown: Sequence[str], **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """A scorecard of repetitions, each (control, treatment) by the first letter: P, A or D."""
    words = {"P": "PRESENT", "A": "ABSENT", "D": "DEGRADED"}
    arms = {}
    for at, arm in enumerate(("control", "treatment")):
        seen = [rep[at] for rep in shown]
        present, usable = seen.count("P"), len(seen) - seen.count("D")
        rate = round(present / usable, 4) if usable else None
        arms[arm] = {"present": present, "usable": usable, "rate": rate}
    content = {
        "schema": "agentops-skill-probe.v3",
        "probe": "plan-shape",
        "skill": "planner",
        "mode": "live",
        "reps": len(shown),
        "producer": {"adapter": "codex", "model": "model-1", "effort": "low"},
        **arms,
        "per_rep": [
            {"rep": at, "control": words.get(one, one), "treatment": words.get(other, other)}
            for at, (one, other) in enumerate(map(tuple, shown), start=1)
        ],
    }
    return content | changed
