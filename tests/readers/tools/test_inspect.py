"""Inspect AI's data frames: samples joined to evals, scores of any type, epochs, arms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.readers.tools.inspect_files import (
    log,
    sample,
    samples,
    usage,
    write_frames,
    write_table,
)
from tests.readers.tools.reading import only, read, rows, said

if TYPE_CHECKING:
    from pathlib import Path

both_endings = pytest.mark.parametrize("ending", [".parquet", ".csv"])


@both_endings
def test_the_tool_s_own_numbers_follow_from_the_rows(ending: str, tmp_path: Path) -> None:
    trials = read("inspect", write_frames(tmp_path, ending)).frame()
    # accuracy() averages the epochs of each sample first: 0.5, where a flat mean of the rows has 0.6.
    means = {}
    for arm in ("with", "without"):
        own = trials.filter(arm=arm)
        by_case = [own.filter(uid=uid).get_column("score").mean() for uid in ("c1", "c2", "c3")]
        means[arm] = sum(by_case) / 3  # type: ignore[arg-type]
    assert means == {"with": pytest.approx(5 / 6), "without": 0.5}
    assert trials.filter(arm="without").get_column("score").mean() == pytest.approx(0.6)


@both_endings
def test_a_row_has_what_samples_and_evals_say(ending: str, tmp_path: Path) -> None:
    found = read("inspect", write_frames(tmp_path, ending))
    row = only(found, arm="with", uid="c1", trial=2)
    assert (row["run"], row["model"], row["agent"]) == ("table_tools", "mockllm/model", None)
    assert (row["status"], row["success"], row["score"]) == ("scored", True, 1.0)
    assert (row["solved"], row["coverage"]) == (1.0, 0.9)
    assert (row["input_tokens"], row["cached_tokens"], row["output_tokens"]) == (1000, 500, 50)
    assert (row["steps"], row["seconds"], row["tool_calls"], row["cost"]) == (2, 1.5, None, None)
    assert not said(found)


def test_a_sample_with_an_error_has_no_score_and_no_tokens(tmp_path: Path) -> None:
    row = only(read("inspect", write_frames(tmp_path)), status="errored")
    assert (row["arm"], row["uid"], row["trial"], row["error_type"]) == (
        "without",
        "c2",
        2,
        "RuntimeError",
    )
    assert (row["score"], row["success"], row["input_tokens"]) == (None, None, None)


def test_a_scorer_that_gave_nothing_leaves_only_its_own_column_null(tmp_path: Path) -> None:
    row = only(read("inspect", write_frames(tmp_path)), arm="with", uid="c2", trial=2)
    assert (row["status"], row["solved"], row["coverage"]) == ("scored", 0.0, None)


def test_no_score_and_no_error_is_unscored(tmp_path: Path) -> None:
    write_table(
        tmp_path / "s.parquet",
        [sample("with", "a", 1, score_solved=None, score_coverage=None), sample("with", "b", 1)],
    )
    assert rows(read("inspect", tmp_path), "uid", "status", "error_type") == [
        ("a", "unscored", "no score"),
        ("b", "scored", None),
    ]


@both_endings
@pytest.mark.parametrize(
    ("value", "success", "score"),
    [
        ("C", True, 1.0),
        ("I", False, 0.0),
        ("P", False, 0.5),
        ("N", False, 0.0),
        (True, True, 1.0),
        (False, False, 0.0),
        (1.0, True, 1.0),
        (0, False, 0.0),
        (0.5, None, 0.5),
        (12, None, 12.0),
        ("yes", True, 1.0),
    ],
)
def test_a_score_of_any_type_is_a_number_and_may_be_a_success(
    value: object, success: object, score: float, ending: str, tmp_path: Path
) -> None:
    one = sample("with", "a", 1, score_solved=value)
    del one["score_coverage"]
    write_table(tmp_path / f"s{ending}", [one])
    found = read("inspect", tmp_path)
    assert rows(found, "success", "score", "solved") == [(success, score, score)]
    assert any("neither 0 nor 1" in note for note in found.notes) == (success is None)


def test_a_score_that_is_no_number_is_told(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", [sample("with", "a", 1, score_solved="splendid")])
    found = read("inspect", tmp_path)
    # Of what is left, coverage is the one that says something.
    assert rows(found, "status", "coverage") == [("scored", 0.5)]
    assert 'score_solved: "splendid" is no score that has a number' in said(found)[0]


def test_a_scorer_with_several_values_has_several_metrics(tmp_path: Path) -> None:
    value = json.dumps({"recall": 0.25, "found": "C", "why": "…"})
    one = sample("with", "a", 1, score_solved=value)
    del one["score_coverage"]
    write_table(tmp_path / "s.parquet", [one])
    assert rows(read("inspect", tmp_path), "status", "score", "solved_recall", "solved_found") == [
        ("scored", None, 0.25, 1.0)
    ]


def test_the_headline_is_the_log_s_else_what_says_correct_or_not(tmp_path: Path) -> None:
    write_table(tmp_path / "samples.parquet", [sample("with", "a", 1, score_coverage=0.25)])
    assert rows(read("inspect", tmp_path), "score") == [(1.0,)]
    write_table(
        tmp_path / "evals.parquet",
        [log("with", score_headline_score="coverage", dataset_sample_ids=None)],
    )
    found = read("inspect", tmp_path)
    assert rows(found, "score") == [(0.25,)]
    assert any("coverage is taken as the trial's" in note for note in found.notes)


def test_samples_that_only_a_number_knows_of_are_counted(tmp_path: Path) -> None:
    write_table(tmp_path / "samples.parquet", [sample("with", "a", 1)])
    table = tmp_path / "evals.parquet"
    write_table(table, [log("with", dataset_sample_ids=None, total_samples=6)])
    found = read("inspect", tmp_path)
    assert rows(found, "status") == [("scored",)]
    (fault,) = found.faults().rows(named=True)
    assert (fault["severity"], fault["rule"], fault["value"]) == ("error", "missing-trials", "5")
    write_table(table, [log("with", dataset_sample_ids=None, total_samples=1)])
    assert not said(read("inspect", tmp_path))


def test_what_explains_a_score_is_none(tmp_path: Path) -> None:
    write_table(
        tmp_path / "s.parquet",
        [sample("with", "a", 1, score_solved_explanation="7", score_solved_answer="9")],
    )
    assert "solved_answer" not in read("inspect", tmp_path).frame().columns


@pytest.mark.parametrize(
    ("use", "tokens"),
    [
        (usage(1000, 50, 500), 1000),
        # Where the provider does not count cached tokens as input, the total gives it away.
        (usage(1000, 50, 500, 1550), 1500),
        (usage(1000, 50, 500, 1650, written=100), 1600),
        (usage(1000, 50, 500, 9), 1000),
        ("{}", None),
        (None, None),
    ],
)
def test_input_has_the_cached_tokens_once(
    use: str | None, tokens: int | None, tmp_path: Path
) -> None:
    write_table(tmp_path / "s.parquet", [sample("with", "a", 1, model_usage=use)])
    assert rows(read("inspect", tmp_path), "input_tokens") == [(tokens,)]


@pytest.mark.parametrize(
    ("changed", "arm"),
    [
        ({"metadata_arm": "without"}, "without"),
        ({"metadata_arm": None, "metadata_condition": "with skill"}, "with"),
        ({"metadata_arm": None, "metadata_use_skill": True}, "with"),
        ({"metadata_arm": None, "metadata_use_skill": False}, "without"),
        ({"metadata_arm": None, "task_arg_variant": "v2"}, "v2"),
        ({"metadata_arm": None, "tags": "x,arm:without"}, "without"),
        ({"metadata_arm": None, "tags": '["arm:with"]'}, "with"),
        ({"metadata_arm": None}, None),
    ],
)
def test_the_arm_is_where_people_keep_it(
    changed: dict[str, Any], arm: str | None, tmp_path: Path
) -> None:
    write_table(tmp_path / "s.parquet", [sample("with", "a", 1, **changed)])
    found = read("inspect", tmp_path)
    assert rows(found, "arm") == [(arm,)]
    assert any("do not say their arm" in note for note in found.notes) == (arm is None)


def test_the_arm_may_be_in_the_evals_alone(tmp_path: Path) -> None:
    write_table(tmp_path / "samples.parquet", [sample("with", "c1", 1, metadata_arm=None)])
    for changed in ({}, {"task_arg_arm": None}, {"task_arg_arm": None, "tags": None}):
        write_table(
            tmp_path / "evals.parquet",
            [log("with", epochs=1, dataset_sample_ids='["c1"]', **changed)],
        )
        assert rows(read("inspect", tmp_path), "arm") == [("with",)]


def test_a_log_that_was_cancelled_has_missing_samples(tmp_path: Path) -> None:
    write_table(tmp_path / "samples.parquet", [sample("with", "c1", 1)])
    write_table(
        tmp_path / "evals.parquet",
        [log("with", status="cancelled"), log("without", status="error")],
    )
    found = read("inspect", tmp_path)
    counts = {(arm, s): n for arm, s, n in found.frame().group_by("arm", "status").len().rows()}
    assert counts == {("with", "scored"): 1, ("with", "missing"): 5, ("without", "missing"): 6}
    assert any('log log-with ("cancelled"): 5 of 6 planned samples' in line for line in said(found))


def test_a_task_that_ran_twice_in_one_arm_is_two_runs(tmp_path: Path) -> None:
    again = [
        row | {"eval_id": "again", "sample_id": f"again-{row['id']}-{row['epoch']}"}
        for row in samples()[:6]
    ]
    write_table(tmp_path / "samples.parquet", samples() + again)
    write_table(
        tmp_path / "evals.parquet", [log("with"), log("without"), log("with", eval_id="again")]
    )
    found = read("inspect", tmp_path)
    assert found.count == 18
    assert sorted(set(rows(found, "run"))) == [
        ("table_tools",),
        ("table_tools again",),
        ("table_tools log-with",),
    ]


def test_two_exports_of_one_log_count_once(tmp_path: Path) -> None:
    write_frames(tmp_path)
    write_table(tmp_path / "old" / "s.csv", samples()[:4])
    found = read("inspect", tmp_path)
    assert found.count == 12
    assert any("samples are in" in line for line in said(found))


def test_of_a_csv_and_a_parquet_file_of_one_name_one_is_read(tmp_path: Path) -> None:
    write_frames(tmp_path)
    write_frames(tmp_path, ".csv")
    found = read("inspect", tmp_path)
    assert found.count == 12
    assert found.notes[0].startswith("left out: evals.csv, samples.csv")


def test_samples_of_a_log_without_evals_are_told(tmp_path: Path) -> None:
    write_table(tmp_path / "samples.parquet", samples())
    write_table(tmp_path / "evals.parquet", [log("with")])
    found = read("inspect", tmp_path)
    assert found.count == 12
    assert "6 samples are of log log-without" in said(found)[0]


def test_a_sample_that_is_there_twice_is_kept_and_told(tmp_path: Path) -> None:
    every = [sample("with", "a", 1, sample_id="x"), sample("with", "a", 1, sample_id="y")]
    write_table(tmp_path / "s.parquet", every)
    found = read("inspect", tmp_path)
    assert found.count == 2
    assert "log log-with, sample a, epoch 1 is there more than once" in said(found)[0]


def test_evals_alone_are_no_trials(tmp_path: Path) -> None:
    write_table(tmp_path / "evals.parquet", [log("with", dataset_sample_ids=None)])
    found = read("inspect", tmp_path)
    assert found.count == 0
    assert "has no table of samples" in said(found)[0]


def test_samples_by_themselves_find_the_evals_beside_them(tmp_path: Path) -> None:
    write_frames(tmp_path)
    assert set(rows(read("inspect", tmp_path / "samples.parquet"), "run")) == {("table_tools",)}
    (tmp_path / "evals.parquet").unlink()
    assert set(rows(read("inspect", tmp_path / "samples.parquet"), "run")) == {
        ("log-with",),
        ("log-without",),
    }


def test_ids_that_are_numbers_are_text(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", [sample("with", "x", 1, id=7)])
    assert rows(read("inspect", tmp_path), "uid") == [("7",)]


def test_a_path_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    write_frames(tmp_path / "run[1]")
    assert read("inspect", tmp_path / "run[1]").count == 12


def test_tables_of_two_versions_are_read_together(tmp_path: Path) -> None:
    # Columns come and go with releases, and the type of a score with its scorer.
    old = sample("with", "a", 1, score_solved=True)
    for gone in ("turn_count", "model_usage", "metadata_arm"):
        del old[gone]
    write_table(tmp_path / "old.parquet", [old])
    write_table(
        tmp_path / "new.parquet", [sample("without", "a", 1, limit_reason=None, score_solved="I")]
    )
    found = read("inspect", tmp_path)
    assert sorted(rows(found, "run", "arm", "success", "steps")) == [
        ("log-with", None, True, None),
        ("log-without", "without", False, 2),
    ]


def test_of_a_named_table_only_evals_are_taken_from_beside_it(tmp_path: Path) -> None:
    write_frames(tmp_path)
    write_table(tmp_path / "more.parquet", [sample("more", "a", 1)])
    (tmp_path / "broken.parquet").symlink_to(tmp_path / "nowhere")
    found = read("inspect", tmp_path / "samples.parquet")
    assert found.count == 12
    assert not said(found)
