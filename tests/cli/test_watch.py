"""``table --watch``: drawn again while a sweep writes; half a line is said there, and refused everywhere else."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.readers.conftest import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.conftest import Cli

    Watch = Callable[..., "Watched"]

pty = pytest.importorskip("pty", reason="there are no such terminals on Windows")

#: What a terminal is told rather than shown: where the cursor goes, which colour comes.
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SHOW_CURSOR = "\x1b[?25h"
PATIENCE = 30.0  # of a test, on a machine that is busy


class Watched:
    """A command on a terminal of its own, and all that it has drawn."""

    def __init__(self, *arguments: object, env: dict[str, str] | None = None) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "skillshift_frames", "table", *map(str, arguments)],
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "200", "LINES": "50"} | (env or {}),
        )
        os.close(theirs)
        self.raw = ""
        self._read = 0

    def drawn(self) -> str:
        """Give what was drawn since the last call of `until`, in words."""
        return CONTROLS.sub("", self.raw[self._read :]).replace("\r", "")

    def until(self, words: str) -> str:
        """Wait until something is drawn, and give all that was up to then."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.drawn():
            assert time.monotonic() < deadline, f"{words!r} is not in:\n{self.drawn()}"
            assert self._more(), f"ended without {words!r}:\n{self.drawn()}"
        while select.select([self._ours], [], [], 0.3)[0] and self._more():
            pass  # the rest of the same picture
        drawn = self.drawn()
        self._read = len(self.raw)
        return drawn

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        while self._more():
            pass
        return self.process.wait(PATIENCE)

    def said(self) -> bytes:
        """Give what it said on stderr, once it has ended."""
        assert self.process.stderr
        return self.process.stderr.read()

    def _more(self) -> bool:
        if not select.select([self._ours], [], [], 1.0)[0]:
            return self.process.poll() is None
        try:
            piece = os.read(self._ours, 1 << 16)
        except OSError:  # Linux's way to say that the other side is closed
            return False
        self.raw += piece.decode(errors="replace")
        return bool(piece)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)
        assert self.process.stderr
        self.process.stderr.close()


@pytest.fixture
def watch() -> Iterator[Watch]:
    started: list[Watched] = []

    def start(*arguments: object, env: dict[str, str] | None = None) -> Watched:
        started.append(
            Watched("--watch", "--interval", "0.1", "--benchmark", "infer", *arguments, env=env)
        )
        return started[-1]

    yield start
    for one in started:
        one.close()


def line(number: int, **fields: object) -> str:
    return json.dumps(record(f"task-{number}", **fields))


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


def test_number_rises_and_half_a_line_is_said(watch: Watch, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{line(1, success=True)}\n")
    screen = watch(path)
    assert "100.00" in screen.until("1/1 tasks scored in 1 file")
    whole = line(2, success=False)
    append(path, whole[:40])
    drawn = screen.until("Ctrl-C ends")
    assert f"last line of {path} is not finished; not counted yet (line 2)" in drawn
    assert "1/1 tasks scored" in drawn
    code, out, err = cli("table", path, "--benchmark", "infer")
    assert (code, out) == (2, "")
    assert "a.jsonl:2: " in err
    append(path, whole[40:])
    drawn = screen.until("2/2 tasks scored")  # whole, also without a newline behind it
    assert "50.00" in drawn
    assert "not finished" not in drawn
    append(path, f"\n{line(3)}\n")
    screen.until("3/3 tasks scored")
    assert screen.stop() == 130
    assert "SR" in CONTROLS.sub("", screen.raw).rpartition("3/3 tasks scored")[2]  # it stays
    assert screen.raw.rstrip().endswith(SHOW_CURSOR)
    assert screen.said() == b"interrupted\n"


def test_many_pieces_end_at_what_the_command_prints_once(
    watch: Watch, tmp_path: Path, cli: Cli
) -> None:
    path = tmp_path / "a.jsonl"
    text = "".join(f"{line(n, success=n % 3 == 0, steps=n)}\n" for n in range(60))
    screen = watch(path)
    screen.until("waiting: ")
    for start in range(0, len(text), 997):
        append(path, text[start : start + 997])
        time.sleep(0.02)
    screen.until("60/60 tasks scored")
    assert screen.stop() == 130
    plain = CONTROLS.sub("", screen.raw).replace("\r", "")
    for wanted in cli("table", path, "--benchmark", "infer").out.splitlines():
        assert wanted in plain


def test_files_that_come_later_are_picked_up(watch: Watch, tmp_path: Path) -> None:
    screen = watch(f"{tmp_path}/*.jsonl", tmp_path / "deep")
    drawn = screen.until("Ctrl-C ends")
    assert "the pattern matches no file" in drawn
    assert "no such file or folder" in drawn
    (tmp_path / "a.jsonl").write_text(f"{line(1)}\n")
    screen.until("1/1 tasks scored in 1 file")
    (tmp_path / "deep" / "b").mkdir(parents=True)
    (tmp_path / "deep" / "b" / "per_task.jsonl").write_text(f"{line(1)}\n{line(2)}\n")
    screen.until("in 2 files")
    (tmp_path / "c.jsonl").touch()
    screen.until("c.jsonl: no record yet")


def test_faults_are_shown_until_they_are_mended(watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{line(1)}\n")
    screen = watch(path)
    screen.until("1/1 tasks scored")
    append(path, f"{line(2, steps='3')}\n")
    drawn = screen.until("Ctrl-C ends")
    assert "fault: " in drawn
    assert f'{path}:2: steps: "3" is a string' in drawn
    assert "the table is that of before" in drawn
    path.write_text(f"{line(1)}\n{line(2)}\n")
    assert "fault" not in screen.until("2/2 tasks scored").rpartition("Ctrl-C ends")[2]
    path.unlink()
    screen.until("no such file or folder")
    path.write_text(f"{line(1)}\n")
    screen.until("1/1 tasks scored")


def test_labels_are_inert(watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m[bold].jsonl"
    label = "\x1b]0;title\x07\u202e[red]x[/]"
    path.write_text(f"{line(1, run=label)}\n")
    screen = watch(path)
    screen.until("1/1 tasks scored")
    append(path, "{")
    screen.until("is not finished")
    screen.stop()
    assert r"\x1b]0;title\x07\u202e[red]x[/]" in screen.raw
    assert r"a\x1b[31m[bold].jsonl" in screen.raw
    assert "\x1b[31m" not in screen.raw
    assert "\x1b]0" not in screen.raw


def test_no_color_is_obeyed(watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{line(1)}\n")
    plain, colored = watch(path, env={"NO_COLOR": "1"}), watch(path)
    for screen in (plain, colored):
        screen.until("1/1 tasks scored")
        screen.stop()
    assert re.search(r"\x1b\[[0-9;]*3\dm", plain.raw) is None
    assert "\x1b[1m" in colored.raw


def test_label_of_a_file_that_is_not_there_yet(watch: Watch, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    screen = watch("--label", f"ASI={path}")
    screen.until("no such file")
    path.write_text(f"{line(1)}\n")
    assert "ASI" in screen.until("1/1 tasks scored")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--watch", "a.jsonl"], "--watch needs a terminal on standard output"),
        (["--watch", "a.jsonl", "-o", "x.txt"], "-o: --watch draws on the terminal"),
        (["--watch", "a.jsonl", "--format", "csv"], "--format: --watch draws on the terminal"),
        (["--watch", "a.jsonl", "--engine", "spark"], "--engine spark: --watch draws"),
        (["--watch", "a.jsonl", "--no-unique"], "--no-unique: --watch draws"),
        (["--watch", "a.jsonl", "--from", "harbor"], "--watch is for files of records"),
        (["--watch", "-"], "-: --watch is for files, which can be read again"),
        (["--watch", "a.jsonl", "--interval", "0"], "--interval 0: seconds between"),
        (["--watch", "a.jsonl", "--interval", "nan"], "--interval nan: seconds between"),
        (["--watch"], "no file was named"),
        (["a.jsonl", "--interval", "2"], "--interval says how often --watch looks"),
    ],
)
def test_what_cannot_be_watched_is_refused(cli: Cli, arguments: list[str], said: str) -> None:
    code, out, err = cli("table", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {said}")


def test_dumb_terminal_is_refused(watch: Watch, tmp_path: Path) -> None:
    screen = watch(tmp_path, env={"TERM": "dumb"})
    assert screen.process.wait(PATIENCE) == 2
    assert b"needs a terminal" in screen.said()
