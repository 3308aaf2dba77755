"""A file as blocks of whole lines: decompressed, bounded in memory, damage named."""

from __future__ import annotations

import sys
import zlib
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import IO, TYPE_CHECKING, cast

from skillshift_frames.readers.growing import is_unfinished
from skillshift_frames.readers.sources import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase

    from skillshift_frames.readers.sources import Compression, Source

#: Bytes per block. Larger ones gain little time and cost memory per block.
BLOCK = 16 << 20

#: Bytes that are decompressed at once: so many at most are lost where a stream is damaged.
_PIECE = 64 << 10

#: A longer line is a fault: records are a few hundred bytes, and a line is held in memory whole.
LONGEST_LINE = 16 << 20

_MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class StreamError(Exception):
    """A stream that cannot be read on: the rule it breaks, and the line at which it stopped, if it began."""

    def __init__(self, rule: str, message: str, hint: str, line: int | None) -> None:
        super().__init__(message)
        self.rule, self.message, self.hint, self.line = rule, message, hint, line


@contextmanager
def _open(source: Source) -> Iterator[IO[bytes]]:
    stdin = nullcontext(sys.stdin.buffer) if source.path == STDIN else None
    with stdin or open(source.path, "rb") as raw:  # noqa: PTH123 - the path is used as it was given
        if source.compression is None:
            yield raw
        elif source.compression == "gz":
            import gzip  # noqa: PLC0415 - only compressed files need it

            with gzip.open(raw) as stream:
                yield cast("IO[bytes]", stream)
        else:
            import pyarrow as pa

            with pa.CompressedInputStream(raw, "zstd") as stream:
                yield stream


def _compression_of_stdin() -> Compression | None:
    """Tell by its first bytes how standard input is compressed: it has no name to tell."""
    peek = getattr(sys.stdin.buffer, "peek", None)
    start = peek(4)[:4] if peek else b""
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


def _chunks(stream: IO[bytes], size: int, *, compressed: bool) -> Iterator[bytes]:
    """Read on; what was decompressed before a damaged place comes before the exception."""
    if not compressed:
        while chunk := stream.read(size):
            yield chunk
        return
    read = cast("BufferedIOBase", stream).read1
    pieces: list[bytes] = []
    held = 0
    try:
        while piece := read(min(size - held, _PIECE)):
            pieces.append(piece)
            held += len(piece)
            if held == size:
                yield b"".join(pieces)
                pieces, held = [], 0
    except (OSError, EOFError, zlib.error):
        yield b"".join(pieces)
        raise
    yield b"".join(pieces)


def read_blocks(source: Source, size: int = BLOCK) -> Iterator[tuple[bytes, int]]:
    """Give the stream in blocks of whole lines, each with the number of its first line.

    A byte-order mark at the start is dropped; the last line may lack its newline.

    Raises
    ------
    StreamError
        The stream is cut short or damaged, cannot be read, or has a line longer than `LONGEST_LINE`.
    """
    if source.path == STDIN:
        source = replace(source, compression=_compression_of_stdin())
    line, pending, opened = 1, b"", False
    try:
        with _open(source) as stream:
            opened = True
            for chunk in _chunks(stream, size, compressed=source.compression is not None):
                _refuse_long(len(pending) + max(chunk.find(b"\n"), 0), line)
                end = chunk.rfind(b"\n") + 1
                block, pending = (
                    (pending + chunk[:end], chunk[end:]) if end else (b"", pending + chunk)
                )
                if block:
                    yield block.removeprefix(_BYTE_ORDER_MARK) if line == 1 else block, line
                    line += block.count(b"\n")
                _refuse_long(len(pending), line)
            if pending and not is_unfinished(source.path, line, pending):
                yield pending.removeprefix(_BYTE_ORDER_MARK) if line == 1 else pending, line
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None)
        if source.compression and not reason:
            rule, hint = "compression", "copy or compress the file again"
            message = f"the .{source.compression} stream is cut short or damaged: {error}"
        else:
            rule, hint, message = "unreadable", "", f"cannot be read: {reason or error}"
        raise StreamError(rule, message, hint, line if opened else None) from error


def _refuse_long(length: int, line: int) -> None:
    if length > LONGEST_LINE:
        rule, hint = "line-length", "one record per line is needed"
        message = f"the line is longer than {LONGEST_LINE >> 20} MiB"
        raise StreamError(rule, message, hint, line)
