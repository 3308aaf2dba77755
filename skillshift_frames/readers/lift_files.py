"""What ``lift --format json`` wrote → its cases again, checked."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skillshift_frames.errors import InputError
from skillshift_frames.readers.tools.files import Damage, parse_json, peek
from skillshift_frames.readers.wording import as_written, snippet
from skillshift_frames.trials import LARGEST, STATUSES, WITH, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXTS = ("tool", "run", "skill", "agent", "model")
_NUMBERS = ("with", "without", "lift")
_COUNTS = ("expected", *STATUSES)


class LiftFile(NamedTuple):
    """One file's cases, and the policies they were computed under."""

    errors: str
    composite: str
    weights: dict[str, float]
    cases: list[dict[str, Any]]
    coverage: (
        dict[str, Any] | None
    )  # trials by status, in all and per arm; None where it is not said
    bounded: bool  # whether the composite is known to lie between 0 and 1


def is_lift_file(content: object) -> bool:
    """Tell whether JSON is what ``lift --format json`` writes."""
    return isinstance(content, dict) and {"metrics", "composite", "coverage"} <= set(content)


def read_lift_file(path: Path) -> LiftFile:
    """Read the cases of a file that ``lift --format json`` wrote.

    Raises
    ------
    InputError
        It cannot be read, is no such file, or its cases contradict themselves.
    """
    try:
        content = parse_json(path.read_bytes())
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise InputError(msg) from error
    except Damage as damage:
        msg = f"{path}: {damage.message}" + (f" ({damage.hint})" if damage.hint else "")
        raise InputError(msg) from damage
    if not is_lift_file(content):
        raise _not_one(path, "metrics, composite and coverage are needed")
    if content.get("schema_version") != 1:
        raise _not_one(path, "schema_version 1 is needed")
    cases, made = content.get("cases"), content["composite"]
    if not isinstance(cases, list) or not isinstance(made, dict):
        raise _not_one(path, "a list of cases is needed")
    weights = made.get("weights")
    if not isinstance(weights, dict) or not all(map(_is_number, weights.values())):
        raise _not_one(path, "the composite's weights are needed")
    return LiftFile(
        str(content.get("errors")),
        str(made.get("policy")),
        {name: float(weight) for name, weight in weights.items()},
        [_case(path, number, case) for number, case in enumerate(cases)],
        _coverage(path, content["coverage"]),
        made.get("bounded") is True,
    )


def _coverage(path: Path, said: object) -> dict[str, Any] | None:
    """Take the counts of trials, in all and per arm; None where a count is not there."""
    if not isinstance(said, dict):
        raise _odd(str(path), {"coverage": said}, "coverage", "an object with counts")
    arms = said.get("arms")
    if not isinstance(arms, dict):
        return None
    counted = _counts(path, "coverage", said, (*_COUNTS, "unlisted", "paired_cases"))
    of_arms = {
        arm: _counts(path, f"coverage.arms.{arm}", arms.get(arm), _COUNTS)
        for arm in (WITH, WITHOUT)
    }
    if counted is None or None in of_arms.values():
        return None
    return {**counted, "arms": of_arms}


def _counts(path: Path, place: str, said: object, names: tuple[str, ...]) -> dict[str, int] | None:
    if not isinstance(said, dict) or not set(names) <= set(said):
        return None
    for name in names:
        count = said[name]
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= LARGEST:
            where = f"{path}: {place}"
            raise _odd(where, said, name, "a count")
    return {name: said[name] for name in names}


def _not_one(path: Path, needed: str) -> InputError:
    return InputError(f"{path}: is not what lift --format json writes: {needed}")


def _case(path: Path, number: int, case: object) -> dict[str, Any]:
    place = f"{path}: cases[{number}]"
    if not isinstance(case, dict):
        msg = f"{place}: {snippet(as_written(case))} is no object"
        raise InputError(msg)
    for name in _TEXTS:
        if not isinstance(case.get(name), str | None):
            raise _odd(place, case, name, "a text or null")
    if not isinstance(case.get("uid"), str):
        raise _odd(place, case, "uid", "a text")
    if not isinstance(case.get("negative"), bool):
        raise _odd(place, case, "negative", "true or false")
    for name in _NUMBERS:
        if not _is_number(case.get(name)):
            raise _odd(place, case, name, "a number")
    if abs(case["with"] - case["without"] - case["lift"]) > 1e-9 * max(1, abs(case["with"])):
        msg = f"{place}: lift {case['lift']} is not with − without"
        raise InputError(msg)
    numbers = {name: float(case[name]) for name in _NUMBERS}
    return {**dict.fromkeys(_TEXTS), **case, **numbers}


def _odd(place: str, case: Mapping[str, object], name: str, needed: str) -> InputError:
    return InputError(f"{place}: {name}: {snippet(as_written(case.get(name)))}; {needed} is needed")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST


def lift_files(path: Path) -> list[Path]:
    """Give the files that a path names if they are what ``lift --format json`` writes; none if they are anything else.

    A path is a file, a glob, or a folder with such files directly in it.
    """
    if path.is_dir():
        named = sorted(path.glob("*.json"))
    elif path.is_file():
        named = [path]
    else:
        named = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207 - the pattern may be absolute
    contents = {file: peek(file) for file in named if file.is_file()}
    found = [file for file, content in contents.items() if is_lift_file(content)]
    damaged = [file for file, content in contents.items() if content is None]
    if found and damaged:
        msg = (
            f"{damaged[0]}: is no JSON that can be read, among files of lifts; repair or remove it"
        )
        raise InputError(msg)
    return found
