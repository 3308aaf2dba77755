"""What the commands that read have in common besides their options."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

import skillshift_frames as sf
from skillshift_frames.cli.options import parse_labels
from skillshift_frames.cli.output import say
from skillshift_frames.render.escape import escape_text

if TYPE_CHECKING:
    import polars as pl
    import typer

ExtraPolicy: TypeAlias = Literal["refuse", "keep", "ignore"]


def is_given(context: typer.Context, parameter: str) -> bool:
    """Tell whether an option was given, rather than left at its default."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name != "DEFAULT"


class Reading(TypedDict):
    """How files are read, as `skillshift_frames.read_tasks` takes it."""

    labels: dict[str, str]
    pool: bool
    benchmark: str
    extra: ExtraPolicy
    from_: str | None


def reading(
    label: list[str] | None,
    benchmark: str,
    *,
    pool: bool = False,
    extra: ExtraPolicy,
    from_: str | None = None,
) -> Reading:
    """Give the options as `skillshift_frames.read_tasks` takes them, and make sure that the reading can be stopped."""
    let_interrupts_through()
    return {
        "labels": parse_labels(label),
        "pool": pool,
        "benchmark": benchmark,
        "extra": extra,
        "from_": from_,
    }


def hint_at_shards(cells: pl.DataFrame) -> None:
    """Give a hint where runs look like parts of one."""
    for group in sf.shards(cells):
        labels = ", ".join(map(escape_text, group))
        say(
            f"hint: {labels} have no cell in common and look like shards of one run; --pool reads them as one"
        )


def let_interrupts_through() -> None:
    """Undo what importing Polars does to Control-C: a read that it interrupts would go on, for ever on a terminal."""
    import polars  # noqa: F401, ICN001, PLC0415 - not for --help; from now on its handler is the one in place

    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)
