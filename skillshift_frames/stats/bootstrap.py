"""Percentile bootstrap over families within groups: every statistic of a run from one matrix product per group.

A resample is a vector of multiplicities: how often each family was drawn. Its sums are that vector times the families'
rows, so ten thousand resamples of forty statistics are one product per site, and all of them are joint: what is drawn
for one statistic is drawn for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.stats.resampling import Array, Group, Statistic

#: A statistic that is undefined in more than this share of the resamples has no interval.
UNDEFINED_LIMIT = 0.05

#: Draws held at a time, as a number of elements (8 bytes each).
_CHUNK = 200_000


class Interval(NamedTuple):
    """Ends of an interval per statistic (NaN: none), and the share of resamples in which it was undefined."""

    low: Array
    high: Array
    undefined: Array


def bootstrap(
    groups: list[Group], statistic: Statistic, *, level: float, resamples: int, seed: int
) -> Interval:
    """Give percentile intervals of statistics that are functions of sums.

    Parameters
    ----------
    groups
        Families by group; families are drawn within each group, as many as it has.
    statistic
        Sums to statistics, for many resamples at once.
    level
        Nominal coverage.
    resamples
        How many.
    seed
        The same seed gives the same interval; nothing else does, and the global generator plays no part.

    Returns
    -------
    Interval
        NaN where a statistic was undefined in more than 5 % of the resamples. Ends may coincide: a caller decides what
        an interval of width 0 means.

    Notes
    -----
    Efron, B. and Tibshirani, R. J. (1993), An Introduction to the Bootstrap, chapter 13 (percentile interval), with
    whole families resampled (clusters) within sites (strata). Memory is bounded: resamples are made in chunks.

    Examples
    --------
    >>> import numpy as np
    >>> from skillshift_frames.stats.resampling import merge_alike
    >>> coin = merge_alike(np.array([[1.0, 1.0]] * 30 + [[0.0, 1.0]] * 70))
    >>> found = bootstrap(
    ...     [coin],
    ...     lambda sums: sums[..., 0, :1] / sums[..., 0, 1:],
    ...     level=0.95,
    ...     resamples=2000,
    ...     seed=0,
    ... )
    >>> bool(0.2 < found.low[0] < 0.25), bool(0.35 < found.high[0] < 0.4)
    (True, True)
    """
    return percentiles(draw(groups, statistic, resamples=resamples, seed=seed), level=level)


def draw(groups: list[Group], statistic: Statistic, *, resamples: int, seed: int) -> Array:
    """Give every statistic of every resample: ``(resamples, statistics)``, NaN where undefined."""
    import numpy as np

    return np.concatenate([statistic(sums) for sums in resampled_sums(groups, resamples, seed)])


def percentiles(drawn: Array, *, level: float) -> Interval:
    """Give the percentile interval of every column, from the resamples in which it is defined."""
    import numpy as np

    tail = (1 - level) / 2
    missing = np.isnan(drawn)
    undefined = missing.mean(axis=0)
    ends = np.full((2, drawn.shape[1]), np.nan)
    whole = ~missing.any(axis=0)
    if whole.any():
        ends[:, whole] = np.quantile(drawn[:, whole], [tail, 1 - tail], axis=0)
    for column in np.flatnonzero(~whole & (undefined <= UNDEFINED_LIMIT)):
        ends[:, column] = np.quantile(drawn[~missing[:, column], column], [tail, 1 - tail])
    return Interval(ends[0], ends[1], undefined)


def resampled_sums(groups: list[Group], resamples: int, seed: int) -> Iterator[Array]:
    """Give the sums of resamples in chunks: ``(resamples in the chunk, groups, columns)``."""
    import numpy as np

    # A stream per group: what is drawn in one site does not depend on how many families another one has.
    streams = np.random.default_rng(seed).spawn(len(groups))
    held = len(groups) * groups[0].rows.shape[1]  # sums of one resample
    chunk = max(1, _CHUNK // max(held, *map(_draws, groups)))
    for start in range(0, resamples, chunk):
        count = min(chunk, resamples - start)
        sums = [
            _multiplicities(group, count, stream) @ group.rows
            for group, stream in zip(groups, streams, strict=True)
        ]
        yield np.stack(sums, axis=1)


def _draws(group: Group) -> int:
    """Count the numbers to draw for one resample: one per distinct row or one per family, whichever is cheaper."""
    distinct = len(group.times)
    return max(1, distinct if _by_row(group) else group.families)


def _by_row(group: Group) -> bool:
    # A binomial per distinct row costs about ten draws of a single family.
    return len(group.times) * _BINOMIAL_COST < group.families


def _multiplicities(group: Group, count: int, stream: np.random.Generator) -> NDArray[np.float64]:
    """Draw as many families as there are, ``count`` times: how often each distinct row was drawn."""
    import numpy as np

    families, distinct = group.families, len(group.times)
    if not families:  # a site that a run has no record of
        return np.zeros((count, 0))
    if _by_row(group):
        return stream.multinomial(families, group.times / families, size=count).astype(np.float64)
    drawn = stream.integers(0, families, size=(count, families))
    if distinct < families:
        drawn = np.repeat(np.arange(distinct), group.times)[drawn]
    drawn += np.arange(count)[:, np.newaxis] * distinct
    return (
        np.bincount(drawn.ravel(), minlength=count * distinct)
        .reshape(count, distinct)
        .astype(np.float64)
    )


_BINOMIAL_COST = 10
