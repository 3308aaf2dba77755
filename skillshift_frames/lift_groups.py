"""Trials → the groups that a tool prints a number for, with the values that it takes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.lift_cases import ARM, SIDE, Sides
from skillshift_frames.readers.tools.harbor_rewards import DAMAGED, INVALIDATING
from skillshift_frames.trials import TRIALS, WITH, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.lift_policies import Policy


@dataclass(frozen=True, slots=True)
class Part:
    """The trials behind one printed number; ``lone`` is the side that has no single partner."""

    sides: Sides
    of: dict[str, str | None]
    lone: str | None


def parts_of(sides: Sides, policy: Policy) -> Iterator[Part]:
    """Divide trials as the tool does, and match the two sides' groups by what both have in common."""
    sides = _as_recorded(sides) if policy.recorded else sides
    trials, by = sides.trials, list(policy.by)
    printed = trials.filter(~_left_out(policy)) if not policy.fail_arm else trials
    owners = (printed if printed.height else trials).select(SIDE, *by).unique()
    shared = [name for name in by if name in sides.key]
    if "dataset" in by:
        said = [set(owners.filter(pl.col(SIDE) == s)["dataset"]) for s in (WITH, WITHOUT)]
        shared += ["dataset"] if said[0] & said[1] else []
    for key in owners.select(shared).unique().sort(shared).iter_rows() if shared else [()]:
        same = [pl.col(name).eq_missing(pl.lit(x)) for name, x in zip(shared, key, strict=True)]
        here = owners.filter(*same).sort(SIDE, *by)
        pair = here.get_column(SIDE).is_unique().all()
        for own in [here] if pair else [here[i] for i in range(here.height)]:
            part = trials.join(own, on=[SIDE, *by], how="semi", nulls_equal=True)
            of = {
                name: " / ".join(own.get_column(name).drop_nulls().unique().sort()) or None
                for name in by
            }
            there = own.get_column(SIDE).to_list()
            lone = there[0] if len(there) == 1 else None
            yield Part(replace(sides, trials=part), of, lone)


def _left_out(policy: Policy) -> pl.Expr:
    """Tell which trials the tool never sees."""
    never = pl.col("error_type").is_in(policy.left_out_errors).fill_null(value=False)
    return (pl.col("status") == "missing") | never


def _as_recorded(sides: Sides) -> Sides:
    """Take the reward as it was written for the score, and whether it is valid from its exception where nobody says it."""
    scored = pl.col("status") == "scored"
    unsaid = pl.col("recorded").is_null() & pl.col("valid").is_null() & scored
    by_error = ~pl.col("error_type").is_in(list(INVALIDATING)).fill_null(value=False)
    trials = sides.trials.with_columns(
        score=pl.coalesce("recorded", pl.when(scored).then("score")),
        valid=pl.when(unsaid).then(by_error).otherwise("valid"),
    )
    names = [name for name in trials.columns if name not in TRIALS and name != SIDE]
    known = [name for name in (*names, "score", "success") if trials.get_column(name).count()]
    return replace(sides, trials=trials, metrics=tuple(known))


def refused_of(sides: Sides, policy: Policy) -> str | None:
    """Say why no number can be given that the tool would have given."""
    if not policy.recorded:
        return None
    damaged = sides.trials.filter(pl.col("error_type") == DAMAGED)
    if damaged.height:
        return f"here no number: the result of a trial cannot be read ({damaged.item(0, 'path')})"
    unknown = sides.trials.filter(pl.col("recorded").is_not_null(), pl.col("valid").is_null())
    if policy.valid_only and unknown.height:
        return f"here no number: an exception names no type, so a reward may be valid or not ({unknown.item(0, 'path')})"
    return None


def counted(sides: Sides, policy: Policy) -> pl.DataFrame:
    """Give the trials with what the tool takes as their values; null where it leaves them out."""
    status = pl.col("status")
    scored = status == "scored"
    values = pl.col(sides.metrics)
    if policy.fail_arm:
        whole = scored.all().over(ARM)
        return sides.trials.with_columns(pl.when(whole).then(values))
    zero = status.is_in(policy.zero)
    if policy.zero_errors:
        zero |= (~scored & pl.col("error_type").is_in(policy.zero_errors)).fill_null(value=False)
    if policy.left_out_errors:
        zero &= ~pl.col("error_type").is_in(policy.left_out_errors).fill_null(value=False)
    if policy.recorded:
        return _rewarded(sides, policy, zero)
    return sides.trials.with_columns(pl.when(scored).then(values).when(zero).then(0.0))


def _rewarded(sides: Sides, policy: Policy, zero: pl.Expr) -> pl.DataFrame:
    """Give the rewards that count, whatever the status; of several keys one that a trial lacks is 0, as in Harbor."""
    keys = [name for name in sides.metrics if name not in {"score", "success"}]
    given = pl.any_horizontal(pl.col("score", *keys).is_not_null())
    counts = given & pl.col("valid").fill_null(value=False) if policy.valid_only else given
    # Alone a reward is the score; beside others it is a key as they are.
    values = [
        pl.coalesce(name, *(["score"] if name == "reward" else []), pl.lit(0.0)).alias(name)
        for name in keys
    ]
    return sides.trials.with_columns(
        pl.when(counts).then(value).when(zero & ~given).then(0.0)
        for value in [pl.col("score"), *values]
    )


def counts_otherwise(sides: Sides, policy: Policy) -> bool:
    """Tell whether a reward counts by this version that does not by its file's, or the other way round."""
    scored = pl.col("status") == "scored"
    counts = pl.col("valid") if policy.valid_only else pl.col("score").is_not_null()
    return sides.trials.filter(counts.fill_null(value=False) != scored).height > 0


def lacks_scores(sides: Sides) -> bool:
    """Tell whether some trial has no score."""
    return bool((sides.trials.get_column("status") != "scored").any())
