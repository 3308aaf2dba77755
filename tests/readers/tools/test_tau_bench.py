"""tau-bench's lists of rows and tau2-bench's simulations."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import pytest

from tests.readers.tools.reading import only, read, rows, said, write_json
from tests.readers.tools.tau_files import (
    BASELINE,
    FILE,
    crash,
    row,
    simulation,
    tau2,
    write_runs,
    write_tau2_folder,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tool_s_own_numbers_follow_from_the_rows(tmp_path: Path) -> None:
    trials = read("tau-bench", write_runs(tmp_path)).frame()
    baseline, skilled = sorted(trials.get_column("run").unique())
    for run, average, hats in ((baseline, 1 / 3, [1 / 3, 0.0]), (skilled, 2 / 3, [2 / 3, 1 / 3])):
        own = trials.filter(run=run)
        assert own.get_column("score").fill_null(0).mean() == average
        passed = [own.filter(uid=task, success=True).height for task in "012"]
        # pass^k: C(c, k) / C(n, k), averaged over tasks.
        assert [sum([comb(c, k) / comb(2, k) for c in passed]) / 3 for k in (1, 2)] == hats


def test_runs_whose_long_names_begin_alike_are_two(tmp_path: Path) -> None:
    for arm in ("baseline", "with_skill"):
        write_json(tmp_path / f"{'x' * 200}_{arm}.json", [row(0, 0, 1.0)])
    found = read("tau-bench", tmp_path)
    assert found.frame().get_column("run").n_unique() == 2
    assert said(found) == []


def test_a_row_has_what_file_name_and_messages_say(tmp_path: Path) -> None:
    path = write_json(tmp_path / FILE.format(1), [row(0, 0, 1.0, calls=3)])
    one = only(read("tau-bench", path))
    assert (one["run"], one["agent"], one["model"]) == (path.stem, "tool-calling", "model-1")
    assert (one["uid"], one["trial"], one["steps"], one["tool_calls"]) == ("0", 1, 4, 3)
    # Only the simulated user's cost is recorded.
    assert (one["arm"], one["cost"], one["seconds"]) == (None, None, None)


def test_a_crash_is_no_failure(tmp_path: Path) -> None:
    write_json(tmp_path / FILE.format(1), [crash(0, 0)])
    one = only(read("tau-bench", tmp_path))
    assert (one["status"], one["error_type"], one["score"]) == (
        "errored",
        "httpx.ReadTimeout",
        None,
    )
    # No message was kept; that is not no step.
    assert (one["steps"], one["tool_calls"]) == (None, None)


@pytest.mark.parametrize(
    ("reward", "success"),
    [(1, True), (1 - 1e-7, True), (1 - 1e-5, False), (0.0, False), (0.5, False)],
)
def test_success_is_a_reward_of_one_as_near_as_floats_come(
    reward: float, success: object, tmp_path: Path
) -> None:
    write_json(tmp_path / "x.json", [row(0, 0, reward)])
    assert rows(read("tau-bench", tmp_path), "success", "score") == [(success, reward)]


def test_a_reward_that_is_no_number_is_no_failure(tmp_path: Path) -> None:
    file = write_json(tmp_path / "x.json", [row(0, 0, 0.25)])
    file.write_text(file.read_text().replace("0.25", "1e400"))
    found = read("tau-bench", tmp_path)
    assert rows(found, "status", "success", "score") == [("unscored", None, None)]
    assert "Infinity; a finite number is needed" in said(found)[0]


def test_trials_whose_numbers_are_damaged_are_still_told_apart(tmp_path: Path) -> None:
    every = [row(0, 0, 1.0), row(0, 1, 1.0)]
    write_json(tmp_path / "x.json", [one | {"trial": str(one["trial"])} for one in every])
    found = read("tau-bench", tmp_path)
    assert rows(found, "uid", "trial", "path") == [("0", 1, "x.json"), ("0", 1, "x.json#2")]


def test_agents_that_write_their_calls_as_text_have_no_count(tmp_path: Path) -> None:
    write_json(
        tmp_path / FILE.format(1).replace("tool-calling", "react"), [row(0, 0, 1.0, calls=0)]
    )
    assert rows(read("tau-bench", tmp_path), "agent", "steps", "tool_calls") == [("react", 1, None)]


def test_a_run_that_was_stopped_has_missing_trials(tmp_path: Path) -> None:
    path = write_json(tmp_path / FILE.format(4), BASELINE[:4])
    found = read("tau-bench", path)
    missing = found.frame().filter(status="missing")
    assert missing.select("uid", "trial").rows() == [("1", 2), ("2", 2), ("3", 1), ("3", 2)]
    assert "4 of 8 planned trials are not there" in said(found)[0]


def test_a_file_whose_name_says_nothing_is_a_run_too(tmp_path: Path) -> None:
    write_json(tmp_path / "mine.json", BASELINE)
    assert set(rows(read("tau-bench", tmp_path), "run", "agent", "model")) == {("mine", None, None)}


def test_files_of_one_name_are_two_runs(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write_json(tmp_path / folder / "x.json", [row(0, 0, 1.0)])
    assert rows(read("tau-bench", tmp_path), "run") == [("a/x",), ("b/x",)]


def test_a_trial_that_is_there_twice_is_one_more_and_both_places_are_told(tmp_path: Path) -> None:
    write_json(
        tmp_path / "x.json", [row(0, 0, 1.0), row(0, 1, 1.0), row(1, 1, 1.0), row(0, 0, 0.0)]
    )
    found = read("tau-bench", tmp_path)
    assert rows(found, "uid", "trial", "score") == [
        ("0", 1, 1.0),
        ("0", 2, 1.0),
        ("0", 3, 0.0),
        ("1", 1, None),  # missing: no number of another trial is given to it
        ("1", 2, 1.0),
    ]
    assert (
        "row 4 is task 0, trial 0 again, as row 1 (it counts as one more, trial 3 from 1;"
        in said(found)[1]
    )


def test_a_simulation_that_is_there_twice_is_one_more(tmp_path: Path) -> None:
    every = [simulation("a", 0, 1.0), simulation("a", 0, 1.0), simulation("a", 0, 0.0)]
    write_json(tmp_path / "x.json", tau2(every))
    found = read("tau-bench", tmp_path)
    assert rows(found, "trial", "score") == [(1, 1.0), (2, 1.0), (3, 0.0)]
    assert "simulation 3 is task a, trial 0 again, as simulation 1" in said(found)[1]


def test_other_files_are_counted_not_read(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", [row(0, 0, 1.0)])
    write_json(tmp_path / "notes.json", {"a": 1})
    found = read("tau-bench", tmp_path)
    assert found.notes == ["1 JSON file that holds no run of tau-bench or tau2-bench left out"]


def test_a_row_of_a_wrong_type_is_told_by_its_number(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", [row(0, 0, 1.0), 3])
    assert "row 2 is 3; an object is needed" in said(read("tau-bench", tmp_path))[0]


# -- tau2 -----------------------------------------------------------------------------------------------------------


def test_a_simulation_has_what_it_measured(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", tau2([simulation("a", 0, 1.0)]))
    one = only(read("tau-bench", tmp_path))
    assert (one["run"], one["agent"], one["model"]) == ("x", "llm_agent", "model-1")
    assert (one["steps"], one["tool_calls"]) == (3, 2)
    assert (one["input_tokens"], one["output_tokens"], one["cached_tokens"]) == (200, 20, None)
    # The agent's, without the simulated user's.
    assert (one["cost"], one["seconds"], one["DB"]) == (0.25, 30.0, 1.0)


@pytest.mark.parametrize(
    ("reason", "reward", "status", "error"),
    [
        ("user_stop", 1.0, "scored", None),
        ("agent_stop", 0.0, "scored", None),
        ("max_steps", 0.0, "scored", None),
        ("timeout", 0.0, "scored", None),
        ("too_many_errors", 0.0, "scored", None),
        ("agent_error", 0.0, "scored", None),
        ("context_window_exceeded", 0.0, "scored", None),
        ("user_error", 0.0, "errored", "user_error"),
        ("unexpected_error", 0.0, "errored", "unexpected_error"),
        ("infrastructure_error", None, "errored", "infrastructure_error"),
        ("user_stop", None, "unscored", "user_stop"),
    ],
)
def test_how_a_simulation_ended_is_its_status(
    reason: str, reward: float | None, status: str, error: str | None, tmp_path: Path
) -> None:
    write_json(tmp_path / "x.json", tau2([simulation("a", 0, reward, reason)]))
    one = only(read("tau-bench", tmp_path))
    assert (one["status"], one["error_type"]) == (status, error)
    assert one["score"] == (reward if status == "scored" else None)


def test_planned_trials_that_are_not_there_are_missing(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", tau2([simulation("a", 0, 1.0)], 2, ["a", "b"]))
    assert rows(read("tau-bench", tmp_path), "uid", "trial", "status") == [
        ("a", 1, "scored"),
        ("a", 2, "missing"),
        ("b", 1, "missing"),
        ("b", 2, "missing"),
    ]


def test_simulations_without_a_number_are_numbered(tmp_path: Path) -> None:
    every = [simulation("a", None, 1.0), simulation("a", None, 0.0), simulation("b", None, 1.0)]
    write_json(tmp_path / "x.json", tau2(every))
    found = read("tau-bench", tmp_path)
    assert rows(found, "uid", "trial", "score")[:2] == [("a", 1, 1.0), ("a", 2, 0.0)]
    assert "tau2 did not number some trials" in found.notes[0]


def test_messages_that_were_not_kept_are_no_steps(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", tau2([simulation("a", 0, 1.0, messages=None)]))
    one = only(read("tau-bench", tmp_path))
    assert (one["steps"], one["tool_calls"], one["input_tokens"]) == (None, None, None)


def test_the_directory_form_is_the_same_run(tmp_path: Path) -> None:
    every = [simulation("a", 0, 1.0), simulation("b", 0, 0.0)]
    write_tau2_folder(tmp_path / "mine", every)
    write_json(tmp_path / "one.json", tau2(every, 1, ["a", "b"]))
    found = read("tau-bench", tmp_path)
    frame = found.frame().drop("path")
    assert set(frame.get_column("run")) == {"mine", "one"}
    assert frame.filter(run="mine").drop("run").equals(frame.filter(run="one").drop("run"))
    assert not said(found)


def test_of_a_simulation_whose_file_is_gone_the_index_stands(tmp_path: Path) -> None:
    write_tau2_folder(tmp_path, [simulation("a", 0, 1.0), simulation("b", 0, 0.5)])
    (tmp_path / "simulations" / "s-b-0.json").unlink()
    found = read("tau-bench", tmp_path)
    one = only(found, uid="b")
    assert (one["status"], one["score"], one["seconds"], one["steps"]) == (
        "scored",
        0.5,
        30.0,
        None,
    )
    assert "s-b-0.json: warning: file: cannot be had" in said(found)[0]
