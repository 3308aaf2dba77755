"""An entry and its receipt as files: both, or neither."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skillshift_frames.errors import InputError
from skillshift_frames.readers.entry_files import RECEIPT_SUFFIX
from skillshift_frames.render.files import refuse_to_overwrite, replacing
from skillshift_frames.render.machine import to_json

if TYPE_CHECKING:
    from skillshift_frames.submit import BuiltEntry


def write_entry(
    built: BuiltEntry, path: str | os.PathLike[str], *, force: bool = False
) -> tuple[Path, Path]:
    """Write an entry, and its receipt beside it, both whole or neither.

    Parameters
    ----------
    built
        From `build_entry`.
    path
        A ``.json`` file; the receipt's name has ``.receipt.json`` in place of its suffix.
    force
        Replace files that exist.

    Returns
    -------
    tuple of Path
        The entry's path and the receipt's.

    Raises
    ------
    InputError
        The path is not that of a ``.json`` file, or its folder does not exist.
    OutputExistsError
        One of the two exists and ``force`` is false.

    Examples
    --------
    >>> import skillshift_frames as sf, tempfile
    >>> tasks = sf.read_tasks("data/demo/reference.jsonl")
    >>> built = sf.build_entry(tasks, name="R", method="none", model="demo", date="2026-11-30")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     entry, receipt = sf.write_entry(built, f"{folder}/results.json")
    ...     sf.check_entry(entry).height, receipt.name
    (0, 'results.receipt.json')
    """
    entry, receipt = entry_paths(path, force=force)
    texts = [to_json(built.entry).encode(), to_json(built.receipt).encode()]
    with replacing(entry, force=force) as first, replacing(receipt, force=force) as second:
        for draft, text in zip((first, second), texts, strict=True):
            with draft.open("wb") as file:
                file.write(text)
                # A full disk must show before the first of the two takes its place.
                file.flush()
                os.fsync(file.fileno())
    return entry, receipt


def entry_paths(path: str | os.PathLike[str], *, force: bool) -> tuple[Path, Path]:
    """Give the paths of an entry and of its receipt, or say what is in their way.

    Raises
    ------
    InputError, OutputExistsError
        As `write_entry`.
    """
    name = os.fspath(path)
    if not name.endswith(".json") or name.endswith(RECEIPT_SUFFIX):
        msg = f"{name}: an entry is a .json file, with its receipt (.receipt.json) beside it; name one, or a folder"
        raise InputError(msg)
    entry, receipt = Path(name), Path(name.removesuffix(".json") + RECEIPT_SUFFIX)
    for file in (entry, receipt):
        refuse_to_overwrite(file, force=force)
        if file.exists() and not file.is_file():
            msg = f"{file}: is no ordinary file; an entry and its receipt are two files"
            raise InputError(msg)
    return entry, receipt
