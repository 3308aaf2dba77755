"""agentops: the native report of skill trials with its launch receipts, and probe scorecards → trials.

The report says what came of each trial; which task, repetition and arm it was is in the receipts, and only what they name
can be paired.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from skillshift_frames.readers.json_shape import value_at
from skillshift_frames.readers.tools.agentops_cards import ARMS, read_card
from skillshift_frames.readers.tools.files import peek, sampled
from skillshift_frames.readers.tools.values import (
    Repeats,
    arm_of,
    beside,
    identifier,
    load_any,
    number_of,
    run_names,
    text,
)
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

NAME = "agentops"

_CARD = "agentops-skill-probe."
_LOOKS = 30

#: Outcome → status; an outcome that is none of these is unscored, too.
_STATUSES = {
    "success": "scored",
    "failed": "scored",
    "execution_error": "errored",
    "infrastructure_error": "errored",
    "created": "errored",
    "unfinished": "errored",
    "unknown_outcome": "unscored",
}


class _Receipt(NamedTuple):
    """What was launched: the task, its repetition and arm, and whether it was given skills."""

    file: Path
    task: object
    rep: object
    arm: object
    checksum: str | None
    model: str | None
    used: list[str]


def recognises(path: Path) -> bool:
    """Tell whether a path is a native report or a scorecard of agentops, or a folder that holds some."""
    near = sampled(path, lambda name: name.endswith(".json"))
    return any(_kind(peek(file)) in {"report", "card"} for file in islice(near, _LOOKS))


def _kind(content: object) -> str | None:
    if not isinstance(content, dict):
        return None
    if {"reward_key", "jobs"} <= content.keys():
        return "report"
    if str(content.get("schema", "")).startswith(_CARD):
        return "card"
    receipts = content.get("trials")
    if isinstance(receipts, list) and "schema_version" in content:
        named = [r for r in receipts[:_LOOKS] if isinstance(r, dict) and "job_name" in r]
        return "receipts" if named else None
    return None


def read(path: Path, found: Trials) -> None:
    """Add one trial per trial of a report and per arm and repetition of a scorecard; receipts say which is which."""
    files = _files(path, found)
    names = run_names(files)
    kinds: dict[str, list[Path]] = {"report": [], "card": [], "receipts": [], "": []}
    receipts: dict[str, _Receipt] = {}
    for file in files:
        for content in load_any(file, found):
            kind = _kind(content) or ""
            kinds[kind].append(file)
            if isinstance(content, dict) and kind == "receipts":
                _keep_receipts(content, file, receipts, found)
    _say_others(kinds[""], path, found)
    repeats = Repeats(found)
    # The contents are loaded a second time: of many files, only one at a time is held.
    for file in found.each([*kinds["report"], *kinds["card"]]):
        content = found.load(file)
        if file in kinds["card"]:
            read_card(content, file, names[file], repeats, found)
        else:
            _read_report(content, _Report(file, names[file], receipts, found), repeats)
    if kinds["report"]:
        _add_missing(receipts, names[kinds["report"][0]], found)
    elif receipts:
        file = kinds["receipts"][0]
        found.problem(file, "are receipts without a report", "name the native report, too")


def _say_others(others: list[Path], path: Path, found: Trials) -> None:
    if others == [path]:
        found.problem(path, "holds neither a native report nor a scorecard of agentops")
    elif others:
        what = "JSON file that holds" if len(others) == 1 else "JSON files that hold"
        found.note(f"{len(others)} {what} neither a report, receipts nor a scorecard left out")


def _files(path: Path, found: Trials) -> list[Path]:
    if not path.is_dir():
        # A report that was named by itself has its receipts beside it.
        others = beside(path, lambda name: name.endswith(".json"))
        kind = _kind(peek(path))
        return [path, *(f for f in others if kind == "report" and _kind(peek(f)) == "receipts")]
    every = chain.from_iterable(inside.files for _, inside in found.walk(path))
    return [file for file in every if file.name.endswith(".json")]


# -- receipts -------------------------------------------------------------------------------------------------------


def _keep_receipts(
    content: dict[str, Any], file: Path, kept: dict[str, _Receipt], found: Trials
) -> None:
    for at, entry in enumerate(content["trials"], start=1):
        job = text(value_at(entry, "job_name"))
        if job is None:
            said = snippet(as_written(entry))
            found.problem(file, f"receipt {at} has no job_name: {said}", "it is left out")
            continue
        if job in kept:
            found.problem(
                file,
                f"job {snippet(job)} has more than one receipt",
                "the first one is taken",
                field="job_name",
                value=snippet(job),
                stands=True,
            )
            continue
        arm = text(entry.get("arm"))
        named = ARMS.get(arm or "", arm_of(arm))
        if named is None and "skills_sha256" in entry:
            named = "without" if entry["skills_sha256"] is None else "with"
        kept[job] = _Receipt(
            file,
            identifier(entry.get("task")),
            entry.get("rep"),
            named,
            text(entry.get("task_checksum")),
            text(value_at(entry, "runtime", "model")),
            [],
        )


def _add_missing(receipts: Mapping[str, _Receipt], run: str, found: Trials) -> None:
    """Add what was launched and no report has."""
    for job, receipt in receipts.items():
        if receipt.used:
            continue
        found.problem(
            receipt.file,
            f"job {snippet(job)} was launched, and no report has a trial of it",
            "it stands as missing",
            field="job_name",
            value=snippet(job),
            rule="missing-trial",
            stands=True,
        )
        found.add(
            uid=receipt.task,
            trial=number_of(receipt.rep),
            status="missing",
            path=receipt.file,
            run=run,
            model=receipt.model,
            arm=receipt.arm,
        )


# -- the native report ----------------------------------------------------------------------------------------------


class _Report(NamedTuple):
    """What all trials of a report have in common, and where a trial goes."""

    file: Path
    run: str
    receipts: Mapping[str, _Receipt]
    found: Trials


class _Observed(NamedTuple):
    """One trial of a report, with its job's name and arm and the receipt, if there is one."""

    job: str
    trial: dict[str, Any]
    arm: object
    receipt: _Receipt | None


def _read_report(content: dict[str, Any], report: _Report, repeats: Repeats) -> None:
    file, run, _, found = report
    observed = list(_observed(content, report))
    unnumbered = [one for one in observed if one.receipt is None]
    numbers = _numbers(unnumbered)
    if unnumbered:
        found.note(
            f"{len(unnumbered)} of {len(observed)} trials have no receipt: they are numbered by when they began, and"
            " cannot be paired by repetition"
        )
    for one in observed:
        trial, receipt = one.trial, one.receipt
        task = receipt.task if receipt else identifier(text(trial.get("task_name")))
        number = number_of(receipt.rep) if receipt else numbers[id(trial)]
        repeats.say(file, run, one.arm, task, number)
        if receipt is not None:
            receipt.used.append(run)
            checksum = text(trial.get("task_checksum"))
            if checksum and receipt.checksum and checksum != receipt.checksum:
                found.problem(
                    file,
                    f"{snippet(one.job)}: the task's checksum is not that of its receipt",
                    "another version of the task was run; do not compare it with the others",
                    field="task_checksum",
                    value=snippet(checksum),
                    stands=True,
                )
        _add(one, task, number, report)


def _observed(content: dict[str, Any], report: _Report) -> Iterator[_Observed]:
    file, _, receipts, found = report
    jobs = content.get("jobs")
    if not isinstance(jobs, list):
        found.problem(
            file, f"jobs is {snippet(as_written(jobs))}; an array is needed", field="jobs"
        )
        return
    for at, job in enumerate(jobs, start=1):
        trials = value_at(job, "trials")
        if not isinstance(job, dict) or not isinstance(trials, list):
            found.problem(
                file, f"job {at} has no trials that can be read", "it is left out", field="jobs"
            )
            continue
        name = (
            (text(job.get("directory")) or f"job {at}")
            .replace("\\", "/")
            .rstrip("/")
            .rsplit("/", 1)[-1]
        )
        receipt = receipts.get(name)
        expected = value_at(job, "counts", "expected")
        if isinstance(expected, int) and expected > len(trials) and (receipt is None or trials):
            found.problem(
                file,
                f"{snippet(name)}: {expected} trials expected, {len(trials)} there",
                "the others have no name, so that no row stands for them",
                field="counts.expected",
                value=str(expected - len(trials)),
                rule="missing-trials",
            )
        for trial in trials:
            if not isinstance(trial, dict):
                said = snippet(as_written(trial))
                found.problem(
                    file, f"{snippet(name)}: a trial is {said}; an object is needed", field="trials"
                )
                continue
            yield _Observed(name, trial, _arm(job, trial, receipt), receipt)


def _arm(job: dict[str, Any], trial: dict[str, Any], receipt: _Receipt | None) -> object:
    """Give a trial's arm: the caller's label, else the receipt's, else whether its configuration has skills."""
    label = text(trial.get("arm")) or text(job.get("arm"))
    if label is not None:
        return ARMS.get(label, arm_of(label))
    if receipt is not None and receipt.arm is not None:
        return receipt.arm
    skills = value_at(trial, "documents", "config.json", "data", "agent", "skills")
    return arm_of(bool(skills)) if isinstance(skills, list) else None


def _numbers(observed: list[_Observed]) -> dict[int, int]:
    """Give trials without a receipt numbers by when they began, within arm and task."""

    def began(one: _Observed) -> tuple[str, str, str]:
        return (
            str(value_at(one.trial, "timing", "started_at", default="")),
            one.job,
            str(one.trial.get("name")),
        )

    counted: dict[tuple[str, str], int] = {}
    numbers = {}
    for one in sorted(observed, key=began):
        key = (str(one.arm), str(one.trial.get("task_name")))
        numbers[id(one.trial)] = counted[key] = counted.get(key, 0) + 1
    return numbers


def _add(one: _Observed, task: object, number: object, report: _Report) -> None:
    file, run, _, found = report
    trial = one.trial
    outcome = text(trial.get("outcome"))
    status = _STATUSES.get(outcome or "")
    if status is None:
        said = snippet(as_written(trial.get("outcome")))
        found.problem(
            file,
            f"{snippet(one.job)}: outcome is {said}; one of {', '.join(_STATUSES)} is needed",
            "the trial is unscored",
            field="outcome",
            value=said,
            stands=True,
        )
        status = "unscored"
    config = value_at(trial, "documents", "config.json", "data", "agent")
    result = value_at(trial, "documents", "result.json", "data")
    used = value_at(result, "agent_result")
    found.add(
        uid=task,
        trial=number,
        status=status,
        error_type=None if status == "scored" else outcome,
        path=file,
        run=run,
        agent=text(value_at(config, "name")) or text(value_at(result, "agent_info", "name")),
        model=(one.receipt.model if one.receipt else None) or text(value_at(config, "model_name")),
        arm=one.arm,
        success=outcome == "success",
        score=float(outcome == "success"),
        input_tokens=value_at(used, "n_input_tokens"),
        cached_tokens=value_at(used, "n_cache_tokens"),
        output_tokens=value_at(used, "n_output_tokens"),
        cost=value_at(used, "cost_usd"),
        seconds=value_at(trial, "timing", "elapsed_seconds"),
    )
