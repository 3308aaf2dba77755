"""Files and frames → tasks: read, checked against every rule, or refused with every fault."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from skillshift_frames.benchmark import BenchmarkLike, known_benchmark
from skillshift_frames.errors import InputError, RecordError, SkillshiftWarning, describe_faults
from skillshift_frames.readers.assemble import (
    Checked,
    check_frame,
    check_paths,
    refuse_unknown_extra,
)
from skillshift_frames.readers.frames import to_polars
from skillshift_frames.readers.sources import Paths, Source, resolve_sources
from skillshift_frames.schema import TASKS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from skillshift_frames.readers.records import Extra


def read_tasks(
    paths: Paths,
    *,
    labels: Mapping[str, str | os.PathLike[str]] | None = None,
    pool: bool | str = False,
    benchmark: BenchmarkLike = "skillshift",
    extra: Extra = "refuse",
    from_: str | None = None,
) -> pl.DataFrame:
    """Read files of records into one checked frame.

    One row is one record: one trial of one task.

    Parameters
    ----------
    paths
        One path or several: ``.jsonl`` or ``.ndjson`` (also ``.gz``, ``.zst``), ``.parquet``, ``.arrow``, ``-`` for standard
        input,
        a folder (every ``per_task.jsonl`` in it or below), or a glob. A folder without one may be another tool's results:
        they are read as `read_trials` does, and become records as `tasks_of` says; which format it is comes as a
        `SkillshiftWarning`. A path that exists as written is never taken for
        a glob. A file named twice, also through a link, is read once, with a `SkillshiftWarning`.
    labels
        Label → path, for files whose run should not be called by the file's name.
    pool
        All files are shards of one run; a string names it.
    benchmark
        Whose sites and conditions the records must have: a `Benchmark`, ``"skillshift"``, ``"infer"`` (any) or the path
        of a TOML file.
    extra
        What to do with keys that are not the record's: ``"refuse"`` them, ``"keep"`` them as columns (of one type each;
        objects and arrays as JSON text), ``"ignore"`` them, with one `SkillshiftWarning` that names them. Of another tool's
        results ``"keep"`` gives what trials have besides: score, metrics, tokens, ``cost`` and ``seconds``.
    from_
        The format, where all paths are another tool's results and their content does not say of which: as for
        `read_trials`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `TASKS`, kept keys after them; rows in the order of the files and of their lines. ``run``
        is the record's own or else the label of its file: the file's stem, for ``per_task.jsonl`` its folder's name,
        lengthened by parent folders where two would be equal.

    Raises
    ------
    RecordError
        With every fault of every file; nothing is returned from a file with faults. Warnings (a uid of the other site
        version) come as `SkillshiftWarning`.
    InputError
        A path that names nothing, two files under one label, or a misspelt ``extra``.
    BenchmarkError
        The benchmark cannot be read, or was to be inferred from names that no table can have.

    See Also
    --------
    check_tasks : gives the faults instead of raising.
    scan_tasks : the same, lazily.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> line = '{"uid": "skillshift.gitlab.v2.9", "site": "gitlab", "condition": "tgt-exec", '
    >>> line += '"success": false, "steps": 10, "skill_calls": 1, "skill_failures": 1}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "asi.jsonl")
    ...     _ = file.write_text(line)
    ...     read_tasks(file).select("run", "uid", "success", "steps")
    shape: (1, 4)
    ┌─────┬────────────────────────┬─────────┬───────┐
    │ run ┆ uid                    ┆ success ┆ steps │
    │ --- ┆ ---                    ┆ ---     ┆ ---   │
    │ str ┆ str                    ┆ bool    ┆ i64   │
    ╞═════╪════════════════════════╪═════════╪═══════╡
    │ asi ┆ skillshift.gitlab.v2.9 ┆ false   ┆ 10    │
    └─────┴────────────────────────┴─────────┴───────┘
    """
    return valid_or_raise(check_paths(paths, labels, pool, benchmark, extra, from_))


def check_tasks(
    paths: Paths,
    *,
    labels: Mapping[str, str | os.PathLike[str]] | None = None,
    pool: bool | str = False,
    benchmark: BenchmarkLike = "skillshift",
    extra: Extra = "refuse",
    from_: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read files of records as `read_tasks` does, and give what is right and what is wrong with them.

    Returns
    -------
    tuple of polars.DataFrame
        The records without a fault (as `TASKS`; of records that share a key, none), and the faults: one row per broken
        rule and place, columns as `FAULTS`, in the order of the files and lines. Both may be empty. Rows of ``severity``
        ``"warning"`` do not take their record out of the first frame.

    Raises
    ------
    InputError, BenchmarkError
        For what is no matter of content, as `read_tasks`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> line = '{"uid": "t", "site": "gitlap", "condition": "src", '
    >>> line += '"success": 1, "steps": 3, "skill_calls": 0, "skill_failures": 0}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "asi.jsonl")
    ...     _ = file.write_text(line)
    ...     valid, faults = check_tasks(file)
    >>> valid.height, faults["line"].to_list(), faults["field"].to_list(), faults["value"].to_list()
    (0, [1], ['success'], ['1'])
    """
    checked = check_paths(paths, labels, pool, benchmark, extra, from_)
    for note in checked.notes:
        warnings.warn(note, SkillshiftWarning, stacklevel=2)
    return checked.valid, pl.concat([checked.damaged, checked.faults])


def scan_tasks(
    paths: Paths,
    *,
    labels: Mapping[str, str | os.PathLike[str]] | None = None,
    pool: bool | str = False,
    benchmark: BenchmarkLike = "skillshift",
    extra: Literal["refuse", "ignore"] = "refuse",
) -> pl.LazyFrame:
    """Read files of records when the result is collected: `read_tasks`, lazily.

    Paths are resolved at once, so a path that names nothing raises here; records are read and checked at ``collect``,
    all of them even where only some are asked for, because a number from a file with faults is no number. Keys cannot be
    kept (``extra="keep"``): which there are is known only once the files are read.

    Returns
    -------
    polars.LazyFrame
        Columns and dtypes as `TASKS`.

    Raises
    ------
    InputError, BenchmarkError
        At once, as `read_tasks`; `RecordError` at ``collect``.

    Examples
    --------
    >>> scan_tasks("runs/nothing-here.jsonl")
    Traceback (most recent call last):
    skillshift_frames.errors.InputError: runs/nothing-here.jsonl: no such file or folder
    """
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - only lazy reading needs it

    refuse_unknown_extra(extra)
    if extra == "keep":  # type: ignore[comparison-overlap]
        msg = "extra='keep' cannot be scanned: the columns are known once the files are read; use read_tasks"
        raise InputError(msg)
    resolve_sources(paths, labels=labels, pool=pool)
    resolved = known_benchmark(benchmark) or "infer"

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        tasks = read_tasks(paths, labels=labels, pool=pool, benchmark=resolved, extra=extra)
        # In this order: Polars means the first n_rows of the file, not of what passes the predicate.
        if n_rows is not None:
            tasks = tasks.head(n_rows)
        if predicate is not None:
            tasks = tasks.filter(predicate)
        yield tasks if with_columns is None else tasks.select(with_columns)

    return register_io_source(source, schema=TASKS)


def from_frame(
    frame: Any,  # noqa: ANN401 - any frame that narwhals knows
    *,
    run: str | None = None,
    benchmark: BenchmarkLike = "skillshift",
    extra: Extra = "refuse",
) -> pl.DataFrame:
    """Check records that are in a frame already.

    One row is one record.

    Parameters
    ----------
    frame
        Any frame that narwhals knows: Polars (also lazy), pandas, pyarrow, DuckDB, PySpark; it is collected. The columns
        are the keys of a record; integers may be of any width, floats are refused.
    run
        The label of rows whose ``run`` is null, or of all where there is no such column.
    benchmark, extra
        As for `read_tasks`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `TASKS`, in the order of the rows.

    Raises
    ------
    RecordError
        With every fault; ``line`` is the row's number, from 1, and ``path`` is ``<frame>``.
    InputError
        There is no ``run`` column and no ``run`` was given.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame(
    ...     {
    ...         "uid": ["t"],
    ...         "site": ["gitlab"],
    ...         "condition": ["src"],
    ...         "success": [True],
    ...         "steps": [-3],
    ...     }
    ... )
    >>> from_frame(frame.with_columns(skill_calls=pl.lit(0), skill_failures=pl.lit(0)), run="asi")
    Traceback (most recent call last):
    skillshift_frames.errors.RecordError: <frame>:1: steps: -3 is below 0 (an integer ≥ 0 is needed)
    """
    records = to_polars(frame)
    if run is None and ("run" not in records.columns or records.get_column("run").null_count()):
        msg = "the records do not say which run they are of; give run="
        raise InputError(msg)
    source = Source("<frame>", "parquet", None, run or "")
    return valid_or_raise(check_frame(records, source, benchmark, extra))


def valid_or_raise(checked: Checked) -> pl.DataFrame:
    """Give what was read if it is without fault; warnings are said of the line that called the caller."""
    for note in checked.notes:
        warnings.warn(note, SkillshiftWarning, stacklevel=3)
    errors = checked.faults.filter(pl.col("severity") == "error")
    if errors.height:
        raise RecordError(errors)
    for faults in (checked.damaged, checked.faults):
        if faults.height:
            warnings.warn("\n".join(describe_faults(faults)), SkillshiftWarning, stacklevel=3)
    return checked.valid
