"""Runs in order: what a rank and a lift over the next run are worth, against resampling written out in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, settings

import skillshift_frames as sf
from tests import reference
from tests.simulated import SHOP, frame_of, simulate, tasks_of
from tests.strategies import SMALL, records

if TYPE_CHECKING:
    from collections.abc import Callable

FEW = 400  # resamples, where the test is not about the number


def ranks(tasks: pl.DataFrame, **options: Any) -> pl.DataFrame:  # noqa: ANN401
    return sf.ranks(tasks, **{"benchmark": SHOP, "resamples": FEW, **options})


def row_of(found: pl.DataFrame, run: str) -> dict[str, Any]:
    return found.filter(run=run).row(0, named=True)


@pytest.fixture(scope="module")
def three() -> pl.DataFrame:
    """Three runs on the same tasks: two of them nearly as good, the third worse."""
    logits = {"asi": 0.0, "mpcr": 0.2, "walt": -0.7}
    return pl.concat(
        [tasks_of(run, seed=seed, logit=logit) for seed, (run, logit) in enumerate(logits.items())]
    )


# Against resampling written out


def rates_of(tasks: pl.DataFrame, site: str) -> np.ndarray:
    """Give a site's successes as runs × conditions × families, NaN where there is no record; runs by name."""
    family = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    rows = tasks.filter(site=site).select("run", "condition", family=family, ok="success")
    runs, conditions = sorted(set(tasks.get_column("run"))), list(SHOP.conditions)
    rates = np.full((len(runs), len(conditions), SHOP.sites[site]), np.nan)
    for run, condition, number, ok in rows.iter_rows():
        rates[runs.index(run), conditions.index(condition), number] = ok
    return rates


def plain_bootstrap(
    tasks: pl.DataFrame, resamples: int, seed: int, *, jointly: bool = True
) -> np.ndarray:
    """Draw families within each site, the same for all runs, and average the cells: overall SR, resamples × runs."""
    rng = np.random.default_rng(seed)
    sites = [rates_of(tasks, site) for site in SHOP.sites]
    drawn = []
    for _ in range(resamples):
        cells = []
        for rates in sites:
            runs, _, n = rates.shape
            picks = [rng.integers(n, size=n)] * runs
            if not jointly:
                picks = [rng.integers(n, size=n) for _ in range(runs)]
            cells.append([np.nanmean(rates[run][:, picks[run]], axis=1) for run in range(runs)])
        drawn.append(100 * np.mean(cells, axis=(0, 2)))
    return np.array(drawn)


def lift_ends(drawn: np.ndarray, above: int, below: int) -> tuple[np.ndarray, float]:
    """Give the ends of the lift between two runs, and by how much they may wander in 6,000 resamples."""
    lift = drawn[:, above] - drawn[:, below]
    return np.quantile(lift, [0.025, 0.975]), 4 * 0.035 * float(lift.std())


def test_lifts_are_from_the_same_families_for_both_runs(three: pl.DataFrame) -> None:
    found = ranks(three, resamples=20_000)
    assert found.get_column("run").to_list() == ["mpcr", "asi", "walt"]
    drawn = plain_bootstrap(three, 6_000, seed=1)
    apart = plain_bootstrap(three, 6_000, seed=1, jointly=False)
    for run, above, below in (("mpcr", 1, 0), ("asi", 0, 2)):
        row = row_of(found, run)
        ends, slack = lift_ends(drawn, above, below)
        assert (row["lift_low"], row["lift_high"]) == pytest.approx(tuple(ends), abs=slack)
        assert row["lift_low"] < row["lift"] < row["lift_high"]
        # Families drawn for each run by itself would give another interval: these data tell the two apart.
        assert np.ptp(lift_ends(apart, above, below)[0]) > np.ptp(ends) + 2 * slack


def test_rank_intervals_are_the_percentiles_of_resampled_ranks(three: pl.DataFrame) -> None:
    drawn = np.round(plain_bootstrap(three, 6_000, seed=2), 2)
    placed = 1 + (drawn[:, None, :] > drawn[:, :, None]).sum(axis=2)
    for level in (0.5, 0.8, 0.95, 0.999):
        found = ranks(three, level=level, resamples=6_000)
        tail = (1 - level) / 2
        for number, run in enumerate(("asi", "mpcr", "walt")):
            row = row_of(found, run)
            for end, rank in ((tail, row["rank_low"]), (1 - tail, row["rank_high"])):
                # The rank is the percentile: no more than the tail lies below it, no less up to it.
                slack = 5 * (end * (1 - end) / 6_000) ** 0.5 + 1e-3
                assert (placed[:, number] < rank).mean() <= end + slack
                assert (placed[:, number] <= rank).mean() >= end - slack
    # asi is first in 21 % of the plain resamples and last in 13 %, mpcr last in 4 %, walt first in 3 %.
    spans = ranks(three, level=0.8, resamples=6_000).select("run", "rank_low", "rank_high")
    assert spans.rows() == [("mpcr", 1, 2), ("asi", 1, 3), ("walt", 2, 3)]


def test_families_that_one_run_lacks_are_drawn_all_the_same() -> None:
    """Their union is what is resampled: a run that lacks some is then measured on fewer, or on more."""
    index = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    whole = tasks_of("whole", seed=4)
    part = tasks_of("part", seed=5, logit=-0.2).filter(index % 4 != 1)
    tasks = pl.concat([part, whole])
    row = ranks(tasks, resamples=20_000).row(0, named=True)
    above, below = (1, 0) if row["run"] == "whole" else (0, 1)
    ends, slack = lift_ends(plain_bootstrap(tasks, 6_000, seed=3), above, below)
    assert (row["lift_low"], row["lift_high"]) == pytest.approx(tuple(ends), abs=slack)


# Point estimates and what other functions say


def test_numbers_are_the_tables_and_no_seed_moves_them(three: pl.DataFrame) -> None:
    table = sf.table(sf.cells(three, benchmark=SHOP), benchmark=SHOP).filter(metric="SR")
    rates = dict(table.select("run", "overall").iter_rows())
    seeds = [ranks(three, rng=seed) for seed in (0, 1)]
    for found in seeds:
        assert found.schema == sf.RANKS
        assert dict(found.select("run", "SR").iter_rows()) == rates
        for run, below, lift in found.select("run", "below", "lift").iter_rows():
            expected = None if below is None else pytest.approx(rates[run] - rates[below])
            assert lift == expected
    for end in ("low", "lift_low"):
        assert not seeds[0].get_column(end).equals(seeds[1].get_column(end))
    generator = ranks(three, rng=np.random.default_rng(3))
    assert generator.equals(ranks(three, rng=int(np.random.default_rng(3).integers(1 << 63))))


@pytest.mark.parametrize("slot", ["overall", "cart", "tgt"])
def test_intervals_are_those_of_the_table(three: pl.DataFrame, slot: str) -> None:
    found = ranks(three, slot=slot, rng=5, level=0.9)
    trusted = sf.intervals(three, rng=5, level=0.9, resamples=FEW, benchmark=SHOP)
    names = ["run", "estimate", "low", "high", "families", "method", "reason"]
    mine = found.rename({"SR": "estimate"}).select(names).sort("run")
    assert mine.equals(trusted.filter(metric="SR", slot=slot).select(names).sort("run"))


def test_another_slot_ranks_by_its_own_numbers() -> None:
    tasks = pl.concat([tasks_of("asi"), tasks_of("mpcr", seed=1)])
    site = pl.col("site") == "cart"
    good = pl.when(site).then(pl.col("run") == "asi").otherwise(pl.col("run") == "mpcr")
    noisy = good ^ (pl.col("uid").str.ends_with("1") & (pl.col("condition") == "src"))
    tasks = tasks.with_columns(success=noisy)
    for slot, best in (("cart", "asi"), ("search", "mpcr")):
        found = ranks(tasks, slot=slot)
        assert found.select("rank", "run").rows()[0] == (1, best)
        assert found.get_column("families").to_list() == [SHOP.sites[slot]] * 2
        assert found.row(0, named=True)["apart"] is True


def test_paired_lift_agrees_with_compare_on_complete_runs(three: pl.DataFrame) -> None:
    row = row_of(ranks(three, resamples=20_000), "mpcr")
    compared = sf.compare(three, base="asi", treatment="mpcr", resamples=20_000, benchmark=SHOP)
    lift = compared.lifts.filter(metric="SR", slot="overall").row(0, named=True)
    assert row["lift"] == pytest.approx(lift["lift"])
    width = lift["high"] - lift["low"]
    ends = (row["lift_low"], row["lift_high"])
    assert ends == pytest.approx((lift["low"], lift["high"]), abs=0.03 * width)


# What truth they tell


WIDE = sf.Benchmark("wide", sites={"cart": 60, "search": 40}, conditions=("src", "tgt"))


def test_a_run_that_is_better_is_found_to_be() -> None:
    for seed in range(5):
        tasks = pl.concat(
            [
                tasks_of("worse", benchmark=WIDE, seed=2 * seed, tasks_seed=seed),
                tasks_of("better", benchmark=WIDE, seed=2 * seed + 1, tasks_seed=seed, logit=1.5),
            ]
        )
        found = ranks(tasks, benchmark=WIDE)
        assert found.select("run", "rank", "rank_low", "rank_high", "apart").rows() == [
            ("better", 1, 1, 1, True),
            ("worse", 2, 2, 2, None),
        ]


def test_two_runs_that_are_equal_are_told_apart_one_time_in_twenty() -> None:
    apart = 0
    trials = 150
    for seed in range(trials):
        tasks = pl.concat(
            [
                tasks_of(run, benchmark=WIDE, seed=1_000 + 2 * seed + place, tasks_seed=seed)
                for place, run in enumerate(("a", "b"))
            ]
        )
        first, second = ranks(tasks, benchmark=WIDE, resamples=200).to_dicts()
        apart += first["apart"]
        # Ranks say what lifts say, but for the rounding of numbers that nearly tie.
        certain = [(row["rank_low"], row["rank_high"]) for row in (first, second)]
        if first["apart"]:
            assert certain == [(1, 1), (2, 2)]
    # Of 1,000 such trials 51; at that rate there are 1 to 18 in 150 with 99.9 %.
    assert 1 <= apart <= 18


# Ties, and where there is no interval


def test_runs_with_the_same_outcomes_share_a_rank_and_have_no_lift() -> None:
    twin = tasks_of("b").with_columns(run=pl.lit("a"))
    tasks = pl.concat([tasks_of("b"), twin, tasks_of("c", logit=-3.0, seed=3)])
    found = ranks(tasks)
    assert found.select("rank", "run").rows() == [(1, "a"), (1, "b"), (3, "c")]
    first = found.row(0, named=True)
    assert (first["lift"], first["lift_low"], first["lift_high"], first["apart"]) == (
        *(0.0, None, None),
        None,
    )
    assert first["lift_reason"] == "no spread: all 33 families agree"
    # They tie in every resample, too.
    assert (first["rank_low"], first["rank_high"]) == (1, 1)


def test_numbers_that_are_equal_but_for_how_they_are_added_up_tie() -> None:
    """The same families succeed, in other cells: the mean over cells is the same in every resample."""
    tasks = pl.concat([tasks_of("a"), tasks_of("b")])
    good = pl.col("uid").str.contains(r"\.[0136]$|\.1.$")
    cell = pl.when(pl.col("run") == "a").then(pl.lit("src")).otherwise(pl.lit("tgt"))
    third = (pl.col("condition") == "src-perc") & pl.col("uid").str.ends_with("2")
    tasks = tasks.with_columns(success=(good & (pl.col("condition") == cell)) | third)
    found = ranks(tasks, resamples=4_000)
    assert found.select("rank", "rank_low", "rank_high").rows() == [(1, 1, 1)] * 2
    assert found.row(0, named=True)["lift_reason"] == "no spread: all 33 families agree"


def test_a_rank_lies_within_its_interval_also_where_resamples_rarely_give_it() -> None:
    runs = [tasks_of(f"run-{n:02}", benchmark=WIDE, seed=300 + n) for n in range(16)]
    found = ranks(pl.concat(runs), benchmark=WIDE, level=0.05)
    assert (found.get_column("rank_low") <= found.get_column("rank")).all()
    assert (found.get_column("rank") <= found.get_column("rank_high")).all()
    # In the middle of its resamples the best of sixteen alike is the third.
    assert found.select("rank", "rank_low", "rank_high").row(0) == (1, 1, 3)


def test_a_run_alone_has_no_rank_to_doubt() -> None:
    row = ranks(tasks_of()).row(0, named=True)
    assert (row["rank"], row["rank_low"], row["rank_high"]) == (1, None, None)
    assert row["rank_reason"] == "a run alone has no other to rank against"
    assert (row["below"], row["lift"], row["apart"], row["lift_reason"]) == (None,) * 4
    assert row["low"] is not None


@pytest.mark.parametrize("passed", [False, True])
def test_a_run_on_which_all_families_agree_has_a_bound_and_no_interval_of_its_rank(
    passed: bool,  # noqa: FBT001
) -> None:
    alike = tasks_of("alike").with_columns(success=pl.lit(passed))
    found = ranks(pl.concat([alike, tasks_of("asi")]))
    row, other = row_of(found, "alike"), row_of(found, "asi")
    assert row["method"] == "exact"
    assert row["high"] - row["low"] > 5
    assert (row["rank_low"], row["rank_reason"]) == (None, "all 33 families agree")
    assert other["rank_low"] == other["rank_high"] == other["rank"]
    first = row if passed else other
    assert first["apart"] is True  # that the other one varies is seen


def test_two_runs_that_agree_everywhere_have_a_lift_without_an_interval() -> None:
    both = [tasks_of(run).with_columns(success=pl.lit(run == "good")) for run in ("bad", "good")]
    first = ranks(pl.concat(both)).row(0, named=True)
    assert (first["run"], first["lift"], first["lift_low"], first["apart"]) == (
        *("good", 100.0),
        *(None, None),
    )
    assert first["lift_reason"] == "no spread: all 33 families agree"
    for slot, families in (("cart", 24), ("search", 9), ("tgt", 33)):
        of_slot = ranks(pl.concat(both), slot=slot).row(0, named=True)
        assert of_slot["lift_reason"] == f"no spread: all {families} families agree"


def test_a_single_family_tells_nothing() -> None:
    one = sf.Benchmark("one", sites={"cart": 1}, conditions=("src", "tgt"))
    tasks = pl.concat([tasks_of(run, benchmark=one, seed=n) for n, run in enumerate("abc")])
    found = ranks(tasks, benchmark=one)
    single = "a single family tells nothing about the next"
    assert set(found.get_column("rank_reason")) == {single}
    assert set(found.head(2).get_column("lift_reason")) == {single}
    assert found.select("low", "rank_low", "lift_low", "apart").null_count().row(0) == (3,) * 4


def test_a_run_without_a_cell_is_undefined_and_last() -> None:
    partial = tasks_of("a", logit=9.0).filter(~pl.col("condition").eq("tgt"))
    found = ranks(pl.concat([tasks_of("c"), partial, tasks_of("b", seed=3, logit=-2.0)]))
    assert found.select("rank", "run").rows() == [(1, "c"), (2, "b"), (None, "a")]
    last = found.row(2, named=True)
    assert (last["SR"], last["low"], last["rank_low"], last["lift"]) == (None,) * 4
    assert last["reason"] == last["rank_reason"] == "the number is undefined"
    # It does not touch the others, and nobody is compared with it.
    assert found.row(1, named=True)["below"] is None
    assert found.head(2).equals(
        ranks(pl.concat([tasks_of("c"), tasks_of("b", seed=3, logit=-2.0)]))
    )


def test_a_run_that_resamples_often_lose_takes_the_rank_intervals_away() -> None:
    """Of a run that has one family in a cell, a third of the resamples have no number, and so no ranks."""
    keep = (pl.col("condition") != "tgt") | (pl.col("uid").is_in(
        ["skillshift.cart.v2.3", "skillshift.cart.v2.4", "skillshift.search.v2.3"]))  # fmt: skip
    tasks = pl.concat(
        [tasks_of("few").filter(keep), tasks_of("b", seed=3), tasks_of("c", seed=4, logit=-2.0)]
    )
    found = ranks(tasks, resamples=4_000)
    assert found.get_column("rank").to_list() == [1, 2, 3]
    expected = 100 * (1 - (1 - (1 - 1 / 9) ** 9) * (1 - (1 - 2 / 24) ** 24))
    for row in found.iter_rows(named=True):
        assert (row["rank_low"], row["rank_high"]) == (None, None)
        assert "undefined in " in row["rank_reason"]
        share = float(row["rank_reason"].split("undefined in ")[1].split()[0])
        assert share == pytest.approx(expected, abs=4)
    between = found.filter(~pl.col("run").eq("few") & pl.col("below").ne("few"))
    assert between.get_column("lift_low").null_count() == 0


def test_no_tasks_give_no_rows() -> None:
    found = sf.ranks(sf.TASKS.to_frame())
    assert found.is_empty()
    assert found.schema == sf.RANKS


def test_errors_count_as_asked() -> None:
    rows = [*simulate("a"), *simulate("b", seed=1)]
    for row in rows:
        if row["run"] == "b" and row["uid"].endswith((".1", ".2")):
            row |= {"success": None, "error": "timeout"}
    tasks = frame_of(rows)
    for policy in ("exclude", "zero"):
        found = ranks(tasks, errors=policy)
        cells = sf.cells(tasks, benchmark=SHOP, errors=policy)
        expected = dict(sf.bounds(cells).select("run", "SR").iter_rows())
        assert dict(found.select("run", "SR").iter_rows()) == expected
    # A failure is what an error counts as; and no record is as good as one with an error.
    error = pl.col("error")
    failed = tasks.with_columns(
        success=pl.col("success").fill_null(value=False), error=pl.lit(None, dtype=pl.String)
    )
    absent = tasks.filter(error.is_null())
    assert ranks(tasks, errors="zero").equals(ranks(failed))
    assert ranks(tasks).equals(ranks(absent))
    assert not ranks(tasks, errors="zero").equals(ranks(tasks))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slot": "target"}, "slot is 'target'; one of cart, search, src"),
        ({"level": 95}, "level 95 is not between 0 and 1"),
        ({"resamples": 99}, "99 resamples are too few"),
        ({"rng": -1}, "seed -1 is negative"),
        ({"errors": "none"}, "errors is 'none'"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sf.InputError, match=message):
        ranks(tasks_of(), **options)


# What may not matter


def row_order(tasks: pl.DataFrame) -> pl.DataFrame:
    return tasks.sample(fraction=1.0, shuffle=True, seed=1)


def run_order(tasks: pl.DataFrame) -> pl.DataFrame:
    return pl.concat(tasks.partition_by("run")[::-1])


def column_order(tasks: pl.DataFrame) -> pl.DataFrame:
    return tasks.select(reversed(tasks.columns))


def uid_names(tasks: pl.DataFrame) -> pl.DataFrame:
    index = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    return tasks.with_columns(uid=pl.format("{}: {}", 997 - 7 * index, pl.col("site")))


def trials(tasks: pl.DataFrame) -> pl.DataFrame:
    """Repeat every trial with the same outcome: nothing was learned from it."""
    return pl.concat([tasks, tasks.with_columns(trial=pl.lit(2, dtype=pl.Int64))])


@pytest.mark.parametrize(
    "invariance", [row_order, run_order, column_order, uid_names, trials], ids=lambda f: f.__name__
)
def test_nothing_changes_to_the_last_bit(
    invariance: Callable[[pl.DataFrame], pl.DataFrame], three: pl.DataFrame
) -> None:
    other = invariance(three)
    assert not other.equals(three)
    assert ranks(other).equals(ranks(three))


@settings(max_examples=25)
@given(records())
def test_any_runs_have_ranks_that_are_none_or_proper(given_records: list[dict[str, Any]]) -> None:
    small = sf.Benchmark("small", SMALL.sites, SMALL.conditions)
    found = ranks(frame_of(given_records, small), benchmark=small, resamples=100)
    exact = reference.evaluate(given_records, SMALL.sites, SMALL.conditions)
    rates = {run: numbers.slots["overall"].values["SR"] for run, numbers in exact.items()}
    assert sorted(found.get_column("run")) == sorted(rates)
    defined = [rate for rate in rates.values() if rate is not None]
    for row in found.iter_rows(named=True):
        rate = rates[row["run"]]
        assert row["SR"] == (None if rate is None else float(rate))
        if rate is None:
            assert (row["rank"], row["rank_low"], row["lift"]) == (None, None, None)
            continue
        better = sum(int(100 * other + 0.5) > int(100 * rate + 0.5) for other in defined)
        assert row["rank"] == 1 + better
        if row["rank_low"] is None:
            assert row["rank_reason"]
        else:
            assert 1 <= row["rank_low"] <= row["rank"] <= row["rank_high"] <= len(defined)
            assert row["rank_reason"] is None
        if row["lift_low"] is None:
            assert row["apart"] is None
            assert row["lift_reason"] or row["below"] is None
        else:
            assert row["lift_low"] < row["lift_high"]
            assert row["apart"] == (row["lift_low"] > 0 or row["lift_high"] < 0)
    assert (
        found.get_column("rank").to_list()
        == found.get_column("rank").sort(nulls_last=True).to_list()
    )
