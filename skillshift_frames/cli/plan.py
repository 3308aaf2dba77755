"""Before an experiment: plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from skillshift_frames.cli.options import Force, FormatOption, Output
from skillshift_frames.cli.output import Format, emit, say
from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    from skillshift_frames.plan import PowerPlan

_EXAMPLE = """\b
Example:
  skillshift-frames plan --baseline 40 --lift 5
  skillshift-frames plan --baseline 40 --tasks 355 --discordance 20"""


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="Tell how many tasks a lift needs, or which lift so many find.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
    )(plan)


def plan(
    baseline: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="Success rate without the treatment.", show_default=False
        ),
    ],
    lift: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="How many tasks does this lift need? Negative for a harm.",
            show_default=False,
        ),
    ] = None,
    tasks: Annotated[
        int | None,
        typer.Option(metavar="N", help="Which lift do so many tasks find?", show_default=False),
    ] = None,
    discordance: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            help="Share of the tasks on which the sides differ, from a pilot; default: that of independent sides.",
            show_default=False,
        ),
    ] = None,
    power: Annotated[float, typer.Option(help="Chance to find the lift.")] = 0.8,
    level: Annotated[
        float, typer.Option(help="1 − the chance to find a lift that is not there.")
    ] = 0.95,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Plan a paired comparison: how many tasks a lift needs (--lift), or which lift so many find (--tasks).

    Prints text or JSON.
    """
    from skillshift_frames.plan import plan as make_plan  # noqa: PLC0415 - not for --help
    from skillshift_frames.render import machine  # noqa: PLC0415

    def make(chosen: Format, *, color: bool) -> str:  # noqa: ARG001 - sentences have no colour
        planned = make_plan(
            baseline=baseline,
            lift=lift,
            tasks=tasks,
            discordance=discordance,
            power=power,
            level=level,
        )
        if chosen == "text":
            return "".join(f"{sentence}\n" for sentence in _sentences(planned))
        if chosen == "json":
            header = {"schema_version": machine.SCHEMA_VERSION}
            return machine.to_json(header | asdict(planned))
        msg = f"plan has no format {chosen}; there are text and json"
        raise InputError(msg)

    emit(make, format, output, force=force)
    small = [
        f"{option} {value:g}"
        for option, value in (("--baseline", baseline), ("--lift", lift))
        if value is not None and 0 < abs(value) < 1
    ]
    if small:
        say(f"note: {' and '.join(small)}: taken in percent, not as a share of 1")


def _sentences(planned: PowerPlan) -> list[str]:
    """Say a plan in sentences."""
    settings = f"{100 * planned.power:g} % power at level {planned.level:g} (two-sided)"
    start = f"At a baseline of {planned.baseline:g} %"
    if planned.lift is None or planned.discordance is None:
        return [f"{start}, {planned.tasks:,} paired tasks find no lift at all with {settings}."]
    found = f"a lift of {planned.lift:+.4g} points"
    why = (
        "as many as if both sides succeeded independently: the most to allow for. Where a pilot shows fewer, fewer tasks do"
        if planned.assumed_independent
        else "as given"
    )
    return [
        f"{start}, {found} is found by {planned.tasks:,} paired tasks with {settings}.",
        f"That is with {planned.discordance:.4g} % of the tasks coming out differently on the two sides, {why}.",
        "The same task under several conditions, or tried several times, counts once.",
    ]
