"""Tasks → counts of distinct outcomes: all that any metric needs, in as many rows as there are different outcomes.

A task's outcome is what its trials add up to: how many were measured and how many not, successes, steps, calls,
failures. Five million records have a few thousand different outcomes, and every number of a table follows from how often
each occurs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.schema import family, measured

if TYPE_CHECKING:
    from skillshift_frames.metrics import Errors

CELL = ("run", "site", "condition")

#: What a task's trials add up to: name → what one trial contributes.
_MEASURED = {
    "trials": measured(),
    "successes": measured() & pl.col("success"),
    "steps": pl.when(measured()).then("steps"),
    "steps_trials": measured() & pl.col("steps").is_not_null(),
    "skill_calls": pl.when(measured()).then("skill_calls"),
    "skill_failures": pl.when(measured()).then("skill_failures"),
    "calls_trials": measured() & pl.col("skill_calls").is_not_null(),
}
_ERRORED = {
    "errored_trials": ~measured(),
    "errored_steps": pl.when(~measured()).then("steps"),
    "errored_steps_trials": ~measured() & pl.col("steps").is_not_null(),
    "errored_skill_calls": pl.when(~measured()).then("skill_calls"),
    "errored_skill_failures": pl.when(~measured()).then("skill_failures"),
    "errored_calls_trials": ~measured() & pl.col("skill_calls").is_not_null(),
}
OUTCOME = (*_MEASURED, *_ERRORED)


def tally(tasks: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Count the distinct outcomes of the tasks in each cell.

    One row is one run × site × condition × outcome.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, each key once.

    Returns
    -------
    polars.DataFrame
        ``run``, ``site``, ``condition``, the outcome (Int64 each, sums over the task's trials, with those of trials that
        were not measured apart as ``errored_…``), and ``tasks``, the number of tasks with that outcome. Sorted, so that
        it does not depend on the order of the rows. Empty where there are no tasks.

    Examples
    --------
    >>> row = {
    ...     "run": "asi",
    ...     "site": "gitlab",
    ...     "condition": "src",
    ...     "success": True,
    ...     "steps": 3,
    ...     "error": None,
    ... }
    >>> row |= {"skill_calls": 0, "skill_failures": 0, "trial": 1}
    >>> tally(pl.DataFrame([row | {"uid": "a"}, row | {"uid": "b"}])).select(
    ...     "successes", "steps", "tasks"
    ... ).row(0)
    (1, 3, 2)
    """
    per_task = _per_task(tasks.lazy())
    counted = per_task.group_by(*CELL, *OUTCOME).agg(tasks=pl.len().cast(pl.Int64))
    return counted.sort(*CELL, *OUTCOME).collect(engine="streaming")


def tally_counted(records: pl.DataFrame, counts: pl.DataFrame, record: str) -> pl.DataFrame:
    """Count the outcomes of runs whose records are told apart, one trial per task.

    ``counts`` says in its last column how often each ``run`` has each ``record``.
    """
    of_record = _per_trial(records.with_columns(run=pl.lit(None, pl.String)).lazy(), record)
    outcome = ("site", "condition", *OUTCOME)
    # Outcomes by a number in their order, so that rows are grouped and sorted by two small columns.
    numbered = of_record.with_columns(pl.struct(outcome).rank("dense").alias("_outcome")).collect()
    tasks = pl.col(counts.columns[-1]).sum().alias("tasks")
    found = (
        counts.join(numbered.select(record, "_outcome"), on=record)
        .group_by("run", "_outcome")
        .agg(tasks)
        .sort("run", "_outcome")
    )
    known = numbered.select("_outcome", *outcome).unique("_outcome")
    joined = found.join(known, on="_outcome", how="left", maintain_order="left")
    return joined.select("run", *outcome, "tasks")


def _per_task(records: pl.LazyFrame) -> pl.LazyFrame:
    """Add up the trials of each task: one row per run × site × condition × uid."""
    per_trial = _per_trial(records, "uid")
    if _one_trial_each(records):
        return per_trial  # saves a group per task where a trial is a task already
    return per_trial.group_by(*CELL, "uid").agg(pl.col(OUTCOME).sum())


def _per_trial(records: pl.LazyFrame, *also: str) -> pl.LazyFrame:
    """Give what each trial contributes, in integers."""
    parts = [
        value.cast(pl.Int64).fill_null(0).alias(name)
        for name, value in (_MEASURED | _ERRORED).items()
    ]
    return records.select(*CELL, *also, *parts)


def _one_trial_each(records: pl.LazyFrame) -> bool:
    """Tell whether no task can have two trials: keys are unique, so not where all records have one trial number."""
    ends = records.select(pl.col("trial").min().alias("low"), pl.col("trial").max().alias("high"))
    low, high = ends.collect().row(0)
    return bool(low == high)


#: Each metric of a cell as a ratio of two sums over its tasks: what a task adds to either, before percent.
_RATIOS = {
    "SR": ("successes", "trials"),
    "AS": ("steps", "steps_trials"),
    "ASC": ("skill_calls", "calls_trials"),
}


def contributions(
    tasks: pl.DataFrame | pl.LazyFrame, *, errors: Errors = "exclude"
) -> pl.DataFrame:
    """Give what each task contributes to the metrics of its cell, with the family that it belongs to.

    One row is one run × site × family × condition × uid that the run has a record of: one per family and cell, unless a
    cell has both site versions of a task.

    Returns
    -------
    polars.DataFrame
        ``run``, ``site``, ``family``, ``condition``, then for each metric Float64 ``…_top`` and ``…_bottom``: a cell's
        metric is Σ top / Σ bottom over its families (100 times that for SR and SFR). For SR, AS and ASC a task adds the
        mean of its trials to the top and 1 to the bottom; for SFR failures and calls. In no particular order.

    Examples
    --------
    >>> row = {"run": "asi", "site": "gitlab", "condition": "src", "success": True, "steps": 3}
    >>> row |= {
    ...     "skill_calls": 2,
    ...     "skill_failures": 1,
    ...     "error": None,
    ...     "uid": "skillshift.gitlab.v1.9",
    ... }
    >>> sums = contributions(
    ...     pl.DataFrame([row | {"trial": 1}, row | {"trial": 2, "success": False}])
    ... )
    >>> sums.select("family", "SR_top", "SR_bottom", "SFR_top", "SFR_bottom").row(0)
    ('gitlab.9', 0.5, 1.0, 2.0, 4.0)
    """

    def used(name: str) -> pl.Expr:
        counted = pl.col(name)
        return (
            counted + pl.col(f"errored_{name}")
            if errors == "zero" and name != "successes"
            else counted
        )

    per_task: list[pl.Expr] = []
    for metric, (total, trials) in _RATIOS.items():
        counts = used(trials) > 0
        per_task += [
            pl.when(counts).then(used(total) / used(trials)).otherwise(0.0).alias(f"{metric}_top"),
            counts.cast(pl.Float64).alias(f"{metric}_bottom"),
        ]
    per_task += [
        used("skill_failures").cast(pl.Float64).alias("SFR_top"),
        used("skill_calls").cast(pl.Float64).alias("SFR_bottom"),
    ]
    contributed = _per_task(tasks.lazy()).select("run", "site", family(), "condition", *per_task)
    return contributed.collect(engine="streaming")
