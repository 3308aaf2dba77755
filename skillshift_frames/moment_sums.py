"""Second moments as a frame: what a row says, whose they are, and how those of parts add up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from skillshift_frames.errors import InputError
from skillshift_frames.outcomes import CELL, RATIOS, used
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.metrics import Errors

#: One row is one run × site × pair of numbers of a family: their product, added up over the run's families of the site.
MOMENTS = pl.Schema(
    {
        "run": pl.String(),
        "site": pl.String(),
        "errors": pl.String(),  # exclude or zero: what became of trials that were not measured
        "condition": pl.String(),  # of the first number; null where it is of no condition
        "part": pl.String(),  # SR_top, SR_bottom, …: see `moments`
        "with_condition": pl.String(),
        "with_part": pl.String(),
        "value": pl.Int64(),  # the sum is value / scale, in lowest terms, and never 0
        "scale": pl.Int64(),  # above 1 only where tasks have several trials
    }
)

#: What a family adds to the numerator and the denominator of each metric of a cell.
PARTS = tuple(f"{metric}_{end}" for metric in METRICS for end in ("top", "bottom"))

#: The number 1 of every family of which a trial counts: a product with it is a plain sum.
FAMILIES = "families"

#: What names a row.
KEY = ("run", "site", "condition", "part", "with_condition", "with_part")

#: The largest number that the frame holds, and that every engine adds up to.
LARGEST = 2**63 - 1

#: Run, site, condition and part → the sum over the families.
Sums: TypeAlias = dict[tuple[str, str, str, str], Fraction]


def of_tasks(counts: pl.DataFrame, errors: Errors) -> dict[str, pl.DataFrame]:
    """Give of each part, by cell and number of trials to divide by, its largest value in a task and its sum."""
    found = {}
    tasks = pl.col("tasks")
    for metric in METRICS:
        top, bottom = RATIOS.get(metric, ("skill_failures", "skill_calls"))
        above, below = used(pl, top, errors), used(pl, bottom, errors)
        sides = {"top": above, "bottom": below}
        number = pl.lit(1, pl.Int64)
        if metric in RATIOS:
            sides["bottom"], number = (below > 0).cast(pl.Int64), below
        for end, value in sides.items():
            divisor = number if end == "top" else pl.lit(1, pl.Int64)
            rows = counts.lazy().select(
                *CELL,
                divisor.alias("_n"),
                value.alias("_v"),
                (value.cast(pl.Int128) * tasks).alias("_s"),
            )
            per_cell = rows.filter(pl.col("_n") > 0).group_by(*CELL, "_n")
            found[f"{metric}_{end}"] = per_cell.agg(
                pl.col("_v").max(), pl.col("_s").sum()
            ).collect()
    return found


def sums_of(counts: pl.DataFrame, errors: Errors) -> Sums:
    """Give the sums of all parts that a tally has: what the moments of its records must have, too."""
    sums: Sums = {}
    for part, per_cell in of_tasks(counts, errors).items():
        for run, site, condition, number, _, total in per_cell.iter_rows():
            key = (run, site, condition, part)
            sums[key] = sums.get(key, Fraction(0)) + Fraction(total, number)
    return {key: value for key, value in sums.items() if value}


def check_of(counts: pl.DataFrame, made: pl.DataFrame, errors: Errors) -> None:
    """Raise `InputError` where moments are not of the runs of a tally, or of another policy for errors."""
    check_moments(made)
    other = made.filter(pl.col("errors") != errors)
    if other.height:
        msg = f"the moments were made with errors={other.item(0, 'errors')!r}, and {errors!r} is asked for"
        raise InputError(msg)
    plain = made.filter(pl.col("part").is_in(PARTS), with_part=FAMILIES)
    found = {
        (run, site, condition, part): Fraction(value, scale)
        for run, site, condition, part, value, scale in plain.select(
            "run", "site", "condition", "part", "value", "scale"
        ).iter_rows()
    }
    wanted = sums_of(counts, errors)
    runs = set(counts.get_column("run"))
    differ = sorted(
        key
        for key in found.keys() | wanted.keys()
        if key[0] in runs and found.get(key) != wanted.get(key)
    )
    if differ:
        run, site, condition, part = differ[0]
        msg = (
            f"the moments are not those of the tally's records: {part} of run {run!r}, {site} × {condition} adds up to "
            f"{found.get(differ[0], 0)}, in the tally to {wanted.get(differ[0], 0)}"
        )
        raise InputError(msg)


def lowest(listed: pl.DataFrame) -> pl.DataFrame:
    """Write sums in lowest terms, so that they do not depend on how they came about."""
    import numpy as np

    value, scale = (listed.get_column(name).to_numpy() for name in ("value", "scale"))
    common = np.gcd(value, scale)
    return listed.with_columns(
        pl.Series("value", value // common), pl.Series("scale", scale // common)
    )


def check_moments(moments: pl.DataFrame) -> None:
    """Raise `InputError` for a frame that holds no moments, or whose types another program has changed."""
    wrong = [
        name
        for name in dict.fromkeys([*MOMENTS, *moments.columns])
        if MOMENTS.get(name) != moments.schema.get(name)
    ]
    if wrong:
        msg = f"the frame holds no moments: {', '.join(wrong)} not as in skillshift_frames.MOMENTS"
        raise InputError(msg)


def add_up(moments: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Add up moments of different runs, or of different families of one.

    Raises
    ------
    InputError
        They were made with different ``errors``, or a sum exceeds 64 bits.
    """
    together = pl.concat([part.select(*MOMENTS) for part in moments])
    policies = together.get_column("errors").unique().sort().to_list()
    if len(policies) > 1:
        msg = f"moments made with errors={policies[0]!r} and with {policies[1]!r} do not add up"
        raise InputError(msg)
    sums: dict[tuple[str | None, ...], Fraction] = {}
    for *key, value, scale in together.select(*KEY, "value", "scale").iter_rows():
        sums[tuple(key)] = sums.get(tuple(key), Fraction(0)) + Fraction(value, scale)
    for (run, site, *_), value in sums.items():
        if max(value.numerator, value.denominator) > LARGEST:
            msg = f"moments of run {run!r}, site {site} add up to more than 64 bits hold"
            raise InputError(msg)
    rows = [(*key, value.numerator, value.denominator) for key, value in sums.items()]
    schema = {name: MOMENTS[name] for name in (*KEY, "value", "scale")}
    added = pl.DataFrame(rows, schema=schema, orient="row")
    return (
        added.with_columns(errors=pl.lit(policies[0] if policies else None, pl.String))
        .select(*MOMENTS)
        .sort(KEY)
    )
