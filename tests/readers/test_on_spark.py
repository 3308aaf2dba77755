"""Files and lines that Spark reads, as far as they can be told without it; `tests.test_spark_files` has the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from skillshift_frames.readers.hadoop import Found, _kind, _suffix
from skillshift_frames.readers.sources import Source, label_sources
from skillshift_frames.readers.spark import _literal, _named, reason_of
from skillshift_frames.readers.spark_lines import _in_lines, _judge

if TYPE_CHECKING:
    from skillshift_frames.readers.diagnosis import Finding

LINE = b'{"uid": "a", "site": "cart", "condition": "src", "success": true, "steps": 3, "skill_calls": 0, "skill_failures": 0}'
WHOLE = "OBJECT<end: BIGINT, record: OBJECT<uid: STRING>>"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[PATH_NOT_FOUND] no\n\tat x", "[PATH_NOT_FOUND] no"),
        ("[A] x\n\tCaused by: y: [B_C.D] because\n\tat x", "[B_C.D] because"),
        ("An error occurred while calling o1.z.\n: java.X: why\n\tat x", "java.X: why"),
        ("why\nmore", "why"),
        ("", "ValueError"),
    ],
)
def test_of_all_that_spark_prints_one_line_is_said(text: str, reason: str) -> None:
    assert reason_of(ValueError(text)) == reason


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("hdfs://host/runs/asi.parquet", ("parquet", None)),
        ("file:/runs/asi.jsonl.gz", ("jsonl", "gz")),
        ("file:/runs/asi.jsonl.zst", ("jsonl", "zst")),
        ("s3a://runs/asi.NDJSON", ("jsonl", None)),
    ],
)
def test_the_name_says_the_kind(path: str, kind: tuple[str, str | None]) -> None:
    assert _kind(path) == kind


@pytest.mark.parametrize("path", ["hdfs://host/runs/asi", "x.parquet.gz", ".parquet"])
def test_a_name_of_no_kind_has_no_suffix(path: str) -> None:
    assert _suffix(path) not in {".jsonl", ".ndjson", ".parquet"}


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["hdfs://h/runs/asi.parquet", "hdfs://h/runs/b.jsonl.gz"], ["asi", "b"]),
        (["hdfs://h/asi/per_task.jsonl", "hdfs://h/b/per_task.jsonl"], ["asi", "b"]),
        (["s3a://x/one/asi.parquet", "s3a://x/two/asi.parquet"], ["one/asi", "two/asi"]),
    ],
)
def test_runs_are_labelled_as_on_this_machine(paths: list[str], labels: list[str]) -> None:
    sources = [Source(path, *_kind(path), "") for path in paths]
    assert [source.label for source in label_sources(sources, {}, pool=False)] == labels


def test_a_name_is_no_pattern_to_spark() -> None:
    assert _literal(["a[1]{x}*?\\.jsonl"]) == [r"a\[1\]\{x\}\*\?\\.jsonl"]


def judged(line: bytes, shape: str | None = WHOLE, extra: Any = "refuse") -> list[Finding]:  # noqa: ANN401 - one of two
    return _judge(line, shape, extra)[0]


def test_a_line_is_judged_by_the_one_decoder() -> None:
    assert judged(LINE) == []
    assert [wrong.rule for wrong in judged(LINE.replace(b"3", b"3.0"))] == ["type"]
    assert [wrong.rule for wrong in judged(LINE.replace(b"3", b"9" * 20))] == ["range"]
    assert [wrong.rule for wrong in judged(LINE.replace(b'"steps": 3, ', b""))] == ["missing-key"]


@pytest.mark.parametrize("shape", [None, "OBJECT<record: OBJECT<uid: STRING>>", "VARIANT"])
def test_what_spark_cannot_take_apart_is_refused_whatever_it_looks_like(shape: str | None) -> None:
    assert judged(LINE, shape) != []


def test_unknown_keys_are_named_or_refused() -> None:
    line = LINE.replace(b"{", b'{"cost": 1, ')
    assert [wrong.field for wrong in judged(line)] == ["cost"]
    assert _judge(line, WHOLE, "ignore") == ([], {"cost": 1})


@pytest.mark.parametrize(
    ("lines", "alike", "said"),
    [
        (1, True, "in 1 line"),
        (1, False, "in 1 line"),
        (1234, True, "in 1,234 lines"),
        (3, False, "in this line, and 2 more are no records"),
    ],
)
def test_lines_are_counted(lines: int, said: str, *, alike: bool) -> None:
    assert _in_lines(lines, alike=alike) == said


def test_a_file_that_nothing_was_read_from_is_named() -> None:
    paths = ["file:/a b.jsonl", "file:/set.parquet", "file:/set"]
    found = Found(
        [Source(path, "jsonl", None, "") for path in paths],
        {path: path.replace(" ", "%20") for path in paths},
        [],
    )
    read = {"file:/a%20b.jsonl", "file:/set.parquet/part-0.parquet"}
    faults = _named([], found, read)
    assert faults.select("path", "rule").rows() == [("file:/set", "empty-file")]
    assert _named([], found, read | {"file:/set"}).is_empty()
    assert faults.schema["line"] == pl.Int64
