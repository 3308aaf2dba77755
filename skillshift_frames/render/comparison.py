"""What a comparison says: verdict first, then the lifts, then everything that limits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.decide import p_value
from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.intervals import ends, say_methods
from skillshift_frames.render.numbers import format_count, format_number, format_signed
from skillshift_frames.render.tables import ERRORS, UNDEFINED
from skillshift_frames.schema import LOWER_IS_BETTER, NO_DIRECTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.compare import Comparison

_NAMED = 10


def comparison_document(comparison: Comparison, benchmark: Benchmark, *, flips: bool) -> Document:
    """Describe a comparison, one row per metric and slot; ``flips`` also lists the pairs that changed sides."""
    columns = (
        Column("Metric", "left"),
        Column("Slot", "left"),
        *(Column(title) for title in (comparison.base, comparison.treatment, "Lift")),
        *(Column(title) for title in ("Tasks", "Wins", "Losses", "Ties", "Cells")),
    )
    rows: list[Row] = []
    for lift in _listed(comparison).iter_rows(named=True):
        first = not rows or rows[-1].cells[0].text != lift["metric"]
        rows.append(_row(lift, benchmark, starts_group=first))
    decision = comparison.decision
    return Document(
        title=f"{comparison.base} → {comparison.treatment}: {decision.verdict}; {decision.recommendation}",
        columns=columns,
        rows=tuple(rows),
        notes=(*_notes(comparison), *(_flips(comparison) if flips else ())),
    )


def _listed(comparison: Comparison) -> pl.DataFrame:
    """Put the lifts by a column below those of their metric."""
    listed = pl.concat([comparison.lifts, comparison.lifts_by])
    order = {
        metric: n
        for n, metric in enumerate(
            comparison.lifts.get_column("metric").unique(maintain_order=True)
        )
    }
    return listed.sort(pl.col("metric").replace_strict(order), maintain_order=True)


def _row(lift: dict[str, Any], benchmark: Benchmark, *, starts_group: bool) -> Row:
    def number(name: str) -> Cell:
        return Cell(format_number(lift[name], undefined=UNDEFINED))

    def count(name: str) -> Cell:
        return Cell("" if lift[name] is None else format_count(lift[name]))

    slot = "O/A" if lift["slot"] == "overall" else benchmark.title(lift["slot"])
    interval = ends(lift["metric"], lift["low"], lift["high"])
    signed = format_signed(lift["lift"], undefined=UNDEFINED)
    partial = lift["cells"] != lift["cells_expected"]
    return Row(
        (
            Cell(lift["metric"]),
            Cell(slot),
            number("base"),
            number("treatment"),
            Cell(signed, (interval,) if interval else ()),
            *(count(name) for name in ("tasks", "wins", "losses", "ties")),
            Cell(f"{lift['cells']}/{lift['cells_expected']}" if partial else str(lift["cells"])),
        ),
        starts_group=starts_group,
    )


def _notes(comparison: Comparison) -> Iterator[Note]:
    decision, outcomes, bounds = comparison.decision, comparison.outcomes, comparison.bounds
    yield Note(f"Verdict: {decision.verdict}: {decision.reason}")
    if decision.settle is not None:
        yield Note(
            f"About {format_count(decision.settle)} families in the same mix of sites would settle it, "
            "if the lift stays what it is"
        )
    if comparison.metric not in NO_DIRECTION:
        better = "less" if comparison.metric in LOWER_IS_BETTER else "more"
        yield Note(f"It rests on {comparison.metric}, of which {better} is better")
    facts = "; ".join(decision.facts[1:])
    if decision.facts[1:]:
        facts += " (slots are looked at one by one, without a correction for their number)"
    yield Note(f"Recommendation: {decision.recommendation}{f': {facts}' if facts else ''}")
    yield Note(
        f"{format_count(comparison.pairs)} pairs: both succeed {format_count(outcomes.both)}, only "
        f"{comparison.treatment} {format_count(outcomes.treatment_only)}, only {comparison.base} "
        f"{format_count(outcomes.base_only)}, neither {format_count(outcomes.neither)}; "
        f"exact sign test on tasks p {p_value(outcomes.p)}"
        + (
            ""
            if outcomes.can_be_significant
            else ", and no outcome at this number could be significant"
        )
        + (
            f" (it takes {format_count(outcomes.tasks)} tasks for independent, and they are of "
            f"{format_count(outcomes.families)} families: too small where a family's tasks go together; "
            "the interval resamples families)"
            if outcomes.families < outcomes.tasks
            else ""
        )
    )
    survives = (
        "its sign survives any filling"
        if bounds.sign_survives
        else "its sign does not survive every filling"
    )
    gaps = (
        _count(comparison.only_base)
        + _count(comparison.only_treatment)
        + _count(comparison.errored)
    )
    yield Note(
        f"SR lift between {format_number(bounds.low)} and {format_number(bounds.high)} whatever the unmeasured tasks hold: {survives}"
        if gaps or bounds.low != bounds.high
        else "No gaps: every expected task has a pair"
    )
    for frame, what in (
        (comparison.only_base, f"only in {comparison.base}"),
        (comparison.only_treatment, f"only in {comparison.treatment}"),
        (comparison.errored, "with a side that was not measured"),
    ):
        if frame.height:
            yield Note(f"{format_count(_count(frame))} {what}: {_name(frame)}")
    pairs = comparison.lifts.filter(slot="overall").select("metric", "tasks")
    for metric, tasks in pairs.iter_rows():
        if tasks < comparison.use.tasks:
            yield Note(
                f"{metric}: {format_count(tasks)} of {format_count(comparison.use.tasks)} tasks have it on both sides"
            )
    yield Note(comparison.use.sentence)
    reasons = comparison.lifts.filter(pl.col("reason").is_not_null())
    for (reason,), rows in reasons.group_by("reason", maintain_order=True):
        where = ", ".join(
            f"{metric} {slot}" for metric, slot in rows.select("metric", "slot").rows()[:_NAMED]
        )
        rest = rows.height - _NAMED
        yield Note(
            f"no interval: {reason}: {where}{f' and {rest} more' if rest > 0 else ''}", UNDEFINED
        )
    used = set(comparison.lifts.get_column("method").drop_nulls())
    how = say_methods(used, seed=comparison.seed, resamples=comparison.resamples)
    yield Note(
        f"Lift = {comparison.treatment} − {comparison.base}, unweighted means of cells that have pairs; "
        f"{ERRORS[comparison.errors]}"
    )
    yield Note(f"{100 * comparison.level:g} % interval: {how}", "[ ]")
    if _does_not_subtract(comparison.lifts):
        yield Note(
            "Lifts are computed before rounding: printed sides may differ from a printed lift in the last digit"
        )


def _does_not_subtract(lifts: pl.DataFrame) -> bool:
    """Tell whether some printed lift is not the difference of the printed sides."""
    for base, treatment, lift in lifts.select("base", "treatment", "lift").drop_nulls().iter_rows():
        shown = float(format_number(treatment)) - float(format_number(base))
        if format_number(shown) != format_number(lift):
            return True
    return False


def _count(frame: pl.DataFrame) -> int:
    """Count the records of a list; of a tally a row stands for several tasks."""
    return frame.height if "uid" in frame.columns else int(frame.get_column("tasks").sum())


def _by_cell(frame: pl.DataFrame) -> Iterator[str]:
    """Say of a tally's list, which has no uids to name, how many tasks each cell has in it."""
    per_cell = frame.group_by("site", "condition").agg(pl.col("tasks").sum())
    for site, condition, tasks in per_cell.sort("site", "condition").iter_rows():
        yield f"{site} × {condition} {format_count(tasks)}"


def _name(frame: pl.DataFrame) -> str:
    if "uid" not in frame.columns:
        return ", ".join(_by_cell(frame))
    named = [
        f"{site} × {condition} {uid}" + (f" trial {trial}" if trial != 1 else "")
        for site, condition, uid, trial in frame.select("site", "condition", "uid", "trial")
        .head(_NAMED)
        .iter_rows()
    ]
    rest = frame.height - len(named)
    return ", ".join(named) + (f" and {format_count(rest)} more" if rest else "")


def _flips(comparison: Comparison) -> Iterator[Note]:
    for (flip,), pairs in comparison.flips.sort("flip").group_by("flip", maintain_order=True):
        if "uid" not in pairs.columns:
            yield from (Note(f"{flip}: {tasks}") for tasks in _by_cell(pairs))
            continue
        for site, condition, uid, trial in pairs.select(
            "site", "condition", "uid", "trial"
        ).iter_rows():
            yield Note(
                f"{flip}: {site} × {condition} {uid}" + (f" trial {trial}" if trial != 1 else "")
            )
