"""Which printed means counts can give: a mean of n integers is a multiple of 1/n, and most decimals are none of those.

Everything here is exact: numbers are fractions, and what was printed is known up to a slack on either side.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil, floor, lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def counts(
    value: Fraction, slack: Fraction, *, size: int, scale: int = 1, largest: int | None = None
) -> range:
    """Give the integers T ≥ 0 with |value − scale · T / size| ≤ slack: the counts that a printed mean allows.

    Parameters
    ----------
    value, slack
        What was printed, and how far off it may be.
    size
        How many trials the mean is over.
    scale
        100 where the value is in percent.
    largest
        The largest count there can be; ``size`` where each trial counts 0 or 1.

    Returns
    -------
    range
        Empty where no count fits: the value is impossible.

    References
    ----------
    Brown, N. J. L. and Heathers, J. A. J. (2017), The GRIM test, Social Psychological and Personality Science 8, 363-369.

    Examples
    --------
    >>> from fractions import Fraction
    >>> printed, half = Fraction("22.4"), Fraction("0.05")
    >>> counts(printed, half, size=125, scale=100), counts(printed, half, size=124, scale=100)
    (range(28, 29), range(28, 28))
    """
    low = max(0, ceil((value - slack) * size / scale))
    high = floor((value + slack) * size / scale)
    return range(low, max(low, (high if largest is None else min(high, largest)) + 1))


def decides(slack: Fraction, *, size: int, scale: int = 1) -> bool:
    """Tell whether the precision can rule any value out: possible ones lie further apart than the slack reaches.

    Examples
    --------
    >>> from fractions import Fraction
    >>> (
    ...     decides(Fraction("0.005"), size=972, scale=100),
    ...     decides(Fraction("0.5"), size=972, scale=100),
    ... )
    (True, False)
    """
    return scale > 2 * slack * size


def fitting_sizes(
    value: Fraction,
    slack: Fraction,
    sizes: Iterable[int],
    *,
    scale: int = 1,
    at_most_one: bool = False,
) -> list[int]:
    """Give those of the sizes for which some count gives the value; ``at_most_one`` where a trial counts 0 or 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> fitting_sizes(Fraction("22.4"), Fraction("0.05"), range(120, 128), scale=100)
    [125]
    """
    return [
        size
        for size in sizes
        if counts(value, slack, size=size, scale=scale, largest=size if at_most_one else None)
    ]


def attainable_ratio_mean(
    value: Fraction, slack: Fraction, *, totals: range, cells: int, scale: int = 100
) -> bool:
    """Tell whether a mean of ratios f/k over some of the cells can be the value, if their k add up to one of the totals.

    Cells without a denominator may take part in the mean or not, so as many cells as one likes may be left out; what is
    ruled out here is ruled out under any treatment of theirs. Cost and memory grow fast with the totals: `decidable_total`
    bounds them.

    Examples
    --------
    >>> from fractions import Fraction
    >>> half = Fraction("0.005")
    >>> attainable_ratio_mean(Fraction("33.33"), half, totals=range(1, 4), cells=6)
    True
    >>> attainable_ratio_mean(Fraction("57.70"), half, totals=range(1, 4), cells=6)
    False
    """
    if cells == 1:
        return any(counts(value, slack, size=k, scale=scale, largest=k) for k in totals if k)
    low, high = ((value + end) / scale * _UNIT for end in (-slack, slack))
    return any(
        low * used <= total <= high * used
        for denominators in totals
        for used in range(1, min(cells, denominators) + 1)
        for total in _ratio_sums(used, denominators)
    )


#: Up to so many calls the sums of ratios are enumerated; far beyond, nearly every printed value is possible anyway.
LARGEST_TOTAL = 20

#: Of one cell there is nothing to enumerate but the totals themselves.
_LARGEST_OF_ONE_CELL = 10_000

#: Ratios are held as multiples of one over this, which is exact for every denominator up to `LARGEST_TOTAL`.
_UNIT = lcm(*range(1, LARGEST_TOTAL + 1))


def decidable_total(totals: range, cells: int) -> bool:
    """Tell whether `attainable_ratio_mean` can be asked."""
    # Not by len(), which takes no more than 64 bits.
    return totals.stop > totals.start and (
        totals.stop - 1 <= (_LARGEST_OF_ONE_CELL if cells == 1 else LARGEST_TOTAL)
    )


@cache
def _ratio_sums(cells: int, denominators: int) -> frozenset[int]:
    """Give every sum of ``cells`` ratios f/k, 0 ≤ f ≤ k, whose k ≥ 1 add up to ``denominators``, in units of 1/`_UNIT`."""
    if cells == 1:
        return frozenset(top * _UNIT // denominators for top in range(denominators + 1))
    return frozenset(
        rest + top * _UNIT // k
        for k in range(1, denominators - cells + 2)
        for rest in _ratio_sums(cells - 1, denominators - k)
        for top in range(k + 1)
    )


def fits_margins(
    rows: Sequence[Fraction], columns: Sequence[Fraction], *, largest: Fraction, slack: Fraction
) -> bool:
    """Tell whether numbers from 0 to ``largest`` can have these sums of rows and of columns, each off by up to the slack.

    The k largest columns cannot hold more than every row has, nor more than ``k · largest`` of each.

    References
    ----------
    Gale, D. (1957), A theorem on flows in networks, Pacific Journal of Mathematics 7, 1073-1082.

    Examples
    --------
    >>> from fractions import Fraction
    >>> def fits(rows, columns):
    ...     numbers = [[Fraction(n) for n in axis] for axis in (rows, columns)]
    ...     return fits_margins(*numbers, largest=Fraction(100), slack=Fraction(0))
    >>> fits([0, 150], [100, 50]), fits([0, 150], [150, 0])
    (True, False)
    """
    for one, other in ((rows, columns), (columns, rows)):
        ordered = sorted(one, reverse=True)
        for k in range(1, len(ordered) + 1):
            held = sum(ordered[:k], Fraction())
            room = sum((min(total + slack, k * largest) for total in other), Fraction())
            if held - k * slack > room:
                return False
    return True
