"""Any engine's records → the tally: counts of distinct outcomes, small, and all that table and intervals need.

Written once against narwhals: the engine groups and counts where the records are, and what comes back are the counts.
Tallies of parts add up to the tally of the whole.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from skillshift_frames.benchmark import BenchmarkLike, infer_benchmark, known_benchmark
from skillshift_frames.engine_records import (
    Unknown,
    check_distinct,
    collected,
    distinct_values,
    family_parts,
    has_repeated_keys,
    per_task,
    per_trial,
    refuse_repeated_keys,
    typed_records,
)
from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.moment_sums import add_up, check_moments
from skillshift_frames.outcomes import (
    CELL,
    FAMILY_TALLY,
    OUTCOME,
    TALLY,
    is_tally,
    outcome_parts,
)
from skillshift_frames.readers.wording import as_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import narwhals.stable.v2 as nw

#: Between the numbers of one outcome, the outcomes of a family in one run, and its runs: none of them is in a number.
_COMMA, _BAR, _SEMICOLON = ",", "|", ";"
_VERSIONS = (None, "v1", "v2")

#: What names a row of a tally with families.
_FAMILY_TASK = ("run", "site", "kind", "condition", "version")


def tally(
    frame: Any,  # noqa: ANN401 - any frame that narwhals knows
    *,
    run: str | None = None,
    families: bool = False,
    benchmark: BenchmarkLike = "skillshift",
    extra: Unknown = "refuse",
) -> pl.DataFrame:
    """Count the distinct outcomes of the tasks in each cell, where the records are.

    One row is one run × site × condition × outcome; with ``families``, one task of one kind of family.

    Parameters
    ----------
    frame
        Records in any frame that narwhals knows: Polars (also lazy), pandas, pyarrow, a DuckDB relation, a PySpark frame.
        The columns are the keys of a record; integers may be of any width, floats are refused.
    run
        The label of rows whose ``run`` is null, or of all where there is no such column.
    families
        Say which tasks are of one family, too: `intervals` need it, `cells` do not. Families of a site with the same
        outcomes in all runs are of one ``kind``, so that the tasks of two runs can still be put side by side:
        ``filter(run="a")`` and ``filter(run="b")`` of one tally share their kinds. A tally then has a row for each task of
        each family whose outcomes no other family of its site has: at most as many as there are tasks.
    benchmark
        Whose sites and conditions the records must have.
    extra
        ``"refuse"`` columns that are not the record's, or ``"ignore"`` them.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `TALLY`, or with ``families`` as `FAMILY_TALLY`; ``tasks`` is how many tasks have the outcome,
        or how many families are of the kind. Sorted: it depends neither on the order of the rows nor on the engine. `cells`
        takes it in place of tasks, and with ``families`` so do `intervals`, `cell_intervals`, `shift_intervals` and `ranks`;
        they give the same.

    Raises
    ------
    RecordError
        A record breaks a rule, or two share a key: named once per run, site and condition, with the values and the number
        of records. The line is not known to an engine. Warnings come as `SkillshiftWarning`.
    InputError
        There is no ``run`` column and no ``run`` was given.
    BenchmarkError
        As `load_benchmark`, or the records' names cannot be the axes of a table.

    See Also
    --------
    merge : adds tallies up.
    read_tally : the same of files.
    from_frame : the same checks, record by record.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.LazyFrame({"uid": ["a", "b", "c"], "success": [True, True, False]}).with_columns(
    ...     site=pl.lit("gitlab"), condition=pl.lit("src"), steps=pl.lit(3)
    ... )
    >>> counts = tally(
    ...     frame.with_columns(skill_calls=pl.lit(0), skill_failures=pl.lit(0)), run="asi"
    ... )
    >>> counts.select("run", "site", "successes", "steps", "tasks").rows()
    [('asi', 'gitlab', 0, 3, 1), ('asi', 'gitlab', 1, 3, 2)]
    """
    check_choice("extra", extra, get_args(Unknown))
    known = known_benchmark(benchmark)
    records = typed_records(frame, run, extra)
    distinct = distinct_values(records)
    one_trial_each = check_distinct(distinct, known)
    if known is None:  # raises where the names cannot be a table's axes
        infer_benchmark(distinct.select(*CELL, expected=pl.lit(1)))
    runs, conditions = (
        distinct.get_column(name).unique().sort().to_list() for name in ("run", "condition")
    )
    if families:
        of_tasks = per_trial(records) if one_trial_each else per_task(records)
        counted = collected(_per_family(of_tasks, runs, conditions))
        repeated = counted.get_column("_records").max() != 1
    elif one_trial_each:  # a trial is a task, so its values are the outcome
        counted = _outcomes_of(distinct)
        repeated = has_repeated_keys(records)
    else:
        counted = collected(_per_outcome(per_task(records)))
        repeated = counted.get_column("_records").max() != 1
    if repeated:
        refuse_repeated_keys(records)
    return _unpacked(counted, runs, conditions) if families else _as(counted, TALLY).sort(*TALLY)


def _outcomes_of(distinct: pl.DataFrame) -> pl.DataFrame:
    parts = [part.alias(name) for name, part in outcome_parts(pl).items()]
    return (
        distinct.select(*CELL, *parts, "_records")
        .group_by(*CELL, *OUTCOME)
        .agg(tasks=pl.col("_records").sum())
    )


def _per_outcome(tasks: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    import narwhals.stable.v2 as nw

    return tasks.group_by(*CELL, *OUTCOME).agg(nw.len().alias("tasks"), nw.col("_records").max())


def _per_family(
    tasks: nw.LazyFrame[Any], runs: list[str], conditions: list[str]
) -> nw.LazyFrame[Any]:
    """Write each family's outcomes into one text, and count the families with each text.

    A family has at most one task per run, condition and site version, so each outcome has its place in the text. That every
    engine groups by. ``_records`` is above 1 where a family has more records than places are taken.
    """
    import narwhals.stable.v2 as nw

    name, version = family_parts()
    numbers = [nw.col(part).cast(nw.Int64).cast(nw.String) for part in OUTCOME]
    coded = tasks.select(
        *("run", "site", "condition", "_records"),
        name.alias("family"),
        version.alias("version"),
        nw.concat_str(*numbers, separator=_COMMA).alias("code"),
    )
    in_place = [
        (nw.col("condition") == condition)
        & (nw.col("version").is_null() if of is None else nw.col("version") == of)
        for condition in conditions
        for of in _VERSIONS
    ]
    of_run = _joined(coded, ("run", "site", "family"), in_place, _BAR)
    # Runs in a second step: a column for each place of each run would be too many for any engine.
    in_run = [nw.col("run") == run for run in runs]
    of_all = _joined(of_run, ("site", "family"), in_run, _SEMICOLON)
    return of_all.group_by("site", "code").agg(nw.len().alias("tasks"), nw.col("_records").max())


def _joined(
    coded: nw.LazyFrame[Any], keys: tuple[str, ...], places: list[nw.Expr], separator: str
) -> nw.LazyFrame[Any]:
    """Join the codes that share ``keys``, each in the place that is true of it, with nothing in the others."""
    import narwhals.stable.v2 as nw

    in_place = {
        f"_{number}": nw.when(place).then(nw.col("code")) for number, place in enumerate(places)
    }
    together = (
        coded.with_columns(**in_place)
        .group_by(*keys)
        .agg(*(nw.col(name).max() for name in in_place), nw.col("_records").sum())
    )
    taken = reduce(add, ((~nw.col(name).is_null()).cast(nw.Int64) for name in in_place))
    texts = [nw.col(name).fill_null("") for name in in_place]
    return together.select(
        *keys,
        (nw.col("_records") - taken + 1).alias("_records"),
        nw.concat_str(*texts, separator=separator).alias("code"),
    )


def _unpacked(counted: pl.DataFrame, runs: list[str], conditions: list[str]) -> pl.DataFrame:
    """Take the texts of `_per_family` apart again."""
    kinds = counted.select("site", "code", "tasks").with_row_index("kind")
    in_runs = _apart(kinds, _SEMICOLON, run=runs)
    tasks = _apart(
        in_runs,
        _BAR,
        condition=[condition for condition in conditions for _ in _VERSIONS],
        version=[*_VERSIONS] * len(conditions),
    )
    numbers = pl.col("code").str.split_exact(_COMMA, len(OUTCOME) - 1)
    outcome = numbers.struct.rename_fields(list(OUTCOME)).struct.unnest()
    return _numbered(_as(tasks.select(pl.exclude("code"), outcome), FAMILY_TALLY))


def _apart(frame: pl.DataFrame, separator: str, **places: Sequence[str | None]) -> pl.DataFrame:
    """Give a row for each place of ``code`` that is taken, with what the place stands for."""
    named = {
        name: pl.lit(list(values), dtype=pl.List(pl.String)) for name, values in places.items()
    }
    parted = frame.with_columns(pl.col("code").str.split(separator), **named)
    return parted.explode("code", *named).filter(pl.col("code") != "")


def _numbered(tasks: pl.DataFrame) -> pl.DataFrame:
    """Merge kinds of families with the same outcomes in all runs, and number them by these, within the site.

    ``tasks`` is as `FAMILY_TALLY`, with any number for ``kind`` that tells kinds of a site apart.
    """
    task = ["run", "condition", "version", *OUTCOME]
    # Different tasks by a number in their order: few digits to compare instead of many numbers.
    different = tasks.select(task).unique().sort(task).with_row_index("number")
    per_kind = (
        tasks.join(different, on=task, nulls_equal=True)
        .group_by("site", "kind")
        .agg("number", pl.col("tasks").first())
        .with_columns(_text=pl.col("number").list.sort().cast(pl.List(pl.String)).list.join(_COMMA))
    )
    alike = per_kind.group_by("site", "_text").agg(pl.col("kind").min(), pl.col("tasks").sum())
    numbered = alike.with_columns(number=pl.col("_text").rank("dense").over("site") - 1)
    joined = tasks.drop("tasks").join(numbered, on=["site", "kind"])
    return _as(joined.with_columns(kind="number"), FAMILY_TALLY).sort(*_FAMILY_TASK)


def _as(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def merge(tallies: Iterable[pl.DataFrame], *, shards: bool = False) -> pl.DataFrame:
    """Add tallies up: the tally of all records behind them, exactly, in whatever order they come. Or moments, likewise.

    One row is one run × site × condition × outcome; of tallies with families, one task of one kind of family; of moments,
    one run × site × pair of numbers.

    Parameters
    ----------
    tallies
        From `tally`, `read_tally` or `merge`, all with families or all without; or all from `moments`.
    shards
        Tallies may share cells (those with families, and moments: a run's sites), because each holds other tasks of them
        (other families), each with all its trials. That this is so is for the caller to know: counts cannot show it, and the same
        records twice count twice.

    Returns
    -------
    polars.DataFrame
        As `tally`, or `moments`, gives it.

    Raises
    ------
    InputError
        Two tallies have a cell in common (those with families, and moments: a site of a run) without ``shards``; the frames
        are not of one kind; there is none; moments were made with different ``errors``, or exceed 64 bits.

    Notes
    -----
    A tally with families does not name them. So which families of one tally are also in another cannot be known, and they
    stay kinds of their own: of tallies of different runs, or of parts of one that each hold some runs of a family, the
    intervals of each run are right, but no task of one run can be put beside that of another. To compare runs, tally them
    together; shards of families, each with all runs, lose nothing.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks(["data/demo/reference.jsonl", "data/demo/induced.jsonl"])
    >>> parts = [sf.tally(tasks.filter(run=run)) for run in ("reference", "induced")]
    >>> sf.merge(parts).equals(sf.tally(tasks))
    True
    >>> sf.merge([parts[0], parts[0]])
    Traceback (most recent call last):
    skillshift_frames.errors.InputError: two tallies have tasks of run "reference", site "gitlab", condition "src"; ...
    """
    listed = list(tallies)
    if any("with_part" in part.columns for part in listed):
        for part in listed:
            check_moments(part)
        if not shards:
            _refuse_overlap(listed, ("run", "site"))
        return add_up(listed)
    listed = _of_one_sort(listed)
    grouped = "kind" in listed[0].columns
    if not shards:
        _refuse_overlap(listed, ("run", "site") if grouped else CELL)
    if grouped:
        apart = [
            part.with_columns(kind=pl.struct(pl.lit(number), "kind"))
            for number, part in enumerate(listed)
        ]
        return _numbered(pl.concat(apart).with_columns(pl.col("kind").rank("dense")))
    together = pl.concat(listed).group_by(*CELL, *OUTCOME).agg(pl.col("tasks").sum())
    return together.select(*TALLY).sort(*TALLY)


def _of_one_sort(tallies: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Give tallies with their columns in order, all with families or all without."""
    if not tallies:
        msg = "there is no tally to merge"
        raise InputError(msg)
    if not all(is_tally(part) for part in tallies):
        msg = "tallies are merged, and one of the frames holds tasks; tally makes a tally of them"
        raise InputError(msg)
    grouped = {"kind" in part.columns for part in tallies}
    if len(grouped) > 1:
        msg = "some tallies have families and some do not; make all with families=True, or none"
        raise InputError(msg)
    schema = FAMILY_TALLY if grouped == {True} else TALLY
    return [part.select(*schema) for part in tallies]


def _refuse_overlap(tallies: list[pl.DataFrame], unit: tuple[str, ...]) -> None:
    """Raise where two tallies share a unit."""
    named = pl.concat([part.select(unit).unique() for part in tallies])
    shared = named.filter(pl.struct(unit).is_duplicated()).sort(unit)
    if shared.is_empty():
        return
    first = shared.row(0, named=True)
    where = ", ".join(f"{name} {as_written(first[name])}" for name in unit)
    what = "tasks" if unit == CELL else "families"
    msg = (
        f"two tallies have {what} of {where}; counts cannot tell the same records twice from shards: "
        "tally the records together, or say shards=True where each holds different ones"
    )
    raise InputError(msg)
