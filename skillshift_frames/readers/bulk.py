"""Files of one layout → their distinct records with how often each occurs, without a row per record.

A table needs to know how often each record occurs but for its uid, that each is a record, and that no key comes twice; it
does not need the records. So each distinct line is decoded strictly and put to every rule once
(`skillshift_frames.readers.groups`), with its number of occurrences beside it. Of the uids a hash per line is kept, from
which follows whether any key repeats.

This is for runs in which all is well. A run whose lines do not fit, by their layout or because they have several trials, is
left to the general reader (`skillshift_frames.readers.assemble`); where there is a fault, a warning, or two keys with one
hash, all runs are, since it looks at every line and names every fault.

Measured on two cores with 5 million lines (756 MB): 0.85 s with the look at keys and 0.65 s without; a bare Polars scan and
group-by, which checks nothing, takes 1.3 s. The idea is from the sketch "distinct rests" of the design.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.progress import start
from skillshift_frames.readers import records
from skillshift_frames.readers.assemble import labelled
from skillshift_frames.readers.beside import beside
from skillshift_frames.readers.blocks import UnfitError, blocks_of
from skillshift_frames.readers.checks import find_faults
from skillshift_frames.readers.columns import distinct_rows
from skillshift_frames.readers.groups import Grouper
from skillshift_frames.readers.jsonl import Part
from skillshift_frames.readers.sources import is_kept, size_of
from skillshift_frames.schema import TASKS, WHOLE_RUN, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.readers.blocks import Block
    from skillshift_frames.readers.columns import Rows
    from skillshift_frames.readers.groups import Groups
    from skillshift_frames.readers.sources import Source

#: Which record, but for the digits of its uid; and how often a run has it.
RECORD, COUNT = "_record", "_count"

#: Below so many bytes NumPy's import and a few Polars queries take longer than to decode every line.
WORTH_IT = 8 << 20

#: So much text a byte of other files stands for, at least.
_COMPRESSED_TEXT, _PARQUET_TEXT = 16, 32

#: To plan two queries takes longer than to read a file of Parquet that is smaller.
_LITTLE_PARQUET = 1 << 18

#: Counts of blocks are added up when there are so many rows more: a row takes 20 bytes.
_MOST_COUNTS = 4_000_000


class DistinctRecords(NamedTuple):
    """The records of some runs, told apart but for the digits at the end of their uids.

    Attributes
    ----------
    records
        `RECORD` and the columns of `TASKS` but for ``run``, with a number of our own in the place of those digits.
    counts
        ``run`` (an Enum in the order of labels), `RECORD` and `COUNT`: a row or several per run and record that it has.
    unfit
        The files of the runs that have to be read record by record.
    """

    records: pl.DataFrame
    counts: pl.DataFrame
    unfit: list[Source]


@dataclass(slots=True)
class _Found:
    """What the blocks of all files have given so far; ``unfit`` are numbers of runs."""

    runs: dict[str, int]
    counts: list[pl.DataFrame] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    keys: list[pl.Series] = field(default_factory=list)
    unfit: set[int] = field(default_factory=set)

    def add(self, groups: Groups) -> None:
        self.counts.append(groups.counts)
        self.keys += [] if groups.keys is None else [groups.keys]
        first, *rest = (counts.height for counts in self.counts)
        if sum(rest) > max(first, _MOST_COUNTS):
            every = pl.concat(self.counts)
            self.counts = [every.group_by("run", "text").agg(pl.col("lines").sum())]


def distinct_records(
    sources: Sequence[Source],
    benchmark: Benchmark | None,
    *,
    unique: bool = True,
    asked: Collection[str] = (),
) -> DistinctRecords | None:
    """Give the distinct records of files with their counts, or None where the general reader has to look at all of them.

    Every rule is kept; ``unique`` says whether that of unique keys is, too. ``asked`` are the labels that somebody gave.
    """
    # What cannot be read twice must not be begun with: the general reader may have to.
    if not all(map(is_kept, sources)) or sum(map(_text_of, sources)) < WORTH_IT:
        return None
    found = _Found({label: n for n, label in enumerate(sorted({s.label for s in sources}))})
    runs = [found.runs[source.label] for source in sources]
    found.unfit = _unfit_at_once(sources, runs)
    fitting = [source for source, run in zip(sources, runs, strict=True) if run not in found.unfit]
    advance = start("reading", sum(map(size_of, fitting)))
    grouper = Grouper(runs, unique=unique)
    _group_lines(grouper, sources, runs, found, advance)
    _group_rows(sources, found, asked, advance, unique=unique)
    if not (found.counts or found.rows) or (unique and _has_repeated(found.keys)):
        return None
    of_records, counts = _together(grouper, found)
    several = _with_several_trials(counts, of_records)
    if several:
        counts = counts.filter(~pl.col("run").is_in(several))
    of_rows = {found.runs[label] for rows in found.rows for label in rows.runs}
    if not counts.height or of_rows.intersection(several):
        return None
    if not _keep_the_rules(counts, of_records, benchmark):
        return None
    labels = pl.Series("run", list(found.runs), dtype=pl.Enum(sorted(found.runs)))
    unfit = found.unfit.union(several)
    return DistinctRecords(
        of_records.select(RECORD, pl.col(*TASKS).exclude("run")),
        counts.select(
            labels.gather(counts.get_column("run")), RECORD, pl.col("lines").alias(COUNT)
        ),
        [source for source, run in zip(sources, runs, strict=True) if run in unfit],
    )


def _text_of(source: Source) -> int:
    """Say roughly how many bytes a file's records would have as text."""
    if source.kind == "parquet":
        return size_of(source) * _PARQUET_TEXT
    return size_of(source) * (1 if source.compression is None else _COMPRESSED_TEXT)


def _unfit_at_once(sources: Sequence[Source], runs: Sequence[int]) -> set[int]:
    """Name the runs whose files are not all of lines or all of Parquet, and those of little Parquet."""
    kinds: dict[int, set[str]] = {}
    sizes: dict[int, int] = {}
    for source, run in zip(sources, runs, strict=True):
        kinds.setdefault(run, set()).add(source.kind)
        sizes[run] = sizes.get(run, 0) + size_of(source)
    return {
        run
        for run, of_run in kinds.items()
        if of_run != {"jsonl"} and (of_run != {"parquet"} or sizes[run] < _LITTLE_PARQUET)
    }


def _group_lines(
    grouper: Grouper,
    sources: Sequence[Source],
    runs: Sequence[int],
    found: _Found,
    advance: Callable[[int], None],
) -> None:
    """Group the lines of all blocks; runs of which a block does not fit are noted, and no more is read of them."""

    def skip(number: int) -> bool:
        return sources[number].kind != "jsonl" or runs[number] in found.unfit

    blocks = blocks_of(sources, skip=skip)
    block = next(blocks, None)
    while block is not None:
        with beside(lambda: next(blocks, None)) as read_ahead:
            _group(grouper, block, runs, found)
            advance(block.size)
        block = read_ahead()


def _group(grouper: Grouper, block: Block, runs: Sequence[int], found: _Found) -> None:
    """Add the groups of a block; if it does not fit, find out by halves which runs are those that do not."""
    try:
        found.add(grouper.groups(block))
    except UnfitError:
        of_block = sorted({runs[stretch.file] for stretch in block.stretches})
        if len(of_block) == 1:
            found.unfit.update(of_block)
            return
        middle = len(of_block) // 2
        for half in (of_block[:middle], of_block[middle:]):
            files = {stretch.file for stretch in block.stretches if runs[stretch.file] in half}
            _group(grouper, block.part(files), runs, found)


def _has_repeated(keys: list[pl.Series]) -> bool:
    every = pl.concat(keys)
    keys.clear()  # nobody needs them any more
    return every.n_unique() < len(every)


def _group_rows(
    sources: Sequence[Source],
    found: _Found,
    asked: Collection[str],
    advance: Callable[[int], None],
    *,
    unique: bool,
) -> None:
    """Group the rows of Parquet files; runs that only rows name get their numbers after the others."""
    of_lines = {source.label for source in sources if source.kind != "parquet"}
    for source in sources:
        run = found.runs[source.label]
        if source.kind != "parquet" or run in found.unfit:
            continue
        rows = _rows(source, unique=unique)
        # Keys of lines and of rows cannot be compared; and that a label is not used has to be said.
        unused = source.label in asked and rows is not None and rows.names_runs
        if rows is None or unused or rows.runs & of_lines:
            found.unfit.add(run)
        else:
            for label in sorted(rows.runs):
                found.runs.setdefault(label, len(found.runs))
            found.rows.append(rows)
            found.keys += [] if rows.keys is None else [rows.keys]
        advance(size_of(source))


def _rows(source: Source, *, unique: bool) -> Rows | None:
    """Give the rows of a file if they fit, of one trial each and all of runs with a name."""
    try:
        rows = distinct_rows(source, unique=unique)
    except UnfitError:
        return None
    fits = rows.records.get_column("trial").n_unique() == 1 and "" not in rows.runs
    return rows if fits else None


def _together(grouper: Grouper, found: _Found) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give the distinct records of all files, and how often each run has each of them: ``run``, `RECORD`, ``lines``."""
    parts, counts = [], []
    if found.counts:
        decoded = records.frame_of([text.record for text in grouper.texts])
        heads = pl.DataFrame(
            [(text.head, text.numbered) for text in grouper.texts],
            schema={"head": pl.String, "numbered": pl.Boolean},
            orient="row",
        )
        parts.append(decoded.drop("uid").hstack(heads))
        fitting = pl.concat(found.counts)
        if found.unfit:
            fitting = fitting.filter(~pl.col("run").is_in(list(found.unfit)))
        counts.append(fitting.select("run", pl.col("text").alias(RECORD), "lines"))
    for rows in found.rows:
        first = sum(part.height for part in parts)
        number = pl.int_range(first, first + rows.records.height, dtype=pl.UInt32, eager=True)
        label = rows.records.get_column("run")
        run = label.replace_strict(found.runs, return_dtype=pl.Int64)
        counts.append(pl.DataFrame([run, number.alias(RECORD), rows.counts.alias("lines")]))
        parts.append(rows.records)
    return _named(pl.concat(parts, how="diagonal")), pl.concat(counts)


def _named(found: pl.DataFrame) -> pl.DataFrame:
    """Give each record a number and, where uids have one, a uid with it: they are different tasks."""
    numbered = found.with_row_index(RECORD)
    uid = pl.when("numbered").then(pl.concat_str("head", RECORD)).otherwise("head")
    # Each is of a run of its own: several runs may have one uid, and what a run records is looked at afterwards.
    named = numbered.with_columns(uid=uid, run=pl.col(RECORD).cast(pl.String))
    return labelled(Part(named.select(*TASKS), 1), "", 0).with_columns(named.get_column(RECORD))


def _with_several_trials(counts: pl.DataFrame, of_records: pl.DataFrame) -> list[int]:
    """Name the runs in which a task may have several trials: these are added up before they are counted."""
    if of_records.get_column("trial").n_unique() <= 1:
        return []
    trials = counts.join(of_records.select(RECORD, "trial"), on=RECORD)
    several = trials.group_by("run").agg(pl.col("trial").n_unique()).filter(pl.col("trial") > 1)
    return several.get_column("run").to_list()


def _keep_the_rules(
    counts: pl.DataFrame, of_records: pl.DataFrame, benchmark: Benchmark | None
) -> bool:
    """Put the records that the runs have to every rule but that of unique keys."""
    kept = of_records.join(counts.select(RECORD), on=RECORD, how="semi").drop(RECORD)
    faults, _ = find_faults(kept, [], benchmark, [""])
    return not faults.height and _recorded_alike(counts, of_records)


def _recorded_alike(counts: pl.DataFrame, of_records: pl.DataFrame) -> bool:
    """Tell whether each run records steps, and calls, in all of its measured records or in none."""
    lacking = [(pl.col(name).is_null() & measured()).alias(f"lacks_{name}") for name in WHOLE_RUN]
    if not of_records.select(pl.any_horizontal(lacking).any()).item():
        return True
    having = [pl.col(name).is_not_null().alias(f"has_{name}") for name in WHOLE_RUN]
    flags = of_records.select(RECORD, *having, *lacking)
    per_run = counts.join(flags, on=RECORD).group_by("run")
    any_of = per_run.agg(pl.col("^(has|lacks)_.*$").any())
    mixed = (pl.col(f"has_{name}") & pl.col(f"lacks_{name}") for name in WHOLE_RUN)
    return not any_of.select(pl.any_horizontal(mixed).any()).item()
