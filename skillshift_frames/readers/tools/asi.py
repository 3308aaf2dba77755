"""Agent Skill Induction: ``results/webarena.<id>/`` → trials.

Each is an experiment of BrowserGym, renamed after its run. Which arm it was is not recorded: runs without and with induced
skills write to the same place, so whoever keeps both has them in two folders, and their names are the runs.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from skillshift_frames.readers.tools.agentlab import SUMMARY, judge, measured
from skillshift_frames.readers.tools.files import sampled
from skillshift_frames.readers.tools.values import Repeats
from skillshift_frames.readers.wording import as_written

if TYPE_CHECKING:
    from skillshift_frames.readers.tools.common import Trials

NAME = "asi"

_TASK = re.compile(r"webarena\.\d+")
_INDUCTION = re.compile(r"webarena\.\d+_test")
# A run that was killed keeps the name that BrowserGym gave it.
_KILLED = re.compile(
    r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_.+_on_(webarena\.\d+)_(?:-?\d+|None)(?:_\d+)?"
)
_VERDICT = "_autoeval.json"


def recognises(path: Path) -> bool:
    """Tell whether a path holds results of Agent Skill Induction, or is one."""
    return any(
        _TASK.fullmatch(file.parent.name) or _INDUCTION.fullmatch(file.parent.name)
        for file in sampled(path, lambda name: name == SUMMARY or name.endswith(_VERDICT))
    )


def read(path: Path, found: Trials) -> None:
    """Add one trial per task; the copies that only check an induced skill are no trials of the benchmark."""
    folders, checks = [], 0
    for here, _ in found.walk(path if path.is_dir() else path.parent):
        if _TASK.fullmatch(here.name) or _KILLED.fullmatch(here.name):
            folders.append(here)
        elif _INDUCTION.fullmatch(here.name):
            checks += 1
    if checks:
        found.note(
            f"{checks} {'folder' if checks == 1 else 'folders'} named …_test left out:"
            " they check an induced skill and are no trials of the benchmark"
        )
    repeats = Repeats(found)
    silent = 0
    for folder in found.each(folders):
        killed = _KILLED.fullmatch(folder.name)
        task = killed[1] if killed else folder.name
        run = _run(folder)
        repeats.say(folder, run, task)
        summary = found.load(folder / SUMMARY, stands=True)
        status, error_type = judge(summary)
        verdict, asked = _verdict(folder, summary or {}, found)
        silent += asked and verdict is None
        found.add(
            uid=task,
            trial=1,
            status=status,
            error_type=error_type,
            path=folder,
            run=run,
            metrics={} if verdict is None else {"autoeval": float(verdict)},
            **measured(summary or {}, folder, found, status),
        )
    if silent:
        found.note(f"the judge gave no verdict on {silent} {'trial' if silent == 1 else 'trials'}")


def _run(folder: Path) -> str | None:
    """Give the name of the folder that somebody kept a run in: the one above ``results``."""
    above = Path(os.path.realpath(folder)).parent
    return (above.parent if above.name == "results" else above).name or None


def _verdict(folder: Path, summary: dict[str, object], found: Trials) -> tuple[bool | None, bool]:
    """Give the judge's verdict, and whether it was asked; where it failed, its file holds no list."""
    files = [file for file in found.look(folder).files if file.name.endswith(_VERDICT)]
    if not files:
        return None, False
    content = found.load(files[0], object, stands=True)
    if not isinstance(content, list) or not content or not isinstance(content[0], dict):
        return None, True
    said = content[0].get("rm")
    reward, truth = summary.get("cum_reward"), content[0].get("gt")
    if reward is not None and truth is not None and truth != reward:
        found.problem(
            files[0],
            f"says that the reward is {as_written(truth)}; {SUMMARY} says {as_written(reward)}",
            f"{SUMMARY} is taken; one of the two is from another run",
            field="gt",
            stands=True,
        )
    if said is None or isinstance(said, bool):
        return said, True
    found.problem(
        files[0],
        f"rm is {as_written(said)}; true, false or null is needed",
        "it is left out",
        field="rm",
        stands=True,
    )
    return None, True
