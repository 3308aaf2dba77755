"""From other tools' trials: lift."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal, TypeAlias

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    CompositeOption,
    Force,
    FormatOption,
    FromOption,
    GateOption,
    LevelOption,
    MarginOption,
    Output,
    ResamplesOption,
    SeedOption,
)
from skillshift_frames.cli.output import Format, emit, render, say_notes
from skillshift_frames.cli.trials import composite_asked, read_sides

_EXAMPLE = """\b
Example:
  skillshift-frames lift evals/results/latest
  skillshift-frames lift --with jobs/skill --without jobs/plain --as harbor-0.13
  skillshift-frames lift evals/results/latest --errors zero --composite dimensions --format json"""

#: Spelled out for --help and completion; a test holds them against the table of policies.
Policy: TypeAlias = Literal[
    "harbor-0.13",
    "harbor-0.26",
    "skillevaluator",
    "skillevaluator-5d",
    "inspect",
    "agentlab",
    "tau-bench",
    "skill-creator",
    "skillsbench",
    "agentops",
    "asi",
]


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="What a skill adds, from another tool's trials with and without it.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
    )(lift)


def lift(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="Results of another tool: folders or files, each recognised by its content.",
            show_default=False,
        ),
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="PATH|NAME",
            help="Results with the skill; or which arm, run or agent of SOURCE has it.",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="PATH|NAME",
            help="Results without the skill; or which arm, run or agent of SOURCE has none.",
            show_default=False,
        ),
    ] = None,
    from_: FromOption = None,
    errors: Annotated[
        Literal["exclude", "zero", "fail-arm"],
        typer.Option(
            "--errors",
            help="Trials without a score: in no mean, counted as 0, or their whole arm without numbers.",
        ),
    ] = "exclude",
    as_: Annotated[
        Policy | None,
        typer.Option(
            "--as",
            help="Also the number that this tool computes, and why ours differs.",
            show_default=False,
        ),
    ] = None,
    composite: CompositeOption = None,
    margin: MarginOption = None,
    gate: GateOption = False,
    level: LevelOption = 0.95,
    method: Annotated[
        Literal["t", "bootstrap", "delta"],
        typer.Option(
            "--method",
            help="How intervals are made; t keeps its level with few cases, too.",
        ),
    ] = "t",
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    format: FormatOption = None,  # noqa: A002 - the option's name
    output: Output = None,
    force: Force = False,
) -> None:
    """Measure what a skill adds: with against without, paired by case, per metric and in all."""
    from skillshift_frames.render import lift as lifts, machine  # noqa: PLC0415 - not for --help

    @cache
    def work() -> sf.SkillLift:
        trials, sides = read_sides(sources, with_, without, from_)
        return sf.skill_lift(
            trials,
            errors=errors,
            as_=as_,
            composite=composite_asked(composite) or "default",
            margin=margin,
            level=level,
            resamples=resamples,
            rng=seed,
            method=method,
            **sides,
        )

    def make(chosen: Format, *, color: bool) -> str:
        found = work()
        if chosen == "json":
            return machine.to_json(found.to_dict())
        document = lifts.lift_document(found)
        if chosen == "csv":
            say_notes(document)
            return machine.to_csv(lifts.lift_rows(found))
        return render(document, chosen, color=color)

    emit(make, format, output, force=force)
    if gate and work().decision.verdict != "helps":
        raise typer.Exit(1)
