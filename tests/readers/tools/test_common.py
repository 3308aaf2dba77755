"""The rows of trials: types, what a wrong value becomes, and what is said of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from skillshift_frames.progress import reported_to
from skillshift_frames.readers.tools.common import Trials
from skillshift_frames.schema import FAULTS
from skillshift_frames.trials import TRIALS
from tests.readers.tools.reading import said

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def found(tmp_path: Path) -> Trials:
    return Trials("tool", tmp_path)


def test_what_is_not_given_is_null(found: Trials, tmp_path: Path) -> None:
    found.add(uid="t", trial=1, status="errored", path=tmp_path / "t")
    frame = found.frame()
    assert frame.schema == TRIALS
    given = {"tool": "tool", "uid": "t", "trial": 1, "status": "errored", "path": "t"}
    assert frame.row(0, named=True) == dict.fromkeys(TRIALS) | given
    assert found.faults().schema == FAULTS
    assert not said(found)


def test_no_trial_is_an_empty_frame(found: Trials) -> None:
    assert found.frame().schema == TRIALS
    assert found.frame().height == 0


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("steps", True, "a number"),
        ("steps", "3", "a number"),
        ("steps", 2.5, "a whole number"),
        ("steps", -1, "a number ≥ 0"),
        ("steps", 1 << 63, "a whole number"),
        ("steps", math.nan, "a finite number"),
        ("cost", -0.5, "a number ≥ 0"),
        ("seconds", math.inf, "a finite number"),
        ("seconds", 10**400, "a finite number"),
        ("score", False, "a number"),
        ("score", math.nan, "a finite number"),
        ("success", 1, "true or false"),
        ("success", "true", "true or false"),
        ("agent", 7, "a string"),
        ("negative", 0, "true or false"),
    ],
)
def test_a_wrong_value_is_null_and_a_warning(
    found: Trials, tmp_path: Path, name: str, value: object, needed: str
) -> None:
    given: dict[str, object] = {"metrics": {"m": 0.5}, name: value}
    found.add(uid="t", trial=1, status="scored", path=tmp_path / "t", **given)  # type: ignore[arg-type]
    assert found.frame()[name].to_list() == [None]
    (fault,) = found.faults().rows(named=True)
    assert (fault["field"], fault["severity"]) == (name, "warning")
    assert fault["message"].endswith(f"; {needed} is needed")


def test_a_whole_sum_of_floats_is_a_count(found: Trials, tmp_path: Path) -> None:
    found.add(uid="t", trial=1, status="errored", path=tmp_path / "t", input_tokens=12000.0)
    assert found.frame()["input_tokens"].to_list() == [12000]
    assert not said(found)


def test_only_a_scored_trial_has_a_score(found: Trials, tmp_path: Path) -> None:
    for status in ("unscored", "errored", "missing"):
        path = tmp_path / status
        given = {"success": False, "score": 0.0, "metrics": {"m": 0.0}}
        found.add(uid=status, trial=1, status=status, path=path, **given)  # type: ignore[arg-type]
    assert found.frame().select("status", "success", "score", "m").rows() == [
        ("errored", None, None, None),
        ("missing", None, None, None),
        ("unscored", None, None, 0.0),
    ]


def test_scored_without_any_number_is_unscored(found: Trials, tmp_path: Path) -> None:
    found.add(uid="t", trial=1, status="scored", path=tmp_path / "t", score=math.nan)
    assert found.frame()["status"].to_list() == ["unscored"]
    assert said(found) == [
        "t: warning: score: NaN; a finite number is needed (it is left out)",
        "t: warning: score: nothing in it is a score (the trial is unscored)",
    ]


@pytest.mark.parametrize("uid", [None, "", 7])
def test_without_a_name_the_folders_is_taken(found: Trials, tmp_path: Path, uid: object) -> None:
    found.add(uid=uid, trial=1, status="errored", path=tmp_path / "case__x")
    assert found.frame()["uid"].to_list() == ["case__x"]
    assert len(said(found)) == 1


@pytest.mark.parametrize("trial", [0, -1, None, "2", True])
def test_a_trials_number_is_from_one(found: Trials, tmp_path: Path, trial: object) -> None:
    found.add(uid="t", trial=trial, status="errored", path=tmp_path / "t")
    assert found.frame()["trial"].to_list() == [1]
    assert len(said(found)) == 1


def test_no_more_failures_than_calls(found: Trials, tmp_path: Path) -> None:
    found.add(
        uid="t", trial=1, status="errored", path=tmp_path / "t", skill_calls=1, skill_failures=2
    )
    assert found.frame()["skill_calls", "skill_failures"].row(0) == (1, None)
    assert "2 failures of 1 skill calls" in said(found)[0]


def test_a_metric_named_like_a_column_gets_a_longer_name(found: Trials, tmp_path: Path) -> None:
    found.add(uid="t", trial=1, status="scored", path=tmp_path / "t", metrics={"steps": 0.5})
    assert found.frame()["steps", "metric_steps"].row(0) == (None, 0.5)


def test_metrics_of_some_trials_are_null_in_the_others(found: Trials, tmp_path: Path) -> None:
    found.add(uid="b", trial=1, status="scored", path=tmp_path / "b", metrics={"x": 1, "y": 0})
    found.add(uid="a", trial=1, status="scored", path=tmp_path / "a", metrics={"z": 0.5})
    assert found.frame().select("uid", "z", "x", "y").rows() == [
        ("a", 0.5, None, None),
        ("b", None, 1.0, 0.0),
    ]


def test_text_that_cannot_be_shown_is_escaped(found: Trials, tmp_path: Path) -> None:
    found.add(uid="a\ud800\n", trial=1, status="errored", path=tmp_path / "t", agent="\x1b[31m")
    assert found.frame()["uid", "agent"].row(0) == ("a\\ud800\\n", "\\u001b[31m")


def test_a_note_is_said_once(found: Trials) -> None:
    found.note("x")
    found.note("x")
    assert found.notes == ["x"]


def test_progress_is_reported_per_trial(found: Trials) -> None:
    seen: list[tuple[str, int, int]] = []
    with reported_to(lambda *what: seen.append(what)):
        assert list(found.each([1, 2])) == [1, 2]
    assert seen == [("reading trials", 0, 2), ("reading trials", 1, 2), ("reading trials", 2, 2)]


def test_problems_come_by_path(found: Trials, tmp_path: Path) -> None:
    found.problem(tmp_path / "b", "x")
    found.problem(tmp_path / "a", "y", stands=True)
    found.problem(tmp_path / "b", "x")
    assert found.faults().select("message", "severity").rows() == [("y", "warning"), ("x", "error")]
    assert isinstance(found.faults(), pl.DataFrame)


@pytest.mark.parametrize("trial", [[1], {"a": 1}, "1", True, 0, None])
def test_trial_of_any_type_is_said_and_the_row_stays(tmp_path: Path, trial: Any) -> None:  # noqa: ANN401
    found = Trials("harbor", tmp_path)
    found.add(uid="t", trial=trial, status="scored", path=tmp_path, score=1.0)
    assert found.frame().get_column("trial").to_list() == [1]
    assert found.faults().get_column("field").to_list() == ["trial"]


def test_half_surrogate_in_a_problem_is_printable(tmp_path: Path) -> None:
    found = Trials("harbor", tmp_path)
    found.problem(tmp_path, "\ud83d", "\ud83d", value="\ud83d")
    assert found.faults().height == 1
    assert "\\ud83d" in found.faults().get_column("message")[0]
