"""Slots as a slope chart: how a metric goes from condition to condition, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillshift_frames.errors import check_choice
from skillshift_frames.render.charts.parts import (
    MOST_LABEL,
    UNDEFINED_WORDS,
    apart,
    check_columns,
    check_known,
    data,
    empty_chart,
    label_width,
    metric_title,
    names_axis,
    names_scale,
    nice_top,
    shown,
    slots_benchmark,
)
from skillshift_frames.render.charts.theme import (
    COLORS,
    COLUMN_WIDTH,
    DASHES,
    PAPER,
    SHAPES,
    altair,
)
from skillshift_frames.render.numbers import format_number
from skillshift_frames.render.tables import AVAILABLE, NOT_APPLICABLE, UNDEFINED, UNSTABLE
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.benchmark import BenchmarkLike

_HEIGHT, _AXIS, _LINE = 150, 30, 12


def slope_chart(
    slots: pl.DataFrame, metric: str = "SR", *, benchmark: BenchmarkLike = "skillshift"
) -> Any:  # noqa: ANN401 - Altair is an extra
    """Draw a metric over the conditions, a line per run.

    Parameters
    ----------
    slots
        From `skillshift_frames.slots`; of it the conditions' numbers are drawn.
    metric
        SR, AS, ASC or SFR.
    benchmark
        The one that the slots were computed under; its order is the chart's.

    Returns
    -------
    altair.LayerChart
        A line per run with its label at the end; runs differ in colour, dash and shape. A hollow
        mark is a number that the table marks: an SFR over fewer than 30 calls, a mean of the defined cells only. Where a number is undefined or does
        not apply the line has a gap, and below it stands ``–`` or ``--`` with the run's sign: it is never drawn as zero, and
        no line is drawn across. The vertical axis begins at 0.

    Raises
    ------
    InputError
        No such metric; no slots; Altair is not installed.
    BenchmarkError
        The slots are not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> cells = sf.cells(sf.read_tasks(["data/demo/induced.jsonl"]))
    >>> chart = sf.slope_chart(sf.slots(cells))
    >>> [row["text"] for row in chart.data.values]
    ['56.45', '47.50', '19.52', '40.61', '35.76', '14.12']
    """
    check_choice("metric", metric, tuple(METRICS))
    check_columns("slots", slots, ("run", "metric", "slot", "value", "marks"), "slots")
    axes = slots_benchmark(benchmark)
    check_known("slot", slots.get_column("slot"), axes.slots, axes.name)
    conditions = shown(axes.conditions, axes.title)
    place = {name: number for number, name in enumerate(axes.conditions)}
    of_metric = slots.filter(metric=metric)
    runs = shown(of_metric.get_column("run").unique().sort())
    if not runs:
        return empty_chart("There are no runs to draw.")
    rows = []
    chosen = [slot for slot in of_metric.iter_rows(named=True) if slot["slot"] in place]
    for slot in sorted(chosen, key=lambda slot: (slot["run"], place[slot["slot"]])):
        marks = slot["marks"] or []
        absent = "not-applicable" in marks
        signs = {"unstable": UNSTABLE, "available": AVAILABLE}
        sign = "".join(sign for mark, sign in signs.items() if mark in marks)
        text = format_number(slot["value"], undefined=NOT_APPLICABLE if absent else UNDEFINED)
        rows.append(
            {
                "run": runs[slot["run"]],
                "condition": conditions[slot["slot"]],
                "value": slot["value"],
                "text": text,
                "sign": sign,
                "tasks": f"{slot['n']} of {slot['n_expected']}",
                "said": f"{runs[slot['run']]}, {conditions[slot['slot']]}: {metric} {text}{sign and ' '}{sign}",
            }
        )
    return _chart(rows, metric, list(runs.values()), list(conditions.values()))


def _chart(rows: list[dict[str, Any]], metric: str, runs: list[str], conditions: list[str]) -> Any:  # noqa: ANN401
    alt = altair()
    top = nice_top(row["value"] for row in rows)
    pixel = top / _HEIGHT
    lacking = list(dict.fromkeys(row["run"] for row in rows if row["value"] is None))
    # Below the axis, where nothing can be taken for a value.
    level = {run: -pixel * _LINE * (number + 0.75) for number, run in enumerate(lacking)}
    room = label_width(runs) + 14
    step = max(14, (COLUMN_WIDTH - _AXIS - room) // len(conditions))
    ranges = {"color": COLORS, "shape": SHAPES, "dash": DASHES}
    scales = {
        name: names_scale(runs, range=[choices[n % len(choices)] for n in range(len(runs))])
        for name, choices in ranges.items()
    }
    color = alt.Color("run:N", sort=None, scale=scales["color"], legend=None)
    shape = alt.Shape("run:N", sort=None, scale=scales["shape"], legend=None)
    x = alt.X(
        "condition:N",
        sort=None,
        scale=names_scale(conditions, type="point", padding=0.5),
        axis=names_axis(conditions, step, offset=_LINE * len(lacking) + 2),
    )
    scale = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(title=metric_title(metric), tickCount=5, domain=False, ticks=False)
    base = alt.Chart().encode(
        x=x,
        y=alt.Y("value:Q", scale=scale, axis=axis),
        color=color,
        description="said:N",
        tooltip=[
            alt.Tooltip("run:N", title="Run"),
            alt.Tooltip("condition:N", title="Condition"),
            alt.Tooltip("text:N", title=metric),
            alt.Tooltip("sign:N", title="Mark"),
            alt.Tooltip("tasks:N", title="Tasks"),
        ],
    )
    dash = alt.StrokeDash("run:N", sort=None, scale=scales["dash"], legend=None)
    line = base.mark_line(strokeWidth=1.5, invalid="break-paths-show-path-domains", aria=False)
    known = base.transform_filter("isValid(datum.value)")
    dots = known.transform_filter("datum.sign === ''").mark_point(filled=True, size=30, opacity=1)
    # What the table marks with a sign is hollow.
    marked = known.transform_filter("datum.sign !== ''").mark_point(
        filled=False, fill=PAPER, size=30, opacity=1, strokeWidth=1.2
    )
    layers = [line.encode(strokeDash=dash), dots.encode(shape=shape), marked.encode(shape=shape)]
    gaps = [row | {"value": level[row["run"]]} for row in rows if row["value"] is None]
    if gaps:
        y = alt.Y("value:Q", scale=scale, axis=axis)
        below = alt.Chart(data(gaps)).encode(x=x, y=y, description="said:N")
        sign = below.mark_point(filled=True, size=16, opacity=1, xOffset=-5, aria=False)
        text = below.mark_text(align="left", baseline="middle", dx=0)
        layers += [sign.encode(color=color, shape=shape), text.encode(text="text:N")]
    ends = {row["run"]: row["value"] for row in rows if row["value"] is not None}
    levels = apart([ends[run] / pixel for run in ends], _LINE, _HEIGHT)
    labels = [{"run": run, "value": pixel * y} for run, y in zip(ends, levels, strict=True)]
    labels += [{"run": run, "value": level[run]} for run in runs if run not in ends]
    named = alt.Chart(data(labels)).encode(y=alt.Y("value:Q", scale=scale, axis=axis))
    edge = step * len(conditions)
    sign = named.mark_point(filled=True, size=30, opacity=1, x=edge + 5, aria=False)
    text = named.mark_text(align="left", baseline="middle", x=edge + 12, limit=MOST_LABEL)
    layers += [sign.encode(color=color, shape=shape), text.encode(text="run:N")]
    return alt.layer(
        *layers,
        data=data(rows),
        width=edge,
        height=_HEIGHT,
        description=f"{metric_title(metric)} by condition ({', '.join(conditions)}), a line per run: "
        f"{', '.join(runs)}; {UNDEFINED_WORDS}.",
    )
