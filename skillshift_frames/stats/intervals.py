"""Intervals for one proportion: Wilson's for rates, the exact one where it must never be too short."""

from __future__ import annotations

import math
from statistics import NormalDist


def normal_quantile(level: float) -> float:
    """Give z such that a standard normal lies within ±z with probability ``level``.

    Examples
    --------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: int, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Give Wilson's score interval of a proportion.

    Parameters
    ----------
    successes, n
        Counts, 0 ≤ successes ≤ n.
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


def all_alike(families: int, *, passed: bool, level: float = 0.95) -> tuple[float, float] | None:
    """Bound a rate that every family agrees on: the exact interval on families, as if each were one trial.

    None for fewer than two families: one tells nothing about the next.

    Examples
    --------
    >>> low, high = all_alike(100, passed=False)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    if families < 2:  # noqa: PLR2004 - see above
        return None
    tail = ((1 - level) / 2) ** (1 / families)
    return (tail, 1.0) if passed else (0.0, 1 - tail)
