"""The README is played as it stands: every command and every example in it, from top to bottom, in one folder."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import typer

import skillshift_frames as sf
from skillshift_frames.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text()
FROM_NOTHING = (
    "python -m pip install . && skillshift-frames table data/demo/*.jsonl",
    'python -m pip install ".[test]" && python -m pytest',
)


class Block(NamedTuple):
    """A fenced block: its language, the line that it starts on, and what is in it."""

    language: str
    line: int
    text: str


def fenced_blocks() -> Iterator[Block]:
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        yield Block(match[1], TEXT.count("\n", 0, match.start()) + 1, match[2])


BLOCKS = list(fenced_blocks())
PLAYED = [block for block in BLOCKS if block.language in {"console", "python"}]


def play_console(text: str, folder: Path) -> str:
    """Type the lines that begin with ``$`` (going on with ``>``), and give what a terminal would then show."""
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    shown = ""
    for typed in re.findall(r"^\$ .*\n(?:> .*\n)*", text, re.MULTILINE):
        command = re.sub(r"^[$>] ", "", typed, flags=re.MULTILINE)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={"PATH": path, "HOME": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        shown += typed + done.stdout.decode()
    return shown


def play_python(text: str, folder: Path, names: dict[str, Any]) -> str:
    """Type the lines that begin with ``>>>`` (going on with ``...``), and give what a prompt would then show."""
    shown = ""
    for example in doctest.DocTestParser().get_examples(text):
        answer = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(answer):
            exec(compile(example.source, README.name, "single"), names)  # noqa: S102 - our own examples
        first, *rest = example.source.splitlines(keepends=True)
        shown += "".join([f">>> {first}", *(f"... {line}" for line in rest), answer.getvalue()])
    return shown


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Play all blocks, in order, because later ones build on earlier ones; give what each showed."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "data").symlink_to(ROOT / "data")
    names: dict[str, Any] = {}
    shown = {}
    for block in PLAYED:
        if block.language == "console":
            shown[block.line] = play_console(block.text, folder)
        else:
            shown[block.line] = play_python(block.text, folder, names)
    return shown


@pytest.mark.parametrize(
    "block", PLAYED, ids=lambda block: f"{block.language} in line {block.line}"
)
def test_what_is_shown_is_what_happens(
    played: dict[int, str], block: Block, request: pytest.FixtureRequest
) -> None:
    shown = played[block.line]
    if shown != block.text and request.config.getoption("--update-golden"):
        README.write_text(README.read_text().replace(f"\n{block.text}```", f"\n{shown}```", 1))
        pytest.fail("README.md was rewritten: read the change, then run again")
    assert shown == block.text


@pytest.mark.parametrize("line", FROM_NOTHING)
def test_the_two_lines_that_a_newcomer_needs_are_there(line: str) -> None:
    assert [block.text for block in BLOCKS if block.language == "bash"].count(f"{line}\n") == 1


def command_names(command: Any, above: str = "") -> Iterator[str]:  # noqa: ANN401 - a command of the click inside typer
    for name, below in command.commands.items():
        if hasattr(below, "commands"):
            yield from command_names(below, f"{above}{name} ")
        else:
            yield f"{above}{name}"


def test_every_command_is_played() -> None:
    played = "".join(block.text for block in PLAYED)
    commands = list(command_names(typer.main.get_command(app)))
    assert commands
    assert [name for name in commands if f"skillshift-frames {name} " not in played] == []


def test_every_public_name_is_named() -> None:
    assert [name for name in sf.__all__ if not re.search(rf"`[^`\n]*\b{name}\b", TEXT)] == []


def test_every_field_of_a_record_is_explained() -> None:
    assert [
        field for field in sf.TASKS if not re.search(rf"^\| .*`{field}`", TEXT, re.MULTILINE)
    ] == []


def test_every_link_leads_somewhere() -> None:
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in target]
    assert targets
    assert [target for target in targets if not (ROOT / target.partition("#")[0]).exists()] == []
