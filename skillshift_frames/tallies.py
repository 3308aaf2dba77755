"""Files → a tally: all that a table needs of them, without a row per record where that can be done."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.benchmark import infer_benchmark, known_benchmark
from skillshift_frames.errors import BenchmarkError, SkillshiftWarning
from skillshift_frames.outcomes import count_outcomes, tally_counted
from skillshift_frames.readers.assemble import check_sources, refuse_unknown_extra
from skillshift_frames.readers.bulk import RECORD, distinct_records
from skillshift_frames.readers.sources import resolve_sources
from skillshift_frames.readers.tasks import read_tasks, valid_or_raise
from skillshift_frames.readers.trials import of_other_tools

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.readers.records import Extra
    from skillshift_frames.readers.sources import Paths, Source


def read_tally(
    paths: Paths,
    *,
    labels: Mapping[str, str | os.PathLike[str]] | None = None,
    pool: bool | str = False,
    benchmark: BenchmarkLike = "skillshift",
    extra: Extra = "refuse",
    unique: bool = True,
    from_: str | None = None,
) -> pl.DataFrame:
    """Read files of records into the tally that `cells` takes, in a fraction of the time and memory of `read_tasks`.

    One row is one run × site × condition × outcome.

    Parameters
    ----------
    paths, labels, pool, benchmark, extra, from_
        As for `skillshift_frames.read_tasks`, with the same faults, warnings and notes.
    unique
        Whether keys are looked through for repeated ones. Without, an archive that is known to be clean is read faster still,
        as long as its files have the one layout that this is for: others are read as ever, and checked. Where no look was
        taken, a `SkillshiftWarning` says so.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `skillshift_frames.TALLY`: what `skillshift_frames.tally` gives of the same records.

    Raises
    ------
    RecordError, InputError, BenchmarkError
        As `skillshift_frames.read_tasks`.

    Notes
    -----
    Lines of one layout (the uid first, with a number at its end; nothing but the record's keys; one trial per task) are
    grouped by what repeats, and each distinct line is decoded and checked once. Files that do not fit, and files with a
    fault, are read line by line, with the same result.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> counts = read_tally("data/demo/induced.jsonl")
    >>> counts.equals(sf.tally(sf.read_tasks("data/demo/induced.jsonl")))
    True
    >>> sf.cells(counts).equals(sf.cells(sf.read_tasks("data/demo/induced.jsonl")))
    True
    """
    paths = paths if isinstance(paths, str | os.PathLike) else list(paths)
    if of_other_tools(paths, from_):
        return count_outcomes(
            read_tasks(
                paths, labels=labels, pool=pool, benchmark=benchmark, extra=extra, from_=from_
            )
        )
    known = known_benchmark(benchmark)
    refuse_unknown_extra(extra)
    sources, notes = resolve_sources(paths, labels=labels, pool=pool)
    asked = {source.label for source in sources} if pool else set(labels or {})
    if extra == "refuse":
        found = _tally_in_bulk(sources, known, asked, unique=unique)
        if found is not None:
            unchecked = [] if unique else ["no look was taken for records that repeat a key"]
            for note in [*notes, *unchecked]:
                warnings.warn(note, SkillshiftWarning, stacklevel=2)
            return found
    checked = check_sources(sources, known or "infer", extra, asked)
    return count_outcomes(valid_or_raise(checked._replace(notes=notes + checked.notes)))


def _tally_in_bulk(
    sources: list[Source], benchmark: Benchmark | None, asked: Collection[str], *, unique: bool
) -> pl.DataFrame | None:
    """Tally the runs whose lines repeat each other, and the others record by record; None if there is anything to say."""
    distinct = distinct_records(sources, benchmark, unique=unique, asked=asked)
    if distinct is None:
        return None
    found = tally_counted(distinct.records, distinct.counts, RECORD)
    try:
        if distinct.unfit:
            checked = check_sources(distinct.unfit, benchmark or "infer", "refuse", asked)
            # A record can name another run than its file does.
            named_alike = set(found.get_column("run")) & set(checked.valid.get_column("run"))
            if checked.faults.height or checked.notes or named_alike:
                return None
            found = pl.concat([found, count_outcomes(checked.valid)]).sort(found.columns)
        if benchmark is None:  # raises where the names cannot be a table's axes
            infer_benchmark(found)
    except BenchmarkError:
        return None
    return found
