"""The distinct lines of one layout, but for the number at the end of the uid: each decoded once, and known by a number."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET
from msgspec.structs import astuple

from skillshift_frames.readers import records
from skillshift_frames.readers.apart import Splitter
from skillshift_frames.readers.blocks import UnfitError
from skillshift_frames.readers.counted import not_digits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.readers.blocks import Layout
    from skillshift_frames.readers.records import Record

#: More distinct lines than this in all files are not held: each takes one to two kilobytes.
MOST_TEXTS = 200_000

#: Numbers of heads, with that of none: more of them are not looked for in every line.
HEADS = 32

#: Places of a block where lines are looked at for heads, and how many bytes in each: a few lines.
_PLACES, _LOOK = 64, 1 << 10

_DIGITS = b"0123456789"

#: What JSON text may not hold unescaped, and what starts an escape or ends the text: such a uid is not plain.
_NOT_PLAIN = re.compile(rb'[\x00-\x1f\\"]')


class Text(NamedTuple):
    """What the lines of one group have in common.

    Attributes
    ----------
    record
        What a line says but for its uid.
    head, numbered
        The uid but for the digits at its end, and whether there may be any.
    """

    record: Record
    head: str
    numbered: bool


class Numbers:
    """The numbers of all texts, whatever layouts they are of.

    Attributes
    ----------
    texts
        What was found so far, by number.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self.texts: list[Text] = []

    def of(self, text: Text) -> int:
        """Give the number of a text, a new one if nobody has asked for it before.

        Raises
        ------
        UnfitError
            There are too many to hold.
        """
        content = (*astuple(text.record), text.head, text.numbered)
        number = self._numbers.setdefault(content, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
            fit(number < MOST_TEXTS)
        return number

    def forget(self, first: int) -> None:
        """Forget the texts from a number on."""
        while len(self.texts) > first:
            self.texts.pop()
            self._numbers.popitem()


class Texts:
    """The texts of one layout, by what follows the uid and by the head of the uid.

    A group is a rest and a head: its number is the rest's code times `HEADS`, plus the head's number, which is 0 for none.

    Attributes
    ----------
    splitter
        Gives codes to rests.
    asked
        The heads that are known, with their numbers, in the order in which lines are to be asked for them.
    """

    def __init__(self, layout: Layout, numbers: Numbers) -> None:
        self._layout, self._numbers = layout, numbers
        self._heads: list[str] = []
        self._known: Known | None = None
        self.asked: list[tuple[int, str]] = []
        self.splitter = Splitter(layout)

    def look_at(self, text: bytes) -> None:
        """Learn heads from a few lines here and there."""
        step = max(len(text) // _PLACES, _LOOK)
        pieces = (text[place : place + _LOOK] for place in range(0, len(text), step))
        self.learn(line for piece in pieces for line in piece.split(b"\n"))

    def learn(self, lines: Iterable[bytes]) -> bool:
        """Learn what uids begin with, up to the digits at their end; tells whether there was anything new.

        Raises
        ------
        UnfitError
            Heads are too many to look for.
        """
        found = Counter(head for head in map(self._head_of, lines) if head is not None)
        new = sorted(head for head in found if head not in self._heads)
        self._heads += new
        fit(len(self._heads) < HEADS)

        def asked(head: str) -> tuple[int, int, str]:
            # What is left of a uid is to be a number: of two heads it has the longer one, which is asked for before.
            longer = sum(other.startswith(head) for other in self._heads)
            return longer, -found[head], head

        self.asked = sorted(enumerate(self._heads, 1), key=lambda each: asked(each[1]))
        return bool(new)

    def _head_of(self, line: bytes) -> str | None:
        """Give the head of a line's uid, if it is of the layout and plain."""
        before, after = (part.encode() for part in self._layout)
        end = line.find(after)
        if end <= len(before) or not line.startswith(before):
            return None
        head = line[len(before) : end].rstrip(_DIGITS)
        try:
            return None if _NOT_PLAIN.search(head) else head.decode()
        except UnicodeDecodeError:
            return None

    def decode(self, groups: NDArray[np.int64]) -> Known:
        """Give what is known of all groups, with those that are new decoded.

        Raises
        ------
        UnfitError
            Some text is no record, or there are too many to hold.
        """
        rests = self.splitter.rests
        fit(len(rests) <= MOST_TEXTS)
        known = self._known = _with_room(self._known, len(rests) * HEADS)
        before = self._layout.before
        for group in groups[known.text[groups] < 0].tolist():
            rest, head = rests[group // HEADS], self._heads[group % HEADS - 1]
            # What ends a line was left out by Polars; what is accounted for depends on it.
            fit(not rest.endswith("\r"))
            record, known.cell[group] = decoded(f"{before}{rest}")
            known.not_digits[group] = not_digits_of(f"{before}{head}{rest}")
            known.text[group] = self._numbers.of(Text(record, head, numbered=True))
        return known


class Known(NamedTuple):
    """What is known of each group.

    Attributes
    ----------
    text
        The number of its text; -1 where it was not decoded yet.
    cell
        Its key but for run and uid, as a number.
    not_digits
        How many bytes of a line are no digits, but for the uid's.
    """

    text: NDArray[np.int64]
    cell: NDArray[np.int64]
    not_digits: NDArray[np.int64]


def _with_room(known: Known | None, size: int) -> Known:
    import numpy as np

    if known and len(known.text) == size:
        return known
    whole = Known(*(np.full(size, unknown, dtype=np.int64) for unknown in (-1, 0, 0)))
    for new, old in zip(whole, known or (), strict=False):
        new[: len(old)] = old
    return whole


def decoded(line: str) -> tuple[Record, int]:
    """Decode a line; gives its record, and its key but for run and uid as a number."""
    try:
        record = records.decode_line(line.encode())
    except records.REFUSALS as error:
        raise UnfitError from error
    # Where records name their run, labels and the notes on them are the general reader's.
    fit(record.run is UNSET or record.run is None)
    fit(records.fits_64_bits(record))
    trial = 1 if record.trial is UNSET else record.trial  # a line may say so or leave it out
    return record, hash((record.site, record.condition, trial))


def fit(is_so: bool) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise `UnfitError` unless it is so."""
    if not is_so:
        raise UnfitError
