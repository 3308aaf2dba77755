"""The five checks of an entry: each code by a small damage to a good entry, and nothing from a good one."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import skillshift_frames as sf
from skillshift_frames.entry_check import check_entry, examine
from skillshift_frames.findings import CODES, FINDINGS
from skillshift_frames.render.entries import write_entry
from skillshift_frames.submit import BuiltEntry, build_entry
from tests.entries import PUBLISHED, Json, changed, paper_entry, without, write_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAID: dict[str, Any] = {"name": "Ours", "method": "ASI", "model": "demo", "date": "2026-11-30"}


@pytest.fixture(scope="module")
def built() -> BuiltEntry:
    """Induced: some SFR null, 191 calls."""
    return build_entry(sf.read_tasks("data/demo/induced.jsonl"), **SAID)


@pytest.fixture
def damaged(built: BuiltEntry, tmp_path: Path) -> Callable[..., pl.DataFrame]:
    """Write the entry with values changed, and the receipt that goes with it; give what is found."""

    def check(*changes: tuple[str, object], entry: Json | None = None) -> pl.DataFrame:
        content = built.entry if entry is None else entry
        for key, value in changes:
            content = changed(content, key, value)
        receipt = built.receipt | {"aggregate": content["metrics"]}
        path, _ = write_entry(BuiltEntry(content, receipt), tmp_path / "results.json", force=True)
        return check_entry(path)

    return check


def codes(found: pl.DataFrame) -> list[tuple[str, str | None, str | None]]:
    return found.select("code", "metric", "slot").rows()


@pytest.mark.parametrize("run", ["induced", "reference"])
def test_an_entry_built_from_a_complete_run_is_clean(run: str, tmp_path: Path) -> None:
    tasks = sf.read_tasks(f"data/demo/{run}.jsonl")
    path, _ = write_entry(build_entry(tasks, **SAID), tmp_path / "results.json")
    found = check_entry(path, records=f"data/demo/{run}.jsonl")
    assert found.height == 0
    assert found.schema == FINDINGS


def test_an_entry_built_from_a_partial_run_is_not_comparable(tmp_path: Path) -> None:
    tasks = sf.read_tasks("data/demo/workflow.jsonl")
    path, _ = write_entry(build_entry(tasks, partial=True, **SAID), tmp_path / "results.json")
    found = check_entry(path, records=tasks)
    assert found.select("code", "slot", "printed", "bound").rows() == [
        ("count-mismatch", "gitlab", "160", "162"),
        ("count-mismatch", "magento", "112", "114"),
        ("count-mismatch", "wordpress", "77", "79"),
        ("count-mismatch", "src-exec", "353", "355"),
        ("count-mismatch", "tgt", "353", "355"),
        ("count-mismatch", "tgt-perc", "353", "355"),
        ("receipt-mismatch", None, None, None),
    ]


@pytest.mark.parametrize("method", ["AWM", "ASI", "SkillWeaver", "WALT"])
def test_an_entry_of_the_paper_is_clean_but_for_notes(method: str, tmp_path: Path) -> None:
    """The leaderboard's own shape: reasons by metric, null calls, verified-paper, no receipt, harness n/a."""
    path = write_json(tmp_path / "2026-08-23--x--mixed.json", paper_entry(method))
    found = check_entry(path).filter(pl.col("code") != "schema")
    assert codes(found) == ([] if method == "AWM" else [("sfr-unstable", "SFR", None)])
    assert set(found.get_column("severity")) <= {"note"}


# Schema


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema_version", "2.0"),
        ("submission.date", "2026-11-31"),
        ("submission.method.name", None),
        ("submission.provenance.code_released", "no"),
        ("harness_version", 1),
        ("n.skill_calls", 1.5),
        ("reasons.SFR", 3),
        ("extra", 1),
    ],
)
def test_what_the_schema_does_not_allow_is_found(
    damaged: Callable[..., pl.DataFrame], path: str, value: object
) -> None:
    found = damaged((path, value)).filter(code="schema")
    assert found.get_column("message").item().startswith(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2026-11-30--asi--demo.json", None),
        ("2026-11-30--a.b-c--d-4.5.json", None),
        ("results.json", None),
        ("asi--demo.json", None),
        ("2026-11-29--asi--demo.json", "begins with 2026-11-29, and submission.date is 2026-11-30"),
        ("2026-11-30--asi.json", "is not of the form 2026-11-30--method--model.json"),
        ("2026-11-30--asi--demo--2.json", "is not of the form"),
        ("2026-11-30--ASI--demo.json", "is not of the form"),
        ("2026-11-30--asi--de_mo.json", "is not of the form"),
        ("2026-11-30--asi---demo.json", "is not of the form"),
        ("2026-11-30----demo.json", "is not of the form"),
        ("2026-11-30--asi-\n--demo.json", "is not of the form"),
    ],
)
def test_a_file_named_as_on_the_leaderboard_is_named_right(
    built: BuiltEntry, tmp_path: Path, name: str, message: str | None
) -> None:
    path, _ = write_entry(built, tmp_path / name)
    found = check_entry(path)
    assert codes(found) == ([] if message is None else [("schema", None, None)])
    assert message is None or message in found.get_column("message").item()


# Coverage


def test_a_slot_that_was_left_out_is_found(
    damaged: Callable[..., pl.DataFrame], built: BuiltEntry
) -> None:
    entry = without(built.entry, "metrics.AS.conditions.tgt")
    assert codes(damaged(entry=entry)) == [("missing-slot", "AS", "tgt")]
    entry = without(built.entry, "metrics.ASC")
    assert codes(damaged(entry=entry)) == [("missing-slot", "ASC", None)]


def test_a_null_without_a_reason_is_found(damaged: Callable[..., pl.DataFrame]) -> None:
    found = damaged(("reasons", {}))
    expected = [("missing-reason", "SFR", slot) for slot in ("wordpress", "tgt-exec", "overall")]
    assert codes(found) == expected
    assert found.get_column("hint")[0] == 'reasons: {"SFR.websites.wordpress": "…"}'


@pytest.mark.parametrize(
    ("reasons", "owed"),
    [
        ({"SFR": "No call."}, []),
        ({"SFR": " "}, ["wordpress", "tgt-exec", "overall"]),
        ({"SFR.websites.wordpress": "No call."}, ["tgt-exec", "overall"]),
        ({"SFR.wordpress": "No call.", "SFR.overall": "No call."}, ["wordpress", "tgt-exec"]),
        # A remark about a number is no contradiction that a program could see.
        ({"SFR": "No call.", "SR": "Good.", "SR.overall": "Very.", "more": "Words."}, []),
    ],
)
def test_a_reason_counts_under_its_metric_or_its_slot(
    damaged: Callable[..., pl.DataFrame], reasons: dict[str, str], owed: list[str]
) -> None:
    assert codes(damaged(("reasons", reasons))) == [("missing-reason", "SFR", s) for s in owed]


def test_a_reason_under_a_misspelt_key_is_pointed_at(damaged: Callable[..., pl.DataFrame]) -> None:
    reasons = {"SFR.website.wordpress": "a", "SFR.conditions.tgt-exec": "b", "SFR.overall": "c"}
    hint = damaged(("reasons", reasons)).get_column("hint").item()
    assert hint.startswith(
        'the reason under "SFR.website.wordpress" names no null; reasons: {"SFR.'
    )


def test_a_reason_that_explains_another_null_is_not_called_misspelt(
    damaged: Callable[..., pl.DataFrame], built: BuiltEntry
) -> None:
    reasons = {key: text for key, text in built.entry["reasons"].items() if "tgt" in key}
    found = damaged(
        ("metrics.SFR.conditions.tgt-perc", None),
        ("reasons", reasons | {"SFR.overall": "x", "SFR.websites.wordpress": "x"}),
    )
    assert found.select("slot", "hint").rows() == [
        ("tgt-perc", 'reasons: {"SFR.conditions.tgt-perc": "…"}')
    ]


def test_a_metric_that_is_null_throughout_owes_one_reason(tmp_path: Path) -> None:
    entry = paper_entry()
    found = check_entry(write_json(tmp_path / "awm.json", entry | {"reasons": {}}))
    assert codes(found) == [("missing-reason", "ASC", None), ("missing-reason", "SFR", None)]
    assert found.get_column("hint")[0] == 'reasons: {"ASC": "…"}'
    one = {"reasons": {"ASC": "x", "SFR.overall": "y"}}
    found = check_entry(write_json(tmp_path / "awm.json", entry | one))
    assert found.filter(metric="SFR").height == 9


# Marginals


@pytest.mark.parametrize(
    ("path", "value", "slot", "bound"),
    [
        ("n.websites.gitlab", 812, "gitlab", "162"),
        ("n.websites.wordpress", 0, "wordpress", "79"),
        ("n.conditions.tgt-exec", 354, "tgt-exec", "355"),
    ],
)
def test_counts_are_the_benchmarks(
    damaged: Callable[..., pl.DataFrame], path: str, value: int, slot: str, bound: str
) -> None:
    found = damaged((path, value))
    assert found.select("code", "slot", "printed", "bound").rows() == [
        ("count-mismatch", slot, str(value), bound)
    ]
    assert found.get_column("message").item().startswith(f"{path} is {value}, and ")


def test_the_identity_is_checked(damaged: Callable[..., pl.DataFrame]) -> None:
    found = damaged(("metrics.SR.overall", 35.69))
    assert found.select("code", "metric", "slot").unique().rows() == [("identity", "SR", "overall")]
    found = damaged(("metrics.SR.overall", 35.68))
    assert found.select("code", "severity").unique().rows() == [("identity-rounding", "warning")]
    assert damaged(("metrics.SR.overall", 35.67)).height == 0


# Ranges


@pytest.mark.parametrize(
    ("metric", "value"), [("SR", 100.01), ("SR", -0.01), ("AS", 0), ("ASC", -1), ("SFR", 101)]
)
def test_ranges_are_checked(
    damaged: Callable[..., pl.DataFrame], metric: str, value: float
) -> None:
    found = damaged((f"metrics.{metric}.websites.gitlab", value)).filter(code="range")
    assert codes(found) == [("range", metric, "gitlab")]


@pytest.mark.parametrize(
    ("calls", "fits"), [(176, False), (177, True), (191, True), (198, True), (199, False)]
)
def test_skill_calls_are_those_of_asc(
    damaged: Callable[..., pl.DataFrame],
    calls: int,
    fits: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """0.07 · 972 + 0.14 · 684 + 0.05 · 474 is 187.5, and half of 0.01 for each of 2130 tasks is 10.65."""
    found = damaged(("n.skill_calls", calls))
    assert codes(found) == ([] if fits else [("count-mismatch", "ASC", None)])
    assert fits or found.select("printed", "bound").row(0) == (str(calls), "177 to 198")


def test_calls_of_several_trials_may_be_more_than_asc_says(
    built: BuiltEntry, tmp_path: Path
) -> None:
    entry = changed(built.entry, "n.skill_calls", 382)
    receipt = built.receipt | {"records": 4260}
    path, _ = write_entry(BuiltEntry(entry, receipt), tmp_path / "results.json")
    assert check_entry(path).height == 0
    write_json(path, changed(entry, "n.skill_calls", 12))
    assert "count-mismatch" in check_entry(path).get_column("code")


def test_calls_of_a_partial_run_are_not_held_against_tasks_that_were_not_run(
    tmp_path: Path,
) -> None:
    tasks = sf.read_tasks("data/demo/induced.jsonl")
    first = pl.col("uid") == pl.col("uid").first().over("site", "condition")
    called = tasks.filter(first | (pl.col("skill_calls") > 0))
    built = build_entry(called, partial=True, **SAID)
    assert built.entry["metrics"]["ASC"]["overall"] > 0.5
    path, _ = write_entry(built, tmp_path / "results.json")
    found = check_entry(path)
    assert found.filter(metric="ASC").height == 0
    assert "count-mismatch" in found.get_column("code")


def test_calls_where_skills_do_not_apply_are_a_contradiction(tmp_path: Path) -> None:
    path = write_json(tmp_path / "awm.json", changed(paper_entry(), "n.skill_calls", 12))
    found = check_entry(path)
    assert codes(found) == [("count-mismatch", "ASC", None)]
    assert found.get_column("message").item() == "n.skill_calls is 12, and ASC is null"


def test_a_run_of_ones_own_owes_the_number_of_its_calls(
    damaged: Callable[..., pl.DataFrame],
) -> None:
    found = damaged(("n.skill_calls", None))
    assert codes(found) == [("schema", None, None), ("sfr-unstable", "SFR", None)]
    assert found.get_column("severity").to_list() == ["error", "note"]
    transcribed = damaged(("n.skill_calls", None), ("submission.provenance.label", "reported-only"))
    assert codes(transcribed) == [("sfr-unstable", "SFR", None)]


def test_an_sfr_over_few_calls_is_a_note_and_over_none_a_warning(
    damaged: Callable[..., pl.DataFrame],
) -> None:
    no_calls = [(f"metrics.ASC.websites.{site}", 0) for site in sf.SKILLSHIFT.sites]
    no_calls += [(f"metrics.ASC.conditions.{name}", 0) for name in sf.SKILLSHIFT.conditions]
    no_calls += [("metrics.ASC.overall", 0)]
    found = damaged(*no_calls, ("n.skill_calls", 8))
    assert found.select("code", "severity").rows() == [("sfr-unstable", "note")]
    found = damaged(*no_calls, ("n.skill_calls", 0))
    assert found.select("code", "severity").rows() == [("sfr-without-calls", "warning")]
    assert (
        found.get_column("hint").item().startswith("null, with a reason, in gitlab, magento, src")
    )


# Receipt


def test_an_unknown_label_is_found(damaged: Callable[..., pl.DataFrame]) -> None:
    found = damaged(("submission.provenance.label", "self reported"))
    assert found.select("code", "printed", "hint").rows() == [
        ("unknown-label", '"self reported"', "did you mean self-reported?")
    ]
    found = damaged(("submission.provenance.label", "x"))
    assert found.get_column("hint").item().startswith("known: reported-only, ")


@pytest.mark.parametrize("label", ["self-reported", "reported-only", "verified-paper"])
def test_a_receipt_is_owed_for_a_run_of_ones_own(
    built: BuiltEntry, tmp_path: Path, label: str
) -> None:
    path = write_json(
        tmp_path / "results.json", changed(built.entry, "submission.provenance.label", label)
    )
    found = check_entry(path)
    owed = label == "self-reported"
    assert codes(found) == ([("receipt-missing", None, None)] if owed else [])
    assert not owed or "(results.receipt.json beside it)" in found.get_column("message").item()


def test_a_receipt_may_lie_elsewhere(built: BuiltEntry, tmp_path: Path) -> None:
    path = write_json(tmp_path / "results.json", built.entry)
    elsewhere = write_json(tmp_path / "moved.json", built.receipt)
    assert check_entry(path, receipt=elsewhere).height == 0
    write_json(elsewhere, changed(built.receipt, "aggregate.SR.overall", 1))
    assert codes(check_entry(path, receipt=str(elsewhere))) == [
        ("receipt-mismatch", "SR", "overall")
    ]


def test_a_receipt_lies_beside_a_file_whatever_it_is_called(
    built: BuiltEntry, tmp_path: Path
) -> None:
    path, _ = write_entry(built, tmp_path / "re\tsults \u202e.json")
    assert check_entry(path).height == 0
    write_json(path, built.entry | {"extra": 1})
    (entry,) = check_entry(path).get_column("entry")
    assert entry.endswith(r"re\tsults \u202e.json")


def test_records_speak_for_an_entry_without_a_receipt(built: BuiltEntry, tmp_path: Path) -> None:
    path = write_json(tmp_path / "results.json", built.entry)
    found = check_entry(path, records="data/demo/induced.jsonl")
    assert codes(found) == [("receipt-missing", None, None)]
    found = check_entry(path, records="data/demo/reference.jsonl")
    assert codes(found) == [
        ("receipt-missing", None, None),
        ("count-mismatch", "ASC", None),
        ("receipt-mismatch", "SR", "gitlab"),
    ]


# Records: what they count is exact


@pytest.mark.parametrize("calls", [100_000, 190, 180, 0])
def test_calls_are_those_of_the_records_to_the_last_one(
    built: BuiltEntry, tmp_path: Path, calls: int
) -> None:
    """180 and 190 are what ASC, rounded, lets pass."""
    content = changed(built.entry, "n.skill_calls", calls)
    path, _ = write_entry(BuiltEntry(content, built.receipt), tmp_path / "results.json")
    found = check_entry(path, records="data/demo/induced.jsonl").filter(code="count-mismatch")
    assert found.select("message", "printed", "bound").rows() == [
        (f"n.skill_calls is {calls}, and the records give 191", str(calls), "191")
    ]


def test_calls_of_records_without_any_are_none(tmp_path: Path) -> None:
    tasks = sf.read_tasks("data/demo/workflow.jsonl")
    built = build_entry(tasks, partial=True, **SAID)
    content = changed(built.entry, "n.skill_calls", 12)
    path, _ = write_entry(BuiltEntry(content, built.receipt), tmp_path / "results.json")
    found = check_entry(path, records=tasks).filter(metric="ASC")
    assert found.get_column("message").to_list() == [
        "n.skill_calls is 12, and the records give null"
    ]


def test_a_partial_run_that_claims_all_tasks_is_found(built: BuiltEntry, tmp_path: Path) -> None:
    tasks = sf.read_tasks("data/demo/workflow.jsonl")
    partial = build_entry(tasks, partial=True, **SAID)
    for axis in ("websites", "conditions"):
        partial.entry["n"][axis] = built.entry["n"][axis]
    partial.receipt["n_per_cell"] = built.receipt["n_per_cell"]
    path, _ = write_entry(partial, tmp_path / "results.json")
    assert check_entry(path).height == 0
    assert check_entry(path, records=tasks).select("code", "slot", "message").rows() == [
        (
            "count-mismatch",
            "gitlab",
            "n.websites.gitlab is 162, and the records give 160; 5 more counts differ",
        )
    ]


# Calls against ASC, where there are no records


def run_of(benchmark: sf.Benchmark, *trials: dict[str, Any]) -> pl.DataFrame:
    """Give a run of a benchmark of one cell."""
    same = {"site": "cart", "condition": "plain", "success": True, "steps": 3, "skill_failures": 0}
    frame = pl.DataFrame([same | trial for trial in trials], infer_schema_length=None)
    return sf.from_frame(frame, run="asi", benchmark=benchmark)


def test_tasks_that_count_as_failures_may_be_without_calls(tmp_path: Path) -> None:
    """ASC is the mean of the three tasks whose calls were recorded, n.skill_calls their sum: no bound for four."""
    shop = sf.Benchmark("shop", {"cart": 4}, ("plain",))
    lost: dict[str, Any] = {"uid": "d", "error": "timeout", "success": None, "steps": None}
    lost |= {"skill_calls": None, "skill_failures": None}
    measured = ({"uid": uid, "skill_calls": 20} for uid in "abc")
    tasks = run_of(shop, *measured, lost)
    built = build_entry(tasks, benchmark=shop, errors="zero", **SAID)
    assert built.entry["n"]["skill_calls"] == 60
    assert built.entry["metrics"]["ASC"]["overall"] == 20.0
    path, receipt = write_entry(built, tmp_path / "results.json")
    for records in (None, tasks):
        assert check_entry(path, records=records, benchmark=shop).height == 0
    # More than all four can have made is still too many.
    write_json(path, changed(built.entry, "n.skill_calls", 81))
    found = check_entry(path, benchmark=shop)
    assert found.select("code", "bound").rows() == [("count-mismatch", "80 or fewer")]
    # Without the receipt, only who asks knows what errors count as.
    write_json(path, changed(built.entry, "submission.provenance.label", "reported-only"))
    receipt.unlink()
    assert check_entry(path, benchmark=shop, errors="zero").height == 0
    assert check_entry(path, benchmark=shop).get_column("bound").to_list() == ["80 or more"]


def test_calls_have_no_upper_bound_where_tasks_may_have_been_tried_often(tmp_path: Path) -> None:
    shop = sf.Benchmark("shop", {"cart": 2}, ("plain",))
    trials = ({"uid": uid, "trial": t, "skill_calls": 20} for uid in "ab" for t in (1, 2))
    tasks = run_of(shop, *trials)
    built = build_entry(tasks, benchmark=shop, label="reported-only", **SAID)
    assert built.entry["n"]["skill_calls"] == 80
    path = write_json(tmp_path / "results.json", built.entry)
    assert check_entry(path, benchmark=shop).height == 0
    beside = tmp_path / "results.receipt.json"
    commitments: tuple[object, ...] = ("5f2a", {"form": "harness 3", "sha256": "5f2a"})
    for commitment in commitments:
        theirs = changed(built.receipt, "per_task_commitment", commitment)
        write_json(beside, without(theirs, "records"))
        assert check_entry(path, benchmark=shop).height == 0
        write_json(beside, theirs | {"records": 2})  # whatever another tool calls a record
        assert check_entry(path, benchmark=shop).height == 0
    write_json(beside, built.receipt)
    assert check_entry(path, records=tasks, benchmark=shop).height == 0
    write_json(path, changed(built.entry, "n.skill_calls", 39))
    assert check_entry(path, benchmark=shop).get_column("bound").to_list() == ["40 or more"]


@pytest.mark.parametrize(("calls", "fits"), [(16, False), (17, True), (18, True), (19, False)])
def test_a_range_without_a_whole_number_is_widened_to_those_around_it(
    tmp_path: Path,
    calls: int,
    fits: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Two tasks with ASC 8.75 are 17.49 to 17.51 calls."""
    shop = sf.Benchmark("shop", {"cart": 2}, ("plain",))
    built = build_entry(
        run_of(shop, *({"uid": uid, "skill_calls": 20} for uid in "ab")), benchmark=shop, **SAID
    )
    block = {"websites": {"cart": 8.75}, "conditions": {"plain": 8.75}, "overall": 8.75}
    entry = changed(changed(built.entry, "metrics.ASC", block), "n.skill_calls", calls)
    receipt = built.receipt | {"aggregate": entry["metrics"]}
    path, _ = write_entry(BuiltEntry(entry, receipt), tmp_path / "results.json")
    found = check_entry(path, benchmark=shop).filter(code="count-mismatch")
    assert found.get_column("bound").to_list() == ([] if fits else ["17 to 18"])


def test_an_asc_below_zero_bounds_nothing(damaged: Callable[..., pl.DataFrame]) -> None:
    changes = [(f"metrics.ASC.websites.{site}", -1) for site in sf.SKILLSHIFT.sites]
    assert "count-mismatch" not in damaged(*changes).get_column("code")


def test_a_count_beyond_anything_measured_is_said_once(
    damaged: Callable[..., pl.DataFrame],
) -> None:
    for count in (10**9 + 1, 10**20):
        assert codes(damaged(("n.websites.gitlab", count))) == [("schema", None, None)]
    found = damaged(("n.skill_calls", 10**12 + 1))
    assert codes(found) == [("schema", None, None), ("sfr-unstable", "SFR", None)]


def test_every_code_of_the_check_has_been_seen() -> None:
    """What `check` can find; the other two are the audit's."""
    assert set(CODES) - {"impossible-value", "task-weighted"} == {
        *("schema", "missing-slot", "missing-reason", "count-mismatch", "identity"),
        *("identity-rounding", "range", "unknown-label", "receipt-missing", "receipt-mismatch"),
        *("sfr-without-calls", "sfr-unstable"),
    }


# What is asked for wrongly


def test_one_receipt_is_of_one_entry(built: BuiltEntry, tmp_path: Path) -> None:
    paths = [write_entry(built, tmp_path / f"{name}.json")[0] for name in "ab"]
    for options in ({"receipt": paths[0]}, {"records": "data/demo/induced.jsonl"}):
        with pytest.raises(sf.InputError, match="belong to one entry, and 2 are named"):
            check_entry(paths, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"receipt": "nowhere.json"}, "nowhere.json: no such file"),
        ({"records": "nowhere.jsonl"}, "nowhere.jsonl: no such file"),
        (
            {"records": pl.DataFrame({"run": ["a", "b"]})},
            "is missing",
        ),
        ({"errors": "ignore"}, "errors is 'ignore'"),
        ({"benchmark": "infer"}, "cannot be inferred"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(
    built: BuiltEntry, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    path, _ = write_entry(built, tmp_path / "results.json")
    with pytest.raises(sf.SkillshiftError, match=message):
        check_entry(path, **options)


def test_records_of_several_runs_are_refused(built: BuiltEntry, tmp_path: Path) -> None:
    path, _ = write_entry(built, tmp_path / "results.json")
    tasks = sf.read_tasks(["data/demo/induced.jsonl", "data/demo/reference.jsonl"])
    for _ in ("with its receipt", "without"):
        with pytest.raises(sf.InputError, match="these are 2: induced, reference"):
            check_entry(path, records=tasks)
        path.with_suffix(".receipt.json").unlink(missing_ok=True)


def test_records_may_have_further_columns_in_a_frame(built: BuiltEntry, tmp_path: Path) -> None:
    path, _ = write_entry(built, tmp_path / "results.json")
    tasks = sf.read_tasks("data/demo/induced.jsonl").with_columns(reward=pl.lit(0.5))
    assert check_entry(path, records=tasks.drop("run")).height == 0


def test_a_path_that_names_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(sf.InputError, match="no entry there"):
        check_entry(tmp_path / "nowhere.json")


# Several entries, tables of rows, standard input


def test_findings_come_entry_by_entry_and_entries_are_counted(
    built: BuiltEntry, tmp_path: Path
) -> None:
    for name in "abc":
        write_entry(built, tmp_path / f"{name}.json")
    write_json(tmp_path / "b.json", changed(built.entry, "n.websites.gitlab", 1))
    (tmp_path / "d.json").write_text("{")
    found, entries, _ = examine(
        tmp_path, receipt=None, records=None, benchmark="skillshift", errors=None, extra="refuse"
    )
    assert entries == 4
    rows = [
        (entry.rpartition("/")[2], code) for entry, code in found.select("entry", "code").rows()
    ]
    assert sorted(rows) == [("b.json", "count-mismatch"), ("d.json", "schema")]


def test_entries_of_a_table_are_counted_and_rows_that_are_none_are_not(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("metric,method,overall\nSR,a,1\nSR,b,2\nTR,c,3\n")
    found, entries, _ = examine(
        table, receipt=None, records=None, benchmark="skillshift", errors=None, extra="refuse"
    )
    assert entries == 2
    assert found.filter(code="schema").get_column("entry").to_list() == [str(table)]


def test_of_a_table_of_rows_the_numbers_are_checked(tmp_path: Path) -> None:
    found = check_entry(PUBLISHED)
    assert set(found.get_column("code")) == {"sfr-unstable"}
    lines = PUBLISHED.read_text().splitlines()
    table = tmp_path / "rows.csv"
    table.write_text("\n".join([lines[0], lines[1].replace("35.29", "53.29")]))
    assert set(codes(check_entry(table))) == {("identity", "SR", "overall")}
    table.write_text("metric,gitlab,magento\nSR,101,20\n")
    found = check_entry(table)
    assert codes(found)[-1] == ("range", "SR", "gitlab")
    assert set(codes(found)[:-1]) == {
        ("missing-slot", "SR", slot) for slot in ("wordpress", *sf.SKILLSHIFT.conditions, "overall")
    }
    with pytest.raises(sf.InputError, match="is a table of rows, which has no receipt"):
        check_entry(table, receipt=table)


def test_an_entry_from_standard_input_has_no_receipt_beside_it(
    built: BuiltEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, receipt = write_entry(built, tmp_path / "results.json")
    data = json.dumps(built.entry).encode()

    def stdin() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    stdin()
    assert check_entry("-").select("entry", "code").rows() == [("stdin", "receipt-missing")]
    stdin()
    assert check_entry("-", receipt=receipt).height == 0


def test_another_benchmark_has_other_slots(tmp_path: Path) -> None:
    shop = sf.Benchmark("shop", {"cart": 2}, ("plain",))
    row = {"site": "cart", "condition": "plain", "success": True, "steps": 3}
    row |= {"skill_calls": 20, "skill_failures": 1}
    tasks = sf.from_frame(pl.DataFrame([row | {"uid": u} for u in "ab"]), run="a", benchmark=shop)
    path, _ = write_entry(build_entry(tasks, benchmark=shop, **SAID), tmp_path / "r.json")
    assert check_entry(path, records=tasks, benchmark=shop).height == 0
    assert {code for code, *_ in codes(check_entry(path))} >= {"schema", "missing-slot"}


# Whatever a file holds

KEYS = st.sampled_from(
    [
        "metrics",
        "SR",
        "SFR",
        "websites",
        "gitlab",
        "overall",
        "n",
        "reasons",
        "submission",
        "date",
        "",
    ]
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.sampled_from(["\ud800", "self-reported", "2026-11-30", 10**400, 1e308, -0.0, 5e-324]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


def paths_in(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Give the way to every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else ()
    return [path, *(found for key, below in inside for found in paths_in(below, (*path, key)))]


def mutated(content: Any, path: tuple[Any, ...], action: str, value: object, key: str) -> Any:  # noqa: ANN401
    if not path:
        return value
    copied = json.loads(json.dumps(content))
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    if action == "replace":
        inner[path[-1]] = value
    elif action == "remove":
        del inner[path[-1]]
    else:
        inner[key] = value
    return copied


@st.composite
def mutations(draw: st.DrawFn, content: Json) -> Any:  # noqa: ANN401 - any JSON
    for _ in range(draw(st.integers(1, 4))):
        ways = paths_in(content)
        path = draw(st.sampled_from(ways))
        action = draw(st.sampled_from(["replace", "remove", "add"]))
        content = mutated(content, path, action, draw(VALUES), draw(KEYS | st.text(max_size=3)))
        if not isinstance(content, dict):
            break
    return content


def assert_sound(found: pl.DataFrame) -> None:
    assert found.schema == FINDINGS
    for row in found.iter_rows(named=True):
        assert row["message"]
        assert row["severity"] == CODES[row["code"]]
        assert all(value is None or value.isprintable() for value in row.values())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_entry_is_too_broken_to_be_checked(
    built: BuiltEntry, tmp_path: Path, data: st.DataObject
) -> None:
    path, receipt = write_entry(built, tmp_path / "results.json", force=True)
    which = data.draw(st.sampled_from(["entry", "receipt", "both"]))
    if which != "receipt":
        write_json(path, data.draw(mutations(built.entry)))
    if which != "entry":
        write_json(receipt, data.draw(mutations(built.receipt)))
    assert_sound(check_entry(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=40), st.integers(0, 5000), st.integers(0, 60))
def test_no_bytes_are_too_broken_to_be_checked(
    built: BuiltEntry, tmp_path: Path, junk: bytes, at: int, lost: int
) -> None:
    whole = json.dumps(built.entry).encode()
    path = tmp_path / "results.json"
    path.write_bytes(whole[:at] + junk + whole[at + lost :])
    assert_sound(check_entry(path))
