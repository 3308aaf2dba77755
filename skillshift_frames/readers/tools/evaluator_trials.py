"""One trial's folder of SkillEvaluator → what is known of it; the steps of one trial → that trial."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skillshift_frames.readers.tools.atif import Activity, read_activity, together
from skillshift_frames.readers.tools.evaluator_scores import judge, passes
from skillshift_frames.readers.tools.harbor import seconds_of
from skillshift_frames.readers.tools.values import text
from skillshift_frames.readers.wording import printable

if TYPE_CHECKING:
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials
    from skillshift_frames.readers.tools.evaluator_scores import Scoring

_ATTEMPT = re.compile(r"-attempt(\d{1,6})(?=__|$)")
_SUFFIX = re.compile(r"(?:-attempt\d+)?(?:__[0-9A-Za-z]{7})?(?:__.*)?$")
_NO_TIME = "9999"  # after every time
_USED = ("input_tokens", "cached_tokens", "output_tokens", "cost")
_SHOWN = ("steps", "tool_calls", "skill_calls", "skill_failures")


@dataclass(frozen=True, slots=True)
class Case:
    """One attempt at a case, or one step of it.

    Attributes
    ----------
    folder, uid
        Where, and which case.
    physical
        The trial that Harbor ran: steps that share it are one attempt.
    attempt
        Its number, where the name has one.
    started
        When, as text that sorts.
    row
        What `Trials.add` takes of it.
    activity
        What its trajectory shows.
    """

    folder: Path
    uid: str
    physical: str
    attempt: int | None
    started: str
    row: dict[str, Any]
    activity: Activity


def case_of(folder: Path, scoring: Scoring, found: Trials) -> Case:
    """Read one folder below ``trials``: its reward, or why there is none, and what Harbor recorded of it."""
    reward_file, failure_file = folder / "reward.json", folder / "failure.json"
    reward = found.load(reward_file, needed=False, stands=True)
    failure = found.load(failure_file, needed=False, stands=True) if reward is None else None
    harbor = found.load(folder / "result.json", needed=False, stands=True) or {}
    if reward is not None:
        row = _scored(reward, scoring, reward_file, found)
    else:
        row = _failed(folder, failure or {}, found)
    said = reward or failure or {}
    activity = _activity(folder, said, found)
    used = harbor.get("agent_result")
    used = used if isinstance(used, dict) else {}
    keys = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")
    tokens = {
        name: getattr(activity, name) if getattr(activity, name) is not None else used.get(key)
        for name, key in zip(_USED, keys, strict=False)
    }
    cost = used.get("cost_usd")
    row |= {name: getattr(activity, name) for name in _SHOWN} | tokens
    row["cost"] = activity.cost if cost is None else cost
    row["seconds"] = seconds_of(harbor) if harbor else seconds_of(said)
    row["model"] = text(said.get("model"))
    physical = text(said.get("trial_id")) or text(harbor.get("trial_name")) or folder.name
    numbered = _ATTEMPT.search(folder.name)
    return Case(
        folder=folder,
        uid=_uid(said, harbor, folder),
        physical=physical,
        attempt=int(numbered[1]) if numbered else None,
        started=text(harbor.get("started_at")) or text(said.get("started_at")) or _NO_TIME,
        row=row,
        activity=activity,
    )


def _uid(said: dict[str, Any], harbor: dict[str, Any], folder: Path) -> str:
    return (
        text(said.get("entry_id"))
        or text(said.get("task_name"))
        or text(harbor.get("task_name"))
        or _SUFFIX.sub("", folder.name)
        or folder.name
    )


def _scored(reward: dict[str, Any], scoring: Scoring, path: Path, found: Trials) -> dict[str, Any]:
    judged = judge(reward, scoring, path, found)
    row: dict[str, Any] = {
        "status": "unscored",
        "error_type": judged.why,
        "metrics": judged.metrics,
    }
    if judged.score is not None:
        # An error beside complete numbers, such as a missing trajectory, is one that the tool scored.
        row |= {"status": "scored", "error_type": text(reward.get("error")), "score": judged.score}
        row["success"] = passes(judged.score, scoring)
    return row


def _failed(folder: Path, failure: dict[str, Any], found: Trials) -> dict[str, Any]:
    damaged = next((n for n in ("reward.json", "failure.json") if (folder / n).exists()), None)
    if failure:
        error = failure.get("error")
        kind = text(error.get("type")) if isinstance(error, dict) else None
        status = "errored" if error or not failure.get("evaluation_status") else "unscored"
        return {
            "status": status,
            "error_type": kind or text(failure.get("evaluation_status")) or "no reward",
        }
    if damaged:
        status = "unscored" if damaged == "reward.json" else "errored"
        return {"status": status, "error_type": f"damaged {damaged}"}
    found.problem(
        folder, "holds neither reward.json nor failure.json", "the trial is an error", rule="missing-file",
        stands=True,
    )  # fmt: skip
    return {"status": "errored", "error_type": "no reward.json"}


def _activity(folder: Path, said: dict[str, Any], found: Trials) -> Activity:
    activity = read_activity(found, folder / "trajectory.json", needed=False)
    if activity is None:
        never = said.get("skill_invoked") is False
        return Activity(skill_calls=0 if never else None, skill_failures=0 if never else None)
    return activity


def joined(cases: list[Case], scoring: Scoring, found: Trials) -> list[Case]:
    """Make the steps of one trial one attempt: the mean of their metrics, scored where every step is."""
    trials: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        trials.setdefault((case.uid, case.physical), []).append(case)
    every = []
    for (_, physical), parts in trials.items():
        if len(parts) > 1 and all(f"{physical}__" in part.folder.name for part in parts):
            every.append(_join(parts, scoring))
            continue
        for part in parts[1:]:
            message = f"the trial {printable(physical)} is there {len(parts)} times"
            found.problem(part.folder, message, "every one counts; remove the copies", stands=True)
        every += parts
    return every


def _join(parts: list[Case], scoring: Scoring) -> Case:
    first = parts[0]
    row = dict(first.row)
    worst = max(parts, key=lambda part: ("scored", "unscored", "errored").index(part.row["status"]))
    row["status"], row["error_type"] = worst.row["status"], worst.row["error_type"]
    metrics = [part.row.get("metrics") or {} for part in parts]
    row["metrics"] = {
        name: sum(step[name] for step in metrics) / len(metrics)
        for name in metrics[0]
        if all(name in step for step in metrics)
    }
    scores = [part.row.get("score") for part in parts]
    known = [score for score in scores if score is not None]
    row["score"] = sum(known) / len(known) if len(known) == len(scores) else None
    row["success"] = None if row["score"] is None else passes(row["score"], scoring)
    # Where a trajectory is that of the whole trial it lies in the folder of every step.
    if any(part.activity != first.activity for part in parts):
        shown = together([part.activity for part in parts])
        row |= {name: getattr(shown, name) for name in (*_SHOWN, *_USED)}
    return replace(first, row=row)
