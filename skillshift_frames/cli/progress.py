"""A bar for work that takes more than a second: on stderr, on a terminal, and nowhere else."""

from __future__ import annotations

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
    """Show how far the work inside is; nothing of the bar stays."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    try:
        with reported_to(_bar.report):
            _bar.since = time.monotonic()
            yield
    finally:
        _bar.hide()


def hide_progress() -> None:
    """Take the bar away for what is said in its place; it comes back with the next report."""
    _bar.hide()


class _Bar:
    """A bar that appears when it has waited long enough: rich is imported for nothing less."""

    def __init__(self) -> None:
        self.since = 0.0
        self._shown: tuple[Progress, TaskID] | None = None

    def report(self, stage: str, done: int, total: int) -> None:
        if self._shown is None:
            if time.monotonic() - self.since < _PATIENCE:
                return
            self._shown = _begin()
        if self._shown is None:
            return
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

    def hide(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
            self._shown = None


_bar = _Bar()


def _begin() -> tuple[Progress, TaskID] | None:
    """Draw the bar, if the terminal is one to draw on."""
    from rich.console import Console  # noqa: PLC0415 - not for what is done within a second
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

    console = Console(stderr=True)
    if not (console.is_terminal and console.is_interactive) or console.is_dumb_terminal:
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    # Who writes to either stream hides the bar before: rich would break their lines at the terminal's width.
    progress = Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    )
    progress.start()
    return progress, progress.add_task("")
