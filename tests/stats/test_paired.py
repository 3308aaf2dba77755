"""Tests of pairs against SciPy and statsmodels; pass@k and pass^k against every way to choose the trials."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest  # noqa: TID253
from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]

from skillshift_frames.stats.paired import sign_test, smallest_p

counts = st.integers(0, 60)


@given(wins=counts, losses=counts)
def test_sign_test_is_scipys(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, abs=1e-12)


@given(both=counts, gained=counts, lost=counts, neither=counts)
def test_sign_test_on_outcomes_is_exact_mcnemar(
    both: int, gained: int, lost: int, neither: int
) -> None:
    if gained + lost:
        expected = mcnemar([[both, lost], [gained, neither]], exact=True).pvalue
        assert sign_test(gained, lost) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("wins", "losses"), [(950, 1_050), (1_000, 1_000), (900, 1_101), (5_000, 5_300), (0, 2_001)]
)
def test_large_counts_are_exact_too(wins: int, losses: int) -> None:
    """Above 2,000 the tail comes from SciPy, and meets what lies below without a step."""
    expected = binomtest(wins, wins + losses).pvalue
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(wins=counts, losses=counts)
def test_sides_may_be_swapped_and_p_is_a_probability(wins: int, losses: int) -> None:
    p = sign_test(wins, losses)
    assert p == sign_test(losses, wins)
    assert 0 < p <= 1
    assert p >= smallest_p(wins + losses)


def test_fewer_than_six_can_never_be_significant() -> None:
    for discordant in range(6):
        outcomes = [sign_test(wins, discordant - wins) for wins in range(discordant + 1)]
        assert min(outcomes) == smallest_p(discordant) > 0.05
    assert smallest_p(6) == pytest.approx(binomtest(6, 6).pvalue)
    assert smallest_p(6) < 0.05
