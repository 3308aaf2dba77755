"""From published entries or from records: leaderboard, shift."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeAlias

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    ErrorsOption,
    Extra,
    Force,
    FormatOption,
    FromOption,
    Labels,
    LevelOption,
    MethodOption,
    Output,
    Pool,
    ResamplesOption,
    SeedOption,
    parse_labels,
)
from skillshift_frames.cli.output import Format, emit, render, say_notes
from skillshift_frames.cli.reading import hint_at_shards, is_given, let_interrupts_through, reading
from skillshift_frames.cli.records import Found

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from skillshift_frames.render.document import Document

Named: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE...",
        help="Published entries (.json, or .csv tables of them), or files of records (.jsonl, .ndjson, also .gz and .zst; "
        ".parquet, .arrow), folders, globs, or - for standard input (records, unless entries are named beside it).",
        show_default=False,
    ),
]
Published: TypeAlias = Annotated[
    bool, typer.Option("--published", help="The entries of the public leaderboard.")
]
Whose: TypeAlias = Annotated[
    str,
    typer.Option(
        "--benchmark",
        metavar="skillshift|infer|FILE.toml",
        help="Whose sites and conditions; infer is for records, for entries do not tell.",
    ),
]

_RECORDS = (".jsonl", ".ndjson", ".gz", ".zst", ".parquet", ".arrow")
_STDIN = "-"

#: Parameter → option, of what only one kind of input can answer to.
_FOR_RECORDS = {
    "label": "--label",
    "pool": "--pool",
    "extra": "--extra",
    "from_": "--from",
    "errors": "--errors",
    "level": "--level",
    "seed": "--seed",
    "resamples": "--resamples",
    "method": "--method",
}
_FOR_ENTRIES = {"across_models": "--across-models"}


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="Rank published entries, or runs.",
        epilog="\b\nExample:\n  skillshift-frames leaderboard --published\n"
        "  skillshift-frames leaderboard submissions/ --slot tgt-exec\n"
        "  skillshift-frames leaderboard runs/*.jsonl",
        no_args_is_help=True,
    )(leaderboard)
    app.command(
        short_help="Show how SR, or another metric, changes under each shift.",
        epilog="\b\nExample:\n  skillshift-frames shift runs/*.jsonl\n"
        "  skillshift-frames shift --published --format csv > shift.csv",
        no_args_is_help=True,
    )(shift)


def leaderboard(
    context: typer.Context,
    files: Named = None,
    published: Published = False,
    sort: Annotated[
        str,
        typer.Option(
            "--sort", metavar="SR|AS", help="Rank entries by this; runs are ranked by SR."
        ),
    ] = "SR",
    slot: Annotated[
        str,
        typer.Option("--slot", metavar="NAME", help="Rank by this site or condition, or overall."),
    ] = "overall",
    across_models: Annotated[
        bool,
        typer.Option(
            "--across-models", help="Rank entries of different models against each other."
        ),
    ] = False,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    benchmark: Whose = "skillshift",
    errors: ErrorsOption = "exclude",
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Rank published entries within their models by what they printed, or runs by SR with intervals of their ranks."""
    from skillshift_frames.render import leaderboard as boards  # noqa: PLC0415 - not for --help

    def of_entries(paths: list[str], chosen: Format, *, color: bool) -> str:
        from skillshift_frames.entry import published_absences  # noqa: PLC0415 - not for --help

        entries, axes, files_of = _read_entries(paths, benchmark, published=published)
        if published:
            entries = entries.vstack(published_absences())
        board = sf.leaderboard(
            _with_receipts(entries, files_of),
            sort=sort,
            slot=slot,
            across_models=across_models,
            benchmark=axes,
        )
        if chosen == "json":
            return boards.leaderboard_json(
                board, axes, sort=sort, slot=slot, across_models=across_models
            )
        document = boards.leaderboard_document(
            board, axes, sort=sort, slot=slot, across_models=across_models
        )
        return _shown(document, boards.flat(board), chosen, color=color)

    def of_runs(paths: list[str], chosen: Format, *, color: bool) -> str:
        if sort != "SR":
            msg = f"--sort {sort} is for published entries; runs are ranked by SR"
            raise sf.InputError(msg)
        how = reading(label, benchmark, pool=pool, extra=extra, from_=from_)
        tasks = sf.read_tasks(paths, **how)
        axes = sf.resolve_benchmark(benchmark, tasks)
        cells = sf.cells(tasks, benchmark=axes, errors=errors)
        hint_at_shards(cells)
        ranked = sf.ranks(
            tasks,
            slot=slot,
            level=level,
            resamples=resamples,
            rng=seed,
            benchmark=axes,
            errors=errors,
        )
        found = Found(level=level, seed=seed, resamples=resamples)
        if chosen == "json":
            return boards.ranks_json(ranked, cells, axes, slot=slot, errors=errors, **found)
        document = boards.ranks_document(
            ranked, cells, sf.bounds(cells), axes, slot=slot, errors=errors, **found
        )
        return _shown(document, ranked, chosen, color=color)

    def make(chosen: Format, *, color: bool) -> str:
        given = _sort_out(context, files, label, from_, published=published)
        of_kind = of_entries if given.kind == "entries" else of_runs
        return of_kind(given.paths, chosen, color=color)

    emit(make, format, output, force=force)


def shift(
    context: typer.Context,
    files: Named = None,
    published: Published = False,
    metric: Annotated[
        Literal["SR", "AS", "ASC", "SFR"],
        typer.Option("--metric", help="What is compared with the source condition."),
    ] = "SR",
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="CONDITION",
            help="The condition to start from; default: the benchmark's first.",
            show_default=False,
        ),
    ] = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    benchmark: Whose = "skillshift",
    errors: ErrorsOption = "exclude",
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    method: MethodOption = "auto",
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Show how SR, or the --metric, changes from the source condition to each shifted one, also in percent of the source.

    A shift is contextual (another version of the site), perceptual (it looks otherwise), of execution (it acts otherwise),
    or two of these. Of records, with paired intervals: the same families run under both conditions.
    """
    from skillshift_frames.render import shift as shifts  # noqa: PLC0415 - not for --help

    def of_entries(paths: list[str], chosen: Format, *, color: bool) -> str:
        entries, axes, _ = _read_entries(paths, benchmark, published=published)
        falls = sf.shift(entries, metric=metric, source=source, benchmark=axes)
        start = source or axes.conditions[0]
        if chosen == "json":
            return shifts.shift_json(falls, axes, metric=metric, source=start)
        without = shifts.names_without(entries, metric)
        document = shifts.shift_document(falls, axes, metric=metric, source=start, without=without)
        return _shown(document, falls, chosen, color=color)

    def of_runs(paths: list[str], chosen: Format, *, color: bool) -> str:
        how = reading(label, benchmark, pool=pool, extra=extra, from_=from_)
        tasks = sf.read_tasks(paths, **how)
        axes = sf.resolve_benchmark(benchmark, tasks)
        cells = sf.cells(tasks, benchmark=axes, errors=errors)
        hint_at_shards(cells)
        falls = sf.shift_intervals(
            tasks,
            metric=metric,
            source=source,
            level=level,
            resamples=resamples,
            rng=seed,
            method=method,
            benchmark=axes,
            errors=errors,
        )
        start = source or axes.conditions[0]
        found = Found(level=level, seed=seed, resamples=resamples)
        if chosen == "json":
            said = {"errors": errors, **found}
            return shifts.shift_json(
                falls, axes, metric=metric, source=start, cells=cells, said=said
            )
        notes = shifts.shift_notes(falls, cells, sf.bounds(cells), axes, errors=errors, **found)
        document = shifts.shift_document(
            falls,
            axes,
            metric=metric,
            source=start,
            uncertainty=tuple(notes),
            slots=sf.slots(cells, benchmark=axes),
        )
        return _shown(document, falls, chosen, color=color)

    def make(chosen: Format, *, color: bool) -> str:
        given = _sort_out(context, files, label, from_, published=published)
        of_kind = of_entries if given.kind == "entries" else of_runs
        return of_kind(given.paths, chosen, color=color)

    emit(make, format, output, force=force)


def _shown(document: Document, frame: pl.DataFrame, chosen: Format, *, color: bool) -> str:
    """Give a frame as CSV, with the notes on stderr, or else its description in the format."""
    if chosen == "csv":
        from skillshift_frames.render.machine import to_csv  # noqa: PLC0415 - not for --help

        say_notes(document)
        return to_csv(frame)
    return render(document, chosen, color=color)


class _Given(NamedTuple):
    """What was named: paths of one kind."""

    kind: Literal["entries", "records"]
    paths: list[str]


def _sort_out(
    context: typer.Context,
    named: list[str] | None,
    label: list[str] | None,
    from_: str | None,
    *,
    published: bool,
) -> _Given:
    """Tell entries and records apart.

    Raises
    ------
    InputError
        Both were named, or neither, or an option that the kind at hand has no answer to.
    """
    let_interrupts_through()
    paths = [path for argument in named or [] for path in _expand(argument)]
    entries = [path for path in paths if path != _STDIN and _kind(path) == "entries"]
    if from_ is not None and not published:
        entries = []  # whatever the files of another tool are called
    records = [path for path in paths if path != _STDIN and path not in entries]
    if published or entries:
        other = next(iter([*records, *parse_labels(label).values()]), None)
        if other is not None:
            mine = entries[0] if entries else "--published"
            msg = f"{other} holds records, and {mine} entries, which have no tasks to resample; give one kind"
            raise sf.InputError(msg)
        _refuse(context, _FOR_RECORDS, "is for records")
        return _Given("entries", [path for path in paths if path not in records])
    if not paths and not label:
        msg = "nothing was named; give published entries, files of records, or --published"
        raise sf.InputError(msg)
    _refuse(
        context, _FOR_ENTRIES, "is for published entries; records do not say whose model made them"
    )
    return _Given("records", paths)


def _expand(argument: str) -> list[str]:
    """Give what a glob matches, for it may match both kinds; what exists as written, or is nothing, stays as it is."""
    if argument == _STDIN or os.path.lexists(argument) or not glob.has_magic(argument):
        return [argument]
    return sorted(glob.glob(argument, recursive=True)) or [argument]  # noqa: PTH207 - shown as given


def _kind(path: str) -> Literal["entries", "records"]:
    """Tell by its name what a file holds, by the names in it what a folder does, and what another tool wrote by its content."""
    from skillshift_frames.readers import entry_files, folders, trials  # noqa: PLC0415 - not for --help

    of_records = path.lower().endswith(_RECORDS) or trials.of_other_tools(path, None)
    if of_records or not os.path.isdir(path):  # noqa: PTH112 - as it was given
        return "records" if of_records else "entries"
    entries = folders.files_below(path, entry_files.is_entry)
    records = folders.files_below(path, lambda name: name.startswith("per_task.jsonl"))
    if entries and records:
        msg = f"{path}: has both entries ({entries[0]}) and records ({records[0]}); name the files"
        raise sf.InputError(msg)
    return "entries" if entries else "records"


def _refuse(context: typer.Context, options: Mapping[str, str], why: str) -> None:
    """Raise for an option that would otherwise be ignored without a word."""
    for name, option in options.items():
        if is_given(context, name):
            msg = f"{option} {why}"
            raise sf.InputError(msg)


def _read_entries(
    paths: list[str], benchmark: str, *, published: bool
) -> tuple[pl.DataFrame, sf.Benchmark, dict[str, str]]:
    """Read entries, put the published ones before them, and give each entry's file by the entry's name."""
    import polars as pl  # noqa: PLC0415 - not for --help

    from skillshift_frames.entry import entries_schema, read_with_files, slots_known  # noqa: PLC0415

    axes = slots_known(benchmark)
    files_of: dict[str, str] = {}
    frames = [entries_schema(axes).to_frame()]
    if published:
        if axes.slots != sf.SKILLSHIFT.slots:
            msg = f"the published entries are SkillShift's; they have not the slots of benchmark {axes.name}"
            raise sf.InputError(msg)
        name = pl.format("{} / {}", "method", "model").alias("entry")
        frames.append(sf.published().with_columns(name))
    if paths:
        read, files_of = read_with_files(paths, axes)
        frames.append(read)
    return pl.concat(frames, how="diagonal"), axes, files_of


def _with_receipts(entries: pl.DataFrame, files_of: Mapping[str, str]) -> pl.DataFrame:
    """Say of each entry that was read from a file of its own what the receipt beside it says."""
    import polars as pl  # noqa: PLC0415 - not for --help

    from skillshift_frames.receipt import receipt_state  # noqa: PLC0415

    named = entries.select("entry", "label").unique().rows()
    states = {
        (name, label): receipt_state(files_of[name], label)
        for name, label in named
        if files_of.get(name)  # standard input has no file
    }
    found = [states.get(row) for row in entries.select("entry", "label").iter_rows()]
    return entries.with_columns(receipt=pl.Series(found, dtype=pl.String))
