"""Parquet in bulk: the same tally as row by row, or the general reader's say."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf
from skillshift_frames.readers import bulk
from skillshift_frames.readers.sources import resolve_sources
from tests.readers.test_bulk import outcome, slowly

UIDS = [
    *(
        "skillshift.gitlab.v1.{}",
        "skillshift.gitlab.v2.{}",
        "skillshift.magento.v1.{}",
        "t-{}",
        "{}",
    ),
    *(
        "skillshift.gitlab.v1.{}.v2.7",
        "skillshift.gitlab.v1.x{}",
        "skillshift.gitlab.{}",
        "skill{}",
    ),
    *("skillshift.a.v1.{}", "skillshift.gitlab.v1.9.v{}", "skillshift.gitlab.v1.{}\n", "é{}"),
]


@pytest.fixture(autouse=True)
def _small_files_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bulk, "WORTH_IT", 0)
    monkeypatch.setattr(bulk, "_LITTLE_PARQUET", 0)
    monkeypatch.chdir(tmp_path)


def rows(count: int = 60, uid: str = "skillshift.gitlab.v1.{}", **values: Any) -> pl.DataFrame:  # noqa: ANN401
    frame = pl.DataFrame(
        {
            "uid": [uid.format(number) for number in range(count)],
            "site": "gitlab",
            "condition": "src",
            "success": [number % 3 == 0 for number in range(count)],
            "steps": [number % 4 for number in range(count)],
            "skill_calls": 2,
            "skill_failures": [number % 2 for number in range(count)],
        }
    )
    return frame.with_columns(**{name: pl.lit(value) for name, value in values.items()})


def taken(*paths: str) -> bool:
    found = bulk.distinct_records(resolve_sources(list(paths))[0], None)
    return found is not None and not found.unfit


def agree(*paths: str, **options: Any) -> tuple[Any, list[str]]:  # noqa: ANN401
    """Give the answer that both readers give."""
    found = outcome(sf.read_tally, *paths, **options)
    assert found == outcome(slowly, *paths, **options)
    return found


def test_file_is_tallied_and_every_row_counts() -> None:
    rows(300).write_parquet("x.parquet")
    assert taken("x.parquet")
    found, notes = agree("x.parquet")
    assert (sum(row["tasks"] for row in found), notes) == (300, [])


def test_what_we_export_is_taken_with_the_runs_that_it_names() -> None:
    both = pl.concat([rows(run="a"), rows(run="b", condition="src-perc")])
    sf.write_tasks(sf.from_frame(both), "x.parquet")
    assert taken("x.parquet")
    found, _ = agree("x.parquet")
    assert {row["run"] for row in found} == {"a", "b"}


@pytest.mark.parametrize(
    ("fits", "change"),
    [
        (True, {"error": ""}),
        (True, {"error": pl.col("uid")}),  # every row another error: that there is one counts
        (True, {"trial": 2}),
        (True, {"trial": pl.lit(None, pl.Int64)}),
        (True, {"steps": pl.col("steps").cast(pl.UInt8)}),
        (False, {"steps": pl.col("steps").cast(pl.UInt64)}),
        (False, {"steps": pl.col("steps").cast(pl.Float64)}),
        (False, {"steps": pl.lit(None)}),
        (True, {"skill_calls": pl.lit(None, pl.Int64), "skill_failures": pl.lit(None, pl.Int64)}),
        (False, {"skill_calls": pl.when(pl.col("steps") > 1).then(1)}),
        (False, {"site": pl.col("site").cast(pl.Categorical)}),
        (False, {"site": "gitlap"}),
        (False, {"reward": 1}),
        (False, {"run": ""}),
        (False, {"uid": pl.when(pl.col("uid") != "skillshift.gitlab.v1.7").then("uid")}),
        (False, {"uid": "t"}),
        (False, {"success": pl.when(pl.col("steps") > 0).then("success")}),
        (False, {"steps": -1}),
        (False, {"trial": pl.col("steps") + 1}),
        (False, {"trial": 0}),
    ],
)
def test_one_column_that_is_different(*, fits: bool, change: dict[str, Any]) -> None:
    frame = rows().with_columns(
        **{name: v if isinstance(v, pl.Expr) else pl.lit(v) for name, v in change.items()}
    )
    frame.write_parquet("x.parquet")
    known = bulk.distinct_records(resolve_sources(["x.parquet"])[0], sf.SKILLSHIFT)
    assert (known is not None and not known.unfit) is fits
    agree("x.parquet")


@pytest.mark.parametrize("uid", UIDS)
@pytest.mark.parametrize("one", [True, False])
def test_uids_of_every_form(uid: str, *, one: bool) -> None:
    """One among many, so that the least and the greatest say nothing of it; or all."""
    frame = rows(uid="skillshift.gitlab.v1.{}" if one else uid)
    if one:
        odd = pl.when(pl.col("uid") == "skillshift.gitlab.v1.33").then(pl.lit(uid.format(33)))
        frame = frame.with_columns(uid=odd.otherwise("uid"))
    frame.write_parquet("x.parquet")
    for benchmark in ("skillshift", "infer"):
        agree("x.parquet", benchmark=benchmark)


def test_uid_of_ones_own_may_be_of_several_runs() -> None:
    for number, name in enumerate(("x.parquet", "y.parquet")):
        rows(uid="task-{}", skill_calls=2 + number).write_parquet(name)
    assert taken("x.parquet", "y.parquet")
    agree("x.parquet", "y.parquet")


def test_repeated_keys_are_found_within_and_across_files() -> None:
    pl.concat([rows(), rows()[7:8]]).write_parquet("x.parquet")
    assert agree("x.parquet")[0][0] == "RecordError"
    rows(run="a").write_parquet("y.parquet")
    rows(run="a")[9:10].write_parquet("z.parquet")
    assert agree("y.parquet", "z.parquet")[0][0] == "RecordError"
    rows(run="a", condition="src-exec").write_parquet("z.parquet")
    assert taken("y.parquet", "z.parquet")
    agree("y.parquet", "z.parquet")
    agree("y.parquet", "z.parquet", pool=True)
    rows(run="a", trial=2).write_parquet("z.parquet")  # more trials of the same tasks
    rows(run="b").write_parquet("b.parquet")
    agree("y.parquet", "z.parquet", "b.parquet")


def test_runs_of_rows_and_runs_of_lines() -> None:
    rows().write_ndjson("a.jsonl")
    rows(condition="src-exec").write_parquet("b.parquet")
    rows(run="a", condition="src-perc").write_parquet("c.parquet")
    rows(run="a").write_parquet("d.parquet")
    assert taken("b.parquet")
    for paths in (("a.jsonl", "b.parquet"), ("a.jsonl", "c.parquet"), ("a.jsonl", "d.parquet")):
        agree(*paths)
        agree(*paths, pool=True)
    agree("c.parquet", labels={"mine": "b.parquet"})
    agree("b.parquet", labels={"mine": "c.parquet"})
    notes = agree(labels={"a": "c.parquet"})[1]
    assert notes == agree("c.parquet", pool="a")[1]
    assert "is not used" in notes[0]
    assert agree("a.jsonl", "d.parquet")[0][0] == "RecordError"
    assert taken("a.jsonl", "b.parquet")
    assert not taken("a.jsonl", "d.parquet")


def test_damaged_and_empty_files() -> None:
    rows().write_parquet("x.parquet")
    content = Path("x.parquet").read_bytes()
    Path("x.parquet").write_bytes(content[: len(content) // 2])
    assert agree("x.parquet")[0][0] == "RecordError"
    rows(0).write_parquet("x.parquet")
    assert agree("x.parquet")[0][0] == "RecordError"


def frames() -> st.SearchStrategy[pl.DataFrame]:
    """Frames of a few kinds of rows, many of each, with a few odd ones among them."""

    def frame(parts: list[tuple[str, str, str, int, int | None]]) -> pl.DataFrame:
        return pl.concat(
            rows(count, uid, site=site, condition=condition).with_columns(
                trial=pl.lit(trial, pl.Int64)
            )
            for uid, site, condition, count, trial in parts
        )

    part = st.tuples(
        st.sampled_from(UIDS),
        st.sampled_from(["gitlab", "gitlab", "magento"]),
        st.sampled_from(["src", "src", "tgt"]),
        st.sampled_from([1, 2, 30]),
        st.sampled_from([1, 1, None, 2]),
    )
    return st.lists(part, min_size=1, max_size=3).map(frame)


def test_whatever_frames_hold_the_answer_is_that_of_the_general_reader() -> None:
    ways: list[bool] = []

    @given(
        st.lists(frames(), min_size=1, max_size=2), st.sampled_from([None, "own"]), st.booleans()
    )
    def check(contents: list[pl.DataFrame], run: str | None, pool: bool) -> None:  # noqa: FBT001
        names = [f"x{number}.parquet" for number in range(len(contents))]
        for name, content in zip(names, contents, strict=True):
            content.with_columns(run=pl.lit(run, pl.String)).write_parquet(name)
        agree(*names, benchmark="infer", pool=pool and "all")
        ways.append(taken(*names))

    check()
    assert any(ways)
    assert not all(ways)


@pytest.mark.parametrize(
    ("name", "expected"), [("x.jsonl", False), ("x.jsonl.gz", True), ("x.parquet", True)]
)
def test_byte_of_a_file_that_is_not_plain_text_stands_for_more(
    monkeypatch: pytest.MonkeyPatch, name: str, *, expected: bool
) -> None:
    rows(300).write_ndjson("x.jsonl")
    Path("x.jsonl.gz").write_bytes(gzip.compress(Path("x.jsonl").read_bytes()))
    rows(300).write_parquet("x.parquet")
    monkeypatch.setattr(bulk, "WORTH_IT", Path(name).stat().st_size + 1)
    assert taken(name) is expected
