"""Long work says how far it is, to whoever asked to be told; by default nobody.

The command line asks, and draws a bar. Work that calls from within needs no argument for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Called with what is being done, how much of it is done, and how much there is to do.
Report: TypeAlias = Callable[[str, int, int], None]

_listener: ContextVar[Report | None] = ContextVar("_listener", default=None)


@contextmanager
def reported_to(report: Report) -> Iterator[None]:
    """Have the work inside report to a function.

    Examples
    --------
    >>> with reported_to(print):
    ...     advance = start("reading", 10)
    ...     advance(4)
    ...     advance(6)
    reading 0 10
    reading 4 10
    reading 10 10
    """
    token = _listener.set(report)
    try:
        yield
    finally:
        _listener.reset(token)


def start(stage: str, total: int) -> Callable[[int], None]:
    """Begin a stage of so much work; gives the function to call with every amount of it that is done."""
    report = _listener.get()
    done = 0

    def advance(amount: int) -> None:
        nonlocal done
        done += amount
        if report:
            report(stage, done, total)

    advance(0)
    return advance
