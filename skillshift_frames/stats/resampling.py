"""What is resampled: families within groups, each a row of numbers whose sums are all that a statistic needs.

A group is a site; a row holds what one family contributes to every sum (per condition: successes, tasks, steps, …), so
that conditions and trials of a family stay together. Rows with the same numbers are one row with a multiplicity: a
resample draws families, and families that are alike need not be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

    #: Sums per group, ``(…, groups, columns)``, to statistics, ``(…, statistics)``; undefined ones are NaN.
    Statistic: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class Group:
    """One site's families, alike ones merged.

    Attributes
    ----------
    rows
        ``(distinct families, columns)``, in an order of their own, so that neither the order nor the names of families matter.
    times
        ``(distinct families,)``: how many families have these numbers.
    """

    rows: Array
    times: NDArray[np.int64]

    @property
    def families(self) -> int:
        """The number of families."""
        return int(self.times.sum())

    @property
    def sums(self) -> Array:
        """Every column added up over the families."""
        added: Array = self.times @ self.rows
        return added

    @property
    def centred(self) -> Array:
        """The columns' second moments about their means, added up over the families: ``(columns, columns)``."""
        import numpy as np

        apart = self.rows - self.sums / self.families
        moments: Array = (apart * self.times[:, np.newaxis]).T @ apart
        return moments


@dataclass(frozen=True, slots=True)
class Moments:
    """What is known of one site's families where they were added up elsewhere: enough for the delta method.

    Attributes
    ----------
    families, sums, centred
        As of a `Group`.
    """

    families: int
    sums: Array
    centred: Array


def merge_alike(rows: Array, times: NDArray[np.int64] | None = None) -> Group:
    """Merge families with the same numbers; ``times`` says how many families each row stands for (by default one).

    Examples
    --------
    >>> import numpy as np
    >>> group = merge_alike(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]]))
    >>> group.rows.tolist(), group.times.tolist(), group.families
    ([[0.0, 2.0], [1.0, 0.0]], [1, 2], 3)
    """
    import numpy as np

    if times is None:
        times = np.ones(len(rows), dtype=np.int64)
    contiguous = np.ascontiguousarray(rows) + 0.0  # -0.0 is 0.0, but not byte for byte
    if not contiguous.size:
        return Group(contiguous, times)
    # Rows as strings of bytes: one sort, in an order that means nothing and is always the same.
    keys = contiguous.view(np.dtype((np.void, contiguous.itemsize * contiguous.shape[1]))).ravel()
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    merged = np.bincount(same.ravel(), weights=times, minlength=len(first))
    return Group(contiguous[first], merged.astype(np.int64))


def distinct_columns(rows: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find columns that hold the same numbers: which to keep, and for each column which of the kept it is.

    The kept ones stay in their order, so that the order of the rows does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> keep, which = distinct_columns(np.array([[2.0, 1.0, 2.0], [0.0, 1.0, 0.0]]))
    >>> keep.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    import numpy as np

    seen: dict[bytes, int] = {}
    which = [seen.setdefault(column.tobytes(), len(seen)) for column in rows.T]
    keep = [which.index(number) for number in range(len(seen))]
    return np.array(keep, dtype=np.int64), np.array(which, dtype=np.int64)


def total(groups: Sequence[Group | Moments]) -> Array:
    """Sum every column over each group's families: ``(groups, columns)``."""
    import numpy as np

    return np.stack([group.sums for group in groups])
