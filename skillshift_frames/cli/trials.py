"""What the commands over other tools' results have in common: which files, which side, which format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import skillshift_frames as sf
from skillshift_frames.cli.reading import let_interrupts_through
from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.lift_policies import CompositeLike
    from skillshift_frames.readers.trials import Collected
    from skillshift_frames.regress import LiftSet


def read_sides(
    sources: list[str] | None,
    with_: list[str] | None,
    without: list[str] | None,
    from_: str | None,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read trials, and give with them what `skillshift_frames.skill_lift` needs besides: the sides, and what was lost.

    With sources, ``--with`` and ``--without`` are names in them; without any they are paths.
    """
    from skillshift_frames.readers.trials import read_and_tell  # noqa: PLC0415 - not for --help

    let_interrupts_through()
    if sources:
        names = {"with_": _name("--with", with_), "without": _name("--without", without)}
        found = read_and_tell(sources, from_)
        return found.trials, {**names, "faults": found.faults}
    if bool(with_) != bool(without):
        there, other = ("--with", "--without") if with_ else ("--without", "--with")
        msg = f"{other} is missing: {there} PATH needs {other} PATH beside it, or SOURCE with both sides in it"
        raise InputError(msg)
    if not with_ or not without:
        msg = "no results were named: SOURCE, or --with PATH and --without PATH"
        raise InputError(msg)
    twice = {os.path.realpath(path) for path in with_} & {
        os.path.realpath(path) for path in without
    }
    if twice:
        msg = f"{min(twice)}: is named on both sides"
        raise InputError(msg)
    sides = [read_and_tell(paths, from_) for paths in (with_, without)]
    faults = sides[0].faults.vstack(sides[1].faults)
    return sf.with_arms(*(side.trials for side in sides)), {"faults": faults}


def composite_asked(given: list[str] | None) -> CompositeLike | None:
    """Give what ``--composite`` names as `skillshift_frames.skill_lift` takes it; None where it was not given."""
    if not given:
        return None
    if len(given) == 1:
        return given[0]
    if policies := {"default", "metrics", "dimensions"} & set(given):
        msg = f"--composite {min(policies)} goes with no other"
        raise InputError(msg)
    return given


def _name(option: str, given: list[str] | None) -> str | None:
    if given is None:
        return None
    if len(given) > 1:
        msg = f"{option} is given twice; with SOURCE it names one arm, run or agent"
        raise InputError(msg)
    return given[0]


def read_lifts(path: str, from_: str | None) -> LiftSet | Collected:
    """Read one date's lifts: files that ``lift --format json`` wrote, else trials and what was lost with them."""
    from skillshift_frames.readers.lift_files import lift_files  # noqa: PLC0415 - not for --help
    from skillshift_frames.readers.trials import read_and_tell  # noqa: PLC0415
    from skillshift_frames.regress import read_lift_sets  # noqa: PLC0415

    let_interrupts_through()
    if not path:
        msg = "an empty path; name a file or folder of lifts"
        raise InputError(msg)
    if path == "-":
        msg = (
            "regress takes files of lifts (what lift --format json wrote) or folders of trials, not standard input; write the "
            "lifts to a file (lift -o FILE.json) and name it"
        )
        raise InputError(msg)
    files = lift_files(Path(path)) if from_ is None else []
    return read_lift_sets(files) if files else read_and_tell([path], from_)
