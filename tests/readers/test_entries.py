"""Published entries read digit for digit, and everything that is wrong with their files found, never raised."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf
from skillshift_frames.errors import InputError
from skillshift_frames.readers.entry_files import LARGEST_FILE, read_entry_files
from skillshift_frames.readers.entry_json import parse_entry, printed_number
from skillshift_frames.readers.entry_rows import parse_number, parse_rows, parse_typed
from skillshift_frames.readers.wording import Number
from tests.entries import PUBLISHED, SLOTS, changed, paper_entry, without, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from skillshift_frames.findings import Finding
    from skillshift_frames.readers.entries import Entry, Read

GOOD = paper_entry("ASI")


def parse(content: object, text: str | None = None) -> Read:
    return parse_entry(json.dumps(content) if text is None else text, "a.json", sf.SKILLSHIFT)


def only(read: Read) -> Finding:
    (finding,) = read.findings
    return finding


def read_file(tmp_path: Path, data: bytes) -> Finding:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    read = read_entry_files(path, sf.SKILLSHIFT)
    finding = only(read)
    assert finding.entry == str(path)
    assert finding.code == "schema"
    return finding


# A good entry


def test_a_good_entry_is_read_as_it_is_printed() -> None:
    read = parse(GOOD)
    assert read.findings == []
    (entry,) = read.entries
    assert (entry.name, entry.method, entry.model, entry.label) == (
        *("a.json", "ASI", "mixed", "verified-paper"),
    )
    assert str(entry.date) == GOOD["submission"]["date"]
    assert entry.skill_calls is None
    assert dict(entry.tasks) == {"gitlab": 162, "magento": 114, "wordpress": 79}
    assert len(entry.printed) == 40
    rows = sf.published().filter(method="ASI", model="mixed")
    for row in rows.iter_rows(named=True):
        for slot in SLOTS:
            assert entry.printed[row["metric"], slot] == Decimal(f"{row[slot]:.2f}")
            assert f"{entry.printed[row['metric'], slot]:f}" == f"{row[slot]:.2f}"


def test_null_is_printed_and_what_is_missing_is_not() -> None:
    (entry,) = parse(changed(GOOD, "metrics.SFR.overall", None)).entries
    assert entry.printed["SFR", "overall"] is None
    (entry,) = parse(without(GOOD, "metrics.SFR.overall")).entries
    assert ("SFR", "overall") not in entry.printed


@pytest.mark.parametrize(
    ("token", "printed"),
    [
        ("16.9", "16.90"),
        ("16", "16.00"),
        ("0", "0.00"),
        ("-0.0", "-0.00"),
        ("16.905", "16.905"),
        ("1.69e1", "16.90"),
        ("2e3", "2000.00"),
        ("1e-3", "0.001"),
        ("9" * 30, "9" * 30 + ".00"),
        ("1.7976931348623157e+308", None),
    ],
)
def test_a_number_has_two_decimals_at_least_and_loses_no_digit(
    token: str, printed: str | None
) -> None:
    number = printed_number(Number(token))
    assert f"{number:f}" == printed or (printed is None and number == Decimal(token))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=0, max_value=10**6))
def test_printed_numbers_come_back_whether_or_not_a_writer_dropped_their_zeros(
    number: Decimal,
) -> None:
    for token in (f"{number:f}", repr(float(number))):
        assert str(printed_number(Number(token))) == f"{number:f}"


# What is wrong inside


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("schema_version", "1.1", 'schema_version: is "1.1"; "1.0" is needed'),
        ("schema_version", 1.0, "schema_version: 1.0 is a number with a fraction or exponent"),
        ("schema_version", None, 'schema_version: is null; "1.0" is needed'),
        ("submission", [], "submission: [] is an array; an object is needed"),
        ("submission", None, "submission: is null; an object is needed"),
        ("submission.name", 7, "submission.name: 7 is an integer; a string is needed"),
        ("submission.date", "23.8.2026", 'submission.date: is "23.8.2026"; a date like 2026-08-23'),
        ("submission.date", "2026-02-29", "a date like 2026-08-23 is needed"),
        ("submission.date", "2026-08-23T00:00", "a date like 2026-08-23 is needed"),
        ("submission.date", "２０２６-08-23", "a date like 2026-08-23 is needed"),
        ("submission.contact", False, "submission.contact: false is a boolean; a string or null"),
        ("submission.model.temperature", "0", 'temperature: "0" is a string; a number or null'),
        ("submission.model.temperature", True, "temperature: true is a boolean; a number or null"),
        ("submission.model.vision", 1, "vision: 1 is an integer; true, false or null is needed"),
        ("submission.provenance.code_released", None, "is null; true or false is needed"),
        ("submission.provenance.label", None, "label: is null; a string is needed"),
        ("harness_version", 1.4, "harness_version: 1.4 is a number with a fraction"),
        (
            "metrics.SR.overall",
            "35.29",
            'metrics.SR.overall: "35.29" is a string; a number or null',
        ),
        ("metrics.SR.overall", True, "metrics.SR.overall: true is a boolean; a number or null"),
        ("metrics.SR.overall", float("nan"), "NaN is no JSON number; a number or null is needed"),
        ("metrics.SR.overall", float("inf"), "Infinity is no JSON number"),
        ("metrics.SR.overall", [], "metrics.SR.overall: [] is an array"),
        ("metrics.SR.websites", None, "metrics.SR.websites: is null; an object is needed"),
        ("metrics.SR", 3, "metrics.SR: 3 is an integer; an object is needed"),
        (
            "n.websites.gitlab",
            162.0,
            "162.0 is a number with a fraction or exponent; a whole number",
        ),
        ("n.websites.gitlab", -1, "n.websites.gitlab: -1 is an integer; a whole number is needed"),
        ("n.websites.gitlab", None, "n.websites.gitlab: is null; a whole number is needed"),
        ("n.websites.gitlab", 10**40, "has more digits than anything measured"),
        (
            "n.websites.gitlab",
            10**9 + 1,
            "n.websites.gitlab: 1000000001 is beyond anything measured, which ends at 1,000,000,000",
        ),
        ("n.conditions.tgt", 10**29, "is beyond anything measured"),
        ("n.skill_calls", 10**12 + 1, "n.skill_calls: 1000000000001 is beyond anything measured"),
        ("n.skill_calls", True, "n.skill_calls: true is a boolean; a whole number or null"),
        ("reasons", None, "reasons: is null; an object is needed"),
        ("reasons", {"SFR": None}, "reasons.SFR: is null; a string is needed"),
        ("notes", None, "notes: is null; a string is needed"),
        ("notes", "a\ud800b", r'notes: "a\ud800b" holds half of a surrogate pair'),
        ("notess", "", "notess: is a key that does not belong here"),
        ("metrics.SR.websites.gitlub", 1, "gitlub: is a key that does not belong here"),
        ("a\ud800\x1b", 1, r"a\ud800\u001b: is a key that does not belong here"),
    ],
)
def test_a_departure_from_the_schema_is_found(path: str, value: object, message: str) -> None:
    read = parse(changed(GOOD, path, value))
    finding = only(read)
    assert (finding.entry, finding.code, finding.severity) == ("a.json", "schema", "error")
    assert message in finding.message
    assert len(finding.message) < 200
    assert finding.message.isprintable()
    assert len(read.entries) == 1  # what can be read is read


@pytest.mark.parametrize(
    "number",
    ["1e400", "-1e400", "1e-400", "1e99999999999999999999", "0e999", "1" * 31, "1." + "1" * 30],
)
def test_a_number_that_nobody_measured_is_not_computed_with(number: str) -> None:
    text = json.dumps(changed(GOOD, "metrics.SR.overall", "@")).replace('"@"', number)
    read = parse(None, text)
    assert "has more digits than anything measured" in only(read).message
    assert ("SR", "overall") not in read.entries[0].printed


def test_what_is_beyond_anything_measured_reaches_no_arithmetic() -> None:
    content = changed(changed(GOOD, "n.skill_calls", 10**12 + 1), "n.websites.gitlab", 10**9 + 1)
    (entry,) = parse(content).entries
    assert entry.skill_calls is None
    assert entry.tasks["gitlab"] == sf.SKILLSHIFT.sites["gitlab"]
    for number in ("1000000000.01", "-1000000000.01", "1e30"):
        text = json.dumps(changed(GOOD, "metrics.AS.overall", "@")).replace('"@"', number)
        read = parse(None, text)
        assert (only(read).code, only(read).metric, only(read).slot) == ("schema", "AS", "overall")
        assert ("AS", "overall") not in read.entries[0].printed


def test_what_somebody_may_have_measured_is_read() -> None:
    content = changed(changed(GOOD, "n.skill_calls", 10**12), "n.websites.gitlab", 10**9)
    content = changed(changed(content, "n.websites.magento", 0), "metrics.AS.overall", 10**9)
    read = parse(content)
    assert read.findings == []
    (entry,) = read.entries
    assert entry.skill_calls == 10**12
    assert dict(entry.tasks) == {"gitlab": 10**9, "magento": 0, "wordpress": 79}
    assert entry.printed["AS", "overall"] == 10**9


@pytest.mark.parametrize(
    "path",
    ["submission.method.paper_url", "n.conditions.tgt", "notes", "reasons", "n", "schema_version"],
)
def test_a_missing_key_is_found(path: str) -> None:
    finding = only(parse(without(GOOD, path)))
    assert (finding.code, finding.message) == ("schema", f"{path}: is missing")


def test_a_missing_slot_has_a_code_of_its_own() -> None:
    finding = only(parse(without(GOOD, "metrics.AS.websites.magento")))
    assert (finding.code, finding.metric, finding.slot) == ("missing-slot", "AS", "magento")
    assert finding.hint == "null, with a reason, where it was not measured"
    finding = only(parse(without(GOOD, "metrics.AS.websites")))
    assert (finding.code, finding.metric, finding.slot) == ("missing-slot", "AS", None)
    finding = only(parse(without(GOOD, "metrics")))
    assert (finding.code, finding.metric) == ("missing-slot", None)


def test_a_misspelt_key_is_both_missing_and_guessed() -> None:
    content = changed(
        without(GOOD, "metrics.SR.conditions.tgt-exec"), "metrics.SR.conditions.tgt_exec", 1
    )
    missing, unknown = parse(content).findings
    assert (missing.code, unknown.code) == ("missing-slot", "schema")
    assert unknown.hint == "did you mean tgt-exec?"
    assert (unknown.metric, unknown.slot) == ("SR", "tgt_exec")


def test_a_key_that_comes_twice_is_found_with_all_its_values() -> None:
    text = json.dumps(GOOD).replace('"overall":', '"overall": 1, "overall":', 1)
    finding = only(parse(None, text))
    assert 'the key "overall" is there 2 times in one object: 1, ' in finding.message
    assert finding.hint == "readers differ on which one counts; write it once"
    text = "{" + '"a": 1, ' * 9 + '"a": 2}'
    assert "10 times in one object: 1, 1, 1, …" in parse(None, text).findings[0].message


def test_everything_is_found_at_once() -> None:
    content = changed(
        changed(without(GOOD, "notes"), "metrics.SR.overall", "x"), "n.skill_calls", -1
    )
    assert len(parse(content).findings) == 3


def test_of_many_keys_that_do_not_belong_the_first_are_named() -> None:
    started = time.process_time()
    read = parse(GOOD | {f"key-{i}": i for i in range(100_000)})
    assert len(read.findings) == 11
    assert read.findings[-1].message == "99,990 more keys that do not belong here"
    reasons = GOOD["reasons"] | dict.fromkeys(map(str, range(100_000)))
    read = parse(GOOD | {"reasons": reasons})
    assert read.findings[-1].message == "reasons: 99,990 more values that are no strings"
    assert time.process_time() - started < 10


# Files that are none


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        pytest.param(
            json.dumps(GOOD).encode()[:400],
            "line 1, column 400: is not JSON: Unterminated",
            id="cut",
        ),
        (b'{"a": }', "line 1, column 7: is not JSON: Expecting value"),
        (b'{"a": 1}{"b": 2}', "line 1, column 9: is not JSON: Extra data"),
        (b"{'a': 1}", "is not JSON"),
        (b'{"a": "\n"}', "is not JSON: Invalid control character"),
        (b'{"a": 01}', "is not JSON"),
        (b"[]", "is an array, not an object"),
        (b'"text"', "is a string, not an object"),
        (b"12", "is an integer, not an object"),
        (b"NaN", "is no JSON number, not an object"),
        (b"null", "is null, not an object"),
        (b"\xff\xfe{\x00}\x00", "byte 0xff at offset 0 is not UTF-8"),
        (b'{"a": "\xc3\x28"}', "byte 0xc3 at offset 7 is not UTF-8"),
        (b"\x1f\x8b\x08\x00", "byte 0x8b at offset 1 is not UTF-8"),
        (b'{"a\x00": 1}', "is not JSON"),
        pytest.param(b"[" * 200_000, "is nested too deeply", id="deep: an array"),
        pytest.param(b'{"a":' * 200_000, "is nested too deeply", id="deep: an object"),
        pytest.param(b'{"a":' * 500 + b"1" + b"}" * 500, "is nested too deeply", id="deep: closed"),
        pytest.param(
            b'{"a": ' + b"[" * 400 + b"]" * 400 + b"}",
            "is nested too deeply",
            id="deep: below a key",
        ),
        pytest.param(
            b'{"a": ' + b"[" * 400 + b"]" * 400 + b', "a": 1}',
            "is nested too deeply",
            id="deep: below a key that comes twice",
        ),
    ],
)
def test_a_file_that_is_no_entry_is_a_finding(tmp_path: Path, data: bytes, message: str) -> None:
    assert message in read_file(tmp_path, data).message


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate(50 << 20)
    started = time.process_time()
    finding = only(read_entry_files(path, sf.SKILLSHIFT))
    assert finding.message == "is larger than 4 MiB, and an entry has a few kilobytes"
    assert finding.hint == "name the entry, not the records behind it"
    assert time.process_time() - started < 1
    path.write_bytes(json.dumps(GOOD).encode().ljust(LARGEST_FILE))
    assert read_entry_files(path, sf.SKILLSHIFT).findings == []
    path.write_bytes(json.dumps(GOOD).encode().ljust(LARGEST_FILE + 1))
    assert len(read_entry_files(path, sf.SKILLSHIFT).findings) == 1


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    assert read_entry_files(path, sf.SKILLSHIFT).findings == []


@given(st.text(max_size=200))
def test_any_text_is_read_or_found_wanting(text: str) -> None:
    read = parse(None, text)
    assert read.findings
    assert all(finding.message.isprintable() for finding in read.findings)


# Paths


def test_a_folder_stands_for_its_entries_and_receipts_are_none(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("b.json", "below/a.json"):
        write_json(tmp_path / name, GOOD)
    for name in ("b.receipt.json", "notes.txt"):
        (tmp_path / name).write_text("no entry")
    read = read_entry_files(tmp_path, sf.SKILLSHIFT)
    assert [entry.name for entry in read.entries] == [
        str(tmp_path / "b.json"),
        str(tmp_path / "below/a.json"),
    ]
    assert read.findings == []
    # What a shell makes of *.json.
    everything = sorted(tmp_path.glob("*.json"))
    assert len(everything) == 2
    assert read_entry_files(everything, sf.SKILLSHIFT).findings == []
    assert read_entry_files(f"{tmp_path}/*.json", sf.SKILLSHIFT).findings == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.json", "nowhere.json: no entry there"),
        ("*.csv", "no entry there"),
        ("", "no entry there"),
        ("a.receipt.json", "a.receipt.json: is a receipt; name its entry"),
    ],
)
def test_a_path_that_names_no_entry_is_refused(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "a.receipt.json").write_text("{}")
    with pytest.raises(InputError) as refused:
        read_entry_files(f"{tmp_path}/{path}", sf.SKILLSHIFT)
    assert message in str(refused.value)


def test_a_file_that_may_not_be_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_json(tmp_path / "a.json", GOOD)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match=r"a\.json: cannot be read: Permission denied"):
        read_entry_files(path, sf.SKILLSHIFT)


# Tables of rows


def rows(text: str) -> Read:
    return parse_rows(text, "rows.csv", sf.SKILLSHIFT)


def test_the_published_table_is_seventeen_entries() -> None:
    read = read_entry_files(PUBLISHED, sf.SKILLSHIFT)
    assert read.findings == []
    assert len(read.entries) == len({entry.name for entry in read.entries}) == 17
    assert {entry.path for entry in read.entries} == {str(PUBLISHED)}
    first = read.entries[0]
    assert (first.name, first.printed["SR", "overall"]) == ("AWM / mixed", Decimal("35.29"))
    assert ("ASC", "overall") not in first.printed
    assert first.content is None


def test_digits_of_a_table_are_kept_as_they_stand() -> None:
    (entry,) = rows("metric,gitlab,magento,src,tgt\nSR,16.90,17,--,\n").entries
    assert {slot: str(number) for (_, slot), number in entry.printed.items()} == {
        "gitlab": "16.90",
        "magento": "17",
        "src": "None",
        "tgt": "None",
    }
    assert entry.name == "rows.csv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the table needs a column metric"),
        ("\n\n", "the table needs a column metric"),
        ("metric,method\nSR,a\n", "one of the slots gitlab, magento"),
        ("metric,gitlab\n", "the table has a header and no rows"),
        ("metric,gitlub,gitlab\nSR,1,2\n", '"gitlub" is no column of entries'),
        ("metric,gitlab,gitlab\nSR,1,2\n", 'the column "gitlab" is there twice'),
        ("metric,gitlab\nSR\n", "line 2: has 1 fields, the header 2"),
        ("metric,gitlab\nSR,1\nTR,2\n", 'line 3: "TR" is no metric'),
        ("metric,gitlab\nSR,1\nSR,2\n", "line 3: a second row of SR"),
        ("metric,gitlab\nSR,1e3\n", 'line 2: gitlab: "1e3" is no decimal number'),
        ("metric,gitlab\nSR,１２\n", "is no decimal number"),
        ("metric,gitlab\nSR,NaN\n", '"NaN" is no decimal number'),
        ("metric,gitlab\nSR,1234567890123\n", "is no decimal number"),
        ("metric,date,gitlab\nSR,20260823,1\n", '"20260823" is no date'),
        ("metric,date,gitlab\nSR,2026-02-30,1\n", "is no date; one like 2026-08-23 is needed"),
        pytest.param(
            "metric,gitlab\nSR," + "9" * 200_000,
            "is not CSV: field larger than field limit",
            id="a long field",
        ),
    ],
)
def test_a_table_that_is_none_is_a_finding(text: str, message: str) -> None:
    finding = only(rows(text))
    assert (finding.entry, finding.code) == ("rows.csv", "schema")
    assert message in finding.message


def test_rows_of_the_same_method_are_told_apart_by_their_dates() -> None:
    text = "metric,date,method,gitlab\nSR,2026-01-01,a,1\nSR,2026-01-02,a,2\nSR,,b,3\n"
    assert [entry.name for entry in rows(text).entries] == ["a (2026-01-01)", "a (2026-01-02)", "b"]
    text = "metric,date,method,gitlab\nSR,,,1\nSR,2026-01-02,,2\n"
    assert [entry.name for entry in rows(text).entries] == ["rows.csv", "2026-01-02"]


def test_many_rows_take_no_time() -> None:
    started = time.process_time()
    text = "metric,method,gitlab\n" + "".join(f"SR,m{i},1\n" for i in range(20_000))
    assert len(rows(text).entries) == 20_000
    assert time.process_time() - started < 10


@given(st.text(max_size=100))
def test_any_text_is_a_table_or_found_wanting(text: str) -> None:
    for content in (text, f"metric,gitlab\n{text}"):
        read = rows(content)
        assert read.findings or read.entries or not content.strip()
        assert all(finding.message.isprintable() for finding in read.findings)


# Rows as typed


def typed(*given_rows: str) -> Entry:
    return parse_typed(given_rows, sf.SKILLSHIFT)


@pytest.mark.parametrize(
    "row",
    [
        "GitLab 17.71, Magento 25.49, O/A 35.29",
        "gitlab=17.71; MAGENTO: 25.49; overall 35.29",
        "SR: gitlab 17.71, magento 25.49 %, o/a 35.29%,",
        "sr:gitlab 17.71,magento 25.49,overall 35.29",
    ],
)
def test_a_row_may_be_typed_in_many_ways(row: str) -> None:
    assert {(m, s): str(n) for (m, s), n in typed(row).printed.items()} == {
        ("SR", "gitlab"): "17.71",
        ("SR", "magento"): "25.49",
        ("SR", "overall"): "35.29",
    }


def test_rows_of_several_metrics_are_one_entry() -> None:
    entry = typed("Src-Perc 43.35", "ASC: Src-Perc 0.10, Tgt --")
    assert entry.printed == {
        ("SR", "src-perc"): Decimal("43.35"),
        ("ASC", "src-perc"): Decimal("0.10"),
        ("ASC", "tgt"): None,
    }


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([""], "the row is empty"),
        (["  , ;"], "the row is empty"),
        (["GitLub 17.71"], "did you mean gitlab?"),
        (["17.71"], "is not a slot and its number"),
        (["GitLab"], "is not a slot and its number"),
        (["GitLab 17,71"], "is not a slot and its number"),
        (["GitLab x"], '"x" is no decimal number'),
        (["GitLab 1, gitlab 2"], "gitlab is given twice in one row"),
        (["GitLab 1", "SR: Magento 2"], "two rows of SR; give each metric one"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused(row: list[str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        typed(*row)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "number"),
    [("16.90", "16.90"), (" 5. ", "5"), (".5", "0.5"), ("+1", "1"), ("-1.0", "-1.0"), ("3 %", "3")],
)
def test_a_number_keeps_its_digits(text: str, number: str) -> None:
    assert str(parse_number(text)) == number


@pytest.mark.parametrize("text", ["", "-", "--", "–", "—", "null", "NULL"])
def test_what_stands_for_null_is_null(text: str) -> None:
    assert parse_number(text) is None


@pytest.mark.parametrize("text", ["1e3", "1,5", "0x10", "1_000", "nan", "inf", "²", "1" * 13, "."])
def test_what_is_no_decimal_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no decimal number"):
        parse_number(text)


def test_many_repeated_keys_cost_no_more_than_many_keys(tmp_path: Path) -> None:
    """Once it took time by the square of their number: minutes for a file of a megabyte."""
    file = tmp_path / "entry.json"
    file.write_text("{" + ", ".join(f'"k{n // 2}": 1' for n in range(60_000)) + "}")
    found = sf.check_entry(file)
    assert set(found.get_column("code")) >= {"schema"}
