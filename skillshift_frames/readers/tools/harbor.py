"""Harbor job folders, of version 0.13 and of 0.26: one folder per trial, with or without steps.

The versions differ in what a trial with an exception is: before 0.26 a reward counts, whatever went wrong beside it, and a
trial without one is a 0; from 0.26 on the trial says itself whether its reward is valid, and one whose is not is left out.
Both are statuses here. Which arm a job is, is said nowhere; where some jobs of a folder mount skills and others mount none,
those are the arms.

A model is called as ``agent_info`` has it: without its provider, which a configuration writes before it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from skillshift_frames.readers.tools.atif import Activity, read_activity, together, total
from skillshift_frames.readers.tools.files import peek, sampled
from skillshift_frames.readers.tools.harbor_plan import (
    Plan,
    Slot,
    absent,
    agent_key,
    plan_of,
    planned_task,
    task_name,
)
from skillshift_frames.readers.tools.harbor_rewards import DAMAGED, NO_RESULT, outcome_of
from skillshift_frames.readers.tools.values import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

NAME = "harbor"

#: Files of a look that asks only whether a folder is Harbor's.
_LOOKS = 20
_TRIAL_NAME = re.compile(r"^(?P<task>.+)__[0-9A-Za-z]{7}$")
_TRIAL_FILES = frozenset({"result.json", "config.json", "trial.log", "exception.txt"})
_NO_TIME = "9999"  # after every time


@dataclass(slots=True)
class _Job:
    """One job: its plan, and its trials."""

    folder: Path
    plan: Plan
    agent: dict[str, Any]  # the one agent of all its trials, empty where there are several
    trials: list[Path] = field(default_factory=list)


@dataclass(slots=True)
class _Trial:
    """What of a trial is kept until its number among the attempts at its task is known."""

    folder: Path
    uid: object
    started: str
    agent: dict[str, Any]  # its configuration
    task: str | None  # as the job names it
    ended: bool  # with a result that can be read
    row: dict[str, Any]

    @property
    def mounts(self) -> bool | None:
        return _mounts(self.agent)

    @property
    def slot(self) -> Slot | None:
        return Slot(self.task, agent_key(self.agent)) if self.task and self.agent else None


def recognises(path: Path) -> bool:
    """Tell whether there is a job or a trial: by the keys of a ``result.json`` or ``config.json``."""
    near = sampled(path, {"result.json", "config.json"}.__contains__) if path.is_dir() else []
    return any(_is_job(content) or _is_trial(content) for content in _peeked(near))


def _peeked(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for file, _ in zip(files, range(_LOOKS), strict=False):
        content = peek(file)
        if isinstance(content, dict):
            yield content


def _is_job(content: dict[str, Any]) -> bool:
    return ("n_total_trials" in content and "stats" in content) or (
        "job_name" in content and ("jobs_dir" in content or "n_attempts" in content)
    )


def _is_trial(content: dict[str, Any]) -> bool:
    return "trial_name" in content and ("task_name" in content or "task" in content)


def read(path: Path, found: Trials) -> None:
    """Add one row per trial, in the order of their starts, and one per trial that a job planned and does not have."""
    jobs = list(_jobs(path, found))
    of_job: dict[Path, list[_Trial]] = {job.folder: [] for job in jobs}
    listed = [(job, folder) for job in jobs for folder in job.trials]
    for job, folder in found.each(listed):
        of_job[job.folder].append(_trial(folder, job, found))
    trials = [trial for job in jobs for trial in of_job[job.folder]]
    arms = {True: "with"}
    if {trial.mounts for trial in trials} >= {True, False}:
        arms[False] = "without"
        skills = {trial.row["skill"] for trial in trials if trial.mounts}
        for trial in trials:  # what the trials without it are compared for is the skill, too
            trial.row["skill"] = trial.row["skill"] or (min(skills) if len(skills) == 1 else None)
    names = Counter(job.folder.resolve().name for job in jobs)
    for job in jobs:
        name = job.folder.resolve().name
        _add(
            job,
            of_job[job.folder],
            arms,
            name if names[name] == 1 else found.below(job.folder),
            found,
        )


def _jobs(path: Path, found: Trials) -> Iterator[_Job]:
    """Find the jobs in a folder or below it; a trial's folder by itself is a job of one."""
    entered: set[Path] = set()
    for folder, inside in found.walk(path, lambda below: below.parent in entered):
        names = {file.name for file in inside.files}
        result = found.load(folder / "result.json") if "result.json" in names else None
        config = found.load(folder / "config.json") if "config.json" in names else None
        if folder == path and any(_is_trial(c) for c in (result, config) if c):
            yield _Job(folder.parent, plan_of({}, {}, {}), {}, [folder])
            return
        trials = [below for below in inside.folders if _TRIAL_NAME.match(below.name)]
        if trials or any(_is_job(c) for c in (result, config) if c):
            others = [below for below in inside.folders if not _TRIAL_NAME.match(below.name)]
            trials += [below for below in others if _looks_like_trial(below, found)]
            lock = found.load(folder / "lock.json", stands=True) if "lock.json" in names else None
            plan = plan_of(result or {}, config or {}, lock or {})
            yield _job(folder, plan, sorted(trials), found)
        else:
            entered.add(folder)


def _looks_like_trial(folder: Path, found: Trials) -> bool:
    return any(file.name in _TRIAL_FILES for file in found.look(folder).files)


def _job(folder: Path, plan: Plan, trials: list[Path], found: Trials) -> _Job:
    agents = list(plan.agents.values())
    if not trials:
        found.problem(folder, "is a job without any trial", "", rule="no-trials")
    return _Job(folder, plan, agents[0] if len(agents) == 1 else {}, trials)


def _mounts(agent: object) -> bool | None:
    skills = agent.get("skills") if isinstance(agent, dict) else None
    return bool(skills) if isinstance(skills, list) else None


def _trial(folder: Path, job: _Job, found: Trials) -> _Trial:
    file = folder / "result.json"
    result = found.load(file, stands=True)
    if result is None:
        return _without_result(folder, job, found)
    config = _object(result, "config")
    agent, info = _object(config, "agent") or job.agent, _object(result, "agent_info")
    steps = result.get("step_results")
    steps = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    model = _object(info, "model_info")
    shown = _activity(folder, steps, found)
    used = _used(result, steps)
    row = {
        **outcome_of(result, steps, file, found).to_row(),
        "dataset": text(result.get("source")),
        "skill": _skills(agent),
        "agent": text(info.get("name")) or text(agent.get("name")) or shown.agent,
        "model": _model(model.get("name"), model.get("provider"))
        or _model(agent.get("model_name"))
        or _model(shown.model),
        "steps": shown.steps,
        "tool_calls": shown.tool_calls,
        "skill_calls": shown.skill_calls,
        "skill_failures": shown.skill_failures,
        "input_tokens": _first(shown.input_tokens, used["n_input_tokens"]),
        "cached_tokens": _first(shown.cached_tokens, used["n_cache_tokens"]),
        "output_tokens": _first(shown.output_tokens, used["n_output_tokens"]),
        "cost": _first(used["cost_usd"], shown.cost),
        "seconds": seconds_of(result),
    }
    uid = text(result.get("task_name")) or _task_of(folder)
    started = result.get("started_at")
    return _Trial(
        folder,
        uid,
        started if isinstance(started, str) else _NO_TIME,
        agent,
        task_name(config.get("task")) or text(uid),
        ended=True,
        row=row,
    )


def _without_result(folder: Path, job: _Job, found: Trials) -> _Trial:
    """Give what is known of a trial whose result is missing or damaged: it has not come to an end that can be judged."""
    config = found.load(folder / "config.json", needed=False, stands=True) or {}
    agent, task = _object(config, "agent") or job.agent, _object(config, "task")
    there = (folder / "result.json").exists()
    shown = _activity(folder, [], found)
    row = {
        "status": "errored",
        "error_type": DAMAGED if there else NO_RESULT,
        "dataset": text(task.get("source")),
        "skill": _skills(agent),
        "agent": text(agent.get("name")) or shown.agent,
        "model": _model(agent.get("model_name")) or _model(shown.model),
        **{name: getattr(shown, name) for name in _SHOWN},
    }
    name = task_name(task) or planned_task(job.plan, _task_of(folder))
    return _Trial(folder, name, _NO_TIME, agent, name, ended=False, row=row)


_SHOWN = (
    "steps", "tool_calls", "skill_calls", "skill_failures", "input_tokens", "cached_tokens", "output_tokens", "cost",
)  # fmt: skip


def _model(name: object, provider: object = None) -> str | None:
    """Give a model's name without its provider, as Harbor splits ``provider/name``.

    Examples
    --------
    >>> _model("openai/gpt-x"), _model("hub/maker/gpt-x"), _model("gpt-x"), _model("a/b", "c")
    ('gpt-x', 'maker/gpt-x', 'gpt-x', 'a/b')
    """
    said, given = text(name), text(provider)
    if said is None:
        return None
    before, _, after = said.partition("/")
    return after if after and (given is None or given == before) else said


def _activity(folder: Path, steps: list[dict[str, Any]], found: Trials) -> Activity:
    whole = read_activity(found, folder / "agent" / "trajectory.json", needed=False)
    if whole or not (folder / "steps").is_dir():
        return whole or Activity()
    names = [name for step in steps if (name := text(step.get("step_name"))) and "/" not in name]
    folders = [folder / "steps" / name for name in names] or found.look(folder / "steps").folders
    return together(
        [read_activity(found, part / "agent" / "trajectory.json", needed=False) for part in folders]
    )


def _used(result: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Give what the agent's result says it used; of steps the sum, unknown where one of them is."""
    keys = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
    whole = _object(result, "agent_result")
    if whole or not steps:
        return {key: whole.get(key) for key in keys}
    parts = [_object(step, "agent_result") for step in steps]
    return {key: total(part.get(key) for part in parts) for key in keys}


def _first(*values: Any) -> Any:  # noqa: ANN401 - as written
    return next((value for value in values if value is not None), None)


def _object(content: dict[str, Any], key: str) -> dict[str, Any]:
    value = content.get(key)
    return value if isinstance(value, dict) else {}


def _skills(agent: dict[str, Any]) -> str | None:
    skills = agent.get("skills")
    names = (
        [text(skill.rstrip("/").rpartition("/")[2]) for skill in skills if isinstance(skill, str)]
        if isinstance(skills, list)
        else []
    )
    return ", ".join(sorted(name for name in names if name)) or None


def _task_of(folder: Path) -> str:
    matched = _TRIAL_NAME.match(folder.name)
    return matched["task"] if matched else folder.name


def seconds_of(part: dict[str, Any]) -> float | None:
    """Give how long something took from its two times; None where they cannot be subtracted.

    Examples
    --------
    >>> seconds_of({"started_at": "2026-08-01T10:00:00Z", "finished_at": "2026-08-01T10:01:30Z"})
    90.0
    >>> seconds_of({"started_at": "2026-08-01T10:00:00", "finished_at": None}) is None
    True
    """
    times = [_time(part.get(key)) for key in ("started_at", "finished_at")]
    if (
        times[0] is None
        or times[1] is None
        or (times[0].tzinfo is None) != (times[1].tzinfo is None)
    ):
        return None
    return (times[1] - times[0]).total_seconds()


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


#: What makes a trial another's: attempts are numbered within these.
_OWNERS = ("arm", "dataset", "skill", "agent", "model")


def _add(job: _Job, trials: list[_Trial], arms: dict[bool, str], run: str, found: Trials) -> None:
    """Add the trials, attempts at a task numbered by their starts, and what of the plan is missing."""
    trials.sort(key=lambda trial: (trial.started, trial.folder.name))
    for trial in trials:
        trial.row["arm"] = None if trial.mounts is None else arms.get(trial.mounts)
    told = _told(trials)
    attempts: dict[tuple[object, ...], int] = {}

    def number(uid: object, row: dict[str, Any]) -> int:
        key = (uid, *(str(row[name]) for name in _OWNERS))
        attempts[key] = attempts.get(key, 0) + 1
        return attempts[key]

    uids = {trial.task: trial.uid for trial in trials if trial.ended and trial.task}
    datasets = {trial.row["dataset"] for trial in trials if trial.ended}
    dataset = datasets.pop() if len(datasets) == 1 else None
    for trial in trials:
        # However its configuration calls things: the others show how its result would have.
        if not trial.ended:
            trial.uid = uids.get(trial.task or "", trial.uid)
            trial.row |= told.get(agent_key(trial.agent), {})
            trial.row["dataset"] = trial.row["dataset"] or dataset
        at = number(trial.uid, trial.row)
        found.add(uid=trial.uid, trial=at, run=run, path=trial.folder, **trial.row)
    listed, more = absent(job.plan, [trial.slot for trial in trials])
    for slot in listed:
        agent = job.plan.agents.get(slot.agent, {})
        mounts = _mounts(agent)
        known: dict[str, Any] = {
            "arm": None if mounts is None else arms.get(mounts),
            "dataset": dataset,
            "skill": _skills(agent),
            "agent": text(agent.get("name")),
            "model": _model(agent.get("model_name")),
        } | told.get(slot.agent, {})
        uid = uids.get(slot.task, slot.task)
        at = number(uid, known)
        found.add(uid=uid, trial=at, run=run, path=job.folder, status="missing", **known)
    if more:
        found.problem(
            job.folder,
            f"{more:,} of {job.plan.total:,} trials that the job planned are not there, and nothing says of which tasks",
            "finish the job, or copy all of its folder",
            value=str(more),
            rule="missing-trials",
        )


def _told(trials: list[_Trial]) -> dict[object, dict[str, Any]]:
    """Give how the results call each agent and its model, and which skill it had, by its configuration."""
    return {
        agent_key(trial.agent): {name: trial.row[name] for name in ("skill", "agent", "model")}
        for trial in reversed(trials)
        if trial.ended
    }
