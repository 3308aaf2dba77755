"""Of published entries: build, check, audit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from skillshift_frames.cli import audit
from skillshift_frames.cli.options import (
    EntryBenchmarkOption,
    ErrorsOption,
    Extra,
    Force,
    FormatOption,
    Output,
    Pool,
    Runs,
)
from skillshift_frames.cli.output import Format, emit, render, say, say_notes
from skillshift_frames.cli.progress import progress_shown
from skillshift_frames.cli.reading import let_interrupts_through, reading
from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    from skillshift_frames.entry_check import Checked

Label: TypeAlias = Literal["self-reported", "reported-only", "verified-paper"]

#: As for records, but for ``infer``: an entry does not say how many tasks a site has.
_BUILD_EXAMPLE = """\b
Example:
  skillshift-frames entry build runs/asi.jsonl -o submissions/ --name "ASI, our run" --method ASI --model gpt-4.1 --date 2026-11-30
  skillshift-frames entry build shard-*.jsonl --pool -o results.json --name ASI --method ASI --model gpt-4.1 --date 2026-11-30"""

_CHECK_EXAMPLE = """\b
Example:
  skillshift-frames entry check submissions/*.json
  skillshift-frames entry check results.json --records runs/asi.jsonl --strict"""


_LEFT_OUT = (
    "The digest was not recomputed: its form is known only to the tool that wrote the receipt."
)


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree, as a group of their own."""
    entry = typer.Typer(
        help="Make, check and audit published entries.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    entry.command(
        short_help="Make an entry and its receipt from a run.",
        epilog=_BUILD_EXAMPLE,
        no_args_is_help=True,
    )(build)
    entry.command(
        short_help="Check entries, and the receipts beside them.",
        epilog=_CHECK_EXAMPLE,
        no_args_is_help=True,
    )(check)
    audit.add_commands(entry)
    app.add_typer(entry, name="entry")


def build(
    runs: Runs = None,
    *,
    name: Annotated[
        str, typer.Option("--name", metavar="TEXT", help="The entry's name on the leaderboard.")
    ],
    method: Annotated[str, typer.Option("--method", metavar="TEXT", help="The method's name.")],
    model: Annotated[str, typer.Option("--model", metavar="ID", help="The model's id.")],
    date: Annotated[
        str, typer.Option("--date", metavar="YYYY-MM-DD", help="The date of submission.")
    ],
    label: Annotated[
        Label, typer.Option("--label", help="Where the numbers are from; of a run: self-reported.")
    ] = "self-reported",
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="What the method does.")
    ] = "",
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            metavar="TEXT",
            help="What the numbers are from; default: the records of the run.",
            show_default=False,
        ),
    ] = None,
    code_url: Annotated[
        str | None,
        typer.Option(
            "--code-url", metavar="URL", help="Where the released code is.", show_default=False
        ),
    ] = None,
    paper_url: Annotated[
        str | None,
        typer.Option("--paper-url", metavar="URL", help="Where the paper is.", show_default=False),
    ] = None,
    repro_command: Annotated[
        str | None,
        typer.Option(
            "--repro-command",
            metavar="TEXT",
            help="What reproduces the run.",
            show_default=False,
        ),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option("--contact", metavar="TEXT", help="Whom to ask.", show_default=False),
    ] = None,
    notes: Annotated[
        str, typer.Option("--notes", metavar="TEXT", help="What a reader should know besides.")
    ] = "",
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", metavar="X", help="The model's.", show_default=False),
    ] = None,
    vision: Annotated[
        bool | None,
        typer.Option(
            "--vision/--no-vision",
            help="Whether the model saw screenshots; default: not said.",
            show_default=False,
        ),
    ] = None,
    harness_version: Annotated[
        str,
        typer.Option(
            "--harness-version",
            metavar="TEXT",
            help="Version of the benchmark's harness that ran the tasks.",
        ),
    ] = "n/a",
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Build also where tasks were not measured; the entry says so."
        ),
    ] = False,
    pool: Pool = False,
    extra: Extra = "refuse",
    benchmark: EntryBenchmarkOption = "skillshift",
    errors: ErrorsOption = "exclude",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .json file; in a folder, the entry takes the leaderboard's name. Needed.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Make a leaderboard entry, and its receipt, from the records of one run.

    The receipt (.receipt.json) lies beside the entry. It commits to the records without showing them.
    """
    from skillshift_frames.readers.tasks import read_tasks  # noqa: PLC0415 - not for --help
    from skillshift_frames.render.entries import entry_paths, write_entry  # noqa: PLC0415
    from skillshift_frames.submit import build_entry, entry_file_name  # noqa: PLC0415

    if output is None:
        msg = "entry build needs -o FILE.json, or a folder"
        raise InputError(msg)
    own_name = entry_file_name(date, method, model)
    if not output.suffix and not output.exists() and str(output) != "-":
        msg = f"{output}: there is no such folder; make it, or name a .json file"
        raise InputError(msg)
    if output.is_dir():
        if own_name is None:
            msg = "method or model has no letter a to z or digit to name the file by; give -o FILE.json"
            raise InputError(msg)
        output /= own_name
    entry_paths(output, force=force)  # before the files are read, which may take long
    with progress_shown():
        tasks = read_tasks(runs or [], **reading(None, benchmark, pool=pool, extra=extra))
    built = build_entry(
        tasks,
        name=name,
        method=method,
        model=model,
        date=date,
        label=label,
        description=description,
        source=source,
        code_url=code_url,
        paper_url=paper_url,
        repro_command=repro_command,
        contact=contact,
        notes=notes,
        temperature=temperature,
        vision=vision,
        harness_version=harness_version,
        benchmark=benchmark,
        errors=errors,
        partial=partial,
    )
    entry, receipt = write_entry(built, output, force=force)
    say(f"{entry}: an entry of {tasks.height:,} records; {receipt.name}: its receipt")
    say(
        "Keep the records (per_task.jsonl), and keep them private: the receipt commits to them without showing them, "
        "and they alone can answer a dispute."
    )
    if label == "self-reported" and harness_version == "n/a":
        say("hint: --harness-version names the harness that ran the tasks; the entry says n/a")
    if own_name not in {None, entry.name}:
        say(f"hint: on the leaderboard this entry is called {own_name}")


def check(
    entries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ENTRY...",
            help="Entries (.json), folders of them, tables of rows (.csv), globs, or - for standard input.",
            show_default=False,
        ),
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(
            "--receipt",
            metavar="FILE",
            help="The entry's receipt, where it does not lie beside it (.receipt.json).",
            show_default=False,
        ),
    ] = None,
    records: Annotated[
        list[str] | None,
        typer.Option(
            "--records",
            metavar="FILE",
            help="The run's records: recompute digest, counts and numbers. Several are shards of one run.",
            show_default=False,
        ),
    ] = None,
    extra: Extra = "refuse",
    benchmark: EntryBenchmarkOption = "skillshift",
    errors: Annotated[
        Literal["exclude", "zero"] | None,
        typer.Option(
            "--errors",
            help="Tasks with an error in --records: in no mean, or counted as failures; default: as the receipt says.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit 1 also for warnings, and with --records for a digest of a form that only another tool knows.",
        ),
    ] = False,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Check entries: schema, coverage, marginals, ranges, and the receipt that a run of one's own owes.

    Exits 1 for errors. Every finding has a code, and what to do about it. Without --records nothing is recomputed: an entry
    and its receipt may then agree with each other and with no run.
    """
    from skillshift_frames.entry_check import examine  # noqa: PLC0415 - not for --help
    from skillshift_frames.findings import worst  # noqa: PLC0415
    from skillshift_frames.render import findings as shown, machine  # noqa: PLC0415
    from skillshift_frames.render.document import Note  # noqa: PLC0415

    if not entries:
        msg = "no entry was named"
        raise InputError(msg)

    @cache
    def work() -> Checked:
        let_interrupts_through()
        return examine(
            entries,
            receipt=receipt,
            records=records or None,
            benchmark=benchmark,
            errors=errors,
            extra=extra,
        )

    def make(chosen: Format, *, color: bool) -> str:
        found, total, digest_recomputed = work()
        if chosen == "text":
            left_out = f"{_LEFT_OUT}\n" if digest_recomputed is False else ""
            return shown.findings_text(found, total) + left_out
        if chosen == "json":
            # Only records can give a digest, so without them there is nothing to say of it.
            said = {"digest_recomputed": digest_recomputed} if records else {}
            return shown.findings_json(found, **said)
        document = shown.findings_document(found, total, "Findings")
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(found)
        if digest_recomputed is False:
            document = replace(document, notes=(*document.notes, Note(_LEFT_OUT)))
        return render(document, chosen, color=color)

    emit(make, format, output, force=force)
    unproven = strict and work().digest_recomputed is False
    if unproven or worst(work().findings) in ({"error", "warning"} if strict else {"error"}):
        raise typer.Exit(1)
