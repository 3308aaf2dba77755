"""SFR against the number of calls that it rests on, with its intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.render.charts.parts import (
    UNDEFINED_WORDS,
    check_columns,
    check_known,
    data,
    empty_chart,
    metric_title,
    names_scale,
    shown,
)
from skillshift_frames.render.charts.theme import COLORS, COLUMN_WIDTH, MUTED, PAPER, SHAPES, altair
from skillshift_frames.render.intervals import ends
from skillshift_frames.render.machine import cells_with_ends
from skillshift_frames.render.numbers import format_number
from skillshift_frames.render.tables import NOT_APPLICABLE, UNDEFINED, UNSTABLE
from skillshift_frames.schema import STABLE_CALLS

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

_HEIGHT, _AXIS, _LEAST = 150, 36, 0.9
#: Cells with equally many calls are drawn so far apart, all of them within so much, in points.
_BESIDE, _SPREAD = 4.0, 12.0
_MOST_LINES = 4
_NEEDED = ("run", "site", "condition", "n", "skill_calls", "SFR")


def sfr_chart(
    cells: pl.DataFrame,
    intervals: pl.DataFrame | None = None,
    *,
    benchmark: BenchmarkLike = "skillshift",
) -> Any:  # noqa: ANN401 - Altair is an extra
    """Draw every cell's SFR against the number of calls behind it.

    Parameters
    ----------
    cells
        From `skillshift_frames.cells`.
    intervals
        From `skillshift_frames.cell_intervals` of the same records: exact binomial ones on the calls, or by families
        where those are wider. Without them there are none in the chart, which makes none of its own.
    benchmark
        The one that the cells were computed under.

    Returns
    -------
    altair.LayerChart
        One mark per cell, hollow where it has no interval; runs differ in colour and shape. To the left of the dashed line an SFR rests on fewer than 30
        calls. Cells with equally many calls are drawn beside each other. Cells without a call, or without a scored task,
        have no SFR: they are counted above the chart, and nowhere drawn at zero.

    Raises
    ------
    InputError
        No cells; Altair is not installed.
    BenchmarkError
        The cells are not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks(["data/demo/induced.jsonl"])
    >>> chart = sf.sfr_chart(sf.cells(tasks), sf.cell_intervals(tasks))
    >>> chart.data.values[0]["text"], chart.data.values[0]["interval"]
    ('8.00', '[1.0, 26.0]')
    """
    check_columns("cells", cells, _NEEDED, "cells")
    if intervals is not None:
        check_columns(
            "intervals", intervals, ("site", "condition", "metric", "low"), "cell_intervals"
        )
        cells = cells_with_ends(cells, intervals)
    if not cells.height:
        return empty_chart("There are no runs to draw.")
    axes = resolve_benchmark(benchmark, cells)
    check_known("site", cells.get_column("site"), tuple(axes.sites), axes.name)
    check_known("condition", cells.get_column("condition"), axes.conditions, axes.name)
    runs = shown(cells.get_column("run").unique().sort())
    return _chart(_rows(cells, axes, runs), list(runs.values()))


def _rows(cells: pl.DataFrame, axes: Benchmark, runs: dict[str, str]) -> list[dict[str, Any]]:
    names = shown([*axes.sites, *axes.conditions], axes.title)
    place = {name: number for number, name in enumerate(names)}
    known = set(cells.filter(cells.get_column("skill_calls").is_not_null()).get_column("run"))
    measured = set(cells.filter(cells.get_column("n") > 0).get_column("run"))
    rows = []
    for cell in sorted(
        cells.iter_rows(named=True),
        key=lambda cell: (cell["run"], place[cell["site"]], place[cell["condition"]]),
    ):
        absent = cell["run"] in measured and cell["run"] not in known
        low, high = cell.get("SFR_low"), cell.get("SFR_high")
        calls = cell["skill_calls"]
        text = format_number(cell["SFR"], undefined=NOT_APPLICABLE if absent else UNDEFINED)
        sign = UNSTABLE if cell["SFR"] is not None and calls < STABLE_CALLS else ""
        where = f"{names[cell['site']]} × {names[cell['condition']]}"
        interval = ends("SFR", low, high)
        said = " ".join(filter(None, (text, interval, sign)))
        rows.append(
            {
                "run": runs[cell["run"]],
                "cell": where,
                "calls": calls,
                "value": cell["SFR"],
                "low": low if high is not None else None,
                "high": high if low is not None else None,
                "text": text,
                "interval": interval,
                "said": f"{runs[cell['run']]}, {where}: SFR {said}"
                + ("" if calls is None else f", {calls} calls"),
            }
        )
    return rows


def _chart(rows: list[dict[str, Any]], runs: list[str]) -> Any:  # noqa: ANN401
    alt = altair()
    most = max((row["calls"] or 0 for row in rows), default=0)
    ticks = [factor * 10**power for power in range(9) for factor in (1, 3)]
    end = next((tick for tick in ticks if tick > max(most, STABLE_CALLS)), ticks[-1])
    scale = alt.Scale(type="log", domain=[_LEAST, end], nice=False)
    axis = alt.Axis(
        title="skill calls", values=[tick for tick in ticks if tick <= end], format="d", grid=False
    )
    x, drawn = (alt.X(f"{field}:Q", scale=scale, axis=axis) for field in ("calls", "x"))
    y_axis = alt.Axis(title=metric_title("SFR"), tickCount=5, domain=False, ticks=False)
    y_scale = alt.Scale(domain=[0, 100], nice=False)
    y = alt.Y("value:Q", scale=y_scale, axis=y_axis)
    drawn_runs = [
        run for run in runs if any(r["run"] == run and r["value"] is not None for r in rows)
    ]
    picked = [runs.index(run) for run in drawn_runs]
    # Of nothing a legend has no size, and neither has the drawing then; left to itself it drops what is beyond the 30th.
    legend = drawn_runs and alt.Legend(
        title=None,
        orient="bottom",
        offset=6,
        columns=2,
        labelLimit=95,
        symbolStrokeWidth=0,
        symbolLimit=len(drawn_runs),
    )
    color, shape = (
        names_scale(drawn_runs, range=[choices[n % len(choices)] for n in picked])
        for choices in (COLORS, SHAPES)
    )
    base = (
        alt.Chart()
        .transform_filter("isValid(datum.value)")
        .encode(
            color=alt.Color("run:N", sort=None, scale=color, legend=legend or None),
            description="said:N",
            tooltip=[
                alt.Tooltip("run:N", title="Run"),
                alt.Tooltip("cell:N", title="Cell"),
                alt.Tooltip("text:N", title="SFR"),
                alt.Tooltip("interval:N", title="Interval"),
                alt.Tooltip("calls:Q", title="Calls"),
            ],
        )
    )
    mark = alt.Chart(data([{"calls": STABLE_CALLS, "value": 100, "text": f"{STABLE_CALLS} calls"}]))
    rule = mark.mark_rule(color=MUTED, strokeDash=[3, 2], strokeWidth=0.8, aria=False).encode(x=x)
    label = mark.mark_text(align="left", baseline="bottom", dx=2, dy=-1, color=MUTED)
    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
        strokeWidth=0.9, opacity=1, aria=False
    )
    shapes = alt.Shape("run:N", sort=None, scale=shape, legend=legend or None)
    known = base.transform_filter("isValid(datum.low)").mark_point(filled=True, opacity=1, size=30)
    hollow = base.transform_filter("!isValid(datum.low)").mark_point(
        filled=False, fill=PAPER, opacity=1, size=30, strokeWidth=1
    )
    return alt.layer(
        rule,
        label.encode(x=x, y=y, text="text:N"),
        bars.encode(x=drawn, y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q"),
        hollow.encode(x=drawn, y=y, shape=shapes),
        known.encode(x=drawn, y=y, shape=shapes),
        data=data(_side_by_side(rows, end)),
        width=COLUMN_WIDTH - _AXIS,
        height=_HEIGHT,
        title=alt.TitleParams(text=_without(rows, runs), fontWeight="normal", offset=6),
        description=f"SFR of every cell against the number of skill calls behind it, runs {', '.join(runs)}; "
        f"a dashed line at {STABLE_CALLS} calls; {UNDEFINED_WORDS}.",
    )


def _side_by_side(rows: list[dict[str, Any]], end: float) -> list[dict[str, Any]]:
    """Give each mark its place: cells with equally many calls stand beside each other, not in each other's way."""
    together: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        if row["value"] is not None:
            together.setdefault(row["calls"], []).append(number)
    place = dict.fromkeys(range(len(rows)), 0.0)
    for numbers in together.values():
        most = len(numbers) - 1
        apart = min(_BESIDE, _SPREAD / max(1, most))
        place |= {number: apart * (beside - most / 2) for beside, number in enumerate(numbers)}
    point = (end / _LEAST) ** (1 / (COLUMN_WIDTH - _AXIS))
    return [
        row | {"x": None if row["value"] is None else row["calls"] * point ** place[number]}
        for number, row in enumerate(rows)
    ]


def _without(rows: list[dict[str, Any]], runs: list[str]) -> list[str]:
    """Say of which cells there is nothing to draw, a line per run; the label comes last, where a long one is cut."""
    said = []
    for run in runs:
        lacking = [row for row in rows if row["run"] == run and row["value"] is None]
        if not lacking:
            continue
        if lacking[0]["text"] == NOT_APPLICABLE:
            said.append(f"{NOT_APPLICABLE} does not apply: {run}")
            continue
        without = sum(row["calls"] == 0 for row in lacking)
        why = {"no call": without, "nothing scored": len(lacking) - without}
        counted = [f"{w} in {n} {'cell' if n == 1 else 'cells'}" for w, n in why.items() if n]
        said.append(f"{UNDEFINED} {', '.join(counted)}: {run}")
    rest = len(said) - _MOST_LINES
    return said if rest <= 0 else [*said[:_MOST_LINES], f"and so of {rest} more runs"]
