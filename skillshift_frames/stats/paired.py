"""Tests of pairs: who wins more often, and whether any outcome could have told."""

from __future__ import annotations

from itertools import count

#: Up to here the binomial sum is exact integer arithmetic; above, SciPy's tail function.
_EXACT_UP_TO = 2_000


def sign_test(wins: int, losses: int) -> float:
    """Give the exact two-sided p of wins against losses, ties left out: McNemar's test where outcomes are yes or no.

    Returns
    -------
    float
        P(a fair coin is at least as uneven), at most 1; 1 where there is neither a win nor a loss.

    References
    ----------
    McNemar, Q. (1947), Note on the sampling error of the difference between correlated proportions or percentages,
    Psychometrika 12, 153-157 (here with the exact binomial in place of chi-square).

    Examples
    --------
    >>> sign_test(8, 1), sign_test(3, 3), sign_test(0, 0)
    (0.0390625, 1.0, 1.0)
    """
    n, fewer = wins + losses, min(wins, losses)
    if n > _EXACT_UP_TO:
        from scipy.special import bdtr

        return min(1.0, 2 * float(bdtr(fewer, n, 0.5)))
    tail, term = 0, 1
    for k in range(fewer + 1):
        tail += term
        term = term * (n - k) // (k + 1)
    return float(min(1.0, 2 * tail / 2**n))


def smallest_p(discordant: int) -> float:
    """Give the smallest p that so many wins and losses can have: when all of them go one way.

    Examples
    --------
    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    return sign_test(discordant, 0)


def fewest_to_tell(level: float) -> int:
    """Give how many wins without a loss it takes until p is below 1 − level.

    Examples
    --------
    >>> fewest_to_tell(0.95), fewest_to_tell(0.9)
    (6, 5)
    """
    return next(n for n in count(1) if smallest_p(n) < 1 - level)


def extreme_pairings(first: int, second: int, n: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Give the wins and losses of the second over the first, if as few of n pairs differ as can be, and if as many do.

    Only the totals of successes are known; how they fall on the pairs is not. The difference is the same in both.

    Examples
    --------
    >>> extreme_pairings(3, 5, 10)
    ((2, 0), (5, 3))
    >>> extreme_pairings(9, 8, 10)
    ((0, 1), (1, 2))
    """
    difference = second - first
    fewest = (max(difference, 0), max(-difference, 0))
    most = min(
        second, n - first
    )  # all of the second's successes where the first fails, if there is room
    return fewest, (most, most - difference)
