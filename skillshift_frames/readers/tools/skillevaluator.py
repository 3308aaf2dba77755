"""SkillEvaluator's Tier 3 results: ``<run>/<agent>/with-skill/trials/<trial>/`` and the same without.

Everything is taken from the trials: the tool's own summaries are empty where a single trial of an arm could not be scored.
What a trial scored is the mean of the metrics of its set (six, or five without security), or of five dimensions where
the files say so; where a judge failed, the tool writes 0.0 in its place, which is no score.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from skillshift_frames.readers.tools.evaluator_scores import Scoring, scoring_of
from skillshift_frames.readers.tools.evaluator_trials import Case, case_of, joined
from skillshift_frames.readers.tools.files import peek, sampled
from skillshift_frames.readers.tools.values import is_number, text
from skillshift_frames.readers.wording import as_written, printable, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

NAME = "skillevaluator"

ARMS = {"with-skill": "with", "without-skill": "without"}
_LOOKS = 20

#: More than any plan has; a larger one is a mistyped digit, and its rows would fill the memory.
_MOST_ATTEMPTS = 10_000
_MOST_MISSING = 100_000


@dataclass(slots=True)
class _Run:
    """What a run says of itself, whatever of its files is there."""

    folder: Path
    name: str
    result: dict[str, Any]
    scoring: Scoring
    attempts: int | None
    stops: bool | None
    cases: dict[str, bool | None]


@dataclass(slots=True)
class _Arm:
    """One agent's trials with or without the skill."""

    run: _Run
    agent: str
    folder: Path
    arm: str
    trials: list[Path] = field(default_factory=list)


def recognises(path: Path) -> bool:
    """Tell whether there is a run's ``result.json``, or an arm's ``summary.json`` or a ``reward.json`` of this tool."""
    if not os.path.isdir(path):  # noqa: PTH112 - does not raise where Path does
        return False
    names = {"result.json", "summary.json", "reward.json", "failure.json"}
    near = sampled(path, names.__contains__)
    for file, _ in zip(near, range(_LOOKS), strict=False):
        content = peek(file)
        if file.name == "result.json" and _is_run(content):
            return True
        if ARMS.keys() & {part.name for part in file.parents} and file.name != "result.json":
            return True
    return False


def _is_run(content: object) -> bool:
    return isinstance(content, dict) and "skill_name" in content and "agents" in content


def read(path: Path, found: Trials) -> None:
    """Add one row per trial, steps of one trial together, and one per attempt that was planned and is not there."""
    arms = list(_arms(path, found))
    for arm in arms:
        inside = found.look(arm.folder / "trials") if (arm.folder / "trials").is_dir() else None
        arm.trials = inside.folders if inside else []
    cases: dict[int, list[Case]] = {id(arm): [] for arm in arms}
    listed = [(arm, folder) for arm in arms for folder in arm.trials]
    for arm, folder in found.each(listed):
        cases[id(arm)].append(case_of(folder, arm.run.scoring, found))
    logical = {id(arm): joined(cases[id(arm)], arm.run.scoring, found) for arm in arms}
    seen: dict[Path, set[str]] = {}
    for arm in arms:
        seen.setdefault(arm.run.folder, set()).update(case.uid for case in logical[id(arm)])
    for arm in arms:
        _add(arm, logical[id(arm)], _plan(arm, seen[arm.run.folder], found), found)


def _arms(path: Path, found: Trials) -> Iterator[_Arm]:
    """Find the arms in a folder or below it; of a run that failed before any, its errors."""
    runs: dict[Path, _Run] = {}
    agents: dict[Path, dict[str, dict[str, Path]]] = {}

    def enter(below: Path) -> bool:
        # What starts so are the jobs and tasks that the run kept: Harbor's, and every trial of them is here, too.
        return below.parent.name not in ARMS and not below.name.startswith("_")

    for folder, inside in found.walk(path, enter):
        if folder.name in ARMS:
            agent = folder.parent
            agents.setdefault(agent.parent, {}).setdefault(agent.name, {})[folder.name] = folder
        elif "result.json" in {file.name for file in inside.files}:
            result = found.load(folder / "result.json")
            if result is None or _is_run(result):
                runs[folder] = _run(folder, result or {}, found)
    for folder in agents:
        if folder not in runs:
            # Of an arm or an agent that is named by itself, the run is outside.
            is_inside = folder == path or path in folder.parents
            runs[folder] = _run(folder, {}, found, inside=is_inside)
    ids = Counter((run.name, text(run.result.get("skill_name"))) for run in runs.values())
    for folder, run in sorted(runs.items()):
        # A copied tree keeps its id; two runs of one id are told apart by where they are.
        if ids[run.name, text(run.result.get("skill_name"))] > 1:
            run.name = found.below(folder)
        yield from _arms_of(run, agents.get(folder, {}), found)


def _run(folder: Path, result: dict[str, Any], found: Trials, *, inside: bool = True) -> _Run:
    policy, snapshot = _object(result, "attempt_policy"), _object(result, "dataset_snapshot")
    if inside:
        policy = policy or found.load(folder / "attempt_policy.json", needed=False) or {}
        snapshot = snapshot or found.load(folder / "dataset_snapshot.json", needed=False) or {}
        if not result and not (folder / "result.json").exists():
            hint = "the skill and what the run planned are not known without it"
            found.problem(folder / "result.json", "is missing", hint, rule="missing-file")
        config = _object(result, "run_config")
        config = config or found.load(folder / "run_config.json", needed=False) or {}
        harbor = _object(config, "harbor")
        asked = {
            "max_attempts": harbor.get("n_attempts"),
            "stop_on_pass": harbor.get("stop_on_pass"),
        }
        # What was asked for, where nothing says what was done.
        policy = {name: value for name, value in asked.items() if value is not None} | policy
    attempts = policy.get("max_attempts")
    known = is_number(attempts) and attempts in range(1, _MOST_ATTEMPTS + 1)
    if not known and attempts is not None:
        message = f"{snippet(as_written(attempts))} is no number of attempts"
        hint = "which ones are missing is not known"
        found.problem(folder, message, hint, field="attempt_policy.max_attempts")
    return _Run(
        folder,
        text(result.get("run_id")) or folder.resolve().name,
        result,
        scoring_of(result, policy, found),
        int(attempts) if known and attempts else None,
        _said(policy.get("stop_on_pass")),
        _negative(snapshot),
    )


def _said(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _negative(snapshot: dict[str, Any]) -> dict[str, bool | None]:
    """Give each case of the data, and whether the skill should not be used in it: no skill is expected there."""
    entries = snapshot.get("dataset")
    return {
        entry["id"]: entry["expected_skill"] is None if "expected_skill" in entry else None
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and text(entry.get("id"))
    }


def _arms_of(run: _Run, agents: dict[str, dict[str, Path]], found: Trials) -> Iterator[_Arm]:
    said = _object(run.result, "agents")
    if not said and not agents:
        errors = run.result.get("execution_errors")
        shown = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
        message = "is a run without any trial" + (f": {snippet(shown)}" if shown else "")
        found.problem(run.folder, message, rule="no-trials")
    for agent in sorted({*said, *agents}):
        for name, arm in ARMS.items():
            if folder := agents.get(agent, {}).get(name):
                yield _Arm(run, agent, folder, arm)
            elif _status(_object(said, agent), name) not in {"skipped", None}:
                planned = run.attempts is not None and bool(run.cases)
                folder = run.folder / printable(agent) / name
                hint = "copy all of the run's folder"
                found.problem(folder, "is missing", hint, rule="missing-arm", stands=planned)
                yield _Arm(run, agent, folder, arm)


def _status(agent: dict[str, Any], name: str) -> str | None:
    condition = _object(_object(agent, "conditions"), name.replace("-", "_"))
    return text(condition.get("execution_status"))


def _object(content: dict[str, Any], key: str) -> dict[str, Any]:
    value = content.get(key)
    return value if isinstance(value, dict) else {}


class _Plan(NamedTuple):
    """How often an arm was to try which cases, each None or empty where nothing says it."""

    attempts: int | None
    stops: bool | None
    cases: dict[str, bool | None]
    expected: int | None


def _plan(arm: _Arm, seen: set[str], found: Trials) -> _Plan:
    """Find out what an arm planned: as the run says, else as its summary counted, else as the numbers leave no other way."""
    run = arm.run
    agent = _object(_object(run.result, "agents"), arm.agent)
    complete = run.attempts is not None and run.stops is not None and bool(run.cases)
    summary = {} if complete else found.load(arm.folder / "summary.json", needed=False) or {}
    counted = _object(_object(agent, "pass_at_k"), f"{arm.arm}_skill") or _object(
        summary, "pass_at_k"
    )
    condition = _object(_object(agent, "conditions"), f"{arm.arm}_skill")
    expected = _count(condition.get("expected_attempts")) or _count(
        summary.get("expected_attempts")
    )
    attempts = run.attempts or _count(counted.get("k"))
    stops = run.stops if run.stops is not None else _said(counted.get("stop_on_pass"))
    cases = run.cases or {
        case: None
        for case, of in _object(counted, "cases").items()
        if isinstance(of, dict) and of.get("extra_case") is not True
    }
    if not cases and attempts and not stops and expected == len(seen) * attempts:
        cases = dict.fromkeys(sorted(seen))
    return _Plan(attempts, stops, cases, expected)


def _count(value: object) -> int | None:
    known = is_number(value) and value in range(1, _MOST_MISSING + 1)
    return int(value) if known and is_number(value) else None


def _add(arm: _Arm, cases: list[Case], plan: _Plan, found: Trials) -> None:
    run = arm.run
    agent = _object(_object(run.result, "agents"), arm.agent)
    model = text(agent.get("model"))
    common: dict[str, Any] = {
        "run": run.name,
        "skill": text(run.result.get("skill_name")),
        "agent": arm.agent,
        "arm": arm.arm,
        "stops": plan.stops,
    }
    by_case: dict[str, list[Case]] = {}
    for case in cases:
        by_case.setdefault(case.uid, []).append(case)
    for uid, attempts in by_case.items():
        for number, case in _numbered(attempts):
            row = {**common, **case.row, "model": case.row["model"] or model}
            negative = plan.cases.get(uid)
            found.add(uid=uid, trial=number, path=case.folder, negative=negative, **row)
    if plan.stops:
        found.note(f"{run.name}: attempts stop on a pass, so that failing cases have more of them")
    if plan.attempts is not None and plan.cases:
        _add_missing(arm, by_case, plan, {**common, "model": model}, found)
    elif plan.expected and plan.expected > len(cases) and not plan.stops:
        message = f"{len(cases):,} of {plan.expected:,} attempts are there, and nothing says of which cases the others are"
        found.problem(
            arm.folder,
            message,
            "copy all of the run's folder",
            value=str(plan.expected - len(cases)),
            rule="missing-trials",
        )


def _numbered(attempts: list[Case]) -> list[tuple[int, Case]]:
    """Give attempts at a case their numbers: those in their names, where each has its own, else by their starts."""
    named = {case.attempt: case for case in attempts if case.attempt}
    if len(named) == len(attempts):
        return [(number, named[number]) for number in sorted(named)]
    ordered = sorted(attempts, key=lambda case: (case.attempt or 0, case.started, case.folder.name))
    return list(enumerate(ordered, start=1))


def _add_missing(
    arm: _Arm,
    by_case: dict[str, list[Case]],
    plan: _Plan,
    common: dict[str, Any],
    found: Trials,
) -> None:
    """Add the attempts that were planned and are not there; after a pass none is missing where attempts stop on one."""
    planned = plan.attempts or 0

    def absent() -> Iterator[tuple[str, int]]:
        for uid in sorted({*plan.cases, *by_case}):
            attempts = by_case.get(uid, [])
            if plan.stops and any(case.row.get("success") is True for case in attempts):
                continue
            taken = {number for number, _ in _numbered(attempts)}
            free = (number for number in range(1, planned + 1) if number not in taken)
            yield from ((uid, number) for number in islice(free, max(planned - len(attempts), 0)))

    every = absent()
    for uid, number in islice(every, _MOST_MISSING):
        row = {"negative": plan.cases.get(uid), **common}
        found.add(uid=uid, trial=number, path=arm.folder, status="missing", **row)
    if more := sum(1 for _ in every):
        found.problem(
            arm.folder,
            f"more than {_MOST_MISSING:,} planned attempts are not there",
            "not all are listed",
            value=str(more),
            rule="missing-trials",
        )
