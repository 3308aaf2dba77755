"""Numbers as they are printed: rounded half up, from the digits that a person reads in the data."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

# The largest float has 309 digits before the point; two more follow it.
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def half_up(value: float, decimals: int = 2) -> Decimal:
    """Round a number half up from its shortest decimal form; zero has no sign.

    The shortest form is what a person reads in the data: 2.675 becomes 2.68, although the nearest binary number lies
    just below it.

    Raises
    ------
    ValueError
        For NaN and infinities: whoever computed them owes a null.

    Examples
    --------
    >>> half_up(2.675), half_up(-0.001)
    (Decimal('2.68'), Decimal('0.00'))
    """
    number = float(value)  # also drops the longer repr of a NumPy scalar
    if not math.isfinite(number):
        message = f"cannot format {number}: an undefined number must be None"
        raise ValueError(message)
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-decimals), context=_EXACT)
    return rounded or abs(rounded)
