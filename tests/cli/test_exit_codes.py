"""0: fine. 1: the answer is no. 2: bad input or usage. 70: a bug of ours. 130: interrupted."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, NoReturn

import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli, Shop, Spawn


def test_table_of_a_run_without_a_success_exits_0(
    cli: Cli, write_run: Callable[..., Path], record: Callable[..., dict[str, object]]
) -> None:
    path = write_run("asi", [record("gitlab", "src", "a"), record("gitlab", "tgt", "a")])
    result = cli("table", path, "--benchmark", "infer", "--format", "csv")
    assert result.code == 0
    assert result.out.splitlines()[1] == "asi,SR,0.0,0.0,0.0,0.0"


def test_check_of_a_run_without_faults_exits_0(cli: Cli, demo: list[Path]) -> None:
    assert cli("check", *demo).code == 0


def test_check_of_a_run_with_a_fault_exits_1(cli: Cli, shop: Shop) -> None:
    result = cli("check", shop.run)  # under the wrong benchmark
    assert result.code == 1
    assert f"{shop.run}:1: site: " in result.out


@pytest.mark.parametrize(("run", "code"), [("induced", 0), ("workflow", 1)])
def test_check_strict_exits_1_where_a_task_was_not_measured(
    cli: Cli, demo: list[Path], run: str, code: int
) -> None:
    path = next(path for path in demo if path.stem == run)
    assert cli("check", path).code == 0
    assert cli("check", "--strict", path).code == code


def test_check_strict_exits_1_for_a_warning(
    cli: Cli,
    write_run: Callable[..., Path],
    write_benchmark: Callable[..., Path],
    record: Callable[..., dict[str, object]],
) -> None:
    benchmark = write_benchmark("one", {"gitlab": 1}, ["tgt"])
    path = write_run("asi", [record("gitlab", "tgt", "skillshift.gitlab.v1.9")])
    assert cli("check", path, "--benchmark", benchmark).code == 0
    result = cli("check", path, "--benchmark", benchmark, "--strict")
    assert result.code == 1
    assert "1 warning" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabel"], "No such command 'tabel'"),
        (["table", "--bogus"], "No such option: --bogus"),
        (["table", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (["table", "nowhere/*.jsonl"], "nowhere/*.jsonl: the pattern matches no file"),
        (["table", "--errors", "ignore", "x"], "'ignore' is not one of"),
        (["table", "--label", "asi", "x"], "NAME=PATH"),
        (["table", "--benchmark", "nowhere.toml", "x"], "nowhere.toml"),
        (["export", "nowhere.jsonl"], "export needs -o FILE"),
        (["cells", "--null", "available", "x"], "--null"),
    ],
)
def test_a_mistake_of_the_caller_exits_2_and_is_named_on_stderr(
    cli: Cli, arguments: list[str], message: str
) -> None:
    result = cli(*arguments)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


@pytest.mark.parametrize("command", ["table", "cells"])
def test_nothing_is_computed_from_a_file_with_faults(cli: Cli, shop: Shop, command: str) -> None:
    result = cli(command, shop.run)
    assert result.code == 2
    assert result.out == ""
    assert f"error: {shop.run}:1: site: " in result.err
    assert "Traceback" not in result.err


def test_a_bug_exits_70_with_a_traceback_on_stderr_and_nothing_on_stdout(
    cli: Cli, demo: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> NoReturn:
        msg = "off by one"
        raise RuntimeError(msg)

    monkeypatch.setattr(sf, "cells", broken)
    result = cli("table", *demo)
    assert result.code == 70
    assert result.out == ""
    assert result.err.startswith("Traceback (most recent call last):\n")
    assert "RuntimeError: off by one" in result.err
    assert "This is a bug in skillshift-frames" in result.err


def test_an_interrupt_exits_130(
    cli: Cli, demo: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(sf, "read_tally", interrupted)
    assert cli("table", *demo) == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["table", "-"],
        ["cells", "-"],
        ["check", "-"],
        ["compare", "-", "--base", "a", "--treatment", "b"],
        ["headroom", "/dev/stdin"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_control_c_while_reading_standard_input_exits_130(
    demo: list[Path], arguments: list[str]
) -> None:
    # The handler is set by hand, because a shell starts background jobs with SIGINT ignored.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from skillshift_frames.cli import main; main()"
    )
    command = [sys.executable, "-c", script, *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(demo[0].read_bytes())
        process.stdin.flush()
        while fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4) != b"\0" * 4:
            time.sleep(0.01)
        time.sleep(0.1)  # all is read, and it waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert process.stderr.read() == b"interrupted\n"
        assert process.stdout.read() == b""


def test_a_reader_that_has_seen_enough_is_no_error(
    write_run: Callable[..., Path], record: Callable[..., dict[str, object]]
) -> None:
    # More output than a pipe holds: head is gone before all of it is written.
    path = write_run("wide", [record("gitlab", f"c{i}", "a") for i in range(1000)])
    program = f"{sys.executable} -m skillshift_frames"
    script = f"set -o pipefail; {program} cells {path} --benchmark infer -f json | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{\n", b"")


@pytest.mark.parametrize("command", [["--version"], ["--help"], ["table"], ["cells"]])
def test_a_closed_pipe_is_no_error(spawn: Spawn, demo: list[Path], command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        files = [] if command[0].startswith("--") else demo
        assert spawn(*command, *files, stdout=writing) == (0, "", "")
    finally:
        os.close(writing)


def test_a_closed_pipe_does_not_change_the_answer(spawn: Spawn, shop: Shop) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert spawn("check", shop.run, stdout=writing).code == 1
    finally:
        os.close(writing)


def test_nobody_listening_on_stderr_is_no_error(spawn: Spawn, demo: list[Path]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = spawn("table", demo[0], "-f", "csv", stderr=writing)
        assert result.code == 0
        assert result.out.startswith("run,metric,")
    finally:
        os.close(writing)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")  # noqa: PTH110
def test_a_full_disk_is_said_and_no_bug(spawn: Spawn, demo: list[Path]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        result = spawn("table", demo[0], stdout=full.fileno())
    assert result.code == 2
    assert "No space left on device" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("closed", "message"), [(">&-", b"error: standard output is closed\n"), ("2>&-", b"")]
)
def test_a_closed_stream_is_no_bug(closed: str, message: bytes) -> None:
    script = f"{sys.executable} -m skillshift_frames table nowhere.jsonl {closed}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", message)
