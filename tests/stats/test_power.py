"""How many pairs a lift needs: against simulation, and against the formula in statsmodels."""

from __future__ import annotations

import math

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2  # noqa: TID253
from statsmodels.stats.power import normal_power_het, normal_sample_size_one_tail  # type: ignore[import-untyped]

from skillshift_frames.stats.paired import sign_test
from skillshift_frames.stats.power import independent_discordance, lift_findable, pairs_needed

CASES = [(0.05, 0.2), (0.1, 0.3), (-0.1, 0.3), (0.2, 0.25), (0.03, 0.05), (0.15, 0.5)]


@pytest.mark.parametrize(("lift", "discordance"), CASES)
@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.95, 0.9), (0.99, 0.8), (0.9, 0.6)])
def test_formula_is_that_of_statsmodels(
    lift: float, discordance: float, level: float, power: float
) -> None:
    spreads = {
        "std_null": math.sqrt(discordance),
        "std_alternative": math.sqrt(discordance - lift**2),
    }
    expected = normal_sample_size_one_tail(abs(lift), power, (1 - level) / 2, **spreads)
    found = pairs_needed(lift, discordance, level=level, power=power)
    assert found == math.ceil(expected)
    # And the power of that many, with the far tail that the formula leaves out.
    reached = normal_power_het(abs(lift), found, 1 - level, **spreads, alternative="two-sided")
    assert power <= np.squeeze(reached) < power + 0.03


@pytest.mark.parametrize(
    ("lift", "discordance"), [(0.05, 0.2), (0.1, 0.3), (-0.1, 0.3), (0.15, 0.5), (0.02, 0.1)]
)
def test_simulated_power_is_the_one_asked_for(lift: float, discordance: float) -> None:
    """For McNemar's asymptotic test: the exact one, which we print, is conservative and finds a little less.

    With fewer than about fifty discordant pairs the normal approximation is off by more than this, to the safe side.
    """
    n = pairs_needed(lift, discordance, power=0.8)
    shares = [(discordance + lift) / 2, (discordance - lift) / 2, 1 - discordance]
    gained, lost, _ = np.random.default_rng(3).multinomial(n, shares, size=40_000).T
    statistic = (gained - lost) ** 2 / np.maximum(gained + lost, 1)
    assert np.mean(statistic > chi2.ppf(0.95, 1)) == pytest.approx(0.8, abs=0.02)

    few = zip(gained[:2_000].tolist(), lost[:2_000].tolist(), strict=True)
    exact = np.mean([sign_test(*pair) < 0.05 for pair in few])
    assert 0.65 < exact < 0.83


@given(pairs=st.integers(5, 20_000), discordance=st.floats(0.05, 1.0), power=st.floats(0.5, 0.95))
def test_findable_lift_is_the_inverse(pairs: int, discordance: float, power: float) -> None:
    lift = lift_findable(pairs, lambda _: discordance, 0, discordance, power=power)
    if lift is None:
        assert pairs_needed(discordance, discordance, power=power) > pairs
        return
    assert 0 < lift <= discordance
    assert pairs_needed(lift, discordance, power=power) <= pairs
    assert pairs_needed(0.999 * lift, discordance, power=power) >= pairs


@given(lift=st.floats(0.02, 0.5), room=st.floats(1.0, 2.0))
def test_harder_questions_need_more_pairs(lift: float, room: float) -> None:
    discordance = min(1.0, lift * room)
    n = pairs_needed(lift, discordance)
    assert pairs_needed(-lift, discordance) == n
    assert pairs_needed(lift, discordance, power=0.9) >= n
    assert pairs_needed(lift, discordance, level=0.99) >= n
    assert pairs_needed(0.9 * lift, discordance) >= n


def test_no_pairs_find_nothing() -> None:
    assert lift_findable(0, lambda _: 0.5, 0, 0.5) is None
    assert lift_findable(1, lambda _: 1.0, 0, 1.0) is None
    assert lift_findable(1_000, lambda _: 1.0, 0, 0) is None


def test_findable_lift_is_never_below_the_least_there_can_be() -> None:
    assert lift_findable(1_000, lambda _: 0.3, 0.2, 0.3) == 0.2
    assert lift_findable(40, lambda _: 0.3, 0.2, 0.3) == pytest.approx(
        lift_findable(40, lambda _: 0.3, 0, 0.3)
    )


@pytest.mark.parametrize(("lift", "discordance"), [(0, 0.2), (0.3, 0.2), (0.1, 1.1), (-0.3, 0.2)])
def test_impossible_questions_are_refused(lift: float, discordance: float) -> None:
    with pytest.raises(ValueError, match="needs a discordance between"):
        pairs_needed(lift, discordance)


@pytest.mark.parametrize(
    ("baseline", "lift"), [(0.4, 0.1), (0.0, 0.2), (1.0, -0.3), (0.9, 0.1), (0.5, 0.0)]
)
def test_independent_sides_differ_as_often_as_two_coins(baseline: float, lift: float) -> None:
    rng = np.random.default_rng(0)
    base, treated = rng.random((2, 200_000)) < [[baseline], [baseline + lift]]
    found = independent_discordance(baseline, lift)
    assert found == pytest.approx(np.mean(base != treated), abs=0.005)
    assert found >= abs(lift)  # so that a plan on it is always possible
