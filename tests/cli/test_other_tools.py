"""Another tool's results on the command line: recognised and said, forced, damaged, and on their way out again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import skillshift_frames as sf
from tests.readers.tools.harbor_files import job, trajectory

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
