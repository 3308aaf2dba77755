"""From scores, and from lifts of two dates: agreement, regress."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    CompositeOption,
    Force,
    FormatOption,
    FromOption,
    LevelOption,
    Output,
)
from skillshift_frames.cli.output import Format, emit, render, say_notes
from skillshift_frames.cli.reading import let_interrupts_through
from skillshift_frames.cli.trials import composite_asked, read_lifts
from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_AGREEMENT = """\b
Example:
  skillshift-frames agreement scores.csv --x structural --y judge --gate 70 --gate 80
  skillshift-frames agreement scores.csv --x structural --y judge --by model --gate judge=7
  skillshift-frames agreement reports/ --x structural --y judge"""
_REGRESS = """\b
Example:
  skillshift-frames regress march.json may.json
  skillshift-frames regress old/results new/results --gate"""

_COLUMN_AND_NUMBER = re.compile(r"(?s)(?:(?P<column>.+)=)?(?P<number>[^=]+)")


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="Whether two scores of the same items agree.",
        epilog=_AGREEMENT,
        no_args_is_help=True,
    )(agreement)
    app.command(
        short_help="Where lifts fell between two dates, and why.",
        epilog=_REGRESS,
        no_args_is_help=True,
    )(regress)


def agreement(
    scores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCORES...",
            help="Scores (.csv, .jsonl, .parquet), JSON reports of SkillEvaluator, globs, or folders of them.",
            show_default=False,
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="COLUMN", help="A score.", show_default=False),
    ] = None,
    y: Annotated[
        list[str] | None,
        typer.Option(
            "--y",
            metavar="COLUMN",
            help="The other score; several are judges of the same items.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Also for each value of a column, such as the judge's model.",
            show_default=False,
        ),
    ] = None,
    item: Annotated[
        str | None,
        typer.Option(
            "--item",
            metavar="COLUMN",
            help="What names an item; default: item, skill, uid, id or name.",
            show_default=False,
        ),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            "--gate",
            metavar="X|COLUMN=X",
            help="How many pass at X or above, of both scores or of one.",
            show_default=False,
        ),
    ] = None,
    level: LevelOption = 0.95,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Compare two scores of the same items: correlations, pass rates at gates, distributions, and what judges do."""
    from skillshift_frames.render import agreement as agreements, machine  # noqa: PLC0415 - not for --help

    if x is None or not y:
        msg = "agreement needs --x COLUMN and --y COLUMN"
        raise InputError(msg)
    first, others = x, y  # for the type checker, which does not look into functions
    gates = _gates(gate or [], [first, *others])

    @cache
    def work() -> sf.Agreement:
        let_interrupts_through()
        if not scores:
            msg = "no file of scores was named"
            raise InputError(msg)
        return sf.agreement(
            sf.read_scores(
                scores,
                names=[name for name in (by, item) if name is not None],
                numbers=[first, *others],
            ),
            x=first,
            y=others,
            by=by,
            item=item,
            gates=gates,
            level=level,
        )

    def make(chosen: Format, *, color: bool) -> str:
        found = work()
        if chosen == "json":
            return machine.to_json(found.to_dict())
        document = agreements.agreement_document(found)
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(found.correlations)
        return render(document, chosen, color=color)

    emit(make, format, output, force=force)


def _gates(given: Sequence[str], scores: Sequence[str]) -> Mapping[str, list[float]]:
    """Split ``COLUMN=X``; a bare number is a gate of every score."""
    gates: dict[str, list[float]] = {name: [] for name in scores}
    for option in given:
        found = _COLUMN_AND_NUMBER.fullmatch(option)
        try:
            number = float(found["number"]) if found else None
        except ValueError:
            number = None
        if found is None or number is None:
            msg = f"--gate {option}: a number or COLUMN=NUMBER is needed"
            raise InputError(msg)
        for name in scores if found["column"] is None else [found["column"]]:
            gates.setdefault(name, []).append(number)
    return gates


def regress(
    old: Annotated[
        str | None,
        typer.Argument(
            metavar="OLD",
            help="What lift --format json wrote (a file, a glob, or a folder of them), or trials as lift takes them.",
            show_default=False,
        ),
    ] = None,
    new: Annotated[
        str | None,
        typer.Argument(metavar="NEW", help="The same of the later date.", show_default=False),
    ] = None,
    from_: FromOption = None,
    errors: Annotated[
        Literal["exclude", "zero", "fail-arm"] | None,
        typer.Option(
            "--errors",
            help="For trials: what those without a score count as; default: exclude. Lifts that were computed have theirs.",
            show_default=False,
        ),
    ] = None,
    composite: CompositeOption = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            metavar="X",
            help="The largest change of a lift that would not matter; needed for `unchanged`, which is the 90 % interval "
            "(at a level of 95 %) inside it.",
        ),
    ] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate", help="Exit 1 if any lift fell by itself (`regressed`), or nothing pairs."
        ),
    ] = False,
    level: LevelOption = 0.95,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Compare the lifts of two dates: where a model caught up with a skill, and where a lift fell by itself."""
    from skillshift_frames.render import machine, regress as regressions  # noqa: PLC0415 - not for --help

    @cache
    def work() -> sf.Regression:
        if old is None or new is None:
            msg = "regress needs OLD and NEW"
            raise InputError(msg)
        asked = composite_asked(composite)
        sets = [read_lifts(path, from_) for path in (old, new)]
        return sf.regress(*sets, margin=margin, level=level, errors=errors, composite=asked)

    def make(chosen: Format, *, color: bool) -> str:
        found = work()
        if chosen == "json":
            return machine.to_json(found.to_dict())
        document = regressions.regression_document(found)
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(found.changes)
        return render(document, chosen, color=color)

    emit(make, format, output, force=force)
    if gate and (work().regressed or not work().paired):
        raise typer.Exit(1)
