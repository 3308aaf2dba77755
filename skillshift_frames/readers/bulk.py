"""Files of one layout → their distinct records with how often each occurs, without a row per record.

The lines of a run differ in the number at the end of the uid and repeat each other in the rest. A table needs to know how
often each of these occurs, that each is a record, and that no key comes twice; it does not need the records. So lines are
split by Polars into the uid's beginning, its digits and what follows the uid, and grouped by what repeats: each distinct
line is decoded strictly and put to every rule once, with its number of occurrences beside it. Of the uids a hash per line
is kept, from which follows whether any key repeats.

This is for files in which all is well. Whatever does not fit, be it the layout, a fault, a warning, or two keys with one
hash, is left to the general reader (`skillshift_frames.readers.assemble`), which looks at every line and names every fault.

Measured on two cores with 5 million lines (760 MB): 1.3 s, where a bare Polars scan and group-by takes 2.8 s. The idea is
from the sketch "distinct rests" of the design.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.readers import records
from skillshift_frames.readers.assemble import labelled
from skillshift_frames.readers.checks import find_faults
from skillshift_frames.readers.jsonl import Part
from skillshift_frames.readers.sources import STDIN
from skillshift_frames.readers.streams import LONGEST_LINE
from skillshift_frames.schema import TASKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.readers.sources import Source

#: How often a record occurs but for the digits of its uid.
COUNT = "_count"

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
_GROUP = (_PATH, _HEAD, _NUMBERED, _REST)


class _UnfitError(Exception):
    """The general reader has to look."""


def distinct_records(
    sources: Sequence[Source], benchmark: Benchmark | None, *, unique: bool = True
) -> pl.DataFrame | None:
    """Give the distinct records of files with their counts, or None where the general reader has to look.

    One row is one run × record but for the digits at the end of its uid: columns as `TASKS`, with a number of our own in
    the place of those digits, and `COUNT`. Every rule is kept; ``unique`` says whether that of unique keys is, too.
    """
    try:
        return _distinct_records(sources, benchmark, unique=unique)
    except _UnfitError:
        return None


def _distinct_records(
    sources: Sequence[Source], benchmark: Benchmark | None, *, unique: bool
) -> pl.DataFrame:
    paths = [source.path for source in sources]
    prefix = _common_prefix(sources)
    lines = _split(paths, prefix, unique=unique)
    groups = _groups(lines, several=len(sources) > 1)
    _fit(groups.height * _LINES_PER_GROUP <= lines.height)
    decoded = _decode(groups, sources, prefix)
    # Every rule but that of unique keys: those of the distinct records are ours.
    rows = labelled(Part(decoded.select(*TASKS), 1), "", 0)
    faults, _ = find_faults(rows, [], benchmark, paths)
    _fit(not faults.height)
    if unique:
        _fit(_keys(lines, decoded).n_unique() == lines.height)
    return rows.select(*TASKS).with_columns(decoded.get_column(COUNT))


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


def _groups(lines: pl.DataFrame, *, several: bool) -> pl.DataFrame:
    """Count the lines that have beginning and rest in common, file by file."""
    head, rest = (pl.col(name).to_physical().cast(pl.UInt64) for name in (_HEAD, _REST))
    # One number is grouped by in half the time and memory that three columns take.
    number = head * (1 << 32) + rest * 2 + pl.col(_NUMBERED).cast(pl.UInt64)
    key = [number.alias("_key"), *([pl.col(_PATH)] if several else [])]
    first = (pl.col(name).first() for name in _GROUP if not (several and name == _PATH))
    return lines.group_by(key).agg(*first, pl.len().cast(pl.Int64).alias(COUNT)).drop("_key")


def _decode(groups: pl.DataFrame, sources: Sequence[Source], prefix: str) -> pl.DataFrame:
    """Decode each distinct rest once, and put the groups' uids before it."""
    text = groups.with_columns(pl.col(_PATH, _HEAD, _REST).cast(pl.String))
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
    labels = {source.path: source.label for source in sources}
    return (
        text.join(decoded.drop("uid", "run").with_columns(rests.alias(_REST)), on=_REST)
        .with_row_index("_number")
        .with_columns(
            run=pl.col(_PATH).replace_strict(labels),
            # A number of its own for each: they are different tasks, as their lines are.
            uid=pl.when(_NUMBERED).then(pl.concat_str(_HEAD, "_number")).otherwise(pl.col(_HEAD)),
        )
    )


def _keys(lines: pl.DataFrame, decoded: pl.DataFrame) -> pl.Series:
    """Give 64 bits per line that are equal where keys are; whether equal ones are of one key, others settle."""
    runs = _codes(lines.get_column(_PATH), decoded, pl.col("run"))
    cells = _codes(lines.get_column(_REST), decoded, pl.struct("site", "condition", "trial"))
    # Products wrap around, which is meant: they spread small numbers over all bits.
    return lines.get_column(_HASH) ^ (runs * _ODD + cells * (_ODD + 2))


def _codes(column: pl.Series, decoded: pl.DataFrame, value: pl.Expr) -> pl.Series:
    """Give for each line a number that stands for a value which follows from one of its parts."""
    numbered = decoded.select(
        pl.col(column.name), value.rank("dense").cast(pl.UInt64).alias("code")
    )
    known = numbered.unique(column.name).with_columns(pl.col(column.name).cast(column.dtype))
    places = known.get_column(column.name).to_physical()
    codes = pl.Series([0], dtype=pl.UInt64).new_from_index(0, int(places.max()) + 1)  # type: ignore[arg-type]
    return codes.scatter(places, known.get_column("code")).gather(column.to_physical())
