"""Files → blocks of whole lines of one layout, to be worked on side by side.

A block is as much text as one thread holds at a time: a stretch of a large file, one piece of a compressed one, or many
small files of the same layout one after the other. Plain text is read only where it is worked on, so that reading is
shared out, too.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.readers.sources import size_of
from skillshift_frames.readers.streams import StreamError, read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillshift_frames.readers.sources import Source

#: Bytes per block, but for its last line. Larger ones gain little time and cost memory per block.
BLOCK = 12 << 20

#: So much of a file is looked at to learn its layout: a first line that is longer is not a usual one.
_START = 4 << 10

_UID = re.compile(rb'(\s*\{\s*"uid"\s*:\s*")[^"\\]*("\s*,\s*"[^"\\]*")')


class Layout(NamedTuple):
    """How lines are written that have the uid first: what precedes it, and what follows it up to the next key."""

    before: str
    after: str


class Stretch(NamedTuple):
    """Bytes of one file, by its number; of what is compressed the bytes are not told apart."""

    source: int
    start: int
    stop: int


class Block(NamedTuple):
    """Whole lines: where they are, their text if it has been read already, and how much of the files it is."""

    layout: Layout | None
    stretches: tuple[Stretch, ...]
    text: bytes | None
    size: int


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
        if source.compression is not None:
            yield from _of_stream(number, source, skip, size)
            continue
        try:
            found, stretches = _stretches(number, source.path, size)
        except OSError:
            found, stretches = None, [Stretch(number, 0, 0)]
        for stretch in stretches:
            if held and (found != layout or _bytes([*held, stretch]) > size):
                yield Block(layout, tuple(held), None, _bytes(held))
                held = []
            if skip(number):
                break
            layout = found
            held.append(stretch)
    if held:
        yield Block(layout, tuple(held), None, _bytes(held))


def _of_stream(
    number: int, source: Source, skip: Callable[[int], bool], size: int
) -> Iterator[Block]:
    layout: Layout | None = None
    stretch = (Stretch(number, 0, 0),)
    # How much was read of what is compressed is not known in between; it is said with the first piece.
    read = size_of(source)
    try:
        for text, first_line in read_blocks(source, size):
            if first_line == 1:
                layout = layout_of(text[:_START])
            yield Block(layout, stretch, text, read)
            read = 0
            if skip(number):
                return
    except StreamError:
        yield Block(None, stretch, b"", read)
    if read:  # nothing in it
        yield Block(None, stretch, b"", read)


def _bytes(stretches: Sequence[Stretch]) -> int:
    return sum(stretch.stop - stretch.start for stretch in stretches)


def _stretches(number: int, path: str, size: int) -> tuple[Layout | None, list[Stretch]]:
    """Cut a file after newlines, into stretches that are no longer than a block and a line."""
    with open(path, "rb") as file:  # noqa: PTH123 - the path is used as it was given
        layout = layout_of(file.read(_START))
        end = file.seek(0, os.SEEK_END)
        start, stretches = 0, []
        while start < end:
            stop = end
            if end - start > size:
                file.seek(start + size)
                stop = start + size + len(file.readline(size))
            stretches.append(Stretch(number, start, stop))
            start = stop
    return layout, stretches


def read_text(block: Block, sources: Sequence[Source]) -> tuple[bytes, list[int]]:
    """Read a block's text; gives how many lines each of its stretches has, if there are several."""
    if block.text is not None:
        return block.text, []
    texts = [_read(sources[stretch.source].path, stretch) for stretch in block.stretches]
    if len(texts) == 1:
        return texts[0], []
    whole = [text if text.endswith(b"\n") else text + b"\n" for text in texts]
    return b"".join(whole), [text.count(b"\n") for text in whole]


def _read(path: str, stretch: Stretch) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as above
        file.seek(stretch.start)
        pieces, missing = [], stretch.stop - stretch.start
        while missing and (piece := file.read(missing)):
            pieces.append(piece)
            missing -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
