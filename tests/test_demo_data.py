"""The demo runs are what their script makes, and have the properties that the docs rely on."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parent.parent / "data" / "demo"
RUNS = ("induced", "workflow", "reference")
SITES = {"gitlab": 162, "magento": 114, "wordpress": 79}
CONDITIONS = ("src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec")
KEYS = ["uid", "site", "condition", "success", "steps", "skill_calls", "skill_failures"]
UNSTABLE = 30  # calls below which an SFR is marked


def load(run: str) -> list[dict[str, Any]]:
    text = (DEMO / f"{run}.jsonl").read_text("ascii")
    return [json.loads(line) for line in text.splitlines()]


def count_calls(run: str) -> Counter[tuple[str, str]]:
    calls: Counter[tuple[str, str]] = Counter()
    for record in load(run):
        calls[record["site"], record["condition"]] += record["skill_calls"]
    return calls


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_script_makes_the_same_bytes_again(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_demo", DEMO / "make_demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
        paths = module.main(tmp_path / "new" / "folder")
    finally:
        del sys.modules[spec.name]
    assert [path.name for path in paths] == [f"{run}.jsonl" for run in RUNS]
    assert [digest(path) for path in paths] == [digest(DEMO / path.name) for path in paths]


def test_the_script_runs_from_anywhere_and_writes_where_it_is_told(tmp_path: Path) -> None:
    before = {path.name: digest(path) for path in DEMO.iterdir() if path.is_file()}
    subprocess.run(
        [sys.executable, "-I", DEMO / "make_demo.py", "--out", "out"],
        cwd=tmp_path,
        check=True,
        stdout=subprocess.PIPE,
    )
    assert {path.name for path in (tmp_path / "out").iterdir()} == {f"{run}.jsonl" for run in RUNS}
    assert all(digest(path) == before[path.name] for path in (tmp_path / "out").iterdir())
    assert {path.name: digest(path) for path in DEMO.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("run", RUNS)
def test_lines_are_written_as_json_dumps_does(run: str) -> None:
    content = (DEMO / f"{run}.jsonl").read_bytes()
    assert content == b"".join(json.dumps(record).encode() + b"\n" for record in load(run))
    for record in load(run):
        assert list(record) == (KEYS + ["error"] * ("error" in record))


@pytest.mark.parametrize("run", RUNS)
def test_values_have_their_types_and_ranges(run: str) -> None:
    for record in load(run):
        errored = "error" in record
        assert (record["success"] is None) == errored
        assert errored or type(record["success"]) is bool
        assert errored or type(record["steps"]) is int
        assert record["steps"] is None or 1 <= record["steps"] <= 30
        if record["skill_calls"] is None:
            assert record["skill_failures"] is None
        else:
            assert type(record["skill_calls"]) is type(record["skill_failures"]) is int
            assert 0 <= record["skill_failures"] <= record["skill_calls"]


@pytest.mark.parametrize("run", RUNS)
def test_uids_name_site_version_and_a_task_that_all_conditions_share(run: str) -> None:
    families = defaultdict(set)
    for record in load(run):
        product, site, version, index = record["uid"].split(".")
        target = record["condition"].startswith("tgt") and site != "wordpress"
        assert (product, site) == ("skillshift", record["site"])
        assert version == ("v2" if target else "v1")
        assert index == str(int(index))
        families[site, record["condition"]].add(index)
    for site, count in SITES.items():
        union = set().union(*(families[site, condition] for condition in CONDITIONS))
        assert len(union) == count
        for condition in CONDITIONS:
            lacking = 2 if (run, site, condition) == ("workflow", "wordpress", "tgt-perc") else 0
            assert len(families[site, condition]) == count - lacking


@pytest.mark.parametrize("run", RUNS)
def test_records_are_unique_and_as_many_as_the_benchmark_has(run: str) -> None:
    keys = Counter((record["uid"], record["condition"]) for record in load(run))
    assert max(keys.values()) == 1
    assert len(keys) == 2130 - 2 * (run == "workflow")


def test_all_runs_have_the_same_tasks() -> None:
    induced, workflow, reference = (
        {(record["uid"], record["condition"]) for record in load(run)} for run in RUNS
    )
    assert induced == reference
    assert workflow < induced


@pytest.mark.parametrize("run", RUNS)
def test_success_falls_under_each_shift_and_is_highest_on_wordpress(run: str) -> None:
    outcomes = defaultdict(list)
    for record in load(run):
        if record["success"] is not None:
            outcomes[record["site"], record["condition"]].append(record["success"])
    rate = {cell: sum(values) / len(values) for cell, values in outcomes.items()}
    condition = {c: sum(rate[site, c] for site in SITES) / 3 for c in CONDITIONS}
    site = {s: sum(rate[s, c] for c in CONDITIONS) / 6 for s in SITES}
    assert condition["src"] > condition["src-perc"] > condition["src-exec"]
    assert condition["tgt"] > condition["tgt-perc"] > condition["tgt-exec"]
    assert condition["src"] > condition["tgt"]
    assert condition["src-perc"] > condition["tgt-perc"]
    assert condition["src-exec"] > condition["tgt-exec"]
    assert site["wordpress"] > site["magento"] > site["gitlab"]


@pytest.mark.parametrize("run", RUNS)
def test_failures_take_longer(run: str) -> None:
    steps = defaultdict(list)
    for record in load(run):
        steps[record["success"]].append(record["steps"])
    failed, succeeded = (sum(steps[key]) / len(steps[key]) for key in (False, True))
    assert failed > 2 * succeeded
    assert max(steps[False]) == 30


@pytest.mark.parametrize("run", RUNS)
def test_outcomes_of_a_family_correlate(run: str) -> None:
    outcomes = {}
    for record in load(run):
        index = record["uid"].rsplit(".", 1)[1]
        outcomes[record["site"], index, record["condition"]] = record["success"]
    for site in SITES:
        pairs = [
            (success, outcomes[site, index, "tgt"])
            for (own, index, condition), success in outcomes.items()
            if (own, condition) == (site, "src") and outcomes[site, index, "tgt"] is not None
        ]
        n = len(pairs)
        both = sum(a and b for a, b in pairs) / n
        apart = sum(a for a, _ in pairs) * sum(b for _, b in pairs) / n**2
        assert both > apart + 0.04


def test_induced_calls_skills_sparsely() -> None:
    calls = count_calls("induced")
    site = {s: sum(calls[s, c] for c in CONDITIONS) for s in SITES}
    condition = {c: sum(calls[s, c] for s in SITES) for c in CONDITIONS}
    assert calls.total() == 191
    assert site == {"gitlab": 71, "magento": 98, "wordpress": 22}
    assert list(condition.values()) == [55, 51, 21, 28, 17, 19]
    assert sum(count < UNSTABLE for count in (*site.values(), *condition.values())) == 5
    asc = sum(calls[s, c] / n for s, n in SITES.items() for c in CONDITIONS) / 18
    assert 0.06 <= asc <= 0.15
    assert sum(record["skill_failures"] for record in load("induced")) == 60


def test_induced_has_one_cell_without_calls() -> None:
    calls = count_calls("induced")
    assert [cell for cell in calls if calls[cell] == 0] == [("wordpress", "tgt-exec")]


def test_workflow_has_no_skill_calls_to_count() -> None:
    assert {record["skill_calls"] for record in load("workflow")} == {None}
    assert {record["skill_failures"] for record in load("workflow")} == {None}


def test_workflow_has_four_errored_tasks_and_two_that_were_never_run() -> None:
    errored = [record for record in load("workflow") if "error" in record]
    assert Counter((record["site"], record["condition"]) for record in errored) == {
        ("gitlab", "src-exec"): 2,
        ("magento", "tgt"): 2,
    }
    assert all(record["error"] for record in errored)
    assert Counter(record["steps"] is None for record in errored) == {True: 2, False: 2}
    cells = Counter((record["site"], record["condition"]) for record in load("workflow"))
    assert {cell: n for cell, n in cells.items() if n != SITES[cell[0]]} == {
        ("wordpress", "tgt-perc"): 77
    }


def test_reference_calls_no_skill() -> None:
    assert {record["skill_calls"] for record in load("reference")} == {0}
    assert {record["skill_failures"] for record in load("reference")} == {0}


@pytest.mark.parametrize("run", ["induced", "reference"])
def test_only_workflow_has_errors(run: str) -> None:
    assert not any("error" in record for record in load(run))
