"""``lift``, ``agreement`` and ``regress``: what is read, what is printed, and what an exit code means."""

from __future__ import annotations

import csv
import io
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli

READABLE = ("text", "markdown", "latex", "html")

#: What DESIGN.md section 9 promises of ``lift --format json``.
PROMISED = {
    "metrics": {"with", "without", "lift", "low", "high", "cases"},
    "composite": {"lift", "low", "high", "cases", "positive_share"},
    "coverage": {"expected", "scored", "errored", "missing", "paired_cases"},
}


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Path]:
    """Write a job of Harbor: one folder per trial, a reward or none."""

    def write(name: str, rewards: dict[str, list[float | None]], **result: Any) -> Path:  # noqa: ANN401 - JSON
        for task, attempts in rewards.items():
            for number, reward in enumerate(attempts):
                folder = tmp_path / name / f"{task}__aBcDeF{number}"
                folder.mkdir(parents=True)
                content = {
                    "task_name": task,
                    "trial_name": folder.name,
                    "started_at": f"2026-08-01T12:0{number}:00Z",
                    "agent_info": {"name": "codex", "version": "1"},
                    "agent_result": {
                        "cost_usd": 0.5,
                        "n_input_tokens": 1000,
                        "n_cache_tokens": 900,
                        "n_output_tokens": 50,
                    },
                    "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
                    **result,
                }
                if reward is None:
                    error = {
                        "exception_type": "AgentTimeoutError",
                        "exception_message": "",
                        "exception_traceback": "",
                        "occurred_at": "2026-08-01T12:00:00Z",
                    }
                    content["exception_info"] = error
                (folder / "result.json").write_text(json.dumps(content))
        return tmp_path / name

    return write


@pytest.fixture
def jobs(job: Callable[..., Path]) -> tuple[Path, Path]:
    with_ = job("skill", {"alpha": [1.0, 1.0], "beta": [1.0, 1.0], "gamma": [0.0, None]})
    return with_, job("plain", {"alpha": [0.0, 0.0], "beta": [1.0, 0.0], "gamma": [None, 0.0]})


def lift_json(cli: Cli, *arguments: object) -> dict[str, Any]:
    result = cli("lift", *arguments, "--format", "json")
    assert result.code == 0, result.err
    content: dict[str, Any] = json.loads(result.out)
    return content


def test_two_jobs_are_two_arms(
    cli: Cli, jobs: tuple[Path, Path], strict_json: Callable[[str], Any]
) -> None:
    result = cli("lift", "--with", jobs[0], "--without", jobs[1], "--format", "json")
    content = strict_json(result.out)
    assert content["schema_version"] == 1
    for name, keys in PROMISED.items():
        found = content[name]["score"] if name == "metrics" else content[name]
        assert keys <= set(found)
    assert isinstance(content["notes"], list)
    assert content["composite"]["lift"] == 0.5
    assert content["coverage"]["expected"] == 12
    assert content["costs"]["with"]["tokens"]["total"] == 6 * 1050


def test_arms_of_one_source_are_named(cli: Cli, jobs: tuple[Path, Path]) -> None:
    content = lift_json(cli, *jobs, "--with", "skill", "--without", "plain")
    assert content["composite"]["lift"] == 0.5


@pytest.mark.parametrize("chosen", READABLE)
@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("harbor-0.13", ("+0.5000", "one without a reward counts as 0; ours is the same")),
        ("harbor-0.26", ("+0.6000", "ours differs: cases with more attempts weigh more")),
    ],
)
def test_a_tools_own_number_stands_beside_ours_with_the_reason(
    cli: Cli, jobs: tuple[Path, Path], policy: str, said: tuple[str, str], chosen: str
) -> None:
    """Worked by hand: 4/6 − 1/6 with a missing reward as 0, 4/5 − 1/5 without it; ours (1 + 1/2 + 0) / 3."""
    result = cli("lift", "--with", jobs[0], "--without", jobs[1], "--as", policy, "-f", chosen)
    assert result.code == 0
    assert "+0.5000" in result.out
    assert all(text in result.out for text in said)


def plan(folder: Path, total: int, tasks: list[str], attempts: int = 2) -> None:
    """Write what a job planned: of ``tasks`` it says so, of the rest only how many trials there are."""
    agents = [{"name": "codex", "model_name": "maker/model-1", "skills": []}]
    config = {
        "job_name": folder.name,
        "jobs_dir": "/jobs",
        "n_attempts": attempts,
        "agents": agents,
    }
    config["tasks"] = [{"path": f"/tasks/{task}"} for task in tasks]
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "result.json").write_text(json.dumps({"n_total_trials": total, "stats": {}}))


def test_what_a_job_planned_and_has_not_is_in_the_numbers(
    cli: Cli, job: Callable[..., Path]
) -> None:
    """b with the skill left no folder: as zero it is 0 − 1, and with it the arm has a trial without a score."""
    with_, without = job("with", {"a": [1.0]}), job("without", {"a": [0.0], "b": [1.0]})
    plan(with_, 2, ["a", "b"], attempts=1)
    sides = ("--with", with_, "--without", without)
    content = lift_json(cli, *sides)
    assert (content["coverage"]["expected"], content["coverage"]["missing"]) == (4, 1)
    assert content["coverage"]["unlisted"] == 0
    assert content["composite"]["lift"] == 1.0
    assert lift_json(cli, *sides, "--errors", "zero")["composite"]["lift"] == 0.0
    failed = lift_json(cli, *sides, "--errors", "fail-arm")
    assert failed["composite"]["lift"] is None
    assert any("1 of 2 trials have no score" in note for note in failed["notes"])


def test_what_nothing_names_is_counted_and_said(cli: Cli, job: Callable[..., Path]) -> None:
    with_, without = job("with", {"a": [1.0]}), job("without", {"a": [0.0]})
    plan(with_, 6, [])
    content = lift_json(cli, "--with", with_, "--without", without)
    counted = content["coverage"]
    # The second attempt at a is known by its number, as the job tries every task twice; the other four are not.
    assert [counted[name] for name in ("expected", "scored", "missing", "unlisted")] == [7, 2, 5, 4]
    assert counted["arms"]["with"]["expected"] == 2
    (fault,) = content["faults"]
    assert (fault["rule"], fault["value"]) == ("missing-trials", "4")
    (lost,) = [note for note in content["notes"] if note.startswith("lost in reading")]
    assert "4 of 6 trials that the job planned are not there" in lost
    shown = cli("lift", "--with", with_, "--without", without).out
    assert "2 of 7 expected trials scored" in shown
    assert "4 of these of cases that nothing names" in shown
    assert lost in shown


@pytest.mark.parametrize("chosen", READABLE)
def test_each_agent_has_the_tools_number_for_it(
    cli: Cli, job: Callable[..., Path], tmp_path: Path, chosen: str
) -> None:
    sides = []
    for side, reward in (("with", 1.0), ("without", 0.0)):
        sides.append(job(side, {"a": [reward, 1.0]}))
        for number, agent in enumerate(("codex", "other")):
            file = tmp_path / side / f"a__aBcDeF{number}" / "result.json"
            content = json.loads(file.read_text()) | {"agent_info": {"name": agent}}
            file.write_text(json.dumps(content))
    arguments = ("--with", sides[0], "--without", sides[1], "--as", "harbor-0.13")
    shown = cli("lift", *arguments, "-f", chosen).out
    assert all(title in shown for title in ("agent codex", "agent other"))
    assert "2 numbers, since the tool prints none over several agents" in shown
    rows = csv.DictReader(io.StringIO(cli("lift", *arguments, "-f", "csv").out))
    of_tool = [row for row in rows if row["policy"] == "harbor-0.13" and row["metric"] == "score"]
    assert [(row["group"], row["agent"], row["lift"]) for row in of_tool] == [
        ("1", "codex", "1.0"),
        ("2", "other", "0.0"),
    ]
    groups = lift_json(cli, *arguments)["as"]["groups"]
    assert [(g["of"]["agent"], g["composite"]["lift"]) for g in groups] == [
        ("codex", 1.0),
        ("other", 0.0),
    ]


@pytest.mark.parametrize("errors", ["exclude", "zero", "fail-arm"])
@pytest.mark.parametrize("chosen", READABLE)
def test_policy_and_coverage_are_in_every_format(
    cli: Cli, jobs: tuple[Path, Path], errors: str, chosen: str
) -> None:
    result = cli("lift", "--with", jobs[0], "--without", jobs[1], "--errors", errors, "-f", chosen)
    assert f"errors {errors}" in result.out
    assert "10 of 12 expected trials scored" in result.out


def test_csv_says_on_stderr_what_it_has_no_place_for(cli: Cli, jobs: tuple[Path, Path]) -> None:
    result = cli("lift", "--with", jobs[0], "--without", jobs[1], "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["metric"] for row in rows] == ["composite", "score", "success"]
    assert rows[0]["lift"] == "0.5"
    assert "10 of 12 expected trials scored" in result.err
    assert "--errors exclude" in result.err


def test_csv_holds_the_tools_numbers(cli: Cli, jobs: tuple[Path, Path]) -> None:
    """Worked by hand: 4/6 and 1/6 with a missing reward as 0, beside our 2/3 and 1/6 over the three cases."""
    arguments = ("--with", jobs[0], "--without", jobs[1])
    plain = csv.DictReader(io.StringIO(cli("lift", *arguments, "-f", "csv").out))
    result = cli("lift", *arguments, "--as", "harbor-0.13", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [{name: row[name] for name in plain.fieldnames or ()} for row in rows[:3]] == list(plain)
    assert [(row["policy"], row["group"]) for row in rows[:3]] == [("ours", "")] * 3
    behind = [(row["metric"], row["policy"], row["group"], row["agent"]) for row in rows[3:]]
    assert behind == [
        ("composite", "ours", "1", "codex"),
        ("composite", "harbor-0.13", "1", "codex"),
        ("score", "harbor-0.13", "1", "codex"),
    ]
    ours, theirs, score = rows[3:]
    assert (float(ours["lift"]), ours["cases"]) == (0.5, "3")
    for row in (theirs, score):
        assert float(row["with"]) == pytest.approx(4 / 6)
        assert float(row["without"]) == pytest.approx(1 / 6)
        assert float(row["lift"]) == pytest.approx(0.5)
    assert float(theirs["difference"]) == 0
    assert theirs["reason"] == "ours is the same"


def test_gate_is_an_exit_code(cli: Cli, job: Callable[..., Path]) -> None:
    better = job("better", {f"t{n}": [0.9 + n / 200] for n in range(8)})
    worse = job("worse", {f"t{n}": [0.2 - n / 200] for n in range(8)})
    assert cli("lift", "--with", better, "--without", worse, "--gate").code == 0
    assert cli("lift", "--with", worse, "--without", better, "--gate").code == 1
    assert cli("lift", "--with", worse, "--without", better).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no results were named"),
        (("--with", "x"), "--without is missing: --with PATH needs --without PATH beside it"),
        (("--without", "x"), "--with is missing: --without PATH needs --with PATH beside it"),
        (("{skill}",), "no trial says which arm it is of; name the two sides: run skill"),
        (("{skill}", "--with", "nope"), "there is no arm, run or agent 'nope'"),
        (("{skill}", "--with", "a", "--with", "b"), "--with is given twice"),
        (("nothing-here",), "nothing-here"),
        (("{skill}", "--composite", "default", "--composite", "score"), "goes with no other"),
    ],
)
def test_bad_requests_are_said(
    cli: Cli, jobs: tuple[Path, Path], arguments: tuple[str, ...], said: str
) -> None:
    given = [argument.format(skill=jobs[0]) for argument in arguments]
    result = cli("lift", "--format", "text", *given)
    assert result.code == 2
    assert said in result.err
    assert result.out == ""


SCORES = """skill,structural,judge,model
a,92,8.5,m1
a,92,7.5,m2
b,85,9,m1
b,85,8,m2
c,71,6,m1
c,71,4,m2
d,65,,m1
d,65,5,m2
"""


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


AGREE = ("--x", "structural", "--y", "judge", "--by", "model")


@pytest.mark.parametrize("chosen", READABLE)
def test_agreement_in_every_format(cli: Cli, scores: Path, chosen: str) -> None:
    result = cli(
        "agreement", scores, *AGREE, "--gate", "structural=70", "--gate", "judge=7", "-f", chosen
    )
    assert result.code == 0, result.err
    assert "missing scores are in no number: judge (m1) 1" in result.out.replace("\\", "")
    assert "75.0" in result.out  # three of four at 70
    assert "m1 is most lenient" in result.out


def test_agreement_as_json(cli: Cli, scores: Path, strict_json: Callable[[str], Any]) -> None:
    content = strict_json(cli("agreement", scores, *AGREE, "--gate", "70", "-f", "json").out)
    assert content["schema_version"] == 1
    first = content["correlations"][0]
    assert (first["n"], first["missing"]) == (4, 0)
    assert [(g["score"], g["by"]) for g in content["gates"][:2]] == [
        ("structural", None),
        ("judge", None),
    ]
    assert content["judges"]["items"] == 3


def test_agreement_as_csv_is_the_correlations(cli: Cli, scores: Path) -> None:
    result = cli("agreement", scores, *AGREE, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["by"] for row in rows] == ["", "m1", "m2"]
    assert rows[1]["missing"] == "1"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--x", "structural"), "needs --x COLUMN and --y COLUMN"),
        (("--x", "structural", "--y", "nope"), "no column 'nope'"),
        ((*AGREE, "--gate", "high"), "--gate high: a number or COLUMN=NUMBER"),
        ((*AGREE, "--gate", "speed=3"), "gate for 'speed'"),
    ],
)
def test_bad_agreements_are_said(
    cli: Cli, scores: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = cli("agreement", scores, *arguments)
    assert result.code == 2
    assert said in result.err


@pytest.fixture
def dates(job: Callable[..., Path], cli: Cli, tmp_path: Path) -> tuple[Path, Path]:
    """Two dates: with the skill as good as before, without it as good as with it."""
    noise = [0.01, -0.02, 0.03, 0.0, -0.01, 0.02, -0.03, 0.015]
    for date, without in (("old", 0.3), ("new", 0.7)):
        high = job(f"{date}-with", {f"t{n}": [0.8 + e] for n, e in enumerate(noise)})
        low = job(
            f"{date}-plain",
            {f"t{n}": [without - e * 2] for n, e in enumerate(reversed(noise))}
            if date == "new"
            else {f"t{n}": [without - e] for n, e in enumerate(noise)},
        )
        out = tmp_path / f"{date}.json"
        assert cli("lift", "--with", high, "--without", low, "-o", out).code == 0
    return tmp_path / "old.json", tmp_path / "new.json"


@pytest.mark.parametrize("chosen", READABLE)
def test_regress_names_a_model_that_caught_up(
    cli: Cli, dates: tuple[Path, Path], chosen: str
) -> None:
    result = cli("regress", *dates, "-f", chosen)
    assert result.code == 0, result.err
    assert "caught up" in result.out
    assert cli("regress", *dates, "--gate").code == 0


def test_regress_as_json_and_csv(
    cli: Cli, dates: tuple[Path, Path], strict_json: Callable[[str], Any]
) -> None:
    content = strict_json(cli("regress", *dates, "-f", "json").out)
    assert content["changes"][0]["change"] == "caught up"
    rows = list(csv.DictReader(io.StringIO(cli("regress", *dates, "-f", "csv").out)))
    assert rows[0]["without_old"] == str(content["changes"][0]["without_old"])


def test_regress_gate_fails_where_a_lift_fell_by_itself(
    cli: Cli, job: Callable[..., Path], dates: tuple[Path, Path], tmp_path: Path
) -> None:
    noise = [0.02, 0.01, -0.02, 0.03, 0.0, -0.03, 0.015, -0.01]
    low = job("lost", {f"t{n}": [0.4 + e] for n, e in enumerate(noise)})
    out = tmp_path / "lost.json"
    assert cli("lift", "--with", low, "--without", tmp_path / "old-plain", "-o", out).code == 0
    assert cli("regress", dates[0], out, "--gate").code == 1


def test_regress_reads_trials_too(cli: Cli, jobs: tuple[Path, Path]) -> None:
    result = cli("regress", jobs[0], jobs[1])
    assert result.code == 2
    assert "no trial says which arm" in result.err


@pytest.mark.parametrize("chosen", READABLE)
def test_regress_says_how_many_trials_each_set_rests_on(
    cli: Cli, jobs: tuple[Path, Path], tmp_path: Path, chosen: str
) -> None:
    """The later date lacks one of twelve trials, and of another nothing says whose it was."""
    later = [tmp_path / "later" / side.name for side in jobs]
    for side, copy in zip(jobs, later, strict=True):
        shutil.copytree(side, copy)
    shutil.rmtree(later[0] / "beta__aBcDeF1")
    plan(later[0], 7, ["alpha", "beta", "gamma"])
    for date, sides in (("old", jobs), ("new", later)):
        run = cli(
            "lift", "--with", sides[0], "--without", sides[1], "-o", tmp_path / f"{date}.json"
        )
        assert run.code == 0, run.err
    dates = (tmp_path / "old.json", tmp_path / "new.json")
    said = (
        "coverage of the old set: 10 of 12 expected trials scored (0 unscored, 2 errored, 0 missing); 3 paired cases",
        (
            "coverage of the new set: 9 of 13 expected trials scored (0 unscored, 2 errored, 2 missing, "
            "1 of these of cases that nothing names); 3 paired cases"
        ),
    )
    shown = cli("regress", *dates, "-f", chosen).out
    assert all(text in shown for text in said)
    assert all(text in cli("regress", *dates, "-f", "csv").err for text in said)
    coverage = json.loads(cli("regress", *dates, "-f", "json").out)["coverage"]
    for date, path in zip(("old", "new"), dates, strict=True):
        assert coverage[date] == json.loads(path.read_text())["coverage"]


def test_regress_of_trials_counts_what_lift_counts(
    cli: Cli, job: Callable[..., Path], tmp_path: Path
) -> None:
    """The two arms of a job by their skills; of four planned trials nothing says whose they were."""
    for side, skills in (("with", [{"name": "s"}]), ("without", [])):
        folder = job(f"jobs/{side}", {"a": [1.0], "b": [0.5]})
        plan(folder, 6, [], attempts=1)
        content = json.loads((folder / "config.json").read_text())
        content["agents"][0]["skills"] = [f"/skills/{skill['name']}" for skill in skills]
        (folder / "config.json").write_text(json.dumps(content))
    path = tmp_path / "jobs"
    expected = lift_json(cli, path)["coverage"]
    assert expected["unlisted"] > 0
    coverage = json.loads(cli("regress", path, path, "-f", "json").out)["coverage"]
    assert coverage == {"old": expected, "new": expected}


def test_regress_takes_a_composite_for_trials_and_not_for_lifts(
    cli: Cli, job: Callable[..., Path], dates: tuple[Path, Path], tmp_path: Path
) -> None:
    job("jobs/with", {"a": [0.5], "b": [1.0]})
    job("jobs/without", {"a": [0.0], "b": [0.0]})
    for side, skills in (("with", ["/skills/s"]), ("without", [])):
        plan(tmp_path / "jobs" / side, 2, ["a", "b"], attempts=1)
        file = tmp_path / "jobs" / side / "config.json"
        content = json.loads(file.read_text())
        content["agents"][0]["skills"] = skills
        file.write_text(json.dumps(content))
    path = tmp_path / "jobs"
    assert json.loads(cli("regress", path, path, "-f", "json").out)["composite"] == "score"
    chosen = cli("regress", path, path, "--composite", "success", "-f", "json")
    assert json.loads(chosen.out)["composite"] == "success"
    run = cli("regress", *dates, "--composite", "success")
    assert run.code == 2
    assert (
        "composite is for trials (--composite, too); the old lifts have theirs (score)" in run.err
    )
    run = cli("regress", path, path, "--composite", "default", "--composite", "score")
    assert "--composite default goes with no other" in run.err


@pytest.mark.parametrize("place", [0, 1])
def test_regress_does_not_read_standard_input(
    cli: Cli, dates: tuple[Path, Path], place: int
) -> None:
    named: list[object] = list(dates)
    named[place] = "-"
    run = cli("regress", *named)
    assert run.code == 2
    assert "regress takes files of lifts" in run.err
    assert "not standard input" in run.err


def test_a_score_that_is_none_is_named_by_file_line_and_column(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text('skill,x,y\n"a\nb",1,2\n\nc,2,NaN\nd,3,4\n')
    run = cli("agreement", path, "--x", "x", "--y", "y")
    assert (run.code, run.out) == (2, "")
    assert f"{path}: line 5: y: NaN is no score" in run.err.replace("\n", "")


def test_regress_needs_two(cli: Cli, dates: tuple[Path, Path]) -> None:
    assert cli("regress", dates[0]).code == 2
    assert "no such file" in cli("regress", dates[0], "gone.json").err


def test_same_bytes(
    cli: Cli, jobs: tuple[Path, Path], scores: Path, dates: tuple[Path, Path]
) -> None:
    for arguments in (
        ("lift", "--with", jobs[0], "--without", jobs[1], "--method", "bootstrap"),
        ("agreement", scores, *AGREE),
        ("regress", *dates),
    ):
        assert cli(*arguments).out == cli(*arguments).out


def test_side_that_is_named_twice_is_refused(cli: Cli, job: Callable[..., Path]) -> None:
    both = job("both", {"a": [1.0, 0.0]})
    run = cli("lift", "--with", both, "--without", both)
    assert run.code == 2
    assert "is named on both sides" in run.err


def test_an_empty_path_is_no_folder(cli: Cli) -> None:
    for arguments in (["lift", ""], ["regress", "", ""]):
        run = cli(*arguments)
        assert run.code == 2
        assert "an empty path" in run.err


def test_folder_within_another_is_read_once(
    cli: Cli, job: Callable[..., Path], tmp_path: Path
) -> None:
    with_skill = job("jobs/with", {"a": [1.0], "b": [1.0]})
    job("jobs/without", {"a": [0.0], "b": [1.0]})
    run = cli(
        "export", with_skill.parent, with_skill, "--benchmark", "infer", "-o", tmp_path / "x.jsonl"
    )
    assert run.code == 0, run.err
    assert "lies in another folder that was named" in run.err
    assert "4 records" in run.err


def test_gate_does_not_pass_where_nothing_pairs(
    cli: Cli, job: Callable[..., Path], tmp_path: Path
) -> None:
    dates = [tmp_path / "old.json", tmp_path / "new.json"]
    for date, task in zip(dates, "ab", strict=True):
        sides = [job(f"{date.stem}-{side}", {task: [1.0, 0.0]}) for side in ("with", "without")]
        run = cli("lift", "--with", sides[0], "--without", sides[1], "-o", date)
        assert run.code == 0, run.err
    assert cli("regress", *dates).code == 0
    assert cli("regress", *dates, "--gate").code == 1


def test_damaged_file_among_lifts_is_named(
    cli: Cli, job: Callable[..., Path], tmp_path: Path
) -> None:
    sides = [job(side, {"a": [1.0, 0.0]}) for side in ("with", "without")]
    folder = tmp_path / "lifts"
    folder.mkdir()
    for name in ("a.json", "b.json"):
        cli("lift", "--with", sides[0], "--without", sides[1], "-o", folder / name)
    cut = (folder / "b.json").read_text()[:500]
    (folder / "b.json").write_text(cut)
    run = cli("regress", folder, folder)
    assert run.code == 2
    assert "b.json: is no JSON" in run.err


def test_items_that_look_like_numbers_are_names(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,x,y\n1.1,1,2\n1.10,2,3\n1.2,3,1\n1.20,4,5\n")
    run = cli("agreement", path, "--x", "x", "--y", "y", "--format", "json")
    assert {row["n"] for row in json.loads(run.out)["correlations"]} == {4}


def test_errors_are_refused_where_lifts_have_theirs(cli: Cli, dates: tuple[Path, Path]) -> None:
    assert cli("regress", *dates, "--errors", "exclude").code == 0
    run = cli("regress", *dates, "--errors", "zero")
    assert run.code == 2
    assert "the old lifts were computed with --errors exclude" in run.err


def test_falls_of_all_cases_alike_close_the_gate(
    cli: Cli, job: Callable[..., Path], tmp_path: Path
) -> None:
    """Fifty of fifty: no spread for an interval, and no doubt either."""
    plain = job("without", {f"t{n}": [0.0] for n in range(50)})
    for date, reward in (("old", 1.0), ("new", 0.0)):
        skill = job(f"{date}-with", {f"t{n}": [reward] for n in range(50)})
        out = tmp_path / f"{date}.json"
        assert cli("lift", "--with", skill, "--without", plain, "-o", out).code == 0
    run = cli("regress", tmp_path / "old.json", tmp_path / "new.json", "--gate")
    assert run.code == 1
    assert "all: regressed: the lift changed by -1.0000 in all 50 families" in run.out
    assert "exact sign test p < 0.0001" in run.out
    gate = ("--with", tmp_path / "old-with", "--without", plain, "--gate")
    assert cli("lift", *gate).code == 0


def test_numbers_that_name_groups_are_shown_as_written(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("skill,x,y,version\na,1,2,1.10\nb,2,3,1.10\na,3,1,1.9\nb,4,5,1.9\nc,1,1,10\n")
    run = cli("agreement", path, "--x", "x", "--y", "y", "--by", "version", "--format", "csv")
    rows = csv.DictReader(io.StringIO(run.out))
    assert [row["by"] for row in rows] == ["", "1.10", "1.9", "10"]
