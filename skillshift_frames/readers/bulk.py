"""Files of one layout → their distinct records with how often each occurs, without a row per record.

The lines of a run differ in the number at the end of the uid and repeat each other in the rest. A table needs to know how
often each of these occurs, that each is a record, and that no key comes twice; it does not need the records. So lines are
split by Polars into the uid's beginning, its digits and what follows the uid, and grouped by what repeats: each distinct
line is decoded strictly and put to every rule once, with its number of occurrences beside it. Of the uids a hash per line
is kept, from which follows whether any key repeats.

This is for files in which all is well. Whatever does not fit, be it the layout, a fault, a warning, or two keys with one
hash, is left to the general reader (`skillshift_frames.readers.assemble`), which looks at every line and names every fault.

Measured on two cores with 5 million lines (760 MB): 1.7 s, of which 1.1 s go to splitting the lines; a bare Polars scan and
group-by, which checks nothing, takes 2.0 s. The idea is from the sketch "distinct rests" of the design.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.readers import records
from skillshift_frames.readers.assemble import labelled
from skillshift_frames.readers.checks import find_faults
from skillshift_frames.readers.jsonl import Part
from skillshift_frames.readers.sources import STDIN
from skillshift_frames.readers.streams import LONGEST_LINE
from skillshift_frames.schema import TASKS, WHOLE_RUN, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.readers.sources import Source

#: Which record, but for the digits of its uid; and how often a run has it.
RECORD, COUNT = "_record", "_count"

#: Below so many bytes the fixed cost of a few Polars queries exceeds that of decoding every line.
WORTH_IT = 1 << 20

#: With more distinct lines than one in so many, grouping saves too little.
_LINES_PER_GROUP = 4

#: So many lines of a file are looked at before all of it is.
_SAMPLE = 2_000

_UID_FIRST = re.compile(r'\s*\{\s*"uid"\s*:\s*"')
_UID_AND_REST = re.compile(rb'[^"]*?(\d*)"(.*)', re.DOTALL)
_DIGITS = "0123456789"

#: What JSON text may not hold unescaped, and what starts an escape: such a uid is not plain.
_NOT_PLAIN = r"[\x00-\x1f\\]"

_ODD = 0x9E37_79B9_7F4A_7C15

_PATH, _HEAD, _NUMBERED, _REST, _HASH = "_path", "_head", "_numbered", "_rest", "_hash"


class DistinctRecords(NamedTuple):
    """The records of some runs, told apart but for the digits at the end of their uids.

    Attributes
    ----------
    records
        `RECORD` and the columns of `TASKS` but for ``run``, with a number of our own in the place of those digits.
    counts
        ``run``, `RECORD` and `COUNT`: one row per run and record that it has.
    """

    records: pl.DataFrame
    counts: pl.DataFrame


class _UnfitError(Exception):
    """The general reader has to look."""


def distinct_records(
    sources: Sequence[Source], benchmark: Benchmark | None, *, unique: bool = True
) -> DistinctRecords | None:
    """Give the distinct records of files with their counts, or None where the general reader has to look.

    Every rule is kept; ``unique`` says whether that of unique keys is, too.
    """
    try:
        return _distinct_records(sources, benchmark, unique=unique)
    except _UnfitError:
        return None


def _distinct_records(
    sources: Sequence[Source], benchmark: Benchmark | None, *, unique: bool
) -> DistinctRecords:
    paths = [source.path for source in sources]
    prefix = _common_prefix(sources)
    lines = _split(paths, prefix, unique=unique)
    number = _number(lines)
    distinct = _distinct(lines, number)
    _fit(distinct.height * _LINES_PER_GROUP <= lines.height)
    records_of = _checked(_decode(distinct, prefix), benchmark)
    runs = _runs(lines.get_column(_PATH), sources)
    counts = _counts(distinct, number, runs, sorted({source.label for source in sources}))
    _fit(_recorded_alike(records_of, counts))
    if unique:
        _fit(_keys(lines, distinct, records_of, runs).n_unique() == lines.height)
    return DistinctRecords(records_of.drop("run"), counts)


def _fit(is_so: bool) -> None:  # noqa: FBT001 - reads as a sentence
    if not is_so:
        raise _UnfitError


def _is_plain_file(source: Source) -> bool:
    return (
        source.kind == "jsonl"
        and source.compression is None
        and source.path != STDIN
        and Path(source.path).is_file()
    )


def _common_prefix(sources: Sequence[Source]) -> str:
    """Give what every line has before its uid, by the first line of each file."""
    _fit(all(map(_is_plain_file, sources)))
    _fit(sum(Path(source.path).stat().st_size for source in sources) >= WORTH_IT)
    found = set()
    for source in sources:
        with open(source.path, "rb") as file:  # noqa: PTH123 - the path is used as it was given
            start = _UID_FIRST.match(file.read(1 << 10).decode(errors="replace"))
        found.add(start.group() if start else "")
    _fit(len(found) == 1)
    prefix = found.pop()
    _fit(bool(prefix) and _repeats(sources[0].path, len(prefix)))
    return prefix


def _repeats(path: str, prefix: int) -> bool:
    """Tell by the start of a file whether its lines repeat each other: if not, to read all of it is in vain."""
    with open(path, "rb") as file:  # noqa: PTH123
        # A line may be as long as memory is large; what is cut off makes it different, which is all that counts.
        lines = list(islice(iter(lambda: file.readline(1 << 12), b""), _SAMPLE))
    rests = set()
    for line in lines:
        found = _UID_AND_REST.match(line[prefix:])
        rests.add((found.start(1), found[2]) if found else line)
    return len(rests) * _LINES_PER_GROUP <= len(lines)


def _split(paths: Sequence[str], prefix: str, *, unique: bool) -> pl.DataFrame:
    """Give each line as what it is grouped by, with the hash of its uid."""
    line, uid = pl.col("line"), pl.col("uid")
    parts = line.str.strip_prefix(prefix).str.splitn('"', 2).struct.rename_fields(["uid", _REST])
    head = uid.str.strip_chars_end(_DIGITS)
    several = len(paths) > 1
    query = (
        pl.scan_lines(list(paths), glob=False, include_file_paths=_PATH if several else None)
        .select(
            *([_PATH] if several else []),
            (line.str.starts_with(prefix) & (line.str.len_bytes() <= LONGEST_LINE)).alias("fits"),
            parts.alias("parts"),
        )
        .unnest("parts")
        .select(
            (pl.col(_PATH) if several else pl.lit(paths[0])).cast(pl.Categorical).alias(_PATH),
            pl.col("fits") & pl.col(_REST).is_not_null(),
            head.cast(pl.Categorical).alias(_HEAD),
            (uid.str.len_bytes() != head.str.len_bytes()).alias(_NUMBERED),
            pl.col(_REST).cast(pl.Categorical),
            *([uid.hash().alias(_HASH)] if unique else []),
        )
    )
    try:
        lines = query.collect(engine="streaming")
    except pl.exceptions.ComputeError as error:  # not UTF-8
        raise _UnfitError from error
    _fit(bool(lines.height and lines.get_column("fits").all()))
    return lines.drop("fits")


def _number(lines: pl.DataFrame) -> pl.Series:
    """Give each line a number that is equal where beginning and rest are."""
    head, rest = (lines.get_column(name).to_physical().cast(pl.UInt64) for name in (_HEAD, _REST))
    # One number is grouped by in half the time and memory that three columns take.
    return (head * (1 << 32) + rest * 2 + lines.get_column(_NUMBERED)).alias("_number")


def _distinct(lines: pl.DataFrame, number: pl.Series) -> pl.DataFrame:
    """Give each distinct line once, with `RECORD` and how often it occurs, in the order of the numbers."""
    parts = (pl.col(name).first() for name in (_HEAD, _NUMBERED, _REST))
    grouped = lines.lazy().group_by(number).agg(*parts, pl.len().cast(pl.Int64).alias(COUNT))
    return grouped.sort("_number").with_row_index(RECORD).collect()


def _decode(distinct: pl.DataFrame, prefix: str) -> pl.DataFrame:
    """Decode each distinct rest once, and put the uids before it."""
    text = distinct.select(RECORD, pl.col(_HEAD, _REST).cast(pl.String), _NUMBERED)
    _fit(not text.select(pl.col(_HEAD).str.contains(_NOT_PLAIN).any()).item())
    rests = text.get_column(_REST).unique()
    try:
        decoded = records.frame_of(
            [records.decode_line(f'{prefix}"{rest}'.encode()) for rest in rests]
        )
    except (*records.REFUSALS, TypeError) as error:
        raise _UnfitError from error
    # Where records name their run, labels and the notes on them are the general reader's.
    _fit(decoded.get_column("run").null_count() == decoded.height)
    # Trials of one task are added up before they are counted.
    _fit(decoded.get_column("trial").n_unique() == 1)
    # A number of its own for each: they are different tasks, as their lines are.
    uid = pl.when(_NUMBERED).then(pl.concat_str(_HEAD, RECORD)).otherwise(pl.col(_HEAD))
    others = decoded.drop("uid").with_columns(rests.alias(_REST))
    return text.join(others, on=_REST).with_columns(uid=uid).sort(RECORD).select(RECORD, *TASKS)


def _checked(decoded: pl.DataFrame, benchmark: Benchmark | None) -> pl.DataFrame:
    """Put the records to every rule that is about one of them."""
    # Records that leave out different things are no run's: what a run records is looked at later.
    left_out = pl.concat_str(pl.col(name).is_null().cast(pl.String) for name in WHOLE_RUN)
    rows = labelled(Part(decoded.select(*TASKS).with_columns(run=left_out), 1), "", 0)
    faults, _ = find_faults(rows, [], benchmark, [""])
    _fit(not faults.height)
    return rows.select(*TASKS).with_columns(decoded.get_column(RECORD))


def _runs(paths: pl.Series, sources: Sequence[Source]) -> pl.Series:
    """Give for each line the number of its run, by label."""
    labels = sorted({source.label for source in sources})
    of_path = {source.path: labels.index(source.label) for source in sources}
    known = pl.DataFrame({_PATH: list(of_path), "run": list(of_path.values())})
    return _codes(paths, known.with_columns(pl.col("run").cast(pl.UInt64)))


def _counts(
    distinct: pl.DataFrame, number: pl.Series, runs: pl.Series, labels: list[str]
) -> pl.DataFrame:
    """Count run by run how often each record occurs."""
    if len(labels) == 1:
        return distinct.select(pl.lit(labels[0]).alias("run"), RECORD, COUNT)
    record = distinct.get_column("_number").search_sorted(number).cast(pl.UInt64)
    both = (runs * distinct.height + record).value_counts(name=COUNT)
    run, count = pl.col(both.columns[0]), pl.col(COUNT).cast(pl.Int64)
    counted = both.select(run // distinct.height, (run % distinct.height).alias(RECORD), count)
    label = pl.Series(labels).gather(counted.to_series(0)).alias("run")
    return counted.select(label, pl.col(RECORD).cast(pl.UInt32), COUNT)


def _recorded_alike(records_of: pl.DataFrame, counts: pl.DataFrame) -> bool:
    """Tell whether each run records steps, and calls, in all of its measured records or in none."""
    flags = [
        flag
        for name in WHOLE_RUN
        for flag in (
            pl.col(name).is_not_null().alias(f"has_{name}"),
            (pl.col(name).is_null() & measured()).alias(f"lacks_{name}"),
        )
    ]
    per_run = counts.join(records_of.select(RECORD, *flags), on=RECORD).group_by("run")
    any_of = per_run.agg(pl.col("^(has|lacks)_.*$").any())
    mixed = (pl.col(f"has_{name}") & pl.col(f"lacks_{name}") for name in WHOLE_RUN)
    return not any_of.select(pl.any_horizontal(mixed).any()).item()


def _keys(
    lines: pl.DataFrame, distinct: pl.DataFrame, records_of: pl.DataFrame, runs: pl.Series
) -> pl.Series:
    """Give 64 bits per line that are equal where keys are; whether equal ones are of one key, others settle."""
    cell = pl.struct("site", "condition", "trial").rank("dense").cast(pl.UInt64)
    known = distinct.select(pl.col(_REST)).hstack(records_of.select(cell.alias("cell")))
    cells = _codes(lines.get_column(_REST), known.unique(_REST))
    # Products wrap around, which is meant: they spread small numbers over all bits.
    return lines.get_column(_HASH) ^ (runs * _ODD + cells * (_ODD + 2))


def _codes(column: pl.Series, known: pl.DataFrame) -> pl.Series:
    """Give for each line the number that belongs to its value: ``known`` has values, then numbers."""
    places = known.to_series(0).cast(column.dtype).to_physical()
    codes = pl.Series([0], dtype=pl.UInt64).new_from_index(0, int(places.max()) + 1)  # type: ignore[arg-type]
    return codes.scatter(places, known.to_series(1)).gather(column.to_physical())
