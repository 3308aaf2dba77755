"""tau-bench and tau2-bench: one JSON file per run (tau2 also: one per simulation) → trials.

Neither records an arm: a run is named after its file, and two runs are compared by their names.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from skillshift_frames.readers.json_shape import value_at
from skillshift_frames.readers.tools.files import peek, sampled
from skillshift_frames.readers.tools.values import (
    identifier,
    is_number,
    load_any,
    number_of,
    run_names,
    text,
)
from skillshift_frames.readers.wording import as_written, printable, snippet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillshift_frames.readers.tools.common import Trials

NAME = "tau-bench"

_SIMULATIONS, _RESULTS = "simulations", "results.json"
_ROW = {"task_id", "reward", "traj"}
_FILE = re.compile(
    r"(?P<agent>tool-calling|act|react|few-shot)-(?P<model>.+)-[\d.]+_range_(?P<first>-?\d+)-(?P<end>-?\d+)_user-.*"
)

#: Ends of a tau2 simulation that say nothing of the agent.
_NO_END = frozenset({"infrastructure_error", "unexpected_error", "user_error"})

#: tau-bench's own, of a reward of 1.
_TOLERANCE = 1e-6

_EXCEPTION = re.compile(r"([A-Za-z_][\w.]*?)(?:: .*)?")
#: Files that are looked into before a folder is taken for another tool's.
_LOOKS = 30
#: More planned trials than any run has; a mistyped range must not fill the memory.
_MOST_PLANNED = 100_000


@dataclass(slots=True)
class _Run:
    """What all trials of a file have in common, and the trials that it has."""

    file: Path
    name: str
    agent: str | None
    model: str | None
    found: Trials
    places: dict[tuple[str, int], str] = field(default_factory=dict)
    again: list[tuple[Path, str, str, int, dict[str, Any]]] = field(default_factory=list)

    @property
    def largest(self) -> int:
        """The largest number of a trial."""
        return max((number for _, number in self.places), default=0)

    def add(self, path: Path, place: str, task: object, trial: object, **values: Any) -> None:  # noqa: ANN401 - as Trials.add
        """Add a trial; one whose task and number another has waits, since only all of them say which numbers are free."""
        task, number = identifier(task), number_of(trial, first=0)
        if isinstance(task, str) and isinstance(number, int) and number > 0:
            if (task, number) in self.places:
                self.again.append((path, place, task, number, values))
                return
            self.places[task, number] = place
        self._add(path, task, number, values)

    def add_again(self) -> None:
        """Add what waits, as trials after all others: whatever repeats a number is one more, and no formula may count it twice."""
        largest = self.largest
        counted: dict[tuple[str, int], int] = {}
        for path, place, task, number, values in self.again:
            nth = counted[task, number] = counted.get((task, number), 0) + 1
            self.found.problem(
                path,
                f"{place} is task {snippet(task)}, trial {number - 1} again, as {self.places[task, number]}",
                f"it counts as one more, trial {number + nth * largest} from 1; remove what does not belong",
                field="trial",
                rule="repeated-trial",
                stands=True,
            )
            self._add(path, task, number + nth * largest, values)

    def _add(self, path: Path, task: object, number: object, values: dict[str, Any]) -> None:
        self.found.add(
            uid=task,
            trial=number,
            path=path,
            run=self.name,
            agent=self.agent,
            model=self.model,
            **values,
        )


def recognises(path: Path) -> bool:
    """Tell whether a path is a run of tau-bench or tau2-bench, or holds some."""
    near = sampled(path, lambda name: name.endswith(".json"))
    contents = (peek(file) for file in islice(near, _LOOKS))
    return any((content and _is_tau(content)) or _is_tau2(content) for content in contents)


def _is_tau(content: object) -> TypeGuard[list[object]]:
    """Tell whether a file's content is a run of tau-bench; an empty array is one that was stopped at once."""
    rows = content[:_LOOKS] if isinstance(content, list) else []
    return content == [] or any(isinstance(row, dict) and row.keys() >= _ROW for row in rows)


def _is_tau2(content: object) -> TypeGuard[dict[str, Any]]:
    if not isinstance(content, dict) or not isinstance(content.get("info"), dict):
        return False
    if isinstance(content.get("simulation_index"), list):
        return True
    return isinstance(content.get("simulations"), list) and "agent_info" in content["info"]


def read(path: Path, found: Trials) -> None:
    """Add one trial per row or simulation, and one that is missing per trial that was planned and is not there."""
    files = [path]
    if path.is_dir():
        walked = found.walk(path, lambda folder: folder.name != _SIMULATIONS)
        every = chain.from_iterable(inside.files for _, inside in walked)
        files = [file for file in every if file.name.endswith(".json")]
    others = 0
    # A run of tau2 in a folder of its own has the folder's name.
    names = run_names(_named_by(file) for file in files)
    for file in found.each(files):
        for content in load_any(file, found):
            name = names[_named_by(file)]
            if _is_tau(content):
                _read_tau(content, file, name, found)
            elif _is_tau2(content):
                _read_tau2(content, file, name, found)
            else:
                others += 1
                if len(files) == 1:
                    found.problem(file, "holds no run of tau-bench or tau2-bench")
    if others and len(files) > 1:
        what = "JSON file that holds" if others == 1 else "JSON files that hold"
        found.note(f"{others} {what} no run of tau-bench or tau2-bench left out")


def _named_by(file: Path) -> Path:
    return Path(os.path.realpath(file.parent)) if file.name == _RESULTS else file


# -- tau-bench: a list of rows --------------------------------------------------------------------------------------


def _read_tau(rows: list[object], file: Path, name: str, found: Trials) -> None:
    named = _FILE.fullmatch(file.stem)
    parts = named.groupdict() if named else {}
    run = _Run(file, name, parts.get("agent"), parts.get("model"), found)
    if not rows:
        found.problem(file, "holds no trial", "the run was stopped before its first one")
    for at, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            said = snippet(as_written(row))
            found.problem(file, f"row {at} is {said}; an object is needed", "it is left out")
            continue
        info, messages = row.get("info"), row.get("traj")
        failed = value_at(info, "error") is not None
        reward = row.get("reward")
        run.add(
            file,
            f"row {at}",
            row.get("task_id"),
            row.get("trial", 0),
            status="errored" if failed else "scored",
            error_type=_error_type(info) if failed else None,
            success=_succeeded(reward),
            score=reward,
            steps=_steps(messages),
            tool_calls=_tool_calls(messages, run.agent),
        )
    first, end = int(parts.get("first", 0)), int(parts.get("end", -1))
    tasks = map(str, range(first, end)) if 0 <= end - first <= _MOST_PLANNED else ()
    _add_missing(run, tasks, run.largest)
    run.add_again()


def _error_type(info: object) -> str:
    """Give the class of the exception that ended a trial: its traceback's last line begins with it."""
    lines = (text(value_at(info, "traceback")) or "").strip().splitlines()
    named = _EXCEPTION.fullmatch(lines[-1].strip()) if lines else None
    return named[1] if named else "error"


def _succeeded(reward: object) -> bool | None:
    """Tell whether a reward is one of a success: 1, as near as floats come to it."""
    return abs(reward - 1) <= _TOLERANCE if is_number(reward) else None


def _assistants(messages: object) -> list[dict[str, Any]]:
    every = messages if isinstance(messages, list) else []
    return [m for m in every if isinstance(m, dict) and m.get("role") == "assistant"]


def _steps(messages: object) -> int | None:
    """Count the agent's messages; a trial that crashed has none recorded, which is not none made."""
    return len(_assistants(messages)) or None


def _tool_calls(messages: object, agent: str | None) -> int | None:
    """Count the agent's tool calls; the agents act and react write theirs into the text."""
    own = _assistants(messages)
    calls = _calls(own)
    return calls if calls or (own and agent == "tool-calling") else None


def _calls(messages: list[dict[str, Any]]) -> int:
    return sum(len(m["tool_calls"]) for m in messages if isinstance(m.get("tool_calls"), list))


# -- tau2-bench: an object with simulations, or a folder of them ----------------------------------------------------


def _read_tau2(content: dict[str, Any], file: Path, name: str, found: Trials) -> None:
    info = content["info"]
    agent = text(value_at(info, "agent_info", "implementation"))
    run = _Run(
        file,
        name,
        agent,
        text(value_at(info, "agent_info", "llm")),
        found,
    )
    counted: dict[str, int] = {}
    for at, (path, simulation) in enumerate(_simulations(content, file, found), start=1):
        trial, task = simulation.get("trial"), simulation.get("task_id")
        if trial is None:
            trial = counted[str(task)] = counted.get(str(task), -1) + 1
            found.note(
                "tau2 did not number some trials: they are numbered in the order in which they lie there"
            )
        place = f"simulation {at}" if path == file else printable(path.name)
        run.add(path, place, task, trial, **_simulated(simulation))
    tasks = content.get("tasks")
    planned = (
        [identifier(value_at(task, "id")) for task in tasks] if isinstance(tasks, list) else []
    )
    trials = info.get("num_trials")
    number = trials if isinstance(trials, int) and not isinstance(trials, bool) else 0
    _add_missing(run, (task for task in planned if isinstance(task, str)), number)
    run.add_again()


def _simulations(
    content: dict[str, Any], file: Path, found: Trials
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Give every simulation with its file; of one whose file is not there or damaged, what the index has of it."""
    for at, simulation in enumerate(content.get("simulations") or [], start=1):
        if isinstance(simulation, dict):
            yield file, simulation
        else:
            said = snippet(as_written(simulation))
            found.problem(file, f"simulation {at} is {said}; an object is needed", "it is left out")
    folder = file.parent / _SIMULATIONS
    index = content.get("simulation_index")
    if not isinstance(index, list):
        index = []
    elif not folder.is_dir() and content.get("simulations"):
        return  # an index beside the simulations themselves
    entries = {e["id"]: e for e in index if isinstance(e, dict) and isinstance(e.get("id"), str)}
    if folder.is_dir():
        for path in found.look(folder).files:
            if not path.name.endswith(".json"):
                continue
            simulation = found.load(path, stands=path.stem in entries)
            if simulation is not None:
                entries.pop(path.stem, None)
                yield path, simulation
    for name, entry in entries.items():
        found.problem(
            folder / f"{name}.json",
            "cannot be had, and the index lists it",
            "the index has its reward, which is taken; copy the whole folder",
            rule="missing-trial",
            stands=True,
        )
        yield file, entry


def _simulated(simulation: dict[str, Any]) -> dict[str, Any]:
    reason = text(simulation.get("termination_reason"))
    # The index has the reward itself, a simulation has it with its parts.
    reward = value_at(simulation, "reward_info", "reward", default=simulation.get("reward"))
    status = "errored" if reason in _NO_END else "unscored" if reward is None else "scored"
    messages = simulation.get("messages")
    own = _assistants(messages)
    parts = value_at(simulation, "reward_info", "reward_breakdown")
    return {
        "status": status,
        "error_type": None if status == "scored" else reason,
        "success": _succeeded(reward),
        "score": reward,
        "metrics": parts if isinstance(parts, dict) else {},
        "steps": len(own) or None,
        "tool_calls": _calls(own) if own else None,
        "input_tokens": _used(own, "prompt_tokens"),
        "output_tokens": _used(own, "completion_tokens"),
        "cost": simulation.get("agent_cost"),
        "seconds": simulation.get("duration"),
    }


def _used(messages: Iterable[dict[str, Any]], key: str) -> int | float | None:
    """Sum the tokens that messages report; the first of them is a fixed greeting that reports none."""
    counts = [count for m in messages if is_number(count := value_at(m, "usage", key))]
    return sum(counts) if counts else None


# -- both -----------------------------------------------------------------------------------------------------------


def _add_missing(run: _Run, planned: Iterable[str], trials: int) -> None:
    """Add the trials that the run's own plan has and its file has not: each of its tasks as often as any."""
    tasks = dict.fromkeys(chain(planned, (task for task, _ in run.places)))
    if len(tasks) * trials > _MOST_PLANNED:
        return
    absent = {(task, n) for task in tasks for n in range(1, trials + 1)} - run.places.keys()
    if not absent:
        return
    run.found.problem(
        run.file,
        f"{len(absent)} of {len(tasks) * trials} planned trials are not there",
        "they stand as missing; the run may have been stopped",
        rule="missing-trial",
        stands=True,
    )
    for task, number in sorted(absent):
        run.found.add(
            uid=task,
            trial=number,
            status="missing",
            path=run.file,
            run=run.name,
            agent=run.agent,
            model=run.model,
        )
