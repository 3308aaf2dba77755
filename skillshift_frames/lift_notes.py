"""What limits a Skill Lift, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.errors import describe_faults
from skillshift_frames.lift_cases import HAS, name_cases, stopped_on_pass
from skillshift_frames.trials import WITH, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillshift_frames.lift_cases import Sides
    from skillshift_frames.lift_result import SkillLift

#: So many faults are spelled out; all are in the JSON.
_NAMED = 10

_ERRORS = {
    "exclude": "trials without a score (unscored, errored, missing) are in no mean (--errors exclude)",
    "zero": "trials without a score (unscored, errored, missing) count as 0 (--errors zero)",
    "fail-arm": "an arm with a trial without a score has no numbers (--errors fail-arm)",
}


def notes_of(lift: SkillLift, cases: pl.DataFrame, sides: Sides) -> Iterator[str]:
    """Say what the numbers rest on and what they leave out; ``cases`` are all, also those that one side has."""
    yield f"composite: {lift.policy}"
    yield _ERRORS[lift.errors]
    tools = sides.trials.get_column("tool").drop_nulls().unique().sort().to_list()
    if lift.tool is not None and not any(
        lift.tool.policy.startswith(tool) for tool in tools or [""]
    ):
        yield f"--as {lift.tool.policy} is applied to trials of {', '.join(tools)}: that tool never saw them"
    yield f"coverage: {coverage_text(lift.coverage)}"
    yield from _faults(lift)
    for side in (WITH, WITHOUT):
        if not lift.coverage["arms"][side]["expected"]:
            yield f"there is no trial {side} the skill: no lift can be computed"
    yield from _unpaired(cases, sides)
    if lift.negative is not None:
        apart = lift.negative
        together = (
            "" if lift.pooled is None else f"; with them it would be {_signed(lift.pooled.lift)}"
        )
        yield (
            f"negative cases, in which the skill should not be used, are apart: {apart.cases:,}, "
            f"composite lift {_signed(apart.lift)}{together}"
        )
    partial = [
        f"{row['metric']} in {row['cases']:,}"
        for row in lift.metrics.iter_rows(named=True)
        if not row["weight"] and row["cases"] != lift.coverage["paired_cases"]
    ]
    if partial:
        yield f"of {lift.coverage['paired_cases']:,} paired cases fewer or more have: {', '.join(partial)}"
    early, attempts, said = stopped_on_pass(sides)
    if early:
        how = (
            "attempts stop on a pass, as the files say, and did so"
            if said
            else "attempts seem to have stopped on a pass (inferred: the files do not say)"
        )
        yield (
            f"{how} in {early:,} of {attempts:,} cases of an arm: a case is judged by as "
            "many attempts as it took, so means over trials favour cases that fail, and means of cases those that passed last"
        )
    if lift.composite.families < lift.composite.cases:
        yield (
            f"{lift.composite.cases:,} cases are {lift.composite.families:,} families: one case tried by several agents, "
            "models or runs counts as one for the interval"
        )


def unlisted_of(faults: pl.DataFrame) -> int:
    """Count the trials that were planned and are not there, where nothing says which they are."""
    counts = faults.filter(rule="missing-trials").get_column("value")
    return int(counts.cast(pl.Int64, strict=False).sum())


def errors_of(faults: pl.DataFrame) -> pl.DataFrame:
    """Give the faults that no trial stands for."""
    return faults.filter(severity="error")


def _faults(lift: SkillLift) -> Iterator[str]:
    """Say what was lost in reading."""
    unlisted = lift.coverage["unlisted"]
    if unlisted and lift.errors != "exclude":
        yield f"{unlisted:,} planned trials of which nothing says what case they are of neither count as 0 nor fail an arm"
    lost = errors_of(lift.faults)
    if lost.height:
        yield from (f"lost in reading: {line}" for line in describe_faults(lost, limit=_NAMED))


def coverage_text(counted: Mapping[str, Any]) -> str:
    """Say how many of the expected trials have a score, and why the others have none."""
    parts = ", ".join(
        f"{counted[status]:,} {status}" for status in ("unscored", "errored", "missing")
    )
    if counted["unlisted"]:
        parts += f", {counted['unlisted']:,} of these of cases that nothing names"
    return (
        f"{counted['scored']:,} of {counted['expected']:,} expected trials scored ({parts}); "
        f"{counted['paired_cases']:,} paired {'case' if counted['paired_cases'] == 1 else 'cases'}"
    )


def _unpaired(cases: pl.DataFrame, sides: Sides) -> Iterator[str]:
    lacking = cases.filter(~pl.col("complete"))
    for side, other in ((WITH, WITHOUT), (WITHOUT, WITH)):
        only = lacking.filter(pl.col(f"{HAS}_{side}"), ~pl.col(f"{HAS}_{other}"))
        if only.height and only.height < cases.height:
            yield f"{only.height:,} only {side} the skill: {name_cases(only, sides.key)}"
    unscored = lacking.filter(pl.col(f"{HAS}_{WITH}"), pl.col(f"{HAS}_{WITHOUT}"))
    if unscored.height:
        yield (
            f"{unscored.height:,} without the composite's metrics on a side: {name_cases(unscored, sides.key)}"
        )


def _signed(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.4f}" if round(value, 4) else "0"
