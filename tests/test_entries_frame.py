"""What `read_entries` says of an entry beside its numbers: the counts behind them, and what a null means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import skillshift_frames as sf
from tests.entries import PUBLISHED, changed, paper_entry, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from tests.entries import Json

GOOD = paper_entry("WALT")
#: 101 tasks under each of six conditions.
FEW = dict.fromkeys(sf.SKILLSHIFT.conditions, 101)
SITES = {"gitlab": 20, "magento": 9, "wordpress": 2}


def read(tmp_path: Path, content: Json) -> dict[str, tuple[object, ...]]:
    """Give by metric: tasks, tasks expected, why they differ, and whether the metric applies."""
    frame = sf.read_entries(write_json(tmp_path / "e.json", content))
    assert frame.schema == sf.ENTRIES
    said = ("tasks", "tasks_expected", "tasks_reason", "applies")
    return {row["metric"]: tuple(row[name] for name in said) for row in frame.rows(named=True)}


@pytest.mark.parametrize(
    ("changes", "tasks", "reason"),
    [
        ({}, 2130, None),
        ({"n.websites": SITES, "n.conditions": FEW}, 606, "606 of 2,130 tasks"),
        ({"n.conditions": FEW}, 606, "n.websites and n.conditions contradict each other"),
        ({"n.websites": SITES}, 186, "n.websites and n.conditions contradict each other"),
        (
            {
                "n.websites.gitlab": 161,
                "n.conditions": FEW | {"src": 355 * 6 - 5 * 101},
            },
            2130,
            "sites or conditions have other numbers of tasks",
        ),
        ({"n.websites.gitlab": 200, "n.conditions.src": 400}, 2175, "2,175 of 2,130 tasks"),
    ],
)
def test_stated_counts_are_set_against_the_benchmark(
    tmp_path: Path, changes: Json, tasks: int, reason: str | None
) -> None:
    content = GOOD
    for path, value in changes.items():
        content = changed(content, path, value)
    for said in read(tmp_path, content).values():
        assert said[:3] == (tasks, 2130, reason)


def test_a_table_states_no_counts_and_no_reasons() -> None:
    found = sf.read_entries(PUBLISHED)
    said = found.select("tasks", "tasks_expected", "tasks_reason", "applies").unique().rows()
    assert said == [(None, 2130, None, None)]


@pytest.mark.parametrize(
    ("reason", "applies"),
    [
        ("Not applicable: workflows are text.", False),
        ("It DOES NOT APPLY to workflows.", False),
        ("Calls were not logged by our harness.", True),
    ],
)
def test_a_reason_says_whether_a_null_applies(
    tmp_path: Path,
    reason: str,
    applies: bool,  # noqa: FBT001
) -> None:
    content = changed(paper_entry("AWM"), "reasons.ASC", reason)
    found = read(tmp_path, content)
    assert {metric: said[3] for metric, said in found.items()} == {
        "SR": None,
        "AS": None,
        "ASC": applies,
        "SFR": False,
    }


def test_a_slots_reason_counts_and_one_null_that_applies_is_enough(tmp_path: Path) -> None:
    content = changed(GOOD, "metrics.SFR.websites.wordpress", None)
    content["reasons"] = {"SFR.websites.wordpress": "Not applicable: no call."}
    assert read(tmp_path, content)["SFR"][3] is False
    content = changed(content, "metrics.SFR.overall", None)
    assert read(tmp_path, content)["SFR"][3] is True
    content["reasons"] |= {"SFR": "not applicable", "SFR.overall": "lost"}
    assert read(tmp_path, content)["SFR"][3] is True  # the slot's own reason is the nearer one


@pytest.mark.parametrize("path", ["n.skill_calls", "n.conditions.src"])
def test_a_count_that_no_frame_holds_is_refused(tmp_path: Path, path: str) -> None:
    entry = write_json(tmp_path / "e.json", changed(GOOD, path, 1 << 63))
    with pytest.raises(sf.InputError):
        sf.read_entries(entry)
