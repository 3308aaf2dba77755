"""One altered value: which single printed number, if it were another, would make all numbers of its metric agree."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from skillshift_frames.feasibility import (
    EXACT,
    ROUNDED,
    SCALES,
    Counting,
    implied_overall,
    known,
    mean_half,
    mean_of,
)
from skillshift_frames.marginals import agree, half_unit, in_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.feasibility import Model


def repairs(counting: Counting, metric: str) -> dict[str, list[Decimal]]:
    """Give for each slot the numbers that, printed there instead, would leave nothing to find in the metric.

    Empty where no single slot can: two numbers are off, or nothing ties them together. Numbers are tried in steps of the
    slot's last digit.

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
        fitting = [
            number
            for number in _candidates(counting, metric, slot)
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
    return fit and not any(disagreements(counting, metric, model))


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
        slack = model.halves * mean_half(numbers)
        low, high = implied[0] - slack, implied[1] + slack
        if not low <= value <= high:
            yield slot, value, (low, high)


def _with(counting: Counting, metric: str, slot: str, number: Decimal) -> Counting:
    printed = {**counting.entry.printed, (metric, slot): number}
    return replace(counting, entry=replace(counting.entry, printed=printed))


def _candidates(counting: Counting, metric: str, slot: str) -> Iterator[Decimal]:
    """Give the numbers that could stand in a slot, as far as the other means say what it has to be."""
    entry, benchmark = counting.entry, counting.benchmark
    printed = entry.printed.get((metric, slot))
    if printed is None:
        return
    group: tuple[str, ...] = ("overall",)
    for axis in (tuple(benchmark.sites), benchmark.conditions):
        group = axis if slot in axis else group
    others = [name for name in group if name != slot]
    rest = known(entry, metric, others)
    targets = [
        (mean_of(numbers), mean_half(numbers))
        for names in (("overall",), tuple(benchmark.sites), benchmark.conditions)
        if slot not in names
        and names != group
        and (numbers := known(entry, metric, names)) is not None
    ]
    if rest is None or not targets:
        return
    unit = 2 * half_unit(printed)
    slack = max([half_unit(printed), *map(half_unit, rest)])
    target, target_slack = targets[0]
    wanted = target * len(group) - sum(map(Fraction, rest), Fraction())
    reach = (slack + target_slack) * len(group)
    exponent = printed.as_tuple().exponent
    for step in range(floor((wanted - reach) / unit), ceil((wanted + reach) / unit) + 1):
        number = Decimal(step).scaleb(int(exponent))
        if number != printed:
            yield number
