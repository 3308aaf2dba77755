"""Two runs: compare."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    BenchmarkOption,
    ErrorsOption,
    Extra,
    Force,
    FormatOption,
    FromOption,
    GateOption,
    Labels,
    LevelOption,
    MarginOption,
    MethodOption,
    Output,
    ResamplesOption,
    SeedOption,
)
from skillshift_frames.cli.output import Format, emit, render, say_notes
from skillshift_frames.cli.reading import Reading, is_given, reading

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
    context: typer.Context,
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
    extra: Extra = "refuse",
    from_: FromOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="SR, AS, ASC, SFR or a column, of which more counts as better; the first decides. Default: all four.",
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
    margin: MarginOption = None,
    gate: GateOption = False,
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

    @cache
    def work() -> tuple[sf.Comparison, sf.Benchmark]:
        named = {*metrics, *(composite or []), *([by] if by else [])}
        policy = "keep" if not is_given(context, "extra") and _needs_keeping(named) else extra
        tasks = _read(
            [path for path in (base, treatment) if path is not None],
            reading(label, benchmark, extra=policy, from_=from_),
        )
        sides = _sides(tasks, base, treatment, base_run, treatment_run)
        axes = sf.resolve_benchmark(benchmark, tasks)
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
            benchmark=axes,
            errors=errors,
        )
        return found, axes

    def make(chosen: Format, *, color: bool) -> str:
        found, axes = work()
        if chosen == "json":
            return machine.to_json(found.to_dict())
        document = comparisons.comparison_document(found, axes, flips=flips)
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(found.lifts.vstack(found.lifts_by))
        return render(document, chosen, color=color)

    emit(make, format, output, force=force)
    if gate and work()[0].decision.verdict != "helps":
        raise typer.Exit(1)


def _read(paths: list[str], how: Reading) -> pl.DataFrame:
    """Read both sides, the base's rows first, also of another tool's results, whose trials come by the names of their runs."""
    import polars as pl  # noqa: PLC0415 - not for --help

    from skillshift_frames.readers.trials import of_other_tools  # noqa: PLC0415

    if len(set(paths)) == 1 or not of_other_tools(paths, how["from_"]):
        return sf.read_tasks(paths, **how)
    sides = [sf.read_tasks(path, **how) for path in paths]
    if set(sides[0].get_column("run")) & set(sides[1].get_column("run")):
        sides = [
            side.with_columns(run=pl.concat_str(pl.lit(path), "run", separator=" "))
            for path, side in zip(paths, sides, strict=True)
        ]
    return pl.concat(sides, how="diagonal_relaxed")


def _needs_keeping(named: set[str]) -> bool:
    """Tell whether a named column is none that every record has, so that it can only be one under a key of its own."""
    return bool(named - {*_METRICS, *sf.TASKS, "family"})


def _sides(
    tasks: pl.DataFrame,
    base: str | None,
    treatment: str | None,
    base_run: str | None,
    treatment_run: str | None,
) -> tuple[str, str]:
    """Find out which run is which: by one label at least, else by the order of two files with one run each."""
    if base_run is not None and treatment_run is not None:
        return base_run, treatment_run
    runs = tasks.get_column("run").unique(maintain_order=True).to_list()
    shown = ", ".join(sorted(runs))
    one_file = treatment is not None and base == treatment
    given = base_run if base_run is not None else treatment_run
    if given is not None and given not in runs:
        msg = f"there is no run {given!r}; the files have {shown}"
        raise sf.InputError(msg)
    if one_file and len(runs) == 1:
        return runs[0], runs[0]
    if len(runs) != 2 or (given is None and (treatment is None or one_file)):  # noqa: PLR2004 - two sides
        msg = f"which run is which? Give --base and --treatment; the files have {shown}"
        raise sf.InputError(msg)
    if given is None:
        return runs[0], runs[1]
    (other,) = (run for run in runs if run != given)
    return (given, other) if base_run is not None else (other, given)
