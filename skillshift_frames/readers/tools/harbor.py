"""Harbor job folders, of version 0.13 and of 0.26: one folder per trial, with or without steps.

The versions differ in what a trial with an exception is: before 0.26 a reward counts, whatever went wrong beside it, and a
trial without one is a 0; from 0.26 on the trial says itself whether its reward is valid, and one whose is not is left out.
Both are statuses here. Which arm a job is, is said nowhere; where some jobs of a folder mount skills and others mount none,
those are the arms.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from skillshift_frames.readers.tools.atif import Activity, read_activity, together, total
from skillshift_frames.readers.tools.files import peek, sampled
from skillshift_frames.readers.tools.values import is_number, text
from skillshift_frames.readers.wording import as_written, snippet

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
_WHOLE = 1e-9


@dataclass(slots=True)
class _Job:
    """One job: its plan, and its trials."""

    folder: Path
    attempts: int | None
    planned: int | None
    agent: dict[str, Any]  # the one agent of all its trials, empty where there are several
    trials: list[Path] = field(default_factory=list)


@dataclass(slots=True)
class _Trial:
    """What of a trial is kept until its number among the attempts at its task is known."""

    folder: Path
    uid: object
    started: str
    mounts: bool | None
    row: dict[str, Any]


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
            yield _Job(folder.parent, None, None, {}, [folder])
            return
        trials = [below for below in inside.folders if _TRIAL_NAME.match(below.name)]
        if trials or any(_is_job(c) for c in (result, config) if c):
            others = [below for below in inside.folders if not _TRIAL_NAME.match(below.name)]
            trials += [below for below in others if _looks_like_trial(below, found)]
            yield _job(folder, result or {}, config or {}, sorted(trials), found)
        else:
            entered.add(folder)


def _looks_like_trial(folder: Path, found: Trials) -> bool:
    return any(file.name in _TRIAL_FILES for file in found.look(folder).files)


def _job(
    folder: Path,
    result: dict[str, Any],
    config: dict[str, Any],
    trials: list[Path],
    found: Trials,
) -> _Job:
    agents = config.get("agents")
    only = agents[0] if isinstance(agents, list) and len(agents) == 1 else None
    if not trials:
        found.problem(folder, "is a job without any trial", "", rule="no-trials")
    return _Job(
        folder,
        _whole(config.get("n_attempts")),
        _whole(result.get("n_total_trials")),
        only if isinstance(only, dict) else {},
        trials,
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


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
    status, error, rewards = _outcome(result, steps, file, found)
    model = _object(info, "model_info")
    reward = rewards.get("reward") if "reward" in rewards else _only(rewards)
    shown = _activity(folder, steps, found)
    used = _used(result, steps)
    row = {
        "status": status,
        "error_type": error,
        "skill": _skills(agent),
        "agent": text(info.get("name")) or text(agent.get("name")) or shown.agent,
        "model": text(model.get("name")) or text(agent.get("model_name")) or shown.model,
        "success": _success(reward),
        "score": reward,
        "metrics": {} if set(rewards) == {"reward"} else rewards,
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
        folder, uid, started if isinstance(started, str) else _NO_TIME, _mounts(agent), row
    )


def _without_result(folder: Path, job: _Job, found: Trials) -> _Trial:
    """Give what is known of a trial whose result is missing or damaged: it has not come to an end that can be judged."""
    config = found.load(folder / "config.json", needed=False, stands=True) or {}
    agent, task = _object(config, "agent") or job.agent, _object(config, "task")
    there = (folder / "result.json").exists()
    path = task.get("path")
    name = text(task.get("name")) or (
        path.rstrip("/").rpartition("/")[2] if isinstance(path, str) else None
    )
    shown = _activity(folder, [], found)
    row = {
        "status": "errored",
        "error_type": "damaged result.json" if there else "no result.json",
        "skill": _skills(agent),
        "agent": text(agent.get("name")) or shown.agent,
        "model": text(agent.get("model_name")) or shown.model,
        **{name: getattr(shown, name) for name in _SHOWN},
    }
    return _Trial(folder, name or _task_of(folder), _NO_TIME, _mounts(agent), row)


_SHOWN = (
    "steps", "tool_calls", "skill_calls", "skill_failures", "input_tokens", "cached_tokens", "output_tokens", "cost",
)  # fmt: skip


def _outcome(
    result: dict[str, Any], steps: list[dict[str, Any]], file: Path, found: Trials
) -> tuple[str, str | None, dict[str, Any]]:
    """Judge a trial: its status, its exception, its rewards."""
    exceptions = [_exception(part) for part in (result, *steps)]
    error = next((name for name in exceptions if name), None)
    verified = _object(result, "verifier_result")
    given = verified.get("rewards")
    if given is not None and not isinstance(given, dict):
        found.problem(
            file,
            f"{snippet(as_written(given))}; an object of numbers is needed",
            "the trial is unscored",
            field="verifier_result.rewards",
            stands=True,
        )
    rewards = {k: v for k, v in given.items() if v is not None} if isinstance(given, dict) else {}
    if result.get("reward_valid") is False and rewards:
        return "errored", error or "reward not valid", {}
    if any(map(is_number, rewards.values())):
        if exceptions[0] and "reward_valid" not in result:
            found.note(
                "Harbor before 0.26 counts the reward of a trial with an exception; from 0.26 on it depends on the exception"
            )
        return "scored", error, rewards
    if error:
        return "errored", error, {}
    return "unscored", "no reward", {}


def _exception(part: dict[str, Any]) -> str | None:
    info = part.get("exception_info")
    if info is None:
        return None
    return (text(info.get("exception_type")) if isinstance(info, dict) else None) or "exception"


def _only(rewards: dict[str, Any]) -> Any:  # noqa: ANN401 - as written
    return next(iter(rewards.values())) if len(rewards) == 1 else None


def _success(reward: object) -> bool | None:
    """Tell whether a reward is that of a task done: all of it; half of it is not. Other scales do not say."""
    if (
        not isinstance(reward, int | float)
        or isinstance(reward, bool)
        or not 0 <= reward <= 1 + _WHOLE
    ):
        return None
    return reward >= 1 - _WHOLE


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


_OWNERS = ("arm", "skill", "agent", "model")


def _add(job: _Job, trials: list[_Trial], arms: dict[bool, str], run: str, found: Trials) -> None:
    """Add the trials, attempts at a task numbered by their starts, and what of the plan is missing."""
    trials.sort(key=lambda trial: (trial.started, trial.folder.name))
    attempts: dict[tuple[object, ...], int] = {}
    known: dict[tuple[object, ...], dict[str, Any]] = {}
    for trial in trials:
        trial.row["arm"] = None if trial.mounts is None else arms.get(trial.mounts)
        of = {name: trial.row[name] for name in _OWNERS}
        key = (trial.uid, *map(str, of.values()))
        attempts[key] = attempts.get(key, 0) + 1
        known.setdefault(key, of)
        found.add(uid=trial.uid, trial=attempts[key], run=run, path=trial.folder, **trial.row)
    lacking = (job.planned or 0) - len(trials)
    for key in sorted(attempts, key=str):
        for number in range(attempts[key] + 1, (job.attempts or 0) + 1):
            if lacking <= 0:
                return
            lacking -= 1
            of = known[key]
            found.add(uid=key[0], trial=number, run=run, path=job.folder, status="missing", **of)
    if lacking > 0:
        found.problem(
            job.folder,
            f"{lacking:,} of {job.planned:,} trials that the job planned are not there, and nothing says of which tasks",
            "finish the job, or copy all of its folder",
            rule="missing-trials",
        )
