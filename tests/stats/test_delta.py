"""The delta method, against exact derivatives and against the bootstrap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np  # noqa: TID253
import pytest
from scipy.stats import norm  # noqa: TID253

from skillshift_frames.stats.bootstrap import bootstrap
from skillshift_frames.stats.delta import _gradient, delta_method
from skillshift_frames.stats.macro import macro_means
from skillshift_frames.stats.resampling import Group, merge_alike, total

if TYPE_CHECKING:
    from skillshift_frames.stats.resampling import Array

CONDITIONS = 2
#: Columns of a family's row: per condition successes, steps, calls, failures; then tasks.
SUCCESS, STEPS, CALLS, FAILED, ONE = (np.arange(CONDITIONS) + CONDITIONS * i for i in range(5))
TOP = np.stack([SUCCESS, STEPS, CALLS, FAILED])
BOTTOM = np.stack([ONE, ONE, ONE, CALLS])
SCALE = np.array([100.0, 1.0, 1.0, 100.0])
SLOTS = macro_means(TOP, BOTTOM, SCALE)


def site(n: int, seed: int) -> Array:
    """Families whose numbers go together across conditions: a hard task is hard in both."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1))
    success = rng.random((n, CONDITIONS)) < 1 / (1 + np.exp(-ease))
    steps = 1 + rng.poisson(np.exp(1.5 - 0.4 * ease), (n, CONDITIONS))
    calls = rng.poisson(0.4 * np.exp(0.5 * ease), (n, CONDITIONS))
    failed = rng.binomial(calls, 0.3)
    return np.hstack([success, steps, calls, failed, np.ones((n, CONDITIONS))]).astype(float)


@pytest.fixture(scope="module")
def sites() -> list[Group]:
    return [merge_alike(site(n, seed)) for seed, n in enumerate((4_000, 2_500))]


def test_agrees_with_the_bootstrap_where_both_apply(sites: list[Group]) -> None:
    low, high = delta_method(sites, SLOTS, level=0.95)
    drawn = bootstrap(sites, SLOTS, level=0.95, resamples=4_000, seed=1)
    assert len(low) == 4 * (2 + CONDITIONS + 1)
    # The bootstrap's ends wander by 0.042 standard errors at 4,000 resamples, the interval is 3.92 of them wide;
    # 20 slots × 2 ends: 4 of those. Skewness adds less at thousands of families.
    slack = (4 * 0.042 / 3.92) * (high - low)
    assert (np.abs(drawn.low - low) < slack).all()
    assert (np.abs(drawn.high - high) < slack).all()


@pytest.mark.parametrize("share", [0.056, 1.0, 1 / 3])
def test_a_ratio_that_is_the_same_in_every_family_has_no_width(share: float) -> None:
    """Sums that grow together: their variances are large, and what is left of them is rounding, not spread."""
    calls = np.array([[3.0], [100_000.0], [47.0], [12.0], [977.0]])
    group = merge_alike(np.hstack([share * calls, calls]))
    low, high = delta_method([group], lambda s: s[..., 0, :1] / s[..., 0, 1:], level=0.95)
    assert low[0] == high[0] == pytest.approx(share, rel=1e-12)
    # One failure more is a spread, however small.
    some = merge_alike(np.hstack([share * calls + [[0], [0], [0], [0], [1]], calls]))
    low, high = delta_method([some], lambda s: s[..., 0, :1] / s[..., 0, 1:], level=0.95)
    assert high[0] - low[0] > 1e-9


def test_mean_has_the_textbook_interval() -> None:
    steps = site(3_000, 7)[:, STEPS[0]]
    group = merge_alike(np.column_stack([steps, np.ones(len(steps))]))
    low, high = delta_method([group], lambda s: s[..., 0, :1] / s[..., 0, 1:], level=0.9)
    expected = norm.interval(0.9, steps.mean(), steps.std() / len(steps) ** 0.5)
    assert (low[0], high[0]) == pytest.approx(expected, rel=1e-9)


def test_macro_mean_adds_the_variances_of_its_sites() -> None:
    """SE of a mean of K independent site means: √Σse² / K, whatever their sizes."""
    steps = [site(n, n)[:, STEPS[0]] for n in (10, 1_000)]
    groups = [merge_alike(np.column_stack([s, np.ones(len(s))])) for s in steps]
    macro = macro_means(np.array([[0]]), np.array([[1]]), np.array([1.0]))
    low, high = delta_method(groups, macro, level=0.95)
    error = np.sqrt(sum(s.var() / len(s) for s in steps)) / 2
    assert high[-1] - low[-1] == pytest.approx(2 * norm.ppf(0.975) * error, rel=1e-9)


def test_conditions_of_a_family_are_not_independent(sites: list[Group]) -> None:
    """The variance of a mean over conditions holds their covariance: written out with numpy.cov."""
    rows = site(4_000, 0)[:, STEPS]
    low, high = delta_method(sites, SLOTS, level=0.95)
    of_site = len(SLOTS(total(sites))) // 4  # the first slot of AS: the first site
    together = np.cov(rows.T, bias=True).sum() / CONDITIONS**2 / len(rows)
    apart = rows.var(axis=0).sum() / CONDITIONS**2 / len(rows)
    width = (high - low)[of_site]
    assert width == pytest.approx(2 * norm.ppf(0.975) * together**0.5, rel=1e-8)
    assert width > 1.1 * 2 * norm.ppf(0.975) * apart**0.5


def test_gradient_is_that_of_the_quotient_rule(sites: list[Group]) -> None:
    sums = total(sites)
    overall = {"SR": 4, "AS": 9, "SFR": 19}
    for group in (0, 1):
        found = _gradient(SLOTS, sums, group)
        for metric, (top, bottom) in {
            "SR": (SUCCESS, ONE),
            "AS": (STEPS, ONE),
            "SFR": (FAILED, CALLS),
        }.items():
            scale = 1.0 if metric == "AS" else 100.0
            exact = np.zeros(sums.shape[1])
            for a, b in zip(top, bottom, strict=True):
                x, y = sums[group, a], sums[group, b]
                exact[a] += scale / y / (2 * CONDITIONS)
                exact[b] -= scale * x / y**2 / (2 * CONDITIONS)
            assert found[overall[metric]] == pytest.approx(exact, rel=1e-7, abs=1e-12)


def test_merged_rows_count_as_often_as_they_occur() -> None:
    rows = site(500, 3)
    apart = Group(rows, np.ones(len(rows), dtype=np.int64))
    for one, other in zip(
        delta_method([merge_alike(rows)], SLOTS, level=0.95),
        delta_method([apart], SLOTS, level=0.95),
        strict=True,
    ):
        assert one == pytest.approx(other, rel=1e-9)


def test_site_without_families_is_no_division_by_zero() -> None:
    some = merge_alike(site(300, 1))
    empty = merge_alike(np.zeros((0, 10)))
    low, high = delta_method([some, empty], SLOTS, level=0.95)
    alone_low, alone_high = delta_method([some], SLOTS, level=0.95)
    assert (low[0], high[0]) == (alone_low[0], alone_high[0])
    assert np.isnan([low[1], low[4], high[1], high[4]]).all()  # the empty site, and overall
