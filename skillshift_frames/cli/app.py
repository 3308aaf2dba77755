"""The command tree, and what an exception means as an exit code."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from copy import copy
from io import StringIO
from typing import Annotated

import typer
from typer.exceptions import TyperException

from skillshift_frames._version import __version__
from skillshift_frames.cli import (
    agreement,
    calibrate,
    compare,
    entry,
    headroom,
    leaderboard,
    lift,
    plan,
    plot,
    records,
    report,
)
from skillshift_frames.cli.output import discard, say
from skillshift_frames.errors import InputError, SkillshiftError, SkillshiftWarning

#: 1 is an answer ("no"), 2 the caller's mistake, 70 ours (EX_SOFTWARE), 130 an interrupt (128 + SIGINT).
BAD_INPUT, BUG, INTERRUPTED = 2, 70, 130

NAME = "skillshift-frames"
#: Set by a shell that wants to know how a command line goes on.
COMPLETION = "_SKILLSHIFT_FRAMES_COMPLETE"

app = typer.Typer(
    name=NAME,
    help="From per_task.jsonl to numbers that can be trusted.",
    epilog="Exit codes: 0 fine, 1 the answer is no, 2 bad input or usage, 70 a bug of ours, 130 interrupted.",
    no_args_is_help=True,
    # Plain help reads as well, and does not make every --help import rich and a Markdown parser.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
records.add_commands(app)
compare.add_commands(app)
plan.add_commands(app)
headroom.add_commands(app)
entry.add_commands(app)
leaderboard.add_commands(app)
calibrate.add_commands(app)
lift.add_commands(app)
agreement.add_commands(app)
plot.add_commands(app)
report.add_commands(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"skillshift-frames {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """From per_task.jsonl to numbers that can be trusted."""


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and give its exit code; nothing is raised."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", SkillshiftWarning)
    try:
        if sys.stdout is None:
            msg = "standard output is closed"
            raise InputError(msg)  # noqa: TRY301 - the one place that turns errors into codes
        if COMPLETION in os.environ:
            typer.main.get_command(app).main(prog_name=NAME)  # answers the shell and exits
        given = sys.argv[1:] if arguments is None else arguments
        command = typer.main.get_command(_only_what_is_named(given))
        # What main does, without its own idea of what an interrupt and a closed pipe mean.
        with command.make_context(NAME, given) as context:
            command.invoke(context)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last resort: a bug must not look like an answer
        return _explain(error)
    return 0


def _only_what_is_named(arguments: list[str]) -> typer.Typer:
    """Leave out the commands that were not called: building all of them takes a fifth of a small table's time."""
    named = arguments[:1]
    commands = [
        command
        for command in app.registered_commands
        if command.callback and [command.callback.__name__] == named
    ]
    groups = [group for group in app.registered_groups if [group.name] == named]
    if not commands and not groups:
        return app
    narrowed = copy(app)
    narrowed.registered_commands, narrowed.registered_groups = commands, groups
    return narrowed


def _explain(error: BaseException) -> int:
    """Say what went wrong, and give the exit code that it means."""
    match error:
        case typer.Exit():
            return error.exit_code
        case BrokenPipeError():
            discard(sys.stdout)
            return 0
        case TyperException():
            _show_usage_error(error)
            return BAD_INPUT
        case SkillshiftError() | OSError():
            say(f"error: {_reason(error)}")
            return BAD_INPUT
        case KeyboardInterrupt() | typer.Abort():
            say("interrupted")
            return INTERRUPTED
    say("".join(traceback.format_exception(error)).rstrip())
    say("This is a bug in skillshift-frames; please report it with the lines above.")
    return BUG


def _reason(error: SkillshiftError | OSError) -> str:
    """Give the message; a full disk or a file that may not be read is no bug of ours either, but names no place."""
    if isinstance(error, SkillshiftError):
        return str(error)
    return f"{error.filename or 'writing the output'}: {error.strerror or error}"


def _show_usage_error(error: TyperException) -> None:
    show = getattr(error, "show", None)  # usage errors show the usage line, too
    if show is None:
        say(f"error: {error.format_message()}")
        return
    shown = StringIO()
    show(file=shown)  # not to the terminal at once: it repeats what was typed as it was typed
    say(shown.getvalue().rstrip("\n"))


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    kind = "note" if issubclass(category, SkillshiftWarning) else category.__name__
    say(f"{kind}: {message}")
