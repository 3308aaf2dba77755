"""However lines are decoded, the answer is the same: all at once, one by one, or each distinct one once."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import skillshift_frames as sf
from skillshift_frames.readers import diagnosis, distinct, jsonl, records, streams
from skillshift_frames.readers.sources import Source
from tests.readers.conftest import record, written
from tests.readers.lines import files, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.readers.conftest import Write

#: One line is cheap, a file is not; how many of either the profile says (tests/conftest.py).
_MANY = 4 * settings().max_examples
_FEW = settings().max_examples // 2

_STRINGS = ("uid", "site", "condition")
_INTEGERS = ("steps", "skill_calls", "skill_failures")
_INT64 = range(-(2**63), 2**63)


# One line: three readings of the rules


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not any(
        "\ud800" <= character <= "\udfff" for character in value
    )


def _is_integer(value: object) -> bool:
    return type(value) is int and value in _INT64


class _NotJsonError(ValueError):
    pass


def _refuse(constant: str) -> None:
    raise _NotJsonError(constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise _NotJsonError(pairs)
    return dict(pairs)


def _is_sound(value: object) -> bool:
    """Whether a value under a key of its own can be kept: no half characters, no number beyond a float."""
    if isinstance(value, dict):
        return all(_is_text(key) and _is_sound(part) for key, part in value.items())
    if isinstance(value, list):
        return all(map(_is_sound, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, str) or _is_text(value)


def accepts(line: bytes, *, extra: bool = False) -> bool:
    """Say whether a line is a record, by Python's json and the rules as they are written down."""
    try:
        content = json.loads(line.decode(), object_pairs_hook=_unique, parse_constant=_refuse)
    except ValueError:
        return False
    optional = {"trial", "error", "run"}
    required = {*_STRINGS, "success", *_INTEGERS}
    if not isinstance(content, dict) or not required <= content.keys():
        return False
    others = content.keys() - required - optional
    if others and not (extra and all(_is_text(key) and _is_sound(content[key]) for key in others)):
        return False
    return (
        all(_is_text(content[key]) for key in _STRINGS)
        and all(content[key] is None or _is_integer(content[key]) for key in _INTEGERS)
        and (content["success"] is None or isinstance(content["success"], bool))
        and _is_integer(content.get("trial", 1))
        and all(content.get(key) is None or _is_text(content[key]) for key in ("error", "run"))
    )


def _is_accepted(line: bytes, extra: records.Extra) -> bool:
    part = jsonl._decode_carefully([line], 1, extra)
    assert part.frame.height + bool(part.faults) == 1
    return not part.faults


@settings(max_examples=_MANY)
@given(lines())
def test_a_line_is_refused_exactly_where_something_wrong_is_found(line: bytes) -> None:
    if not line.strip(b" \t\r"):
        return
    accepted = _is_accepted(line, "refuse")
    assert accepted is accepts(line)
    assert accepted is not bool(diagnosis.find_wrong(line, "refuse"))
    assert diagnosis.diagnose(line, "refuse")


@settings(max_examples=_MANY)
@given(lines())
def test_a_line_whose_other_keys_are_wanted_is_judged_by_the_same_rules(line: bytes) -> None:
    if line.strip(b" \t\r"):
        accepted = _is_accepted(line, "keep")
        assert accepted is accepts(line, extra=True)
        assert accepted is _is_accepted(line, "ignore")
        assert not (accepted and diagnosis.find_wrong(line, "keep"))


@settings(max_examples=_MANY)
@given(st.binary(max_size=40).filter(lambda line: b"\n" not in line and line.strip(b" \t\r")))
def test_arbitrary_bytes_are_refused_with_a_reason(line: bytes) -> None:
    assert not accepts(line)
    faults = jsonl._decode_carefully([line], 7, "refuse").faults
    assert {number for number, _ in faults} == {7}
    assert diagnosis.find_wrong(line, "refuse")


@settings(max_examples=_MANY)
@given(lines().filter(accepts))
def test_what_is_accepted_is_read_as_python_reads_it(line: bytes) -> None:
    read = jsonl._decode_carefully([line], 1, "refuse").frame.row(0, named=True)
    assert read == {"trial": 1, "error": None, "run": None} | json.loads(line)


# Many lines: the ways of decoding them


def _write(content: Sequence[bytes], *, end: bytes = b"\n", name: str = "x.jsonl") -> str:
    Path(name).write_bytes(b"\n".join(content) + end)
    return name


def _read(
    names: str | list[str], patch: pytest.MonkeyPatch, *, block: int, worth: float, pool: str = "x"
) -> tuple[pl.DataFrame, pl.DataFrame]:
    patch.setattr(jsonl, "read_blocks", partial(streams.read_blocks, size=block))
    patch.setattr(jsonl, "_WORTH_GROUPING", worth)
    with warnings.catch_warnings():
        # Drawn records may all name runs of their own, and then the pool's label is said to be of no use.
        warnings.filterwarnings("ignore", "(?s).*the label .* is not used", sf.SkillshiftWarning)
        return sf.check_tasks(names, pool=pool)


def test_both_ways_give_the_same_rows_and_faults_whatever_a_block_holds() -> None:
    taken: list[bool] = []

    class Watched(distinct.DistinctLines):
        def read(self, block: bytes) -> pl.DataFrame | None:
            frame = super().read(block)
            taken.append(frame is not None)
            return frame

    @given(files(), st.sampled_from([b"\n", b"", b"\n\n"]), st.integers(300, 20_000))
    def check(content: list[bytes], end: bytes, block: int) -> None:
        name = _write(content, end=end)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jsonl, "DistinctLines", Watched)
            one_by_one = _read(name, patch, block=1 << 20, worth=math.inf)
            grouped = _read(name, patch, block=block, worth=0)
        assert grouped[0].equals(one_by_one[0])
        assert grouped[1].equals(one_by_one[1])

    check()
    assert any(taken), "the fast way was never taken"
    assert not all(taken), "the fast way was always taken"


def test_a_block_in_which_all_is_well_takes_the_fast_way(write: Write) -> None:
    content = written(uid='"%d"') + "\n"
    write("x.jsonl", content * 20_000 % tuple(range(20_000)), end=b"")
    assert Path("x.jsonl").stat().st_size > jsonl._WORTH_GROUPING
    blocks = list(streams.read_blocks(Source("x.jsonl", "jsonl", None, "x")))
    frame = distinct.DistinctLines().read(blocks[0][0])
    assert frame is not None
    part = jsonl._decode_carefully(blocks[0][0].split(b"\n")[:-1], 1, "refuse")
    assert frame.equals(part.frame)


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(b'{"uid": "u\xff"', id="bad-utf-8-in-the-uid"),
        pytest.param(b'{"uid": "u\xed\xa0\x80"', id="encoded-surrogate-in-the-uid"),
        pytest.param(b'{"uid": "u\\ud800"', id="half-a-pair-in-the-uid"),
        pytest.param(b'{"uid": "u\t"', id="control-character-in-the-uid"),
        pytest.param(b'{"uid": "u\x00"', id="nul-in-the-uid"),
        pytest.param(b'{"uid": "u", "uid": "u"', id="repeated-uid"),
        pytest.param(b'{"uid": "u", "\\u0075id": "u"', id="repeated-uid-escaped"),
        pytest.param(b'{"uid": "u", "trial": 1, "trial": 1', id="repeated-trial"),
        pytest.param(b'{"uid": 7', id="uid-no-string"),
        pytest.param(b'u"', id="the-start-is-lost"),
        pytest.param(b'"uid": "u"', id="no-opening-brace"),
        pytest.param(b'[{"uid": "u"', id="array"),
        pytest.param(b'{"uid": "u" 1', id="no-json"),
    ],
)
def test_the_fast_way_leaves_every_fault_to_the_slow_one(write: Write, odd: bytes) -> None:
    rest = written().encode().removeprefix(b'{"uid": "t"')
    good = [b'{"uid": "%d"' % index + rest for index in range(100)]
    assert distinct.DistinctLines().read(b"\n".join(good)) is not None
    assert distinct.DistinctLines().read(b"\n".join([*good[:50], odd + rest, *good[50:]])) is None
    write("x.jsonl", *good[:50], odd + rest, *good[50:])
    with pytest.MonkeyPatch.context() as patch:
        valid, found = _read("x.jsonl", patch, block=1 << 20, worth=0)
    assert valid.height == 100
    assert found["line"].unique().to_list() == [51]


# What the answer must not depend on


def _said(found: pl.DataFrame) -> list[tuple[Any, ...]]:
    return found.select("line", "field", "value", "rule", "severity").rows()


@settings(max_examples=_FEW)
@given(files(), st.integers(2, 5), st.integers(50, 2_000))
def test_shards_of_a_file_give_the_rows_and_faults_of_the_file(
    content: list[bytes], shards: int, block: int
) -> None:
    name = _write(content)
    size = -(-len(content) // shards)
    cut = [content[start : start + size] for start in range(0, len(content), size)]
    if not all(b"".join(shard).strip(b" \t\r") for shard in cut):
        return  # a shard without a record is a fault of its own
    if any(shard[0].startswith(b"\xef\xbb\xbf") for shard in cut[1:]):
        return  # what is a fault within a file is a byte-order mark at the start of one
    names = [_write(shard, name=f"shard-{index}.jsonl") for index, shard in enumerate(cut)]
    with pytest.MonkeyPatch.context() as patch:
        whole = _read(name, patch, block=1 << 20, worth=math.inf)
        parts = _read(names, patch, block=block, worth=0)
    assert parts[0].equals(whole[0])
    offsets = {name: index * size for index, name in enumerate(names)}
    shifted = parts[1].with_columns(
        line=parts[1]["line"] + parts[1]["path"].replace_strict(offsets)
    )
    assert _said(shifted) == _said(whole[1])


@settings(max_examples=_FEW)
@given(st.data())
def test_the_order_of_lines_changes_nothing_but_the_order_of_rows(data: st.DataObject) -> None:
    content = data.draw(files().filter(lambda content: len(set(content)) == len(content)))
    order = data.draw(st.permutations(range(len(content))))
    moved_lines = [content[index] for index in order]
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # the first line is blank: only there a byte-order mark is one
        valid, found = _read(_write([b"", *content]), patch, block=500, worth=0)
        again = _read(_write([b"", *moved_lines]), patch, block=500, worth=0)
    assert again[0].sort(pl.all()).equals(valid.sort(pl.all()))
    # Of records that share a key the first is not named: which that is, the order decides.
    lines_of = [order[line - 2] + 2 for line in again[1]["line"] if line is not None]
    moved = again[1].drop_nulls("line").with_columns(line=pl.Series(lines_of, dtype=pl.Int64))
    assert set(_single(moved)) == set(_single(found))


def _single(found: pl.DataFrame) -> list[tuple[Any, ...]]:
    return [row for row in _said(found) if row[3] != "repeated-record"]


_PROGRAM = """
import sys, skillshift_frames as sf
valid, faults = sf.check_tasks(["a.jsonl", "b.jsonl"], extra=sys.argv[1])
sys.stdout.write(valid.write_ndjson() + faults.write_ndjson() + ",".join(valid.columns))
"""


@pytest.mark.parametrize("extra", ["refuse", "keep"])
def test_the_answer_does_not_depend_on_the_hash_seed(write: Write, extra: str) -> None:
    others = {f"note{index}": index for index in range(8)}
    write(
        "a.jsonl",
        record("a", **others),
        record("a", **others),
        record("b", **others, steps=None),
        "{}",
    )
    write(
        "b.jsonl",
        *(record(f"u{index}", site=f"shop{index}") for index in range(8)),
        record("a", b=1, a=2),
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, extra],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(answers) == 1
    assert b"shop7" in answers.pop()
