"""A folder → the files below it: linked folders too, none of them in a circle, none left out without a word."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillshift_frames.readers.sources import Paths


def each_file(paths: Paths, wanted: Callable[[str], bool], what: str) -> list[Path]:
    """Give the files that paths name (files, globs, folders with every wanted file below), each once, in that order.

    Raises
    ------
    InputError
        A path that names nothing; ``what`` says what was looked for.
    """
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [file for name in named for file in _expand(Path(name), wanted, what)]
    first_names = {path.resolve(): path for path in reversed(files)}
    return list(reversed(first_names.values()))


def _expand(path: Path, wanted: Callable[[str], bool], what: str) -> Iterator[Path]:
    if path.is_dir():
        found = [Path(file) for file in files_below(path, wanted)]
    elif path.exists():
        found = [path]
    else:
        # The pattern may be absolute, which Path.glob does not take.
        found = sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207
    if not found:
        msg = f"{path}: no {what}"
        raise InputError(msg)
    yield from found


def files_below(folder: str | os.PathLike[str], wanted: Callable[[str], bool]) -> list[str]:
    """Give the files in a folder or below it whose name is wanted, sorted by path.

    A folder that several links lead to is gone through once; its files come under each of their names, for the caller to
    see that they are the same. A link back to where it is from adds no names.

    Raises
    ------
    InputError
        A folder cannot be read.
    """
    top = str(Path(folder))
    first_names: dict[tuple[int, int], str] = {_identity(top): top}
    aliases: list[tuple[str, str]] = []
    found: list[str] = []
    for path, folders, files in os.walk(top, followlinks=True, onerror=_refuse):
        found += (str(Path(path, name)) for name in files if wanted(name))
        kept = []
        for name in sorted(folders):
            below = str(Path(path, name))
            first = first_names.setdefault(_identity(below), below)
            if first == below:
                kept.append(name)
            elif not Path(below).is_relative_to(first):
                aliases.append((below, first))
        folders[:] = kept
    # Of an alias within an alias no names are made: they would double with every level of links.
    others = [
        str(Path(alias, Path(file).relative_to(first)))
        for alias, first in aliases
        for file in found
        if Path(file).is_relative_to(first)
    ]
    return sorted(found + others)


def _identity(folder: str) -> tuple[int, int]:
    try:
        status = os.stat(folder)  # noqa: PTH116 - as os.walk names it
    except OSError as error:
        _refuse(error)
    return (status.st_dev, status.st_ino)


def _refuse(error: OSError) -> NoReturn:
    msg = f"{error.filename}: is a folder that cannot be read: {error.strerror}"
    raise InputError(msg) from error
