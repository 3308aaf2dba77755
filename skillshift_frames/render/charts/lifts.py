"""Lifts as a forest plot: our intervals, the zero line, and the verdict in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from skillshift_frames.compare import Comparison
from skillshift_frames.decide import verdicts
from skillshift_frames.errors import InputError, check_frame
from skillshift_frames.render.charts.parts import (
    below_one_another,
    check_columns,
    check_known,
    data,
    empty_chart,
    label,
    label_width,
    labels_axis,
    names_scale,
    shown,
    slots_benchmark,
    wrapped,
)
from skillshift_frames.render.charts.theme import COLORS, COLUMN_WIDTH, MUTED, PAPER, altair
from skillshift_frames.render.intervals import ends
from skillshift_frames.render.numbers import format_number, format_signed
from skillshift_frames.render.tables import UNDEFINED
from skillshift_frames.sampling import DEFAULT_LEVEL
from skillshift_frames.schema import LOWER_IS_BETTER, METRICS, NO_DIRECTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

_TEXT, _ROW, _NARROWEST = 92, 26, 60


class _Part(NamedTuple):
    """One comparison's lifts of the metric, judged, and what stands above them."""

    lifts: pl.DataFrame
    title: str
    level: float


def lift_chart(
    lifts: pl.DataFrame | Comparison | Sequence[Comparison],
    metric: str | None = None,
    *,
    level: float = DEFAULT_LEVEL,
    benchmark: BenchmarkLike = "skillshift",
) -> Any:  # noqa: ANN401 - Altair is an extra
    """Draw the lift of every slot with its interval as a forest plot.

    Parameters
    ----------
    lifts
        What `skillshift_frames.compare` gives, one or several (then one plot below the other), or its ``lifts``.
    metric
        Which one to draw; default: the primary one, of a frame the first.
    level
        Of a frame: the one that its intervals were made with. A comparison knows its own.
    benchmark
        The one that the runs were compared under; its order is the chart's.

    Returns
    -------
    altair.LayerChart or altair.VConcatChart
        One row per slot, with its lift, its interval and its verdict (`skillshift_frames.verdicts`) in words. The
        intervals are those of the frame, and none is made by the chart: where there is none stands a hollow mark with
        the reason; where there is no lift, only the reason.

    Raises
    ------
    InputError
        No lifts; no such metric; Altair is not installed.
    BenchmarkError
        The slots are not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks(["data/demo/reference.jsonl", "data/demo/induced.jsonl"])
    >>> found = sf.compare(tasks, base="reference", treatment="induced")
    >>> chart = sf.lift_chart(found)
    >>> [(row["slot"], row["text"], row["verdict"]) for row in chart.data.values[-1:]]
    [('overall', '+4.28 [2.3, 6.2]', 'helps')]
    """
    axes = slots_benchmark(benchmark)
    parts = _parts(lifts, metric, level)
    charts = [_forest(part, axes, _domain(parts)) for part in parts]
    if not charts:
        return empty_chart("There are no comparisons to draw.")
    titles = "; ".join(part.title for part in parts)
    return below_one_another(charts, f"Lifts with their intervals: {titles}")


def _parts(
    given: pl.DataFrame | Comparison | Sequence[Comparison], metric: str | None, level: float
) -> list[_Part]:
    if isinstance(given, (pl.DataFrame, Comparison)):
        return [_part(given, metric, level)]
    if not isinstance(given, (list, tuple)):
        check_frame("lifts", given, "compare")
    return [_part(one, metric, level) for one in given]


def _part(given: pl.DataFrame | Comparison, metric: str | None, level: float) -> _Part:
    frame = given if isinstance(given, pl.DataFrame) else given.lifts
    check_columns("lifts", frame, ("metric", "slot", "lift", "low", "high", "reason"), "compare")
    metrics = frame.get_column("metric").unique(maintain_order=True).to_list()
    first = metrics[0] if metrics else "SR"
    wanted = metric or (first if isinstance(given, pl.DataFrame) else given.metric)
    if metrics and wanted not in metrics:
        msg = f"there is no lift of {wanted!r}; there are {', '.join(metrics)}"
        raise InputError(msg)
    unit = METRICS.get(wanted, "")
    unit = "percentage points" if unit == "percent" else unit
    title = f"{label(wanted)} lift" + (f" ({unit})" if unit else "")
    margin = None
    if not isinstance(given, pl.DataFrame):
        title += f": {label(given.treatment)} − {label(given.base)}"
        level, margin = given.level, given.margin
    return _Part(_judged(frame.filter(metric=wanted), level, margin), title, level)


def _judged(lifts: pl.DataFrame, level: float, margin: float | None) -> pl.DataFrame:
    return lifts if "verdict" in lifts.columns else verdicts(lifts, level=level, margin=margin)


def _domain(parts: Sequence[_Part]) -> list[float]:
    """Give the ends of the axis that all parts share: zero is inside."""
    frames = [part.lifts.select("lift", "low", "high") for part in parts]
    ends = [value for frame in frames for row in frame.iter_rows() for value in row]
    known = [0.0, *(value for value in ends if value is not None)]
    room = (max(known) - min(known)) * 0.04 or 1.0
    return [min(known) - room, max(known) + room]


def _forest(part: _Part, axes: Benchmark, domain: list[float]) -> Any:  # noqa: ANN401
    alt = altair()
    check_known("slot", part.lifts.get_column("slot"), axes.slots, axes.name)
    place = {slot: number for number, slot in enumerate(axes.slots)}
    names = shown(axes.slots, axes.title)
    found = sorted(part.lifts.iter_rows(named=True), key=lambda row: place[row["slot"]])
    rows = [_row(row, names) for row in found]
    if not rows:
        return empty_chart("There are no lifts to draw.")
    drawn = [row["slot"] for row in rows]
    metric = found[0]["metric"]
    better = "less is better" if metric in LOWER_IS_BETTER else "more is better"
    better = "neither more nor less is better" if metric in NO_DIRECTION else better
    width = max(_NARROWEST, COLUMN_WIDTH - label_width(drawn) - _TEXT - 10)
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    axis = alt.Axis(title=None, tickCount=3, labelOverlap=True, domain=False, ticks=False)
    x = alt.X("lift:Q", scale=scale, axis=axis)
    base = alt.Chart().encode(
        y=alt.Y("slot:N", sort=None, scale=names_scale(drawn, padding=0), axis=labels_axis()),
        description="said:N",
        tooltip=[
            alt.Tooltip("slot:N", title="Slot"),
            alt.Tooltip("base:N", title="Base"),
            alt.Tooltip("treatment:N", title="Treatment"),
            alt.Tooltip("text:N", title="Lift"),
            alt.Tooltip("verdict:N", title="Verdict"),
            alt.Tooltip("tasks:Q", title="Tasks"),
            alt.Tooltip("reason:N", title="No interval"),
        ],
    )
    with_ends = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    without = base.transform_filter("isValid(datum.lift) && !isValid(datum.low)")
    zero = alt.Chart(data([{"lift": 0}])).mark_rule(
        color=MUTED, strokeWidth=0.8, strokeDash=[3, 2], aria=False
    )
    edge = width + 6
    text = base.mark_text(align="left", baseline="middle", x=edge, aria=False)
    return alt.layer(
        zero.encode(x=x),
        with_ends.mark_rule(strokeWidth=1.5, color=COLORS[0], aria=False).encode(
            x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"
        ),
        with_ends.mark_point(filled=True, opacity=1, size=30, color=COLORS[0]).encode(x=x),
        without.mark_point(filled=True, opacity=1, size=30, fill=PAPER, stroke=COLORS[0]).encode(
            x=x
        ),
        text.transform_filter("datum.text !== ''")
        .mark_text(align="left", baseline="middle", x=edge, dy=-5.5, limit=_TEXT, aria=False)
        .encode(text="text:N"),
        text.mark_text(
            align="left", baseline="middle", x=edge, dy=5.5, limit=_TEXT, color=MUTED, aria=False
        ).encode(text="below:N"),
        data=data(rows),
        width=width,
        height=_ROW * len(rows),
        title=alt.TitleParams(
            text=[line for text in part.title.split(": ", 1) for line in wrapped(text)]
        ),
        description=f"Forest plot of {part.title}, {100 * part.level:g} % intervals, {better}; rows {', '.join(drawn)}. "
        "A hollow mark has no interval.",
    )


def _row(lift: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    known = lift["low"] is not None and lift["high"] is not None
    interval = ends(lift["metric"], lift["low"], lift["high"])
    text = " ".join(filter(None, (format_signed(lift["lift"]), interval)))
    reason = "" if known else lift["reason"] or "no interval"
    slot = names[lift["slot"]]
    verdict = "" if lift["metric"] in NO_DIRECTION else lift["verdict"]
    return {
        "slot": slot,
        "lift": lift["lift"],
        "low": lift["low"] if known else None,
        "high": lift["high"] if known else None,
        "base": format_number(lift["base"], undefined=UNDEFINED),
        "treatment": format_number(lift["treatment"], undefined=UNDEFINED),
        "text": text,
        "verdict": verdict,
        "reason": reason,
        "below": verdict if known else reason,
        "tasks": lift["tasks"],
        "said": f"{slot}: {text}{f', {verdict}' if verdict else ''}{f': {reason}' if reason else ''}",
    }
