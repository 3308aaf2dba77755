"""Work that is done in another thread, beside one's own."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Result = TypeVar("_Result")


@contextmanager
def beside(work: Callable[[], _Result]) -> Iterator[Callable[[], _Result]]:
    """Have a thread do some work, which is done when the block is left; gives what waits for the result.

    An executor would refuse where a program's main thread has ended and others have not.

    Examples
    --------
    >>> with beside(lambda: sum(range(10))) as summed:
    ...     product = 6 * 7
    >>> product, summed()
    (42, 45)
    """
    done: Future[_Result] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            done.set_exception(error)

    thread = Thread(target=run)
    thread.start()
    try:
        yield done.result
    finally:
        thread.join()
