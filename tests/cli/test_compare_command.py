"""``compare``: which run is which, keys that are no record's, and what a format has no place for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli, Result

QUICK = ("--resamples", "100", "--benchmark", "infer")


@pytest.fixture
def two(write_run: Callable[..., Path], record: Callable[..., dict[str, Any]]) -> tuple[Path, Path]:
    """Two runs of forty tasks, the second better on half of them, with a reward of their own."""
    paths = []
    for run in ("old", "new"):
        rows = [
            record("shop", "plain", f"t{task}", reward=task, success=run == "new" and task < 20)
            for task in range(40)
        ]
        paths.append(write_run(run, rows))
    return paths[0], paths[1]


@pytest.fixture
def both(two: tuple[Path, Path], tmp_path: Path) -> Path:
    """One file with both runs."""
    target = tmp_path / "both.parquet"
    sf.write_tasks(sf.read_tasks(two, benchmark="infer", extra="ignore"), target)
    return target


pytestmark = pytest.mark.filterwarnings("ignore:ignored, not keys")


def content_of(result: Result) -> dict[str, Any]:
    assert result.code == 0, result.err
    content: dict[str, Any] = json.loads(result.out)
    return content


# Which run is which


@pytest.mark.parametrize(
    ("options", "sides"),
    [
        (["--base", "old"], ("old", "new")),
        (["--base", "new"], ("new", "old")),
        (["--treatment", "old"], ("new", "old")),
        (["--treatment", "new"], ("old", "new")),
        (["--base", "new", "--treatment", "old"], ("new", "old")),
        (["--base", "new", "--treatment", "new"], ("new", "new")),
    ],
)
def test_one_label_says_which_run_is_the_other(
    cli: Cli, two: tuple[Path, Path], both: Path, options: list[str], sides: tuple[str, str]
) -> None:
    for files in ([both], [both, both], [*two, "--extra", "ignore"]):
        content = content_of(cli("compare", *files, *options, *QUICK, "-f", "json"))
        assert (content["base"], content["treatment"]) == sides
        assert (
            content["metrics"]["SR"]["overall"]["lift"]
            == {
                ("old", "new"): 50.0,
                ("new", "old"): -50.0,
                ("new", "new"): 0.0,
            }[sides]
        )


def test_without_labels_the_order_of_the_files_says_it(cli: Cli, two: tuple[Path, Path]) -> None:
    for files in (two, two[::-1]):
        content = content_of(cli("compare", *files, "--extra", "ignore", *QUICK, "-f", "json"))
        assert (content["base"], content["treatment"]) == tuple(f.parent.name for f in files)


def test_a_run_can_be_compared_with_itself(cli: Cli, two: tuple[Path, Path]) -> None:
    for options in ([], ["--base", "old"]):
        result = cli("compare", two[0], two[0], "--extra", "ignore", *options, *QUICK, "-f", "json")
        assert content_of(result)["treatment"] == "old"


@pytest.mark.parametrize("side", ["--base", "--treatment"])
def test_a_label_of_no_run_is_an_error(cli: Cli, both: Path, side: str) -> None:
    result = cli("compare", both, side, "odl", *QUICK)
    assert result.code == 2
    assert "error: there is no run 'odl'; the files have new, old\n" in result.err


def test_what_is_not_said_is_asked_for(cli: Cli, two: tuple[Path, Path], both: Path) -> None:
    one = [two[0], "--extra", "ignore"]
    for arguments in ([both], [both, both], one, [*one, "--base", "old"]):
        result = cli("compare", *arguments, *QUICK)
        assert result.code == 2
        assert (
            "error: which run is which? Give --base and --treatment; the files have " in result.err
        )


# Keys that are not a record's


@pytest.mark.parametrize(
    "asked",
    [
        ["--by", "site"],
        ["--by", "family"],
        ["--metric", "steps"],
        ["--composite", "success", "--composite", "SFR"],
        [],
    ],
)
def test_columns_that_every_record_has_keep_no_other_key(
    cli: Cli, two: tuple[Path, Path], asked: list[str]
) -> None:
    result = cli("compare", *two, *asked, *QUICK)
    assert result.code == 2
    assert ":1: reward: is not a key of a record" in result.err


@pytest.mark.parametrize(
    "asked", [["--by", "reward"], ["--metric", "reward"], ["--composite", "reward"]]
)
def test_a_column_of_its_own_is_kept_where_it_is_asked_for(
    cli: Cli, two: tuple[Path, Path], asked: list[str]
) -> None:
    assert cli("compare", *two, *asked, *QUICK).code == 0
    refused = cli("compare", *two, *asked, "--extra", "refuse", *QUICK)
    assert refused.code == 2
    assert ":1: reward: is not a key of a record" in refused.err
    assert cli("compare", *two, *asked, "--extra", "ignore", *QUICK).code == 2


def test_other_keys_are_kept_or_dropped_on_request(cli: Cli, two: tuple[Path, Path]) -> None:
    kept = cli("compare", *two, "--extra", "keep", *QUICK)
    dropped = cli("compare", *two, "--extra", "ignore", *QUICK)
    assert kept.code == dropped.code == 0
    assert kept.out == dropped.out
    assert (kept.err, dropped.err) == ("", "note: ignored, not keys of a record: reward\n")


# Output


def test_csv_says_on_stderr_what_has_no_pair(
    cli: Cli, write_run: Callable[..., Path], record: Callable[..., dict[str, Any]]
) -> None:
    tasks = [record("shop", "plain", name) for name in "abcd"]
    failed = record("shop", "plain", "b", success=None, steps=None, error="timeout")
    old, new = write_run("old", tasks), write_run("new", [failed, *tasks[2:]])
    result = cli("compare", old, new, *QUICK, "-f", "csv")
    assert result.code == 0
    assert result.out.startswith("metric,slot,")
    assert "note: 1 only in old: shop × plain a\n" in result.err
    assert "note: 1 with a side that was not measured: shop × plain b\n" in result.err


def test_gate_exits_1_unless_the_verdict_is_helps(cli: Cli, both: Path, tmp_path: Path) -> None:
    for number, (base, code) in enumerate((("old", 0), ("new", 1))):
        target = tmp_path / f"{number}.json"
        result = cli("compare", both, "--base", base, "--gate", *QUICK, "-o", target)
        verdict = json.loads(target.read_text())["verdict"]
        assert (result.code, verdict == "helps") == (code, not code)
