"""From probe scorecards: headroom."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillshift_frames.cli.options import Force, FormatOption, Output
from skillshift_frames.cli.output import Format, emit, render
from skillshift_frames.cli.reading import let_interrupts_through
from skillshift_frames.errors import InputError
from skillshift_frames.render.escape import escape_text

if TYPE_CHECKING:
    import polars as pl

#: Class → exit code, the worst first; those of the tool that users of such probes know.
EXIT_CODES = {"UNMEASURED": 5, "SATURATED": 3, "FLOOR": 4, "SEPARATED": 0}

_EXAMPLE = """\b
Example:
  skillshift-frames headroom cards/closeout-*.json
  skillshift-frames headroom cards/ --format csv > headroom.csv"""


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="Tell whether probes left room for a skill to show.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
    )(headroom)


def headroom(
    cards: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CARD...",
            help="Probe scorecards (.json), globs, or folders (every .json below).",
            show_default=False,
        ),
    ] = None,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Tell for each probe whether it left room for a skill to show, from its scorecards.

    Exits 0 for SEPARATED, 3 for SATURATED, 4 for FLOOR, 5 for UNMEASURED. With several probes the worst counts, in the
    order UNMEASURED, SATURATED, FLOOR, SEPARATED.
    """
    from skillshift_frames.headroom import headroom as classify  # noqa: PLC0415 - not for --help
    from skillshift_frames.render import machine  # noqa: PLC0415
    from skillshift_frames.render.headroom import headroom_document  # noqa: PLC0415

    if not cards:
        msg = "no scorecard was named"
        raise InputError(msg)

    @cache
    def work() -> pl.DataFrame:
        let_interrupts_through()
        return classify(cards)

    def make(chosen: Format, *, color: bool) -> str:
        found = work()
        if chosen == "text":
            return "".join(f"{escape_text(_line(row))}\n" for row in found.iter_rows(named=True))
        if chosen == "json":
            content = {"schema_version": machine.SCHEMA_VERSION, "probes": found.to_dicts()}
            return machine.to_json(content)
        if chosen == "csv":
            return machine.to_csv(_flat(found))
        return render(headroom_document(found), chosen, color=color)

    emit(make, format, output, force=force)
    present = work().get_column("headroom")
    if code := next(code for name, code in EXIT_CODES.items() if name in present):
        raise typer.Exit(code)


def _line(row: dict[str, Any]) -> str:
    from skillshift_frames.render.headroom import share  # noqa: PLC0415 - not for --help

    arms = ", ".join(f"{arm} {share(row, arm)}" for arm in ("control", "treatment"))
    cards = f"{row['cards']} {'card' if row['cards'] == 1 else 'cards'}"
    return f"{row['probe']} ({row['skill']}): {row['headroom']}; {arms}; effort {', '.join(row['efforts'])}; {cards}"


def _flat(found: pl.DataFrame) -> pl.DataFrame:
    """Put lists into one cell each, as CSV needs it."""
    from polars import col  # noqa: PLC0415 - not for --help

    return found.with_columns(col("efforts", "saturated_efforts").list.join(";"))
