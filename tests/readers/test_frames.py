"""Records that are in a frame already: any library's, checked by the same rules and never converted in silence."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb  # noqa: TID253
import pandas as pd  # type: ignore[import-untyped]  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal

import skillshift_frames as sf
from tests.readers.conftest import faults, record
from tests.strategies import SMALL, records

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.readers.conftest import Write

RECORDS = [
    record("a"),
    record("b", success=False, steps=0, skill_calls=0, skill_failures=0),
    record("é", condition="tgt", success=None, steps=None, error="timeout"),
]
FRAME = pl.DataFrame(RECORDS, schema_overrides={"error": pl.String})
EXPECTED = sf.TASKS.to_frame().vstack(
    FRAME.select(pl.lit("asi").alias("run"), "uid", "site", "condition", pl.lit(1, pl.Int64).alias("trial"),
                 "success", "steps", "skill_calls", "skill_failures", "error")
)  # fmt: skip


def _object_columns(frame: pl.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(frame.to_dicts(), dtype=object)


def _nullable_columns(frame: pl.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(frame.to_dicts(), dtype=object).convert_dtypes()


def _arrow_columns(frame: pl.DataFrame) -> pd.DataFrame:
    arrow: pd.DataFrame = frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
    return arrow


def _relation(frame: pl.DataFrame) -> duckdb.DuckDBPyRelation:
    table = frame.to_arrow()
    return duckdb.connect().from_arrow(table)


LIBRARIES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "polars-lazy": lambda frame: frame.lazy(),
    "polars-chunked": lambda frame: pl.concat([frame[:1], frame[1:]], rechunk=False),
    "pyarrow": lambda frame: frame.to_arrow(),
    "pandas-object": _object_columns,
    "pandas-nullable": _nullable_columns,
    "pandas-arrow": _arrow_columns,
    "duckdb": _relation,
}


def _faults(frame: Any, **options: Any) -> list[sf.Fault]:  # noqa: ANN401
    with pytest.raises(sf.RecordError) as caught:
        sf.from_frame(frame, **({"run": "asi"} | options))
    return [sf.Fault(**row) for row in caught.value.faults.iter_rows(named=True)]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_records(library: str) -> None:
    tasks = sf.from_frame(LIBRARIES[library](FRAME), run="asi")
    assert tasks.schema == sf.TASKS
    assert_frame_equal(tasks, EXPECTED)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_faults(library: str) -> None:
    frame = FRAME.with_columns(
        steps=pl.Series([3, -1, None]), site=pl.Series(["gitlab", "gitlab", "GitLab"])
    )
    found = _faults(LIBRARIES[library](frame))
    assert list(map(str, found)) == [
        "<frame>:2: steps: -1 is below 0 (an integer ≥ 0 is needed)",
        '<frame>:3: site: "GitLab" is not a site of this benchmark (did you mean gitlab?)',
    ]


def test_the_index_of_pandas_is_no_column_and_no_order() -> None:
    frame = _object_columns(FRAME)
    frame.index = pd.Index([9, 9, 1], name="uid")
    assert_frame_equal(sf.from_frame(frame, run="asi"), EXPECTED)


def test_the_frame_is_not_changed() -> None:
    before = FRAME.clone()
    sf.from_frame(FRAME, run="asi")
    assert_frame_equal(FRAME, before)


@pytest.mark.parametrize("thing", [[record()], {"uid": ["a"]}, FRAME["uid"], "x.jsonl", None])
def test_what_is_no_frame_is_a_type_error(thing: object) -> None:
    with pytest.raises(TypeError):
        sf.from_frame(thing, run="asi")


# Types


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int16, pl.Int32, pl.Int128, pl.UInt8, pl.UInt32, pl.UInt64]
)
def test_an_integer_column_of_any_width_is_integers(dtype: type[pl.DataType]) -> None:
    frame = FRAME.with_columns(
        pl.col("steps", "skill_calls", "skill_failures").cast(dtype), trial=pl.lit(1, dtype)
    )
    assert_frame_equal(sf.from_frame(frame, run="asi"), EXPECTED)


@pytest.mark.parametrize(
    "dtype", [pl.Categorical, pl.Enum(["a", "b", "é", "gitlab", "src", "tgt", "timeout"])]
)
def test_a_categorical_column_is_strings(dtype: pl.DataType) -> None:
    frame = FRAME.with_columns(pl.col(pl.String).cast(dtype))
    assert_frame_equal(sf.from_frame(frame, run="asi"), EXPECTED)


def test_a_categorical_column_of_pandas_is_strings() -> None:
    frame = _object_columns(FRAME).astype({"uid": "category", "site": "category"})
    assert_frame_equal(sf.from_frame(frame, run="asi"), EXPECTED)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_of_nothing_has_no_type_of_its_own(library: str) -> None:
    frame = FRAME.with_columns(steps=None, skill_calls=None, skill_failures=None, error=pl.lit("e"))
    assert sf.from_frame(LIBRARIES[library](frame), run="asi")["steps"].to_list() == [None] * 3


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pl.Series("steps", [3.0, 0.0, 1.0]), "steps: the column is Float64; Int64 is needed (floats are often integers with gaps: convert them before)"),
        (pl.Series("steps", ["3", "0", "1"]), "steps: the column is String; Int64 is needed"),
        (pl.Series("steps", [True, False, True]), "steps: the column is Boolean; Int64 is needed"),
        (pl.Series("steps", [Decimal(1)] * 3), "steps: the column is Decimal(precision=38, scale=0); Int64 is needed"),
        (pl.Series("success", [1, 0, 1]), "success: the column is Int64; Boolean is needed"),
        (pl.Series("success", [1.0, 0.5, 0.0]), "success: the column is Float64; Boolean is needed (floats are often integers with gaps: convert them before)"),
        (pl.Series("uid", [1, 2, 3]), "uid: the column is Int64; String is needed"),
        (pl.Series("uid", [b"a", b"b", b"c"]), "uid: the column is Binary; String is needed"),
        (pl.Series("uid", [date(2026, 1, 1)] * 3), "uid: the column is Date; String is needed"),
        (pl.Series("uid", [["a"]] * 3), "uid: the column is List(String); String is needed"),
        (pl.Series("uid", [object()] * 3, dtype=pl.Object), "uid: the column is Object; String is needed"),
    ],
)  # fmt: skip
def test_a_column_of_another_type_is_a_fault_whatever_its_values(
    column: pl.Series, said: str
) -> None:
    (fault,) = _faults(FRAME.with_columns(column))
    assert str(fault) == f"<frame>: {said}"
    assert (fault.line, fault.rule, fault.value) == (None, "type", str(column.dtype))


def test_integers_that_pandas_made_floats_of_are_refused_with_a_hint() -> None:
    """A None among integers makes a column of floats, in which 2**53 + 1 is 2**53."""
    frame = pd.DataFrame(
        {
            **{key: [value] * 2 for key, value in record().items()},
            "uid": ["a", "b"],
            "steps": [3, None],
            "error": [None, "e"],
        }
    )
    (fault,) = _faults(frame)
    assert (fault.field, fault.value) == ("steps", "Float64")
    assert fault.hint == "floats are often integers with gaps: convert them before"


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(pl.UInt64, 2**63), (pl.Int128, 2**63), (pl.Int128, -(2**63) - 1), (pl.UInt64, 2**64 - 1)],
)
def test_an_integer_beyond_64_bits_is_a_fault(dtype: type[pl.DataType], value: int) -> None:
    (fault,) = _faults(FRAME.with_columns(steps=pl.Series([1, value, 2], dtype=dtype)))
    assert (fault.field, fault.rule, fault.value) == ("steps", "range", str(value))


# Columns and rows


def test_columns_come_in_any_order() -> None:
    assert_frame_equal(sf.from_frame(FRAME.select(reversed(FRAME.columns)), run="asi"), EXPECTED)


def test_missing_and_unknown_columns_are_all_named() -> None:
    frame = FRAME.drop("site", "steps").with_columns(Steps=1, reward=0.5)
    assert list(map(str, _faults(frame))) == [
        "<frame>: site: the column is missing",
        "<frame>: steps: the column is missing",
        "<frame>: Steps: the column of Int32 is not a key of a record (did you mean steps?)",
        "<frame>: reward: the column of Float64 is not a key of a record (--extra keep keeps it, --extra ignore drops it)",
    ]


def test_optional_columns_may_be_missing() -> None:
    assert_frame_equal(sf.from_frame(FRAME[:2].drop("error"), run="asi"), EXPECTED[:2])


@pytest.mark.parametrize("name", ["uid", "site", "condition"])
def test_a_null_that_may_not_be_is_named_with_its_row(name: str) -> None:
    frame = FRAME.with_columns(pl.Series(name, [None, FRAME[name][1], None], dtype=pl.String))
    found = _faults(frame)
    assert [(fault.line, fault.field, fault.value) for fault in found] == [
        (1, name, "null"),
        (3, name, "null"),
    ]
    assert found[0].message == "is null; a name is needed"


def test_nulls_need_an_error() -> None:
    found = _faults(FRAME.with_columns(error=None))
    assert [(fault.line, fault.field, fault.rule) for fault in found] == [
        (3, "success", "success-null"),
        (3, "steps", "null-in-part"),
    ]


def test_a_null_trial_is_the_first() -> None:
    frame = FRAME.with_columns(trial=pl.Series([None, 2, None], dtype=pl.Int64))
    assert sf.from_frame(frame, run="asi")["trial"].to_list() == [1, 2, 1]


def test_an_empty_error_in_a_column_is_no_error() -> None:
    frame = FRAME[:2].with_columns(error=pl.Series(["", None], dtype=pl.String))
    assert sf.from_frame(frame, run="asi")["error"].to_list() == [None, None]


def test_a_repeated_record_names_both_rows() -> None:
    (fault,) = _faults(pl.concat([FRAME, FRAME[1:2]]))
    assert (fault.line, fault.rule) == (4, "repeated-record")
    assert "already at <frame>:2" in fault.message


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_without_rows_is_a_fault(library: str) -> None:
    # Some libraries forget the columns of no rows.
    found = _faults(LIBRARIES[library](FRAME.clear()))
    assert {fault.rule for fault in found} <= {"empty-file", "missing-key"}


def test_a_frame_without_rows_is_called_empty() -> None:
    for frame in (FRAME.clear(), FRAME.clear().cast(pl.String)):
        (fault,) = _faults(frame)
        assert str(fault) == "<frame>: file: holds no record (a run that wrote nothing is no run)"


# The run


def test_the_run_is_the_column_s_or_else_the_argument() -> None:
    frame = FRAME.with_columns(run=pl.Series(["x", None, "y"]))
    assert sf.from_frame(frame, run="asi")["run"].to_list() == ["x", "asi", "y"]
    assert sf.from_frame(frame.with_columns(pl.col("run").fill_null("z")))["run"].to_list() == [
        "x",
        "z",
        "y",
    ]


@pytest.mark.parametrize("frame", [FRAME, FRAME.with_columns(run=pl.Series(["x", None, "y"]))])
def test_records_of_no_run_need_one(frame: pl.DataFrame) -> None:
    with pytest.raises(
        sf.InputError, match="the records do not say which run they are of; give run="
    ):
        sf.from_frame(frame)


def test_an_empty_run_is_a_fault() -> None:
    assert {fault.rule for fault in _faults(FRAME, run="")} == {"empty-run"}


# Extra columns


def test_extra_columns_are_kept_as_they_are() -> None:
    extras = pl.DataFrame(
        {"z": [0.5, None, 1.5], "a": ["x", "", None], "day": [date(2026, 1, 1)] * 3}
    )
    tasks = sf.from_frame(pl.concat([FRAME, extras], how="horizontal"), run="asi", extra="keep")
    assert_frame_equal(tasks.select(sf.TASKS.names()), EXPECTED)
    assert_frame_equal(tasks.drop(sf.TASKS.names()), extras.select("a", "day", "z"))


@pytest.mark.parametrize(
    "name",
    ["_row", "_source", "_line", "_first", "steps_first", "*", "^.*$", "", "keys", "literal"],
)
def test_an_extra_column_may_have_any_name(name: str) -> None:
    frame = FRAME.with_columns(pl.Series(name, [1, 2, 3]))
    assert sf.from_frame(frame, run="asi", extra="keep").get_column(name).to_list() == [1, 2, 3]
    assert [fault.line for fault in _faults(pl.concat([frame, frame[:1]]), extra="keep")] == [4]


def test_ignored_columns_are_dropped_and_this_is_said() -> None:
    with pytest.warns(
        sf.SkillshiftWarning, match="^ignored, not keys of a record: a, z$"
    ) as caught:
        tasks = sf.from_frame(FRAME.with_columns(z=1, a=2), run="asi", extra="ignore")
    assert_frame_equal(tasks, EXPECTED)
    assert [warning.filename for warning in caught] == [__file__]


# Parquet


def test_parquet_written_here_comes_back_equal(write: Write) -> None:
    write("x.jsonl", *RECORDS, record("d", trial=3, run="own"))
    tasks = sf.read_tasks("x.jsonl")
    sf.write_tasks(tasks, "y.parquet")
    order = ["run", "site", "condition", "uid", "trial"]
    assert_frame_equal(sf.read_tasks("y.parquet").sort(order), tasks.sort(order))


def test_parquet_written_by_pandas_is_read() -> None:
    _nullable_columns(FRAME).to_parquet("asi.parquet")
    assert_frame_equal(sf.read_tasks("asi.parquet"), EXPECTED)


def test_parquet_written_by_pandas_with_its_index_is_refused_or_ignored() -> None:
    frame = _nullable_columns(FRAME)
    frame.index = pd.Index([7, 8, 9], name="row")
    frame.to_parquet("asi.parquet")
    (fault,) = faults("asi.parquet")
    assert str(fault).startswith("asi.parquet: row: the column of Int64 is not a key of a record")
    with pytest.warns(sf.SkillshiftWarning, match="row"):
        assert_frame_equal(sf.read_tasks("asi.parquet", extra="ignore"), EXPECTED)


def test_parquet_written_by_duckdb_is_read() -> None:
    connection = duckdb.connect()
    connection.register("tasks", FRAME.to_arrow())
    connection.execute("COPY (SELECT * FROM tasks) TO 'asi.parquet' (FORMAT parquet)")
    assert_frame_equal(sf.read_tasks("asi.parquet"), EXPECTED)


def test_faults_of_a_parquet_file_are_named_with_its_rows() -> None:
    FRAME.with_columns(steps=pl.Series([3, 3, -2])).write_parquet("x.parquet")
    valid, found = sf.check_tasks("x.parquet")
    assert found.select("path", "line", "field", "value").rows() == [
        ("x.parquet", 3, "steps", "-2")
    ]
    assert valid.height == 2


def test_a_folder_that_looks_like_a_partition_adds_no_column() -> None:
    Path("site=magento").mkdir()
    FRAME.write_parquet("site=magento/asi.parquet")
    assert_frame_equal(sf.read_tasks("site=magento/asi.parquet"), EXPECTED)


def test_lines_and_parquet_can_be_read_together(write: Write) -> None:
    write("a.jsonl", *RECORDS)
    FRAME.write_parquet("b.parquet")
    tasks = sf.read_tasks(["a.jsonl", "b.parquet"])
    assert_frame_equal(tasks[:3].drop("run"), tasks[3:].drop("run"))
    assert [fault.rule for fault in faults("a.jsonl", "b.parquet", pool=True)] == [
        "repeated-record"
    ] * 3


@given(records(SMALL, odd_uids=True))
def test_any_valid_records_survive_every_kind_of_file(drawn: list[dict[str, Any]]) -> None:
    frame = pl.DataFrame(
        drawn,
        schema_overrides={
            k: v for k, v in sf.TASKS.items() if k in {key for r in drawn for key in r}
        },
    )
    tasks = sf.from_frame(frame, benchmark="infer")
    assert tasks.select("uid", "success", "steps").rows() == [
        (r["uid"], r["success"], r["steps"]) for r in drawn
    ]
    for suffix in ("parquet", "jsonl"):
        sf.write_tasks(tasks, f"x.{suffix}", force=True)
        again = sf.read_tasks(f"x.{suffix}", benchmark="infer")
        assert_frame_equal(again, tasks, check_row_order=False)
