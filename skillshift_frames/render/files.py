"""Files that appear whole or not at all: written under another name beside their place, then renamed."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from skillshift_frames.errors import InputError, OutputExistsError, check_frame, check_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

#: Suffix → how `write_tasks` writes it.
_SUFFIXES = (".parquet", ".csv", ".arrow", ".jsonl", ".ndjson")


def refuse_to_overwrite(path: str | os.PathLike[str], *, force: bool) -> None:
    """Raise where a file is in the way that may not be replaced; a device or pipe is never in the way.

    Raises
    ------
    OutputExistsError
        The file exists and ``force`` is false.
    InputError
        The path is a folder, or its folder does not exist.
    """
    target = Path(path)
    if target.is_dir():
        msg = f"{target}: is a folder; name a file in it"
        raise InputError(msg)
    if not target.parent.is_dir():
        msg = f"{target}: there is no folder {target.parent}"
        raise InputError(msg)
    if target.is_file() and not force:
        msg = f"{target}: exists already; --force replaces it"
        raise OutputExistsError(msg)


def known_suffix(path: str | os.PathLike[str]) -> str:
    """Give the suffix that says how `write_tasks` writes the file.

    Raises
    ------
    InputError
        It is none that says so.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        msg = f"{os.fspath(path)}: unknown kind of file; {', '.join(_SUFFIXES)} is needed"
        raise InputError(msg)
    return suffix


@contextmanager
def replacing(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a path to write to; it takes the place of ``path`` when the block ends well, and goes when it does not.

    A run killed in the middle leaves the old file or the new one. A link stays a link: its target is replaced; and who
    may read or write the old file may do so with the new one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "out.txt")) as draft:
    ...         _ = draft.write_text("whole")
    ...     [file.read_text() for file in Path(folder).iterdir()]
    ['whole']
    """
    refuse_to_overwrite(path, force=force)
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target  # a device or a pipe, such as /dev/stdout, cannot be renamed over
        return
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
    try:
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def write_text(text: str, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write text as UTF-8, whole or not at all (`replacing`)."""
    with replacing(path, force=force) as draft:
        draft.write_bytes(text.encode())


def write_tasks(tasks: pl.DataFrame, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write records to a file for what comes after; all but ``.csv`` can be read by `read_tasks` again.

    Rows are sorted by run, site, condition, uid and trial, so that the bytes do not depend on the order in which they
    were read.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, from `read_tasks` or `from_frame`.
    path
        Its suffix says how: ``.parquet`` (zstd), ``.arrow`` (IPC), ``.csv`` (null is empty) or ``.jsonl``/``.ndjson``
        (null is null).
    force
        Replace a file that exists.

    Raises
    ------
    InputError
        The suffix is none of these, the folder does not exist, or the file cannot hold a column's type, as CSV cannot hold
        lists.
    OutputExistsError
        The file exists and ``force`` is false.

    Examples
    --------
    >>> import skillshift_frames as sf, polars as pl, tempfile
    >>> row = {"uid": "a", "site": "gitlab", "condition": "src", "success": True, "steps": 3}
    >>> tasks = sf.from_frame(
    ...     pl.DataFrame([row | {"skill_calls": 0, "skill_failures": 0}]), run="asi"
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.write_tasks(tasks, f"{folder}/asi.parquet")
    ...     sf.read_tasks(f"{folder}/asi.parquet").equals(tasks)
    True
    """
    suffix = known_suffix(path)
    check_frame("tasks", tasks, "read_tasks")
    check_records("tasks", tasks)
    import polars as pl  # noqa: PLC0415 - not for --help

    for name, dtype in tasks.schema.items():
        if dtype == pl.Object or (
            (suffix == ".csv" and (dtype.is_nested() or dtype in (pl.Binary, pl.Duration)))
            or (suffix in {".jsonl", ".ndjson"} and dtype == pl.Binary)
        ):
            msg = f"{os.fspath(path)}: a {suffix} file cannot hold the column {name!r} of {dtype}; drop or convert it"
            raise InputError(msg)
    with replacing(path, force=force) as draft:
        ordered = tasks.sort("run", "site", "condition", "uid", "trial")
        if suffix == ".parquet":
            ordered.write_parquet(draft)
        elif suffix == ".arrow":
            # Newer string columns keep their text in the order in which it was read.
            ordered.write_ipc(draft, compat_level=pl.CompatLevel.oldest())
        elif suffix == ".csv":
            ordered.write_csv(draft)
        else:
            ordered.write_ndjson(draft)
