"""What takes a frame says so where it is given something else."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable

DEMO = Path(__file__).parents[1] / "data" / "demo" / "induced.jsonl"
BUILD: dict[str, Any] = {"name": "n", "method": "m", "model": "x", "date": "2026-11-30"}


@pytest.mark.parametrize(
    ("call", "reader"),
    [
        (sf.leaderboard, "read_entries"),
        (sf.shift, "read_entries"),
        (sf.shift_intervals, "read_tasks"),
        (partial(sf.build_entry, **BUILD), "read_tasks"),
        (sf.records_digest, "read_tasks"),
        (lambda tasks: sf.calibrate(tasks, "anchor.json"), "read_tasks"),
        (sf.anchor, "read_tasks"),
        (lambda tasks: sf.write_tasks(tasks, "x.parquet"), "read_tasks"),
        (sf.cells, "read_tasks"),
        (sf.intervals, "read_tasks"),
        (sf.cell_intervals, "read_tasks"),
        (sf.ranks, "read_tasks"),
        (lambda tasks: sf.compare(tasks, base="a", treatment="b"), "read_tasks"),
    ],
    ids=[
        *("leaderboard", "shift", "shift_intervals", "build_entry", "records_digest", "calibrate"),
        *("anchor", "write_tasks", "cells", "intervals", "cell_intervals", "ranks", "compare"),
    ],
)
def test_a_path_in_place_of_a_frame_is_answered_with_what_reads_it(
    call: Callable[[Any], object], reader: str
) -> None:
    with pytest.raises(sf.InputError, match=f"a Polars frame is needed, and {reader} reads one"):
        call("runs/x.jsonl")


@pytest.mark.parametrize("families", [False, True])
@pytest.mark.parametrize(
    "call",
    [
        partial(sf.build_entry, **BUILD),
        sf.records_digest,
        lambda tasks: sf.calibrate(tasks, sf.anchor(sf.read_tasks(DEMO))),
        sf.anchor,
        lambda tasks: sf.anchor(tasks, subset={"gitlab": 3}, step_budget=30),
        lambda tasks: sf.write_tasks(tasks, "x.parquet"),
    ],
    ids=[
        "build_entry",
        "records_digest",
        "calibrate",
        "anchor",
        "part of an anchor",
        "write_tasks",
    ],
)
def test_what_needs_the_records_says_so_of_a_tally(
    call: Callable[[Any], object], *, families: bool
) -> None:
    counts = sf.tally(sf.read_tasks(DEMO), families=families)
    with pytest.raises(sf.InputError, match="the records themselves are needed, no tally of them"):
        call(counts)


def test_a_tally_is_no_table() -> None:
    with pytest.raises(sf.InputError, match="rows are a tally"):
        sf.shift(sf.tally(sf.read_tasks(DEMO)))


def test_records_are_another_functions() -> None:
    tasks = sf.read_tasks(DEMO)
    with pytest.raises(sf.InputError, match="which shift_intervals takes"):
        sf.shift(tasks)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: sf.audit({"SR": 1}), id="dict"),  # type: ignore[arg-type]
        pytest.param(lambda: sf.audit(sf.published(), trials=2.5), id="half a trial"),  # type: ignore[arg-type]
        pytest.param(lambda: sf.common_tasks(sf.published()), id="not tested"),
    ],
)
def test_other_mistakes_are_input_errors_too(call: Callable[[], object]) -> None:
    with pytest.raises(sf.InputError):
        call()


@pytest.mark.parametrize("call", [sf.table, sf.slots, sf.bounds, sf.coverage])
def test_what_takes_cells_says_how_they_are_made(call: Callable[..., Any]) -> None:
    with pytest.raises(sf.InputError, match=r"cells is 'x.jsonl'; .* cells\(read_tasks\("):
        call("x.jsonl")
    with pytest.raises(sf.InputError, match="cells has no column scored"):
        call(sf.read_tasks(DEMO))
