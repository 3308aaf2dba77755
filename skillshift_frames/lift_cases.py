"""Trials → cases: which trials are whose, attempts averaged, the two arms side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.errors import InputError, check_choice, check_frame
from skillshift_frames.trials import LARGEST, STATUSES, TRIALS, WITH, WITHOUT, metric_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillshift_frames.lift_policies import LiftErrors

#: One row is one case: the composite on both sides.
LIFT_CASES = pl.Schema(
    {
        **dict.fromkeys(("tool", "run", "skill", "agent", "model", "uid"), pl.String),
        "negative": pl.Boolean,
        "with": pl.Float64,
        "without": pl.Float64,
        "lift": pl.Float64,
    }
)
_NAMES = ("tool", "run", "skill", "agent", "model", "uid")
_NEGLIGIBLE = 1e-9
#: What a case is told apart by besides its uid, where both arms have it.
_OWNERS = ("tool", "skill", "agent", "model", "run")
#: Columns of our own, which no metric's name can be.
SIDE, COMPOSITE, HAS = "(side)", "(composite)", "(has)"
#: A run's arm, as `errors="fail-arm"` judges it.
ARM = ("run", "skill", "agent", "model", SIDE)
_NAMED = 10


@dataclass(frozen=True)
class Sides:
    """The trials of two arms.

    Attributes
    ----------
    trials
        Those of both, with which side each is of (`SIDE`).
    key
        What names a case.
    metrics
        Columns that were recorded on either side, in the frame's order: metrics, then ``score``, then ``success``.
    notes
        What a reader must know about how the sides were found.
    """

    trials: pl.DataFrame
    key: tuple[str, ...]
    metrics: tuple[str, ...]
    notes: tuple[str, ...]


def as_trials(frame: object) -> pl.DataFrame:
    """Give the frame collected, raising `InputError` for what is no frame of trials."""
    check_frame("frame", frame, "read_trials")
    trials: pl.DataFrame = frame.lazy().collect()  # type: ignore[attr-defined]
    if lacking := [name for name in TRIALS if name not in trials.columns]:
        msg = f"frame has no column {lacking[0]!r}; trials as read_trials gives them are needed"
        raise InputError(msg)
    for name, dtype in TRIALS.items():
        if trials.schema[name] not in {dtype, pl.Null}:
            msg = f"column {name!r} is {trials.schema[name]}; {dtype} is needed"
            raise InputError(msg)
    trials = trials.cast(dict(TRIALS.items()))
    if trials.get_column("uid").null_count() or trials.get_column("trial").null_count():
        msg = "a trial has no uid or no number"
        raise InputError(msg)
    odd = trials.filter(~pl.col("status").is_in(STATUSES).fill_null(value=False))
    if odd.height:
        check_choice("status", odd.get_column("status")[0], STATUSES)
    for name in metric_names(trials):
        column = trials.get_column(name)
        if column.dtype not in {pl.Float64, pl.Null}:
            msg = f"metric {name!r} is {column.dtype}; Float64 is needed"
            raise InputError(msg)
    _refuse_odd_numbers(trials)
    return trials


def _refuse_odd_numbers(trials: pl.DataFrame) -> None:
    numbers = ["score", *metric_names(trials), "cost", "seconds"]
    for name in numbers:
        known = trials.get_column(name).cast(pl.Float64).drop_nulls()
        if not known.is_finite().all():
            msg = (
                f"column {name!r} has NaN or an infinity; null is needed where a number is unknown"
            )
            raise InputError(msg)
        if known.len() and not (known.abs() <= LARGEST).all():
            msg = f"column {name!r} has a number beyond {LARGEST:g}, of which no mean can be made"
            raise InputError(msg)


def sides_of(trials: pl.DataFrame, with_: str | None, without: str | None) -> Sides:
    """Take the two arms from a frame of trials.

    ``with_`` and ``without`` name an arm each, else a run, else an agent; by default the arms ``with`` and ``without``.

    Raises
    ------
    InputError
        No arm, run or agent of that name; both sides the same; arms of several skills or agents that have none in common.
    """
    parts, by = [], set()
    for side, named in ((WITH, with_), (WITHOUT, without)):
        found, column = _named(trials, side if named is None else named, given=named is not None)
        parts.append(_with_owners(found).with_columns(pl.lit(side).alias(SIDE)))
        by.add(column)
    if not (parts[0].height or parts[1].height):
        msg = f"no trial says which arm it is of; name the two sides: {_choices(trials)}"
        raise InputError(msg)
    both = pl.concat(parts)
    _refuse_repeats(both)
    owners, notes = _owners(parts[0], parts[1], by)
    notes += _left_out(trials, both.height, by)
    values = (*metric_names(trials), "score", "success")
    recorded = [
        name for name in values if both.filter(status="scored").get_column(name).count() > 0
    ]
    success = pl.col("success").cast(pl.Float64)
    return Sides(
        both.with_columns(success),
        (*owners, "uid"),
        tuple(recorded),
        tuple(notes),
    )


def _with_owners(part: pl.DataFrame) -> pl.DataFrame:
    """Fill in what a damaged trial does not say and all others of its run do: it is one of theirs."""
    return part.with_columns(
        pl.when(pl.col(name).drop_nulls().n_unique().over("run") == 1)
        .then(pl.col(name).fill_null(pl.col(name).max().over("run")))
        .otherwise(name)
        .alias(name)
        for name in ("skill", "agent", "model")
    )


def _left_out(trials: pl.DataFrame, taken: int, by: set[str]) -> list[str]:
    """Count the trials that are on neither side: nothing is dropped without a word."""
    if taken == trials.height:
        return []
    more = trials.height - taken
    column = min(by)
    named = ", ".join(_values(trials, column)) or "none"
    nameless = trials.get_column(column).null_count()
    which = f"{column}s: {named}; {nameless:,} trials name none"
    return [f"{more:,} of {trials.height:,} trials are on neither side and in no number ({which})"]


def _refuse_repeats(both: pl.DataFrame) -> None:
    """Raise for a trial that a side has twice, and for one that both sides have."""
    place = [*_OWNERS, "arm", "uid", "trial", "path"]
    for where, what in (
        ([*place, SIDE], "is there twice"),
        (place, "is on both sides: with and without are the same"),
    ):
        twice = both.filter(both.select(where).is_duplicated()) if both.height else both
        if twice.height:
            row = twice.row(0, named=True)
            file = "" if row["path"] is None else f" ({row['path']})"
            msg = f"trial {row['trial']} of {row['uid']} {what}{file}"
            raise InputError(msg)


def _named(trials: pl.DataFrame, name: str, *, given: bool) -> tuple[pl.DataFrame, str]:
    for column in ("arm", "run", "agent") if given else ("arm",):
        found = trials.filter(pl.col(column) == name)
        if found.height:
            return found, column
    if given:
        msg = f"there is no arm, run or agent {name!r}: {_choices(trials)}"
        raise InputError(msg)
    return trials.clear(), "arm"


def _choices(trials: pl.DataFrame) -> str:
    said = []
    for column in ("arm", "run", "agent"):
        values = _values(trials, column)
        if values:
            more = f" and {len(values) - _NAMED} more" if len(values) > _NAMED else ""
            said.append(f"{column} {', '.join(values[:_NAMED])}{more}")
    return "; ".join(said) or "the trials name no arm, run or agent"


def _values(trials: pl.DataFrame, column: str) -> list[str]:
    return trials.get_column(column).drop_nulls().unique().sort().to_list()


def _owners(first: pl.DataFrame, second: pl.DataFrame, by: set[str]) -> tuple[list[str], list[str]]:
    """Find what cases are told apart by: what both sides have in common; sides may be named ``by`` one of these."""
    owners, notes = [], []
    for column in _OWNERS:
        sides = [set(_values(part, column)) for part in (first, second)]
        # Where nobody says whose a trial is, that tells nothing apart; where one side says, it cannot.
        if not any(sides) or sides[0] & sides[1] or not (first.height and second.height):
            owners.append(column)
            continue
        shown = [", ".join(_values(part, column)) or "none" for part in (first, second)]
        if column != "run" and max(map(len, sides)) > 1:
            msg = (
                f"the two sides have no {column} in common ({shown[0]} with, {shown[1]} without), so it is not known "
                f"which cases belong together; keep one {column} on each side"
            )
            raise InputError(msg)
        if column not in {"run", *by} and "none" not in shown:
            notes.append(
                f"the sides differ in {column} ({shown[0]} with, {shown[1]} without): the lift is not the skill's alone"
            )
    return owners, notes


def usable(sides: Sides, errors: LiftErrors) -> tuple[pl.DataFrame, list[str]]:
    """Give the trials with the values that count: null where a trial is in no mean."""
    scored = pl.col("status") == "scored"
    values = pl.col(sides.metrics)
    if errors == "zero":
        return sides.trials.with_columns(pl.when(scored).then(values).otherwise(0.0)), []
    if errors == "exclude":
        return sides.trials.with_columns(pl.when(scored).then(values)), []
    whole = scored.all().over(ARM)
    failed = sides.trials.filter(~whole)
    notes = [
        f"arm fails: {' '.join(str(row[name]) for name in ARM if row[name] is not None)}: "
        f"{row['lacking']:,} of {row['trials']:,} trials have no score"
        for row in failed.group_by(ARM)
        .agg(lacking=(~scored).sum(), trials=pl.len())
        .sort(ARM)
        .iter_rows(named=True)
    ]
    return sides.trials.with_columns(pl.when(whole).then(values)), notes


def cases_of(trials: pl.DataFrame, sides: Sides) -> pl.DataFrame:
    """Give one row per case: the key, ``negative``, which sides tried it, and every metric's mean over attempts.

    Attempts are averaged by their values alone, so that their order does not matter. Columns are ``<metric>_with`` and
    ``<metric>_without``, null where a side has no attempt that counts.
    """
    key = list(sides.key)

    def means(side: str) -> list[pl.Expr]:
        of_side = pl.col(SIDE) == side
        return [
            pl.col(name).filter(of_side).drop_nulls().sort().mean().alias(f"{name}_{side}")
            for name in sides.metrics
        ]

    return (
        trials.group_by(key)
        .agg(
            pl.col("negative").any().fill_null(value=False),
            *((pl.col(SIDE) == side).any().alias(f"{HAS}_{side}") for side in (WITH, WITHOUT)),
            *means(WITH),
            *means(WITHOUT),
        )
        .sort(key)
    )


def coverage_of(sides: Sides, unlisted: int = 0) -> dict[str, Any]:
    """Count trials by status, of both arms together and of each.

    ``unlisted`` trials were planned and are not there, and nothing says of which case or arm: they are in the counts of
    both arms together alone.
    """

    def count(trials: pl.DataFrame) -> dict[str, int]:
        by_status = dict(trials.group_by("status").len().iter_rows())
        return {"expected": trials.height} | {
            status: int(by_status.get(status, 0)) for status in STATUSES
        }

    arms = {side: count(sides.trials.filter(pl.col(SIDE) == side)) for side in (WITH, WITHOUT)}
    both = count(sides.trials)
    both |= {name: both[name] + unlisted for name in ("expected", "missing")}
    return both | {"unlisted": unlisted, "arms": arms}


def stopped_on_pass(sides: Sides) -> tuple[int, int, bool]:
    """Count the cases of an arm whose attempts ended early on a pass, the cases in all, and tell whether the files say so.

    Of trials that do not say it, it is inferred: none of all unless every case with fewer attempts ended on its only pass,
    since other reasons for unequal attempts are no such rule.
    """
    tried = sides.trials.filter(pl.col("status") != "missing")
    said = bool(tried.get_column("stops").any())
    attempts = (
        tried.filter(pl.col("stops") if said else pl.col("stops").is_null())
        .sort("trial")
        .group_by(SIDE, *sides.key)
        .agg(
            n=pl.len(),
            last=(pl.col("success").last() == 1).fill_null(value=False),
            earlier=(pl.col("success").head(pl.len() - 1) == 1).any().fill_null(value=False),
        )
    )
    if not attempts.height:
        return 0, 0, said
    most = attempts.get_column("n").max()
    shorter = attempts.filter(pl.col("n") < most)
    early = shorter.filter("last", ~pl.col("earlier")).height
    return (early if said or early == shorter.height else 0), attempts.height, said


def name_cases(cases: pl.DataFrame, key: Sequence[str]) -> str:
    """Name the first cases of a frame and count the rest."""
    named = [
        " ".join(str(value) for value in row if value is not None)
        for row in cases.select(_told_apart(cases, key)).head(_NAMED).iter_rows()
    ]
    rest = cases.height - len(named)
    return ", ".join(named) + (f" and {rest:,} more" if rest else "")


def _told_apart(cases: pl.DataFrame, key: Iterable[str]) -> list[str]:
    """Leave out of a case's name what all of them share."""
    return [name for name in key if name == "uid" or cases.get_column(name).n_unique() > 1]


def list_cases(cases: pl.DataFrame) -> pl.DataFrame:
    """Give cases that have the composite on both sides as `LIFT_CASES`."""
    listed = cases.select(
        *(
            pl.col(name) if name in cases.columns else pl.lit(None, pl.String).alias(name)
            for name in _NAMES
        ),
        "negative",
        *(pl.col(f"{COMPOSITE}_{side}").round_sig_figs(12).alias(side) for side in (WITH, WITHOUT)),
    )
    lift = pl.col(WITH) - pl.col(WITHOUT)
    # What is left of two equal sums of fractions is no lift.
    larger = pl.max_horizontal(pl.col(WITH).abs(), pl.col(WITHOUT).abs())
    nothing = lift.abs() <= _NEGLIGIBLE * larger
    return listed.with_columns(
        lift=pl.when(nothing).then(0.0).otherwise(lift.round_sig_figs(12))
    ).sort(_NAMES)
