"""``shift``: how entries and runs fall under each shift, and what every format says of it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import skillshift_frames as sf
from tests.cli.test_runs_and_labels import HOSTILE, Tags

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Cli, Shop, Spawn

PUBLISHED = Path(__file__).parents[2] / "data" / "published.csv"
READABLE = ("text", "markdown", "latex", "html")
QUICK = ("--resamples", "200")


def words(line: str) -> list[str]:
    return line.split()


def test_published_entries_fall(cli: Cli) -> None:
    result = cli("shift", "--published")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("MPCR / gpt-5-mini"))
    assert [words(line) for line in lines[start : start + 5]] == [
        words("MPCR / gpt-5-mini Src-Perc perceptual 56.67 57.09 -0.42 -0.74"),
        words("Src-Exec execution 56.67 33.23 23.44 41.36"),
        words("Tgt contextual 56.67 43.32 13.35 23.56"),
        words("Tgt-Perc contextual + perceptual 56.67 37.24 19.43 34.29"),
        words("Tgt-Exec contextual + execution 56.67 19.99 36.68 64.73"),
    ]
    assert "SR under Src − SR under the shifted condition, in points; positive" in result.out
    assert "Drops are computed before rounding" not in result.out  # decimals subtract
    assert cli("shift", PUBLISHED) == result


def test_runs_fall_with_paired_intervals(cli: Cli, demo: list[Path]) -> None:
    result = cli("shift", *demo)
    assert (result.code, result.err) == (0, "")
    assert words(result.out.splitlines()[3]) == words(
        "induced Src-Perc perceptual 56.45 47.50 8.95 [4.1, 13.9] 15.86 [7.5, 24.0]"
    )
    assert "10,000 resamples, seed 0, a family's conditions together\n" in result.out
    assert "workflow: 2,124 of 2,130 tasks scored, 4 errored, 2 missing" in result.out
    assert "Drops are computed before rounding" in result.out
    assert "(--errors exclude)" in result.out


def test_another_metric_and_source(cli: Cli, demo: list[Path]) -> None:
    out = cli("shift", "--published", "--metric", "ASC", "--source", "tgt").out
    assert out.startswith("skillshift: how ASC changes from Tgt\n")
    assert "in calls per task; positive where it fell" in out
    assert "Without ASC, and so not listed: AWM / claude-haiku-4.5, AWM / deepseek-v3.2" in out
    runs = cli("shift", demo[0], "--metric", "AS", *QUICK).out
    assert "in steps; positive where it fell" in runs


def test_help_is_about_any_metric_and_says_what_infer_is_for(cli: Cli) -> None:
    for command in ("shift", "leaderboard"):
        told = " ".join(cli(command, "--help").out.replace("│", " ").split())
        assert "infer is for records" in told
    assert "Show how SR, or the --metric, changes" in " ".join(cli("shift", "--help").out.split())
    assert cli("shift", "--published").out.startswith("skillshift: how SR falls from Src\n")


def test_where_there_is_no_interval_it_says_why(cli: Cli, shop: Shop) -> None:
    out = cli("shift", shop.run, "--benchmark", shop.benchmark, "--metric", "SFR", *QUICK).out
    assert "no interval of the drop: undefined in " in out
    alike = cli("shift", shop.run, "--benchmark", "infer", "--source", "shifted", *QUICK).out
    assert "asi  plain" in alike


def test_entries_and_records_do_not_mix(cli: Cli, demo: list[Path]) -> None:
    result = cli("shift", "--published", demo[0])
    assert (result.code, result.out) == (2, "")
    assert "holds records, and --published entries" in result.err
    for option in (["--seed", "1"], ["--method", "delta"]):
        result = cli("shift", "--published", *option)
        assert result.code == 2
        assert f"error: {option[0]} is for records\n" in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--source", "gitlab"], "source is 'gitlab'; one of src, src-perc"),
        (["--metric", "sr"], "'sr' is not one of"),
    ],
)
def test_no_such_source_or_metric(cli: Cli, options: list[str], message: str) -> None:
    for of in (["--published"], ["data/demo/induced.jsonl", *QUICK]):
        result = cli("shift", *of, *options)
        assert (result.code, result.out) == (2, "")
        assert message in result.err


def test_options_are_passed_on(
    cli: Cli, demo: list[Path], strict_json: Callable[[str], Any]
) -> None:
    options = ("--level", "0.8", "--seed", "3", "--errors", "zero", "--method", "delta", *QUICK)
    content = strict_json(cli("shift", *demo, *options, "-f", "json").out)
    found = sf.shift_intervals(
        sf.read_tasks(demo), level=0.8, rng=3, errors="zero", method="delta", resamples=200
    )
    assert content["rows"] == found.to_dicts()
    header = ["schema_version", "benchmark", "metric", "source", "errors", "level", "seed"]
    assert list(content) == [*header, "resamples", "coverage", "rows"]
    assert [content[key] for key in header] == [1, "skillshift", "SR", "src", "zero", 0.8, 3]


def test_json_of_entries_is_strict(cli: Cli, strict_json: Callable[[str], Any]) -> None:
    content = strict_json(cli("shift", "--published", "-f", "json").out)
    assert list(content) == ["schema_version", "benchmark", "metric", "source", "rows"]
    assert len(content["rows"]) == 17 * 5
    assert content["rows"][0]["date"] == "2026-08-26"
    assert content["rows"][0]["label"] is None


def test_csv_has_full_precision_and_empty_nulls(cli: Cli, shop: Shop, demo: list[Path]) -> None:
    out = cli("shift", *demo, *QUICK, "-f", "csv").out
    header, *rows = csv.reader(out.splitlines())
    assert header == list(sf.SHIFTS)
    table = sf.table(sf.cells(sf.read_tasks(demo))).filter(metric="SR")
    values = [row["tgt-exec"] for row in table.to_dicts()]
    assert [float(row[5]) for row in rows if row[2] == "tgt-exec"] == values
    result = cli("shift", shop.run, "--benchmark", shop.benchmark, *QUICK, "-f", "csv")
    (row,) = csv.DictReader(result.out.splitlines())
    assert (row["shift"], row["reason"]) == ("", "")
    assert "note: asi: 10 of 10 tasks scored" in result.err


def test_order_of_files_and_records_does_not_show(
    cli: Cli, demo: list[Path], tmp_path: Path
) -> None:
    copies = []
    for path in demo[::-1]:
        copies.append(tmp_path / path.name)
        copies[-1].write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::-1]))
    table = tmp_path / "published.csv"
    header, *lines = PUBLISHED.read_text().splitlines(keepends=True)
    table.write_text(header + "".join(lines[::-1]))
    for chosen in ("text", "csv", "json"):
        expected = cli("shift", *demo, *QUICK, "-f", chosen)
        assert cli("shift", *copies, *QUICK, "-f", chosen) == expected
        assert cli("shift", table, "-f", chosen) == cli("shift", PUBLISHED, "-f", chosen)


def test_records_from_standard_input(cli: Cli, spawn: Spawn, demo: list[Path]) -> None:
    piped = spawn("shift", "-", *QUICK, "-f", "csv", stdin=demo[0].read_bytes())
    assert piped == cli("shift", "--label", f"stdin={demo[0]}", *QUICK, "-f", "csv")


@pytest.mark.parametrize("chosen", [*READABLE, "csv", "json"])
def test_what_is_undefined_never_reads_nan_or_none(
    cli: Cli, demo: list[Path], shop: Shop, chosen: str
) -> None:
    shown = ("shift", shop.run, "--benchmark", shop.benchmark, "--metric", "SFR", *QUICK)
    for arguments in (("shift", *demo, "--metric", "SFR", *QUICK), shown):
        out = cli(*arguments, "-f", chosen).out
        assert not any(word in out for word in ("nan", "NaN", "None", "Infinity", "inf "))


@pytest.mark.parametrize("label", HOSTILE)
def test_a_hostile_label_is_shown_and_never_obeyed(cli: Cli, shop: Shop, label: str) -> None:
    options = ("--benchmark", shop.benchmark, *QUICK)
    for chosen in READABLE:
        result = cli("shift", "--label", f"{label}={shop.run}", *options, "-f", chosen)
        plain = cli("shift", "--label", f"plain={shop.run}", *options, "-f", chosen)
        assert result.code == 0
        assert not {"\x1b", "\u202e"} & set(result.out + result.err)
        assert result.out.count("\n") == plain.out.count("\n")
        if chosen == "html":
            assert Tags(result.out).seen == Tags(plain.out).seen
        if chosen == "latex":
            assert "\\input{" not in result.out


def test_a_rate_over_few_calls_is_marked_as_in_the_table(cli: Cli, demo: list[Path]) -> None:
    """Of the demo run these three conditions have 21, 28 and 17 calls, and Src more than 30."""
    induced = next(path for path in demo if path.stem == "induced")
    shown = cli("shift", induced, "--metric", "SFR").out
    rows = [line for line in shown.splitlines() if "execution" in line or "contextual" in line]
    marked = {line.split()[0]: "⚠" in line for line in rows}
    assert marked == {
        "Src-Exec": True, "Tgt": True, "Tgt-Perc": True, "Tgt-Exec": False
    }  # fmt: skip
    assert "26.28 ⚠" not in shown
    assert "⚠ SFR over fewer than 30 skill calls" in shown
    assert "⚠" not in cli("shift", induced, "--metric", "SR").out


def test_calls_of_a_run_without_any_do_not_apply(cli: Cli, demo: list[Path]) -> None:
    workflow = next(path for path in demo if path.stem == "workflow")
    shown = cli("shift", workflow, "--metric", "ASC").out
    assert "-- does not apply: ASC of workflow" in shown
    assert "–" not in shown.split("-- does not apply")[0].split("from Src")[1]


def test_a_published_rate_over_unknown_calls_is_marked(cli: Cli) -> None:
    shown = cli("shift", "--published", "--metric", "SFR").out
    assert "13.62 ⚠" in shown
    assert "⚠" not in cli("shift", "--published").out
