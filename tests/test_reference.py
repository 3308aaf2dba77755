"""The oracle itself, on numbers worked out by hand, and the strategies that feed it."""

from __future__ import annotations

from fractions import Fraction as F  # noqa: N817
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests import strategies
from tests.reference import METRICS, Run, evaluate

SITES = {"forum": 3, "shop": 2}
CONDITIONS = ["plain", "hard"]
SLOTS = ["forum", "shop", "plain", "hard", "overall"]


def record(
    uid: str,
    cell: tuple[str, str],
    success: bool | None,  # noqa: FBT001
    steps: int | None,
    calls: tuple[int, int] | None,
    **more: Any,  # noqa: ANN401
) -> dict[str, Any]:
    skill_calls, skill_failures = calls or (None, None)
    return {
        "uid": uid,
        "site": cell[0],
        "condition": cell[1],
        "success": success,
        "steps": steps,
        "skill_calls": skill_calls,
        "skill_failures": skill_failures,
        **more,
    }


PASS, FAIL = True, False
FORUM_PLAIN = ("forum", "plain")
FORUM_HARD = ("forum", "hard")
SHOP_PLAIN = ("shop", "plain")
SHOP_HARD = ("shop", "hard")

RECORDS = [
    # forum, plain: three tasks, the first with three trials, one of them errored.
    record("f1", FORUM_PLAIN, PASS, 4, (2, 1)),
    record("f1", FORUM_PLAIN, FAIL, 7, (1, 1), trial=2),
    record("f1", FORUM_PLAIN, None, 9, (4, 0), trial=3, error="timeout"),
    record("f2", FORUM_PLAIN, PASS, 3, (0, 0), error=""),  # an empty text is no error
    record("f3", FORUM_PLAIN, FAIL, 10, (3, 1)),
    # forum, hard: one scored task, one errored task of two trials, one task missing.
    record("f1", FORUM_HARD, FAIL, 8, (0, 0)),
    record("f2", FORUM_HARD, None, 6, (0, 0), error="crash"),
    record("f2", FORUM_HARD, None, None, None, trial=2, error="crash"),
    # shop, plain: complete.
    record("s1", SHOP_PLAIN, PASS, 2, (1, 0)),
    record("s2", SHOP_PLAIN, PASS, 5, (4, 2)),
    # shop, hard: the only task errored although its scorer said success.
    record("s1", SHOP_HARD, PASS, 12, (2, 2), error="lost"),
]


def evaluate_one(records: list[dict[str, Any]], **policy: Any) -> Run:  # noqa: ANN401
    runs = evaluate(records, SITES, CONDITIONS, **policy)
    assert list(runs) == ["run"]
    return runs["run"]


def slots(run: Run, metric: str) -> list[F | None]:
    return [run.slots[slot].values[metric] for slot in SLOTS]


def test_cells_when_errors_are_excluded() -> None:
    cells = evaluate_one(RECORDS).cells
    # f1 is (1 + 0)/2, f2 is 1, f3 is 0: 100 · (1/2 + 1 + 0)/3 = 50.
    # Steps: (4 + 7)/2 = 11/2, 3 and 10: (11/2 + 3 + 10)/3 = 37/6.
    # Calls: (2 + 1)/2 = 3/2, 0 and 3: (3/2 + 0 + 3)/3 = 3/2.
    # Failures 1 + 1 + 0 + 1 = 3 of 2 + 1 + 0 + 3 = 6 calls.
    assert cells[FORUM_PLAIN].values == {"SR": 50, "AS": F(37, 6), "ASC": F(3, 2), "SFR": 50}
    assert cells[FORUM_PLAIN].calls == 6
    # Only f1 counts; no call, so ASC is 0 and SFR undefined.
    assert cells[FORUM_HARD].values == {"SR": 0, "AS": 8, "ASC": 0, "SFR": None}
    # 2 failures of 5 calls.
    assert cells[SHOP_PLAIN].values == {"SR": 100, "AS": F(7, 2), "ASC": F(5, 2), "SFR": 40}
    # Nothing was scored.
    assert cells[SHOP_HARD].values == dict.fromkeys(METRICS)
    assert cells[SHOP_HARD].calls == 0


def test_cells_when_errors_are_failures() -> None:
    cells = evaluate_one(RECORDS, errors="zero").cells
    # f1 is now (1 + 0 + 0)/3: 100 · (1/3 + 1 + 0)/3 = 400/9.
    # Steps of f1: (4 + 7 + 9)/3 = 20/3: (20/3 + 3 + 10)/3 = 59/9.
    # Calls of f1: (2 + 1 + 4)/3 = 7/3: (7/3 + 0 + 3)/3 = 16/9.
    # Failures 3 of 6 + 4 = 10 calls.
    assert cells[FORUM_PLAIN].values == {
        "SR": F(400, 9),
        "AS": F(59, 9),
        "ASC": F(16, 9),
        "SFR": 30,
    }
    # f2 fails; its steps are those of the one trial that has them: (8 + 6)/2 = 7.
    assert cells[FORUM_HARD].values == {"SR": 0, "AS": 7, "ASC": 0, "SFR": None}
    assert cells[SHOP_PLAIN].values == {"SR": 100, "AS": F(7, 2), "ASC": F(5, 2), "SFR": 40}
    # An errored task is a failure whatever its scorer said.
    assert cells[SHOP_HARD].values == {"SR": 0, "AS": 12, "ASC": 2, "SFR": 100}


@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_counts_do_not_depend_on_the_policy(errors: str) -> None:
    counts = {
        cell: (
            value.expected,
            value.scored,
            value.errored,
            value.missing,
            value.trials,
            value.errored_trials,
        )
        for cell, value in evaluate_one(RECORDS, errors=errors).cells.items()
    }
    assert counts == {
        FORUM_PLAIN: (3, 3, 0, 0, 5, 1),
        FORUM_HARD: (3, 1, 1, 1, 3, 2),
        SHOP_PLAIN: (2, 2, 0, 0, 2, 0),
        SHOP_HARD: (2, 0, 1, 1, 1, 1),
    }


def test_slots_with_null_propagated() -> None:
    run = evaluate_one(RECORDS)
    # (shop, hard) is null, so shop, hard and overall are.
    assert slots(run, "SR") == [25, None, 75, None, None]  # (50+0)/2, –, (50+100)/2, –, –
    assert slots(run, "AS") == [F(85, 12), None, F(29, 6), None, None]  # (37/6+8)/2, (37/6+7/2)/2
    assert slots(run, "ASC") == [F(3, 4), None, 2, None, None]  # (3/2+0)/2, (3/2+5/2)/2
    # (forum, hard) has no calls either.
    assert slots(run, "SFR") == [None, None, 45, None, None]  # (50+40)/2
    assert [run.slots[slot].calls for slot in SLOTS] == [6, 5, 11, 0, 11]


def test_slots_with_the_available_cells() -> None:
    run = evaluate_one(RECORDS, null="available")
    assert slots(run, "SR") == [25, 100, 75, 0, 50]  # overall (50+0+100)/3
    # overall: (37/6 + 8 + 7/2)/3 = (106/6)/3 = 53/9
    assert slots(run, "AS") == [F(85, 12), F(7, 2), F(29, 6), 8, F(53, 9)]
    assert slots(run, "ASC") == [F(3, 4), F(5, 2), 2, 0, F(4, 3)]  # overall (3/2+0+5/2)/3
    assert slots(run, "SFR") == [50, 40, 45, None, 45]  # no cell of hard has calls


def test_slots_with_errors_as_failures() -> None:
    run = evaluate_one(RECORDS, errors="zero")
    # In turn: half of 400/9 + 0, of 100 + 0, of 400/9 + 100, of 0 + 0; a quarter of all four.
    assert slots(run, "SR") == [F(200, 9), 50, F(650, 9), 0, F(325, 9)]
    assert [run.slots[slot].calls for slot in SLOTS] == [10, 7, 15, 2, 17]
    # forum and hard and overall need (forum, hard): (40+100)/2, (30+40)/2
    assert slots(run, "SFR") == [None, 70, 35, None, None]


def test_calls_that_do_not_apply_are_not_zero_calls() -> None:
    records = [{**one, "skill_calls": None, "skill_failures": None} for one in RECORDS]
    for null in ("propagate", "available"):
        run = evaluate_one(records, null=null)
        assert slots(run, "ASC") == slots(run, "SFR") == [None] * 5
        assert {slot.calls for slot in run.slots.values()} == {None}
        assert {cell.calls for cell in run.cells.values()} == {None}
        assert run.slots["forum"].values["SR"] == 25


def test_steps_that_were_not_recorded_are_undefined() -> None:
    run = evaluate_one([{**one, "steps": None} for one in RECORDS], null="available")
    assert slots(run, "AS") == [None] * 5
    assert run.slots["overall"].values["SR"] == 50


def test_task_counts_do_not_weigh() -> None:
    # 3 of 3 tasks and 0 of 1: the mean of the cells is 50, of the tasks 75.
    cells = [(("forum", "plain"), True)] * 3 + [(("shop", "plain"), False)]
    records = [record(f"t{i}", *cell, 1, (0, 0)) for i, cell in enumerate(cells)]
    assert evaluate_one(records).slots["plain"].values["SR"] == 50


def test_more_tasks_than_expected_are_not_minus_missing() -> None:
    records = [record(f"s{i}", SHOP_PLAIN, PASS, 1, (0, 0)) for i in range(3)]
    cell = evaluate_one(records).cells[SHOP_PLAIN]
    assert (cell.expected, cell.scored, cell.missing) == (2, 3, 0)


def test_runs_are_apart() -> None:
    other = [{**one, "run": "other", "success": False} for one in RECORDS if "error" not in one]
    runs = evaluate(RECORDS + other, SITES, CONDITIONS)
    assert list(runs) == ["run", "other"]
    assert runs["run"] == evaluate_one(RECORDS)
    assert runs["other"].slots["plain"].values["SR"] == 0


@given(strategies.records())
def test_drawn_records_are_valid(records: list[dict[str, Any]]) -> None:
    assert records
    keys = {(r["run"], r["site"], r["uid"], r["condition"], r.get("trial", 1)) for r in records}
    assert len(keys) == len(records)
    for run in strategies.by_run(records).values():
        measured = [one for one in run if not one.get("error")]
        for field in ("steps", "skill_calls", "skill_failures"):
            assert len({one[field] is None for one in measured}) <= 1
        for one in run:
            assert one["success"] is not None or one["error"]
            assert one["site"] in strategies.SMALL.sites
            assert one["condition"] in strategies.SMALL.conditions
            assert (one["skill_calls"] is None) == (one["skill_failures"] is None)
            assert one["skill_calls"] is None or 0 <= one["skill_failures"] <= one["skill_calls"]
            if measured and measured[0]["skill_calls"] is None:
                assert one["skill_calls"] is None
            if measured and measured[0]["steps"] is None:
                assert one["steps"] is None


@given(strategies.records(), st.sampled_from(["exclude", "zero"]))
def test_what_holds_for_any_records(records: list[dict[str, Any]], errors: Any) -> None:  # noqa: ANN401
    shape = strategies.SMALL
    for run in evaluate(records, shape.sites, shape.conditions, errors=errors).values():
        for cell in run.cells.values():
            assert cell.scored + cell.errored + cell.missing == cell.expected
        overall = run.slots["overall"]
        assert overall.calls == (
            None if overall.calls is None else sum(cell.calls or 0 for cell in run.cells.values())
        )
        for metric in METRICS:
            sites = [run.slots[site].values[metric] for site in shape.sites]
            conditions = [run.slots[condition].values[metric] for condition in shape.conditions]
            if overall.values[metric] is not None:  # the identity
                assert sum(one or F(0) for one in sites) / 2 == overall.values[metric]
                assert sum(one or F(0) for one in conditions) / 2 == overall.values[metric]
            else:
                assert None in sites
                assert None in conditions


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.records(strategies.SKILLSHIFT, runs=1, complete=True, trials=1, errors=False))
def test_a_complete_run_has_every_task_once(records: list[dict[str, Any]]) -> None:
    assert len(records) == 2130
    assert not any("trial" in one or "error" in one for one in records)


@given(strategies.run_records(complete=False, odd_uids=True))
def test_a_partial_run_lacks_some_tasks_and_is_never_empty(records: list[dict[str, Any]]) -> None:
    tasks = {(one["uid"], one["condition"], one["site"]) for one in records}
    assert 1 <= len(tasks) < 10
    assert strategies.to_jsonl(records).count(b"\n") == len(records)
    assert all(one["uid"] for one in records)
