"""Job folders as Harbor writes them, from a few words per trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

#: A step of an agent, in short: the calls that it makes, as (function, arguments, extra of the result).
Call = tuple[str, dict[str, Any], dict[str, Any] | None]


def trajectory(
    calls: Sequence[Call] = (),
    *,
    version: str = "ATIF-v1.7",
    tokens: int | None = 1000,
    final: bool = True,
    copied: int = 0,
) -> dict[str, Any]:
    """A user's step, one step per call, and a last message; ``tokens`` is the prompt of each step."""
    steps: list[dict[str, Any]] = [{"source": "user", "message": "Do it."}]
    used = {"prompt_tokens": tokens, "completion_tokens": 10, "cached_tokens": 5, "cost_usd": 0.01}
    for number, (function, arguments, extra) in enumerate(calls):
        call = {"tool_call_id": f"c{number}", "function_name": function, "arguments": arguments}
        result = {"source_call_id": f"c{number}", "content": "x"} | (
            {"extra": extra} if extra else {}
        )
        steps.append(
            {
                "source": "agent",
                "message": "",
                "tool_calls": [call],
                "observation": {"results": [result]},
                "metrics": used,
            }
        )
    steps.append({"source": "agent", "message": "Done.", "metrics": used})
    steps = [{**step, "is_copied_context": True} for step in steps[1:]][:copied] + steps
    agent_steps = len(calls) + 1
    content: dict[str, Any] = {
        "schema_version": version,
        "agent": {"name": "codex", "version": "1", "model_name": "model-1"},
        "steps": [{"step_id": i, **step} for i, step in enumerate(steps, start=1)],
    }
    if tokens is None:
        for step in content["steps"]:
            step.pop("metrics", None)
    elif final:
        content["final_metrics"] = {
            "total_prompt_tokens": tokens * agent_steps,
            "total_completion_tokens": 10 * agent_steps,
            "total_cached_tokens": 5 * agent_steps,
            "total_cost_usd": round(0.01 * agent_steps, 6),
            "total_steps": len(steps),
        }
    return content


def result(
    task: str,
    name: str,
    reward: float | dict[str, Any] | None,
    *,
    minute: int = 0,
    exception: str | None = None,
    skills: Sequence[str] = (),
    used: dict[str, Any] | None = None,
    **more: object,
) -> dict[str, Any]:
    """A trial's result.json of Harbor 0.13; of 0.26 with ``reward_valid`` among ``more``."""
    rewards = reward if isinstance(reward, dict) or reward is None else {"reward": reward}
    raised = {"exception_type": exception, "exception_message": "m", "exception_traceback": "t"}
    return {
        "id": "0",
        "task_name": task,
        "trial_name": name,
        "task_id": {"path": f"/tasks/{task}"},
        "source": "bench",
        "config": {
            "task": {"path": f"/tasks/{task}"},
            "trial_name": name,
            "agent": {"name": "codex", "model_name": "model-1", "skills": list(skills)},
        },
        "agent_info": {"name": "codex", "version": "1", "model_info": {"name": "model-1"}},
        "agent_result": used
        or {"n_input_tokens": 100, "n_cache_tokens": 50, "n_output_tokens": 10, "cost_usd": 0.5},
        "verifier_result": None if rewards is None else {"rewards": rewards},
        "exception_info": raised if exception else None,
        "started_at": f"2026-08-01T10:{minute:02}:00Z",
        "finished_at": f"2026-08-01T10:{minute:02}:30Z",
        "step_results": None,
        **more,
    }


def trial(
    job: Path,
    task: str,
    suffix: str,
    reward: float | dict[str, Any] | None,
    *,
    shown: dict[str, Any] | None = None,
    **how: Any,  # noqa: ANN401 - as `result` takes it
) -> Path:
    """Write a trial's folder; ``suffix`` are the seven characters after its task."""
    folder = job / f"{task[:32]}__{suffix:0<7}"
    content = result(task, folder.name, reward, **how)
    write_json(folder / "result.json", content)
    write_json(folder / "config.json", content["config"])
    (folder / "trial.log").write_text("log")
    if shown is not None:
        write_json(folder / "agent" / "trajectory.json", shown)
    return folder


def job(
    folder: Path,
    rewards: dict[str, Iterable[float | None]],
    *,
    skills: Sequence[str] = (),
    attempts: int = 2,
    planned: int | None = None,
    **how: Any,  # noqa: ANN401 - as `result` takes it
) -> Path:
    """Write a job: each task with its rewards, one trial each, started one after the other."""
    number = 0
    for task, given in rewards.items():
        for reward in given:
            # Names in the opposite order of the starts: a folder's order is no order of attempts.
            trial(folder, task, f"{chr(122 - number)}", reward, minute=number, skills=skills, **how)
            number += 1
    agents = [{"name": "codex", "model_name": "model-1", "skills": list(skills)}]
    config = {
        "job_name": folder.name,
        "jobs_dir": "/jobs",
        "n_attempts": attempts,
        "agents": agents,
    }
    write_json(folder / "config.json", config)
    total = number if planned is None else planned
    write_json(folder / "result.json", {"id": "0", "n_total_trials": total, "stats": {}})
    return folder
