"""Files → frames of a Spark session, as strict as reading them here, though the records stay where they are."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.errors import InputError
from skillshift_frames.readers.diagnosis import Finding
from skillshift_frames.readers.records import FIELDS
from skillshift_frames.readers.spark_lines import Unknown, judge_lines
from skillshift_frames.schema import FAULTS, TASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from skillshift_frames.readers.hadoop import Found

_TYPES = {pl.String(): "STRING", pl.Int64(): "BIGINT", pl.Boolean(): "BOOLEAN"}
_SCHEMA = ", ".join(f"{name} {_TYPES[dtype]}" for name, dtype in TASKS.items())

_EMPTY = Finding(
    "file", None, "empty-file", "holds no record", "a run that wrote nothing is no run"
)


class Part(NamedTuple):
    """The files of one run and kind, their label, and Spark's frame of them: its columns are for the caller to judge."""

    files: list[str]
    label: str
    frame: DataFrame


def read_on_spark(
    session: SparkSession, found: Found, extra: Unknown
) -> tuple[list[Part], pl.DataFrame, set[str]]:
    """Have Spark read files, a part for each run and kind of file.

    Returns the parts; what is wrong with lines and files (as `skillshift_frames.FAULTS`); the unknown keys that were left out.

    Raises
    ------
    InputError
        Spark cannot read a file.
    """
    grouped: dict[tuple[str, str], list[str]] = {}
    for source in found.sources:
        grouped.setdefault((source.kind, source.label), []).append(source.path)
    lines = [path for (kind, _), files in grouped.items() if kind == "jsonl" for path in files]
    faults: list[tuple[str, Finding]] = []
    unknown: set[str] = set()
    addresses: set[str] = set()
    if lines:
        text = session.read.option("lineSep", "\n").text(_literal(lines))
        judged = judge_lines(text, extra)
        faults += judged.faults
        unknown |= judged.unknown
        addresses |= judged.addresses
    parts = []
    for (kind, label), files in grouped.items():
        frame = _read_lines(session, files) if kind == "jsonl" else _read_table(session, files)
        parts.append(Part(files, label, frame))
    tables = [
        part.frame.select("_metadata.file_path") for part in parts if part.files[0] not in lines
    ]
    if tables:
        places = reduce(lambda one, other: one.union(other), tables).distinct()
        addresses |= set(places.toArrow()["file_path"].to_pylist())
    if extra == "ignore":
        for number, part in enumerate(parts):
            unknown |= {name for name in part.frame.columns if name not in FIELDS}
            known = [name for name in part.frame.columns if name in FIELDS]
            parts[number] = part._replace(frame=part.frame.select(*known))
    return parts, _named(faults, found, addresses), unknown


def _read_table(session: SparkSession, files: Sequence[str]) -> DataFrame:
    try:
        # Without merging, a column that the first file lacks would be left out of all the others.
        return session.read.option("mergeSchema", "true").parquet(*_literal(files))
    except Exception as error:  # Java's own exceptions have no common root in Python
        others = len(files) - 1
        where = f" or one of {others:,} other files of its run" if others else ""
        msg = f"{files[0]}{where}: cannot be read: {reason_of(error)}"
        raise InputError(msg) from error


def _read_lines(session: SparkSession, files: Sequence[str]) -> DataFrame:
    """Read the values of lines that were judged: nothing is left for this to be lenient about."""
    strict = {"mode": "FAILFAST", "lineSep": "\n"}
    return session.read.schema(_SCHEMA).options(**strict).json(_literal(files))


def _literal(files: Iterable[str]) -> list[str]:
    """Keep Spark from taking a name for a pattern."""
    return [re.sub(r"([{}\[\]*?\\])", r"\\\1", file) for file in files]


def _named(
    faults: Sequence[tuple[str, Finding]], found: Found, addresses: set[str]
) -> pl.DataFrame:
    """Give faults the paths of their files, and name the files that nothing was read from."""
    rows = []
    for source in found.sources:
        address = found.addresses[source.path]
        here = [wrong for place, wrong in faults if place == address or _is_below(place, address)]
        if not any(place == address or _is_below(place, address) for place in addresses):
            here.append(_EMPTY)
        rows += [(source.path, None, *wrong, "error") for wrong in here]
    return pl.DataFrame(rows, schema=FAULTS, orient="row")


def _is_below(place: str, address: str) -> bool:
    return place.startswith(f"{address.rstrip('/')}/")


def reason_of(error: Exception) -> str:
    """Find, in all that Spark prints of an error, the line that says what is wrong."""
    text = str(error)
    named = re.findall(r"\[[A-Z_]+(?:\.[A-Z_]+)*\] [^\n]+", text)
    if named:
        return str(named[-1])  # the last cause is where it began
    lines = [line.removeprefix(": ") for line in text.strip().splitlines()] or [""]
    # Of Java's exceptions the first line says only which call they came from.
    said = lines[1:2] if lines[0].startswith("An error occurred") else lines[:1]
    return " ".join(said) or type(error).__name__
