"""One line, decoded strictly: msgspec says yes or no.

Where it says no, `skillshift_frames.readers.diagnosis` takes a second, slower look and says everything that is wrong. Two
readings that disagree about a line would be worse than a slow one, so both follow the same rules, and whatever msgspec
refuses is reported even where the second look finds nothing of its own to add.
"""

from __future__ import annotations

import json
from collections import Counter
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import msgspec
import polars as pl
from msgspec import UNSET, UnsetType

from skillshift_frames.readers.wording import Number, json_text
from skillshift_frames.schema import TASKS

#: What to do with keys that are not the record's: refuse them, keep them as columns, ignore them.
Extra: TypeAlias = Literal["refuse", "keep", "ignore"]

INT64 = range(-(1 << 63), 1 << 63)


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

decode_record = msgspec.json.Decoder(Record).decode
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


class RepeatedKeyError(ValueError):
    """An object that has one key twice; msgspec does not see it, so it is looked for."""


#: What refuses a line: `skillshift_frames.readers.diagnosis.diagnose` then says why.
REFUSALS = (msgspec.DecodeError, RecursionError, RepeatedKeyError)


def decode_line(line: bytes) -> Record:
    """Decode one line, with a look for repeated keys.

    Raises
    ------
    msgspec.DecodeError, RecursionError, RepeatedKeyError
        The line is not exactly one record; `skillshift_frames.readers.diagnosis.diagnose` says why.
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


def fits_64_bits(record: Record) -> bool:
    """Tell whether the record's integers fit their columns: JSON has no largest one."""
    values = (record.steps, record.skill_calls, record.skill_failures, record.trial)
    return all(value in INT64 for value in values if isinstance(value, int))


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
        key: json_text(value) for key, value in content.items() if isinstance(value, dict | list)
    }
    return record, content | nested


def _has_repeated_keys(line: bytes) -> bool:
    return bool(parse(line.decode())[1])


def parse(text: str) -> tuple[Any, dict[str, list[Any]]]:
    """Parse JSON with numbers kept as written; also give the keys that an object has twice, with all their values."""
    repeated: dict[str, list[Any]] = {}

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            for key, value in pairs:
                if counts[key] > 1:
                    repeated.setdefault(key, []).append(value)
        return content

    content = json.loads(
        text,
        object_pairs_hook=collect,
        parse_int=Number,
        parse_float=Number,
        parse_constant=Number,
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
