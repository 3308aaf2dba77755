"""What the readers' tests share: lines written token by token, files in a folder of their own, faults as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from pathlib import Path

    from skillshift_frames.readers.records import Extra

#: The keys of a line with the JSON text of their values; a test changes one of them.
TOKENS = {
    "uid": '"t"',
    "site": '"gitlab"',
    "condition": '"src"',
    "success": "true",
    "steps": "3",
    "skill_calls": "2",
    "skill_failures": "1",
}


def written(**tokens: str | None) -> str:
    """Write a line of JSON with these tokens as they are; None leaves the key out."""
    pairs = (TOKENS | tokens).items()
    return "{" + ", ".join(f'"{key}": {token}' for key, token in pairs if token is not None) + "}"


def record(uid: str = "t", **values: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Give a valid record with these values in place of its own."""
    return {key: json.loads(token) for key, token in TOKENS.items()} | {"uid": uid} | values


class Write(Protocol):
    """Writes a file of lines: records as JSON, text as it is, bytes as they are."""

    def __call__(
        self, path: str, *lines: dict[str, Any] | str | bytes, end: bytes = b"\n"
    ) -> Path: ...


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty folder, so that paths in messages are as short as in the test."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def write(folder: Path) -> Write:
    """Write files below the test's folder."""

    def write_file(path: str, *lines: dict[str, Any] | str | bytes, end: bytes = b"\n") -> Path:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(_encode(line) + end for line in lines))
        return target

    return write_file


def _encode(line: dict[str, Any] | str | bytes) -> bytes:
    if isinstance(line, dict):
        line = json.dumps(line)
    return line.encode() if isinstance(line, str) else line


def faults(*paths: str, extra: Extra = "refuse", pool: bool = False) -> list[sf.Fault]:
    """Give what `check_tasks` finds, as objects."""
    found = sf.check_tasks(paths, extra=extra, pool=pool)[1]
    assert found.schema == sf.FAULTS
    return [sf.Fault(**row) for row in found.iter_rows(named=True)]


def texts(*paths: str, extra: Extra = "refuse", pool: bool = False) -> list[str]:
    """Give what `check_tasks` finds, as a user reads it."""
    return [str(fault) for fault in faults(*paths, extra=extra, pool=pool)]
