"""From what a user named to the files to read, on a file system that Spark sees: patterns, folders, datasets, labels.

Spark expands patterns itself, but takes the brackets of a real file's name for one, and leaves out without a word whatever
begins with ``_`` or ``.`` and whatever lies deeper in a dataset than it looks. So paths are resolved here, before it sees
them: what `skillshift_frames.readers.sources` does with the files of this machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from skillshift_frames.errors import InputError
from skillshift_frames.readers.sources import (
    Compression,
    Kind,
    Source,
    label_sources,
    wanted_labels,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

_KINDS: dict[str, Kind] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gz", ".zst": "zst"}
_KNOWN = ".jsonl, .ndjson (also .gz) or .parquet"
_RECORDS = frozenset({"per_task.jsonl", *(f"per_task.jsonl{suffix}" for suffix in _COMPRESSIONS)})


@dataclass(frozen=True, slots=True)
class Found:
    """The sources, what Spark calls each of them in its own columns, and what a user should be told."""

    sources: list[Source]
    addresses: dict[str, str]
    notes: list[str]


def resolve_on_hadoop(
    session: SparkSession,
    paths: Sequence[str | os.PathLike[str]],
    labels: Mapping[str, str | os.PathLike[str]] | None,
    pool: bool | str,  # noqa: FBT001 - passed on from the public functions
) -> Found:
    """Resolve paths to the files and datasets they name, each once, with the label of its run.

    Raises
    ------
    InputError
        As `skillshift_frames.readers.sources.resolve_sources`; standard input, which no cluster can read; a dataset of which
        Spark would leave something out.
    """
    named = [str(path) for path in paths]
    wanted = wanted_labels(labels, pool)
    if "-" in {*named, *wanted}:
        msg = "standard input cannot be read by a cluster; name files"
        raise InputError(msg)
    if not named and not wanted:
        msg = f"no file was named; give the path of a file of records: {_KNOWN}"
        raise InputError(msg)
    files = _Files(session)
    found = [file for path in named for file in files.expand(path)]
    labelled: dict[str, str] = {}
    for path, label in wanted.items():
        expanded = files.expand(path)
        if len(expanded) > 1:
            msg = f"{path}: names {len(expanded)} files; a label is for one (--pool reads several as one run)"
            raise InputError(msg)
        if labelled.setdefault(expanded[0], label) != label:
            msg = f"{path}: has the labels {labelled[expanded[0]]}, {label}; give it one"
            raise InputError(msg)
        found += [file for file in expanded if file not in found]
    notes = [
        f"{file}: named {found.count(file)} times; read once"
        for file in sorted({file for file in found if found.count(file) > 1})
    ]
    sources = [Source(file, *_kind(file), "") for file in dict.fromkeys(found)]
    addresses = {source.path: files.address(source.path) for source in sources}
    return Found(label_sources(sources, labelled, pool), addresses, notes)


class _Files:
    """The file systems that a session reads from, as Hadoop gives access to them."""

    def __init__(self, session: SparkSession) -> None:
        # Python has no other way to them.
        self._java: Any = session._jvm  # noqa: SLF001
        self._conf: Any = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001

    def address(self, path: str) -> str:
        """Give a path as Spark writes it in the column that says where a row is from."""
        named = self._java.org.apache.hadoop.fs.Path(path)
        return str(self._java.org.apache.spark.paths.SparkPath.fromPath(named).urlEncoded())

    def expand(self, path: str) -> list[str]:
        """Give the files and datasets that one argument stands for; what exists as written is taken as written."""
        from py4j.protocol import Py4JJavaError

        try:
            named = self._java.org.apache.hadoop.fs.Path(path)
            system = named.getFileSystem(self._conf)
            exists = system.exists(named)
            matches = (
                [system.getFileStatus(named)] if exists else list(system.globStatus(named) or [])
            )
        except Py4JJavaError as error:
            reason = error.java_exception.getMessage()
            msg = f"{path}: cannot be looked for: {reason}"
            raise InputError(msg) from error
        if not matches:
            pattern = any(character in path for character in "*?[{")
            msg = (
                f"{path}: {'the pattern matches no file' if pattern else 'no such file or folder'}"
            )
            raise InputError(msg)
        files = [file for match in matches for file in self._stands_for(system, match)]
        return sorted(files)

    def _stands_for(self, system: Any, status: Any) -> list[str]:  # noqa: ANN401 - objects of Java
        file = str(status.getPath().toString())
        is_folder = bool(status.isDirectory())
        if _suffix(file) in _KINDS:
            if is_folder:
                self._refuse_hidden(system, status.getPath())
            return [file]
        if not is_folder:
            msg = f"{file}: unknown kind of file; {_KNOWN} is needed"
            raise InputError(msg)
        below = [
            str(path)
            for path in self._below(system, status.getPath())
            if PurePosixPath(path).name in _RECORDS
        ]
        if not below:
            msg = f"{file}: no per_task.jsonl in this folder or below it"
            raise InputError(msg)
        return below

    def _refuse_hidden(self, system: Any, dataset: Any) -> None:  # noqa: ANN401 - as above
        """Raise where Spark would not read all of a dataset."""
        top = str(dataset.toString())
        for path in self._below(system, dataset):
            *folders, name = PurePosixPath(path.removeprefix(top).lstrip("/")).parts
            if any(part.startswith(("_", ".")) for part in (*folders, name)):
                continue  # no data, by a custom older than Spark: _SUCCESS, .part-0.crc
            if not all("=" in folder for folder in folders):
                msg = f"{top}: is a dataset, and Spark does not look into its folder {folders[0]}; name that folder's files"
                raise InputError(msg)

    @staticmethod
    def _below(system: Any, folder: Any) -> Iterator[str]:  # noqa: ANN401 - as above
        listed = system.listFiles(folder, True)  # noqa: FBT003 - Java has no names for arguments
        while listed.hasNext():
            yield str(listed.next().getPath().toString())


def _suffix(path: str) -> str:
    name = PurePosixPath(path).name
    plain = name
    for suffix in _COMPRESSIONS:
        plain = plain.removesuffix(suffix)
    found = PurePosixPath(plain).suffix.lower()
    return "" if found == ".parquet" and plain != name else found


def _kind(path: str) -> tuple[Kind, Compression | None]:
    compressed = (known for suffix, known in _COMPRESSIONS.items() if path.endswith(suffix))
    return _KINDS[_suffix(path)], next(compressed, None)
