from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from skillshift_frames.render.numbers import format_count, format_number


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2.675, "2.68"),  # below the half in binary; a person reads a half
        (1.005, "1.01"),
        (0.125, "0.13"),
        (0.135, "0.14"),
        (35.285, "35.29"),
        (35.2849999, "35.28"),
        (99.995, "100.00"),
        (-2.675, "-2.68"),
        (-0.001, "0.00"),
        (-0.0, "0.00"),
        (-0.005, "-0.01"),
        (0, "0.00"),
        (7, "7.00"),
        (1e-300, "0.00"),
        (1e22, "10000000000000000000000.00"),
        (1.7976931348623157e308, f"17976931348623157{'0' * 292}.00"),
    ],
)
def test_rounds_half_up_from_the_shortest_form(value: float, expected: str) -> None:
    assert format_number(value) == expected


def test_takes_a_numpy_scalar() -> None:
    import numpy as np

    assert format_number(np.float64(2.675)) == "2.68"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_agrees_with_exact_fractions(value: float) -> None:
    hundredths = math.floor(abs(Fraction(repr(value))) * 100 + Fraction(1, 2))
    sign = "-" if value < 0 and hundredths else ""
    assert format_number(value) == f"{sign}{hundredths // 100}.{hundredths % 100:02}"


@given(st.integers(0, 10**6), st.integers(1, 2000), st.integers(0, 4))
def test_quotients_agree_with_exact_fractions(above: int, below: int, decimals: int) -> None:
    # What tables are full of; floats drawn from all that there are hardly ever look like it.
    value = above / below
    units = math.floor(Fraction(repr(value)) * 10**decimals + Fraction(1, 2))
    assert Fraction(format_number(value, decimals=decimals)) * 10**decimals == units


@given(st.integers(-(10**6), 10**6))
def test_every_written_half_goes_away_from_zero(thousandths: int) -> None:
    value = (10 * thousandths + 5) / 1000
    away = thousandths + 1 if thousandths >= 0 else -thousandths
    sign = "-" if value < 0 and away else ""
    assert format_number(value) == f"{sign}{away // 100}.{away % 100:02}"


def test_undefined_is_the_dash_that_the_caller_chose() -> None:
    assert format_number(None) == "–"
    assert format_number(None, undefined="--") == "--"
    assert format_number(0.0, undefined="--") == "0.00"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_refuses_what_is_not_a_number(value: float) -> None:
    with pytest.raises(ValueError, match="must be None"):
        format_number(value)


@pytest.mark.parametrize(
    ("n", "expected"),
    [(0, "0"), (999, "999"), (1000, "1,000"), (2130, "2,130"), (-1234567, "-1,234,567")],
)
def test_counts_have_commas(n: int, expected: str) -> None:
    assert format_count(n) == expected
