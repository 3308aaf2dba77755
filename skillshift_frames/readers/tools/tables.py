"""Tables that tools export, CSV or Parquet → frames, with only the columns that are asked for."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.readers.wording import snippet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

#: What a table that cannot be read raises.
_UNREADABLE = (pl.exceptions.PolarsError, OSError, UnicodeDecodeError)

# What stands in a header for bytes that are none of UTF-8.
_NO_TEXT = "\ufffd"

# What Polars calls the second column of a name.
_TWICE = re.compile(r"(.*)_duplicated_\d+")
_BOOLEANS = {"True": True, "False": False}
_INTEGER = re.compile(r"[+-]?\d{1,18}")


def is_table(name: str) -> bool:
    """Tell by its name whether a file is a table.

    Examples
    --------
    >>> is_table("samples.parquet"), is_table("samples.json")
    (True, False)
    """
    return name.endswith((".csv", ".parquet"))


def columns_of(path: Path) -> set[str]:
    """Give the columns that a table has, none where it cannot be read; never raises."""
    try:
        return set(_scan(path).collect_schema())
    except _UNREADABLE:
        return set()


def read_table(
    path: Path, found: Trials, wanted: Callable[[str], bool] = lambda _: True
) -> pl.DataFrame | None:
    """Read the wanted columns of a table, those of a CSV as text; None and a problem where it is damaged.

    The other columns (prompts, transcripts) are not read: they make most of such a file.
    """
    try:
        scan = _scan(path)
        names = list(scan.collect_schema())
        if any(_NO_TEXT in name for name in names):
            found.problem(path, "is not UTF-8", "save it as UTF-8", rule="encoding")
            return None
        if twice := next((match[1] for name in names if (match := _TWICE.fullmatch(name))), None):
            found.problem(
                path, "a column of this name is there twice", "name each once", field=twice
            )
            return None
        if path.suffix == ".csv" and not _ends(path):
            found.problem(
                path,
                "its last line has no end",
                "it may have been cut off there; export it again",
                stands=True,
            )
        return scan.select(name for name in names if wanted(name)).collect()
    except _UNREADABLE as error:
        said = snippet(str(error).split("\n", 1)[0])
        found.problem(path, f"cannot be read: {said}", "it may have been cut off; export it again")
        return None


def _ends(path: Path) -> bool:
    """Tell whether a text ends with a line's end, as all programs write tables; Polars fills a cut line with nulls."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) in {b"\n", b"\r"}


def _scan(path: Path) -> pl.LazyFrame:
    # A path is a path: run[1] is no pattern.
    if path.name.endswith(".parquet"):
        return pl.scan_parquet(path, glob=False)
    return pl.scan_csv(path, glob=False, infer_schema=False)


def cell(value: object) -> object:
    """Give what a cell of a CSV stands for: nothing, true or false, a number, else its text; NaN stands for nothing.

    Examples
    --------
    >>> cell("12"), cell("0.5"), cell("True"), cell(""), cell("nan"), cell("21a")
    (12, 0.5, True, None, None, '21a')
    """
    if isinstance(value, str):
        if value in _BOOLEANS or not value.strip():
            return _BOOLEANS.get(value)
        if _INTEGER.fullmatch(value):
            return int(value)
        try:
            value = float(value)
        except ValueError:
            return value
    return None if isinstance(value, float) and math.isnan(value) else value
