"""Data on stdout, everything else on stderr; the same bytes whatever the terminal and the locale are."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from skillshift_frames.cli.output import wants_color

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli, Spawn

READABLE = ("text", "markdown", "latex", "html")
FORMATS = (*READABLE, "csv", "json")
ESCAPE = "\x1b"


@pytest.mark.parametrize("command", ["table", "cells", "check"])
@pytest.mark.parametrize("chosen", [*READABLE, "json"])
def test_a_format_with_room_for_notes_leaves_stderr_empty(
    cli: Cli, demo: list[Path], command: str, chosen: str
) -> None:
    result = cli(command, *demo, "--format", chosen)
    assert result.code == 0
    assert result.err == ""
    assert result.out.endswith("\n")


@pytest.mark.parametrize("command", ["table", "cells", "check"])
def test_csv_says_its_notes_on_stderr(cli: Cli, demo: list[Path], command: str) -> None:
    result = cli(command, *demo, "--format", "csv")
    assert "note" not in result.out
    assert "note: reference: 2,130 of 2,130 tasks scored\n" in result.err
    assert "note: workflow: 2,124 of 2,130 tasks scored, 4 errored, 2 missing" in result.err


def test_hints_and_warnings_are_said_on_stderr(
    cli: Cli,
    write_run: Callable[..., Path],
    write_benchmark: Callable[..., Path],
    record: Callable[..., dict[str, Any]],
) -> None:
    benchmark = write_benchmark("pair", {"gitlab": 1}, ["src", "tgt"])
    one = write_run("one", [record("gitlab", "src", "skillshift.gitlab.v1.9")])
    two = write_run("two", [record("gitlab", "tgt", "skillshift.gitlab.v1.9")])
    result = cli("table", one, two, one, "--benchmark", benchmark, "--format", "json")
    assert result.code == 0
    assert result.out.startswith("{\n")
    assert result.out.endswith("\n}\n")
    hint, named_twice, version = sorted(result.err.splitlines())
    assert hint.startswith("hint: one, two have no cell in common and look like shards of one run")
    assert named_twice == f"note: {one}: named 2 times (the same path again); read once"
    assert version.startswith(f"note: {two}:1: warning: uid: ")


def test_export_says_what_it_wrote_on_stderr(cli: Cli, demo: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "all.parquet"
    assert cli("export", *demo, "-o", target) == (0, "", f"{target}: 6,388 records of 3 runs\n")
    single = tmp_path / "one.csv"
    assert cli("export", demo[0], "-o", single).err == f"{single}: 2,130 records of 1 run\n"


@pytest.mark.parametrize(
    ("variables", "terminal", "color"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": ""}, False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_no_color_wins_over_force_color_over_a_dumb_terminal(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], *, terminal: bool, color: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert wants_color() is color


def test_color_adds_styles_and_changes_nothing_else(
    cli: Cli, demo: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = cli("table", *demo).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    colored = cli("table", *demo).out
    assert ESCAPE not in plain
    assert ESCAPE in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain


@pytest.mark.parametrize("chosen", [f for f in FORMATS if f != "text"])
def test_only_text_is_ever_colored(
    cli: Cli, demo: list[Path], monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert ESCAPE not in cli("table", *demo, "--format", chosen).out


def test_a_file_is_never_colored(
    cli: Cli, demo: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert cli("table", *demo, "-o", tmp_path / "table.txt").code == 0
    assert ESCAPE not in (tmp_path / "table.txt").read_text()


def read_terminal(command: list[str], env: dict[str, str]) -> str:
    """Run a command whose stdout is a terminal, 40 columns wide by its own account, and give what it wrote there."""
    ours, its = pty.openpty()
    with subprocess.Popen(command, stdout=its, stderr=subprocess.PIPE, env=env) as process:
        os.close(its)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        os.close(ours)
        assert process.stderr
        assert process.stderr.read() == b""
        assert process.wait() == 0
    return b"".join(chunks).decode().replace("\r\n", "\n")


@pytest.mark.parametrize(("term", "color"), [("xterm", True), ("dumb", False)])
def test_a_terminal_gets_color_and_the_whole_line(
    cli: Cli, demo: list[Path], term: str, *, color: bool
) -> None:
    plain = cli("table", *demo).out
    command = [sys.executable, "-m", "skillshift_frames", "table", *map(str, demo)]
    shown = read_terminal(command, {**os.environ, "TERM": term, "COLUMNS": "40"})
    assert (ESCAPE in shown) is color
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == plain


@pytest.mark.parametrize(
    "env",
    [
        {"TERM": "dumb", "FORCE_COLOR": "0"},
        {"COLUMNS": "40", "TERM": "xterm-256color"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
    ],
    ids=lambda env: " ".join(f"{name}={value}" for name, value in env.items()),
)
def test_piped_bytes_depend_on_neither_terminal_nor_locale(
    cli: Cli, spawn: Spawn, demo: list[Path], env: dict[str, str]
) -> None:
    plain = cli("table", *demo)
    assert spawn("table", *demo, env=env) == plain
    assert plain.err == ""
    assert "×" in plain.out


@pytest.mark.parametrize("arguments", [["--help"], ["table", "--help"], ["table", "né–nt"]])
def test_help_and_errors_work_where_only_ascii_can_be_shown(
    spawn: Spawn, arguments: list[str]
) -> None:
    result = spawn(*arguments, env={"PYTHONIOENCODING": "ascii"})
    assert result.code == (2 if arguments[-1] == "né–nt" else 0)
    assert "Traceback" not in result.err


def test_nothing_is_cut(cli: Cli, demo: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    label = "a-label-as-long-as-anybody-could-ever-wish-for-" * 4
    result = cli("table", "--label", f"{label}={demo[0]}")
    assert label in result.out
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) > len(label)
