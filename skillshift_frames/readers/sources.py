"""From what a user named to the files to read: globs, folders, links, labels.

Polars expands globs itself, but gives no rows and no error for one that matches nothing, and takes the brackets of a
real file's name for a pattern. So paths are resolved here, before any reader sees them.
"""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from skillshift_frames.errors import InputError
from skillshift_frames.readers.folders import files_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: What functions accept as paths: one, or several; strings may be globs, folders, or ``-`` for standard input.
Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"

STDIN = "-"
_RECORDS = "per_task"  # the name that a folder is searched for, and that says nothing about the run
Kind: TypeAlias = Literal["jsonl", "parquet", "arrow"]
Compression: TypeAlias = Literal["gz", "zst"]
_SUFFIXES: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gz", ".zst": "zst"}
_KNOWN = ".jsonl, .ndjson (also .gz, .zst), .parquet or .arrow"
_NAMES = frozenset({f"{_RECORDS}.jsonl", *(f"{_RECORDS}.jsonl{c}" for c in _COMPRESSIONS)})


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read: its path as shown in messages, what it holds, and the label of its run."""

    path: str
    kind: Kind
    compression: Compression | None
    label: str


def holds_records(name: str) -> bool:
    """Tell whether a file in a folder is one that the folder is searched for."""
    return name in _NAMES


def is_of_records(path: str) -> bool:
    """Tell whether a file's name is that of records."""
    stem = path
    for suffix in _COMPRESSIONS:
        stem = stem.removesuffix(suffix)
    return Path(stem).suffix.lower() in _SUFFIXES


def is_kept(source: Source) -> bool:
    """Tell a file, which can be read again, from standard input or a pipe, where what was read is gone."""
    return source.path != STDIN and os.path.isfile(source.path)  # noqa: PTH113 - the path is used as it was given


def size_of(source: Source) -> int:
    """Give the bytes of a file as it lies there; 0 for what has no size, such as standard input, or is gone."""
    try:
        return os.path.getsize(source.path) if is_kept(source) else 0  # noqa: PTH202 - as above
    except OSError:
        return 0


def resolve_sources(
    paths: Paths,
    *,
    labels: Mapping[str, str | os.PathLike[str]] | None = None,
    pool: bool | str = False,
) -> tuple[list[Source], list[str]]:
    """Resolve paths to the files they name, each once, with the label of its run.

    Returns the sources, in the order named (those of a glob or folder by name), and what a user should be told.

    Raises
    ------
    InputError
        A path that names nothing, a glob that matches nothing, a folder without records, an unknown kind of file, a
        label for more than one file, one label for two runs (unless pooled).
    """
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    wanted = wanted_labels(labels, pool)
    if not named and not wanted:
        msg = f"no file was named; give the path of a file of records: {_KNOWN}"
        raise InputError(msg)
    found = [file for path in named for file in _expand(os.fspath(path))]
    labelled: dict[str, str] = {}
    for path, label in wanted.items():
        files = _expand(path)
        if len(files) > 1:
            msg = f"{path}: names {len(files)} files; a label is for one (--pool reads several as one run)"
            raise InputError(msg)
        labelled[files[0]] = label
        found += [file for file in files if file not in found]
    kept, notes = _each_once(found, labelled)
    sources = [_source(path) for path in kept]
    return label_sources(sources, labelled, pool), notes


def wanted_labels(
    labels: Mapping[str, str | os.PathLike[str]] | None,
    pool: bool | str,  # noqa: FBT001 - passed on from the public functions
) -> dict[str, str]:
    """Turn the labels that somebody gave around: what each path is to be called.

    Raises
    ------
    InputError
        A path has two labels, or a label is empty.
    """
    wanted = {os.fspath(path): name for name, path in (labels or {}).items()}
    if len(wanted) < len(labels or {}):
        msg = "a file has two labels; give it one"
        raise InputError(msg)
    if any(not name.strip() for name in wanted.values()):
        msg = (
            f"an empty label for {next(path for path, name in wanted.items() if not name.strip())}"
        )
        raise InputError(msg)
    if isinstance(pool, str) and not pool.strip():
        msg = "an empty label for the pooled run"
        raise InputError(msg)
    return wanted


def label_sources(
    sources: list[Source],
    labelled: Mapping[str, str],
    pool: bool | str,  # noqa: FBT001 - as above
) -> list[Source]:
    """Give each source the label of its run: the one that it was given, else one made from its path.

    Parameters
    ----------
    sources
        Each file once.
    labelled
        Path → the label that somebody gave.
    pool
        All are one run; text is its label.

    Raises
    ------
    InputError
        One label for two runs (unless pooled), two for a pooled one, or none that no other file has.
    """
    if pool:
        label = pool if isinstance(pool, str) else _pooled_label(sources, labelled)
        return [replace(source, label=label) for source in sources]
    return _label(sources, labelled)


def _expand(path: str) -> list[str]:
    """Give the files that one argument stands for; what exists as written is taken as written."""
    if path == STDIN:
        return [path]
    if path.startswith("~") and not os.path.lexists(path):
        path = os.path.expanduser(path)  # noqa: PTH111 - as below
    if os.path.isdir(path):  # noqa: PTH112 - the path is shown as it was given
        # A link whose file is gone is one, too: a run must not go missing without a word.
        inside = files_below(path, holds_records)
        if not inside:
            others = sum(file.suffix == ".jsonl" for file in Path(path).iterdir())
            hint = f"; {others:,} other .jsonl in it: name them, as {Path(path, '*.jsonl')}"
            msg = f"{path}: no {_RECORDS}.jsonl in this folder or below it{hint if others else ''}"
            raise InputError(msg)
        return [found for file in inside for found in _expand(file)]
    if os.path.lexists(path):
        if not os.path.exists(path):  # noqa: PTH110 - as above
            msg = f"{path}: is a link to a file that is not there"
            raise InputError(msg)
        return [path]
    if not glob.has_magic(path):
        msg = f"{path}: no such file or folder"
        raise InputError(msg)
    matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not matches:
        msg = f"{path}: the pattern matches no file"
        raise InputError(msg)
    return [file for match in matches for file in _expand(match)]


def _each_once(found: Iterable[str], labelled: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Drop further names of the same file, also through a link; the labelled name stays, else the first by name."""
    names: dict[object, list[str]] = {}
    for path in found:
        names.setdefault(_identity(path), []).append(path)
    kept, notes = [], []
    for same in names.values():
        owners = sorted({labelled[path] for path in same if path in labelled})
        if len(owners) > 1:
            msg = f"{min(same)}: has the labels {', '.join(owners)}; give it one"
            raise InputError(msg)
        best = min(same, key=lambda path: (path not in labelled, path))
        kept.append(best)
        if len(same) > 1:
            others = ", ".join(sorted(set(same) - {best})) or "the same path again"
            notes.append(f"{best}: named {len(same)} times ({others}); read once")
    return kept, notes


def _identity(path: str) -> object:
    if path == STDIN:
        return path
    status = os.stat(path)  # noqa: PTH116 - the path is shown as it was given
    return (status.st_dev, status.st_ino)


def _source(path: str) -> Source:
    if path == STDIN:
        return Source(path, "jsonl", None, "stdin")
    if any("\ud800" <= character <= "\udfff" for character in path):
        shown = path.encode(errors="backslashreplace").decode()
        msg = f"{shown}: the name is not UTF-8, so that no table could show it; rename the file"
        raise InputError(msg)
    stem = path
    compression: Compression | None = None
    for suffix, name in _COMPRESSIONS.items():
        if path.endswith(suffix):
            stem, compression = path.removesuffix(suffix), name
    kind = _SUFFIXES.get(Path(stem).suffix.lower())
    if kind is None and compression is None and not Path(path).is_file():
        kind = "jsonl"  # a pipe, such as the shell's <(…), has no name of its own
    if kind is None or (kind != "jsonl" and compression):
        msg = f"{path}: unknown kind of file; {_KNOWN} is needed (records from elsewhere: pipe JSON lines to -)"
        raise InputError(msg)
    return Source(path, kind, compression, "")


def _name_parts(path: str) -> tuple[list[str], str]:
    """Give the folders above a file, outermost first, and the name its label starts from."""
    if path == STDIN:
        return [], "stdin"
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - ".." is no name, and links keep theirs
    folders = [part for part in absolute.parts[:-1] if part != absolute.anchor]
    name = absolute.name
    for suffix in _COMPRESSIONS:
        name = name.removesuffix(suffix)
    for suffix in _SUFFIXES:
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
    if name == _RECORDS and folders:
        name = folders.pop()
    return folders, name or absolute.name


def _label(sources: list[Source], labelled: Mapping[str, str]) -> list[Source]:
    """Label each source by its file, equal labels lengthened by parent folders until they differ."""
    repeated = [name for name, count in Counter(labelled.values()).items() if count > 1]
    if repeated:
        msg = f"two files are labelled {repeated[0]!r}; use --pool to read them as one run"
        raise InputError(msg)
    parts = {
        source.path: _name_parts(source.path) for source in sources if source.path not in labelled
    }
    depth = dict.fromkeys(parts, 0)
    labels = {path: name for path, (_, name) in parts.items()} | dict(labelled)
    while True:
        counts = Counter(labels.values())
        equal = [path for path in parts if counts[labels[path]] > 1]
        if not equal:
            return [replace(source, label=labels[source.path]) for source in sources]
        for path in equal:
            folders, name = parts[path]
            depth[path] += 1
            if labels[path] == path:
                msg = f"{path}: every label made from it is another file's; give it one of its own"
                raise InputError(msg)
            if depth[path] > len(folders):  # nothing left to lengthen by: a.jsonl beside a.jsonl.gz
                labels[path] = path
            else:
                labels[path] = "/".join([*folders[-depth[path] :], name])


def _pooled_label(sources: list[Source], labelled: Mapping[str, str]) -> str:
    """Name a run made of several files: by their one label, by what their names share, else by their folder."""
    if labelled:
        names = sorted(set(labelled.values()))
        if len(names) > 1:
            msg = f"--pool makes one run of all files, but they have the labels {', '.join(names)}"
            raise InputError(msg)
        return names[0]
    parts = [_name_parts(source.path) for source in sources]
    names = [name for _, name in parts]
    if len(set(names)) == 1:
        return names[0]
    # Names, not paths: what they share letter by letter is meant.
    prefix = os.path.commonprefix(names)  # noqa: RUF071
    shared = re.sub(r"([-_. ]*(shard|part))?[-_. ]*\d*$", "", prefix)
    if shared:
        return shared
    folders = {folders[-1] for folders, _ in parts if folders}
    return folders.pop() if len(folders) == 1 else "pooled"
