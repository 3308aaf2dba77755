"""Which charts a report has, and what is said below each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.render.charts.flips import flip_chart
from skillshift_frames.render.charts.heatmap import heatmap_chart
from skillshift_frames.render.charts.lifts import lift_chart
from skillshift_frames.render.charts.rates import sfr_chart
from skillshift_frames.render.charts.slope import slope_chart
from skillshift_frames.render.report.charts import Figure
from skillshift_frames.schema import STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.render.report.numbers import Numbers

#: So many runs are drawn one by one; of more a page would be nothing but charts.
DRAWN = 4


def figures(numbers: Numbers) -> Iterator[Figure]:
    """Give the charts of a report in their order."""
    axes = numbers.benchmark
    if len(numbers.records) <= DRAWN:
        yield Figure(
            "heatmap",
            "SR of every cell",
            heatmap_chart(numbers.cells, benchmark=axes),
            "Darker is more. A cell without a scored task is a gap with a dash.",
        )
    else:
        yield Figure(
            "heatmap",
            "SR of every run",
            heatmap_chart(numbers.slots, benchmark=axes),
            "A column per run. Darker is more. A gap with a dash is undefined.",
        )
    if len(axes.conditions) > 1:
        yield Figure(
            "slope",
            "SR over the conditions",
            slope_chart(numbers.slots, benchmark=axes),
            "Each point is the unweighted mean of the sites. A line breaks where a number is undefined.",
        )
    compared = numbers.comparisons if len(numbers.comparisons) < DRAWN else []
    if compared:
        yield Figure(
            "lift",
            "Lift of SR with its interval",
            lift_chart(compared, benchmark=axes),
            f"{100 * numbers.level:g} % intervals. Slots are looked at one by one, without a correction for their number.",
        )
    if len(numbers.pairs) == 1 and numbers.pairs[0].height:
        yield Figure(
            "flips",
            "Pairs by who succeeded",
            flip_chart(numbers.pairs[0], benchmark=axes),
            "One mark per pair, or counts where there are many.",
        )
    if numbers.cells.filter(pl.col("skill_calls") > 0).height:
        yield Figure(
            "sfr",
            "SFR against the calls behind it",
            sfr_chart(numbers.cells, numbers.cell_intervals, benchmark=axes),
            f"One mark per cell, with its {100 * numbers.level:g} % interval. Left of the dashed line are fewer than "
            f"{STABLE_CALLS} calls.",
        )


def left_out(numbers: Numbers) -> str | None:
    """Say which charts there are not, because there would be too many of them."""
    comparisons = len(numbers.comparisons)
    if comparisons <= 1:
        return None
    what = "Pairs" if comparisons < DRAWN else "Lifts and pairs"
    return f"{what} of {comparisons} comparisons are not drawn; the tables have them, and the command plot draws them."
