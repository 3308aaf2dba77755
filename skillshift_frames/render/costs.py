"""What cells cost: columns and notes behind the metrics of a cell, where costs are in the frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.render.document import Cell, Column, Note
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.stats.rounding import half_up

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: Quantity → heading and digits. Tokens are shown where there is no cost, and are in the machine formats in any case.
_SHOWN = {"cost": ("USD", 4), "seconds": ("s", 1), "tokens": ("Tokens", 0)}
_DASH = "–"


def with_costs(cells: pl.DataFrame, costs: pl.DataFrame) -> pl.DataFrame:
    """Give the cells with what they cost after them: ``attempts``, ``successful_tasks``, and ``cost_median`` and so on.

    Of cost, seconds and tokens each that any record has. ``costs`` is `skillshift_frames.CELL_COSTS`; of a cell that has no record everything is null.
    """
    key = ["run", "site", "condition"]
    counted = costs.select(*key, pl.col("trials").alias("attempts"), "successful_tasks")
    cells = cells.join(counted.unique(key), on=key, how="left", maintain_order="left")
    said = ("unknown", "median", "total", "total_known", "per_success", "per_success_at_least")
    for quantity in (name for name in _SHOWN if name in costs.get_column("quantity")):
        numbers = costs.filter(quantity=quantity).select(
            *key, *(pl.col(name).alias(f"{quantity}_{name}") for name in said)
        )
        cells = cells.join(numbers, on=key, how="left", maintain_order="left")
    return cells


def cost_columns(cells: pl.DataFrame) -> tuple[Column, ...]:
    """Give the headings of what is known of costs; none where the frame has none."""
    return tuple(
        Column(title)
        for quantity in _quantities(cells.columns)
        for unit in [_SHOWN[quantity][0]]
        for title in (f"{unit}/success", f"Median {unit}")
    )


def _quantities(columns: Collection[str]) -> list[str]:
    found = [name for name in _SHOWN if f"{name}_median" in columns]
    return [name for name in found if name != "tokens" or "cost" not in found]


def cost_cells(cell: Mapping[str, Any]) -> Iterator[Cell]:
    """Give a cell's price per successful task and median per attempt, of each quantity that was recorded."""
    for quantity in _quantities(cell):
        digits = _SHOWN[quantity][1]
        unknown, attempts = cell[f"{quantity}_unknown"], cell["attempts"]
        known = (f"{attempts - unknown}/{attempts}",) if unknown else ()
        price, lowest = (cell[f"{quantity}_per_success{end}"] for end in ("", "_at_least"))
        at_least = price is None and lowest is not None
        yield Cell(f"{'≥ ' if at_least else ''}{_number(lowest, digits)}", known)
        yield Cell(_number(cell[f"{quantity}_median"], digits), known)


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return _DASH
    return format_number(value, decimals=digits) if digits else format_count(int(half_up(value, 0)))


def cost_notes(cells: pl.DataFrame) -> Iterator[Note]:
    """Say what the columns of costs are, and where costs are not known."""
    quantities = _quantities(cells.columns)
    if not quantities:
        return
    units = ", ".join(f"{_SHOWN[name][0]}/success" for name in quantities)
    yield Note(
        f"{units}: total of all attempts, failed and errored ones too, divided by the tasks that succeeded at least once; "
        "undefined without one. Medians are of attempts"
    )
    unknown = [
        f"{name} in {format_count(int(cells.get_column(f'{name}_unknown').sum()))}"
        for name in quantities
        if cells.get_column(f"{name}_unknown").sum()
    ]
    if unknown:
        attempts = format_count(int(cells.get_column("attempts").sum()))
        yield Note(
            f"unknown of {attempts} attempts: {', '.join(unknown)}; ≥: what is known alone, n/N: of so many attempts"
        )
