"""Files that somebody else wrote: strict JSON, and no step outside the folder that was named."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skillshift_frames.readers.tools import files as module
from skillshift_frames.readers.tools.files import Files, peek

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def problem_of(found: Files) -> str:
    (fault,) = found.problems
    return fault.message


def test_an_object_is_read(tmp_path: Path) -> None:
    found = Files(tmp_path)
    assert found.load(write(tmp_path / "a.json", '\ufeff{"a": [1, 2.5, null]}')) == {
        "a": [1, 2.5, None]
    }
    assert not found.problems


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ('{"a": 1', "line 1, column 8: is not JSON: Expecting ',' delimiter"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ('{"a": -Infinity}', "-Infinity is no JSON number"),
        ('{"b": {"a": 1, "a": 1}}', 'the key "a" is there 2 times in one object'),
        (b'{"a": "\xff"}', "byte 8 is not UTF-8"),
        ("[" * 100_000, "is nested too deeply"),
        ("[1]", "holds [1]; an object is needed"),
        ("null", "holds null; an object is needed"),
        ("9" * 5000, "Exceeds the limit"),
    ],
)
def test_damage_is_a_problem(tmp_path: Path, content: str | bytes, message: str) -> None:
    found = Files(tmp_path)
    path = write(tmp_path / "a.json", content)
    assert found.load(path) is None
    assert problem_of(found).startswith(message)
    assert found.problems[0].path == str(path)
    assert peek(path) is None or message.startswith("holds")


def test_a_missing_file_is_a_problem_only_where_it_is_needed(tmp_path: Path) -> None:
    found = Files(tmp_path)
    assert found.load(tmp_path / "no.json", needed=False) is None
    assert not found.problems
    assert found.load(tmp_path / "no.json", stands=True) is None
    assert found.problems[0].message == "is missing"
    assert found.problems[0].severity == "warning"
    assert found.load(tmp_path / "no" / "no.json", needed=False) is None


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_FILE", 4 << 20)
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate((4 << 20) + 1)
    found = Files(tmp_path)
    assert found.load(path) is None
    assert problem_of(found) == "has 4,194,305 bytes; files above 4 MiB are not read"


def test_a_folder_or_pipe_under_the_name_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    os.mkfifo(tmp_path / "b.json")
    for name in ("a.json", "b.json"):
        found = Files(tmp_path)
        assert found.load(tmp_path / name) is None
        assert problem_of(found) == "is no file"


def test_a_link_within_is_followed_and_one_that_leaves_is_not(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.json", "{}")
    root = tmp_path / "root"
    write(root / "real.json", '{"a": 1}')
    (root / "in.json").symlink_to("real.json")
    (root / "out.json").symlink_to(secret)
    (root / "gone.json").symlink_to("nothing.json")
    (root / "folder").symlink_to(tmp_path)
    found = Files(root)
    assert found.load(root / "in.json") == {"a": 1}
    assert not found.problems
    assert found.load(root / "out.json") is None
    assert found.load(root / "gone.json") is None
    assert found.load(root / "folder" / "secret.json") is None
    assert [fault.rule for fault in found.problems] == [
        "link-outside",
        "broken-link",
        "link-outside",
    ]
    assert str(secret) in found.problems[0].message


def test_the_named_folder_may_be_a_link_itself(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a.json", "{}")
    (tmp_path / "link").symlink_to("real")
    found = Files(tmp_path / "link")
    assert found.load(tmp_path / "link" / "a.json") == {}
    assert found.below(tmp_path / "link" / "a.json") == "a.json"


def test_a_folder_beside_whose_name_starts_alike_is_outside(tmp_path: Path) -> None:
    write(tmp_path / "root-2" / "a.json", "{}")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "b.json").symlink_to(tmp_path / "root-2" / "a.json")
    found = Files(tmp_path / "root")
    assert found.load(tmp_path / "root" / "b.json") is None


def test_look_gives_what_is_there_by_name(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("b/x", "a/x", ".hidden/x", "z.json", "y.json"):
        write(root / name, "{}")
    (root / "latest").symlink_to("b")
    (root / "circle").symlink_to(".")
    (root / "up").symlink_to("..")
    (root / "gone").symlink_to("nothing")
    found = Files(root)
    folders, names = found.look(root)
    assert [path.name for path in folders] == ["a", "b"]
    assert [path.name for path in names] == ["y.json", "z.json"]
    assert sorted(fault.rule for fault in found.problems) == ["broken-link", "link-outside"]


def test_look_does_not_go_through_a_link_that_leaves(tmp_path: Path) -> None:
    write(tmp_path / "other" / "x", "")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "trials").symlink_to(tmp_path / "other")
    found = Files(tmp_path / "root")
    assert found.look(tmp_path / "root" / "trials") == ([], [])
    assert [fault.rule for fault in found.problems] == ["link-outside"]


def test_walk_goes_through_all_and_reports_what_cannot_be_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root / "a" / "b" / "x", "")
    write(root / "c" / "x", "")
    found = Files(root)
    seen = [found.below(folder) for folder, _ in found.walk(root)]
    assert seen == [".", "a", "a/b", "c"]
    assert found.look(root / "nothing") == ([], [])
    assert problem_of(found) == "cannot be read: No such file or directory"
