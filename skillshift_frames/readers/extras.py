"""Unknown keys that were asked to be kept: one column each, of the one type that its values have.

A column that quietly turns numbers into text because one line holds text would be worse than none, so values that share
no type are a fault. Objects and arrays are kept as JSON text.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from skillshift_frames.readers.records import Finding, as_written

_INT64 = range(-(1 << 63), 1 << 63)


def extra_column(
    name: str, values: list[Any], lines: list[int]
) -> tuple[pl.Series, list[tuple[int, Finding]]]:
    """Give the values of one key as a column, null where a line has no such key; with the lines that do not fit."""
    kinds: dict[str, int] = {}
    for index, value in enumerate(values):
        if value is not None:
            kinds.setdefault(_kind(value), index)
    if set(kinds) == {"integer", "number"}:
        kinds = {"number": 0}
    if len(kinds) > 1:
        (first, _), (other, index), *_ = kinds.items()
        wrong = f"{as_written(values[index])} is {_a(other)}, where earlier lines hold {_a(first)}"
        hint = "one column has one type; --extra ignore drops it"
        return pl.Series(name, [None] * len(values), dtype=pl.Null), [
            (lines[index], Finding(name, as_written(values[index]), "extra-type", wrong, hint))
        ]
    kind = next(iter(kinds)) if kinds else None
    if kind == "integer" and not all(value is None or value in _INT64 for value in values):
        index = next(
            i for i, value in enumerate(values) if value is not None and value not in _INT64
        )
        beyond = Finding(
            name, as_written(values[index]), "range", f"{values[index]} is beyond 64 bits"
        )
        return pl.Series(name, [None] * len(values), dtype=pl.Null), [(lines[index], beyond)]
    if kind == "json":
        values = [
            None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
            for value in values
        ]
    return pl.Series(name, values, dtype=_DTYPES[kind]), []


_DTYPES: dict[str | None, type[pl.DataType]] = {
    "boolean": pl.Boolean,
    "integer": pl.Int64,
    "number": pl.Float64,
    "string": pl.String,
    "json": pl.String,
    None: pl.Null,
}


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    names: dict[type, str] = {int: "integer", float: "number", str: "string"}
    return names.get(type(value), "json")


def _a(kind: str) -> str:
    return {"integer": "an integer", "json": "an object or array"}.get(kind, f"a {kind}")
