"""Any frame as a description: its own columns, with the numbers as everywhere else."""

from __future__ import annotations

import math
from dataclasses import fields
from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.decide import p_value
from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.render.tables import UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Frames of shares and of money, in which two digits would hide most differences.
_FINE = frozenset(
    {
        *("CHANGES", "CORRELATIONS", "COSTS", "DISTRIBUTIONS", "FEASIBILITY", "GATES"),
        *("LIFT_CASES", "METRIC_LIFTS"),
    }
)
_FINE_DECIMALS = 4
_P_VALUES = ("p", "p_low", "p_high")


def plain_document(frame: pl.DataFrame, title: str, *, schema: str | None = None) -> Document:
    """Describe a frame as it is: a row per row, a column per column, an interval behind the number that it is of.

    ``schema`` is the public name of its schema, which decides about digits.
    """
    ends = _ends(frame)
    merged = {name for pair in ends.values() for name in pair}
    names = [name for name in frame.columns if name not in merged]
    dtypes = {name: frame.schema[name] for name in names}
    columns = tuple(
        Column(name, "right" if dtype.is_numeric() else "left") for name, dtype in dtypes.items()
    )
    show = {name: _shower(name, schema) for name in frame.columns}
    unfit: set[str] = set()
    rows: list[Row] = []
    first = names[0] if names else ""
    grouped = bool(names) and dtypes[first] == pl.String
    previous: object = object()
    for record in frame.iter_rows(named=True):
        cells = []
        for name in names:
            behind = [record[end] for end in ends.get(name, ())]
            if not all(map(_is_finite, (record[name], *behind))):
                unfit.add(name)
            known = behind and all(end is not None and _is_finite(end) for end in behind)
            low_high = ", ".join(map(show[name], behind))
            cells.append(Cell(show[name](record[name]), (f"[{low_high}]",) if known else ()))
        label = record[first] if names else None
        rows.append(Row(tuple(cells), starts_group=not grouped or label != previous))
        previous = label
    return Document(title, columns, tuple(rows), notes=tuple(_notes(frame, ends, unfit)))


def fields_document(result: Any) -> Document:  # noqa: ANN401 - any dataclass of this package
    """Describe a small result, a dataclass of numbers and texts, as one row per field."""
    rows = []
    for field in fields(result):
        shown = _shower(field.name, None)(getattr(result, field.name))
        rows.append(Row((Cell(field.name), Cell(shown)), starts_group=True))
    columns = (Column("field", "left"), Column("value", "left"))
    return Document(type(result).__name__, columns, tuple(rows))


def _ends(frame: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Find the columns that are ends of an interval: the number that they are of (bare ones follow it) → both."""
    ends = {}
    for low in frame.columns:
        stem = low.removesuffix("low")
        high = f"{stem}high"
        if stem == low or high not in frame.columns or stem[-1:] not in {"", "_"}:
            continue
        place = frame.columns.index(low)
        whose = stem[:-1] if stem else (frame.columns[place - 1] if place else "")
        if whose in frame.columns and frame.schema[whose].is_numeric():
            ends[whose] = (low, high)
    return ends


def _shower(name: str, schema: str | None) -> Callable[[Any], str]:
    if name in _P_VALUES:
        return _p
    decimals = _FINE_DECIMALS if schema in _FINE else 2

    def show(value: Any) -> str:  # noqa: ANN401 - whatever a frame holds
        if isinstance(value, float) and math.isfinite(value):
            return format_number(value, decimals=decimals)
        return _text(value)

    return show


def _p(value: float | None) -> str:
    if value is None or not _is_finite(value):
        return UNDEFINED
    return p_value(value).removeprefix("= ")


def _text(value: Any) -> str:  # noqa: ANN401, PLR0911 - whatever a frame holds
    """Show one value; what is not known is a dash, never a word of some library's."""
    match value:
        case None:
            return UNDEFINED
        case bool():
            return "yes" if value else "no"
        case int():
            return format_count(value)
        case float():
            return format_number(value) if math.isfinite(value) else UNDEFINED
        case str():
            return value
        case date():
            return value.isoformat()
        case list() | tuple() | pl.Series():
            return ", ".join(map(_text, value))
        case dict():
            return ", ".join(f"{key} {_text(of)}" for key, of in value.items())
        case _:
            return str(value)


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _notes(
    frame: pl.DataFrame, ends: dict[str, tuple[str, str]], unfit: Iterable[str]
) -> Iterable[Note]:
    shown = [name for name in frame.columns if name not in {n for pair in ends.values() for n in pair}]  # fmt: skip
    if any(frame.get_column(name).null_count() for name in shown):
        yield Note("not known, or not defined", UNDEFINED)
    if unfit:
        yield Note(f"no finite number: in {', '.join(sorted(unfit))}", UNDEFINED)
    for name, (low, high) in ends.items():
        yield Note(f"{low} and {high} of {name}", "[ ]")
