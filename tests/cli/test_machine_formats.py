"""JSON and CSV: exactly the documented shape, null as null, full precision."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli, Shop

SLOTS = list(sf.SKILLSHIFT.slots)
CELL_COVERAGE = ["site", "condition", "expected", "scored", "errored", "missing"]
COVERAGE = ["run", "expected", "scored", "errored", "missing", "errored_trials", "cells"]
METRICS = {"SR": "percent", "AS": "steps", "ASC": "calls per task", "SFR": "percent"}


@pytest.fixture
def table(cli: Cli, demo: list[Path], strict_json: Callable[[str], Any]) -> Any:  # noqa: ANN401 - JSON
    return strict_json(cli("table", *demo, "--format", "json").out)


def test_table_json_has_the_documented_keys(table: dict[str, Any]) -> None:
    header = ["schema_version", "benchmark", "errors", "null", "level", "seed"]
    assert list(table) == [*header, "coverage", "rows", "identity"]
    assert [table[name] for name in header] == [1, "skillshift", "exclude", "propagate", None, None]


def test_table_json_has_the_coverage_of_each_run_and_cell(table: dict[str, Any]) -> None:
    assert [list(run) for run in table["coverage"]] == [COVERAGE] * 3
    counts = [tuple(run.values())[:6] for run in table["coverage"]]
    assert counts == [
        ("induced", 2130, 2130, 0, 0, 0),
        ("reference", 2130, 2130, 0, 0, 0),
        ("workflow", 2130, 2124, 4, 2, 4),
    ]
    cells = table["coverage"][2]["cells"]
    assert len(cells) == 18
    assert all(list(cell) == CELL_COVERAGE for cell in cells)
    partial = [tuple(cell.values()) for cell in cells if cell["scored"] < cell["expected"]]
    assert partial == [
        ("gitlab", "src-exec", 162, 160, 2, 0),
        ("magento", "tgt", 114, 112, 2, 0),
        ("wordpress", "tgt-perc", 79, 77, 0, 2),
    ]


def test_table_json_has_every_number_with_what_it_rests_on(table: dict[str, Any]) -> None:
    per_slot = ["values", "n", "n_expected", "calls", "marks"]
    assert len(table["rows"]) == 12
    for row in table["rows"]:
        assert list(row) == ["run", "metric", "unit", *per_slot]
        assert row["unit"] == METRICS[row["metric"]]
        assert all(list(row[key]) == SLOTS for key in per_slot)
        assert all(type(value) in {float, type(None)} for value in row["values"].values())
        assert all(type(n) is int for n in row["n"].values())
    sfr = next(r for r in table["rows"] if (r["run"], r["metric"]) == ("induced", "SFR"))
    assert sfr["values"]["overall"] is None
    assert sfr["marks"]["overall"] == ["undefined"]
    assert sfr["marks"]["src-exec"] == ["unstable"]
    assert sfr["calls"]["src-exec"] == 21
    partial = next(r for r in table["rows"] if (r["run"], r["metric"]) == ("workflow", "SR"))
    assert partial["marks"]["gitlab"] == ["partial"]
    assert (partial["n"]["gitlab"], partial["n_expected"]["gitlab"]) == (970, 972)
    calls = next(r for r in table["rows"] if (r["run"], r["metric"]) == ("workflow", "ASC"))
    assert calls["marks"]["gitlab"] == ["not-applicable"]
    assert set(calls["calls"].values()) == {None}


def test_table_json_checks_the_identity(table: dict[str, Any]) -> None:
    keys = ["run", "metric", "sites", "conditions", "overall", "difference", "holds"]
    assert [list(row) for row in table["identity"]] == [keys] * 12
    assert {row["holds"] for row in table["identity"]} == {True, None}
    assert all((row["holds"] is None) == (row["overall"] is None) for row in table["identity"])


def test_cells_json_is_one_object_per_cell(
    cli: Cli, demo: list[Path], strict_json: Callable[[str], Any]
) -> None:
    content = strict_json(cli("cells", *demo, "--format", "json").out)
    assert list(content) == ["schema_version", "benchmark", "errors", "coverage", "rows"]
    assert content["rows"] == sf.cells(sf.read_tasks(demo)).to_dicts()
    assert [list(run) for run in content["coverage"]] == [COVERAGE] * 3


def test_check_json_has_every_fault(
    cli: Cli, shop: Shop, strict_json: Callable[[str], Any]
) -> None:
    result = cli("check", shop.run, "--format", "json")
    content = strict_json(result.out)
    assert result.code == 1
    assert list(content) == ["schema_version", "records", "faults", "coverage", "gaps"]
    assert all(list(fault) == list(sf.FAULTS) for fault in content["faults"])
    assert {fault["line"] for fault in content["faults"]} == set(range(1, 11))
    assert (content["records"], content["coverage"], content["gaps"]) == (0, [], [])


def test_check_json_names_every_task_that_was_not_measured(
    cli: Cli, demo: list[Path], strict_json: Callable[[str], Any]
) -> None:
    content = strict_json(cli("check", *demo, "--format", "json").out)
    assert content["records"] == 6388
    assert content["faults"] == []
    assert len(content["coverage"]) == 3
    keys = ["run", "site", "condition", "family", "status", "error"]
    assert [list(gap) for gap in content["gaps"]] == [keys] * 6
    assert [gap["status"] for gap in content["gaps"]] == ["errored"] * 4 + ["missing"] * 2


def test_table_csv_has_the_documented_header_and_full_precision(cli: Cli, demo: list[Path]) -> None:
    out = cli("table", *demo, "--format", "csv").out
    header, *rows = csv.reader(out.splitlines())
    assert header == ["run", "metric", *SLOTS]
    assert "\r" not in out
    expected = sf.table(sf.cells(sf.read_tasks(demo))).rows()
    numbers = [(*row[:2], *(float(x) if x else None for x in row[2:])) for row in rows]
    assert numbers == expected


def test_null_is_nothing_in_csv_and_zero_is_zero(cli: Cli, demo: list[Path]) -> None:
    rows = cli("table", *demo, "--format", "csv").out.splitlines()
    assert "reference,ASC,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0" in rows
    assert "reference,SFR,,,,,,,,,," in rows
    assert "workflow,ASC,,,,,,,,,," in rows


def test_cells_csv_is_the_frame(cli: Cli, demo: list[Path]) -> None:
    out = cli("cells", *demo, "--format", "csv").out
    assert out == sf.cells(sf.read_tasks(demo)).write_csv()
    assert out.splitlines()[0] == ",".join(sf.CELLS)


def test_check_csv_is_one_row_per_fault(cli: Cli, shop: Shop) -> None:
    header, *rows = csv.reader(cli("check", shop.run, "--format", "csv").out.splitlines())
    assert header == list(sf.FAULTS)
    assert {row[0] for row in rows} == {str(shop.run)}


@pytest.mark.parametrize("command", ["table", "cells", "check"])
@pytest.mark.parametrize("chosen", ["text", "markdown", "latex", "html", "csv", "json"])
def test_what_is_undefined_never_reads_nan_or_none(
    cli: Cli, demo: list[Path], command: str, chosen: str
) -> None:
    out = cli(command, *demo, "--format", chosen).out
    assert not any(word in out for word in ("nan", "NaN", "None", "Infinity", "inf "))
