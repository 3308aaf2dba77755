"""Agent Skill Induction: experiments of BrowserGym under new names, with a judge's verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.readers.tools.agentlab_files import TIME, summary, write_asi
from tests.readers.tools.reading import only, read, rows, said, write_json

if TYPE_CHECKING:
    from pathlib import Path

JUDGE = "gpt-4o-2024-05-13_autoeval.json"


def test_the_runs_are_the_folders_above_results(tmp_path: Path) -> None:
    found = read("asi", write_asi(tmp_path))
    assert rows(found, "run", "uid", "success", "steps") == [
        ("asi", "webarena.21", True, 1),
        ("asi", "webarena.22", False, 2),
        ("asi", "webarena.23", True, 3),
        ("vanilla", "webarena.21", False, 1),
        ("vanilla", "webarena.22", False, 2),
        ("vanilla", "webarena.23", True, 3),
    ]
    # Which arm a run was is not recorded.
    assert found.frame().get_column("arm").null_count() == 6
    assert not said(found)


def test_one_run_may_be_named_at_any_height(tmp_path: Path) -> None:
    write_asi(tmp_path)
    for path in (
        tmp_path / "asi",
        tmp_path / "asi" / "results",
        tmp_path / "asi" / "results" / "webarena.21",
    ):
        found = read("asi", path)
        assert set(rows(found, "run")) == {("asi",)}
        assert found.count == (1 if path.name == "webarena.21" else 3)


def test_a_verdict_is_a_metric_and_none_is_null(tmp_path: Path) -> None:
    write_asi(tmp_path)
    folder = tmp_path / "asi" / "results"
    write_json(folder / "webarena.21" / JUDGE, [{"idx": 21, "gt": 1.0, "rm": None}])
    # Where the judge failed, its file holds an object and no list.
    write_json(folder / "webarena.22" / JUDGE, {"error": "…"})
    found = read("asi", folder)
    assert rows(found, "uid", "autoeval") == [
        ("webarena.21", None),
        ("webarena.22", None),
        ("webarena.23", 1.0),
    ]
    assert found.notes == ["the judge gave no verdict on 2 trials"]
    assert not said(found)


def test_a_verdict_on_another_reward_is_told(tmp_path: Path) -> None:
    write_asi(tmp_path)
    write_json(tmp_path / "asi" / "results" / "webarena.21" / JUDGE, [{"gt": 0.0, "rm": False}])
    found = read("asi", tmp_path)
    assert only(found, run="asi", uid="webarena.21")["success"] is True
    assert "says that the reward is 0.0; summary_info.json says 1.0" in said(found)[0]


def test_checks_of_an_induced_skill_are_no_trials(tmp_path: Path) -> None:
    write_asi(tmp_path)
    write_json(
        tmp_path / "asi" / "results" / "webarena.21_test" / "summary_info.json", summary(0.0)
    )
    found = read("asi", tmp_path)
    assert found.count == 6
    assert found.notes[0].startswith("1 folder named …_test left out")


def test_a_run_that_was_killed_is_an_error_of_its_task(tmp_path: Path) -> None:
    write_asi(tmp_path)
    (tmp_path / "asi" / "results" / f"{TIME}_Agent_on_webarena.24_0").mkdir()
    row = only(read("asi", tmp_path), uid="webarena.24")
    assert (row["run"], row["status"], row["error_type"]) == ("asi", "errored", "incomplete")


def test_a_task_that_was_killed_and_run_again_is_told(tmp_path: Path) -> None:
    write_asi(tmp_path)
    (tmp_path / "asi" / "results" / f"{TIME}_Agent_on_webarena.21_0").mkdir()
    found = read("asi", tmp_path)
    assert found.count == 7
    assert any("asi, webarena.21 is there more than once" in line for line in said(found))
