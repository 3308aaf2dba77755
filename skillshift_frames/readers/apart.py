"""The lines of a text, told apart by Polars in one pass: by what the uid begins with, and by what follows it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.readers.blocks import Layout


class Splitter:
    """Splits lines of one layout into a head of the uid, something, and the rest after the uid."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        # Of their own, so that codes are small, and go when nobody needs them.
        self._categories = pl.Categories.random()
        self._code = pl.Categorical(self._categories)
        # Polars forgets the codes with the last series that has them.
        self._kept = pl.Series([], dtype=self._code)

    @property
    def rests(self) -> pl.Series:
        """The rests that were seen, in the order of their codes."""
        return self._categories.to_series()

    def each(self, text: bytes, heads: Sequence[tuple[int, str]], *, hashed: bool) -> pl.DataFrame:
        """Split each line.

        One row is one line: ``rest`` (a code; null where there is none), ``head`` (the number of the first of ``heads`` that
        the uid begins with; 0 where the line is not of the layout), and, if asked for, ``hash`` of the uid.
        """
        columns = [self._rest().cast(pl.String).cast(self._code), self._head(heads)]
        if hashed:
            columns.append(self._uid().hash().alias("hash"))
        return self._lines(text).select(columns).collect(engine="streaming")

    def counted(self, text: bytes, heads: Sequence[tuple[int, str]]) -> pl.DataFrame:
        """Count the lines of each ``rest`` and ``head``, as in `each`; ``lines`` says how many they are."""
        columns = [self._rest(), self._head(heads)]
        counted = self._lines(text).select(columns).group_by("rest", "head")
        found = counted.agg(pl.len().cast(pl.Int64).alias("lines")).collect(engine="streaming")
        return found.with_columns(pl.col("rest").cast(pl.String).cast(self._code))

    def odd(self, text: bytes, heads: Sequence[tuple[int, str]], most: int) -> pl.Series:
        """Give the lines that have no head, in their order, but no more than so many."""
        if not most:
            return pl.Series([], dtype=pl.String)
        odd = self._lines(text).filter(self._head(heads) == 0).head(most)
        return odd.collect(engine="streaming").to_series()

    @staticmethod
    def _lines(text: bytes) -> pl.LazyFrame:
        return pl.scan_lines(io.BytesIO(text))

    def _end(self) -> pl.Expr:
        return pl.col("line").str.find(self._layout.after, literal=True)

    # Found in bytes, and cut in bytes: what is cut by characters is gone through from its start.
    def _rest(self) -> pl.Expr:
        return pl.col("line").cast(pl.Binary).bin.slice(self._end()).alias("rest")

    def _uid(self) -> pl.Expr:
        start = len(self._layout.before)
        return pl.col("line").cast(pl.Binary).bin.slice(start, self._end() - start)

    def _head(self, heads: Sequence[tuple[int, str]]) -> pl.Expr:
        end, before = self._end(), self._layout.before
        head: pl.Expr = pl.lit(0, pl.UInt8)
        # From the inside out: what is asked first is on the outside, and if all lines have it Polars is soon done.
        for number, name in reversed(heads):
            begins = pl.col("line").str.starts_with(before + name)
            head = pl.when(begins).then(pl.lit(number, pl.UInt8)).otherwise(head)
        none = end.is_null() | (end <= len(before))
        return pl.when(none).then(pl.lit(0, pl.UInt8)).otherwise(head).alias("head")
