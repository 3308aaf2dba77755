"""Make the two example jobs beside this script: invented results of four trials each, in the shape of Harbor 0.13.

With the skill both tasks are solved more often, and one trial ran out of time. Nothing here was measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

SKILL = "/skills/table-tools"
#: Task, random part of the trial's name, reward, minutes that it took, input tokens, cost in USD.
TRIALS: dict[str, list[tuple[str, str, float | None, int, int | None, float | None]]] = {
    "skill": [
        ("fill-form", "Qm3kX9a", 1.0, 2, 12_000, 0.030),
        ("fill-form", "B7tLw2c", 1.0, 3, 15_000, 0.038),
        ("sum-table", "Zr8pV4d", 1.0, 3, 18_000, 0.045),
        ("sum-table", "H2nYc6e", None, 15, None, None),
    ],
    "plain": [
        ("fill-form", "W4xPe8h", 0.0, 4, 14_000, 0.034),
        ("fill-form", "F6mRt5i", 1.0, 5, 16_000, 0.040),
        ("sum-table", "N1qAz7j", 0.0, 6, 22_000, 0.056),
        ("sum-table", "T8sKd2k", 0.0, 6, 23_000, 0.060),
    ],
}


def make(folder: Path) -> None:
    """Write both jobs below a folder."""
    for job, trials in TRIALS.items():
        agent = {
            "name": "codex",
            "model_name": "example-model",
            "skills": [SKILL] if job == "skill" else [],
        }
        config = {"job_name": job, "jobs_dir": "jobs", "n_attempts": 2, "agents": [agent]}
        _write(folder / job / "config.json", config)
        for hour, (task, suffix, reward, minutes, tokens, cost) in enumerate(trials, start=10):
            name = f"{task}__{suffix}"
            used = {
                "n_input_tokens": tokens,
                "n_cache_tokens": tokens and tokens // 2,
                "n_output_tokens": tokens and 900,
            }
            error = {
                "exception_type": "AgentTimeoutError",
                "exception_message": "timed out after 900 seconds",
            }
            result = {
                "task_name": task,
                "trial_name": name,
                "source": "demo",
                "config": {"trial_name": name, "agent": agent},
                "agent_info": {"name": "codex", "model_info": {"name": "example-model"}},
                "agent_result": {**used, "cost_usd": cost} if tokens else None,
                "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
                "exception_info": error if reward is None else None,
                "started_at": f"2026-08-01T{hour}:00:00Z",
                "finished_at": f"2026-08-01T{hour}:{minutes:02}:00Z",
                "step_results": None,
            }
            _write(folder / job / name / "result.json", result)


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
