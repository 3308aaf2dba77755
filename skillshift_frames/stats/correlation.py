"""Whether two columns of numbers go together: Pearson's and Spearman's coefficient with intervals, ties averaged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.stats.intervals import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Fisher's transformation has a variance of 1 / (n − 3).
_FEWEST = 4
#: Relative to their size: spreads below this are rounding.
_SPREAD = 1e-13
#: A coefficient this close to ±1 is one: its transformation is infinite.
_PERFECT = 1e-12


class Correlation(NamedTuple):
    """A coefficient with its interval, each None where undefined, and the reason for what is missing."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None


def pearson(x: Sequence[float], y: Sequence[float], *, level: float = 0.95) -> Correlation:
    """Give Pearson's r of pairs, with Fisher's interval.

    Parameters
    ----------
    x, y
        Finite numbers, as many of one as of the other.
    level
        Nominal coverage.

    Returns
    -------
    Correlation
        Undefined for fewer than two pairs and where a side is constant; without an interval for fewer than four pairs and
        for ±1.

    Notes
    -----
    tanh(atanh(r) ± z / √(n − 3)).

    References
    ----------
    Fisher, R. A. (1921), On the probable error of a coefficient of correlation deduced from a small sample, Metron 1, 3-32.

    Examples
    --------
    >>> found = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.8, -0.28, 0.986)
    >>> pearson([1, 1, 1], [1, 2, 3]).reason
    'a side is constant'
    """
    return _with_interval(x, y, level, lambda _: 1.0)


def spearman(x: Sequence[float], y: Sequence[float], *, level: float = 0.95) -> Correlation:
    """Give Spearman's ρ of pairs: Pearson's r of their ranks, ties averaged.

    Parameters
    ----------
    x, y, level
        As for `pearson`.

    Returns
    -------
    Correlation
        Undefined and without an interval where `pearson` is, of the ranks.

    Notes
    -----
    The interval is Fisher's with the variance (1 + ρ²/2) / (n − 3), which keeps its level where 1 / (n − 3) is too short.

    References
    ----------
    Bonett, D. G. and Wright, T. A. (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations, Psychometrika 65, 23-28.

    Examples
    --------
    >>> found = spearman([1, 2, 2, 4], [10, 30, 20, 20])
    >>> round(found.value, 4), found.n
    (0.5, 4)
    """
    return _with_interval(ranks(x), ranks(y), level, lambda rho: 1 + rho * rho / 2)


def ranks(values: Sequence[float]) -> list[float]:
    """Rank from 1, equal values sharing the mean of their places.

    Examples
    --------
    >>> ranks([10, 30, 20, 20])
    [1.0, 4.0, 2.5, 2.5]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    given = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            given[place] = (start + 1 + end) / 2
        start = end
    return given


def concordance(scores: Sequence[Sequence[float]]) -> float | None:
    """Give Kendall's W of judges, one sequence of scores each over the same items: 1 if all rank alike, 0 if none do.

    Corrected for ties. None for fewer than two judges or items, and where no judge tells any two items apart.

    References
    ----------
    Kendall, M. G. and Babington Smith, B. (1939), The problem of m rankings, Annals of Mathematical Statistics 10, 275-287.

    Examples
    --------
    >>> concordance([[1, 2, 3], [10, 20, 30]]), concordance([[1, 2, 3], [3, 2, 1]])
    (1.0, 0.0)
    >>> concordance([[1, 1, 1], [2, 2, 2]]) is None
    True
    """
    judges = len(scores)
    items = len(scores[0]) if judges else 0
    if judges < 2 or items < 2:  # noqa: PLR2004 - one ranking agrees with nothing
        return None
    ranked = [ranks(of_judge) for of_judge in scores]
    sums = [math.fsum(of_item) for of_item in zip(*ranked, strict=True)]
    centre = judges * (items + 1) / 2
    spread = math.fsum((total - centre) ** 2 for total in sums)
    ties = sum(_tied(of_judge) for of_judge in scores)
    most = judges * judges * (items**3 - items) - judges * ties
    return 12 * spread / most if most > 0 else None


def flipped(x: Sequence[float], y: Sequence[float]) -> tuple[int, int]:
    """Count the pairs of items that the two order oppositely, and those that both tell apart.

    Examples
    --------
    >>> flipped([1, 2, 3], [1, 3, 2])
    (1, 3)
    """
    import numpy as np

    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    opposite = told = 0
    for place in range(len(first) - 1):
        order = np.sign(first[place + 1 :] - first[place]) * np.sign(
            second[place + 1 :] - second[place]
        )
        opposite += int((order < 0).sum())
        told += int((order != 0).sum())
    return opposite, told


def _tied(values: Sequence[float]) -> int:
    """Sum t³ − t over groups of t equal values."""
    counts: dict[float, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sum(t**3 - t for t in counts.values())


def _with_interval(
    x: Sequence[float], y: Sequence[float], level: float, inflate: Callable[[float], float]
) -> Correlation:
    n = len(x)
    if n != len(y):
        msg = f"{n} numbers cannot be paired with {len(y)}"
        raise ValueError(msg)
    if n < 2:  # noqa: PLR2004 - a line needs two points
        return Correlation(None, None, None, n, "fewer than two pairs")
    value = _coefficient(x, y)
    if value is None:
        return Correlation(None, None, None, n, "a side is constant")
    if n < _FEWEST:
        return Correlation(value, None, None, n, "fewer than four pairs")
    if 1 - abs(value) <= _PERFECT:
        return Correlation(value, None, None, n, "no spread: the pairs agree perfectly")
    half = normal_quantile(level) * math.sqrt(inflate(value) / (n - 3))
    centre = math.atanh(value)
    return Correlation(value, math.tanh(centre - half), math.tanh(centre + half), n, None)


def _coefficient(x: Sequence[float], y: Sequence[float]) -> float | None:
    first, second = _centred(x), _centred(y)
    if first is None or second is None:
        return None
    product = math.fsum(a * b for a, b in zip(first, second, strict=True))
    value = max(-1.0, min(1.0, product))
    return math.copysign(1.0, value) if 1 - abs(value) <= _PERFECT else value


def _centred(values: Sequence[float]) -> list[float] | None:
    """Give the values less their mean, of length 1; None if they do not vary."""
    largest = max(map(abs, values)) or 1.0
    scaled = [value / largest for value in values]
    mean = math.fsum(scaled) / len(scaled)
    centred = [value - mean for value in scaled]
    length = math.hypot(*centred)
    if length <= _SPREAD * math.sqrt(len(values)):
        return None
    return [value / length for value in centred]
