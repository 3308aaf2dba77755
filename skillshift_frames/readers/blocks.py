"""Files → blocks of whole lines of one layout, to be worked on side by side.

A block is as much text as one thread holds at a time: a stretch of a large file, one piece of a compressed one, or many
small files of the same layout one after the other. Plain text is read only where it is worked on, so that reading is
shared out, too.
"""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.readers.sources import size_of
from skillshift_frames.readers.streams import StreamError, read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillshift_frames.readers.sources import Source

#: Bytes per block, but for its last line: less than a line may have, so that a block of usual lines is no longer than one.
BLOCK = 12 << 20

#: So much of a file is looked at to learn its layout: a first line that is longer is not a usual one.
_START = 4 << 10

_NEWLINE = ord("\n")

_UID = re.compile(rb'(\s*\{\s*"uid"\s*:\s*")[^"\\]*("\s*,\s*"[^"\\]*")')


class Layout(NamedTuple):
    """How lines are written that have the uid first: what precedes it, and what follows it up to the next key."""

    before: str
    after: str


class Stretch(NamedTuple):
    """Whole lines of one file, by its number: where they are, or their text; and how much of the file they are."""

    source: int
    start: int
    stop: int
    size: int
    text: bytes | None = None


class Block(NamedTuple):
    """Stretches of one layout; None where it could not be learnt."""

    layout: Layout | None
    stretches: tuple[Stretch, ...]


class UnfitError(Exception):
    """Some of these lines have to be looked at one by one."""


def layout_of(start: bytes) -> Layout | None:
    """Learn the layout from a file's first line, None where it has another one."""
    found = _UID.match(start.partition(b"\n")[0])
    try:
        return found and Layout(found[1].decode(), found[2].decode())
    except UnicodeDecodeError:
        return None


def blocks_of(
    sources: Sequence[Source],
    *,
    skip: Callable[[int], bool] = lambda _: False,
    size: int | None = None,
) -> Iterator[Block]:
    """Give the blocks of files in their order; a file without a layout of this kind is one block without a layout.

    Of files, by number, for which ``skip`` becomes true nothing more is read.
    """
    size = size or BLOCK
    held: list[Stretch] = []
    layout: Layout | None = None
    for number, source in enumerate(sources):
        if skip(number):
            continue
        of_file = _of_plain if source.compression is None else _of_compressed
        for found, stretch in of_file(number, source, size):
            if held and (found != layout or _length([*held, stretch]) > size):
                yield Block(layout, tuple(held))
                held = []
            if skip(number):
                break
            layout = found
            held.append(stretch)
    if held:
        yield Block(layout, tuple(held))


def _length(stretches: Sequence[Stretch]) -> int:
    return sum(stretch.stop - stretch.start for stretch in stretches)


def _of_compressed(
    number: int, source: Source, size: int
) -> Iterator[tuple[Layout | None, Stretch]]:
    """Give a file piece by piece; how much of it is read is not known in between, and said with the first."""
    layout: Layout | None = None
    left = size_of(source)
    whole = False
    try:
        for text, first_line in read_blocks(source, size):
            if first_line == 1:
                layout = layout_of(text[:_START])
            yield layout, Stretch(number, 0, len(text), left, text)
            whole, left = True, 0
    except StreamError:
        whole = False
    if not whole:  # damaged, or nothing in it
        yield None, Stretch(number, 0, 0, left, b"")


def _of_plain(number: int, source: Source, size: int) -> Iterator[tuple[Layout | None, Stretch]]:
    """Cut a file after newlines, into stretches that are no longer than a block and a line."""
    layout: Layout | None = None
    stretches: list[Stretch] = []
    try:
        with open(source.path, "rb") as file:  # noqa: PTH123 - the path is used as it was given
            layout = layout_of(file.read(_START))
            end = file.seek(0, os.SEEK_END)
            start = 0
            while start < end:
                stop = end
                if end - start > size:
                    file.seek(start + size)
                    stop = start + size + len(file.readline(size))
                stretches.append(Stretch(number, start, stop, stop - start))
                start = stop
    except OSError:
        stretches = []
    if not stretches:  # cannot be read, or nothing in it
        layout, stretches = None, [Stretch(number, 0, 0, 0)]
    for stretch in stretches:
        yield layout, stretch


def read_text(block: Block, sources: Sequence[Source]) -> tuple[bytes, list[int]]:
    """Read a block's text; gives how many lines each of its stretches has, if there are several."""
    if len(block.stretches) == 1:
        stretch = block.stretches[0]
        return stretch.text or _read(sources[stretch.source].path, stretch), []
    import numpy as np

    # Into one piece of memory: to read many small ones and to join them takes as long as everything after.
    whole = io.BytesIO(bytes(_length(block.stretches) + len(block.stretches)))
    lines: list[int] = []
    with whole.getbuffer() as buffer:
        end = 0
        for stretch in block.stretches:
            start, end = end, end + stretch.stop - stretch.start
            _read_into(buffer[start:end], sources[stretch.source].path, stretch)
            if start == end or buffer[end - 1] != _NEWLINE:
                buffer[end], end = _NEWLINE, end + 1
            codes = np.frombuffer(buffer[start:end], dtype=np.uint8)
            lines.append(int(np.count_nonzero(codes == _NEWLINE)))
            del codes  # it holds on to the buffer
    whole.truncate(end)
    return whole.getvalue(), lines


def _read_into(buffer: memoryview, path: str, stretch: Stretch) -> None:
    if stretch.text is not None:
        buffer[:] = stretch.text
        return
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as in `_of_plain`
        file.seek(stretch.start)
        filled = 0
        while filled < len(buffer):
            read = file.readinto(buffer[filled:])
            if not read:
                msg = f"{path}: became shorter while it was read"
                raise OSError(msg)
            filled += read


def _read(path: str, stretch: Stretch) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as in `_of_plain`
        file.seek(stretch.start)
        pieces, missing = [], stretch.stop - stretch.start
        while missing and (piece := file.read(missing)):
            pieces.append(piece)
            missing -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
