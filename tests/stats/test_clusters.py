"""Shares of items in clusters against Wilson's interval, cluster-robust variances, and simulation."""

from __future__ import annotations

import numpy as np  # noqa: TID253
import pytest
from hypothesis import given, strategies as st
from scipy import stats  # noqa: TID253

from skillshift_frames.stats.clusters import clustered_share


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.sampled_from([0.8, 0.95]))
def test_items_that_are_their_own_clusters_have_wilsons_interval(
    passed: list[bool], level: float
) -> None:
    theirs = stats.binomtest(sum(passed), len(passed)).proportion_ci(level, method="wilson")
    found = clustered_share(list(map(int, passed)), [1] * len(passed), level=level)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert found.effective == len(passed)


def test_effective_items_are_those_of_a_cluster_robust_variance() -> None:
    """statsmodels' error of a mean over clusters, squared, against that of as many independent items."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(11)
    sizes = rng.integers(1, 6, 40)
    passed = rng.binomial(sizes, rng.beta(0.7, 0.4, 40))
    items = np.concatenate(
        [np.repeat([1, 0], [s, k - s]) for s, k in zip(passed, sizes, strict=True)]
    )
    groups = np.repeat(np.arange(40), sizes)
    fit = sm.OLS(items.astype(float), np.ones(len(items))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}
    )
    n, share = len(items), items.mean()
    design = float(fit.bse[0]) ** 2 / (share * (1 - share) / (n - 1))
    found = clustered_share(passed.tolist(), sizes.tolist())
    assert found is not None
    assert design > 1.5
    assert found.effective == pytest.approx(n / design, rel=1e-9)
    # Wilson's interval holds what is within z standard errors of a share, at any number of items.
    z2 = stats.norm.ppf(0.975) ** 2
    for end in (found.low, found.high):
        assert (end - share) ** 2 * found.effective == pytest.approx(z2 * end * (1 - end), rel=1e-9)


@pytest.mark.parametrize("rate", [0.5, 0.8])
@pytest.mark.parametrize("clusters", [10, 40])
def test_the_interval_covers_the_rate_where_cases_go_together(rate: float, clusters: int) -> None:
    """Clusters of four that are nearly alike: Wilson's interval on items covers two times in three."""
    rng = np.random.default_rng(clusters)
    covered, naive, times = 0, 0, 1_500
    for _ in range(times):
        passed = rng.binomial(4, rng.beta(rate / 4, (1 - rate) / 4, clusters))
        found = clustered_share(passed.tolist(), [4] * clusters)
        alone = stats.binomtest(int(passed.sum()), 4 * clusters).proportion_ci(method="wilson")
        assert found is not None
        covered += int(found.low <= rate <= found.high)
        naive += int(alone.low <= rate <= alone.high)
    assert covered / times > 0.91
    assert naive / times < 0.8


@pytest.mark.parametrize("passed", [[0, 0, 0], [4, 2, 1]])
def test_where_all_items_are_alike_clusters_count(passed: list[int]) -> None:
    sizes = [4, 2, 1]
    theirs = stats.binomtest(3 if passed[0] else 0, 3).proportion_ci(method="wilson")
    found = clustered_share(passed, sizes)
    assert found is not None
    assert (found.low, found.high, found.effective) == pytest.approx((theirs.low, theirs.high, 3))


def test_one_cluster_is_worth_one_item() -> None:
    found = clustered_share([3], [4])
    assert found is not None
    assert found.effective == 1
    assert found.high - found.low > 0.7
    assert clustered_share([], []) is None
