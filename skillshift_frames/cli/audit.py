"""Of published entries: audit, by their printed numbers alone."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    EntryBenchmarkOption,
    Force,
    FormatOption,
    LevelOption,
    Output,
)
from skillshift_frames.cli.output import Format, emit, render
from skillshift_frames.cli.reading import let_interrupts_through

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.readers.entries import Entry, Read

_EXAMPLE = """\b
Example:
  skillshift-frames entry audit submissions/*.json
  skillshift-frames entry audit --row "GitLab 17.71, Magento 25.49, WordPress 62.66, O/A 35.29"
  skillshift-frames entry audit mpcr.json --against asi.json"""


def add_commands(app: typer.Typer) -> None:
    """Add the command to its group."""
    app.command(
        short_help="Test the printed numbers of entries.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
    )(audit)


class _Audit(NamedTuple):
    """All that is said about the entries."""

    benchmark: Benchmark
    entries: list[Entry]
    findings: pl.DataFrame
    tested: pl.DataFrame
    common: pl.DataFrame
    paired: pl.DataFrame | None


def audit(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Entries (.json), folders of them, tables of rows (.csv), globs, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option(
            "--row",
            metavar="TEXT",
            help="Numbers typed from a paper, as `GitLab 17.71, O/A 35.29`; `ASC:` before a row that is not SR's.",
        ),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="The entries of the public leaderboard.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="Bound a paired comparison of this entry with the audited one.",
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option("--trials", metavar="N", help="Trials of each task behind a cell.")
    ] = 1,
    level: LevelOption = 0.95,
    benchmark: EntryBenchmarkOption = "skillshift",
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Test the printed numbers of entries: values that no complete run gives, means that do not agree, rates without calls.

    Exits 1 for errors and warnings. A finding says nothing about how a number came about.
    """
    from skillshift_frames.render import audit as audits, findings as shown, machine  # noqa: PLC0415 - not for --help

    @cache
    def work() -> _Audit:
        from skillshift_frames.entry import slots_known  # noqa: PLC0415

        let_interrupts_through()
        axes = slots_known(benchmark)
        source = _source(files, row, axes, published=published)
        tested = sf.feasibility(source, trials=trials, benchmark=axes)
        paired = None
        if against is not None:
            paired = sf.paired_bounds(against, source, level=level, trials=trials, benchmark=axes)
        return _Audit(
            axes,
            source.entries,
            sf.audit(source, trials=trials, benchmark=axes),
            tested,
            sf.common_tasks(tested, benchmark=axes),
            paired,
        )

    def make(chosen: Format, *, color: bool) -> str:
        found = work()
        if chosen == "csv":
            return machine.to_csv(found.findings)
        if chosen == "json":
            paired = None if found.paired is None else found.paired.to_dicts()
            return shown.findings_json(
                found.findings,
                tested=found.tested.to_dicts(),
                common_tasks=found.common.to_dicts(),
                paired=paired,
            )
        notes = [
            *audits.tested_notes(found.tested, found.benchmark),
            *audits.shared_task_notes(found.common),
        ]
        bounds = None
        if found.paired is not None:
            bounds = audits.paired_document(
                found.paired, str(against), found.entries[0].name, level=level
            )
        if chosen == "text":
            said = shown.findings_text(found.findings, len(found.entries))
            return audits.audit_text(said, notes, bounds, color=color)
        listed = shown.findings_document(found.findings, len(found.entries), "Audit")
        documents = [audits.with_notes(listed, notes), *([bounds] if bounds else [])]
        return "\n".join(render(document, chosen, color=color) for document in documents)

    emit(make, format, output, force=force)
    from skillshift_frames.findings import worst  # noqa: PLC0415

    if worst(work().findings) in {"error", "warning"}:
        raise typer.Exit(1)


def _source(
    files: list[str] | None, row: list[str] | None, axes: Benchmark, *, published: bool
) -> Read:
    """Read everything that is to be audited, once."""
    from skillshift_frames.feasibility import read_source  # noqa: PLC0415 - not for --help
    from skillshift_frames.readers.entries import Read  # noqa: PLC0415
    from skillshift_frames.readers.entry_rows import parse_typed  # noqa: PLC0415

    found = read_source(files, axes) if files else Read([], [])
    if published:
        found.entries.extend(read_source(sf.published(), axes).entries)
    if row:
        found.entries.append(parse_typed(row, axes))
    if not found.entries and not found.findings:
        msg = "nothing to audit; name an entry, or give --row or --published"
        raise sf.InputError(msg)
    return found
