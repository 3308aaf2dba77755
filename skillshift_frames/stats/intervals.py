"""Intervals for one proportion: Wilson's for rates, the exact one where it must never be too short."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def normal_quantile(level: float) -> float:
    """Give z such that a standard normal lies within ±z with probability ``level``.

    Examples
    --------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: float, n: float, *, level: float = 0.95) -> tuple[float, float] | None:
    """Give Wilson's score interval of a proportion.

    Parameters
    ----------
    successes, n
        Counts, 0 ≤ successes ≤ n; or what counts are worth, which need not be whole.
    level
        Nominal coverage, between 0 and 1.

    Returns
    -------
    tuple of float, or None
        Within [0, 1], never of width 0; low is 0 for no success and high 1 for nothing else. None for n = 0.

    References
    ----------
    Wilson, E. B. (1927), Probable inference, the law of succession, and statistical inference, JASA 22, 209-212.

    Examples
    --------
    >>> low, high = wilson(0, 5)
    >>> low, round(high, 4)
    (0.0, 0.4345)
    >>> wilson(0, 0) is None
    True
    """
    if n == 0:
        return None
    z2 = normal_quantile(level) ** 2
    p = successes / n
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At the ends the two terms are equal, but only before they are rounded.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def exact_binomial(successes: int, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Give the exact (Clopper-Pearson) interval of a proportion: it covers at least ``level``, whatever the rate.

    Returns
    -------
    tuple of float, or None
        Within [0, 1], never of width 0: for no success in n, high is 1 − (α/2)^(1/n). None for n = 0.

    References
    ----------
    Clopper, C. and Pearson, E. S. (1934), The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = exact_binomial(0, 500)
    >>> low, round(high, 6) == round(1 - 0.025 ** (1 / 500), 6)
    (0.0, True)
    """
    if n == 0:
        return None
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def all_alike(
    families: Sequence[int], *, passed: bool, level: float = 0.95
) -> tuple[float, float] | None:
    """Bound an unweighted mean of rates, where every family of every part agrees: all passed, or all failed.

    Parameters
    ----------
    families
        How many there are behind each part of the mean, one number per site; the parts weigh the same.
    passed
        Whether all passed; else all failed.
    level
        Nominal coverage.

    Returns
    -------
    tuple of float, or None
        The largest (or smallest) mean of rates under which families that all agree are not rarer than α/2. For one site,
        or equal ones, that is 1 − (α/2)^(1/families) with all families together; unequal ones allow more, because the
        smallest site can hide the most and weighs as much as the others. None for fewer than two families in all.

    Notes
    -----
    Maximizes mean(p) subject to Σ n·ln(1 − p) ≥ ln(α/2): 1 − p = min(1, λ·n), with λ found by bisection.

    Examples
    --------
    >>> low, high = all_alike([100], passed=False)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    >>> (
    ...     round(all_alike([162, 114, 79], passed=False)[1], 4),
    ...     round(all_alike([355], passed=False)[1], 4),
    ... )
    (0.0152, 0.0103)
    """
    if sum(families) < 2 or not all(families):  # noqa: PLR2004 - one family tells nothing about the next
        return None
    rarest = math.log((1 - level) / 2)
    low, high = 0.0, 1 / min(families)
    for _ in range(200):  # halvings, far beyond a double's digits
        middle = (low + high) / 2
        likely = sum(n * math.log(min(1.0, middle * n)) for n in families) if middle else -math.inf
        low, high = (low, middle) if likely >= rarest else (middle, high)
    largest = sum(1 - min(1.0, high * n) for n in families) / len(families)
    return (1 - largest, 1.0) if passed else (0.0, largest)
