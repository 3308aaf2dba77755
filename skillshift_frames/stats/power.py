"""How many pairs a lift needs, and which lift so many pairs can show."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def independent_discordance(baseline: float, lift: float) -> float:
    """Give the share of pairs that differ if both sides succeed independently: the most that a plan must allow for.

    Examples
    --------
    >>> round(independent_discordance(0.4, 0.1), 3)
    0.5
    """
    treated = baseline + lift
    # Never below the lift itself, which rounding could make of a side that always or never succeeds.
    return max(abs(lift), baseline * (1 - treated) + treated * (1 - baseline))


def pairs_needed(
    lift: float, discordance: float, *, level: float = 0.95, power: float = 0.8
) -> int:
    """Give the number of pairs at which McNemar's test finds a lift with the wanted power.

    Parameters
    ----------
    lift
        Difference of the two success rates, as a share (0.05 for five points); its sign does not matter.
    discordance
        Share of pairs in which exactly one side succeeds; at least ``|lift|``.
    level, power
        1 − the two-sided error of the first kind, and 1 − that of the second.

    Raises
    ------
    ValueError
        No lift, or a discordance outside [|lift|, 1].

    Notes
    -----
    (z₁ √ψ + z₂ √(ψ − δ²))² / δ², rounded up, with ψ the discordance and δ the lift.

    References
    ----------
    Miettinen, O. S. (1968), The matched pairs design in the case of all-or-none responses, Biometrics 24, 339-352;
    Connor, R. J. (1987), Sample size for testing differences in proportions for the paired-sample design,
    Biometrics 43, 207-211.

    Examples
    --------
    >>> pairs_needed(0.1, 0.3)
    234
    """
    size = abs(lift)
    if not 0 < size <= discordance <= 1:
        msg = f"a lift of {lift} needs a discordance between {size} and 1, not {discordance}, and must not be 0"
        raise ValueError(msg)
    normal = NormalDist()
    first, second = normal.inv_cdf((1 + level) / 2), normal.inv_cdf(power)
    spread = first * math.sqrt(discordance) + second * math.sqrt(discordance - size * size)
    # A hair less: what is a whole number on paper must not become the next one by rounding.
    return math.ceil((spread / size) ** 2 - 1e-9)


def lift_findable(
    pairs: int,
    discordance: Callable[[float], float],
    least: float,
    most: float,
    *,
    level: float = 0.95,
    power: float = 0.8,
) -> float | None:
    """Give the smallest lift that so many pairs find with the wanted power: `pairs_needed` the other way round.

    Parameters
    ----------
    pairs
        How many there are.
    discordance
        Share of pairs that differ at a lift; at least that lift.
    least, most
        Between which shares the lift can be; 0 or more.
    level, power
        As for `pairs_needed`.

    Returns
    -------
    float or None
        As a share; None where not even ``most`` would be found.

    Examples
    --------
    >>> round(lift_findable(234, lambda lift: 0.3, 0, 0.3), 3)
    0.1
    """

    def enough(lift: float) -> bool:
        needed = pairs_needed(lift, discordance(lift), level=level, power=power) if lift else None
        return needed is not None and needed <= pairs

    if most <= 0 or not enough(most):
        return None
    if enough(least):
        return least
    low, high = least, most
    for _ in range(60):  # halvings: beyond a double's digits
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
