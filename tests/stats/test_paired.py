"""Tests of pairs against SciPy and statsmodels; pass@k and pass^k against every way to choose the trials."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest  # noqa: TID253
from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]

from skillshift_frames.stats.paired import pass_at_k, pass_hat_k, sign_test, smallest_p

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


@pytest.mark.parametrize("trials", range(1, 8))
def test_pass_at_k_counts_the_choices_of_k_trials(trials: int) -> None:
    for successes in range(trials + 1):
        outcomes = [True] * successes + [False] * (trials - successes)
        for k in range(1, trials + 1):
            chosen = list(combinations(outcomes, k))
            any_of, all_of = (sum(map(f, chosen)) / len(chosen) for f in (any, all))
            assert pass_at_k(successes, trials, k) == pytest.approx(any_of, abs=1e-15)
            assert pass_hat_k(successes, trials, k) == pytest.approx(all_of, abs=1e-15)


@given(trials=st.integers(1, 2_000), share=st.floats(0, 1), k=st.integers(1, 40))
def test_pass_is_a_probability_or_nothing(trials: int, share: float, k: int) -> None:
    successes = round(share * trials)
    found = (pass_hat_k(successes, trials, k), pass_at_k(successes, trials, k))
    if k > trials:
        assert found == (None, None)
    else:
        all_of, any_of = found
        assert all_of is not None
        assert any_of is not None
        assert 0 <= all_of <= any_of <= 1
