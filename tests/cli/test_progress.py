"""The bar: on a terminal, on stderr, for work that takes long, and gone when it is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from skillshift_frames import progress
from tests.readers.conftest import record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pty = pytest.importorskip("pty", reason="there are no such terminals on Windows")

RUN = (
    "import sys; from skillshift_frames.cli import app, progress; progress._PATIENCE = {patience}; "
    "sys.exit(app.run(sys.argv[1:]))"
)
SHOW = b"\x1b[?25h"  # the cursor, which a bar hides


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run that is large enough to be read in bulk."""
    lines = (json.dumps(record(f"task-{n}", steps=n % 7)) for n in range(9_000))
    path = tmp_path / "asi.jsonl"
    path.write_text("\n".join(lines))
    return path


def read_all(terminal: int) -> bytes:
    def pieces() -> Iterator[bytes]:
        try:
            while piece := os.read(terminal, 1 << 16):
                yield piece
        except OSError:  # Linux's way to say that the other side is closed
            return

    return b"".join(pieces())


def on_a_terminal(
    *arguments: object, patience: float = 0, environment: dict[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Run a command with stderr on a terminal; gives exit code, stdout, and what the terminal got."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", RUN.format(patience=patience), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"} | (environment or {}),
    ) as process:
        os.close(theirs)
        shown = read_all(ours)
        os.close(ours)
        assert process.stdout
        out = process.stdout.read()
    return process.returncode, out, shown


@pytest.mark.parametrize("command", [["table"], ["table", "--ci", "--resamples", "100"], ["check"]])
def test_bar_shows_what_was_read_and_leaves_nothing(path: Path, command: list[str]) -> None:
    arguments = [*command, path, "--benchmark", "infer"]
    code, out, shown = on_a_terminal(*arguments)
    quiet = subprocess.run(
        [sys.executable, "-m", "skillshift_frames", *map(str, arguments)],
        capture_output=True,
        check=False,
    )
    assert (code, out) == (quiet.returncode, quiet.stdout)
    assert quiet.stderr == b""
    size = path.stat().st_size / 1e6
    assert f"reading {size:,.0f} of {size:,.0f} MB".encode() in shown
    assert b"100%" in shown
    assert (b"intervals" in shown) is ("--ci" in command)
    # Its last line is wiped, and the cursor is back.
    assert shown.rstrip().endswith((b"\x1b[2K", SHOW))
    assert SHOW in shown


def test_short_work_shows_no_bar(path: Path) -> None:
    assert on_a_terminal("table", path, "--benchmark", "infer", patience=60)[2] == b""


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, {"TERM": "unknown"}, {"TTY_INTERACTIVE": "0"}]
)
def test_terminal_that_cannot_draw_has_no_bar(path: Path, environment: dict[str, str]) -> None:
    assert on_a_terminal("table", path, "--benchmark", "infer", environment=environment)[2] == b""


def test_what_is_said_meanwhile_is_not_broken_into_lines(path: Path) -> None:
    lines = path.read_text().splitlines()
    odd = record("skillshift.gitlab.v2.77777777")
    path.write_text("\n".join([*lines, json.dumps(odd)]))
    _, _, shown = on_a_terminal(
        "table", path, "--benchmark", "infer", environment={"COLUMNS": "40"}
    )
    plain = b'"skillshift.gitlab.v2.77777777" is of the other site version than condition "src"'
    assert plain in shown


def test_full_disk_behind_stderr_does_not_cost_the_answer(path: Path) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "skillshift_frames",
                "table",
                path,
                "--no-unique",
                "--benchmark",
                "infer",
            ],
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
        )
    assert done.returncode == 0
    assert b"asi" in done.stdout


def test_errors_stay_readable_and_the_bar_goes(path: Path) -> None:
    path.write_text(path.read_text().replace('"steps": 3', '"steps": "3"', 1))
    code, out, shown = on_a_terminal("table", path, "--benchmark", "infer")
    assert (code, out) == (2, b"")
    assert b'asi.jsonl:4: steps: "3" is a string' in shown.replace(b"\r\n", b"")


def test_export_shows_it_too(path: Path) -> None:
    code, _, shown = on_a_terminal("export", path, "-o", path.with_suffix(".parquet"))
    assert code == 0
    assert b"reading" in shown
    assert b"9,000 records" in shown.rpartition(SHOW)[2]


def test_nobody_is_told_who_did_not_ask() -> None:
    told: list[tuple[str, int, int]] = []
    progress.start("counting", 2)(1)
    with progress.reported_to(lambda *report: told.append(report)):
        advance = progress.start("counting", 2)
        advance(1)
    advance(1)
    progress.start("counting", 2)
    assert told == [("counting", 0, 2), ("counting", 1, 2), ("counting", 2, 2)]


def test_every_byte_is_counted_once(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In bulk, and of the run that is not for that by the general reader again."""
    import skillshift_frames as sf
    from skillshift_frames.readers import bulk

    monkeypatch.setattr(bulk, "WORTH_IT", 0)
    odd = tmp_path / "odd.jsonl"
    odd.write_text("\n".join(json.dumps(record(f"t{n}", trial=1 + n % 2)) for n in range(3_000)))
    told: list[tuple[str, int, int]] = []
    with progress.reported_to(lambda *report: told.append(report)):
        sf.read_tally([path, odd], benchmark="infer")
    sizes = [path.stat().st_size, odd.stat().st_size]
    assert [report for report in told if report[1] == report[2] and report[0] == "reading"] == [
        ("reading", sum(sizes), sum(sizes)),
        ("reading", sizes[1], sizes[1]),
    ]
