"""Which records are one run, what it is called, and that a name is only ever a name."""

from __future__ import annotations

import gzip
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli, Shop, Spawn


def labels(out: str) -> list[str]:
    """Give the runs of a table in CSV, in order, each once."""
    return list(dict.fromkeys(line.split(",")[0] for line in out.splitlines()[1:]))


@pytest.fixture
def shards(shop: Shop, write_run: Callable[..., Path]) -> list[Path]:
    """One run in two files, one condition each."""
    return [
        write_run(f"mpcr-{condition}.jsonl", [r for r in shop.records if r["condition"] == condition])
        for condition in ("plain", "shifted")
    ]  # fmt: skip


def test_shards_of_one_run_are_noticed_and_pooled_only_when_asked(
    cli: Cli, shop: Shop, shards: list[Path]
) -> None:
    apart = cli("table", *shards, "--benchmark", shop.benchmark, "-f", "csv")
    assert labels(apart.out) == ["mpcr-plain", "mpcr-shifted"]
    assert "hint: mpcr-plain, mpcr-shifted have no cell in common" in apart.err
    assert "--pool" in apart.err
    pooled = cli("table", *shards, "--benchmark", shop.benchmark, "-f", "csv", "--pool")
    whole = cli("table", shop.run, "--benchmark", shop.benchmark, "-f", "csv")
    assert labels(pooled.out) == ["mpcr"]
    assert pooled.out.replace("mpcr,", "asi,") == whole.out
    assert "hint" not in pooled.err


def test_runs_that_share_a_cell_are_no_shards(cli: Cli, demo: list[Path]) -> None:
    assert "hint" not in cli("table", *demo, "-f", "csv").err


def test_a_folder_is_its_runs_and_equal_names_are_lengthened(
    cli: Cli, shop: Shop, write_run: Callable[..., Path]
) -> None:
    for name in ("day1/asi", "day2/asi", "walt"):
        write_run(f"all/{name}", shop.records)
    folder = shop.benchmark.parent / "all"
    result = cli("table", folder, "--benchmark", shop.benchmark, "-f", "csv")
    assert labels(result.out) == ["day1/asi", "day2/asi", "walt"]


def test_a_label_is_what_the_option_says_and_names_the_file(cli: Cli, demo: list[Path]) -> None:
    result = cli("table", "--label", f"ASI={demo[0]}", "--label", f"none={demo[1]}", "-f", "csv")
    assert labels(result.out) == ["ASI", "none"]


def test_a_label_for_two_files_is_refused(cli: Cli, demo: list[Path]) -> None:
    result = cli("table", "--label", f"a={demo[0]}", "--label", f"a={demo[1]}")
    assert result.code == 2
    assert "--pool" in result.err


def test_standard_input_is_a_run(spawn: Spawn, demo: list[Path]) -> None:
    result = spawn("table", "-", "-f", "csv", stdin=demo[0].read_bytes())
    assert result.code == 0
    assert labels(result.out) == ["stdin"]


def test_a_compressed_file_is_the_same_run(cli: Cli, demo: list[Path], tmp_path: Path) -> None:
    packed = tmp_path / "induced.jsonl.gz"
    packed.write_bytes(gzip.compress(demo[0].read_bytes()))
    assert cli("table", packed) == cli("table", demo[0])


def test_unknown_keys_are_refused_kept_or_ignored(
    cli: Cli, shop: Shop, write_run: Callable[..., Path], tmp_path: Path
) -> None:
    path = write_run("extra", [record | {"cost": 0.5} for record in shop.records])
    options = (path, "--benchmark", shop.benchmark)
    refused = cli("table", *options)
    assert refused.code == 2
    assert f"{path}:1: cost: " in refused.err
    kept, ignored = tmp_path / "kept.csv", tmp_path / "ignored.csv"
    assert cli("export", *options, "--extra", "keep", "-o", kept).code == 0
    assert cli("export", *options, "--extra", "ignore", "-o", ignored).code == 0
    assert kept.read_text().splitlines()[0].endswith(",error,cost")
    assert ignored.read_text().splitlines()[0].endswith(",error")


HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "two\nlines",
    "[bold]loud[/bold]",
    "<script>alert(1)</script>",
    "a | b",
    r"\input{secret} $x$ 100% _&#",
    "\u202egpj.exe",
    '"quoted", or ‘so’',
)


class Tags(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.parametrize("command", ["table", "cells", "check"])
def test_a_hostile_label_is_shown_and_never_obeyed(
    cli: Cli, shop: Shop, command: str, label: str, strict_json: Callable[[str], Any]
) -> None:
    arguments = (command, "--label", f"{label}={shop.run}", "--benchmark", shop.benchmark)
    plain = (command, "--label", f"plain={shop.run}", "--benchmark", shop.benchmark)

    def lines(chosen: str, of: tuple[object, ...] = arguments) -> list[str]:
        result = cli(*of, "-f", chosen)
        assert result.code == 0
        assert not {"\x1b", "\u202e"} & set(result.err)
        return result.out.split("\n")

    for chosen in ("text", "markdown", "latex", "html"):
        shown = "\n".join(lines(chosen))
        assert not {"\x1b", "\u202e"} & set(shown)
        assert shown.count("\n") == len(lines(chosen, plain)) - 1
    assert Tags("\n".join(lines("html"))).seen == Tags("\n".join(lines("html", plain))).seen
    bars = [line.replace("\\|", "").count("|") for line in lines("markdown")]
    assert bars == [line.count("|") for line in lines("markdown", plain)]
    assert "\\input{" not in "\n".join(lines("latex"))
    runs = strict_json("\n".join(lines("json")))["coverage"]
    assert [run["run"] for run in runs] == [label]


def test_markup_in_a_label_is_text(cli: Cli, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    label = f"[bold]loud[/bold]={shop.run}"
    assert "[bold]loud[/bold]" in cli("table", "--label", label, "--benchmark", shop.benchmark).out


def test_what_a_file_holds_does_not_reach_the_terminal_raw(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\x1b]0;owned\x07\x1b[2J\n")
    for result in (cli("check", path), cli("table", path)):
        assert "a.jsonl:1: " in result.out + result.err
        assert "\x1b" not in result.out + result.err
        assert "\x07" not in result.out + result.err


def test_a_hostile_file_name_does_not_reach_the_terminal_raw(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2Jb.jsonl"
    path.write_text("{}\n")
    for result in (cli("check", path), cli("table", path), cli("table", f"{path}.gone")):
        assert r"a\x1b[2Jb.jsonl" in result.out + result.err
        assert "\x1b" not in result.out + result.err
