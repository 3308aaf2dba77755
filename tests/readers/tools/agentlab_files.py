"""Studies as AgentLab writes them, and runs of Agent Skill Induction, which are its experiments renamed."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TIME = "2026-08-01_10-00-00"
UNCAUGHT = "Exception uncaught by agent or environment in task {}.\nTimeoutError:\nno page"


def summary(reward: float = 1.0, steps: int = 5, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """A summary_info.json; a key that is changed to ``...`` is not there."""
    content = {
        "n_steps": steps,
        "cum_reward": reward,
        "cum_raw_reward": 0,
        "err_msg": None,
        "stack_trace": None,
        "stats.cum_steps": steps + 1,
        "stats.cum_input_tokens": 1000 * steps,
        "stats.cum_output_tokens": 50 * steps,
        "stats.cum_cost": 0.5 * steps,
        "stats.cum_step_elapsed": 1.5 * steps,
        "stats.cum_agent_elapsed": 2.0 * steps,
        "terminated": True,
        "truncated": False,
    }
    return {key: value for key, value in (content | changed).items() if value is not ...}


def failed(task: str = "webarena.1", **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """The summary of an experiment that an exception ended."""
    error = {"err_msg": UNCAUGHT.format(task), "stack_trace": "Traceback…"}
    return summary(0.0, 3, **({"terminated": False, "truncated": False} | error | changed))


def experiment(
    study: Path,
    agent: str,
    task: str,
    seed: int,
    content: dict[str, Any] | None,
    *,
    suffix: str = "",
) -> Path:
    folder = study / f"{TIME}_{agent}_on_{task}_{seed}{suffix}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "experiment.log").write_text("…")
    # It is never opened: no pickle begins like this.
    (folder / "exp_args.pkl").write_bytes(b"\x00 no pickle")
    if content is not None:
        write_json(folder / "summary_info.json", content)
    return folder


def table(path: Path, entries: Iterable[tuple[str, str, int, dict[str, Any]]], study: str) -> Path:
    """A result_df.csv, with an index column first as pandas puts it."""
    rows = [
        {
            "env.task_name": task,
            "exp_dir": f"/results/{study}/{TIME}_{agent}_on_{task}_{seed}",
            "agent.agent_name": agent,
            "env.task_seed": seed,
            "agent.chat_model.model_name": f"model of {agent}",
        }
        | {key: "" if value is None else value for key, value in content.items()}
        for agent, task, seed, content in entries
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_study(root: Path) -> Path:
    """Two agents, two tasks with two seeds each, one exception, with the table; gives the folder."""
    study = root / "2026-08-01_study"
    entries = [
        (agent, task, seed, summary(float(reward), steps))
        for agent, rewards in (("base", [0, 1, 0, 0]), ("skilled", [1, 1, 1, 0]))
        for (task, seed), reward, steps in zip(
            [("webarena.1", 10), ("webarena.1", 20), ("webarena.2", 10), ("webarena.2", 20)],
            rewards,
            [9, 8, 7, 6],
            strict=True,
        )
    ]
    entries[3] = ("base", "webarena.2", 20, failed("webarena.2"))
    for entry in entries:
        experiment(study, *entry)
    table(study / "result_df.csv", entries, study.name)
    return root


def write_asi(root: Path) -> Path:
    """Two runs of three tasks, one with a judge's verdicts; gives the folder."""
    for run, rewards in (("vanilla", [0, 0, 1]), ("asi", [1, 0, 1])):
        for task, reward in enumerate(rewards, start=21):
            folder = root / run / "results" / f"webarena.{task}"
            write_json(folder / "summary_info.json", summary(float(reward), task - 20))
            if run == "asi":
                verdict = {"idx": task, "gt": float(reward), "rm": bool(reward), "uid": task}
                write_json(folder / "gpt-4o-2024-05-13_autoeval.json", [verdict])
                write_json(folder / "cleaned_steps.json", ["click('12')"])
    return root
