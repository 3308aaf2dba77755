"""Pairs as a flip grid: a mark per pair of trials, by who succeeded."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.pairs import PAIRS
from skillshift_frames.render.charts.parts import (
    below_one_another,
    check_columns,
    check_known,
    data,
    empty_chart,
    label,
    label_width,
    labels_axis,
    names_axis,
    names_scale,
    shown,
    wrapped,
)
from skillshift_frames.render.charts.theme import COLUMN_WIDTH, INK, altair
from skillshift_frames.render.numbers import format_count

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

#: More pairs than this are counted, not drawn one by one.
MOST_DRAWN = 4000

#: Outcome → colour and shape.
OUTCOMES = {
    "both": ("#404040", "square"),
    "treatment_only": ("#0072B2", "triangle-up"),
    "base_only": ("#D55E00", "triangle-down"),
    "neither": ("#949494", "M0,-.6A.6,.6,0,1,1,0,.6A.6,.6,0,1,1,0,-.6Z"),
}
_PITCH, _LINE, _NARROWEST, _GAP = 4, 12, 46, 6


def flip_chart(pairs: pl.DataFrame, *, benchmark: BenchmarkLike = "skillshift") -> Any:  # noqa: ANN401 - Altair is an extra
    """Draw the pairs of two runs by who succeeded, in a grid of sites and conditions.

    Parameters
    ----------
    pairs
        From `skillshift_frames.pairs`; frames of several comparisons may be put together (then one grid below the other).
    benchmark
        The one that the runs were read under; its order is the chart's.

    Returns
    -------
    altair.LayerChart or altair.VConcatChart
        One mark per pair: both succeeded, only the treatment, only the base, neither; they differ in colour and shape.
        Below them ``+`` is the number of pairs won, ``−`` of those lost. More than 4,000 pairs are counts, without a mark
        per pair. A cell without pairs says ``no pairs``.

    Raises
    ------
    InputError
        No pairs; Altair is not installed.
    BenchmarkError
        The pairs are not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks(["data/demo/reference.jsonl", "data/demo/induced.jsonl"])
    >>> chart = sf.flip_chart(sf.pairs(tasks, base="reference", treatment="induced"))
    >>> len(chart.data.values)
    2130
    """
    check_columns("pairs", pairs, tuple(PAIRS), "pairs")
    axes = resolve_benchmark(benchmark, pairs) if pairs.height else None
    if axes is None:
        return empty_chart("There are no pairs to draw.")
    check_known("site", pairs.get_column("site"), tuple(axes.sites), axes.name)
    check_known("condition", pairs.get_column("condition"), axes.conditions, axes.name)
    charts, titles = [], []
    sides = pairs.select("base", "treatment").unique().sort("base", "treatment")
    for base, treatment in sides.iter_rows():
        part = pairs.filter(base=base, treatment=treatment)
        titles.append(f"{label(treatment)} against {label(base)}")
        charts.append(_grid(part, axes, base, treatment, titles[-1]))
    return below_one_another(charts, f"Pairs by who succeeded: {'; '.join(titles)}")


class _Layout(NamedTuple):
    """Where a pair is drawn: which of its columns runs across and which down, in which order, under which names."""

    across: str
    down: str
    columns: dict[str, str]
    rows: dict[str, str]
    words: dict[str, str]  # of the outcomes
    step: int  # width of a column

    @property
    def per_line(self) -> int:
        """How many marks a line of a cell holds."""
        return (self.step - _GAP) // _PITCH


def _layout(axes: Benchmark, base: str, treatment: str) -> _Layout:
    sites, conditions = shown(axes.sites, axes.title), shown(axes.conditions, axes.title)
    across, down, columns, rows = "site", "condition", sites, conditions
    if len(sites) > len(conditions):
        across, down, columns, rows = "condition", "site", conditions, sites
    sides = shown([treatment, base])
    only_base = f"only {sides[base]}" + (" (base)" if treatment == base else "")
    words = {
        "both": "both",
        "treatment_only": f"only {sides[treatment]}",
        "base_only": only_base,
        "neither": "neither",
    }
    step = max(_NARROWEST, (COLUMN_WIDTH - label_width(rows.values()) - 6) // len(columns))
    return _Layout(across, down, columns, rows, words, step)


def _grid(pairs: pl.DataFrame, axes: Benchmark, base: str, treatment: str, title: str) -> Any:  # noqa: ANN401
    alt = altair()
    layout = _layout(axes, base, treatment)
    columns, rows = list(layout.columns.values()), list(layout.rows.values())
    cells = _cells(pairs, layout)
    one_by_one = pairs.height <= MOST_DRAWN
    lines = -(-max(sum(cell[outcome] for outcome in OUTCOMES) for cell in cells) // layout.per_line)
    marks, unit, size = _marks(pairs, layout), _PITCH, _PITCH**2 * 0.8
    height = lines * _PITCH + _LINE + _GAP
    if not one_by_one:
        marks, unit, size = _counts(cells, layout), _LINE, 40
        height = _LINE * len(OUTCOMES) + _GAP
    x = alt.X(
        "column:N",
        sort=None,
        scale=names_scale(columns, padding=0),
        axis=names_axis(columns, layout.step, orient="top"),
    )
    y = alt.Y("row:N", sort=None, scale=names_scale(rows, padding=0), axis=labels_axis())
    colors, shapes = (
        names_scale(layout.words.values(), range=[OUTCOMES[name][part] for name in layout.words])
        for part in (0, 1)
    )
    legend = alt.Legend(
        title=None,
        orient="bottom",
        offset=6,
        columns=2,
        symbolStrokeWidth=0,
        symbolSize=40,
        labelLimit=95,
    )
    # Inside its cell a mark has a place of its own, in units of its size.
    places = [alt.Scale(domain=[0, length / unit], nice=False) for length in (layout.step, height)]
    drawn = (
        alt.Chart()
        .mark_point(filled=True, opacity=1, size=size, strokeWidth=0)
        .encode(
            x=x,
            y=y,
            xOffset=alt.XOffset("i:Q", scale=places[0]),
            yOffset=alt.YOffset("j:Q", scale=places[1]),
            color=alt.Color("outcome:N", sort=None, scale=colors, legend=legend),
            shape=alt.Shape("outcome:N", sort=None, scale=shapes, legend=legend),
            description="said:N",
            tooltip=[
                alt.Tooltip("row:N", title="Row"),
                alt.Tooltip("column:N", title="Column"),
                alt.Tooltip("outcome:N", title="Succeeded"),
                alt.Tooltip("text:N", title="Task" if one_by_one else "Pairs"),
            ],
        )
    )
    below = alt.Chart(data(cells)).mark_text(
        align="left", baseline="bottom", dx=(_GAP - layout.step) / 2, dy=height / 2 - _GAP
    )
    beside = drawn.mark_text(align="left", baseline="middle", dx=8, aria=False)
    return alt.layer(
        drawn,
        below.encode(x=x, y=y, text="text:N", description="said:N")
        if one_by_one
        else beside.encode(text="text:N", color=alt.value(INK)),
        data=data(marks),
        width=layout.step * len(columns),
        height=height * len(rows),
        title=alt.TitleParams(text=wrapped(title)),
        description=f"Pairs of {title} by who succeeded; rows {', '.join(rows)}; columns {', '.join(columns)}.",
    )


def _cells(pairs: pl.DataFrame, layout: _Layout) -> list[dict[str, Any]]:
    """Count the outcomes of every cell."""
    counts = Counter(pairs.select(layout.down, layout.across, "outcome").iter_rows())
    cells = []
    for row, row_name in layout.rows.items():
        for column, column_name in layout.columns.items():
            found = {outcome: counts[row, column, outcome] for outcome in OUTCOMES}
            said = ", ".join(f"{layout.words[name]} {format_count(n)}" for name, n in found.items())
            won, lost = format_count(found["treatment_only"]), format_count(found["base_only"])
            some = any(found.values())
            cells.append(
                {
                    "row": row_name,
                    "column": column_name,
                    **found,
                    "text": f"+{won} −{lost}" if some else "no pairs",
                    "said": f"{row_name}, {column_name}: {said if some else 'no pairs'}",
                }
            )
    return cells


def _counts(cells: list[dict[str, Any]], layout: _Layout) -> list[dict[str, Any]]:
    """Give each outcome of each cell a line with its count."""
    return [
        {
            "row": cell["row"],
            "column": cell["column"],
            "outcome": word,
            "pairs": cell[outcome],
            "text": format_count(cell[outcome]),
            "i": 0.8,
            "j": number + 0.75,
            "said": f"{cell['row']}, {cell['column']}: {word} {format_count(cell[outcome])}",
        }
        for cell in cells
        for number, (outcome, word) in enumerate(layout.words.items())
    ]


def _marks(pairs: pl.DataFrame, layout: _Layout) -> list[dict[str, Any]]:
    """Give each pair its place in its cell: outcome by outcome, line by line."""
    order = {
        layout.down: {name: number for number, name in enumerate(layout.rows)},
        layout.across: {name: number for number, name in enumerate(layout.columns)},
        "outcome": {name: number for number, name in enumerate(OUTCOMES)},
    }
    found = sorted(
        pairs.iter_rows(named=True),
        key=lambda pair: (*(order[name][pair[name]] for name in order), pair["uid"], pair["trial"]),
    )
    before: Counter[tuple[str, str]] = Counter()
    marks = []
    for pair in found:
        cell = pair[layout.down], pair[layout.across]
        line, place = divmod(before[cell], layout.per_line)
        before[cell] += 1
        row, column = layout.rows[cell[0]], layout.columns[cell[1]]
        task, word = label(pair["uid"]), layout.words[pair["outcome"]]
        marks.append(
            {
                "row": row,
                "column": column,
                "outcome": word,
                "i": place + (_GAP / _PITCH + 1) / 2,
                "j": line + 0.5,
                "text": task,
                "trial": pair["trial"],
                "said": f"{row}, {column}, {task}: {word}",
            }
        )
    return marks
