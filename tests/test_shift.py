"""How a metric falls under a shift: against print, exact fractions, and resampling written out in NumPy."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import skillshift_frames as sf
from skillshift_frames.render.numbers import format_number
from tests import reference
from tests.simulated import SHOP, frame_of, simulate, tasks_of
from tests.strategies import SMALL, records

if TYPE_CHECKING:
    from collections.abc import Callable

FEW = 400  # resamples, where the test is not about the number
SHIFTED = ["src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec"]


def shifts(tasks: pl.DataFrame, **options: Any) -> pl.DataFrame:  # noqa: ANN401
    return sf.shift_intervals(tasks, **{"benchmark": SHOP, "resamples": FEW, **options})


def row_of(found: pl.DataFrame, condition: str, run: str = "asi") -> dict[str, Any]:
    return found.filter(run=run, condition=condition).row(0, named=True)


# Published entries


def test_mpcr_falls_as_worked_out_by_hand() -> None:
    found = sf.shift(sf.published().filter(method="MPCR"))
    numbers = found.select("condition", "shift", "source_value", "value", "drop").rows()
    assert numbers == [
        ("src-perc", "perceptual", 56.67, 57.09, -0.42),
        ("src-exec", "execution", 56.67, 33.23, 23.44),
        ("tgt", "contextual", 56.67, 43.32, 13.35),
        ("tgt-perc", "contextual + perceptual", 56.67, 37.24, 19.43),
        ("tgt-exec", "contextual + execution", 56.67, 19.99, 36.68),
    ]
    shares = [Fraction(drop, 5667) for drop in (-42, 2344, 1335, 1943, 3668)]
    assert found.get_column("relative").to_list() == pytest.approx(
        [float(100 * share) for share in shares], rel=1e-11
    )


def test_the_mixed_methods_fall_as_the_leaderboard_says() -> None:
    """Mean SR over src and tgt 40.97, over the two perc conditions 35.23, over the two exec conditions 18.68."""
    found = sf.shift(sf.published().filter(model="mixed"))
    assert found.height == 4 * 5
    values = {
        condition: found.filter(condition=condition).get_column("value").to_list()
        for condition in SHIFTED
    }
    values["src"] = found.filter(condition="tgt").get_column("source_value").to_list()

    def mean(*conditions: str) -> str:
        listed = [value for condition in conditions for value in values[condition]]
        return format_number(sum(listed) / len(listed))

    assert mean("src", "tgt") == "40.97"
    assert mean("src-perc", "tgt-perc") == "35.23"
    assert mean("src-exec", "tgt-exec") == "18.68"


def test_key_columns_stay_and_order_the_rows() -> None:
    found = sf.shift(sf.published())
    said = ["date", "method", "model", "metric"]
    new = ["condition", "shift", "source_value", "value", "drop", "relative"]
    assert found.columns == [*said, *new]
    assert found.height == 17 * 5
    assert set(found.get_column("metric")) == {"SR"}
    keys = found.select("method", "model", "date").rows()
    assert keys == sorted(keys)
    assert found.get_column("condition").to_list() == SHIFTED * 17
    assert sf.shift(sf.published().sample(fraction=1.0, shuffle=True, seed=1)).equals(found)


def test_an_entry_without_the_metric_has_no_row_of_it() -> None:
    found = sf.shift(sf.published(), metric="ASC")
    assert "AWM" not in set(found.get_column("method"))
    assert found.height == 13 * 5


def test_a_fall_from_another_source() -> None:
    mpcr = sf.published().filter(method="MPCR")
    found = sf.shift(mpcr, source="tgt")
    assert found.select("condition", "shift", "drop").rows() == [
        ("src", None, -13.35),  # a shift taken back is none
        ("src-perc", None, -13.77),
        ("src-exec", None, 10.09),
        ("tgt-perc", "perceptual", 6.08),
        ("tgt-exec", "execution", 23.33),
    ]
    steps = sf.shift(mpcr, metric="AS").select("condition", "drop").rows()
    assert steps[-1] == ("tgt-exec", -2.95)  # more steps are needed


# Null is not zero


def wide(**slots: float | None) -> pl.DataFrame:
    numbers = dict.fromkeys(SHOP.slots, 50.0) | slots
    return pl.DataFrame(
        {"run": ["a"], "metric": ["SR"]} | {slot: [value] for slot, value in numbers.items()},
        schema_overrides=dict.fromkeys(SHOP.slots, pl.Float64),
    )


@pytest.mark.parametrize(
    ("before", "after", "drop", "relative"),
    [
        (None, 20.0, None, None),
        (20.0, None, None, None),
        (0.0, 0.0, 0.0, None),
        (0.0, 20.0, -20.0, None),
        (20.0, 0.0, 20.0, 100.0),
        (20.0, 25.0, -5.0, -25.0),
        (0.3, 0.1, 0.2, 200 / 3),
    ],
)
def test_what_is_undefined_stays_so_and_nothing_is_a_share_of_0(
    before: float | None, after: float | None, drop: float | None, relative: float | None
) -> None:
    found = sf.shift(wide(src=before, tgt=after), benchmark=SHOP).row(1, named=True)
    assert found["condition"] == "tgt"
    assert (found["source_value"], found["value"], found["drop"]) == (before, after, drop)
    assert found["relative"] == (None if relative is None else pytest.approx(relative))


def test_names_that_say_nothing_have_no_kind_of_shift() -> None:
    other = sf.Benchmark("other", {"cart": 1}, ("plain", "src", "tgt", "far"))
    frame = pl.DataFrame({"run": ["a"], "metric": ["SR"], "cart": [1.0]})
    frame = frame.with_columns(pl.lit(1.0).alias(name) for name in other.slots[1:])
    assert sf.shift(frame, benchmark=other).get_column("shift").to_list() == [None] * 3
    named = sf.shift(frame, benchmark=other, source="src").select("condition", "shift").rows()
    assert named == [("plain", None), ("tgt", "contextual"), ("far", None)]


@given(records(), st.sampled_from(["SR", "AS", "ASC", "SFR"]))
def test_falls_are_those_of_exact_fractions(
    given_records: list[dict[str, Any]], metric: str
) -> None:
    small = sf.Benchmark("small", SMALL.sites, SMALL.conditions)
    tasks = frame_of(given_records, small)
    table = sf.table(sf.cells(tasks, benchmark=small), benchmark=small)
    found = sf.shift(table, metric=metric, benchmark=small)
    exact = reference.evaluate(given_records, SMALL.sites, SMALL.conditions)
    assert found.get_column("run").to_list() == sorted(exact)
    first, last = SMALL.conditions
    for row in found.iter_rows(named=True):
        slots = exact[row["run"]].slots
        before, after = (slots[name].values[metric] for name in (first, last))
        drop = None if before is None or after is None else before - after
        share = None if drop is None or not before else 100 * drop / before
        for name, number in (("drop", drop), ("relative", share)):
            size = max(abs(float(before or 0)), abs(float(after or 0)), 1.0)
            expected = None if number is None else pytest.approx(float(number), abs=1e-9 * size)
            assert row[name] == expected, name
    with_ends = shifts(tasks, benchmark=small, metric=metric, resamples=100)
    assert with_ends.select(found.columns).equals(found)
    check_ends(with_ends)


def check_ends(found: pl.DataFrame) -> None:
    assert found.schema == sf.SHIFTS
    for row in found.iter_rows(named=True):
        for low, high, reason in (
            ("low", "high", "reason"),
            ("relative_low", "relative_high", "relative_reason"),
        ):
            if row[low] is None:
                assert row[high] is None
                assert row[reason]
            else:
                assert row[low] < row[high]
                assert row[reason] is None
                assert row["families"] >= 2
                assert row["method"] == "bootstrap"


# Intervals, against resampling written out


def plain_bootstrap(
    tasks: pl.DataFrame, column: str, resamples: int, seed: int, *, paired: bool = True
) -> np.ndarray:
    """Draw families within each site, for all conditions together, and average the sites: resamples × conditions."""
    rng = np.random.default_rng(seed)
    family = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    order = {condition: number for number, condition in enumerate(SHOP.conditions)}
    place = pl.col("condition").replace_strict(order)
    drawn = np.zeros((resamples, len(order)))
    for site, n in SHOP.sites.items():
        grid = tasks.filter(site=site).with_columns(family=family, place=place)
        grid = grid.sort("place", "family")
        values = grid.get_column(column).cast(pl.Float64).to_numpy().reshape(-1, n)
        for resample in range(resamples):
            picks = [rng.integers(n, size=n)] * len(order)
            if not paired:
                picks = [rng.integers(n, size=n) for _ in order]
            drawn[resample] += [row[pick].mean() for row, pick in zip(values, picks, strict=True)]
    return drawn / len(SHOP.sites)


@pytest.mark.parametrize(
    ("metric", "column", "scale"), [("SR", "success", 100), ("AS", "steps", 1)]
)
def test_a_fall_is_paired_by_family(metric: str, column: str, scale: int) -> None:
    rows = simulate(seed=6, logit=1.0)
    rng = np.random.default_rng(1)
    before = {row["uid"].replace("v1", "v2"): row for row in rows if row["condition"] == "src"}
    for row in rows:  # a shift that costs some of the successes, and steps
        if row["condition"] == "tgt":
            same = before[row["uid"]]
            row["success"] = same["success"] and bool(rng.random() < 0.8)
            row["steps"] = same["steps"] + int(rng.integers(4))
    tasks = frame_of(rows)
    found = shifts(tasks, metric=metric, resamples=20_000)
    drawn = scale * plain_bootstrap(tasks, column, 6_000, seed=1)
    for number, condition in ((1, "src-perc"), (2, "tgt")):
        row = row_of(found, condition)
        drop = drawn[:, 0] - drawn[:, number]
        for values, low, high in (
            (drop, row["low"], row["high"]),
            (100 * drop / drawn[:, 0], row["relative_low"], row["relative_high"]),
        ):
            slack = 4 * 0.035 * values.std()  # four times what an end of 6,000 resamples wanders by
            ends = np.quantile(values, [0.025, 0.975])
            assert (low, high) == pytest.approx(tuple(ends), abs=slack)
    # Conditions drawn each for itself would say something else: these data tell the two apart.
    apart = scale * plain_bootstrap(tasks, column, 2_000, seed=1, paired=False)
    assert (apart[:, 0] - apart[:, 2]).std() > 1.15 * (drawn[:, 0] - drawn[:, 2]).std()


def test_numbers_are_the_tables_and_no_seed_moves_them() -> None:
    tasks = pl.concat([tasks_of("asi"), tasks_of("mpcr", seed=1, logit=0.5)])
    table = sf.table(sf.cells(tasks, benchmark=SHOP), benchmark=SHOP)
    expected = sf.shift(table, benchmark=SHOP)
    seeds = [shifts(tasks, rng=seed) for seed in (0, 1)]
    for found in seeds:
        assert found.select(expected.columns).equals(expected)
        check_ends(found)
    assert not seeds[0].equals(seeds[1])
    # A run starts from the seed afresh: the other one does not show.
    assert shifts(tasks_of("asi")).equals(seeds[0].filter(run="asi"))


def test_from_the_other_side_a_fall_is_a_rise() -> None:
    tasks = tasks_of(seed=2, logit=0.5)
    there, back = row_of(shifts(tasks), "tgt"), row_of(shifts(tasks, source="tgt"), "src")
    assert (back["drop"], back["low"], back["high"]) == pytest.approx(
        (-there["drop"], -there["high"], -there["low"]), abs=1e-9
    )
    assert (back["source_value"], back["value"]) == (there["value"], there["source_value"])


def test_delta_method_agrees_where_there_are_many_families() -> None:
    many = sf.Benchmark("many", {"cart": 1_000, "search": 1_200}, ("src", "tgt"))
    tasks = tasks_of(benchmark=many).with_columns(
        success=pl.col("success")
        & ((pl.col("condition") == "src") | pl.col("uid").str.ends_with("1").not_())
    )
    auto = shifts(tasks, benchmark=many)
    assert set(auto.get_column("method")) == {"delta"}
    drawn = shifts(tasks, benchmark=many, method="bootstrap", resamples=4_000)
    assert set(drawn.get_column("method")) == {"bootstrap"}
    for low, high in (("low", "high"), ("relative_low", "relative_high")):
        width = drawn.row(0, named=True)[high] - drawn.row(0, named=True)[low]
        for end in (low, high):
            ends = [found.row(0, named=True)[end] for found in (auto, drawn)]
            assert ends[0] == pytest.approx(ends[1], abs=0.05 * width)


# Where there is no interval


def test_a_fall_on_which_all_families_agree_has_no_interval() -> None:
    tasks = tasks_of().with_columns(success=pl.col("condition") != "tgt")
    found = shifts(tasks)
    same, gone = row_of(found, "src-perc"), row_of(found, "tgt")
    for row, drop in ((same, 0.0), (gone, 100.0)):
        assert (row["drop"], row["low"], row["high"], row["method"]) == (drop, None, None, None)
        assert row["relative"] == drop
        assert row["reason"] == row["relative_reason"] == "no spread: all 33 families agree"


def test_a_fall_to_nothing_has_no_interval_as_a_share() -> None:
    """Whatever the source would have been, all of it is lost: 100 % in every resample."""
    tasks = tasks_of(logit=1.0).with_columns(
        success=pl.col("success") & (pl.col("condition") != "tgt")
    )
    row = row_of(shifts(tasks), "tgt")
    assert row["low"] < row["drop"] < row["high"]
    assert (row["relative"], row["relative_low"]) == (100.0, None)
    assert row["relative_reason"] == "no spread: all 33 families agree"


def test_nothing_is_a_share_of_a_source_of_0() -> None:
    tasks = tasks_of().with_columns(success=pl.col("success") & (pl.col("condition") != "src"))
    row = row_of(shifts(tasks), "tgt")
    assert row["low"] < row["drop"] < row["high"] < 0
    assert (row["relative"], row["relative_low"], row["relative_reason"]) == (
        *(None, None),
        "nothing is a share of 0",
    )


def test_a_source_that_resamples_often_lose_has_no_interval() -> None:
    """One success in 33 families: a third of the resamples have none, and nothing to be a share of."""
    one = pl.col("uid").eq("skillshift.cart.v1.3") & (pl.col("condition") == "src")
    row = row_of(shifts(tasks_of().with_columns(success=one), resamples=4_000), "tgt")
    assert row["low"] is not None
    assert row["relative_low"] is None
    share = float(row["relative_reason"].removeprefix("undefined in ").split()[0])
    assert share == pytest.approx(100 * (1 - 1 / 24) ** 24, abs=3)


def test_a_single_family_and_an_undefined_side_have_none() -> None:
    one = sf.Benchmark("one", sites={"cart": 1}, conditions=("src", "tgt"))
    single = shifts(tasks_of(benchmark=one), benchmark=one).row(0, named=True)
    assert single["reason"] == "a single family tells nothing about the next"
    absent = shifts(tasks_of().filter(pl.col("condition") != "tgt"))
    row = row_of(absent, "tgt")
    assert (row["value"], row["drop"], row["relative"], row["low"]) == (None,) * 4
    assert row["reason"] == row["relative_reason"] == "undefined on a side"
    assert row_of(absent, "src-perc")["low"] is not None


def test_families_are_those_with_the_metric_under_either_condition() -> None:
    rows = [row for row in simulate() if not row["uid"].endswith((".1", "v1.2", "v2.3"))]
    for row in rows:
        if row["uid"].endswith(".5"):
            row |= {"success": None, "error": "timeout"}
    found = shifts(frame_of(rows))
    # Gone everywhere: index 1 and, for its errors, 5. Under src also 2, under tgt 3; both have the other condition.
    assert dict(found.select("condition", "families").iter_rows()) == {
        "src-perc": 33 - 3 * 2,
        "tgt": 33 - 2 * 2,
    }


def test_no_tasks_give_no_rows() -> None:
    found = sf.shift_intervals(sf.TASKS.to_frame())
    assert found.is_empty()
    assert found.schema == sf.SHIFTS


def test_errors_count_as_asked() -> None:
    rows = simulate()
    for row in rows:
        if row["uid"].endswith("v2.1"):
            row |= {"success": None, "error": "timeout"}
    tasks = frame_of(rows)
    # A failure is what an error counts as; and no record is as good as one with an error.
    failed = tasks.with_columns(
        success=pl.col("success").fill_null(value=False), error=pl.lit(None, dtype=pl.String)
    )
    absent = tasks.filter(pl.col("error").is_null())
    assert shifts(tasks, errors="zero").equals(shifts(failed))
    assert shifts(tasks).equals(shifts(absent))
    assert not shifts(tasks, errors="zero").equals(shifts(tasks))


# What may not matter, and what is refused


def row_order(tasks: pl.DataFrame) -> pl.DataFrame:
    return tasks.sample(fraction=1.0, shuffle=True, seed=1)


def uid_names(tasks: pl.DataFrame) -> pl.DataFrame:
    index = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    return tasks.with_columns(uid=pl.format("{}: {}", 997 - 7 * index, pl.col("site")))


def trials(tasks: pl.DataFrame) -> pl.DataFrame:
    """Repeat every trial with the same outcome: nothing was learned from it."""
    return pl.concat([tasks, tasks.with_columns(trial=pl.lit(2, dtype=pl.Int64))])


@pytest.mark.parametrize("invariance", [row_order, uid_names, trials], ids=lambda f: f.__name__)
@pytest.mark.parametrize("metric", ["SR", "AS"])
def test_nothing_changes_to_the_last_bit(
    invariance: Callable[[pl.DataFrame], pl.DataFrame], metric: str
) -> None:
    tasks = pl.concat([tasks_of("asi"), tasks_of("mpcr", seed=1, logit=0.5)])
    other = invariance(tasks)
    assert not other.equals(tasks)
    assert shifts(other, metric=metric).equals(shifts(tasks, metric=metric))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "sr"}, "metric is 'sr'; one of SR, AS, ASC, SFR is needed"),
        ({"source": "cart"}, "source is 'cart'; one of src, src-perc, tgt is needed"),
        ({"source": "overall"}, "source is 'overall'"),
    ],
)
def test_no_metric_or_condition_of_that_name_is_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(sf.InputError, match=message):
        sf.shift(wide(), benchmark=SHOP, **options)
    with pytest.raises(sf.InputError, match=message):
        shifts(tasks_of(), **options)


def test_one_condition_has_nothing_to_fall_to() -> None:
    one = sf.Benchmark("one", sites={"cart": 3}, conditions=("plain",))
    with pytest.raises(sf.InputError, match="benchmark one has the condition plain only"):
        sf.shift_intervals(tasks_of(benchmark=one), benchmark=one)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (wide().drop("tgt"), "lacks the slot 'tgt'"),
        (wide().drop("metric"), "lacks the column 'metric'"),
        (wide(tgt=float("nan")), "slot 'tgt' holds NaN"),
        (wide(src=float("inf")), "slot 'src' holds NaN or a number beyond measure"),
        (wide().with_columns(drop=1.0), "has a column 'drop' already"),
    ],
)
def test_what_has_no_slots_is_refused(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(sf.InputError, match=message):
        sf.shift(frame, benchmark=SHOP)
    with pytest.raises(sf.InputError, match="cannot be inferred"):
        sf.shift(frame, benchmark="infer")


@settings(max_examples=25)
@given(records(runs=2))
def test_any_run_has_falls_that_are_none_or_proper(given_records: list[dict[str, Any]]) -> None:
    small = sf.Benchmark("small", SMALL.sites, SMALL.conditions)
    tasks = frame_of(given_records, small)
    check_ends(shifts(tasks, benchmark=small, resamples=100, source="hard"))
    delta = shifts(tasks, benchmark=small, method="delta")
    assert delta.select("source_value", "value", "drop", "relative").equals(
        shifts(tasks, benchmark=small, resamples=100).select(
            "source_value", "value", "drop", "relative"
        )
    )
