"""Two runs → pairs: the same trial of the same task on both sides, and what is left without its other half.

A row has a weight: how many pairs it stands for. Of records that is one; of a tally it is the number of families of the
kind, each of which has such a pair.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.errors import (
    InputError,
    SkillshiftWarning,
    check_choice,
    check_frame,
    check_records,
)
from skillshift_frames.schema import METRICS, TASKS, family, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.metrics import Errors

#: What pairs share.
PAIR = ("site", "condition", "uid", "trial")

#: What pairs of a tally share: in place of uids, the kind of family and the site version.
KIND_PAIR = ("site", "condition", "kind", "version")

#: The column that says how many pairs, or tasks, a row stands for.
TIMES = "times"

#: The name of the mean of several metrics.
COMPOSITE = "composite"

BASE, TREATMENT = "base", "treatment"


#: One row is one pair of trials.
PAIRS = pl.Schema(
    {
        "base": pl.String,  # the runs' labels
        "treatment": pl.String,
        "site": pl.String,
        "condition": pl.String,
        "uid": pl.String,
        "trial": pl.Int64,
        "family": pl.String,
        "outcome": pl.String,  # who succeeded: both, treatment_only, base_only, neither
    }
)


class Pairs(NamedTuple):
    """The records of two runs, joined one to one.

    Attributes
    ----------
    both
        One row is one pair: `PAIR`, ``family``, `TIMES`, and each side's columns as ``base_…`` and ``treatment_…``.
    only_base, only_treatment
        Records without a partner, as `PAIR`.
    errored
        Pairs of which a side was not measured: `PAIR`, ``base_error``, ``treatment_error``. They are in ``both`` only where
        errors count as failures.

    Of a tally each has `KIND_PAIR` in place of `PAIR`; the lists, which cannot name a uid, say how many ``tasks`` a row
    stands for, and of errors only that there was one: ``base_errored``, ``treatment_errored``.
    """

    both: pl.DataFrame
    only_base: pl.DataFrame
    only_treatment: pl.DataFrame
    errored: pl.DataFrame


def pairs(
    tasks: pl.DataFrame | pl.LazyFrame, *, base: str, treatment: str, errors: Errors = "exclude"
) -> pl.DataFrame:
    """List the pairs of two runs, with who succeeded: what `skillshift_frames.compare` counts.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`; of both runs at least.
    base, treatment
        Labels of the runs.
    errors
        ``"exclude"`` leaves out pairs with a side that was not measured, ``"zero"`` counts that side as failed.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `PAIRS`, sorted by site, condition, uid and trial; empty where nothing is in both runs.

    Raises
    ------
    InputError
        There is no such run; the frame is a tally, which has no pair of its own.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks(["data/demo/reference.jsonl", "data/demo/induced.jsonl"])
    >>> found = sf.pairs(tasks, base="reference", treatment="induced")
    >>> sorted(found.group_by("outcome").len().rows())
    [('base_only', 154), ('both', 452), ('neither', 1291), ('treatment_only', 233)]
    """
    check_frame("tasks", tasks, "read_tasks")
    check_choice("errors", errors, ("exclude", "zero"))
    frame = tasks.lazy().collect()
    check_records("tasks", frame)
    both = pair(frame, base, treatment, errors).both
    won, kept = pl.col("treatment_success"), pl.col("base_success")
    outcome = (
        pl.when(won & kept)
        .then(pl.lit("both"))
        .when(won)
        .then(pl.lit("treatment_only"))
        .when(kept)
        .then(pl.lit("base_only"))
        .otherwise(pl.lit("neither"))
    )
    listed = both.with_columns(base=pl.lit(base), treatment=pl.lit(treatment), outcome=outcome)
    return listed.select(pl.col(name).cast(dtype) for name, dtype in PAIRS.items())


def pair(tasks: pl.DataFrame, base: str, treatment: str, errors: Errors) -> Pairs:
    """Join the records of two runs, or the tasks of a tally with families, one to one.

    Raises
    ------
    InputError
        There is no such run; a tally has a task with several trials.

    Warns
    -----
    SkillshiftWarning
        Nothing pairs, because the two have the same uids under other sites or conditions; said of the caller's caller.
    """
    runs = tasks.get_column("run").unique().sort().to_list()
    for name in (base, treatment):
        if name not in runs:
            msg = f"there is no run {name!r}; there are {', '.join(runs) or 'none'}"
            raise InputError(msg)
    of_records = "uid" in tasks.columns
    key = PAIR if of_records else KIND_PAIR
    sides = {}
    for side, run in ((BASE, base), (TREATMENT, treatment)):
        of_run = tasks.filter(run=run)
        sides[side] = (
            _side(of_run, key, pl.lit(1, pl.Int64), side)
            if of_records
            else _side(_as_records(of_run), key, pl.col("tasks"), side)
        )
    # Nulls are equal for the version of a task whose uid says none; a record's key has no null.
    joined = sides[BASE].join(
        sides[TREATMENT], on=list(key), how="full", coalesce=True, nulls_equal=True, validate="1:1"
    )
    # The join has no order of its own; the pairs have this one.
    joined = joined.sort(key).with_columns(
        family() if of_records else pl.col("kind").alias("family"),
        pl.coalesce(f"_in_{BASE}", f"_in_{TREATMENT}").alias(TIMES),
    )
    in_base, in_treatment = (pl.col(f"_in_{side}").is_not_null() for side in (BASE, TREATMENT))
    both = joined.filter(in_base & in_treatment).drop(f"_in_{BASE}", f"_in_{TREATMENT}")
    unmeasured = pl.col("base_error").is_not_null() | pl.col("treatment_error").is_not_null()
    tasks_of = () if of_records else (pl.col(TIMES).alias("tasks"),)
    causes: tuple[pl.Expr, ...] = (pl.col("base_error"), pl.col("treatment_error"))
    if not of_records:
        causes = tuple(cause.is_not_null().name.suffix("ed") for cause in causes)
    pairs = Pairs(
        both=both if errors == "zero" else both.filter(~unmeasured),
        only_base=joined.filter(in_base & ~in_treatment).select(*key, *tasks_of),
        only_treatment=joined.filter(~in_base & in_treatment).select(*key, *tasks_of),
        errored=both.filter(unmeasured).select(*key, *causes, *tasks_of),
    )
    if why := _why_nothing_pairs(pairs, base, treatment):
        warnings.warn(why, SkillshiftWarning, stacklevel=3)
    return pairs


def _why_nothing_pairs(pairs: Pairs, base: str, treatment: str) -> str | None:
    """Say why two runs have no pair although they have the same uids; None where they have a pair, or no uid in common."""
    sides = {base: pairs.only_base, treatment: pairs.only_treatment}
    if pairs.both.height or pairs.errored.height or "uid" not in pairs.only_base.columns:
        return None
    common = pairs.only_base.join(pairs.only_treatment, on=["uid", "trial"], how="semi").height
    if not common:
        return None

    def shown(frame: pl.DataFrame, column: str) -> str:
        names = frame.get_column(column).unique().sort().to_list()
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(map(repr, names[:_NAMED])) + more

    differing = [
        f"{column} {' / '.join(f'{shown(frame, column)} in {run}' for run, frame in sides.items())}"
        for column in ("site", "condition")
        if shown(pairs.only_base, column) != shown(pairs.only_treatment, column)
    ]
    why = "; ".join(differing) or "another site or condition each"
    return (
        f"nothing pairs, although {common:,} trials of {base} have the uid of one of {treatment}: {why}. Of another tool's "
        "results the site is the skill and the condition the agent, so a job with a skill has no pair in one without: "
        "lift --with A --without B (skill_lift) pairs two jobs by case"
    )


_NAMED = 5


def _side(records: pl.DataFrame, key: Sequence[str], times: pl.Expr, side: str) -> pl.DataFrame:
    # Not measured is not passed: under "zero" an errored record fails, whatever it says of success.
    passed = pl.col("success").fill_null(value=False) & measured()
    values = pl.all().exclude(*key, "run", "success").name.prefix(f"{side}_")
    return records.select(*key, values, passed.alias(f"{side}_success"), times.alias(f"_in_{side}"))


def _as_records(tally: pl.DataFrame) -> pl.DataFrame:
    """Give a run's tasks as records have them: `KIND_PAIR`, ``tasks``, and what was recorded.

    Raises
    ------
    InputError
        A task has several trials: which of one side belongs to which of the other is not in their sums.
    """
    several = tally.filter(pl.col("trials") + pl.col("errored_trials") > 1)
    if several.height:
        run, site, condition = several.select("run", "site", "condition").row(0)
        msg = (
            f"run {run!r} has tasks with several trials ({site} × {condition}), of which a tally holds the sums; trials are "
            "paired one by one, so compare the records themselves"
        )
        raise InputError(msg)

    def recorded(value: str, trials: str) -> pl.Expr:
        known = pl.col(trials) + pl.col(f"errored_{trials}") > 0
        return pl.when(known).then(pl.col(value) + pl.col(f"errored_{value}")).alias(value)

    return tally.select(
        *KIND_PAIR,
        "tasks",
        pl.col("successes").cast(pl.Boolean).alias("success"),
        recorded("steps", "steps_trials"),
        recorded("skill_calls", "calls_trials"),
        recorded("skill_failures", "calls_trials"),
        pl.when(pl.col("trials") == 0).then(pl.lit("errored")).alias("error"),
    )


def check_metrics(tasks: pl.DataFrame, metrics: Sequence[str], composite: Sequence[str]) -> None:
    """Raise `InputError` for a metric that is neither SR, AS, ASC, SFR nor a numeric or boolean column of real numbers."""
    of_records = "uid" in tasks.columns
    numeric = [
        name
        for name, dtype in (tasks.schema if of_records else TASKS).items()
        if (dtype.is_numeric() or dtype == pl.Boolean) and name != "trial"
    ]
    for name in (*metrics, *composite):
        if name not in METRICS and name not in numeric:
            known = ", ".join([*METRICS, *numeric])
            msg = f"there is no metric {name!r}: neither one of the four nor a numeric or boolean column ({known})"
            if not of_records:
                msg += "; a tally keeps no other column, so compare the records themselves"
            raise InputError(msg)
        if (
            of_records
            and name in numeric
            and not tasks.get_column(name).cast(pl.Float64).is_finite().all()
        ):
            msg = f"column {name!r} holds NaN or an infinity; what is not known is null"
            raise InputError(msg)
    if "SFR" in composite:
        msg = "SFR cannot be part of a composite: it is a ratio of sums, and a record has none of its own"
        raise InputError(msg)
    if not metrics:
        msg = "no metric to compare; name one"
        raise InputError(msg)


def per_task(both: pl.DataFrame, metrics: Sequence[str], composite: Sequence[str]) -> pl.DataFrame:
    """Average the trials of each task, both sides over the same ones.

    One row is one site × condition × uid. For each metric and side ``{metric}_{side}`` and its denominator
    ``{metric}_{side}_n``: the mean over the trials that have both values, and 1 (0 where none has); for SFR the sums of
    failures and of calls, since it stays a ratio of sums. Of a tally one row is one site × condition × kind × version, and
    `TIMES` the number of tasks.
    """
    key = (*task_of(both), "family", TIMES)
    columns: list[pl.Expr] = []
    for metric in metrics:
        if metric == "SFR":
            for side in (BASE, TREATMENT):
                columns += [
                    pl.col(f"{side}_skill_failures").sum().cast(pl.Float64).alias(f"SFR_{side}"),
                    pl.col(f"{side}_skill_calls").sum().cast(pl.Float64).alias(f"SFR_{side}_n"),
                ]
            continue
        base, treatment = (_value(metric, side, composite) for side in (BASE, TREATMENT))
        known = base.is_not_null() & treatment.is_not_null()
        columns += [
            base.filter(known).sort().mean().fill_null(0.0).alias(f"{metric}_{BASE}"),
            treatment.filter(known).sort().mean().fill_null(0.0).alias(f"{metric}_{TREATMENT}"),
            *(
                known.any().cast(pl.Float64).alias(f"{metric}_{side}_n")
                for side in (BASE, TREATMENT)
            ),
        ]
    return both.group_by(key, maintain_order=True).agg(columns)


def task_of(both: pl.DataFrame) -> list[str]:
    """Give the columns that name a task: those of a pair without the trial."""
    return [name for name in (*PAIR[:-1], *KIND_PAIR[2:]) if name in both.columns]


_COLUMN_OF = {"SR": "success", "AS": "steps", "ASC": "skill_calls"}


def _value(metric: str, side: str, composite: Sequence[str]) -> pl.Expr:
    if metric == COMPOSITE and composite:
        parts = [
            pl.col(f"{side}_{_COLUMN_OF.get(name, name)}").cast(pl.Float64) for name in composite
        ]
        total = parts[0]
        for part in parts[1:]:
            total = total + part  # null where one of them is
        return total / len(parts)
    return pl.col(f"{side}_{_COLUMN_OF.get(metric, metric)}").cast(pl.Float64)


def flips(both: pl.DataFrame) -> pl.DataFrame:
    """List the pairs in which one side succeeded and the other did not.

    One row is one pair: `PAIR` and ``flip``, ``"gained"`` (only the treatment succeeded) or ``"lost"``; of a tally
    `KIND_PAIR`, ``flip``, and how many ``tasks``.
    """
    gained = pl.col("treatment_success") & ~pl.col("base_success")
    flip = pl.when(gained).then(pl.lit("gained")).otherwise(pl.lit("lost")).alias("flip")
    changed = both.filter(pl.col("treatment_success") != pl.col("base_success"))
    if "uid" in both.columns:
        return changed.select(*PAIR, flip)
    return changed.select(*KIND_PAIR, flip, pl.col(TIMES).alias("tasks"))
