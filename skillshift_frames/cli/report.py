"""One page about some runs: report."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    BenchmarkOption,
    ErrorsOption,
    Extra,
    Force,
    FromOption,
    Labels,
    LevelOption,
    MarginOption,
    MethodOption,
    NullOption,
    Output,
    Pool,
    ResamplesOption,
    Runs,
    SeedOption,
)
from skillshift_frames.cli.output import Format, emit, say
from skillshift_frames.cli.reading import hint_at_shards, reading

if TYPE_CHECKING:
    import polars as pl

_EXAMPLE = """\b
Example:
  skillshift-frames report runs/*.jsonl -o report.html
  skillshift-frames report reference.jsonl induced.jsonl --base reference -o report.html"""

_SUFFIXES = {".html", ".htm"}
#: Not of what made the numbers, or not the same on every machine.
_UNSAID = {"output", "force"}


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="One self-contained page about some runs.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
    )(report)


def report(
    context: typer.Context,
    runs: Runs = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="LABEL",
            help="The run that every other one is compared with; default: nothing is compared.",
            show_default=False,
        ),
    ] = None,
    margin: MarginOption = None,
    title: Annotated[
        str | None,
        typer.Option(
            "--title",
            metavar="TEXT",
            help="Of the page; default: the benchmark and the runs.",
            show_default=False,
        ),
    ] = None,
    static: Annotated[
        bool,
        typer.Option("--static", help="Leave out the script that brings charts to life (0.9 MB)."),
    ] = False,
    benchmark: BenchmarkOption = "skillshift",
    errors: ErrorsOption = "exclude",
    null: NullOption = "propagate",
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    method: MethodOption = "auto",
    output: Output = None,
    force: Force = False,
) -> None:
    """Write one page that stands alone: coverage, table, cells, charts, intervals, comparison, audit, methods.

    It holds everything it needs and fetches nothing; charts come to life where scripts run, and are there where none do.
    """
    if output is None or (str(output) != "-" and output.suffix.lower() not in _SUFFIXES):
        msg = "report needs -o FILE.html (or -o - for standard output)"
        raise sf.InputError(msg)

    @cache
    def work() -> pl.DataFrame:
        return sf.read_tasks(
            runs or [], **reading(label, benchmark, pool=pool, extra=extra, from_=from_)
        )

    def make(chosen: Format, *, color: bool) -> str:
        del chosen, color  # a page is a page
        tasks = work()
        axes = sf.resolve_benchmark(benchmark, tasks)
        hint_at_shards(sf.cells(tasks, benchmark=axes, errors=errors))
        return sf.report(
            tasks,
            base=base,
            title=title,
            margin=margin,
            level=level,
            resamples=resamples,
            rng=seed,
            method=method,
            benchmark=benchmark,
            errors=errors,
            null=null,
            javascript=not static,
            command=_command(context),
        )

    emit(make, "html", output, force=force)
    if str(output) != "-":
        records, labels = work().height, work().get_column("run").n_unique()
        say(
            f"{output}: {records:,} {'record' if records == 1 else 'records'} of "
            f"{labels:,} {'run' if labels == 1 else 'runs'}"
        )
    from skillshift_frames.render.report.charts import plots_installed  # noqa: PLC0415 - not for --help

    if not plots_installed():
        say('hint: the page has no charts; pip install "skillshift-frames[plots]" brings them')


def _command(context: typer.Context) -> str:
    """Write the command with what was given, so that it says the same wherever the files lie and however they were listed.

    Files of absolute paths go by their names: where they lie on one machine is of no use on another.
    """
    words = ["skillshift-frames", "report"]
    options: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name == "DEFAULT" or name in _UNSAID:
            continue
        value = context.params[name]
        if name == "runs":
            words += sorted(map(_shown, value))
        elif parameter.param_type_name == "option":
            options += _as_typed(parameter.opts[0], value)
    return shlex.join([*words, *options, "-o", "report.html"])


def _as_typed(option: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [option] if value else []
    if isinstance(value, (list, tuple)):
        parts = sorted(str(item).partition("=") for item in value)
        return [
            word for name, sign, path in parts for word in (option, f"{name}{sign}{_shown(path)}")
        ]
    said = _shown(str(value)) if option == "--benchmark" else str(value)
    return [f"{option}={said}"] if said.startswith("-") else [option, said]


def _shown(path: str) -> str:
    given = Path(path)
    if given.is_absolute():
        return given.name
    return f"./{path}" if path.startswith("-") and path != "-" else path
