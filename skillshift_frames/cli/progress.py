"""A bar for work that takes more than a second: on stderr, on a terminal, and nowhere else."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillshift_frames.progress import reported_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

#: Work that is done sooner shows nothing.
_PATIENCE = 1.0

_MEGABYTE = 1_000_000


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show how far the work inside is; whatever it says on stderr comes above the bar, and nothing of the bar stays."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    bar = _Bar()
    try:
        with reported_to(bar.report):
            yield
    finally:
        bar.stop()


class _Bar:
    """A bar that appears when it has waited long enough: rich is imported for nothing less."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def report(self, stage: str, done: int, total: int) -> None:
        if self._shown is None:
            if time.monotonic() - self._since < _PATIENCE:
                return
            self._shown = _begin()
        progress, task = self._shown
        amount = ""
        if stage == "reading" and total:
            amount = f" {done / _MEGABYTE:,.0f} of {total / _MEGABYTE:,.0f} MB"
        # Every stage is seen to begin and to end; in between the bar is drawn ten times a second.
        progress.update(
            task,
            description=stage + amount,
            completed=done,
            total=total or None,
            refresh=done in {0, total},
        )

    def stop(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()


def _begin() -> tuple[Progress, TaskID]:
    from rich.console import Console  # noqa: PLC0415 - not for what is done within a second
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.start()
    return progress, progress.add_task("")
