"""Published entries in the order of what they printed."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.ranks import printed_form
from skillshift_frames.sampling import difference, rounded
from skillshift_frames.schema import METRICS, STABLE_CALLS
from skillshift_frames.shift import benchmark_of_rows, check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

#: One row is one entry.
LEADERBOARD = pl.Schema(
    {
        "rank": pl.Int64(),  # 1 is best; null where the number to rank by is
        "model": pl.String(),
        "method": pl.String(),
        "date": pl.Date(),
        "label": pl.String(),  # where the numbers are from
        "receipt": pl.String(),  # whether it bears them out; null where none is owed or nobody looked
        "SR": pl.Float64(),  # the four as printed in the slot
        "AS": pl.Float64(),
        "ASC": pl.Float64(),
        "SFR": pl.Float64(),
        "drop": pl.Float64(),  # SR under the first condition − SR under the last, in points
        "gap": pl.Float64(),  # to the best of those that it is ranked against; 0 for the best
        "skill_calls": pl.Int64(),  # of the whole run; null where not stated
        "marks": pl.List(pl.String()),  # not-applicable, unstable
        "entry": pl.String(),
    }
)

#: Metric to rank by → 1 where less is better, −1 where more is.
_DIRECTIONS = {"SR": -1, "AS": 1}

#: Why nothing is ranked by the others.
_NO_ORDER = {
    "SFR": "a ratio over few skill calls is unstable, so it is never a sort key",
    "ASC": "neither more nor fewer skill calls are better",
    "drop": "a method that fails everywhere drops by nothing",
}

_ENTRY = ("entry", "date", "method", "model")
_SAID = ("label", "skill_calls", "receipt")


def leaderboard(
    entries: pl.DataFrame,
    *,
    sort: str = "SR",
    slot: str = "overall",
    across_models: bool = False,
    benchmark: BenchmarkLike = "skillshift",
) -> pl.DataFrame:
    """Rank published entries within their models.

    One row is one entry.

    Parameters
    ----------
    entries
        From `skillshift_frames.read_entries` or `skillshift_frames.published`: ``metric``, ``method``, ``model``, a column
        per slot, and ``entry``, ``date``, ``label``, ``skill_calls`` and ``receipt`` as far as they are known.
    sort
        ``"SR"`` (the highest first) or ``"AS"`` (the lowest first).
    slot
        A site, a condition or ``"overall"``: which of an entry's numbers are shown and ranked by.
    across_models
        Rank all entries against each other, also those of different models, which differ in more than their method.
    benchmark
        Names the slots.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `LEADERBOARD`: models by name, in each the best entry first, then equal ones by method, date
        and name, and last, without a rank, those of which the number to rank by is null. Numbers that are equal as printed
        (two decimals) share a rank, and the next one is skipped: 1, 1, 3. ``SR``, ``AS``, ``ASC`` and ``SFR`` are as
        printed in the slot; ``drop`` is SR under the benchmark's first condition − SR under its last, in points; ``gap``
        how far the number to rank by is behind the best (0 is best). ``marks``: ``not-applicable`` (ASC and SFR
        are null in every slot), ``unstable`` (an SFR of an entry with fewer than 30 skill calls, or that states none).
        ``entry`` is method / model where it was not given. Empty for no entries.

    Raises
    ------
    InputError
        A column is missing, a number cannot have been measured, an entry has two rows of a metric, there is no such slot,
        or nothing can be ranked by ``sort``, which the message gives the reason for.

    Notes
    -----
    The rules are those of the SkillShift-Bench leaderboard.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> of_model = leaderboard(sf.published()).filter(model="gpt-5-mini")
    >>> of_model.select("rank", "method", "SR", "drop", "gap")
    shape: (5, 5)
    ┌──────┬─────────────┬───────┬───────┬───────┐
    │ rank ┆ method      ┆ SR    ┆ drop  ┆ gap   │
    │ ---  ┆ ---         ┆ ---   ┆ ---   ┆ ---   │
    │ i64  ┆ str         ┆ f64   ┆ f64   ┆ f64   │
    ╞══════╪═════════════╪═══════╪═══════╪═══════╡
    │ 1    ┆ MPCR        ┆ 41.26 ┆ 36.68 ┆ 0.0   │
    │ 2    ┆ WALT        ┆ 40.46 ┆ 19.29 ┆ 0.8   │
    │ 3    ┆ ASI         ┆ 37.9  ┆ 35.04 ┆ 3.36  │
    │ 4    ┆ AWM         ┆ 37.56 ┆ 28.42 ┆ 3.7   │
    │ 5    ┆ SkillWeaver ┆ 24.99 ┆ 21.53 ┆ 16.27 │
    └──────┴─────────────┴───────┴───────┴───────┘
    """
    if sort in _NO_ORDER:
        msg = f"entries cannot be ranked by {sort}: {_NO_ORDER[sort]} (SR or AS)"
        raise InputError(msg)
    check_choice("sort", sort, tuple(_DIRECTIONS))
    axes = benchmark_of_rows(entries, benchmark)
    check_choice("slot", slot, axes.slots)
    groups: dict[str | None, list[dict[str, Any]]] = {}
    for row in _rows(_each_entry(check_rows(entries, axes)), slot, axes):
        groups.setdefault(None if across_models else row["model"], []).append(row)
    ranked = [row for model in sorted(groups, key=_folded) for row in _ranked(groups[model], sort)]
    return pl.DataFrame(ranked, schema=LEADERBOARD, orient="row")


def _each_entry(
    rows: pl.DataFrame,
) -> dict[tuple[Any, ...], dict[str, dict[str, Any]]]:
    """Give each entry's rows by metric, under its name, date, method and model."""
    wanted = {name: LEADERBOARD[name] for name in (*_ENTRY, *_SAID)}
    for name in ("method", "model"):
        if name not in rows.columns:
            msg = (
                f"the frame lacks the column {name!r}; entries have metric, method, model and slots"
            )
            raise InputError(msg)
    for name, dtype in wanted.items():
        if name not in rows.columns:
            rows = rows.with_columns(pl.lit(None, dtype=dtype).alias(name))
        elif rows.schema[name] == pl.Null or (
            dtype.is_integer() and rows.schema[name].is_integer()
        ):
            rows = rows.with_columns(pl.col(name).cast(dtype))
        elif rows.schema[name] != dtype:
            msg = f"the column {name!r} is {rows.schema[name]}; {dtype} is needed"
            raise InputError(msg)
    rows = rows.with_columns(pl.col("method", "model").replace("", None))  # not stated
    named = pl.concat_str("method", "model", separator=" / ", ignore_nulls=True)
    rows = rows.with_columns(entry=pl.coalesce("entry", named))
    found: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows.iter_rows(named=True):
        of_entry = found.setdefault(tuple(row[name] for name in _ENTRY), {})
        metric = row["metric"]
        if metric not in METRICS:
            msg = f"{row['entry']}: {metric!r} is no metric; {', '.join(METRICS)} are"
            raise InputError(msg)
        if metric in of_entry:
            msg = f"{row['entry']}: has two rows of {metric}; an entry has one"
            raise InputError(msg)
        of_entry[metric] = row
    return found


def _rows(
    found: dict[tuple[Any, ...], dict[str, dict[str, Any]]], slot: str, axes: Benchmark
) -> Iterator[dict[str, Any]]:
    """Give the columns of each entry, but for its rank and its gap."""
    nothing = dict.fromkeys(axes.slots)
    for key, of_entry in found.items():
        said = dict(zip(_ENTRY, key, strict=True))
        for name in _SAID:
            values = {row[name] for row in of_entry.values()} - {None}
            if len(values) > 1:
                msg = f"{said['entry']}: its rows differ in {name}: {', '.join(sorted(map(str, values)))}"
                raise InputError(msg)
            said[name] = values.pop() if values else None
        numbers = {metric: of_entry.get(metric, nothing) for metric in METRICS}
        rates = numbers["SR"]
        applies = any(
            numbers[name][each] is not None for name in ("ASC", "SFR") for each in axes.slots
        )
        few = said["skill_calls"] is None or said["skill_calls"] < STABLE_CALLS
        marks = [
            *([] if applies else ["not-applicable"]),
            *(["unstable"] if few and numbers["SFR"][slot] is not None else []),
        ]
        several = len(axes.conditions) > 1
        drop = (
            difference(rates[axes.conditions[0]], rates[axes.conditions[-1]]) if several else None
        )
        values_of = {metric: row[slot] for metric, row in numbers.items()}
        yield said | values_of | {"drop": drop, "marks": marks}


def _ranked(group: list[dict[str, Any]], sort: str) -> Iterator[dict[str, Any]]:
    """Give the entries of one group in their order, with rank and gap."""
    direction = _DIRECTIONS[sort]

    def order(row: dict[str, Any]) -> tuple[object, ...]:
        printed = printed_form(row[sort])
        day = (row["date"] is None, row["date"] or date.min)
        number = (1, Decimal(0)) if printed is None else (0, direction * printed)
        return (number, _folded(row["method"]), day, row["entry"] or "", _folded(row["model"]))

    values = [direction * row[sort] for row in group if row[sort] is not None]
    rank, before = 0, None
    for place, row in enumerate(sorted(group, key=order), start=1):
        printed = printed_form(row[sort])
        if printed != before:
            rank, before = place, printed
        known = printed is not None
        gap = rounded(direction * row[sort] - min(values)) if known else None
        yield row | {"rank": rank if known else None, "gap": gap}


def _folded(name: str | None) -> tuple[bool, str, str]:
    """Order names whatever their case, and those that differ in nothing else by it; no name comes last."""
    return name is None, (name or "").casefold(), name or ""
