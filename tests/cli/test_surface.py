"""The commands that there are, what their help says, and how little asking for it costs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

import skillshift_frames
from skillshift_frames.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.conftest import Cli, Spawn

HEAVY = (
    "altair",
    "duckdb",
    "narwhals",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "vl_convert",
)
#: Makes typer take the shell from the command line instead of from the parent process.
NO_DETECTION = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}


def describe(command: Any) -> dict[str, Any]:  # noqa: ANN401 - a command of the click inside typer
    """Give every option and argument of a command and of those below it, by how it is written."""
    surface: dict[str, Any] = {}
    for parameter in command.params:
        if parameter.name in {"install_completion", "show_completion"}:
            continue  # typer's own
        surface[", ".join(parameter.opts)] = {
            "kind": parameter.param_type_name,
            "choices": list(getattr(parameter.type, "choices", [])),
            "default": parameter.default,
            "repeats": parameter.multiple or parameter.nargs != 1,
        }
    for name, below in getattr(command, "commands", {}).items():
        surface |= {f"{name} {key}": value for key, value in describe(below).items()}
    return surface


def command_tree() -> dict[str, Any]:
    return describe(typer.main.get_command(app))


def command_names(command: Any, above: str = "") -> Iterator[str]:  # noqa: ANN401 - as above
    """Give every command that does something, by its words: ``table``, ``entry check``."""
    for name, below in command.commands.items():
        if hasattr(below, "commands"):
            yield from command_names(below, f"{above}{name} ")
        else:
            yield f"{above}{name}"


COMMANDS = tuple(command_names(typer.main.get_command(app)))


def test_command_tree_is_the_agreed_one(check_golden: Callable[[str, str], None]) -> None:
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in command_tree().items()]
    check_golden("cli_surface.json", "{\n" + ",\n".join(lines) + "\n}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_ends_with_an_example(cli: Cli, command: str) -> None:
    result = cli(*command.split(), "--help")
    assert result.code == 0
    assert result.err == ""
    example = result.out[result.out.index("Example:\n") :].splitlines()[1:]
    assert example
    assert all(line.startswith(f"    skillshift-frames {command} ") for line in example)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_option(cli: Cli, command: str) -> None:
    shown = cli(*command.split(), "-h").out
    keys = [
        key.removeprefix(f"{command} ") for key in command_tree() if key.startswith(f"{command} --")
    ]
    options = [key.split(",")[0] for key in keys]
    assert options
    assert all(re.search(rf"^  .*{option}\b", shown, re.MULTILINE) for option in options)


def test_no_arguments_show_the_help(cli: Cli) -> None:
    result = cli()
    assert result.code == 2
    assert "Commands:" in result.out + result.err


def test_version_is_that_of_the_package(cli: Cli) -> None:
    assert cli("--version") == (0, f"skillshift-frames {skillshift_frames.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["table", "--help"], ["plot", "--help"]]
)
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys; from skillshift_frames.cli.app import run\n"
        f"assert run({arguments!r}) == 0\n"
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout
    assert done.stderr.decode().split() == []


def test_completion_script_is_shown(spawn: Spawn) -> None:
    result = spawn("--show-completion", "bash", env=NO_DETECTION)
    assert result.code == 0
    assert result.out.endswith(
        "complete -o default -F _skillshift_frames_completion skillshift-frames\n"
    )


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (("ta",), ["table"]),
        (("table", "--fo"), ["--format", "--force"]),
        (("table", "--format", "ma"), ["markdown"]),
        (("nothing",), []),
    ],
)
def test_bash_completes_what_was_typed(typed: tuple[str, ...], completed: list[str]) -> None:
    program = Path(sysconfig.get_path("scripts"), "skillshift-frames")
    script = (
        f'eval "$({program} --show-completion bash)"\n'
        f"COMP_WORDS=({program} {' '.join(typed)}) COMP_CWORD={len(typed)}\n"
        f"_skillshift_frames_completion {program}\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, check=True, env=NO_DETECTION, text=True
    )
    assert done.stderr == ""
    assert done.stdout.split() == completed


def test_completion_installs_into_the_home_folder(spawn: Spawn, tmp_path: Path) -> None:
    result = spawn("--install-completion", "bash", env={**NO_DETECTION, "HOME": str(tmp_path)})
    assert result.code == 0
    script = tmp_path / ".bash_completions" / "skillshift-frames.sh"
    assert "_SKILLSHIFT_FRAMES_COMPLETE=complete_bash" in script.read_text()
    assert str(script) in (tmp_path / ".bashrc").read_text()
