"""A run against a reference run: calibrate."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    BenchmarkOption,
    Extra,
    Force,
    FormatOption,
    FromOption,
    Labels,
    Output,
    Pool,
    Runs,
)
from skillshift_frames.cli.output import Format, emit, render, say, say_notes
from skillshift_frames.cli.reading import reading
from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.anchor import Subset
    from skillshift_frames.calibrate import Calibration

_EXAMPLE = """\b
Example:
  skillshift-frames calibrate --make runs/reference.jsonl --subset pinned --step-budget 30 -o anchor.json
  skillshift-frames calibrate runs/today.jsonl --anchor anchor.json"""

#: A site may have any name, so the last sign counts.
_SITE_AND_NUMBER = re.compile(r"(?s)(?P<site>.+)=(?P<number>[0-9]{1,9})")

#: Without a default of its own: the anchor says which it is.
_Errors: TypeAlias = Annotated[
    Literal["exclude", "zero"] | None,
    typer.Option(
        "--errors",
        help="Tasks with an error: in no mean, or counted as failures; default: as in the anchor, and exclude with --make.",
        show_default=False,
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="Compare a run with a reference run, in sigmas.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
    )(calibrate)


def calibrate(
    runs: Runs = None,
    anchor: Annotated[
        Path | None,
        typer.Option(
            "--anchor",
            metavar="FILE",
            help="What to compare with: a file that --make wrote.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="SIGMAS",
            help="More than so many is a deviation; default: as in the anchor, which is 3.",
            show_default=False,
        ),
    ] = None,
    make: Annotated[
        bool, typer.Option("--make", help="Write an anchor of the run, as JSON, instead.")
    ] = False,
    subset: Annotated[
        str | None,
        typer.Option(
            "--subset",
            metavar="SITE=N,...|pinned",
            help="With --make: only so many tasks of these sites, evenly spread; pinned is gitlab=14,magento=10,wordpress=6.",
            show_default=False,
        ),
    ] = None,
    step_budget: Annotated[
        int | None,
        typer.Option(
            "--step-budget",
            metavar="N",
            help="Steps that a task was allowed: recorded by --make, else compared with the anchor's.",
            show_default=False,
        ),
    ] = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    benchmark: BenchmarkOption = "skillshift",
    errors: _Errors = None,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Compare a run with a reference run, cell by cell, in sigmas; or make the anchor that this needs.

    SR and AS decide; ASC and SFR are shown. Exits 0 if all that could be judged is within the threshold, 1 if something
    deviates, 2 if the two cannot be compared.
    """

    def read() -> pl.DataFrame:
        return sf.read_tasks(
            runs or [], **reading(label, benchmark, pool=pool, extra=extra, from_=from_)
        )

    if make:
        _refuse({"--anchor": anchor, "--threshold": threshold}, "does not go with --make")
        _refuse(
            {"--format": None if format == "json" else format},
            "does not go with --make, which writes JSON",
        )
        _make(read, subset, step_budget, benchmark, errors or "exclude", output, force=force)
        return
    _refuse({"--subset": subset}, "goes with --make; an anchor names its own subset")
    if anchor is None:
        msg = "calibrate needs --anchor FILE to compare with, or --make to write one"
        raise InputError(msg)
    path = anchor  # for the type checker, which does not look into functions

    from skillshift_frames.calibrate import calibration  # noqa: PLC0415 - not for --help
    from skillshift_frames.readers.anchors import read_anchor  # noqa: PLC0415
    from skillshift_frames.render import calibration as calibrations, machine  # noqa: PLC0415

    @cache
    def work() -> Calibration:
        # The anchor first: it is small, and a run is read for nothing without one.
        name, reference = read_anchor(path)
        return calibration(
            read(),
            name,
            reference,
            threshold=threshold,
            step_budget=step_budget,
            benchmark=benchmark,
            errors=errors,
        )

    def compare(chosen: Format, *, color: bool) -> str:
        found = work()
        if chosen == "json":
            return calibrations.calibration_json(found)
        document = calibrations.calibration_document(found)
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(found.rows)
        return render(document, chosen, color=color)

    emit(compare, format, output, force=force)
    if work().deviating:
        raise typer.Exit(1)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Raise for an option of the other half of the command: it would change nothing, without a word."""
    for option, value in options.items():
        if value is not None:
            msg = f"{option} {why}"
            raise InputError(msg)


def _make(
    read: Callable[[], pl.DataFrame],
    subset: str | None,
    step_budget: int | None,
    benchmark: str,
    errors: Literal["exclude", "zero"],
    output: Path | None,
    *,
    force: bool,
) -> None:
    """Write an anchor of the run to the file, or to stdout."""
    from skillshift_frames.anchor import anchor as make_anchor  # noqa: PLC0415 - not for --help
    from skillshift_frames.render import machine  # noqa: PLC0415

    if output is not None and output.suffix.lower() not in {"", ".json"}:
        msg = f"{output}: an anchor is a .json file"
        raise InputError(msg)
    which = None if subset is None else _parse_subset(subset)

    @cache
    def work() -> dict[str, Any]:
        return make_anchor(
            read(),
            subset=which,
            step_budget=step_budget,
            benchmark=benchmark,
            errors=errors,
        )

    def content(chosen: Format, *, color: bool) -> str:  # noqa: ARG001 - always JSON, which has no colour
        return machine.to_json(work())

    emit(content, "json", output, force=force)
    if output is not None and str(output) not in {"-", "/dev/stdout"}:
        cells = work()["cells"]
        tasks = sum(cell["n"] for cell in cells)
        say(f"{output}: {len(cells)} cells of {work()['run']}, {tasks:,} tasks")


def _parse_subset(given: str) -> Subset:
    """Split ``SITE=N,SITE=N``."""
    if given == "pinned":
        return "pinned"
    parsed: dict[str, int] = {}
    for part in given.split(","):
        found = _SITE_AND_NUMBER.fullmatch(part)
        if found is None:
            msg = f"--subset {given}: SITE=N,SITE=N or pinned is needed, and {part!r} is no SITE=N"
            raise InputError(msg)
        site = found["site"]
        if site in parsed:
            msg = f"--subset {given}: {site} is there twice"
            raise InputError(msg)
        parsed[site] = int(found["number"])
    return parsed
