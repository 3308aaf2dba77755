"""The one formatter: every output shows a number with the same digits."""

from __future__ import annotations

from skillshift_frames.stats.rounding import half_up

#: Below the first a product is exact to far less than the second.
_EXACT_ENOUGH, _NEAR = 1e9, 1e-6


def format_number(value: float | None, *, undefined: str = "–", decimals: int = 2) -> str:
    """Show a number with two decimals (or as many as are wanted), rounded half up from its shortest decimal form.

    The shortest form is what a person reads in the data: 2.675 becomes 2.68, although the nearest
    binary number lies just below it.

    Parameters
    ----------
    value
        The number; ``None`` is undefined.
    undefined
        What stands for ``None``.
    decimals
        Digits behind the point.

    Returns
    -------
    str
        The digits; zero has no sign.

    Raises
    ------
    ValueError
        For NaN and infinities: whoever computed them owes a null.

    Examples
    --------
    >>> format_number(2.675), format_number(-0.001), format_number(None)
    ('2.68', '0.00', '–')
    """
    if value is None:
        return undefined
    # Digits and binary number round apart only where a lone 5 follows the last decimal kept: next to a whole number of
    # the decimal after it. Everywhere else Python's way, a tenth of the cost, gives the same digits.
    finer = value * 10 ** (decimals + 1)
    if 0 < finer < _EXACT_ENOUGH and _NEAR < finer % 1 < 1 - _NEAR:
        return f"{value:.{decimals}f}"
    return f"{half_up(value, decimals):f}"


def format_signed(value: float | None, *, undefined: str = "–", decimals: int = 2) -> str:
    """Show a difference as `format_number` shows a number, with its sign; 0 has none.

    Parameters
    ----------
    value, undefined, decimals
        As for `format_number`.

    Returns
    -------
    str
        Sign and digits.

    Examples
    --------
    >>> format_signed(4.275), format_signed(-0.5), format_signed(0.001), format_signed(None)
    ('+4.28', '-0.50', '0.00', '–')
    """
    text = format_number(value, undefined=undefined, decimals=decimals)
    return f"+{text}" if value is not None and value > 0 and float(text) else text


def format_count(n: int) -> str:
    """Show a count with commas between thousands.

    Parameters
    ----------
    n
        The count.

    Returns
    -------
    str
        Its digits.

    Examples
    --------
    >>> format_count(355), format_count(2130)
    ('355', '2,130')
    """
    return f"{n:,}"
