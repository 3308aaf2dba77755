"""The mean of numbers that come in clusters, with a t interval: the bootstrap's spread, and honest at five clusters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.stats.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence


class Share(NamedTuple):
    """The interval of a share, and how many independent items it is worth."""

    low: float
    high: float
    effective: float


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


def clustered_share(
    successes: Sequence[int], counts: Sequence[int], *, level: float = 0.95
) -> Share | None:
    """Give Wilson's interval of a share of items that come in clusters, on as many items as they are worth.

    Parameters
    ----------
    successes, counts
        Of each cluster: how many of its items count as a success, and how many there are (at least one).
    level
        Nominal coverage.

    Returns
    -------
    Share or None
        None without a cluster. With one item per cluster Wilson's interval itself; never on more items than there are.
        Where no item, or every one, is a success their number says nothing of the clusters' likeness, so clusters count as
        one item each; and so does a single cluster.

    Notes
    -----
    n_eff = n / d with the design effect d = G/(G − 1) · (n − 1)/n · Σ (successes − share · count)² / (n · share · (1 − share)),
    at least 1, for n items in G clusters. The factors are 1 together where every item is its own cluster.

    References
    ----------
    Rao, J. N. K. and Scott, A. J. (1992), A simple method for the analysis of clustered binary data, Biometrics 48, 577-585.

    Examples
    --------
    >>> low, high, effective = clustered_share([1, 0, 1, 1], [1, 1, 1, 1])
    >>> round(low, 4), round(high, 4), effective
    (0.3006, 0.9544, 4.0)
    >>> round(clustered_share([3, 0, 3, 3], [3, 3, 3, 3]).effective, 4)  # each item three times
    3.2727
    """
    clusters, n = len(successes), sum(counts)
    if not clusters:
        return None
    all_in_all = sum(successes)
    effective = float(n)
    if clusters == 1 or all_in_all in {0, n}:
        effective = float(clusters)
    elif clusters < n:
        share = all_in_all / n
        squares = math.fsum((s - share * k) ** 2 for s, k in zip(successes, counts, strict=True))
        small = clusters / (clusters - 1) * (n - 1) / n
        effective = n / max(1.0, small * squares / (n * share * (1 - share)))
    if effective == n:
        found = wilson(all_in_all, n, level=level)
    else:
        found = wilson(
            effective if all_in_all == n else effective * all_in_all / n, effective, level=level
        )
    assert found is not None  # there is a cluster
    return Share(*found, effective)
