"""Files beyond one machine → tally: Spark reads them where they are, and gives counts back."""

from __future__ import annotations

import os
import warnings
from functools import reduce
from typing import TYPE_CHECKING, get_args

import polars as pl

from skillshift_frames.engine_records import typed_records
from skillshift_frames.errors import InputError, RecordError, SkillshiftWarning
from skillshift_frames.readers.hadoop import resolve_on_hadoop
from skillshift_frames.readers.spark import read_on_spark
from skillshift_frames.readers.spark_lines import Unknown
from skillshift_frames.readers.wording import printable
from skillshift_frames.spark_session import strict_session
from skillshift_frames.tally import tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from skillshift_frames.benchmark import BenchmarkLike
    from skillshift_frames.readers.hadoop import Found
    from skillshift_frames.readers.sources import Paths
    from skillshift_frames.readers.spark import Part


def tally_on_spark(
    paths: Paths,
    *,
    session: SparkSession | None = None,
    master: str | None = None,
    labels: Mapping[str, str | os.PathLike[str]] | None = None,
    pool: bool | str = False,
    families: bool = False,
    benchmark: BenchmarkLike = "skillshift",
    extra: Unknown = "refuse",
) -> pl.DataFrame:
    """Have Spark read files of records where they are, check them, and count the outcomes in them.

    One row is one run × site × condition × outcome; with ``families``, one task of one kind of family.

    Parameters
    ----------
    paths
        One or several, as the file system calls them that Spark sees: ``hdfs:///runs/*.parquet``, ``s3a://…``; without a
        scheme, on its default one. Files are ``.jsonl`` or ``.ndjson``, also with ``.gz``, or ``.parquet``. A folder with such a
        name is a dataset, as Spark writes it; any other stands for every ``per_task.jsonl`` in it or below.
    session
        Spark, where it runs already: it is asked, and stays as it is. Without, a session is started, and stopped at the end.
    master
        Where to start it (``yarn``, ``spark://host:7077``, ``local[4]``); by default what Spark is configured for.
    labels, pool
        As for `skillshift_frames.read_tasks`.
    families, benchmark
        As for `skillshift_frames.tally`.
    extra
        ``"refuse"`` keys that are not the record's, or ``"ignore"`` them and say so once.

    Returns
    -------
    polars.DataFrame
        As `skillshift_frames.tally` gives it.

    Raises
    ------
    RecordError
        What `skillshift_frames.read_tasks` would raise, once per file or per run, site and condition, with the number of
        lines or records in place of their numbers in the file.
    InputError
        PySpark or Java is missing, a path names nothing, Spark cannot read a file.
    BenchmarkError
        As `load_benchmark`.

    Notes
    -----
    Lines are first counted by their keys and the types of their values; of each such shape one line comes here, to be judged
    as `skillshift_frames.read_tasks` would. Nothing else does but counts. Whatever Spark is configured for, a damaged or
    missing file, a key of unknown name and a column that differs in its capitals are errors here.

    See Also
    --------
    tally : the same of a frame of any engine, also of Spark.
    read_tally : the same of the files of this machine.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> counts = tally_on_spark(
    ...     "hdfs:///runs/*.parquet", master="yarn", families=True
    ... )  # doctest: +SKIP
    >>> sf.table(sf.cells(counts)), sf.intervals(counts)  # doctest: +SKIP
    >>> tally_on_spark("-")
    Traceback (most recent call last):
    skillshift_frames.errors.InputError: standard input cannot be read by a cluster; name files
    """
    if extra not in get_args(Unknown):
        msg = f"extra is {extra!r}; on Spark, one of {', '.join(get_args(Unknown))} is needed: a tally has no place for more keys"
        raise InputError(msg)
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if "-" in {*map(str, named), *map(str, (labels or {}).values())}:
        msg = "standard input cannot be read by a cluster; name files"
        raise InputError(msg)  # before Spark is started
    with strict_session(session, master) as strict:
        found = resolve_on_hadoop(strict, named, labels, pool)
        parts, faults, unknown = read_on_spark(strict, found, extra)
        records = _put_together(parts, faults)
        try:
            counts = tally(records, families=families, benchmark=benchmark)
        except RecordError as error:
            raise RecordError(
                _at(error.faults, [source.path for source in found.sources])
            ) from None
    ignored = ", ".join(sorted(map(printable, unknown)))
    notes = [f"ignored, not keys of a record: {ignored}"] if ignored else []
    asked = {source.label for source in found.sources} if pool else set(labels or {})
    for note in [*found.notes, *notes, *_not_used(asked, found, counts)]:
        warnings.warn(note, SkillshiftWarning, stacklevel=2)
    return counts


def _put_together(parts: Sequence[Part], faults: pl.DataFrame) -> DataFrame:
    """Give the records of all parts as one frame.

    Raises
    ------
    RecordError
        There are faults, or columns that are not those of a record.
    """
    frames, found = [], [faults]
    for part in parts:
        try:
            frames.append(typed_records(part.frame, part.label, "refuse").to_native())
        except RecordError as error:
            found.append(_at(error.faults, part.files))
    every = pl.concat(found)
    if every.height:
        raise RecordError(every)
    together: DataFrame = reduce(lambda one, other: one.unionByName(other), frames)
    return together


def _at(faults: pl.DataFrame, files: Sequence[str]) -> pl.DataFrame:
    """Name the files that faults are from, as far as an engine knows."""
    others = len(files) - 1
    place = (
        f"{files[0]} or {others:,} {'other' if others == 1 else 'others'}" if others else files[0]
    )
    return faults.with_columns(path=pl.lit(place))


def _not_used(asked: set[str], found: Found, counts: pl.DataFrame) -> list[str]:
    """Say of labels that somebody gave, and that no record has, that they are of no use."""
    unused = asked - set(counts.get_column("run"))
    return [
        f"{printable(source.path)}: the label {printable(source.label)} is not used: every record names its own run"
        for source in found.sources
        if source.label in unused
    ]
