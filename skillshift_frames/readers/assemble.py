"""The parts of all files → one frame, put to every rule; what `skillshift_frames.readers.tasks` gives or refuses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, get_args

import polars as pl

from skillshift_frames.benchmark import (
    SKILLSHIFT,
    BenchmarkLike,
    infer_benchmark,
    known_benchmark,
)
from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.progress import start
from skillshift_frames.readers.checks import LINE, SOURCE, find_faults
from skillshift_frames.readers.extras import extra_column, join_columns, without_nesting
from skillshift_frames.readers.frames import conform, read_frame
from skillshift_frames.readers.jsonl import Part, read_jsonl
from skillshift_frames.readers.records import Extra
from skillshift_frames.readers.sources import Paths, Source, resolve_sources, size_of
from skillshift_frames.readers.trial_tasks import convert
from skillshift_frames.readers.trials import collect, named_paths, of_other_tools
from skillshift_frames.readers.wording import printable
from skillshift_frames.schema import FAULTS, TASKS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from skillshift_frames.readers.diagnosis import Finding


class Checked(NamedTuple):
    """What was read: the rows without a fault, every fault, and what a user should be told besides.

    ``damaged`` are the faults of another tool's files with which reading goes on.
    """

    valid: pl.DataFrame
    faults: pl.DataFrame
    notes: list[str]
    damaged: pl.DataFrame = FAULTS.to_frame()


def check_paths(  # noqa: PLR0917 - as the public functions name them
    paths: Paths,
    labels: Mapping[str, str | os.PathLike[str]] | None,
    pool: bool | str,  # noqa: FBT001 - passed on from the public functions
    benchmark: BenchmarkLike,
    extra: Extra,
    from_: str | None = None,
) -> Checked:
    """Read files and check them; arguments as for `skillshift_frames.read_tasks`."""
    known = known_benchmark(benchmark) or "infer"
    refuse_unknown_extra(extra)
    if of_other_tools(paths, from_):
        if labels or pool:
            msg = "results of another tool name their own runs; --label and --pool are for files of records"
            raise InputError(msg)
        return _check_trials(paths, known, from_, extra)
    sources, notes = resolve_sources(paths, labels=labels, pool=pool)
    asked = {source.label for source in sources} if pool else set(labels or {})
    checked = check_sources(sources, known, extra, asked)
    return checked._replace(notes=notes + checked.notes)


def _check_trials(
    paths: Paths, benchmark: BenchmarkLike, from_: str | None, extra: Extra
) -> Checked:
    """Read another tool's results as records; of a thousand trials one is always damaged, and the others stay."""
    if benchmark == SKILLSHIFT:
        first = printable(os.fspath(named_paths(paths)[0]))
        msg = (
            f"{first}: another tool's results have skills and agents, not the sites and conditions of skillshift; "
            "use benchmark='infer' (--benchmark infer), or a benchmark of your own"
        )
        raise InputError(msg)
    trials, damaged, notes = collect(paths, from_)
    if not trials.height:
        return Checked(TASKS.to_frame(), damaged, notes)
    tools = ", ".join(trials.get_column("tool").unique().sort())
    tasks, more = convert(trials, keep=extra == "keep")
    source = Source(f"<{tools}>", "parquet", None, "")
    checked = check_frame(tasks, source, benchmark, extra)
    return checked._replace(notes=[*notes, *more], damaged=damaged)


def check_sources(
    sources: list[Source], benchmark: BenchmarkLike, extra: Extra, asked: Collection[str]
) -> Checked:
    """Read files that are known by name already; ``asked`` are the labels that somebody gave."""
    advance = start("reading", sum(map(size_of, sources)))
    parts = [_file_parts(source, extra, advance) for source in sources]
    notes = [
        f"{printable(source.path)}: the label {printable(source.label)} is not used: every record names its own run"
        for source, file in zip(sources, parts, strict=True)
        if source.label in asked and _names_its_runs(file)
    ]
    checked = _check_parts(sources, parts, benchmark)
    return checked._replace(notes=notes + checked.notes)


def _names_its_runs(file: list[Part]) -> bool:
    """Tell whether every record of a file has a run of its own, which goes before any label."""
    runs = [part.frame.get_column("run") for part in file if part.frame.height]
    return bool(runs) and not any(run.null_count() for run in runs)


def refuse_unknown_extra(extra: str) -> None:
    """Raise for an ``extra=`` that is not one of the three.

    Raises
    ------
    InputError
        A misspelt one would otherwise do what nobody asked for.
    """
    check_choice("extra", extra, get_args(Extra))


def _file_parts(source: Source, extra: Extra, advance: Callable[[int], None]) -> list[Part]:
    # How far a compressed file has been read is not known in between.
    plain = source.kind == "jsonl" and source.compression is None
    if source.kind == "jsonl":
        parts = list(read_jsonl(source, extra, advance if plain else lambda _: None))
    else:
        frame, findings = read_frame(source)
        parts = (
            [Part(frame, 1, [(None, finding) for finding in findings])]
            if findings
            else _frame_part(frame, extra)
        )
    if not plain:
        advance(size_of(source))
    return parts


def check_frame(
    frame: pl.DataFrame, source: Source, benchmark: BenchmarkLike, extra: Extra
) -> Checked:
    """Check records that are in a frame already; ``source`` stands for it in messages."""
    refuse_unknown_extra(extra)
    return _check_parts([source], [_frame_part(frame, extra)], benchmark)


def _frame_part(frame: pl.DataFrame, extra: Extra) -> list[Part]:
    records, findings = conform(frame, extra)
    names = [] if findings else [name for name in frame.columns if name not in TASKS]
    unknown = {name: frame.get_column(name) for name in names}
    kept = unknown if extra == "keep" else {}
    faults: list[tuple[int | None, Finding]] = [(None, finding) for finding in findings]
    return [Part(records, 1, faults, kept, unknown.keys() - kept.keys())]


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
    ignored = sorted({printable(name) for file in parts for part in file for name in part.ignored})
    frames, extras, misfits, rows = [], [], [], 0
    for index, source in enumerate(sources):
        file = [labelled(part, source.label, index) for part in parts[index]]
        parts_of_file, parts[index] = parts[index], []  # a part's columns need not be held twice
        columns, wrong = _extra_columns(parts_of_file)
        misfits += [(rows + row, finding) for row, finding in wrong]
        frames.append(pl.concat(file))
        extras.append(columns)
        rows += frames[-1].height
    tasks = pl.concat(frames)
    paths = [source.path for source in sources]
    kept, wrong = join_columns(extras, paths, [frame.height for frame in frames])
    misfits += wrong
    for row, finding in misfits:
        index, line = tasks[SOURCE][row], tasks[LINE][row]
        reading.append(_fault(sources[index], index, line, finding))
    known = known_benchmark(benchmark)
    checked = start("checking", 1)
    found, bad_rows = find_faults(tasks, kept, known, paths)
    checked(1)
    schema = pl.Schema([*FAULTS.items(), (SOURCE, pl.UInt32())])
    every = pl.concat([pl.DataFrame(reading, schema=schema, orient="row"), found])
    ordered = every.sort(SOURCE, "line", maintain_order=True, nulls_last=False).drop(SOURCE)
    valid = tasks.drop(SOURCE, LINE).hstack(kept)
    bad_rows = pl.concat([bad_rows, pl.Series([row for row, _ in misfits], dtype=pl.UInt32)])
    if bad_rows.len():
        numbers = pl.int_range(pl.len(), dtype=pl.UInt32)
        valid = valid.filter(~numbers.is_in(bad_rows.implode()))
    if known is None and valid.height:
        infer_benchmark(valid)  # raises where the names cannot be a table's axes
    notes = [f"ignored, not keys of a record: {', '.join(ignored)}"] if ignored else []
    return Checked(valid, ordered, notes)


def _fault(source: Source, index: int, line: int | None, finding: Finding) -> tuple[object, ...]:
    return (source.path, line, *finding, "error", index)


def labelled(part: Part, label: str, index: int) -> pl.DataFrame:
    """Give a part's rows with the run that they are of, and where they are from."""
    if isinstance(part.lines, int):
        first = part.lines
        lines = pl.select(pl.int_range(first, first + part.frame.height)).to_series()
    else:
        lines = pl.Series(part.lines, dtype=pl.Int64)
    # An empty error says that there was none, so that null alone has to be asked for from here on.
    return part.frame.with_columns(
        pl.col("run").fill_null(label),
        pl.when(pl.col("error") != "").then(pl.col("error")).alias("error"),
        pl.lit(index, dtype=pl.UInt32).alias(SOURCE),
        lines.cast(pl.UInt32).alias(LINE),
    )


def _extra_columns(
    parts: list[Part],
) -> tuple[dict[str, pl.Series], list[tuple[int, Finding]]]:
    """Put together what the parts of one file hold under unknown keys; and, by row, what does not fit."""
    columns: dict[str, pl.Series] = {}
    misfits: list[tuple[int, Finding]] = []
    # Sorted: two faults of one line come in the order of their keys, not in that of hashes.
    for name in sorted({name for part in parts for name in part.extras}):
        given = [part.extras.get(name, [None] * part.frame.height) for part in parts]
        if isinstance(given[0], pl.Series):  # a frame is one part
            columns[name], wrong = without_nesting(given[0])
        else:
            every = [value for values in given for value in values]
            columns[name], wrong = extra_column(name, every)
        misfits += wrong
    return columns, misfits
