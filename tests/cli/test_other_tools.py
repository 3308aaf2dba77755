"""Another tool's results on the command line: recognised and said, forced, damaged, and on their way out again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import skillshift_frames as sf
from tests.readers.tools.harbor_files import job, trajectory
from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    shown = trajectory([("Skill", {"skill": "tables"}, None)])
    job(tmp_path / "jobs" / "new", {"a": [1.0, 1.0], "b": [0.0]}, skills=["/s/tables"], shown=shown)
    job(tmp_path / "jobs" / "old", {"a": [0.0, 1.0], "b": [0.0]}, shown=trajectory())
    return tmp_path / "jobs"


def test_the_format_is_said_and_the_table_is_that_of_the_trials(cli: Cli, jobs: Path) -> None:
    result = cli("table", jobs, "--benchmark", "infer", "--format", "csv")
    assert result.code == 0
    assert result.err.startswith(f"note: {jobs}: read as harbor\n")
    assert result.out.splitlines() == [
        "run,metric,tables,codex,overall",
        "new with,SR,50.0,50.0,50.0",
        "new with,AS,2.0,2.0,2.0",
        "new with,ASC,1.0,1.0,1.0",
        "new with,SFR,0.0,0.0,0.0",
        "old without,SR,25.0,25.0,25.0",
        "old without,AS,1.0,1.0,1.0",
        "old without,ASC,0.0,0.0,0.0",
        "old without,SFR,,,",
    ]


@pytest.mark.parametrize("ci", [[], ["--ci"]])
@pytest.mark.parametrize("command", ["table", "cells"])
def test_tables_and_cells_take_from(cli: Cli, jobs: Path, command: str, ci: list[str]) -> None:
    result = cli(command, jobs, "--benchmark", "infer", "--from", "harbor", "-f", "json", *ci)
    assert result.code == 0
    assert json.loads(result.out)["rows"][0]["run"] == "new with"


def test_export_makes_records_that_are_read_back_without_a_word(
    cli: Cli, jobs: Path, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    assert cli("export", jobs, "--benchmark", "infer", "-o", file).code == 0
    tasks = sf.read_tasks(file, benchmark="infer")
    assert tasks.height == 6
    assert tasks["run"].unique().sort().to_list() == ["new with", "old without"]


def test_check_of_a_sound_folder(cli: Cli, jobs: Path) -> None:
    result = cli("check", jobs, "--benchmark", "infer")
    assert (result.code, result.out.splitlines()[0]) == (0, "6 records without a fault")


def test_check_names_what_is_damaged(cli: Cli, jobs: Path) -> None:
    (file,) = (jobs / "old").glob("b__*/result.json")
    file.write_text("{")
    result = cli("check", jobs, "--benchmark", "infer")
    assert result.code == 0  # the trial is there, as errored
    assert f"{file}: warning: file: line 1, column 2: is not JSON" in result.out
    assert cli("check", jobs, "--benchmark", "infer", "--strict").code == 1
    (jobs / "out").symlink_to("/")
    result = cli("check", jobs, "--benchmark", "infer")
    assert result.code == 1
    assert f"{jobs / 'out'}: file: is reached by a link that leaves the folder" in result.out


def test_a_damaged_folder_has_a_table_all_the_same(cli: Cli, jobs: Path) -> None:
    (file,) = (jobs / "old").glob("b__*/result.json")
    file.write_text("{")
    result = cli("table", jobs, "--benchmark", "infer")
    assert result.code == 0
    assert f"{file}: warning: file: line 1, column 2: is not JSON" in result.err
    assert "1 errored" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "harbour"), "did you mean 'harbor'?"),
        (("--from", "skillevaluator"), "holds no trial of skillevaluator"),
        (("--pool",), "name their own runs"),
    ],
)
def test_what_cannot_be_is_refused(
    cli: Cli, jobs: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = cli("table", jobs, "--benchmark", "infer", *arguments)
    assert result.code == 2
    assert words in result.err


def test_without_a_benchmark_the_way_on_is_said(cli: Cli, jobs: Path) -> None:
    result = cli("table", jobs)
    assert result.code == 2
    assert "--benchmark infer" in result.err


@pytest.fixture
def shifted(tmp_path: Path) -> Path:
    """One job by two agents, which are two conditions; some attempts are without a cost."""
    used = {"cost_usd": 0.5, "n_input_tokens": 1000, "n_cache_tokens": 900, "n_output_tokens": 50}
    for agent, rewards in (("codex", [1.0, 0.0]), ("opus", [0.0, 0.0])):
        for number, reward in enumerate(rewards):
            for task in ("a", "b"):
                folder = tmp_path / "jobs" / agent / f"{task}__aBcDeF{number}"
                content = {
                    "task_name": task,
                    "trial_name": folder.name,
                    "started_at": f"2026-08-01T12:0{number}:00Z",
                    "finished_at": f"2026-08-01T12:0{number + 2}:00Z",
                    "agent_info": {"name": agent, "version": "1"},
                    "agent_result": used if task == "a" or agent == "codex" else {},
                    "verifier_result": {"rewards": {"reward": reward}},
                }
                write_json(folder / "result.json", content)
    return tmp_path / "jobs"


INFERRED = ("--benchmark", "infer", "--from", "harbor")


def test_cells_take_costs_with_them(cli: Cli, shifted: Path) -> None:
    result = cli("cells", shifted, *INFERRED, "--costs", "-f", "json")
    rows = {row["condition"]: row for row in json.loads(result.out)["rows"] if row["attempts"]}
    codex, opus = rows["codex"], rows["opus"]
    assert (codex["attempts"], codex["successful_tasks"], codex["cost_total"]) == (4, 2, 2.0)
    assert (codex["cost_per_success"], codex["cost_median"], codex["cost_unknown"]) == (1.0, 0.5, 0)
    assert (codex["seconds_median"], codex["seconds_per_success"]) == (120.0, 240.0)
    assert (opus["cost_unknown"], opus["cost_total"], opus["cost_total_known"]) == (2, None, 1.0)
    assert (opus["successful_tasks"], opus["cost_per_success"]) == (0, None)
    text = cli("cells", shifted, *INFERRED, "--costs").out
    assert "USD/success" in text
    assert "divided by the tasks that succeeded at least once" in text
    assert "unknown of 8 attempts: cost in 2" in text
    plain = cli("cells", shifted, *INFERRED, "-f", "json").out
    assert "cost" not in plain
    bare = [{k: v for k, v in row.items() if not k.startswith(("cost", "seconds", "tokens"))}
            for row in json.loads(result.out)["rows"]]  # fmt: skip
    without = [
        {key: value for key, value in row.items() if key not in {"attempts", "successful_tasks"}}
        for row in bare
    ]
    assert without == json.loads(plain)["rows"]


def test_records_may_carry_their_costs(cli: Cli, tmp_path: Path) -> None:
    line = {"uid": "t", "site": "cart", "condition": "plain", "success": True, "steps": 3}
    line |= {"skill_calls": 0, "skill_failures": 0, "cost": 0.25}
    file = tmp_path / "run.jsonl"
    file.write_text(json.dumps(line))
    run = cli("cells", file, "--benchmark", "infer", "--costs", "-f", "csv")
    assert "0.25" in run.out
    del line["cost"]
    file.write_text(json.dumps(line))
    run = cli("cells", file, "--benchmark", "infer", "--costs")
    assert (run.code, run.out) == (2, "")
    assert "no record says what it cost" in run.err
    assert "--extra keep" in run.err
    run = cli("cells", file, "--benchmark", "infer", "--costs", "--engine", "spark")
    assert "--costs is for --engine polars" in run.err


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet"])
def test_costs_survive_an_export_that_keeps_them(
    cli: Cli, shifted: Path, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    arguments = ("--benchmark", "infer", "--costs", "-f", "csv")
    run = cli("export", shifted, "--benchmark", "infer", "-o", file)
    assert "such as score and cost, is left out; --extra keep exports it" in run.err
    run = cli("cells", file, *arguments)
    assert run.code == 2
    assert "export them again with --extra keep" in run.err
    run = cli("export", shifted, "--benchmark", "infer", "--extra", "keep", "-o", file, "--force")
    assert "left out" not in run.err
    assert cli("cells", file, *arguments).out == cli("cells", shifted, *arguments).out


def test_folders_of_other_tools_are_no_entries(cli: Cli, shifted: Path) -> None:
    """Such folders are full of .json files, which entries are, too."""
    for arguments in (("leaderboard", shifted), ("shift", shifted / "codex", shifted / "opus")):
        inferred = cli(*arguments, "--benchmark", "infer", "-f", "csv")
        assert inferred.code == 0, inferred.err
        assert "read as harbor" in inferred.err
        assert inferred.out == cli(*arguments, *INFERRED, "-f", "csv").out
        run = cli(*arguments)
        assert run.code == 2
        assert "use benchmark='infer' (--benchmark infer)" in run.err


def test_every_command_over_runs_takes_from(cli: Cli, shifted: Path, tmp_path: Path) -> None:
    anchor = tmp_path / "anchor.json"
    both = ("--base", "codex", "--treatment", "opus")
    for arguments in (
        ("leaderboard", shifted),
        ("shift", shifted / "codex", shifted / "opus"),
        ("compare", shifted, *both),
        ("calibrate", "--make", shifted / "codex", "-o", anchor),
        ("calibrate", shifted / "codex", "--anchor", anchor),
    ):
        run = cli(*arguments, *INFERRED)
        assert run.code == 0, (arguments, run.err)
        wrong = cli(*arguments, "--benchmark", "infer", "--from", "harbour", "--force") if (
            "-o" in arguments
        ) else cli(*arguments, "--benchmark", "infer", "--from", "harbour")  # fmt: skip
        assert "did you mean 'harbor'?" in wrong.err
    run = cli("leaderboard", "--published", "--from", "harbor")
    assert run.code == 2
    assert "--from is for records" in run.err


def test_a_metric_of_the_tool_may_be_compared(cli: Cli, shifted: Path) -> None:
    sides = ("--base", "codex", "--treatment", "codex")
    run = cli("compare", shifted, *sides, *INFERRED, "--metric", "cost", "-f", "json")
    assert json.loads(run.out)["metrics"]["cost"]["overall"]["base"] == 0.5


def test_the_first_job_is_the_base_whatever_the_two_are_called(cli: Cli, tmp_path: Path) -> None:
    for name, reward in (("zebra", 0.0), ("ape", 1.0)):
        job(tmp_path / name, {"a": [reward], "b": [reward], "c": [reward]})
    paths = [tmp_path / "zebra", tmp_path / "ape"]
    content = json.loads(cli("compare", *paths, "--benchmark", "infer", "-f", "json").out)
    assert (content["base"], content["treatment"]) == ("zebra", "ape")
    assert content["metrics"]["SR"]["overall"]["lift"] == 100
    back = json.loads(cli("compare", *paths[::-1], "--benchmark", "infer", "-f", "json").out)
    assert back["metrics"]["SR"]["overall"]["lift"] == -100


def test_jobs_of_one_name_are_told_apart_by_their_paths(cli: Cli, tmp_path: Path) -> None:
    for folder, reward in (("z", 0.0), ("a", 1.0)):
        job(tmp_path / folder / "job", {"a": [reward], "b": [reward]})
    paths = [tmp_path / "z" / "job", tmp_path / "a" / "job"]
    content = json.loads(cli("compare", *paths, "--benchmark", "infer", "-f", "json").out)
    assert (content["base"], content["treatment"]) == tuple(f"{path} job" for path in paths)
    assert content["pairs"] == 2


def test_two_jobs_that_differ_in_their_skill_say_why_nothing_pairs(cli: Cli, jobs: Path) -> None:
    """The skill is the site, so that with and without it have no cell in common."""
    run = cli("compare", jobs / "old", jobs / "new", "--benchmark", "infer")
    assert run.code == 0
    assert "nothing pairs, although 3 trials of old" in run.err
    assert "site 'all' in old" in run.err
    assert "/ 'tables' in new with" in run.err
    assert "lift --with A --without B" in run.err
    lift = cli("lift", "--with", jobs / "new", "--without", jobs / "old", "-f", "json")
    assert json.loads(lift.out)["composite"]["cases"] == 2


def test_a_file_of_no_format_is_not_its_folder(cli: Cli, tmp_path: Path) -> None:
    grading = tmp_path / "iteration-1" / "eval-1" / "with_skill" / "grading.json"
    write_json(grading, {"summary": {"pass_rate": 1.0, "passed": 1, "failed": 0, "total": 1}})
    scores = tmp_path / "iteration-1" / "s.csv"
    scores.write_text("a,b\n1,2\n")
    assert cli("check", scores.parent, "--benchmark", "infer").code == 0
    run = cli("lift", scores, "--from", "skill-creator")
    assert (run.code, run.out) == (2, "")
    assert f"{scores}: file: is no file of the skill-creator" in run.err
