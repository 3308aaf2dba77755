"""The delta method on clustered second moments: the bootstrap's interval without resampling, for many families.

Every statistic is a smooth function of sums over families. Its variance is that of its linearization, and that follows
from the families' sums of products, one small matrix per site, which any engine can count, however many records there
are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift_frames.stats.intervals import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.stats.resampling import Array, Group, Moments, Statistic

#: Step of the numerical derivative, relative to a sum; central differences leave an error of its square.
_STEP = 1e-5

#: A variance below this share of the terms that it is the difference of is none.
_ROUNDING = 1e-13


def delta_method(
    groups: Sequence[Group | Moments], statistic: Statistic, *, level: float
) -> tuple[Array, Array]:
    """Give normal intervals of statistics that are functions of sums.

    Parameters
    ----------
    groups
        Families by group, or their moments: no more is needed of them.
    statistic, level
        As for `skillshift_frames.stats.bootstrap.bootstrap`.

    Returns
    -------
    tuple of arrays
        Low and high, NaN where the statistic is.

    Notes
    -----
    Variance = Σ over groups of gᵀ M g, with g the gradient at the sums and M the group's matrix of centred second
    moments of its families' rows (the bootstrap's own variance, to first order). See Davison, A. C. and Hinkley, D. V.
    (1997), Bootstrap Methods and their Application, section 2.7.

    Examples
    --------
    >>> import numpy as np
    >>> from skillshift_frames.stats.resampling import merge_alike
    >>> coin = merge_alike(np.array([[1.0, 1.0]] * 300 + [[0.0, 1.0]] * 700))
    >>> low, high = delta_method(
    ...     [coin], lambda sums: sums[..., 0, :1] / sums[..., 0, 1:], level=0.95
    ... )
    >>> round(float(high[0] - low[0]) / 2, 4) == round(1.959964 * (0.3 * 0.7 / 1000) ** 0.5, 4)
    True
    """
    import numpy as np

    from skillshift_frames.stats.resampling import total  # noqa: PLC0415

    sums = total(groups)
    value = statistic(sums[np.newaxis])[0]
    variance, size = np.zeros_like(value), np.zeros_like(value)
    for index, group in enumerate(groups):
        if not group.families:  # a site that a run has no record of
            continue
        gradient = _gradient(statistic, sums, index)
        centred = group.centred
        variance += np.einsum("sc,cd,sd->s", gradient, centred, gradient)
        size += np.einsum("sc,cd,sd->s", np.abs(gradient), np.abs(centred), np.abs(gradient))
    # Where nothing varies, as a ratio of sums that grow together, rounding leaves a hair on either side of 0.
    variance[variance <= _ROUNDING * size] = 0.0
    half = normal_quantile(level) * np.sqrt(variance)
    return value - half, value + half


def _gradient(statistic: Statistic, sums: Array, group: int) -> Array:
    """Differentiate every statistic by every sum of one group: ``(statistics, columns)``."""
    import numpy as np

    columns = sums.shape[1]
    steps = _STEP * np.maximum(np.abs(sums[group]), 1.0)
    ends = []
    for sign in (1, -1):
        moved = np.repeat(sums[np.newaxis], columns, axis=0)
        moved[np.arange(columns), group, np.arange(columns)] += sign * steps
        ends.append(statistic(moved))
    gradient: Array = ((ends[0] - ends[1]) / (2 * steps[:, np.newaxis])).T
    return gradient
