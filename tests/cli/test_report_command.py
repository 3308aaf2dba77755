"""`report`: where it writes, what it prints of itself, and the same bytes whoever runs it and however files are listed."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli, Shop, Spawn

QUICK = ("--resamples", "100")


def command_of(page: Path) -> list[str]:
    shown = re.search(r'aria-label="Command"><code>(.*?)</code>', page.read_text(), re.DOTALL)
    assert shown
    return shlex.split(shown[1].replace("&#x27;", "'").replace("&gt;", ">"))


def test_it_writes_one_page_and_says_of_what(cli: Cli, demo: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    said = f"{page}: 6,388 records of 3 runs\n"
    assert cli("report", *demo, *QUICK, "-o", page) == (0, "", said)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    again = cli("report", *demo, *QUICK, "-o", page)
    assert again.code == 2
    assert "--force" in again.err


def test_without_charts_a_hint_says_so(
    cli: Cli, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    options = ("--benchmark", shop.benchmark, *QUICK)
    result = cli("report", shop.run, *options, "-o", tmp_path / "report.html")
    assert result.code == 0
    assert "hint: the page has no charts" in result.err


def test_standard_output_gets_the_same_bytes(cli: Cli, demo: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    cli("report", *demo, *QUICK, "-o", page)
    assert cli("report", *demo, *QUICK, "-o", "-").out == page.read_text()


@pytest.mark.parametrize("output", [(), ("-o", "report.pdf"), ("-o", "report")])
def test_a_page_needs_a_name_that_says_so(
    cli: Cli, demo: list[Path], output: tuple[str, ...]
) -> None:
    result = cli("report", *demo, *output)
    assert result.code == 2
    assert "report needs -o FILE.html" in result.err


def test_faults_and_wrong_bases_leave_no_page(cli: Cli, demo: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = cli("report", *demo, "--base", "indced", "-o", page)
    assert (result.code, result.out) == (2, "")
    assert "there is no run 'indced'" in result.err
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert cli("report", tmp_path / "bad.jsonl", "-o", page).code == 2
    assert not page.exists()


def test_the_printed_command_makes_the_same_page(
    spawn: Spawn, demo: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in demo:
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    given = ("--base", "reference", "--margin", "3", "--label", "other=induced.jsonl", "--static")
    files = ["workflow.jsonl", "reference.jsonl"]
    assert spawn("report", *files, *given, *QUICK, "-o", "first.html").code == 0
    program, *arguments = command_of(tmp_path / "first.html")
    assert program == "skillshift-frames"
    assert arguments == [
        *("report", "reference.jsonl", "workflow.jsonl", "--label", "other=induced.jsonl"),
        *("--base", "reference", "--margin", "3.0", "--static", "--resamples", "100"),
        *("-o", "report.html"),
    ]
    assert spawn(*arguments).code == 0
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "first.html").read_bytes()


def test_no_path_of_the_machine_is_in_the_page(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert shop.run.is_absolute()
    options = ("--benchmark", shop.benchmark, *QUICK)
    assert cli("report", shop.run, *options, "-o", page).code == 0
    assert str(tmp_path) not in page.read_text()
    said = re.sub(r"<script>.*?</script>", "", page.read_text(), flags=re.DOTALL)
    assert tempfile.gettempdir() not in said
    assert command_of(page)[2:5] == ["per_task.jsonl", "--benchmark", "shop.toml"]


def test_neither_order_of_files_nor_hash_seed_nor_locale_nor_threads_show(
    spawn: Spawn, demo: list[Path], tmp_path: Path
) -> None:
    pages = []
    for number, env in enumerate(
        (
            {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo", "POLARS_MAX_THREADS": "1"},
        )
    ):
        files = demo if number else demo[::-1]
        page = tmp_path / f"{number}.html"
        options = ("--base", "reference", *QUICK)
        assert spawn("report", *files, *options, "-o", page, env=env).code == 0
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]


def test_static_leaves_the_script_out(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    options = ("--benchmark", shop.benchmark, *QUICK)
    for name, more in (("alive", ()), ("static", ("--static",))):
        assert cli("report", shop.run, *options, *more, "-o", tmp_path / f"{name}.html").code == 0
    assert "<script" not in (tmp_path / "static.html").read_text()
    assert (tmp_path / "static.html").stat().st_size < (tmp_path / "alive.html").stat().st_size


def test_a_title_is_shown_and_inert(cli: Cli, shop: Shop, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    options = ("--benchmark", shop.benchmark, *QUICK, "--title", "a <b> & c")
    assert cli("report", shop.run, *options, "-o", page).code == 0
    assert "<h1>a &lt;b&gt; &amp; c</h1>" in page.read_text()
