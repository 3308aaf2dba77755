"""The parts of all files → one frame, put to every rule; what `skillshift_frames.readers.tasks` gives or refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.benchmark import BenchmarkLike, infer_benchmark, known_benchmark
from skillshift_frames.errors import InputError
from skillshift_frames.readers.checks import LINE, SOURCE, find_faults
from skillshift_frames.readers.extras import extra_column
from skillshift_frames.readers.frames import conform, read_parquet
from skillshift_frames.readers.jsonl import Part, read_jsonl
from skillshift_frames.readers.sources import Paths, Source, resolve_sources
from skillshift_frames.schema import FAULTS

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from skillshift_frames.readers.records import Extra, Finding


class Checked(NamedTuple):
    """What was read: the rows without a fault, every fault, and what a user should be told besides."""

    valid: pl.DataFrame
    faults: pl.DataFrame
    notes: list[str]


def check_paths(
    paths: Paths,
    labels: Mapping[str, str | os.PathLike[str]] | None,
    pool: bool | str,  # noqa: FBT001 - passed on from the public functions
    benchmark: BenchmarkLike,
    extra: Extra,
) -> Checked:
    """Read files and check them; arguments as for `skillshift_frames.read_tasks`."""
    known = known_benchmark(benchmark) or "infer"
    sources, notes = resolve_sources(paths, labels=labels, pool=pool)
    parts = [_file_parts(source, extra) for source in sources]
    return _check_parts(sources, parts, known)._replace(notes=notes)


def _file_parts(source: Source, extra: Extra) -> list[Part]:
    if source.kind == "parquet":
        frame, findings = read_parquet(source)
        return (
            [Part(frame, 1, [(None, finding) for finding in findings])]
            if findings
            else _frame_part(frame, extra)
        )
    return list(read_jsonl(source, extra))


def check_frame(
    frame: pl.DataFrame, source: Source, benchmark: BenchmarkLike, extra: Extra
) -> Checked:
    """Check records that are in a frame already; ``source`` stands for it in messages."""
    return _check_parts([source], [_frame_part(frame, extra)], benchmark)


def _frame_part(frame: pl.DataFrame, extra: Extra) -> list[Part]:
    records, findings = conform(frame, extra)
    return [Part(records, 1, [(None, finding) for finding in findings])]


def _check_parts(
    sources: list[Source], parts: list[list[Part]], benchmark: BenchmarkLike
) -> Checked:
    """Put the parts of all files together and check them as one: a key may repeat across files."""
    reading = [
        _fault(source, i, *fault)
        for i, source in enumerate(sources)
        for p in parts[i]
        for fault in p.faults
    ]
    frames = []
    for index, source in enumerate(sources):
        file = [_labelled(part, source, index) for part in parts[index]]
        parts_of_file, parts[index] = parts[index], []  # a part's columns need not be held twice
        extras, faults = _extra_columns(parts_of_file)
        reading += (_fault(source, index, *fault) for fault in faults)
        frames.append(pl.concat(file, how="diagonal").with_columns(extras))
    tasks = _concat(frames, sources)
    known = known_benchmark(benchmark)
    paths = [source.path for source in sources]
    found, bad_rows = find_faults(tasks, known, paths)
    if known is None and tasks.height:
        infer_benchmark(tasks)  # raises where the names cannot be a table's axes
    schema = pl.Schema([*FAULTS.items(), (SOURCE, pl.UInt32())])
    every = pl.concat([pl.DataFrame(reading, schema=schema, orient="row"), found])
    ordered = every.sort(SOURCE, "line", maintain_order=True, nulls_last=False).drop(SOURCE)
    if bad_rows.len():
        numbers = pl.int_range(pl.len(), dtype=pl.UInt32)
        tasks = tasks.filter(~numbers.is_in(bad_rows.implode()))
    return Checked(tasks.drop(SOURCE, LINE), ordered, [])


def _fault(source: Source, index: int, line: int | None, finding: Finding) -> tuple[object, ...]:
    return (source.path, line, *finding, "error", index)


def _labelled(part: Part, source: Source, index: int) -> pl.DataFrame:
    if isinstance(part.lines, int):
        first = part.lines
        lines = pl.select(pl.int_range(first, first + part.frame.height)).to_series()
    else:
        lines = pl.Series(part.lines, dtype=pl.Int64)
    # An empty error says that there was none, so that null alone has to be asked for from here on.
    return part.frame.with_columns(
        pl.col("run").fill_null(source.label),
        pl.when(pl.col("error") != "").then(pl.col("error")).alias("error"),
        pl.lit(index, dtype=pl.UInt32).alias(SOURCE),
        lines.cast(pl.UInt32).alias(LINE),
    )


def _extra_columns(parts: list[Part]) -> tuple[list[pl.Series], list[tuple[int, Finding]]]:
    """Put together what the parts of one file hold under unknown keys."""
    columns, faults = [], []
    lines = [line for part in parts if not isinstance(part.lines, int) for line in part.lines]
    for name in sorted({name for part in parts for name in part.extras}):
        values = [v for part in parts for v in part.extras.get(name, [None] * part.frame.height)]
        column, wrong = extra_column(name, values, lines)
        columns.append(column)
        faults += wrong
    return columns, faults


def _concat(frames: list[pl.DataFrame], sources: list[Source]) -> pl.DataFrame:
    """Stack the files; kept columns may be absent from some, but must have one type in all."""
    first: dict[str, tuple[pl.DataType, str]] = {}
    for frame, source in zip(frames, sources, strict=True):
        for name, dtype in frame.schema.items():
            known, path = first.setdefault(name, (dtype, source.path))
            if (
                dtype != known
                and pl.Null not in (dtype, known)
                and not (dtype.is_numeric() and known.is_numeric())
            ):
                msg = f"column {name} is {known} in {path} and {dtype} in {source.path}; --extra ignore drops it"
                raise InputError(msg)
    same = all(frame.schema == frames[0].schema for frame in frames)
    return pl.concat(frames, how="vertical" if same else "diagonal_relaxed")
