"""A table that is drawn again while a sweep writes."""

from __future__ import annotations

import os
import sys
import time
import warnings
from typing import TYPE_CHECKING, Protocol

from skillshift_frames.cli.output import wants_color
from skillshift_frames.errors import InputError, SkillshiftError, SkillshiftWarning
from skillshift_frames.render.escape import escape_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from rich.console import Console
    from rich.text import Text

    from skillshift_frames.cli.reading import Reading
    from skillshift_frames.readers.sources import Source
    from skillshift_frames.render.document import Document

INTERVAL = 1.0
_SHORTEST, _LONGEST = 0.1, 3600.0
_LINES_OF_FAULTS = 12


class Describe(Protocol):
    """Makes the table of records, and counts the tasks that are behind it: scored, and expected."""

    def __call__(self, tasks: pl.DataFrame) -> tuple[Document, int, int]:
        """Give both."""


def refuse(given: Mapping[str, bool]) -> None:
    """Raise for an option that was given and has no place beside ``--watch``.

    Raises
    ------
    InputError
        Names it.
    """
    for option, is_given in given.items():
        if is_given:
            msg = f"{option}: --watch draws on the terminal, of files that this machine reads, and takes no such option"
            if option.startswith("--interval"):
                msg = "--interval says how often --watch looks; give --watch"
            raise InputError(msg)


def watch(runs: Sequence[str], how: Reading, describe: Describe, *, interval: float | None) -> None:
    """Draw the table whenever a file has changed, until an interrupt; the last one stays on the screen.

    Raises
    ------
    InputError
        Standard output is no terminal to draw on, or what was named cannot be watched.
    KeyboardInterrupt
        The only other way to end.
    """
    pause = INTERVAL if interval is None else interval
    if not _SHORTEST <= pause <= _LONGEST:
        msg = f"--interval {interval:g}: seconds between {_SHORTEST:g} and {_LONGEST:g} are needed"
        raise InputError(msg)
    if not runs and not how["labels"]:
        msg = "no file was named; --watch needs files, a folder or a pattern"
        raise InputError(msg)
    paths = [*runs, *(path for path in how["labels"].values() if path not in runs)]
    for path in paths:
        if path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):  # noqa: PTH110, PTH112, PTH113 - as given  # fmt: skip
            msg = f"{path}: --watch is for files, which can be read again"
            raise InputError(msg)
    if how["from_"] is not None:
        msg = "--watch is for files of records; results of another tool (--from) are read once they are there"
        raise InputError(msg)
    console = _console()
    from rich.live import Live  # noqa: PLC0415 - for a terminal only

    state = _State(paths, how, describe)
    state.look()
    with Live(
        state.drawn(),
        console=console,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as live:
        while True:
            time.sleep(pause)
            if state.look():
                live.update(state.drawn(), refresh=True)


def _console() -> Console:
    """Give the terminal to draw on.

    Raises
    ------
    InputError
        There is none.
    """
    from rich.console import Console  # noqa: PLC0415 - as above

    console = Console(
        file=sys.stdout, no_color=not wants_color(), highlight=False, markup=False, emoji=False
    )
    if not sys.stdout.isatty() or console.is_dumb_terminal:
        msg = "--watch needs a terminal on standard output to draw on; without it the table is printed once"
        raise InputError(msg)
    return console


class _State:
    """What was seen last: the files, the table, and what is in the way of a newer one."""

    def __init__(self, paths: Sequence[str], how: Reading, describe: Describe) -> None:
        self._paths, self._how, self._describe = paths, how, describe
        self._seen: object = None
        self._document: Document | None = None
        self._said: list[str] = []
        self._faults: list[str] = []

    def look(self) -> bool:
        """Read what is there if anything has changed, and tell whether it has."""
        sources, waiting = self._sources()
        seen = (tuple(waiting), tuple(map(_signature, sources)))
        if seen == self._seen:
            return False
        self._seen = seen
        self._said, self._faults = list(waiting), []
        if sources:
            try:
                self._read([source.path for source in sources])
            except (SkillshiftError, OSError) as error:
                self._faults = str(error).split("\n")
        return True

    def _sources(self) -> tuple[list[Source], list[str]]:
        """Find the files that are there by now, and say what is not."""
        from skillshift_frames.readers.sources import resolve_sources  # noqa: PLC0415 - not for --help

        found: dict[str, Source] = {}
        waiting = []
        for path in self._paths:
            try:
                sources, _ = resolve_sources(path)
            except InputError as error:
                waiting.append(f"waiting: {error}")
            else:
                found |= {source.path: source for source in sources}
        return list(found.values()), waiting

    def _read(self, paths: list[str]) -> None:
        import skillshift_frames as sf  # noqa: PLC0415 - not for --help
        from skillshift_frames.readers.growing import growing  # noqa: PLC0415

        labels = {
            label: path
            for label, path in self._how["labels"].items()
            if os.path.exists(path)  # noqa: PTH110 - as it was given
        }
        unnamed = [path for path in paths if path not in labels.values()]
        with warnings.catch_warnings(record=True) as told, growing() as left_out:
            warnings.simplefilter("always", SkillshiftWarning)
            tasks = sf.read_tasks(unnamed, **(self._how | {"labels": labels}))
        for path, line in left_out.items():
            self._said.append(
                f"last line of {path} is not finished; not counted yet (line {line})"
                if line
                else f"{path}: no record yet"
            )
        self._said += [line for note in told for line in str(note.message).split("\n")]
        if tasks.height:
            self._document, scored, expected = self._describe(tasks)
            counts = f"{scored:,}/{expected:,} tasks scored"
            files = f"{len(paths):,} {'file' if len(paths) == 1 else 'files'}"
            self._said.insert(0, f"{counts} in {files}")

    def drawn(self) -> Text:
        """Give all that is to be seen: how far it is, what is in the way, and the table."""
        from rich.text import Text  # noqa: PLC0415 - for a terminal only

        from skillshift_frames.render.text import text_lines  # noqa: PLC0415

        lines = [*map(escape_text, self._said)]
        if self._faults:
            lines += [f"fault: {escape_text(fault)}" for fault in self._faults[:_LINES_OF_FAULTS]]
            rest = len(self._faults) - _LINES_OF_FAULTS
            lines += [f"and {rest:,} more lines; check says all"] if rest > 0 else []
            if self._document is not None:
                lines.append("the table is that of before; it goes on once the fault is mended")
        drawn = Text("\n".join([*lines, "Ctrl-C ends"]))
        if self._document is not None:
            drawn.append("\n\n")
            drawn.append_text(text_lines(self._document))
        return drawn


def _signature(source: Source) -> tuple[str, tuple[int, ...]]:
    """Tell a file from what it was before: by its size and time, and that it is the same file."""
    try:
        status = os.stat(source.path)  # noqa: PTH116 - as it was given
    except OSError:
        return source.path, ()
    return source.path, (status.st_size, status.st_mtime_ns, status.st_ino)
