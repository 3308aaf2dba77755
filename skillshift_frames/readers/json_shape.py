"""What a JSON object must look like, as data; and every place where one looks otherwise."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from skillshift_frames.readers.records import parse
from skillshift_frames.readers.wording import NO_NUMBERS, Number, as_written, kind_of, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

#: Keys of one object that are spelled out where they should not be there; the rest are counted.
_KEYS_SHOWN = 10
_VALUES_SHOWN = 3

#: More tasks, more calls, and a larger value of a metric nobody has; and what is beyond them, nothing computes with.
MOST_TASKS = 10**9
MOST_CALLS = 10**12
MOST_OF_A_METRIC = 10**9

#: Digits that a number has when written out. Nothing measured has more, and 1e999999999 would fill the memory.
_MOST_DIGITS = 30

#: Objects in objects. No file of ours is deeper than six, and what prints a value goes down into it.
_DEEPEST = 32

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_EXPONENT = re.compile(r"[eE]([+-]?\d+)$")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is no object: what is needed, whether a JSON value is that, and how far from 0 a number may be."""

    needed: str
    fits: Callable[[object], bool]
    nullable: bool = False
    most: int | None = None


#: The keys of an object with what is below them; None is an object of strings under any key.
Shape: TypeAlias = "Leaf | Mapping[str, Shape] | None"


@dataclass(frozen=True, slots=True)
class Problem:
    """One place where a value departs from its shape."""

    path: tuple[str, ...]
    message: str
    hint: str = ""
    written: str | None = None
    missing: bool = False


def is_count(value: object) -> bool:
    """Tell whether a JSON value is a whole number from 0."""
    return isinstance(value, Number) and value.is_integer and not value.token.startswith("-")


def is_date(value: object) -> bool:
    """Tell whether a JSON value is a date as the leaderboard writes it, and one that the calendar has."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, Number) and value.token not in NO_NUMBERS


TEXT = Leaf("a string", _is_text)
TEXT_OR_NULL = Leaf("a string or null", _is_text, nullable=True)
NUMBER_OR_NULL = Leaf("a number or null", _is_number, nullable=True)
METRIC_OR_NULL = Leaf("a number or null", _is_number, nullable=True, most=MOST_OF_A_METRIC)
TASKS_COUNTED = Leaf("a whole number", is_count, most=MOST_TASKS)
RECORDS_COUNTED = Leaf("a whole number", is_count, most=MOST_CALLS)
CALLS_OR_NULL = Leaf("a whole number or null", is_count, nullable=True, most=MOST_CALLS)
DATE = Leaf("a date like 2026-08-23", is_date)
BOOLEAN = Leaf("true or false", lambda value: isinstance(value, bool))
BOOLEAN_OR_NULL = Leaf("true, false or null", lambda value: isinstance(value, bool), nullable=True)


def exactly(text: str) -> Leaf:
    """Give the shape of one certain string."""
    return Leaf(f'"{text}"', lambda value: value == text)


def too_long(number: Number) -> bool:
    """Tell whether a number written out has more digits than anything measured.

    Examples
    --------
    >>> too_long(Number("16.90")), too_long(Number("1e400"))
    (False, True)
    """
    exponent = _EXPONENT.search(number.token)
    return len(number.token) > _MOST_DIGITS or (
        exponent is not None and abs(int(exponent[1])) > _MOST_DIGITS
    )


def whole(value: object, most: int = MOST_CALLS) -> int | None:
    """Give a JSON value that is a whole number from 0 to ``most`` as an integer; None for anything else.

    Examples
    --------
    >>> whole(Number("355")), whole(Number("3e2")), whole(Number("9" * 99)), whole(True)
    (355, None, None, None)
    """
    if isinstance(value, Number) and is_count(value) and not _beyond(value, most):
        return int(value.token)
    return None


def _beyond(number: Number, most: int) -> bool:
    return too_long(number) or abs(Decimal(number.token)) > most


def value_at(content: object, *path: str, default: object = None) -> object:
    """Give the value that keys lead to in a JSON value, the default where they lead nowhere."""
    for key in path:
        if not isinstance(content, dict) or key not in content:
            return default
        content = content[key]
    return content


def parse_object(text: str) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Parse one JSON object with numbers as written, or say why it is none; keys that come twice are problems."""

    def refuse(message: str) -> tuple[None, list[Problem]]:
        return None, [Problem((), message)]

    if not text.strip():
        return refuse("the file is empty")
    try:
        content, repeated = parse(text)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        return refuse(f"line {error.lineno}, column {error.colno}: is not JSON: {what}")
    except RecursionError:
        return refuse("is nested too deeply")
    if _deeper_than(_DEEPEST, [content, *repeated.values()]):
        return refuse("is nested too deeply")
    if not isinstance(content, dict):
        return refuse(f"is {kind_of(content)}, not an object")
    return content, list(_repeated_keys(repeated))


def _deeper_than(levels: int, values: Iterable[object]) -> bool:
    level = list(values)
    for _ in range(levels):
        below: list[object] = []
        for value in level:
            below += value.values() if isinstance(value, dict) else []
            below += value if isinstance(value, list) else []
        level = below
    return bool(level)


def _repeated_keys(repeated: dict[str, list[Any]]) -> Iterator[Problem]:
    for key, values in islice(sorted(repeated.items()), _KEYS_SHOWN):
        shown = [*map(as_written, values[:_VALUES_SHOWN]), *(["…"] * (len(values) > _VALUES_SHOWN))]
        yield Problem(
            (),
            f"the key {as_written(key)} is there {len(values)} times in one object: {', '.join(shown)}",
            "readers differ on which one counts; write it once",
        )
    if len(repeated) > _KEYS_SHOWN:
        yield Problem((), f"{len(repeated) - _KEYS_SHOWN:,} more keys are there more than once")


def departures(value: object, shape: Shape, path: tuple[str, ...] = ()) -> Iterator[Problem]:
    """Give every place where a JSON value departs from its shape, in the order of the shape."""
    if isinstance(shape, Leaf):
        yield from _wrong_leaf(value, shape, path)
        return
    if not isinstance(value, dict):
        yield Problem(path, f"{_shown(value)}; an object is needed", written=as_written(value))
        return
    if shape is None:
        wrong = [p for key, below in value.items() for p in _wrong_leaf(below, TEXT, (*path, key))]
        yield from _some(wrong, len(wrong), path, "more values that are no strings")
        return
    for key, below in shape.items():
        if key not in value:
            yield Problem((*path, key), "is missing", missing=True)
        else:
            yield from departures(value[key], below, (*path, key))
    unknown = [key for key in value if key not in shape]
    absent = tuple(key for key in shape if key not in value)
    yield from _some(
        (_unknown_key(key, value[key], absent, shape, path) for key in unknown),
        len(unknown),
        path,
        "more keys that do not belong here",
    )


def _some(
    problems: Iterable[Problem], total: int, path: tuple[str, ...], what: str
) -> Iterator[Problem]:
    yield from islice(problems, _KEYS_SHOWN)
    if total > _KEYS_SHOWN:
        yield Problem(path, f"{total - _KEYS_SHOWN:,} {what}")


def _unknown_key(
    key: str,
    value: object,
    absent: tuple[str, ...],
    shape: Mapping[str, Shape],
    path: tuple[str, ...],
) -> Problem:
    near = nearest(key, absent)
    hint = f"did you mean {near}?" if near else f"known here: {', '.join(shape)}"
    return Problem((*path, key), "is a key that does not belong here", hint, as_written(value))


def _wrong_leaf(value: object, leaf: Leaf, path: tuple[str, ...]) -> Iterator[Problem]:
    if value is None and leaf.nullable:
        return
    written = as_written(value)
    if isinstance(value, str) and _HALF_PAIR.search(value):
        yield Problem(path, f"{written} holds half of a surrogate pair", written=written)
    elif isinstance(value, Number) and value.token not in NO_NUMBERS and too_long(value):
        yield Problem(path, f"{written} has more digits than anything measured", written=written)
    elif not leaf.fits(value):
        shown = _shown(value)
        if isinstance(value, str) and leaf.needed.startswith(("a date", '"')):
            shown = f"is {written}"
        yield Problem(path, f"{shown}; {leaf.needed} is needed", _hint(value), written)
    elif leaf.most is not None and isinstance(value, Number) and _beyond(value, leaf.most):
        message = f"{written} is beyond anything measured, which ends at {leaf.most:,}"
        yield Problem(path, message, "look for a mistyped digit", written)


def _shown(value: object) -> str:
    return "is null" if value is None else f"{as_written(value)} is {kind_of(value)}"


def _hint(value: object) -> str:
    if isinstance(value, Number) and value.token in NO_NUMBERS:
        return "null, with a reason, where there is no number"
    return ""
