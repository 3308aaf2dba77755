"""Trajectories: what counts as a step, a call, a skill call and its failure; and what cannot be known."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from skillshift_frames.readers.tools import atif
from tests.readers.tools import reading
from tests.readers.tools.harbor_files import trajectory
from tests.readers.tools.reading import faults, write_json

if TYPE_CHECKING:
    from pathlib import Path

READ = ("exec_command", {"cmd": "cat skills/tables/SKILL.md"}, None)
SKILL = ("Skill", {"skill": "tables"}, None)
LIST = ("Bash", {"command": "ls"}, None)


read = partial(reading.read, "atif")


def one(tmp_path: Path, content: object) -> dict[str, Any]:
    write_json(tmp_path / "t" / "trajectory.json", content)
    return read(tmp_path / "t").frame().row(0, named=True)


def test_a_trajectory_by_hand(tmp_path: Path) -> None:
    row = one(tmp_path, trajectory([READ, LIST, SKILL]))
    assert {name: row[name] for name in ("uid", "status", "error_type", "agent", "model")} == {
        "uid": "t",
        "status": "unscored",
        "error_type": "no score",
        "agent": "codex",
        "model": "model-1",
    }
    counts = ("steps", "tool_calls", "skill_calls", "skill_failures")
    assert [row[name] for name in counts] == [4, 3, 2, 0]
    assert [row[f"{name}_tokens"] for name in ("input", "cached", "output")] == [4000, 20, 40]
    assert row["cost"] == 0.04


def test_copied_context_counts_for_nothing(tmp_path: Path) -> None:
    row = one(tmp_path, trajectory([SKILL, LIST], copied=2, final=False))
    assert (row["steps"], row["tool_calls"], row["skill_calls"], row["input_tokens"]) == (
        3,
        2,
        1,
        3000,
    )


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version_is_read(tmp_path: Path, version: str) -> None:
    assert one(tmp_path, trajectory([LIST], version=version))["tool_calls"] == 1


@pytest.mark.parametrize(
    "extra",
    [
        {"tool_result_is_error": True},
        {"is_error": True},
        {"tool_result_metadata": {"is_error": True}},
        {"exit_code": 2},
    ],
)
def test_a_skill_call_fails_where_its_result_says_so(tmp_path: Path, extra: dict[str, Any]) -> None:
    row = one(tmp_path, trajectory([("Skill", {"skill": "x"}, extra), SKILL, ("Bash", {}, extra)]))
    assert (row["skill_calls"], row["skill_failures"]) == (2, 1)


@pytest.mark.parametrize(
    ("content", "failed"),
    [
        ("<tool_use_error>no such skill</tool_use_error>", 1),
        ("cat: no such file\n[error] tool reported failure", 1),
        ("Process exited with code 1", 1),
        ([{"type": "text", "text": "Exit code: 127"}], 1),
        ("Exit code: 0", 0),
        ("how to handle an error", 0),
        (None, 0),
    ],
)
def test_a_skill_call_fails_where_the_tools_text_says_so(
    tmp_path: Path, content: object, failed: int
) -> None:
    shown = trajectory([SKILL])
    shown["steps"][1]["observation"]["results"][0]["content"] = content
    assert one(tmp_path, shown)["skill_failures"] == failed


def test_a_skill_call_without_a_result_may_have_failed_or_not(tmp_path: Path) -> None:
    shown = trajectory([SKILL, SKILL])
    del shown["steps"][2]["observation"]
    row = one(tmp_path, shown)
    assert (row["skill_calls"], row["skill_failures"]) == (2, None)


@pytest.mark.parametrize(
    ("function", "arguments", "calls"),
    [
        ("Skill", {"skill": "a"}, 1),
        ("skill", {"name": "a"}, 1),
        ("Read", {"file_path": "/x/skills/a/SKILL.md"}, 1),
        ("exec_command", {"cmd": ["cat", "a/SKILL.md"]}, 1),
        ("functions.shell", {"command": "head a/SKILL.md"}, 1),
        ("Write", {"file_path": "/x/skills/a/SKILL.md", "content": "x"}, 0),
        ("Bash", {"command": "cat MY_SKILL.mdx"}, 0),
        ("Bash", {"note": "see SKILL.md"}, 0),
        ("Bash", None, 0),
    ],
)
def test_what_a_skill_call_is(
    tmp_path: Path, function: str, arguments: dict[str, Any], calls: int
) -> None:
    assert one(tmp_path, trajectory([(function, arguments, None)]))["skill_calls"] == calls


def test_tokens_are_the_totals_else_the_sum_of_all_steps_else_unknown(tmp_path: Path) -> None:
    shown = trajectory([LIST], final=False)
    assert one(tmp_path, shown)["input_tokens"] == 2000
    del shown["steps"][1]["metrics"]["cached_tokens"]
    row = one(tmp_path, shown)
    assert (row["input_tokens"], row["cached_tokens"], row["cost"]) == (2000, None, 0.02)
    shown["final_metrics"] = {"total_cached_tokens": 7}
    assert one(tmp_path, shown)["cached_tokens"] == 7


def test_a_step_without_a_call_of_the_model_needs_no_tokens(tmp_path: Path) -> None:
    shown = trajectory([LIST], final=False)
    shown["steps"][1] |= {"llm_call_count": 0}
    del shown["steps"][1]["metrics"]
    assert one(tmp_path, shown)["input_tokens"] == 1000


def test_a_continuation_is_the_same_trial(tmp_path: Path) -> None:
    first = trajectory([LIST]) | {"continued_trajectory_ref": "trajectory.cont-1.json"}
    write_json(tmp_path / "t" / "trajectory.json", first)
    write_json(tmp_path / "t" / "trajectory.cont-1.json", trajectory([SKILL], copied=1))
    write_json(tmp_path / "t" / "trajectory.summarization-1-summary.json", trajectory([]))
    frame = read(tmp_path / "t").frame()
    assert frame.select("steps", "tool_calls", "skill_calls", "input_tokens").rows() == [
        (4, 2, 1, 4000)
    ]


@pytest.mark.parametrize("ref", ["trajectory.json", "trajectory.cont-1.json"])
def test_a_continuation_that_leads_back_or_nowhere_is_said(tmp_path: Path, ref: str) -> None:
    write_json(
        tmp_path / "t" / "trajectory.json", trajectory([LIST]) | {"continued_trajectory_ref": ref}
    )
    found = read(tmp_path / "t")
    assert found.frame()["steps"].to_list() == [2]
    assert found.faults().height == 1


@pytest.mark.parametrize("ref", ["../secret.json", "/etc/passwd", 7])
def test_a_continuation_elsewhere_is_not_opened(tmp_path: Path, ref: object) -> None:
    write_json(tmp_path / "secret.json", trajectory([LIST] * 5))
    write_json(
        tmp_path / "t" / "trajectory.json", trajectory([LIST]) | {"continued_trajectory_ref": ref}
    )
    assert read(tmp_path / "t").frame()["steps"].to_list() == [2]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"total_steps"', '"total_steps'),
        ('"steps": [', '"steps": "x", "other": ['),
        ('"total_steps"', '"total_cost_usd": 1, "total_steps"'),
        ('"total_cost_usd": 0.02', '"total_cost_usd": NaN'),
        ('"message": "Done."', '"message": "Done.", "tool_calls": 3'),
        ('"steps": [', '"steps": [7, '),
    ],
)
def test_a_damaged_trajectory_is_an_errored_trial(tmp_path: Path, old: str, new: str) -> None:
    text = json.dumps(trajectory([LIST]))
    assert old in text
    file = tmp_path / "t" / "trajectory.json"
    file.parent.mkdir()
    file.write_text(text.replace(old, new))
    found = read(tmp_path / "t")
    assert found.frame().select("status", "error_type", "steps").rows() == [
        ("errored", "damaged trajectory", None)
    ]
    (fault,) = found.faults().rows(named=True)
    assert (fault["path"], fault["severity"]) == (str(file), "warning")


def test_trajectories_are_named_by_their_place(tmp_path: Path) -> None:
    for name in ("a/agent/trajectory.json", "b/run-7.json", "trajectory.json"):
        write_json(tmp_path / "all" / name, trajectory([]))
    write_json(tmp_path / "all" / "c" / "other.json", {"a": 1})
    assert sorted(read(tmp_path / "all").frame()["uid"]) == ["a", "all", "b/run-7"]


def test_one_file_is_one_trial(tmp_path: Path) -> None:
    file = write_json(tmp_path / "my.json", trajectory([]))
    assert atif.recognises(file)
    assert read(file).frame().select("run", "uid").rows() == [("my", "my")]


def test_what_is_recognised(tmp_path: Path) -> None:
    assert not atif.recognises(tmp_path / "nothing")
    write_json(tmp_path / "x" / "a.json", {"schema_version": "1.0"})
    assert not atif.recognises(tmp_path / "x")
    write_json(tmp_path / "x" / "deep" / "er" / "a.json", trajectory([]))
    assert atif.recognises(tmp_path / "x")


def test_no_trial_of_them_is_scored_and_this_is_said(tmp_path: Path) -> None:
    write_json(tmp_path / "t" / "trajectory.json", trajectory([]))
    found = read(tmp_path / "t")
    assert found.notes == [
        "trajectories say what an agent did, not how well: no trial of them is scored"
    ]
    assert not faults(found)
