"""Two runs, pair by pair: the lift against plain arithmetic, and everything that finds no pair."""

from __future__ import annotations

import json
import time
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from scipy.stats import binomtest, norm  # noqa: TID253

import skillshift_frames as sf
from skillshift_frames.render.comparison import comparison_document
from tests.simulated import SHOP, frame_of, simulate, uid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

FEW = 400  # resamples, where the test is not about the number


def compare(tasks: pl.DataFrame, **options: Any) -> sf.Comparison:  # noqa: ANN401
    usual = {"base": "a", "treatment": "b", "benchmark": SHOP, "resamples": FEW}
    return sf.compare(tasks, **{**usual, **options})


def lift_of(found: sf.Comparison, metric: str = "SR", slot: str = "overall") -> dict[str, Any]:
    return found.lifts.filter(metric=metric, slot=slot).row(0, named=True)


def two_runs(lift: float = 0.6, seed: int = 0) -> list[dict[str, Any]]:
    """Give a base and a treatment on the same tasks: what is hard for one is hard for the other."""
    base = simulate("a", seed=10 * seed + 1, tasks_seed=seed)
    return [*base, *simulate("b", seed=10 * seed + 2, tasks_seed=seed, logit=lift)]


@pytest.fixture(scope="module")
def pairs() -> pl.DataFrame:
    return frame_of(two_runs())


def outcomes(
    base: Iterable[int],
    treatment: Iterable[int],
    benchmark: sf.Benchmark,
    **fields: Any,  # noqa: ANN401
) -> pl.DataFrame:
    """Give a site of one condition on which the sides have these outcomes, task by task."""
    (site,), (condition,) = benchmark.sites, benchmark.conditions
    common = {"site": site, "condition": condition, "steps": 3, "skill_calls": 1}
    rows = [
        common | {"run": run, "uid": str(i), "success": bool(passed), "skill_failures": 0} | fields
        for run, side in (("a", base), ("b", treatment))
        for i, passed in enumerate(side)
    ]
    return frame_of(rows, benchmark)


def one_cell(tasks: int) -> sf.Benchmark:
    return sf.Benchmark("one", sites={"cart": tasks}, conditions=("plain",))


# The lift and its interval


def differences(tasks: pl.DataFrame, column: str) -> dict[str, NDArray[np.float64]]:
    """Give treatment − base per site: condition × family."""
    family = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    found = {}
    for site, n in SHOP.sites.items():
        sides = [
            tasks.filter(site=site, run=run)
            .sort("condition", family)
            .get_column(column)
            .cast(pl.Float64)
            .to_numpy()
            .reshape(-1, n)
            for run in ("a", "b")
        ]
        found[site] = sides[1] - sides[0]
    return found


@pytest.mark.parametrize(
    ("metric", "column", "scale"),
    [("SR", "success", 100), ("AS", "steps", 1), ("ASC", "skill_calls", 1)],
)
def test_lift_is_a_mean_of_differences_with_a_bootstrap_of_families(
    pairs: pl.DataFrame, metric: str, column: str, scale: int
) -> None:
    found = compare(pairs, resamples=20_000)
    given = differences(pairs, column)
    expected = scale * np.mean([of_site.mean() for of_site in given.values()])
    row = lift_of(found, metric)
    assert row["lift"] == pytest.approx(expected, rel=1e-11)
    assert row["treatment"] - row["base"] == pytest.approx(row["lift"], abs=1e-9)

    rng = np.random.default_rng(1)
    drawn = np.zeros(6_000)
    for of_site in given.values():
        n = of_site.shape[1]
        drawn += [of_site[:, rng.integers(n, size=n)].mean() for _ in range(6_000)]
    drawn *= scale / len(given)
    slack = 4 * 0.035 * drawn.std()  # four times what an end of 6,000 resamples wanders by
    assert [row["low"], row["high"]] == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]).tolist(), abs=slack
    )


def test_failure_rate_lift_is_a_difference_of_ratios_of_sums(pairs: pl.DataFrame) -> None:
    given = pairs.group_by("run", "site", "condition").agg(
        rate=100 * pl.col("skill_failures").sum() / pl.col("skill_calls").sum()
    )
    rates = dict(given.group_by("run").agg(pl.col("rate").mean()).iter_rows())
    row = lift_of(compare(pairs), "SFR")
    assert (row["base"], row["treatment"]) == (
        pytest.approx(rates["a"]),
        pytest.approx(rates["b"]),
    )
    assert row["lift"] == pytest.approx(rates["b"] - rates["a"])
    assert (row["wins"], row["losses"], row["ties"]) == (None, None, None)


def test_sides_are_the_tables_where_nothing_is_missing(pairs: pl.DataFrame) -> None:
    table = sf.slots(sf.cells(pairs, benchmark=SHOP), benchmark=SHOP)
    wide = table.pivot("run", index=["metric", "slot"], values="value", maintain_order=True)
    lifts = compare(pairs).lifts
    assert lifts.schema == sf.LIFTS
    assert lifts.select("metric", "slot").equals(wide.select("metric", "slot"))
    for side, run in (("base", "a"), ("treatment", "b")):
        apart = (lifts.get_column(side) - wide.get_column(run)).abs().max()
        assert isinstance(apart, float)
        assert apart < 1e-9  # twelve digits are kept


def test_published_arithmetic_of_a_mean_of_paired_lifts() -> None:
    """947 cases, mean lift 0.2134: the half-width 0.0167 that ACES prints is 1.96 standard errors."""
    mean, half, n = 0.2134, 0.0167, 947
    rng = np.random.default_rng(6)
    drawn = rng.normal(size=n)
    drawn = (drawn - drawn.mean()) / drawn.std() * (half * n**0.5 / 1.96) + mean
    assert 1.96 * drawn.std() / n**0.5 == pytest.approx(0.0167, abs=1e-12)
    shop = one_cell(n)
    rows = [
        row | {"run": run, "reward": reward}
        for run, rewards in (("a", np.zeros(n)), ("b", drawn))
        for row, reward in zip(simulate(benchmark=shop), rewards.tolist(), strict=True)
    ]
    tasks = frame_of(rows, shop, extra="keep")
    for method, slack in (("delta", 1e-5), ("bootstrap", 0.0005)):
        found = compare(tasks, benchmark=shop, metrics=["reward"], method=method, resamples=20_000)
        row = lift_of(found, "reward")
        assert row["lift"] == pytest.approx(mean, abs=1e-12)
        assert row["low"] == pytest.approx(mean - half, abs=slack)
        assert row["high"] == pytest.approx(mean + half, abs=slack)
        assert found.decision.verdict == "helps"


def test_pairing_is_worth_what_the_sides_share(pairs: pl.DataFrame) -> None:
    """The interval of the lift is shorter than that of two independent runs."""
    row = lift_of(compare(pairs, method="delta"), "AS")
    each = sf.intervals(pairs, benchmark=SHOP, method="delta").filter(metric="AS", slot="overall")
    halves = ((each.get_column("high") - each.get_column("low")) / 2).to_list()
    assert (row["high"] - row["low"]) / 2 < 0.8 * float(np.hypot(*halves))


# Sides


#: A mean of 2/6 and 4/6 and one of 3/6 and 3/6 differ in their last bit, which is no sign of help.
HAIR = {
    "a": {"cart": [0, 0, 0, 0, 0, 1], "search": [1, 0, 1, 0, 1, 0]},
    "b": {"cart": [1, 0, 1, 1, 1, 1], "search": [1, 0, 0, 0, 1, 1]},
}


def hair(name: str) -> tuple[pl.DataFrame, sf.Benchmark]:
    """Give the sides as two runs, or as two conditions of one."""
    common = {"run": "one", "condition": "src", "steps": 3, "skill_calls": 0, "skill_failures": 0}
    conditions = ("src",) if name == "run" else ("a", "b")
    rows = [
        common
        | {name: side, "site": site, "success": bool(passed)}
        | {"uid": f"skillshift.{site}.v1.{i}"}
        for side, sites in HAIR.items()
        for site, outcomes in sites.items()
        for i, passed in enumerate(outcomes)
    ]
    six = sf.Benchmark("six", sites={"cart": 6, "search": 6}, conditions=conditions)
    return frame_of(rows, six), six


def test_an_end_at_exactly_zero_is_on_no_side_of_it() -> None:
    tasks, six = hair("run")
    differences = [
        [b - a for a, b in zip(HAIR["a"][site], HAIR["b"][site], strict=True)] for site in six.sites
    ]
    # Every resample there can be: how often twelve draws, six from each site, have each sum.
    sums = Counter({0: 1})
    for family in (site for site in differences for _ in site):
        sums = Counter(
            {
                total: sum(ways * family.count(total - before) for before, ways in sums.items())
                for total in range(-12, 13)
            }
        )
    below = sum(ways for total, ways in sums.items() if total < 0)
    assert below < 0.02 * 6**12 < 0.028 * 6**12 < below + sums[0]  # so the 2.5 % quantile is 0
    found = compare(tasks, benchmark=six, resamples=10_000)
    assert lift_of(found)["low"] == 0.0
    assert lift_of(found)["discordant"] == 6
    assert found.decision.verdict == "undetermined"
    top = sf.ranks(tasks, benchmark=six).row(0, named=True)
    assert (top["run"], top["lift_low"], top["apart"]) == ("b", 0.0, False)
    tasks, six = hair("condition")
    fall = sf.shift_intervals(tasks, source="b", benchmark=six).row(0, named=True)
    assert (fall["drop"], fall["low"]) == (pytest.approx(100 / 3), 0.0)


def test_swapping_sides_flips_every_sign(pairs: pl.DataFrame) -> None:
    """Bit-equal in the estimates; the ends are simulated from rows in another order, as the columns of the sides swap."""
    there = compare(pairs, resamples=4_000)
    back = compare(pairs, base="b", treatment="a", resamples=4_000)
    mine, other = there.lifts, back.lifts
    assert mine.get_column("lift").equals((-other.get_column("lift")).alias("lift"))
    assert mine.get_column("base").equals(other.get_column("treatment").alias("base"))
    for ours, theirs in (("wins", "losses"), ("ties", "ties"), ("discordant", "discordant")):
        assert mine.get_column(ours).equals(other.get_column(theirs).alias(ours))
    width = mine.get_column("high") - mine.get_column("low")
    for end, far in (("low", "high"), ("high", "low")):
        apart = (mine.get_column(end) + other.get_column(far)).abs()
        assert (apart < 0.08 * width).all()
    assert (there.bounds.low, there.bounds.high) == (-back.bounds.high, -back.bounds.low)
    assert there.outcomes.p == back.outcomes.p
    assert there.outcomes.treatment_only == back.outcomes.base_only
    turned = {"gained": "lost", "lost": "gained"}
    assert there.flips.with_columns(pl.col("flip").replace(turned)).equals(back.flips)


def test_swapping_sides_flips_the_delta_intervals_but_for_rounding(pairs: pl.DataFrame) -> None:
    mine = compare(pairs, method="delta").lifts
    other = compare(pairs, base="b", treatment="a", method="delta").lifts
    apart = (mine.get_column("low") + other.get_column("high")).abs().max()
    assert isinstance(apart, float)
    assert apart < 1e-7


def test_run_against_itself_is_undetermined(pairs: pl.DataFrame) -> None:
    for method in ("bootstrap", "delta"):
        found = compare(pairs, treatment="a", method=method, margin=3)
        assert set(found.lifts.get_column("lift")) == {0.0}
        assert found.lifts.select("low", "high").null_count().row(0) == (found.lifts.height,) * 2
        assert set(found.lifts.get_column("discordant")) == {0}
        assert (found.outcomes.p, found.outcomes.can_be_significant) == (1.0, False)
        assert found.outcomes.treatment_only == found.outcomes.base_only == 0
        assert (found.bounds.low, found.bounds.high) == (0.0, 0.0)
        assert found.flips.is_empty()
        assert lift_of(found)["reason"] == "no spread: all 33 families agree"
        assert found.decision.verdict == "undetermined"
        assert found.decision.reason == "no spread: no pair differs"
        assert found.decision.recommendation == "insufficient evidence"


def test_order_of_the_rows_does_not_show(pairs: pl.DataFrame) -> None:
    mixed = pairs.sample(fraction=1.0, shuffle=True, seed=4)
    mine, other = (compare(tasks, margin=5).to_dict() for tasks in (pairs, mixed))
    assert json.dumps(mine) == json.dumps(other)


def test_unknown_run_is_refused_with_those_that_there_are(pairs: pl.DataFrame) -> None:
    with pytest.raises(sf.InputError, match="no run 'c'; there are a, b"):
        compare(pairs, treatment="c")


# What finds no pair


def test_unpaired_records_are_listed_and_in_no_lift() -> None:
    rows = two_runs()
    kept = [
        row
        for row in rows
        if (row["run"], row["uid"])
        not in {("a", uid("cart", "src", 3)), ("b", uid("search", "tgt", 1))}
    ]
    found = compare(frame_of(kept))
    assert found.only_treatment.rows() == [
        ("cart", "src", uid("cart", "src", 3), 1),
        ("cart", "src-perc", uid("cart", "src", 3), 1),
    ]
    assert found.only_base.rows() == [("search", "tgt", uid("search", "tgt", 1), 1)]
    assert found.pairs == 33 * 3 - 3
    both = [
        row
        for row in rows
        if (row["uid"], row["condition"] == "tgt")
        not in {(uid("cart", "src", 3), False), (uid("search", "tgt", 1), True)}
    ]
    assert compare(frame_of(both)).lifts.equals(found.lifts)


@pytest.mark.parametrize(("errors", "pairs", "tasks"), [("exclude", 98, 98), ("zero", 99, 99)])
def test_errored_pairs_are_listed_and_left_out_or_failed(
    errors: str, pairs: int, tasks: int
) -> None:
    rows = two_runs()
    errored = next(row for row in rows if row["run"] == "b" and row["success"])
    errored.update(success=None, error="timeout")
    found = compare(frame_of(rows), errors=errors)
    key = (errored["site"], errored["condition"], errored["uid"], 1)
    assert found.errored.rows() == [(*key, None, "timeout")]
    assert (found.pairs, lift_of(found)["tasks"]) == (pairs, tasks)
    assert found.only_base.is_empty()
    assert found.errors == errors
    # As written by hand: without the pair, or with a failure on that side.
    by_hand = [
        row | ({"success": False, "error": None} if row is errored else {})
        for row in rows
        if errors == "zero" or (row["site"], row["condition"], row["uid"]) != key[:3]
    ]
    assert compare(frame_of(by_hand)).lifts.equals(found.lifts)


def test_site_and_condition_of_one_side_have_no_lift_and_overall_is_over_the_rest() -> None:
    rows = [
        row
        for row in two_runs()
        if (row["run"], row["condition"]) != ("a", "tgt")
        and (row["run"], row["site"]) != ("b", "search")
    ]
    found = compare(frame_of(rows))
    assert found.only_base.get_column("site").unique().to_list() == ["search"]
    assert set(found.only_treatment.get_column("condition")) == {"tgt"}
    for slot in ("search", "tgt"):
        row = lift_of(found, slot=slot)
        assert (row["base"], row["treatment"], row["lift"], row["low"]) == (None,) * 4
        assert (row["reason"], row["cells"], row["tasks"]) == ("no pairs", 0, 0)
    overall = lift_of(found)
    assert (overall["cells"], overall["cells_expected"]) == (2, 6)
    assert overall["families"] == 24
    means = frame_of(rows).filter(pl.col("condition") != "tgt", site="cart")
    by_run = dict(means.group_by("run").agg(100 * pl.col("success").mean()).iter_rows())
    assert overall["lift"] == pytest.approx(by_run["b"] - by_run["a"])
    assert overall["low"] < overall["lift"] < overall["high"]
    assert (
        json.loads(json.dumps(found.to_dict(), allow_nan=False))["metrics"]["SR"]["tgt"]["lift"]
        is None
    )


def test_runs_without_a_common_task_have_no_pairs() -> None:
    rows = [*simulate("a")[:20], *simulate("b")[40:60]]
    found = compare(frame_of(rows), margin=5)
    assert (found.pairs, found.only_base.height, found.only_treatment.height) == (0, 20, 20)
    assert found.lifts.get_column("lift").null_count() == found.lifts.height
    assert found.use.sentence == "there are no pairs"
    assert (found.decision.verdict, found.decision.reason) == ("undetermined", "there are no pairs")
    assert found.outcomes.p == 1.0
    json.dumps(found.to_dict(), allow_nan=False)


# Bounds


def test_bounds_are_the_ends_of_all_fillings() -> None:
    small = sf.Benchmark("small", sites={"x": 3, "y": 2}, conditions=("plain",))
    given: dict[tuple[str, str], list[bool | None]] = {
        ("a", "x"): [True, None, False],
        ("b", "x"): [True, True, None],
        ("a", "y"): [False, False],
        ("b", "y"): [None, True],
    }

    def lift_when(filled: Sequence[bool]) -> float:
        gaps = iter(filled)
        means = {
            cell: np.mean([next(gaps) if passed is None else passed for passed in of_cell])
            for cell, of_cell in given.items()
        }
        return 50 * float(means["b", "x"] + means["b", "y"] - means["a", "x"] - means["a", "y"])

    every = [lift_when(filled) for filled in product([False, True], repeat=3)]
    rows = [
        {
            "run": run,
            "site": site,
            "condition": "plain",
            "uid": f"{site}{i}",
            "success": passed,
            "steps": 1,
            "skill_calls": 0,
            "skill_failures": 0,
        }
        for (run, site), of_cell in given.items()
        for i, passed in enumerate(of_cell)
    ]
    missing = [row for row in rows if row["success"] is not None]
    errored = [row | ({"error": "x"} if row["success"] is None else {}) for row in rows]
    for records in (missing, errored):
        found = compare(frame_of(records, small), benchmark=small)
        assert found.bounds.low == pytest.approx(min(every))
        assert found.bounds.high == pytest.approx(max(every))
        assert found.bounds.sign_survives == (min(every) > 0 or max(every) < 0)


@pytest.mark.parametrize(
    ("base", "treatment", "survives"),
    [
        ([0, 0, 0, 0], [1, 1, 1], True),  # gap of the treatment: lift 75 to 100
        ([1, 1, 1], [0, 0, 0, 0], True),
        ([0, 0, 0], [1, 0, 0, 0], False),  # the base's gap may have passed: 0 to 25
        ([1, 0], [1, 0], False),
    ],
)
def test_sign_survives_only_if_no_filling_turns_it(
    base: list[int],
    treatment: list[int],
    survives: bool,  # noqa: FBT001
) -> None:
    shop = one_cell(4)
    found = compare(outcomes(base, treatment, shop), benchmark=shop)
    assert found.bounds.sign_survives == survives


# Where a lift can be, and what p takes for independent


def of_tasks(sides: dict[str, list[bool]]) -> pl.DataFrame:
    shop = one_cell(len(next(iter(sides.values()))))
    rows = [
        {"run": run, "uid": str(n), "success": passed, "steps": 1, "skill_calls": 0}
        | {"site": "cart", "condition": "plain", "skill_failures": 0}
        for run, side in sides.items()
        for n, passed in enumerate(side)
    ]
    return sf.from_frame(pl.DataFrame(rows), benchmark=shop)


def test_no_rate_rises_by_more_than_a_hundred_points() -> None:
    """Two tasks, lifts of 0 and 100: the delta method's ends are 50 ± 1.96 · 50 / √2, of which −19 to 100 can be."""
    tasks = of_tasks({"a": [False, True], "b": [True, True]})
    found = compare(tasks, benchmark=one_cell(2), method="delta", margin=5)
    row = lift_of(found)
    assert row["low"] == pytest.approx(50 - norm.ppf(0.975) * 50 / 2**0.5)
    assert row["high"] == 100
    assert row["equivalence_high"] == 100


def test_what_would_settle_a_lift_that_is_cut_off_on_both_sides_is_not_known() -> None:
    """Two gained and one lost: 33 ± 2.58 · 94 / √3 at 99 %, and at 95 % what has to shrink is still in sight."""
    tasks = of_tasks({"a": [False, False, True], "b": [True, True, False]})
    found = compare(tasks, benchmark=one_cell(3), method="delta", level=0.99)
    row = lift_of(found)
    assert (row["low"], row["high"]) == (-100, 100)
    assert found.decision.settle is None
    assert compare(tasks, benchmark=one_cell(3), method="delta").decision.settle is not None


def test_p_says_of_how_many_families_its_tasks_are(pairs: pl.DataFrame) -> None:
    found = compare(pairs)
    assert (found.outcomes.tasks, found.outcomes.families) == (99, 33)
    document = comparison_document(found, SHOP, flips=False)
    said = next(note.text for note in document.notes if "exact sign test" in note.text)
    assert "it takes 99 tasks for independent, and they are of 33 families" in said
    alone = of_tasks({"a": [False, True], "b": [True, True]})
    found = compare(alone, benchmark=one_cell(2))
    assert (found.outcomes.tasks, found.outcomes.families) == (2, 2)
    document = comparison_document(found, one_cell(2), flips=False)
    assert not any("for independent" in note.text for note in document.notes)


# Outcomes, flips, use


def test_outcomes_count_pairs_and_test_those_that_differ(pairs: pl.DataFrame) -> None:
    wide = pairs.pivot("run", index=["site", "condition", "uid"], values="success")
    counted = wide.group_by("a", "b").len()
    expected = {(a, b): n for a, b, n in counted.iter_rows()}
    found = compare(pairs).outcomes
    assert (found.both, found.treatment_only, found.base_only, found.neither) == tuple(
        expected[key] for key in ((True, True), (False, True), (True, False), (False, False))
    )
    p = binomtest(found.treatment_only, found.treatment_only + found.base_only).pvalue
    assert found.p == pytest.approx(p, abs=1e-12)
    row = lift_of(compare(pairs))
    assert (row["wins"], row["losses"]) == (found.treatment_only, found.base_only)
    assert row["ties"] == found.both + found.neither


@pytest.mark.parametrize(("gained", "possible"), [(5, False), (6, True)])
def test_five_discordant_pairs_could_not_have_been_significant(
    gained: int,
    possible: bool,  # noqa: FBT001
) -> None:
    shop = one_cell(30)
    found = compare(outcomes([0] * 30, [1] * gained + [0] * (30 - gained), shop), benchmark=shop)
    assert found.outcomes.can_be_significant == possible
    assert (found.outcomes.p < 0.05) == possible


def test_flips_name_the_pairs_that_changed_sides() -> None:
    shop = one_cell(4)
    found = compare(outcomes([1, 1, 0, 0], [1, 0, 1, 0], shop), benchmark=shop)
    assert found.flips.rows() == [
        ("cart", "plain", "1", 1, "lost"),
        ("cart", "plain", "2", 1, "gained"),
    ]


@pytest.mark.parametrize(
    ("calls", "sentence", "called"),
    [
        ([0, 0, 0, 0], "no skill was ever called: the lift is not the skills'", 0),
        (
            [0, 2, 1, 0],
            "a skill was called in 2 of 4 tasks (50.0 %); SR lift among those +50.00",
            2,
        ),
        ([None] * 4, "skills do not apply to the treatment: it records no calls", None),
    ],
)
def test_use_says_whether_skills_were_called(
    calls: list[int | None], sentence: str, called: int | None
) -> None:
    shop = one_cell(4)
    tasks = outcomes([0, 0, 1, 1], [0, 1, 1, 0], shop)
    made = pl.Series("made", [*[0] * 4, *calls], dtype=pl.Int64)
    skills = pl.when(pl.col("run") == "b").then(made).otherwise("skill_calls")
    found = compare(
        tasks.with_columns(skill_calls=skills, skill_failures=skills * 0), benchmark=shop
    )
    assert (found.use.tasks, found.use.with_call) == (4, called)
    assert found.use.sentence == sentence
    assert found.use.lift == (50.0 if called else None)


# What is compared: metrics, columns, parts, trials of a task


def with_columns_of_its_own() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    rows = [
        row
        | {
            "reward": float(rng.random()),
            "cost": int(rng.integers(9)),
            "clean": bool(rng.random() < 0.5),
            "kind": "long" if row["uid"].endswith(("1", "2")) else "short",
        }
        for row in two_runs()
    ]
    return frame_of(rows, extra="keep")


@pytest.mark.parametrize(
    ("column", "dtype"), [("reward", pl.Float64), ("cost", pl.Int64), ("clean", pl.Boolean)]
)
def test_any_numeric_or_boolean_column_is_a_metric(column: str, dtype: pl.DataType) -> None:
    tasks = with_columns_of_its_own()
    assert tasks.schema[column] == dtype
    found = compare(tasks, metrics=[column, "SR"])
    row = lift_of(found, column)
    assert row["lift"] == pytest.approx(
        np.mean([d.mean() for d in differences(tasks, column).values()])
    )
    assert found.metric == column
    difference = np.concatenate([d.ravel() for d in differences(tasks, column).values()])
    assert (row["wins"], row["losses"]) == ((difference > 0).sum(), (difference < 0).sum())


def test_steps_win_where_they_are_fewer() -> None:
    tasks = frame_of(two_runs())
    difference = np.concatenate([d.ravel() for d in differences(tasks, "steps").values()])
    row = lift_of(compare(tasks), "AS")
    assert (row["wins"], row["losses"]) == ((difference < 0).sum(), (difference > 0).sum())


def test_composite_is_the_mean_of_its_parts_per_record() -> None:
    tasks = with_columns_of_its_own()
    mean = (pl.col("reward") + pl.col("cost") + pl.col("success")) / 3
    by_hand = differences(tasks.with_columns(mean=mean), "mean")
    found = compare(tasks, metrics=["SR"], composite=["reward", "cost", "SR"])
    assert found.lifts.get_column("metric").unique(maintain_order=True).to_list() == [
        "SR",
        "composite",
    ]
    row = lift_of(found, "composite")
    assert row["lift"] == pytest.approx(np.mean([d.mean() for d in by_hand.values()]))
    assert found.composite == ("reward", "cost", "SR")


def test_metric_known_on_both_sides_only_counts_where_it_is() -> None:
    """A null on one side takes the pair out of that metric, and its family out of the count."""
    rows = [row | {"reward": 1.0 if row["run"] == "b" else 0.25} for row in two_runs()]
    for row in rows:
        known = row["uid"].endswith(("v1.1", ".2"))  # and v2.1, under tgt, is not
        if row["site"] == "cart" and not known:
            row["reward"] = None if row["run"] == "b" else 9.0
    found = compare(frame_of(rows, extra="keep"), metrics=["reward"])
    row = lift_of(found, "reward", "cart")
    assert (row["lift"], row["families"], row["wins"], row["tasks"]) == (0.75, 2, 5, 5)
    # Of 24 families one is known under tgt, and more than a third of the resamples is without it.
    assert row["reason"].startswith("undefined in 36")
    nothing = [row | {"reward": None if row["run"] == "a" else 1.0} for row in rows]
    undefined = lift_of(compare(frame_of(nothing, extra="keep"), metrics=["reward"]), "reward")
    assert (undefined["lift"], undefined["reason"]) == (None, "undefined on a side")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["speed"]}, "no metric 'speed': neither one of the four nor"),
        ({"metrics": ["kind"]}, "no metric 'kind'"),
        ({"metrics": ["trial"]}, "no metric 'trial'"),
        ({"metrics": []}, "no metric to compare"),
        ({"composite": ["SR", "SFR"]}, "SFR cannot be part of a composite"),
        ({"by": "colour"}, "no column 'colour' to break"),
        ({"margin": 0}, "margin 0 is not a positive number"),
        ({"margin": float("nan")}, "margin nan is not"),
        ({"margin": float("inf")}, "margin inf is not"),
        ({"margin": 3, "level": 0.5}, "a level above 0.5 is needed"),
        ({"level": 1.5}, "level 1.5 is not"),
        ({"resamples": 10}, "10 resamples are too few"),
        ({"rng": -3}, "seed -3 is negative"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sf.InputError, match=message):
        compare(with_columns_of_its_own(), **options)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_column_with_nan_is_refused_and_not_averaged(value: float) -> None:
    tasks = with_columns_of_its_own()
    broken = tasks.with_columns(
        reward=pl.when(pl.int_range(pl.len()) == 5).then(value).otherwise("reward")
    )
    with pytest.raises(sf.InputError, match="column 'reward' holds NaN or an infinity"):
        compare(broken, metrics=["reward"])
    assert compare(broken, metrics=["SR"]).pairs == 99


def test_metric_named_twice_is_compared_once() -> None:
    found = compare(with_columns_of_its_own(), metrics=["SR", "AS", "SR"])
    assert found.lifts.height == 2 * len(SHOP.slots)


@pytest.mark.parametrize("by", ["kind", "condition"])
def test_breakdown_adds_the_overall_of_every_value(by: str) -> None:
    tasks = with_columns_of_its_own()
    found = compare(tasks, by=by)
    added = found.lifts_by.filter(metric="SR")
    values = sorted(set(tasks.get_column(by)))
    assert added.get_column("slot").to_list() == [f"{by}={value}" for value in values]
    for value, row in zip(values, added.iter_rows(named=True), strict=True):
        part = compare(tasks.filter(pl.col(by) == value))
        expected = lift_of(part) | {"slot": f"{by}={value}"}
        assert row == expected
    assert found.lifts.equals(compare(tasks).lifts)
    assert f"{by}={values[0]}" in found.to_dict()["metrics"]["SR"]


def test_breakdown_does_not_change_the_recommendation() -> None:
    """Whoever breaks a lift down by its own outcome sees gains and losses in it; they are no sites or conditions."""
    tasks = with_columns_of_its_own()
    plain, broken = compare(tasks), compare(tasks, by="success")
    assert broken.lifts_by.height
    assert broken.decision == plain.decision


def test_pairs_without_a_value_of_the_breakdown_are_one_more_slot() -> None:
    tasks = with_columns_of_its_own()
    some = tasks.with_columns(
        kind=pl.when(pl.col("uid") != tasks.get_column("uid")[0]).then("kind")
    )
    found = compare(some, by="kind").lifts_by.filter(metric="SR")
    assert found.get_column("slot").to_list()[-1] == "kind=null"
    assert found.get_column("tasks").sum() == lift_of(compare(some))["tasks"]


def test_an_interval_does_not_depend_on_what_else_is_compared() -> None:
    tasks = with_columns_of_its_own()
    alone = lift_of(compare(tasks, metrics=["SR"]))
    assert lift_of(compare(tasks)) == alone
    assert lift_of(compare(tasks, metrics=["SR", "AS"])) == alone


def test_calls_are_neither_better_nor_worse() -> None:
    found = compare(with_columns_of_its_own(), metrics=["ASC"])
    assert (found.decision.verdict, found.decision.recommendation) == (
        "undetermined",
        "insufficient evidence",
    )
    assert found.decision.reason == "more ASC is neither better nor worse"


def test_trials_of_a_task_are_averaged_before_tasks() -> None:
    """One task with two of three against none, one with none against its only trial: (−2/3 + 1) / 2."""
    shop = one_cell(2)
    given = {"a": {"x": [1, 1, 0], "y": [0]}, "b": {"x": [0, 0, 0], "y": [1]}}
    rows = [
        {
            "run": run,
            "site": "cart",
            "condition": "plain",
            "uid": name,
            "trial": number,
            "success": bool(passed),
            "steps": 1,
            "skill_calls": 0,
            "skill_failures": 0,
        }
        for run, tasks in given.items()
        for name, trials in tasks.items()
        for number, passed in enumerate(trials, 1)
    ]
    found = compare(frame_of(rows, shop), benchmark=shop)
    row = lift_of(found)
    assert row["lift"] == pytest.approx(100 * (-2 / 3 + 1) / 2)
    assert (row["tasks"], row["families"], row["wins"], row["losses"]) == (2, 2, 1, 1)
    # Four pairs of trials, two of which the base won; one vote per task in the test.
    assert (found.outcomes.base_only, found.outcomes.treatment_only, found.pairs) == (2, 1, 4)
    assert found.outcomes.p == 1.0
    # A trial of one side only pairs with none.
    lonely = [*rows, rows[0] | {"trial": 4, "success": True}]
    again = compare(frame_of(lonely, shop), benchmark=shop)
    assert again.only_base.rows() == [("cart", "plain", "x", 4)]
    assert again.lifts.equals(found.lifts)


def test_trials_of_one_task_have_one_vote() -> None:
    """Six trials that all gain would be p = 0.03, if they were six tasks."""
    shop = one_cell(2)
    trials = [
        outcomes([0, 0], [1, 0], shop, trial=number).select(sf.TASKS.names())
        for number in range(1, 7)
    ]
    found = compare(pl.concat(trials), benchmark=shop).outcomes
    assert found.treatment_only == 6
    assert (found.p, found.can_be_significant) == (1.0, False)


# The whole


KEYS = {
    *("schema_version", "base", "treatment", "pairs", "only_base", "only_treatment", "errored"),
    *("metrics", "outcomes", "bounds", "verdict", "reason", "recommendation"),
}


def test_dictionary_is_strict_json_with_the_documented_keys() -> None:
    rows = two_runs()
    rows[0].update(success=None, error="timeout")
    del rows[5]
    found = compare(frame_of(rows), margin=5)
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content == found.to_dict()
    assert set(content) >= KEYS
    assert (content["schema_version"], content["base"], content["treatment"]) == (1, "a", "b")
    assert list(content["metrics"]) == ["SR", "AS", "ASC", "SFR"]
    for of_metric in content["metrics"].values():
        assert tuple(of_metric) == SHOP.slots
        assert all(
            {"base", "treatment", "lift", "low", "high"} <= set(row) for row in of_metric.values()
        )
    assert set(content["outcomes"]) >= {"both", "treatment_only", "base_only", "neither", "p"}
    assert set(content["bounds"]) == {"low", "high", "sign_survives"}
    assert len(content["only_treatment"]) == len(content["errored"]) == 1
    assert (content["verdict"], content["reason"]) == (
        found.decision.verdict,
        found.decision.reason,
    )


def test_generator_and_seed_move_the_ends_and_nothing_else(pairs: pl.DataFrame) -> None:
    first, second = (compare(pairs, rng=seed) for seed in (0, 1))
    fixed = [name for name in sf.LIFTS if name not in {"low", "high"}]
    assert first.lifts.select(fixed).equals(second.lifts.select(fixed))
    assert not first.lifts.equals(second.lifts)
    assert (first.seed, second.seed) == (0, 1)
    drawn = compare(pairs, rng=np.random.default_rng(5))
    assert compare(pairs, rng=drawn.seed).lifts.equals(drawn.lifts)


def test_ten_thousand_pairs_take_a_moment() -> None:
    big = sf.Benchmark(
        "big", sites={"x": 1_000, "y": 700}, conditions=SHOP.conditions * 1 + ("q", "r", "s")
    )
    rows = [*simulate("a", benchmark=big, seed=1), *simulate("b", benchmark=big, seed=2)]
    tasks = frame_of(rows, big)
    start = time.perf_counter()
    found = compare(tasks, benchmark=big, resamples=1_000)
    assert (
        time.perf_counter() - start < 15
    )  # about one on an idle machine; a quadratic join would take minutes
    assert found.pairs == 10_200


def test_lazy_frame_is_as_good(pairs: pl.DataFrame) -> None:
    assert compare(pairs.lazy()).lifts.equals(compare(pairs).lifts)  # type: ignore[arg-type]


def test_unequal_sites_weigh_alike_in_a_lift() -> None:
    """10 tasks gain, 1,000 do not change: half of the lift, not a hundredth."""
    shop = sf.Benchmark("shop", sites={"big": 1_000, "small": 10}, conditions=("plain",))
    rows = [
        row | {"run": run, "success": row["site"] == "small" and run == "b"}
        for run in ("a", "b")
        for row in simulate(benchmark=shop)
    ]
    found = compare(frame_of(rows, shop), benchmark=shop)
    assert lift_of(found)["lift"] == 50.0
    headline = [lift_of(found, slot=site)["lift"] for site in shop.sites]
    assert lift_of(found)["lift"] == sum(headline) / 2
