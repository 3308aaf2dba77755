"""Lazy reading: nothing before collect, and then what eager reading gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import skillshift_frames as sf
from skillshift_frames.readers import tasks as tasks_module
from tests.readers.conftest import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.readers.conftest import Write

Engine: TypeAlias = Literal["in-memory", "streaming"]
ENGINES: list[Engine] = ["in-memory", "streaming"]


@pytest.fixture
def run(write: Write) -> str:
    """One file of 30 records in which every column varies."""
    write(
        "asi.jsonl",
        *(
            record(
                f"u{index}",
                site=["gitlab", "magento", "wordpress"][index % 3],
                condition=["src", "tgt"][index % 2],
                success=index % 4 == 0,
                steps=index,
                trial=1 + index % 2,
            )
            for index in range(30)
        ),
    )
    return "asi.jsonl"


def test_nothing_is_read_before_collect(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[object] = []
    read_tasks = tasks_module.read_tasks

    def watched(*arguments: Any, **options: Any) -> pl.DataFrame:  # noqa: ANN401
        reads.append(arguments)
        return read_tasks(*arguments, **options)

    monkeypatch.setattr(tasks_module, "read_tasks", watched)
    query = sf.scan_tasks(run).filter(pl.col("steps") > 3).select("uid")
    assert query.collect_schema() == pl.Schema({"uid": pl.String})
    query.explain()
    assert not reads
    query.collect()
    assert len(reads) == 1


def test_a_file_written_after_the_scan_is_what_is_read(write: Write) -> None:
    write("x.jsonl", "[]")
    query = sf.scan_tasks("x.jsonl")
    write("x.jsonl", record("late"))
    assert query.collect()["uid"].to_list() == ["late"]


def test_the_schema_is_known_without_reading(write: Write) -> None:
    write("x.jsonl", "[]")
    assert sf.scan_tasks("x.jsonl").collect_schema() == sf.TASKS


QUERIES: dict[str, Callable[[pl.LazyFrame], pl.LazyFrame]] = {
    "everything": lambda frame: frame,
    "projection": lambda frame: frame.select("steps", "uid"),
    "count": lambda frame: frame.select(pl.len()),
    "predicate": lambda frame: frame.filter(pl.col("steps") > 10),
    "predicate-and-projection": lambda frame: frame.filter(pl.col("steps") > 10, pl.col("site") == "gitlab").select("uid"),
    "membership": lambda frame: frame.filter(pl.col("uid").is_in(["u3", "u20"])),
    "nothing": lambda frame: frame.filter(pl.lit(value=False)),
    "head": lambda frame: frame.head(5),
    "head-0": lambda frame: frame.head(0),
    "head-beyond": lambda frame: frame.head(1_000),
    "tail": lambda frame: frame.tail(3),
    "slice": lambda frame: frame.slice(4, 3),
    "head-then-predicate": lambda frame: frame.head(5).filter(pl.col("steps") > 3),
    "predicate-then-head": lambda frame: frame.filter(pl.col("steps") > 3).head(5),
    "predicate-projection-head": lambda frame: frame.filter(pl.col("steps") > 3).select("uid").head(2),
    "head-predicate-head": lambda frame: frame.head(20).filter(pl.col("steps") > 3).head(5).select("site"),
    "row-index": lambda frame: frame.with_row_index().filter(pl.col("steps") % 2 == 0),
    "group-by": lambda frame: frame.group_by("site", "condition").agg(sf.success_rate(), pl.len()).sort("site", "condition"),
    "self-join": lambda frame: frame.join(frame, on=["uid", "site"], suffix="_2").sort("uid"),
    "own-column": lambda frame: frame.with_columns(family=sf.family()).select(pl.col("family").n_unique()),
    "top": lambda frame: frame.sort("steps", descending=True).head(4),
    "unique": lambda frame: frame.drop("run", "error").unique("site", keep="first", maintain_order=True),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", QUERIES)
def test_a_lazy_query_gives_what_the_eager_one_gives(run: str, query: str, engine: Engine) -> None:
    lazy = QUERIES[query](sf.scan_tasks(run)).collect(engine=engine)
    eager = QUERIES[query](sf.read_tasks(run).lazy()).collect(engine=engine)
    assert_frame_equal(lazy, eager)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", ["everything", "projection", "head", "membership", "nothing"])
def test_a_fault_anywhere_stops_every_query_of_the_file(
    write: Write, query: str, engine: Engine
) -> None:
    write("x.jsonl", *(record(f"u{index}") for index in range(9)), record("u9", steps=-1))
    lazy = QUERIES[query](sf.scan_tasks("x.jsonl"))
    with pytest.raises(sf.RecordError, match=r"^x\.jsonl:10: steps: -1 is below 0") as caught:
        lazy.collect(engine=engine)
    assert (caught.value.line, caught.value.field) == (10, "steps")


def test_options_are_those_of_read_tasks(write: Write) -> None:
    write("a.jsonl", record("a", site="shop", reward=1))
    write("b.jsonl", record("b", site="shop"))
    options: dict[str, Any] = {"labels": {"A": "a.jsonl"}, "benchmark": "infer", "extra": "ignore"}
    with pytest.warns(sf.SkillshiftWarning, match="reward"):
        eager = sf.read_tasks("b.jsonl", **options)
    with pytest.warns(sf.SkillshiftWarning, match="reward"):
        lazy = sf.scan_tasks("b.jsonl", **options).collect()
    assert_frame_equal(lazy, eager)
    pooled = sf.scan_tasks("*.jsonl", pool="all", benchmark="infer", extra="ignore")
    with pytest.warns(sf.SkillshiftWarning, match="reward"):
        assert pooled.collect()["run"].to_list() == ["all", "all"]


def test_a_missing_benchmark_is_an_error_at_once(run: str) -> None:
    with pytest.raises(sf.BenchmarkError, match=r"^benchmark shop\.toml: cannot be read"):
        sf.scan_tasks(run, benchmark="shop.toml")


def test_the_benchmark_of_the_scan_is_the_benchmark_of_collect(write: Write) -> None:
    write("shop.toml", 'conditions = ["src"]\n[sites]\nshop = 1')
    write("x.jsonl", record(site="shop"))
    query = sf.scan_tasks("x.jsonl", benchmark="shop.toml")
    write("shop.toml", "no longer TOML")
    assert query.collect().height == 1


def test_keys_cannot_be_kept_lazily(run: str) -> None:
    with pytest.raises(sf.InputError, match="extra='keep' cannot be scanned"):
        sf.scan_tasks(run, extra="keep")  # type: ignore[arg-type]
