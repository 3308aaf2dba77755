"""Cells, or slots, as a heatmap: every number is printed, and what is no number has no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.render.charts.parts import (
    UNDEFINED_WORDS,
    below_one_another,
    check_columns,
    check_known,
    data,
    empty_chart,
    label_width,
    labels_axis,
    metric_title,
    names_axis,
    names_scale,
    shown,
    slots_benchmark,
)
from skillshift_frames.render.charts.theme import (
    COLUMN_WIDTH,
    MUTED,
    PAPER,
    RAMP,
    WARNING,
    altair,
    color_between,
    ink_on,
)
from skillshift_frames.render.numbers import format_number
from skillshift_frames.render.tables import AVAILABLE, NOT_APPLICABLE, UNDEFINED, UNSTABLE
from skillshift_frames.schema import METRICS, STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

_TASKS = {"SR": "n", "AS": "n_steps", "ASC": "n_calls", "SFR": "n_calls"}
_LINE, _NARROWEST, _WIDEST = 15, 46, 66


class _Axes(NamedTuple):
    """The two axes as they are drawn."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]


def heatmap_chart(
    slots_or_cells: pl.DataFrame,
    metric: str = "SR",
    run: str | None = None,
    *,
    benchmark: BenchmarkLike = "skillshift",
) -> Any:  # noqa: ANN401 - Altair is an extra
    """Draw a metric as a heatmap with every number printed in its cell.

    Parameters
    ----------
    slots_or_cells
        From `skillshift_frames.cells`: a heatmap of conditions by sites for each run, one below the other. From
        `skillshift_frames.slots`: one heatmap, a row per slot and a column per run.
    metric
        SR, AS, ASC or SFR.
    run
        The only one to draw; default: all, by label.
    benchmark
        The one that the numbers were computed under: sites, conditions and slots are in its order.

    Returns
    -------
    altair.LayerChart or altair.VConcatChart
        One mark per cell, darker for a larger number (rates from 0 to 100, others from 0 to the largest). ``n/N`` below a
        number are the tasks behind it, where not all are; ⚠ beside an SFR says that fewer than 30 calls are. What is
        undefined (``–``) or does not apply (``--``) has no colour, and a dashed border.

    Raises
    ------
    InputError
        No such metric or run; neither cells nor slots; Altair is not installed.
    BenchmarkError
        The numbers are not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> cells = sf.cells(sf.read_tasks(["data/demo/induced.jsonl"]))
    >>> chart = sf.heatmap_chart(cells)
    >>> [row["text"] for row in chart.data.values[:3]]
    ['33.95', '54.39', '81.01']
    """
    check_choice("metric", metric, tuple(METRICS))
    of_slots = "slot" in getattr(slots_or_cells, "columns", ())
    if of_slots:
        check_columns("slots", slots_or_cells, ("run", "metric", "slot", "value", "marks"), "slots")
    else:
        needed = ("run", "site", "condition", "expected", "skill_calls", metric)
        check_columns("slots_or_cells", slots_or_cells, needed, "cells")
    frame = _of_run(slots_or_cells, run)
    if not frame.height:
        return empty_chart("There are no runs to draw.")
    if of_slots:
        axes = slots_benchmark(benchmark)
        check_known("slot", frame.get_column("slot"), axes.slots, axes.name)
        return _slots_chart(frame.filter(metric=metric), metric, axes)
    axes = resolve_benchmark(benchmark, frame)
    check_known("site", frame.get_column("site"), tuple(axes.sites), axes.name)
    check_known("condition", frame.get_column("condition"), axes.conditions, axes.name)
    return _cells_chart(frame, metric, axes)


def _of_run(frame: pl.DataFrame, run: str | None) -> pl.DataFrame:
    if run is None:
        return frame
    chosen = frame.filter(run=run)
    if not chosen.height:
        runs = ", ".join(frame.get_column("run").unique().sort()) or "none"
        msg = f"there is no run {run!r}; there are {runs}"
        raise InputError(msg)
    return chosen


def _cells_chart(cells: pl.DataFrame, metric: str, axes: Benchmark) -> Any:  # noqa: ANN401
    sites, conditions = shown(axes.sites, axes.title), shown(axes.conditions, axes.title)
    # The shorter axis runs across, so that a column of a paper holds it.
    across, down = ("site", "condition"), (sites, conditions)
    if len(sites) > len(conditions):
        across, down = ("condition", "site"), (conditions, sites)
    drawn = _Axes(tuple(down[0].values()), tuple(down[1].values()))
    runs = shown(cells.get_column("run").unique().sort())
    measured = set(cells.filter(pl.col("n") > 0).get_column("run"))
    applies = set(cells.filter(pl.col("skill_calls").is_not_null()).get_column("run"))
    found: dict[str, list[dict[str, Any]]] = {run: [] for run in runs}
    places = {
        "site": {name: number for number, name in enumerate(axes.sites)},
        "condition": {name: number for number, name in enumerate(axes.conditions)},
    }
    for cell in sorted(
        cells.iter_rows(named=True),
        key=lambda cell: (places[across[1]][cell[across[1]]], places[across[0]][cell[across[0]]]),
    ):
        run, value, n = cell["run"], cell[metric], cell[_TASKS[metric]]
        absent = metric in {"ASC", "SFR"} and run in measured and run not in applies
        partial = not absent and n != cell["expected"] and (n > 0 or metric == "SR")
        unstable = metric == "SFR" and value is not None and cell["skill_calls"] < STABLE_CALLS
        found[run].append(
            {
                "run": runs[run],
                "column": down[0][cell[across[0]]],
                "row": down[1][cell[across[1]]],
                "value": value,
                "text": format_number(value, undefined=NOT_APPLICABLE if absent else UNDEFINED),
                "note": f"{n}/{cell['expected']}" if partial else "",
                "sign": UNSTABLE if unstable else "",
                "tasks": f"{n} of {cell['expected']}",
                "calls": cell["skill_calls"],
            }
        )
    top = _top(metric, cells.get_column(metric))
    charts = [
        _heatmap(rows, metric, drawn, top, title=f"{metric_title(metric)}, {runs[run]}")
        for run, rows in found.items()
    ]
    return below_one_another(
        charts,
        f"{metric_title(metric)} by site and condition, one heatmap per run: {', '.join(runs.values())}",
    )


def _slots_chart(slots: pl.DataFrame, metric: str, axes: Benchmark) -> Any:  # noqa: ANN401
    names, runs = (
        shown(axes.slots, _slot_title(axes)),
        shown(slots.get_column("run").unique().sort()),
    )
    place = {slot: number for number, slot in enumerate(axes.slots)}
    rows = []
    for slot in sorted(slots.iter_rows(named=True), key=lambda s: (place[s["slot"]], s["run"])):
        marks = slot["marks"] or []
        absent = "not-applicable" in marks
        rows.append(
            {
                "run": runs[slot["run"]],
                "column": runs[slot["run"]],
                "row": names[slot["slot"]],
                "value": slot["value"],
                "text": format_number(
                    slot["value"], undefined=NOT_APPLICABLE if absent else UNDEFINED
                )
                + (f" {AVAILABLE}" if "available" in marks else ""),
                "note": f"{slot['n']}/{slot['n_expected']}"
                if {"partial", "excess"} & set(marks) and not absent
                else "",
                "sign": UNSTABLE if "unstable" in marks else "",
                "tasks": f"{slot['n']} of {slot['n_expected']}",
                "calls": slot["calls"],
            }
        )
    top = _top(metric, slots.get_column("value"))
    drawn = _Axes(tuple(runs.values()), tuple(names.values()))
    return _heatmap(rows, metric, drawn, top, title=metric_title(metric))


def _slot_title(axes: Benchmark) -> Callable[[str], str]:
    return lambda slot: "overall" if slot == "overall" else axes.title(slot)


def _top(metric: str, values: pl.Series) -> float:
    """Give the number that has the darkest colour."""
    if METRICS[metric] == "percent":
        return 100.0
    largest = values.max()
    return float(largest) if isinstance(largest, float) and largest > 0 else 1.0


def _heatmap(
    rows: Sequence[dict[str, Any]],
    metric: str,
    axes: _Axes,
    top: float,
    *,
    title: str,
) -> Any:  # noqa: ANN401
    alt = altair()
    share = (COLUMN_WIDTH - label_width(axes.rows) - 6) // len(axes.columns)
    step = max(_NARROWEST, min(_WIDEST, share))
    two_lines = any(row["note"] for row in rows)
    height = _LINE * 2 if two_lines else _LINE + 5
    inked = [
        row
        | {
            "ink": MUTED if row["value"] is None else ink_on(color_between(row["value"] / top)),
            "said": f"{row['row']}, {row['column']}: {metric} {' '.join(filter(None, (row['text'], row['sign'], row['note'])))}",
        }
        for row in rows
    ]
    known, unknown = "isValid(datum.value)", "!isValid(datum.value)"
    base = alt.Chart().encode(
        x=alt.X(
            "column:N",
            sort=None,
            scale=names_scale(axes.columns, paddingInner=0.02, paddingOuter=0),
            axis=names_axis(axes.columns, step, orient="top"),
        ),
        y=alt.Y(
            "row:N",
            sort=None,
            scale=names_scale(axes.rows, paddingInner=0.04, paddingOuter=0),
            axis=labels_axis(),
        ),
        tooltip=[
            alt.Tooltip("run:N", title="Run"),
            alt.Tooltip("row:N", title="Row"),
            alt.Tooltip("column:N", title="Column"),
            alt.Tooltip("text:N", title=metric),
            alt.Tooltip("tasks:N", title="Tasks"),
            alt.Tooltip("calls:Q", title="Calls"),
        ],
        description="said:N",
    )
    ink = alt.Fill("ink:N", scale=None)
    filled = (
        base.transform_filter(known)
        .mark_rect()
        .encode(
            color=alt.Color(
                "value:Q",
                scale=alt.Scale(domain=[0, top], range=list(RAMP), interpolate="rgb"),
                legend=None,
            )
        )
    )
    hollow = base.transform_filter(unknown).mark_rect(
        fill=PAPER, stroke=MUTED, strokeWidth=0.7, strokeDash=[2, 2]
    )
    layers = [filled, hollow]
    for dy, chosen in ((0, "datum.note === ''"), (-_LINE / 2 + 1, "datum.note !== ''")):
        of_kind = base.transform_filter(chosen)
        layers.append(
            of_kind.mark_text(baseline="middle", dy=dy, aria=False).encode(text="text:N", fill=ink)
        )
        if any(row["sign"] for row in rows):
            sign = of_kind.transform_filter("datum.sign !== ''").mark_point(
                shape=WARNING,
                size=26,
                strokeWidth=0.8,
                filled=False,
                xOffset=20,
                yOffset=dy,
                opacity=1,
                aria=False,
            )
            layers.append(sign.encode(stroke=alt.Stroke("ink:N", scale=None)))
    if two_lines:
        notes = base.transform_filter("datum.note !== ''")
        below = notes.mark_text(baseline="middle", dy=_LINE / 2, aria=False)
        layers.append(below.encode(text="note:N", fill=ink))
    return alt.layer(
        *layers,
        data=data(inked),
        width=step * len(axes.columns),
        height=height * len(axes.rows),
        title=title,
        description=f"Heatmap of {title}; rows {', '.join(axes.rows)}; columns {', '.join(axes.columns)}; {UNDEFINED_WORDS}.",
    )
