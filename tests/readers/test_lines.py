"""What a file is made of: lines that are one JSON object each, in any layout, and what is said of others."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

import pytest

import skillshift_frames as sf
from skillshift_frames.readers import streams
from tests.readers.conftest import TOKENS, faults, record, texts, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.readers.conftest import Write

LINE = written().encode()
MIB = 1 << 20


# Layouts that are fine


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(LINE, id="no-last-newline"),
        pytest.param(LINE + b"\r\n", id="crlf"),
        pytest.param(b"\xef\xbb\xbf" + LINE + b"\n", id="byte-order-mark"),
        pytest.param(b"\xef\xbb\xbf\n\n" + LINE, id="byte-order-mark-then-blank-lines"),
        pytest.param(b"\n \n\t\r\n\r\n" + LINE + b"\n\n  \n", id="blank-lines"),
        pytest.param(b" \t" + LINE + b" \t\r\n", id="space-around"),
        pytest.param(LINE.replace(b": ", b":").replace(b", ", b","), id="no-spaces"),
        pytest.param(LINE.replace(b": ", b"\t :\r  ").replace(b", ", b" ,\t"), id="many-spaces"),
        pytest.param(
            LINE.replace(b"uid", rb"\u0075id").replace(b'"t"', rb'"\u0074"'), id="escapes"
        ),
        pytest.param(LINE.replace(b"src", rb"\u0073r\u0063"), id="escapes-in-values"),
    ],
)
def test_a_layout_changes_nothing(write: Write, content: bytes) -> None:
    write("x.jsonl", content, end=b"")
    assert sf.read_tasks("x.jsonl").rows() == [("x", "t", "gitlab", "src", 1, True, 3, 2, 1, None)]


def test_keys_come_in_any_order(write: Write) -> None:
    keys = [*TOKENS, "trial", "error", "run"]
    tokens = TOKENS | {"trial": "2", "error": '"e"', "run": '"r"'}
    shuffled = random.Random(0)  # noqa: S311 - the order of a test, not a secret
    lines = []
    for index in range(50):
        shuffled.shuffle(keys)
        lines.append(
            json.dumps({k: f"t{index}" if k == "uid" else json.loads(tokens[k]) for k in keys})
        )
    write("x.jsonl", *lines)
    tasks = sf.read_tasks("x.jsonl")
    assert tasks["uid"].to_list() == [f"t{index}" for index in range(50)]
    assert tasks.drop("uid").unique().rows() == [("r", "gitlab", "src", 2, True, 3, 2, 1, "e")]


@pytest.mark.parametrize(
    "uid",
    ["é", "e\u0301", "日本語", "👍", "\x00", "\x7f", "a\nb", "\u2028", "\ufeff", '"', "\\", "\\u0041", "a/b", " t", '", "site": "'],
)  # fmt: skip
def test_a_uid_may_be_any_text_and_is_kept_as_it_is(write: Write, uid: str) -> None:
    escaped = json.dumps(record(uid))
    plain = json.dumps(record(uid, trial=2), ensure_ascii=False)
    write("x.jsonl", escaped, plain)
    assert sf.read_tasks("x.jsonl")["uid"].to_list() == [uid, uid]


def test_uids_that_only_look_alike_are_different_tasks(write: Write) -> None:
    uids = ["é", "e\u0301", "É", "é ", "\ufeffé", "é\x00"]
    write("x.jsonl", *(record(uid) for uid in uids))
    assert sf.read_tasks("x.jsonl")["uid"].to_list() == uids


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n", b"\n\r\n \t\n"])
def test_blank_lines_count_as_lines(write: Write, end: bytes) -> None:
    write("x.jsonl", record("a"), record("b", steps=-1), record("c"), written(steps="x"), end=end)
    per_record = end.count(b"\n")
    assert [fault.line for fault in faults("x.jsonl")] == [1 + per_record, 1 + 3 * per_record]


def test_a_byte_order_mark_belongs_at_the_start_only(write: Write) -> None:
    write("x.jsonl", b"\xef\xbb\xbf" + LINE, b"\xef\xbb\xbf" + LINE.replace(b'"t"', b'"u"'))
    (fault,) = faults("x.jsonl")
    assert (fault.line, fault.field, fault.rule) == (2, "line", "json")


# Lines that are not one JSON object


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "is an array, not an object: []"),
        (f"[{written()}]", "is an array, not an object: "),
        ("3", "is an integer, not an object: 3"),
        ("-0.50", "is a number with a fraction or exponent, not an object: -0.50"),
        ("null", "is null, not an object: null"),
        ("true", "is a boolean, not an object: true"),
        ('"uid"', 'is a string, not an object: "uid"'),
        ("NaN", "is no JSON number, not an object: NaN"),
    ],
)
def test_a_line_that_is_other_json_is_named(write: Write, line: str, said: str) -> None:
    write("x.jsonl", record("a"), line, record("b"))
    (fault,) = faults("x.jsonl")
    assert (fault.line, fault.field, fault.rule) == (2, "line", "object")
    assert str(fault).startswith(f"x.jsonl:2: line: {said}")
    assert fault.hint == "one JSON object per line is needed"


@pytest.mark.parametrize(
    ("line", "column"),
    [
        pytest.param(LINE + LINE, len(LINE) + 1, id="two-objects"),
        pytest.param(LINE + b" " + LINE, len(LINE) + 2, id="two-objects-with-a-space"),
        pytest.param(LINE + b",", len(LINE) + 1, id="comma-after-the-object"),
        pytest.param(LINE + b"\0", len(LINE) + 1, id="nul-after-the-object"),
        pytest.param(LINE[:-1], len(LINE), id="no-closing-brace"),
        pytest.param(LINE[:25], 22, id="cut-in-a-string"),
        pytest.param(LINE.replace(b'"t"', b"'t'"), 9, id="single-quotes"),
        pytest.param(LINE.replace(b'"t"', b'"\t"'), 10, id="tab-in-a-string"),
        pytest.param(LINE.replace(b'"t"', b'"\x00"'), 10, id="nul-in-a-string"),
        pytest.param(LINE.replace(b'"t"', b'"\x1f"'), 10, id="control-character-in-a-string"),
        pytest.param(LINE.replace(b'"t"', rb'"\x"'), 10, id="no-such-escape"),
        pytest.param(LINE.replace(b"true", b"True"), 63, id="python-true"),
        pytest.param(b"\x0b", 1, id="vertical-tab"),
        pytest.param("\u2028".encode(), 1, id="line-separator"),
        pytest.param("\xa0".encode() + LINE, 1, id="no-break-space"),
        pytest.param(b"// " + LINE, 1, id="comment"),
        pytest.param(b"uid,site,condition", 1, id="csv"),
    ],
)
def test_a_line_that_is_not_json_is_named_with_the_column(
    write: Write, line: bytes, column: int
) -> None:
    write("x.jsonl", record("a"), line, record("b"))
    (fault,) = faults("x.jsonl")
    assert (fault.line, fault.field, fault.rule) == (2, "line", "json")
    assert f" at column {column}: " in fault.message
    assert str(fault).isprintable()
    assert sf.check_tasks("x.jsonl")[0]["uid"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    "steps", ["03", "+3", "0x3", ".5", "3.", "3_0", "--3", "-", "1e", "٣", "undefined"]
)
def test_a_number_that_json_does_not_have_is_named(write: Write, steps: str) -> None:
    write("x.jsonl", record("a"), written(steps=steps))
    (fault,) = faults("x.jsonl")
    assert (fault.line, fault.rule) == (2, "json")


def test_a_comma_before_the_brace_is_named(write: Write) -> None:
    write("x.jsonl", record("a"), written()[:-1] + ",}")
    assert [(fault.line, fault.rule) for fault in faults("x.jsonl")] == [(2, "json")]


def test_a_truncated_last_line_is_named(write: Write) -> None:
    write("x.jsonl", LINE + b"\n" + LINE[:50], end=b"")
    (fault,) = faults("x.jsonl")
    assert (fault.line, fault.rule) == (2, "json")


def test_an_array_over_many_lines_is_named_line_by_line(write: Write) -> None:
    write("x.jsonl", "[", written(uid='"a"') + ",", written(uid='"b"'), "]")
    assert [fault.line for fault in faults("x.jsonl")] == [1, 2, 4]


@pytest.mark.parametrize("depth", [200, 500, 990, 1_100, 100_000])
@pytest.mark.parametrize("key", ["uid", "note"])
def test_deep_nesting_is_a_fault_and_no_crash(write: Write, key: str, depth: int) -> None:
    write("x.jsonl", record("a"), written(**{key: "[" * depth + "]" * depth}), record("b"))
    found = faults("x.jsonl")
    assert [fault.line for fault in found] == [2]
    assert found[0].field in {key, "line"}
    assert sf.check_tasks("x.jsonl")[0]["uid"].to_list() == ["a", "b"]


# Text that is not UTF-8, or no text


@pytest.mark.parametrize(
    ("bad", "byte"),
    [
        pytest.param(b"\xff", "0xff", id="no-lead"),
        pytest.param(b"\xe9t\xe9", "0xe9", id="latin-1"),
        pytest.param(b"\xc0\xaf", "0xc0", id="overlong-slash"),
        pytest.param(b"\xe0\x80\xaf", "0xe0", id="overlong-in-three"),
        pytest.param(b"\xed\xa0\x80", "0xed", id="encoded-surrogate"),
        pytest.param(b"\xed\xa0\xbd\xed\xb1\x8d", "0xed", id="encoded-surrogate-pair"),
        pytest.param(b"\xf4\x90\x80\x80", "0xf4", id="beyond-unicode"),
        pytest.param(b"\xe2\x82", "0xe2", id="cut"),
    ],
)
@pytest.mark.parametrize("place", [b'"t"', b'"uid"', b'"src"'])
def test_bytes_that_are_not_utf_8_are_named_with_their_column(
    write: Write, bad: bytes, byte: str, place: bytes
) -> None:
    line = LINE.replace(place, b'"' + bad + b'"')
    write("x.jsonl", record("a"), line, record("b"))
    (fault,) = faults("x.jsonl")
    assert (fault.line, fault.field, fault.rule) == (2, "line", "utf-8")
    assert fault.message == f"byte {byte} at column {line.index(bad) + 1} is not UTF-8"
    assert sf.check_tasks("x.jsonl")[0]["uid"].to_list() == ["a", "b"]


def test_utf_16_is_not_utf_8(write: Write) -> None:
    write("x.jsonl", written().encode("utf-16"), end=b"")
    assert [fault.rule for fault in faults("x.jsonl")] == ["utf-8"]


@pytest.mark.parametrize(
    "half",
    [r"\ud83d", r"\udc4d", r"\ud83d\ud83d", r"\udc4d\ud83d", r"\ud83d x", r"\ud83dA", r"\uD83D"],
)
def test_half_a_surrogate_pair_is_a_fault_of_its_field(write: Write, half: str) -> None:
    write("x.jsonl", record("a"), written(uid=f'"{half}"'), written(error=f'"{half}"'))
    found = faults("x.jsonl")
    assert [(f.line, f.field, f.rule) for f in found] == [
        (2, "uid", "surrogate"),
        (3, "error", "surrogate"),
    ]
    assert all(str(fault).isprintable() for fault in found)


def test_both_halves_of_a_pair_are_a_character(write: Write) -> None:
    write("x.jsonl", written(uid=r'"\ud83d\udc4d"'))
    assert sf.read_tasks("x.jsonl")["uid"].item() == "👍"


# Files without records, and lines without end


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\xef\xbb\xbf", b" \n\t\r\n\n", b"\xef\xbb\xbf\r\n"]
)
def test_a_file_without_a_record_is_one_fault(write: Write, content: bytes) -> None:
    write("x.jsonl", content, end=b"")
    assert texts("x.jsonl") == [
        "x.jsonl: file: holds no record (a run that wrote nothing is no run)"
    ]
    assert sf.check_tasks("x.jsonl")[0].schema == sf.TASKS


def test_a_file_of_garbage_is_not_called_empty(write: Write) -> None:
    write("x.jsonl", b"\x0b")
    assert [fault.rule for fault in faults("x.jsonl")] == ["json"]


def test_a_line_of_exactly_16_mib_is_read(write: Write) -> None:
    write("x.jsonl", LINE, LINE.replace(b'"t"', b'"u"') + b" " * (16 * MIB - len(LINE)))
    assert sf.read_tasks("x.jsonl").height == 2


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_a_longer_line_is_named_and_nothing_after_it_read(write: Write, newline: bytes) -> None:
    write("x.jsonl", LINE, b"", LINE.replace(b'"t"', b'"u"') + b" " * 16 * MIB + newline, end=b"\n")
    assert texts("x.jsonl") == [
        "x.jsonl:3: file: the line is longer than 16 MiB; nothing after it was read (one record per line is needed)"
    ]
    assert sf.check_tasks("x.jsonl")[0]["uid"].to_list() == ["t"]


def test_memory_for_a_line_without_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream is endless: were the line gathered until its end, this test would not finish."""
    monkeypatch.setattr(streams, "LONGEST_LINE", 4 * MIB)
    assert [fault.rule for fault in faults("/dev/zero")] == ["line-length"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, len(LINE), len(LINE) + 1, 1_000])
def test_nothing_depends_on_where_a_block_ends(
    write: Write, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    lines = [
        b"\xef\xbb\xbf" + LINE,
        b"",
        LINE.replace(b'"t"', '"é👍"'.encode()) + b"\r",
        LINE.replace(b"true", b"1"),
        LINE.replace(b'"t"', b'"\xff"'),
        b"{}" + b" " * 300,
        LINE,
    ]
    write("x.jsonl", *lines)
    expected = sf.check_tasks("x.jsonl")
    assert expected[0]["uid"].to_list() == ["é👍"]
    assert set(expected[1]["line"]) == {4, 5, 6, 7}
    read_blocks = streams.read_blocks
    monkeypatch.setattr(
        "skillshift_frames.readers.jsonl.read_blocks", lambda source: read_blocks(source, size)
    )
    valid, found = sf.check_tasks("x.jsonl")
    assert valid.equals(expected[0])
    assert found.equals(expected[1])


# Many faults


def test_faults_of_all_files_come_in_one_go_in_the_order_of_files_and_lines(write: Write) -> None:
    write(
        "b.jsonl",
        record("a"),
        record("a"),
        "[]",
        record("b", site="x"),
        record("b", steps=-1),
        "{}",
    )
    write("a.jsonl", "")
    write("c.jsonl", record("a", trial=0), "3")
    found = faults("b.jsonl", "a.jsonl", "c.jsonl")
    places = [(fault.path, fault.line) for fault in found]
    assert places == [
        ("b.jsonl", 2), ("b.jsonl", 3), ("b.jsonl", 4), ("b.jsonl", 5), *[("b.jsonl", 6)] * 7,
        ("a.jsonl", None), ("c.jsonl", 1), ("c.jsonl", 2),
    ]  # fmt: skip
    with pytest.raises(sf.RecordError) as caught:
        sf.read_tasks(["b.jsonl", "a.jsonl", "c.jsonl"])
    assert caught.value.faults.height == len(found)


def test_the_first_20_faults_are_spelled_out_and_the_rest_counted(write: Write) -> None:
    write("x.jsonl", *(record(f"u{index}", steps=-1) for index in range(1_500)))
    with pytest.raises(sf.RecordError) as caught:
        sf.read_tasks("x.jsonl")
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[19].startswith("x.jsonl:20: ")
    assert lines[20] == "… and 1,480 more faults"
    assert caught.value.faults["line"].to_list() == list(range(1, 1_501))


def test_warnings_are_no_part_of_an_error(write: Write) -> None:
    write("x.jsonl", record("skillshift.gitlab.v1.1", condition="tgt"), record("b", steps=-1))
    with pytest.raises(sf.RecordError) as caught:
        sf.read_tasks("x.jsonl")
    assert caught.value.faults["severity"].to_list() == ["error"]
    assert sf.check_tasks("x.jsonl")[1]["severity"].to_list() == ["warning", "error"]


def test_bad_lines_among_a_million_are_named(write: Write) -> None:
    """Each rule is broken once, far behind the first block, so that most parts hold no fault."""
    line = written(uid='"%024d"') + "\n"
    lines = (line * 1_000_000 % tuple(range(1_000_000))).encode()
    width = len(lines) // 1_000_000
    bad = [
        written(uid='"bad"', success="1"),
        written(uid='"bad"', steps="-1"),
        written(uid='"bad"', trial="2", skill_failures="3"),
        written(uid='"bad"', trial="3", steps="null"),
        written(uid=f'"{7:024}"'),
        "[]",
    ]
    # Each is as long as the line whose place it takes.
    odd = "".join(text.ljust(width - 1) + "\n" for text in bad).encode()
    assert len(odd) == len(bad) * width
    write("x.jsonl", lines[: 899_999 * width] + odd + lines[900_005 * width :], end=b"")
    valid, found = sf.check_tasks("x.jsonl")
    assert found.select("line", "field", "rule").rows() == [
        (900_000, "success", "type"),
        (900_001, "steps", "steps-range"),
        (900_002, "skill_failures", "failures-exceed-calls"),
        (900_003, "steps", "null-in-part"),
        (900_004, "uid", "repeated-record"),
        (900_005, "line", "object"),
    ]
    assert "already at x.jsonl:8" in found["message"][4]
    assert valid.height == valid["uid"].n_unique() == 1_000_000 - len(bad) - 1
    assert valid["uid"].is_sorted()


def test_every_line_is_a_valid_row_or_has_a_fault(write: Write) -> None:
    """No third way: what is neither read nor named would be lost."""
    kinds: list[Callable[[str], str]] = [
        lambda uid: json.dumps(record(uid)),
        lambda uid: written(uid=f'"{uid}"', steps="3.0"),
        lambda uid: json.dumps(record(uid, skill_failures=9)),
        lambda uid: json.dumps(record(uid, site="shop")),
        lambda _: "{",
        lambda _: "\udcff",
        lambda uid: json.dumps(record(uid, error=None)) + "\r",
    ]
    pick = random.Random(1)  # noqa: S311 - a test's dice
    lines = [pick.choice(kinds)(f"u{index}") for index in range(2_000)]
    write("x.jsonl", *(line.encode(errors="surrogateescape") for line in lines))
    valid, found = sf.check_tasks("x.jsonl")
    read = {int(uid.removeprefix("u")) + 1 for uid in valid["uid"]}
    named = set(found["line"])
    assert read.isdisjoint(named)
    assert read | named == set(range(1, 2_001))


def test_an_unreadable_file_is_a_fault_and_others_are_still_checked(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.jsonl", record("a"))
    write("b.jsonl", record("b", steps=-1))

    def refuse(path: str, mode: str) -> object:
        if path == "a.jsonl":
            raise PermissionError(13, os.strerror(13), path)
        return open(path, mode)  # noqa: PTH123 - what it stands in for

    monkeypatch.setattr(streams, "open", refuse, raising=False)
    assert texts("a.jsonl", "b.jsonl") == [
        "a.jsonl: file: cannot be read: Permission denied",
        "b.jsonl:1: steps: -1 is below 0 (an integer ≥ 0 is needed)",
    ]
