"""Benchmarks with other names and unequal sites, from a TOML file or read off the records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli, Shop

#: Worked out by hand from the records of the shop: cart, search, plain, shifted, overall.
BY_HAND = {
    "SR": [(100 + 100 / 3) / 2, 25, 75, 100 / 6, (100 + 100 / 3 + 50 + 0) / 4],
    "AS": [(2 + 6) / 2, (15 + 7.5) / 2, (2 + 15) / 2, (6 + 7.5) / 2, (2 + 6 + 15 + 7.5) / 4],
    "ASC": [1, (2 + 0.5) / 2, (1 + 2) / 2, (1 + 0.5) / 2, (1 + 1 + 2 + 0.5) / 4],
    "SFR": [
        (100 / 3 + 200 / 3) / 2,
        (25 + 0) / 2,
        (100 / 3 + 25) / 2,
        (200 / 3 + 0) / 2,
        (100 / 3 + 200 / 3 + 25 + 0) / 4,
    ],
}


@pytest.mark.parametrize("infer", [False, True])
def test_table_holds_what_was_worked_out_by_hand(cli: Cli, shop: Shop, *, infer: bool) -> None:
    benchmark = "infer" if infer else shop.benchmark
    result = cli("table", shop.run, "--benchmark", benchmark, "-f", "csv")
    header, *rows = [line.split(",") for line in result.out.splitlines()]
    assert header == ["run", "metric", "cart", "search", "plain", "shifted", "overall"]
    assert [row[:2] for row in rows] == [["asi", metric] for metric in BY_HAND]
    for row, expected in zip(rows, BY_HAND.values(), strict=True):
        assert [float(x) for x in row[2:]] == pytest.approx(expected, rel=1e-15)


def test_overall_is_the_mean_of_cells_and_not_of_tasks(cli: Cli, shop: Shop) -> None:
    out = cli("table", shop.run, "--benchmark", shop.benchmark).out
    sr = next(line for line in out.splitlines() if line.split()[:2] == ["asi", "SR"])
    assert sr.split()[-1] == "45.83"  # 5 of 10 tasks succeeded
    assert "Unweighted means of cells" in out


def test_a_toml_benchmark_says_names_and_order(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text(
        'name = "the shop"\nconditions = ["shifted", "plain"]\n[sites]\nsearch = 2\ncart = 4\n'
        '[titles]\ncart = "Shopping cart"\n'
    )
    text = cli("table", shop.run, "--benchmark", path).out.splitlines()
    assert text[0].startswith("the shop: means of cells")
    assert text[3].split() == ["Run", "Metric", "search", "Shopping", "cart", "shifted", "plain"]
    assert any("asi: 10 of 12 tasks scored, 2 missing" in line for line in text)
    header = cli("table", shop.run, "--benchmark", path, "-f", "csv").out.splitlines()[0]
    assert header == "run,metric,search,cart,shifted,plain,overall"


def test_an_inferred_benchmark_is_named_and_expects_the_fullest_cell(
    cli: Cli, shop: Shop, tmp_path: Path
) -> None:
    lines = shop.run.read_text().splitlines(keepends=True)
    shop.run.write_text("".join(lines[1:]))  # without the first task of cart, plain
    result = cli("table", shop.run, "--benchmark", "infer")
    assert result.out.startswith("inferred: means of cells")
    assert "asi: 9 of 10 tasks scored, 1 missing (cart × plain 2/3)" in result.out
    target = tmp_path / "asi.parquet"
    assert cli("export", shop.run, "--benchmark", "infer", "-o", target).code == 0
    assert cli("table", target, "--benchmark", "infer").out == result.out


def test_check_under_infer_takes_any_name(cli: Cli, shop: Shop) -> None:
    assert cli("check", shop.run, "--benchmark", "infer", "--strict").code == 0
    assert cli("check", shop.run).code == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("conditions = [", "not valid TOML"),
        ('conditions = ["a"]', "sites is missing"),
        ('conditions = ["a"]\n[sites]\na = 1', "'a' stands for more than one thing"),
        ('conditions = ["a"]\n[sites]\noverall = 1', "the table needs for itself"),
        ('conditions = ["a"]\n[sites]\nb = 0', "a positive integer is needed"),
    ],
)
def test_a_benchmark_that_cannot_be_is_refused(
    cli: Cli, shop: Shop, tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(content)
    result = cli("table", shop.run, "--benchmark", path)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
