"""Distinct records with their counts: the same tally as that of all records, or the general reader's say."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf
from skillshift_frames import outcomes
from skillshift_frames.outcomes import count_outcomes
from skillshift_frames.readers import blocks, bulk, groups, texts
from skillshift_frames.readers.assemble import check_sources
from skillshift_frames.readers.growing import growing
from skillshift_frames.readers.sources import resolve_sources
from tests.readers.conftest import record, written
from tests.readers.lines import files

if TYPE_CHECKING:
    from tests.readers.conftest import Write

REST = written().encode().removeprefix(b'{"uid": "t"')


def outcome(read: Any, *paths: str, **options: Any) -> tuple[Any, list[str]]:  # noqa: ANN401
    """Give a tally, or what was raised instead, and the notes on the way."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            found = read(paths, **options).to_dicts()
        except sf.SkillshiftError as error:
            found = (type(error).__name__, str(error))
    return found, [str(note.message) for note in notes]


def slowly(paths: tuple[str, ...], **options: Any) -> pl.DataFrame:  # noqa: ANN401
    return count_outcomes(sf.read_tasks(paths, **options))


def taken(*paths: str, **options: Any) -> bool:  # noqa: ANN401
    """Tell whether the files need no other reader."""
    sources, _ = resolve_sources(list(paths))
    found = bulk.distinct_records(sources, None, **options)
    return found is not None and not found.unfit


@pytest.fixture(autouse=True)
def _small_files_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "WORTH_IT", 0)
    monkeypatch.setattr(bulk, "_LITTLE_PARQUET", 0)


def run_of(count: int, *, uid: str = "skillshift.gitlab.v1.{}", **values: Any) -> list[bytes]:  # noqa: ANN401
    """Write lines of one run: a few different outcomes, keys that differ."""
    return [
        json.dumps(record(uid.format(n), success=n % 3 == 0, steps=n % 5, **values)).encode()
        for n in range(count)
    ]


def test_tally_is_that_of_all_records(write: Write) -> None:
    write("x.jsonl", *run_of(300), *run_of(300, condition="src-perc"))
    assert taken("x.jsonl")
    found, notes = outcome(sf.read_tally, "x.jsonl")
    assert (found, notes) == outcome(slowly, "x.jsonl")
    assert sum(row["tasks"] for row in found) == 600


def test_whatever_files_hold_the_answer_is_that_of_the_general_reader() -> None:
    ways: list[bool] = []

    @given(
        st.one_of(
            st.lists(files(), min_size=1, max_size=1), st.lists(files(), min_size=1, max_size=3)
        ),
        st.sampled_from([b"\n", b"", b"\n\n"]),
        st.booleans(),
    )
    def check(contents: list[list[bytes]], end: bytes, pool: bool) -> None:  # noqa: FBT001
        names = [f"x{index}.jsonl" for index in range(len(contents))]
        for name, content in zip(names, contents, strict=True):
            Path(name).write_bytes(b"\n".join(content) + end)
        options = {"benchmark": "infer", "pool": pool and "all"}
        assert outcome(sf.read_tally, *names, **options) == outcome(slowly, *names, **options)
        ways.append(taken(*names))

    check()
    assert any(ways), "no drawn files fit"
    assert not all(ways), "all drawn files fit"


def test_several_files_are_several_runs_or_shards_of_one(write: Write) -> None:
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *run_of(100, condition="tgt", uid="skillshift.gitlab.v2.{}"))
    for options in ({}, {"pool": True}, {"labels": {"one": "a.jsonl"}}):
        assert outcome(sf.read_tally, "a.jsonl", "b.jsonl", **options) == outcome(
            slowly, "a.jsonl", "b.jsonl", **options
        )
    assert taken("a.jsonl", "b.jsonl")


def test_runs_that_record_different_things_are_in_order(write: Write) -> None:
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *run_of(100, skill_calls=None, skill_failures=None))
    write("c.jsonl", *(line.replace(b'"steps": 3', b'"steps": 4') for line in run_of(100)))
    assert taken("a.jsonl", "b.jsonl", "c.jsonl")
    assert outcome(sf.read_tally, "a.jsonl", "b.jsonl", "c.jsonl") == outcome(
        slowly, "a.jsonl", "b.jsonl", "c.jsonl"
    )
    # As shards of one run they are not.
    found, _ = outcome(sf.read_tally, "a.jsonl", "b.jsonl", pool=True)
    assert found[0] == "RecordError"
    assert outcome(sf.read_tally, "a.jsonl", "b.jsonl", pool=True) == outcome(
        slowly, "a.jsonl", "b.jsonl", pool=True
    )


def test_run_that_records_steps_in_part_is_found_among_others(write: Write) -> None:
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *run_of(50), *run_of(50, condition="src-exec", error="gone"))
    lacking = [json.loads(line) | {"steps": None} for line in run_of(50, condition="src-perc")]
    write("c.jsonl", *run_of(50), *lacking)
    assert taken("a.jsonl", "b.jsonl")
    assert not taken("a.jsonl", "c.jsonl")
    assert outcome(sf.read_tally, "a.jsonl", "c.jsonl") == outcome(slowly, "a.jsonl", "c.jsonl")


@pytest.mark.parametrize("pool", [False, True])
def test_key_that_comes_again_in_another_file(write: Write, *, pool: bool) -> None:
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *run_of(100)[:1], *run_of(100, condition="src-exec"))
    found, _ = outcome(sf.read_tally, "a.jsonl", "b.jsonl", pool=pool)
    assert (found[0] == "RecordError") is pool
    assert outcome(sf.read_tally, "a.jsonl", "b.jsonl", pool=pool) == outcome(
        slowly, "a.jsonl", "b.jsonl", pool=pool
    )


def test_repeated_key_is_named_with_both_places(write: Write) -> None:
    write("x.jsonl", *run_of(200), run_of(200)[17])
    found, _ = outcome(sf.read_tally, "x.jsonl")
    assert found[0] == "RecordError"
    assert "x.jsonl:201: uid: the record of" in found[1]
    assert "is already at x.jsonl:18" in found[1]


def test_without_a_look_at_keys_repeated_ones_pass(write: Write) -> None:
    write("x.jsonl", *run_of(200), run_of(200)[17])
    found, notes = outcome(sf.read_tally, "x.jsonl", unique=False)
    assert sum(row["tasks"] for row in found) == 201
    assert notes == ["no look was taken for records that repeat a key"]


def test_the_general_reader_looks_at_keys_always(write: Write) -> None:
    write("x.jsonl", *(b" " + line if n % 2 else line for n, line in enumerate(run_of(200))))
    with Path("x.jsonl").open("ab") as file:
        file.write(run_of(200)[17] + b"\n")
    found, _ = outcome(sf.read_tally, "x.jsonl", unique=False)
    assert found[0] == "RecordError"
    assert outcome(sf.read_tally, "x.jsonl", unique=False) == outcome(slowly, "x.jsonl")


def test_heads_that_turn_up_late_are_learnt_and_too_many_are_not(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_PLACES", 1)
    monkeypatch.setattr(texts, "_LOOK", 200)
    for several, fits in ((20, True), (31, True), (32, False)):
        uids = ["skillshift.gitlab.v1.{}"] + [f"t{'x' * n}-{{}}" for n in range(several - 1)]
        write("x.jsonl", *(line for uid in uids for line in run_of(20, uid=uid)))
        assert taken("x.jsonl") is fits
        assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")


def test_runs_may_have_more_heads_together_than_one_of_them(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"x{number}.jsonl" for number in range(70)]
    for number, name in enumerate(names):
        write(name, *run_of(40, uid=f"t{number}-{{}}"))
    for size in (blocks.BLOCK, 20_000):
        monkeypatch.setattr(blocks, "BLOCK", size)
        assert taken(*names)
        assert outcome(sf.read_tally, *names) == outcome(slowly, *names)


@pytest.mark.parametrize("size", [blocks.BLOCK, 6_000])
@pytest.mark.parametrize("named", ["a.jsonl", "z.jsonl"])
def test_what_a_run_that_does_not_fit_has_taught_is_in_no_other_ones_way(
    write: Write, monkeypatch: pytest.MonkeyPatch, size: int, named: str
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", size)
    monkeypatch.setattr(texts, "MOST_TEXTS", 60)
    others = [f"b{number}.jsonl" for number in range(4)]
    for name in others:
        write(name, *run_of(300))
    names = sorted([named, *others])
    heads = [record(f"{n:03}-of-many") for n in range(300)]
    rests = [record(f"t{n}", error=f"e{n}") for n in range(300)]
    pairs = [line for n in range(150) for line in run_of(2, uid=f"t{n}.{{}}", error=f"e{n}")]
    for lines in (heads, rests, pairs):
        write(named, *lines)
        found = bulk.distinct_records(resolve_sources(names)[0], None)
        assert found is not None
        assert [source.path for source in found.unfit] == [named]
        assert outcome(sf.read_tally, *names) == outcome(slowly, *names)


def test_of_two_heads_the_longer_one_counts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of ``t1-5`` after ``t`` is no number, and it has the other head."""
    lines = [line for uid in ("t{}", "t1-{}", "t1-2.{}", "{}") for line in run_of(60, uid=uid)]
    write("x.jsonl", *lines)
    write("y.jsonl", *reversed(lines))
    for places in (64, 1):
        monkeypatch.setattr(texts, "_PLACES", places)
        names = ("x.jsonl", "y.jsonl")
        assert taken(*names) is (places > 1)  # not seen beforehand, it is the other reader's
        for unique in (True, False):
            found, _ = outcome(sf.read_tally, *names, unique=unique)
            assert found == outcome(slowly, *names)[0]


def test_uids_that_differ_in_leading_zeros_only_are_different(write: Write) -> None:
    lines = [
        b'{"uid": "t%s%d"' % (zeros, n) + REST for n in range(50) for zeros in (b"", b"0", b"00")
    ]
    write("x.jsonl", *lines)
    assert taken("x.jsonl")
    assert sf.read_tally("x.jsonl").get_column("tasks").sum() == 150


def test_same_uid_in_other_cells_and_sites_is_another_key(write: Write) -> None:
    lines = [
        line
        for site in ("gitlab", "magento")
        for condition in ("src", "tgt")
        for line in run_of(50, uid="task-{}", site=site, condition=condition)
    ]
    write("x.jsonl", *lines)
    assert taken("x.jsonl")
    assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(b'{"uid": "u\xff9"' + REST, id="bad-utf-8"),
        pytest.param(b'{"uid": "u\\u00419"' + REST, id="escape-in-the-uid"),
        pytest.param(b'{"uid": "u\t9"' + REST, id="control-character-in-the-uid"),
        pytest.param(b'{"uid": ""' + REST, id="empty-uid"),
        pytest.param(b'{"uid": "u", "uid": "u"' + REST, id="repeated-key"),
        pytest.param(b'{"uid": "skillshift.magento.v1.9"' + REST, id="uid-of-another-site"),
        pytest.param(b'{"uid": "skillshift.gitlab.v2.9"' + REST, id="uid-of-the-other-version"),
        pytest.param(b"", id="blank-line"),
        pytest.param(b"[]", id="array"),
        pytest.param(b'{"site": "gitlab", "uid": "u"}', id="another-key-first"),
        pytest.param(written(success="1").encode(), id="wrong-type"),
        pytest.param(written(steps="-1").encode(), id="out-of-range"),
        pytest.param(written(steps=str(2**63)).encode(), id="beyond-64-bits"),
        pytest.param(written(skill_failures="7").encode(), id="failures-exceed-calls"),
        pytest.param(written(site='"gitlap"').encode(), id="unknown-site"),
        pytest.param(written(steps="null").encode(), id="null-in-part-of-a-run"),
        pytest.param(written(trial="2").encode(), id="second-trial"),
        pytest.param(written(run='"own"').encode(), id="run-of-its-own"),
        pytest.param(written(reward="0.5").encode(), id="unknown-key"),
        pytest.param(written(error='""').encode(), id="empty-error"),
        pytest.param(written(error='"gone"', success="null").encode(), id="error"),
        pytest.param(written().encode() + b"\r", id="carriage-return"),
        pytest.param(b"\xef\xbb\xbf" + written().encode(), id="byte-order-mark"),
    ],
)
def test_one_odd_line_among_many_has_the_same_effect(write: Write, odd: bytes) -> None:
    lines = run_of(200)
    for name, content in {
        "first.jsonl": [odd, *lines],
        "middle.jsonl": [*lines[:99], odd, *lines[99:]],
        "last.jsonl": [*lines, odd],
    }.items():
        write(name, *content)
        assert outcome(sf.read_tally, name) == outcome(slowly, name)


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(b" " + written(uid='"u"').encode(), id="indented"),
        pytest.param(written(uid='"u"').replace(", ", ",").encode(), id="without-spaces"),
        pytest.param(b'{"site": "gitlab", "uid": "u"' + REST[18:], id="another-key-first"),
        pytest.param(b' {"uid": "\\u00e9\\"1"' + REST, id="escapes-in-the-uid"),
        pytest.param(b"  \t", id="blank"),
    ],
)
@pytest.mark.parametrize("unique", [True, False])
def test_a_few_lines_of_another_layout_are_decoded_one_by_one(
    write: Write, monkeypatch: pytest.MonkeyPatch, odd: bytes, *, unique: bool
) -> None:
    lines = run_of(200)
    write("a.jsonl", *lines[:99], odd, *lines[99:])
    write("b.jsonl", *lines, odd)
    write("c.jsonl", *run_of(200, condition="src-exec"))
    names = ("a.jsonl", "b.jsonl", "c.jsonl")
    for size in (blocks.BLOCK, 40_000, 4_000):
        monkeypatch.setattr(blocks, "BLOCK", size)
        assert taken(*names, unique=unique)
        assert outcome(sf.read_tally, *names)[0] == outcome(slowly, *names)[0]
    write("alone.jsonl", lines[0], odd)
    assert outcome(sf.read_tally, "alone.jsonl") == outcome(slowly, "alone.jsonl")
    write("too-many.jsonl", *lines, *[odd] * 11)
    assert not taken("too-many.jsonl")


def test_block_of_nothing_but_another_layout(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run_of(54)
    write("x.jsonl", *lines, b" " + run_of(55)[54])
    monkeypatch.setattr(blocks, "BLOCK", sum(len(line) + 1 for line in lines) - 10)
    assert taken("x.jsonl")
    assert taken("x.jsonl", unique=False)
    assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")


def test_key_of_another_layout_that_comes_again_is_found(write: Write) -> None:
    write("x.jsonl", *run_of(200), b" " + run_of(200)[17])
    write("y.jsonl", *run_of(200), b" " + run_of(201)[200], b"  " + run_of(201)[200])
    for name, place in {"x.jsonl": "x.jsonl:18", "y.jsonl": "y.jsonl:201"}.items():
        found, _ = outcome(sf.read_tally, name)
        assert found[0] == "RecordError"
        assert f"is already at {place}" in found[1]
    write("z.jsonl", *run_of(200))  # the same key in another run is another key
    write("w.jsonl", *run_of(100, condition="src-exec"), b" " + run_of(200)[17])
    assert taken("z.jsonl", "w.jsonl")


def test_counts_that_are_added_up_on_the_way_are_the_same(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        write(f"{name}.jsonl", *run_of(200), *run_of(100, condition="src-exec"))
    names = ("a.jsonl", "b.jsonl", "c.jsonl")
    whole = outcome(sf.read_tally, *names)
    monkeypatch.setattr(blocks, "BLOCK", 4_000)
    for most in (1, 7, 1_000):
        monkeypatch.setattr(bulk, "_MOST_COUNTS", most)
        assert outcome(sf.read_tally, *names) == whole


@pytest.mark.parametrize("numbers_per_row", [0, 8])
def test_runs_with_few_outcomes_of_many(
    write: Write, monkeypatch: pytest.MonkeyPatch, numbers_per_row: int
) -> None:
    """Summed up by number, or sorted first, where there would be too many numbers."""
    monkeypatch.setattr(outcomes, "_NUMBERS_PER_ROW", numbers_per_row)
    names = [f"x{number}.jsonl" for number in range(20)]
    for number, name in enumerate(names):
        lines = run_of(40 + number)
        write(name, *(line.replace(b'"steps": 3', b'"steps": %d' % number) for line in lines))
    assert taken(*names)
    assert outcome(sf.read_tally, *names) == outcome(slowly, *names)


def test_lines_that_do_not_repeat_are_left_alone(write: Write) -> None:
    write("x.jsonl", *(json.dumps(record(f"t{n}", steps=n)) for n in range(400)))
    assert not taken("x.jsonl")
    write("y.jsonl", *(json.dumps(record(f"task-{n}-of-many")) for n in range(400)))
    assert not taken("y.jsonl")


@pytest.mark.parametrize("extra", ["keep", "ignore"])
def test_other_keys_are_the_general_readers(write: Write, extra: str) -> None:
    write("x.jsonl", *run_of(100, reward=0.5))
    assert outcome(sf.read_tally, "x.jsonl", extra=extra) == outcome(slowly, "x.jsonl", extra=extra)


def test_compressed_files_are_taken_and_standard_input_is_not(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("x.jsonl", *run_of(100))
    Path("x.jsonl.gz").write_bytes(gzip.compress(Path("x.jsonl").read_bytes()))
    sf.write_tasks(sf.read_tasks("x.jsonl"), "x.parquet")
    plain = sf.read_tally("x.jsonl")
    assert taken("x.jsonl.gz")
    assert taken("x.parquet")
    for path in ("x.jsonl.gz", "x.parquet"):
        assert sf.read_tally(path).equals(plain)
    with Path("x.jsonl").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert not taken("-")
        assert sf.read_tally("-", pool="x").equals(plain)


def test_trial_that_is_left_out_is_the_first(write: Write) -> None:
    """Found by setting the readers against each other."""
    write("x.jsonl", *run_of(100), run_of(100, trial=1)[17])
    found, _ = outcome(sf.read_tally, "x.jsonl")
    assert found[0] == "RecordError"
    assert "is already at x.jsonl:18" in found[1]
    assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")


def test_damaged_compressed_file_is_named(write: Write) -> None:
    write("x.jsonl", *run_of(100))
    Path("x.jsonl.gz").write_bytes(gzip.compress(Path("x.jsonl").read_bytes())[:-20])
    found, _ = outcome(sf.read_tally, "x.jsonl.gz")
    assert found == outcome(slowly, "x.jsonl.gz")[0]
    assert "cut short" in found[1]


@pytest.mark.parametrize("unique", [True, False])
def test_runs_that_do_not_fit_leave_the_others_to_this_reader(
    write: Write, monkeypatch: pytest.MonkeyPatch, *, unique: bool
) -> None:
    """Those in the middle are read line by line."""
    write("a.jsonl", *run_of(200))
    Path("b.jsonl").write_bytes(Path("a.jsonl").read_bytes().replace(b"}", b"}\n"))
    write("c.jsonl", *run_of(100), *run_of(100, trial=2))
    write("d.jsonl", *run_of(200, run="own"))
    write("e.jsonl", *(b" " + line if n % 2 else line for n, line in enumerate(run_of(200))))
    write("f.jsonl", *run_of(200), written(run='"own"'))  # its first blocks fit
    write("g.jsonl", *run_of(200, condition="src-exec"))
    monkeypatch.setattr(blocks, "BLOCK", 8_000)
    names = [f"{name}.jsonl" for name in "abcdefg"]
    whole: list[list[str]] = []
    check = check_sources

    def seen(sources: Any, *others: Any) -> Any:  # noqa: ANN401
        whole.append([source.path for source in sources])
        return check(sources, *others)

    monkeypatch.setattr("skillshift_frames.tallies.check_sources", seen)
    found, notes = outcome(sf.read_tally, *names, unique=unique)
    assert (found, notes[: len(notes) - (not unique)]) == outcome(slowly, *names)
    assert whole == [names[1:-1]]


def test_record_that_names_another_files_run_is_its_record(write: Write) -> None:
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *run_of(100, run="a", condition="tgt-exec", uid="t{}"))
    write("c.jsonl", *run_of(100, run="a"))
    for name in ("b", "c"):
        paths = ("a.jsonl", f"{name}.jsonl")
        assert outcome(sf.read_tally, *paths) == outcome(slowly, *paths)
    assert outcome(sf.read_tally, "a.jsonl", "c.jsonl")[0][0] == "RecordError"


@pytest.mark.parametrize("size", [5_000, 16_000, 1 << 20])
def test_blocks_of_any_size_give_the_same(
    write: Write, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    lines = [*run_of(300), *run_of(300, condition="tgt", uid="skillshift.gitlab.v2.{}")]
    names = []
    for number in range(6):
        write(f"x{number}.jsonl", *lines[number * 40 : 300 + number * 50])
        names.append(f"x{number}.jsonl")
    Path("x3.jsonl").write_bytes(Path("x3.jsonl").read_bytes().rstrip(b"\n"))
    Path("x4.jsonl").write_bytes(b"\r\n".join(lines))
    Path("x5.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines)))
    names[5] += ".gz"
    monkeypatch.setattr(blocks, "BLOCK", size)
    with monkeypatch.context() as patch:
        patch.setattr(blocks.Block, "part", None)  # nothing has to be done twice
        assert taken(*names)
    found, notes = outcome(sf.read_tally, *names)
    assert (found, notes) == outcome(slowly, *names)


def test_files_may_have_layouts_of_their_own(write: Write) -> None:
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *(line.replace(b": ", b":") for line in run_of(100)))
    write("c.jsonl", *(line.replace(b", ", b" ,") for line in run_of(100, condition="src-exec")))
    for options in ({}, {"pool": True}):
        found = outcome(sf.read_tally, "a.jsonl", "b.jsonl", "c.jsonl", **options)
        assert found == outcome(slowly, "a.jsonl", "b.jsonl", "c.jsonl", **options)
    assert taken("a.jsonl", "b.jsonl", "c.jsonl")


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.jsonl.gz", "nothing.jsonl.gz"])
@pytest.mark.parametrize("pool", [False, True])
def test_empty_file_among_others_is_a_fault(write: Write, name: str, *, pool: bool) -> None:
    write("a.jsonl", *run_of(100))
    Path(name).write_bytes(gzip.compress(b"") if "nothing" in name else b"")
    for paths in (("a.jsonl", name), (name, "a.jsonl")):
        found, _ = outcome(sf.read_tally, *paths, pool=pool)
        assert found == outcome(slowly, *paths, pool=pool)[0]
        assert f"{name}: file: " in found[1]


def test_standard_input_beside_a_file_is_read_once(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.jsonl", *run_of(100))
    write(
        "b.jsonl", *run_of(2, condition="tgt")
    )  # with warnings, so that somebody has to look again
    found = []
    for read in (sf.read_tally, slowly):
        with Path("b.jsonl").open() as file:
            monkeypatch.setattr("sys.stdin", file)
            found.append(outcome(read, "a.jsonl", "-"))
    assert found[0] == found[1]
    assert {row["run"] for row in found[0][0]} == {"a", "stdin"}
    assert found[0][1]


@pytest.mark.parametrize("size", [0, 1 << 30])
def test_paths_may_come_one_by_one(
    write: Write, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(bulk, "WORTH_IT", size)
    write("a.jsonl", *run_of(100))
    assert sf.read_tally(iter(["a.jsonl"])).get_column("tasks").sum() == 100  # type: ignore[arg-type]


def test_file_that_cannot_be_read_any_more_is_a_fault(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.jsonl", *run_of(100))

    write("b.jsonl", *run_of(100, condition="src-exec"))
    whole, reads = blocks._Memory.read, []

    def gone(memory: Any, file: Any) -> int:  # noqa: ANN401
        """The second file, in the middle of it."""
        reads.append(file.name)
        if reads.count("b.jsonl") > 1:
            raise OSError(5, "Input/output error")
        return whole(memory, file)

    monkeypatch.setattr(blocks._Memory, "read", gone)
    assert taken("a.jsonl")
    found = bulk.distinct_records(resolve_sources(["a.jsonl", "b.jsonl"])[0], None)
    assert found is not None
    assert [source.path for source in found.unfit] == ["b.jsonl"]
    assert found.counts.get_column(bulk.COUNT).sum() == 100
    both = ("a.jsonl", "b.jsonl")
    assert outcome(sf.read_tally, *both) == outcome(slowly, *both)


def test_uid_without_a_number_may_be_of_several_runs(write: Write) -> None:
    for number, name in enumerate("ab"):
        write(f"{name}.jsonl", *run_of(200), b" " + written(uid='"u"', steps=str(number)).encode())
    assert taken("a.jsonl", "b.jsonl")
    assert outcome(sf.read_tally, "a.jsonl", "b.jsonl") == outcome(slowly, "a.jsonl", "b.jsonl")


def test_file_that_somebody_empties_while_it_is_read_is_a_fault(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *run_of(100))
    learn, starts = blocks.layout_of, []

    def emptied(start: bytes) -> blocks.Layout | None:
        """The second file, as soon as its layout is known."""
        starts.append(start)
        if len(starts) > 1:
            os.truncate("b.jsonl", 0)
        return learn(start)

    monkeypatch.setattr(blocks, "layout_of", emptied)
    found, _ = outcome(sf.read_tally, "a.jsonl", "b.jsonl")
    assert found[0] == "RecordError"
    assert "b.jsonl: file: holds no record" in found[1]


@pytest.mark.parametrize(("end", "left_out"), [(b" \t", {}), (b' {"uid": "t', {"x.jsonl": 101})])
def test_of_a_file_that_is_still_written_both_leave_out_the_same(
    write: Write, end: bytes, left_out: dict[str, int]
) -> None:
    write("x.jsonl", *run_of(100))
    with Path("x.jsonl").open("ab") as file:
        file.write(end)
    found = []
    for read in (sf.read_tally, slowly):
        with growing() as said:
            found.append(outcome(read, "x.jsonl"))
        assert said == left_out
    assert found[0] == found[1]


def said_by(script: str) -> str:
    """Run a script in a process of its own, in this folder."""
    env = os.environ | {"PYTHONPATH": str(Path(sf.__file__).parents[1])}
    return subprocess.check_output([sys.executable, "-c", script], env=env, text=True)


def test_thread_that_outlives_the_main_one_can_read(write: Write) -> None:
    write("x.jsonl", *run_of(100))
    script = (
        "import threading, skillshift_frames as sf; from skillshift_frames.readers import bulk\n"
        "bulk.WORTH_IT = 0; main = threading.main_thread()\n"
        "def read(): main.join(); print(sf.read_tally('x.jsonl').get_column('tasks').sum())\n"
        "threading.Thread(target=read).start()"
    )
    assert said_by(script) == "100\n"


def test_numpy_is_not_imported_beside_polars(write: Write) -> None:
    """Its import changes the environment, which Polars reads: no two threads may do that at once."""
    write("x.jsonl", *run_of(100))
    script = (
        "import sys, threading, polars as pl\n"
        "from skillshift_frames.readers import bulk; import skillshift_frames as sf\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy': print(threading.current_thread() is threading.main_thread())\n"
        "sys.meta_path.insert(0, Finder()); bulk.WORTH_IT = 0; sf.read_tally('x.jsonl')"
    )
    assert said_by(script) == "True\n"


def test_more_distinct_lines_than_are_held(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST_TEXTS", 30)
    monkeypatch.setattr(blocks, "BLOCK", 4_000)
    lines = [line for n in range(8) for line in run_of(40, uid=f"t{n}" + "-{}", error=f"e{n % 4}")]
    write("a.jsonl", *run_of(100))
    write("b.jsonl", *lines)
    assert taken("a.jsonl")
    assert not taken("b.jsonl")
    assert outcome(sf.read_tally, "a.jsonl", "b.jsonl") == outcome(slowly, "a.jsonl", "b.jsonl")


def test_counts_of_many_blocks_are_added_up_on_the_way(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "_MOST_COUNTS", 20)
    monkeypatch.setattr(blocks, "BLOCK", 4_000)
    write("x.jsonl", *run_of(900), *run_of(900, condition="src-exec"))
    assert taken("x.jsonl")
    assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")


def test_lines_end_where_polars_says_so() -> None:
    """What is accounted for in a block of CRLF rests on it: one carriage return goes with each newline."""
    text = b"a\r\nb\r\r\nc\rd\ne\r\n"
    lines = pl.scan_lines(io.BytesIO(text)).collect().to_series().to_list()
    assert lines == ["a", "b\r", "c\rd", "e"]


def test_nothing_more_is_read_of_a_run_that_does_not_fit(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("x.jsonl", b"[]", *run_of(2_000))
    Path("y.jsonl.gz").write_bytes(gzip.compress(Path("x.jsonl").read_bytes()))
    monkeypatch.setattr(blocks, "BLOCK", 2_000)
    read: list[int] = []
    group = groups.Grouper.groups

    def seen(self: Any, block: Any) -> Any:  # noqa: ANN401
        read.append(block.stretches[0].file)
        return group(self, block)

    monkeypatch.setattr(groups.Grouper, "groups", seen)
    for path in ("x.jsonl", "y.jsonl.gz"):
        assert not taken(path)
        assert len(read) < 20, "of some 140 blocks"
        read.clear()


def test_line_longer_than_the_limit_is_a_fault_here_too(
    write: Write,
) -> None:
    long = b'{"uid": "t%s"' % (b"9" * (17 << 20)) + REST
    write("x.jsonl", *[b'{"uid": "t%d"' % n + REST for n in range(300)], long)
    found, _ = outcome(sf.read_tally, "x.jsonl")
    assert found[0] == "RecordError"
    assert "x.jsonl:301: file: the line is longer" in found[1]


@pytest.mark.parametrize(
    ("fits", "uids"),
    [
        (True, ["task-{}", "ärger {}", "👍{}", "{}", "t.v1.{}", "skillshift.gitlab.v1.{}"]),
        (False, ["\\u0073killshift.magento.v1.{}", "t\t{}", "\\u0074{}"]),
        (False, ["t{}x", "t{}.0", "t{}.v1.7", "a{}b{}", "t{} ", "skillshift.gitlab.v1.{}.v2.7"]),
    ],
)
def test_uids_that_are_alike_but_for_the_digits_at_their_end(
    write: Write, *, fits: bool, uids: list[str]
) -> None:
    for uid in uids:
        lines = [b'{"uid": "%s"' % uid.format(n, n).encode() + REST for n in range(99, 400)]
        write("x.jsonl", *lines)
        assert taken("x.jsonl") is fits, uid
        assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl"), uid


@pytest.mark.parametrize("odd", ["t5x", "t.v1.5", "t 5", "t5.", "u5", "", "t", "t5\\u0041", "t٥"])
def test_one_uid_among_many_that_is_not_alike(
    write: Write, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    lines = [b'{"uid": "t%d"' % n + REST for n in range(100, 400)]
    lines[150] = b'{"uid": "%s"' % odd.encode() + REST
    write("x.jsonl", *lines)
    assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")
    # Where it is not seen beforehand, what is left of it is no number, and that comes out.
    monkeypatch.setattr(texts, "_PLACES", 1)
    monkeypatch.setattr(texts, "_LOOK", 400)
    assert taken("x.jsonl") is (odd in {"t", "u5"})  # nothing is left of it; decoded by itself
    assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")


def test_name_that_looks_like_a_pattern_is_a_name(write: Write) -> None:
    write("run[1].jsonl", *run_of(100))
    write("run1.jsonl", *run_of(50))
    assert taken("run[1].jsonl")
    assert sf.read_tally("run[1].jsonl").get_column("tasks").sum() == 100
    write("a [b].jsonl", *run_of(100))
    assert taken("run[1].jsonl", "a [b].jsonl")
    found = sf.read_tally(["run[1].jsonl", "a [b].jsonl"])
    assert set(found.get_column("run")) == {"run[1]", "a [b]"}


def test_file_named_twice_counts_once_and_is_said(write: Write) -> None:
    write("x.jsonl", *run_of(100))
    found, notes = outcome(sf.read_tally, "x.jsonl", "./x.jsonl")
    assert sum(row["tasks"] for row in found) == 100
    assert ["read once" in note for note in notes] == [True]


def test_unknown_benchmark_names_are_refused_alike(write: Write) -> None:
    write("x.jsonl", *run_of(100, site="shop"))
    assert outcome(sf.read_tally, "x.jsonl") == outcome(slowly, "x.jsonl")
    assert outcome(sf.read_tally, "x.jsonl", benchmark="infer") == outcome(
        slowly, "x.jsonl", benchmark="infer"
    )


def test_names_that_cannot_be_inferred_are_refused_alike(write: Write) -> None:
    write("x.jsonl", *run_of(100, site="src", uid="t{}"))
    found, _ = outcome(sf.read_tally, "x.jsonl", benchmark="infer")
    assert found[0] == "BenchmarkError"
    assert outcome(sf.read_tally, "x.jsonl", benchmark="infer") == outcome(
        slowly, "x.jsonl", benchmark="infer"
    )


def test_records_with_a_column_called_as_a_tallys_are_records(write: Write) -> None:
    """Whatever keys are kept, a frame with uids is no tally and no frame of cells."""
    write("x.jsonl", *run_of(30, tasks=7, expected=9))
    kept = sf.read_tasks("x.jsonl", extra="keep")
    plain = kept.select(list(sf.TASKS))
    for axes in ("skillshift", "infer"):
        assert sf.cells(kept, benchmark=axes).equals(sf.cells(plain, benchmark=axes))
    assert sf.resolve_benchmark("infer", kept).sites["gitlab"] == 30
