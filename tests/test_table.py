"""Denominators, undefined numbers and marks, on examples small enough to compute by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import skillshift_frames as sf

SHOP = sf.Benchmark("shop", sites={"cart": 2, "search": 1}, conditions=("plain", "hard"))


def record(site: str, condition: str, uid: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    given = {"run": "asi", "site": site, "condition": condition, "uid": uid, "error": None}
    return given | {"success": True, "steps": 4, "skill_calls": 1, "skill_failures": 0} | changes


def complete(**changes: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Give a record of each of the six tasks of the benchmark."""
    return [
        record(site, condition, f"{site}.{index}", **changes)
        for site, n in SHOP.sites.items()
        for condition in SHOP.conditions
        for index in range(n)
    ]


def cells_of(records: list[dict[str, Any]], errors: Any = "exclude") -> pl.DataFrame:  # noqa: ANN401
    frame = pl.DataFrame(records, schema_overrides=_DTYPES, infer_schema_length=None)
    return sf.cells(sf.from_frame(frame, benchmark=SHOP), benchmark=SHOP, errors=errors)


_DTYPES = {name: dtype for name, dtype in sf.TASKS.items() if name in {"success", "steps", "error"}}


def slot_of(cells: pl.DataFrame, metric: str, slot: str, null: Any = "propagate") -> dict[str, Any]:  # noqa: ANN401
    found = sf.slots(cells, benchmark=SHOP, null=null).filter(metric=metric, slot=slot)
    return found.row(0, named=True)


def test_schemas_are_those_documented() -> None:
    cells = cells_of(complete())
    assert cells.schema == sf.CELLS
    assert sf.slots(cells, benchmark=SHOP).schema == sf.SLOTS
    assert sf.table(cells, benchmark=SHOP).columns == ["run", "metric", *SHOP.slots]
    # Counts have a sign: a difference of unsigned ones would wrap around.
    counts = [dtype for dtype in cells.dtypes if dtype.is_integer()]
    assert set(counts) == {pl.Int64}


def test_task_counts_never_weigh() -> None:
    # cart passes 0 of 2, search 1 of 1: 50 as a mean of sites, 33.3 as a share of tasks.
    records = complete(success=False)
    records[4:] = complete()[4:]
    table = sf.table(cells_of(records), benchmark=SHOP).filter(metric="SR")
    assert table.row(0) == ("asi", "SR", 0.0, 100.0, 50.0, 50.0, 50.0)


def test_one_of_ten_expected_tasks_is_partial_and_not_accuracy_one() -> None:
    ten = sf.Benchmark("ten", sites={"s": 10}, conditions=("c",))
    frame = pl.DataFrame([record("s", "c", "only")], schema_overrides=_DTYPES)
    cells = sf.cells(sf.from_frame(frame, benchmark=ten), benchmark=ten)
    assert cells.select("expected", "scored", "errored", "missing", "n").row(0) == (10, 1, 0, 9, 1)
    slot = sf.slots(cells, benchmark=ten).row(0, named=True)
    assert (slot["value"], slot["n"], slot["n_expected"], slot["marks"]) == (
        100.0,
        1,
        10,
        ["partial"],
    )
    assert sf.bounds(cells).row(0) == ("asi", 100.0, 10.0, 100.0)


def test_missing_cell_makes_its_marginals_null_and_only_them() -> None:
    cells = cells_of([r for r in complete() if (r["site"], r["condition"]) != ("search", "hard")])
    row = sf.table(cells, benchmark=SHOP).filter(metric="SR").row(0, named=True)
    assert {slot: row[slot] for slot in SHOP.slots} == {
        "cart": 100.0,
        "search": None,
        "plain": 100.0,
        "hard": None,
        "overall": None,
    }
    assert slot_of(cells, "SR", "search")["marks"] == ["undefined", "partial"]
    assert slot_of(cells, "SR", "cart")["marks"] == []


def test_available_averages_the_defined_cells_and_marks_every_such_number() -> None:
    cells = cells_of([r for r in complete() if (r["site"], r["condition"]) != ("search", "hard")])
    slot = slot_of(cells, "SR", "search", null="available")
    assert slot["value"] == 100.0
    assert slot["marks"] == ["available", "partial"]
    assert (slot["cells"], slot["cells_expected"]) == (1, 2)
    assert "available" not in slot_of(cells, "SR", "cart", null="available")["marks"]
    nothing = cells_of([record("cart", "plain", "a")])
    assert slot_of(nothing, "SR", "search", null="available")["value"] is None


def test_zero_calls_are_a_measurement_and_their_failure_rate_is_null() -> None:
    cells = cells_of(complete(skill_calls=0))
    assert slot_of(cells, "ASC", "overall")["value"] == 0.0
    assert slot_of(cells, "SFR", "overall") == {
        "run": "asi",
        "metric": "SFR",
        "slot": "overall",
        "value": None,
        "n": 6,
        "n_expected": 6,
        "calls": 0,
        "cells": 0,
        "cells_expected": 4,
        "marks": ["undefined"],
    }


def test_skills_that_do_not_apply_are_neither_zero_nor_undefined() -> None:
    cells = cells_of(complete(skill_calls=None, skill_failures=None))
    for metric in ("ASC", "SFR"):
        slot = slot_of(cells, metric, "cart")
        assert (slot["value"], slot["calls"], slot["marks"]) == (None, None, ["not-applicable"])
    assert cells.get_column("skill_calls").null_count() == 4  # no sum of nothing that reads 0


def test_steps_that_were_not_recorded_leave_the_rest_alone() -> None:
    cells = cells_of(complete(steps=None))
    assert slot_of(cells, "AS", "overall")["marks"] == ["undefined"]
    assert slot_of(cells, "SR", "overall")["value"] == 100.0
    assert cells.get_column("steps").null_count() == 4


@pytest.mark.parametrize(("calls", "unstable"), [(29, True), (30, False)])
def test_fewer_than_thirty_calls_behind_a_slot_are_marked(calls: int, unstable: bool) -> None:  # noqa: FBT001
    records = complete(skill_calls=1)
    records[0]["skill_calls"] = calls - 5
    cells = cells_of(records)
    overall = slot_of(cells, "SFR", "overall")
    assert (overall["calls"], overall["marks"]) == (calls, ["unstable"] if unstable else [])
    # All calls of the slot count, not those of one cell: search made two in all.
    assert slot_of(cells, "SFR", "search")["marks"] == ["unstable"]
    assert slot_of(cells, "SR", "overall")["marks"] == []


def test_errored_task_is_in_no_mean_but_in_the_coverage() -> None:
    records = complete()
    records[0] |= {"success": None, "error": "timeout", "steps": None}
    cells = cells_of(records)
    first = cells.row(0, named=True)
    assert (first["scored"], first["errored"], first["missing"], first["n"]) == (1, 1, 0, 1)
    assert first["SR"] == 100.0
    assert sf.coverage(cells).row(0) == ("asi", 6, 5, 1, 0, 1)


def test_both_rates_with_and_without_errors_come_from_one_call_each() -> None:
    records = complete()
    records[0] |= {"success": None, "error": "timeout", "steps": 9}
    records[1] |= {"success": True, "error": "crash after success", "steps": None}
    without, counted = cells_of(records), cells_of(records, errors="zero")
    assert without.row(0, named=True)["SR"] is None
    zero = counted.row(0, named=True)
    assert (zero["SR"], zero["n"], zero["n_steps"], zero["AS"]) == (0.0, 2, 1, 9.0)
    assert (zero["scored"], zero["errored"]) == (0, 2)  # counted as failures, not called measured


def test_unequal_trials_count_every_task_once() -> None:
    # Task 0: 2 of 3 trials; task 1: 0 of 1. Mean of tasks 33.3, of trials 50.
    records = complete()
    records[1] |= {"success": False}
    records += [
        record("cart", "plain", "cart.0", trial=2, success=False),
        record("cart", "plain", "cart.0", trial=3),
    ]
    first = cells_of(records).row(0, named=True)
    assert first["SR"] == pytest.approx(100 / 3, abs=1e-12)
    assert (first["n"], first["trials"], first["successes"]) == (2, 4, 2)


def test_failure_rate_stays_a_ratio_of_sums_over_trials() -> None:
    records = complete(skill_calls=0)
    records[0] |= {"skill_calls": 1, "skill_failures": 1}
    records.append(record("cart", "plain", "cart.0", trial=2, skill_calls=9))
    assert cells_of(records).row(0, named=True)["SFR"] == 10.0


def test_more_tasks_than_the_benchmark_has_are_marked_not_hidden() -> None:
    cells = cells_of([*complete(), record("search", "plain", "another")])
    assert cells.filter(site="search", condition="plain").select("scored", "missing").row(0) == (
        2,
        0,
    )
    assert slot_of(cells, "SR", "search")["marks"] == ["excess"]
    assert slot_of(cells, "SR", "cart")["marks"] == []


def test_grid_is_the_pivot_of_the_cells() -> None:
    records = complete()
    records[0]["success"] = False
    cells = cells_of(records).sample(fraction=1.0, shuffle=True, seed=3)
    grid = sf.grid(cells, "SR", benchmark=SHOP)
    assert grid.columns == ["run", "site", "plain", "hard"]
    assert grid.rows() == [("asi", "cart", 50.0, 100.0), ("asi", "search", 100.0, 100.0)]
    assert sf.grid(cells, "scored", benchmark=SHOP).row(0) == ("asi", "cart", 2, 2)
    with pytest.raises(sf.InputError, match="no metric 'speed'; there are SR, AS, ASC, SFR"):
        sf.grid(cells, "speed", benchmark=SHOP)


def test_nothing_depends_on_the_order_of_the_cells() -> None:
    cells = cells_of([*complete(), *(r | {"run": "b"} for r in complete(success=False))])
    mixed = cells.sample(fraction=1.0, shuffle=True, seed=1)
    assert not mixed.equals(cells)
    for make in (sf.slots, sf.table, sf.grid):
        assert make(mixed, benchmark=SHOP).equals(make(cells, benchmark=SHOP))
    assert sf.coverage(mixed).equals(sf.coverage(cells))
    assert sf.bounds(mixed).equals(sf.bounds(cells))


def test_foreign_cells_are_refused_with_the_benchmark_named() -> None:
    with pytest.raises(sf.BenchmarkError, match="benchmark skillshift"):
        sf.table(cells_of(complete()))
    frame = sf.from_frame(pl.DataFrame(complete(), schema_overrides=_DTYPES), benchmark="infer")
    with pytest.raises(sf.BenchmarkError, match="no site 'cart'"):
        sf.cells(frame)
    half = cells_of(complete()).head(3)
    with pytest.raises(sf.BenchmarkError, match="each once"):
        sf.table(half, benchmark=SHOP)


def test_inferred_benchmark_gives_the_same_numbers_in_alphabetical_order() -> None:
    tasks = sf.from_frame(pl.DataFrame(complete(), schema_overrides=_DTYPES), benchmark="infer")
    cells = sf.cells(tasks, benchmark="infer")
    table = sf.table(cells, benchmark="infer")
    assert table.columns == ["run", "metric", "cart", "search", "hard", "plain", "overall"]
    named = sf.table(cells_of(complete()), benchmark=SHOP)
    assert table.select(named.columns).equals(named)


def test_identity_sees_what_does_not_add_up() -> None:
    table = sf.table(cells_of(complete()), benchmark=SHOP)
    assert (
        sf.identity(table, benchmark=SHOP, tolerance=0).get_column("holds").to_list() == [True] * 4
    )
    broken = table.with_columns(cart=pl.col("cart") + 1)
    found = sf.identity(broken, benchmark=SHOP).row(0, named=True)
    assert (found["difference"], found["holds"]) == (0.5, False)
    with pytest.raises(sf.InputError, match="no column 'hard'"):
        sf.identity(table.drop("hard"), benchmark=SHOP)
    with pytest.raises(sf.InputError, match="give the benchmark"):
        sf.identity(table, benchmark="infer")


def test_identity_is_silent_where_a_number_is_undefined() -> None:
    table = sf.table(cells_of(complete(skill_calls=0)), benchmark=SHOP)
    sfr = sf.identity(table, benchmark=SHOP).filter(metric="SFR").row(0, named=True)
    assert (sfr["difference"], sfr["holds"]) == (None, None)


def test_gaps_name_what_was_not_measured() -> None:
    records = [r for r in complete() if (r["uid"], r["condition"]) != ("cart.1", "hard")]
    records[0] |= {"success": None, "error": "timeout"}
    frame = sf.from_frame(pl.DataFrame(records, schema_overrides=_DTYPES), benchmark=SHOP)
    assert sf.gaps(frame, benchmark=SHOP).rows() == [
        ("asi", "cart", "plain", "cart.0", "errored", "timeout"),
        ("asi", "cart", "hard", "cart.1", "missing", None),
    ]
    whole = sf.from_frame(pl.DataFrame(complete(), schema_overrides=_DTYPES), benchmark=SHOP)
    assert sf.gaps(whole, benchmark=SHOP).is_empty()


def test_shards_share_no_cell_and_record_the_same() -> None:
    plain = [r | {"run": "1"} for r in complete() if r["condition"] == "plain"]
    hard = [r | {"run": "2"} for r in complete() if r["condition"] == "hard"]
    assert sf.shards(cells_of([*plain, *hard])) == [["1", "2"]]
    assert sf.shards(cells_of([*plain, *(r | {"run": "2"} for r in plain)])) == []
    no_skills = [r | {"skill_calls": None, "skill_failures": None} for r in hard]
    assert sf.shards(cells_of([*plain, *no_skills])) == []


def test_groups_of_shards_are_in_the_order_of_their_labels() -> None:
    of_runs = {"1": "plain", "3": "hard", "2": "plain", "4": "hard"}
    records = [
        r | {"run": run} | ({"skill_calls": None, "skill_failures": None} if run in "24" else {})
        for run, condition in of_runs.items()
        for r in complete()
        if r["condition"] == condition
    ]
    assert sf.shards(cells_of(records)) == [["1", "3"], ["2", "4"]]


def test_first_run_without_all_cells_is_named() -> None:
    cells = cells_of([r | {"run": run} for run in "cab" for r in complete()])
    for wrong in (
        cells.filter((pl.col("run") == "a") | (pl.col("site") == "cart")),
        cells.with_columns(site=pl.when(pl.col("run") == "a").then("site").otherwise(pl.lit("x"))),
        pl.concat([cells, cells.filter(pl.col("run") != "a")]),
    ):
        with pytest.raises(sf.BenchmarkError, match="run b has not the cells of benchmark shop"):
            sf.slots(wrong, benchmark=SHOP)


def test_difference_of_counts_does_not_wrap() -> None:
    cells = cells_of(complete(success=False))
    assert cells.select(pl.col("successes") - pl.col("n")).to_series().to_list() == [-2, -2, -1, -1]


def test_no_tasks_give_no_rows() -> None:
    nothing = sf.cells(sf.TASKS.to_frame())
    assert nothing.schema == sf.CELLS
    assert nothing.is_empty()
    assert sf.table(nothing).schema == sf.TABLE
    assert sf.slots(nothing).is_empty()
    assert sf.coverage(nothing).is_empty()
