"""What a job of Harbor planned, how it calls its agents, and what each version makes of a reward."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.readers.tools import reading
from tests.readers.tools.harbor_files import job, result, trial
from tests.readers.tools.reading import faults, only, rows, write_json

if TYPE_CHECKING:
    from pathlib import Path

read = partial(reading.read, "harbor")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "jobs"


def change(file: Path, **fields: object) -> None:
    write_json(file, json.loads(file.read_text()) | fields)


def agent(model: str = "model-1", **more: object) -> dict[str, Any]:
    return {"name": "codex", "model_name": model, "skills": [], **more}


# --- one spelling of a model ---------------------------------------------------------------------------------------


def provided(folder: Path, written: str, info: dict[str, Any] | None) -> None:
    """Let a job's configurations write the model as its user did, and its results as Harbor splits it."""
    for file in [
        folder / "config.json",
        *folder.glob("*/config.json"),
        *folder.glob("*/result.json"),
    ]:
        content = json.loads(file.read_text())
        for place in (content, content.get("config", {})):
            if "agent" in place:
                place["agent"]["model_name"] = written
            if "agents" in place:
                place["agents"] = [agent(written)]
        if "agent_info" in content:
            content["agent_info"]["model_info"] = info
        write_json(file, content)


@pytest.mark.parametrize(
    ("written", "info", "model"),
    [
        ("openai/gpt-x", {"name": "gpt-x", "provider": "openai"}, "gpt-x"),
        ("hub/maker/gpt-x", {"name": "maker/gpt-x", "provider": "hub"}, "maker/gpt-x"),
        ("gpt-x", {"name": "gpt-x"}, "gpt-x"),
        ("openai/gpt-x", {"name": "openai/gpt-x", "provider": "openai"}, "gpt-x"),
        ("openai/gpt-x", None, "gpt-x"),
        # 0.26 asks a library for the provider, which may know another name.
        ("haiku", {"name": "haiku-4", "provider": "anthropic"}, "haiku-4"),
    ],
)
@pytest.mark.parametrize("damage", ["{", None])
def test_a_trial_without_a_result_is_of_the_same_model_as_the_others(
    root: Path, written: str, info: dict[str, Any] | None, model: str, damage: str | None
) -> None:
    folder = job(root / "job", {"a": [1.0, 1.0, 0.0]}, attempts=3)
    provided(folder, written, info)
    file = folder / "a__y000000" / "result.json"
    file.write_text(damage) if damage else file.unlink()
    assert rows(read(root), "uid", "trial", "agent", "model", "status") == [
        ("a", 1, "codex", model, "scored"),
        ("a", 2, "codex", model, "scored"),
        ("a", 3, "codex", model, "errored"),
    ]


def test_where_no_result_is_left_the_provider_is_split_off_all_the_same(root: Path) -> None:
    folder = job(root / "job", {"a": [1.0]}, attempts=1)
    provided(folder, "openai/gpt-x", {"name": "gpt-x", "provider": "openai"})
    (folder / "a__z000000" / "result.json").unlink()
    assert only(read(root))["model"] == "gpt-x"


# --- what was planned ----------------------------------------------------------------------------------------------


def locked(folder: Path, *planned: tuple[str, str]) -> None:
    """Write the job's list of trials: task and model each."""
    trials = [
        {"task": {"name": task, "type": "local", "source": "bench"}, "agent": agent(model)}
        for task, model in planned
    ]
    write_json(folder / "lock.json", {"schema_version": 1, "trials": trials})


def missing(root: Path) -> list[tuple[Any, ...]]:
    frame = read(root).frame().filter(status="missing")
    return frame.select("uid", "trial", "model", "dataset").rows()


def test_the_lock_lists_every_trial(root: Path) -> None:
    folder = job(root / "job", {"a": [1.0], "b": [0.0]}, attempts=2, planned=5)
    locked(folder, *((task, "model-1") for task in "aabbc"))
    assert missing(root) == [
        ("a", 2, "model-1", "bench"),
        ("b", 2, "model-1", "bench"),
        ("c", 1, "model-1", "bench"),
    ]
    assert not faults(read(root))


def test_the_lock_names_agents_and_models_that_left_nothing(root: Path) -> None:
    folder = job(root / "job", {"a": [1.0]}, attempts=1, planned=2)
    change(folder / "config.json", agents=[agent(), agent("openai/other")])
    locked(folder, ("a", "model-1"), ("a", "openai/other"))
    assert missing(root) == [("a", 1, "other", "bench")]


def test_a_task_is_called_as_its_results_call_it(root: Path) -> None:
    """The lock has the folder's name, a result the name that the task gives itself."""
    folder = job(root / "job", {"a": [1.0]}, attempts=2, planned=2)
    change(folder / "a__z000000" / "result.json", task_name="org/a")
    locked(folder, ("a", "model-1"), ("a", "model-1"))
    assert missing(root) == [("org/a", 2, "model-1", "bench")]


def test_a_bare_folder_is_the_planned_trial_that_it_is_named_after(root: Path) -> None:
    long = "org/" + "x" * 40
    folder = job(root / "job", {"a": [1.0]}, attempts=1, planned=3)
    locked(folder, ("a", "model-1"), (long, "model-1"), ("b", "model-1"))
    (folder / f"{'x' * 32}__Xy12345").mkdir()
    assert rows(read(root), "uid", "status") == [
        ("a", "scored"),
        ("b", "missing"),
        (long, "errored"),
    ]


def test_tasks_of_the_configuration_are_the_plan(root: Path) -> None:
    folder = job(root / "job", {"a": [1.0]}, attempts=2, planned=4)
    change(folder / "config.json", tasks=[{"path": "/tasks/a"}, {"path": "/tasks/b/"}], datasets=[])
    assert missing(root) == [
        (uid, n, "model-1", "bench") for uid, n in (("a", 2), ("b", 1), ("b", 2))
    ]
    (folder / "result.json").unlink()  # the job was killed before it had one
    assert len(missing(root)) == 3


def test_every_agent_tries_the_tasks_that_were_seen_where_that_makes_the_number(root: Path) -> None:
    folder = job(root / "job", {"a": [1.0], "b": [0.0]}, attempts=1, planned=4)
    change(folder / "config.json", agents=[agent(), agent("other")])
    assert missing(root) == [("a", 1, "other", "bench"), ("b", 1, "other", "bench")]


def test_what_nothing_names_is_counted(root: Path) -> None:
    job(root / "job", {"a": [1.0, 1.0], "b": [0.0]}, attempts=2, planned=10)
    found = read(root)
    assert missing(root) == [("b", 2, "model-1", "bench")]
    (fault,) = found.faults().rows(named=True)
    assert (fault["severity"], fault["rule"], fault["value"]) == ("error", "missing-trials", "6")


def test_of_fewer_missing_than_could_be_none_is_named(root: Path) -> None:
    job(root / "job", {"a": [1.0], "b": [0.0], "c": [0.0]}, attempts=2, planned=4)
    assert missing(root) == []
    assert "1 of 4 trials that the job planned are not there" in faults(read(root))[0]


@pytest.mark.parametrize("lock", ["{", "[]", '{"trials": [3, {"task": null, "agent": {}}]}'])
def test_a_damaged_lock_is_no_plan(root: Path, lock: str) -> None:
    folder = job(root / "job", {"a": [1.0]}, attempts=1)
    (folder / "lock.json").write_text(lock)
    assert rows(read(root), "status") == [("scored",)]


# --- rewards, and whether they are valid ---------------------------------------------------------------------------


def of_trial(root: Path, reward: Any, **how: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as `trial` takes it
    trial(root, "t", "a", reward, **how)
    row = only(read(root))
    return tuple(row[name] for name in ("status", "score", "recorded", "valid"))


@pytest.mark.parametrize(
    ("how", "row"),
    [
        ({}, ("scored", 1.0, 1.0, True)),
        ({"exception": "AgentTimeoutError"}, ("scored", 1.0, 1.0, True)),
        ({"exception": "VerifierTimeoutError"}, ("scored", 1.0, 1.0, False)),
        ({"exception": ""}, ("scored", 1.0, 1.0, True)),
        ({"exception_info": {}}, ("scored", 1.0, 1.0, None)),
        ({"reward_valid": False}, ("errored", None, 1.0, False)),
        ({"reward_valid": True, "exception": "ApiError"}, ("scored", 1.0, 1.0, True)),
        ({"reward_valid": False, "exception": "Mine"}, ("errored", None, 1.0, False)),
    ],
)
def test_a_reward_is_kept_with_its_validity(root: Path, how: dict[str, Any], row: Any) -> None:  # noqa: ANN401
    assert of_trial(root, 1.0, **how) == row


def test_an_exception_of_a_step_counts_as_one(root: Path) -> None:
    def step(error: str | None) -> dict[str, Any]:
        return {"step_name": "s", "exception_info": {"exception_type": error} if error else None}

    steps = [step("AgentTimeoutError"), step("ApiError")]
    assert of_trial(root, 1.0, step_results=steps) == ("scored", 1.0, 1.0, False)


def test_without_a_reward_nothing_is_valid_or_not(root: Path) -> None:
    assert of_trial(root, None, exception="ApiError") == ("errored", None, None, None)


def test_several_rewards_that_are_not_valid_are_kept(root: Path) -> None:
    trial(root, "t", "a", {"tests": 1.0, "style": 0.5}, reward_valid=False)
    row = only(read(root))
    assert (row["status"], row["tests"], row["style"], row["recorded"]) == (
        "errored",
        1.0,
        0.5,
        None,
    )


def test_the_dataset_is_that_of_the_results(root: Path) -> None:
    trial(root, "t", "a", 1.0)
    trial(root, "u", "a", 1.0, source=None)
    assert rows(read(root), "uid", "dataset") == [("t", "bench"), ("u", None)]
    assert result("t", "n", 1.0)["source"] == "bench"
