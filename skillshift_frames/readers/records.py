"""One line, decoded strictly: msgspec says yes or no, and a second, slower look says everything that is wrong.

Two readings that disagree about a line would be worse than a slow one, so both follow the same rules, and whatever
msgspec refuses is reported even where the second look finds nothing of its own to add.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import polars as pl
from msgspec import UNSET, UnsetType

from skillshift_frames.schema import TASKS

#: What to do with keys that are not the record's: refuse them, keep them as columns, ignore them.
Extra: TypeAlias = Literal["refuse", "keep", "ignore"]

INT64 = range(-(1 << 63), 1 << 63)
_VALUE_SHOWN = 60
_HALF_PAIR = re.compile("[\ud800-\udfff]")

#: What Python and others write for numbers that JSON does not have.
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")


class Record(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The record's keys and JSON types; ranges and relations are `skillshift_frames.schema.RULES`."""

    uid: str
    site: str
    condition: str
    success: bool | None
    steps: int | None
    skill_calls: int | None
    skill_failures: int | None
    trial: int | UnsetType = UNSET
    error: str | UnsetType | None = UNSET
    run: str | UnsetType | None = UNSET


FIELDS = Record.__struct_fields__
REQUIRED = tuple(name for name in FIELDS if name not in {"trial", "error", "run"})

#: Quotation marks in a line that holds the required keys and no others: around each key and each of three strings.
QUOTES = 2 * len(REQUIRED) + 2 * len(("uid", "site", "condition"))

_KINDS = {
    **dict.fromkeys(("uid", "site", "condition"), ((str,), "a string")),
    **dict.fromkeys(("error", "run"), ((str, type(None)), "a string")),
    **dict.fromkeys(
        ("steps", "skill_calls", "skill_failures"), ((int, type(None)), "an integer or null")
    ),
    "success": ((bool, type(None)), "true or false"),
    "trial": ((int,), "an integer"),
}

decode_record = msgspec.json.Decoder(Record).decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


class Finding(NamedTuple):
    """A fault of one line, without its place."""

    field: str
    value: str | None
    rule: str
    message: str
    hint: str = ""


class JsonText(str):
    """An object or array under an unknown key, as the JSON text that it is kept as."""

    __slots__ = ()


class RepeatedKeyError(ValueError):
    """An object that has one key twice; msgspec does not see it, so it is looked for."""


#: What refuses a line: `diagnose` then says why.
REFUSALS = (msgspec.DecodeError, RecursionError, RepeatedKeyError)


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as it is written: ``3.0`` is not ``3``, whatever it is equal to."""

    token: str


def decode_line(line: bytes) -> Record:
    """Decode one line, with a look for repeated keys.

    Raises
    ------
    msgspec.DecodeError, RecursionError, RepeatedKeyError
        The line is not exactly one record; `diagnose` says why.
    """
    record = decode_record(line)
    quotes = QUOTES + sum(
        0 if value is UNSET else 4 if isinstance(value, str) else 2
        for value in (record.trial, record.error, record.run)
    )
    # Without escapes the quotation marks are all accounted for, unless a key came twice.
    if line.count(b'"') != quotes and _has_repeated_keys(line):
        raise RepeatedKeyError
    return record


def decode_line_with_extras(line: bytes) -> tuple[Record, dict[str, Any]]:
    """Decode one line whose unknown keys are wanted: the record, and the rest, objects and arrays as `JsonText`.

    Raises as `decode_line`.
    """
    content = _decode_object(line)
    known = {key: content.pop(key) for key in FIELDS if key in content}
    record = msgspec.convert(known, Record, strict=True)
    written = msgspec.json.encode(known).count(b'"') + msgspec.json.encode(content).count(b'"')
    if (b"\\" in line or line.count(b'"') != written) and _has_repeated_keys(line):
        raise RepeatedKeyError
    nested = {
        key: JsonText(json.dumps(value, ensure_ascii=False, sort_keys=True))
        for key, value in content.items()
        if isinstance(value, dict | list)
    }
    return record, content | nested


def _has_repeated_keys(line: bytes) -> bool:
    return bool(_parse(line.decode())[1])


def _parse(text: str) -> tuple[Any, dict[str, list[Any]]]:
    """Parse JSON with numbers kept as written; also give the keys that an object has twice, with all their values."""
    repeated: dict[str, list[Any]] = {}

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for key in [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]:
            repeated.setdefault(key, []).extend(value for name, value in pairs if name == key)
        return dict(pairs)

    content = json.loads(
        text,
        object_pairs_hook=collect,
        parse_int=_Number,
        parse_float=_Number,
        parse_constant=_Number,
    )
    return content, repeated


def frame_of(records: list[Record]) -> pl.DataFrame:
    """Give records as columns, null where a key was left out (trial: 1).

    Raises
    ------
    TypeError
        An integer beyond 64 bits.
    """
    return pl.DataFrame([_column(name, dtype, records) for name, dtype in TASKS.items()])


def _column(name: str, dtype: pl.DataType, records: list[Record]) -> pl.Series:
    values = list(map(attrgetter(name), records))
    if name not in {"trial", "error", "run"}:
        return pl.Series(name, values, dtype=dtype)
    default = 1 if name == "trial" else None
    if values.count(UNSET) == len(values):
        return pl.Series(name, [default], dtype=dtype).new_from_index(0, len(values))
    return pl.Series(name, [default if value is UNSET else value for value in values], dtype=dtype)


def diagnose(line: bytes, extra: Extra) -> list[Finding]:
    """Say everything that is wrong with a line that was refused: one finding at least."""
    return find_wrong(line, extra) or [_refused(line, extra)]


def find_wrong(line: bytes, extra: Extra) -> list[Finding]:
    """Look at a line without msgspec; nothing is found in nearly all of those that it accepts."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte {error.object[error.start]:#04x} at column {error.start + 1} is not UTF-8"
        return [
            Finding(
                "line",
                _snippet(line.decode(errors="backslashreplace")),
                "utf-8",
                wrong,
                "save it as UTF-8",
            )
        ]
    try:
        return _find_wrong(text, extra)
    except json.JSONDecodeError as error:
        wrong = f"is not JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}: {_snippet(text)}"
        return [
            Finding("line", _snippet(text), "json", wrong, "one JSON object per line is needed")
        ]
    except RecursionError:
        return [
            Finding(
                "line",
                _snippet(text),
                "json",
                "is nested too deeply",
                "a record is one flat JSON object",
            )
        ]


def _find_wrong(text: str, extra: Extra) -> list[Finding]:
    content, repeated = _parse(text)
    if not isinstance(content, dict):
        wrong = f"is {_kind(content)}, not an object: {_snippet(text)}"
        return [
            Finding("line", _snippet(text), "object", wrong, "one JSON object per line is needed")
        ]
    return [
        *(_repeated(key, values) for key, values in sorted(repeated.items())),
        *_missing(content),
        *(_unknown(key, content) for key in content if key not in FIELDS and extra == "refuse"),
        *(finding for key, value in content.items() for finding in _wrong_value(key, value)),
    ]


def _repeated(key: str, values: list[Any]) -> Finding:
    shown = ", ".join(map(as_written, values))
    wrong = f"is there {len(values)} times: {shown}"
    return Finding(
        printable(key),
        shown,
        "repeated-key",
        wrong,
        "readers differ on which one counts; write it once",
    )


def _missing(content: dict[str, Any]) -> list[Finding]:
    return [
        Finding(
            key,
            None,
            "missing-key",
            "is missing",
            _missing_hint(key),
        )
        for key in REQUIRED
        if key not in content
    ]


def _missing_hint(key: str) -> str:
    nullable = ("steps", "skill_calls", "skill_failures")
    return "write null where it was not recorded" if key in nullable else ""


def _unknown(key: str, content: dict[str, Any]) -> Finding:
    near = nearest(key, tuple(field for field in FIELDS if field not in content))
    hint = (
        f"did you mean {near}?"
        if near
        else "--extra keep keeps it as a column, --extra ignore drops it"
    )
    shown = printable(key)
    return Finding(shown, as_written(content[key]), "unknown-key", "is not a key of a record", hint)


def _wrong_value(key: str, value: object) -> list[Finding]:
    if _has_surrogate(key) or _has_surrogate(value):
        written = as_written(value)
        wrong = f"{as_written(key) if _has_surrogate(key) else written} holds half of a surrogate pair, which is no character"
        hint = "write the character itself, or both halves"
        return [Finding(printable(key), written, "surrogate", wrong, hint)]
    if isinstance(value, _Number) and value.token in _NO_NUMBERS:
        wrong = f"{value.token} is not a JSON number"
        return [Finding(printable(key), value.token, "json", wrong, _missing_hint(key))]
    return _wrong_type(key, value) if key in _KINDS else []


def _wrong_type(key: str, value: object) -> list[Finding]:
    kinds, needed = _KINDS[key]
    if isinstance(value, _Number) and _is_integer(value) and int in kinds:
        # Python refuses to turn thousands of digits into an integer, so their number is looked at.
        if len(value.token) <= len(str(INT64.start)) and int(value.token) in INT64:
            return []
        written = as_written(value)
        return [Finding(key, written, "range", f"{written} is beyond 64 bits")]
    if type(value) in kinds:  # not isinstance: to Python true is an integer
        return []
    written = as_written(value)
    kind = "is null" if value is None else f"{written} is {_kind(value)}"
    wrong = f"{kind}; {needed} is needed"
    return [Finding(key, written, "type", wrong, _type_hint(key, value))]


def _type_hint(key: str, value: object) -> str:
    if value is None and key == "trial":
        return "leave the key out where there is one trial"
    if key == "success" and isinstance(value, _Number):
        return "partial credit is not success; keep it in a key of its own with --extra keep"
    return ""


def _refused(line: bytes, extra: Extra) -> Finding:
    """Report what msgspec found in a line that looks right otherwise."""
    text = line.decode(errors="backslashreplace")
    reason = "is not a record"
    try:
        decode_line(line) if extra == "refuse" else decode_line_with_extras(line)
    except (msgspec.DecodeError, RecursionError) as error:
        reason = str(error)
    return Finding(
        "line",
        _snippet(text),
        "json",
        f"{reason}: {_snippet(text)}",
        "one JSON object per line is needed",
    )


def _has_surrogate(value: object) -> bool:
    if isinstance(value, str):
        return _HALF_PAIR.search(value) is not None
    if isinstance(value, dict):
        return any(_has_surrogate(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(_has_surrogate, value))


def _is_integer(number: _Number) -> bool:
    return re.fullmatch(r"-?\d+", number.token) is not None


def _kind(value: object) -> str:
    if isinstance(value, _Number):
        if value.token in _NO_NUMBERS:
            return "no JSON number"
        return "an integer" if _is_integer(value) else "a number with a fraction or exponent"
    names = {
        str: "a string",
        bool: "a boolean",
        list: "an array",
        dict: "an object",
        type(None): "null",
    }
    return names[type(value)]


def as_written(value: object) -> str:
    """Give a value as JSON, numbers digit for digit as they were written; long ones are cut."""
    return _snippet(_json(value))


def _json(value: object) -> str:
    if isinstance(value, _Number):
        return value.token
    if isinstance(value, JsonText):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json(key)}: {_json(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False, default=str)  # a frame may hold dates, too


def printable(text: str) -> str:
    """Write what cannot be printed as JSON would: half surrogates, line ends, a terminal's escape codes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _snippet(text: str) -> str:
    text = text.strip(" \t\r\n")
    shown = text if len(text) <= _VALUE_SHOWN else text[: _VALUE_SHOWN - 1] + "…"
    return printable(shown)


@lru_cache(maxsize=1 << 12)  # a misspelt key is usually misspelt in every line
def nearest(name: str, known: tuple[str, ...]) -> str | None:
    """Give the known name that a misspelt one most likely stands for, or None.

    Examples
    --------
    >>> (
    ...     nearest("WordPress", ("gitlab", "wordpress")),
    ...     nearest("src_perc", ("src", "src-perc")),
    ...     nearest("x", ("src",)),
    ... )
    ('wordpress', 'src-perc', None)
    """
    folded = {_fold(candidate): candidate for candidate in known}
    from difflib import get_close_matches  # noqa: PLC0415 - only a misspelt name needs it

    match = get_close_matches(_fold(name), folded, n=1, cutoff=0.6)
    return folded[match[0]] if match else None


def _fold(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")
