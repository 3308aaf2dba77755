"""Two runs → pairs: the same trial of the same task on both sides, and what is left without its other half."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.errors import InputError
from skillshift_frames.schema import METRICS, family, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.metrics import Errors

#: What pairs share.
PAIR = ("site", "condition", "uid", "trial")

#: The name of the mean of several metrics.
COMPOSITE = "composite"

BASE, TREATMENT = "base", "treatment"


class Pairs(NamedTuple):
    """The records of two runs, joined one to one.

    Attributes
    ----------
    both
        One row is one pair: `PAIR`, ``family``, and each side's columns as ``base_…`` and ``treatment_…``.
    only_base, only_treatment
        Records without a partner, as `PAIR`.
    errored
        Pairs of which a side was not measured: `PAIR`, ``base_error``, ``treatment_error``. They are in ``both`` only where
        errors count as failures.
    """

    both: pl.DataFrame
    only_base: pl.DataFrame
    only_treatment: pl.DataFrame
    errored: pl.DataFrame


def pair(tasks: pl.DataFrame, base: str, treatment: str, errors: Errors) -> Pairs:
    """Join the records of two runs one to one.

    Raises
    ------
    InputError
        There is no such run.
    """
    runs = tasks.get_column("run").unique().sort().to_list()
    for name in (base, treatment):
        if name not in runs:
            msg = f"there is no run {name!r}; there are {', '.join(runs) or 'none'}"
            raise InputError(msg)
    sides = {
        side: _side(tasks.filter(run=run), side)
        for side, run in ((BASE, base), (TREATMENT, treatment))
    }
    joined = sides[BASE].join(
        sides[TREATMENT], on=list(PAIR), how="full", coalesce=True, validate="1:1"
    )
    # The join has no order of its own; the pairs have this one.
    joined = joined.sort(PAIR).with_columns(family())
    in_base, in_treatment = (pl.col(f"_in_{side}").is_not_null() for side in (BASE, TREATMENT))
    both = joined.filter(in_base & in_treatment).drop(f"_in_{BASE}", f"_in_{TREATMENT}")
    unmeasured = pl.col("base_error").is_not_null() | pl.col("treatment_error").is_not_null()
    return Pairs(
        both=both if errors == "zero" else both.filter(~unmeasured),
        only_base=joined.filter(in_base & ~in_treatment).select(PAIR),
        only_treatment=joined.filter(~in_base & in_treatment).select(PAIR),
        errored=both.filter(unmeasured).select(*PAIR, "base_error", "treatment_error"),
    )


def _side(records: pl.DataFrame, side: str) -> pl.DataFrame:
    # Not measured is not passed: under "zero" an errored record fails, whatever it says of success.
    passed = pl.col("success").fill_null(value=False) & measured()
    values = pl.all().exclude(*PAIR, "run", "success").name.prefix(f"{side}_")
    return records.select(
        *PAIR, values, passed.alias(f"{side}_success"), pl.lit(value=True).alias(f"_in_{side}")
    )


def check_metrics(tasks: pl.DataFrame, metrics: Sequence[str], composite: Sequence[str]) -> None:
    """Raise `InputError` for a metric that is neither SR, AS, ASC, SFR nor a numeric or boolean column of real numbers."""
    numeric = [
        name
        for name, dtype in tasks.schema.items()
        if (dtype.is_numeric() or dtype == pl.Boolean) and name != "trial"
    ]
    for name in (*metrics, *composite):
        if name not in METRICS and name not in numeric:
            known = ", ".join([*METRICS, *numeric])
            msg = f"there is no metric {name!r}: neither one of the four nor a numeric or boolean column ({known})"
            raise InputError(msg)
        if name in numeric and not tasks.get_column(name).cast(pl.Float64).is_finite().all():
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
    failures and of calls, since it stays a ratio of sums.
    """
    key = ("site", "condition", "uid", "family")
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

    One row is one pair: `PAIR` and ``flip``, ``"gained"`` (only the treatment succeeded) or ``"lost"``.
    """
    gained = pl.col("treatment_success") & ~pl.col("base_success")
    flip = pl.when(gained).then(pl.lit("gained")).otherwise(pl.lit("lost")).alias("flip")
    return both.filter(pl.col("treatment_success") != pl.col("base_success")).select(*PAIR, flip)
