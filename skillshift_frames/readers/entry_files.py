"""Paths → published entries: entry files, folders of them, tables of rows, standard input."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from skillshift_frames.errors import InputError
from skillshift_frames.findings import Finding
from skillshift_frames.readers.entries import Read
from skillshift_frames.readers.entry_json import parse_entry
from skillshift_frames.readers.entry_rows import parse_rows
from skillshift_frames.readers.folders import each_file
from skillshift_frames.readers.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.readers.sources import Paths

#: Where a receipt lies: beside its entry, under the entry's name with this in place of ``.json``.
RECEIPT_SUFFIX = ".receipt.json"

#: An entry has a few kilobytes; what is larger is something else, and is not read.
LARGEST_FILE = 4 << 20

STDIN = "-"


def read_entry_files(paths: Paths, benchmark: Benchmark) -> Read:
    """Read entries from files, globs, folders (every ``.json`` below) or standard input (``-``); receipts are left out.

    A ``.csv`` file, or standard input that begins like none of JSON, is a table with one row per entry and metric, in the shape of `skillshift_frames.published`; anything
    else is the JSON of one entry.

    Raises
    ------
    InputError
        A path that names nothing, a file that cannot be opened, or receipts and nothing else.
    """
    found = Read([], [])
    for path, data in _contents(paths):
        name = printable(path) if path else "stdin"
        try:
            text = decode(data)
        except NotTextError as error:
            found.findings.append(Finding(name, "schema", error.message, error.hint))
            continue
        parse = parse_rows if _is_table(path, text) else parse_entry
        read = parse(text, name, benchmark)
        # The name is for people; what lies beside the file is found by its path.
        found.entries.extend(replace(entry, path=path) for entry in read.entries)
        found.findings.extend(read.findings)
    return found


def _contents(paths: Paths) -> Iterator[tuple[str, bytes]]:
    """Give every file's path (empty: standard input) and its bytes, no more than one beyond `LARGEST_FILE`."""
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if STDIN in named:
        yield "", sys.stdin.buffer.read(LARGEST_FILE + 1)
    named = [path for path in named if path != STDIN]
    if not named:
        return
    files = each_file(named, is_entry, "entry there (a .json file, a folder of them, or a .csv)")
    # A shell's *.json names the receipts, too.
    entries = [path for path in files if not path.name.endswith(RECEIPT_SUFFIX)]
    if not entries:
        msg = f"{files[0]}: is a receipt; name its entry"
        raise InputError(msg)
    for path in entries:
        yield str(path), read_bytes(path)


def _is_table(path: str, text: str) -> bool:
    """Tell a table from the JSON of an entry: by the file's name, and of standard input by how it begins."""
    if path:
        return path.lower().endswith(".csv")
    return bool(text.strip()) and text.lstrip()[0] not in "{["


def is_entry(name: str) -> bool:
    """Tell by its name whether a file in a folder is an entry."""
    return name.endswith(".json") and not name.endswith(RECEIPT_SUFFIX)


def read_bytes(path: Path) -> bytes:
    """Give a file's bytes, no more than one beyond `LARGEST_FILE`.

    Raises
    ------
    InputError
        It cannot be opened.
    """
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise InputError(msg) from error


class NotTextError(ValueError):
    """Bytes that are no text of a reasonable size."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def decode(data: bytes) -> str:
    r"""Give the text of a file that `read_bytes` read.

    Raises
    ------
    NotTextError
        It is too large, or not UTF-8.

    Examples
    --------
    >>> decode(b"\xef\xbb\xbf{}")
    '{}'
    """
    if len(data) > LARGEST_FILE:
        what = f"is larger than {LARGEST_FILE >> 20} MiB, and an entry has a few kilobytes"
        raise NotTextError(what, "name the entry, not the records behind it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.object[error.start]:#04x} at offset {error.start} is not UTF-8"
        raise NotTextError(what, "save the file as UTF-8") from error
