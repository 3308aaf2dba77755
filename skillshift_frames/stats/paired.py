"""Tests of pairs: who wins more often, and whether any outcome could have told."""

from __future__ import annotations

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
