"""The command plot: which chart, of what, into which file."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli, Shop

    Write = Callable[..., Path]

FAST = ("--resamples", 200)


@pytest.fixture
def two(shop: Shop, write_run: Write) -> list[object]:
    """Two runs of the shop and its benchmark, as arguments."""
    other = [record | {"success": not record["success"]} for record in shop.records]
    return [shop.run, write_run("mpcr", other), "--benchmark", shop.benchmark]


def saved(path: Path) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads(path.read_text())
    return spec


@pytest.mark.parametrize("kind", ["heatmap", "slope", "lift", "flips", "sfr"])
@pytest.mark.parametrize("suffix", ["svg", "png", "html", "json"])
def test_every_kind_in_every_format(
    cli: Cli, two: list[object], tmp_path: Path, kind: str, suffix: str
) -> None:
    target = tmp_path / f"chart.{suffix}"
    base = ["--base", "asi"] if kind in {"lift", "flips"} else []
    result = cli("plot", *two, "--kind", kind, *base, *FAST, "-o", target)
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith(f"{target}: ")
    content = target.read_bytes()
    start = {"svg": b"<svg ", "png": b"\x89PNG", "html": b"<!DOCTYPE html>", "json": b"{\n"}
    assert content.startswith(start[suffix])


def test_command_is_the_twin_of_the_function(cli: Cli, two: list[object], tmp_path: Path) -> None:
    target = tmp_path / "chart.json"
    assert cli("plot", *two, "--metric", "AS", "-o", target).code == 0
    tasks = sf.read_tasks([str(two[0]), str(two[1])], benchmark=str(two[3]))
    cells = sf.cells(tasks, benchmark=str(two[3]))
    chart = sf.heatmap_chart(cells, "AS", benchmark=str(two[3]))
    assert target.read_text() == sf.chart_text(chart, "json")


def test_lifts_are_those_of_compare(cli: Cli, two: list[object], tmp_path: Path) -> None:
    target = tmp_path / "chart.json"
    options = ["--level", 0.8, "--seed", 7, "--metric", "AS", *FAST]
    assert cli("plot", *two, "--kind", "lift", "--base", "asi", *options, "-o", target).code == 0
    compared = cli("compare", *two, "--base", "asi", *options, "--format", "json").out
    wanted = json.loads(compared)["metrics"]["AS"]
    rows = saved(target)["data"]["values"]
    assert {row["slot"]: (row["lift"], row["low"], row["high"]) for row in rows} == {
        slot: (lift["lift"], lift["low"], lift["high"]) for slot, lift in wanted.items()
    }


def test_a_run_without_a_pair_has_no_grid_and_this_is_said(
    cli: Cli, two: list[object], write_run: Write, shop: Shop, tmp_path: Path
) -> None:
    nothing = {"success": None, "error": "HTTP 503"}
    third = write_run("third", [record | nothing for record in shop.records])
    arguments = [third, *two, "--kind", "flips", "--base", "asi", "-o", tmp_path / "flips.svg"]
    result = cli("plot", *arguments)
    assert result.code == 0
    assert "note: third and asi have no pair, so there is no grid of them" in result.err
    assert "mpcr and asi" not in result.err


def test_several_treatments_stand_below_one_another(
    cli: Cli, two: list[object], write_run: Write, shop: Shop, tmp_path: Path
) -> None:
    third = write_run("third", shop.records[:-1])
    for kind in ("lift", "flips"):
        target = tmp_path / f"{kind}.json"
        arguments = [third, *two, "--kind", kind, "--base", "asi", *FAST]
        assert cli("plot", *arguments, "-o", target).code == 0
        assert len(saved(target)["vconcat"]) == 2


def test_reading_options_are_those_of_table(
    cli: Cli, write_run: Write, shop: Shop, tmp_path: Path
) -> None:
    errored = [record | {"success": None, "error": "timeout"} for record in shop.records]
    run = write_run("bad", [*errored[:1], *shop.records[1:]])
    target = tmp_path / "chart.json"
    more = ["--benchmark", shop.benchmark, "-o", target, "--force"]
    assert cli("plot", "--label", f"X=Y={run}", *more).code == 2
    assert cli("plot", "--label", f"mine={run}", *more).code == 0
    rows = saved(target)["data"]["values"]
    assert {row["run"] for row in rows} == {"mine"}
    first = [row for row in rows if (row["column"], row["row"]) == ("cart", "plain")]
    assert [(row["text"], row["note"]) for row in first] == [("100.00", "2/3")]
    assert cli("plot", run, "--errors", "zero", *more).code == 0
    rows = saved(target)["data"]["values"]
    first = [row for row in rows if (row["column"], row["row"]) == ("cart", "plain")]
    assert [(row["text"], row["note"]) for row in first] == [("66.67", "")]


def test_cost_of_another_tools_results(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "cost.svg"
    arguments = ["data/harbor/plain", "data/harbor/skill", "--kind", "cost"]
    assert cli("plot", *arguments, "-o", target).code == 0
    root = ET.fromstring(target.read_text())  # noqa: S314 - our own drawing
    words = ["".join(found.itertext()) for found in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"plain 1/2", "skill with 2/2, 3/4 known"} <= set(words)
    result = cli("plot", *arguments, "--metric", "speed", "-o", tmp_path / "x.svg")
    assert result.code == 2
    assert "seconds" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], r"plot needs -o FILE (.svg, .pdf, .png, .html or .json)"),
        (["-o", "-"], r"plot needs -o FILE (.svg, .pdf, .png, .html or .json)"),
        (["-o", "chart.eps"], ".svg, .pdf, .png, .html, .json is needed"),
        (["-o", "nowhere/chart.svg"], "there is no folder nowhere"),
        (
            ["-o", "a.svg", "--kind", "lift"],
            "which run is the base? Give --base; the files have asi, mpcr",
        ),
        (
            ["-o", "a.svg", "--kind", "flips", "--base", "x"],
            "there is no run 'x'; the files have asi, mpcr",
        ),
        (["-o", "a.svg", "--base", "asi"], "--base is for --kind lift and flips, not heatmap"),
        (["-o", "a.svg", "--kind", "sfr", "--metric", "SR"], "--metric is not for --kind sfr"),
        (["-o", "a.svg", "--metric", "speed"], "metric"),
        (["-o", "a.svg", "--kind", "cost", "--pool"], "--label and --pool are not for --kind cost"),
        (["-o", "a.svg", "--kind", "pie"], "'pie' is not one of"),
    ],
    ids=lambda value: " ".join(value) or "no file" if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_and_nothing_written(
    cli: Cli, two: list[object], tmp_path: Path, arguments: list[str], said: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    with contextlib.chdir(tmp_path):
        result = cli("plot", *two, *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert sorted(tmp_path.rglob("*")) == before


def test_one_run_has_no_lift(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    result = cli(
        *("plot", shop.run, "--benchmark", shop.benchmark, "--kind", "lift", "--base", "asi"),
        *("-o", tmp_path / "a.svg"),
    )
    assert result.code == 2
    assert "there is only one run, 'asi'" in result.err


def test_a_file_in_the_way_stays_before_anything_is_read(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "chart.svg"
    target.write_text("mine")
    result = cli("plot", tmp_path / "no-such-run.jsonl", "-o", target)
    assert result.code == 2
    assert "exists already; --force replaces it" in result.err
    assert target.read_text() == "mine"


@pytest.mark.parametrize("module", ["altair", "vl_convert"])
def test_a_missing_extra_is_said_before_anything_is_read(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    result = cli("plot", tmp_path / "no-such-run.jsonl", "-o", tmp_path / "a.svg")
    assert result.code == 2
    assert 'pip install "skillshift-frames[plots]"' in result.err
    assert "Traceback" not in result.err


def test_file_order_changes_no_byte(cli: Cli, two: list[object], tmp_path: Path) -> None:
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    assert cli("plot", *two, "-o", first).code == 0
    assert cli("plot", two[1], two[0], *two[2:], "-o", second).code == 0
    assert first.read_bytes() == second.read_bytes()
