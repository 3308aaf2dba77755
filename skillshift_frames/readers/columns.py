"""A Parquet file → its distinct rows with how often each occurs, where all that rules ask of a uid follows from its beginning.

What `skillshift_frames.readers.groups` does to lines, for columns: rows are grouped by everything but the uid, and what all
uids of a group begin with follows from the least and the greatest of them.
"""

from __future__ import annotations

import os
import re
from functools import reduce
from operator import xor
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.readers.blocks import UnfitError
from skillshift_frames.readers.groups import refuse_too_many
from skillshift_frames.readers.records import FIELDS, REQUIRED
from skillshift_frames.schema import KEY, TASKS

if TYPE_CHECKING:
    from skillshift_frames.readers.sources import Source

_NARROW = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)

_OFFICIAL = "skillshift."
_OFFICIAL_HEAD = re.compile(r"skillshift\.[^\n]+\.v[12]\.")

_HEADS = pl.Schema({"head": pl.String(), "numbered": pl.Boolean()})

_BUT_UID = tuple(name for name in TASKS if name != "uid")


class Rows(NamedTuple):
    """The rows of a file.

    Attributes
    ----------
    records
        One row is one distinct row but for the uid: the other columns of `TASKS`, then ``head`` and ``numbered``. That,
        with a number after it if so, is a uid that breaks a rule if any of theirs does.
    counts
        How often each occurs.
    keys
        64 bits per row that are equal where keys are; None where keys are not looked at.
    names_runs
        Whether every row names its run, so that the file's label is not used.
    """

    records: pl.DataFrame
    counts: pl.Series
    keys: pl.Series | None
    names_runs: bool

    @property
    def runs(self) -> set[str]:
        """The labels of the runs."""
        return set(self.records.get_column("run"))


def distinct_rows(source: Source, *, unique: bool) -> Rows:
    """Give the distinct rows of a Parquet file, which may name their runs; keys are comparable between files.

    Raises
    ------
    UnfitError
        Its columns are not exactly those of records, its rows hardly repeat each other, or its uids do not begin alike.
    """
    try:
        path = os.path.abspath(source.path)  # noqa: PTH100 - no home folder, no address in a cloud; links stay
        rows = _typed(pl.scan_parquet(path, glob=False, hive_partitioning=False))
        uid, written = pl.col("uid"), [name for name in rows.collect_schema() if name != "uid"]
        # Grouped by the columns that there are, since each that is grouped by takes its time.
        grouped = rows.group_by(written).agg(
            uid.min(),
            uid.max().alias("last"),
            uid.is_null().any().alias("unnamed"),
            pl.len().cast(pl.Int64).alias("rows"),
        )
        found = _completed(grouped.collect(engine="streaming"), source.label)
        if not found.height or found.get_column("unnamed").any():
            raise UnfitError
        refuse_too_many(found.height, int(found.get_column("rows").sum()))
        ends = found.select("uid", "last").iter_rows()
        heads = pl.DataFrame([_head(*group) for group in ends], schema=_HEADS, orient="row")
        keys = _keys(rows, source.label) if unique else None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnfitError from error
    records = found.select(*_BUT_UID).hstack(heads)
    counts = found.get_column("rows")
    if keys is not None and keys.len() != counts.sum():  # the file was changed in between
        raise UnfitError
    return Rows(records, counts, keys, names_runs=not found.get_column("labelled").any())


def _typed(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give the columns of a record in their types, where nothing can be lost on the way."""
    schema = rows.collect_schema()
    fits = all(name in FIELDS for name in schema) and all(name in schema for name in REQUIRED)
    for name, dtype in schema.items():
        wanted = TASKS.get(name)
        fits &= dtype == wanted or (wanted == pl.Int64 and dtype in _NARROW)
    if not fits:
        raise UnfitError
    typed = [pl.col(name).cast(TASKS[name]) for name in schema if name != "error"]
    if "error" in schema:
        # Rows differ by whether there was an error, not by which.
        typed.append(pl.when(pl.col("error") != "").then(pl.lit("error")).alias("error"))
    return rows.select(typed)


def _completed(found: pl.DataFrame, label: str) -> pl.DataFrame:
    """Add what a record may leave out; ``labelled`` says that a row does not name its run."""
    for name in ("run", "trial", "error"):
        if name not in found.columns:
            found = found.with_columns(pl.lit(None, TASKS[name]).alias(name))
    return found.with_columns(
        pl.col("trial").fill_null(1),
        pl.col("run").fill_null(label),
        labelled=pl.col("run").is_null(),
    )


def _head(first: str, last: str) -> tuple[str, bool]:
    """Give what all uids of a group begin with, as far as rules ask for it."""
    head = os.path.commonprefix([first, last])  # noqa: RUF071 - strings are meant
    if not head.startswith(_OFFICIAL[: len(head)]):
        return first, False  # names of their own, not empty, whatever follows
    official = _OFFICIAL_HEAD.match(head)
    if official is None:
        raise UnfitError
    # With a number it is of a site and a version; with anything else it may be a name of its own, and then no rule asks.
    return official[0], True


def _keys(rows: pl.LazyFrame, label: str) -> pl.Series:
    columns = rows.collect_schema().names()
    filled = {
        "run": pl.col("run").fill_null(label) if "run" in columns else pl.lit(label),
        "trial": pl.col("trial").fill_null(1) if "trial" in columns else pl.lit(1, pl.Int64),
    }
    hashes = (filled.get(name, pl.col(name)).hash(seed) for seed, name in enumerate(KEY))
    keys = rows.select(reduce(xor, hashes).alias("key")).collect(engine="streaming")
    return keys.get_column("key")
