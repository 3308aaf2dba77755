"""Costs against NumPy and by hand: all attempts count, and what is unknown stays unknown."""

from __future__ import annotations

from typing import Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, strategies as st

from skillshift_frames.costs import CELL_COSTS, COSTS, cell_costs, costs
from skillshift_frames.errors import InputError
from skillshift_frames.lift import skill_lift
from skillshift_frames.readers.trial_tasks import convert
from skillshift_frames.trials import TRIALS
from tests.trials import frame_of, pairs, trial


def of(
    rows: list[dict[str, Any]], quantity: str = "cost", arm: str | None = "with"
) -> dict[str, Any]:
    found = costs(frame_of(rows)).filter(quantity=quantity)
    return next(row for row in found.to_dicts() if row["arm"] == arm)


@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=30))
def test_distribution_is_numpys(values: list[float]) -> None:
    row = of([trial(f"c{n}", "with", 1.0, cost=value) for n, value in enumerate(values)])
    assert row["n"] == row["trials"] == len(values)
    for name, expected in (
        ("mean", np.mean(values)),
        ("median", np.median(values)),
        ("p90", np.quantile(values, 0.9)),
        ("total", np.sum(values)),
    ):
        assert row[name] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_failed_and_errored_attempts_were_paid_for() -> None:
    row = of(
        [
            trial("a", "with", 0.0, success=False, cost=1.0),
            trial("a", "with", 1.0, success=True, cost=2.0, trial=2),
            trial("b", "with", cost=4.0),
            trial("c", "with", 1.0, success=True, cost=8.0),
        ]
    )
    assert (row["total"], row["tasks"], row["successful_tasks"]) == (15.0, 3, 2)
    assert row["per_success"] == row["per_success_at_least"] == 7.5
    assert row["success_rate"] == pytest.approx(200 / 3)  # of tasks, not of attempts


def test_one_unknown_cost_makes_the_total_unknown_and_is_counted() -> None:
    row = of(
        [
            trial("a", "with", 1.0, success=True, cost=1.0),
            trial("b", "with", 1.0, success=True, cost=None),
        ]
    )
    assert (row["n"], row["unknown"], row["mean"]) == (1, 1, 1.0)
    assert (row["total"], row["per_success"]) == (None, None)
    assert (row["total_known"], row["per_success_at_least"]) == (1.0, 0.5)


def test_no_success_has_no_price() -> None:
    row = of([trial("a", "with", 0.0, success=False, cost=1.0)])
    assert (row["total"], row["successful_tasks"], row["per_success"]) == (1.0, 0, None)
    assert row["success_rate"] == 0.0


def test_success_that_was_not_recorded_is_no_failure() -> None:
    row = of([trial("a", "with", 0.7, cost=1.0)])
    assert (row["successful_tasks"], row["per_success"], row["success_rate"]) == (None, None, None)


def test_a_missing_trial_cost_nothing_that_could_be_unknown() -> None:
    row = of([trial("a", "with", 1.0, cost=2.0), trial("b", "with", status="missing")])
    assert (row["trials"], row["unknown"], row["total"], row["tasks"]) == (1, 0, 2.0, 2)


def test_cached_input_is_a_part_of_input() -> None:
    rows = [trial("a", "with", 1.0, input_tokens=1000, cached_tokens=900, output_tokens=50)]
    assert of(rows, "tokens")["total"] == 1050
    assert of(rows, "input_tokens")["total"] == 1000
    assert of(rows, "cached_tokens")["total"] == 900


def test_an_arm_that_records_nothing_beside_one_that_does_is_unknown_not_free() -> None:
    rows = [trial("a", "with", 1.0, cost=2.0), trial("a", "without", 1.0)]
    row = of(rows, arm="without")
    assert (row["n"], row["unknown"], row["mean"], row["total"], row["total_known"]) == (
        0,
        1,
        None,
        None,
        None,
    )


def test_nothing_recorded_has_no_rows() -> None:
    found = costs(frame_of(pairs({"a": (1, 0)})))
    assert found.height == 0
    assert found.schema == COSTS
    assert costs(TRIALS.to_frame()).schema == COSTS


def test_no_arm_is_an_arm_of_its_own() -> None:
    assert of([trial("a", None, 1.0, seconds=3.0)], "seconds", None)["total"] == 3.0


def test_a_lift_has_the_costs_of_both_sides() -> None:
    rows = [trial("a", None, 1.0, run="new", cost=2.0), trial("a", None, 1.0, run="old", cost=1.0)]
    found = skill_lift(frame_of(rows), with_="new", without="old")
    assert found.costs.filter(quantity="cost").select("arm", "total").rows() == [
        ("with", 2.0),
        ("without", 1.0),
    ]
    assert found.to_dict()["costs"]["with"]["cost"]["total"] == 2.0


def test_a_path_is_told_what_reads_it() -> None:
    with pytest.raises(InputError, match="read_trials"):
        costs("results/")  # type: ignore[arg-type]


# --- of cells --------------------------------------------------------------------------------------------------------


def record(uid: str, *, success: bool = True, site: str = "cart", **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - of any column
    fixed = {"run": "r", "condition": "plain", "trial": 1, "error": None}
    return fixed | {"uid": uid, "site": site, "success": success} | fields


def of_cells(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return {row["site"]: row for row in cell_costs(frame).to_dicts() if row["quantity"] == "cost"}


def test_a_cells_price_is_that_of_all_its_attempts_over_its_successful_tasks() -> None:
    found = of_cells(
        [
            record("a", success=False, cost=1.0),
            record("a", trial=2, cost=2.0),
            record("b", success=False, error="timeout", cost=4.0),
            record("c", success=True, error="crashed", cost=8.0),  # not measured, so no success
            record("d", success=False, site="search", cost=16.0),
        ]
    )
    cart, search = found["cart"], found["search"]
    assert (cart["total"], cart["tasks"], cart["successful_tasks"]) == (15.0, 3, 1)
    assert (cart["per_success"], cart["median"]) == (15.0, 3.0)
    assert (search["total"], search["successful_tasks"], search["per_success"]) == (16.0, 0, None)


def test_what_a_cell_does_not_know_is_counted_and_no_zero() -> None:
    found = of_cells(
        [record("a", cost=1.0), record("b", cost=None), record("c", site="search", cost=None)]
    )
    assert (found["cart"]["unknown"], found["cart"]["total"], found["cart"]["per_success"]) == (
        *(1, None, None),
    )
    assert found["cart"]["per_success_at_least"] == 0.5
    assert (found["search"]["n"], found["search"]["median"]) == (0, None)
    assert found["search"]["per_success_at_least"] is None


def test_cells_of_trials_have_the_costs_of_their_arms() -> None:
    """One cell per arm: what `costs` says of trials, `cell_costs` says of the records that they become."""
    rows = [
        trial(
            "a", "with", 1.0, success=True, cost=2.0, seconds=3.0, input_tokens=5, output_tokens=7
        ),
        trial("a", "with", 0.0, success=False, cost=None, seconds=5.0, trial=2),
        trial("b", "with", status="errored", cost=1.5, error_type="x"),
        trial("a", "without", 0.0, success=False, cost=0.5, seconds=1.0),
        trial("b", "without", status="missing"),
    ]
    trials = frame_of([row | {"run": "job"} for row in rows])
    tasks, _ = convert(trials, keep=True)
    of_cells = cell_costs(tasks).drop("run", "site", "condition").sort("quantity", "n")
    of_arms = costs(trials).with_columns(pl.col("arm").replace({"with": "job with"}))
    uncounted = pl.col("tasks")  # the missing trial is no record
    assert of_cells.select(pl.exclude("tasks")).equals(
        of_arms.drop("arm").sort("quantity", "n").select(pl.exclude("tasks"))
    )
    assert cell_costs(tasks).select(uncounted.max()).item() == 2
    assert cell_costs(tasks).schema == CELL_COSTS


@pytest.mark.parametrize(
    ("row", "match"),
    [
        (record("a"), "no record says what it cost"),
        (record("a", cost=-1.0), "cost of .* is -1.0; a number of 0 or more is needed"),
        (record("a", cost="2"), "cost of .* is '2'; a number of 0 or more is needed"),
        (record("a", cost=float("nan")), "cost of .* is nan; a number of 0 or more is needed"),
    ],
)
def test_records_without_costs_are_told(row: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        cell_costs(pl.DataFrame([row]))


def test_a_tally_has_no_costs() -> None:
    with pytest.raises(InputError, match="no uid"):
        cell_costs(pl.DataFrame({"run": ["r"]}))
