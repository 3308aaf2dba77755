"""Which files are read, and how: kinds, compression, folders, globs, links, pipes."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa  # noqa: TID253 - the test writes what pyarrow reads
import pytest

import skillshift_frames as sf
from tests.readers.conftest import faults, record, texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.readers.conftest import Write


def _lines(count: int) -> bytes:
    return b"".join(json.dumps(record(f"u{index}")).encode() + b"\n" for index in range(count))


def _zstd(content: bytes) -> bytes:
    compressed: bytes = pa.compress(content, codec="zstd", asbytes=True)
    return compressed


_COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": _zstd}


def _uids(*paths: str) -> list[str]:
    return sf.read_tasks(paths)["uid"].to_list()


# Kinds


@pytest.mark.parametrize(
    "name", ["x.jsonl", "x.ndjson", "X.JSONL", "a.b.jsonl", ".x.jsonl", "x y é.jsonl", "-x.jsonl"]
)
def test_json_lines_are_known_by_their_suffix(write: Write, name: str) -> None:
    write(name, record("a"))
    assert _uids(name) == ["a"]


@pytest.mark.parametrize("suffix", ["jsonl", "ndjson"])
@pytest.mark.parametrize("kind", _COMPRESS)
def test_compressed_lines_give_what_plain_ones_give(write: Write, suffix: str, kind: str) -> None:
    content = _lines(2_000)
    write("plain.jsonl", content, end=b"")
    write(f"x.{suffix}.{kind}", _COMPRESS[kind](content), end=b"")
    expected = sf.read_tasks("plain.jsonl").drop("run")
    assert sf.read_tasks(f"x.{suffix}.{kind}").drop("run").equals(expected)


@pytest.mark.parametrize("kind", _COMPRESS)
def test_every_member_of_a_compressed_file_is_read(write: Write, kind: str) -> None:
    compress, content = _COMPRESS[kind], _lines(2_000)
    parts = [content[:1], content[1:70_000], b"", content[70_000:]]
    write(f"x.jsonl.{kind}", b"".join(map(compress, parts)), end=b"")
    assert _uids(f"x.jsonl.{kind}") == [f"u{index}" for index in range(2_000)]


@pytest.mark.parametrize("kind", _COMPRESS)
@pytest.mark.parametrize("kept", [0.5, 0.9, 0.999])
def test_a_stream_cut_short_is_named_with_the_line_where_reading_stopped(
    write: Write, kind: str, kept: float
) -> None:
    whole = _COMPRESS[kind](_lines(20_000))
    write(f"x.jsonl.{kind}", whole[: int(len(whole) * kept)], end=b"")
    valid, found = sf.check_tasks(f"x.jsonl.{kind}")
    assert found.select("path", "field", "rule").rows() == [
        (f"x.jsonl.{kind}", "file", "compression")
    ]
    stopped = found["line"].item()
    assert valid["uid"].to_list() == [f"u{index}" for index in range(stopped - 1)]
    assert 20_000 * (kept - 0.2) < stopped < 20_000
    message = found["message"].item()
    assert message.startswith(f"the .{kind} stream is cut short or damaged: ")
    assert message.endswith("; nothing after it was read")


def test_a_damaged_stream_is_named_and_other_files_are_still_checked(write: Write) -> None:
    damaged = bytearray(gzip.compress(_lines(3_000)))
    damaged[-5:] = (
        b"wrong"  # the checksum of all lines: each is a record, and together they are not the file
    )
    write("x.jsonl.gz", bytes(damaged), end=b"")
    write("y.jsonl", record(steps=-1))
    first, second = faults("x.jsonl.gz", "y.jsonl")
    assert (first.path, first.rule, first.line) == ("x.jsonl.gz", "compression", 3_001)
    assert "CRC check failed" in first.message
    assert second.path == "y.jsonl"


@pytest.mark.parametrize("kind", _COMPRESS)
def test_what_follows_a_stream_must_be_one(write: Write, kind: str) -> None:
    write(f"x.jsonl.{kind}", _COMPRESS[kind](_lines(3_000)) + b"garbage", end=b"")
    (fault,) = faults(f"x.jsonl.{kind}")
    assert fault.rule == "compression"
    assert fault.line is not None
    assert fault.line > 1_000


@pytest.mark.parametrize("kind", _COMPRESS)
def test_a_plain_file_that_is_named_like_a_compressed_one_is_a_fault(
    write: Write, kind: str
) -> None:
    write(f"x.jsonl.{kind}", _lines(3), end=b"")
    (fault,) = faults(f"x.jsonl.{kind}")
    assert (fault.line, fault.field, fault.rule) == (1, "file", "compression")


@pytest.mark.parametrize("kind", _COMPRESS)
def test_a_compressed_file_that_is_named_like_a_plain_one_is_a_fault(
    write: Write, kind: str
) -> None:
    write("x.jsonl", _COMPRESS[kind](_lines(3)), end=b"")
    assert faults("x.jsonl")[0].rule == "utf-8"
    assert sf.check_tasks("x.jsonl")[0].is_empty()


@pytest.mark.parametrize("kind", _COMPRESS)
def test_a_compressed_file_of_nothing_is_an_empty_file(write: Write, kind: str) -> None:
    write(f"x.jsonl.{kind}", _COMPRESS[kind](b""), end=b"")
    assert [fault.rule for fault in faults(f"x.jsonl.{kind}")] == ["empty-file"]


@pytest.mark.parametrize("kind", ["a Parquet", "an Arrow"])
def test_a_file_that_is_named_like_a_frame_and_is_not_is_a_fault(write: Write, kind: str) -> None:
    name = f"x.{kind.split()[1].lower()}"
    write(name, _lines(3), end=b"")
    write("y.jsonl", record(steps=-1))
    first, second = faults(name, "y.jsonl")
    assert (first.line, first.field, first.rule) == (None, "file", "unreadable")
    assert str(first).startswith(f"{name}: file: is not {kind} file that can be read: ")
    assert second.path == "y.jsonl"


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_of_a_frame_cut_short_is_a_fault(write: Write, suffix: str) -> None:
    write("x.jsonl", _lines(100), end=b"")
    sf.write_tasks(sf.read_tasks("x.jsonl"), f"x.{suffix}")
    whole = Path(f"x.{suffix}").read_bytes()
    write(f"y.{suffix}", whole[: len(whole) // 2], end=b"")
    assert [fault.rule for fault in faults(f"y.{suffix}")] == ["unreadable"]


@pytest.mark.parametrize(
    "name",
    [
        "x.json",
        "x.csv",
        "x",
        "x.gz",
        "x.jsonl.bz2",
        "x.jsonl.gz.zst",
        "x.parquet.gz",
        "x.arrow.gz",
        "jsonl",
        ".jsonl",
    ],
)
def test_an_unknown_kind_of_file_is_an_error(write: Write, name: str) -> None:
    write(name, record())
    with pytest.raises(sf.InputError) as caught:
        sf.read_tasks(name)
    assert str(caught.value) == (
        f"{name}: unknown kind of file; .jsonl, .ndjson (also .gz, .zst), .parquet or .arrow is needed "
        "(records from elsewhere: pipe JSON lines to -)"
    )


def test_a_name_that_no_table_could_show_is_an_error(folder: Path) -> None:
    path = os.fsdecode(os.fsencode(folder) + b"/\xff.jsonl")
    with open(path, "wb") as file:  # noqa: PTH123 - bytes that are no text
        file.write(_lines(1))
    with pytest.raises(sf.InputError, match="the name is not UTF-8") as caught:
        sf.read_tasks(path)
    assert str(caught.value).isprintable()


# Paths that name nothing


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("x.jsonl", "x.jsonl: no such file or folder"),
        ("no/such/x.parquet", "no/such/x.parquet: no such file or folder"),
        ("", ": no such file or folder"),
        ("x\0.jsonl", "x\0.jsonl: no such file or folder"),
        ("*.jsonl", "*.jsonl: the pattern matches no file"),
        ("**/*.jsonl", "**/*.jsonl: the pattern matches no file"),
        ("run[1].jsonl", "run[1].jsonl: the pattern matches no file"),
    ],
)
@pytest.mark.parametrize("read", [sf.read_tasks, sf.check_tasks, sf.scan_tasks])
def test_a_path_that_names_nothing_is_an_error(
    read: Callable[[str], object], path: str, said: str
) -> None:
    with pytest.raises(sf.InputError) as caught:
        read(path)
    assert str(caught.value) == said


def test_no_path_at_all_is_an_error() -> None:
    with pytest.raises(sf.InputError, match="no file was named"):
        sf.read_tasks([])


def test_one_missing_file_stops_everything(write: Write) -> None:
    write("a.jsonl", record())
    with pytest.raises(sf.InputError, match=r"^b\.jsonl: no such file"):
        sf.read_tasks(["a.jsonl", "b.jsonl"])


def test_a_broken_link_is_named_as_one(folder: Path) -> None:
    (folder / "x.jsonl").symlink_to("gone.jsonl")
    for path in ("x.jsonl", "*.jsonl"):
        with pytest.raises(
            sf.InputError, match=r"^x\.jsonl: is a link to a file that is not there$"
        ):
            sf.read_tasks(path)


# Folders


def test_a_folder_is_every_file_of_records_below_it(write: Write, folder: Path) -> None:
    write("runs/per_task.jsonl", record("a"))
    write("runs/b/per_task.jsonl.gz", gzip.compress(_lines(1)), end=b"")
    write("runs/b/c/per_task.jsonl.zst", _zstd(_lines(1)), end=b"")
    write("runs/b/other.jsonl", record("no"))
    write("runs/b/per_task.jsonl.bak", record("no"))
    write("runs/b/per_task.json", record("no"))
    write("runs/b/old_per_task.jsonl", record("no"))
    (folder / "runs/d/per_task.jsonl").mkdir(parents=True)
    assert sorted(_uids("runs")) == ["a", "u0", "u0"]
    assert _uids("runs") == _uids("runs/") == _uids(str(folder / "runs"))


def test_a_folder_without_records_is_an_error(write: Write) -> None:
    write("runs/other.txt", record())
    with pytest.raises(
        sf.InputError, match=r"^runs: no per_task\.jsonl in this folder or below it$"
    ):
        sf.read_tasks("runs")
    write("runs/other.jsonl", record())
    with pytest.raises(sf.InputError, match=r"1 other .* in it: name them, as runs.\*\.jsonl$"):
        sf.read_tasks("runs")


def test_a_folder_named_like_a_file_is_a_folder(write: Write) -> None:
    write("x.jsonl/per_task.jsonl", record("a"))
    assert _uids("x.jsonl") == ["a"]


def test_a_broken_link_in_a_folder_is_no_run_that_may_go_missing(
    write: Write, folder: Path
) -> None:
    write("runs/a/per_task.jsonl", record())
    (folder / "runs/b").mkdir()
    (folder / "runs/b/per_task.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(
        sf.InputError, match=r"^runs/b/per_task\.jsonl: is a link to a file that is not there$"
    ):
        sf.read_tasks("runs")


def test_a_linked_folder_is_searched(write: Write, folder: Path) -> None:
    write("store/run-7/per_task.jsonl", record("a"))
    write("runs/b/per_task.jsonl", record("b"))
    (folder / "runs/a").symlink_to("../store/run-7")
    assert sf.read_tasks("runs").select("run", "uid").rows() == [("a", "a"), ("b", "b")]


def test_links_in_a_circle_end(write: Write, folder: Path) -> None:
    write("runs/a/per_task.jsonl", record("a"))
    (folder / "runs/self").symlink_to(".")
    (folder / "runs/a/up").symlink_to("..")
    (folder / "runs/a/nowhere").symlink_to("nowhere")
    assert _uids("runs") == ["a"]


def test_a_run_that_a_folder_has_twice_counts_once_and_this_is_said(
    write: Write, folder: Path
) -> None:
    write("runs/run-2/deep/per_task.jsonl", record("a"))
    (folder / "runs/latest").symlink_to("run-2")
    (folder / "runs/same").symlink_to("run-2")
    with pytest.warns(sf.SkillshiftWarning) as caught:
        assert _uids("runs") == ["a"]
    names = [f"runs/{name}/deep/per_task.jsonl" for name in ("latest", "run-2", "same")]
    assert [str(warning.message) for warning in caught] == [
        f"{names[0]}: named 3 times ({names[1]}, {names[2]}); read once"
    ]


def test_files_of_a_folder_are_read_by_path(write: Write) -> None:
    for name in ("b", "a-b", "a/z", "a/b", "a"):
        write(f"runs/{name}/per_task.jsonl", record(name))
    assert _uids("runs") == ["a-b", "a/b", "a", "a/z", "b"]


@pytest.mark.parametrize("locked", ["runs", "runs/b"])
def test_a_folder_that_cannot_be_read_is_named(
    write: Write, monkeypatch: pytest.MonkeyPatch, locked: str
) -> None:
    write("runs/a/per_task.jsonl", record("a"))
    write("runs/b/per_task.jsonl", record("b"))
    scandir = os.scandir

    def refuse(path: str) -> object:
        # Nothing is locked for root, who runs tests in a container.
        if os.fspath(path) == locked:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(sf.InputError) as caught:
        sf.read_tasks("runs")
    assert str(caught.value) == f"{locked}: is a folder that cannot be read: Permission denied"


# Globs


def test_a_glob_gives_its_files_by_name(write: Write) -> None:
    for name in ("b", "a", "c"):
        write(f"runs/{name}.jsonl", record(name))
    write("runs/x/d.jsonl", record("d"))
    write("runs/.hidden.jsonl", record("no"))
    assert _uids("runs/*.jsonl") == ["a", "b", "c"]
    assert _uids("runs/[ac].jsonl") == ["a", "c"]
    assert _uids("runs/?.jsonl", "runs/x/*.jsonl") == ["a", "b", "c", "d"]
    assert _uids("runs/**/*.jsonl") == ["a", "b", "c", "d"]


def test_folders_that_a_glob_matches_are_searched(write: Write) -> None:
    write("runs/a/per_task.jsonl", record("a"))
    write("runs/b/deep/per_task.jsonl", record("b"))
    assert _uids("runs/*") == ["a", "b"]


def test_a_glob_takes_no_file_that_cannot_be_read_in_silence(write: Write) -> None:
    write("runs/a.jsonl", record("a"))
    write("runs/notes.txt", "text")
    with pytest.raises(sf.InputError, match=r"^runs/notes\.txt: unknown kind of file"):
        sf.read_tasks("runs/*")


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "arrow"])
def test_a_path_that_exists_is_never_taken_for_a_glob(write: Write, suffix: str) -> None:
    write("run[1]/x.jsonl", record("literal"))
    write("run1/x.jsonl", record("glob"))
    write("all*.jsonl", record("star"))
    write("all-of-it.jsonl", record("no"))
    if suffix != "jsonl":
        for path in ("run[1]/x", "run1/x", "all*", "all-of-it"):
            sf.write_tasks(sf.read_tasks(f"{path}.jsonl"), f"{path}.{suffix}")
    assert _uids(f"run[1]/x.{suffix}") == ["literal"]
    assert _uids(f"all*.{suffix}") == ["star"]
    assert sf.scan_tasks(f"run[1]/x.{suffix}").collect()["uid"].to_list() == ["literal"]


def test_a_folder_with_brackets_is_searched_as_written(write: Write) -> None:
    write("run[1]/per_task.jsonl", record("literal"))
    write("run1/per_task.jsonl", record("glob"))
    assert _uids("run[1]") == ["literal"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_tilde_is_the_home_folder_unless_there_is_a_file_of_that_name(
    write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setenv("HOME", str(folder / "home"))
    write("home/x.jsonl", record("home"))
    sf.write_tasks(sf.read_tasks("home/x.jsonl"), "home/x.parquet")
    assert _uids(f"~/x.{suffix}") == ["home"]
    assert _uids(f"~/*.{suffix}") == ["home"]
    write("~/x.jsonl", record("here"))
    sf.write_tasks(sf.read_tasks("./~/x.jsonl"), "~/x.parquet")
    assert _uids(f"~/x.{suffix}") == ["here"]


# One file, several names


@pytest.mark.parametrize(
    "other",
    ["a.jsonl", "./a.jsonl", "sub/../a.jsonl", "soft.jsonl", "hard.jsonl", "linked/a.jsonl"],
)
def test_a_file_named_twice_counts_once_and_this_is_said(
    write: Write, folder: Path, other: str
) -> None:
    write("a.jsonl", record("a"), record("b"))
    (folder / "sub").mkdir()
    (folder / "soft.jsonl").symlink_to("a.jsonl")
    (folder / "hard.jsonl").hardlink_to("a.jsonl")
    (folder / "linked").symlink_to(".")
    with pytest.warns(sf.SkillshiftWarning) as caught:
        tasks = sf.read_tasks(["a.jsonl", other])
    assert tasks["uid"].to_list() == ["a", "b"]
    assert tasks["run"].unique().to_list() == ["a"]
    (warning,) = caught
    kept, second = (
        sorted({"a.jsonl", other}) if other != "a.jsonl" else ("a.jsonl", "the same path again")
    )
    assert str(warning.message) == f"{kept}: named 2 times ({second}); read once"
    assert warning.filename == __file__
    with pytest.warns(sf.SkillshiftWarning, match="read once"):
        assert sf.check_tasks([other, "a.jsonl"])[0].height == 2


def test_a_glob_and_a_folder_that_meet_read_a_file_once(write: Write) -> None:
    write("runs/a/per_task.jsonl", record("a"))
    with pytest.warns(sf.SkillshiftWarning, match="named 2 times"):
        assert _uids("runs/*/per_task.jsonl", "runs") == ["a"]


def test_two_files_with_the_same_content_are_two_files(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("a"))
    assert sf.read_tasks(["a.jsonl", "b.jsonl"])["run"].to_list() == ["a", "b"]


def test_rows_come_in_the_order_in_which_files_are_named(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b"))
    assert _uids("b.jsonl", "a.jsonl") == ["b", "a"]


# Streams


def _feed(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    _feed(_lines(3), monkeypatch)
    tasks = sf.read_tasks("-")
    assert tasks.select("run", "uid").rows() == [("stdin", "u0"), ("stdin", "u1"), ("stdin", "u2")]


def test_faults_of_standard_input_are_named_by_the_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    _feed(b"\n[]\n", monkeypatch)
    assert texts("-") == [
        "-:2: line: is an array, not an object: [] (one JSON object per line is needed)"
    ]


def test_empty_standard_input_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    _feed(b"", monkeypatch)
    assert texts("-") == ["-: file: holds no record (a run that wrote nothing is no run)"]


def test_a_pipe_without_a_suffix_is_read_as_json_lines(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=(folder / "pipe").write_bytes, args=(_lines(5_000),))
    writer.start()
    tasks = sf.read_tasks("pipe")
    writer.join()
    assert tasks.height == 5_000
    assert tasks["run"].unique().to_list() == ["pipe"]


def test_process_substitution_of_a_shell_is_read(write: Write) -> None:
    write("a.jsonl", record("a"))
    program = (
        "import sys, skillshift_frames as sf; print(sf.read_tasks(sys.argv[1:])['uid'].to_list())"
    )
    command = f'"{sys.executable}" -c "{program}" <(cat a.jsonl) a.jsonl'
    done = subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True)
    assert done.stdout == "['a', 'a']\n"
