"""Intervals of one proportion, against statsmodels and SciPy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize  # noqa: TID253
from scipy.stats import binomtest, norm  # noqa: TID253
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from skillshift_frames.stats.intervals import all_alike, exact_binomial, normal_quantile, wilson

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
SIZES = (1, 2, 3, 5, 10, 30, 79, 114, 162, 355, 2130, 100_000)

#: Every count for small n; the ends and what lies between for large ones.
COUNTS = [
    (k, n)
    for n in SIZES
    for k in (range(n + 1) if n <= 10 else (0, 1, 2, n // 7, n // 2, n - 2, n - 1, n))
]


@pytest.mark.parametrize("level", LEVELS)
def test_normal_quantile_is_that_of_scipy(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(norm.ppf((1 + level) / 2), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_wilson_is_that_of_statsmodels_and_scipy(level: float) -> None:
    for k, n in COUNTS:
        found = wilson(k, n, level=level)
        assert found == pytest.approx(proportion_confint(k, n, 1 - level, "wilson"), abs=1e-12)
        scipys = binomtest(k, n).proportion_ci(level, method="wilson")
        assert found == pytest.approx((scipys.low, scipys.high), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_exact_is_that_of_statsmodels_and_scipy(level: float) -> None:
    for k, n in COUNTS:
        found = exact_binomial(k, n, level=level)
        assert found == pytest.approx(proportion_confint(k, n, 1 - level, "beta"), abs=1e-12)
        if n > 200:
            continue  # SciPy looks for a root, and the larger n the longer
        scipys = binomtest(k, n).proportion_ci(level, method="exact")
        assert found == pytest.approx((scipys.low, scipys.high), abs=1e-12)


@pytest.mark.parametrize("interval", [wilson, exact_binomial])
def test_nothing_tried_gives_no_interval(interval: object) -> None:
    assert interval(0, 0) is None  # type: ignore[operator]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_ends_without_a_success_and_without_a_failure(n: int, level: float) -> None:
    tail = ((1 - level) / 2) ** (1 / n)
    assert exact_binomial(0, n, level=level) == pytest.approx((0.0, 1 - tail), abs=1e-12)
    assert exact_binomial(n, n, level=level) == pytest.approx((tail, 1.0), abs=1e-12)
    for interval in (wilson, exact_binomial):
        none, all_ = interval(0, n, level=level), interval(n, n, level=level)
        assert none is not None
        assert all_ is not None
        assert (none[0], all_[1]) == (0.0, 1.0)  # not nearly so
        assert none[1] > 0
        assert all_[0] < 1


def test_none_of_five_hundred_is_not_known_to_be_zero() -> None:
    for interval in (wilson, exact_binomial):
        found = interval(0, 500)
        assert found is not None
        assert 0.005 < found[1] < 0.01


@pytest.mark.parametrize("interval", [wilson, exact_binomial])
@given(n=st.integers(1, 3000), level=st.floats(0.01, 0.999))
def test_one_more_success_moves_both_ends_up(interval: object, n: int, level: float) -> None:
    counts = sorted({*range(min(n, 20) + 1), n // 2, n - 1, n})
    ends = [interval(k, n, level=level) for k in counts]  # type: ignore[operator]
    for (low, high), (next_low, next_high) in pairwise(ends):
        assert low < next_low
        assert high < next_high
    assert all(
        0 <= low <= k / n <= high <= 1 and low < high
        for k, (low, high) in zip(counts, ends, strict=True)
    )


@pytest.mark.parametrize("interval", [wilson, exact_binomial])
def test_successes_and_failures_mirror_each_other(interval: object) -> None:
    for k, n in COUNTS:
        low, high = interval(k, n)  # type: ignore[operator]
        assert interval(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)  # type: ignore[operator]


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("n", [7, 60])
def test_exact_covers_at_least_its_level(rate: float, n: int) -> None:
    covered = 0.0
    for k in range(n + 1):
        found = exact_binomial(k, n)
        assert found is not None
        if found[0] <= rate <= found[1]:
            covered += math.comb(n, k) * rate**k * (1 - rate) ** (n - k)
    assert covered >= 0.95


@pytest.mark.parametrize("families", [2, 5, 50, 355])
def test_families_that_agree_are_bounded_as_one_trial_each(families: int) -> None:
    exact = binomtest(0, families).proportion_ci(0.95, method="exact")
    assert all_alike([families], passed=False) == pytest.approx((0.0, exact.high), abs=1e-12)
    exact = binomtest(families, families).proportion_ci(0.95, method="exact")
    assert all_alike([families], passed=True) == pytest.approx((exact.low, 1.0), abs=1e-12)


@pytest.mark.parametrize("families", [0, 1])
def test_fewer_than_two_families_have_no_bound(families: int) -> None:
    assert all_alike([families], passed=True) is None


@pytest.mark.parametrize("passed", [False, True])
def test_equal_sites_are_bounded_like_one_with_all_families(passed: bool) -> None:  # noqa: FBT001
    assert all_alike([40, 40, 40], passed=passed) == pytest.approx(
        all_alike([120], passed=passed), abs=1e-12
    )


@pytest.mark.parametrize("families", [(162, 114, 79), (2, 1_000), (5, 7), (3, 3, 50)])
def test_unequal_sites_are_bounded_by_the_largest_mean_that_the_data_allow(
    families: tuple[int, ...],
) -> None:
    """Search the rates that let all fail with probability α/2 for the largest unweighted mean, with SciPy."""
    rarest = math.log(0.025)
    found = minimize(  # type: ignore[call-overload]
        lambda rates: -np.mean(rates),
        np.full(len(families), 0.01),
        bounds=[(0, 1 - 1e-9)] * len(families),
        constraints={
            "type": "ineq",
            "fun": lambda rates: np.dot(families, np.log1p(-rates)) - rarest,
        },
        options={"maxiter": 1_000, "ftol": 1e-14},
    )
    bound = all_alike(families, passed=False)
    assert bound is not None
    assert bound[1] == pytest.approx(-found.fun, abs=1e-6)
    # Pooling the families as if sites were one would be too short.
    pooled = all_alike([sum(families)], passed=False)
    assert pooled is not None
    assert bound[1] >= pooled[1]
