"""Which printed means counts can give: against enumeration, which is slow and cannot be wrong."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, strategies as st

from skillshift_frames.stats.feasible import (
    LARGEST_TOTAL,
    attainable_ratio_mean,
    counts,
    decidable_total,
    decides,
    fits_margins,
    fitting_sizes,
)
from skillshift_frames.stats.paired import extreme_pairings, sign_test

HALF = Fraction("0.005")

cents = st.integers(0, 10_000).map(lambda n: Fraction(n, 100))


@given(cents, st.sampled_from([HALF, Fraction("0.05"), Fraction("0.01")]), st.integers(1, 300))
def test_counts_are_those_that_enumeration_finds(
    value: Fraction, slack: Fraction, size: int
) -> None:
    wanted = [t for t in range(size + 1) if abs(value - Fraction(100 * t, size)) <= slack]
    assert list(counts(value, slack, size=size, scale=100, largest=size)) == wanted


def test_a_bound_that_is_met_exactly_counts() -> None:
    # 1 of 8 is 12.5, which prints as 13 or, half to even, as 12.
    half = Fraction(1, 2)
    assert list(counts(Fraction(13), half, size=8, scale=100)) == [1]
    assert list(counts(Fraction(12), half, size=8, scale=100)) == [1]


def test_counts_have_no_upper_end_unless_told() -> None:
    assert list(counts(Fraction(3), Fraction(0), size=2)) == [6]
    assert list(counts(Fraction(3), Fraction(0), size=2, largest=2)) == []
    assert list(counts(Fraction(-1), HALF, size=2)) == []


@given(st.integers(1, 20_000))
def test_where_precision_decides_nothing_every_value_is_possible(size: int) -> None:
    values = [Fraction(n, 100) for n in range(0, 10_001, 97)]
    impossible = [v for v in values if not counts(v, HALF, size=size, scale=100)]
    if not decides(HALF, size=size, scale=100):
        assert impossible == []


def test_precision_decides_up_to_the_size_at_which_steps_are_as_wide_as_the_slack() -> None:
    assert decides(HALF, size=9_999, scale=100)
    assert not decides(HALF, size=10_000, scale=100)


def test_printed_22_4_percent_is_impossible_for_124_and_fits_125() -> None:
    printed, half = Fraction("22.4"), Fraction("0.05")
    assert fitting_sizes(printed, half, [124, 125], scale=100) == [125]
    assert list(counts(printed, half, size=125, scale=100)) == [28]


def enumerated(total: int, cells: int) -> set[Fraction]:
    """Every mean of ratios over some of the cells whose denominators add up to the total."""
    found = set()
    for used in range(1, cells + 1):
        for denominators in product(range(1, total + 1), repeat=used):
            if sum(denominators) == total:
                for tops in product(*(range(k + 1) for k in denominators)):
                    ratios = map(Fraction, tops, denominators)
                    found.add(100 * sum(ratios, Fraction()) / used)
    return found


@pytest.mark.parametrize(("total", "cells"), [(1, 3), (2, 2), (4, 3), (5, 2), (6, 3), (7, 1)])
def test_means_of_ratios_are_those_that_enumeration_finds(total: int, cells: int) -> None:
    means = enumerated(total, cells)
    for hundredths in range(0, 10_001, 7):
        value = Fraction(hundredths, 100)
        possible = any(abs(value - mean) <= HALF for mean in means)
        found = attainable_ratio_mean(
            value, HALF, totals=range(total, total + 1), cells=cells, scale=100
        )
        assert found == possible, value


def test_a_mean_of_ratios_fits_if_one_of_the_totals_gives_it() -> None:
    third = Fraction("33.33")
    assert not attainable_ratio_mean(third, HALF, totals=range(1, 3), cells=1)
    assert attainable_ratio_mean(third, HALF, totals=range(1, 4), cells=1)
    assert not attainable_ratio_mean(third, HALF, totals=range(0), cells=1)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
def test_margins_fit_exactly_where_some_cells_have_them(shape: tuple[int, int]) -> None:
    """Against all tables of cells from 0 to 2, in whole numbers: such margins have a table of whole numbers if any."""
    height, width = shape
    tables = product(range(3), repeat=height * width)
    possible = {
        (
            tuple(sum(cells[row * width : (row + 1) * width]) for row in range(height)),
            tuple(sum(cells[column::width]) for column in range(width)),
        )
        for cells in tables
    }
    for rows in product(range(2 * width + 1), repeat=height):
        for columns in product(range(2 * height + 1), repeat=width):
            if sum(rows) == sum(columns):
                fits = fits_margins(
                    list(map(Fraction, rows)),
                    list(map(Fraction, columns)),
                    largest=Fraction(2),
                    slack=Fraction(0),
                )
                assert fits is ((rows, columns) in possible), (rows, columns)


def test_many_calls_are_left_alone_unless_there_is_one_cell() -> None:
    assert decidable_total(range(1, LARGEST_TOTAL + 1), cells=6)
    assert not decidable_total(range(1, LARGEST_TOTAL + 2), cells=6)
    assert decidable_total(range(1, 500), cells=1)
    assert not decidable_total(range(5, 5), cells=1)


@pytest.mark.parametrize("n", [1, 4, 7])
def test_extreme_pairings_are_those_of_all_pairings(n: int) -> None:
    for first, second in product(range(n + 1), repeat=2):
        # Both succeed on `both` pairs; the rest follows.
        least, most = max(0, first + second - n), min(first, second)
        pairings = [(second - both, first - both) for both in range(least, most + 1)]
        fewest, widest = extreme_pairings(first, second, n)
        assert fewest == min(pairings, key=sum)
        assert widest == max(pairings, key=sum)
        # And so are the ends of p, which is what they are for.
        p = [sign_test(*pairing) for pairing in pairings]
        assert sign_test(*fewest) == min(p)
        assert sign_test(*widest) == max(p)
