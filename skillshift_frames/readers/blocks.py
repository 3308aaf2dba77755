"""Files → blocks of whole lines of one layout.

A block is as much text as is worked on at once: a stretch of a large file, a piece of a compressed one, or many small files
of the same layout one after the other. It lies in memory that is used again for later blocks: memory that is new
takes longer to get than to fill.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.readers.sources import size_of
from skillshift_frames.readers.streams import StreamError, read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import FileIO

    from skillshift_frames.readers.sources import Source

#: Bytes of a block. Larger ones gain no time; each smaller one takes its few milliseconds to begin and to end.
BLOCK = 32 << 20

#: So much of a file is looked at to learn its layout: a first line that is longer is not a usual one.
_START = 4 << 10

_UID = re.compile(rb'(\s*\{\s*"uid"\s*:\s*")[^"\\]*("\s*,\s*"[^"\\]*")')
_RUN = re.compile(rb'"run"\s*:\s*"')


class Layout(NamedTuple):
    """How lines are written that have the uid first: what precedes it, and what follows it up to the next key."""

    before: str
    after: str


class Stretch(NamedTuple):
    """Whole lines of one file, by its number: where they are in a block's text."""

    file: int
    start: int
    stop: int


class Block(NamedTuple):
    """Lines of one layout.

    Attributes
    ----------
    layout
        None where it could not be learnt, or where there is something wrong with the file.
    stretches
        What is from which file.
    text
        The lines; each ends with a newline.
    size
        How many bytes of the files this is.
    """

    layout: Layout | None
    stretches: tuple[Stretch, ...]
    text: bytes
    size: int

    def part(self, files: set[int]) -> Block:
        """Leave out all but some files."""
        kept = [stretch for stretch in self.stretches if stretch.file in files]
        texts = [self.text[stretch.start : stretch.stop] for stretch in kept]
        return _joined(
            [
                Block(self.layout, (Stretch(stretch.file, 0, len(text)),), text, len(text))
                for stretch, text in zip(kept, texts, strict=True)
            ]
        )


class UnfitError(Exception):
    """Some of these lines have to be looked at one by one."""


def layout_of(start: bytes) -> Layout | None:
    """Learn the layout from a file's first line, None where it has another one, or names its run: that is not for us."""
    line = start.partition(b"\n")[0]
    found = None if _RUN.search(line) else _UID.match(line)
    try:
        return found and Layout(found[1].decode(), found[2].decode())
    except UnicodeDecodeError:
        return None


def blocks_of(
    sources: Sequence[Source], *, skip: Callable[[int], bool] = lambda _: False
) -> Iterator[Block]:
    """Give the blocks of files, in no particular order; a file without a layout of this kind is one block without a layout.

    Two blocks later the memory of a block's text is used again, unless somebody holds on to it: then that is copied. Of
    files, by number, for which ``skip`` becomes true nothing more is read.
    """
    numbers = [number for number in range(len(sources)) if not skip(number)]
    plain = [number for number in numbers if sources[number].compression is None]
    sizes = [size_of(sources[number]) for number in plain]
    size = min(BLOCK, sum(sizes) + len(sizes) + 1)
    yield from _of_plain(plain, sources, skip, _Held(_Memory(size)))
    compressed = [number for number in numbers if sources[number].compression is not None]
    yield from _of_compressed(compressed, sources, skip)


class _Memory:
    """Two pieces of memory that texts are read into by turns.

    Attributes
    ----------
    filled
        How many bytes were read since a text was taken, with what it left over.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._pieces = (io.BytesIO(), io.BytesIO())
        self._left = b""
        self.filled = 0

    @property
    def full(self) -> bool:
        """Whether nothing more can be read; there is always room for a newline."""
        return self.filled >= self._size - 1

    def read(self, file: FileIO) -> int:
        """Read as much of a file as there is room for, or less, but something if there is anything."""
        with self._whole() as view:
            read = file.readinto(view[self.filled : self._size - 1])
        self.filled += read
        return read

    def end_line(self) -> None:
        """Add a newline if the last line lacks one."""
        with self._whole() as view:
            if self.filled and view[self.filled - 1] != ord("\n"):
                view[self.filled] = ord("\n")
                self.filled += 1

    def end_of_lines(self) -> int:
        """Give the place after the last newline, or 0."""
        at = self.filled
        with self._whole() as view:
            while at > 0:
                start = max(at - _START, 0)
                found = bytes(view[start:at]).rfind(b"\n")
                if found >= 0:
                    return start + found + 1
                at = start
        return 0

    def take(self, stop: int) -> bytes:
        """Give the text up to a place; what follows it begins the next one."""
        piece = self._pieces[0]
        with self._whole() as view:
            self._left = bytes(view[stop : self.filled])
        piece.truncate(stop)
        text = piece.getvalue()
        # The next piece is not touched before there is more to read: until then somebody may need what it holds.
        self._pieces = self._pieces[::-1]
        self.filled = len(self._left)
        return text

    def _whole(self) -> memoryview:
        piece = self._pieces[0]
        if piece.seek(0, io.SEEK_END) < self._size:
            piece.seek(self._size - 1)
            piece.write(b"\0")
        view = piece.getbuffer()
        view[: len(self._left)] = self._left
        self._left = b""
        return view


def _of_plain(
    numbers: Sequence[int],
    sources: Sequence[Source],
    skip: Callable[[int], bool],
    held: _Held,
) -> Iterator[Block]:
    """Read files into blocks, several of one layout into one: first those that are like the first, then the others."""
    held.layout = None
    others: dict[Layout, list[int]] = {}
    for number in numbers:
        if skip(number):
            continue
        try:
            with open(sources[number].path, "rb", buffering=0) as file:  # noqa: PTH123 - as it was given
                layout = layout_of(file.read(_START))
                file.seek(0)
                held.layout = held.layout or layout
                if layout is None:
                    yield _unfit(number, size_of(sources[number]))
                elif layout == held.layout:
                    yield from held.blocks_of(number, file, skip)
                else:
                    others.setdefault(layout, []).append(number)
        except OSError:
            held.drop()
            yield _unfit(number, size_of(sources[number]))
    yield from held.block()
    for alike in others.values():
        yield from _of_plain(alike, sources, skip, held)


class _Held:
    """What was read into memory and is no block yet."""

    def __init__(self, memory: _Memory) -> None:
        self._memory = memory
        self._size = self._start = 0
        self._stretches: list[Stretch] = []
        self.layout: Layout | None = None

    def blocks_of(self, number: int, file: FileIO, skip: Callable[[int], bool]) -> Iterator[Block]:
        """Read a file to its end; gives a block whenever the memory is full, and holds the rest."""
        memory, nothing = self._memory, True
        while (read := memory.read(file)) or memory.full:
            self._size += read
            nothing = nothing and not read
            if not memory.full:
                continue
            stop = memory.end_of_lines()
            if not stop:  # a line without an end
                yield _unfit(number, 0)
            if not stop or skip(number):
                self.drop()
                return
            self._add(number, stop)
            yield from self.block()
        if nothing:  # somebody has emptied it since its layout was learnt
            yield _unfit(number, 0)
        memory.end_line()
        self._add(number, memory.filled)

    def drop(self) -> None:
        """Forget what was read of a file since a block was given."""
        self._memory.filled = self._start

    def block(self) -> Iterator[Block]:
        """Give what is held, if anything is, but for a line without its end."""
        if self._stretches:
            text = self._memory.take(self._start)
            yield Block(self.layout, tuple(self._stretches), text, self._size)
            self._stretches, self._size, self._start = [], 0, 0

    def _add(self, file: int, stop: int) -> None:
        if self._start < stop:
            self._stretches.append(Stretch(file, self._start, stop))
        self._start = stop


def _unfit(file: int, size: int) -> Block:
    return Block(None, (Stretch(file, 0, 0),), b"", size)


def _joined(blocks: Sequence[Block]) -> Block:
    """Put blocks of one layout one after the other."""
    stretches: list[Stretch] = []
    start = 0
    for block in blocks:
        stretches += (Stretch(s.file, start + s.start, start + s.stop) for s in block.stretches)
        start += len(block.text)
    text = b"".join(block.text for block in blocks)
    return Block(blocks[0].layout, tuple(stretches), text, sum(block.size for block in blocks))


def _of_compressed(
    numbers: Sequence[int], sources: Sequence[Source], skip: Callable[[int], bool]
) -> Iterator[Block]:
    """Give files piece by piece, small pieces of one layout together."""
    held: dict[Layout | None, list[Block]] = {}
    filled: Counter[Layout | None] = Counter()
    for number in numbers:
        if skip(number):
            continue
        for piece in _pieces_of(number, sources[number]):
            held.setdefault(piece.layout, []).append(piece)
            filled[piece.layout] += len(piece.text)
            if piece.layout is None or filled[piece.layout] >= BLOCK // 2:
                del filled[piece.layout]
                yield _joined(held.pop(piece.layout))
            if skip(number):
                break
    yield from map(_joined, held.values())


def _pieces_of(number: int, source: Source) -> Iterator[Block]:
    """Give a compressed file piece by piece; how much of it is read is not known in between, and said with the first."""
    layout: Layout | None = None
    left = size_of(source)
    whole = False
    try:
        for text, first_line in read_blocks(source, BLOCK):
            if first_line == 1:
                layout = layout_of(text[:_START])
            lines = text if text.endswith(b"\n") else text + b"\n"
            stretch = Stretch(number, 0, len(lines))
            yield Block(layout, (stretch,), lines, left)
            whole, left = True, 0
    except StreamError:
        whole = False
    if not whole:  # damaged, or nothing in it
        yield _unfit(number, left)
