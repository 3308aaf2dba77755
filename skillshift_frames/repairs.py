"""One altered value: which single printed number, if it were another, would make all numbers of its metric agree."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from skillshift_frames.feasibility import (
    EXACT,
    ROUNDED,
    SCALES,
    Counting,
    implied_overall,
)
from skillshift_frames.marginals import agree, half_unit, in_range, known, mean_half, mean_of
from skillshift_frames.stats.feasible import fits_margins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.feasibility import Model

#: A number with far more digits than the others could be any of so many.
_MOST_CANDIDATES = 1_000


def repairs(counting: Counting, metric: str) -> dict[str, list[Decimal]] | None:
    """Give for each slot the numbers that, printed there instead, would leave nothing to find in the metric.

    Empty where no single slot can, since two numbers are off. None where that cannot be told: there are too many numbers to
    try. They are tried in steps of the slot's last digit, as far as the other means leave room; a slot that no mean is tied
    to gets the possible values next to its own.

    Examples
    --------
    >>> from skillshift_frames import SKILLSHIFT, published
    >>> from skillshift_frames.readers.entry_rows import parse_frame
    >>> awm = published().filter(method="AWM", model="mixed", metric="AS")
    >>> (entry,) = parse_frame(awm.with_columns(overall=7.91), SKILLSHIFT)
    >>> repairs(Counting(entry, SKILLSHIFT, trials=3), "AS")
    {'overall': [Decimal('7.00'), Decimal('7.01')]}
    """
    found: dict[str, list[Decimal]] = {}
    for slot in counting.benchmark.slots:
        if not _others_fit(counting, metric, slot):
            continue
        candidates = _candidates(counting, metric, slot)
        if candidates is None:
            return None
        fitting = [
            number
            for number in candidates
            if any(
                consistent(_with(counting, metric, slot, number), metric, model)
                for model in (EXACT, ROUNDED)
            )
        ]
        if fitting:
            found[slot] = fitting
    return found


def _others_fit(counting: Counting, metric: str, slot: str) -> bool:
    """Tell whether every other number is possible by itself: else no change of this one is enough."""
    if metric not in SCALES or counting.reason is not None:
        return True
    return all(
        counting.fits(metric, other, number, ROUNDED)
        for (name, other), number in counting.entry.printed.items()
        if name == metric and other != slot and number is not None
    )


def consistent(counting: Counting, metric: str, model: Model) -> bool:
    """Tell whether all printed numbers of a metric can be made from one set of counts, in one way of computing.

    What cannot be ruled out is taken for possible.
    """
    entry = counting.entry
    if not agree(entry, counting.benchmark, metric):
        return False
    numbers = {
        slot: number
        for (name, slot), number in entry.printed.items()
        if name == metric and number is not None
    }
    if not all(in_range(metric, number) for number in numbers.values()):
        return False
    if metric not in SCALES or counting.reason is not None:
        return True
    fit = all(counting.fits(metric, slot, number, model) for slot, number in numbers.items())
    return (
        fit
        and not any(disagreements(counting, metric, model))
        and margins_fit(counting, metric, model)
    )


def margins_fit(counting: Counting, metric: str, model: Model) -> bool:
    """Tell whether rates from 0 to 100 in the cells can have the printed sites and conditions as their means."""
    benchmark = counting.benchmark
    sites, conditions = (
        known(counting.entry, metric, axis) for axis in (benchmark.sites, benchmark.conditions)
    )
    if metric != "SR" or sites is None or conditions is None:
        return True
    return fits_margins(
        [Fraction(number) * len(conditions) for number in sites],
        [Fraction(number) * len(sites) for number in conditions],
        largest=Fraction(100),
        slack=sum((counting.slack(metric, n, model) for n in (*sites, *conditions)), Fraction())
        * max(len(sites), len(conditions)),
    )


def disagreements(
    counting: Counting, metric: str, model: Model
) -> Iterator[tuple[str, Fraction, tuple[Fraction, Fraction]]]:
    """Find which of overall and the conditions' mean are not what the counts behind the sites give.

    Sites that are tied to whole numbers say more precisely what overall is than their printed mean does. Gives the slot
    (``overall`` or ``conditions``), the printed mean, and the ends between which it would have to lie.
    """
    implied = implied_overall(counting, metric, model)
    if implied is None:
        return
    for slot, names in (("overall", ("overall",)), ("conditions", counting.benchmark.conditions)):
        numbers = known(counting.entry, metric, names)
        if numbers is None:
            continue
        value = mean_of(numbers)
        slack = sum((counting.slack(metric, n, model) for n in numbers), Fraction()) / len(numbers)
        low, high = implied[0] - slack, implied[1] + slack
        if not low <= value <= high:
            yield slot, value, (low, high)


def _with(counting: Counting, metric: str, slot: str, number: Decimal) -> Counting:
    printed = {**counting.entry.printed, (metric, slot): number}
    return replace(counting, entry=replace(counting.entry, printed=printed))


def _candidates(counting: Counting, metric: str, slot: str) -> list[Decimal] | None:
    """Give the numbers that could stand in a slot, as far as the other means say what it has to be; None for too many."""
    entry, benchmark = counting.entry, counting.benchmark
    printed = entry.printed.get((metric, slot))
    if printed is None:
        return []
    axes = (("overall",), tuple(benchmark.sites), benchmark.conditions)
    group = next(axis for axis in axes if slot in axis)
    rest = known(entry, metric, [name for name in group if name != slot])
    targets = [
        numbers
        for axis in axes
        if axis != group and (numbers := known(entry, metric, axis)) is not None
    ]
    if rest is None or not targets:
        return _possible_next_to(counting, metric, slot, printed)
    slack = max([half_unit(printed), *map(half_unit, rest)])
    wanted = mean_of(targets[0]) * len(group) - sum(map(Fraction, rest), Fraction())
    reach = (slack + mean_half(targets[0])) * len(group)
    exponent = int(printed.as_tuple().exponent)
    unit = Fraction(10) ** exponent
    steps = range(floor((wanted - reach) / unit), ceil((wanted + reach) / unit) + 1)
    if len(steps) > _MOST_CANDIDATES:
        return None
    tried = (Decimal(step).scaleb(exponent) for step in steps)
    return [number for number in tried if number != printed]


def _possible_next_to(
    counting: Counting, metric: str, slot: str, printed: Decimal
) -> list[Decimal]:
    """Give the possible values on both sides of a printed one, as they would be printed."""
    if metric not in SCALES or counting.reason is not None:
        return []
    digit = Decimal(1).scaleb(int(printed.as_tuple().exponent))
    near = [
        (Decimal(value.numerator) / Decimal(value.denominator)).quantize(digit, ROUND_HALF_UP)
        for value in counting.nearest(metric, slot, printed)
        if value is not None
    ]
    return [number for number in dict.fromkeys(near) if number != printed]
