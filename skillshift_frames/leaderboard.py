"""Published entries in the order of what they printed."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.errors import InputError, check_choice, check_frame
from skillshift_frames.ranks import printed_form
from skillshift_frames.sampling import difference
from skillshift_frames.schema import METRICS, STABLE_CALLS
from skillshift_frames.shift import benchmark_of_rows, check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

#: One row is one entry.
LEADERBOARD = pl.Schema(
    {
        "rank": pl.Int64(),  # 1 is best; null where the number to rank by is, or the run is partial
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
        "tasks": pl.Int64(),  # of all cells, as stated; null where not
        "tasks_expected": pl.Int64(),  # of all cells of the benchmark
        "rank_reason": pl.String(),  # why there is no rank
        "marks": pl.List(pl.String()),  # partial, not-applicable, unstable
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

#: What skills are measured by.
_SKILLS = {"ASC", "SFR"}

_ENTRY = ("entry", "date", "method", "model")
_SAID = ("label", "skill_calls", "receipt", "tasks", "tasks_expected", "tasks_reason")

#: What a frame may hold beside metric and slots.
_KNOWN: dict[str, pl.DataType] = {
    **{name: LEADERBOARD[name] for name in (*_ENTRY, *_SAID) if name in LEADERBOARD},
    "tasks_reason": pl.String(),
    "applies": pl.Boolean(),
}


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
        per slot, and ``entry``, ``date``, ``label``, ``skill_calls``, ``receipt``, ``tasks``, ``tasks_expected``,
        ``tasks_reason`` and ``applies`` as far as they are known.
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
        and name. Without a rank come after them partial entries, whose stated task counts are not the benchmark's, and
        last those of which the number to rank by is null; ``rank_reason`` says which. Numbers that are equal as printed
        (two decimals) share a rank, and the next one is skipped: 1, 1, 3. ``SR``, ``AS``, ``ASC`` and ``SFR`` are as
        printed in the slot; ``drop`` is SR under the benchmark's first condition − SR under its last, in points; ``gap``
        how far the number to rank by is, as printed, behind the best (0 is best). ``marks``: ``partial``,
        ``not-applicable`` (ASC and SFR are null in the slot, and were said not to apply), ``ASC-not-applicable`` and
        ``SFR-not-applicable`` (one of them alone), ``unstable`` (an SFR of an entry with fewer than 30 skill calls, or that
        states none). Models whose names differ in nothing but case and the space around them are one, under the spelling
        that most of its entries have. ``entry`` is method / model where it was not given. Empty for no entries.

    Raises
    ------
    InputError
        A column is missing, a number cannot have been measured, an entry has two rows of a metric, there is no such slot,
        or nothing can be ranked by ``sort``, which the message gives the reason for.

    Notes
    -----
    The rules are those of the SkillShift-Bench leaderboard. In a frame without ``applies``, as of
    `skillshift_frames.published`, an entry with rows of neither ASC nor SFR, where others have some, is one to which skills
    do not apply. An entry that states no task counts is taken for complete.

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
    check_frame("entries", entries, "read_entries")
    axes = benchmark_of_rows(entries, benchmark)
    check_choice("slot", slot, axes.slots)
    groups: dict[str | None, list[dict[str, Any]]] = {}
    found = _each_entry(check_rows(entries, axes))
    listed = _rows(found, slot, axes, says_applies="applies" in entries.columns)
    for row in _one_spelling(list(listed)):
        groups.setdefault(None if across_models else row["model"], []).append(row)
    ranked = [
        row for model in sorted(groups, key=_folded) for row in _ranked(groups[model], sort, slot)
    ]
    return pl.DataFrame(ranked, schema=LEADERBOARD, orient="row")


def _each_entry(
    rows: pl.DataFrame,
) -> dict[tuple[Any, ...], dict[str, dict[str, Any]]]:
    """Give each entry's rows by metric, under its name, date, method and model."""
    for name in ("method", "model"):
        if name not in rows.columns:
            msg = (
                f"the frame lacks the column {name!r}; entries have metric, method, model and slots"
            )
            raise InputError(msg)
    for name, dtype in _KNOWN.items():
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
    found: dict[tuple[Any, ...], dict[str, dict[str, Any]]],
    slot: str,
    axes: Benchmark,
    *,
    says_applies: bool,
) -> Iterator[dict[str, Any]]:
    """Give the columns of each entry, but for its rank, the reason for none, and its gap."""
    nothing = dict.fromkeys(axes.slots)
    skilled = any(_SKILLS & of_entry.keys() for of_entry in found.values())
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
        if said["tasks_expected"] is None:
            said["tasks_expected"] = axes.expected
        # A frame that does not say what applies leaves out what does not; one that does says so of a row.
        left_out = not says_applies and skilled and not _SKILLS & of_entry.keys()
        absent = [
            metric
            for metric in sorted(_SKILLS)
            if numbers[metric][slot] is None
            and (left_out or numbers[metric].get("applies") is False)
        ]
        few = said["skill_calls"] is None or said["skill_calls"] < STABLE_CALLS
        marks = [
            *(["partial"] if _partial_reason(said) else []),
            *(["not-applicable"] if len(absent) > 1 else [f"{m}-not-applicable" for m in absent]),
            *(["unstable"] if few and numbers["SFR"][slot] is not None else []),
        ]
        several = len(axes.conditions) > 1
        drop = (
            difference(rates[axes.conditions[0]], rates[axes.conditions[-1]]) if several else None
        )
        values_of = {metric: row[slot] for metric, row in numbers.items()}
        yield said | values_of | {"drop": drop, "marks": marks}


def _partial_reason(said: dict[str, Any]) -> str | None:
    """Say why an entry is not of the benchmark's tasks, as far as it states its own."""
    tasks, expected, reason = said["tasks"], said["tasks_expected"], said["tasks_reason"]
    if reason is None and tasks is not None and tasks != expected:
        return f"{tasks:,} of {expected:,} tasks"
    return None if reason is None else str(reason)


def _one_spelling(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give models that differ in case or the space around them one name, whatever the order of the rows."""
    spellings: dict[str, Counter[str]] = {}
    for row in rows:
        name = (row["model"] or "").strip()
        spellings.setdefault(name.casefold(), Counter())[name] += 1
    for row in rows:
        of_model = spellings[(row["model"] or "").strip().casefold()]
        usual = min(of_model, key=lambda name: (-of_model[name], name))
        yield row | {"model": usual or None}


def _ranked(group: list[dict[str, Any]], sort: str, slot: str) -> Iterator[dict[str, Any]]:
    """Give the entries of one group in their order, with rank and gap, or why there is none."""
    direction = _DIRECTIONS[sort]

    def order(row: dict[str, Any]) -> tuple[object, ...]:
        printed = printed_form(row[sort])
        day = (row["date"] is None, row["date"] or date.min)
        number = Decimal(0) if printed is None else direction * printed
        last = (printed is None, _partial_reason(row) is not None)
        return (
            last,
            number,
            _folded(row["method"]),
            day,
            row["entry"] or "",
            _folded(row["model"]),
        )

    rank, best, before = 0, None, None
    for place, row in enumerate(sorted(group, key=order), start=1):
        printed = printed_form(row[sort])
        reason = _partial_reason(row)
        if printed is None or reason is not None:
            what = f"{sort} {'overall' if slot == 'overall' else f'of {slot}'} is not given"
            yield row | {"rank": None, "gap": None, "rank_reason": reason or what}
            continue
        # Who shares a rank shares its gap: both are taken from what is printed.
        best = printed if best is None else best
        if printed != before:
            rank, before = place, printed
        yield row | {"rank": rank, "gap": float(abs(printed - best)), "rank_reason": None}


def _folded(name: str | None) -> tuple[bool, str, str]:
    """Order names whatever their case, and those that differ in nothing else by it; no name comes last."""
    return name is None, (name or "").casefold(), name or ""
