"""The digest of records against plain Python, and what a receipt says and can get wrong."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf
from skillshift_frames import receipt as receipts
from skillshift_frames.entry_check import check_entry
from skillshift_frames.receipt import receipt_state, records_digest
from skillshift_frames.render.entries import write_entry
from skillshift_frames.submit import BuiltEntry, build_entry
from tests.entries import Json, changed, paper_entry, without, write_json
from tests.strategies import SMALL, Record, by_run, records, shuffled, to_jsonl

if TYPE_CHECKING:
    from pathlib import Path

DEMO = "data/demo/induced.jsonl"
SAID: dict[str, Any] = {"name": "Ours", "method": "ASI", "model": "demo", "date": "2026-11-30"}
BENCHMARK = sf.Benchmark("small", SMALL.sites, SMALL.conditions)


def digest_of(run: list[Record]) -> str:
    """Digest records as the documentation says, in plain Python."""
    fields = (
        *("uid", "site", "condition", "trial", "success", "steps"),
        *("skill_calls", "skill_failures", "error"),
    )
    lines = []
    for record in run:
        whole = {"trial": 1, "error": None} | record
        array = [whole[name] for name in fields]
        array[-1] = array[-1] or None  # an empty error is none
        lines.append(json.dumps(array, ensure_ascii=False, separators=(",", ":")).encode())
    text = b"skillshift-frames records 1\n" + b"".join(line + b"\n" for line in sorted(lines))
    return hashlib.sha256(text).hexdigest()


def frame_of(run: list[Record], name: str = "asi", **options: Any) -> pl.DataFrame:  # noqa: ANN401
    frame = pl.DataFrame(run, schema_overrides=dict(sf.TASKS), infer_schema_length=None)
    return sf.from_frame(frame, run=name, benchmark=BENCHMARK, **options)


RECORD: Record = {
    "uid": "task-1",
    "site": "forum",
    "condition": "plain",
    "trial": 1,
    "success": True,
    "steps": 3,
    "skill_calls": 2,
    "skill_failures": 1,
    "error": None,
}


@given(shuffled(records(runs=1, odd_uids=True)))
def test_digest_is_that_of_plain_python(drawn: list[Record]) -> None:
    (run,) = by_run(drawn).values()
    assert records_digest(frame_of(run)) == digest_of(run)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_digest_of_any_text(text: str) -> None:
    run = [RECORD | {"uid": text, "error": text}]
    assert records_digest(frame_of(run)) == digest_of(run)


def test_every_sign_that_json_escapes_is_escaped_as_python_does() -> None:
    text = "".join(map(chr, [*range(0x20), *range(0x7E, 0xA2), 0x2028, 0x2029, 0xFEFF, 0x1F44D]))
    for sign in [*text, '"', "\\", "\\n", text]:
        run = [RECORD | {"uid": f"a{sign}b"}]
        assert records_digest(frame_of(run)) == digest_of(run), repr(sign)


def test_digest_does_not_depend_on_how_many_lines_are_put_together_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks = sf.read_tasks(DEMO)
    whole = records_digest(tasks)
    for lines in (1000, 2130, 7):
        monkeypatch.setattr(receipts, "_LINES_AT_ONCE", lines)
        assert records_digest(tasks) == whole


def test_digest_is_that_of_the_records_and_not_of_their_run_or_of_further_columns() -> None:
    one = frame_of([RECORD])
    other = frame_of([RECORD | {"note": "kept"}], name="another", extra="keep")
    assert "note" in other.columns
    assert records_digest(one) == records_digest(other) == records_digest(one.lazy())


def test_digest_is_of_one_run() -> None:
    tasks = sf.read_tasks(["data/demo/induced.jsonl", "data/demo/reference.jsonl"])
    with pytest.raises(sf.InputError, match=r"these are 2: induced, reference; .*--pool"):
        records_digest(tasks)
    with pytest.raises(sf.InputError, match="no records"):
        records_digest(tasks.clear())


@pytest.mark.parametrize(
    "change",
    [
        {"uid": "task-2"},
        {"site": "shop"},
        {"condition": "hard"},
        {"trial": 2},
        {"success": False},
        {"steps": 4},
        {"skill_calls": 3},
        {"skill_failures": 2},
        {"error": "timeout"},
        {"steps": None},
        {"skill_calls": None, "skill_failures": None},
        {"success": None, "error": "timeout"},
    ],
)
def test_every_field_of_a_record_counts(change: Record) -> None:
    assert records_digest(frame_of([RECORD | change])) == digest_of([RECORD | change])
    assert digest_of([RECORD | change]) != digest_of([RECORD])


# What a receipt says


@pytest.fixture(scope="module")
def built() -> BuiltEntry:
    return build_entry(sf.read_tasks(DEMO), harness_version="1.4", **SAID)


@pytest.fixture
def written(built: BuiltEntry, tmp_path: Path) -> Path:
    return write_entry(built, tmp_path / "results.json")[0]


def rewritten(written: Path, receipt: object) -> Path:
    return write_json(written.with_suffix(".receipt.json"), receipt)


def found(written: Path, **options: Any) -> list[tuple[str, str]]:  # noqa: ANN401
    return check_entry(written, **options).select("code", "message").rows()


def test_a_receipt_says_what_was_built(built: BuiltEntry) -> None:
    receipt = built.receipt
    assert list(receipt) == [
        *("schema_version", "tool", "harness_version", "benchmark", "errors", "n_per_cell"),
        *("records", "aggregate", "env_digests", "per_task_commitment"),
    ]
    assert receipt["schema_version"] == "1.0"
    assert receipt["tool"] == {"name": "skillshift-frames", "version": sf.__version__}
    assert receipt["harness_version"] == built.entry["harness_version"] == "1.4"
    assert (receipt["benchmark"], receipt["errors"], receipt["records"]) == (
        *("skillshift", "exclude"),
        2130,
    )
    assert receipt["n_per_cell"] == {
        site: dict.fromkeys(sf.SKILLSHIFT.conditions, n) for site, n in sf.SKILLSHIFT.sites.items()
    }
    assert receipt["aggregate"] == built.entry["metrics"]
    assert receipt["env_digests"] == {}
    with open(DEMO) as file:  # noqa: PTH123
        run = [json.loads(line) for line in file]
    assert receipt["per_task_commitment"] == {
        "form": "skillshift-frames records 1",
        "sha256": digest_of(run),
    }


def test_a_receipt_holds_no_record(built: BuiltEntry) -> None:
    assert "skillshift.gitlab" not in json.dumps([built.receipt, built.entry])


@pytest.mark.parametrize("kind", ["shuffled", "gzip", "shards", "parquet", "as it is"])
def test_a_receipt_stands_whatever_file_the_records_lie_in(
    written: Path, tmp_path: Path, kind: str
) -> None:
    with open(DEMO, "rb") as file:  # noqa: PTH123
        lines = file.readlines()
    paths = [tmp_path / "per_task.jsonl"]
    match kind:
        case "shuffled":
            random.Random(1).shuffle(lines)  # noqa: S311
            paths[0].write_bytes(b"".join(lines))
        case "gzip":
            paths = [tmp_path / "per_task.jsonl.gz"]
            paths[0].write_bytes(gzip.compress(b"".join(lines)))
        case "shards":
            paths = [tmp_path / f"shard-{i}.jsonl" for i in range(3)]
            for i, path in enumerate(paths):
                path.write_bytes(b"".join(lines[i::3]))
        case "parquet":
            paths = [tmp_path / "run.parquet"]
            sf.write_tasks(sf.read_tasks(DEMO), paths[0])
        case _:
            paths[0].write_bytes(b"".join(lines))
    assert found(written, records=paths) == []


@pytest.mark.parametrize(
    ("field", "value", "numbers"),
    [
        ("uid", "skillshift.gitlab.v1.3", False),
        ("success", True, True),
        ("steps", 12, True),
        ("skill_calls", 1, True),
        ("skill_failures", 2, True),
        ("trial", 2, False),  # no number changes, and the digest does
        ("error", "timeout", True),
    ],
)
def test_a_receipt_falls_when_one_record_changes(
    written: Path,
    tmp_path: Path,
    field: str,
    value: object,
    numbers: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    with open(DEMO) as file:  # noqa: PTH123
        run = [json.loads(line) for line in file]
    number = 2 if field == "skill_failures" else 0
    assert run[number].get(field) != value
    run[number][field] = value
    path = tmp_path / "changed.jsonl"
    path.write_bytes(to_jsonl(run))
    digests, *others = found(written, records=path)
    assert digests[0] == "receipt-mismatch"
    assert (
        "results.receipt.json: the records are not those of the receipt: their digest" in digests[1]
    )
    assert "2,130 records, in the receipt 2,130" in digests[1]
    assert bool(others) == numbers


def test_a_lost_record_is_counted(written: Path) -> None:
    tasks = sf.read_tasks(DEMO).slice(1)
    digest, counts, numbers = check_entry(written, records=tasks).iter_rows(named=True)
    assert "2,129 records, in the receipt 2,130" in digest["message"]
    assert counts["message"] == (
        "n.websites.gitlab is 162, and the records give 161; 1 more count differs"
    )
    assert numbers["code"] == "receipt-mismatch"


@pytest.mark.parametrize("stated", [99_999, 5, 2129, 0])
def test_the_number_of_records_is_counted_where_the_digest_matches(
    written: Path, built: BuiltEntry, stated: int
) -> None:
    rewritten(written, built.receipt | {"records": stated})
    ((code, message),) = [
        (code, said) for code, said in found(written, records=DEMO) if code != "count-mismatch"
    ]
    assert code == "receipt-mismatch"
    assert message.endswith(f"records is {stated}, and there are 2130")


def test_the_hint_of_a_number_that_differs_speaks_of_errors_only_where_there_are_some(
    written: Path, built: BuiltEntry
) -> None:
    entry = changed(built.entry, "metrics.SR.overall", 35.67)
    write_json(written, entry)
    rewritten(written, built.receipt | {"aggregate": entry["metrics"]})
    (row,) = check_entry(written, records=DEMO).iter_rows(named=True)
    assert row["message"] == "is 35.67, and the records give 35.6612"
    assert row["hint"] == (
        "build the entry again from these records, or name those that it was built from"
    )


@pytest.mark.parametrize("kind", ["categorical", "enum"])
def test_digest_of_text_that_is_held_as_categories(kind: str) -> None:
    run = [RECORD, RECORD | {"condition": "hard", "error": 'a "b"'}]
    tasks = frame_of(run)
    held = tasks.with_columns(
        column.cast(pl.Categorical() if kind == "categorical" else pl.Enum(values.sort()))
        for name in ("uid", "site", "condition", "error")
        for column, values in [(pl.col(name), tasks.get_column(name).drop_nulls().unique())]
    )
    assert records_digest(held) == digest_of(run)


def test_records_that_give_other_numbers_name_the_first_slot_and_both_values(written: Path) -> None:
    tasks = sf.read_tasks(DEMO).with_columns(
        steps=pl.when(site="magento").then(pl.col("steps") + 1).otherwise("steps")
    )
    _, numbers = check_entry(written, records=tasks).iter_rows(named=True)
    assert (numbers["metric"], numbers["slot"]) == ("AS", "magento")
    assert numbers["message"] == "is 6.88, and the records give 7.8845; 7 more slots differ"
    assert (numbers["printed"], numbers["bound"]) == ("6.88", "7.8845")


def test_null_where_the_records_give_a_number_is_a_mismatch_and_so_is_the_reverse(
    built: BuiltEntry, tmp_path: Path
) -> None:
    tasks = sf.read_tasks(DEMO)
    for path, number, message in (
        ("SFR.overall", 33.0, "is 33.00, and the records give null"),
        ("SFR.websites.gitlab", None, "is null, and the records give 40.7778"),
    ):
        entry = changed(built.entry, f"metrics.{path}", number)
        receipt = built.receipt | {"aggregate": entry["metrics"]}
        written, _ = write_entry(BuiltEntry(entry, receipt), tmp_path / "r.json", force=True)
        found = check_entry(written, records=tasks).filter(code="receipt-mismatch")
        assert found.get_column("message").to_list() == [message]


def test_numbers_are_recomputed_under_the_policy_of_the_receipt(tmp_path: Path) -> None:
    tasks = sf.read_tasks("data/demo/workflow.jsonl")
    built = build_entry(tasks, errors="zero", partial=True, **SAID)
    path, _ = write_entry(built, tmp_path / "results.json")
    about_records = [message for _, message in found(path, records=tasks) if "records" in message]
    assert about_records == []
    # Somebody who knows better may say so, and is told which policy was used.
    other = check_entry(path, records=tasks, errors="exclude").filter(pl.col("metric") == "SR")
    assert other.select("slot", "hint").row(0) == (
        "gitlab",
        "tasks with an error: --errors exclude",
    )


def test_a_printed_number_may_be_rounded_either_way_at_a_tie(tmp_path: Path) -> None:
    """One success of eight is 12.5, one of 16 is 6.25, one of 32 is 3.125: 3.12 to some, 3.13 to others."""
    axes = sf.Benchmark("one", {"forum": 32}, ("plain",))
    run = [RECORD | {"uid": f"t{i}", "success": i == 0} for i in range(32)]
    tasks = sf.from_frame(pl.DataFrame(run), run="asi", benchmark=axes)
    built = build_entry(tasks, benchmark=axes, **SAID)
    assert built.entry["metrics"]["SR"]["overall"] == 3.13
    for number, codes in ((3.12, []), (3.13, []), (3.11, ["receipt-mismatch"])):
        block = {"websites": {"forum": number}, "conditions": {"plain": number}, "overall": number}
        entry = changed(built.entry, "metrics.SR", block)
        receipt = changed(built.receipt, "aggregate.SR", block)
        path, _ = write_entry(BuiltEntry(entry, receipt), tmp_path / "r.json", force=True)
        errors = check_entry(path, records=tasks, benchmark=axes).filter(severity="error")
        assert errors.get_column("code").to_list() == codes


# What a receipt can get wrong


def test_a_changed_number_is_found_with_both_values(written: Path, built: BuiltEntry) -> None:
    write_json(written, changed(built.entry, "metrics.AS.conditions.tgt", 6.75))
    rows = check_entry(written).filter(code="receipt-mismatch").to_dicts()
    assert [(row["metric"], row["slot"], row["printed"], row["bound"]) for row in rows] == [
        ("AS", "tgt", "6.75", "6.76")
    ]
    assert rows[0]["message"].endswith("aggregate has 6.76, the entry 6.75")


def test_numbers_are_compared_as_numbers(written: Path, built: BuiltEntry) -> None:
    text = json.dumps(built.receipt).replace("21.3,", "21.30,").replace("47.5,", "4.75e1,")
    written.with_suffix(".receipt.json").write_text(text)
    assert "21.30" in text
    assert "4.75e1" in text
    assert found(written) == []


def test_null_is_not_zero_in_a_receipt(written: Path, built: BuiltEntry) -> None:
    rewritten(written, changed(built.receipt, "aggregate.SFR.overall", 0))
    (one,) = found(written)
    assert one[1].endswith("aggregate has 0, the entry null")


def test_many_changed_numbers_are_counted(written: Path, built: BuiltEntry) -> None:
    rewritten(written, changed(built.receipt, "aggregate", {}))
    messages = [message for _, message in found(written)]
    assert len(messages) == 11
    assert messages[0].endswith("aggregate has nothing, the entry 21.3")
    assert messages[-1].endswith("aggregate differs in 30 more slots")


DAMAGES: list[tuple[str, object, str]] = [
    ("harness_version", "1.5", 'harness_version is "1.5", that of the entry "1.4"'),
    ("harness_version", None, "harness_version: is null; a string is needed"),
    ("n_per_cell.gitlab.src", 161, "n_per_cell: gitlab × src is 161, not 162"),
    ("n_per_cell.gitlab.src", None, "gitlab × src is missing, not 162"),
    ("n_per_cell.gitlab.src", "162", 'gitlab × src is "162", not 162'),
    ("n_per_cell.gitlab.src", True, "gitlab × src is true, not 162"),
    ("n_per_cell.gitlab", None, "n_per_cell: gitlab is missing, not 162"),
    ("n_per_cell.gitlab", 161, "n_per_cell: gitlab is 161, not 162"),
    ("n_per_cell", {}, "wordpress is missing, not 79"),
    ("n_per_cell.wordpress", {}, "wordpress × tgt is missing, not 79 and 2 more"),
    ("n_per_cell", [162], "n_per_cell: [162] is an array; an object is needed"),
    ("aggregate", None, "aggregate: is null; an object is needed"),
    ("aggregate.SR.overall", "35.66", 'aggregate has "35.66", the entry 35.66'),
    ("aggregate.EXTRA", 1, "aggregate has 1, the entry nothing"),
    ("benchmark", "shop", 'benchmark is "shop", not skillshift'),
    ("errors", "ignore", 'errors: is "ignore"; "exclude" or "zero" is needed'),
    ("records", -1, "records: -1 is an integer; a whole number is needed"),
    ("records", 10**40, "has more digits than anything measured"),
    ("per_task_commitment", 7, "an object or a string is needed"),
    ("per_task_commitment.sha256", "abc", 'per_task_commitment.sha256: "abc" is no SHA-256'),
    ("per_task_commitment.sha256", None, "is null; a string that is not empty is needed"),
    ("per_task_commitment.sha256", "", '"" is a string; a string that is not empty is needed'),
    ("per_task_commitment.form", "", "per_task_commitment.form: "),
    ("per_task_commitment.form", 3, "per_task_commitment.form: 3 is an integer"),
    ("per_task_commitment", {}, "per_task_commitment: is empty: it commits to nothing"),
    ("per_task_commitment", "", "per_task_commitment: is empty: it commits to nothing"),
    ("per_task_commitment", " ", "per_task_commitment: is empty: it commits to nothing"),
    ("per_task_commitment", {"sha256": "5f2a"}, "per_task_commitment.form: is missing"),
    ("per_task_commitment", {"form": "harness 3"}, "per_task_commitment.sha256: is missing"),
    ("records", 10**12 + 1, "is beyond anything measured, which ends at 1,000,000,000,000"),
    ("env_digests", "\ud800", "half of a surrogate pair"),
]


@pytest.mark.parametrize(("path", "value", "message"), DAMAGES)
def test_a_damaged_receipt_is_a_finding(
    written: Path, built: BuiltEntry, path: str, value: object, message: str
) -> None:
    rewritten(written, changed(built.receipt, path, value))
    (one,) = found(written)
    assert one[0] == "receipt-mismatch"
    assert message in one[1]
    assert one[1].startswith(str(written.with_suffix(".receipt.json")))
    assert check_entry(written, records=DEMO).height  # and nothing that is built on it raises


@pytest.mark.parametrize(
    "key", ["harness_version", "n_per_cell", "aggregate", "per_task_commitment"]
)
def test_a_receipt_without_what_every_receipt_has_is_a_finding(
    written: Path, built: BuiltEntry, key: str
) -> None:
    rewritten(written, without(built.receipt, key))
    ((code, message),) = found(written)
    assert (code, message.endswith(f"{key}: is missing")) == ("receipt-mismatch", True)
    assert check_entry(written, records=DEMO).height == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"{", "line 1, column 2: is not JSON: Expecting property name enclosed in double quotes"),
        (b"[]", "is an array, not an object"),
        (b"null", "is null, not an object"),
        (b"\xff\xfe{}", "byte 0xff at offset 0 is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b" " * (5 << 20), "is larger than 4 MiB"),
    ],
)
def test_a_receipt_that_is_none_is_a_finding(written: Path, data: bytes, message: str) -> None:
    written.with_suffix(".receipt.json").write_bytes(data)
    ((code, said),) = found(written)
    assert code == "receipt-mismatch"
    assert message in said
    # The records still speak for the numbers, if not for the digest.
    assert len(found(written, records=DEMO)) == 1


def test_a_key_that_comes_twice_in_a_receipt_is_a_finding(written: Path, built: BuiltEntry) -> None:
    text = json.dumps(built.receipt).replace('"errors"', '"records": 1, "errors"')
    written.with_suffix(".receipt.json").write_text(text)
    ((code, message),) = found(written)
    assert code == "receipt-mismatch"
    assert message.endswith('the key "records" is there 2 times in one object: 1, 2130')


@pytest.mark.parametrize("commitment", ["5f2a", {"form": "harness 3", "sha256": "5f2a"}])
def test_a_receipt_of_another_tool_is_checked_in_all_but_its_digest(
    written: Path, built: BuiltEntry, commitment: object
) -> None:
    """What its form of the records is, only that tool knows; that the digest was not recomputed is said."""
    theirs: Json = {
        "harness_version": "1.4",
        "n_per_cell": dict(sf.SKILLSHIFT.sites),
        "aggregate": built.receipt["aggregate"],
        "env_digests": {"gitlab": "sha256:00"},
        "per_task_commitment": commitment,
        "signed_by": "somebody",
    }
    rewritten(written, theirs)
    assert found(written) == []
    with pytest.warns(sf.SkillshiftWarning, match="the numbers were recomputed, it was not"):
        assert found(written, records=DEMO) == []
    with pytest.warns(sf.SkillshiftWarning):
        messages = [said for _, said in found(written, records="data/demo/reference.jsonl")]
    assert len(messages) == 2
    assert all("the records give" in said for said in messages)


# What a leaderboard asks


def test_state_of_a_receipt(written: Path, built: BuiltEntry) -> None:
    beside = written.with_suffix(".receipt.json")
    assert receipt_state(written, "self-reported") == "matches"
    assert receipt_state(str(written), "verified-paper") is None
    assert receipt_state(written, None) is None
    rewritten(written, changed(built.receipt, "aggregate.SR.overall", 99.0))
    assert receipt_state(written, "self-reported") == "differs"
    beside.write_text("{")
    assert receipt_state(written, "self-reported") == "differs"
    beside.unlink()
    assert receipt_state(written, "self-reported") == "missing"
    assert receipt_state("", "self-reported") == "missing"


@pytest.mark.parametrize("data", [b"[]", b"{", b"\xff", b'{"metrics": 3}', b"{}"])
def test_state_of_a_receipt_beside_an_entry_that_is_none(written: Path, data: bytes) -> None:
    written.write_bytes(data)
    assert receipt_state(written, "self-reported") == "differs"


def test_state_of_a_receipt_whose_entry_is_gone(written: Path) -> None:
    written.unlink()
    with pytest.raises(sf.InputError, match="cannot be read"):
        receipt_state(written, "self-reported")


def test_a_receipt_that_nobody_owes_is_checked_all_the_same(tmp_path: Path) -> None:
    path = write_json(tmp_path / "awm.json", paper_entry())
    assert found(path) == []
    (tmp_path / "awm.receipt.json").write_text("{}")
    assert {code for code, _ in found(path)} == {"receipt-mismatch"}
