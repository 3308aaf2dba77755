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
    ],
    ids=["leaderboard", "shift", "shift_intervals", "build_entry", "records_digest", "calibrate"],
)
def test_a_path_in_place_of_a_frame_is_answered_with_what_reads_it(
    call: Callable[[Any], object], reader: str
) -> None:
    with pytest.raises(sf.InputError, match=f"a Polars frame is needed, and {reader} reads one"):
        call("runs/x.jsonl")


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
