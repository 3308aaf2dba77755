"""Unknown keys that were asked to be kept: one column each, of the one type that its values have.

A column that quietly turns numbers into text because one line holds text would be worse than none, so every value that
does not fit with those before it is a fault. Objects and arrays are kept as JSON text, and so are the structs and lists
of a frame: every format can hold them, and lines and frames go together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.readers.diagnosis import Finding
from skillshift_frames.readers.records import INT64
from skillshift_frames.readers.wording import JsonText, as_written, json_text, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HINT = "one column has one type; --extra ignore drops it"

_DTYPES: dict[str | None, type[pl.DataType]] = {
    "boolean": pl.Boolean,
    "integer": pl.Int64,
    "number": pl.Float64,
    "string": pl.String,
    "json": pl.String,
    None: pl.Null,
}

_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    JsonText: "json",
}


def extra_column(name: str, values: list[Any]) -> tuple[pl.Series, list[tuple[int, Finding]]]:
    """Give the values of one key as a column, null where a line has no such key; and, by row, what does not fit."""
    kinds = [_KINDS.get(type(value)) for value in values]
    given = dict.fromkeys(kind for kind in kinds if kind is not None)
    first = next(iter(given), None)
    fitting = {"integer", "number"} if first in {"integer", "number"} else {first}
    kind = "number" if "number" in given and "number" in fitting else first
    shown, wrong = printable(name), []
    for row, (value, own) in enumerate(zip(values, kinds, strict=True)):
        if own is not None and own not in fitting:
            written = as_written(value)
            message = f"{written} is {_a(own)}, where earlier lines hold {_a(str(first))}"
            wrong.append((row, Finding(shown, written, "extra-type", message, _HINT)))
        elif own == "integer" == kind and value not in INT64:
            written = as_written(value)
            message = f"{written} is beyond 64 bits"
            wrong.append((row, Finding(shown, written, "range", message)))
    unfit = {row for row, _ in wrong}
    fit = [None if row in unfit else value for row, value in enumerate(values)] if unfit else values
    return pl.Series(name, fit, dtype=_DTYPES[kind]), wrong


def without_nesting(column: pl.Series) -> tuple[pl.Series, list[tuple[int, Finding]]]:
    """Give a frame's own column, lists and structs as the JSON text that lines would hold; and, by row, what is no JSON."""
    if not column.dtype.is_nested():
        return column, []
    texts: list[str | None] = []
    wrong = []
    for row, value in enumerate(column.to_list()):
        try:
            texts.append(None if value is None else json_text(value))
        except ValueError:
            texts.append(None)
            message = f"{as_written(value)} holds a number that JSON does not have"
            wrong.append((row, Finding(printable(column.name), as_written(value), "json", message)))
    return pl.Series(column.name, texts, dtype=pl.String), wrong


def join_columns(
    columns: Sequence[Mapping[str, pl.Series]], paths: Sequence[str], heights: Sequence[int]
) -> tuple[list[pl.Series], list[tuple[int, Finding]]]:
    """Stack the columns of every file, by name, null for a file without; and, by row of all, what does not fit.

    The first file that has a value decides on the type of its column.
    """
    joined, misfits = [], []
    for name in sorted({name for file in columns for name in file}):
        column, wrong = _join(name, [file.get(name) for file in columns], paths, heights)
        joined.append(column)
        misfits += wrong
    return joined, misfits


def _join(
    name: str, columns: Sequence[pl.Series | None], paths: Sequence[str], heights: Sequence[int]
) -> tuple[pl.Series, list[tuple[int, Finding]]]:
    parts: list[pl.Series] = []
    wrong: list[tuple[int, Finding]] = []
    known: pl.DataType = pl.Null()
    known_path, offset = "", 0
    nothing = pl.Series(name, [None], dtype=pl.Null)
    for column, path, height in zip(columns, paths, heights, strict=True):
        part = nothing.new_from_index(0, height) if column is None else column
        if isinstance(known, pl.Null):
            known, known_path = part.dtype, path
        elif not _go_together(known, part.dtype):
            for row, value in enumerate(part.to_list()):
                if value is not None:
                    written = as_written(value)
                    message = f"{written} is {part.dtype}, where {known_path} holds {known}"
                    finding = Finding(printable(name), written, "extra-type", message, _HINT)
                    wrong.append((offset + row, finding))
            part = nothing.new_from_index(0, height)
        parts.append(part)
        offset += height
    joined = pl.concat([part.to_frame() for part in parts], how="vertical_relaxed")
    return joined.to_series(), wrong


def _go_together(one: pl.DataType, other: pl.DataType) -> bool:
    return one == other or pl.Null in (one, other) or (one.is_numeric() and other.is_numeric())


def _a(kind: str) -> str:
    return {"integer": "an integer", "json": "an object or array"}.get(kind, f"a {kind}")
