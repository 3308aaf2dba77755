"""The JSON of one entry → its numbers, and everything in which it departs from the leaderboard's schema."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from skillshift_frames.findings import Finding
from skillshift_frames.readers.entries import Entry, Read
from skillshift_frames.readers.records import parse
from skillshift_frames.readers.wording import (
    NO_NUMBERS,
    Number,
    as_written,
    kind_of,
    nearest,
    printable,
    snippet,
)
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillshift_frames.benchmark import Benchmark

SCHEMA_VERSION = "1.0"

#: Where an entry's numbers are from: copied from a paper, from the benchmark's own paper, or from a run of one's own.
LABELS = ("reported-only", "verified-paper", "self-reported")

#: Digits behind the point that every printed number has.
DECIMALS = 2

_HALF_PAIR = re.compile("[\ud800-\udfff]")
_LONGEST_NUMBER = 30


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A value that is no object: what is needed, and whether a JSON value is that."""

    needed: str
    fits: Callable[[object], bool]
    nullable: bool = False


_Spec: TypeAlias = "_Leaf | Mapping[str, _Spec] | None"  # None: an object of strings under any key


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, Number) and value.token not in NO_NUMBERS


def _is_count(value: object) -> bool:
    return isinstance(value, Number) and value.is_integer and not value.token.startswith("-")


def _is_date(value: object) -> bool:
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


_TEXT = _Leaf("a string", _is_text)
_TEXT_OR_NULL = _Leaf("a string or null", _is_text, nullable=True)
_NUMBER_OR_NULL = _Leaf("a number or null", _is_number, nullable=True)
_COUNT = _Leaf("a whole number", _is_count)
_BOOLEAN_OR_NULL = _Leaf(
    "true, false or null", lambda value: isinstance(value, bool), nullable=True
)
_BOOLEAN = _Leaf("true or false", lambda value: isinstance(value, bool))


def _spec(benchmark: Benchmark) -> dict[str, _Spec]:
    block: _Spec = {
        "websites": dict.fromkeys(benchmark.sites, _NUMBER_OR_NULL),
        "conditions": dict.fromkeys(benchmark.conditions, _NUMBER_OR_NULL),
        "overall": _NUMBER_OR_NULL,
    }
    return {
        "schema_version": _Leaf(f'"{SCHEMA_VERSION}"', lambda value: value == SCHEMA_VERSION),
        "submission": {
            "name": _TEXT,
            "date": _Leaf("a date like 2026-08-23", _is_date),
            "contact": _TEXT_OR_NULL,
            "method": {
                "name": _TEXT,
                "description": _TEXT,
                "paper_url": _TEXT_OR_NULL,
                "code_url": _TEXT_OR_NULL,
            },
            "model": {"id": _TEXT, "temperature": _NUMBER_OR_NULL, "vision": _BOOLEAN_OR_NULL},
            "provenance": {"label": _TEXT, "source": _TEXT, "code_released": _BOOLEAN},
            "repro_command": _TEXT_OR_NULL,
        },
        "harness_version": _TEXT,
        "metrics": dict.fromkeys(METRICS, block),
        "n": {
            "websites": dict.fromkeys(benchmark.sites, _COUNT),
            "conditions": dict.fromkeys(benchmark.conditions, _COUNT),
            "skill_calls": _Leaf("a whole number or null", _is_count, nullable=True),
        },
        "reasons": None,
        "notes": _TEXT,
    }


def parse_entry(text: str, name: str, benchmark: Benchmark) -> Read:
    """Read the JSON of one entry: its numbers, and a finding for everything that the schema does not allow.

    No entry comes back where the text is not one JSON object.
    """
    content, findings = parse_object(text, name)
    if content is None:
        return Read([], findings)
    problems = list(_walk(content, _spec(benchmark), ()))
    findings += [_finding(name, problem) for problem in problems]
    broken = {problem.path for problem in problems}
    return Read([_entry(content, broken, name, benchmark)], findings)


def parse_object(text: str, name: str) -> tuple[dict[str, Any] | None, list[Finding]]:
    """Parse one JSON object with numbers as written, or say why it is none; keys that come twice are found."""

    def refuse(message: str) -> tuple[None, list[Finding]]:
        return None, [Finding(name, "schema", message, "an entry is one JSON object")]

    if not text.strip():
        return refuse("the file is empty")
    try:
        content, repeated = parse(text)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        return refuse(f"line {error.lineno}, column {error.colno}: is not JSON: {what}")
    except RecursionError:
        return refuse("is nested too deeply")
    if not isinstance(content, dict):
        return refuse(f"is {kind_of(content)}, not an object")
    return content, [
        Finding(
            name,
            "schema",
            f"the key {as_written(key)} is there {len(values)} times in one object: "
            + ", ".join(map(as_written, values)),
            "readers differ on which one counts; write it once",
        )
        for key, values in sorted(repeated.items())
    ]


@dataclass(frozen=True, slots=True)
class _Problem:
    path: tuple[str, ...]
    message: str
    hint: str = ""
    written: str | None = None
    missing: bool = False


def _walk(value: object, spec: _Spec, path: tuple[str, ...]) -> Iterator[_Problem]:
    if isinstance(spec, _Leaf):
        yield from _wrong_leaf(value, spec, path)
        return
    if not isinstance(value, dict):
        shown = "is null" if value is None else f"{as_written(value)} is {kind_of(value)}"
        yield _Problem(path, f"{shown}; an object is needed", written=as_written(value))
        return
    if spec is None:
        for key, below in value.items():
            yield from _wrong_leaf(below, _TEXT, (*path, key))
        return
    for key, below in spec.items():
        if key not in value:
            hint = (
                "null, with a reason, where it was not measured" if path[:1] == ("metrics",) else ""
            )
            yield _Problem((*path, key), "is missing", hint, missing=True)
        else:
            yield from _walk(value[key], below, (*path, key))
    for key in value:
        if key not in spec:
            near = nearest(key, tuple(known for known in spec if known not in value))
            hint = f"did you mean {near}?" if near else f"known here: {', '.join(spec)}"
            yield _Problem((*path, key), "is not a key of an entry", hint, as_written(value[key]))


def _wrong_leaf(value: object, leaf: _Leaf, path: tuple[str, ...]) -> Iterator[_Problem]:
    if value is None and leaf.nullable:
        return
    written = as_written(value)
    if isinstance(value, str) and _HALF_PAIR.search(value):
        yield _Problem(path, f"{written} holds half of a surrogate pair", written=written)
    elif isinstance(value, Number) and len(value.token) > _LONGEST_NUMBER:
        yield _Problem(path, f"{written} has more digits than anything measured", written=written)
    elif not leaf.fits(value):
        shown = "is null" if value is None else f"{written} is {kind_of(value)}"
        if isinstance(value, str) and leaf.needed.startswith(("a date", '"')):
            shown = f"is {written}"
        yield _Problem(path, f"{shown}; {leaf.needed} is needed", _leaf_hint(value), written)


def _leaf_hint(value: object) -> str:
    if isinstance(value, Number) and value.token in NO_NUMBERS:
        return "null, with a reason, where there is no number"
    return ""


def _finding(name: str, problem: _Problem) -> Finding:
    path = problem.path
    code, metric, slot = "schema", None, None
    if path[:1] == ("metrics",) and len(path) > 1 and path[1] in METRICS:
        metric = path[1]
        slot = path[-1] if len(path) > 2 and path[-1] not in {"websites", "conditions"} else None  # noqa: PLR2004 - metrics, SR
        slot = None if slot is None else printable(slot)
    if path[:1] == ("metrics",) and problem.missing:
        code = "missing-slot"
    where = snippet(".".join(path)) or "the entry"
    return Finding(
        name,
        code,
        f"{where}: {problem.message}",
        problem.hint,
        metric=metric,
        slot=slot,
        printed=problem.written,
    )


def _entry(
    content: dict[str, Any], broken: set[tuple[str, ...]], name: str, benchmark: Benchmark
) -> Entry:
    def get(*path: str) -> Any:  # noqa: ANN401 - whatever the schema has there
        """Give the value at a path, None where it, or something above it, is not what it must be."""
        value: Any = content
        for depth, key in enumerate(path, start=1):
            if path[:depth] in broken or not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return value

    paths = {
        **{site: ("websites", site) for site in benchmark.sites},
        **{condition: ("conditions", condition) for condition in benchmark.conditions},
        "overall": ("overall",),
    }
    printed: dict[tuple[str, str], Decimal | None] = {}
    for metric in METRICS:
        for slot, path in paths.items():
            full = ("metrics", metric, *path)
            number = get(*full)
            if number is not None:
                printed[metric, slot] = printed_number(number)
            elif full not in broken and get(*full[:-1]) is not None:
                printed[metric, slot] = None
    stated = {site: get("n", "websites", site) for site in benchmark.sites}
    calls, day = get("n", "skill_calls"), get("submission", "date")
    reasons = get("reasons") or {}
    return Entry(
        name=name,
        method=printable(get("submission", "method", "name") or get("submission", "name") or ""),
        model=printable(get("submission", "model", "id") or ""),
        printed=printed,
        tasks={
            site: benchmark.sites[site] if count is None else int(count.token)
            for site, count in stated.items()
        },
        path=name,
        date=None if day is None else date.fromisoformat(day),
        label=get("submission", "provenance", "label"),
        skill_calls=None if calls is None else int(calls.token),
        reasons={key: text for key, text in reasons.items() if isinstance(text, str)},
        content=content,
    )


def printed_number(number: Number) -> Decimal:
    """Give a number of an entry's JSON with its digits, at least the two that the schema has behind the point."""
    value = Decimal(number.token)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent > -DECIMALS:
        return value.quantize(Decimal(1).scaleb(-DECIMALS))
    return value
