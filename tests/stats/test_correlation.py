"""Coefficients against SciPy, intervals against SciPy, simulation and hand."""

from __future__ import annotations

import math

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, strategies as st
from scipy import stats  # noqa: TID253

from skillshift_frames.stats.clusters import clustered_mean
from skillshift_frames.stats.correlation import concordance, flipped, pearson, ranks, spearman

_number = st.one_of(st.integers(0, 5).map(float), st.floats(-1e3, 1e3, allow_subnormal=False))
_pairs = st.lists(st.tuples(_number, _number), min_size=2, max_size=40)


@given(st.lists(_number, max_size=30))
def test_ranks_are_scipys(values: list[float]) -> None:
    assert ranks(values) == stats.rankdata(values).tolist()


@given(_pairs)
def test_coefficients_are_scipys(pairs: list[tuple[float, float]]) -> None:
    x, y = map(list, zip(*pairs, strict=True))
    ours = spearman(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert (ours.value, ours.reason) == (None, "a side is constant")
        return
    assert ours.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    line = pearson(x, y)
    if line.value is not None and min(np.ptp(x), np.ptp(y)) > 1e-6:
        assert line.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-7)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_pearsons_interval_is_scipys(level: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=25)
    y = 0.5 * x + rng.normal(size=25)
    theirs = stats.pearsonr(x, y).confidence_interval(level)
    ours = pearson(x.tolist(), y.tolist(), level=level)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_spearmans_interval_is_the_formula_by_hand() -> None:
    x = [1.0, 2, 3, 4, 5, 6, 7]
    y = [2.0, 1, 4, 3, 7, 5, 6]
    rho = 1 - 6 * (1 + 1 + 1 + 1 + 4 + 1 + 1) / (7 * 48)
    half = stats.norm.ppf(0.975) * math.sqrt((1 + rho**2 / 2) / 4)
    ours = spearman(x, y)
    assert ours.value == pytest.approx(rho, abs=1e-12)
    assert ours.low == pytest.approx(math.tanh(math.atanh(rho) - half), abs=1e-12)
    assert ours.high == pytest.approx(math.tanh(math.atanh(rho) + half), abs=1e-12)


@pytest.mark.parametrize("truth", [0.0, 0.6])
def test_intervals_cover_as_often_as_they_say(truth: float) -> None:
    """Normal pairs: the true ρ is 6/π · asin(r/2)."""
    rng = np.random.default_rng(1)
    rank = 6 / math.pi * math.asin(truth / 2)
    hits = np.zeros(2)
    runs = 600
    for _ in range(runs):
        x = rng.normal(size=40)
        y = truth * x + math.sqrt(1 - truth**2) * rng.normal(size=40)
        for place, (found, true) in enumerate(
            ((pearson(x.tolist(), y.tolist()), truth), (spearman(x.tolist(), y.tolist()), rank))
        ):
            assert found.low is not None
            assert found.high is not None
            hits[place] += found.low <= true <= found.high
    assert hits / runs == pytest.approx([0.95, 0.95], abs=0.03)


@given(_pairs)
def test_order_of_pairs_does_not_matter(pairs: list[tuple[float, float]]) -> None:
    shuffled = sorted(pairs)
    for function in (pearson, spearman):
        one, other = (function(*map(list, zip(*p, strict=True))) for p in (pairs, shuffled))
        assert one.n == other.n
        if one.value is None or other.value is None:
            assert one.value is other.value
        else:
            assert one.value == pytest.approx(other.value, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "y", "value", "reason"),
    [
        ([], [], None, "fewer than two pairs"),
        ([1], [1], None, "fewer than two pairs"),
        ([1, 1], [1, 2], None, "a side is constant"),
        ([0.3, 0.1 + 0.2, 0.3], [1, 2, 3], None, "a side is constant"),
        ([1, 2], [3, 4], 1.0, "fewer than four pairs"),
        ([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], -1.0, "no spread: the pairs agree perfectly"),
        ([0, 0, 0], [0, 0, 0], None, "a side is constant"),
        (
            [1e200, 2e200, 4e200, 3e200],
            [1e-200, 2e-200, 4e-200, 3e-200],
            1.0,
            "no spread: the pairs agree perfectly",
        ),
    ],
)
def test_edges(x: list[float], y: list[float], value: float | None, reason: str) -> None:
    found = pearson(x, y)
    assert (found.value, found.low, found.high, found.reason) == (value, None, None, reason)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 numbers cannot be paired with 1"):
        pearson([1, 2], [1])


def test_concordance_without_ties_is_friedmans() -> None:
    """W = χ² / (m (n − 1)), SciPy's Friedman test; ties are corrected in both."""
    rng = np.random.default_rng(2)
    for scores in (rng.random((4, 9)), rng.integers(0, 4, (3, 8)).astype(float)):
        chi = stats.friedmanchisquare(*scores.T).statistic
        expected = chi / (len(scores) * (scores.shape[1] - 1))
        assert concordance(scores.tolist()) == pytest.approx(expected, abs=1e-12)


def test_concordance_of_nothing_is_undefined() -> None:
    assert concordance([]) is concordance([[1, 2]]) is concordance([[1], [2]]) is None


@given(_pairs)
def test_flips_are_kendalls_discordant_pairs(pairs: list[tuple[float, float]]) -> None:
    x, y = map(list, zip(*pairs, strict=True))
    opposite, told = flipped(x, y)
    tau = 0.0
    if len(set(x)) > 1 and len(set(y)) > 1:
        n = len(x) * (len(x) - 1) / 2
        ties = [sum(c * (c - 1) / 2 for c in np.unique(v, return_counts=True)[1]) for v in (x, y)]
        tau = stats.kendalltau(x, y).statistic * math.sqrt((n - ties[0]) * (n - ties[1]))
    assert told - 2 * opposite == pytest.approx(tau, abs=1e-6)


def test_clustered_mean_of_nothing_and_of_one() -> None:
    assert all(map(math.isnan, clustered_mean([], [])))
    mean, low, high = clustered_mean([3.0], [2])
    assert mean == 1.5
    assert math.isnan(low)
    assert math.isnan(high)
