"""A block of lines → groups of lines that differ in the number at the end of the uid only, proved to be just that.

The lines of a run repeat each other but for that number. Lines are grouped by what follows the uid, as text; that all of
a group begin alike follows from the first and the last of them in the order of strings, since whatever lies between two
strings begins with what both begin with. What is left of each line is then its number, if it holds nothing but digits,
and that is seen of all lines at once: the block has as many other bytes as the repeated texts account for.

Where that does not hold, lines that are not of the layout are taken out, if they are few, and decoded one by one.
"""

from __future__ import annotations

import io
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from msgspec import UNSET
from msgspec.structs import astuple

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

#: With more lines of another layout than one in so many, the general reader does better; a few are always few.
_LINES_PER_ODD, _FEW_ODD = 100, 10

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
    record
        What a line says but for its uid.
    head, numbered
        The uid but for the digits at its end, and whether there are any.
    """

    record: Record
    head: str
    numbered: bool


#: The texts of one layout: what follows the uid, the beginning of the uid, and whether a number ends it; then the number
#: of the text, the key's other parts as a number, and how many bytes of a line are no digits.
_TEXTS = pl.Schema(
    {
        "rest": pl.String(),
        "head": pl.String(),
        "numbered": pl.Boolean(),
        "text": pl.UInt32(),
        "cell": pl.Int64(),
        "not_digits": pl.Int64(),
    }
)
_NO_COUNTS = pl.Schema({"run": pl.Int64(), "text": pl.UInt32(), "lines": pl.Int64()})
_TEXT_KEY = ("rest", "head", "numbered")


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
        self._known: dict[str, pl.DataFrame] = {}
        self._known_alone: dict[tuple[object, ...], int] = {}
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
        run = _per_line(runs, lengths) if len(set(runs)) > 1 else pl.Series([runs[0]])
        try:
            try:
                return self._alike(text, layout, run)
            except UnfitError:
                return self._mixed(text, layout, run)
        except pl.exceptions.ComputeError as error:  # not UTF-8
            raise UnfitError from error

    def _alike(self, text: bytes, layout: Layout, run: pl.Series) -> Groups:
        """Group lines that are all of one layout; ``run`` has one value, or one per line."""
        several = len(run) > 1
        lines = self._split(text, layout, coded=self._unique or several)
        per_line = lines.collect(engine="streaming") if self._unique or several else None
        grouped = (lines if per_line is None else per_line.lazy()).group_by("rest")
        found = grouped.agg(
            pl.col("line").min().alias("first"),
            pl.col("line").max().alias("last"),
            pl.len().cast(pl.Int64).alias("lines"),
        ).collect(engine="streaming")
        groups = self._with_texts(_with_heads(found, layout.before), layout.before)
        repeated = (groups.get_column("lines") * groups.get_column("not_digits")).sum()
        ends = _in_ends(text, int(groups.get_column("lines").sum()))
        _fit(_not_digits(text) == int(repeated) + ends)
        counts = groups.select(pl.lit(run.item(0), pl.Int64).alias("run"), "text", "lines")
        if per_line is None:
            return Groups(counts, None)
        codes, of_groups = (frame.get_column("rest").to_physical() for frame in (per_line, found))
        if several:
            texts = _looked_up(codes, of_groups, groups.get_column("text"))
            counts = _counts(run, texts, groups=groups.height)
        if not self._unique:
            return Groups(counts, None)
        cells = _looked_up(codes, of_groups, groups.get_column("cell"))
        return Groups(counts, _keys(per_line.get_column("hash"), cells, run))

    def _mixed(self, text: bytes, layout: Layout, run: pl.Series) -> Groups:
        """Group lines of which a few are not of the layout."""
        line = pl.col("line")
        of_layout = line.str.starts_with(layout.before) & line.str.contains(
            layout.after, literal=True
        )
        scanned = pl.scan_lines(io.BytesIO(text)).select("line", of_layout.alias("fits")).collect()
        lines, fits = scanned
        odd = lines.filter(~fits)
        _fit(0 < odd.len() <= max(_FEW_ODD, lines.len() // _LINES_PER_ODD))
        several = len(run) > 1
        alike = Groups(_NO_COUNTS.to_frame(), _no_keys() if self._unique else None)
        if odd.len() < lines.len():
            joined = lines.filter(fits).str.join("\n").item().encode()
            alike = self._alike(joined, layout, run.filter(fits) if several else run)
        return self._with_odd(alike, odd, run.filter(~fits) if several else run)

    def _split(self, text: bytes, layout: Layout, *, coded: bool) -> pl.LazyFrame:
        """Give each line with what follows its uid, as a code if wanted; where keys are looked at, also a hash of the uid."""
        line = pl.col("line")
        # Found in bytes, and cut in bytes: what is cut by characters is gone through from its start.
        binary, end = line.cast(pl.Binary), line.str.find(layout.after, literal=True)
        rest, start = binary.bin.slice(end), len(layout.before)
        if coded:
            rest = rest.cast(pl.String).cast(pl.Categorical)
        uid = binary.bin.slice(start, end - start)
        hashes = (uid.hash().alias("hash"),) if self._unique else ()
        return pl.scan_lines(io.BytesIO(text)).select(binary, rest.alias("rest"), *hashes)

    def _with_odd(self, alike: Groups, odd: pl.Series, run: pl.Series) -> Groups:
        """Add lines that are decoded one by one; blank ones are none."""
        runs = run.to_list() if len(run) > 1 else run.to_list() * odd.len()
        of_run: list[int] = []
        numbers: list[int] = []
        cells: list[int] = []
        uids: list[bytes] = []
        for line, its_run in zip(odd, runs, strict=True):
            if not line.strip(" \t\r"):
                continue
            record, cell = _decoded(line)
            numbers.append(self._number_of(record))
            of_run.append(its_run)
            cells.append(cell)
            uids.append(record.uid.encode())
        found = pl.DataFrame({"run": of_run, "text": numbers, "lines": 1}, schema=_NO_COUNTS)
        counts = pl.concat([alike.counts, found])
        if alike.keys is None:
            return Groups(counts, None)
        import numpy as np

        hashes = pl.Series(uids, dtype=pl.Binary).hash()
        keys = _keys(hashes, pl.Series(cells, dtype=pl.Int64), found.get_column("run"))
        return Groups(counts, np.concatenate([alike.keys, keys]))

    def _number_of(self, record: Record) -> int:
        """Give the number of a text that is of one record only, which several runs may have."""
        content = astuple(record)
        with self._lock:
            number = self._known_alone.setdefault(content, len(self.texts))
            if number == len(self.texts):
                head = record.uid.rstrip(_DIGITS.decode())
                self.texts.append(Text(record, head, head != record.uid))
        return number

    def _with_texts(self, groups: pl.DataFrame, before: str) -> pl.DataFrame:
        """Give each group the text that its lines have in common, decoded where it is new."""
        known = self._known.get(before, _TEXTS.to_frame())
        found = groups.join(known, on=_TEXT_KEY, how="left", maintain_order="left")
        if not found.get_column("text").has_nulls():
            return found
        with self._lock:  # another thread may have met the same ones
            known = self._known.get(before, _TEXTS.to_frame())
            new = groups.join(known, on=_TEXT_KEY, how="anti").select(_TEXT_KEY)
            known = pl.concat([known, self._decode(before, new)])
            self._known[before] = known
        return groups.join(known, on=_TEXT_KEY, how="left", maintain_order="left")

    def _decode(self, before: str, new: pl.DataFrame) -> pl.DataFrame:
        found = []
        texts: list[Text] = []
        for rest, head, numbered in new.iter_rows():
            record, cell = _decoded(f"{before}{rest}")
            number = len(self.texts) + len(texts)
            not_digits = _count_not_digits(f"{before}{head}{rest}")
            found.append((rest, head, numbered, number, cell, not_digits))
            texts.append(Text(record, head, numbered))
        self.texts += texts  # all of them, or none
        return pl.DataFrame(found, schema=_TEXTS, orient="row")


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


def _per_line(runs: list[int], lengths: list[int]) -> pl.Series:
    import numpy as np

    return pl.Series(np.repeat(np.array(runs, dtype=np.int64), lengths))


def _counts(run: pl.Series, text: pl.Series, *, groups: int) -> pl.DataFrame:
    """Count the texts of each run; where next to none would repeat, they are left as they are."""
    each = pl.DataFrame([run.alias("run"), text.alias("text")])
    if groups * run.n_unique() > each.height // _LINES_PER_GROUP:
        return each.with_columns(lines=pl.lit(1, pl.Int64))
    return each.group_by("run", "text").agg(pl.len().cast(pl.Int64).alias("lines"))


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


def _no_keys() -> NDArray[np.uint64]:
    import numpy as np

    return np.zeros(0, dtype=np.uint64)


def _looked_up(codes: pl.Series, of_groups: pl.Series, values: pl.Series) -> pl.Series:
    """Give each line, by the code of its group, the value of that group."""
    import numpy as np

    of_code = np.zeros(int(codes.to_numpy().max()) + 1, dtype=values.to_numpy().dtype)
    of_code[of_groups.to_numpy()] = values.to_numpy()
    return pl.Series(values.name, of_code[codes.to_numpy()])


def _keys(uid: pl.Series, cell: pl.Series, run: pl.Series) -> NDArray[np.uint64]:
    """Mix each uid's hash with the other parts of the key; whether equal ones are of one key, others settle."""
    import numpy as np

    # The product wraps around, which is meant: it spreads small numbers over all bits.
    spread = run.to_numpy().astype(np.uint64) * _ODD
    keys: NDArray[np.uint64] = uid.to_numpy() ^ cell.to_numpy().view(np.uint64) ^ spread
    return keys
