"""JSON lines → parts of a frame, each row with its line; every line is decoded, none is trusted.

Polars' own reader is fast and is not validation: it fills a missing key with null, drops an unknown one, lets the first
of two equal keys win, and names neither file nor line (measured with Polars 2.1). So the types and keys of a record are
judged by one strict decoder (`skillshift_frames.readers.records`), and there are two ways to it with equal results:

- `_decode`: every line by itself. A block of lines in which all is well costs one call per line; a block with a fault,
  an escape or a blank line is gone through once more with care, and every fault is named.
- `skillshift_frames.readers.distinct`: the lines of one file repeat each other but for the uid, so each *distinct* line
  is decoded once. It takes only blocks in which every line is in order, and leaves the others to `_decode`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from skillshift_frames.readers.diagnosis import Finding, diagnose
from skillshift_frames.readers.distinct import DistinctLines
from skillshift_frames.readers.growing import may_be_empty
from skillshift_frames.readers.records import (
    QUOTES,
    REFUSALS,
    Extra,
    Record,
    decode_line,
    decode_line_with_extras,
    decode_record,
    fits_64_bits,
    frame_of,
)
from skillshift_frames.readers.streams import StreamError, read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from skillshift_frames.readers.sources import Source

#: Below this the fixed cost of a few Polars queries exceeds that of decoding every line.
_WORTH_GROUPING = 1 << 20


@dataclass(slots=True)
class Part:
    """Some rows of one file: their columns, the lines they are from, and what was wrong with the other lines.

    ``lines`` is the first line where the rows follow each other without a gap, else one line per row. ``extras`` holds
    the values of unknown keys, as long as the frame: from lines a list per key, from a frame its column. ``ignored``
    names those that were dropped.
    """

    frame: pl.DataFrame
    lines: int | list[int]
    faults: list[tuple[int | None, Finding]] = field(default_factory=list)
    extras: Mapping[str, list[Any] | pl.Series] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)


def read_jsonl(
    source: Source, extra: Extra, advance: Callable[[int], None] = lambda _: None
) -> Iterator[Part]:
    """Give the records of one file in parts, with the faults found on the way; the file is read once.

    ``advance`` is called with the bytes of each part.
    """
    distinct = DistinctLines()
    any_line = False
    try:
        for block, first_line in read_blocks(source):
            any_line = any_line or bool(block.strip(b" \t\r\n"))
            frame = (
                distinct.read(block)
                if extra == "refuse" and len(block) >= _WORTH_GROUPING
                else None
            )
            yield _decode(block, first_line, extra) if frame is None else Part(frame, first_line)
            advance(len(block))
    except StreamError as error:
        after = "; nothing after it was read" if error.line else ""
        note = Finding("file", None, error.rule, f"{error.message}{after}", error.hint)
        yield Part(frame_of([]), 1, [(error.line, note)])
    else:
        if not any_line:
            empty = Finding(
                "file", None, "empty-file", "holds no record", "a run that wrote nothing is no run"
            )
            yield Part(frame_of([]), 1, [] if may_be_empty(source.path) else [(None, empty)])


def _decode(block: bytes, first_line: int, extra: Extra) -> Part:
    """Decode every line of a block: all at once where nothing is amiss, else one by one."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    if extra == "refuse" and b"\\" not in block:
        try:
            records = list(map(decode_record, lines))
            if block.count(b'"') == _quotes(records):
                return Part(frame_of(records), first_line)
        except (
            *REFUSALS,
            TypeError,
        ):  # TypeError: an integer beyond 64 bits does not fit its column
            pass
    return _decode_carefully(lines, first_line, extra)


def _quotes(records: list[Record]) -> int:
    """Count the quotation marks that lines without escapes have if no key came twice (`decode_line`, for many)."""
    total = QUOTES * len(records)
    for name in ("trial", "error", "run"):
        values = list(map(attrgetter(name), records))
        given = len(values) - values.count(UNSET)
        if given:
            total += 2 * given + 2 * sum(isinstance(value, str) for value in values)
    return total


def _decode_carefully(lines: list[bytes], first_line: int, extra: Extra) -> Part:
    records: list[Record] = []
    numbers: list[int] = []
    faults: list[tuple[int | None, Finding]] = []
    extras: dict[str, list[Any]] = {}
    ignored: set[str] = set()
    for number, line in enumerate(lines, first_line):
        if not line.strip(b" \t\r"):
            continue
        record, rest = None, dict[str, Any]()
        try:
            if extra == "refuse":
                record = decode_line(line)
            else:
                record, rest = decode_line_with_extras(line)
        except REFUSALS:
            pass
        if record is None or not fits_64_bits(record):
            faults += ((number, finding) for finding in diagnose(line, extra))
            continue
        if extra == "ignore":
            ignored.update(rest)
            rest = {}
        for key, value in rest.items():
            extras.setdefault(key, [None] * len(records)).append(value)
        records.append(record)
        numbers.append(number)
        for values in extras.values():
            values.extend([None] * (len(records) - len(values)))
    return Part(frame_of(records), numbers, faults, extras, ignored)
