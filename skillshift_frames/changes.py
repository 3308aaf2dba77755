"""Cases of two dates side by side → what became of their lift: its change, how far it can be trusted, what it is called."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from skillshift_frames.decide import p_value
from skillshift_frames.sampling import Ends, judge_difference, rounded
from skillshift_frames.stats.clusters import clustered_mean
from skillshift_frames.stats.paired import smallest_p
from skillshift_frames.stats.rounding import half_up

if TYPE_CHECKING:
    from skillshift_frames.stats.clusters import Mean

#: What happened to a lift between two dates.
Change: TypeAlias = Literal[
    "caught up", "regressed", "improved", "unchanged", "undetermined", "too few", "no pairs"
]

_MEANS = ("without", "with", "lift")

#: One row is one skill × agent, and one for all of them (both null).
CHANGES = pl.Schema(
    {
        "skill": pl.String,
        "agent": pl.String,
        "cases": pl.Int64,  # in both sets
        "families": pl.Int64,  # distinct uids of a skill: what is taken for independent
        **{
            f"{name}_{part}": pl.Float64
            for name in _MEANS
            for part in ("old", "new", "change", "low", "high", "p")  # p: where all families agree
        },
        "equivalence_low": pl.Float64,  # of the lift's change, at 2 · level − 1; with a margin only
        "equivalence_high": pl.Float64,
        "change": pl.String,  # caught up, regressed, improved, unchanged, undetermined, too few, no pairs
        "test": pl.String,  # interval or sign test: what the change rests on; null where on neither
        "reason": pl.String,
    }
)


def change_of(
    skill: str | None,
    agent: str | None,
    part: pl.DataFrame,
    *,
    level: float,
    margin: float | None,
    span: float,
) -> dict[str, Any]:
    """Give the row of one skill and agent, as `CHANGES`; the composite is known to lie between 0 and ``span``.

    ``part`` has a row per case: ``skill``, ``uid``, ``with``, ``without``, and both of the later date as ``…_new``.
    """
    row: dict[str, Any] = {"skill": skill, "agent": agent, "cases": part.height}
    columns = {
        "without": (pl.col("without"), pl.col("without_new")),
        "with": (pl.col("with"), pl.col("with_new")),
        "lift": (
            pl.col("with") - pl.col("without"),
            pl.col("with_new") - pl.col("without_new"),
        ),
    }
    inner = None if margin is None else 2 * level - 1
    for name, (old, new) in columns.items():
        widest = 2 * span if name == "lift" else span
        found = _change(part, old, new, level=level, inner=inner, span=widest)
        row |= {f"{name}_{key}": value for key, value in found.items()}
    row["families"], why = row["lift_families"], row["lift_reason"]
    row["equivalence_low"], row["equivalence_high"] = row["lift_inner"]
    row["change"], row["reason"], row["test"] = _judge(row, why, level, margin)
    return {name: row[name] for name in CHANGES}


def _change(
    part: pl.DataFrame,
    old: pl.Expr,
    new: pl.Expr,
    *,
    level: float,
    inner: float | None,
    span: float,
) -> dict[str, Any]:
    """Give the means of both dates, and their difference with its interval, families taken for independent.

    Where these agree, and so leave no spread, ``p`` is that of a sign test; ``inner`` are the ends at that level.
    """
    values = part.select("skill", "uid", old=old, new=new)
    if not values.height:
        none = dict.fromkeys(("old", "new", "change", "low", "high", "p"))
        return {**none, "inner": (None, None), "families": 0, "reason": "no case is in both sets"}
    means = [math.fsum(values.get_column(name)) / values.height for name in ("old", "new")]
    sums = (
        values.with_columns(change=pl.col("new") - pl.col("old"))
        .group_by("skill", "uid")
        .agg(pl.col("change").sort().sum(), n=pl.len())
        .sort("change", "n")
    )
    totals, counts = (sums.get_column(name).to_list() for name in ("change", "n"))
    found = clustered_mean(totals, counts, level=level)
    change = 0.0 if abs(found.value) <= _NEGLIGIBLE else rounded(found.value)
    low, high, reason = judge_difference(change, sums.height, _ends(found, span))
    within: tuple[float | None, float | None] = (None, None)
    if inner is not None and low is not None:
        narrow = _ends(clustered_mean(totals, counts, level=inner), span)
        within = (narrow.low, narrow.high)
    return {
        "old": rounded(means[0]),
        "new": rounded(means[1]),
        "change": change,
        "low": low,
        "high": high,
        "p": smallest_p(sums.height) if low is None and change else None,
        "inner": within,
        "families": sums.height,
        "reason": reason,
    }


def _ends(found: Mean, span: float) -> Ends:
    return Ends(rounded(found.low), rounded(found.high), 0.0, "t").within(span)


_NEGLIGIBLE = 1e-12


def _judge(
    row: dict[str, Any], why: str | None, level: float, margin: float | None
) -> tuple[Change, str, str | None]:
    """Say what happened, why, and what that rests on."""
    if not row["cases"]:
        return "no pairs", "no case is in both sets", None
    fell, rose = (_is_clear(row, "lift", sign, level) for sign in (-1, 1))
    shown, baseline = f"the lift changed by {_shown(row, 'lift')}", _shown(row, "without")
    shown += f", the baseline by {baseline}"
    test = "interval" if row["lift_low"] is not None else "sign test"
    if fell:
        excused = _is_clear(row, "without", 1, level)
        return ("caught up" if excused else "regressed"), shown, test
    if rose:
        return "improved", shown, test
    if row["lift_low"] is None:
        return *_without_interval(row, shown, why, level), None
    if margin is None:
        return "undetermined", f"{shown}; the lift's interval holds 0", None
    low, high = row["equivalence_low"], row["equivalence_high"]
    inside = -margin < low and high < margin
    shown += (
        f"; the {100 * (2 * level - 1):g} % interval of the lift's change, [{half_up(low, 4)}, {half_up(high, 4)}], is "
        f"{'' if inside else 'neither clear of 0 nor '}inside ±{margin:g}"
    )
    return ("unchanged", shown, test) if inside else ("undetermined", shown, None)


def _without_interval(
    row: dict[str, Any], shown: str, why: str | None, level: float
) -> tuple[Change, str]:
    """Say what it is called where families agree but their signs show nothing: there are too few, or they do not move."""
    families, smallest = row["families"], smallest_p(row["families"])
    if smallest >= 1 - level and (row["lift_change"] or families == 1):
        few = f"{families} {'family' if families == 1 else 'families'}"
        return "too few", f"{shown}; with {few} p cannot be below {smallest:.4g}"
    return "undetermined", f"the change of the lift has no interval: {why}"


def _is_clear(row: dict[str, Any], name: str, sign: int, level: float) -> bool:
    """Tell whether a change is shown to have this sign: by its interval, else where all families agree by their signs."""
    if row[f"{name}_low"] is None:
        p = row[f"{name}_p"]
        return p is not None and p < 1 - level and sign * row[f"{name}_change"] > 0
    return bool(row[f"{name}_low"] > 0 if sign > 0 else row[f"{name}_high"] < 0)


def _shown(row: dict[str, Any], name: str) -> str:
    change = f"{half_up(row[f'{name}_change'], 4):+}" if row[f"{name}_change"] else "0"
    if row[f"{name}_low"] is not None:
        low, high = (half_up(row[f"{name}_{end}"], 4) for end in ("low", "high"))
        return f"{change} [{low}, {high}]"
    families = row["families"]
    if row[f"{name}_p"] is None or families == 1:
        return f"{change} in {'the only family' if families == 1 else f'all {families:,} families'}"
    return f"{change} in all {families:,} families (exact sign test p {p_value(row[f'{name}_p'])})"
