"""Means of ratios without rounding on the way: integers until one division at the end.

Python divides two integers correctly rounded, whatever their size, so a mean computed here is the float nearest to the
true value, does not depend on the order of its terms, and prints the digits that pencil and paper give.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def weighted_mean(terms: Iterable[tuple[int, int, int]], *, scale: int = 1) -> float | None:
    """Give ``scale`` times the mean of ratios, each counted with its weight.

    Parameters
    ----------
    terms
        ``(numerator, denominator, weight)``: ``weight`` items whose values sum to ``numerator / denominator``.
    scale
        100 for percent.

    Returns
    -------
    float or None
        None where the weights sum to 0: a mean of nothing is undefined, not 0.

    Examples
    --------
    >>> weighted_mean([(2, 3, 1), (1, 1, 1)], scale=100)  # two of three trials, and one of one
    83.33333333333333
    >>> weighted_mean([]) is None
    True
    """
    listed = list(terms)
    count = sum(weight for _, _, weight in listed)
    if not count:
        return None
    common = math.lcm(*(denominator for _, denominator, _ in listed))
    total = sum(numerator * (common // denominator) for numerator, denominator, _ in listed)
    return scale * total / (common * count)


def mean_of_ratios(ratios: Iterable[tuple[int, int]]) -> float | None:
    """Give the unweighted mean of ratios ``(numerator, denominator)``, None where there is none.

    Examples
    --------
    >>> mean_of_ratios([(1, 3), (1, 6)])
    0.25
    """
    (mean,) = means_of_groups(list(ratios), [slice(None)])
    return mean


def means_of_groups(
    ratios: Sequence[tuple[int, int] | None], groups: Iterable[slice]
) -> list[float | None]:
    """Give for each group the unweighted mean of its ratios; None among these is in no mean.

    Examples
    --------
    >>> means_of_groups([(1, 3), (1, 6), None], [slice(2), slice(1, 3), slice(2, 3)])
    [0.25, 0.16666666666666666, None]
    """
    # One denominator for all groups: finding it takes longer than the sums over it.
    common = math.lcm(*[ratio[1] for ratio in ratios if ratio])
    tops = [ratio[0] * (common // ratio[1]) if ratio else 0 for ratio in ratios]
    known = [ratio is not None for ratio in ratios]
    means: list[float | None] = []
    for group in groups:
        count = sum(known[group])
        means.append(sum(tops[group]) / (common * count) if count else None)
    return means


def as_ratio(value: float, numerator: int, denominator: int) -> tuple[int, int]:
    """Give the ratio of integers that a float was rounded from.

    That is the given one if it rounds to ``value``, else the only one with a denominator up to a million that does
    (two of those differ by more than a float's last digit, for values up to 100), else the float's own.

    Examples
    --------
    >>> as_ratio(100 / 3, 100, 3), as_ratio(250 / 3, 100, 3), as_ratio(0.5, 100, 3)
    ((100, 3), (250, 3), (1, 2))
    """
    if denominator and numerator / denominator == value:
        return numerator, denominator
    from fractions import Fraction  # noqa: PLC0415 - only unequal numbers of trials come here

    simplest = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    if float(simplest) == value:
        return simplest.numerator, simplest.denominator
    return value.as_integer_ratio()


_LARGEST_DENOMINATOR = 1_000_000
