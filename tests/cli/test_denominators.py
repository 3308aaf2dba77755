"""What was not measured is in sight in every format, and the policy about it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli

READABLE = ("text", "markdown", "latex", "html")
FORMATS = (*READABLE, "csv", "json")


def everything(cli: Cli, *arguments: object) -> str:
    """Give what a user gets to read: stdout, and stderr, where CSV says what it has no place for."""
    result = cli(*arguments)
    assert result.code == 0
    return f"{result.out}{result.err}"


@pytest.fixture
def one_of_ten(
    write_run: Callable[..., Path],
    write_benchmark: Callable[..., Path],
    record: Callable[..., dict[str, Any]],
) -> list[object]:
    """A benchmark of ten tasks, of which a run has one, a success: not a success rate of 100 %."""
    benchmark = write_benchmark("ten", {"cart": 10}, ["plain"])
    path = write_run("asi", [record("cart", "plain", "a", success=True)])
    return [path, "--benchmark", benchmark]


@pytest.mark.parametrize("chosen", READABLE)
def test_one_scored_task_of_ten_is_marked_beside_the_number(
    cli: Cli, one_of_ten: list[object], chosen: str
) -> None:
    out = cli("table", *one_of_ten, "-f", chosen).out
    assert out.count("1/10") > 3  # SR, AS, ASC in every slot
    assert "1 of 10 tasks scored, 9 missing" in out
    assert "SR between 10.00 and 100.00 whatever the unmeasured tasks hold" in out


def test_one_scored_task_of_ten_is_said_beside_the_csv(cli: Cli, one_of_ten: list[object]) -> None:
    result = cli("table", *one_of_ten, "-f", "csv")
    assert result.out.splitlines()[1] == "asi,SR,100.0,100.0,100.0"
    assert "asi: 1 of 10 tasks scored, 9 missing (cart × plain 1/10)" in result.err


def test_one_scored_task_of_ten_is_counted_in_the_json(
    cli: Cli, one_of_ten: list[object], strict_json: Callable[[str], Any]
) -> None:
    content = strict_json(cli("table", *one_of_ten, "-f", "json").out)
    counts = {"expected": 10, "scored": 1, "errored": 0, "missing": 9}
    assert content["coverage"][0].items() >= counts.items()
    assert content["coverage"][0]["cells"] == [{"site": "cart", "condition": "plain", **counts}]
    row = content["rows"][0]
    assert (row["n"]["overall"], row["n_expected"]["overall"]) == (1, 10)
    assert row["marks"]["overall"] == ["partial"]


def test_a_partial_cell_is_marked_in_its_own_row(cli: Cli, demo: list[Path]) -> None:
    rows = [
        row.split() for row in cli("cells", *demo).out.splitlines() if "tasks scored" not in row
    ]
    counts = [row[-6:] for row in rows if any("/" in word and word[0].isdigit() for word in row)]
    assert counts == [
        ["162", "160", "2", "0", "--", "--"],
        ["114", "112", "2", "0", "--", "--"],
        ["79", "77", "0", "2", "--", "--"],
    ]


def test_check_says_what_one_scored_task_of_ten_leaves_open(
    cli: Cli, one_of_ten: list[object]
) -> None:
    result = cli("check", *one_of_ten)
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "1 record without a fault\n"
        "asi: 1 of 10 tasks scored, 9 missing (cart × plain 1/10);"
        " SR between 10.00 and 100.00 whatever the unmeasured tasks hold\n"
        "  missing without a name: 9 tasks that no cell of these runs has\n"
    )
    assert cli("check", *one_of_ten, "--strict").code == 1


@pytest.mark.parametrize("command", ["table", "cells", "check"])
@pytest.mark.parametrize("chosen", [*READABLE, "csv"])
def test_every_run_and_every_partial_cell_has_its_denominator(
    cli: Cli, demo: list[Path], command: str, chosen: str
) -> None:
    said = everything(cli, command, *demo, "-f", chosen)
    for run in ("induced", "reference"):
        assert f"{run}: 2,130 of 2,130 tasks scored" in said
    assert "workflow: 2,124 of 2,130 tasks scored, 4 errored, 2 missing" in said
    assert all(n_of_cell in said for n_of_cell in ("160/162", "112/114", "77/79"))


def test_check_names_each_task_that_was_not_measured(cli: Cli, demo: list[Path]) -> None:
    out = cli("check", *demo).out
    assert "errored in gitlab × src-exec: gitlab.420 (browser closed unexpectedly)" in out
    assert "missing in wordpress × tgt-perc: wordpress.104, wordpress.800" in out


@pytest.mark.parametrize("command", ["table", "cells"])
@pytest.mark.parametrize("chosen", FORMATS)
@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_the_policy_about_errors_is_named_in_every_output(
    cli: Cli, demo: list[Path], command: str, chosen: str, errors: str
) -> None:
    said = everything(cli, command, *demo, "--errors", errors, "-f", chosen)
    named = {
        "json": f'"errors": "{errors}"',
        "latex": f"-{{}}-errors {errors}",
    }
    assert named.get(chosen, f"--errors {errors}") in said


@pytest.mark.parametrize("chosen", FORMATS)
@pytest.mark.parametrize("null", ["propagate", "available"])
def test_the_policy_about_undefined_cells_is_named_in_every_output(
    cli: Cli, demo: list[Path], chosen: str, null: str
) -> None:
    said = everything(cli, "table", *demo, "--null", null, "-f", chosen)
    named = {"json": f'"null": "{null}"', "latex": f"-{{}}-null {null}"}
    assert named.get(chosen, f"--null {null}") in said


@pytest.fixture
def errored(
    write_run: Callable[..., Path],
    write_benchmark: Callable[..., Path],
    record: Callable[..., dict[str, Any]],
) -> list[object]:
    """Four tasks: a success, a failure, and two that were not measured."""
    error = {"success": None, "error": "timeout"}
    records = [
        record("cart", "plain", "a", success=True),
        record("cart", "plain", "b"),
        record("cart", "plain", "c", **error),
        record("cart", "plain", "d", **error, steps=None),
    ]
    benchmark = write_benchmark("four", {"cart": 4}, ["plain"])
    return [write_run("asi", records), "--benchmark", benchmark]


@pytest.mark.parametrize(("errors", "rate"), [("exclude", "50.0"), ("zero", "25.0")])
def test_an_error_is_in_no_mean_or_a_failure_as_was_asked(
    cli: Cli, errored: list[object], errors: str, rate: str
) -> None:
    result = cli("table", *errored, "--errors", errors, "-f", "csv")
    assert result.out.splitlines()[1] == f"asi,SR,{rate},{rate},{rate}"
    assert "asi: 2 of 4 tasks scored, 2 errored" in result.err
    assert "SR between 25.00 and 75.00 whatever the unmeasured tasks hold" in result.err


@pytest.fixture
def one_site_missing(
    write_run: Callable[..., Path],
    write_benchmark: Callable[..., Path],
    record: Callable[..., dict[str, Any]],
) -> list[object]:
    """Three sites, of which a run has two: 100 % and 0 %."""
    benchmark = write_benchmark("three", {"cart": 1, "search": 1, "pay": 1}, ["plain"])
    records = [record("cart", "plain", "a", success=True), record("search", "plain", "b")]
    return [write_run("asi", records), "--benchmark", benchmark]


def test_a_mean_over_a_site_that_was_never_run_is_undefined(
    cli: Cli, one_site_missing: list[object]
) -> None:
    result = cli("table", *one_site_missing, "-f", "csv")
    assert result.out.splitlines()[1] == "asi,SR,100.0,0.0,,,"
    assert "undefined: asi SR, AS, ASC: no scored task in pay × plain" in result.err


def test_the_mean_of_the_other_sites_is_given_when_asked_for_and_marked(
    cli: Cli, one_site_missing: list[object], strict_json: Callable[[str], Any]
) -> None:
    asked = [*one_site_missing, "--null", "available"]
    assert cli("table", *asked, "-f", "csv").out.splitlines()[1] == "asi,SR,100.0,0.0,,50.0,50.0"
    content = strict_json(cli("table", *asked, "-f", "json").out)
    assert content["rows"][0]["marks"]["overall"] == ["available", "partial"]
    text = cli("table", *asked).out
    assert "50.00 * 2/3" in text
    assert "* mean of the defined cells only: asi: SR plain 2/3, SR O/A 2/3" in text


@pytest.mark.parametrize("chosen", READABLE)
def test_undefined_and_not_applicable_are_different_dashes(
    cli: Cli, demo: list[Path], chosen: str
) -> None:
    out = cli("table", *demo, "-f", chosen).out
    undefined = r"\textendash{}" if chosen == "latex" else "–"
    not_applicable = "-{}-" if chosen == "latex" else "--"
    assert out.count(undefined) >= 12  # reference SFR in ten slots, induced SFR in three
    assert out.count(not_applicable) >= 20  # workflow ASC and SFR in ten slots


def test_an_sfr_over_few_calls_is_marked_with_its_count(cli: Cli, demo: list[Path]) -> None:
    out = cli("table", demo[0]).out
    assert "5.56 ⚠" in out
    assert "⚠ SFR over fewer than 30 skill calls: induced: Src-Exec 21, Tgt 28, Tgt-Perc 17" in out
