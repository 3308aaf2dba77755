"""Keys that are not a record's: refused, kept as columns of one type, or dropped with a word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import skillshift_frames as sf
from tests.readers.conftest import faults, record, texts, written

if TYPE_CHECKING:
    from pathlib import Path

    from skillshift_frames.readers.records import Extra
    from tests.readers.conftest import Write


def _with(**tokens: str) -> str:
    """Write a valid line with keys of its own, token by token."""
    uid = "".join(f"{key}={token}" for key, token in tokens.items())
    return written(uid=json.dumps(uid), **tokens)


def _kept(column: str, *paths: str) -> pl.Series:
    return sf.read_tasks(paths, extra="keep").get_column(column)


@pytest.mark.parametrize(
    ("tokens", "dtype", "values"),
    [
        (["1", "-2", "null"], pl.Int64, [1, -2, None]),
        (["1.5", "-0.0", "1e3"], pl.Float64, [1.5, -0.0, 1000.0]),
        (["1", "2.5"], pl.Float64, [1.0, 2.5]),
        (["2.5", "null", "1"], pl.Float64, [2.5, None, 1.0]),
        (["true", "null", "false"], pl.Boolean, [True, None, False]),
        (['"a"', r'"\u00e9"', '""', "null"], pl.String, ["a", "é", "", None]),
        (["null", "null"], pl.Null, [None, None]),
        (['{"b": 1, "a": [1.50, null]}', "[]"], pl.String, ['{"a": [1.5, null], "b": 1}', "[]"]),
        ([str(2**63 - 1), str(-(2**63))], pl.Int64, [2**63 - 1, -(2**63)]),
    ],
)
def test_a_kept_key_is_a_column_of_the_type_of_its_values(
    write: Write, tokens: list[str], dtype: type[pl.DataType], values: list[Any]
) -> None:
    lines = [written(uid=f'"{index}"', note=token) for index, token in enumerate(tokens)]
    write("x.jsonl", *lines, record("without"))
    column = _kept("note", "x.jsonl")
    assert column.dtype == dtype
    assert column.to_list() == [*values, None]


def test_kept_columns_come_after_the_record_s_by_name(write: Write) -> None:
    write("a.jsonl", _with(z="1", b="1"), _with(é="1", a="1"))
    write("b.jsonl", _with(c="1"))
    tasks = sf.read_tasks(["a.jsonl", "b.jsonl"], extra="keep")
    assert tasks.columns == [*sf.TASKS, "a", "b", "c", "z", "é"]
    assert tasks.select(sf.TASKS.names()).schema == sf.TASKS


def test_a_key_that_some_files_lack_is_null_there(write: Write) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b", reward=0.5), record("c"))
    assert _kept("reward", "a.jsonl", "b.jsonl").to_list() == [None, 0.5, None]
    assert _kept("reward", "b.jsonl", "a.jsonl").to_list() == [0.5, None, None]


def test_integers_in_one_file_and_fractions_in_another_are_numbers(write: Write) -> None:
    write("a.jsonl", record("a", reward=1))
    write("b.jsonl", record("b", reward=0.5))
    write("c.jsonl", record("c", reward=None))
    assert _kept("reward", "a.jsonl", "b.jsonl", "c.jsonl").to_list() == [1.0, 0.5, None]


@pytest.mark.parametrize(
    ("first", "other", "said"),
    [
        ("1", '"a"', '"a" is a string, where earlier lines hold an integer'),
        ('"1"', "1", "1 is an integer, where earlier lines hold a string"),
        ("1", "true", "true is a boolean, where earlier lines hold an integer"),
        ("false", "0", "0 is an integer, where earlier lines hold a boolean"),
        ("0.5", '"0.5"', '"0.5" is a string, where earlier lines hold a number'),
        ('"a"', '["a"]', '["a"] is an object or array, where earlier lines hold a string'),
        ("{}", '"{}"', '"{}" is a string, where earlier lines hold an object or array'),
    ],
)
def test_values_of_two_types_are_a_fault(write: Write, first: str, other: str, said: str) -> None:
    write("x.jsonl", _with(n=first), record("plain"), _with(n="null"), _with(n=other))
    (fault,) = faults("x.jsonl", extra="keep")
    assert str(fault) == f"x.jsonl:4: n: {said} (one column has one type; --extra ignore drops it)"
    assert (fault.field, fault.value, fault.rule) == ("n", other, "extra-type")


def test_every_value_that_does_not_fit_is_named_and_no_such_row_valid(write: Write) -> None:
    write(
        "x.jsonl",
        "",
        _with(n="1"),
        _with(n='"a"'),
        _with(n="2.5"),
        "[]",
        _with(n="true"),
        _with(n="3"),
    )
    valid, found = sf.check_tasks("x.jsonl", extra="keep")
    assert found.select("line", "rule").rows() == [
        (3, "extra-type"),
        (5, "object"),
        (6, "extra-type"),
    ]
    assert valid["n"].to_list() == [1.0, 2.5, 3.0]


def test_a_value_that_does_not_fit_is_named_in_its_own_file(write: Write) -> None:
    write("a.jsonl", record("a"), record("b"), record("c"))
    write("b.jsonl", _with(n="1"), _with(n='"a"'), record("d"))
    valid, found = sf.check_tasks(["a.jsonl", "b.jsonl"], extra="keep")
    assert found.select("path", "line", "value").rows() == [("b.jsonl", 2, '"a"')]
    assert valid["uid"].to_list() == ["a", "b", "c", "n=1", "d"]


def test_values_of_two_types_in_two_files_are_a_fault_of_the_second(write: Write) -> None:
    write("a.jsonl", _with(n="1"))
    write("b.jsonl", record("plain"), _with(n='"a"'), _with(n='"b"'))
    assert texts("a.jsonl", "b.jsonl", extra="keep") == [
        f'b.jsonl:{line}: n: "{text}" is String, where a.jsonl holds Int64 (one column has one type; --extra ignore drops it)'
        for line, text in ((2, "a"), (3, "b"))
    ]
    valid, _ = sf.check_tasks(["a.jsonl", "b.jsonl"], extra="keep")
    assert valid.select("uid", "n").rows() == [("n=1", 1), ("plain", None)]
    assert sf.check_tasks(["b.jsonl", "a.jsonl"], extra="keep")[1]["path"].to_list() == ["a.jsonl"]


def test_a_parquet_file_and_lines_must_agree_on_a_column(write: Write) -> None:
    write("a.jsonl", _with(n='"a"'))
    write("b.jsonl", _with(n="1"))
    sf.read_tasks("b.jsonl", extra="keep").write_parquet("b.parquet")
    (fault,) = faults("a.jsonl", "b.parquet", extra="keep")
    assert (fault.path, fault.line, fault.value) == ("b.parquet", 1, "1")


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400])
def test_a_kept_integer_beyond_64_bits_is_a_fault(write: Write, value: int) -> None:
    write("x.jsonl", _with(n="1"), written(uid='"big"', n=str(value)))
    (fault,) = faults("x.jsonl", extra="keep")
    assert (fault.line, fault.field, fault.rule) == (2, "n", "range")
    assert fault.message.endswith(" is beyond 64 bits")


@pytest.mark.parametrize(
    "token", ["1e400", "-1e999", "NaN", "[Infinity]", "9" * 5_000, r'["\ud800"]', r'{"\udc00": 1}']
)
@pytest.mark.parametrize("extra", ["keep", "ignore"])
def test_a_value_that_no_column_can_hold_is_a_fault(write: Write, token: str, extra: Extra) -> None:
    write("x.jsonl", record("a"), written(uid='"b"', n=token))
    (fault,) = faults("x.jsonl", extra=extra)
    assert fault.line == 2
    assert fault.rule in {"json", "range", "surrogate"}
    assert str(fault).isprintable()


@pytest.mark.parametrize("extra", ["keep", "ignore"])
@pytest.mark.parametrize(
    "again",
    [
        '"site": "gitlab"',
        r'"\u0073ite": "gitlab"',
        '"n": 1, "n": 1',
        r'"n": 1, "\u006e": 1',
        '"n": {"a": 1, "a": 1}',
        '"n": [[{"": 0, "": 0}]]',
    ],
)
def test_a_repeated_key_is_found_whatever_is_done_with_other_keys(
    write: Write, extra: Extra, again: str
) -> None:
    write("x.jsonl", record("a"), f"{written()[:-1]}, {again}}}")
    (fault,) = faults("x.jsonl", extra=extra)
    assert (fault.line, fault.rule) == (2, "repeated-key")


@pytest.mark.parametrize("depth", [200, 500, 900, 990, 1_100, 100_000])
@pytest.mark.parametrize("extra", ["keep", "ignore"])
def test_a_deep_value_is_kept_or_a_fault_and_no_crash(
    write: Write, extra: Extra, depth: int
) -> None:
    write("x.jsonl", record("a", n="text"), written(n="[" * depth + "]" * depth))
    with pytest.warns(sf.SkillshiftWarning) if extra == "ignore" else nullcontext():
        valid, found = sf.check_tasks("x.jsonl", extra=extra)
    assert found.height + valid.height == 2
    assert set(found["line"]) <= {2}


@pytest.mark.parametrize(
    "name",
    [
        "_row",
        "_source",
        "_line",
        "_first",
        "_null",
        "steps_first",
        "*",
        "^.*$",
        "",
        "a\nb",
        "keys",
        "literal",
        "UID",
    ],
)
def test_a_kept_key_may_have_any_name(write: Write, name: str) -> None:
    write("x.jsonl", *(record(f"u{index}", **{name: index}) for index in range(3)))
    write(
        "y.jsonl",
        record("u9"),
        record("u9"),
        record("u8", steps=-1),
        record("u7", steps=None, **{name: 7}),
    )
    assert _kept(name, "x.jsonl").to_list() == [0, 1, 2]
    valid, found = sf.check_tasks(["x.jsonl", "y.jsonl"], extra="keep")
    assert valid.get_column(name).to_list() == [0, 1, 2]
    assert found["line"].to_list() == [2, 3, 4]


def test_repeated_records_that_differ_in_a_kept_key_say_so(write: Write) -> None:
    write("x.jsonl", record("a", reward=0, note=None), record("a", reward=1, note=None))
    (fault,) = faults("x.jsonl", extra="keep")
    assert fault.hint == "they differ in reward: number the trials or remove one"


def test_the_rules_hold_for_the_other_keys_of_a_record_with_kept_ones(write: Write) -> None:
    write("x.jsonl", written(reward="1", success="1", steps="true"))
    assert [fault.field for fault in faults("x.jsonl", extra="keep")] == ["success", "steps"]


def test_kept_columns_stay_with_their_rows_between_faults_and_blank_lines(write: Write) -> None:
    lines: list[str | dict[str, Any]] = [
        "",
        "[]",
        _with(n="1"),
        "",
        record("plain"),
        "{}",
        _with(n="2"),
        written(n="3", steps="-1"),
        _with(m="4"),
    ]
    write("x.jsonl", *lines)
    valid, _ = sf.check_tasks("x.jsonl", extra="keep")
    assert valid.select("uid", "m", "n").rows() == [
        ("n=1", None, 1),
        ("plain", None, None),
        ("n=2", None, 2),
        ("m=4", 4, None),
    ]


def test_a_large_file_is_kept_whole(write: Write) -> None:
    """More than one block, so that columns are put together across blocks."""
    pad = " " * 400
    lines = [
        written(uid=f'"{index}"', **({"n": str(index)} if index % 3 else {})) + pad
        for index in range(40_000)
    ]
    write("x.jsonl", "\n".join(lines))
    tasks = sf.read_tasks("x.jsonl", extra="keep")
    expected = pl.select(n=pl.int_range(40_000))["n"]
    assert tasks["n"].to_list() == [index if index % 3 else None for index in expected]
    assert tasks["uid"].to_list() == [str(index) for index in expected]


def test_faults_of_one_line_come_in_the_order_of_their_keys(write: Write) -> None:
    names = [*"hgfedcba"]
    write(
        "x.jsonl",
        record("a", **dict.fromkeys(names, 1)),
        record("b", **dict.fromkeys(names, "text")),
    )
    script = (
        "import skillshift_frames as sf\n"
        "print(*sf.check_tasks('x.jsonl', extra='keep')[1]['field'].to_list(), sep='')"
    )
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        shown = subprocess.check_output([sys.executable, "-c", script], env=env, text=True)
        assert shown == "abcdefgh\n"


# Nested columns of frames

NESTED: dict[str, list[Any]] = {
    "list": [[2, 1], [], None],
    "struct": [{"b": "é", "a": None}, None, {"b": "x", "a": 1.5}],
    "deep": [[{"a": [True]}], None, [None]],
}
AS_TEXT = {
    "list": ["[2, 1]", "[]", None],
    "struct": ['{"a": null, "b": "é"}', None, '{"a": 1.5, "b": "x"}'],
    "deep": ['[{"a": [true]}]', None, "[null]"],
}


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("name", NESTED)
def test_a_nested_column_is_the_json_text_that_lines_would_hold(
    write: Write, suffix: str, name: str
) -> None:
    rows = [record(f"u{i}") | {name: value} for i, value in enumerate(NESTED[name])]
    frame = pl.DataFrame(rows)
    assert frame.schema[name].is_nested()
    if suffix == "parquet":
        frame.write_parquet("x.parquet")
    else:
        frame.write_ipc("x.arrow")
    write("x.jsonl", *rows)
    column = _kept(name, f"x.{suffix}")
    assert column.dtype == pl.String
    assert column.to_list() == AS_TEXT[name] == _kept(name, "x.jsonl").to_list()
    assert _kept(name, f"x.{suffix}", "x.jsonl").to_list() == 2 * AS_TEXT[name]


def test_an_array_column_is_json_text_and_other_types_stay() -> None:
    frame = pl.DataFrame([record()]).with_columns(
        array=pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2)), day=date(2026, 1, 1)
    )
    tasks = sf.from_frame(frame.with_columns(days=pl.concat_list("day")), run="asi", extra="keep")
    assert tasks.select("array", "day", "days").rows() == [
        ("[1, 2]", date(2026, 1, 1), '["2026-01-01"]')
    ]


def test_a_nested_number_that_json_does_not_have_is_a_fault() -> None:
    frame = pl.DataFrame([record("a", n=[1.5]), record("b", n=[float("nan")])])
    with pytest.raises(sf.RecordError) as caught:
        sf.from_frame(frame, run="asi", extra="keep")
    assert caught.value.faults.select("line", "field", "value", "rule").rows() == [
        (2, "n", "[NaN]", "json")
    ]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_records_with_a_nested_column_can_be_written_in_every_format(suffix: str) -> None:
    rows = [record("a", n=[1], s={"k": 1}), record("b", n=None, s=None)]
    tasks = sf.from_frame(pl.DataFrame(rows), run="asi", extra="keep")
    sf.write_tasks(tasks, f"x{suffix}")
    if suffix == ".csv":
        again = pl.read_csv("x.csv", schema=tasks.schema)
    else:
        again = sf.read_tasks(f"x{suffix}", extra="keep")
    assert again.equals(tasks)


@pytest.mark.parametrize(
    ("suffix", "values"),
    [
        (".csv", [[1]]),
        (".csv", [{"a": 1}]),
        (".csv", [b"x"]),
        (".csv", [timedelta(1)]),
        (".jsonl", [b"x"]),
    ],
)
def test_a_column_that_a_format_cannot_hold_is_an_input_error(
    folder: Path, suffix: str, values: list[object]
) -> None:
    tasks = sf.from_frame(pl.DataFrame([record()]), run="asi").with_columns(pl.Series("n", values))
    with pytest.raises(
        sf.InputError, match=f"x{suffix}: a {suffix} file cannot hold the column 'n' of"
    ):
        sf.write_tasks(tasks, f"x{suffix}")
    assert list(folder.iterdir()) == []


# Ignored and refused


def test_ignored_keys_are_dropped_and_named_once(write: Write) -> None:
    write("a.jsonl", record("a", z=1, a={"b": 1}), record("b", z="text"))
    write("b.jsonl", record("c", **{"m\n": None}))
    with pytest.warns(sf.SkillshiftWarning) as caught:
        tasks = sf.read_tasks(["a.jsonl", "b.jsonl"], extra="ignore")
    assert tasks.schema == sf.TASKS
    assert tasks["uid"].to_list() == ["a", "b", "c"]
    assert [str(warning.message) for warning in caught] == [
        r"ignored, not keys of a record: a, m\n, z"
    ]
    assert caught[0].filename == __file__


def test_where_nothing_is_ignored_nothing_is_said(write: Write) -> None:
    write("a.jsonl", record("a"))
    assert sf.read_tasks("a.jsonl", extra="ignore").height == 1


def test_other_keys_are_refused_unless_asked_for(write: Write) -> None:
    write("x.jsonl", record("a", reward=1))
    for found in (sf.check_tasks("x.jsonl")[1], sf.check_tasks("x.jsonl", extra="refuse")[1]):
        assert found["rule"].to_list() == ["unknown-key"]


@pytest.mark.parametrize("extra", ["kepe", "", None, True])
def test_a_misspelt_choice_is_an_error(write: Write, extra: Any) -> None:  # noqa: ANN401 - what no type allows
    write("x.jsonl", record("a"))
    for read in (sf.read_tasks, sf.check_tasks, sf.scan_tasks):
        with pytest.raises(sf.InputError, match="one of refuse, keep, ignore is needed"):
            read("x.jsonl", extra=extra)
    with pytest.raises(sf.InputError, match="one of refuse, keep, ignore is needed"):
        sf.from_frame(pl.DataFrame([record()]), run="x", extra=extra)
