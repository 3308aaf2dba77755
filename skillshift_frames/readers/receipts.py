"""The receipt of an entry, as it lies in a file: what could be read of it, and what is wrong with the rest.

The keys that are looked at must be what `skillshift_frames.receipt` says they are; others may be there, because the
benchmark's own harness writes receipts, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillshift_frames.readers.entry_files import RECEIPT_SUFFIX, NotTextError, decode, read_bytes
from skillshift_frames.readers.json_shape import (
    RECORDS_COUNTED,
    TEXT,
    Leaf,
    Problem,
    departures,
    parse_object,
)
from skillshift_frames.readers.wording import printable, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.readers.json_shape import Shape

_OBJECT = Leaf("an object", lambda value: isinstance(value, dict))

#: What every receipt has.
_REQUIRED: dict[str, Shape] = {
    "harness_version": TEXT,
    "n_per_cell": _OBJECT,
    "aggregate": _OBJECT,
    "per_task_commitment": Leaf(
        "an object or a string", lambda value: isinstance(value, dict | str)
    ),
}

#: What ours have besides.
_OPTIONAL: dict[str, Shape] = {
    "benchmark": TEXT,
    "errors": Leaf('"exclude" or "zero"', lambda value: value in ("exclude", "zero")),
    "records": RECORDS_COUNTED,
    "env_digests": _OBJECT,
}

_NAMED = Leaf("a string that is not empty", lambda value: isinstance(value, str) and value != "")

#: What a commitment has that says of which form it is; one that is a string is of a form that only its tool knows.
_COMMITMENT: dict[str, Shape] = {"form": _NAMED, "sha256": _NAMED}


@dataclass(frozen=True)
class Receipt:
    """A receipt that was read.

    Attributes
    ----------
    name
        Its file, as findings call it.
    content
        Key → value, of the keys that are what they must be, with numbers as written.
    problems
        What is wrong with the file, as sentences with what to do.
    """

    name: str
    content: dict[str, Any] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)


def receipt_path(entry: str) -> Path | None:
    """Give the place of the receipt beside an entry's file, None where the file's name leaves none.

    Examples
    --------
    >>> receipt_path("runs/results.json").name, receipt_path("results.csv")
    ('results.receipt.json', None)
    """
    return Path(entry.removesuffix(".json") + RECEIPT_SUFFIX) if entry.endswith(".json") else None


def read_receipt(path: Path) -> Receipt:
    """Read a receipt; whatever is wrong inside the file is told, not raised.

    Raises
    ------
    InputError
        The file cannot be opened.
    """
    name = printable(str(path))
    try:
        content, problems = parse_object(decode(read_bytes(path)))
    except NotTextError as error:
        return Receipt(name, {}, [(error.message, "")])
    if content is None:
        hint = "a receipt is one JSON object; build the entry again"
        return Receipt(name, {}, [(problem.message, hint) for problem in problems])
    problems += _wrong(content)
    broken = {problem.path[0] for problem in problems if problem.path}
    return Receipt(
        name,
        {key: value for key, value in content.items() if key not in broken},
        [(_said(problem), problem.hint) for problem in problems],
    )


def _wrong(content: dict[str, Any]) -> Iterator[Problem]:
    shape = _REQUIRED | {key: shape for key, shape in _OPTIONAL.items() if key in content}
    yield from departures({key: content[key] for key in shape if key in content}, shape)
    yield from _wrong_commitment(content.get("per_task_commitment"))


def _wrong_commitment(commitment: object) -> Iterator[Problem]:
    path = ("per_task_commitment",)
    if commitment == {} or (isinstance(commitment, str) and not commitment.strip()):
        yield Problem(path, "is empty: it commits to nothing")
    elif isinstance(commitment, dict):
        known = {key: commitment[key] for key in _COMMITMENT if key in commitment}
        yield from departures(known, _COMMITMENT, path)


def _said(problem: Problem) -> str:
    where = f"{snippet('.'.join(problem.path))}: " if problem.path else ""
    return f"{where}{problem.message}"
