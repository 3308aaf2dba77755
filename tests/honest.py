"""Entries as an honest run prints them: counts are drawn, everything after that is exact fractions and rounding half up.

Written from the metrics' definitions; nothing here comes from the package but the shape of an entry.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from skillshift_frames import SKILLSHIFT
from skillshift_frames.readers.entries import Entry

if TYPE_CHECKING:
    import random

SITES = dict(SKILLSHIFT.sites)
CONDITIONS = SKILLSHIFT.conditions

#: (metric, site, condition) → value of a cell; None where it is undefined.
Cells = dict[tuple[str, str, str], Fraction | None]


def draw_cells(rng: random.Random) -> Cells:
    """Draw the counts of a complete run, and divide."""
    cells: Cells = {}
    ease = {site: rng.random() for site in SITES}
    calling = rng.choice([0.0, 0.004, 0.02, 0.1, 1.5])
    for site, n in SITES.items():
        for condition in CONDITIONS:
            rate = min(1.0, max(0.0, ease[site] + rng.uniform(-0.2, 0.2)))
            cells["SR", site, condition] = Fraction(100 * _binomial(rng, n, rate), n)
            cells["AS", site, condition] = Fraction(sum(rng.randint(1, 20) for _ in range(n)), n)
            calls = sum(rng.random() < calling for _ in range(n)) + (n if calling > 1 else 0)
            cells["ASC", site, condition] = Fraction(calls, n)
            failed = _binomial(rng, calls, rng.random())
            cells["SFR", site, condition] = Fraction(100 * failed, calls) if calls else None
    return cells


def _binomial(rng: random.Random, n: int, p: float) -> int:
    return sum(rng.random() < p for _ in range(n))


def rounded(value: Fraction | None, digits: str = "0.01") -> Decimal | None:
    """Round half up, exactly."""
    if value is None:
        return None
    scale = Fraction(digits)
    steps = (value / scale + Fraction(1, 2)).__floor__()
    return (Decimal(steps) * Decimal(digits)).quantize(Decimal(digits), rounding=ROUND_HALF_UP)


def mean(values: list[Fraction | None]) -> Fraction | None:
    known = [value for value in values if value is not None]
    return sum(known, Fraction()) / len(known) if len(known) == len(values) else None


def slot_means(cells: Cells, metric: str) -> dict[str, Fraction | None]:
    """Average cells per site, per condition and over all."""
    of = {key[1:]: value for key, value in cells.items() if key[0] == metric}
    return {
        **{site: mean([of[site, c] for c in CONDITIONS]) for site in SITES},
        **{c: mean([of[site, c] for site in SITES]) for c in CONDITIONS},
        "overall": mean(list(of.values())),
    }


def weighted_overall(cells: Cells, metric: str) -> Fraction:
    """Average over tasks, as somebody does who pools all tasks."""
    total = Fraction()
    for (name, site, _), value in cells.items():
        if name == metric:
            assert value is not None
            total += SITES[site] * value
    return total / (sum(SITES.values()) * len(CONDITIONS))


def print_entry(cells: Cells, name: str, *, cells_rounded_first: bool) -> Entry:
    """Print an entry with two decimals, perhaps from cells that were printed with two decimals themselves."""
    if cells_rounded_first:
        cells = {
            key: None if value is None else Fraction(str(rounded(value)))
            for key, value in cells.items()
        }
    printed = {
        (metric, slot): rounded(value)
        for metric in ("SR", "AS", "ASC", "SFR")
        for slot, value in slot_means(cells, metric).items()
    }
    return Entry(name, "method", "model", printed, SITES)
