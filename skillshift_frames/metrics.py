"""SR, AS, ASC, SFR, pass@k and pass^k as Polars expressions over tasks, for any ``group_by``.

Each expression gives one number per group. Several trials of one task are averaged first, so that every task counts
once, however often it was tried; SFR alone stays a ratio of sums. The definitions are those of the SkillShift paper,
section 2.4. In a group they are task means, not the table's macro means: `skillshift_frames.table` makes those.
"""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Literal, TypeAlias, get_args

import polars as pl

from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.schema import measured

#: What becomes of a task that was not measured: it is in no mean, or it counts as a failure.
Errors: TypeAlias = Literal["exclude", "zero"]

_TASK = ("run", "site", "condition", "uid")


def success_rate(*, errors: Errors = "exclude") -> pl.Expr:
    """Give SR: the share of tasks that succeeded, in percent; higher is better.

    Parameters
    ----------
    errors
        ``"exclude"`` leaves trials with an error out, ``"zero"`` counts them as failures.

    Returns
    -------
    polars.Expr
        Float64 named ``SR``: 100 · mean(success) over the group's tasks; null where it has no task that counts, and 0 or
        100 where it has one with one trial.

    Examples
    --------
    >>> tasks = pl.DataFrame(
    ...     {
    ...         "run": ["asi"] * 4,
    ...         "site": ["gitlab"] * 4,
    ...         "condition": ["src"] * 4,
    ...         "uid": ["a", "b", "b", "c"],
    ...         "trial": [1, 1, 2, 1],
    ...         "success": [True, True, False, None],
    ...         "error": [None, None, None, "timeout"],
    ...     }
    ... )
    >>> tasks.group_by("site").agg(success_rate(), success_rate(errors="zero").alias("zero"))
    shape: (1, 3)
    ┌────────┬──────┬──────┐
    │ site   ┆ SR   ┆ zero │
    │ ---    ┆ ---  ┆ ---  │
    │ str    ┆ f64  ┆ f64  │
    ╞════════╪══════╪══════╡
    │ gitlab ┆ 75.0 ┆ 50.0 │
    └────────┴──────┴──────┘
    """
    succeeded = (pl.col("success").fill_null(value=False) & measured()).cast(pl.Int64)
    return _mean_of_tasks(100 * succeeded, errors).alias("SR")


def average_steps(*, errors: Errors = "exclude") -> pl.Expr:
    """Give AS: steps per task, failed tasks included; lower is better.

    Returns
    -------
    polars.Expr
        Float64 named ``AS``: mean(steps) over the group's tasks whose steps are recorded; null where there is none.
        ``errors`` as for `success_rate`; an error without recorded steps is in no mean of steps.

    Examples
    --------
    >>> row = {"run": "asi", "site": "gitlab", "condition": "src", "error": None}
    >>> tasks = pl.DataFrame([row | {"uid": "a", "steps": 4}, row | {"uid": "b", "steps": 11}])
    >>> tasks.select(average_steps()).item()
    7.5
    """
    return _mean_of_tasks(pl.col("steps"), errors).alias("AS")


def average_skill_calls(*, errors: Errors = "exclude") -> pl.Expr:
    """Give ASC: calls of learned skills per task; a description, neither direction is better.

    Returns
    -------
    polars.Expr
        Float64 named ``ASC``: mean(skill_calls) over the group's tasks; 0 is a measurement (no skill was called), null
        means that skills do not apply to the method, or that there is no task. ``errors`` as for `success_rate`.

    Examples
    --------
    >>> row = {"run": "asi", "site": "gitlab", "condition": "src", "error": None}
    >>> tasks = pl.DataFrame(
    ...     [row | {"uid": "a", "skill_calls": 0}, row | {"uid": "b", "skill_calls": 1}]
    ... )
    >>> tasks.select(average_skill_calls()).item()
    0.5
    """
    return _mean_of_tasks(pl.col("skill_calls"), errors).alias("ASC")


def skill_failure_rate(*, errors: Errors = "exclude") -> pl.Expr:
    """Give SFR: the share of skill calls that failed, in percent; lower is better.

    Returns
    -------
    polars.Expr
        Float64 named ``SFR``: 100 · Σ skill_failures / Σ skill_calls over the group's records; null where no skill was
        called or where skills do not apply, because a ratio without a denominator is not 0. ``errors`` as for
        `success_rate`.

    Examples
    --------
    >>> tasks = pl.DataFrame(
    ...     {
    ...         "site": ["a", "a", "b"],
    ...         "skill_calls": [3, 1, 0],
    ...         "skill_failures": [1, 0, 0],
    ...         "error": [None] * 3,
    ...     },
    ...     schema_overrides={"error": pl.String},
    ... )
    >>> tasks.group_by("site", maintain_order=True).agg(skill_failure_rate())["SFR"].to_list()
    [25.0, None]
    """
    check_choice("errors", errors, get_args(Errors))
    counts = measured() if errors == "exclude" else pl.lit(value=True)
    calls = pl.col("skill_calls").filter(counts).sum()
    failures = pl.col("skill_failures").filter(counts).sum()
    return pl.when(calls > 0).then(100 * failures / calls).alias("SFR")


def pass_at_k(k: int, *, errors: Errors = "exclude") -> pl.Expr:
    """Give pass@k: the chance that at least one of k trials of a task succeeds; higher is better.

    Parameters
    ----------
    k
        How many trials, from 1.
    errors
        As for `success_rate`.

    Returns
    -------
    polars.Expr
        Float64 named ``pass@k`` (with the number for k), a fraction from 0 to 1: the mean over the group's tasks of
        1 − C(n−c, k) / C(n, k), for c successes in n trials. It is unbiased. Null where any task of the group has fewer
        than k trials that count (``tasks.group_by("uid").len()`` names them), and where there is no task.

    Raises
    ------
    InputError
        ``k`` is below 1.

    References
    ----------
    Chen, M. et al. (2021), Evaluating large language models trained on code, arXiv 2107.03374, equation 1.

    Examples
    --------
    >>> tasks = pl.DataFrame(
    ...     {
    ...         "run": ["asi"] * 4,
    ...         "site": ["gitlab"] * 4,
    ...         "condition": ["src"] * 4,
    ...         "uid": ["a", "a", "b", "b"],
    ...         "trial": [1, 2, 1, 2],
    ...         "success": [True, False, True, True],
    ...         "error": [None] * 4,
    ...     }
    ... )
    >>> tasks.select(pass_at_k(1), pass_at_k(2), pass_at_k(3)).row(0)
    (0.75, 1.0, None)
    """
    successes, trials = _trials_of_tasks(errors)
    missed = _all_of(trials - successes, trials, k)
    return _mean_where_enough(1 - missed, trials, k).alias(f"pass@{k}")


def pass_hat_k(k: int, *, errors: Errors = "exclude") -> pl.Expr:
    """Give pass^k: the chance that all of k trials of a task succeed; higher is better.

    Returns
    -------
    polars.Expr
        Float64 named ``pass^k`` (with the number for k), a fraction from 0 to 1: the mean over the group's tasks of
        C(c, k) / C(n, k), for c successes in n trials. Unbiased, and null, as `pass_at_k`, whose parameters and errors it
        shares.

    References
    ----------
    Yao, S. et al. (2024), τ-bench: a benchmark for tool-agent-user interaction, arXiv 2406.12045, section 2.

    Examples
    --------
    >>> tasks = pl.DataFrame(
    ...     {
    ...         "run": ["asi"] * 4,
    ...         "site": ["gitlab"] * 4,
    ...         "condition": ["src"] * 4,
    ...         "uid": ["a", "a", "b", "b"],
    ...         "trial": [1, 2, 1, 2],
    ...         "success": [True, False, True, True],
    ...         "error": [None] * 4,
    ...     }
    ... )
    >>> tasks.select(pass_hat_k(1), pass_hat_k(2), pass_hat_k(3)).row(0)
    (0.75, 0.5, None)
    """
    successes, trials = _trials_of_tasks(errors)
    return _mean_where_enough(_all_of(successes, trials, k), trials, k).alias(f"pass^{k}")


def _trials_of_tasks(errors: Errors) -> tuple[pl.Expr, pl.Expr]:
    """Count the successes and the trials of each row's task."""
    check_choice("errors", errors, get_args(Errors))
    succeeded = pl.col("success").fill_null(value=False) & measured()
    counts = measured() | pl.lit(errors == "zero")
    successes, trials = (part.cast(pl.Int64).sum().over(_TASK) for part in (succeeded, counts))
    return successes, trials


def _all_of(chosen: pl.Expr, trials: pl.Expr, k: int) -> pl.Expr:
    """Give C(chosen, k) / C(trials, k), factor by factor: no factor is above 1, so the product is not either."""
    if k < 1:
        msg = f"k is {k}; at least one trial is needed"
        raise InputError(msg)
    return reduce(mul, ((chosen - i).clip(lower_bound=0) / (trials - i) for i in range(k)))


def _mean_where_enough(estimate: pl.Expr, trials: pl.Expr, k: int) -> pl.Expr:
    once = pl.struct(_TASK).is_first_distinct()
    return pl.when((trials >= k).all()).then(estimate.filter(once).sort().mean())


def _mean_of_tasks(values: pl.Expr, errors: Errors) -> pl.Expr:
    """Average the trials of each task, then the tasks."""
    check_choice("errors", errors, get_args(Errors))
    counted = values if errors == "zero" else pl.when(measured()).then(values)
    # One number per task, at its first trial. Sorted, because a sum of floats depends on the order of its terms, and
    # the order of the rows must not show in the result.
    per_task = counted.sum().over(_TASK) / counted.count().over(_TASK)
    once = pl.struct(_TASK).is_first_distinct() & (counted.count().over(_TASK) > 0)
    return per_task.filter(once).sort().mean()
