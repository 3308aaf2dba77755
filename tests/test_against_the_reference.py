"""Cells, table and expressions against the brute-force reference in exact fractions."""

from __future__ import annotations

import random
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import skillshift_frames as sf
from tests import reference
from tests.strategies import SKILLSHIFT, SMALL, Shape, records, shuffled, to_jsonl

if TYPE_CHECKING:
    from tests.reference import Record

Errors: TypeAlias = Literal["exclude", "zero"]
Null: TypeAlias = Literal["propagate", "available"]

METRICS = ["SR", "AS", "ASC", "SFR"]
ERRORS = st.sampled_from(["exclude", "zero"])
NULLS = st.sampled_from(["propagate", "available"])


def _benchmark(shape: Shape) -> sf.Benchmark:
    return sf.Benchmark("small", sites=shape.sites, conditions=shape.conditions)


def _tasks(listed: list[Record], benchmark: sf.Benchmark) -> pl.DataFrame:
    frame = pl.DataFrame(listed, schema_overrides=_DTYPES, infer_schema_length=None)
    return sf.from_frame(frame, benchmark=benchmark)


_DTYPES = {name: dtype for name, dtype in sf.TASKS.items() if name != "trial"} | {"trial": pl.Int64}


def _float(number: Fraction | None) -> float | None:
    # A Fraction becomes the nearest float; ours must be that very float, not one close to it.
    return None if number is None else float(number)


def _assert_cells(tasks: pl.DataFrame, listed: list[Record], shape: Shape, errors: Errors) -> None:
    benchmark = _benchmark(shape)
    cells = sf.cells(tasks, benchmark=benchmark, errors=errors)
    assert cells.schema == sf.CELLS
    expected = reference.evaluate(listed, shape.sites, shape.conditions, errors=errors)
    assert cells.get_column("run").unique(maintain_order=True).to_list() == sorted(expected)
    assert cells.height == len(expected) * len(shape.sites) * len(shape.conditions)
    for row in cells.iter_rows(named=True):
        cell = expected[row["run"]].cells[row["site"], row["condition"]]
        assert {name: row[name] for name in METRICS} == {
            name: _float(cell.values[name]) for name in METRICS
        }
        for count in ("expected", "scored", "errored", "missing", "errored_trials"):
            assert row[count] == getattr(cell, count), count
        if cell.scored + cell.errored <= cell.expected:
            assert row["expected"] == row["scored"] + row["errored"] + row["missing"]


@given(records(SMALL), ERRORS)
def test_every_cell_equals_the_exact_fraction(listed: list[Record], errors: Errors) -> None:
    _assert_cells(_tasks(listed, _benchmark(SMALL)), listed, SMALL, errors)


@pytest.mark.parametrize(
    "kind", ["complete", "partial", "never called", "no skills", "errors", "three trials"]
)
@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_a_run_of_skillshift_equals_the_exact_fractions(kind: str, errors: Errors) -> None:
    listed = _skillshift_run(kind)
    _assert_cells(_tasks(listed, _benchmark(SKILLSHIFT)), listed, SKILLSHIFT, errors)


def _skillshift_run(kind: str) -> list[Record]:
    """Make one run of full size, seeded by its kind; Hypothesis cannot draw this many values."""
    rng = random.Random(kind)  # noqa: S311 - no secret

    def record(site: str, condition: str, index: int, trial: int) -> Record:
        calls = (
            None
            if kind == "no skills"
            else 0
            if kind == "never called"
            else rng.choice([0, 0, 0, 1, 3])
        )
        failures = None if calls is None else rng.randint(0, calls)
        failed = kind == "errors" and rng.random() < 0.1
        return {
            "run": kind,
            "uid": f"{site}.{index}",
            "site": site,
            "condition": condition,
            "trial": trial,
            "success": None if failed and rng.random() < 0.5 else rng.random() < 0.4,
            "steps": rng.randint(0, 30),
            "skill_calls": calls,
            "skill_failures": failures,
            "error": "timeout" if failed else None,
        }

    listed = [
        record(site, condition, index, trial)
        for site, n in SKILLSHIFT.sites.items()
        for condition in SKILLSHIFT.conditions
        for index in range(n)
        for trial in range(1, 1 + (rng.randint(1, 3) if kind == "three trials" else 1))
        if kind != "partial" or rng.random() < 0.9
    ]
    rng.shuffle(listed)
    return listed


@settings(max_examples=15)
@given(records(SMALL, complete=True, trials=3))
def test_complete_runs_read_from_lines_equal_the_exact_fractions(listed: list[Record]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "run.jsonl")
        file.write_bytes(to_jsonl(listed))
        tasks = sf.read_tasks(file, benchmark=_benchmark(SMALL))
    _assert_cells(tasks, listed, SMALL, "exclude")


@given(records(SMALL), ERRORS, NULLS)
def test_every_slot_equals_the_exact_fraction(
    listed: list[Record],
    errors: Errors,
    null: Null,
) -> None:
    benchmark = _benchmark(SMALL)
    tasks = _tasks(listed, benchmark)
    cells = sf.cells(tasks, benchmark=benchmark, errors=errors)
    table = sf.table(cells, benchmark=benchmark, null=null)
    expected = reference.evaluate(listed, SMALL.sites, SMALL.conditions, errors=errors, null=null)
    assert table.select("run", "metric").rows() == [
        (run, metric) for run in sorted(expected) for metric in METRICS
    ]
    for row in table.iter_rows(named=True):
        for slot in benchmark.slots:
            exact = expected[row["run"]].slots[slot].values[row["metric"]]
            assert row[slot] == _float(exact), (row["run"], row["metric"], slot)


@given(records(SMALL), ERRORS)
def test_calls_and_marks_of_a_slot_follow_its_denominator(
    listed: list[Record], errors: Errors
) -> None:
    benchmark = _benchmark(SMALL)
    cells = sf.cells(_tasks(listed, benchmark), benchmark=benchmark, errors=errors)
    expected = reference.evaluate(listed, SMALL.sites, SMALL.conditions, errors=errors)
    for slot in sf.slots(cells, benchmark=benchmark).iter_rows(named=True):
        exact = expected[slot["run"]].slots[slot["slot"]]
        marks = set(slot["marks"])
        if "not-applicable" in marks:
            assert (slot["value"], slot["calls"], exact.calls) == (None, None, None)
            continue
        assert (slot["calls"] or 0) == (exact.calls or 0)
        assert ("undefined" in marks) == (slot["value"] is None)
        unstable = slot["metric"] == "SFR" and slot["value"] is not None and (exact.calls or 0) < 30
        assert ("unstable" in marks) == unstable
        assert "available" not in marks
        assert ("excess" in marks) == (slot["n"] > slot["n_expected"])
        assert slot["n"] <= slot["n_expected"] or errors == "zero" or "excess" in marks


@given(records(SMALL), ERRORS)
def test_expressions_equal_the_task_means_of_any_group(
    listed: list[Record], errors: Errors
) -> None:
    tasks = _tasks(listed, _benchmark(SMALL))
    metrics = [
        sf.success_rate(errors=errors),
        sf.average_steps(errors=errors),
        sf.average_skill_calls(errors=errors),
        sf.skill_failure_rate(errors=errors),
    ]
    for keys in (["run"], ["run", "site"], ["site", "condition"]):
        for frame in (tasks, tasks.lazy()):
            grouped = frame.group_by(keys).agg(metrics).lazy().collect()
            for row in grouped.iter_rows(named=True):
                inside = [r for r in listed if all(r[key] == row[key] for key in keys)]
                for metric in METRICS:
                    exact = _task_mean(inside, metric, errors)
                    found = row[metric]
                    assert (found is None) == (exact is None), (keys, metric)
                    assert found is None or found == pytest.approx(float(exact), rel=1e-14)  # type: ignore[arg-type]


def _task_mean(inside: list[Record], metric: str, errors: str) -> Fraction | None:
    """Average the group's tasks straight from the definition (for SFR: the ratio of its sums)."""
    used = [r for r in inside if errors == "zero" or not r.get("error")]
    if metric == "SFR":
        calls = sum(r["skill_calls"] or 0 for r in used)
        return Fraction(100 * sum(r["skill_failures"] or 0 for r in used), calls) if calls else None
    tasks: dict[tuple[str, ...], list[int]] = {}
    for record in used:
        value = {
            "SR": 100 * bool(record["success"] and not record.get("error")),
            "AS": record["steps"],
            "ASC": record["skill_calls"],
        }[metric]
        if value is not None:
            key = (record["run"], record["site"], record["condition"], record["uid"])
            tasks.setdefault(key, []).append(value)
    means = [Fraction(sum(values), len(values)) for values in tasks.values()]
    return sum(means, Fraction()) / len(means) if means else None


@given(shuffled(records(SMALL)), st.integers(1, 4), st.randoms(use_true_random=False))
def test_order_and_sharding_change_nothing(
    listed: list[Record], parts: int, rng: random.Random
) -> None:
    benchmark = _benchmark(SMALL)
    whole = sf.cells(_tasks(listed, benchmark), benchmark=benchmark)
    shards: list[list[Record]] = [[] for _ in range(parts)]
    for record in listed:
        rng.choice(shards).append(record)
    with tempfile.TemporaryDirectory() as folder:
        for number, shard in enumerate(shards):
            if shard:
                Path(folder, f"{number}.jsonl").write_bytes(to_jsonl(shard))
        tasks = sf.read_tasks(f"{folder}/*.jsonl", benchmark=benchmark)
    assert sf.cells(tasks, benchmark=benchmark).equals(whole)


@given(records(SMALL, trials=1))
def test_every_row_again_as_a_second_trial_moves_no_metric(listed: list[Record]) -> None:
    benchmark = _benchmark(SMALL)
    once = sf.cells(_tasks(listed, benchmark), benchmark=benchmark)
    twice = [*listed, *({**record, "trial": 2} for record in listed)]
    doubled = sf.cells(_tasks(twice, benchmark), benchmark=benchmark)
    same = ["run", "site", "condition", "expected", "scored", "errored", "missing", "n", *METRICS]
    assert doubled.select(same).equals(once.select(same))


@given(records(SMALL))
def test_runs_do_not_touch_each_other(listed: list[Record]) -> None:
    benchmark = _benchmark(SMALL)
    together = sf.cells(_tasks(listed, benchmark), benchmark=benchmark)
    labels = sorted({record["run"] for record in listed})
    own = [[record for record in listed if record["run"] == label] for label in labels]
    alone = [sf.cells(_tasks(run, benchmark), benchmark=benchmark) for run in own]
    assert pl.concat(alone).equals(together)


@given(records(SMALL))
def test_bounds_hold_for_the_gaps_filled_either_way(listed: list[Record]) -> None:
    """Fill every gap by hand, with failures and with successes, and compute the table of that."""
    benchmark = _benchmark(SMALL)
    cells = sf.cells(_tasks(listed, benchmark), benchmark=benchmark)
    expected = reference.evaluate(listed, SMALL.sites, SMALL.conditions)
    for row in sf.bounds(cells).iter_rows(named=True):
        low, high = Fraction(), Fraction()
        for cell in expected[row["run"]].cells.values():
            size = max(cell.expected, cell.scored)
            passed = (cell.values["SR"] or Fraction()) * cell.scored
            low += passed / size
            high += (passed + 100 * (size - cell.scored)) / size
        count = len(expected[row["run"]].cells)
        assert row["low"] == pytest.approx(float(low / count), abs=1e-12)
        assert row["high"] == pytest.approx(float(high / count), abs=1e-12)
        assert row["SR"] is None or row["low"] - 1e-9 <= row["SR"] <= row["high"] + 1e-9
