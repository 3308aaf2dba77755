"""Frames for other libraries: the same columns, integers as integers, and what the frame is as metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift_frames._version import __version__
from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa

#: Before every key, since a file's metadata has room for everybody's.
PREFIX = "skillshift_frames."


def to_arrow(frame: pl.DataFrame) -> pa.Table:
    """Make a pyarrow table of a frame, with what the frame is in the metadata of its schema.

    One row of it is one row of the frame; nothing is converted: Int64 stays int64 and null stays null.

    Parameters
    ----------
    frame
        Any Polars frame, most often of this library.

    Returns
    -------
    pyarrow.Table
        Its schema's metadata, which Parquet and Arrow files keep: ``skillshift_frames.version``;
        ``skillshift_frames.schema``, the public name of the schema, where the frame has one (``CELLS``); and
        ``skillshift_frames.errors`` and ``skillshift_frames.null``, the policies, where the frame shows which they were.

    Raises
    ------
    InputError
        ``frame`` is no Polars frame (a lazy one is to be collected).

    See Also
    --------
    to_pandas : the same for pandas.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> table = sf.to_arrow(sf.cells(sf.read_tasks("data/demo/workflow.jsonl")))
    >>> table.schema.metadata[b"skillshift_frames.schema"], table["skill_calls"].type
    (b'CELLS', DataType(int64))
    >>> table["skill_calls"].null_count
    18
    """
    said = _metadata(frame)
    return frame.to_arrow().replace_schema_metadata(
        {key.encode(): value.encode() for key, value in said.items()}
    )


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """Make a pandas frame of a frame, in Arrow's types, so that an integer with a null stays an integer.

    One row of it is one row of the frame. (``frame.to_pandas()`` turns integers with nulls into floats, and null into NaN.)

    Parameters
    ----------
    frame
        Any Polars frame, most often of this library.

    Returns
    -------
    pandas.DataFrame
        Columns of ``pandas.ArrowDtype``, null as ``<NA>``; ``attrs`` holds the metadata of `to_arrow`.

    Raises
    ------
    InputError
        ``frame`` is no Polars frame, or pandas is not installed.

    See Also
    --------
    to_arrow : the same for pyarrow.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> cells = sf.to_pandas(sf.cells(sf.read_tasks("data/demo/workflow.jsonl")))
    >>> cells["skill_calls"].dtype, int(cells["skill_calls"].isna().sum())
    (int64[pyarrow], 18)
    """
    said = _metadata(frame)
    try:
        import pandas as pd  # noqa: F401 - only whether it is there
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        msg = "to_pandas needs pandas: pip install pandas"
        raise InputError(msg) from None
    made = frame.to_pandas(use_pyarrow_extension_array=True)
    made.attrs |= said
    return made


def _metadata(frame: pl.DataFrame) -> dict[str, str]:
    import polars as pl  # noqa: PLC0415 - not for import

    from skillshift_frames.render.known import errors_policy, null_policy, schema_name  # noqa: PLC0415

    if not isinstance(frame, pl.DataFrame):
        hint = "; collect() it first" if isinstance(frame, pl.LazyFrame) else ""
        msg = f"{frame!r:.60} is no Polars frame{hint}"
        raise InputError(msg)
    name = schema_name(frame)
    said = {
        "version": __version__,
        "schema": name,
        "errors": errors_policy(frame) if name == "CELLS" else None,
        "null": null_policy(frame) if name == "SLOTS" else None,
    }
    return {f"{PREFIX}{key}": value for key, value in said.items() if value is not None}
