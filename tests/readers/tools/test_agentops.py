"""agentops: the native report with its receipts, and probe scorecards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillshift_frames.lift import skill_lift
from tests.readers.tools.agentops_files import (
    OUTCOMES,
    card,
    job,
    jobs,
    receipts,
    report,
    write_report,
)
from tests.readers.tools.reading import only, read, rows, said, write_json

if TYPE_CHECKING:
    from pathlib import Path


def test_the_readout_s_pairs_follow_from_the_rows(tmp_path: Path) -> None:
    found = read("agentops", write_report(tmp_path))
    scores: dict[tuple[str, int], dict[str, float]] = {}
    for uid, trial, arm, score, error in rows(found, "uid", "trial", "arm", "score", "error_type"):
        kept = 0.0 if error == "execution_error" else score
        if kept is not None:
            scores.setdefault((uid, trial), {})[arm] = kept
    pairs: dict[str, list[float]] = {}
    for (uid, _), arms in scores.items():
        if len(arms) == 2:
            pairs.setdefault(uid, []).append(arms["with"] - arms["without"])
    assert {uid: sum(d) / len(d) for uid, d in pairs.items()} == {
        "stop": 0.5,
        "handoff": 0.0,
        "scope": 1.0,
    }
    # All that was assigned is in the denominator of an arm's rate.
    trials = found.frame()
    successes = [trials.filter(arm=arm).get_column("success").sum() for arm in ("without", "with")]
    assert successes == [1, 4]
    assert not said(found)


def test_receipts_say_which_repetition_it_was_and_times_do_not(tmp_path: Path) -> None:
    found = read("agentops", write_report(tmp_path))
    assert only(found, uid="stop", arm="without", trial=2)["success"] is True
    (tmp_path / "launch-receipts.json").unlink()
    found = read("agentops", tmp_path)
    # By the clock it was first.
    assert only(found, uid="stop", arm="without", trial=1)["success"] is True
    assert found.notes[0].startswith("12 of 12 trials have no receipt")


def test_a_report_by_itself_finds_the_receipts_beside_it(tmp_path: Path) -> None:
    write_report(tmp_path)
    found = read("agentops", tmp_path / "native-report.json")
    assert only(found, uid="stop", arm="without", trial=2)["success"] is True


def test_a_row_has_what_the_report_says(tmp_path: Path) -> None:
    row = only(read("agentops", write_report(tmp_path)), uid="stop", arm="with", trial=1)
    assert (row["run"], row["agent"], row["model"]) == ("native-report", "codex", "example/model-1")
    assert (row["status"], row["score"], row["success"]) == ("scored", 1.0, True)
    # Cached tokens are part of the input.
    assert (row["input_tokens"], row["cached_tokens"], row["output_tokens"]) == (12000, 8000, 700)
    assert (row["cost"], row["seconds"], row["steps"], row["skill"]) == (None, 330.0, None, None)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("success", "scored"),
        ("failed", "scored"),
        ("execution_error", "errored"),
        ("infrastructure_error", "errored"),
        ("created", "errored"),
        ("unfinished", "errored"),
        ("unknown_outcome", "unscored"),
        ("another", "unscored"),
        ("", "unscored"),
    ],
)
def test_an_outcome_is_a_status(outcome: str, status: str, tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", report([job("control", "t", 1, outcome)]))
    found = read("agentops", tmp_path)
    row = only(found)
    assert row["status"] == status
    assert row["error_type"] == (None if status == "scored" else outcome or None)
    assert (row["score"] is None) == (status != "scored")
    assert bool(said(found)) == (outcome in {"another", ""})


@pytest.mark.parametrize(
    ("label", "arm"), [("control", "without"), ("treatment", "with"), ("v2", "v2"), ("", "without")]
)
def test_the_arm_is_the_caller_s_label_else_the_configuration_s(
    label: str, arm: str, tmp_path: Path
) -> None:
    one = job("control", "t", 1, "success")
    one["arm"] = ""
    one["trials"][0]["arm"] = label
    write_json(tmp_path / "r.json", report([one]))
    assert rows(read("agentops", tmp_path), "arm") == [(arm,)]


def test_what_was_launched_and_is_not_there_is_missing(tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", report(jobs()[:-1]))
    write_json(tmp_path / "receipts.json", receipts())
    found = read("agentops", tmp_path)
    assert found.count == len(OUTCOMES)
    row = only(found, status="missing")
    assert (row["uid"], row["trial"], row["arm"]) == ("scope", 2, "with")
    assert any("job treatment-scope-r2 was launched" in line for line in said(found))


def test_trials_that_are_expected_and_have_no_name_are_told(tmp_path: Path) -> None:
    one = job("control", "t", 1, "success")
    one["counts"]["expected"] = 3
    write_json(tmp_path / "r.json", report([one]))
    found = read("agentops", tmp_path)
    assert "3 trials expected, 1 there" in said(found)[0]
    assert found.faults().select("rule", "value").row(0) == ("missing-trials", "2")


def test_another_version_of_a_task_is_told(tmp_path: Path) -> None:
    every = jobs()
    every[0]["trials"][0]["task_checksum"] = "another"
    write_json(tmp_path / "r.json", report(every))
    write_json(tmp_path / "receipts.json", receipts())
    assert "control-stop-r1: the task's checksum" in said(read("agentops", tmp_path))[0]


def test_two_trials_of_one_job_are_kept_and_told(tmp_path: Path) -> None:
    every = jobs()
    every[0]["trials"] *= 2
    write_json(tmp_path / "r.json", report(every))
    write_json(tmp_path / "receipts.json", receipts())
    found = read("agentops", tmp_path)
    assert found.count == 13
    assert "without, stop, 1 is there more than once" in said(found)[0]
    # Kept is no empty word: what takes a trial that comes twice for a mistake can tell the two apart.
    twice = found.frame().filter(uid="stop", trial=1, arm="without")
    assert twice.get_column("path").to_list() == ["r.json", "r.json#2"]
    assert skill_lift(found.frame()).coverage["arms"]["without"]["expected"] == 7


def test_a_job_without_a_receipt_is_not_lost(tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", report(jobs()))
    write_json(tmp_path / "receipts.json", receipts(without=["control-stop-r2"]))
    found = read("agentops", tmp_path)
    assert found.count == 12
    assert found.notes[0].startswith("1 of 12 trials have no receipt")


def test_receipts_by_themselves_are_told(tmp_path: Path) -> None:
    write_json(tmp_path / "receipts.json", receipts())
    found = read("agentops", tmp_path)
    assert found.count == 0
    assert "are receipts without a report" in said(found)[0]


# -- scorecards -----------------------------------------------------------------------------------------------------


def test_a_card_is_a_trial_per_repetition_and_arm(tmp_path: Path) -> None:
    write_json(tmp_path / "plan-low.json", card(["AP", "PP", "AD"]))
    found = read("agentops", tmp_path)
    assert rows(found, "arm", "uid", "trial", "status", "success", "score") == [
        ("with", "plan-shape", 1, "scored", True, 1.0),
        ("with", "plan-shape", 2, "scored", True, 1.0),
        ("with", "plan-shape", 3, "unscored", None, None),
        ("without", "plan-shape", 1, "scored", False, 0.0),
        ("without", "plan-shape", 2, "scored", True, 1.0),
        ("without", "plan-shape", 3, "scored", False, 0.0),
    ]
    assert set(rows(found, "run", "skill", "agent", "model")) == {
        ("plan-low", "planner", "codex", "model-1")
    }
    assert not said(found)


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_every_version_of_a_card_is_read(version: str, tmp_path: Path) -> None:
    content = card(["AP"], schema=f"agentops-skill-probe.{version}", producer=None)
    write_json(tmp_path / "x.json", content)
    found = read("agentops", tmp_path)
    assert found.count == 2
    assert set(rows(found, "agent", "model")) == {(None, None)}


def test_cards_of_two_days_are_two_runs(tmp_path: Path) -> None:
    for day in ("2026-08-04", "2026-08-16"):
        write_json(tmp_path / day / "plan-low.json", card(["AP"]))
    assert sorted(set(rows(read("agentops", tmp_path), "run"))) == [
        ("2026-08-04/plan-low",),
        ("2026-08-16/plan-low",),
    ]


@pytest.mark.parametrize(
    ("content", "trials", "message"),
    [
        (card(["AP"], schema="agentops-skill-probe.v9"), 0, "schema"),
        (card(["AP"], per_rep=None), 0, "per_rep is null; an array is needed"),
        (card(["AX"]), 2, 'repetition 1: treatment is "X"'),
        (
            card(["AP"], control={"present": 1, "usable": 1, "rate": 1.0}),
            2,
            "control: 1 of 1 by its counts, 0 of 1",
        ),
        (
            card(["AP"], treatment={"present": 2, "usable": 1, "rate": 1.0}),
            0,
            "2 of 1 usable trials",
        ),
        (card(["AP"], reps=2), 4, "2 repetitions planned, 1 there"),
    ],
)
def test_a_card_that_contradicts_itself_is_told(
    content: dict[str, object], trials: int, message: str, tmp_path: Path
) -> None:
    write_json(tmp_path / "x.json", content)
    found = read("agentops", tmp_path)
    assert found.count == trials
    assert any(message in line for line in said(found)), said(found)
