"""Tasks → counts of distinct outcomes: all that any metric needs, in as many rows as there are different outcomes.

A task's outcome is what its trials add up to: how many were measured and how many not, successes, steps, calls,
failures. Five million records have a few thousand different outcomes, and every number of a table follows from how often
each occurs. What an interval needs besides is which outcomes belong to one family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import polars as pl

from skillshift_frames.errors import InputError, check_frame
from skillshift_frames.schema import family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.metrics import Errors

CELL = ("run", "site", "condition")

_MEASURED = (
    *("trials", "successes", "steps", "steps_trials"),
    *("skill_calls", "skill_failures", "calls_trials"),
)
_ERRORED = ("trials", "steps", "steps_trials", "skill_calls", "skill_failures", "calls_trials")

#: What a task's trials add up to, those that were not measured apart.
OUTCOME = (*_MEASURED, *(f"errored_{name}" for name in _ERRORED))

#: One row is one run × site × condition × outcome: how many tasks of the cell have it.
TALLY = pl.Schema(
    {
        "run": pl.String(),
        "site": pl.String(),
        "condition": pl.String(),
        **dict.fromkeys(OUTCOME, pl.Int64()),  # sums over a task's trials
        "tasks": pl.Int64(),
    }
)

#: One row is one task of one kind of family: families of a site that have the same outcomes, run by run, are of one kind.
FAMILY_TALLY = pl.Schema(
    {
        "run": pl.String(),
        "site": pl.String(),
        "kind": pl.Int64(),  # a number within the site, from 0: the same families in all runs
        "condition": pl.String(),
        "version": pl.String(),  # of the task: v1, v2, or null where its uid says none
        **dict.fromkeys(OUTCOME, pl.Int64()),
        "tasks": pl.Int64(),  # families of the kind, each with one such task; the same in all rows of a kind
    }
)


def outcome_parts(lib: Any) -> dict[str, Any]:  # noqa: ANN401 - the module that makes expressions
    """Give what one trial contributes to each part of `OUTCOME`, as expressions of ``lib``: Polars or narwhals."""
    known = lib.col("error").is_null()
    parts: dict[str, Any] = {}
    for prefix, of_side in (("", known), ("errored_", ~known)):
        parts |= {
            f"{prefix}trials": of_side,
            f"{prefix}steps": lib.when(of_side).then(lib.col("steps")),
            f"{prefix}steps_trials": of_side & ~lib.col("steps").is_null(),
            f"{prefix}skill_calls": lib.when(of_side).then(lib.col("skill_calls")),
            f"{prefix}skill_failures": lib.when(of_side).then(lib.col("skill_failures")),
            f"{prefix}calls_trials": of_side & ~lib.col("skill_calls").is_null(),
        }
    parts["successes"] = known & lib.col("success")
    return {name: parts[name].cast(lib.Int64).fill_null(0) for name in OUTCOME}


def is_tally(frame: pl.DataFrame) -> bool:
    """Tell a tally from tasks, which may have kept a column by any name, but never go without their uid.

    Raises
    ------
    InputError
        It is neither, or another program has changed the types of a tally.
    """
    if "uid" in frame.columns:
        return False
    name, wanted = ("FAMILY_TALLY", FAMILY_TALLY) if "kind" in frame.columns else ("TALLY", TALLY)
    wrong = [
        column
        for column in dict.fromkeys([*wanted, *frame.columns])
        if wanted.get(column) != frame.schema.get(column)
    ]
    if wrong:
        are = f"columns {', '.join(wrong)} are" if len(wrong) > 1 else f"column {wrong[0]} is"
        msg = f"the frame is neither tasks, it has no uid, nor a tally: {are} not as in skillshift_frames.{name}"
        raise InputError(msg)
    return True


def with_families(tasks: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Collect tasks, or a tally that says which of them are of one family.

    Raises
    ------
    InputError
        A tally does not say so, or as `is_tally`.
    """
    check_frame("tasks", tasks, "read_tasks")
    frame = tasks.lazy().collect()
    if is_tally(frame) and "kind" not in frame.columns:
        msg = "the tally does not say which tasks are of one family, and families are what is resampled; make it with families=True"
        raise InputError(msg)
    return frame


#: With so many numbers for each row, or only a few, a sum for each of them is held; with more rows are sorted, which is slower.
_NUMBERS_PER_ROW, _FEW_NUMBERS = 8, 1 << 16


def count_outcomes(tasks: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
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

    See Also
    --------
    skillshift_frames.tally : the same of records that nobody has checked, wherever they are.

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
    >>> count_outcomes(pl.DataFrame([row | {"uid": "a"}, row | {"uid": "b"}])).select(
    ...     "successes", "steps", "tasks"
    ... ).row(0)
    (1, 3, 2)
    """
    per_task = _per_task(tasks.lazy())
    counted = per_task.group_by(*CELL, *OUTCOME).agg(tasks=pl.len().cast(pl.Int64))
    return counted.sort(*CELL, *OUTCOME).collect(engine="streaming")


def tally_counted(records: pl.DataFrame, counts: pl.DataFrame, record: str) -> pl.DataFrame:
    """Count the outcomes of runs whose records are told apart, one trial per task.

    ``counts`` says in its last column how often each ``run`` (an Enum in the order of labels) has each ``record``.
    """
    import numpy as np

    of_record = _per_trial(records.with_columns(run=pl.lit(None, pl.String)).lazy(), record)
    outcome = ("site", "condition", *OUTCOME)
    rank = (pl.struct(outcome).rank("dense") - 1).cast(pl.Int64).alias("_outcome")
    numbered = of_record.with_columns(rank).collect()
    known = numbered.select("_outcome", *outcome).unique("_outcome").sort("_outcome")
    outcome_of = np.zeros(records.select(pl.col(record).max()).item() + 1, dtype=np.int64)
    outcome_of[numbered.get_column(record).to_numpy()] = numbered.get_column("_outcome").to_numpy()
    # One number for a run and an outcome, in their order.
    runs = cast("pl.Enum", counts.schema["run"]).categories
    number = counts.get_column("run").to_physical().to_numpy().astype(np.int64) * known.height
    number += outcome_of[counts.get_column(record).to_numpy()]
    times = counts.get_column(counts.columns[-1]).to_numpy()
    numbers, tasks = _added_up(number, times, len(runs) * known.height)
    of_outcome = known.select(pl.col(outcome).gather(numbers % known.height))
    label = runs.gather(numbers // known.height).alias("run")
    return of_outcome.select(label, *outcome).with_columns(tasks=pl.Series(tasks))


def _added_up(
    number: NDArray[np.int64], times: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sum up what belongs to each number, of those below a size that there are; sorted by number."""
    import numpy as np

    if size > _NUMBERS_PER_ROW * max(len(number), _FEW_NUMBERS):
        numbers, place = np.unique(number, return_inverse=True)
        sums = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(sums, place, times)
        return numbers, sums
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, number, times)
    numbers = sums.nonzero()[0]
    return numbers, sums[numbers]


def _per_task(records: pl.LazyFrame) -> pl.LazyFrame:
    """Add up the trials of each task: one row per run × site × condition × uid."""
    per_trial = _per_trial(records, "uid")
    if _one_trial_each(records):
        return per_trial  # saves a group per task where a trial is a task already
    return per_trial.group_by(*CELL, "uid").agg(pl.col(OUTCOME).sum())


def _per_trial(records: pl.LazyFrame, *also: str) -> pl.LazyFrame:
    """Give what each trial contributes, in integers."""
    parts = [value.alias(name) for name, value in outcome_parts(pl).items()]
    return records.select(*CELL, *also, *parts)


def _one_trial_each(records: pl.LazyFrame) -> bool:
    """Tell whether no task can have two trials: keys are unique, so not where all records have one trial number."""
    ends = records.select(pl.col("trial").min().alias("low"), pl.col("trial").max().alias("high"))
    low, high = ends.collect().row(0)
    return bool(low == high)


#: Each metric of a cell as a ratio of two sums over its tasks: what a task adds to either, before percent.
RATIOS = {
    "SR": ("successes", "trials"),
    "AS": ("steps", "steps_trials"),
    "ASC": ("skill_calls", "calls_trials"),
}


def used(lib: Any, name: str, errors: Errors) -> Any:  # noqa: ANN401 - the module that makes expressions
    """Give what counts of a part of `OUTCOME`: with that of trials that were not measured, where these count as failures."""
    counted = lib.col(name)
    # A trial that was not measured has no success to add.
    added = errors == "zero" and name != "successes"
    return counted + lib.col(f"errored_{name}") if added else counted


def contributions(
    tasks: pl.DataFrame | pl.LazyFrame, *, errors: Errors = "exclude"
) -> pl.DataFrame:
    """Give what each task contributes to the metrics of its cell, with the family that it belongs to.

    One row is one run × site × family × condition × uid that the run has a record of: one per family and cell, unless a
    cell has both site versions of a task. Of a tally with families (`FAMILY_TALLY`) ``family`` is the number of a kind of
    them, and one column more, ``times``, how many families are of it.

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
    per_task: list[pl.Expr] = []
    for metric, parts in RATIOS.items():
        total, trials = (used(pl, name, errors) for name in parts)
        counts = trials > 0
        per_task += [
            pl.when(counts).then(total / trials).otherwise(0.0).alias(f"{metric}_top"),
            counts.cast(pl.Float64).alias(f"{metric}_bottom"),
        ]
    per_task += [
        used(pl, "skill_failures", errors).cast(pl.Float64).alias("SFR_top"),
        used(pl, "skill_calls", errors).cast(pl.Float64).alias("SFR_bottom"),
    ]
    lazy = tasks.lazy()
    if "kind" in lazy.collect_schema():
        families = (pl.col("kind").alias("family"), pl.col("tasks").alias("times"))
        return lazy.select("run", "site", *families, "condition", *per_task).collect()
    contributed = _per_task(lazy).select("run", "site", family(), "condition", *per_task)
    return contributed.collect(engine="streaming")
