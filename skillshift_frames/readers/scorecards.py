"""Probe scorecards → trials per arm: how often an act was seen without and with a skill, one file per probe and effort."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec

from skillshift_frames.errors import InputError
from skillshift_frames.readers.folders import each_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillshift_frames.readers.sources import Paths

#: Cards are written with so many decimals.
_ROUNDING = 0.5e-4 + 1e-9

#: What a card that names no effort counts as: one level, however many cards do not.
UNKNOWN_EFFORT = "?"

_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Arm(msgspec.Struct, frozen=True):
    """One arm's trials: those in which the act was seen, of those that could be judged."""

    present: _Count
    usable: _Count
    rate: float | None


class Producer(msgspec.Struct, frozen=True):
    """Who was probed; old cards leave it out, or parts of it."""

    model: str | None = None
    effort: str | None = None


class Scorecard(msgspec.Struct, frozen=True):
    """What the headroom of a probe depends on; a card's other keys play no part."""

    schema: Literal["agentops-skill-probe.v1", "agentops-skill-probe.v2", "agentops-skill-probe.v3"]
    probe: Annotated[str, msgspec.Meta(min_length=1)]
    skill: str
    control: Arm
    treatment: Arm
    producer: Producer | None = None

    @property
    def effort(self) -> str:
        """The effort level, `UNKNOWN_EFFORT` where the card names none."""
        named = self.producer.effort if self.producer else None
        return named if named and named.strip() else UNKNOWN_EFFORT


_decode = msgspec.json.Decoder(Scorecard).decode
_PLACE = re.compile(r"(?s)(.*) - at `\$\.?(.*)`")


def read_scorecards(paths: Paths) -> list[tuple[str, Scorecard]]:
    """Read probe scorecards, each file once, with the path of each.

    Parameters
    ----------
    paths
        Files, globs, or folders (every ``.json`` below).

    Raises
    ------
    InputError
        A path that names nothing; a file that is no scorecard of version 1, 2 or 3, or contradicts itself, with the file
        and the field.
    """
    files = each_file(paths, _is_card, "scorecard there (a .json file, or a folder of them)")
    return [(str(path), _read(path)) for path in files]


def _is_card(name: str) -> bool:
    return name.endswith(".json")


def _read(path: Path) -> Scorecard:
    try:
        card = _decode(path.read_bytes())
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise InputError(msg) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what, field = str(error), ""
        if placed := _PLACE.fullmatch(what):
            what, field = placed.groups()
        msg = f"{path}: {field + ': ' if field else ''}{what} (a scorecard agentops-skill-probe.v1, v2 or v3 is needed)"
        raise InputError(msg) from error
    for name, arm in (("control", card.control), ("treatment", card.treatment)):
        for field, problem in _problems(arm):
            msg = f"{path}: {name}.{field}: {problem}"
            raise InputError(msg)
    return card


def _problems(arm: Arm) -> Iterator[tuple[str, str]]:
    """Find what cannot be true of an arm: its rate follows from its counts, and is null without any."""
    if arm.present > arm.usable:
        yield "present", f"{arm.present} of {arm.usable} usable trials"
    elif not arm.usable:
        if arm.rate is not None:
            yield "rate", f"is {arm.rate} where no trial was usable; null is needed"
    elif arm.rate is None or abs(arm.rate - arm.present / arm.usable) > _ROUNDING:
        shown = "null" if arm.rate is None else arm.rate
        yield "rate", f"is {shown}, not that of {arm.present} in {arm.usable} usable trials"
