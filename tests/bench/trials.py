"""Folders of trials as Harbor writes them, as many as wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.readers.tools.harbor_files import job, trajectory, trial

if TYPE_CHECKING:
    from pathlib import Path

#: Steps of an agent in one trial: 20 kB of trajectory, as a short trial has.
_STEPS = 40


def write_trials(folder: Path, count: int) -> Path:
    """Write two jobs with ``count`` trials in all, four per task."""
    calls = [("Skill", {"skill": "tables"}, None)]
    calls += [("Bash", {"command": f"ls {number}"}, None) for number in range(_STEPS)]
    shown = trajectory(calls)
    for name, skills in (("skill", ["/skills/tables"]), ("plain", [])):
        made = job(folder / name, {}, skills=skills, attempts=4, planned=count // 2)
        for number in range(count // 2):
            reward = float(number % 3 == 0)
            task, suffix = f"task-{number // 4:05}", f"{number:07}"
            trial(made, task, suffix, reward, minute=number % 60, skills=skills, shown=shown)
    return folder
