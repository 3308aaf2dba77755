"""Parquet and Arrow files, and whatever frame narwhals knows → a part with the record's types.

A frame has types already, so they are checked by column, without conversion that could change a value: an integer
column of any width is an integer, a column of floats is not, whatever its values.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.readers.diagnosis import Finding
from skillshift_frames.readers.records import FIELDS, INT64, REQUIRED, Extra
from skillshift_frames.readers.wording import nearest, printable
from skillshift_frames.schema import TASKS

if TYPE_CHECKING:
    from skillshift_frames.readers.sources import Source


def to_polars(frame: Any) -> pl.DataFrame:  # noqa: ANN401 - any frame that narwhals knows
    """Give any frame that narwhals knows as a Polars frame, collected where it is lazy.

    Raises
    ------
    TypeError
        It is no frame that narwhals knows.
    """
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    import narwhals as nw

    known = nw.from_native(frame)
    if isinstance(known, nw.LazyFrame):
        known = known.collect("polars")
    collected: pl.DataFrame = known.to_polars()
    return collected


def read_frame(source: Source) -> tuple[pl.DataFrame, list[Finding]]:
    """Read a Parquet or Arrow file; a damaged one is a finding."""
    try:
        # An absolute path is what it says: no home folder, no address in a cloud.
        path = os.path.abspath(source.path)  # noqa: PTH100 - links stay as they are
        if source.kind == "arrow":
            with open(path, "rb") as file:  # noqa: PTH123 - opened here, no pattern is looked for in its name
                return pl.read_ipc(file), []
        return pl.read_parquet(path, glob=False, hive_partitioning=False), []
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0]
        kind = "an Arrow file" if source.kind == "arrow" else "a Parquet file"
        message = f"is not {kind} that can be read: {reason}"
        return TASKS.to_frame(), [Finding("file", None, "unreadable", message)]


def conform(frame: pl.DataFrame, extra: Extra) -> tuple[pl.DataFrame, list[Finding]]:
    """Give the columns of a record in their types, and what is wrong with the columns.

    Where something is wrong the frame that comes back is empty: a column of the wrong type has no right rows.
    """
    # What is null throughout has no type of its own, whatever its library made of it.
    empty = [column.name for column in frame if column.null_count() == frame.height]
    frame = frame.with_columns(pl.lit(None).alias(name) for name in empty if name in FIELDS)
    findings = [
        *(
            Finding(name, None, "missing-key", "the column is missing")
            for name in REQUIRED
            if name not in frame.columns
        ),
        *(
            _unknown_column(name, frame)
            for name in frame.columns
            if name not in FIELDS and extra == "refuse"
        ),
        *(
            finding
            for name in FIELDS
            if name in frame.columns
            for finding in _wrong_type(frame.get_column(name))
        ),
    ]
    if not findings and not frame.height:
        findings = [
            Finding(
                "file", None, "empty-file", "holds no record", "a run that wrote nothing is no run"
            )
        ]
    if findings:
        return TASKS.to_frame(), findings
    return frame.select(_typed(name, dtype, frame) for name, dtype in TASKS.items()), []


def _unknown_column(name: str, frame: pl.DataFrame) -> Finding:
    near = nearest(name, tuple(field for field in FIELDS if field not in frame.columns))
    hint = f"did you mean {near}?" if near else "--extra keep keeps it, --extra ignore drops it"
    return Finding(
        printable(name),
        None,
        "unknown-key",
        f"the column of {frame.schema[name]} is not a key of a record",
        hint,
    )


def _wrong_type(column: pl.Series) -> list[Finding]:
    wanted = TASKS[column.name]
    dtype = column.dtype
    fits = (
        dtype == pl.Null
        or (wanted == pl.String and isinstance(dtype, pl.String | pl.Categorical | pl.Enum))
        or (wanted == pl.Int64 and dtype.is_integer())
        or dtype == wanted
    )
    if not fits:
        hint = (
            "floats are often integers with gaps: convert them before" if dtype.is_float() else ""
        )
        wrong = f"the column is {dtype}; {wanted} is needed"
        return [Finding(column.name, str(dtype), "type", wrong, hint)]
    if dtype.is_integer():
        ends = dict.fromkeys((column.min(), column.max()))
        beyond = [end for end in ends if isinstance(end, int) and end not in INT64]
        return [
            Finding(column.name, str(end), "range", f"{end} is beyond 64 bits with a sign")
            for end in beyond
        ]
    return []


def _typed(name: str, dtype: pl.DataType, frame: pl.DataFrame) -> pl.Expr:
    if name not in frame.columns:
        return pl.lit(1 if name == "trial" else None, dtype=dtype).alias(name)
    # A column cannot leave out a single row's trial as a line can: null there says what a missing key says.
    return pl.col(name).cast(dtype).fill_null(1) if name == "trial" else pl.col(name).cast(dtype)
