"""The bootstrap, against a plain one written here and against closed forms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np  # noqa: TID253
import pytest
from scipy.stats import binom  # noqa: TID253

from skillshift_frames.stats import bootstrap as module
from skillshift_frames.stats.bootstrap import bootstrap, resampled_sums
from skillshift_frames.stats.macro import macro_means
from skillshift_frames.stats.resampling import Group, merge_alike, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skillshift_frames.stats.resampling import Array

TAILS = (0.025, 0.975)


def mean(sums: Array) -> Array:
    """Mean of one group's values: column 0 over column 1."""
    return np.asarray(sums[..., 0, :1] / sums[..., 0, 1:2])


def values(*given: float) -> Array:
    return np.column_stack([given, np.ones(len(given))])


def unmerged(rows: Array) -> Group:
    return Group(rows, np.ones(len(rows), dtype=np.int64))


def ends_of(groups: list[Group], resamples: int = 20_000, seed: int = 0) -> tuple[float, float]:
    found = bootstrap(groups, mean, level=0.95, resamples=resamples, seed=seed)
    return float(found.low[0]), float(found.high[0])


def plain_bootstrap(sites: list[Array], resamples: int, seed: int) -> Array:
    """Draw rows with replacement, site by site, and average each site's mean: as one would write it on a slip of paper."""
    rng = np.random.default_rng(seed)
    drawn = np.empty(resamples)
    for number in range(resamples):
        means = [
            np.mean([site[i] for i in rng.integers(len(site), size=len(site))]) for site in sites
        ]
        drawn[number] = np.mean(means)
    return drawn


def test_unequal_sites_agree_with_a_plain_bootstrap() -> None:
    rng = np.random.default_rng(5)
    sites = [rng.poisson(rate, n).astype(float) for n, rate in ((40, 6), (25, 3), (9, 12))]
    plain = plain_bootstrap(sites, 3_000, seed=1)
    macro = macro_means(np.array([[0]]), np.array([[1]]), np.array([1.0]))
    groups = [merge_alike(values(*site)) for site in sites]
    found = bootstrap(groups, macro, level=0.95, resamples=20_000, seed=2)
    expected = np.quantile(plain, TAILS)
    # An end of 3,000 resamples wanders by about √(0.025 · 0.975 / 3000) / density ≈ 0.05 standard errors … 4 of those.
    slack = 4 * 0.05 * plain.std()
    assert found.low[-1] == pytest.approx(expected[0], abs=slack)
    assert found.high[-1] == pytest.approx(expected[1], abs=slack)
    # And not that of the records in one pot.
    pot = np.concatenate(sites)
    assert abs(pot.mean() - plain.mean()) > 3 * slack


def exact_ends(successes: int, n: int) -> tuple[float, float]:
    """Give the ends for a proportion without simulation: a resample's count is binomial."""
    low, high = (float(binom.ppf(tail, n, successes / n)) for tail in TAILS)
    return low / n, high / n


@pytest.mark.parametrize(("successes", "n"), [(1, 2), (2, 5), (1, 5), (17, 50), (1, 50), (49, 50)])
def test_proportion_has_the_ends_of_the_binomial(successes: int, n: int) -> None:
    rows = values(*[1.0] * successes, *[0.0] * (n - successes))
    low, high = exact_ends(successes, n)
    step = (
        1 / n if n == 50 else 0.0
    )  # a quantile may fall between two counts that are equally likely
    for group in (merge_alike(rows), unmerged(rows)):
        found = ends_of([group])
        assert found == pytest.approx((low, high), abs=step + 1e-12)


def test_two_values_have_their_three_means() -> None:
    draws = np.concatenate(
        [mean(s) for s in resampled_sums([merge_alike(values(3.0, 7.0))], 40_000, 0)]
    )
    shares = {value: float((draws == value).mean()) for value in np.unique(draws).tolist()}
    assert shares == {
        3.0: pytest.approx(0.25, abs=0.01),
        5.0: pytest.approx(0.5, abs=0.01),
        7.0: pytest.approx(0.25, abs=0.01),
    }


@pytest.mark.parametrize("n", [2, 5, 50])
def test_spread_is_that_of_the_closed_form(n: int) -> None:
    given = np.random.default_rng(n).gamma(2.0, size=n)
    draws = np.concatenate(
        [mean(s) for s in resampled_sums([merge_alike(values(*given))], 40_000, 3)]
    )
    expected = given.std() / math.sqrt(n)  # divisor n: the bootstrap's population is the sample
    assert draws.std() == pytest.approx(expected, rel=0.02)
    assert draws.mean() == pytest.approx(given.mean(), abs=4 * expected / 200)


@pytest.mark.parametrize("by_row", [True, False])
def test_multiplicities_are_multinomial_however_they_are_drawn(
    by_row: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = np.array([1, 5, 14], dtype=np.int64)
    group = Group(np.eye(3), times)
    monkeypatch.setattr(module, "_BINOMIAL_COST", 0 if by_row else 1_000)
    drawn = module._multiplicities(group, 40_000, np.random.default_rng(1))
    assert set(drawn.sum(axis=1)) == {20.0}
    share = times / 20
    assert drawn.mean(axis=0) == pytest.approx(20 * share, rel=0.02)
    expected = 20 * (np.diag(share) - np.outer(share, share))
    assert np.cov(drawn.T, bias=True) == pytest.approx(expected, abs=0.12)


def test_both_ways_of_drawing_are_taken() -> None:
    assert module._by_row(Group(np.eye(2), np.array([50, 50])))
    assert not module._by_row(Group(np.eye(2), np.array([5, 5])))


def test_alike_rows_merged_or_not_give_the_same_distribution() -> None:
    rows = values(*[0.0] * 60, *[1.0] * 25, *[4.0] * 15)
    merged, apart = (ends_of([g], seed=4) for g in (merge_alike(rows), unmerged(rows)))
    # An end of 20,000 resamples wanders by 0.02 standard errors, here 0.003, and means of whole numbers go by 0.01.
    slack = 0.0201
    assert merged == pytest.approx(apart, abs=slack)


def fractions_and_counts() -> list[Group]:
    rng = np.random.default_rng(8)
    return [
        merge_alike(np.column_stack([rng.integers(0, 9, n), np.ones(n)])) for n in (30, 200, 12)
    ]


@pytest.mark.parametrize("chunk", [1, 700, 10_000])
def test_chunks_do_not_show(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draws are one stream per group, cut anywhere: sums of whole numbers are equal to the last bit."""
    groups = fractions_and_counts()
    whole = np.concatenate(list(resampled_sums(groups, 500, 6)))
    monkeypatch.setattr(module, "_CHUNK", chunk)
    parts = list(resampled_sums(groups, 500, 6))
    assert len(parts) > 1
    assert np.array_equal(np.concatenate(parts), whole)


def test_memory_is_bounded_by_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", 1_000)
    seen: list[int] = []
    draw = module._multiplicities

    def watch(group: Group, count: int, stream: np.random.Generator) -> NDArray[np.float64]:
        seen.append(count * group.families)
        return draw(group, count, stream)

    monkeypatch.setattr(module, "_multiplicities", watch)
    # 20 distinct rows of 100 families: drawn one by one, so a resample holds 100 numbers and not 20.
    list(resampled_sums([merge_alike(values(*np.repeat(np.arange(20.0), 5)))], 100, 0))
    assert max(seen) == 1_000


def test_seed_decides_and_nothing_else() -> None:
    groups = fractions_and_counts()
    first = ends_of(groups, 1_000, seed=7)
    np.random.seed(1)  # noqa: NPY002, TID251 - the global generator must play no part
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    assert ends_of(groups, 1_000, seed=7) == first
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    assert str(before) == str(after)
    assert np.array_equal(before["state"]["key"], after["state"]["key"])
    assert ends_of(groups, 1_000, seed=8) != first


def test_a_groups_draws_do_not_depend_on_the_other_groups() -> None:
    first, second, third = fractions_and_counts()
    alone = np.concatenate(list(resampled_sums([first, second], 50, 0)))
    beside = np.concatenate(list(resampled_sums([first, third], 50, 0)))
    assert np.array_equal(alone[:, 0], beside[:, 0])


@pytest.mark.parametrize("n", [20, 60, 200])
def test_share_of_undefined_resamples_is_that_of_the_closed_form(n: int) -> None:
    """Two of n families make a call: a resample has none with probability (1 − 2/n)^n ≈ e⁻²."""
    rows = np.zeros((n, 2))
    rows[:2] = [[1.0, 2.0], [0.0, 3.0]]

    def ratio(sums: Array) -> Array:
        top, bottom = sums[..., 0, :1], sums[..., 0, 1:]
        return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)

    found = bootstrap([merge_alike(rows)], ratio, level=0.95, resamples=20_000, seed=0)
    assert found.undefined[0] == pytest.approx((1 - 2 / n) ** n, abs=0.01)
    assert np.isnan([found.low[0], found.high[0]]).all()


def test_up_to_five_percent_undefined_are_left_out() -> None:
    def sometimes(share: float) -> tuple[float, float, float]:
        def statistic(sums: Array) -> Array:
            numbers = np.arange(len(sums), dtype=float)
            return np.where(numbers < share * len(sums), np.nan, numbers)[:, np.newaxis]

        found = bootstrap([unmerged(values(1.0))], statistic, level=0.5, resamples=1_000, seed=0)
        return float(found.low[0]), float(found.high[0]), float(found.undefined[0])

    assert sometimes(0.05) == (*np.quantile(np.arange(50, 1_000), [0.25, 0.75]), 0.05)
    low, high, undefined = sometimes(0.051)
    assert math.isnan(low)
    assert math.isnan(high)
    assert undefined == 0.051


def test_one_undefined_statistic_leaves_the_others_alone() -> None:
    def both(sums: Array) -> Array:
        return np.concatenate([mean(sums), np.full_like(mean(sums), np.nan)], axis=-1)

    groups = [merge_alike(values(1.0, 2.0, 9.0))]
    found = bootstrap(groups, both, level=0.95, resamples=500, seed=0)
    alone = bootstrap(groups, mean, level=0.95, resamples=500, seed=0)
    assert (found.low[0], found.high[0]) == (alone.low[0], alone.high[0])
    assert found.undefined.tolist() == [0.0, 1.0]


def test_site_without_families_adds_nothing() -> None:
    empty = merge_alike(np.zeros((0, 2)))
    assert empty.families == 0
    sums = np.concatenate(list(resampled_sums([empty, merge_alike(values(2.0, 4.0))], 300, 0)))
    assert not sums[:, 0].any()
    assert set(sums[:, 1, 1]) == {2.0}
    assert total([empty]).tolist() == [[0.0, 0.0]]
    macro = macro_means(np.array([[0]]), np.array([[1]]), np.array([1.0]))
    found = bootstrap(
        [empty, merge_alike(values(2.0, 4.0))], macro, level=0.95, resamples=300, seed=0
    )
    assert found.undefined.tolist() == [
        1.0,
        0.0,
        1.0,
        1.0,
    ]  # the site, the other, the condition, overall


def test_resamples_keep_a_familys_numbers_together() -> None:
    """Two columns that are each other's negative stay so in every resample."""
    given = np.random.default_rng(2).normal(size=30)
    rows = np.column_stack([given, -given])
    sums = np.concatenate(list(resampled_sums([merge_alike(rows)], 200, 0)))[:, 0]
    assert sums[:, 0] == pytest.approx(-sums[:, 1], abs=1e-12)
    assert sums[:, 0].std() > 1
