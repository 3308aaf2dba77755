"""Where output goes, in which format, in colour or not."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TextIO, TypeAlias

from skillshift_frames.cli.progress import hide_progress, progress_shown
from skillshift_frames.errors import InputError
from skillshift_frames.render.escape import escape_text

if TYPE_CHECKING:
    from skillshift_frames.render.document import Document

Format: TypeAlias = Literal["text", "markdown", "latex", "html", "csv", "json"]

_SUFFIXES: dict[str, Format] = {
    ".txt": "text",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".json": "json",
}


#: What -o may call standard output, which is written to and never replaced, also where it is a file.
_STDOUT = {"-", "/dev/stdout"}


def say(message: str) -> None:
    """Tell the user something that is not the answer: on stderr, in whatever encoding that takes, and inert."""
    stream = sys.stderr
    if stream is None:  # closed by the caller (2>&-)
        return
    hide_progress()
    shown = "\n".join(map(escape_text, message.split("\n")))
    line = f"{shown}\n".encode(stream.encoding or "utf-8", errors="backslashreplace")
    try:
        stream.write(line.decode(stream.encoding or "utf-8"))
        stream.flush()
    except OSError:  # a closed pipe, a full disk: what is said on the way must not cost the answer
        discard(stream)


def say_notes(document: Document) -> None:
    """Tell on stderr what the format has no place for."""
    for note in document.notes:
        say(f"note: {note.mark}{' ' if note.mark else ''}{escape_text(note.text)}")


def discard(stream: TextIO) -> None:
    """Let what is written from here on go nowhere: its reader has seen enough (``| head``), which is no error.

    Python flushes the standard streams once more when it ends, and would complain.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def chosen_format(given: Format | None, output: Path | None) -> Format:
    """Give the format that was asked for, else that of the file's suffix, else text.

    Raises
    ------
    InputError
        The suffix is of no format.
    """
    if given is not None:
        return given
    if output is None or output.suffix == "":
        return "text"
    try:
        return _SUFFIXES[output.suffix.lower()]
    except KeyError:
        msg = f"{output}: no format is known by this suffix ({', '.join(_SUFFIXES)}); give --format"
        raise InputError(msg) from None


def wants_color() -> bool:
    """Tell whether stdout takes colour: NO_COLOR wins over FORCE_COLOR, that over TERM=dumb, that over the terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in {"", "0", "false"}:
        return True
    return os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def render(document: Document, chosen: Format, *, color: bool) -> str:
    """Render a description in one of the formats that people read."""
    from skillshift_frames.render.show import render_as  # noqa: PLC0415 - not for --help

    return render_as(document, chosen, color=color)


class Make(Protocol):
    """Makes an output in a format, in colour or not."""

    def __call__(self, chosen: Format, *, color: bool) -> str:
        """Give the whole output as text."""


def emit(make: Make, given: Format | None, output: Path | None, *, force: bool) -> None:
    """Make the output and write it to the file, whole or not at all, or to stdout.

    ``make`` gets the format and whether colour is wanted. What is in the way of the file is found out before it is
    called: the work behind it may take long, so commands do theirs in it.
    """
    from skillshift_frames.render.files import refuse_to_overwrite, write_text  # noqa: PLC0415 - not for --help

    chosen = chosen_format(given, output)
    if output is None or str(output) in _STDOUT:
        with progress_shown():
            made = make(chosen, color=wants_color())
        # Bytes, not text: the same on every platform and under every locale.
        content = made.encode()
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            discard(sys.stdout)  # and the exit code stays that of the answer
        return
    refuse_to_overwrite(output, force=force)
    with progress_shown():
        made = make(chosen, color=False)
    write_text(made, output, force=force)
