"""Intervals of slots and cells: what is resampled, what may not matter, and where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, settings
from scipy.stats import binomtest  # noqa: TID253
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

import skillshift_frames as sf
from skillshift_frames.stats.intervals import all_alike
from tests.simulated import SHOP, frame_of, simulate, tasks_of
from tests.strategies import SMALL, records

if TYPE_CHECKING:
    from collections.abc import Callable

FEW = 400  # resamples, where the test is not about the number


def intervals(tasks: pl.DataFrame, **options: Any) -> pl.DataFrame:  # noqa: ANN401
    return sf.intervals(tasks, **{"benchmark": SHOP, "resamples": FEW, **options})


def cell_intervals(tasks: pl.DataFrame, **options: Any) -> pl.DataFrame:  # noqa: ANN401
    return sf.cell_intervals(tasks, **{"benchmark": SHOP, "resamples": FEW, **options})


def row_of(found: pl.DataFrame, **where: str) -> dict[str, Any]:
    return found.filter(**where).row(0, named=True)


def changed(tasks: pl.DataFrame, **columns: pl.Expr) -> pl.DataFrame:
    return tasks.with_columns(**columns)


# What is resampled


def plain_bootstrap(tasks: pl.DataFrame, column: str, resamples: int, seed: int) -> np.ndarray:
    """Draw families within each site, all conditions together, and average the cells' means: overall."""
    rng = np.random.default_rng(seed)
    family = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    drawn = np.zeros(resamples)
    for site, n in SHOP.sites.items():
        grid = tasks.filter(site=site).with_columns(family=family).sort("condition", "family")
        values = grid.get_column(column).cast(pl.Float64).to_numpy().reshape(-1, n)
        drawn += [values[:, rng.integers(n, size=n)].mean() for _ in range(resamples)]
    return np.asarray(drawn / len(SHOP.sites))


@pytest.mark.parametrize(
    ("metric", "column", "scale"), [("SR", "success", 100), ("AS", "steps", 1)]
)
def test_overall_is_a_bootstrap_of_families_within_sites(
    metric: str, column: str, scale: int
) -> None:
    tasks = tasks_of(seed=3)
    found = row_of(intervals(tasks, resamples=20_000), metric=metric, slot="overall")
    plain = scale * plain_bootstrap(tasks, column, 6_000, seed=1)
    ends = np.quantile(plain, [0.025, 0.975])
    slack = 4 * 0.035 * plain.std()  # four times what an end of 6,000 resamples wanders by
    assert (found["low"], found["high"]) == (
        pytest.approx(ends[0], abs=slack),
        pytest.approx(ends[1], abs=slack),
    )
    # Records taken for independent would say something else: these data tell the two apart.
    naive = (tasks.get_column(column).cast(pl.Float64) * scale).std(ddof=0)
    assert isinstance(naive, float)
    assert plain.std() > 1.15 * naive / tasks.height**0.5


def test_all_metrics_of_a_resample_come_from_the_same_draws() -> None:
    """Where skill calls equal steps, so do their intervals: to the last digit, although both are simulated."""
    tasks = changed(tasks_of(), skill_calls=pl.col("steps"), skill_failures=pl.lit(0))
    found = intervals(tasks)
    ends = [
        found.filter(metric=metric).select("slot", "estimate", "low", "high")
        for metric in ("AS", "ASC")
    ]
    assert ends[0].equals(ends[1])


# What may not matter: estimators × invariances


def lifts(tasks: pl.DataFrame) -> pl.DataFrame:
    base, treatment = tasks.get_column("run").unique().sort()[:2]
    compared = sf.compare(
        tasks, base=base, treatment=treatment, benchmark=SHOP, resamples=FEW, margin=5
    )
    return compared.lifts.with_columns(run=pl.lit("lift"))


ESTIMATORS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "intervals": intervals,
    "intervals, delta": lambda tasks: intervals(tasks, method="delta"),
    "cell intervals": cell_intervals,
    "lifts": lifts,
}


def row_order(tasks: pl.DataFrame) -> pl.DataFrame:
    return tasks.sample(fraction=1.0, shuffle=True, seed=1)


def column_order(tasks: pl.DataFrame) -> pl.DataFrame:
    return tasks.select(reversed(tasks.columns))


def shards(tasks: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([tasks.gather_every(3, offset) for offset in (2, 0, 1)])


def uid_names(tasks: pl.DataFrame) -> pl.DataFrame:
    """Name families in another order, and otherwise: they are still the same across conditions."""
    index = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    return changed(tasks, uid=pl.format("{}: {}", 997 - 7 * index, pl.col("site")))


def run_names(tasks: pl.DataFrame) -> pl.DataFrame:
    return changed(tasks, run=pl.lit("a longer name of ") + pl.col("run"))


def trial_numbers(tasks: pl.DataFrame) -> pl.DataFrame:
    return changed(tasks, trial=pl.lit(7, dtype=pl.Int64))


def other_runs(tasks: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([tasks, tasks_of("zzz", seed=9, logit=2.0)])


INVARIANCES = [row_order, column_order, shards, uid_names, run_names, trial_numbers, other_runs]


@pytest.fixture(scope="module")
def two_runs() -> pl.DataFrame:
    return pl.concat([tasks_of("asi", seed=1), tasks_of("mpcr", seed=2, logit=0.4)])


def without_names(found: pl.DataFrame) -> pl.DataFrame:
    kept = found.filter(~pl.col("run").str.ends_with("zzz"))
    return kept.with_columns(pl.col("run").str.split(" ").list.last())


@pytest.mark.parametrize("invariance", INVARIANCES, ids=lambda f: str(f.__name__))
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_nothing_changes_to_the_last_bit(
    estimator: str, invariance: Callable[[pl.DataFrame], pl.DataFrame], two_runs: pl.DataFrame
) -> None:
    estimate, other = ESTIMATORS[estimator], invariance(two_runs)
    assert not other.equals(two_runs)
    found = without_names(estimate(two_runs))
    assert found.get_column("low").is_not_null().any()
    assert without_names(estimate(other)).equals(found)


def twice(tasks: pl.DataFrame) -> pl.DataFrame:
    """Repeat every trial with the same outcome: nothing was learned from it."""
    return pl.concat([tasks, changed(tasks, trial=pl.lit(2, dtype=pl.Int64))])


@pytest.mark.parametrize("estimator", ["intervals", "intervals, delta", "lifts"])
def test_every_row_again_as_a_second_trial_narrows_nothing(
    estimator: str, two_runs: pl.DataFrame
) -> None:
    """Bit-equal for resampling, whose sums double; the delta method's derivative is rounded elsewhere."""
    estimate = ESTIMATORS[estimator]
    once, again = estimate(two_runs), estimate(twice(two_runs))
    if estimator == "intervals, delta":
        numbers = ["estimate", "low", "high"]
        difference = (once.select(numbers) - again.select(numbers)).select(pl.all().abs().max())
        assert max(difference.row(0)) < 1e-8
    else:
        assert again.equals(once)


def test_second_trials_average_out_what_trials_differ_in_and_not_what_tasks_do() -> None:
    """Against the variance of a site's mean written out: families' means over trials and conditions, divisor n."""
    both = [tasks_of(seed=1), changed(tasks_of(seed=2), trial=pl.lit(2, dtype=pl.Int64))]
    tasks = pl.concat(both)
    row = row_of(intervals(tasks, method="delta"), metric="SR", slot="cart")
    index = pl.col("uid").str.split(".").list.last()
    mean = (100 * pl.col("success").mean()).alias("SR")
    means = tasks.filter(site="cart").group_by(index).agg(mean)
    error = means.get_column("SR").std(ddof=0)
    assert isinstance(error, float)
    assert row["families"] == means.height == 24
    assert row["high"] - row["low"] == pytest.approx(2 * 1.959964 * error / 24**0.5, rel=1e-6)


def test_shards_in_files_are_one_run(tmp_path: Any) -> None:  # noqa: ANN401
    tasks = tasks_of()
    for number, part in enumerate((tasks.head(40), tasks.slice(40))):
        part.drop("run", "error").write_ndjson(tmp_path / f"asi-{number}.jsonl")
    read = sf.read_tasks(f"{tmp_path}/*.jsonl", pool="asi", benchmark=SHOP)
    assert intervals(read).equals(intervals(tasks))


def test_site_and_condition_order_only_moves_the_rows(two_runs: pl.DataFrame) -> None:
    """Streams go by a site's place, so the ends differ by simulation error; what they estimate does not."""
    reversed_ = sf.Benchmark(
        "shop", dict(reversed(list(SHOP.sites.items()))), tuple(reversed(SHOP.conditions))
    )
    key = ["run", "metric", "slot"]
    both = intervals(two_runs, resamples=4_000).join(
        intervals(two_runs, resamples=4_000, benchmark=reversed_), on=key, validate="1:1"
    )
    assert both.height == 2 * 4 * 6
    width = pl.col("high") - pl.col("low")
    apart = both.select(
        estimate=(pl.col("estimate") - pl.col("estimate_right")).abs().max(),
        ends=((pl.col("low") - pl.col("low_right")).abs() / width).max(),
    ).row(0)
    assert apart[0] < 1e-12
    assert apart[1] < 0.06


# The point estimate, the seed, the options


def test_estimates_are_the_tables_and_no_seed_moves_them(two_runs: pl.DataFrame) -> None:
    slots = sf.slots(sf.cells(two_runs, benchmark=SHOP), benchmark=SHOP)
    seeds = [intervals(two_runs, rng=seed) for seed in (0, 1)]
    for found in seeds:
        assert found.get_column("estimate").equals(slots.get_column("value").alias("estimate"))
        assert found.select("run", "metric", "slot").equals(slots.select("run", "metric", "slot"))
        assert found.schema == sf.INTERVALS
    assert not seeds[0].equals(seeds[1])
    cells = sf.cells(two_runs, benchmark=SHOP)
    by_cell = cell_intervals(two_runs)
    assert by_cell.schema == sf.CELL_INTERVALS
    for metric in ("SR", "AS", "ASC", "SFR"):
        column = by_cell.filter(metric=metric).get_column("estimate")
        assert column.equals(cells.get_column(metric).alias("estimate"))


def test_generator_stands_for_one_seed(two_runs: pl.DataFrame) -> None:
    seed = int(np.random.default_rng(3).integers(1 << 63))
    found = intervals(two_runs, rng=np.random.default_rng(3))
    assert found.equals(intervals(two_runs, rng=seed))
    assert intervals(two_runs, rng=np.int64(5)).equals(intervals(two_runs, rng=5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, "level 0 is not between 0 and 1"),
        ({"level": 1.0}, "level 1.0 is not"),
        ({"level": 95}, "0.95 for 95 %"),
        ({"level": float("nan")}, "level nan is not"),
        ({"resamples": 99}, "99 resamples are too few"),
        ({"rng": -1}, "seed -1 is negative"),
    ],
)
@pytest.mark.parametrize("function", [sf.intervals, sf.cell_intervals])
def test_impossible_options_are_refused(
    function: Callable[..., pl.DataFrame], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(sf.InputError, match=message):
        function(tasks_of(), benchmark=SHOP, **options)


def test_higher_level_is_wider() -> None:
    tasks = tasks_of()
    narrow, wide = (intervals(tasks, level=level) for level in (0.8, 0.99))
    assert (narrow.get_column("low") > wide.get_column("low")).all()
    assert (narrow.get_column("high") < wide.get_column("high")).all()


@pytest.mark.parametrize(("families", "method"), [(999, "bootstrap"), (1_000, "delta")])
def test_auto_takes_the_delta_method_where_every_site_has_a_thousand_families(
    families: int, method: str
) -> None:
    two = sf.Benchmark("two", sites={"big": 1_200, "small": families}, conditions=("src",))
    tasks = tasks_of(benchmark=two)
    found = intervals(tasks, benchmark=two, resamples=4_000)
    # Sparse metrics are resampled whatever the sites' size: few of these families called a skill.
    dense = pl.col("metric") != "SFR"
    assert set(found.filter(~dense).get_column("method")) == {"bootstrap"}
    found = found.filter(dense)
    assert found.get_column("method").unique().to_list() == [method]
    other = "delta" if method == "bootstrap" else "bootstrap"
    forced = intervals(tasks, benchmark=two, method=other, resamples=4_000).filter(dense)
    assert forced.get_column("method").unique().to_list() == [other]
    apart = (found.get_column("low") - forced.get_column("low")).abs()
    # An end of 4,000 resamples wanders by 0.011 widths; 16 rows, some of them the same.
    assert (apart < 0.05 * (forced.get_column("high") - forced.get_column("low"))).all()
    # A site of the benchmark that the run has no record of does not make it small.
    three = sf.Benchmark("three", sites={**two.sites, "none": 5}, conditions=("src",))
    absent = row_of(intervals(tasks, benchmark=three), metric="SR", slot="big")
    assert (absent["method"], absent["families"]) == (method, 1_200)


def test_delta_method_stays_where_a_rate_can_be() -> None:
    many = sf.Benchmark("many", sites={"big": 2_000}, conditions=("src",))
    rare = changed(tasks_of(benchmark=many), success=pl.col("uid").str.ends_with(".7"))
    often = changed(rare, success=~pl.col("success"))
    assert 0 < rare.get_column("success").sum() < 3
    low = row_of(intervals(rare, benchmark=many), metric="SR", slot="overall")
    high = row_of(intervals(often, benchmark=many), metric="SR", slot="overall")
    assert (low["method"], low["low"]) == ("delta", 0.0)
    assert (high["method"], high["high"]) == ("delta", 100.0)


# No interval of width zero


@pytest.mark.parametrize("passed", [False, True])
@pytest.mark.parametrize("method", ["bootstrap", "delta"])
def test_success_rate_on_which_all_agree_has_the_exact_bound_on_families(
    passed: bool,  # noqa: FBT001
    method: str,
) -> None:
    tasks = twice(changed(tasks_of(), success=pl.lit(passed)))
    found = intervals(tasks, method=method).filter(metric="SR")
    families = {"cart": 24, "search": 9}
    for row in found.iter_rows(named=True):
        n = families.get(row["slot"], 33)
        assert (row["method"], row["families"], row["undefined"]) == ("exact", n, 0.0)
        if (
            n == 33
        ):  # of two unequal sites: longer than if all families were one site's (tests/stats has the oracle)
            bound = all_alike([24, 9], passed=passed)
            assert bound is not None
            assert (row["low"], row["high"]) == (100 * bound[0], 100 * bound[1])
            assert row["high"] - row["low"] > 100 - 100 * 0.025 ** (1 / n)
            continue
        tail = 0.025 ** (1 / n)
        expected = (100 * tail, 100.0) if passed else (0.0, 100 - 100 * tail)
        assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-9)
        exact = binomtest(n if passed else 0, n).proportion_ci(0.95)
        assert row["low"] == pytest.approx(100 * exact.low, abs=1e-9)
        assert row["high"] == pytest.approx(100 * exact.high, abs=1e-9)


def test_none_of_five_hundred_has_an_upper_end() -> None:
    shop = sf.Benchmark("shop", sites={"cart": 500}, conditions=("plain",))
    tasks = changed(tasks_of(benchmark=shop), success=pl.lit(value=False))
    row = row_of(intervals(tasks, benchmark=shop), metric="SR", slot="overall")
    assert (row["low"], row["high"]) == (0.0, pytest.approx(100 - 100 * 0.025 ** (1 / 500)))


def test_bound_counts_the_families_of_the_slot_and_not_of_the_run() -> None:
    """Of tgt only two families were run: their failing says little, however many there are under src."""
    keep = (pl.col("condition") != "tgt") | pl.col("uid").is_in(
        ["skillshift.cart.v2.3", "skillshift.search.v2.3"]
    )
    tasks = changed(tasks_of().filter(keep), success=pl.col("condition") != "tgt")
    found = intervals(tasks).filter(metric="SR")
    assert dict(found.select("slot", "families").iter_rows()) == {
        "cart": 24,
        "search": 9,
        "src": 33,
        "src-perc": 33,
        "tgt": 2,
        "overall": 33,
    }
    assert row_of(found, slot="tgt")["high"] == pytest.approx(100 - 100 * 0.025**0.5)


def test_families_are_counted_per_metric() -> None:
    """Steps of the first family of cart were never recorded; skills were called in two families of search only."""
    rows = simulate(calls=0.0)
    for row in rows:
        if row["uid"].endswith(("cart.v1.0", "cart.v2.0")):
            row |= {"success": None, "steps": None, "error": "timeout"}
        if row["uid"].endswith((".1", ".2")):
            row |= {"skill_calls": 2, "skill_failures": 1}
    found = intervals(frame_of(rows), errors="zero").filter(slot="cart")
    assert dict(found.select("metric", "families").iter_rows()) == {
        "SR": 24,
        "AS": 23,
        "ASC": 24,
        "SFR": 2,
    }


def test_single_family_tells_nothing_about_the_next() -> None:
    one = sf.Benchmark("one", sites={"cart": 1}, conditions=("src", "tgt"))
    tasks = changed(tasks_of(benchmark=one), skill_calls=pl.lit(3), skill_failures=pl.lit(1))
    for found in (intervals(tasks, benchmark=one), cell_intervals(tasks, benchmark=one)):
        judged = found if "slot" in found.columns else found.filter(pl.col("metric") != "SR")
        assert set(judged.get_column("reason")) == {"a single family tells nothing about the next"}
        assert judged.select("low", "high").null_count().row(0) == (judged.height,) * 2
        assert set(judged.get_column("families")) == {1}


def test_metrics_without_spread_have_no_interval_but_a_reason() -> None:
    tasks = changed(tasks_of(), steps=pl.lit(4), skill_calls=pl.lit(2), skill_failures=pl.lit(1))
    for row in intervals(tasks).filter(pl.col("metric") != "SR").iter_rows(named=True):
        assert (row["low"], row["high"]) == (None, None)
        assert row["estimate"] == {"AS": 4.0, "ASC": 2.0, "SFR": 50.0}[row["metric"]]
        assert row["reason"] == f"all {row['families']} families agree"


def test_undefined_numbers_have_no_interval() -> None:
    tasks = changed(tasks_of(), skill_calls=pl.lit(None), skill_failures=pl.lit(None)).cast(
        {"skill_calls": pl.Int64, "skill_failures": pl.Int64}
    )
    for found in (intervals(tasks), cell_intervals(tasks)):
        empty = found.filter(pl.col("metric").is_in(["ASC", "SFR"]))
        assert set(empty.get_column("reason")) == {"the number is undefined"}
        assert empty.select("estimate", "low", "high").null_count().row(0) == (empty.height,) * 3


def callers(count: int, families: int) -> tuple[pl.DataFrame, sf.Benchmark]:
    """Give a run in which so many families call a skill."""
    shop = sf.Benchmark("shop", sites={"cart": families}, conditions=("plain",))
    rows = simulate(benchmark=shop, calls=0.0)
    for index, row in enumerate(rows[:count]):
        row |= {"skill_calls": 4, "skill_failures": index % 3}
    return frame_of(rows, shop), shop


@pytest.mark.parametrize(("count", "defined"), [(2, False), (4, True)])
def test_failure_rate_undefined_in_over_five_percent_of_resamples_has_no_interval(
    count: int,
    defined: bool,  # noqa: FBT001
) -> None:
    tasks, shop = callers(count, families=60)
    expected = (1 - count / 60) ** 60  # no family that calls is drawn
    row = row_of(intervals(tasks, benchmark=shop, resamples=10_000), metric="SFR", slot="overall")
    assert row["undefined"] == pytest.approx(expected, abs=0.01)
    assert (row["families"], row["low"] is not None) == (count, defined)
    if defined:
        assert row["reason"] is None
    else:
        assert row["reason"] == f"undefined in {100 * row['undefined']:.1f} % of the resamples"
    cell = row_of(cell_intervals(tasks, benchmark=shop), metric="SFR")
    assert (cell["low"] is not None) == defined


def test_available_leaves_out_resamples_without_a_cell_that_the_number_has() -> None:
    """Two cells with a failure rate: a resample with one of them is not a mean of one, it is undefined."""
    shop = sf.Benchmark("shop", sites={"a": 40, "b": 40, "c": 5}, conditions=("plain",))
    rows = simulate(benchmark=shop, calls=0.0)
    for row in rows:
        calls = {"a": True, "b": row["uid"].endswith((".1", ".2")), "c": False}[row["site"]]
        if calls:
            failed = int(row["uid"][-1]) % 2 if row["site"] == "a" else 2
            row |= {"skill_calls": 2, "skill_failures": failed}
    found = intervals(frame_of(rows, shop), benchmark=shop, null="available", resamples=4_000)
    overall = row_of(found, metric="SFR", slot="overall")
    assert overall["estimate"] == pytest.approx((25 + 100) / 2)
    assert overall["undefined"] == pytest.approx((1 - 2 / 40) ** 40, abs=0.02)
    assert overall["low"] is None
    assert row_of(found, metric="SFR", slot="a")["undefined"] == 0.0


@settings(max_examples=30)
@given(records(runs=2))
def test_any_run_has_intervals_that_are_none_or_proper(given_records: list[dict[str, Any]]) -> None:
    small = sf.Benchmark("small", SMALL.sites, SMALL.conditions)
    tasks = frame_of(given_records, small)
    slots = sf.slots(sf.cells(tasks, benchmark=small), benchmark=small)
    for method in ("bootstrap", "delta"):
        found = intervals(tasks, benchmark=small, resamples=100, method=method)
        assert found.get_column("estimate").equals(slots.get_column("value").alias("estimate"))
        check_ends(found)
        check_ends(cell_intervals(tasks, benchmark=small, resamples=100, method=method))


def check_ends(found: pl.DataFrame) -> None:
    for row in found.iter_rows(named=True):
        if row["low"] is None:
            assert row["high"] is None
            assert row["reason"]
            continue
        assert row["reason"] is None
        assert row["families"] >= (1 if row["method"] == "wilson" else 2)
        assert 0 <= row["low"] < row["high"] < float("inf")
        if row["metric"] in {"SR", "SFR"}:
            assert row["high"] <= 100


# Cells


def test_cell_with_one_trial_per_task_has_wilsons_interval() -> None:
    tasks = tasks_of()
    cells = sf.cells(tasks, benchmark=SHOP)
    found = cell_intervals(tasks, level=0.9).filter(metric="SR")
    assert set(found.get_column("method")) == {"wilson"}
    for cell, row in zip(cells.iter_rows(named=True), found.iter_rows(named=True), strict=True):
        expected = proportion_confint(cell["successes"], cell["n"], 0.1, "wilson")
        assert row["low"] == pytest.approx(100 * expected[0], abs=1e-10)
        assert row["high"] == pytest.approx(100 * expected[1], abs=1e-10)


def test_cell_with_several_trials_has_no_binomial_interval() -> None:
    found = cell_intervals(twice(tasks_of())).filter(metric="SR")
    assert set(found.get_column("method")) == {"bootstrap"}


def test_failure_rate_of_a_cell_has_the_wider_of_exact_and_by_family() -> None:
    shop = sf.Benchmark("shop", sites={"alike": 30, "apart": 30}, conditions=("plain",))
    rows = simulate(benchmark=shop, calls=0.0)
    for index, row in enumerate(rows):
        # One call each, as good as independent; or ten each that fail together, as good as one.
        calls = 10 if row["site"] == "apart" else 1
        row.update(skill_calls=calls, skill_failures=calls * (index % 3 == 0))
    tasks = frame_of(rows, shop)
    found = cell_intervals(tasks, benchmark=shop, resamples=4_000)
    alike, apart = (row_of(found, metric="SFR", site=site) for site in shop.sites)
    exact = binomtest(10, 30).proportion_ci(0.95, method="exact")
    assert (alike["method"], alike["low"], alike["high"]) == (
        "exact",
        pytest.approx(100 * exact.low),
        pytest.approx(100 * exact.high),
    )
    by_family = row_of(
        intervals(tasks, benchmark=shop, resamples=4_000), metric="SFR", slot="apart"
    )
    assert apart["method"] == "bootstrap"
    assert (apart["low"], apart["high"]) == pytest.approx(
        (by_family["low"], by_family["high"]), abs=2
    )
    tight = binomtest(100, 300).proportion_ci(0.95, method="exact")
    assert apart["high"] - apart["low"] > 2 * 100 * (tight.high - tight.low)


def test_no_tasks_give_no_rows() -> None:
    nothing = sf.TASKS.to_frame()
    assert sf.intervals(nothing).schema == sf.INTERVALS
    assert sf.intervals(nothing).is_empty()
    assert sf.cell_intervals(nothing).is_empty()
