"""Printed slots against each other: ranges, the identity as far as rounding lets it hold, calls too few for an SFR.

Everything is computed in fractions of the digits that were printed, so that a bound is met or not, and never nearly.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.findings import Finding
from skillshift_frames.schema import METRICS, STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from decimal import Decimal

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.readers.entries import Entry

#: Metric → what its values may be, as said and as tested.
_RANGES: dict[str, tuple[str, Callable[[Decimal], bool]]] = {
    "SR": ("from 0 to 100", lambda number: 0 <= number <= 100),  # noqa: PLR2004 - percent
    "AS": ("above 0", lambda number: number > 0),
    "ASC": ("0 or more", lambda number: number >= 0),
    "SFR": ("from 0 to 100", lambda number: 0 <= number <= 100),  # noqa: PLR2004
}

#: A number with more digits was not rounded, and is exact to so much of itself.
_MOST_DIGITS = 9
_UNROUNDED = Fraction(1, 10**_MOST_DIGITS)

#: Up to so many times what rounding allows, the leaderboard looks away: 0.02 where two decimals allow 0.01.
_TOLERATED = 2

_FEWEST_DECIMALS = 4


class _Mean(NamedTuple):
    """One of the three numbers that are one number before rounding, and how far rounding may have moved it."""

    slot: str
    said: str
    value: Fraction
    slack: Fraction


def half_unit(number: Decimal) -> Fraction:
    """Give half a unit of a printed number's last digit: as far as rounding can have moved it.

    Examples
    --------
    >>> from decimal import Decimal
    >>> half_unit(Decimal("16.90")), half_unit(Decimal("17"))
    (Fraction(1, 200), Fraction(1, 2))
    """
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        msg = f"{number} has no last digit"
        raise TypeError(msg)
    half = _half_of_digit(exponent)
    if len(digits) <= _MOST_DIGITS:
        return half
    # So many digits are no claim of precision: the number was not rounded at all.
    return max(half, abs(Fraction(number)) * _UNROUNDED)


@cache  # by the digit's place: 16.9 and 16.90 are equal, and not equally precise
def _half_of_digit(exponent: int) -> Fraction:
    return Fraction(10) ** exponent / 2


def mean_of(numbers: Sequence[Decimal], weights: Sequence[int] | None = None) -> Fraction:
    """Give the mean of printed numbers, unweighted unless weights are given."""
    return _mean(list(map(Fraction, numbers)), weights)


def mean_half(numbers: Sequence[Decimal], weights: Sequence[int] | None = None) -> Fraction:
    """Tell how far rounding can have moved the mean of printed numbers."""
    return _mean(list(map(half_unit, numbers)), weights)


def _mean(values: Sequence[Fraction], weights: Sequence[int] | None) -> Fraction:
    weights = [1] * len(values) if weights is None else weights
    terms = (value * weight for value, weight in zip(values, weights, strict=True))
    return sum(terms, Fraction()) / sum(weights)


def known(entry: Entry, metric: str, slots: Iterable[str]) -> list[Decimal] | None:
    """Give the printed numbers of some slots, None where one is null or was not printed."""
    numbers = [entry.printed.get((metric, slot)) for slot in slots]
    given = [number for number in numbers if number is not None]
    return given if len(given) == len(numbers) else None


def in_range(metric: str, number: Decimal) -> bool:
    """Tell whether a metric can have a value at all."""
    return _RANGES[metric][1](number)


def range_findings(entry: Entry) -> list[Finding]:
    """Find printed numbers that the metric cannot have: SR and SFR outside 0 to 100, AS not above 0, ASC below 0.

    Examples
    --------
    >>> from decimal import Decimal
    >>> from skillshift_frames.readers.entries import Entry
    >>> entry = Entry("a.json", "asi", "m", {("SR", "src"): Decimal("170.71")}, {})
    >>> [(f.code, f.slot, f.printed, f.bound) for f in range_findings(entry)]
    [('range', 'src', '170.71', 'from 0 to 100')]
    """
    found = []
    for (metric, slot), number in entry.printed.items():
        bound, _ = _RANGES[metric]
        if number is not None and not in_range(metric, number):
            message = f"{number:f} is out of range: {metric} is {bound}"
            hint = "look for a mistyped digit; null, with a reason, where it was not measured"
            found.append(
                Finding(entry.name, "range", message, hint, metric, slot, f"{number:f}", bound)
            )
    return found


def identity_findings(entry: Entry, benchmark: Benchmark) -> list[Finding]:
    """Find metrics whose sites' mean, conditions' mean and overall cannot all be means of the same cells.

    A printed number may be off by half a unit of its last digit, a mean of printed numbers by the mean of these: with two
    decimals two of the three differ by 0.01 at most (the bound is included). Up to twice that it is a warning
    (``identity-rounding``), beyond it an error (``identity``). A mean with a slot that is null or was not printed is not
    tested.

    Examples
    --------
    >>> from decimal import Decimal
    >>> from skillshift_frames import Benchmark
    >>> from skillshift_frames.readers.entries import Entry
    >>> shop = Benchmark("shop", sites={"cart": 2, "search": 2}, conditions=("plain",))
    >>> numbers = {"cart": "50.00", "search": "0.00", "plain": "25.01", "overall": "52.00"}
    >>> printed = {("SR", slot): Decimal(number) for slot, number in numbers.items()}
    >>> found = identity_findings(Entry("a.json", "asi", "m", printed, shop.sites), shop)
    >>> [(f.code, f.slot) for f in found]
    [('identity', 'overall'), ('identity', 'overall')]
    >>> found[0].message
    'mean of the sites is 25.0000, overall is 52.00: they differ by 27.0000, where rounding allows 0.01'
    """
    found = []
    for metric in METRICS:
        failing = _failing(entry, benchmark, metric)
        odd = _odd_one_out(failing)
        found += [_disagreement(entry, metric, one, other, odd) for one, other in failing]
    return found


def agree(entry: Entry, benchmark: Benchmark, metric: str) -> bool:
    """Tell whether `identity_findings` finds nothing in a metric."""
    return not _failing(entry, benchmark, metric)


def _failing(entry: Entry, benchmark: Benchmark, metric: str) -> list[tuple[_Mean, _Mean]]:
    sites = _mean_of(entry, metric, "sites", tuple(benchmark.sites))
    conditions = _mean_of(entry, metric, "conditions", benchmark.conditions)
    overall = _overall(entry, metric)
    return [
        (one, other)
        for one, other in ((sites, overall), (conditions, overall), (sites, conditions))
        if one is not None and other is not None and _excess(one, other)
    ]


def unstable_findings(entry: Entry) -> list[Finding]:
    """Find an SFR that rests on fewer than 30 skill calls, or on nobody knows how many.

    Examples
    --------
    >>> from decimal import Decimal
    >>> from skillshift_frames.readers.entries import Entry
    >>> printed = {("SFR", "src"): Decimal("12.50")}
    >>> [f.message for f in unstable_findings(Entry("a", "asi", "m", printed, {}, skill_calls=8))]
    ['rests on 8 skill calls, fewer than 30']
    """
    numbers = [number for (metric, _), number in entry.printed.items() if metric == "SFR"]
    calls = entry.skill_calls
    if all(number is None for number in numbers) or (calls is not None and calls >= STABLE_CALLS):
        return []
    if calls is None:
        message = f"is printed, and nothing says whether it rests on {STABLE_CALLS} skill calls"
        hint = "state n.skill_calls"
    else:
        message = (
            f"rests on {calls} skill {'call' if calls == 1 else 'calls'}, fewer than {STABLE_CALLS}"
        )
        hint = "one call more or less moves it by points; do not lean on it"
    printed = None if calls is None else str(calls)
    return [
        Finding(
            entry.name,
            "sfr-unstable",
            message,
            hint,
            metric="SFR",
            printed=printed,
            bound=str(STABLE_CALLS),
        )
    ]


def _mean_of(entry: Entry, metric: str, slot: str, names: tuple[str, ...]) -> _Mean | None:
    numbers = known(entry, metric, names)
    if numbers is None:
        return None
    return _Mean(slot, f"mean of the {slot}", mean_of(numbers), mean_half(numbers))


def _overall(entry: Entry, metric: str) -> _Mean | None:
    number = entry.printed.get((metric, "overall"))
    if number is None:
        return None
    return _Mean("overall", "overall", Fraction(number), half_unit(number))


def _excess(one: _Mean, other: _Mean) -> bool:
    return abs(one.value - other.value) > one.slack + other.slack


def _odd_one_out(failing: list[tuple[_Mean, _Mean]]) -> _Mean | None:
    """Give the one that disagrees with the two others, where these agree: the mistyped digit is in it."""
    if len(failing) != 2:  # noqa: PLR2004 - of three pairs, so that the third agrees
        return None
    first, second = failing
    return first[0] if first[0] in second else first[1]


def _disagreement(
    entry: Entry, metric: str, one: _Mean, other: _Mean, odd: _Mean | None
) -> Finding:
    bound = one.slack + other.slack
    difference = abs(one.value - other.value)
    beyond = difference > _TOLERATED * bound
    limit = _TOLERATED * bound if beyond else bound
    # As many digits as it takes to see that the limit is passed.
    decimals = next(n for n in count(_FEWEST_DECIMALS) if _rounded(difference, n) > limit)
    numbers = [
        f"{mean.said} is "
        + (
            f"{entry.printed[metric, 'overall']:f}"
            if mean.slot == "overall"
            else _shown(mean.value, decimals)
        )
        for mean in (one, other)
    ]
    allowed = _plain(bound)
    message = (
        f"{', '.join(numbers)}: they differ by {_shown(difference, decimals)}, "
        f"where rounding allows {allowed}"
    )
    if not beyond:
        message += f" (the leaderboard lets {_plain(_TOLERATED * bound)} pass)"
    slot = (odd or other).slot
    return Finding(
        entry.name,
        "identity" if beyond else "identity-rounding",
        message,
        _what_to_do(odd),
        metric=metric,
        slot=slot,
        printed=f"{entry.printed[metric, 'overall']:f}" if slot == "overall" else None,
        bound=allowed,
    )


def _what_to_do(odd: _Mean | None) -> str:
    if odd is None:
        return "all are means of the same cells; look for a mistyped digit, or recompute them unrounded"
    if odd.slot == "overall":
        return "sites and conditions agree; look at overall"
    others = "conditions" if odd.slot == "sites" else "sites"
    return f"{others} and overall agree; look for a mistyped digit in one of the {odd.slot}"


def _rounded(value: Fraction, decimals: int) -> Fraction:
    return Fraction(round(value * 10**decimals), 10**decimals)


def _shown(value: Fraction, decimals: int) -> str:
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(round(value * 10**decimals)), 10**decimals)
    return f"{sign}{whole}.{rest:0{decimals}}"


def _plain(value: Fraction) -> str:
    """Give a bound without the zeros behind it; bounds are means of halves, and few of them never end."""
    digits = _shown(value, 2)
    while Fraction(digits) != value and len(digits) < len("0.000000"):
        digits = _shown(value, len(digits.partition(".")[2]) + 1)
    return digits
