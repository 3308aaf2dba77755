"""The audit of published entries, as a user runs it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from tests.cli.conftest import Cli, Spawn

PUBLISHED = Path(__file__).parents[2] / "data" / "published.csv"
ROW = "GitLab 23.00, Magento 32.26, WordPress 58.44, O/A 37.90"


def table(tmp_path: Path, name: str, **numbers: str) -> Path:
    file = tmp_path / name
    header, values = zip(*numbers.items(), strict=True)
    file.write_text(
        f"method,metric,{','.join(header)}\n{file.stem},SR,{','.join(values)}\n", encoding="utf-8"
    )
    return file


def test_findings_are_printed_with_code_slot_value_and_what_to_do(cli: Cli) -> None:
    result = cli("entry", "audit", PUBLISHED)
    assert result.code == 1
    assert result.err == ""
    lines = result.out.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("ASI / gpt-5-mini: "))
    assert lines[first].startswith(
        "ASI / gpt-5-mini: warning [impossible-value] SR gitlab: 23.00 cannot come from one complete run"
    )
    assert lines[first + 1].startswith("  163, 158, ")
    assert "34 warnings, 13 notes in 15 of 17 entries; 2 entries without a finding" in lines
    tested = next(line for line in lines if line.startswith("SR: 39 of 170"))
    assert "20 impossible, 19 possible (4 of them only if cells were rounded first)" in tested
    assert "pools the runs of several models" in tested


def test_a_typed_row(cli: Cli) -> None:
    result = cli("entry", "audit", "--row", ROW)
    assert result.code == 1
    assert "row: warning [impossible-value] SR magento: 32.26" in result.out


def test_several_rows_are_one_entry(cli: Cli) -> None:
    result = cli("entry", "audit", "--row", "ASC: gitlab 0.00", "--row", "SFR: gitlab 0.00")
    assert result.code == 1
    assert "[sfr-without-calls] SFR gitlab: " in result.out
    assert "1 warning, 1 note in 1 of 1 entry" in result.out


def test_nothing_found_exits_0(cli: Cli) -> None:
    result = cli(
        "entry", "audit", "--row", "GitLab 50.00, Magento 50.00, WordPress 50.00, O/A 50.00"
    )
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("1 entry without a finding\n")


def test_notes_alone_exit_0(cli: Cli) -> None:
    result = cli("entry", "audit", "--row", "SFR: gitlab 12.00")
    assert result.code == 0
    assert "note [sfr-unstable]" in result.out


def test_published_entries_need_no_file(cli: Cli) -> None:
    assert cli("entry", "audit", "--published") == cli("entry", "audit", PUBLISHED)


def test_json_is_the_frame_and_what_was_tested(cli: Cli) -> None:
    result = cli("entry", "audit", "--published", "--format", "json")
    assert result.code == 1

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    content = json.loads(result.out, parse_constant=refuse)
    assert content["schema_version"] == 1
    assert content["findings"] == sf.audit(PUBLISHED).to_dicts()
    assert content["tested"] == sf.feasibility(PUBLISHED).to_dicts()
    assert [row["impossible"] for row in content["common_tasks"]] == [8, 8, 4]
    assert content["paired"] is None
    keys = {"entry", "code", "severity", "metric", "slot", "printed", "bound", "message", "hint"}
    assert set(content["findings"][0]) == keys


def test_csv_has_a_row_per_finding(cli: Cli) -> None:
    result = cli("entry", "audit", "--published", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert len(rows) == sf.audit(PUBLISHED).height
    unstable = next(row for row in rows if row["code"] == "sfr-unstable")
    assert unstable["slot"] == ""  # null


@pytest.mark.parametrize("name", ["markdown", "latex", "html"])
def test_other_formats_show_findings_and_what_was_tested(cli: Cli, name: str) -> None:
    result = cli("entry", "audit", "--row", ROW, "--format", name)
    assert result.code == 1
    assert "32.26 cannot come from one complete run" in result.out
    assert "3 of 4 printed numbers could be tested" in result.out


def test_against_another_entry(cli: Cli, tmp_path: Path) -> None:
    slots = ("gitlab", "magento", "wordpress")
    asi = table(tmp_path, "asi.csv", **dict(zip(slots, ("23.00", "32.26", "58.44"), strict=True)))
    mpcr = table(tmp_path, "mpcr.csv", **dict(zip(slots, ("23.20", "39.18", "61.39"), strict=True)))
    result = cli("entry", "audit", mpcr, "--against", asi)
    assert f"{asi} → {mpcr}: bounds from totals alone" in result.out
    rows = {
        line.split()[0]: line
        for line in result.out.splitlines()
        if " whatever " in line or " depends " in line
    }
    assert "always" in rows["magento"]
    assert "never" in rows["gitlab"]
    assert "possibly" in rows["O/A"]
    content = json.loads(cli("entry", "audit", mpcr, "--against", asi, "--format", "json").out)
    assert content["paired"] == sf.paired_bounds(asi, mpcr).to_dicts()
    for name in ("markdown", "latex", "html"):
        shown = cli("entry", "audit", mpcr, "--against", asi, "--format", name).out
        assert "bounds from totals alone" in shown


def test_other_benchmark(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text('conditions = ["plain"]\n[sites]\nbench = 124\n')
    result = cli("entry", "audit", "--row", "bench 22.4", "--benchmark", file)
    assert result.code == 1
    assert "21.774 or 22.581" in result.out
    assert "125" in result.out


def test_trials_make_finer_steps(cli: Cli) -> None:
    assert cli("entry", "audit", "--row", "wordpress 50.05").code == 1
    assert cli("entry", "audit", "--row", "wordpress 50.05", "--trials", 20).code == 0


def test_same_bytes_whatever_the_order_of_the_files(cli: Cli, tmp_path: Path) -> None:
    files = [
        table(tmp_path, f"{name}.csv", gitlab=value)
        for name, value in (("b", "1.00"), ("a", "2.00"))
    ]
    lines = [
        sorted(cli("entry", "audit", *order).out.splitlines()) for order in (files, files[::-1])
    ]
    assert lines[0] == lines[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.json"], "nowhere.json: no entry there"),
        (["--row", "GitLap 1.00"], "did you mean gitlab?"),
        (["--row", "GitLab much"], '"much" is no decimal number'),
        (["--row", "GitLab 1.00, gitlab 2.00"], "gitlab is given twice"),
        (["--row", "SR: GitLab 1", "--row", "GitLab 2"], "two rows of SR"),
        (["--row", " "], "the row is empty"),
        (["--row", ROW, "--trials", "0"], "trials is 0"),
        (["--row", ROW, "--benchmark", "infer"], "cannot be inferred"),
        (["--row", ROW, "--against", str(PUBLISHED)], "one entry is needed on each side, 17 are"),
        (["--format", "json"], "nothing to audit"),
    ],
)
def test_bad_input_exits_2(cli: Cli, arguments: list[str], message: str) -> None:
    result = cli("entry", "audit", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_a_row_of_a_latex_table(cli: Cli) -> None:
    row = "GitLab 23.00 & Magento 32.26 & WordPress 58.44"
    assert cli("entry", "audit", "--row", row) == cli(
        "entry", "audit", "--row", row.replace(" &", ",")
    )


def test_what_stands_beside_a_number_is_the_trouble_and_not_the_name(cli: Cli) -> None:
    result = cli("entry", "audit", "--row", "GitLab 17.71 ± 0.5")
    assert result.code == 2
    assert "gitlab and a number, and nothing else between two commas" in result.err


def test_table_from_standard_input(spawn: Spawn) -> None:
    rows = b"method,metric,gitlab\nA,SR,23.00\n"
    result = spawn("entry", "audit", "-", stdin=rows)
    assert result.code == 1
    assert "SR gitlab: 23.00 cannot come from one complete run" in result.out


def test_no_more_entries_have_findings_than_there_are(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("method,metric,gitlab\nA,SR,23.00\nA,SR,23.00\nB,SR,1.2.3\n")
    assert "in 2 of 2 entries" in cli("entry", "audit", file).out


def test_truncated_entry_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "cut.json"
    file.write_text('{"schema_version": "1.0", "metr')
    result = cli("entry", "audit", file)
    assert (result.code, result.err) == (1, "")
    assert f"{file}: error [schema] line 1, column" in result.out


def test_hostile_names_are_inert(cli: Cli, tmp_path: Path) -> None:
    name = "<script>alert(1)</script>\x1b[31m & 100% _x_"
    file = tmp_path / "rows.csv"
    rows = [f'"{name}",SR,10.05', "other,SR,10.00"]
    file.write_text("method,metric,gitlab\n" + "\n".join(rows) + "\n")
    assert "\x1b" not in cli("entry", "audit", file).out
    html = cli("entry", "audit", file, "--format", "html").out
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
