"""Two runs: compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    BenchmarkOption,
    ErrorsOption,
    Force,
    FormatOption,
    Labels,
    LevelOption,
    MethodOption,
    Output,
    ResamplesOption,
    SeedOption,
    parse_labels,
)
from skillshift_frames.cli.output import Format, emit, render

if TYPE_CHECKING:
    import polars as pl

_METRICS = ("SR", "AS", "ASC", "SFR")


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="Whether one run beats another on the same tasks.",
        epilog="\b\nExample:\n  skillshift-frames compare reference.jsonl induced.jsonl\n"
        "  skillshift-frames compare both.parquet --base reference --treatment induced --margin 3 --gate",
        no_args_is_help=True,
    )(compare)


def compare(
    base: Annotated[
        str | None,
        typer.Argument(metavar="BASE", help="The run to start from, or a file with both."),
    ] = None,
    treatment: Annotated[
        str | None, typer.Argument(metavar="TREATMENT", help="The run to judge.")
    ] = None,
    base_run: Annotated[
        str | None, typer.Option("--base", metavar="LABEL", help="Which run is the base.")
    ] = None,
    treatment_run: Annotated[
        str | None, typer.Option("--treatment", metavar="LABEL", help="Which run is the treatment.")
    ] = None,
    label: Labels = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="SR, AS, ASC, SFR or a column; the first decides. Default: all four.",
        ),
    ] = None,
    composite: Annotated[
        list[str] | None,
        typer.Option(
            "--composite",
            metavar="NAME",
            help="A part of one more metric, the mean of all that are given.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Also the lift for each value of a column."),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            metavar="X",
            help="The largest lift that would not matter; needed for `equivalent`.",
        ),
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit 1 unless the verdict is `helps`.")
    ] = False,
    flips: Annotated[
        bool, typer.Option("--flips", help="List the pairs that changed sides.")
    ] = False,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    method: MethodOption = "auto",
    benchmark: BenchmarkOption = "skillshift",
    errors: ErrorsOption = "exclude",
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Compare two runs pair by pair: lift with its interval, verdict, recommendation, and what found no pair."""
    from skillshift_frames.render import comparison as comparisons, machine  # noqa: PLC0415 - not for --help

    metrics = metric or list(_METRICS)
    columns = {*metrics, *(composite or []), *([by] if by else [])} - set(_METRICS)
    tasks = sf.read_tasks(
        [path for path in (base, treatment) if path is not None],
        labels=parse_labels(label),
        benchmark=benchmark,
        extra="keep" if columns else "refuse",
    )
    sides = _sides(tasks, treatment, base_run, treatment_run, one_file=base == treatment)
    found = sf.compare(
        tasks,
        base=sides[0],
        treatment=sides[1],
        metrics=metrics,
        composite=composite or (),
        by=by,
        margin=margin,
        level=level,
        resamples=resamples,
        rng=seed,
        method=method,
        benchmark=benchmark,
        errors=errors,
    )

    def make(chosen: Format, *, color: bool) -> str:
        if chosen == "json":
            return machine.to_json(found.to_dict())
        if chosen == "csv":
            return machine.to_csv(found.lifts)
        axes = sf.resolve_benchmark(benchmark, tasks)
        return render(
            comparisons.comparison_document(found, axes, flips=flips), chosen, color=color
        )

    emit(make, format, output, force=force)
    if gate and found.decision.verdict != "helps":
        raise typer.Exit(1)


def _sides(
    tasks: pl.DataFrame,
    treatment: str | None,
    base_run: str | None,
    treatment_run: str | None,
    *,
    one_file: bool,
) -> tuple[str, str]:
    """Find out which run is which: by its label, else by the order of two files with one run each."""
    runs = tasks.get_column("run").unique(maintain_order=True).to_list()
    if base_run is not None and treatment_run is not None:
        return base_run, treatment_run
    if one_file and len(runs) == 1:
        return runs[0], runs[0]
    if treatment is None or one_file or len(runs) != 2:  # noqa: PLR2004 - two sides
        msg = f"which run is which? Give --base and --treatment; the files have {', '.join(sorted(runs))}"
        raise sf.InputError(msg)
    return base_run or runs[0], treatment_run or runs[1]
