"""Runs as tau-bench and tau2-bench write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILE = "tool-calling-model-1-0.0_range_0-{}_user-llm-1-llm_0801120000.json"


def row(task: int, trial: int, reward: float, calls: int = 2, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [{"role": "system", "content": "policy"}]
    for _ in range(calls):
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "content": "{}", "tool_calls": None})
    messages.append({"role": "assistant", "content": "done"})
    content = {"task_id": task, "reward": reward, "info": {"user_cost": 0.001}, "traj": messages}
    return content | {"trial": trial} | changed


def crash(task: int, trial: int) -> dict[str, Any]:
    error = {
        "error": "outage",
        "traceback": "Traceback (most recent call last):\nhttpx.ReadTimeout: slow",
    }
    return row(task, trial, 0.0, info=error, traj=[])


BASELINE = [
    row(0, 0, 1.0),
    row(1, 0, 0.0),
    crash(2, 0),
    row(0, 1, 0.0),
    row(1, 1, 0.0),
    row(2, 1, 1.0),
]
SKILLED = [
    row(0, 0, 1.0),
    row(1, 0, 1.0),
    row(2, 0, 0.0),
    row(0, 1, 1.0),
    row(1, 1, 0.0),
    row(2, 1, 1.0),
]


def write_runs(root: Path) -> Path:
    """A run without and one with a skill, three tasks, two trials; gives the folder."""
    write_json(root / f"baseline-{FILE.format(3)}", BASELINE)
    write_json(root / FILE.format(3), SKILLED)
    return root


def simulation(
    task: str,
    trial: int | None,
    reward: float | None,
    reason: str = "user_stop",
    **changed: Any,  # noqa: ANN401
) -> dict[str, Any]:
    used = {"prompt_tokens": 100, "completion_tokens": 10}
    content = {
        "id": f"s-{task}-{trial}",
        "task_id": task,
        "trial": trial,
        "termination_reason": reason,
        "reward_info": None
        if reward is None
        else {"reward": reward, "reward_breakdown": {"DB": reward}},
        "agent_cost": 0.25,
        "user_cost": 0.5,
        "duration": 30.0,
        "messages": [
            {"role": "assistant", "content": "Hi!", "tool_calls": None, "usage": None},
            {"role": "user", "content": "…", "tool_calls": None},
            {"role": "assistant", "content": None, "tool_calls": [{}, {}], "usage": used},
            {"role": "assistant", "content": "done", "tool_calls": None, "usage": used},
        ],
    }
    return content | changed


def tau2(
    simulations: Sequence[object], trials: int = 1, tasks: Sequence[str] = ()
) -> dict[str, Any]:
    agent = {"implementation": "llm_agent", "llm": "model-1"}
    info = {"num_trials": trials, "max_steps": 200, "agent_info": agent}
    return {"info": info, "tasks": [{"id": task} for task in tasks], "simulations": simulations}


def write_tau2_folder(root: Path, simulations: Sequence[dict[str, Any]], trials: int = 1) -> Path:
    """The directory form: results.json with an index, one file per simulation; gives the run's folder."""
    tasks = list(dict.fromkeys(str(one["task_id"]) for one in simulations))
    content: dict[str, Any] = tau2([], trials, tasks)
    del content["simulations"]
    content["simulation_index"] = [
        {
            "id": one["id"],
            "task_id": one["task_id"],
            "trial": one["trial"],
            "reward": (one["reward_info"] or {}).get("reward"),
            "termination_reason": one["termination_reason"],
            "agent_cost": one["agent_cost"],
            "duration": one["duration"],
        }
        for one in simulations
    ]
    write_json(root / "results.json", content)
    for one in simulations:
        write_json(root / "simulations" / f"{one['id']}.json", one)
    return root
