"""An entry from a run: the numbers of the table, the leaderboard's shape, a reason for every null, nothing made up."""

from __future__ import annotations

import datetime as dt
import json
import os
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf
from skillshift_frames.entry_check import check_entry
from skillshift_frames.readers.entry_json import parse_entry, slot_paths
from skillshift_frames.render.entries import write_entry
from skillshift_frames.render.numbers import format_number
from skillshift_frames.stats.rounding import half_up
from skillshift_frames.submit import BuiltEntry, build_entry, entry_file_name
from tests.entries import paper_entry
from tests.reference import evaluate
from tests.strategies import SMALL, Record, by_run, run_records, shuffled

if TYPE_CHECKING:
    from pathlib import Path

SAID: dict[str, Any] = {"name": "Ours", "method": "ASI", "model": "demo", "date": "2026-11-30"}
SMALL_BENCHMARK = sf.Benchmark("small", SMALL.sites, SMALL.conditions)
RUNS = ("induced", "reference", "workflow")


def read(run: str) -> pl.DataFrame:
    return sf.read_tasks(f"data/demo/{run}.jsonl")


def frame_of(run: list[Record], benchmark: sf.Benchmark = SMALL_BENCHMARK) -> pl.DataFrame:
    frame = pl.DataFrame(run, schema_overrides=dict(sf.TASKS), infer_schema_length=None)
    return sf.from_frame(frame, run="asi", benchmark=benchmark)


def slot_values(entry: dict[str, Any], benchmark: sf.Benchmark) -> dict[tuple[str, str], Any]:
    """Give what an entry prints, by metric and slot."""
    values = {}
    for metric, block in entry["metrics"].items():
        for slot, path in slot_paths(benchmark).items():
            value = block
            for key in path:
                value = value[key]
            values[metric, slot] = value
    return values


@pytest.mark.parametrize("run", RUNS)
def test_numbers_are_those_of_the_table_as_it_prints_them(run: str) -> None:
    tasks = read(run)
    built = build_entry(tasks, partial=True, **SAID)
    printed = slot_values(built.entry, sf.SKILLSHIFT)
    rows = list(sf.table(sf.cells(tasks)).iter_rows(named=True))
    assert len(rows) * 10 == len(printed) == 40
    for row in rows:
        for slot in sf.SKILLSHIFT.slots:
            number = printed[row["metric"], slot]
            assert (number is None) == (row[slot] is None)
            assert number is None or f"{number:.2f}" == format_number(row[slot])


@given(st.floats(-1e12, 1e12))
def test_one_rounding_for_every_output(value: float) -> None:
    assert f"{half_up(value):f}" == format_number(value)


@pytest.mark.parametrize(
    ("value", "rounded"), [(0.125, "0.13"), (12.345, "12.35"), (-0.004, "0.00"), (1e300, None)]
)
def test_halves_are_rounded_up_from_the_digits_that_one_reads(
    value: float, rounded: str | None
) -> None:
    assert rounded is None or str(half_up(value)) == rounded
    assert float(half_up(value)) == float(rounded or value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_rounded(value: float) -> None:
    with pytest.raises(ValueError, match="an undefined number must be None"):
        half_up(value)


def test_an_entry_has_the_keys_of_the_leaderboard_in_its_order() -> None:
    built = build_entry(read("induced"), **SAID)

    def keys(value: object) -> object:
        return {key: keys(below) for key, below in value.items()} if isinstance(value, dict) else 0

    ours, theirs = keys(built.entry | {"reasons": {}}), keys(paper_entry() | {"reasons": {}})
    assert json.dumps(ours) == json.dumps(theirs)


def test_what_is_said_stands_where_the_leaderboard_has_it() -> None:
    built = build_entry(
        read("induced"),
        **SAID,
        label="reported-only",
        description="Induces skills.",
        source="A log.",
        code_url="https://example.org/code",
        paper_url="https://example.org/paper",
        repro_command="make run",
        contact="a@example.org",
        notes="Ours.",
        temperature=0.0,
        vision=False,
        harness_version="1.4",
    )
    submission = built.entry["submission"]
    assert submission == {
        "name": "Ours",
        "date": "2026-11-30",
        "contact": "a@example.org",
        "method": {
            "name": "ASI",
            "description": "Induces skills.",
            "paper_url": "https://example.org/paper",
            "code_url": "https://example.org/code",
        },
        "model": {"id": "demo", "temperature": 0.0, "vision": False},
        "provenance": {"label": "reported-only", "source": "A log.", "code_released": True},
        "repro_command": "make run",
    }
    assert (built.entry["harness_version"], built.entry["notes"]) == ("1.4", "Ours.")


def test_what_is_not_said_is_null_or_empty() -> None:
    submission = build_entry(read("induced"), **SAID).entry["submission"]
    assert submission["model"] == {"id": "demo", "temperature": None, "vision": None}
    assert submission["method"]["code_url"] is None
    assert submission["provenance"] == {
        "label": "self-reported",
        "source": f"Computed by skillshift-frames {sf.__version__} from the records of the run.",
        "code_released": False,
    }


@pytest.mark.parametrize("run", ["induced", "reference"])
def test_a_complete_run_has_the_official_counts(run: str) -> None:
    n = build_entry(read(run), **SAID).entry["n"]
    assert n["websites"] == {"gitlab": 162, "magento": 114, "wordpress": 79}
    assert set(n["conditions"].values()) == {355}
    assert n["skill_calls"] == {"induced": 191, "reference": 0}[run]


@pytest.mark.parametrize(
    ("run", "reasons"),
    [
        (
            "induced",
            dict.fromkeys(
                ("SFR.websites.wordpress", "SFR.conditions.tgt-exec", "SFR.overall"),
                "No skill was invoked in wordpress × tgt-exec.",
            ),
        ),
        ("reference", {"SFR": "No skill was invoked."}),
        (
            "workflow",
            dict.fromkeys(("ASC", "SFR"), "Not applicable: the run records no skill calls."),
        ),
    ],
)
def test_every_null_has_its_reason(run: str, reasons: dict[str, str]) -> None:
    built = build_entry(read(run), partial=True, **SAID)
    assert built.entry["reasons"] == reasons
    assert (
        built.entry["n"]["skill_calls"] == {"induced": 191, "reference": 0, "workflow": None}[run]
    )


def small_run(**changes: object) -> list[Record]:
    """Give a complete run of the small benchmark in which every task calls one skill."""
    return [
        {
            "uid": f"{site}-{index}",
            "site": site,
            "condition": condition,
            "success": True,
            "steps": 3,
            "skill_calls": 1,
            "skill_failures": 0,
            **changes,
        }
        for site, count in SMALL.sites.items()
        for condition in SMALL.conditions
        for index in range(count)
    ]


def reasons_of(run: list[Record], **options: Any) -> dict[str, str]:  # noqa: ANN401
    tasks = frame_of(run)
    built = build_entry(tasks, benchmark=SMALL_BENCHMARK, partial=True, **SAID, **options)
    reasons: dict[str, str] = built.entry["reasons"]
    return reasons


def test_steps_that_were_not_recorded_are_said_once() -> None:
    assert reasons_of(small_run(steps=None)) == {"AS": "Steps were not recorded."}


def test_cells_that_were_not_run_are_named_in_every_slot_that_needs_them() -> None:
    run = [r for r in small_run() if (r["site"], r["condition"]) != ("shop", "hard")]
    why = "shop × hard was not run."
    reasons = reasons_of(run)
    slots = ("websites.shop", "conditions.hard", "overall")
    metrics = ("SR", "AS", "ASC", "SFR")
    assert reasons == {f"{metric}.{slot}": why for metric in metrics for slot in slots}


def test_a_condition_that_was_not_run_is_named_cell_by_cell() -> None:
    run = [r for r in small_run() if r["condition"] == "plain"]
    reasons = reasons_of(run)
    assert reasons["SR.conditions.hard"] == "forum × hard, shop × hard were not run."
    assert reasons["SR.websites.forum"] == "forum × hard was not run."
    assert "SR.conditions.plain" not in reasons


def test_a_cell_in_which_every_task_failed_to_be_measured_is_said_to_be_so() -> None:
    run = [
        r | ({"error": "timeout"} if (r["site"], r["condition"]) == ("shop", "hard") else {})
        for r in small_run()
    ]
    assert reasons_of(run)["SR.overall"] == "No task was measured in shop × hard."
    # Counted as failures they are measured, and with the calls that were recorded.
    assert reasons_of(run, errors="zero") == {}


def test_reasons_of_different_kinds_stand_beside_each_other() -> None:
    run = [r for r in small_run() if (r["site"], r["condition"]) != ("shop", "hard")]
    for record in run:
        if (record["site"], record["condition"]) == ("forum", "hard"):
            record["skill_calls"] = 0
    assert reasons_of(run)["SFR.conditions.hard"] == (
        "No skill was invoked in forum × hard. shop × hard was not run."
    )


def test_calls_that_were_lost_with_their_tasks_are_not_said_to_be_none() -> None:
    lost = {"error": "timeout", "skill_calls": None, "skill_failures": None}
    run = [
        r | (lost if (r["site"], r["condition"]) == ("shop", "hard") else {}) for r in small_run()
    ]
    reasons = reasons_of(run, errors="zero")
    assert reasons["SFR.overall"] == "No skill calls were recorded in shop × hard."
    assert reasons["ASC.overall"] == "No skill calls were recorded in shop × hard."
    assert "SR.overall" not in reasons


def test_a_run_of_one_cell_has_a_reason_per_metric() -> None:
    run = [r for r in small_run() if (r["site"], r["condition"]) == ("shop", "hard")]
    why = "forum × plain, forum × hard, shop × plain were not run."
    assert reasons_of(run) == dict.fromkeys(("SR", "AS", "ASC", "SFR"), why)


def test_many_cells_in_a_reason_are_counted() -> None:
    one = pl.DataFrame([RECORD_OF_GITLAB])
    built = build_entry(sf.from_frame(one, run="a"), partial=True, **SAID)
    assert built.entry["reasons"]["SR"].endswith("magento × src and 11 more were not run.")
    # The notes name every cell.
    assert built.entry["notes"].count("/162") == 6
    assert built.entry["notes"].startswith(
        "Partial: 1 of 2130 tasks were measured (gitlab × src 1/162, "
    )


RECORD_OF_GITLAB: Record = {
    "uid": "skillshift.gitlab.v1.9",
    "site": "gitlab",
    "condition": "src",
    "success": True,
    "steps": 3,
    "skill_calls": 0,
    "skill_failures": 0,
}


# Runs that are not complete


def test_a_partial_run_is_refused_with_its_cells() -> None:
    with pytest.raises(sf.InputError) as refused:
        build_entry(read("workflow"), **SAID)
    assert str(refused.value) == (
        "run workflow is not complete: gitlab × src-exec 160/162 (2 with an error), "
        "magento × tgt 112/114 (2 with an error), wordpress × tgt-perc 77/79; "
        "--partial builds an entry that says so"
    )


def test_a_partial_entry_says_what_was_measured() -> None:
    built = build_entry(read("workflow"), partial=True, notes="Ours.", **SAID)
    assert built.entry["notes"] == (
        "Ours. Partial: 2124 of 2130 tasks were measured (gitlab × src-exec 160/162 (2 with an error), "
        "magento × tgt 112/114 (2 with an error), wordpress × tgt-perc 77/79). "
        "Trials with an error (4) are in no mean."
    )
    n = built.entry["n"]
    assert n["websites"] == {"gitlab": 160, "magento": 112, "wordpress": 77}
    assert n["conditions"] == {
        "src": 355,
        "src-perc": 355,
        "src-exec": 353,
        "tgt": 353,
        "tgt-perc": 353,
        "tgt-exec": 355,
    }


def test_errored_tasks_are_gaps_unless_they_count_as_failures(tmp_path: Path) -> None:
    run = small_run()
    run[0] |= {"error": "timeout"}
    tasks = frame_of(run)
    with pytest.raises(sf.InputError, match=r"forum × plain 2/3 \(1 with an error\)"):
        build_entry(tasks, benchmark=SMALL_BENCHMARK, **SAID)
    built = build_entry(tasks, benchmark=SMALL_BENCHMARK, errors="zero", **SAID)
    assert built.entry["n"]["websites"] == {"forum": 3, "shop": 2}
    assert built.receipt["errors"] == "zero"
    assert built.entry["notes"] == "Trials with an error (1) count as failures."
    path, _ = write_entry(built, tmp_path / "results.json")
    found = check_entry(path, records=tasks, benchmark=SMALL_BENCHMARK)
    assert set(found.get_column("code")) <= {"sfr-unstable"}


def test_missing_tasks_are_gaps_also_where_errors_count_as_failures() -> None:
    run = small_run()[1:]
    run[0] |= {"error": "timeout"}
    tasks = frame_of(run)
    with pytest.raises(sf.InputError, match=r"not complete: forum × plain 2/3; --partial"):
        build_entry(tasks, benchmark=SMALL_BENCHMARK, errors="zero", **SAID)
    built = build_entry(tasks, benchmark=SMALL_BENCHMARK, errors="zero", partial=True, **SAID)
    assert built.entry["notes"] == (
        "Partial: 9 of 10 tasks were run (forum × plain 2/3). "
        "Trials with an error (1) count as failures."
    )


def test_a_cell_with_more_tasks_than_the_benchmark_is_refused() -> None:
    run = [*small_run(), small_run()[0] | {"uid": "one too many"}]
    with pytest.raises(sf.InputError, match="forum × plain 4/3"):
        build_entry(frame_of(run), benchmark=SMALL_BENCHMARK, **SAID)


def test_several_trials_are_said_in_the_notes() -> None:
    run = [r | {"trial": t, "success": t == 1} for r in small_run() for t in (1, 2)]
    run[1]["error"] = "timeout"
    built = build_entry(frame_of(run), benchmark=SMALL_BENCHMARK, **SAID)
    assert built.entry["notes"] == (
        "Trials with an error (1) are in no mean. "
        "Tasks were tried several times (19 trials of 10 tasks); the trials of a task are averaged first."
    )


# What is refused


def test_an_entry_is_of_one_run() -> None:
    tasks = sf.read_tasks([f"data/demo/{run}.jsonl" for run in RUNS])
    with pytest.raises(sf.InputError, match="these are 3: induced, reference, workflow"):
        build_entry(tasks, **SAID)
    with pytest.raises(sf.InputError, match="no records"):
        build_entry(tasks.clear(), **SAID)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("name", " ", "name is empty"),
        ("method", "", "method is empty"),
        ("model", "\t", "model is empty"),
        ("date", "30.11.2026", "date is '30.11.2026'; one like 2026-11-30 is needed"),
        ("date", "2026-02-30", "date is '2026-02-30'"),
        ("date", "20261130", "date is '20261130'"),
        ("date", "", "date is ''"),
        (
            "label",
            "verified",
            "label is 'verified'; one of reported-only, verified-paper, self-rep",
        ),
        ("temperature", -0.1, "temperature is -0.1; a number from 0 is needed"),
        ("temperature", float("nan"), "temperature is nan"),
        ("temperature", float("inf"), "temperature is inf"),
        ("errors", "ignore", "errors is 'ignore'"),
        ("benchmark", "infer", "the benchmark of an entry cannot be inferred"),
        ("notes", "a\udcffb", "notes is not UTF-8"),
        ("name", "a\ud800", "name is not UTF-8"),
    ],
)
def test_what_cannot_be_submitted_is_refused(option: str, value: object, message: str) -> None:
    tasks = pl.DataFrame([RECORD_OF_GITLAB])
    with pytest.raises(sf.InputError) as refused:
        build_entry(sf.from_frame(tasks, run="a"), partial=True, **SAID | {option: value})
    assert message in str(refused.value)


def test_a_date_may_be_a_date() -> None:
    built = build_entry(read("reference"), **SAID | {"date": dt.date(2026, 11, 30)})
    assert built.entry["submission"]["date"] == "2026-11-30"


def test_the_benchmark_is_the_one_that_the_records_were_read_under() -> None:
    with pytest.raises(sf.BenchmarkError, match="benchmark small has no site 'gitlab'"):
        build_entry(read("reference"), benchmark=SMALL_BENCHMARK, **SAID)


# Its file


@pytest.mark.parametrize(
    ("method", "model", "name"),
    [
        ("ASI", "gpt-4.1", "2026-11-30--asi--gpt-4.1.json"),
        ("Skill Weaver", "vendor/Model_4.5", "2026-11-30--skill-weaver--vendor-model-4.5.json"),
        ("--A--B--", " é ü x ", "2026-11-30--a-b--x.json"),
        ("方法", "gpt", None),
        ("gpt", "…", None),
    ],
)
def test_name_on_the_leaderboard(method: str, model: str, name: str | None) -> None:
    assert entry_file_name("2026-11-30", method, model) == name
    if name is not None:
        built = build_entry(read("reference"), **SAID | {"method": method, "model": model})
        assert built.file_name == name


def test_the_same_run_gives_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    tasks = read("induced")
    texts = set()
    for seed in range(3):
        mixed = tasks.sample(fraction=1, shuffle=True, seed=seed)
        for path in write_entry(build_entry(mixed, **SAID), tmp_path / f"{seed}.json"):
            texts.add(path.read_bytes())
    assert len(texts) == 2


def test_a_lazy_frame_is_collected() -> None:
    tasks = read("induced")
    assert build_entry(tasks.lazy(), **SAID) == build_entry(tasks, **SAID)


# What every run gives

#: Drawn runs may take no step at all, which is what no agent does.
NO_STEPS = (
    (pl.col("code") == "range") & (pl.col("printed").is_in(["0.00"])) & pl.col("metric").eq("AS")
)


@given(shuffled(run_records(SMALL)), st.sampled_from(["exclude", "zero"]))
def test_every_entry_is_that_of_the_reference_and_explains_its_nulls(
    run: list[Record], errors: Literal["exclude", "zero"]
) -> None:
    built = build_entry(
        frame_of(run), benchmark=SMALL_BENCHMARK, errors=errors, partial=True, **SAID
    )
    expected = evaluate(
        [record | {"run": "asi"} for record in run], SMALL.sites, SMALL.conditions, errors=errors
    )["asi"]
    printed = slot_values(built.entry, SMALL_BENCHMARK)
    reasons = built.entry["reasons"]
    paths = slot_paths(SMALL_BENCHMARK)
    for (metric, slot), number in printed.items():
        exact = expected.slots[slot].values[metric]
        assert number == (None if exact is None else float(half_up(float(exact))))
        explained = {metric, ".".join((metric, *paths[slot]))} & set(reasons)
        assert bool(explained) == (number is None)
    assert all(reasons.values())
    recorded = any(cell.values["ASC"] is not None for cell in expected.cells.values())
    assert built.entry["n"]["skill_calls"] == (
        expected.slots["overall"].calls if recorded else None
    )
    assert parse_entry(json.dumps(built.entry), "built", SMALL_BENCHMARK).findings == []


@given(shuffled(run_records(SMALL, complete=True, errors=False)))
def test_what_is_built_from_a_complete_run_is_clean(
    tmp_path_factory: pytest.TempPathFactory, run: list[Record]
) -> None:
    tasks = frame_of(run)
    built = build_entry(tasks, benchmark=SMALL_BENCHMARK, **SAID)
    path, _ = write_entry(built, tmp_path_factory.mktemp("built") / "results.json")
    found = check_entry(path, records=tasks, benchmark=SMALL_BENCHMARK)
    assert set(found.filter(~NO_STEPS).get_column("code")) <= {"sfr-unstable"}


@given(shuffled(run_records(SMALL, complete=False)))
def test_what_is_built_from_a_partial_run_is_only_partial(
    tmp_path_factory: pytest.TempPathFactory, run: list[Record]
) -> None:
    tasks = frame_of(run)
    built = build_entry(tasks, benchmark=SMALL_BENCHMARK, partial=True, **SAID)
    assert "Partial: " in built.entry["notes"]
    path, _ = write_entry(built, tmp_path_factory.mktemp("built") / "results.json")
    found = check_entry(path, records=tasks, benchmark=SMALL_BENCHMARK)
    codes = set(found.filter(~NO_STEPS).get_column("code"))
    assert {"count-mismatch", "receipt-mismatch"} <= codes
    assert codes <= {"count-mismatch", "receipt-mismatch", "sfr-unstable"}
    mismatches = found.filter(code="receipt-mismatch").get_column("message").to_list()
    assert len(mismatches) == 1
    assert "n_per_cell" in mismatches[0]


# How it is written


@pytest.fixture
def built() -> BuiltEntry:
    return build_entry(read("reference"), **SAID)


def test_both_files_are_written_or_neither(
    built: BuiltEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("os.fsync", fail)
        with pytest.raises(OSError, match="No space"):
            write_entry(built, tmp_path / "results.json")
    assert list(tmp_path.iterdir()) == []
    entry, receipt = write_entry(built, tmp_path / "results.json")
    assert sorted(tmp_path.iterdir()) == [entry, receipt]
    assert json.loads(entry.read_text()) == built.entry
    assert json.loads(receipt.read_text()) == built.receipt


@pytest.mark.parametrize("there", ["results.json", "results.receipt.json"])
def test_neither_file_is_replaced_unasked(built: BuiltEntry, tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("precious")
    with pytest.raises(sf.OutputExistsError, match=f"{there}: exists already"):
        write_entry(built, tmp_path / "results.json")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]
    entry, receipt = write_entry(built, tmp_path / "results.json", force=True)
    assert "precious" not in entry.read_text() + receipt.read_text()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("results.txt", "an entry is a .json file"),
        ("results.receipt.json", "name one, or a folder"),
        ("nowhere/results.json", "there is no folder"),
        ("/dev/stdout", "stdout: an entry is a .json file"),
        ("taken.json", "taken.receipt.json: is a folder; name a file in it"),
    ],
)
def test_a_path_that_leaves_no_place_for_both_is_refused(
    built: BuiltEntry, tmp_path: Path, path: str, message: str
) -> None:
    (tmp_path / "taken.receipt.json").mkdir()
    with pytest.raises(sf.InputError, match=message):
        write_entry(built, tmp_path / path, force=True)


def test_a_pipe_is_no_place_for_an_entry(built: BuiltEntry, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.json")
    with pytest.raises(sf.InputError, match="no ordinary file"):
        write_entry(built, tmp_path / "results.json", force=True)


def test_records_of_other_runs_in_one_file_are_named() -> None:
    run = [record | {"run": name} for name in "ab" for record in small_run()]
    assert len(by_run(run)) == 2
    frame = pl.DataFrame(run, schema_overrides=dict(sf.TASKS))
    tasks = sf.from_frame(frame, benchmark=SMALL_BENCHMARK)
    with pytest.raises(sf.InputError, match="these are 2: a, b"):
        build_entry(tasks, benchmark=SMALL_BENCHMARK, **SAID)
