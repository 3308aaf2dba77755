"""Hostile names of runs, sites, conditions and tasks, through every command and format, and in what is said beside it."""

from __future__ import annotations

import json
import re
import unicodedata
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from tests.hostile import COMMANDS, LABELS, SOME, write_runs
from tests.readers.conftest import record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.cli.conftest import Cli

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "div", "span", "ul", "li"),
    *("table", "caption", "colgroup", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "class", "role", "aria-label", "tabindex"),
    *("scope", "span", "colspan", "rowspan"),
}


class Page(HTMLParser):
    """A page with nothing in it but what a table is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES

    def handle_data(self, data: str) -> None:
        self.text += data


def invisible(text: str) -> set[str]:
    """Find what cannot be seen, but for the ends of lines."""
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return {sign for sign in text if unicodedata.category(sign) in kinds} - {"\n"}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("labels", SOME, ids=lambda labels: next(iter(labels)))
def test_every_label_is_inert_everywhere(
    cli: Cli, tmp_path: Path, command: str, labels: dict[str, str]
) -> None:
    files = write_runs(tmp_path, labels)
    for chosen in ("text", "markdown", "latex", "html", "json"):
        code, out, err = cli(*COMMANDS[command], *files, "--benchmark", "infer", "--format", chosen)
        assert code == 0, err
        assert invisible(err) == set()
        if chosen == "json":
            json.loads(out)  # a program's reader needs the label itself
            continue
        assert invisible(out) == set()
        if chosen == "html":
            assert ("<script>alert(1)</script>" in Page(out).text) is ("script" in labels)
        if chosen == "markdown":
            assert not re.search(r"<(?!/?span>)\w", out)


def lines_of(labels: Iterable[str], **faulty: object) -> str:
    return "\n".join(json.dumps(record(label, site=label, run=label, **faulty)) for label in labels)


@pytest.mark.parametrize("command", ["table", "check"])
def test_faults_and_paths_are_inert(cli: Cli, tmp_path: Path, command: str) -> None:
    path = tmp_path / "a\x1b[31m\u202e\n<b>.jsonl"
    path.write_text(lines_of(LABELS.values(), steps="3\x1b[31m"), encoding="utf-8")
    code, out, err = cli(command, path, "--benchmark", "infer")
    assert code != 0
    assert invisible(out + err) == set()
    code, out, err = cli(command, tmp_path / "no\x1b[31m\u202esuch")
    assert code == 2
    assert invisible(out + err) == set()
    path.write_text(lines_of(LABELS.values()), encoding="utf-8")
    code, out, err = cli(command, path)  # sites that the benchmark has not
    assert code != 0
    assert invisible(out + err) == set()


def test_options_are_inert(cli: Cli, tmp_path: Path) -> None:
    files = write_runs(tmp_path, {"escape": LABELS["escape"]})
    hostile = "\x1b[31m\u202e"
    for arguments in (
        ["table", *files, "--benchmark", hostile],
        ["table", *files, "--label", hostile],
        ["table", "--label", f"{hostile}={hostile}"],
        ["compare", *files, "--base", hostile, "--benchmark", "infer"],
        ["compare", *files, "--metric", hostile, "--benchmark", "infer"],
        ["table", *files, "-o", tmp_path / hostile / "x.txt"],
        ["table", *files, "-o", tmp_path / f"x.{hostile}"],
        ["table", *files, "--format", hostile],
        [hostile],
        ["table", f"--{hostile}"],
        ["leaderboard", "--published", "--slot", hostile],
        ["entry", "check", hostile],
    ):
        code, out, err = cli(*arguments)
        assert code == 2, arguments
        assert invisible(out + err) == set(), arguments
