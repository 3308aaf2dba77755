"""What trials cost against how many tasks succeeded, arm by arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.costs import QUANTITIES, costs
from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.render.charts.parts import (
    apart,
    check_columns,
    data,
    empty_chart,
    names_scale,
    nice_top,
    round_ticks,
    shown,
)
from skillshift_frames.render.charts.theme import (
    COLORS,
    COLUMN_WIDTH,
    MUTED,
    PAPER,
    SHAPES,
    altair,
)
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.render.tables import UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEIGHT, _AXIS, _LINE = 140, 36, 12
_MANY = 10_000
_TITLES = {
    "cost": "cost",
    "seconds": "time",
    "input_tokens": "input",
    "cached_tokens": "cached input",
    "output_tokens": "output",
}
_DECIMALS = {"USD": 4, "s": 1, "tokens": 0}
_NEEDED = (
    "arm",
    "quantity",
    "unit",
    "n",
    "trials",
    "mean",
    "tasks",
    "successful_tasks",
    "success_rate",
)
_NO_ARM = "arm not said"


def cost_chart(costs_or_trials: pl.DataFrame, quantity: str | None = None) -> Any:  # noqa: ANN401 - Altair is an extra
    """Draw what a trial costs on average against the tasks that succeeded, a mark per arm.

    Parameters
    ----------
    costs_or_trials
        From `skillshift_frames.costs`; or trials (`skillshift_frames.read_trials`), of which it is computed for the arms
        of each run.
    quantity
        ``"cost"``, ``"seconds"``, ``"tokens"`` and so on; default: the first of these that is known of any arm.

    Returns
    -------
    altair.LayerChart
        To the right: the mean of a trial, in its unit; upwards: percent of tasks with an attempt that passed. Beside a mark its
        arm, and how many of how many tasks succeeded. An arm of which some trials' cost is unknown has a hollow mark and
        ``n/N known``, and the mean is of the others; one of which all are unknown stands apart at the left, as ``unknown``, and never at zero.

    Raises
    ------
    InputError
        Neither costs nor trials; no such quantity; Altair is not installed.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> trials = pl.DataFrame(
    ...     {
    ...         "arm": ["with", "with", "without"],
    ...         "uid": ["a", "b", "a"],
    ...         "trial": [1, 1, 1],
    ...         "status": ["scored"] * 3,
    ...         "success": [True, False, False],
    ...         "cost": [0.25, 0.5, None],
    ...     }
    ... )
    >>> trials = pl.concat([sf.TRIALS.to_frame(), trials], how="diagonal_relaxed")
    >>> chart = sf.cost_chart(sf.costs(trials))
    >>> [(row["label"], row["text"]) for row in chart.data.values]
    [('with 1/2', '0.3750 USD'), ('without 0/1', 'unknown')]
    """
    check_columns("costs_or_trials", costs_or_trials, ("arm",), "costs")
    frame = costs_or_trials
    if "quantity" not in frame.columns:
        check_columns("costs_or_trials", frame, ("run", "uid", "status"), "read_trials")
        frame = _of_trials(frame)
    check_columns("costs", frame, _NEEDED, "costs")
    known = [name for name in QUANTITIES if name in frame.get_column("quantity").unique()]
    if quantity is not None:
        check_choice("quantity", quantity, tuple(QUANTITIES))
        if quantity not in known:
            msg = (
                f"no trial says its {quantity}; known are {', '.join(known) or 'none of the costs'}"
            )
            raise InputError(msg)
    if not known:
        return empty_chart("No trial says what it cost.")
    rows = list(_rows(frame.filter(quantity=quantity or known[0])))
    return _chart(rows, quantity or known[0])


def _of_trials(trials: pl.DataFrame) -> pl.DataFrame:
    """Compute the costs of each run's arms; all at once, so that an arm of which nothing is known is there, too."""
    several = trials.get_column("run").n_unique() > 1
    names = ("run", "arm") if several else ("arm",)
    named = pl.concat_str(*names, separator=" ", ignore_nulls=True)
    blank = pl.all_horizontal(pl.col(name).is_null() for name in names)
    arm = pl.when(blank).then("run").otherwise(named)
    return costs(trials.with_columns(arm=arm))


def _rows(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    found = frame.sort("arm", nulls_last=True).to_dicts()
    names = shown(row["arm"] or _NO_ARM for row in found)
    for row in found:
        arm = names[row["arm"] or _NO_ARM]
        decimals = _DECIMALS.get(row["unit"], 2)
        text = format_number(row["mean"], undefined="unknown", decimals=decimals)
        text = text if row["mean"] is None else f"{text} {row['unit']}"
        partly = row["mean"] is not None and row["unknown"] > 0
        if partly:
            text += f" (known of {row['n']}/{row['trials']})"
        succeeded = row["successful_tasks"]
        of_tasks = f"{format_count(succeeded or 0)}/{format_count(row['tasks'])}"
        tasks = UNDEFINED if succeeded is None else of_tasks
        yield {
            "arm": arm,
            "mean": row["mean"],
            "success": row["success_rate"],
            "text": text,
            "tasks": tasks,
            "label": f"{arm} {tasks}" + (f", {row['n']}/{row['trials']} known" if partly else ""),
            "partly": partly,
            "said": f"{arm}: {text} per trial, {tasks} tasks succeeded",
        }


def _chart(rows: list[dict[str, Any]], quantity: str) -> Any:  # noqa: ANN401
    alt = altair()
    width = COLUMN_WIDTH - _AXIS
    top = nice_top(row["mean"] for row in rows)
    unknown = any(row["mean"] is None for row in rows)
    # What is not known stands to the left of zero, or below it, behind a line: no number is that.
    strip = 0.5 * top if unknown else 0.0
    below = 14.0 if any(row["success"] is None for row in rows) else 0.0
    pixel = (105 + below) / _HEIGHT
    names = [row["arm"] for row in rows]
    placed = [
        row
        | {
            "x": -0.9 * strip if row["mean"] is None else row["mean"],
            "y": -below / 2 if row["success"] is None else row["success"],
        }
        for row in rows
    ]
    levels = apart([row["y"] / pixel + below / pixel for row in placed], _LINE, _HEIGHT)
    for row, level in zip(placed, levels, strict=True):
        side = "apart" if row["mean"] is None else "left" if row["x"] > top / 2 else "right"
        row |= {"side": side, "level": level * pixel - below}
    x_scale = alt.Scale(domain=[-strip, top], nice=False)
    y_scale = alt.Scale(domain=[-below, 105], nice=False)
    x_axis = alt.Axis(
        title=f"{_TITLES.get(quantity, quantity)} per trial ({QUANTITIES[quantity]})",
        values=round_ticks(top),
        grid=False,
        format="~s" if top >= _MANY else "~f",
    )
    y_axis = alt.Axis(
        title="tasks that succeeded (percent)",
        values=[0, 25, 50, 75, 100],
        domain=False,
        ticks=False,
    )
    x, y = alt.X("x:Q", scale=x_scale, axis=x_axis), alt.Y("y:Q", scale=y_scale, axis=y_axis)
    scales = [
        names_scale(names, range=[choices[n % len(choices)] for n in range(len(names))])
        for choices in (COLORS, SHAPES)
    ]
    base = alt.Chart().encode(
        x=x,
        y=y,
        description="said:N",
        tooltip=[
            alt.Tooltip("arm:N", title="Arm"),
            alt.Tooltip("text:N", title=_TITLES.get(quantity, quantity)),
            alt.Tooltip("tasks:N", title="Tasks succeeded"),
        ],
    )
    # Of the points alone: a text has no shape, and Vega-Lite says so on the console.
    signs = {
        "color": alt.Color("arm:N", sort=None, scale=scales[0], legend=None),
        "shape": alt.Shape("arm:N", sort=None, scale=scales[1], legend=None),
    }
    hollow = "datum.partly || !isValid(datum.mean) || !isValid(datum.success)"
    point = {"size": 45, "opacity": 1, "strokeWidth": 1.2}
    layers = [
        base.transform_filter(f"!({hollow})").mark_point(filled=True, **point).encode(**signs),
        base.transform_filter(hollow).mark_point(filled=False, fill=PAPER, **point).encode(**signs),
    ]
    level = alt.Y("level:Q", scale=y_scale, axis=y_axis)
    most = {"right": width * 0.6, "left": width * 0.6, "apart": 0.9 * width / 3 - 9}
    for side, align, dx in (("right", "left", 7), ("left", "right", -7), ("apart", "left", 7)):
        if any(row["side"] == side for row in placed):
            text = base.transform_filter(f"datum.side === '{side}'").mark_text(
                align=align, baseline="middle", dx=dx, limit=most[side], aria=False
            )
            layers.append(text.encode(y=level, text="label:N"))
    if unknown:
        edge = alt.Chart(data([{"x": 0, "y": 105, "text": "unknown"}]))
        rule = edge.mark_rule(color=MUTED, strokeDash=[3, 2], strokeWidth=0.8, aria=False)
        said = edge.mark_text(align="right", baseline="top", dx=-3, color=MUTED)
        layers += [rule.encode(x=x), said.encode(x=x, y=y, text="text:N")]
    return alt.layer(
        *layers,
        data=data(placed),
        width=width,
        height=_HEIGHT,
        description=f"{_TITLES.get(quantity, quantity)} per trial against percent of tasks that succeeded, a mark per arm: "
        f"{'; '.join(row['said'] for row in rows)}. A hollow mark: not known of all trials.",
    )
