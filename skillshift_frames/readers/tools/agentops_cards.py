"""Probe scorecards of agentops: one file per probe and effort → a trial per repetition and arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillshift_frames.errors import InputError
from skillshift_frames.readers.json_shape import value_at
from skillshift_frames.readers.scorecards import read_scorecards
from skillshift_frames.readers.tools.values import number_of, text
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from pathlib import Path

    from skillshift_frames.readers.scorecards import Scorecard
    from skillshift_frames.readers.tools.common import Trials
    from skillshift_frames.readers.tools.values import Repeats

#: agentops's words for the arms.
ARMS = {"control": "without", "treatment": "with"}

_SEEN = {"PRESENT": True, "ABSENT": False}
_DEGRADED = "DEGRADED"

#: No probe is repeated more often; a mistyped number must not fill the memory.
_MOST_REPS = 10_000


def read_card(
    content: dict[str, Any], file: Path, run: str, repeats: Repeats, found: Trials
) -> None:
    """Add a probe's repetitions, each with its two arms; the card's own counts must be those of its repetitions."""
    try:
        ((_, card),) = read_scorecards(file)
    except InputError as error:
        found.problem(file, str(error).removeprefix(f"{file}: "), "no trial of it is read")
        return
    reps = content.get("per_rep")
    if not isinstance(reps, list):
        said = snippet(as_written(reps))
        found.problem(
            file,
            f"per_rep is {said}; an array is needed",
            "no trial of it is read",
            field="per_rep",
        )
        return
    common: dict[str, Any] = {
        "uid": card.probe,
        "path": file,
        "run": run,
        "skill": text(card.skill),
        "agent": text(value_at(content, "producer", "adapter")),
        "model": text(value_at(content, "producer", "model")),
    }
    counts = {arm: [0, 0] for arm in ARMS}
    numbers = set()
    for at, rep in enumerate(reps, start=1):
        if not isinstance(rep, dict):
            shown = snippet(as_written(rep))
            found.problem(
                file, f"repetition {at} is {shown}; an object is needed", "it is left out"
            )
            continue
        number = rep.get("rep")
        numbers.add(number if isinstance(number, int) else at)
        repeats.say(file, run, card.probe, f"repetition {number}")
        for label, arm in ARMS.items():
            seen = _seen(rep, label, file, found)
            counts[label][0] += bool(seen)
            counts[label][1] += seen is not None
            found.add(
                **common,
                trial=number_of(number),
                arm=arm,
                status="unscored" if seen is None else "scored",
                error_type=None if seen is not None else text(rep.get(label)) or "unknown",
                success=seen,
                score=None if seen is None else float(seen),
            )
    _compare(card, counts, file, found)
    for number in _absent(content.get("reps"), numbers, file, found):
        for arm in ARMS.values():
            found.add(**common, trial=number, arm=arm, status="missing")


def _absent(planned: object, there: set[int], file: Path, found: Trials) -> list[int]:
    """Give the repetitions that a card planned and does not have."""
    if not isinstance(planned, int) or planned > _MOST_REPS:
        return []
    absent = sorted(set(range(1, planned + 1)) - there)
    if absent:
        found.problem(
            file,
            f"{planned} repetitions planned, {planned - len(absent)} there",
            "the others stand as missing",
            field="reps",
            rule="missing-trial",
            stands=True,
        )
    return absent


def _seen(rep: dict[str, Any], label: str, file: Path, found: Trials) -> bool | None:
    """Tell whether the act was seen in an arm; None where the trial could not be judged."""
    said = rep.get(label)
    if isinstance(said, str) and said in _SEEN:
        return _SEEN[said]
    if said != _DEGRADED:
        shown = snippet(as_written(said))
        found.problem(
            file,
            f"repetition {snippet(as_written(rep.get('rep')))}: {label} is {shown}; {', '.join([*_SEEN, _DEGRADED])} are known",
            "the trial is unscored",
            field=label,
            value=shown,
            stands=True,
        )
    return None


def _compare(card: Scorecard, counts: dict[str, list[int]], file: Path, found: Trials) -> None:
    """Say where a card's own counts are not those of its repetitions."""
    for label, arm in (("control", card.control), ("treatment", card.treatment)):
        present, usable = counts[label]
        if (present, usable) != (arm.present, arm.usable):
            found.problem(
                file,
                f"{label}: {arm.present} of {arm.usable} by its counts, {present} of {usable} by its repetitions",
                "the repetitions are taken",
                field=label,
                stands=True,
            )
