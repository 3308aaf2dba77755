"""Tasks → counts of distinct outcomes: all that any metric needs, in as many rows as there are different outcomes.

A task's outcome is what its trials add up to: how many were measured and how many not, successes, steps, calls,
failures. Five million records have a few thousand different outcomes, and every number of a table follows from how often
each occurs.
"""

from __future__ import annotations

import polars as pl

from skillshift_frames.schema import measured

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
    records = tasks.lazy()
    parts = [
        value.cast(pl.Int64).fill_null(0).alias(name)
        for name, value in (_MEASURED | _ERRORED).items()
    ]
    per_trial = records.select(*CELL, "uid", *parts)
    if _one_trial_each(records):
        per_task = per_trial  # saves a group per task where a trial is a task already
    else:
        per_task = per_trial.group_by(*CELL, "uid").agg(pl.col(OUTCOME).sum())
    counted = per_task.group_by(*CELL, *OUTCOME).agg(tasks=pl.len().cast(pl.Int64))
    return counted.sort(*CELL, *OUTCOME).collect(engine="streaming")


def _one_trial_each(records: pl.LazyFrame) -> bool:
    """Tell whether no task can have two trials: keys are unique, so not where all records have one trial number."""
    low, high = (
        records.select(pl.col("trial").min().alias("low"), pl.col("trial").max().alias("high"))
        .collect()
        .row(0)
    )
    return bool(low == high)
