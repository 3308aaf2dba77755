"""Other tools' results by whatever path they are named: whose they are, which runs they make, and what is wrong."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from polars.testing import assert_frame_equal

import skillshift_frames as sf
from skillshift_frames.readers.tools import NAMES, tool
from tests.readers.tools.evaluator_files import WITH, WITHOUT, run
from tests.readers.tools.harbor_files import job, trajectory, trial
from tests.readers.tools.reading import write_json

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "jobs"


def quietly(*paths: Path, **how: Any) -> pl.DataFrame:  # noqa: ANN401 - as read_trials takes it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sf.read_trials(list(paths), **how)


def warned(*paths: Path, **how: Any) -> list[str]:  # noqa: ANN401 - as read_trials takes it
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sf.read_trials(list(paths), **how)
    assert {warning.category for warning in caught} <= {sf.SkillshiftWarning}
    return [str(warning.message) for warning in caught]


def test_every_format_has_the_same_surface() -> None:
    for name in NAMES:
        module = tool(name)
        assert name == module.NAME
        assert callable(module.recognises)
        assert callable(module.read)


def test_the_format_is_recognised_and_said(root: Path) -> None:
    job(root / "job", {"t": [1.0]})
    assert warned(root) == [f"{root}: read as harbor"]
    assert quietly(root)["tool"].to_list() == ["harbor"]
    assert warned(root, from_="harbor") == []


def test_what_wraps_goes_before_what_is_wrapped(root: Path) -> None:
    folder = run(root, {"with": WITH, "without": WITHOUT})
    job(folder / "_harbor-jobs" / "job", {"t": [1.0]})
    assert quietly(root)["tool"].unique().to_list() == ["skillevaluator"]
    assert quietly(root).height == 12


def test_a_format_can_be_forced(root: Path) -> None:
    job(root / "job", {"t": [1.0]}, shown=trajectory())
    assert quietly(root, from_="atif").select("tool", "status").rows() == [("atif", "unscored")]


def test_a_format_that_does_not_exist_is_refused_with_those_that_do(root: Path) -> None:
    with pytest.raises(sf.InputError, match="did you mean 'harbor'"):
        sf.read_trials(root, from_="Harbour")
    with pytest.raises(sf.InputError, match="one of skillevaluator, "):
        sf.read_trials(root, from_="zzz")


def test_a_folder_of_no_known_format_is_refused(root: Path) -> None:
    write_json(root / "a.json", {"a": 1})
    with pytest.raises(sf.InputError, match="is of no format that is known"):
        sf.read_trials(root)


def test_a_folder_without_a_trial_of_the_format_is_refused(root: Path) -> None:
    root.mkdir()
    with pytest.raises(sf.InputError, match="holds no trial of harbor"):
        sf.read_trials(root, from_="harbor")


def test_where_all_there_is_are_faults_they_are_the_error(root: Path) -> None:
    job(root / "job", {})
    with pytest.raises(sf.RecordError, match="is a job without any trial"):
        sf.read_trials(root, from_="harbor")
    trials, faults = sf.check_trials(root, from_="harbor")
    assert (trials.height, faults["severity"].to_list()) == (0, ["error"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no/such", "no such file or folder"),
        ("no*such", "the pattern matches no file"),
        ("-", "cannot be read from standard input"),
        ("gone", "is a link to a file that is not there"),
    ],
)
def test_a_path_that_names_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").symlink_to("nothing")
    with pytest.raises(sf.InputError, match=words):
        sf.read_trials(name)


def test_no_path_is_refused() -> None:
    with pytest.raises(sf.InputError, match="no folder was named"):
        sf.read_trials([])


def test_a_glob_is_every_match(root: Path) -> None:
    job(root / "job-1", {"t": [1.0]})
    job(root / "job-2", {"t": [1.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sf.read_trials(f"{root}/job-*")["run"].to_list() == ["job-1", "job-2"]


def test_a_folder_named_twice_is_read_once(root: Path) -> None:
    job(root / "job", {"t": [1.0]})
    (root.parent / "link").symlink_to(root)
    said = warned(root, root.parent / "link")
    assert said[-1] == f"{root.parent / 'link'}: named more than once; read once"
    assert quietly(root, root.parent / "link").height == 1


def test_the_order_of_the_paths_changes_nothing(root: Path) -> None:
    job(root / "b", {"t": [1.0, 0.0]}, skills=["/s"])
    job(root / "a", {"t": [{"x": 1.0, "y": 0.0}]})  # type: ignore[list-item]
    assert_frame_equal(quietly(root / "a", root / "b"), quietly(root / "b", root / "a"))


def test_runs_of_one_name_in_two_folders_are_two_runs(root: Path) -> None:
    job(root / "x" / "job", {"t": [1.0]})
    job(root / "y" / "job", {"t": [0.0]})
    job(root / "y" / "more", {"t": [0.0]})
    assert quietly(root / "x", root / "y")["run"].to_list() == ["more", "x/job", "y/job"]
    assert quietly(root / "x" / "job", root / "y" / "job")["run"].to_list() == [
        "x/job/job",
        "y/job/job",
    ]


def test_two_arms_of_one_run_stay_one_run(root: Path) -> None:
    agent = run(root, {"with": WITH, "without": WITHOUT}) / "codex"
    both = quietly(agent / "with-skill", agent / "without-skill")
    assert both["run"].n_unique() == 1
    assert both.height == 12


def test_faults_are_said_and_the_trials_stay(root: Path) -> None:
    folder = job(root / "job", {"a": [1.0], "b": [1.0]})
    (file,) = folder.glob("a__*/result.json")
    file.write_text("{")
    said = warned(root)
    assert said[0] == f"{root}: read as harbor"
    assert said[1].startswith(f"{file}: warning: file: line 1, column 2: is not JSON")
    trials, faults = check(root)
    assert trials["status"].to_list() == ["errored", "scored"]
    assert faults.select("path", "line", "severity").rows() == [(str(file), None, "warning")]


def check(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sf.check_trials(path)


def test_many_faults_are_counted(root: Path) -> None:
    for number in range(30):
        (trial(root / "job", f"t{number}", "a", 1.0) / "result.json").write_text("{")
    assert warned(root)[1].endswith("… and 10 more faults")


def test_another_tools_folder_within_is_named(root: Path) -> None:
    folder = run(root / "skills", {"with": WITH}, skipped=True)
    job(root / "jobs" / "job", {"t": [1.0]}, shown=trajectory())
    assert warned(root) == [
        f"{root}: read as skillevaluator",
        f"{root / 'jobs'}: looks like harbor, and is not read as skillevaluator; name it by itself",
    ]
    # What a run keeps, and what a trial is made of, is nobody else's.
    job(folder / "_harbor-jobs" / "job", {"t": [1.0]})
    assert warned(folder) == [f"{folder}: read as skillevaluator"]
    (trial_folder,) = (root / "jobs" / "job").glob("t__*")
    assert warned(trial_folder) == [f"{trial_folder}: read as harbor"]


def test_read_tasks_takes_such_a_folder(root: Path) -> None:
    folder = job(root / "job", {"a": [1.0, None], "b": [0.0]}, shown=trajectory(), planned=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tasks = sf.read_tasks(root, benchmark="infer")
    assert tasks.schema == sf.TASKS
    assert tasks.rows() == [
        ("job", "a", "all", "codex", 1, True, 1, 0, 0, None),
        ("job", "a", "all", "codex", 2, None, 1, 0, 0, "no reward"),
        ("job", "b", "all", "codex", 1, False, 1, 0, 0, None),
    ]
    said = [str(warning.message) for warning in caught]
    assert said[0] == f"{root}: read as harbor"
    assert said[1] == "1 trial is planned and not there: no records are made of them"
    assert said[2].startswith(f"{folder}: file: 1 of 5 trials that the job planned are not there")


def test_check_tasks_gives_the_faults_of_such_a_folder(root: Path) -> None:
    job(root / "job", {"a": [1.0]}, planned=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        valid, faults = sf.check_tasks(root, benchmark="infer")
    assert (valid.height, faults["rule"].to_list()) == (1, ["missing-trials"])


def test_the_table_of_such_a_folder_is_that_of_its_records(root: Path) -> None:
    job(root / "job", {"a": [1.0, 0.0], "b": [0.0]}, shown=trajectory())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = sf.read_tasks(root, benchmark="infer", from_="harbor")
        counts = sf.read_tally(root, benchmark="infer", from_="harbor")
        assert_frame_equal(sf.read_tally(root, benchmark="infer"), counts)
    assert_frame_equal(sf.tally(tasks, benchmark="infer"), counts)
    assert sf.cells(tasks, benchmark="infer")["SR"].to_list() == [25.0]


def test_sites_of_skillshift_are_not_made_up(root: Path) -> None:
    job(root / "job", {"a": [1.0]})
    with pytest.raises(sf.InputError, match="--benchmark infer"):
        sf.read_tasks(root)


def test_a_benchmark_of_ones_own_is_kept_to(root: Path) -> None:
    job(root / "job", {"a": [1.0]}, shown=trajectory())
    fitting = sf.Benchmark("mine", {"all": 1}, ("codex",))
    other = sf.Benchmark("mine", {"all": 1}, ("claude",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sf.read_tasks(root, benchmark=fitting).height == 1
        with pytest.raises(sf.RecordError, match="is not a condition of this benchmark"):
            sf.read_tasks(root, benchmark=other)


def test_a_folder_of_records_stays_what_it_is(root: Path) -> None:
    job(root / "job", {"a": [1.0]})
    record = {"uid": "t", "site": "gitlab", "condition": "src", "success": True}
    record |= {"steps": 1, "skill_calls": 0, "skill_failures": 0}
    (root / "job" / "per_task.jsonl").write_text(json.dumps(record))
    assert sf.read_tasks(root)["uid"].to_list() == ["t"]


def test_records_and_results_are_not_read_together(root: Path) -> None:
    job(root / "job", {"a": [1.0]})
    file = root.parent / "x.jsonl"
    file.write_text("{}")
    with pytest.raises(sf.InputError, match=r"is another tool's, .*x\.jsonl is not"):
        sf.read_tasks([root, file], benchmark="infer")


@pytest.mark.parametrize("how", [{"pool": True}, {"labels": {"x": "jobs"}}])
def test_labels_are_for_records(root: Path, how: dict[str, Any]) -> None:
    job(root / "job", {"a": [1.0]})
    with pytest.raises(sf.InputError, match="name their own runs"):
        sf.read_tasks(root, benchmark="infer", **how)


def test_a_folder_that_is_nothing_is_refused_as_ever(root: Path) -> None:
    root.mkdir()
    with pytest.raises(sf.InputError, match=r"no per_task\.jsonl in this folder or below it"):
        sf.read_tasks(root)
