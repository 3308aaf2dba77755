"""From records: table, cells, check, export."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypedDict

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    BenchmarkOption,
    Ci,
    EngineOption,
    ErrorsOption,
    Extra,
    Force,
    FormatOption,
    FromOption,
    IntervalOption,
    Labels,
    LevelOption,
    MasterOption,
    MethodOption,
    NullOption,
    Output,
    Pool,
    ResamplesOption,
    Runs,
    SeedOption,
    Unique,
    WatchOption,
)
from skillshift_frames.cli.output import Format, emit, render, say, say_notes
from skillshift_frames.cli.progress import progress_shown
from skillshift_frames.cli.reading import Reading, hint_at_shards, is_given, reading

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.render.document import Document, Note

Errors: TypeAlias = Literal["exclude", "zero"]
Engine: TypeAlias = Literal["polars", "spark"]


class Found(TypedDict):
    """How intervals were found, as every format names it."""

    level: float
    seed: int
    resamples: int


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    for command, summary in _SUMMARIES.items():
        # "\b" keeps the lines of the example as they are.
        example = f"\b\n{_EXAMPLES[command.__name__]}"
        app.command(short_help=summary, epilog=example, no_args_is_help=True)(command)


_EXAMPLES = {
    "table": "Example:\n  skillshift-frames table runs/*.jsonl\n"
    "  skillshift-frames table --label ASI=a/per_task.jsonl --label MPCR=b/per_task.jsonl -o table.tex\n"
    "  skillshift-frames table --watch 'runs/*.jsonl'",
    "cells": "Example:\n  skillshift-frames cells runs/asi.jsonl --format csv > cells.csv\n"
    "  skillshift-frames cells jobs/ --benchmark infer --costs",
    "check": "Example:\n  skillshift-frames check runs/ --strict && skillshift-frames table runs/",
    "export": "Example:\n  skillshift-frames export runs/*.jsonl -o runs.parquet",
}


def table(
    runs: Runs = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    unique: Unique = True,
    engine: EngineOption = "polars",
    master: MasterOption = None,
    benchmark: BenchmarkOption = "skillshift",
    errors: ErrorsOption = "exclude",
    null: NullOption = "propagate",
    ci: Ci = False,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    method: MethodOption = "auto",
    watch: WatchOption = False,
    interval: IntervalOption = None,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Print the website × condition table: SR, AS, ASC, SFR per site, condition and overall."""
    from skillshift_frames.render import intervals, machine, tables  # noqa: PLC0415 - not for --help

    def with_ends(
        tasks: pl.DataFrame, axes: sf.Benchmark, slots: pl.DataFrame
    ) -> tuple[pl.DataFrame, tuple[Note, ...]]:
        ends = sf.intervals(
            tasks,
            level=level,
            resamples=resamples,
            rng=seed,
            method=method,
            benchmark=axes,
            errors=errors,
            null=null,
        )
        found = Found(level=level, seed=seed, resamples=resamples)
        return machine.slots_with_ends(slots, ends), tuple(intervals.interval_notes(ends, **found))

    def make(chosen: Format, *, color: bool) -> str:
        tasks, axes, cells = _cells(
            runs,
            reading(label, benchmark, pool=pool, extra=extra, from_=from_),
            errors,
            families=ci,
            unique=unique,
            engine=engine,
            master=master,
        )
        slots = sf.slots(cells, benchmark=axes, null=null)
        notes: tuple[Note, ...] = ()
        found: Found | None = None
        if ci:
            found = Found(level=level, seed=seed, resamples=resamples)
            slots, notes = with_ends(tasks, axes, slots)
        if chosen == "json":
            return machine.table_json(
                slots, cells, axes, errors=errors, null=null, uncertainty=found
            )
        document = tables.table_document(
            slots, cells, sf.bounds(cells), axes, errors=errors, null=null, uncertainty=notes
        )
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(machine.table_with_ends(slots, axes))
        return render(document, chosen, color=color)

    def describe(tasks: pl.DataFrame) -> tuple[Document, int, int]:
        axes = sf.resolve_benchmark(benchmark, tasks)
        cells = sf.cells(tasks, benchmark=axes, errors=errors)
        slots = sf.slots(cells, benchmark=axes, null=null)
        slots, notes = with_ends(tasks, axes, slots) if ci else (slots, ())
        document = tables.table_document(
            slots, cells, sf.bounds(cells), axes, errors=errors, null=null, uncertainty=notes
        )
        scored, expected = cells.select("scored", "expected").sum().row(0)
        return document, scored, expected

    if watch or interval is not None:
        from skillshift_frames.cli.watch import refuse, watch as draw_again  # noqa: PLC0415 - not for --help

        refuse(
            {
                "--interval without --watch": not watch,
                "-o": output is not None,
                "--format": format is not None,
                "--engine spark": engine == "spark",
                "--master": master is not None,
                "--no-unique": not unique,
            }
        )
        how = reading(label, benchmark, pool=pool, extra=extra, from_=from_)
        draw_again(runs or [], how, describe, interval=interval)
    emit(make, format, output, force=force)


def cells(
    context: typer.Context,
    runs: Runs = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    unique: Unique = True,
    engine: EngineOption = "polars",
    master: MasterOption = None,
    benchmark: BenchmarkOption = "skillshift",
    errors: ErrorsOption = "exclude",
    costs: Annotated[
        bool,
        typer.Option(
            "--costs",
            help="Also the total cost of all attempts divided by the tasks that succeeded, and median cost and seconds: of "
            "another tool's results, or of records with the keys cost (USD), seconds, input_tokens and output_tokens.",
        ),
    ] = False,
    ci: Ci = False,
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    method: MethodOption = "auto",
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Print one row per run and cell: the four metrics and the counts behind them."""
    from skillshift_frames.render import intervals, machine, tables  # noqa: PLC0415 - not for --help
    from skillshift_frames.render.costs import with_costs  # noqa: PLC0415

    if costs and engine == "spark":
        msg = "--costs is for --engine polars: counts, which come back from Spark, have no costs"
        raise sf.InputError(msg)
    # What records cost is under keys of their own.
    policy = "keep" if costs and not is_given(context, "extra") else extra

    def make(chosen: Format, *, color: bool) -> str:
        tasks, axes, cells = _cells(
            runs,
            reading(label, benchmark, pool=pool, extra=policy, from_=from_),
            errors,
            families=ci or costs,
            unique=unique,
            engine=engine,
            master=master,
        )
        if costs:
            cells = with_costs(cells, sf.cell_costs(tasks))
        notes: tuple[Note, ...] = ()
        found: Found | None = None
        if ci:
            found = Found(level=level, seed=seed, resamples=resamples)
            ends = sf.cell_intervals(
                tasks,
                level=level,
                resamples=resamples,
                rng=seed,
                method=method,
                benchmark=axes,
                errors=errors,
            )
            cells = machine.cells_with_ends(cells, ends)
            notes = tuple(intervals.interval_notes(ends, **found))
        if chosen == "json":
            return machine.cells_json(cells, axes, errors=errors, uncertainty=found)
        document = tables.cells_document(
            cells, sf.bounds(cells), axes, errors=errors, uncertainty=notes
        )
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(cells)
        return render(document, chosen, color=color)

    emit(make, format, output, force=force)


def check(
    runs: Runs = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    benchmark: BenchmarkOption = "skillshift",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit 1 also for warnings and for tasks that were not measured."
        ),
    ] = False,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Name every fault in every file, and every task that was not measured; exit 1 where there is a fault."""
    from skillshift_frames.render import checks, machine  # noqa: PLC0415 - not for --help

    @cache
    def work() -> tuple[pl.DataFrame, pl.DataFrame, checks.Measured | None]:
        valid, faults = sf.check_tasks(
            runs or [], **reading(label, benchmark, pool=pool, extra=extra, from_=from_)
        )
        if "error" in faults.get_column("severity"):
            return valid, faults, None
        axes = sf.resolve_benchmark(benchmark, valid)
        cells = sf.cells(valid, benchmark=axes)
        gaps = sf.gaps(valid, benchmark=axes)
        return valid, faults, checks.Measured(axes, cells, gaps, sf.bounds(cells))

    def make(chosen: Format, *, color: bool) -> str:
        valid, faults, measured = work()
        if chosen == "text":
            return checks.check_text(faults, valid.height, measured)
        if chosen == "json":
            return checks.check_json(faults, valid.height, measured)
        document = checks.check_document(faults, valid.height, measured)
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(faults)
        return render(document, chosen, color=color)

    emit(make, format, output, force=force)
    _, faults, measured = work()
    if measured is None or (strict and (faults.height or not measured.complete)):
        raise typer.Exit(1)


def export(
    runs: Runs = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .parquet, .csv, .arrow or .jsonl file; needed.",
        ),
    ] = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    benchmark: BenchmarkOption = "skillshift",
    force: Force = False,
) -> None:
    """Write checked records of all runs to one file, for what comes after."""
    from skillshift_frames.readers.trials import of_other_tools  # noqa: PLC0415 - not for --help
    from skillshift_frames.render.files import known_suffix, refuse_to_overwrite  # noqa: PLC0415

    if output is None:
        msg = "export needs -o FILE (.parquet, .csv, .arrow or .jsonl)"
        raise sf.InputError(msg)
    known_suffix(output)  # before the files are read, which may take long
    refuse_to_overwrite(output, force=force)
    with progress_shown():
        tasks = sf.read_tasks(
            runs or [], **reading(label, benchmark, pool=pool, extra=extra, from_=from_)
        )
        sf.write_tasks(tasks, output, force=force)
    if extra != "keep" and of_other_tools(runs or [], from_):
        say(
            "note: what another tool's trials say besides, such as score and cost, is left out; --extra keep exports it"
        )
    records, runs_read = tasks.height, tasks.get_column("run").n_unique()
    say(
        f"{output}: {records:,} {'record' if records == 1 else 'records'} of "
        f"{runs_read:,} {'run' if runs_read == 1 else 'runs'}"
    )


def _cells(
    runs: list[str] | None,
    how: Reading,
    errors: Errors,
    *,
    families: bool,
    unique: bool,
    engine: Engine,
    master: str | None,
) -> tuple[pl.DataFrame, sf.Benchmark, pl.DataFrame]:
    """Read the runs, as no more than what a table, or with ``families`` its intervals, need, and compute their cells.

    A hint is given where runs look like parts of one.
    """
    if engine == "spark":
        if not unique:
            msg = "--no-unique is for --engine polars; on Spark, keys are looked through with the rest"
            raise sf.InputError(msg)
        if how["extra"] == "keep":
            msg = "--extra keep is for --engine polars; counts, which come back from Spark, have no more columns"
            raise sf.InputError(msg)
        if how["from_"] is not None:
            msg = "--from is for --engine polars; export what another tool wrote, and let Spark read that"
            raise sf.InputError(msg)
        read = sf.tally_on_spark(
            runs or [],
            master=master,
            families=families,
            labels=how["labels"],
            pool=how["pool"],
            benchmark=how["benchmark"],
            extra=how["extra"],
        )
    elif master is not None:
        msg = "--master is for --engine spark"
        raise sf.InputError(msg)
    elif families:
        read = sf.read_tasks(runs or [], **how)
    else:
        read = sf.read_tally(runs or [], **how, unique=unique)
    axes = sf.resolve_benchmark(how["benchmark"], read)
    cells = sf.cells(read, benchmark=axes, errors=errors)
    hint_at_shards(cells)
    return read, axes, cells


_SUMMARIES: dict[Callable[..., None], str] = {
    table: "Print the website × condition table.",
    cells: "Print one row per run and cell.",
    check: "Name every fault, and every gap.",
    export: "Write records as Parquet, Arrow, CSV or JSON lines.",
}
