"""AgentLab's studies: summaries, the table beside them, and folders that say nothing else than their name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.readers.tools.agentlab_files import (
    TIME,
    UNCAUGHT,
    experiment,
    failed,
    summary,
    table,
    write_study,
)
from tests.readers.tools.reading import only, read, rows, said

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tool_s_own_numbers_follow_from_the_rows(tmp_path: Path) -> None:
    trials = read("agentlab", write_study(tmp_path)).frame()
    rewards = {
        agent: trials.filter(agent=agent).get_column("score").fill_null(0).to_list()
        for agent in ("base", "skilled")
    }
    # What summarize() prints: an error counts with its reward of 0.
    assert {agent: round(sum(r) / len(r), 3) for agent, r in rewards.items()} == {
        "base": 0.25,
        "skilled": 0.75,
    }
    assert trials.filter(agent="base").get_column("status").to_list().count("errored") == 1
    assert trials.filter(agent="base").get_column("success").to_list() == [False, True, False, None]


def test_a_row_has_what_the_summary_and_the_table_say(tmp_path: Path) -> None:
    row = only(read("agentlab", write_study(tmp_path)), agent="base", uid="webarena.1", trial=2)
    assert row["run"] == "2026-08-01_study"
    assert (row["status"], row["success"], row["score"]) == ("scored", True, 1.0)
    assert (row["steps"], row["input_tokens"], row["output_tokens"]) == (8, 8000, 400)
    assert (row["cost"], row["seconds"]) == (4.0, 28.0)
    assert row["model"] == "model of base"
    nothing = (
        "skill",
        "arm",
        "negative",
        "tool_calls",
        "skill_calls",
        "skill_failures",
        "cached_tokens",
    )
    assert [row[name] for name in nothing] == [None] * len(nothing)


def test_the_pickle_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_study(tmp_path)

    def refuse(*_: object) -> None:
        pytest.fail("something was unpickled")

    monkeypatch.setattr("pickle.load", refuse)
    monkeypatch.setattr("pickle.loads", refuse)
    assert read("agentlab", tmp_path).count == 8


def test_without_the_table_the_folder_s_name_says_who_ran_what(tmp_path: Path) -> None:
    write_study(tmp_path)
    (tmp_path / "2026-08-01_study" / "result_df.csv").unlink()
    found = read("agentlab", tmp_path)
    assert not said(found)
    assert rows(found, "agent", "uid", "trial")[:3] == [
        ("base", "webarena.1", 1),
        ("base", "webarena.1", 2),
        ("base", "webarena.2", 1),
    ]
    assert found.frame().get_column("model").null_count() == 8


def test_an_error_keeps_its_type_and_what_it_cost_and_has_no_score(tmp_path: Path) -> None:
    row = only(read("agentlab", write_study(tmp_path)), status="errored")
    assert (row["error_type"], row["success"], row["score"]) == ("TimeoutError", None, None)
    assert (row["steps"], row["cost"]) == (3, 1.5)


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        (summary(0.0), "scored", None),
        (summary(terminated=False, truncated=True), "scored", None),
        # The agent recovered: its last error is in err_msg all the same.
        (summary(1.0, err_msg="ParseError: again", stack_trace="…"), "scored", None),
        (failed(), "errored", "TimeoutError"),
        (failed(terminated=True), "errored", "TimeoutError"),
        (failed(err_msg=UNCAUGHT.split("\n", maxsplit=1)[0]), "errored", "error"),
        (failed(err_msg="playwright._impl.Error: closed"), "errored", "playwright._impl.Error"),
        (
            failed(err_msg="Last step in episode was not terminated or truncated."),
            "errored",
            "unfinished",
        ),
        (summary(0.0, terminated=False, truncated=False), "errored", "unfinished"),
        (summary(0.0, terminated=None, truncated=None), "errored", "unfinished"),
        (summary(0.0, terminated=..., truncated=...), "errored", "unfinished"),
        (summary(cum_reward=...), "unscored", None),
        (None, "errored", "incomplete"),
    ],
)
def test_how_an_episode_ended_is_its_status(
    content: dict[str, object] | None, status: str, error: str | None, tmp_path: Path
) -> None:
    experiment(tmp_path / "study", "a", "webarena.1", 0, content)
    assert rows(read("agentlab", tmp_path), "status", "error_type") == [(status, error)]


def test_an_error_with_a_reward_is_told(tmp_path: Path) -> None:
    experiment(tmp_path / "study", "a", "webarena.1", 0, failed(cum_reward=0.5))
    found = read("agentlab", tmp_path)
    assert rows(found, "score") == [(None,)]
    assert len(said(found)) == 1
    assert "has an error and a reward of 0.5" in said(found)[0]


def test_recovered_errors_are_counted(tmp_path: Path) -> None:
    for seed in range(2):
        experiment(tmp_path / "study", "a", "t", seed, summary(err_msg="ValueError: x"))
    assert (
        read("agentlab", tmp_path)
        .notes[0]
        .startswith("2 trials with an error that the agent recovered from")
    )


def test_superseded_runs_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "study", "a", "t", 0, failed())
    folder.rename(folder.parent / f"_{folder.name}")
    experiment(tmp_path / "study", "a", "t", 0, summary())
    found = read("agentlab", tmp_path)
    assert rows(found, "status") == [("scored",)]
    assert found.notes[0].startswith("1 superseded run is left out")


def test_trials_pair_by_seed_not_by_order(tmp_path: Path) -> None:
    experiment(tmp_path / "s", "a", "t", 34, summary(1.0))
    experiment(tmp_path / "s", "a", "t", 7, summary(0.0))
    experiment(tmp_path / "s", "b", "t", 34, summary(1.0))
    assert rows(read("agentlab", tmp_path), "agent", "trial", "score") == [
        ("a", 1, 0.0),
        ("a", 2, 1.0),
        ("b", 2, 1.0),
    ]


def test_a_seed_that_came_twice_is_two_trials(tmp_path: Path) -> None:
    # AgentLab's largest seed is 34, so that seeds collide.
    experiment(tmp_path / "s", "a", "t", 7, summary(0.0))
    experiment(tmp_path / "s", "a", "t", 7, summary(1.0), suffix="_1")
    experiment(tmp_path / "s", "a", "t", 8, summary(1.0))
    experiment(tmp_path / "s", "b", "t", 8, summary(1.0))
    assert rows(read("agentlab", tmp_path), "agent", "trial") == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 3),
    ]


def test_of_a_folder_that_is_gone_the_table_s_row_stands(tmp_path: Path) -> None:
    study = tmp_path / "study"
    experiment(study, "a", "t", 1, summary(1.0))
    entries = [
        ("a", "t", 1, summary(0.0)),
        ("a", "t", 2, summary(1.0)),
        ("a", "u", 1, {"cum_reward": None}),
    ]
    table(tmp_path / "elsewhere.csv", [e for e in entries if e[1] == "t"], "study")
    assert rows(read("agentlab", tmp_path), "uid", "trial", "score", "path") == [
        ("t", 1, 1.0, f"study/{TIME}_a_on_t_1"),
        ("t", 2, 1.0, "elsewhere.csv"),
    ]


def test_a_study_that_was_renamed_keeps_its_table(tmp_path: Path) -> None:
    write_study(tmp_path)
    (tmp_path / "2026-08-01_study").rename(tmp_path / "ours")
    found = read("agentlab", tmp_path)
    assert found.count == 8
    assert found.frame().get_column("model").null_count() == 0
    assert set(rows(found, "run")) == {("ours",)}


def test_agents_without_token_counts_have_none(tmp_path: Path) -> None:
    gone: dict[str, Any] = {
        f"stats.cum_{name}": ... for name in ("input_tokens", "output_tokens", "cost")
    }
    experiment(tmp_path / "s", "a", "t", 1, summary(**gone))
    row = only(read("agentlab", tmp_path))
    assert (row["input_tokens"], row["output_tokens"], row["cost"]) == (None, None, None)


def test_minus_one_step_is_none(tmp_path: Path) -> None:
    experiment(tmp_path / "s", "a", "t", 1, failed(n_steps=-1))
    found = read("agentlab", tmp_path)
    assert rows(found, "steps") == [(None,)]
    assert not said(found)


def test_a_folder_with_another_name_is_told(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "s", "a", "t", 1, summary())
    folder.rename(tmp_path / "s" / "mine")
    found = read("agentlab", tmp_path)
    assert rows(found, "uid", "agent") == [("mine", None)]
    assert "says which task it is" in said(found)[0]


def test_a_table_that_was_cut_off_is_told(tmp_path: Path) -> None:
    path = table(tmp_path / "result_df.csv", [("a", "t", n, summary()) for n in range(3)], "study")
    path.write_bytes(path.read_bytes()[:-9])
    found = read("agentlab", tmp_path)
    assert found.count == 3
    assert any("its last line has no end" in line for line in said(found))
