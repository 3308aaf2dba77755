"""A block of lines → groups of lines that differ in the number at the end of the uid only, proved to be just that.

The lines of a run repeat each other but for that number. Lines are grouped by what follows the uid, as text; that all of
a group begin alike follows from the first and the last of them in the order of strings, since whatever lies between two
strings begins with what both begin with. What is left of each line is then its number, if it holds nothing but digits,
and that is seen of all lines at once: the block has as many other bytes as the repeated texts account for.
"""

from __future__ import annotations

import io
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from msgspec import UNSET

from skillshift_frames.readers import records
from skillshift_frames.readers.blocks import UnfitError, read_text
from skillshift_frames.readers.streams import LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.readers.blocks import Block, Layout
    from skillshift_frames.readers.records import Record
    from skillshift_frames.readers.sources import Source

#: With more distinct lines than one in so many, grouping saves too little; with few of them there is little to lose.
_LINES_PER_GROUP, _FEW_GROUPS = 2, 200

#: More distinct lines than this in all files are not held: each takes half a kilobyte.
MOST_TEXTS = 200_000

#: Bytes that are counted at once: they stay in the processor's cache.
_PIECE = 1 << 18

_DIGITS = b"0123456789"
_ODD = 0x9E37_79B9_7F4A_7C15

#: What JSON text may not hold unescaped, and what starts an escape or ends the text: such a uid is not plain.
_NOT_PLAIN = r'[\x00-\x1f\\"]'


class Text(NamedTuple):
    """What lines of one group have in common: the line but for the uid, and the uid but for the digits at its end."""

    before: str
    rest: str
    head: str
    numbered: bool  # whether there are such digits


class Decoded(NamedTuple):
    """What a line says but for its uid: the record, the key's other parts as a number, and how many bytes are no digits."""

    record: Record
    cell: int
    not_digits: int


class Groups(NamedTuple):
    """The lines of a block.

    Attributes
    ----------
    counts
        One row is one group and run: ``run`` and ``text`` (their numbers), and ``lines``.
    keys
        64 bits per line that are equal where keys are; None where keys are not looked at.
    """

    counts: pl.DataFrame
    keys: NDArray[np.uint64] | None


class Grouper:
    """Groups the lines of blocks, and decodes each distinct line once; several threads share it.

    Attributes
    ----------
    numbers
        The texts that were found so far, each with its number.
    """

    def __init__(self, sources: Sequence[Source], runs: Sequence[int], *, unique: bool) -> None:
        self._sources, self._runs, self._unique = sources, runs, unique
        self._decoded: dict[str, dict[str, Decoded]] = {}
        self._lock = Lock()
        self.numbers: dict[Text, int] = {}

    def record(self, text: Text) -> Record:
        """Give the record that a text says, without its uid."""
        return self._decoded[text.before][text.rest].record

    def groups(self, block: Block) -> Groups:
        """Give the groups of a block.

        Raises
        ------
        UnfitError
            Some line is not of the block's layout, or no record by itself, or there are too few lines per group.
        """
        layout = block.layout
        if layout is None:
            raise UnfitError
        _fit(len(self.numbers) <= MOST_TEXTS)
        try:
            text, lengths = read_text(block, self._sources)
        except OSError as error:
            raise UnfitError from error
        _fit(len(text) <= LONGEST_LINE)  # and so is every line
        runs = [self._runs[stretch.source] for stretch in block.stretches]
        several = len(set(runs)) > 1
        try:
            lines = self._split(text, layout)
            if several or self._unique:
                lines = lines.collect(engine="streaming").lazy()
            grouped = lines.group_by("rest").agg(
                pl.col("line").min().alias("first"),
                pl.col("line").max().alias("last"),
                pl.len().cast(pl.Int64).alias("lines"),
            )
            found = grouped.collect(engine="streaming")
        except pl.exceptions.ComputeError as error:  # not UTF-8
            raise UnfitError from error
        texts = _with_heads(found, layout.before)
        decoded = self._decode(layout.before, texts.get_column("rest").to_list())
        _fit(_not_digits(text) == _accounted_for(texts, decoded, text))
        numbers = self._number(layout.before, texts)
        run = pl.lit(_repeated(runs, lengths) if several else runs[0], dtype=pl.Int64)
        keys = _keys(lines.select(run, "rest", "hash"), found, decoded) if self._unique else None
        counts = numbers.to_frame().select(
            run.first().alias("run"), "text", texts.get_column("lines")
        )
        if several:
            per_run = lines.select(run.alias("run"), "rest").group_by("run", "rest")
            counted = per_run.agg(pl.len().cast(pl.Int64).alias("lines"))
            numbered = found.lazy().select("rest", numbers)
            counts = counted.join(numbered, on="rest").select(*counts.columns).collect()
        return Groups(counts, keys)

    def _split(self, text: bytes, layout: Layout) -> pl.LazyFrame:
        """Give each line with what follows its uid; where keys are looked at, also a hash of the uid."""
        line = pl.col("line")
        # Found in bytes, and cut in bytes: what is cut by characters is gone through from its start.
        binary, end = line.cast(pl.Binary), line.str.find(layout.after, literal=True)
        rest, start = binary.bin.slice(end), len(layout.before)
        scan = pl.scan_lines(io.BytesIO(text))
        if not self._unique:
            return scan.select(binary, rest.alias("rest"))
        return scan.select(
            binary,
            rest.cast(pl.String).cast(pl.Categorical).alias("rest"),
            binary.bin.slice(start, end - start).hash().alias("hash"),
        )

    def _decode(self, before: str, rests: list[str]) -> list[Decoded]:
        known = self._decoded.setdefault(before, {})
        for rest in rests:
            if rest not in known:
                known[rest] = _decoded(before, rest)
        return [known[rest] for rest in rests]

    def _number(self, before: str, texts: pl.DataFrame) -> pl.Series:
        rows = texts.select("rest", "head", "numbered").iter_rows()
        with self._lock:  # what is looked up and then added must not be added twice
            numbers = [
                self.numbers.setdefault(Text(before, *row), len(self.numbers)) for row in rows
            ]
        return pl.Series("text", numbers, dtype=pl.UInt32)


def _decoded(before: str, rest: str) -> Decoded:
    try:
        record = records.decode_line(f"{before}{rest}".encode())
    except records.REFUSALS as error:
        raise UnfitError from error
    # Where records name their run, labels and the notes on them are the general reader's.
    _fit(record.run is UNSET or record.run is None)
    _fit(records.fits_64_bits(record))
    trial = 1 if record.trial is UNSET else record.trial  # a line may say so or leave it out
    cell = hash((record.site, record.condition, trial))
    return Decoded(record, cell, _others(before) + _others(rest))


def _repeated(runs: list[int], lengths: list[int]) -> pl.Series:
    import numpy as np

    return pl.Series(np.repeat(np.array(runs, dtype=np.int64), lengths))


def _fit(is_so: bool) -> None:  # noqa: FBT001 - reads as a sentence
    if not is_so:
        raise UnfitError


def _with_heads(found: pl.DataFrame, before: str) -> pl.DataFrame:
    """Give each group what the uids of its lines begin with; all lines of all groups must begin so."""
    rest, first, last = (pl.col(name).cast(pl.String) for name in ("rest", "first", "last"))
    uid = first.str.strip_prefix(before).str.strip_suffix(rest)
    groups = found.with_columns(
        rest, first, last, head=uid.str.strip_chars_end(_DIGITS.decode())
    ).with_columns(numbered=pl.col("head") != uid)
    begins = (pl.col("first").str.starts_with(before)) & pl.col("last").str.starts_with(
        pl.concat_str(pl.lit(before), "head")
    )
    fits = (
        pl.col("rest").is_not_null()
        # What ends a line was left out by Polars; what is accounted for below depends on it.
        & ~pl.col("rest").str.ends_with("\r")
        & begins
        & (pl.col("numbered") | (pl.col("first") == pl.col("last")))
        & ~pl.col("head").str.contains(_NOT_PLAIN)
    )
    refuse_too_many(groups.height, int(groups.get_column("lines").sum()))
    _fit(groups.select(fits.all()).item() is True)
    return groups


def refuse_too_many(groups: int, lines: int) -> None:
    """Raise `UnfitError` where grouping saves too little."""
    _fit(groups <= max(_FEW_GROUPS, lines // _LINES_PER_GROUP))


def _not_digits(text: bytes) -> int:
    import numpy as np

    codes = np.frombuffer(text, dtype=np.uint8)
    pieces = (codes[start : start + _PIECE] for start in range(0, len(codes), _PIECE))
    # Below "0" the difference wraps around, and is as large as above "9".
    return sum(int(np.count_nonzero(piece - ord("0") > 9)) for piece in pieces)  # noqa: PLR2004


def _others(text: str) -> int:
    """Count the bytes of a text that are no digits."""
    return len(text.encode().translate(None, _DIGITS))


def _accounted_for(texts: pl.DataFrame, decoded: list[Decoded], block: bytes) -> int:
    """Count the bytes that are no digits in what the lines repeat and in what ends them."""
    heads = texts.get_column("head")
    in_head = {head: _others(head) for head in heads.unique().to_list()}
    lines: list[int] = texts.get_column("lines").to_list()
    in_lines = sum(
        n * (one.not_digits + in_head[head])
        for n, one, head in zip(lines, decoded, heads.to_list(), strict=True)
    )
    returns = block.count(b"\r\n") if b"\r" in block else 0  # to look for one byte is much faster
    return in_lines + sum(lines) - (not block.endswith(b"\n")) + returns


def _keys(lines: pl.LazyFrame, found: pl.DataFrame, decoded: list[Decoded]) -> NDArray[np.uint64]:
    """Mix each uid's hash with the other parts of the key; whether equal ones are of one key, others settle."""
    import numpy as np

    run, rest, uid = lines.collect()
    codes = rest.to_physical().to_numpy()
    cells = np.zeros(int(codes.max()) + 1, dtype=np.uint64)
    in_groups = found.get_column("rest").to_physical().to_numpy()
    cells[in_groups] = np.array([one.cell for one in decoded], dtype=np.int64).view(np.uint64)
    # The product wraps around, which is meant: it spreads small numbers over all bits.
    keys: NDArray[np.uint64] = (
        uid.to_numpy() ^ cells[codes] ^ (run.to_numpy().astype(np.uint64) * _ODD)
    )
    return keys
