"""``entry build`` and ``entry check``: what they write where, what they refuse, and how they end."""

from __future__ import annotations

import csv
import io
import json
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.findings import FINDINGS, Finding, findings_frame
from skillshift_frames.render.findings import findings_document, findings_json, findings_text
from tests.entries import changed, paper_entry, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Cli, Result, Spawn

SAID = ("--name", "Ours", "--method", "Skill ASI", "--model", "gpt/4.1", "--date", "2026-11-30")
ON_LEADERBOARD = "2026-11-30--skill-asi--gpt-4.1.json"


@pytest.fixture
def induced(demo: list[Path]) -> Path:
    return next(path for path in demo if path.stem == "induced")


@pytest.fixture
def workflow(demo: list[Path]) -> Path:
    return next(path for path in demo if path.stem == "workflow")


@pytest.fixture
def build(cli: Cli, tmp_path: Path) -> Callable[..., Result]:
    def call(*arguments: object) -> Result:
        return cli("entry", "build", *arguments, *SAID, "-o", tmp_path / "results.json")

    return call


def entry_in(folder: Path, name: str = "results.json") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / name).read_text())
    return content


# build


def test_build_writes_an_entry_and_its_receipt_and_nothing_to_stdout(
    build: Callable[..., Result], induced: Path, tmp_path: Path
) -> None:
    result = build(induced)
    assert (result.code, result.out) == (0, "")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["results.json", "results.receipt.json"]
    assert result.err.splitlines() == [
        f"{tmp_path}/results.json: an entry of 2,130 records; results.receipt.json: its receipt",
        (
            "Keep the records (per_task.jsonl), and keep them private: the receipt commits to them without showing them, "
            "and they alone can answer a dispute."
        ),
        "hint: --harness-version names the harness that ran the tasks; the entry says n/a",
        f"hint: on the leaderboard this entry is called {ON_LEADERBOARD}",
    ]


def test_build_is_the_library_function(
    build: Callable[..., Result], induced: Path, tmp_path: Path
) -> None:
    build(
        *(
            induced,
            "--label",
            "reported-only",
            "--code-url",
            "https://c",
            "--paper-url",
            "https://p",
        ),
        *("--repro-command", "make", "--description", "d", "--contact", "c", "--source", "s"),
        *("--notes", "n", "--temperature", "0.5", "--no-vision", "--harness-version", "1.4"),
    )
    built = sf.build_entry(
        sf.read_tasks(induced),
        name="Ours",
        method="Skill ASI",
        model="gpt/4.1",
        date="2026-11-30",
        label="reported-only",
        code_url="https://c",
        paper_url="https://p",
        repro_command="make",
        description="d",
        contact="c",
        source="s",
        notes="n",
        temperature=0.5,
        vision=False,
        harness_version="1.4",
    )
    assert entry_in(tmp_path) == built.entry
    assert entry_in(tmp_path, "results.receipt.json") == built.receipt


@pytest.mark.parametrize(("flag", "vision"), [("--vision", True), ("--no-vision", False)])
def test_build_says_whether_the_model_saw(
    build: Callable[..., Result], induced: Path, tmp_path: Path, flag: str, vision: object
) -> None:
    build(induced, flag)
    assert entry_in(tmp_path)["submission"]["model"]["vision"] is vision


def test_build_in_a_folder_takes_the_name_of_the_leaderboard(
    cli: Cli, induced: Path, tmp_path: Path
) -> None:
    result = cli("entry", "build", induced, *SAID, "-o", tmp_path, "--harness-version", "1")
    assert result.code == 0
    assert "hint" not in result.err
    assert (tmp_path / ON_LEADERBOARD).exists()
    assert (tmp_path / ON_LEADERBOARD.replace(".json", ".receipt.json")).exists()
    assert cli("entry", "check", tmp_path).code == 0


def test_build_of_shards_needs_pool(
    build: Callable[..., Result], induced: Path, tmp_path: Path
) -> None:
    lines = induced.read_bytes().splitlines(keepends=True)
    shards = [tmp_path / f"run-{i}.jsonl" for i in range(2)]
    for i, shard in enumerate(shards):
        shard.write_bytes(b"".join(lines[i::2]))
    result = build(*shards)
    assert result.code == 2
    assert (
        "these are 2: run-0, run-1; name one of them (--pool reads shards as one run)" in result.err
    )
    assert build(*shards, "--pool").code == 0
    assert build(induced, "--force").code == 0


def test_build_gives_the_same_bytes_from_any_shape_of_the_records(
    build: Callable[..., Result], induced: Path, tmp_path: Path
) -> None:
    build(induced)
    files = [tmp_path / "results.json", tmp_path / "results.receipt.json"]
    before = [file.read_bytes() for file in files]
    sf.write_tasks(sf.read_tasks(induced), tmp_path / "x.parquet")
    assert build(tmp_path / "x.parquet", "--force").code == 0
    assert [file.read_bytes() for file in files] == before


def test_build_of_a_partial_run(
    build: Callable[..., Result], cli: Cli, workflow: Path, tmp_path: Path
) -> None:
    result = build(workflow)
    assert result.code == 2
    assert "gitlab × src-exec 160/162 (2 with an error), " in result.err
    assert list(tmp_path.iterdir()) == []
    assert build(workflow, "--partial").code == 0
    result = cli("entry", "check", tmp_path / "results.json")
    assert result.code == 1
    assert "error [count-mismatch] gitlab: n.websites.gitlab is 160" in result.out


def test_build_counts_errors_as_it_is_told(
    build: Callable[..., Result], workflow: Path, tmp_path: Path
) -> None:
    build(workflow, "--partial", "--errors", "zero")
    assert "count as failures" in entry_in(tmp_path)["notes"]
    assert entry_in(tmp_path, "results.receipt.json")["errors"] == "zero"


def test_build_of_another_benchmark(
    cli: Cli,
    write_run: Callable[..., Path],
    write_benchmark: Callable[..., Path],
    record: Callable[..., dict[str, Any]],
    tmp_path: Path,
) -> None:
    benchmark = write_benchmark("shop", {"cart": 1}, ["plain"])
    run = write_run("asi", [record("cart", "plain", "a", note="kept")])
    options = ("--benchmark", benchmark, "--extra", "ignore")
    result = cli("entry", "build", run, *SAID, *options, "-o", tmp_path / "results.json")
    assert result.code == 0
    result = cli("entry", "check", tmp_path / "results.json", "--records", run, *options)
    assert (result.code, result.out) == (0, "1 entry without a finding\n")


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test fail where the records are read."""
    tasks = import_module("skillshift_frames.readers.tasks")
    monkeypatch.setattr(tasks, "read_tasks", lambda *_, **__: pytest.fail("the records were read"))


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "entry build needs -o FILE.json, or a folder"),
        (["-o", "results.txt"], "results.txt: an entry is a .json file"),
        (["-o", "taken.json"], "taken.json: exists already; --force replaces it"),
        (["-o", "owed.json"], "owed.receipt.json: exists already; --force replaces it"),
        (["-o", "nowhere/results.json"], "there is no folder nowhere"),
        (["-o", "-"], "-: an entry is a .json file"),
        (["-o", ".", "--date", "30.11.2026"], "date is '30.11.2026'"),
        (["-o", ".", "--method", "方法"], "no letter a to z or digit to name the file by"),
        (["-o", "r.json", "--label", "verified"], "'verified' is not one of"),
        (["-o", "r.json", "--temperature", "warm"], "'warm' is not a valid float"),
    ],
)
def test_build_refuses_before_it_reads(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("taken.json", "owed.receipt.json"):
        Path(name).write_text("precious")
    result = cli("entry", "build", "nowhere.jsonl", *SAID, *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["owed.receipt.json", "taken.json"]


@pytest.mark.parametrize("option", ["--name", "--method", "--model", "--date"])
def test_build_needs_what_the_leaderboard_lists(
    cli: Cli, induced: Path, tmp_path: Path, option: str
) -> None:
    said = list(SAID)
    at = said.index(option)
    result = cli("entry", "build", induced, *said[:at], *said[at + 2 :], "-o", tmp_path)
    assert result.code == 2
    assert f"Missing option '{option}'" in result.err


def test_build_of_records_with_faults_names_them(
    build: Callable[..., Result], induced: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(induced.read_text().replace('"gitlab"', '"gitlap"', 1))
    result = build(broken)
    assert result.code == 2
    assert f'{broken}:1: site: "gitlap" is not a site of this benchmark' in result.err
    assert not (tmp_path / "results.json").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a file system that takes any bytes")
def test_build_refuses_what_is_not_utf_8(spawn: Spawn, induced: Path, tmp_path: Path) -> None:
    arguments = [
        "entry",
        "build",
        induced,
        *SAID,
        "--notes",
        os.fsdecode(b"a\xffb"),
        "-o",
        tmp_path,
    ]
    result = spawn(*arguments)
    assert (result.code, result.err) == (2, "error: notes is not UTF-8\n")
    assert list(tmp_path.iterdir()) == []


# check


@pytest.fixture
def entry(build: Callable[..., Result], induced: Path, tmp_path: Path) -> Path:
    build(induced)
    return tmp_path / "results.json"


def test_check_of_a_good_entry_exits_0(cli: Cli, entry: Path, induced: Path) -> None:
    assert cli("entry", "check", entry, "--strict") == (0, "1 entry without a finding\n", "")
    result = cli("entry", "check", entry, "--records", induced)
    assert result == (0, "1 entry without a finding\n", "")


def test_check_says_where_what_and_what_to_do(cli: Cli, entry: Path) -> None:
    write_json(entry, changed(entry_in(entry.parent), "metrics.AS.overall", 7.17))
    result = cli("entry", "check", entry)
    assert result.code == 1
    assert result.out.splitlines() == [
        (
            f"{entry}: error [identity] AS overall: mean of the sites is 7.1067, overall is 7.17: "
            "they differ by 0.0633, where rounding allows 0.01"
        ),
        (
            f"{entry}: error [identity] AS overall: mean of the conditions is 7.1067, overall is 7.17: "
            "they differ by 0.0633, where rounding allows 0.01"
        ),
        "  sites and conditions agree; look at overall",
        (
            f"{entry}: error [receipt-mismatch] AS overall: {entry.parent}/results.receipt.json: "
            "aggregate has 7.11, the entry 7.17"
        ),
        "  a number was changed after the entry was built; build it again, with its receipt",
        "3 errors in 1 of 1 entry",
    ]


@pytest.mark.parametrize(
    ("content", "code", "strict"),
    [
        (paper_entry(), 0, 0),
        (paper_entry("ASI"), 0, 0),  # a note
        (changed(paper_entry(), "metrics.SR.overall", 35.3), 0, 1),  # a warning
        (changed(paper_entry(), "metrics.SR.overall", 36), 1, 1),
    ],
)
def test_check_exits_1_for_errors_and_strictly_for_warnings(
    cli: Cli, tmp_path: Path, content: dict[str, Any], code: int, strict: int
) -> None:
    path = write_json(tmp_path / "entry.json", content)
    assert cli("entry", "check", path).code == code
    assert cli("entry", "check", path, "--strict").code == strict
    for chosen in ("json", "csv", "markdown", "latex", "html"):
        assert cli("entry", "check", path, "--format", chosen).code == code


def test_check_in_json(cli: Cli, entry: Path, strict_json: Callable[[str], Any]) -> None:
    write_json(entry, changed(entry_in(entry.parent), "n.websites.gitlab", 812))
    content = strict_json(cli("entry", "check", entry, "--format", "json").out)
    assert content == {
        "schema_version": 1,
        "findings": [
            {
                "entry": str(entry),
                "code": "count-mismatch",
                "severity": "error",
                "metric": None,
                "slot": "gitlab",
                "printed": "812",
                "bound": "162",
                "message": "n.websites.gitlab is 812, and skillshift has 162 tasks there",
                "hint": "run what is missing: a partial run cannot be compared with complete ones",
            }
        ],
    }


def test_check_in_csv_is_the_frame(cli: Cli, entry: Path) -> None:
    write_json(entry, changed(entry_in(entry.parent), "n.websites.gitlab", 812))
    result = cli("entry", "check", entry, "--format", "csv")
    found = pl.read_csv(io.StringIO(result.out), schema=FINDINGS)
    assert found.equals(sf.check_entry(entry))
    assert next(csv.DictReader(io.StringIO(result.out)))["code"] == "count-mismatch"
    assert result.err == "note: 1 error in 1 of 1 entry\n"


def test_check_of_several_entries_counts_them(cli: Cli, tmp_path: Path) -> None:
    for name in "abc":
        write_json(tmp_path / f"{name}.json", paper_entry())
    write_json(tmp_path / "d.json", [])
    result = cli("entry", "check", *sorted(tmp_path.iterdir()))
    assert result.code == 1
    assert result.out.splitlines() == [
        f"{tmp_path}/d.json: error [schema] is an array, not an object",
        "  an entry is one JSON object",
        "1 error in 1 of 4 entries; 3 entries without a finding",
    ]
    (tmp_path / "d.json").unlink()
    assert cli("entry", "check", tmp_path).out == "3 entries without a finding\n"


def test_check_takes_records_in_shards_and_a_receipt_from_elsewhere(
    cli: Cli, entry: Path, induced: Path, tmp_path: Path
) -> None:
    lines = induced.read_bytes().splitlines(keepends=True)
    shards: list[object] = []
    for i in range(3):
        (tmp_path / f"shard-{i}.jsonl").write_bytes(b"".join(lines[i::3]))
        shards += ["--records", tmp_path / f"shard-{i}.jsonl"]
    receipt = entry.with_suffix(".receipt.json").rename(tmp_path / "moved")
    assert cli("entry", "check", entry).code == 1
    assert cli("entry", "check", entry, "--receipt", receipt, *shards).code == 0
    result = cli("entry", "check", entry, "--receipt", receipt, *shards[:4])
    assert result.code == 1
    assert "1,420 records, in the receipt 2,130" in result.out


def test_check_counts_errors_as_the_receipt_says_unless_it_is_told(
    cli: Cli, build: Callable[..., Result], workflow: Path, tmp_path: Path
) -> None:
    build(workflow, "--partial", "--errors", "zero")
    arguments = ("entry", "check", tmp_path / "results.json", "--records", workflow)
    assert "the records give" not in cli(*arguments).out
    assert "the records give" in cli(*arguments, "--errors", "exclude").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strict"], "no entry was named"),
        (["nowhere.json"], "nowhere.json: no entry there"),
        (["{entry}", "--receipt", "nowhere.json"], "nowhere.json: no such file"),
        (["{entry}", "--records", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (["{entry}", "--benchmark", "infer"], "the benchmark of an entry cannot be inferred"),
        (["{entry}", "--benchmark", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["{entry}", "--errors", "ignore"], "'ignore' is not one of"),
        (["{entry}", "-o", "findings.xlsx"], "no format is known by this suffix"),
    ],
)
def test_check_exits_2_where_it_cannot_check(
    cli: Cli, entry: Path, arguments: list[str], message: str
) -> None:
    result = cli("entry", "check", *(text.replace("{entry}", str(entry)) for text in arguments))
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_check_of_a_receipt_of_another_tool_says_what_it_did_not_check(
    cli: Cli, entry: Path, induced: Path
) -> None:
    beside = entry.with_suffix(".receipt.json")
    write_json(beside, changed(json.loads(beside.read_text()), "per_task_commitment", "5f2a"))
    result = cli("entry", "check", entry, "--records", induced)
    assert result.code == 0
    assert result.err.startswith(
        f"note: {beside}: the digest is of a form that only another tool knows"
    )
    left_out = "The digest was not recomputed: its form is known only to the tool that wrote"
    assert left_out in result.out
    assert left_out in cli("entry", "check", entry, "--records", induced, "-f", "markdown").out


def test_check_is_strict_about_a_digest_that_it_could_not_recompute(
    cli: Cli, entry: Path, induced: Path, strict_json: Callable[[str], Any]
) -> None:
    def check(*options: object) -> tuple[int, object]:
        result = cli("entry", "check", entry, "--strict", "-f", "json", *options)
        return result.code, strict_json(result.out).get("digest_recomputed", "not asked")

    assert check() == (0, "not asked")
    assert check("--records", induced) == (0, True)
    beside = entry.with_suffix(".receipt.json")
    theirs = {"form": "harness 3", "sha256": "5f2a"}
    write_json(beside, changed(json.loads(beside.read_text()), "per_task_commitment", theirs))
    assert check() == (0, "not asked")
    assert check("--records", induced) == (1, False)


@pytest.mark.parametrize("command", ["build", "check"])
def test_help_offers_no_benchmark_that_is_refused(cli: Cli, command: str) -> None:
    shown = cli("entry", command, "--help").out
    assert "skillshift|FILE.toml" in shown
    assert "infer" not in shown


def test_check_reads_standard_input(spawn: Spawn, entry: Path) -> None:
    receipt = entry.with_suffix(".receipt.json")
    result = spawn("entry", "check", "-", "--receipt", receipt, stdin=entry.read_bytes())
    assert result == (0, "1 entry without a finding\n", "")
    result = spawn("entry", "check", "-", stdin=b"{")
    assert result.code == 1
    assert result.out.startswith("stdin: error [schema] line 1, column 2: is not JSON")


def test_what_is_printed_is_inert(cli: Cli, tmp_path: Path) -> None:
    evil = "\x1b[31m\u202eevil\n<b>|"
    content = changed(paper_entry(), "submission.provenance.label", evil)
    content |= {evil: evil, "reasons": {evil: evil}}
    content = changed(content, "metrics.SR.overall", evil)
    path = tmp_path / "a\x1b[2J\n.json"
    path.write_text(json.dumps(content)[:-1] + ', "notes": "\\u001b"}')
    for chosen in ("text", "json", "csv", "markdown", "latex", "html"):
        result = cli("entry", "check", path, "--format", chosen)
        assert result.code == 1
        assert "\x1b" not in result.out + result.err
        assert "\u202e" not in result.out + result.err
        assert chosen != "html" or "<b>" not in result.out
    lines = cli("entry", "check", path).out.splitlines()
    assert all(line.startswith((f"{tmp_path}/a\\u001b[2J\\n.json: ", "  ")) for line in lines[:-1])


# How findings are shown


def test_text_adds_what_the_message_leaves_out() -> None:
    found = [
        Finding("a.json", "range", "is odd", "", "SR", "src", "7.00", "1 to 2"),
        Finding("b.json", "range", "7.00 is not 1 to 2", "mend it", "SR", "src", "7.00", "1 to 2"),
        Finding("c.json", "receipt-missing", "has no receipt"),
        Finding("c.json", "identity-rounding", "is a little off"),
        Finding("c.json", "sfr-unstable", "is shaky"),
    ]
    assert findings_text(findings_frame(found), 3).splitlines() == [
        "a.json: error [range] SR src: is odd (printed 7.00, bound 1 to 2)",
        "b.json: error [range] SR src: 7.00 is not 1 to 2",
        "  mend it",
        "c.json: error [receipt-missing] has no receipt",
        "c.json: warning [identity-rounding] is a little off",
        "c.json: note [sfr-unstable] is shaky",
        "3 errors, 1 warning, 1 note in 3 of 3 entries",
    ]


def test_text_is_inert_whatever_a_finding_holds() -> None:
    found = Finding("a\x1b.json", "range", "b\x1b", "c\n\x1b", "SR", "s\x1b", "p\x1b", "q\x1b")
    text = findings_text(findings_frame([found]), 1)
    assert text.replace("\n", "").isprintable()
    assert text.count("\n") == 3


@pytest.mark.parametrize(
    ("entries", "said"),
    [(0, "0 entries"), (1, "1 entry"), (2, "2 entries"), (1234, "1,234 entries")],
)
def test_without_a_finding_entries_are_counted(entries: int, said: str) -> None:
    assert findings_text(findings_frame([]), entries) == f"{said} without a finding\n"


def test_document_has_a_row_per_finding_and_the_count_below() -> None:
    found = findings_frame([Finding("a.json", "range", "is odd", "mend it", "SR", "src", "7", "1")])
    document = findings_document(found, 2, "Findings")
    assert [column.title for column in document.columns] == [
        *("Entry", "Severity", "Code", "Metric", "Slot", "Printed", "Bound", "Finding"),
        "What to do",
    ]
    assert [cell.text for cell in document.rows[0].cells] == [
        *("a.json", "error", "range", "SR", "src", "7", "1", "is odd", "mend it"),
    ]
    assert document.notes[0].text == "1 error in 1 of 2 entries; 1 entry without a finding"


def test_json_may_say_more() -> None:
    content = json.loads(findings_json(findings_frame([]), level=0.95))
    assert content == {"schema_version": 1, "level": 0.95, "findings": []}
    assert list(content) == ["schema_version", "level", "findings"]
