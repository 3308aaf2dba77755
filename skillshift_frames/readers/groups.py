"""A block of lines → groups of lines that differ in the number at the end of the uid only, proved to be just that.

The lines of a run repeat each other but for that number. Lines are told apart by what follows the uid, as text, and by
which of the known heads the uid begins with: each line is then a head, something, and that text. That the something is a
number follows of all lines at once, if they have as many bytes that are no digits as their heads and texts account for.

Where that does not hold, lines that are not of the layout are taken out, if they are few, and decoded one by one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.readers.beside import beside
from skillshift_frames.readers.blocks import UnfitError
from skillshift_frames.readers.counted import newlines, not_digits, not_digits_of, returns
from skillshift_frames.readers.streams import LONGEST_LINE
from skillshift_frames.readers.texts import HEADS, Numbers, Text, Texts, decoded, fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.readers.blocks import Block, Layout

#: With more distinct lines than one in so many, grouping saves too little; with few of them there is little to lose.
_LINES_PER_GROUP, _FEW_GROUPS = 2, 200

#: Texts of runs are counted by number, if there are no more numbers than so many for each line.
_NUMBERS_PER_LINE = 8

#: With more lines of another layout than one in so many, the general reader does better; a few are always few.
_LINES_PER_ODD, _FEW_ODD = 100, 10

#: How often a block is split if heads turn up that were not known, and how many lines these are learnt from.
_TRIES, _LEARNT_FROM = 3, 10_000

_DIGITS = "0123456789"
_SPREAD = 0x9E37_79B9_7F4A_7C15

_COUNTS = pl.Schema({"run": pl.Int64(), "text": pl.UInt32(), "lines": pl.Int64()})


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
    keys: pl.Series | None


class _Lines(NamedTuple):
    """The lines of a block, told apart.

    Attributes
    ----------
    frame
        As `Splitter.each` gives them if each line is needed, else as `Splitter.counted` does.
    total
        How many they are.
    odd
        Those that are not of the layout.
    """

    frame: pl.DataFrame
    total: int
    odd: pl.Series


class Grouper:
    """Groups the lines of blocks, and decodes each distinct line once.

    Attributes
    ----------
    texts
        What was found so far, by number.
    """

    def __init__(self, runs: Sequence[int], *, unique: bool) -> None:
        # Now, and not beside Polars: NumPy changes the environment while it is imported, and whoever reads that
        # in another thread meanwhile may crash.
        import_module("numpy")
        self._runs, self._unique = runs, unique
        self._of_layout: dict[Layout, Texts] = {}
        self._numbers = Numbers()
        self.texts = self._numbers.texts

    def groups(self, block: Block) -> Groups:
        """Give the groups of a block.

        Raises
        ------
        UnfitError
            Some line is not of the block's layout, or no record by itself, or there are too few lines per group.
        """
        if block.layout is None:
            raise UnfitError
        known, first = self._of_layout.pop(block.layout, None), len(self.texts)
        # What is known of other lines may have left too little room; then what is seen in these is learnt anew.
        for texts in filter(None, (known, Texts(block.layout, self._numbers))):
            try:
                found = self._groups(block, texts)
            except UnfitError:
                self._numbers.forget(first)  # nor must these be in the way of others
            else:
                self._of_layout[block.layout] = texts
                return found
        raise UnfitError

    def _groups(self, block: Block, texts: Texts) -> Groups:
        _refuse_long_lines(block.text)
        texts.look_at(block.text)
        with (
            beside(lambda: not_digits(block.text)) as counted,
            beside(lambda: _run_of_lines(block, self._runs)) as told,
        ):
            try:
                lines = self._told_apart(block, texts, _TRIES)
            except pl.exceptions.ComputeError as error:  # not UTF-8
                raise UnfitError from error
            group, counts = _numbered(lines.frame)
            groups = counts.nonzero()[0]
            refuse_too_many(len(groups), lines.total)
            known = texts.decode(groups)
            counts = counts[groups]
            in_lines = int((counts * known.not_digits[groups]).sum())
            in_lines += sum(map(not_digits_of, lines.odd)) + lines.total  # each ends with a newline
            left = counted() - in_lines
        # To look for carriage returns takes its time: where there are none, nothing is left.
        fit(left == 0 or left == returns(block.text))
        run = of_odd = told()
        frame = lines.frame
        if lines.odd.len() and "lines" not in frame.columns:
            is_odd = group % HEADS == 0
            group, frame = group[~is_odd], frame.filter(pl.Series(~is_odd))
            of_odd, run = (run[is_odd], run[~is_odd]) if len(run) > 1 else (run, run)
        if len(run) > 1:
            found = _counted(known.text[group], run)
        else:
            found = _counts(known.text[groups], run, counts)
        keys = None
        if self._unique:
            keys = _keys(frame.get_column("hash").to_numpy(), known.cell[group], run)
        return self._with_odd(Groups(found, keys), lines.odd, of_odd)

    def _told_apart(self, block: Block, texts: Texts, tries: int) -> _Lines:
        """Tell the lines of a block apart, with heads that are learnt on the way where need be."""
        splitter, asked = texts.splitter, texts.asked
        if self._unique or len({self._runs[stretch.file] for stretch in block.stretches}) > 1:
            frame = splitter.each(block.text, asked, hashed=self._unique)
            total, odd = frame.height, int((frame.get_column("head") == 0).sum())
        else:
            frame = splitter.counted(block.text, asked)
            total, odd = (
                int(each.get_column("lines").sum()) for each in (frame, frame.filter(head=0))
            )
        if odd > _FEW_ODD and tries > 1:
            some = splitter.odd(block.text, asked, _LEARNT_FROM)
            if texts.learn(line.encode() for line in some):
                return self._told_apart(block, texts, tries - 1)
        fit(odd <= max(_FEW_ODD, total // _LINES_PER_ODD))
        return _Lines(frame, total, splitter.odd(block.text, asked, odd))

    def _with_odd(self, others: Groups, odd: pl.Series, run: NDArray[np.int64]) -> Groups:
        """Add lines that are decoded one by one; blank ones are none."""
        if not odd.len():
            return others
        import numpy as np

        runs, numbers, cells, uids = [], [], [], []
        for line, of_run in zip(odd, np.broadcast_to(run, odd.len()).tolist(), strict=True):
            if not line.strip(" \t\r"):
                continue
            record, cell = decoded(line)
            runs.append(of_run)
            head = record.uid.rstrip(_DIGITS)
            numbers.append(self._numbers.of(Text(record, head, numbered=head != record.uid)))
            cells.append(cell)
            uids.append(record.uid.encode())
        of_odd = np.array(runs, dtype=np.int64)
        counts = _counts(np.array(numbers, dtype=np.int64), of_odd)
        both = pl.concat([others.counts, counts])
        if others.keys is None:
            return Groups(both, None)
        hashes = pl.Series(uids, dtype=pl.Binary).hash().to_numpy()
        keys = _keys(hashes, np.array(cells, dtype=np.int64), of_odd)
        return Groups(both, pl.concat([others.keys, keys]))


def _refuse_long_lines(text: bytes) -> None:
    """Raise `UnfitError` where a line may be longer than is allowed: somewhere half of that has no end."""
    half = LONGEST_LINE // 2
    for start in range(0, len(text) - half, half):
        fit(text.find(b"\n", start, start + half) >= 0)


def _run_of_lines(block: Block, runs: Sequence[int]) -> NDArray[np.int64]:
    """Give the run of each line, or of all of them."""
    import numpy as np

    of_stretches = np.array([runs[stretch.file] for stretch in block.stretches], dtype=np.int64)
    if (of_stretches == of_stretches[0]).all():
        return of_stretches[:1]
    lines = [newlines(block.text, start, stop) for _, start, stop in block.stretches]
    return np.repeat(of_stretches, lines)


def _numbered(lines: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the group of each row, and of all groups how many lines they have; odd lines are of none."""
    import numpy as np

    codes = lines.get_column("rest").to_physical().fill_null(0).to_numpy()
    group = codes.astype(np.int64) * HEADS + lines.get_column("head").to_numpy()
    if "lines" in lines.columns:
        counts = np.zeros(int(group.max(initial=0)) + HEADS, dtype=np.int64)
        # Several rows may be odd, and are not counted.
        counts[group] = lines.get_column("lines").to_numpy()
    else:
        counts = np.bincount(group, minlength=HEADS)
    counts[::HEADS] = 0
    return group, counts


def _counts(
    text: NDArray[np.int64], run: NDArray[np.int64], lines: NDArray[np.int64] | None = None
) -> pl.DataFrame:
    import numpy as np

    of_text = np.ones(1, dtype=np.int64) if lines is None else lines
    columns = [np.broadcast_to(values, len(text)) for values in (run, text, of_text)]
    return pl.DataFrame(
        {
            name: pl.Series(values, dtype=dtype)
            for (name, dtype), values in zip(_COUNTS.items(), columns, strict=True)
        }
    )


def _counted(text: NDArray[np.int64], run: NDArray[np.int64]) -> pl.DataFrame:
    """Count the texts of each run; where next to none can repeat, they are left as they are."""
    import numpy as np

    first, texts = int(run.min()), int(text.max()) + 1
    numbers = (int(run.max()) - first + 1) * texts
    if numbers > _NUMBERS_PER_LINE * len(text):
        return _counts(text, run)
    lines = np.bincount((run - first) * texts + text)
    found = lines.nonzero()[0]
    return _counts(found % texts, first + found // texts, lines[found])


def refuse_too_many(groups: int, lines: int) -> None:
    """Raise `UnfitError` where grouping saves too little."""
    fit(groups <= max(_FEW_GROUPS, lines // _LINES_PER_GROUP))


def _keys(uid: NDArray[np.uint64], cell: NDArray[np.int64], run: NDArray[np.int64]) -> pl.Series:
    """Mix each uid's hash with the other parts of the key; whether equal ones are of one key, others settle."""
    import numpy as np

    keys = uid ^ cell.view(np.uint64)
    # The product wraps around, which is meant: it spreads small numbers over all bits.
    keys ^= run.view(np.uint64) * np.uint64(_SPREAD)
    return pl.Series("key", keys)
