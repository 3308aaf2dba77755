"""What several judges make of the same items: how far apart they are, and whether they keep the ranking."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from skillshift_frames.sampling import rounded
from skillshift_frames.stats.correlation import concordance, flipped, spearman

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillshift_frames.stats.correlation import Correlation

#: With this share of pairs in the same order a ranking is largely kept.
LARGELY = 0.9


@dataclass(frozen=True, slots=True)
class Judges:
    """What several judges make of the same items.

    Attributes
    ----------
    names, items
        The judges, and how many items all of them scored.
    means
        Mean of each over those items; None without one.
    strictest, most_lenient, spread
        Who gives the lowest and highest mean (several where they tie, all of them where all do), and how far these are apart.
    concordance
        Kendall's W: 1 if all rank the items alike, 0 if they have nothing in common.
    pairs
        For every two judges: ``first``, ``second``, mean ``difference`` (first − second), ``spearman`` with its ``low`` and
        ``high``, and of the pairs of items that both tell apart (``told``) those that they order oppositely (``flipped``).
    kept
        Share of such pairs, of all judges, in the same order; None without any.
    ranking
        ``kept``: every pair in the same order; ``largely kept``: nine in ten or more; else ``not kept``; ``unknown``
        without any.
    """

    names: tuple[str, ...]
    items: int
    means: dict[str, float | None]
    strictest: tuple[str, ...]
    most_lenient: tuple[str, ...]
    spread: float | None
    concordance: float | None
    pairs: tuple[dict[str, Any], ...]
    kept: float | None
    ranking: str


def compare_judges(wide: Mapping[str, Sequence[float]], *, level: float) -> Judges:
    """Compare judges by their scores of the same items, in one order.

    Examples
    --------
    >>> found = compare_judges({"a": [1, 2, 3], "b": [2, 4, 3]}, level=0.95)
    >>> found.spread, found.strictest, found.pairs[0]["flipped"], found.ranking
    (1.0, ('a',), 1, 'not kept')
    """
    items = len(next(iter(wide.values())))
    means = {
        name: rounded(math.fsum(values) / items) if items else None for name, values in wide.items()
    }
    known = {name: mean for name, mean in means.items() if mean is not None}
    lowest, highest = (end(known.values(), default=None) for end in (min, max))
    pairs, opposite, told = [], 0, 0
    for first, second in combinations(wide, 2):
        rank = ends_of(spearman(wide[first], wide[second], level=level))
        turned, apart = flipped(wide[first], wide[second])
        opposite, told = opposite + turned, told + apart
        gap = [a - b for a, b in zip(wide[first], wide[second], strict=True)]
        pairs.append(
            {
                "first": first,
                "second": second,
                "difference": rounded(math.fsum(gap) / items) if items else None,
                "spearman": rank[0],
                "low": rank[1],
                "high": rank[2],
                "flipped": turned,
                "told": apart,
            }
        )
    agreed = concordance(list(wide.values()))
    kept = 1 - opposite / told if told else None
    word = "unknown"
    if kept is not None:
        word = "kept" if not opposite else "largely kept" if kept >= LARGELY else "not kept"
    return Judges(
        names=tuple(wide),
        items=items,
        means=means,
        strictest=tuple(name for name, mean in known.items() if mean == lowest),
        most_lenient=tuple(name for name, mean in known.items() if mean == highest),
        spread=None if lowest is None or highest is None else rounded(highest - lowest),
        concordance=None if agreed is None else rounded(agreed),
        pairs=tuple(pairs),
        kept=None if kept is None else rounded(kept),
        ranking=word,
    )


def ends_of(found: Correlation) -> tuple[float | None, float | None, float | None]:
    """Give a coefficient and the ends of its interval, without the digits that the order of sums leaves."""
    value, low, high = (
        None if number is None else rounded(number)
        for number in (found.value, found.low, found.high)
    )
    return value, low, high
