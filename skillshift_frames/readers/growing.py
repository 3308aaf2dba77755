"""Files that are still being written: their last line may be half there, and they may hold nothing yet.

Everywhere else such a file is at fault, because a number from it would be one of part of a run without saying so. Only who
watches a sweep (``table --watch``) reads inside `growing`, and says what was left out.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

_left_out: ContextVar[dict[str, int] | None] = ContextVar("_left_out", default=None)


@contextmanager
def growing() -> Iterator[dict[str, int]]:
    """Have the work inside leave out last lines that are not finished.

    Yields
    ------
    dict[str, int]
        Path → the number of the line that was left out; 0 for a file that holds no line yet.

    Examples
    --------
    >>> with growing() as left_out:
    ...     is_unfinished("asi.jsonl", 7, b'{"uid": "ta'), is_unfinished("mpcr.jsonl", 9, b"{}")
    ...     left_out
    (True, False)
    {'asi.jsonl': 7}
    """
    left_out: dict[str, int] = {}
    token = _left_out.set(left_out)
    try:
        yield left_out
    finally:
        _left_out.reset(token)


def is_unfinished(path: str, line: int, text: bytes) -> bool:
    """Tell whether a last line without a newline is to be left out, and remember it.

    A record is an object, and no beginning of an object is JSON: what decodes is whole. A blank line is none.
    """
    left_out = _left_out.get()
    if left_out is None or not text.strip(b" \t\r"):
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        left_out[path] = line
        return True
    return False


def may_be_empty(path: str) -> bool:
    """Tell whether a file without a line is no fault, and remember it."""
    left_out = _left_out.get()
    if left_out is None:
        return False
    left_out.setdefault(path, 0)
    return True
