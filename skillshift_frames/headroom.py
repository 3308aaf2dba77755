"""Scorecards of behavioural probes → headroom: whether a probe left room for a skill to show at all.

A probe that the agent passes without the skill cannot tell what the skill does, and neither can one that it never passes
with it. That is a property of the scenario, and has to be known before a verdict on the skill is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from skillshift_frames.errors import InputError
from skillshift_frames.readers.scorecards import read_scorecards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.readers.scorecards import Scorecard
    from skillshift_frames.readers.sources import Paths

Headroom: TypeAlias = Literal["UNMEASURED", "SATURATED", "FLOOR", "SEPARATED"]

#: The classes, the one that invalidates most first: a probe is in the first that holds for it.
CLASSES: tuple[Headroom, ...] = get_args(Headroom)

#: An effort level leaves no room if its control arm reaches this rate in at least so many usable trials.
CEILING, FEWEST_USABLE = 0.75, 2

#: At so many effort levels without room, the probe is saturated.
_LEVELS = 2

#: One row is one probe.
HEADROOM = pl.Schema(
    {
        "probe": pl.String(),
        "skill": pl.String(),
        "headroom": pl.String(),  # UNMEASURED, SATURATED, FLOOR or SEPARATED
        "efforts": pl.List(
            pl.String()
        ),  # levels it was run at, sorted; "?" where a card names none
        "saturated_efforts": pl.List(pl.String()),  # those at which the control arm left no room
        "control_present": pl.Int64(),  # trials without the skill in which the act was seen
        "control_usable": pl.Int64(),  # trials without the skill that could be judged
        "control_rate": pl.Float64(),  # their ratio, 0 to 1; null where no trial was usable
        "treatment_present": pl.Int64(),  # the same with the skill
        "treatment_usable": pl.Int64(),
        "treatment_rate": pl.Float64(),
        "cards": pl.Int64(),
    }
)


def headroom(paths: Paths) -> pl.DataFrame:
    """Classify probes by the headroom that they left, from their scorecards.

    One row is one probe, over all of its cards.

    Parameters
    ----------
    paths
        Scorecards (``agentops-skill-probe.v1``, ``v2`` or ``v3``; one file is one probe at one effort level), folders of
        them, or globs. A file named twice counts once.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `HEADROOM`, sorted by probe. ``headroom`` is the first that holds of ``UNMEASURED`` (no usable
        trial with the skill), ``SATURATED`` (a card with a control rate of at least 0.75 in at least 2 usable trials, at
        2 effort levels or more: the agent acts without the skill), ``FLOOR`` (it never acts with the skill) and
        ``SEPARATED`` (there was room; whether the skill used it is another question). Counts are sums over the cards;
        rates are null, not 0, where no trial was usable.

    Raises
    ------
    InputError
        A path that names nothing, a file that is no scorecard, cards of one probe that name two skills.

    Notes
    -----
    Two questions have been answered both ways by the tool that writes these cards. A probe that was run at a single effort
    level and passed without the skill there is ``SEPARATED`` here, as one level says nothing about the next; a later
    version of that tool may call it ``UNMEASURED`` (``saturated_efforts`` names the level). And a probe with a card that
    has no usable trial is ``FLOOR`` here if the others never act; there it may be ``SEPARATED``.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> aced, missed = (
    ...     {"present": 2, "usable": 2, "rate": 1.0},
    ...     {"present": 0, "usable": 2, "rate": 0.0},
    ... )
    >>> card = {"schema": "agentops-skill-probe.v1", "probe": "closeout", "skill": "validator"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for effort in ("low", "high"):
    ...         arms = {"producer": {"effort": effort}, "control": aced, "treatment": missed}
    ...         file = pathlib.Path(folder, f"closeout-{effort}.json")
    ...         _ = file.write_text(json.dumps(card | arms))
    ...     found = headroom(folder)
    >>> found.select("probe", "headroom", "control_rate", "treatment_rate", "cards").row(0)
    ('closeout', 'SATURATED', 1.0, 0.0, 2)
    """
    probes: dict[str, list[Scorecard]] = {}
    for path, card in read_scorecards(paths):
        of_probe = probes.setdefault(card.probe, [])
        if of_probe and of_probe[0].skill != card.skill:
            msg = f"{path}: skill: probe {card.probe!r} is of {card.skill!r} here and of {of_probe[0].skill!r} elsewhere"
            raise InputError(msg)
        of_probe.append(card)
    rows = [_row(probe, cards) for probe, cards in sorted(probes.items())]
    return pl.DataFrame(rows, schema=HEADROOM, orient="row")


def _row(probe: str, cards: Sequence[Scorecard]) -> tuple[object, ...]:
    saturated = sorted({card.effort for card in cards if _leaves_no_room(card)})
    totals = [
        (sum(arm.present for arm in arms), sum(arm.usable for arm in arms))
        for arms in ([card.control for card in cards], [card.treatment for card in cards])
    ]
    counts = [(*total, total[0] / total[1] if total[1] else None) for total in totals]
    acted, usable = totals[1]
    found: Headroom = "SEPARATED"
    if not usable:
        found = "UNMEASURED"
    elif len(saturated) >= _LEVELS:
        found = "SATURATED"
    elif not acted:
        found = "FLOOR"
    efforts = sorted({card.effort for card in cards})
    return (probe, cards[0].skill, found, efforts, saturated, *counts[0], *counts[1], len(cards))


def _leaves_no_room(card: Scorecard) -> bool:
    control = card.control
    return control.usable >= FEWEST_USABLE and control.present >= CEILING * control.usable
