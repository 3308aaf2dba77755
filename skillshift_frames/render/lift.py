"""What a Skill Lift says: the composite first, then its metrics, then what limits them and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.lift_result import METRIC_LIFTS
from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner
from skillshift_frames.render.numbers import format_count, format_number, format_signed
from skillshift_frames.render.tables import UNDEFINED
from skillshift_frames.stats.rounding import half_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillshift_frames.lift_result import SkillLift
    from skillshift_frames.lift_tools import ToolLift

#: Scores are shares: two digits, as for percent, would hide most lifts.
DECIMALS = 4

#: Metrics that are the headline itself.
_HEADLINES = frozenset({"score", "success"})

_METHODS = {
    "t": "Student's t on cases, those that share skill and uid taken as one",
    "delta": "delta method on cases, those that share skill and uid taken as one",
}


def lift_document(lift: SkillLift) -> Document:
    """Describe a lift, one row per metric, below the headline."""
    columns = [
        Column("Metric", "left"),
        *map(Column, ("Without", "With", "Lift", "Cases", "Weight")),
    ]
    spanners: tuple[Spanner, ...] = ()
    theirs: Mapping[str, Mapping[str, float | None]] = {}
    if lift.tool is not None:
        columns += map(Column, ("Without", "With", "Lift"))
        spanners = (Spanner("ours", 1, 5), Spanner(lift.tool.policy, 6, 8))
        theirs = {**lift.tool.metrics, **lift.tool.extra}

    def row(title: str, found: Mapping[str, Any], tool: Mapping[str, float | None] | None) -> Row:
        weight = found.get("weight")
        cells = [
            Cell(title),
            *(Cell(shown(found[side])) for side in ("without", "with")),
            Cell(signed(found["lift"]), _interval(found)),
            Cell(format_count(found["cases"])),
            Cell(format_number(weight, decimals=2) if weight else ""),
        ]
        if lift.tool is not None:
            given = tool or {}
            cells += [
                Cell(shown(given[side]) if side in given else "") for side in ("without", "with")
            ]
            cells.append(Cell(signed(given["lift"]) if "lift" in given else ""))
        return Row(tuple(cells))

    one = lift.tool is not None and len(lift.tool.groups) == 1
    theirs_in_all = lift.tool.composite if lift.tool is not None and one else None
    rows = [row("composite", lift.composite.to_dict(), theirs_in_all)]
    if lift.outcome is not None:
        rows.append(row("outcome only", lift.outcome.to_dict(), None))
    if lift.negative is not None:
        rows.append(row("negative cases", lift.negative.to_dict(), None))
    for part in (lift.dimensions, lift.metrics):
        listed = [row(of["metric"], of, theirs.get(of["metric"])) for of in part.to_dicts()]
        rows += [Row(one.cells, starts_group=not place) for place, one in enumerate(listed)]
    if lift.tool is not None:
        rows += [_extra(name, of) for name, of in lift.tool.extra.items()]
        rows += () if one else _groups(lift.tool)
    share = lift.positive
    positive = (
        f"positive in {100 * share.share:.1f} % of {format_count(lift.composite.cases)} cases"
        if share.share is not None
        else "no paired case"
    )
    return Document(
        title=f"Skill Lift {signed(lift.composite.lift)}{_behind(lift)}, {positive}: {lift.decision.verdict}",
        columns=tuple(columns),
        rows=tuple(rows),
        spanners=spanners,
        notes=tuple(_notes(lift)),
    )


def lift_rows(lift: SkillLift) -> pl.DataFrame:
    """Give the rows of a lift for programs: the composite and its like first, then the metrics, as `METRIC_LIFTS`.

    With a tool's own numbers, ``policy`` after these columns says whose a row is, and behind our rows come, for each group
    that the tool prints a number of, our composite over the same cases (``ours``) and the tool's numbers: its composite with
    the ``difference`` to ours, its metrics, and what else it prints per side. ``group`` counts the groups from 1 (null: over
    all), and the columns after it say which each is.
    """
    named = [("composite", lift.composite), ("outcome", lift.outcome), ("negative", lift.negative)]
    rows = [{"metric": name} | mean.to_dict() for name, mean in named if mean is not None]
    ours = pl.concat([pl.DataFrame(rows, schema=METRIC_LIFTS), lift.dimensions, lift.metrics])
    if lift.tool is None:
        return ours
    theirs = list(_tool_rows(lift.tool))
    of = dict.fromkeys(name for group in lift.tool.groups for name in group.of)
    added = {"policy": pl.String, "group": pl.Int64, "difference": pl.Float64}
    schema = METRIC_LIFTS | added | dict.fromkeys(of, pl.String())
    listed = ours.with_columns(policy=pl.lit(_OURS))
    return pl.concat([listed, pl.DataFrame(theirs, schema=schema)], how="diagonal").select(*schema)


_OURS = "ours"


def _tool_rows(tool: ToolLift) -> Iterator[dict[str, Any]]:
    """Give the rows of each number that the tool prints, behind ours over the same cases."""
    for number, group in enumerate(tool.groups, 1):
        whose = {"group": number, **group.of}
        yield {"metric": "composite", "policy": _OURS, **group.ours, **whose}
        said = {"difference": group.difference, "reason": group.reason}
        yield {"metric": "composite", "policy": tool.policy, **group.composite, **said, **whose}
        for name, of in {**group.metrics, **group.extra}.items():
            yield {"metric": name, "policy": tool.policy, **of, **whose}


def shown(value: float | None) -> str:
    """Show a mean."""
    return format_number(value, undefined=UNDEFINED, decimals=DECIMALS)


def signed(value: float | None) -> str:
    """Show a difference with its sign; 0 has none.

    Examples
    --------
    >>> signed(0.25), signed(-0.25), signed(0.0), signed(None)
    ('+0.2500', '-0.2500', '0.0000', '–')
    """
    return format_signed(value, undefined=UNDEFINED, decimals=DECIMALS)


def interval(low: float | None, high: float | None) -> str:
    """Show an interval, empty where there is none."""
    return "" if low is None or high is None else f"[{shown(low)}, {shown(high)}]"


def _interval(found: Mapping[str, Any]) -> tuple[str, ...]:
    text = interval(found["low"], found["high"])
    return (text,) if text else ()


def _behind(lift: SkillLift) -> str:
    text = interval(lift.composite.low, lift.composite.high)
    return f" {text}" if text else ""


def _extra(name: str, of: Mapping[str, float | None]) -> Row:
    blank = [Cell(name), *(Cell("") for _ in range(5))]
    gain = Cell(signed(of["lift"])) if "lift" in of else Cell("")
    return Row((*blank, Cell(shown(of["without"])), Cell(shown(of["with"])), gain))


def _groups(tool: ToolLift) -> Iterator[Row]:
    """Give the rows of each number that the tool prints, ours over the same cases beside its headline."""
    names = [
        name for name in tool.groups[0].of if len({group.of[name] for group in tool.groups}) > 1
    ]
    for group in tool.groups:
        ours, theirs = group.ours, group.composite
        title = ", ".join(f"{name} {group.of[name] or UNDEFINED}" for name in names)
        yield Row(
            (
                Cell(title or "group"),
                *(Cell(shown(ours[side])) for side in ("without", "with")),
                Cell(signed(ours["lift"])),
                Cell(format_count(int(ours["cases"] or 0))),
                Cell(""),
                *(Cell(shown(theirs[side])) for side in ("without", "with")),
                Cell(signed(theirs["lift"])),
            ),
            starts_group=True,
        )
        others = {name: of for name, of in group.metrics.items() if name not in _HEADLINES}
        yield from (_extra(name, of) for name, of in {**others, **group.extra}.items())


def _notes(lift: SkillLift) -> Iterator[Note]:
    decision = lift.decision
    yield Note(f"Verdict: {decision.verdict}: {decision.reason}")
    if decision.settle is not None:
        yield Note(
            f"About {format_count(decision.settle)} cases would settle it, if the lift stays what it is"
        )
    if lift.tool is not None:
        yield Note(f"--as {lift.tool.policy}: {lift.tool.reason}")
        yield from map(Note, _reasons(lift.tool))
    yield from map(Note, lift.notes)
    share = lift.positive
    if share.low is not None and share.high is not None:
        yield Note(
            f"positive: {format_count(share.cases)} of {format_count(lift.composite.cases)} cases, "
            f"Wilson [{100 * share.low:.1f}, {100 * share.high:.1f}] %{_worth(lift)}"
        )
    yield from map(Note, _costs(lift.costs))
    reasons: dict[str, list[str]] = {}
    named = [("composite", lift.composite.to_dict())]
    named += [(row["metric"], row) for row in lift.metrics.to_dicts()]
    for name, row in named:
        if row["reason"]:
            reasons.setdefault(row["reason"], []).append(name)
    for reason, names in reasons.items():
        yield Note(f"no interval: {reason}: {', '.join(names)}", UNDEFINED)
    how = _METHODS.get(
        lift.method,
        f"cases resampled, {format_count(lift.resamples)} resamples, seed {lift.seed}; those that share skill and uid together",
    )
    yield Note("Lift = with − without, means of cases, attempts averaged first")
    yield Note(f"{100 * lift.level:g} % interval: {how}", "[ ]")
    if _does_not_add_up(lift):
        yield Note(
            "Lifts are computed before rounding: printed numbers may differ in the last digit from what they would add up to"
        )


def _reasons(tool: ToolLift) -> Iterator[str]:
    """Say of several groups why the tool gives no number for one."""
    for group in tool.groups if len(tool.groups) > 1 else ():
        if group.composite["lift"] is None:
            whose = ", ".join(f"{name} {said}" for name, said in group.of.items() if said)
            yield f"{whose}: {group.reason}"


def _worth(lift: SkillLift) -> str:
    """Say how many independent cases the interval of the share rests on, where these are fewer than there are."""
    effective = lift.positive.effective
    if effective is None or effective == lift.composite.cases:
        return ""
    families = format_count(lift.composite.families)
    return f" on {format_number(effective, decimals=1)} effective cases ({families} families)"


def _costs(costs: pl.DataFrame) -> Iterator[str]:
    """Say what money, time and tokens were spent on each side."""
    totals = {(row["arm"], row["quantity"]): row["total_known"] for row in costs.to_dicts()}
    for row in costs.filter(pl.col("quantity").is_in(("cost", "seconds", "tokens"))).to_dicts():
        said = f"{row['quantity']} {row['arm']}: {_spent(row)}"
        if row["quantity"] == "tokens" and row["n"]:
            parts = {
                name: totals.get((row["arm"], f"{name}_tokens"))
                for name in ("input", "cached", "output")
            }
            shown_ = ", ".join(
                f"{'of it ' if name == 'cached' else ''}{name} {_amount(part, 'tokens')}"
                for name, part in parts.items()
                if part is not None
            )
            said += f" ({shown_})"
        yield said


_DIGITS = {"USD": DECIMALS, "s": 1}


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    if unit == "tokens":
        return format_count(int(half_up(value, 0)))
    return f"{format_number(value, decimals=_DIGITS[unit])} {unit}"


def _spent(row: Mapping[str, Any]) -> str:
    trials, unit = format_count(row["trials"]), row["unit"]
    if not row["n"]:
        return f"unknown in all {trials} trials" if row["trials"] else "no trial"
    mean, median, p90 = (_amount(row[name], unit) for name in ("mean", "median", "p90"))
    said = f"mean {mean}, median {median}, p90 {p90}"
    at_least = "at least " if row["unknown"] else ""
    said += f"; {at_least}{_amount(row['total_known'], unit)} in all {trials} trials"
    if row["unknown"]:
        said += f", {format_count(row['unknown'])} of which do not say"
    if row["successful_tasks"] is None:
        return said
    if not row["successful_tasks"]:
        return f"{said}; no task succeeded"
    tasks = f"{format_count(row['successful_tasks'])} of {format_count(row['tasks'])}"
    each = f"{at_least}{_amount(row['per_success_at_least'], unit)}"
    return f"{said}; total of all attempts / successful tasks ({tasks}): {each}"


def _does_not_add_up(lift: SkillLift) -> bool:
    """Tell whether some printed lift is not the difference of its sides, or the composite not the mean of its metrics."""
    rows = [lift.composite.to_dict(), *lift.metrics.to_dicts()]
    for row in rows:
        if row["lift"] is not None and shown(
            float(shown(row["with"])) - float(shown(row["without"]))
        ) != shown(row["lift"]):
            return True
    parts = [
        row["weight"] * float(shown(row["lift"]))
        for row in lift.metrics.to_dicts()
        if row["weight"] and row["lift"] is not None
    ]
    return bool(parts) and shown(sum(parts)) != shown(lift.composite.lift)
