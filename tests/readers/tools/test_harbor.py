"""Harbor's jobs: which trials are scored in which version, what the attempts are, and what of the plan is not there."""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skillshift_frames.readers.tools import harbor
from tests.readers.tools import reading
from tests.readers.tools.harbor_files import job, result, trajectory, trial
from tests.readers.tools.reading import faults, only, write_json

if TYPE_CHECKING:
    from pathlib import Path

SKILL = ("Skill", {"skill": "tables"}, None)
LIST = ("Bash", {"command": "ls"}, None)


read = partial(reading.read, "harbor")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "jobs"


def test_a_job_by_hand(root: Path) -> None:
    folder = job(root / "mine", {"a": [0.0, 1.0], "b": [1.0, 1.0], "c": [None, 0.0]})
    found = read(folder)
    frame = found.frame()
    assert frame.select("run", "agent", "model", "skill", "arm").unique().rows() == [
        ("mine", "codex", "model-1", None, None)
    ]
    assert frame.select("uid", "trial", "status", "success", "score").rows() == [
        ("a", 1, "scored", False, 0.0),
        ("a", 2, "scored", True, 1.0),
        ("b", 1, "scored", True, 1.0),
        ("b", 2, "scored", True, 1.0),
        ("c", 1, "unscored", None, None),
        ("c", 2, "scored", False, 0.0),
    ]
    # Harbor 0.13 counts a trial without a reward as 0, and 0.26 leaves it out.
    score = frame["score"]
    assert score.fill_null(0.0).mean() == pytest.approx(3 / 6)
    assert score.mean() == pytest.approx(3 / 5)
    used = ("input_tokens", "cached_tokens", "output_tokens", "cost", "seconds")
    assert frame.select(used).unique().rows() == [(100, 50, 10, 0.5, 30.0)]
    assert frame.select("steps", "tool_calls", "skill_calls").unique().rows() == [
        (None, None, None)
    ]
    assert not faults(found)


@pytest.mark.parametrize(
    ("exception", "reward", "valid", "status", "error"),
    [
        ("AgentTimeoutError", None, None, "errored", "AgentTimeoutError"),
        ("AgentTimeoutError", 1.0, None, "scored", "AgentTimeoutError"),
        ("ApiError", 1.0, False, "errored", "ApiError"),
        ("AgentTimeoutError", 1.0, True, "scored", "AgentTimeoutError"),
        (None, 1.0, True, "scored", None),
        (None, 1.0, False, "errored", "reward not valid"),
        (None, None, False, "unscored", "no reward"),
        ("VerifierTimeoutError", None, False, "errored", "VerifierTimeoutError"),
    ],
)
def test_old_files_count_every_reward_and_new_ones_say_which(  # noqa: PLR0917 - one row of the table
    root: Path,
    exception: str | None,
    reward: float | None,
    valid: object,
    status: str,
    error: str | None,
) -> None:
    more: dict[str, Any] = {} if valid is None else {"reward_valid": valid, "schema_version": 1}
    trial(root / "job", "t", "a", reward, exception=exception, **more)
    found = read(root)
    row = only(found)
    assert (row["status"], row["error_type"]) == (status, error)
    assert row["score"] == (reward if status == "scored" else None)
    assert bool(found.notes) is (exception is not None and reward is not None and valid is None)


def test_an_exception_without_a_type_is_one(root: Path) -> None:
    trial(root / "job", "t", "a", None, exception_info={})
    assert only(read(root))["error_type"] == "exception"


@pytest.mark.parametrize(
    ("rewards", "score", "success", "metrics"),
    [
        ({"reward": 1}, 1.0, True, {}),
        ({"reward": 0.5}, 0.5, False, {}),
        ({"reward": 40}, 40.0, None, {}),
        ({"accuracy": 1.0}, 1.0, True, {"accuracy": 1.0}),
        ({"reward": 0.0, "speed": 0.25}, 0.0, False, {"reward": 0.0, "speed": 0.25}),
        ({"a": 1.0, "b": 0.5}, None, None, {"a": 1.0, "b": 0.5}),
        ({"a": 1.0, "b": None}, 1.0, True, {"a": 1.0}),
    ],
)
def test_rewards_of_one_key_and_of_several(
    root: Path,
    rewards: dict[str, Any],
    score: float,
    success: object,
    metrics: dict[str, float],
) -> None:
    trial(root / "job", "t", "a", rewards)
    row = only(read(root))
    assert (row["status"], row["score"], row["success"]) == ("scored", score, success)
    assert list(row.items())[-len(metrics) or len(row) :] == list(metrics.items())


@pytest.mark.parametrize("reward", [True, "1.0", None, [1.0], {}])
def test_a_reward_that_is_no_number_is_no_score(root: Path, reward: object) -> None:
    trial(root / "job", "t", "a", {"reward": reward})
    assert only(read(root))["status"] == "unscored"


def test_a_list_of_rewards_is_said(root: Path) -> None:
    trial(root / "job", "t", "a", None, verifier_result={"rewards": [1.0]})
    found = read(root)
    assert only(found)["status"] == "unscored"
    assert "verifier_result.rewards: [1.0]; an object of numbers is needed" in faults(found)[0]


def test_steps_of_a_trial_are_summed_and_its_own_reward_counts(root: Path) -> None:
    used = {"n_input_tokens": 50, "n_cache_tokens": 20, "n_output_tokens": 5, "cost_usd": 0.1}
    steps = [
        {
            "step_name": name,
            "agent_result": used,
            "verifier_result": {"rewards": {"reward": reward}},
        }
        for name, reward in (("first", 1.0), ("second", 0.0))
    ]
    folder = trial(root / "job", "t", "a", 0.5, agent_result=None, step_results=steps)
    row = only(read(root))
    assert (row["score"], row["input_tokens"], row["cost"]) == (0.5, 100, 0.2)
    assert row["steps"] is None
    for name in ("first", "second"):
        write_json(folder / "steps" / name / "agent" / "trajectory.json", trajectory([SKILL]))
    row = only(read(root))
    assert (row["steps"], row["skill_calls"], row["input_tokens"], row["cost"]) == (4, 2, 4000, 0.2)


def test_what_one_step_does_not_say_is_not_known_of_the_trial(root: Path) -> None:
    steps = [
        {"step_name": "a", "agent_result": {"n_input_tokens": 50}},
        {"step_name": "b", "agent_result": None},
    ]
    trial(root / "job", "t", "a", 1.0, agent_result=None, step_results=steps)
    assert only(read(root))["input_tokens"] is None


def test_the_exception_of_a_step_is_named(root: Path) -> None:
    steps = [{"step_name": "a", "exception_info": {"exception_type": "AgentTimeoutError"}}]
    trial(root / "job", "t", "a", None, step_results=steps)
    assert only(read(root))["error_type"] == "AgentTimeoutError"


def test_the_trajectory_says_what_the_result_does_not(root: Path) -> None:
    nothing = {
        "n_input_tokens": None,
        "n_cache_tokens": None,
        "n_output_tokens": None,
        "cost_usd": None,
    }
    trial(
        root / "job",
        "t",
        "a",
        None,
        exception="AgentTimeoutError",
        used=nothing,
        shown=trajectory([SKILL, LIST]),
    )
    row = only(read(root))
    assert (row["steps"], row["tool_calls"], row["skill_calls"], row["skill_failures"]) == (
        3,
        2,
        1,
        0,
    )
    assert (row["input_tokens"], row["cached_tokens"], row["output_tokens"], row["cost"]) == (
        3000,
        15,
        30,
        0.03,
    )


def test_the_cost_is_the_results_own(root: Path) -> None:
    trial(root / "job", "t", "a", 1.0, shown=trajectory([SKILL]))
    assert only(read(root))["cost"] == 0.5


def test_attempts_are_numbered_by_their_starts(root: Path) -> None:
    trial(root / "job", "t", "zz", 0.0, minute=1)
    trial(root / "job", "t", "aa", 1.0, minute=2)
    assert read(root).frame().select("trial", "success").rows() == [(1, False), (2, True)]


def test_jobs_that_mount_skills_and_jobs_that_mount_none_are_arms(root: Path) -> None:
    job(root / "new", {"t": [1.0]}, skills=["/skills/tables"])
    job(root / "old", {"t": [0.0]})
    assert read(root).frame().select("run", "arm", "skill").rows() == [
        ("new", "with", "tables"),
        ("old", "without", "tables"),
    ]
    assert read(root / "old").frame().select("arm", "skill").rows() == [(None, None)]
    assert read(root / "new").frame().select("arm", "skill").rows() == [("with", "tables")]


def test_of_several_skills_none_is_that_of_the_jobs_without(root: Path) -> None:
    job(root / "a", {"t": [1.0]}, skills=["/skills/tables"])
    job(root / "b", {"t": [1.0]}, skills=["/skills/forms"])
    job(root / "c", {"t": [0.0]})
    assert read(root).frame().filter(run="c").select("arm", "skill").rows() == [("without", None)]


@pytest.mark.parametrize(
    ("started", "finished", "seconds"),
    [
        ("2026-08-01T10:00:00Z", "2026-08-01T10:00:30.5Z", 30.5),
        ("2026-08-01T10:00:00", "2026-08-01T10:01:00", 60.0),
        ("2026-08-01T10:00:00", "2026-08-01T10:01:00Z", None),
        ("2026-08-01T10:00:00Z", None, None),
        ("soon", "2026-08-01T10:01:00Z", None),
        (7, "2026-08-01T10:01:00Z", None),
    ],
)
def test_seconds_are_between_two_times_of_one_kind(
    root: Path, started: object, finished: object, seconds: float | None
) -> None:
    trial(root / "job", "t", "a", 1.0, started_at=started, finished_at=finished)
    assert only(read(root))["seconds"] == seconds


def test_an_end_before_its_start_is_said(root: Path) -> None:
    trial(
        root / "job",
        "t",
        "a",
        1.0,
        started_at="2026-08-01T10:00:00Z",
        finished_at="2026-08-01T09:00:00Z",
    )
    found = read(root)
    assert only(found)["seconds"] is None
    assert "seconds: -3600.0; a number ≥ 0 is needed" in faults(found)[0]


def test_what_the_job_planned_and_has_not_is_missing(root: Path) -> None:
    job(root / "job", {"a": [1.0, 1.0], "b": [0.0]}, attempts=2, planned=4)
    found = read(root)
    assert found.frame().filter(status="missing").select(
        "uid", "trial", "agent", "score"
    ).rows() == [("b", 2, "codex", None)]
    assert not faults(found)


def test_attempts_fewer_than_asked_for_are_not_missing_where_the_plan_has_no_more(
    root: Path,
) -> None:
    job(root / "job", {"a": [1.0, 1.0], "b": [0.0]}, attempts=2)
    assert read(root).frame()["status"].to_list() == ["scored"] * 3


def test_trials_of_unknown_tasks_that_are_not_there_are_an_error(root: Path) -> None:
    job(root / "job", {"a": [1.0, 1.0], "b": [0.0]}, attempts=2, planned=1000)
    found = read(root)
    assert found.frame().filter(status="missing").height == 1
    (fault,) = found.faults().rows(named=True)
    assert fault["severity"] == "error"
    assert fault["message"].startswith("996 of 1,000 trials that the job planned are not there")


@pytest.mark.parametrize(
    ("damage", "error", "words"),
    [
        ("cut", "damaged result.json", "is not JSON"),
        ("gone", "no result.json", "is missing"),
        ("empty", "damaged result.json", "is empty"),
        ("null", "damaged result.json", "holds null; an object is needed"),
        ("nan", "damaged result.json", "NaN is no JSON number"),
        ("twice", "damaged result.json", "is there 2 times in one object"),
        ("outside", "damaged result.json", "link that leaves the folder"),
        ("dangling", "no result.json", "is a link to a file that is not there"),
    ],
)
def test_a_damaged_trial_has_a_status_and_the_others_stay(
    root: Path, damage: str, error: str, words: str
) -> None:
    folder = job(
        root / "job", {"a": [1.0], "b": [1.0]}, skills=["/s/tables"], shown=trajectory([SKILL])
    )
    (file,) = folder.glob("a__*/result.json")
    text = file.read_text()
    if damage in {"gone", "outside", "dangling"}:
        file.unlink()
    match damage:
        case "cut":
            file.write_text(text[:-9])
        case "nan":
            file.write_text(text.replace("1.0", "NaN"))
        case "twice":
            file.write_text(text.replace('"source"', '"id": "1", "source"'))
        case "outside":
            (root.parent / "elsewhere.json").write_text(text)
            file.symlink_to(root.parent / "elsewhere.json")
        case "dangling":
            file.symlink_to("nothing.json")
        case "empty" | "null":
            file.write_text({"empty": "", "null": "null"}[damage])
    found = read(root)
    shown = ("uid", "arm", "skill", "agent", "status", "error_type", "skill_calls")
    assert found.frame().select(shown).rows() == [
        ("a", "with", "tables", "codex", "errored", error, 1),
        ("b", "with", "tables", "codex", "scored", None, 1),
    ]
    (fault,) = faults(found)
    assert words in fault
    assert "warning" in fault


def test_a_folder_with_nothing_but_a_trials_name_is_an_errored_trial(root: Path) -> None:
    job(root / "job", {"a": [1.0]}, planned=2)
    (root / "job" / "b__Xy12345").mkdir()
    assert read(root).frame().select("uid", "status", "error_type").rows() == [
        ("a", "scored", None),
        ("b", "errored", "no result.json"),
    ]


@pytest.mark.parametrize("name", ["config.json", "result.json"])
def test_a_job_without_or_with_a_damaged_file_of_its_own_is_still_read(
    root: Path, name: str
) -> None:
    folder = job(root / "job", {"a": [1.0]}, attempts=1)
    (folder / name).write_text("{")
    found = read(root)
    assert found.frame()["status"].to_list() == ["scored"]
    assert [fault.rpartition("/")[2].split(":")[0] for fault in faults(found)] == [name]
    (folder / name).unlink()
    assert not faults(read(root))


def test_a_value_of_a_wrong_type_is_left_out_and_said(root: Path) -> None:
    trial(root / "job", "t", "a", 1.0, used={"n_input_tokens": "many", "cost_usd": -1})
    found = read(root)
    row = only(found)
    assert (row["input_tokens"], row["cost"], row["status"]) == (None, None, "scored")
    assert [fault.partition("warning: ")[2] for fault in faults(found)] == [
        "cost: -1; a number ≥ 0 is needed (it is left out)",
        'input_tokens: "many"; a number is needed (it is left out)',
    ]


def test_parts_of_a_wrong_type_are_as_if_they_were_not_there(root: Path) -> None:
    wrong: dict[str, Any] = {"agent_info": 7, "agent_result": [], "config": "x", "step_results": {}}
    trial(root / "job", "t", "a", 1.0, **wrong)
    row = only(read(root))
    assert (row["status"], row["agent"], row["input_tokens"]) == ("scored", None, None)
    write_json(
        root / "job" / "config.json",
        {"job_name": "job", "jobs_dir": "x", "agents": [{"name": "codex"}]},
    )
    assert only(read(root))["agent"] == "codex"


def test_trials_of_both_versions_side_by_side(root: Path) -> None:
    trial(root / "job", "t", "a", 1.0, minute=1)
    trial(
        root / "job",
        "t",
        "b",
        1.0,
        minute=2,
        schema_version=1,
        reward_valid=False,
        exception="ApiError",
    )
    assert read(root).frame()["status"].to_list() == ["scored", "errored"]


def test_jobs_of_one_name_are_told_apart(root: Path) -> None:
    job(root / "x" / "job", {"t": [1.0]})
    job(root / "y" / "job", {"t": [0.0]})
    assert read(root).frame().select("run", "trial").rows() == [("x/job", 1), ("y/job", 1)]


def test_a_trial_can_be_named_by_itself(root: Path) -> None:
    folder = trial(root / "job", "t", "a", 1.0)
    assert harbor.recognises(folder)
    assert only(read(folder))["run"] == "job"


def test_a_job_without_trials_is_said(root: Path) -> None:
    job(root / "job", {})
    assert faults(read(root)) == [f"{root / 'job'}: file: is a job without any trial"]


def test_the_order_of_a_folder_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job(root / "a", {"t": [1.0, {"x": 1.0, "b": 0.5}, None]}, skills=["/s"])  # type: ignore[list-item]
    job(root / "b", {"t": [0.0, 1.0], "u": [None]})
    frame = read(root).frame()
    moved = root.parent / "moved"
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_file():
            to = moved / path.relative_to(root)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)
    assert_frame_equal(read(moved).frame(), frame)
    listed = os.scandir

    class Reversed:
        def __init__(self, path: Any) -> None:  # noqa: ANN401 - as os.scandir takes it
            with listed(path) as entries:
                self.entries = sorted(entries, key=lambda entry: entry.name, reverse=True)

        def __enter__(self) -> Any:  # noqa: ANN401
            return iter(self.entries)

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(os, "scandir", Reversed)
    assert_frame_equal(read(root).frame(), frame)


def test_each_file_is_opened_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = job(root / "job", {"a": [1.0] * 3, "b": [None] * 3}, shown=trajectory([SKILL]))
    opened: list[str] = []
    real = os.open

    def counting(path: Any, *args: Any, **kwargs: Any) -> int:  # noqa: ANN401 - as os.open takes it
        opened.append(os.fspath(path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", counting)
    read(root)
    assert len(opened) == len(set(opened)) == 2 + 2 * 6
    assert str(folder / "result.json") in opened


def test_what_is_recognised(root: Path) -> None:
    assert not harbor.recognises(root)
    write_json(root / "result.json", {"stats": {}})
    assert not harbor.recognises(root)
    write_json(root / "x" / "y" / "result.json", result("t", "t__a", 1.0))
    assert harbor.recognises(root)


def test_a_job_of_very_many_trials_is_recognised(root: Path) -> None:
    for number in range(5000):
        (root / "job" / f"t__{number:07}").mkdir(parents=True)
    write_json(root / "job" / "t__0000003" / "result.json", result("t", "t__0000003", 1.0))
    assert harbor.recognises(root)


def test_the_frame_holds_what_json_can(root: Path) -> None:
    trial(root / "job", "t", "a", 1.0, task_name="t\ud800")
    assert only(read(root))["uid"] == "t\\ud800"
    assert isinstance(read(root).frame(), pl.DataFrame)
    assert json.dumps(read(root).frame().rows())
