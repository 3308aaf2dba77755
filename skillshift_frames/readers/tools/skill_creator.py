"""The skill-creator's iterations: ``eval-<id>/<configuration>/run-<n>/grading.json`` → trials.

Its own summary takes a run without a pass rate for 0, leaves out one without a grading, and calls the characters of the
output tokens where a grading has a timing. Here the first is unscored, the second errored, and tokens are those of
``timing.json``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.readers.json_shape import value_at
from skillshift_frames.readers.tools.files import peek, sampled
from skillshift_frames.readers.tools.values import (
    Repeats,
    arm_of,
    identifier,
    is_number,
    number_of,
    text,
)
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.readers.tools.common import Trials

NAME = "skill-creator"

_EVAL = re.compile(r"eval-(.+)")
_RUN = re.compile(r"run-(\d+)")
_GRADING, _TIMING, _BENCHMARK, _METADATA = (
    "grading.json",
    "timing.json",
    "benchmark.json",
    "eval_metadata.json",
)
#: What the tool writes where nobody told it a name.
_NO_NAME = re.compile(r"<.*>")


class _Place(NamedTuple):
    """One run of one configuration of one eval; a folder above the one that was named is None, and only its name is known."""

    iteration: Path | None
    iteration_name: str | None
    evaluation: Path | None
    evaluation_name: str
    configuration: str
    run: Path
    number: int


def recognises(path: Path) -> bool:
    """Tell whether a path is an iteration of the skill-creator, or holds some."""
    for file in sampled(path, lambda name: name in {_GRADING, _TIMING, _BENCHMARK, _METADATA}):
        above = file.parent
        if file.name == _METADATA and _EVAL.fullmatch(above.name):
            return True
        if file.name in {_GRADING, _TIMING}:
            folder = above.parent if _RUN.fullmatch(above.name) else above
            if _EVAL.fullmatch(folder.parent.name):
                return True
        # A benchmark without its evals, as it is handed on.
        if file == path and file.name == _BENCHMARK:
            return _is_benchmark(path)
    return False


def _is_benchmark(path: Path) -> bool:
    content = peek(path)
    return isinstance(content, dict) and {"metadata", "runs", "run_summary"} <= content.keys()


def read(path: Path, found: Trials) -> None:
    """Add one trial per run of each configuration; a benchmark.json by itself gives what it lists."""
    if path.is_file() and path.name not in {_GRADING, _TIMING, _BENCHMARK, _METADATA}:
        # Another file says nothing of the runs beside it: whoever named it did not mean those.
        hint = f"name the folder of an iteration, or its {_BENCHMARK}"
        found.problem(path, "is no file of the skill-creator", hint)
        return
    top = path if path.is_dir() else path.parent
    places = list(_places(top, found))
    if path.is_file() and path.name == _BENCHMARK and not places:
        _from_benchmark(path, found)
        return
    benchmarks = {
        iteration: _benchmark(iteration, found)
        for iteration in dict.fromkeys(place.iteration for place in places)
    }
    identities = {
        key: _eval_id(*key, found)
        for key in dict.fromkeys((place.evaluation, place.evaluation_name) for place in places)
    }
    repeats = Repeats(found)
    there: dict[Path | None, set[tuple[object, ...]]] = {}
    for place in found.each(places):
        identity, _ = identities[place.evaluation, place.evaluation_name]
        key = (identity, place.configuration, place.number)
        repeats.say(place.run, place.iteration_name, *key)
        there.setdefault(place.iteration, set()).add(key)
        _add(place, identity, benchmarks[place.iteration], found)
    # Without metadata the tool numbers evals by their order, which the folders that are left do not tell.
    if all(said for _, said in identities.values()):
        for iteration, keys in there.items():
            if iteration is not None:
                _add_missing(iteration, benchmarks[iteration], keys, found)
    if places:
        _say_what_success_is(found)


def _places(top: Path, found: Trials) -> Iterator[_Place]:
    """Give every run below a folder: a workspace, an iteration, an eval, a configuration, or a run itself."""
    above = Path(os.path.realpath(top))
    for here, inside in found.walk(top):
        below = here.relative_to(top).parts
        names = above.parts + below
        numbered = _RUN.fullmatch(names[-1])
        up = 2 if numbered else 1  # levels to the eval
        if len(names) <= up or not (eval_named := _EVAL.fullmatch(names[-1 - up])):
            continue
        if not numbered:
            # A configuration that was run once may hold its grading itself.
            if any(_RUN.fullmatch(folder.name) for folder in inside.folders):
                continue
            if not any(file.name in {_GRADING, _TIMING} for file in inside.files):
                continue
        further = up + 1 + (names[-2 - up] == "runs")
        yield _Place(
            _up(top, below, further),
            names[-1 - further] if len(names) > further + 1 else None,
            _up(top, below, up),
            eval_named[0],
            names[-up],
            here,
            int(numbered[1]) if numbered else 1,
        )


def _up(top: Path, below: tuple[str, ...], levels: int) -> Path | None:
    """Give the folder so many levels up, None where that is above the one that was named."""
    return top.joinpath(*below[: len(below) - levels]) if len(below) >= levels else None


def _say_what_success_is(found: Trials) -> None:
    found.note(
        "the skill-creator scores the share of expectations that were met; success here means that all of them were"
    )


def _name(folder: Path) -> str | None:
    """Give a folder's own name, also where it was named as ``.``."""
    return Path(os.path.realpath(folder)).name or None


def _benchmark(iteration: Path | None, found: Trials) -> dict[str, object]:
    if iteration is None:
        return {}
    return found.load(iteration / _BENCHMARK, needed=False, stands=True) or {}


def _told(benchmark: dict[str, object], key: str) -> str | None:
    """Give a name from the metadata, unless the tool put a placeholder there."""
    name = text(value_at(benchmark, "metadata", key))
    return None if name is None or _NO_NAME.fullmatch(name) else name


def _eval_id(evaluation: Path | None, name: str, found: Trials) -> tuple[object, bool]:
    """Give an eval's id, and whether its metadata says it; the folder's name does otherwise."""
    if evaluation is not None:
        metadata = found.load(evaluation / _METADATA, needed=False, stands=True)
        said = identifier(value_at(metadata, "eval_id"))
        if isinstance(said, str) and said:
            return said, True
        if said is not None:
            found.problem(
                evaluation / _METADATA,
                f"{as_written(said)} is neither a number nor a string",
                "the folder's name is taken",
                field="eval_id",
                stands=True,
            )
    return name.removeprefix("eval-"), False


def _add(place: _Place, identity: object, benchmark: dict[str, object], found: Trials) -> None:
    grading = found.load(place.run / _GRADING, stands=True)
    timing = found.load(place.run / _TIMING, needed=False, stands=True)
    summary = value_at(grading, "summary")
    status, error_type = _judge(grading, summary, place, found)
    seconds = value_at(grading, "timing", "total_duration_seconds")
    if seconds is None:
        seconds = value_at(timing, "total_duration_seconds")
    found.add(
        uid=identity,
        trial=place.number,
        status=status,
        error_type=error_type,
        path=place.run,
        run=place.iteration_name,
        skill=_told(benchmark, "skill_name"),
        model=_told(benchmark, "executor_model"),
        arm=arm_of(place.configuration),
        success=_all_met(summary),
        score=value_at(summary, "pass_rate"),
        steps=value_at(grading, "execution_metrics", "total_steps"),
        tool_calls=value_at(grading, "execution_metrics", "total_tool_calls"),
        seconds=seconds,
    )
    tokens = value_at(timing, "total_tokens")
    if tokens is not None:
        found.note(
            "the skill-creator records tokens in all only, not of input and output apart: they are left out"
        )


def _judge(
    grading: object, summary: object, place: _Place, found: Trials
) -> tuple[str, str | None]:
    if grading is None:
        return "errored", "incomplete"
    if value_at(summary, "pass_rate") is None:
        found.problem(
            place.run / _GRADING,
            "has no summary.pass_rate",
            "the run is unscored; the skill-creator itself takes it for 0.0",
            field="summary.pass_rate",
            rule="no-score",
            stands=True,
        )
        return "unscored", "no pass_rate"
    return "scored", None


def _all_met(summary: object) -> bool | None:
    """Tell whether every expectation was met; None where the summary's counts do not say."""
    passed, total = value_at(summary, "passed"), value_at(summary, "total")
    if not is_number(passed) or not is_number(total) or not total:
        return None
    return passed == total


def _add_missing(
    iteration: Path, benchmark: dict[str, object], there: set[tuple[object, ...]], found: Trials
) -> None:
    """Add what the iteration's own benchmark lists and no folder has: it was there when the benchmark was made."""
    for entry in _listed(benchmark):
        key = (
            identifier(entry.get("eval_id")),
            entry.get("configuration"),
            entry.get("run_number"),
        )
        if not all(isinstance(part, str | int) for part in key) or key in there:
            continue
        found.problem(
            iteration / _BENCHMARK,
            f"lists run {key[2]} of {snippet(str(key[1]))} in eval {snippet(str(key[0]))}, which has no folder",
            "it stands as missing; copy the whole iteration",
            field="runs",
            rule="missing-trial",
            stands=True,
        )
        found.add(
            uid=key[0],
            trial=key[2],
            status="missing",
            path=iteration / _BENCHMARK,
            run=_name(iteration),
            skill=_told(benchmark, "skill_name"),
            model=_told(benchmark, "executor_model"),
            arm=arm_of(key[1]),
        )


def _listed(benchmark: dict[str, object]) -> list[dict[str, object]]:
    runs = benchmark.get("runs")
    return [entry for entry in runs if isinstance(entry, dict)] if isinstance(runs, list) else []


def _from_benchmark(path: Path, found: Trials) -> None:
    """Add the runs of a benchmark.json by itself.

    A pass rate of 0.0 may be one that was not there, which a number of met expectations gives away.
    """
    benchmark = found.load(path)
    repeats = Repeats(found)
    entries = _listed(benchmark or {})
    if benchmark is not None and not entries:
        found.problem(path, "lists no runs", field="runs")
    for at, entry in enumerate(entries, start=1):
        result = entry.get("result")
        rate, passed = value_at(result, "pass_rate"), value_at(result, "passed")
        filled = rate == 0 and is_number(passed) and passed != 0
        if filled or rate is None:
            found.problem(
                path,
                f"run {at}: pass_rate is {as_written(rate)} although {as_written(passed)} expectations were met",
                "the run is unscored: the skill-creator writes 0.0 where a grading has no pass rate",
                field="pass_rate",
                rule="no-score",
                stands=True,
            )
        identity = identifier(entry.get("eval_id"))
        repeats.say(path, entry.get("configuration"), identity, entry.get("run_number"))
        found.add(
            uid=identity,
            trial=number_of(entry.get("run_number")),
            status="unscored" if filled or rate is None else "scored",
            error_type="no pass_rate" if filled or rate is None else None,
            path=path,
            run=_name(path.parent),
            skill=_told(benchmark, "skill_name"),
            model=_told(benchmark, "executor_model"),
            arm=arm_of(entry.get("configuration")),
            success=_all_met(result),
            score=rate,
        )
    if entries:
        _say_what_success_is(found)
        found.note(
            f"{_BENCHMARK} by itself: its times, tokens and calls are 0 where nothing was recorded, so they are left out"
        )
