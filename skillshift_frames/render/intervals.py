"""How an interval is printed: ``[35.1, 40.6]`` behind its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.render.document import Note
from skillshift_frames.render.numbers import format_count, format_number

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Rates are printed with one decimal (their intervals are wide), means of few steps and calls with two.
_DECIMALS = {"SR": 1, "SFR": 1}


def ends(metric: str, low: float | None, high: float | None) -> str:
    """Give the printed form of an interval, empty where there is none.

    Examples
    --------
    >>> ends("SR", 35.0999, 40.61), ends("ASC", 0.051, 0.0999), ends("SR", None, None)
    ('[35.1, 40.6]', '[0.05, 0.10]', '')
    """
    if low is None or high is None:
        return ""
    decimals = _DECIMALS.get(metric, 2)
    return f"[{format_number(low, decimals=decimals)}, {format_number(high, decimals=decimals)}]"


_NAMED = 4


def interval_notes(
    intervals: pl.DataFrame, *, level: float, seed: int, resamples: int
) -> Iterator[Note]:
    """Say how the intervals of a table were found, and where there is none although the number is there.

    ``intervals`` is a frame of `skillshift_frames.intervals` or `skillshift_frames.cell_intervals`.
    """
    used = set(intervals.filter(pl.col("low").is_not_null()).get_column("method"))
    said = say_methods(used, seed=seed, resamples=resamples)
    yield Note(f"{100 * level:g} % interval: {said}", "[ ]")
    key = intervals.columns[: intervals.columns.index("estimate")]  # what names a number
    lacking = intervals.filter(pl.col("low").is_null() & pl.col("estimate").is_not_null())
    for (reason,), rows in lacking.group_by("reason", maintain_order=True):
        named = [" ".join(row) for row in rows.select(key).head(_NAMED).iter_rows()]
        rest = rows.height - len(named)
        yield Note(
            f"no interval: {reason}: {', '.join(named)}{f' and {rest} more' if rest else ''}"
        )


def say_methods(used: set[str], *, seed: int, resamples: int) -> str:
    """Say how intervals were found, of the methods that were used."""
    how = {
        "bootstrap": f"families resampled within sites, {format_count(resamples)} resamples, seed {seed}",
        "delta": "delta method on families within sites",
        "wilson": "Wilson for SR of a cell with one trial per task",
        "exact": "exact where all families agree on SR, and for SFR of a cell where wider",
    }
    return (
        "; ".join(words for method, words in how.items() if method in used) or "none could be found"
    )
