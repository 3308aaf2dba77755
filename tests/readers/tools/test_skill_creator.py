"""The skill-creator's iterations, and what its own summary does not say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.readers.tools.reading import only, read, rows, said, write_json
from tests.readers.tools.skill_creator_files import (
    benchmark,
    grading,
    no_rate,
    write_iteration,
    write_run,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tool_s_own_numbers_follow_from_the_rows(tmp_path: Path) -> None:
    trials = read("skill-creator", write_iteration(tmp_path)).frame()
    # It drops what has no grading, and counts a grading without a rate as 0.
    graded = trials.filter(trials.get_column("error_type").fill_null("") != "incomplete")
    scores = {
        arm: graded.filter(arm=arm).get_column("score").fill_null(0).to_list()
        for arm in ("with", "without")
    }
    means = {arm: round(sum(own) / len(own), 4) for arm, own in scores.items()}
    assert means == {"with": 0.75, "without": 0.4}
    assert f"{means['with'] - means['without']:+.2f}" == "+0.35"


def test_a_row_has_what_grading_and_timing_say(tmp_path: Path) -> None:
    row = only(read("skill-creator", write_iteration(tmp_path)), uid="0", arm="with", trial=2)
    assert (row["run"], row["skill"]) == ("iteration-1", "table-tools")
    assert (row["status"], row["score"], row["success"]) == ("scored", 0.75, False)
    assert (row["steps"], row["tool_calls"], row["seconds"]) == (6, 5, 40.0)
    # The tool knows tokens in all only; nobody told it the model's name.
    nothing = ("model", "agent", "input_tokens", "output_tokens", "cost", "skill_calls")
    assert [row[name] for name in nothing] == [None] * len(nothing)


def test_a_rate_that_is_not_there_is_no_rate_of_zero(tmp_path: Path) -> None:
    found = read("skill-creator", write_iteration(tmp_path))
    row = only(found, uid="2", arm="without", trial=2)
    assert (row["status"], row["error_type"], row["score"]) == ("unscored", "no pass_rate", None)
    assert "takes it for 0.0" in "".join(said(found))


def test_a_run_without_a_grading_is_an_error_and_is_not_dropped(tmp_path: Path) -> None:
    found = read("skill-creator", write_iteration(tmp_path))
    row = only(found, uid="1", arm="without", trial=2)
    assert (row["status"], row["error_type"], row["seconds"]) == ("errored", "incomplete", 40.0)
    assert any("grading.json: warning: file: is missing" in line for line in said(found))


def test_tokens_that_are_characters_are_not_taken(tmp_path: Path) -> None:
    folder = tmp_path / "it" / "eval-0" / "with_skill" / "run-1"
    write_run(folder, grading(1, 1, timing={"total_duration_seconds": 23.5}), 99.0)
    row = only(read("skill-creator", tmp_path))
    assert (row["seconds"], row["input_tokens"], row["output_tokens"]) == (23.5, None, None)


@pytest.mark.parametrize(
    ("configuration", "arm"),
    [
        ("with_skill", "with"),
        ("without_skill", "without"),
        ("new_skill", "new_skill"),
        ("old_skill", "old_skill"),
        ("baseline", "baseline"),
    ],
)
def test_an_arm_keeps_the_tool_s_word_unless_it_is_with_or_without(
    configuration: str, arm: str, tmp_path: Path
) -> None:
    write_run(tmp_path / "it" / "eval-0" / configuration / "run-1", grading(1, 2))
    assert rows(read("skill-creator", tmp_path), "arm") == [(arm,)]


def test_the_older_layout_has_runs_between(tmp_path: Path) -> None:
    write_run(tmp_path / "2026-01-15" / "runs" / "eval-7" / "with_skill" / "run-1", grading(1, 2))
    assert rows(read("skill-creator", tmp_path), "run", "uid") == [("2026-01-15", "7")]


def test_a_configuration_that_was_run_once_may_hold_its_grading(tmp_path: Path) -> None:
    write_run(tmp_path / "it" / "eval-0" / "with_skill", grading(1, 2))
    assert rows(read("skill-creator", tmp_path), "arm", "trial", "score") == [("with", 1, 0.5)]


def test_run_ten_is_the_tenth(tmp_path: Path) -> None:
    for number in (2, 10):
        write_run(tmp_path / "it" / "eval-0" / "with_skill" / f"run-{number}", grading(1, number))
    assert rows(read("skill-creator", tmp_path), "trial", "score") == [(2, 0.5), (10, 0.1)]


@pytest.mark.parametrize(
    "below",
    [
        "",
        "iteration-1",
        "iteration-1/eval-0",
        "iteration-1/eval-0/with_skill",
        "iteration-1/eval-0/with_skill/run-1",
    ],
)
def test_a_part_may_be_named_by_itself(
    below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_iteration(tmp_path)
    monkeypatch.chdir(tmp_path / below)
    for path in (tmp_path / below, type(tmp_path)()):
        found = read("skill-creator", path)
        row = only(found, uid="0", arm="with", trial=1)
        assert (row["run"], row["score"]) == ("iteration-1", 1.0)
        assert not [line for line in said(found) if "leaves the folder" in line]


def test_what_the_benchmark_lists_and_no_folder_has_is_missing(tmp_path: Path) -> None:
    write_iteration(tmp_path)
    folder = tmp_path / "iteration-1" / "eval-0" / "with_skill" / "run-2"
    folder.rename(tmp_path / "gone")
    found = read("skill-creator", tmp_path / "iteration-1")
    row = only(found, uid="0", arm="with", trial=2)
    assert (row["status"], row["path"]) == ("missing", "benchmark.json")
    assert any("lists run 2 of with_skill in eval 0" in line for line in said(found))


def test_ids_come_from_the_metadata_not_from_the_folder(tmp_path: Path) -> None:
    evaluation = tmp_path / "it" / "eval-a"
    write_run(evaluation / "with_skill" / "run-1", grading(1, 2))
    write_json(evaluation / "eval_metadata.json", {"eval_id": 12})
    assert rows(read("skill-creator", tmp_path), "uid") == [("12",)]


def test_a_benchmark_by_itself_gives_its_runs_and_sees_through_a_filled_rate(
    tmp_path: Path,
) -> None:
    path = write_json(tmp_path / "benchmark.json", benchmark(executor_model="model-1"))
    found = read("skill-creator", path)
    assert found.count == 11
    assert only(found, uid="0", arm="with", trial=2)["score"] == 0.75
    assert only(found, uid="2", arm="without", trial=2)["status"] == "unscored"
    # Of 0 seconds nobody knows whether they were measured.
    assert found.frame().get_column("seconds").null_count() == 11
    assert set(rows(found, "model")) == {("model-1",)}


def test_a_real_rate_of_zero_stays(tmp_path: Path) -> None:
    write_run(tmp_path / "it" / "eval-0" / "with_skill" / "run-1", grading(0, 3))
    write_run(tmp_path / "it" / "eval-0" / "with_skill" / "run-2", no_rate(0, 3))
    assert rows(read("skill-creator", tmp_path), "status", "score") == [
        ("scored", 0.0),
        ("unscored", None),
    ]
