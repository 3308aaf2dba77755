"""SkillEvaluator's results, taken from the trials: what is scored, what is not, and what was planned and is not there."""

from __future__ import annotations

import json
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillshift_frames.readers.tools import skillevaluator
from tests.readers.tools import reading
from tests.readers.tools.evaluator_files import RUN, SIX, WITH, WITHOUT, reward, run, trial
from tests.readers.tools.harbor_files import trajectory
from tests.readers.tools.reading import faults, only, write_json

if TYPE_CHECKING:
    from pathlib import Path

ALL = (0.5,) * 6
BOTH = {"with": WITH, "without": WITHOUT}


read = partial(reading.read, "skillevaluator")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of its own: the fixtures of others are beside it."""
    return tmp_path / "results"


def test_a_complete_run_by_hand(root: Path) -> None:
    run(root, BOTH, negative=["case-3"])
    found = read(root)
    frame = found.frame()
    assert not faults(found)
    assert frame.columns[-6:] == list(SIX)
    assert frame.select("run", "skill", "agent", "model").unique().rows() == [
        (RUN, "tables", "codex", "model-1")
    ]
    of_case = frame.filter(uid="case-1", arm="with")
    assert of_case.select("trial", "negative", "status", "success").rows() == [
        (1, False, "scored", True),
        (2, False, "scored", True),
    ]
    assert of_case["score"].to_list() == [4.5 / 6, 3.0 / 6]
    assert frame.filter(uid="case-3")["negative"].to_list() == [True] * 4
    means = frame.group_by("arm").agg(pl.col(*SIX, "success").mean()).sort("arm")
    assert [round(x, 4) for x in means.row(0)[1:]] == [
        0.8333,
        0.9167,
        0.75,
        0.75,
        0.5833,
        0.4167,
        1.0,
    ]
    assert [round(x, 4) for x in means.row(1)[1:]] == [1.0, 0.3333, 0.3333, 0.5833, 0.5, 0.35, 0.5]
    counts = frame.select("steps", "tool_calls", "skill_calls", "skill_failures", "cost").unique()
    assert counts.rows() == [(2, 1, 1, 0, 0.5)]


def test_attempts_are_numbered_by_their_starts_not_by_their_names(root: Path) -> None:
    arm = run(root, {"with": {}}, skipped=True, cases=["c"]) / "codex" / "with-skill"
    trial(arm, "c", "zzz", (0.1,) * 6, minute=1)
    trial(arm, "c", "aaa", (0.9,) * 6, minute=2)
    assert read(root).frame().select("trial", "accuracy").rows() == [(1, 0.1), (2, 0.9)]


def test_the_failed_judges_zero_is_no_score(root: Path) -> None:
    run(root, {"with": {"c": [(1.0, 1.0, 1.0, None, 0.5, 0.5), ALL]}}, skipped=True)
    frame = read(root).frame()
    assert frame.select(
        "status", "error_type", "score", "success", "security", "accuracy"
    ).rows() == [
        ("unscored", "judge failed: accuracy", None, None, 1.0, None),
        ("scored", None, 0.5, True, 0.5, 0.5),
    ]


def test_the_failed_judges_zero_is_no_score_whatever_it_is_written_as(root: Path) -> None:
    arm = run(root, {"with": {}}, skipped=True, cases=["c"], attempts=1) / "codex" / "with-skill"
    zeros: dict[str, Any] = {
        "evaluation_status": "failed",
        "evaluation_errors": ["judge timed out"],
    }
    trial(arm, "c", "a", (0.0,) * 6, **zeros)
    assert only(read(root))["status"] == "unscored"


def test_one_bad_trial_does_not_blank_its_arm(root: Path) -> None:
    bad: dict[str, Any] = {"case-1": [ALL, "AgentTimeoutError"], "case-2": [ALL, ALL]}
    run(root, {"with": bad, "without": WITHOUT}, execution_status="failed")
    frame = read(root).frame().filter(arm="with")
    assert frame.select("uid", "trial", "status", "error_type").rows() == [
        ("case-1", 1, "scored", None),
        ("case-1", 2, "errored", "AgentTimeoutError"),
        ("case-2", 1, "scored", None),
        ("case-2", 2, "scored", None),
        ("case-3", 1, "missing", None),
        ("case-3", 2, "missing", None),
    ]


def test_zeros_with_an_error_beside_them_are_zeros(root: Path) -> None:
    arm = run(root, {"with": {}}, skipped=True, cases=["c"], attempts=1) / "codex" / "with-skill"
    trial(arm, "c", "a", (0.0,) * 6, error="no trajectory")
    row = only(read(root))
    assert (row["status"], row["score"], row["success"], row["error_type"]) == (
        "scored", 0.0, False, "no trajectory",
    )  # fmt: skip


def test_a_skipped_baseline_is_not_missing(root: Path) -> None:
    run(root, {"with": WITH}, skipped=True)
    found = read(root)
    assert found.frame()["arm"].unique().to_list() == ["with"]
    assert "missing" not in found.frame()["status"]
    assert not faults(found)


def test_a_baseline_that_was_run_and_is_not_there_is_missing(root: Path) -> None:
    run(root, {"with": WITH})
    found = read(root)
    assert found.frame().filter(arm="without")["status"].to_list() == ["missing"] * 6
    assert faults(found)[0].endswith(
        "without-skill: warning: file: is missing (copy all of the run's folder)"
    )


def test_after_a_pass_nothing_is_missing_where_attempts_stop(root: Path) -> None:
    passing, failing = (1.0,) * 6, (0.1,) * 6
    arms = {
        "with": {"a": [passing], "b": [failing, passing], "c": [failing, failing], "d": [failing]}
    }
    run(root, arms, stop=True, skipped=True, attempts=3)
    found = read(root)
    assert found.frame().select("uid", "trial", "status").rows() == [
        ("a", 1, "scored"),
        ("b", 1, "scored"),
        ("b", 2, "scored"),
        ("c", 1, "scored"),
        ("c", 2, "scored"),
        ("c", 3, "missing"),
        ("d", 1, "scored"),
        ("d", 2, "missing"),
        ("d", 3, "missing"),
    ]
    assert found.notes == [
        f"{RUN}: attempts stop on a pass, so that failing cases have more of them"
    ]


def test_the_numbers_in_names_are_the_attempts(root: Path) -> None:
    folder = run(root, {"with": {"c": [ALL, ALL, ALL]}}, stop=True, skipped=True, attempts=3)
    trials = folder / "codex" / "with-skill" / "trials"
    shutil.rmtree(next(path for path in trials.iterdir() if "attempt002" in path.name))
    assert sorted(read(root).frame()["trial"]) == [1, 3]


def test_the_old_set_has_five_metrics(root: Path) -> None:
    folder = run(
        root,
        {"with": {}},
        skipped=True,
        cases=["c"],
        attempts=1,
        metric_set="skill-evaluator-default-v1",
    )
    content = reward(
        "c", (0.1, 0.2, 0.3, 0.4, 0.5), SIX[1:], metric_set="skill-evaluator-default-v1"
    )
    write_json(folder / "codex" / "with-skill" / "trials" / "c__a000000" / "reward.json", content)
    row = only(read(root))
    assert row["score"] == pytest.approx(0.3)
    assert "security" not in row


def test_an_old_tree_that_does_not_say_its_set_has_that_of_its_trials(root: Path) -> None:
    folder = run(
        root, {"with": {}}, skipped=True, cases=["c"], attempts=1, metric_set=None, metrics=None
    )
    content = reward("c", (0.1, 0.2, 0.3, 0.4, 0.5), SIX[1:], metric_set=None)
    write_json(folder / "codex" / "with-skill" / "trials" / "c__a000000" / "reward.json", content)
    assert only(read(root))["score"] == pytest.approx(0.3)


@pytest.mark.parametrize("where", ["result", "reward"])
def test_by_the_marker_the_score_is_of_five_dimensions(root: Path, where: str) -> None:
    marker: dict[str, Any] = {"score_policy": "skill-evaluator-dimension-mean-v1"}
    folder = run(
        root, {"with": {}}, skipped=True, cases=["c"], attempts=1, **(marker if where == "result" else {})
    )  # fmt: skip
    values = (1.0, 0.5, 0.5, 0.5, 1.0, 0.0)
    trial(
        folder / "codex" / "with-skill", "c", "a", values, **(marker if where == "reward" else {})
    )
    # 1, 0.5 (accuracy), 0.5, (1 + 0) / 2, 0.5 over five; over six metrics it would be 3.5 / 6
    assert only(read(root))["score"] == pytest.approx(0.6)


def test_a_grader_of_ones_own_scores_alone(root: Path) -> None:
    folder = run(
        root,
        {"with": {}},
        skipped=True,
        cases=["c"],
        attempts=1,
        metric_set="custom-only",
        metrics=[],
    )
    content = {
        "overall": 0.7,
        "entry_id": "c",
        "metric_set": "custom-only",
        "custom_metrics": {"coverage": 0.4},
    }
    write_json(folder / "codex" / "with-skill" / "trials" / "c__a000000" / "reward.json", content)
    row = only(read(root))
    assert (row["status"], row["score"], row["coverage"]) == ("scored", 0.7, 0.4)


def test_custom_metrics_are_columns_null_where_a_trial_lacks_them(root: Path) -> None:
    arm = run(root, {"with": {}}, skipped=True, cases=["c"]) / "codex" / "with-skill"
    trial(arm, "c", "a", ALL, minute=1, custom_metrics={"coverage": 0.25})
    trial(arm, "c", "b", ALL, minute=2, custom_metrics={"coverage": None})
    assert read(root).frame()["coverage"].to_list() == [0.25, None]


def test_the_score_passes_at_four_digits(root: Path) -> None:
    run(root, {"with": {"c": [(0.49996,) * 6, (0.49994,) * 6]}}, skipped=True)
    assert read(root).frame()["success"].to_list() == [True, False]


def test_steps_of_one_trial_are_one_attempt(root: Path) -> None:
    arm = run(root, {"with": {}}, skipped=True, cases=["c"], attempts=1) / "codex" / "with-skill"
    trial(
        arm, "c", "a", (0.2,) * 6, name="c__a000000__first", shown=trajectory([("Skill", {}, None)])
    )
    trial(arm, "c", "a", (0.6,) * 6, name="c__a000000__second", shown=trajectory())
    row = only(read(root))
    assert (row["score"], row["success"]) == (pytest.approx(0.4), False)
    assert (row["steps"], row["skill_calls"], row["input_tokens"]) == (3, 1, 3000)


def test_a_trial_with_an_unscored_step_is_unscored(root: Path) -> None:
    arm = run(root, {"with": {}}, skipped=True, cases=["c"], attempts=1) / "codex" / "with-skill"
    trial(arm, "c", "a", ALL, name="c__a000000__first")
    trial(arm, "c", "a", (1.0, 1.0, 1.0, None, 1.0, 1.0), name="c__a000000__second")
    row = only(read(root))
    assert (row["status"], row["score"], row["security"]) == ("unscored", None, 0.75)
    assert "accuracy" not in row


def test_a_copy_of_a_trial_is_said_and_counts(root: Path) -> None:
    folder = run(root, {"with": {"c": [ALL]}}, skipped=True, attempts=1)
    trials = folder / "codex" / "with-skill" / "trials"
    (only_one,) = trials.iterdir()
    shutil.copytree(only_one, trials / "copy")
    found = read(root)
    assert found.frame()["trial"].to_list() == [1, 2]
    assert "is there 2 times" in faults(found)[0]


@pytest.mark.parametrize("invoked", [False, True, None])
def test_without_a_trajectory_only_never_is_known_of_skill_calls(
    root: Path, invoked: object
) -> None:
    arm = run(root, {"with": {}}, skipped=True, cases=["c"], attempts=1) / "codex" / "with-skill"
    said_of: dict[str, Any] = {} if invoked is None else {"skill_invoked": invoked}
    trial(arm, "c", "a", ALL, **said_of)
    row = only(read(root))
    assert row["skill_calls"] == (0 if invoked is False else None)
    assert row["steps"] is None


def test_an_arm_an_agent_or_a_run_can_be_named_by_itself(root: Path) -> None:
    folder = run(root, BOTH)
    agent = folder / "codex"
    for path, trials in ((root, 12), (folder, 12), (agent, 12), (agent / "with-skill", 6)):
        frame = read(path).frame()
        assert frame.filter(status="scored").height == trials
        assert frame["run"].unique().to_list() == [RUN]
        assert skillevaluator.recognises(path)


def test_runs_of_one_id_are_told_apart_by_where_they_are(root: Path) -> None:
    run(root / "x", {"with": WITH}, skipped=True)
    run(root / "y", {"with": WITH}, skipped=True)
    frame = read(root).frame()
    assert frame["run"].unique().sort().to_list() == [f"x/{RUN}", f"y/{RUN}"]
    assert frame["trial"].max() == 2


def test_latest_is_not_read_twice(root: Path) -> None:
    folder = run(root, BOTH)
    (root / "latest").symlink_to(folder.name)
    assert read(root).frame().height == 12


def test_latest_as_a_file_is_no_run(root: Path) -> None:
    folder = run(root, BOTH)
    (root / "latest").write_text(folder.name)
    found = read(root)
    assert found.frame().height == 12
    assert not faults(found)


def test_the_order_of_a_folder_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(root, BOTH)
    run(root, BOTH, name="20260802_120000_1_0123456789ab", agent="claude")
    frame = read(root).frame()
    import os

    real = os.scandir

    class Reversed:
        def __init__(self, path: Any) -> None:  # noqa: ANN401 - as os.scandir takes it
            with real(path) as entries:
                self.entries = sorted(entries, key=lambda entry: entry.name, reverse=True)

        def __enter__(self) -> Any:  # noqa: ANN401
            return iter(self.entries)

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(os, "scandir", Reversed)
    assert_frame_equal(read(root).frame(), frame)


def test_a_run_that_failed_before_any_trial_says_why(root: Path) -> None:
    content = {"skill_name": "tables", "agents": {}, "execution_errors": ["docker is not running"]}
    write_json(root / RUN / "result.json", content)
    assert skillevaluator.recognises(root)
    assert faults(read(root))[0].endswith(
        f"{RUN}: file: is a run without any trial: docker is not running"
    )


@pytest.mark.parametrize(
    ("damage", "status", "error", "words"),
    [
        ("cut", "unscored", "damaged reward.json", "is not JSON"),
        ("gone", "errored", "no reward.json", "holds neither reward.json nor failure.json"),
        ("nan", "unscored", "damaged reward.json", "NaN is no JSON number"),
        ("twice", "unscored", "damaged reward.json", "is there 2 times in one object"),
        ("list", "unscored", "damaged reward.json", "an object is needed"),
        ("bytes", "unscored", "damaged reward.json", "is not UTF-8"),
        ("outside", "unscored", "damaged reward.json", "link that leaves the folder"),
        ("text", "unscored", "no accuracy", '"high"; a number from 0 to 1 is needed'),
        ("above", "unscored", "no accuracy", "1.5; a number from 0 to 1 is needed"),
        ("bool", "unscored", "no accuracy", "true; a number from 0 to 1 is needed"),
    ],
)
def test_a_damaged_trial_has_a_status_and_the_others_stay(
    root: Path, damage: str, status: str, error: str, words: str
) -> None:
    folder = run(root, {"with": {"a": [ALL], "b": [ALL]}}, skipped=True, attempts=1)
    (file,) = folder.glob("codex/with-skill/trials/a__*/reward.json")
    text = file.read_text()
    match damage:
        case "cut":
            file.write_text(text[:-9])
        case "gone":
            file.unlink()
        case "nan":
            file.write_text(text.replace('"accuracy": 0.5', '"accuracy": NaN'))
        case "twice":
            file.write_text(text.replace('"accuracy": 0.5', '"accuracy": 0.5, "accuracy": 1.0'))
        case "list":
            file.write_text("[]")
        case "bytes":
            file.write_bytes(b'{"a": "\xff"}')
        case "outside":
            (root.parent / "elsewhere.json").write_text(text)
            file.unlink()
            file.symlink_to(root.parent / "elsewhere.json")
        case _:
            value = {"text": "high", "above": 1.5, "bool": True}[damage]
            file.write_text(json.dumps(json.loads(text) | {"accuracy": value}))
    found = read(root)
    assert found.frame().select("uid", "status", "error_type").rows() == [
        ("a", status, error),
        ("b", "scored", None),
    ]
    (fault,) = faults(found)
    assert words in fault
    assert "warning" in fault


@pytest.mark.parametrize("name", ["result.json", "attempt_policy.json", "dataset_snapshot.json"])
def test_a_run_without_one_of_its_files_is_read_from_the_others(root: Path, name: str) -> None:
    folder = run(root, BOTH)
    (folder / name).unlink()
    found = read(root)
    assert found.frame().filter(status="scored").height == 12
    assert len(faults(found)) == (1 if name == "result.json" else 0)


@pytest.mark.parametrize("attempts", [10**9, -1, 0, "2", True, 2.5])
def test_a_plan_that_is_none_adds_no_rows(root: Path, attempts: Any) -> None:  # noqa: ANN401 - any JSON value
    run(root, BOTH, attempts=attempts)
    found = read(root)
    assert found.frame().height == 12
    assert "is no number of attempts" in faults(found)[0]


def test_without_the_data_fewer_attempts_than_expected_are_an_error(root: Path) -> None:
    condition = {"execution_status": "failed", "expected_attempts": 6}
    agents = {"codex": {"conditions": {"with_skill": condition}}}
    folder = run(root, {"with": {"c": [ALL]}}, cases=[], agents=agents)
    (folder / "dataset_snapshot.json").unlink()
    (fault,) = read(root).faults().rows(named=True)
    assert fault["severity"] == "error"
    assert fault["message"].startswith("1 of 6 attempts are there")


def test_what_nothing_names_is_counted(root: Path) -> None:
    condition = {"execution_status": "failed", "expected_attempts": 6}
    agents = {"codex": {"conditions": {"with_skill": condition}}}
    folder = run(root, {"with": {"c": [ALL]}}, cases=[], agents=agents)
    (folder / "dataset_snapshot.json").unlink()
    assert read(root).faults().select("rule", "value").row(0) == ("missing-trials", "5")


def test_without_the_data_the_other_arm_says_which_cases_there_are(root: Path) -> None:
    """Three cases of the other arm × two attempts are the six that were expected."""
    condition = {"execution_status": "failed", "expected_attempts": 6}
    agents = {"codex": {"conditions": {"with_skill": condition}}}
    arms = {"with": {"case-1": [ALL, ALL]}, "without": WITHOUT}
    folder = run(root, arms, cases=[], agents=agents)
    (folder / "dataset_snapshot.json").unlink()
    found = read(root)
    assert not faults(found)
    assert found.frame().filter(arm="with").select("uid", "trial", "status").rows() == [
        ("case-1", 1, "scored"),
        ("case-1", 2, "scored"),
        *((f"case-{n}", trial, "missing") for n in (2, 3) for trial in (1, 2)),
    ]


def test_without_the_data_the_count_of_passes_says_which_cases_there_are(root: Path) -> None:
    counted = {
        "k": 2,
        "stop_on_pass": False,
        "cases": {"a": {}, "b": {}, "x": {"extra_case": True}},
    }
    folder = run(root, {"with": {"a": [ALL]}}, cases=[], skipped=True)
    for name in ("dataset_snapshot.json", "attempt_policy.json", "result.json"):
        (folder / name).unlink()
    arm = folder / "codex" / "with-skill"
    write_json(arm / "summary.json", {"pass_at_k": counted, "expected_attempts": 4})
    for path in (root, arm):
        frame = read(path).frame()
        assert frame.select("uid", "trial", "status", "stops").rows() == [
            ("a", 1, "scored", False),
            ("a", 2, "missing", False),
            ("b", 1, "missing", False),
            ("b", 2, "missing", False),
        ]


@pytest.mark.parametrize("stops", [True, False, None])
@pytest.mark.parametrize("where", ["policy", "config", "summary"])
def test_whether_attempts_stop_on_a_pass_is_what_the_tree_says(
    root: Path, where: str, *, stops: bool | None
) -> None:
    folder = run(root, {"with": {"a": [ALL]}}, skipped=True, attempt_policy={})
    write_json(folder / "attempt_policy.json", {"stop_on_pass": stops} if where == "policy" else {})
    config = {"harbor": {"stop_on_pass": stops}} if where == "config" else {}
    write_json(folder / "run_config.json", config)
    counted = {"pass_at_k": {"stop_on_pass": stops}} if where == "summary" else {}
    write_json(folder / "codex" / "with-skill" / "summary.json", counted)
    assert set(read(root).frame()["stops"]) == {stops}


def test_what_was_asked_for_is_the_plan_where_nothing_says_what_was_done(root: Path) -> None:
    config = {"harbor": {"n_attempts": 3, "stop_on_pass": False}}
    folder = run(root, {"with": {"a": [ALL]}}, skipped=True, attempt_policy={}, run_config=config)
    (folder / "attempt_policy.json").unlink()
    assert read(root).frame()["status"].to_list() == ["scored", "missing", "missing"]


def test_an_empty_folder_is_nothing(root: Path) -> None:
    root.mkdir()
    assert not skillevaluator.recognises(root)
    assert not skillevaluator.recognises(root / "no")
    assert read(root).count == 0
