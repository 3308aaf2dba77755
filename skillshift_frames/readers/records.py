"""One line, decoded strictly: msgspec says yes or no, and a second, slower look says everything that is wrong.

Two readings that disagree about a line would be worse than a slow one, so both follow the same rules, and whatever
msgspec refuses is reported even where the second look finds nothing of its own to add.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import polars as pl
from msgspec import UNSET, UnsetType

from skillshift_frames.schema import TASKS

#: What to do with keys that are not the record's: refuse them, keep them as columns, ignore them.
Extra: TypeAlias = Literal["refuse", "keep", "ignore"]

_INT64 = range(-(1 << 63), 1 << 63)
_VALUE_SHOWN = 60


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
    """Decode one line whose unknown keys are wanted: the record, and the rest.

    Raises as `decode_line`.
    """
    content = _decode_object(line)
    known = {key: content.pop(key) for key in FIELDS if key in content}
    record = msgspec.convert(known, Record, strict=True)
    written = msgspec.json.encode(known).count(b'"') + msgspec.json.encode(content).count(b'"')
    if (b"\\" in line or line.count(b'"') != written) and _has_repeated_keys(line):
        raise RepeatedKeyError
    return record, content


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
    """Say everything that is wrong with a line that `decode_line` refused."""
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
        content, repeated = _parse(text)
    except json.JSONDecodeError as error:
        wrong = f"is not JSON: {error.msg} at column {error.pos + 1}: {_snippet(text)}"
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
    if not isinstance(content, dict):
        wrong = f"is {_kind(content)}, not an object: {_snippet(text)}"
        return [
            Finding("line", _snippet(text), "object", wrong, "one JSON object per line is needed")
        ]
    findings = [
        *(_repeated(key, values) for key, values in sorted(repeated.items())),
        *_missing(content),
        *(_unknown(key, content) for key in content if key not in FIELDS and extra == "refuse"),
        *(finding for key, value in content.items() for finding in _wrong_value(key, value)),
    ]
    return findings or [_refused(line, text, extra)]


def _repeated(key: str, values: list[Any]) -> Finding:
    shown = ", ".join(map(as_written, values))
    wrong = f"is there {len(values)} times: {shown}"
    return Finding(
        _plain(key),
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
            "write null where it was not recorded" if key in _NULLABLE else "",
        )
        for key in REQUIRED
        if key not in content
    ]


_NULLABLE = ("steps", "skill_calls", "skill_failures")


def _unknown(key: str, content: dict[str, Any]) -> Finding:
    near = nearest(key, [field for field in FIELDS if field not in content])
    hint = (
        f"did you mean {near}?"
        if near
        else "--extra keep keeps it as a column, --extra ignore drops it"
    )
    shown = _plain(key)
    return Finding(shown, as_written(content[key]), "unknown-key", "is not a key of a record", hint)


def _wrong_value(key: str, value: object) -> list[Finding]:
    written = as_written(value)
    if _has_surrogate(key) or _has_surrogate(value):
        wrong = f"{written} holds half of a surrogate pair, which is no character"
        hint = "write the character itself, or both halves"
        return [Finding(_plain(key), written, "surrogate", wrong, hint)]
    if isinstance(value, _Number) and value.token in {"NaN", "Infinity", "-Infinity"}:
        wrong = f"{written} is not a JSON number"
        return [Finding(key, written, "json", wrong, "write null where it was not recorded")]
    return _wrong_type(key, value, written) if key in _KINDS else []


def _wrong_type(key: str, value: object, written: str) -> list[Finding]:
    kinds, needed = _KINDS[key]
    if isinstance(value, _Number) and _is_integer(value) and int in kinds:
        # Python refuses to turn thousands of digits into an integer, so their number is looked at.
        if len(value.token) <= len(str(_INT64.start)) and int(value.token) in _INT64:
            return []
        return [Finding(key, written, "range", f"{written} is beyond 64 bits")]
    if isinstance(value, kinds):
        return []
    wrong = f"{written} is {_kind(value)}; {needed} is needed"
    return [Finding(key, written, "type", wrong, _type_hint(key, value))]


def _type_hint(key: str, value: object) -> str:
    if value is None and key == "trial":
        return "leave the key out where there is one trial"
    if key == "success" and isinstance(value, _Number):
        return "partial credit is not success; keep it in a key of its own with --extra keep"
    return ""


def _refused(line: bytes, text: str, extra: Extra) -> Finding:
    """Report what msgspec found in a line that looks right otherwise."""
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
        return any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, dict):
        return any(_has_surrogate(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(_has_surrogate, value))


def _is_integer(number: _Number) -> bool:
    return re.fullmatch(r"-?\d+", number.token) is not None


def _kind(value: object) -> str:
    if isinstance(value, _Number):
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
    return _snippet(_plain(_json(value)))


def _json(value: object) -> str:
    if isinstance(value, _Number):
        return value.token
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json(key)}: {_json(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> str:
    """Make half surrogates printable; no output stream takes them."""
    return text.encode(errors="backslashreplace").decode()


def _snippet(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _VALUE_SHOWN else text[: _VALUE_SHOWN - 1] + "…"


def nearest(name: str, known: list[str]) -> str | None:
    """Give the known name that a misspelt one most likely stands for, or None.

    Examples
    --------
    >>> (
    ...     nearest("WordPress", ["gitlab", "wordpress"]),
    ...     nearest("src_perc", ["src", "src-perc"]),
    ...     nearest("x", ["src"]),
    ... )
    ('wordpress', 'src-perc', None)
    """
    folded = {_fold(candidate): candidate for candidate in known}
    from difflib import get_close_matches  # noqa: PLC0415 - only a misspelt name needs it

    match = get_close_matches(_fold(name), folded, n=1, cutoff=0.6)
    return folded[match[0]] if match else None


def _fold(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")
