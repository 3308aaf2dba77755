"""Macro means of ratios: the table's numbers as functions of sums, for as many resamples at once as are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.stats.resampling import Array, Statistic


def cell_ratios(top: NDArray[np.int64], bottom: NDArray[np.int64], scale: Array) -> Statistic:
    """Make the statistic that gives every cell's ratio.

    Parameters
    ----------
    top, bottom
        ``(metrics, conditions)``: which column of the sums is a cell's numerator and denominator; a site is a group.
    scale
        ``(metrics,)``: 100 for percent.

    Returns
    -------
    callable
        Sums ``(…, sites, columns)`` to ratios ``(…, metrics · sites · conditions)``; NaN where the denominator is 0.

    Examples
    --------
    >>> import numpy as np
    >>> ratios = cell_ratios(np.array([[0, 1]]), np.array([[2, 2]]), np.array([100.0]))
    >>> ratios(np.array([[1.0, 2.0, 4.0]])).tolist()  # one site, two conditions
    [25.0, 50.0]
    """
    import numpy as np

    def statistic(sums: Array) -> Array:
        ratios = _ratios(sums, top, bottom, scale)
        return np.reshape(ratios, (*ratios.shape[:-3], -1))

    return statistic


def macro_means(
    top: NDArray[np.int64],
    bottom: NDArray[np.int64],
    scale: Array,
    *,
    used: NDArray[np.bool_] | None = None,
) -> Statistic:
    """Make the statistic that gives every slot: unweighted means of cells, per site, per condition, over all.

    Parameters
    ----------
    top, bottom, scale
        As for `cell_ratios`.
    used
        ``(sites, conditions)``, or that per metric: which cells take part, by default every one. A slot is NaN where one
        of them is undefined, and where there is none.

    Returns
    -------
    callable
        Sums ``(…, sites, columns)`` to slots ``(…, metrics · (sites + conditions + 1))``.

    Examples
    --------
    >>> import numpy as np
    >>> means = macro_means(np.array([[0]]), np.array([[1]]), np.array([1.0]))
    >>> means(np.array([[1.0, 2.0], [3.0, 2.0]])).tolist()  # two sites, one condition, overall
    [0.5, 1.5, 1.0, 1.0]
    """
    import numpy as np

    def mean(ratios: Array, axis: int | tuple[int, int]) -> Array:
        if used is None:
            return np.asarray(ratios.mean(axis))  # the common case, at a quarter of the cost
        counted = np.broadcast_to(used, ratios.shape)
        count = counted.sum(axis)
        # A mean of nothing is NaN by decision, not by 0/0.
        total = np.where(counted, ratios, 0.0).sum(axis)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def statistic(sums: Array) -> Array:
        ratios = _ratios(sums, top, bottom, scale)
        overall = mean(ratios, (-2, -1))[..., np.newaxis]
        slots = np.concatenate([mean(ratios, -1), mean(ratios, -2), overall], axis=-1)
        return slots.reshape((*slots.shape[:-2], -1))

    return statistic


def _ratios(sums: Array, top: NDArray[np.int64], bottom: NDArray[np.int64], scale: Array) -> Array:
    """Divide: ``(…, sites, columns)`` to ``(…, metrics, sites, conditions)``."""
    import numpy as np

    above = np.moveaxis(sums[..., top], -3, -2)
    below = np.moveaxis(sums[..., bottom], -3, -2)
    ratios = np.full(
        above.shape, np.nan
    )  # in this order, not in that of the view: sums over its axes are faster so
    np.divide(above, below, out=ratios, where=below > 0)
    return ratios * scale[:, np.newaxis, np.newaxis]
