"""``-o FILE``: the format from the suffix, nothing overwritten unasked, whole or not at all."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING

import polars as pl
import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli, Spawn

SUFFIXES = {
    ".txt": "text",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".json": "json",
    ".JSON": "json",
    "": "text",
}


@pytest.mark.parametrize(("suffix", "chosen"), SUFFIXES.items())
def test_the_suffix_says_the_format(
    cli: Cli, demo: list[Path], tmp_path: Path, suffix: str, chosen: str
) -> None:
    target = tmp_path / f"table{suffix}"
    result = cli("table", *demo, "-o", target)
    assert (result.code, result.out) == (0, "")
    assert target.read_text() == cli("table", *demo, "--format", chosen).out


def test_the_option_wins_over_the_suffix(cli: Cli, demo: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "table.txt"
    assert cli("table", *demo, "--format", "csv", "-o", target).code == 0
    assert target.read_text().startswith("run,metric,")


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("command", ["table", "cells", "check", "compare", "headroom"])
def test_an_unknown_suffix_is_refused(cli: Cli, tmp_path: Path, command: str) -> None:
    result = cli(command, "x.jsonl", "-o", tmp_path / "table.xlsx")
    assert result.code == 2
    assert "table.xlsx: no format is known by this suffix" in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test fail where a command reads anything."""
    for module, name in (
        (sf, "read_tasks"),
        (sf, "check_tasks"),
        (import_module("skillshift_frames.headroom"), "headroom"),
        (import_module("skillshift_frames.plan"), "plan"),
    ):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("the work was done"))


def read_plainly(path: Path) -> pl.DataFrame:
    """Read an export as somebody would who has Polars and not this package."""
    match path.suffix:
        case ".parquet":
            return pl.read_parquet(path)
        case ".arrow":
            return pl.read_ipc(path)
        case ".csv":
            return pl.read_csv(path, schema=sf.TASKS)
        case _:
            return pl.read_ndjson(path, schema=sf.TASKS)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow", ".jsonl", ".ndjson"])
def test_export_writes_what_can_be_read_again(
    cli: Cli, demo: list[Path], tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"runs{suffix}"
    assert cli("export", *demo, "-o", target).code == 0
    tasks = sf.read_tasks(demo)
    assert read_plainly(target).equals(tasks.sort("run", "site", "condition", "uid", "trial"))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".jsonl"])
def test_table_of_an_export_is_the_table_of_the_files(
    cli: Cli, demo: list[Path], tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"runs{suffix}"
    assert cli("export", *demo, "-o", target).code == 0
    assert cli("table", target).out == cli("table", *demo).out


@pytest.mark.usefixtures("no_work")
def test_export_refuses_an_unknown_suffix(cli: Cli, tmp_path: Path) -> None:
    result = cli("export", "x.jsonl", "-o", tmp_path / "runs.xlsx")
    assert result.code == 2
    assert ".parquet" in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "name"),
    [("table", "a.csv"), ("cells", "a.csv"), ("check", "a.csv"), ("export", "a.csv")],
)
def test_an_existing_file_is_replaced_only_with_force(
    cli: Cli, demo: list[Path], tmp_path: Path, command: str, name: str
) -> None:
    target = tmp_path / name
    target.write_text("precious")
    target.chmod(0o600)
    result = cli(command, demo[0], "-o", target)
    assert result.code == 2
    assert f"{target}: exists already; --force replaces it" in result.err
    assert target.read_text() == "precious"
    assert cli(command, demo[0], "-o", target, "--force").code == 0
    assert target.read_text() != "precious"
    assert target.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    "arguments",
    [
        *([command, "run.jsonl"] for command in ("table", "cells", "check", "export")),
        ["compare", "run.jsonl", "--gate"],
        ["headroom", "cards"],
        ["plan", "--baseline", 40, "--lift", 5],
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_is_in_the_way_is_found_out_before_the_work(
    cli: Cli, tmp_path: Path, arguments: list[object]
) -> None:
    (tmp_path / "a.csv").touch()
    result = cli(*arguments, "-o", tmp_path / "a.csv")
    assert result.code == 2
    assert "a.csv: exists already; --force replaces it" in result.err


@pytest.mark.parametrize("command", ["table", "export"])
def test_a_folder_that_is_not_there_is_named(
    cli: Cli, demo: list[Path], tmp_path: Path, command: str
) -> None:
    result = cli(command, *demo, "-o", tmp_path / "nowhere" / "a.csv")
    assert result.code == 2
    assert f"there is no folder {tmp_path / 'nowhere'}" in result.err


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_folder_is_no_file(cli: Cli, demo: list[Path], tmp_path: Path, force: list[str]) -> None:
    folder = tmp_path / "a.csv"
    folder.mkdir()
    result = cli("table", *demo, "-o", folder, *force)
    assert result.code == 2
    assert "is a folder" in result.err


def test_a_link_stays_and_the_file_behind_it_is_replaced(
    cli: Cli, demo: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "table.csv", tmp_path / "latest.csv"
    target.write_text("old")
    link.symlink_to(target)
    assert cli("table", *demo, "-o", link).code == 2
    assert target.read_text() == "old"
    assert cli("table", *demo, "-o", link, "--force").code == 0
    assert link.is_symlink()
    assert target.read_text() == cli("table", *demo, "-f", "csv").out


def test_a_file_that_only_ends_badly_leaves_nothing(
    cli: Cli, demo: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pl.DataFrame, "write_csv", lambda *_, **__: 1 / 0)
    assert cli("export", *demo, "-o", tmp_path / "a.csv").code == 70
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["/dev/stdout", "-"])
def test_stdout_has_a_name(
    cli: Cli, spawn: Spawn, demo: list[Path], tmp_path: Path, name: str
) -> None:
    table = cli("table", *demo).out
    assert spawn("table", *demo, "-o", name).out == table
    target = tmp_path / "log.txt"
    target.write_text("before\n")
    with target.open("ab") as file:  # as the shell's >>
        assert spawn("table", *demo, "-o", name, stdout=file.fileno()).code == 0
    assert target.read_text() == f"before\n{table}"


def test_a_run_killed_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old and whole")
    script = (
        "import sys, time; from skillshift_frames.render.files import replacing\n"
        "with replacing(sys.argv[1], force=True) as draft:\n"
        "    draft.write_text('ha'); print('half', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, target], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"half\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert target.read_text() == "old and whole"


def wait_for_a_draft(folder: Path, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not any(folder.glob(".runs.parquet.*")):
        pass


@pytest.mark.parametrize("delay", [0, 0.0005, 0.002, 0.01])
def test_an_export_killed_while_writing_leaves_the_old_file_or_the_new(
    demo: list[Path], tmp_path: Path, delay: float
) -> None:
    target = tmp_path / "runs.parquet"
    old, new = sf.read_tasks(demo[0]), sf.read_tasks(demo)
    sf.write_tasks(old, target)
    command = [sys.executable, "-m", "skillshift_frames", "export", *map(str, demo)]
    with subprocess.Popen(
        [*command, "-o", str(target), "--force"], stderr=subprocess.PIPE
    ) as process:
        wait_for_a_draft(tmp_path, process)
        time.sleep(delay)
        process.kill()
    left = pl.read_parquet(target).height
    assert left in {old.height, new.height}
    if process.returncode == 0:
        assert left == new.height
