"""Trials → records: what the tables of the benchmark take, as far as another tool's trials are that."""

from __future__ import annotations

import warnings

import polars as pl

from skillshift_frames.errors import SkillshiftWarning, check_frame
from skillshift_frames.schema import TASKS, measured
from skillshift_frames.trials import metric_names

#: What a trial says of itself besides what a record has: its score, and what it cost.
KEPT = ("score", "tool_calls", "input_tokens", "cached_tokens", "output_tokens", "cost", "seconds")


def tasks_of(trials: pl.DataFrame) -> pl.DataFrame:
    """Make records of trials, for `cells`, `table`, `compare` and the like.

    One row is one trial.

    Parameters
    ----------
    trials
        As `read_trials` gives them.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `TASKS`. ``run`` is the trials' run with their arm, ``site`` their skill, else ``all``,
        ``condition`` their agent (with the model, where a run has several), else ``default``. ``error`` is what kept an
        errored or unscored trial from being measured. Trials that are missing are no records.

    Warns
    -----
    SkillshiftWarning
        Trials that are missing; scored ones with neither pass nor fail, which are not measured; steps or skill calls that a
        run knows of some trials only, which are left out of the whole run.

    Examples
    --------
    >>> from skillshift_frames.trials import concat_trials
    >>> trial = {"tool": "harbor", "run": "job", "agent": "codex", "arm": "with", "trial": 1}
    >>> rows = [
    ...     {**trial, "uid": "a", "status": "scored", "success": True},
    ...     {**trial, "uid": "b", "status": "errored", "error_type": "AgentTimeoutError"},
    ... ]
    >>> tasks = tasks_of(concat_trials([pl.DataFrame(rows)]))
    >>> tasks.select("run", "site", "condition", "uid", "success", "error").rows()
    [('job with', 'all', 'codex', 'a', True, None), ('job with', 'all', 'codex', 'b', None, 'AgentTimeoutError')]
    """
    check_frame("trials", trials, "read_trials")
    tasks, notes = convert(trials)
    for note in notes:
        warnings.warn(note, SkillshiftWarning, stacklevel=2)
    return tasks


def convert(trials: pl.DataFrame, *, keep: bool = False) -> tuple[pl.DataFrame, list[str]]:
    """Make records of trials; gives them, and what a user should be told.

    With ``keep`` the columns of `KEPT` and the tool's metrics that any trial has come after those of a record.
    """
    notes = []
    missing = trials.filter(status="missing").height
    if missing:
        notes.append(f"{_counted(missing)} planned and not there: no records are made of them")
    several = pl.col("model").n_unique().over("run", "agent") > 1
    agent = pl.coalesce("agent", "model", pl.lit("default"))
    both = pl.concat_str("agent", "model", separator=" ")
    values = [name for name in (*KEPT, *metric_names(trials)) if keep and name not in TASKS]
    values = [name for name in values if trials.get_column(name).count()]
    records = trials.filter(pl.col("status") != "missing").select(
        run=pl.concat_str(pl.coalesce("run", "tool"), "arm", separator=" ", ignore_nulls=True),
        uid="uid",
        site=pl.coalesce("skill", pl.lit("all")),
        condition=pl.when(several).then(pl.coalesce(both, agent)).otherwise(agent),
        trial="trial",
        success="success",
        steps="steps",
        skill_calls="skill_calls",
        skill_failures="skill_failures",
        error=_error(),
        **{name: name for name in values},
    )
    halves = trials.filter(pl.col("status") == "scored", pl.col("success").is_null()).height
    if halves:
        notes.append(
            f"{_counted(halves)} scored with neither pass nor fail: not measured here; lift takes scores"
        )
    for fields, what in (
        (("steps",), "steps"),
        (("skill_calls", "skill_failures"), "skill calls and failures"),
    ):
        records, note = _whole_runs_only(records, fields, what)
        notes += note
    typed = (pl.col(name).cast(dtype) for name, dtype in TASKS.items())
    return records.select(*typed, *values), notes


def _counted(trials: int) -> str:
    return f"{trials:,} trial is" if trials == 1 else f"{trials:,} trials are"


def _error() -> pl.Expr:
    """Say why a trial was not measured, null where it was."""
    why = pl.coalesce("error_type", "status")
    without = pl.lit("neither pass nor fail")
    return (
        pl.when(pl.col("status") != "scored")
        .then(why)
        .when(pl.col("success").is_null())
        .then(without)
    )


def _whole_runs_only(
    records: pl.DataFrame, fields: tuple[str, ...], what: str
) -> tuple[pl.DataFrame, list[str]]:
    """Leave out what a run knows of some of its measured trials only: a mean over those would be of others than the SR."""
    known = pl.all_horizontal(pl.col(name).is_not_null() for name in fields)
    counted = (
        records.filter(measured())
        .group_by("run")
        .agg(known=known.sum(), trials=pl.len())
        .sort("run")
    )
    partial = counted.filter(pl.col("known") > 0, pl.col("known") < pl.col("trials"))
    notes = [
        f"{row['run']}: {what} are known of {row['known']:,} of {row['trials']:,} measured trials, and so left out"
        for row in partial.iter_rows(named=True)
    ]
    unknown = counted.filter(pl.col("known") < pl.col("trials")).get_column("run")
    keep = known & ~pl.col("run").is_in(unknown.implode())
    return records.with_columns(pl.when(keep).then(pl.col(name)) for name in fields), notes
