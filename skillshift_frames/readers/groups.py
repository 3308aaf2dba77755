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
    """What the lines of one group have in common.

    Attributes
    ----------
    number
        Of the text, from 0.
    record
        What a line says but for its uid.
    head, numbered
        The uid but for the digits at its end, and whether there are any.
    cell
        The key's other parts as a number.
    not_digits
        How many bytes of a line are no digits.
    """

    number: int
    record: Record
    head: str
    numbered: bool
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
    texts
        What was found so far, by number.
    """

    def __init__(self, sources: Sequence[Source], runs: Sequence[int], *, unique: bool) -> None:
        self._sources, self._runs, self._unique = sources, runs, unique
        self._known: dict[str, dict[tuple[str, str, bool], Text]] = {}
        self._lock = Lock()
        self.texts: list[Text] = []

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
        _fit(len(self.texts) <= MOST_TEXTS)
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
        groups = _with_heads(found, layout.before)
        texts = self._texts(layout.before, groups.select("rest", "head", "numbered").rows())
        sizes = groups.get_column("lines")
        repeated = sum(n * one.not_digits for n, one in zip(sizes.to_list(), texts, strict=True))
        _fit(_not_digits(text) == repeated + _in_ends(text, int(sizes.sum())))
        run = pl.lit(_repeated(runs, lengths) if several else runs[0], dtype=pl.Int64)
        keys = _keys(lines.select(run, "rest", "hash"), found, texts) if self._unique else None
        number = pl.Series("text", [one.number for one in texts], dtype=pl.UInt32)
        counts = groups.select(run.first().alias("run"), number, "lines")
        if several:
            per_run = lines.select(run.alias("run"), "rest").group_by("run", "rest")
            counted = per_run.agg(pl.len().cast(pl.Int64).alias("lines"))
            numbered = found.lazy().select("rest", number)
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

    def _texts(self, before: str, groups: list[tuple[str, str, bool]]) -> list[Text]:
        """Give the text of each group: what follows the uid, what it begins with, whether it has a number."""
        known = self._known.setdefault(before, {})
        for group in groups:
            if group not in known:
                rest, head, numbered = group
                record, cell = _decoded(f"{before}{rest}")
                not_digits = _count_not_digits(f"{before}{head}{rest}")
                with self._lock:  # another thread may have been here in between
                    text = Text(len(self.texts), record, head, numbered, cell, not_digits)
                    if known.setdefault(group, text) is text:
                        self.texts.append(text)
        return [known[group] for group in groups]


def _decoded(line: str) -> tuple[Record, int]:
    try:
        record = records.decode_line(line.encode())
    except records.REFUSALS as error:
        raise UnfitError from error
    # Where records name their run, labels and the notes on them are the general reader's.
    _fit(record.run is UNSET or record.run is None)
    _fit(records.fits_64_bits(record))
    trial = 1 if record.trial is UNSET else record.trial  # a line may say so or leave it out
    return record, hash((record.site, record.condition, trial))


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


def _count_not_digits(text: str) -> int:
    return len(text.encode().translate(None, _DIGITS))


def _in_ends(text: bytes, lines: int) -> int:
    """Count the bytes that end so many lines."""
    returns = text.count(b"\r\n") if b"\r" in text else 0  # to look for one byte is much faster
    return lines - (not text.endswith(b"\n")) + returns


def _keys(lines: pl.LazyFrame, found: pl.DataFrame, texts: list[Text]) -> NDArray[np.uint64]:
    """Mix each uid's hash with the other parts of the key; whether equal ones are of one key, others settle."""
    import numpy as np

    run, rest, uid = lines.collect()
    codes = rest.to_physical().to_numpy()
    cells = np.zeros(int(codes.max()) + 1, dtype=np.uint64)
    in_groups = found.get_column("rest").to_physical().to_numpy()
    cells[in_groups] = np.array([one.cell for one in texts], dtype=np.int64).view(np.uint64)
    # The product wraps around, which is meant: it spreads small numbers over all bits.
    keys: NDArray[np.uint64] = (
        uid.to_numpy() ^ cells[codes] ^ (run.to_numpy().astype(np.uint64) * _ODD)
    )
    return keys
