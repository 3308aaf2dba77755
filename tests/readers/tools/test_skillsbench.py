"""SkillsBench's results in both nestings, and its registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.readers.tools.reading import only, read, rows, said, write_json
from tests.readers.tools.skillsbench_files import (
    AGENT,
    WITH,
    WITHOUT,
    cell,
    flat,
    ineligible,
    nested,
    row,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tool_s_own_numbers_follow_from_the_rows(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", nested(WITH, WITHOUT))
    trials = read("skillsbench", path).frame()
    rewards, tasks = {}, {}
    for arm in ("with", "without"):
        own = trials.filter(arm=arm, status="scored")
        rewards[arm] = round(own.get_column("score").mean(), 3)  # type: ignore[arg-type]
        passed = own.filter(own.get_column("success")).get_column("uid").n_unique()
        tasks[arm] = f"{passed}/{own.get_column('uid').n_unique()}"
    assert rewards == {"with": 0.5, "without": 0.2}
    assert tasks == {"with": "2/3", "without": "1/3"}


def test_both_nestings_are_the_same_rows(tmp_path: Path) -> None:
    frames = [
        read("skillsbench", write_json(tmp_path / folder / "x.json", content)).frame()
        for folder, content in (("a", nested(WITH, WITHOUT)), ("b", flat([*WITH, *WITHOUT])))
    ]
    assert frames[0].equals(frames[1])


def test_a_row_has_what_it_says(tmp_path: Path) -> None:
    write_json(tmp_path / "0001.json", flat([row("a", 0.25, passed=False)]))
    one = only(read("skillsbench", tmp_path))
    assert (one["run"], one["agent"], one["arm"], one["uid"]) == ("0001", AGENT, "with", "a")
    assert (one["status"], one["score"], one["success"], one["seconds"]) == (
        "scored",
        0.25,
        False,
        40.0,
    )
    assert (one["steps"], one["cost"], one["skill"]) == (None, None, None)


def test_a_row_that_is_not_eligible_is_no_failure(tmp_path: Path) -> None:
    write_json(
        tmp_path / "x.json",
        flat([ineligible("a", "no_skills"), row("b", 0.0, score_eligible=False)]),
    )
    found = read("skillsbench", tmp_path)
    assert rows(found, "uid", "status", "error_type", "score", "success") == [
        ("b", "errored", "ineligible", None, None),
        ("a", "errored", "verifier_error", None, None),
    ]


@pytest.mark.parametrize("eligible", [None, "yes", 1])
def test_eligible_is_only_what_is_true(eligible: Any, tmp_path: Path) -> None:  # noqa: ANN401
    write_json(tmp_path / "x.json", flat([row("a", 1.0, score_eligible=eligible)]))
    found = read("skillsbench", tmp_path)
    assert rows(found, "status") == [("errored",)]
    assert "row 1: score_eligible is" in said(found)[0]


def test_the_arm_is_the_condition_and_not_has_skills(tmp_path: Path) -> None:
    conditions = ["with_skills", "no_skills", "self_generated", None]
    write_json(
        tmp_path / "x.json",
        flat([row(f"t{n}", 1.0, condition=c) for n, c in enumerate(conditions)]),
    )
    found = read("skillsbench", tmp_path)
    assert sorted(rows(found, "uid", "arm")) == [
        ("t0", "with"),
        ("t1", "without"),
        ("t2", "self_generated"),
        ("t3", None),
    ]


def test_a_trial_that_is_there_twice_is_kept_and_told(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", flat([row("a", 1.0), row("a", 1.0)]))
    found = read("skillsbench", tmp_path)
    assert rows(found, "trial") == [(1,), (2,)]
    assert "a__with_skills__0 is there more than once" in said(found)[0]


def test_a_file_that_is_not_completed_is_read_and_told(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", flat([row("a", 1.0)], status="running"))
    found = read("skillsbench", tmp_path)
    assert found.count == 1
    assert 'is "running", not completed' in said(found)[0]


def test_no_participant_is_no_agent(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", flat([row("a", 1.0)], participants={"agent": ""}))
    assert rows(read("skillsbench", tmp_path), "agent") == [(None,)]


def test_a_reward_of_a_wrong_type_leaves_what_passed_says(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", flat([row("a", 1.0) | {"reward": "1.0"}]))
    found = read("skillsbench", tmp_path)
    assert rows(found, "status", "score", "success") == [("scored", None, True)]
    assert "a number is needed" in said(found)[0]


def test_the_registry_has_cells_and_no_trials(tmp_path: Path) -> None:
    content = [
        cell("a", "With Skills", 75.0),
        cell("a", "No Skills", 50.0, passed=0),
        cell("b", "No Skills", None, 0, 0),
    ]
    found = read("skillsbench", write_json(tmp_path / "registry.json", content))
    assert rows(found, "arm", "uid", "status", "score", "success", "pass_rate") == [
        ("with", "a", "scored", 0.75, None, 0.5),
        ("without", "a", "scored", 0.5, None, 0.0),
        ("without", "b", "missing", None, None, None),
    ]
    assert set(rows(found, "agent", "model")) == {("Codex", "Example 1")}
    assert "means of each task's trials" in found.notes[0]
