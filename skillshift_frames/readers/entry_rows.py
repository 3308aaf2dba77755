"""Tables of printed rows, and rows typed from a paper → entries."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from skillshift_frames.errors import InputError
from skillshift_frames.findings import Finding
from skillshift_frames.readers.entries import Entry, Read
from skillshift_frames.readers.entry_json import printed_number
from skillshift_frames.readers.json_shape import is_date
from skillshift_frames.readers.wording import Number, as_written, nearest, printable
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from skillshift_frames.benchmark import Benchmark

#: Columns beside metric and slots; all may be left out.
_SAID = ("date", "method", "model")

#: What stands for null in a table that a person typed.
_NULLS = {"", "-", "--", "–", "—", "null"}

_NUMBER = re.compile(r"[+-]?([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})")


def parse_rows(text: str, name: str, benchmark: Benchmark) -> Read:
    """Read a CSV table: ``metric``, any of the benchmark's slots, and ``date``, ``method`` and ``model`` if known.

    One row is one entry × metric; rows that share date, method and model are one entry. Digits are kept as they stand.
    """
    try:
        lines = list(_lines(text))
    except csv.Error as error:
        return Read([], [Finding(name, "schema", f"is not CSV: {error}")])
    header = [title.strip() for title in lines[0][1]] if lines else []
    known = ("metric", *_SAID, *benchmark.slots)
    findings = list(_wrong_header(header, known, name, benchmark))
    if not findings and len(lines) == 1:
        findings.append(Finding(name, "schema", "the table has a header and no rows"))
    if findings:
        return Read([], findings)
    found: dict[tuple[str, ...], dict[tuple[str, str], Decimal | None]] = {}
    for number, row in lines[1:]:
        where = f"line {number}"
        if len(row) != len(header):
            wrong = f"{where}: has {len(row)} fields, the header {len(header)}"
            findings.append(Finding(name, "schema", wrong, "null is an empty field"))
            continue
        said = dict(zip(header, (cell.strip() for cell in row), strict=True))
        metric = said["metric"]
        key = tuple(said.get(column, "") for column in _SAID)
        problem = _wrong_row(said, found.get(key, {}))
        if problem:
            findings.append(Finding(name, "schema", f"{where}: {problem}"))
            continue
        numbers = found.setdefault(key, {})
        for slot in benchmark.slots:
            if slot in said:
                try:
                    numbers[metric, slot] = parse_number(said[slot])
                except InputError as error:
                    wrong = f"{where}: {slot}: {error}"
                    findings.append(
                        Finding(name, "schema", wrong, "", metric, slot, printable(said[slot]))
                    )
    return Read(list(_entries(found, name, benchmark)), findings)


def _lines(text: str) -> Iterable[tuple[int, list[str]]]:
    """Give the rows that hold anything, each with the number of its last line."""
    table = csv.reader(io.StringIO(text, newline=""))
    for row in table:
        if any(cell.strip() for cell in row):
            yield table.line_num, row


def _wrong_header(
    header: list[str], known: tuple[str, ...], name: str, benchmark: Benchmark
) -> Iterable[Finding]:
    if "metric" not in header or not set(header) & set(benchmark.slots):
        what = "the table needs a column metric and one of the slots " + ", ".join(benchmark.slots)
        yield Finding(name, "schema", what, "name the columns in the first line")
        return
    for column in header:
        if column not in known:
            near = nearest(column, known)
            hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
            yield Finding(name, "schema", f"{as_written(column)} is no column of entries", hint)
    for column in sorted({column for column in header if header.count(column) > 1}):
        yield Finding(name, "schema", f"the column {as_written(column)} is there twice")


def _wrong_row(said: dict[str, str], before: dict[tuple[str, str], Decimal | None]) -> str | None:
    metric = said["metric"]
    if metric not in METRICS:
        return f"{as_written(metric)} is no metric; {', '.join(METRICS)} are"
    if any(metric == other for other, _ in before):
        return f"a second row of {metric} for the same date, method and model"
    if said.get("date") and not is_date(said["date"]):
        return f"{as_written(said['date'])} is no date; one like 2026-08-23 is needed"
    return None


def _entries(
    found: dict[tuple[str, ...], dict[tuple[str, str], Decimal | None]],
    name: str,
    benchmark: Benchmark,
) -> Iterable[Entry]:
    named = Counter(" / ".join(printable(part) for part in key[1:] if part) for key in found)
    for (day, method, model), numbers in found.items():
        own = " / ".join(printable(part) for part in (method, model) if part)
        if named[own] > 1:
            own = f"{own} ({day})" if own else day
        yield Entry(
            name=(own if len(found) > 1 else name) or name,
            method=printable(method),
            model=printable(model),
            printed=numbers,
            tasks=benchmark.sites,
            path=name,
            date=date.fromisoformat(day) if day else None,
        )


def parse_frame(frame: pl.DataFrame, benchmark: Benchmark) -> list[Entry]:
    """Give the entries of a frame in the shape of a table of rows, such as `skillshift_frames.published`.

    Floats have lost the zeros behind them, so every number has two decimals at least.

    Raises
    ------
    InputError
        The frame has no column ``metric``, none of the slots, a metric that is none, or one twice for the same entry.
    """
    said = [name for name in ("entry", "run", *_SAID) if name in frame.columns]
    slots = [slot for slot in benchmark.slots if slot in frame.columns]
    if "metric" not in frame.columns or not slots:
        msg = f"a frame of entries needs a column metric and some of the slots {', '.join(benchmark.slots)}"
        raise InputError(msg)
    found: dict[tuple[object, ...], dict[tuple[str, str], Decimal | None]] = {}
    partial: set[tuple[object, ...]] = set()
    for row in frame.iter_rows(named=True):
        key = tuple(row[name] for name in said)
        numbers = found.setdefault(key, {})
        if row.get("tasks_reason") is not None:
            partial.add(key)
        metric = row["metric"]
        if metric not in METRICS or any(metric == other for other, _ in numbers):
            msg = f"{as_written(metric)} is no metric, or is there twice for the same entry"
            raise InputError(msg)
        for slot in slots:
            numbers[metric, slot] = _decimal(row[slot])
    entries = []
    for key, numbers in found.items():
        of = dict(zip(said, key, strict=True))
        method, model = (str(of.get(name) or "") for name in ("method", "model"))
        named = of.get("entry") or of.get("run") or " / ".join(filter(None, (method, model)))
        name = str(named or "frame")
        day = of.get("date")
        entries.append(
            Entry(
                name,
                method,
                model,
                numbers,
                # How many tasks each cell of a partial run has is not known here: no count, rather than a wrong one.
                dict.fromkeys(benchmark.sites, 0) if key in partial else benchmark.sites,
                date=day if isinstance(day, date) else None,
            )
        )
    return entries


def _decimal(value: float | None) -> Decimal | None:
    if value is None:
        return None
    if not math.isfinite(value):
        msg = f"a frame of entries holds {value}; what is not known is null"
        raise InputError(msg)
    return printed_number(Number(repr(float(value))))


def parse_typed(rows: Iterable[str], benchmark: Benchmark) -> Entry:
    """Read rows as typed from a paper: ``GitLab 17.71, Magento 25.49, O/A 35.29``, with ``ASC:`` before a row of ASC.

    Names are those of slots or their titles, in any case; ``O/A`` and ``overall`` are the overall value.

    Raises
    ------
    InputError
        A part that is not a name and a number, an unknown name, a slot or a metric twice.
    """
    names = {name.lower(): name for name in benchmark.slots}
    names |= {benchmark.title(name).lower(): name for name in benchmark.slots}
    names["o/a"] = "overall"
    numbers: dict[tuple[str, str], Decimal | None] = {}
    for row in rows:
        metric, slots = _typed_metric(row)
        if any(metric == other for other, _ in numbers):
            msg = f"two rows of {metric}; give each metric one"
            raise InputError(msg)
        for part in filter(
            None, (part.strip() for part in re.split("[,;&|]", slots.replace(" %", "%")))
        ):
            title, _, number = part.replace("=", " ").replace(":", " ").strip().rpartition(" ")
            slot = names.get(title.strip().lower())
            if slot is None:
                near = nearest(title or part, tuple(names))
                hint = f"did you mean {near}?" if near else f"known: {', '.join(names)}"
                if near and near in part.lower():
                    hint = f"{near} and a number, and nothing else between two commas"
                msg = f"{part!r} is not a slot and its number ({hint})"
                raise InputError(msg)
            if (metric, slot) in numbers:
                msg = f"{slot} is given twice in one row"
                raise InputError(msg)
            numbers[metric, slot] = parse_number(number)
    if not numbers:
        msg = "the row is empty; something like 'GitLab 17.71, Magento 25.49' is needed"
        raise InputError(msg)
    return Entry("row", "", "", numbers, benchmark.sites)


def _typed_metric(row: str) -> tuple[str, str]:
    before, colon, after = row.partition(":")
    if colon and before.strip().upper() in METRICS:
        return before.strip().upper(), after
    return "SR", row


def parse_number(text: str) -> Decimal | None:
    """Give a printed number with its digits, None for what stands for null; a percent sign says nothing new.

    Raises
    ------
    InputError
        It is no decimal number.

    Examples
    --------
    >>> parse_number("16.90"), parse_number("--")
    (Decimal('16.90'), None)
    """
    digits = text.strip().removesuffix("%").strip()
    if digits.lower() in _NULLS:
        return None
    if not _NUMBER.fullmatch(digits):
        msg = f"{as_written(text)} is no decimal number"
        raise InputError(msg)
    return Decimal(digits)
