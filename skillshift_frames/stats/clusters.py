"""The mean of numbers that come in clusters, with a t interval: the bootstrap's spread, and honest at five clusters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Mean(NamedTuple):
    """A mean with the ends of its interval, NaN where there is none."""

    value: float
    low: float
    high: float


def student_quantile(level: float, freedom: int) -> float:
    """Give t such that Student's distribution lies within ±t with probability ``level``.

    Examples
    --------
    >>> round(student_quantile(0.95, 4), 4)
    2.7764
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def clustered_mean(sums: Sequence[float], counts: Sequence[int], *, level: float = 0.95) -> Mean:
    """Give the mean of all numbers in all clusters, with its t interval.

    Parameters
    ----------
    sums, counts
        Of each cluster: the sum of its numbers, and how many there are (at least one).
    level
        Nominal coverage.

    Returns
    -------
    Mean
        NaN without a cluster; ends are NaN for a single one. Ends may coincide: a caller decides what that means.

    Notes
    -----
    Variance = G/(G − 1) · Σ (sum − mean · count)² / (Σ count)², with Student's quantile at G − 1 degrees of freedom for G
    clusters. With one number per cluster this is the textbook interval of a mean; with many clusters it is the delta
    method's and the bootstrap's.

    References
    ----------
    Cochran, W. G. (1977), Sampling Techniques, third edition, sections 2.11 and 6.4.

    Examples
    --------
    >>> mean, low, high = clustered_mean([0.1, 0.2, 0.4, 0.5], [1, 1, 1, 1])
    >>> round(mean, 4), round(low, 4), round(high, 4)
    (0.3, 0.0095, 0.5905)
    """
    clusters, total = len(sums), sum(counts)
    if not clusters:
        return Mean(math.nan, math.nan, math.nan)
    mean = math.fsum(sums) / total
    if clusters == 1:
        return Mean(mean, math.nan, math.nan)
    squares = math.fsum((s - mean * n) ** 2 for s, n in zip(sums, counts, strict=True))
    error = math.sqrt(clusters / (clusters - 1) * squares) / total
    half = student_quantile(level, clusters - 1) * error
    return Mean(mean, mean - half, mean + half)
