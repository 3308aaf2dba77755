"""Trials as records: what their axes are, what is not measured, and what a run must know in whole or not at all."""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.trials import TRIALS, concat_trials


def made(*rows: dict[str, Any]) -> pl.DataFrame:
    fixed = {"tool": "harbor", "run": "job", "trial": 1, "status": "scored", "success": True}
    listed = [fixed | {"uid": str(number)} | row for number, row in enumerate(rows)]
    return concat_trials(
        [pl.DataFrame([dict.fromkeys(TRIALS) | row for row in listed], schema=TRIALS)]
    )


def converted(*rows: dict[str, Any]) -> tuple[pl.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tasks = sf.tasks_of(made(*rows))
    assert tasks.schema == sf.TASKS
    return tasks, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("trial", "axes"),
    [
        ({}, ("job", "all", "default")),
        ({"arm": "with"}, ("job with", "all", "default")),
        ({"arm": "old_skill", "skill": "s"}, ("job old_skill", "s", "default")),
        ({"agent": "codex", "model": "m"}, ("job", "all", "codex")),
        ({"model": "m"}, ("job", "all", "m")),
        ({"run": None, "arm": "with"}, ("harbor with", "all", "default")),
    ],
)
def test_run_site_and_condition(trial: dict[str, Any], axes: tuple[str, str, str]) -> None:
    tasks, notes = converted(trial)
    assert tasks.select("run", "site", "condition").row(0) == axes
    assert not notes


def test_models_of_one_agent_are_conditions_of_their_own() -> None:
    one, other = {"agent": "codex", "model": "a"}, {"agent": "codex", "model": "b"}
    tasks, _ = converted(one, other, other | {"run": "next"})
    assert tasks["condition"].to_list() == ["codex a", "codex b", "codex"]


@pytest.mark.parametrize(
    ("trial", "error"),
    [
        ({"status": "errored", "error_type": "AgentTimeoutError"}, "AgentTimeoutError"),
        ({"status": "errored"}, "errored"),
        ({"status": "unscored"}, "unscored"),
        ({"error_type": "AgentTimeoutError"}, None),
    ],
)
def test_what_was_not_measured_has_an_error(trial: dict[str, Any], error: str | None) -> None:
    success = None if trial.get("status") else True
    tasks, _ = converted(trial | {"success": success})
    assert tasks.select("success", "error").row(0) == (success, error)


def test_missing_trials_are_no_records_and_are_counted() -> None:
    missing = {"status": "missing", "success": None}
    tasks, notes = converted({}, missing, missing)
    assert tasks["uid"].to_list() == ["0"]
    assert notes == ["2 trials are planned and not there: no records are made of them"]


def test_a_score_that_is_neither_pass_nor_fail_is_not_measured_and_said() -> None:
    tasks, notes = converted({"success": None, "score": 40.0})
    assert tasks["error"].to_list() == ["neither pass nor fail"]
    assert notes == [
        "1 trial is scored with neither pass nor fail: not measured here; lift takes scores"
    ]


def test_what_a_run_knows_in_part_is_left_out_of_the_whole_run_and_said() -> None:
    tasks, notes = converted(
        {"steps": 3, "skill_calls": 1, "skill_failures": 0},
        {"steps": None, "skill_calls": 2, "skill_failures": None},
        {"run": "other", "steps": 5, "skill_calls": 1, "skill_failures": 1},
    )
    assert tasks.select("steps", "skill_calls", "skill_failures").rows() == [
        (None, None, None),
        (None, None, None),
        (5, 1, 1),
    ]
    assert notes == [
        "job: steps are known of 1 of 2 measured trials, and so left out",
        "job: skill calls and failures are known of 1 of 2 measured trials, and so left out",
    ]


def test_what_an_errored_trial_does_not_know_leaves_the_run_as_it_is() -> None:
    errored = {"status": "errored", "success": None}
    tasks, notes = converted({"steps": 3}, errored, errored | {"steps": 9})
    assert tasks["steps"].to_list() == [3, None, 9]
    assert not notes


def test_calls_without_failures_are_neither() -> None:
    tasks, notes = converted({"skill_calls": 1})
    assert tasks.select("skill_calls", "skill_failures").row(0) == (None, None)
    assert not notes


def test_no_trials_are_no_records() -> None:
    assert sf.tasks_of(TRIALS.to_frame()).schema == sf.TASKS


def test_a_path_is_refused_with_the_reader_to_use() -> None:
    with pytest.raises(sf.InputError, match="read_trials"):
        sf.tasks_of("jobs")  # type: ignore[arg-type]
