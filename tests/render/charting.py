"""What the tests of charts share: small runs to draw, and how to read a drawing."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import polars as pl

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SVG = "{http://www.w3.org/2000/svg}"
SHOP = sf.Benchmark(
    "shop", sites={"cart": 4, "search": 4}, conditions=("plain", "shifted"), titles={"cart": "Cart"}
)

#: Run → site, condition → what its tasks gave: success, skill calls, failures. None: no record.
_OUTCOMES: dict[str, dict[tuple[str, str], list[tuple[bool, int, int]]]] = {
    "asi": {
        ("cart", "plain"): [(True, 3, 1), (True, 0, 0), (False, 40, 10), (True, 0, 0)],
        ("cart", "shifted"): [(False, 0, 0)] * 4,
        ("search", "plain"): [(True, 4, 1), (False, 0, 0), (True, 0, 0)],
    },
    "base": {
        key: [(index == 0, 0, 0) for index in range(4)]
        for key in product(("cart", "search"), ("plain", "shifted"))
    },
}


def records(
    outcomes: dict[str, dict[tuple[str, str], list[tuple[bool, int, int]]]] = _OUTCOMES,
) -> Iterator[dict[str, Any]]:
    for run, of_run in outcomes.items():
        for (site, condition), tasks in of_run.items():
            for index, (success, calls, failures) in enumerate(tasks):
                yield {
                    "run": run,
                    "site": site,
                    "condition": condition,
                    "uid": f"{site}-{index}",
                    "success": success,
                    "steps": 3 + index,
                    "skill_calls": calls,
                    "skill_failures": failures,
                }


def shop_tasks(rows: Iterable[dict[str, Any]] | None = None) -> pl.DataFrame:
    """Two runs: one with a cell that has no record, one that is partial and one without a call; one that never called."""
    frame = pl.DataFrame(list(records() if rows is None else rows))
    return sf.from_frame(frame, benchmark=SHOP)


#: What `all_charts` draws.
NAMES = (
    *("heatmap", "heatmap of slots", "heatmap of SFR", "slope", "slope of SFR"),
    *("lift", "flips", "sfr"),
)


def all_charts(tasks: pl.DataFrame, base: str, benchmark: sf.Benchmark = SHOP) -> dict[str, Any]:
    """Draw every chart of records."""
    cells = sf.cells(tasks, benchmark=benchmark)
    slots = sf.slots(cells, benchmark=benchmark)
    others = [run for run in tasks.get_column("run").unique().sort() if run != base]
    compared = [
        sf.compare(tasks, base=base, treatment=other, benchmark=benchmark, resamples=200)
        for other in others
    ]
    pairs = pl.concat([sf.pairs(tasks, base=base, treatment=other) for other in others])
    ends = sf.cell_intervals(tasks, benchmark=benchmark, resamples=200)
    return {
        "heatmap": sf.heatmap_chart(cells, benchmark=benchmark),
        "heatmap of slots": sf.heatmap_chart(slots, benchmark=benchmark),
        "heatmap of SFR": sf.heatmap_chart(cells, "SFR", benchmark=benchmark),
        "slope": sf.slope_chart(slots, benchmark=benchmark),
        "slope of SFR": sf.slope_chart(slots, "SFR", benchmark=benchmark),
        "lift": sf.lift_chart(compared, benchmark=benchmark),
        "flips": sf.flip_chart(pairs, benchmark=benchmark),
        "sfr": sf.sfr_chart(cells, ends, benchmark=benchmark),
    }


def rows_of(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - Altair is an extra
    """Give the rows that are embedded at the top of a chart, or of each of its parts."""
    parts = getattr(chart, "vconcat", [chart])
    return [row for part in parts for row in part.data.values]


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def texts(chart: Any) -> list[str]:  # noqa: ANN401
    """Give every piece of text in the drawing."""
    root = parse(sf.chart_text(chart, "svg"))
    return ["".join(found.itertext()) for found in root.iter(f"{SVG}text")]


def labels(chart: Any) -> list[str]:  # noqa: ANN401
    """Give what a screen reader reads of each mark."""
    root = parse(sf.chart_text(chart, "svg"))
    marks = [found for found in root.iter() if found.get("role") == "graphics-symbol"]
    return [found.get("aria-label", "") for found in marks]
