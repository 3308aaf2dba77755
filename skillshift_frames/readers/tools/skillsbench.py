"""SkillsBench: files of the leaderboard's ``results/``, and the website's registry of aggregated cells → trials.

A row that is not eligible for a score has a reward of 0.0 all the same; it is an error, and no failure of the agent's. (Its
archive of trajectories is Harbor's format.)
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeGuard

from skillshift_frames.readers.tools.files import peek, sampled
from skillshift_frames.readers.tools.values import (
    Repeats,
    arm_of,
    identifier,
    is_number,
    load_any,
    run_names,
    text,
)
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

NAME = "skillsbench"

_ROW = {"task_id", "score_eligible", "reward"}
_CELL = {"task", "condition", "score", "trials"}
_LOOKS = 30


def recognises(path: Path) -> bool:
    """Tell whether a path is a file of SkillsBench's leaderboard or its registry, or a folder that holds some."""
    near = sampled(path, lambda name: name.endswith(".json"))
    contents = (peek(file) for file in islice(near, _LOOKS))
    return any(_is_results(content) or _is_registry(content) for content in contents)


def _is_registry(content: object) -> TypeGuard[list[object]]:
    cells = content[:_LOOKS] if isinstance(content, list) else []
    return any(isinstance(cell, dict) and cell.keys() >= _CELL for cell in cells)


def _is_results(content: object) -> TypeGuard[dict[str, Any]]:
    if not isinstance(content, dict) or not {"participants", "results"} <= content.keys():
        return False
    rows = [row for row, _ in islice(_rows(content), _LOOKS)]
    return content["results"] == [] or any(
        isinstance(row, dict) and row.keys() >= _ROW for row in rows
    )


def read(path: Path, found: Trials) -> None:
    """Add one trial per row of results, whichever way they are nested; of a registry one per cell."""
    files = [path]
    if path.is_dir():
        every = chain.from_iterable(inside.files for _, inside in found.walk(path))
        files = [file for file in every if file.name.endswith(".json")]
    others, repeats, names = 0, Repeats(found), run_names(files)
    for file in found.each(files):
        for content in load_any(file, found):
            if _is_results(content):
                _read_results(content, file, names[file], found, repeats)
            elif _is_registry(content):
                _read_registry(content, file, names[file], found, repeats)
            else:
                others += 1
                if len(files) == 1:
                    found.problem(file, "holds neither results of SkillsBench nor its registry")
    if others and len(files) > 1:
        what = "JSON file that holds" if others == 1 else "JSON files that hold"
        found.note(f"{others} {what} nothing of SkillsBench left out")


# -- results: rows, or objects with rows ----------------------------------------------------------------------------


def _rows(content: dict[str, Any]) -> Iterator[tuple[object, object]]:
    """Give every row with the participants it is of: rows lie in ``results``, or one level further down."""
    results = content.get("results")
    for entry in results if isinstance(results, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("results"), list):
            inner = entry.get("participants")
            for row in entry["results"]:
                yield row, content.get("participants") or inner
        else:
            yield entry, content.get("participants")


def _read_results(
    content: dict[str, Any], file: Path, run: str, found: Trials, repeats: Repeats
) -> None:
    if content.get("status") not in (None, "completed"):
        said = snippet(as_written(content["status"]))
        found.problem(
            file,
            f"is {said}, not completed; the leaderboard leaves such a file out",
            "its trials are read all the same",
            field="status",
            value=said,
            stands=True,
        )
    counted: dict[tuple[str, str], int] = {}
    at = 0
    for at, (row, participants) in enumerate(_rows(content), start=1):
        if not isinstance(row, dict):
            said = snippet(as_written(row))
            found.problem(file, f"row {at} is {said}; an object is needed", "it is left out")
            continue
        condition, task = row.get("condition"), identifier(row.get("task_id"))
        if row.get("trial_id") is not None:
            repeats.say(file, run, row["trial_id"])
        # Trials have random names; they are counted in the order of the file, and are exchangeable.
        key = (str(condition), str(task))
        counted[key] = counted.get(key, 0) + 1
        status, error_type = _judge(row, at, file, found)
        agent = participants.get("agent") if isinstance(participants, dict) else None
        found.add(
            uid=task,
            trial=counted[key],
            status=status,
            error_type=error_type,
            path=file,
            run=run,
            agent=text(agent),
            arm=_arm(row),
            success=row.get("passed"),
            score=row.get("reward"),
            seconds=row.get("time_used"),
        )
    if not at:
        found.problem(
            file, "lists no trial", "the run was stopped before its first one", field="results"
        )


def _arm(row: dict[str, Any]) -> object:
    """Give the arm that the condition names.

    ``has_skills`` says that the task comes with some, in both arms; it is not asked.
    """
    return arm_of(text(row.get("condition")))


def _judge(row: dict[str, Any], at: int, file: Path, found: Trials) -> tuple[str, str | None]:
    eligible = row.get("score_eligible")
    reason = text(row.get("infra_failure_type")) or text(row.get("error_type"))
    if eligible is True:
        if row.get("reward") is None and row.get("passed") is None:
            return "unscored", reason or "no reward"
        return "scored", None
    if eligible is not False:
        found.problem(
            file,
            f"row {at}: score_eligible is {snippet(as_written(eligible))}; true or false is needed",
            "the row counts as not eligible, as on the leaderboard",
            field="score_eligible",
            stands=True,
        )
    return "errored", reason or "ineligible"


# -- the registry: one entry per task, model and condition ----------------------------------------------------------


def _read_registry(
    cells: list[object], file: Path, run: str, found: Trials, repeats: Repeats
) -> None:
    for at, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            said = snippet(as_written(cell))
            found.problem(file, f"entry {at} is {said}; an object is needed", "it is left out")
            continue
        task, condition, trials = (
            identifier(cell.get("task")),
            cell.get("condition"),
            cell.get("trials"),
        )
        repeats.say(file, run, task, cell.get("harness"), cell.get("model"), condition)
        score = cell.get("score")
        scored = score is not None and trials != 0
        shares = {"pass_rate": cell.get("passCount"), "perfect_rate": cell.get("perfectCount")}
        found.add(
            uid=task,
            trial=1,
            status="scored" if scored else "missing" if trials == 0 else "unscored",
            error_type=None if scored or trials == 0 else "no score",
            path=file,
            run=run,
            agent=text(cell.get("harness")),
            model=text(cell.get("modelShort")) or text(cell.get("model")),
            arm=arm_of(text(condition)),
            # As the rewards of single trials, from 0 to 1.
            score=score / 100 if is_number(score) else score,
            metrics={name: _share(count, trials) for name, count in shares.items()},
        )
    found.note(
        "the registry has means of each task's trials, not the trials: one row is one mean (score/100), and no success"
    )


def _share(count: object, trials: object) -> float | None:
    if not isinstance(count, int) or not isinstance(trials, int) or isinstance(trials, bool):
        return None
    return count / trials if trials > 0 and 0 <= count <= trials else None
