"""The files of a folder that somebody else wrote: read strictly, one at a time, and never beyond the folder.

A link in a results tree may point anywhere, a file may be cut off, a pipe or as large as a disk. Each is a problem of that
file; none ends the reading.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from skillshift_frames.errors import Fault
from skillshift_frames.readers.wording import as_written, printable, snippet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: A JSON file that is larger is not read: one trial's files are a thousandth of this.
LARGEST_FILE = 64 << 20

_READ_AT_ONCE = 1 << 20

#: How far a look goes that only asks whose folder it is: so many levels down, so many folders of each, so many of a level.
_LEVELS = 6
_WIDE = 8
_FOLDERS = 64


class Damage(Exception):  # noqa: N818 - no error of ours, and it goes no further than this module's callers
    """Why a file gives no content."""

    def __init__(self, message: str, hint: str = "", rule: str = "damaged") -> None:
        super().__init__(message)
        self.message, self.hint, self.rule = message, hint, rule


class Absent(Damage):
    """There is no such file."""

    def __init__(self) -> None:
        super().__init__("there is no such file", rule="missing-file")


class Folder(NamedTuple):
    """What is directly in a folder, by name: its folders and its files."""

    folders: list[Path]
    files: list[Path]


class Files:
    """The files of one named folder (or the one named file), with the problems that reading them brought up."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Fault] = []
        self._top = os.path.realpath(root if root.is_dir() else root.parent)
        self._said: set[tuple[str, str, str]] = set()
        # Of a folder with several files it is asked once per file; more than the last few are not asked again.
        self._real_folder = lru_cache(maxsize=256)(os.path.realpath)

    def problem(
        self,
        path: Path,
        text: str,
        hint: str = "",
        *,
        field: str = "file",
        value: str | None = None,
        rule: str = "damaged",
        stands: bool = False,
    ) -> None:
        """Say what is wrong with a file.

        Parameters
        ----------
        path
            The file or folder.
        text, hint
            What is wrong, and what to do about it or what is done instead.
        field, value
            The key at fault, and its value as written.
        rule
            A stable name.
        stands
            A trial's row stands for it all the same, so that it is a warning; else it is an error.
        """
        shown = printable(os.fspath(path))
        if (shown, field, text) in self._said:
            return
        self._said.add((shown, field, text))
        severity = "warning" if stands else "error"
        self.problems.append(
            Fault(
                shown,
                None,
                printable(field),
                None if value is None else printable(value),
                rule,
                printable(text),
                printable(hint),
                severity,
            )
        )

    def below(self, path: Path) -> str:
        """Give a path as it is below the named folder, with ``/``."""
        try:
            return printable(path.relative_to(self.root).as_posix())
        except ValueError:
            return printable(path.as_posix())

    def look(self, folder: Path) -> Folder:
        """Give what is in a folder, by name; hidden names, and links that leave the named folder, are left out.

        A link to a folder within is left out, too: it names what is read under its own name. A link that leaves, or leads
        nowhere, is a problem.
        """
        folders, files = [], []
        if not _within(self._real_folder(folder), self._top):
            damage = _left(folder)
            self.problem(folder, damage.message, damage.hint, rule=damage.rule)
            return Folder([], [])
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.problem(folder, f"cannot be read: {error.strerror}")
            return Folder([], [])
        for entry in inside:
            path = folder / entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                if not self._stays(path):
                    continue
                if path.is_dir():
                    continue
            if entry.is_dir():
                folders.append(path)
            else:
                files.append(path)
        return Folder(folders, files)

    def walk(
        self, folder: Path, enter: Callable[[Path], bool] | None = None
    ) -> Iterator[tuple[Path, Folder]]:
        """Go through a folder and all below it, by name; ``enter`` says which folders to go into."""
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            inside = self.look(here)
            yield here, inside
            waiting += [f for f in reversed(inside.folders) if enter is None or enter(f)]

    def load(
        self, path: Path, kind: type = dict, *, needed: bool = True, stands: bool = False
    ) -> Any:  # noqa: ANN401 - JSON
        """Give a file's JSON, or None and a problem where it is damaged, of another kind, or needed and not there."""
        try:
            content = self.parse(path)
        except Absent:
            if needed:
                self.problem(path, "is missing", rule="missing-file", stands=stands)
            return None
        except Damage as damage:
            self.problem(path, damage.message, damage.hint, rule=damage.rule, stands=stands)
            return None
        if not isinstance(content, kind):
            wanted = "an object" if kind is dict else "an array"
            self.problem(
                path, f"holds {snippet(as_written(content))}; {wanted} is needed", stands=stands
            )
            return None
        return content

    def parse(self, path: Path) -> Any:  # noqa: ANN401 - JSON
        """Give a file's JSON.

        Raises
        ------
        Damage
            It is not there (`Absent`), not within the named folder, too large, or not strict JSON.
        """
        return parse_json(self.read_bytes(path))

    def read_bytes(self, path: Path) -> bytes:
        """Give a file's bytes.

        Raises
        ------
        Damage
            It is not there (`Absent`), not within the named folder, too large, or no file.
        """
        if not _within(self._real_folder(path.parent), self._top):
            raise _left(path)
        try:
            return _bytes_of(path, follow=False)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR}:
                raise Absent from error
            if error.errno not in {errno.ELOOP, errno.EMLINK}:
                raise _unreadable(error) from error
        if not _within(os.path.realpath(path), self._top):
            raise _left(path)
        try:
            return _bytes_of(path, follow=True)
        except OSError as error:
            raise _unreadable(error) from error

    def _stays(self, link: Path) -> bool:
        if not _within(os.path.realpath(link), self._top):
            damage = _left(link)
            self.problem(link, damage.message, damage.hint, rule=damage.rule)
            return False
        if not link.exists():
            self.problem(link, "is a link to a file that is not there", rule="broken-link")
            return False
        return True


def _unreadable(error: OSError) -> Damage:
    if error.errno == errno.ENOENT:
        return Damage("is a link to a file that is not there", rule="broken-link")
    return Damage(f"cannot be read: {error.strerror}", rule="unreadable")


def _left(path: Path) -> Damage:
    return Damage(
        f"is reached by a link that leaves the folder: {printable(os.path.realpath(path))}",
        "it is not followed; name that folder itself",
        "link-outside",
    )


def peek(path: Path) -> Any:  # noqa: ANN401 - JSON
    """Give a file's JSON for a look at what it is, None where it has none; never raises."""
    try:
        return parse_json(_bytes_of(path, follow=True))
    except (OSError, Damage, ValueError):
        return None


def sampled(path: Path, wanted: Callable[[str], bool]) -> Iterator[Path]:
    """Give files whose name is wanted, nearest first, for a look at whose folder it is; never raises.

    Of each folder only the first few folders are gone into: of 20,000 trials one is like the other. Hidden names and links
    are left out, as what lies elsewhere does not say whose folder it is.
    """
    if os.path.isfile(path):  # noqa: PTH113 - does not raise where Path does
        yield from [path] if wanted(path.name) else []
        return
    level = [path]
    for _ in range(_LEVELS):
        below: list[Path] = []
        for folder in level:
            try:
                with os.scandir(folder) as entries:
                    inside = sorted(
                        (entry for entry in entries if not entry.name.startswith(".")),
                        key=lambda entry: entry.name,
                    )
                own = [e for e in inside if not e.is_symlink()]
                yield from (folder / e.name for e in own if wanted(e.name) and e.is_file())
                below += [folder / e.name for e in own if e.is_dir()][:_WIDE]
            except (OSError, ValueError):  # a name with a zero byte
                continue
        level = below[:_FOLDERS]


def head(path: Path, size: int = 4096) -> bytes:
    """Give the first bytes of a file for a look at what it is, none where it cannot be read; never raises."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file.read(size)
    except OSError:
        pass
    return b""


def _bytes_of(path: Path, *, follow: bool) -> bytes:
    # A pipe under a file's name must not stop the reading, hence O_NONBLOCK.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            message = "is no file"
            raise Damage(message)
        if status.st_size > LARGEST_FILE:
            message = (
                f"has {status.st_size:,} bytes; files above {LARGEST_FILE >> 20} MiB are not read"
            )
            raise Damage(message, rule="too-large")
        parts, size = [], 0
        while part := os.read(handle, max(status.st_size + 1 - size, _READ_AT_ONCE)):
            parts.append(part)
            size += len(part)
            if size > LARGEST_FILE:
                message = f"files above {LARGEST_FILE >> 20} MiB are not read"
                raise Damage(message, rule="too-large")
    finally:
        os.close(handle)
    return b"".join(parts)


class _RefusedError(ValueError):
    """What strict JSON does not have."""


def _constant(name: str) -> None:
    msg = f"{name} is no JSON number"
    raise _RefusedError(msg)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        msg = f"the key {as_written(twice)} is there {keys.count(twice)} times in one object"
        raise _RefusedError(msg)
    return content


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def parse_json(content: bytes) -> Any:  # noqa: ANN401 - JSON
    """Parse JSON strictly: UTF-8, no NaN, no key twice in one object.

    Raises
    ------
    Damage
        With what is wrong, and where.

    Examples
    --------
    >>> parse_json(b'{"a": 1}')
    {'a': 1}
    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    skillshift_frames.readers.tools.files.Damage: the key "a" is there 2 times in one object
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} is not UTF-8"
        raise Damage(message, "save it as UTF-8", "encoding") from error
    if not text.strip():
        message = "is empty"
        raise Damage(message)
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        message = f"line {error.lineno}, column {error.colno}: is not JSON: {error.msg}"
        raise Damage(message, "it may have been cut off; copy or make it again") from error
    except _RefusedError as error:
        raise Damage(str(error), rule="strict-json") from error
    except (
        RecursionError,
        ValueError,
    ) as error:  # nested too deeply, an integer of thousands of digits
        message = (
            "is nested too deeply" if isinstance(error, RecursionError) else snippet(str(error))
        )
        raise Damage(message) from error


def _within(real: str, top: str) -> bool:
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
