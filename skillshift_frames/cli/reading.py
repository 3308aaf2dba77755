"""What the commands that read have in common besides their options."""

from __future__ import annotations

import signal
from typing import Literal, TypeAlias, TypedDict

from skillshift_frames.cli.options import parse_labels

ExtraPolicy: TypeAlias = Literal["refuse", "keep", "ignore"]


class Reading(TypedDict):
    """How files are read, as `skillshift_frames.read_tasks` takes it."""

    labels: dict[str, str]
    pool: bool
    benchmark: str
    extra: ExtraPolicy


def reading(
    label: list[str] | None, benchmark: str, *, pool: bool = False, extra: ExtraPolicy
) -> Reading:
    """Give the options as `skillshift_frames.read_tasks` takes them, and make sure that the reading can be stopped."""
    let_interrupts_through()
    return {"labels": parse_labels(label), "pool": pool, "benchmark": benchmark, "extra": extra}


def let_interrupts_through() -> None:
    """Undo what importing Polars does to Control-C: a read that it interrupts would go on, for ever on a terminal."""
    import polars  # noqa: F401, ICN001, PLC0415 - not for --help; from now on its handler is the one in place

    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)
