"""Calibration: an anchor's values and sigmas, the subset, and how a run is judged by it."""

from __future__ import annotations

import copy
import json
import math
import statistics
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import beta, norm  # noqa: TID253
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

import skillshift_frames as sf
from skillshift_frames.anchor import PINNED, spread
from skillshift_frames.calibrate import CALIBRATION, _bound, calibration
from skillshift_frames.errors import InputError
from skillshift_frames.readers.anchors import LARGEST_FILE, read_anchor
from skillshift_frames.stats.intervals import exact_binomial
from tests import reference
from tests.strategies import SMALL, run_records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.strategies import Record

Errors: TypeAlias = Literal["exclude", "zero"]
Json: TypeAlias = dict[str, Any]

DEMO = Path(__file__).parents[1] / "data" / "demo"
RUNS = ("induced", "reference", "workflow")
METRICS = ("SR", "AS", "ASC", "SFR")
SHOP = sf.Benchmark("shop", sites={"cart": 4, "search": 2}, conditions=("plain", "shifted"))
ONE = sf.Benchmark("one", sites={"cart": 4}, conditions=("plain",))


@pytest.fixture(scope="module")
def demo() -> dict[str, pl.DataFrame]:
    return {run: sf.read_tasks(DEMO / f"{run}.jsonl") for run in RUNS}


def tasks_of(
    steps: Sequence[int | None],
    passed: int = 0,
    *,
    benchmark: sf.Benchmark = ONE,
    run: str = "asi",
    calls: int | None = 0,
    errored: int = 0,
) -> pl.DataFrame:
    """Give every cell the same tasks: these steps, the first ``passed`` of them successes, the last ones not measured."""
    rows = [
        {
            "run": run,
            "uid": f"skillshift.{site}.v1.{index}",
            "site": site,
            "condition": condition,
            "success": index < passed,
            "steps": taken,
            "skill_calls": calls,
            "skill_failures": calls,
            "error": "timeout" if index >= len(steps) - errored else None,
        }
        for site in benchmark.sites
        for condition in benchmark.conditions
        for index, taken in enumerate(steps)
    ]
    frame = pl.DataFrame(rows, schema_overrides=dict(sf.TASKS), infer_schema_length=None)
    return sf.from_frame(frame, benchmark=benchmark)


def anchor_of(
    tasks: pl.DataFrame,
    benchmark: sf.Benchmark = ONE,
    **options: Any,  # noqa: ANN401 - passed on
) -> Json:
    return sf.anchor(tasks, benchmark=benchmark, **options)


def judged(
    tasks: pl.DataFrame,
    anchor: Json,
    metric: str,
    benchmark: sf.Benchmark = ONE,
    **options: Any,  # noqa: ANN401 - passed on
) -> Json:
    """Give the only row of a metric."""
    found = sf.calibrate(tasks, anchor, benchmark=benchmark, **options)
    return found.filter(metric=metric).row(0, named=True)


# What an anchor holds


def per_task(records: Sequence[Record], field: str, errors: Errors) -> list[Fraction]:
    """Average each task's trials exactly, by the definitions and nothing else."""
    by_task: dict[str, list[int]] = {}
    for record in records:
        errored = bool(record.get("error"))
        if errored and errors == "exclude":
            continue
        value = record[field]
        if field == "success":
            value = int(bool(value) and not errored)
        if value is not None:
            by_task.setdefault(record["uid"], []).append(value)
    return [Fraction(sum(values), len(values)) for values in by_task.values()]


def expected_sigma(metric: str, values: list[Fraction]) -> float | None:
    """Give √(p(1 − p)/n) in percent, or the sample standard deviation/√n."""
    n = len(values)
    if metric == "SR":
        p = statistics.mean(values) if values else Fraction()
        return 100 * math.sqrt(p * (1 - p) / n) if n else None
    return math.sqrt(statistics.variance(values) / n) if n > 1 else None


FIELDS = {"SR": "success", "AS": "steps", "ASC": "skill_calls"}


def assert_anchor_is_exact(
    made: Json, records: Sequence[Record], benchmark: sf.Benchmark, errors: Errors
) -> None:
    exact = reference.evaluate(records, benchmark.sites, benchmark.conditions, errors=errors)
    (run,) = exact.values()
    assert [(cell["site"], cell["condition"]) for cell in made["cells"]] == list(run.cells)
    for cell in made["cells"]:
        place = (cell["site"], cell["condition"])
        own = [r for r in records if (r["site"], r["condition"]) == place]
        assert cell["n"] == len(per_task(own, "success", errors))
        for metric, number in cell["metrics"].items():
            value = run.cells[place].values[metric]
            assert number["value"] == (None if value is None else float(value))
            expected = None
            if metric in FIELDS:
                expected = expected_sigma(metric, per_task(own, FIELDS[metric], errors))
            assert number["sigma"] == (
                expected if expected is None else pytest.approx(expected, rel=1e-14, abs=0)
            )


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_demo_run_equals_the_exact_fractions(
    demo: dict[str, pl.DataFrame], run: str, errors: Errors
) -> None:
    lines = (DEMO / f"{run}.jsonl").read_text().splitlines()
    made = sf.anchor(demo[run], errors=errors)
    assert_anchor_is_exact(made, list(map(json.loads, lines)), sf.SKILLSHIFT, errors)


@given(run_records(SMALL), st.sampled_from(["exclude", "zero"]))
def test_any_run_equals_the_exact_fractions(records: list[Record], errors: Errors) -> None:
    assume(any(errors == "zero" or not record.get("error") for record in records))
    benchmark = sf.Benchmark("small", sites=SMALL.sites, conditions=SMALL.conditions)
    frame = pl.DataFrame(records, schema_overrides=dict(sf.TASKS), infer_schema_length=None)
    tasks = sf.from_frame(frame, run="run", benchmark=benchmark)
    made = sf.anchor(tasks, benchmark=benchmark, errors=errors)
    assert_anchor_is_exact(made, records, benchmark, errors)
    assert sf.anchor(tasks[::-1], benchmark=benchmark, errors=errors) == made


def test_whole_cells_have_the_numbers_of_cells(demo: dict[str, pl.DataFrame]) -> None:
    made = sf.anchor(demo["induced"])
    values = [[cell["metrics"][m]["value"] for m in METRICS] for cell in made["cells"]]
    assert values == [list(row) for row in sf.cells(demo["induced"]).select(METRICS).rows()]


def test_anchor_worked_out_by_hand() -> None:
    made = anchor_of(tasks_of([1, 2, 3, 6], passed=1, calls=2), step_budget=9)
    # √(¼ · ¾ / 4) = 0.2165…; steps: mean 3, squares 4 + 1 + 0 + 9 = 14, √(14/3/4) = 1.0801…
    assert made.pop("tool") == {"name": "skillshift-frames", "version": sf.__version__}
    assert made == {
        "schema_version": "1.0",
        "benchmark": "one",
        "run": "asi",
        "errors": "exclude",
        "threshold_sigma": 3.0,
        "step_budget": 9,
        "subset": None,
        "cells": [
            {
                "site": "cart",
                "condition": "plain",
                "n": 4,
                "metrics": {
                    "SR": {"value": 25.0, "sigma": pytest.approx(21.650635094610966)},
                    "AS": {"value": 3.0, "sigma": pytest.approx(1.0801234497346435)},
                    "ASC": {"value": 2.0, "sigma": 0.0},
                    "SFR": {"value": 100.0, "sigma": None},
                },
            }
        ],
    }


def test_trials_of_a_task_are_averaged_first() -> None:
    once = tasks_of([2, 4], passed=1, benchmark=sf.Benchmark("one", {"cart": 2}, ("plain",)))
    again = once.with_columns(trial=pl.lit(2, pl.Int64), success=~pl.col("success"), steps=6)
    made = anchor_of(pl.concat([once, again.cast(dict(sf.TASKS))]))  # type: ignore[arg-type]
    metrics = made["cells"][0]["metrics"]
    # Rates ½ and ½ of two tasks: √(½ · ½ / 2); steps 4 and 5.
    assert made["cells"][0]["n"] == 2
    assert metrics["SR"] == {"value": 50.0, "sigma": pytest.approx(35.35533905932738)}
    assert metrics["AS"] == {"value": 4.5, "sigma": 0.5}


def test_single_task_has_no_spread_and_nothing_measured_no_number() -> None:
    two = sf.Benchmark("two", sites={"cart": 1}, conditions=("plain", "shifted"))
    tasks = tasks_of([3], benchmark=two).filter(condition="plain")
    plain, shifted = anchor_of(tasks, two)["cells"]
    assert plain["metrics"]["AS"] == {"value": 3.0, "sigma": None}
    assert shifted["n"] == 0
    assert shifted["metrics"] == {metric: {"value": None, "sigma": None} for metric in METRICS}


# The subset

#: Worked out by hand: 162 · j / 14 = 0, 11.57, 23.14, 34.71, 46.28, 57.86, 69.43, 81, …
PLACES = {
    (162, 14): [0, 11, 23, 34, 46, 57, 69, 81, 92, 104, 115, 127, 138, 150],
    (114, 10): [0, 11, 22, 34, 45, 57, 68, 79, 91, 102],
    (79, 6): [0, 13, 26, 39, 52, 65],
    (7, 3): [0, 2, 4],
    (5, 5): [0, 1, 2, 3, 4],
    (9, 1): [0],
}


@pytest.mark.parametrize(("n", "k"), PLACES)
def test_places_of_a_subset(n: int, k: int) -> None:
    assert spread(n, k) == PLACES[n, k]


def test_pinned_is_14_10_and_6_and_taken_in_order_of_the_index(
    demo: dict[str, pl.DataFrame],
) -> None:
    made = sf.anchor(demo["reference"], subset="pinned")
    named = {"gitlab": 14, "magento": 10, "wordpress": 6}
    assert named == PINNED
    assert sf.anchor(demo["reference"], subset=named) == made
    assert [cell["n"] for cell in made["cells"]] == [14] * 6 + [10] * 6 + [6] * 6
    indices: dict[str, set[int]] = {}
    for uid in demo["reference"].get_column("uid"):
        _, site, _, index = uid.split(".")
        indices.setdefault(site, set()).add(int(index))
    for site, families in made["subset"].items():
        ordered = sorted(indices[site])
        places = PLACES[len(ordered), named[site]]
        assert families == [f"{site}.{ordered[place]}" for place in places]


def test_numbers_of_a_subset_are_those_of_its_tasks_alone(demo: dict[str, pl.DataFrame]) -> None:
    tasks = demo["induced"].with_columns(sf.family())
    made = sf.anchor(tasks.drop("family"), subset={"magento": 10, "wordpress": 6})
    chosen = [family for families in made["subset"].values() for family in families]
    assert len(chosen) == 16
    cells = sf.cells(tasks.filter(pl.col("family").is_in(chosen)))
    cells = cells.filter(pl.col("site") != "gitlab")
    values = [[cell["metrics"][m]["value"] for m in METRICS] for cell in made["cells"]]
    assert values == [list(row) for row in cells.select(METRICS).rows()]


def test_families_are_ordered_by_number_and_not_by_digit() -> None:
    shop = sf.Benchmark("one", sites={"cart": 12}, conditions=("plain",))
    made = anchor_of(tasks_of([1] * 12), shop, subset={"cart": 12})
    assert made["subset"] == {"cart": [f"cart.{index}" for index in range(12)]}


@pytest.mark.parametrize("rest", ["", "9" * 5000])
def test_families_without_an_index_or_with_a_long_one_have_an_order_too(rest: str) -> None:
    names = ["task-b", f"skillshift.cart.v1.1{rest}", "task-a", "skillshift.cart.v2.1"]
    tasks = tasks_of([1] * 4).with_columns(uid=pl.Series(names))
    if not rest:
        tasks = tasks.with_columns(uid=pl.col("uid").replace("skillshift.cart.v2.1", "task-c"))
    made = anchor_of(tasks, subset={"cart": 4})["subset"]["cart"]
    ordered = ["cart.1", "task-a", "task-b", "task-c"]
    assert made == (["cart.1", f"cart.1{rest}", "task-a", "task-b"] if rest else ordered)


def test_a_task_of_the_same_name_at_another_site_is_another_task() -> None:
    tasks = whole().with_columns(uid=pl.lit("task-") + pl.col("steps").cast(pl.String))
    made = anchor_of(tasks, SHOP, subset={"cart": 4, "search": 1})
    assert made["subset"] == {"cart": [f"task-{n}" for n in range(1, 5)], "search": ["task-1"]}
    assert [cell["n"] for cell in made["cells"]] == [4, 4, 1, 1]


# How a run is judged


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("subset", [None, {"gitlab": 14, "wordpress": 6}])
def test_run_is_within_its_own_anchor(
    demo: dict[str, pl.DataFrame], run: str, subset: dict[str, int] | None
) -> None:
    found = sf.calibrate(demo[run], sf.anchor(demo[run], subset=subset))
    assert found.schema == CALIBRATION
    assert found.get_column("deviation").drop_nulls().unique().to_list() == [0.0]
    gating = found.filter("gates")
    assert gating.get_column("deviates").to_list() == [False] * (36 if subset is None else 24)
    assert gating.get_column("metric").unique().sort().to_list() == ["AS", "SR"]


def test_deviation_is_the_difference_in_sigmas(demo: dict[str, pl.DataFrame]) -> None:
    found = sf.calibrate(demo["reference"], sf.anchor(demo["induced"]))
    old, new = (sf.cells(demo[run]) for run in ("induced", "reference"))
    assert found.height == 72
    assert found.get_column("metric").to_list() == list(METRICS) * 18
    assert found.select("site", "condition").unique(maintain_order=True).rows() == (
        old.select("site", "condition").rows()
    )
    for row in found.iter_rows(named=True):
        cell = {"site": row["site"], "condition": row["condition"]}
        assert row["observed"] == new.filter(**cell).item(0, row["metric"])
        assert row["value"] == old.filter(**cell).item(0, row["metric"])
        assert row["n"] == old.filter(**cell).item(0, "n")
        assert row["low"] is row["high"] is None
        if row["sigma"]:
            assert row["deviation"] == abs(row["observed"] - row["value"]) / row["sigma"]
            assert row["deviates"] == (row["deviation"] > 3)
    gated = found.filter("gates", "deviates")
    assert gated.select("site", "condition", "metric").rows() == [("magento", "src", "AS")]
    before, now = (steps_of(run, "magento", "src") for run in ("induced", "reference"))
    sigma = statistics.stdev(before) / math.sqrt(114)
    expected = (statistics.mean(now) - statistics.mean(before)) / sigma
    assert 3.1 < expected == pytest.approx(gated.item(0, "deviation"), rel=1e-12)


def steps_of(run: str, site: str, condition: str) -> list[int]:
    records = map(json.loads, (DEMO / f"{run}.jsonl").read_text().splitlines())
    return [r["steps"] for r in records if (r["site"], r["condition"]) == (site, condition)]


def test_only_above_the_threshold_deviates() -> None:
    anchor = anchor_of(tasks_of([1, 2, 3, 6]))
    anchor["cells"][0]["metrics"]["AS"]["sigma"] = 2.0
    same, more = tasks_of([7, 8, 9, 12]), tasks_of([7, 8, 9, 13])
    assert judged(same, anchor, "AS") | {"deviation": 3.0, "deviates": False} == judged(
        same, anchor, "AS"
    )
    assert judged(more, anchor, "AS")["deviates"] is True
    assert judged(more, anchor, "AS", threshold=3.125)["deviates"] is False
    assert judged(same, anchor, "AS", threshold=2.999)["deviates"] is True
    assert judged(same, anchor | {"threshold_sigma": 2.5}, "AS")["deviates"] is True
    assert judged(same, anchor | {"threshold_sigma": 2.5}, "AS", threshold=3)["deviates"] is False


def test_calls_are_shown_and_decide_nothing() -> None:
    anchor = anchor_of(tasks_of([1, 2, 3, 6], passed=2, calls=1))
    anchor["cells"][0]["metrics"]["ASC"]["sigma"] = 0.5
    found = calibration(
        tasks_of([1, 2, 3, 6], passed=2, calls=9), *read_anchor(anchor), benchmark=ONE
    )
    asc = found.rows.filter(metric="ASC").row(0, named=True)
    assert (asc["deviation"], asc["deviates"], asc["gates"]) == (16.0, True, False)
    sfr = found.rows.filter(metric="SFR").row(0, named=True)
    assert (sfr["deviates"], sfr["gates"], sfr["reason"]) == (None, False, "SFR has no sigma")
    assert (found.deviating, found.judged, found.not_judged) == (0, 2, 0)


# Where sigma is 0, or is not there

TAIL = norm.sf(3)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 10, 14, 79, 162, 100_000])
@pytest.mark.parametrize("threshold", [0.5, 1.96, 3.0, 5.0])
def test_exact_bound_is_that_of_scipy_and_statsmodels(n: int, threshold: float) -> None:
    alpha = 2 * float(norm.sf(threshold))
    for passed in (True, False):
        low, high = _bound(n, threshold, passed=passed)
        successes = n if passed else 0
        statsmodels = proportion_confint(successes, n, alpha, "beta")
        assert (low, high) == pytest.approx([100 * end for end in statsmodels], abs=1e-9)
        ours = exact_binomial(successes, n, level=1 - alpha)
        assert ours is not None
        assert (low, high) == pytest.approx([100 * end for end in ours], abs=1e-7)
        scipy = beta.ppf(alpha / 2, n, 1) if passed else beta.isf(alpha / 2, 1, n)
        assert (low if passed else high) == pytest.approx(100 * scipy, rel=1e-9)
        assert (high if passed else low) == (100.0 if passed else 0.0)


@pytest.mark.parametrize(
    ("before", "now", "deviates"),
    [
        # (α/2)^(1/6) = 0.3324…: of six, one is below it and two are above.
        (6, 6, False),
        (6, 2, False),
        (6, 1, True),
        (6, 0, True),
        (0, 0, False),
        (0, 4, False),
        (0, 5, True),
        (0, 6, True),
    ],
)
def test_where_all_agreed_the_exact_bound_decides(before: int, now: int, *, deviates: bool) -> None:
    six = sf.Benchmark("one", sites={"cart": 6}, conditions=("plain",))
    steps = [1, 2, 3, 4, 5, 6]
    anchor = anchor_of(tasks_of(steps, passed=before), six)
    row = judged(tasks_of(steps, passed=now), anchor, "SR", six)
    assert row["sigma"] == 0.0
    assert row["deviation"] is None
    edge = 100 * float(TAIL) ** (1 / 6)
    assert edge == pytest.approx(33.24, abs=5e-3)
    expected = [edge, 100] if before else [0, 100 - edge]
    assert [row["low"], row["high"]] == pytest.approx(expected)
    assert row["deviates"] is deviates
    assert row["reason"] == (
        f"all tasks of the reference {'passed' if before else 'failed'}; judged by the exact bound"
    )


@pytest.mark.parametrize("threshold", [8.0, 20.0, 60.0])
def test_exact_bound_stays_one_where_floats_run_out_of_digits(threshold: float) -> None:
    anchor = anchor_of(tasks_of([1, 2, 3, 4], passed=4))
    row = judged(tasks_of([1, 2, 3, 4], passed=0), anchor, "SR", threshold=threshold)
    expected = 100 * math.exp(float(norm.logsf(threshold)) / 4)
    assert row["low"] == pytest.approx(expected, rel=1e-9, abs=1e-60)
    assert (row["high"], row["deviation"]) == (100.0, None)


@pytest.mark.parametrize(
    ("steps", "deviates", "reason"),
    [
        ([5, 5, 5, 5], False, "no spread in the reference; the run is equal"),
        ([4, 6, 5, 5], False, "no spread in the reference; the run is equal"),
        ([5, 5, 5, 6], None, "no spread in the reference, and the run differs"),
    ],
)
def test_steps_without_spread_are_equal_or_not_judged(
    steps: list[int],
    deviates: bool | None,  # noqa: FBT001
    reason: str,
) -> None:
    row = judged(tasks_of(steps, passed=2), anchor_of(tasks_of([5] * 4, passed=2)), "AS")
    assert row["sigma"] == 0.0
    assert (row["deviation"], row["deviates"], row["reason"]) == (None, deviates, reason)


@pytest.mark.parametrize(("steps", "deviates"), [(3, False), (4, None)])
def test_single_task_is_equal_or_not_judged(steps: int, deviates: bool | None) -> None:  # noqa: FBT001
    single = sf.Benchmark("one", sites={"cart": 1}, conditions=("plain",))
    row = judged(tasks_of([steps]), anchor_of(tasks_of([3]), single), "AS", single)
    assert (row["sigma"], row["deviation"], row["deviates"]) == (None, None, deviates)
    assert row["reason"].startswith("the anchor has no sigma")


def test_undefined_is_not_judged_and_stays_undefined() -> None:
    measured, silent = (
        tasks_of([1, 2, 3, 6], passed=2, calls=3),
        tasks_of([None] * 4, 2, calls=None),
    )
    for anchor, run, reason in (
        (anchor_of(measured), silent, "undefined in the run"),
        (anchor_of(silent), measured, "undefined in the reference"),
        (anchor_of(silent), silent, "undefined in the reference"),
    ):
        found = sf.calibrate(run, anchor, benchmark=ONE)
        assert found.get_column("deviates").to_list() == [False, None, None, None]
        assert found.get_column("reason").to_list() == [None, reason, reason, reason]
        assert found.get_column("deviation").to_list() == [0.0, None, None, None]
    never = anchor_of(tasks_of([1, 2, 3, 6], passed=2))
    sfr = judged(tasks_of([1, 2, 3, 6], passed=2), never, "SFR")
    assert (sfr["observed"], sfr["value"], sfr["deviates"]) == (None, None, None)


def test_deviation_is_never_infinite() -> None:
    anchor = anchor_of(tasks_of([1, 2, 3, 6]))
    anchor["cells"][0]["metrics"]["AS"]["sigma"] = 5e-324
    row = judged(tasks_of([1, 2, 3, 7]), anchor, "AS")
    assert (row["deviation"], row["deviates"]) == (None, True)


def test_order_of_records_and_of_the_anchors_cells_does_not_show(
    demo: dict[str, pl.DataFrame],
) -> None:
    anchor = sf.anchor(demo["induced"], subset="pinned")
    mixed = demo["workflow"].sample(fraction=1, shuffle=True, seed=5)
    assert sf.anchor(demo["induced"][::-1], subset="pinned") == anchor
    expected = sf.calibrate(demo["workflow"], anchor)
    turned = anchor | {"cells": anchor["cells"][::-1]}
    assert sf.calibrate(mixed, turned).equals(expected)
    assert sf.calibrate(mixed.lazy(), turned).equals(expected)


def test_only_the_cells_of_the_anchor_are_compared(demo: dict[str, pl.DataFrame]) -> None:
    anchor = sf.anchor(demo["induced"])
    anchor["cells"] = anchor["cells"][3:5]
    found = sf.calibrate(demo["induced"], anchor)
    assert found.select("site", "condition").unique(maintain_order=True).rows() == [
        ("gitlab", "tgt"),
        ("gitlab", "tgt-perc"),
    ]


def simulate(sites: dict[str, int], runs: int, *, unequal: bool) -> tuple[int, int, int]:
    """Rerun with the rates and steps of a demo run: rows that gate, flagged ones, and runs with one."""
    demo = sf.read_tasks(DEMO / "induced.jsonl")
    benchmark = sf.Benchmark("again", sites=sites, conditions=sf.SKILLSHIFT.conditions)
    rng = np.random.default_rng(20261130)
    keys: list[tuple[str, str, str]] = []
    rates: list[float] = []
    steps = []
    for (site, condition), cell in demo.group_by("site", "condition", maintain_order=True):
        n, rate = sites[str(site)], float(cell["success"].cast(pl.Int64).to_numpy().mean())
        keys += [(str(site), str(condition), f"{site}-{index}") for index in range(n)]
        rates += rng.beta(rate, 1 - rate, size=n).tolist() if unequal else [rate] * n
        steps.append((cell["steps"].to_numpy(), n))
    usual = np.concatenate([rng.choice(taken, n) for taken, n in steps])
    base = pl.DataFrame(keys, schema=["site", "condition", "uid"], orient="row").with_columns(
        run=pl.lit("again"),
        trial=pl.lit(1, pl.Int64),
        skill_calls=pl.lit(0, pl.Int64),
        skill_failures=pl.lit(0, pl.Int64),
        error=pl.lit(None, pl.String),
    )

    def rerun() -> pl.DataFrame:
        taken = (
            rng.poisson(usual)
            if unequal
            else np.concatenate([rng.choice(own, n) for own, n in steps])
        )
        return base.with_columns(
            success=pl.Series(rng.random(len(rates)) < np.array(rates)),
            steps=pl.Series(taken.astype(np.int64)),
        )

    gated = flagged = with_one = 0
    for _ in range(runs):
        anchor = sf.anchor(rerun(), benchmark=benchmark)
        verdicts = sf.calibrate(rerun(), anchor, benchmark=benchmark).filter("gates")["deviates"]
        gated += verdicts.count()
        flagged += int(verdicts.sum())
        with_one += bool(verdicts.any())
    return gated, flagged, with_one


@pytest.mark.parametrize(
    ("sites", "unequal", "share", "runs_with_one"),
    [
        # What the docstring of calibrate says; 3.4 % is what two normal samples give.
        (dict(sf.SKILLSHIFT.sites), False, (3.0, 5.0), (65, 95)),
        (PINNED, False, (6.0, 9.5), (85, 100)),
        (dict(sf.SKILLSHIFT.sites), True, (0.0, 0.5), (0, 15)),
        (PINNED, True, (0.3, 1.7), (10, 45)),
    ],
)
def test_share_of_honest_reruns_that_is_flagged(
    sites: dict[str, int],
    unequal: bool,  # noqa: FBT001
    share: tuple[float, float],
    runs_with_one: tuple[float, float],
) -> None:
    gated, flagged, with_one = simulate(sites, 60, unequal=unequal)
    assert gated > 0.95 * 60 * 36
    assert share[0] <= 100 * flagged / gated <= share[1]
    assert runs_with_one[0] <= 100 * with_one / 60 <= runs_with_one[1]


# What cannot be compared

Change: TypeAlias = "Callable[[Json], object]"


def drop_last(tasks: pl.DataFrame) -> pl.DataFrame:
    last = pl.col("uid").str.ends_with(".3") & (pl.col("condition") == "shifted")
    return tasks.filter(~last)


def whole(*, benchmark: sf.Benchmark = SHOP, errored: int = 0, run: str = "asi") -> pl.DataFrame:
    """Give a complete run of the shop: four tasks of cart, two of search."""
    frames = [
        tasks_of(
            list(range(1, n + 1)),
            passed=1,
            benchmark=sf.Benchmark(benchmark.name, {site: n}, benchmark.conditions),
            errored=errored,
            run=run,
        )
        for site, n in benchmark.sites.items()
    ]
    return pl.concat(frames)


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        (whole(), {"threshold": 0}, r"threshold is 0; a positive number"),
        (whole(), {"threshold": math.nan}, r"threshold is nan; a positive number"),
        (whole(), {"threshold": math.inf}, r"threshold is inf; a positive number"),
        (whole(), {"errors": "zero"}, r"<anchor>: errors: is 'exclude'.*'zero'; give --errors exc"),
        (whole(), {"errors": "none"}, r"errors is 'none'; one of exclude, zero is needed"),
        (whole(), {"benchmark": "infer"}, r"<anchor>: benchmark: is 'shop'.*'inferred'"),
        (whole(), {"step_budget": 9}, r"step_budget: is 4, and the run's is 9; runs with diff"),
        (
            whole().with_columns(steps=pl.col("steps") + 1),
            {},
            r"had another step budget: skillshift\.cart\.v1\.3 in cart × plain took 5 steps, more than the budget in <anchor>, 4 allows",
        ),
        (whole().with_columns(steps=pl.col("steps") * 3), {"step_budget": 4}, "took 12 steps"),
        (whole().clear(), {}, "there are no records"),
        (
            pl.concat([whole(), whole(run="mpcr")]),
            {},
            r"these records are of 2 \(asi, mpcr\); --pool",
        ),
        (
            drop_last(whole()),
            {},
            r"cells are not complete: cart × shifted 3 of 4 scored tasks; run what is missing",
        ),
        (
            whole(errored=1),
            {},
            r"cart × plain 3 of 4.*search × plain 1 of 2.*with an error are not",
        ),
        (whole().filter(site="cart"), {}, r"search × plain 0 of 2 .*search × shifted 0 of 2"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(
    run: pl.DataFrame, options: Json, message: str
) -> None:
    anchor = anchor_of(whole(), SHOP, step_budget=4)
    assert sf.calibrate(whole(), anchor, benchmark=SHOP, step_budget=4).height == 16
    with pytest.raises(InputError, match=message):
        sf.calibrate(run, anchor, **{"benchmark": SHOP, **options})


def test_budget_that_the_anchor_does_not_know_cannot_be_compared() -> None:
    anchor = anchor_of(whole(), SHOP)
    with pytest.raises(InputError, match=r"step_budget: is null.*compare 4 with; leave"):
        sf.calibrate(whole(), anchor, benchmark=SHOP, step_budget=4)


@pytest.mark.parametrize(
    ("budget", "steps", "given", "note"),
    [
        (None, 1, None, "Step budget: none was recorded; it is taken for the same"),
        (9, 1, None, "Step budget: taken for the same, 9; no task took more steps"),
        (9, None, None, "Step budget: taken for the same, 9; the run does not record steps"),
        (9, 1, 9, "Step budget: 9 on both sides"),
    ],
)
def test_what_is_known_of_the_step_budget_is_said(
    budget: int | None, steps: int | None, given: int | None, note: str
) -> None:
    anchor = anchor_of(tasks_of([1, 2, 3, 4], passed=2), step_budget=budget)
    run = tasks_of([steps] * 4, passed=2)
    found = calibration(run, *read_anchor(anchor), benchmark=ONE, step_budget=given)
    assert found.notes == (note,)


def test_more_tasks_than_in_the_reference_are_said() -> None:
    anchor = anchor_of(tasks_of([1, 2, 3], passed=2))
    found = calibration(tasks_of([1, 2, 3, 4], passed=2), *read_anchor(anchor), benchmark=ONE)
    assert found.notes[1] == "More tasks than in the reference: cart × plain 4, not 3"


def test_subset_must_be_there_and_complete() -> None:
    anchor = anchor_of(whole(), SHOP, subset={"cart": 2})
    assert anchor["subset"] == {"cart": ["cart.0", "cart.2"]}
    without = whole().filter(~pl.col("uid").str.ends_with("cart.v1.3"))
    assert sf.calibrate(without, anchor, benchmark=SHOP).height == 8  # not of the subset
    never = whole().filter(~pl.col("uid").str.ends_with("cart.v1.2"))
    with pytest.raises(
        InputError, match=r"subset: run 'asi' has no record of cart.2, 1 of the 2 tasks"
    ):
        sf.calibrate(never, anchor, benchmark=SHOP)
    one_cell = whole().filter(
        ~(pl.col("uid").str.ends_with("cart.v1.2") & (pl.col("condition") == "shifted"))
    )
    message = r"cart × shifted 1 of 2 scored tasks \(without cart.2\)"
    with pytest.raises(InputError, match=message):
        sf.calibrate(one_cell, anchor, benchmark=SHOP)
    with pytest.raises(InputError, match=message):
        anchor_of(one_cell, SHOP, subset={"cart": 2})


def test_other_version_of_a_task_does_not_stand_in_for_a_missing_one() -> None:
    anchor = anchor_of(whole(), SHOP, subset={"cart": 2})
    shifted = pl.col("condition") == "shifted"
    missing = pl.col("uid").str.ends_with("cart.v1.2") & shifted
    twice = whole().with_columns(
        uid=pl.when(missing).then(pl.lit("skillshift.cart.v2.0")).otherwise("uid")
    )
    with pytest.raises(InputError, match=r"cart × shifted 2 of 2 scored tasks \(without cart.2\)"):
        sf.calibrate(twice, anchor, benchmark=SHOP)
    more = pl.concat([whole(), twice.filter(uid="skillshift.cart.v2.0")])
    with pytest.raises(InputError, match=r"cart × shifted 3 of 2 scored tasks;"):
        sf.calibrate(more, anchor, benchmark=SHOP)


def test_errors_that_count_as_failures_leave_no_gap() -> None:
    tasks = whole(errored=1)
    made = anchor_of(tasks, SHOP, errors="zero", subset={"cart": 4, "search": 2})
    assert [cell["n"] for cell in made["cells"]] == [4, 4, 2, 2]
    found = sf.calibrate(tasks, made, benchmark=SHOP)
    assert found.filter("gates")["deviates"].to_list() == [False] * 8
    with pytest.raises(InputError, match=r"cart × plain 3 of 4 scored tasks \(without cart.3\)"):
        anchor_of(tasks, SHOP, subset={"cart": 4})


def test_where_nothing_that_gates_can_be_judged_nothing_is_said() -> None:
    anchor = anchor_of(whole(), SHOP)
    for cell in anchor["cells"]:
        for metric in ("SR", "AS"):
            cell["metrics"][metric]["sigma"] = None
    failed = pl.lit(value=False)
    run = whole().with_columns(success=failed, steps=pl.col("steps") * 2)
    with pytest.raises(
        InputError, match=r"not one of the 8 numbers .* the anchor has no sigma, and"
    ):
        sf.calibrate(run, anchor, benchmark=SHOP)


@pytest.mark.parametrize(
    ("tasks", "options", "message"),
    [
        (whole().clear(), {}, "there are no records"),
        (pl.concat([whole(), whole(run="b")]), {}, "are of 2"),
        (whole().with_columns(error=pl.lit("x")), {}, "run 'asi': not one task was scored"),
        (whole(), {"errors": "none"}, "errors is 'none'"),
        (whole(), {"step_budget": 0}, "step_budget is 0; a positive integer"),
        (whole(), {"step_budget": 1 << 63}, "step_budget is 9223372036854775808; a positive"),
        (whole(), {"step_budget": 3}, "took 4 steps, more than a step budget of 3 allows"),
        (whole(), {"subset": "pin"}, "subset is 'pin'; one of pinned is needed"),
        (whole(), {"subset": "pinned"}, "subset: 'gitlab' is not a site of benchmark shop"),
        (whole(), {"subset": {"carts": 1}}, r"'carts' is not a site .* \(did you mean cart\?\)"),
        (whole(), {"subset": {}}, "subset: names no site"),
        (whole(), {"subset": {"cart": 5}}, "subset: cart is 5; an integer from 1 to 4"),
        (whole(), {"subset": {"cart": 0}}, "subset: cart is 0; an integer from 1 to 4"),
        (whole(), {"subset": {"cart": True}}, "subset: cart is True; an integer"),
        (
            whole().filter(~pl.col("uid").str.ends_with("cart.v1.3")),
            {"subset": {"cart": 2}},
            "subset: the run has 3 families of cart, and benchmark shop has 4; .* complete lists",
        ),
    ],
)
def test_anchor_that_cannot_be_made_is_refused(
    tasks: pl.DataFrame, options: Json, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        anchor_of(tasks, SHOP, **options)


# Broken anchors


def metric(made: Json, name: str = "SR", place: int = 0) -> Json:
    found: Json = made["cells"][place]["metrics"][name]
    return found


BROKEN: list[tuple[Change, str]] = [
    (lambda a: a.pop("run"), "Object missing required field `run`"),
    (lambda a: a.update(colour="red"), "Object contains unknown field `colour`"),
    (lambda a: a.update(schema_version="2.0"), "schema_version: Invalid enum value '2.0'"),
    (lambda a: a.update(schema_version=1.0), "schema_version: Expected `str`, got `float`"),
    (lambda a: a["tool"].pop("version"), "tool: Object missing required field `version`"),
    (lambda a: a.update(benchmark=""), "benchmark: Expected `str` of length >= 1"),
    (lambda a: a.update(benchmark="other"), "benchmark: is 'other', and the run is read under"),
    (lambda a: a.update(errors="drop"), "errors: Invalid enum value 'drop'"),
    (lambda a: a.update(threshold_sigma=0), "threshold_sigma: Expected `float` > 0.0"),
    (lambda a: a.update(threshold_sigma="3"), "threshold_sigma: Expected `float`, got `str`"),
    (lambda a: a.update(step_budget=30.0), "step_budget: Expected `int | null`, got `float`"),
    (lambda a: a.update(step_budget=0), "step_budget: Expected `int` >= 1"),
    (lambda a: a.update(step_budget=1 << 80), "step_budget: Expected `int` <= 9223372036854775807"),
    (lambda a: a.update(cells=[]), "cells: is empty; there is nothing to compare with"),
    (lambda a: a.update(cells={}), "cells: Expected `array`, got `object`"),
    (lambda a: a["cells"].append(a["cells"][1]), "cells[4]: cart × shifted is in cells[1] already"),
    (
        lambda a: a["cells"][2].update(site="sarch"),
        "cells[2].site: 'sarch' is not a site of subset",
    ),
    (
        lambda a: (a.update(subset=None), a["cells"][2].update(site="sarch")),
        "cells[2].site: 'sarch' is not a site of benchmark shop (did you mean search?)",
    ),
    (
        lambda a: a["cells"][1].update(condition="hard"),
        "cells[1].condition: 'hard' is not a condition of benchmark shop",
    ),
    (lambda a: a["cells"][0].update(n=-1), "cells[0].n: Expected `int` >= 0"),
    (lambda a: a["cells"][0].update(n=True), "cells[0].n: Expected `int`, got `bool`"),
    (lambda a: a["cells"][0].update(n=3), "cells[0].n: is 3; subset has 2 tasks of cart"),
    (
        lambda a: (a.update(subset=None), a["cells"][0].update(n=0)),
        "cells[0].metrics.SR.value: is 50 where n is 0; null is needed",
    ),
    (
        lambda a: a["cells"][0]["metrics"].pop("SFR"),
        "cells[0].metrics: Object missing required field `SFR`",
    ),
    (lambda a: metric(a).update(value="50"), "cells[0].metrics.SR.value: Expected `float | null`"),
    (lambda a: metric(a).update(value=101), "cells[0].metrics.SR.value: is 101; 100 percent is"),
    (lambda a: metric(a, "AS").update(value=-1), "cells[0].metrics.AS.value: Expected `float` >="),
    (lambda a: metric(a).update(sigma=-0.5), "cells[0].metrics.SR.sigma: Expected `float` >= 0.0"),
    (
        lambda a: metric(a).pop("sigma"),
        "cells[0].metrics.SR: Object missing required field `sigma`",
    ),
    (lambda a: metric(a).update(n=3), "cells[0].metrics.SR: Object contains unknown field `n`"),
    (
        lambda a: metric(a, place=3).update(value=None, sigma=None),
        "cells[3].metrics.SR.value: is null where n is 1; a number is needed",
    ),
    (
        lambda a: metric(a, "AS").update(value=None),
        "cells[0].metrics.AS.sigma: is 1 where value is null; null is needed",
    ),
    (
        lambda a: metric(a, "SFR").update(value=1, sigma=1),
        "cells[0].metrics.SFR.sigma: is 1 where SFR has none; null is needed",
    ),
    (lambda a: a.update(subset={}), "subset: names no site; null stands for all tasks"),
    (lambda a: a["subset"].update(cart=[]), "subset.cart: is empty; at least one family"),
    (lambda a: a["subset"].update(cart=["x", "x"]), "subset.cart: 'x' is there twice"),
    (lambda a: a["subset"].update(cart=["cart.0", 2]), "subset[...][1]: Expected `str`, got `int`"),
    (lambda a: a["subset"].update(shop=["x"]), "subset.shop: no cell is of this site"),
]


def broken(change: Change) -> Json:
    made = copy.deepcopy(anchor_of(whole(), SHOP, subset={"cart": 2, "search": 1}))
    change(made)
    return made


@pytest.mark.parametrize(("change", "message"), BROKEN, ids=[message for _, message in BROKEN])
@pytest.mark.parametrize("written", [True, False])
def test_broken_anchor_is_refused_with_file_and_field(
    tmp_path: Path, change: Change, message: str, *, written: bool
) -> None:
    content = broken(change)
    file = tmp_path / "anchor.json"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        sf.calibrate(whole(), file if written else content, benchmark=SHOP)
    assert str(caught.value).startswith(f"{file if written else '<anchor>'}: {message}")


@pytest.mark.parametrize("name", ["value", "sigma"])
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_numbers_that_json_does_not_have_are_refused(
    tmp_path: Path, name: str, number: float
) -> None:
    content = broken(lambda a: metric(a, "AS").update({name: number}))
    with pytest.raises(
        InputError, match=rf"<anchor>: .*AS.{name}: (is inf; a finite|Expected `float` >=)"
    ):
        sf.calibrate(whole(), content, benchmark=SHOP)
    file = tmp_path / "anchor.json"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"anchor.json: JSON is malformed"):
        sf.calibrate(whole(), file, benchmark=SHOP)
    infinite = broken(lambda a: a.update(threshold_sigma=math.inf))
    with pytest.raises(InputError, match=r"threshold_sigma: is inf; a finite number"):
        sf.calibrate(whole(), infinite, benchmark=SHOP)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "Input data was truncated"),
        (b"{", "Input data was truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        (b"\xef\xbb\xbf{}", "JSON is malformed"),
        (b'{"run": "\xff"}', "Invalid UTF-8"),
        (b'{"run": "\\ud800 and"}', "JSON is malformed"),
        (b'{"threshold_sigma": 1e999}', "threshold_sigma: Number out of range"),
        (b"[" * 100_000, "Expected `object`"),
        (b'{"cells": ' + b"[" * 100_000, "cells"),
        (b" " * (LARGEST_FILE + 1), "has more than 16,777,216 bytes"),
    ],
    ids=range(11),
)
def test_file_that_is_no_anchor_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "anchor.json"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_anchor(file)
    assert str(caught.value).startswith(f"{file}: {message}")
    assert str(caught.value).endswith(
        "(an anchor of schema_version 1.0 is needed, as calibrate --make writes it)"
    )


def test_every_truncation_of_an_anchor_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "anchor.json"
    text = json.dumps(anchor_of(whole(), SHOP))
    for length in range(0, len(text), 7):
        file.write_text(text[:length])
        with pytest.raises(InputError, match=r"anchor.json: "):
            read_anchor(file)
    file.write_text(text)
    assert read_anchor(file)[1].to_dict() == json.loads(text)


@pytest.mark.parametrize("key", ["run", "threshold_sigma", "n", "value", "cart"])
def test_key_that_is_there_twice_is_refused(tmp_path: Path, key: str) -> None:
    file = tmp_path / "anchor.json"
    text = json.dumps(anchor_of(whole(), SHOP, subset={"cart": 2}))
    start = text.index(f'"{key}": ')
    value, _ = json.JSONDecoder().raw_decode(text[start + len(key) + 4 :])
    file.write_text(f'{text[:start]}"{key}": {json.dumps(value)}, {text[start:]}')
    with pytest.raises(InputError, match=rf"anchor.json: {key}: the key is there twice"):
        read_anchor(file)


@pytest.mark.parametrize("name", ["nowhere.json", "folder", "null\0byte"])
def test_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"cannot be read: .*calibrate --make writes it"):
        read_anchor(str(tmp_path / name))
