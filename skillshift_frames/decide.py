"""What a comparison allows to say: a verdict with its reason, and a recommendation with the facts it rests on.

Four verdicts, because "no difference was shown" is not "there is no difference": the second needs a margin and a test of
its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import polars as pl

from skillshift_frames.errors import InputError
from skillshift_frames.sampling import DEFAULT_LEVEL, FEWEST_FAMILIES
from skillshift_frames.schema import LOWER_IS_BETTER, NO_DIRECTION
from skillshift_frames.stats.paired import fewest_to_tell, smallest_p
from skillshift_frames.stats.rounding import half_up

if TYPE_CHECKING:
    from collections.abc import Mapping

Verdict: TypeAlias = Literal["helps", "harms", "equivalent", "undetermined"]
Recommendation: TypeAlias = Literal["retain", "revise", "remove", "insufficient evidence"]

#: Lifts and rooms below this share of an interval's half-width are 0 but for rounding.
_NEGLIGIBLE = 1e-9


class Evidence(Protocol):
    """What a decision needs of a comparison (`skillshift_frames.compare.Comparison`)."""

    @property
    def lifts(self) -> pl.DataFrame:
        """Lift per metric and slot."""

    @property
    def metric(self) -> str:
        """The primary metric."""

    @property
    def level(self) -> float:
        """Of the lifts' intervals."""

    @property
    def pairs(self) -> int:
        """How many there are."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict on the primary metric, and what to do.

    Attributes
    ----------
    verdict
        ``helps``, ``harms``, ``equivalent`` or ``undetermined``.
    reason
        Why, in a sentence with its numbers.
    settle
        How many families, in the same mix of sites, would settle an undetermined verdict if the lift stays what it is;
        None where that cannot be said.
    recommendation
        ``retain``, ``revise``, ``remove`` or ``insufficient evidence``.
    facts
        What the recommendation rests on.
    """

    verdict: Verdict
    reason: str
    settle: int | None
    recommendation: Recommendation
    facts: tuple[str, ...]


def decide(comparison: Evidence, *, margin: float | None = None) -> Decision:
    """Decide whether the treatment helps, from the interval of its lift.

    Parameters
    ----------
    comparison
        From `skillshift_frames.compare`.
    margin
        The largest lift, in the metric's unit, that would not matter: the 90 % interval (with a level of 95 %) inside ±margin
        is equivalence, by two one-sided tests. There is no default, because nobody else can know it. The comparison must
        have been made with a margin, too.

    Returns
    -------
    Decision
        ``helps`` where the interval of the primary metric's overall lift is on the better side of 0, ``harms`` where it is
        on the worse, ``equivalent`` inside the margin, else ``undetermined``, with the reason. Where the families agree so
        well that there is no interval, and all tasks move one way, an exact sign test on the families takes its place. ``retain``: helps and
        harms nowhere, or equivalent while steps fall. ``revise``: helps somewhere and harms elsewhere. ``remove``: harms,
        or equivalent at no saving (steps must have been compared). Anything else, and fewer than two families, is
        ``insufficient evidence``. Slots are
        looked at one by one, without a correction for their number.

    Raises
    ------
    InputError
        ``margin`` is not positive, the level not above 0.5, or the comparison was made without a margin.

    References
    ----------
    Schuirmann, D. J. (1987), A comparison of the two one-sided tests procedure and the power approach, Journal of
    Pharmacokinetics and Biopharmaceutics 15, 657-680.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 40}, conditions=("plain",))
    >>> row = {
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "steps": 3,
    ...     "skill_calls": 0,
    ...     "skill_failures": 0,
    ... }
    >>> tasks = pl.DataFrame(
    ...     [
    ...         row | {"run": run, "uid": str(i), "success": i < n}
    ...         for run, n in (("a", 10), ("b", 25))
    ...         for i in range(40)
    ...     ]
    ... )
    >>> found = sf.compare(
    ...     sf.from_frame(tasks, benchmark=shop), base="a", treatment="b", benchmark=shop
    ... )
    >>> sf.decide(found).verdict, sf.decide(found).recommendation
    ('helps', 'retain')
    """
    check_margin(margin, comparison.level)
    better = -1 if comparison.metric in LOWER_IS_BETTER else 1
    overall = comparison.lifts.filter(metric=comparison.metric, slot="overall").row(0, named=True)
    if margin is not None and overall["low"] is not None and overall["equivalence_low"] is None:
        msg = "the comparison was made without a margin; give it to compare, too"
        raise InputError(msg)
    verdict, reason, settle = _verdict(comparison, overall, better, margin)
    recommendation, facts = _recommend(comparison, verdict, overall, better)
    return Decision(verdict, reason, settle, recommendation, (reason, *facts))


def verdicts(
    lifts: pl.DataFrame, *, level: float = DEFAULT_LEVEL, margin: float | None = None
) -> pl.DataFrame:
    """Give the verdict on every lift, slot by slot, by the rule that `decide` applies to the overall one.

    Parameters
    ----------
    lifts
        Of a comparison, as `skillshift_frames.LIFTS`.
    level, margin
        Those that the comparison was made with.

    Returns
    -------
    polars.DataFrame
        The frame with String ``verdict``: ``helps``, ``harms``, ``equivalent`` (with a margin only) or ``undetermined``; the
        last also without pairs, without an interval, and for a metric of which neither more nor less is better. Slots are
        looked at one by one, without a correction for their number.

    Raises
    ------
    InputError
        The margin is not positive.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks(["data/demo/reference.jsonl", "data/demo/induced.jsonl"])
    >>> found = sf.compare(tasks, base="reference", treatment="induced", metrics=["SR"])
    >>> sf.verdicts(found.lifts).select("slot", "verdict").rows()[:3]
    [('gitlab', 'undetermined'), ('magento', 'helps'), ('wordpress', 'helps')]
    """
    check_margin(margin, level)
    judged = []
    for row in lifts.iter_rows(named=True):
        evidence = _Slot(lifts, row["metric"], level, row["tasks"])
        better = -1 if row["metric"] in LOWER_IS_BETTER else 1
        held = margin if row["equivalence_low"] is not None else None
        judged.append(_verdict(evidence, row, better, held)[0])
    return lifts.with_columns(pl.Series("verdict", judged, dtype=pl.String))


@dataclass(frozen=True, slots=True)
class _Slot:
    """One slot's evidence, judged as if it were the overall one."""

    lifts: pl.DataFrame
    metric: str
    level: float
    pairs: int


def check_margin(margin: float | None, level: float) -> None:
    """Raise `InputError` for a margin that allows no test of equivalence."""
    if margin is None:
        return
    if not 0 < margin < math.inf:
        msg = f"margin {margin} is not a positive number"
        raise InputError(msg)
    if level <= 0.5:  # noqa: PLR2004 - two tests at 1 - level each need a level above one half
        msg = f"level {level} leaves no interval at 2 · level − 1 to hold against a margin; a level above 0.5 is needed"
        raise InputError(msg)


def _verdict(
    comparison: Evidence, overall: Mapping[str, Any], better: int, margin: float | None
) -> tuple[Verdict, str, int | None]:
    nothing = _no_interval(comparison, overall)
    if nothing is None and overall["low"] is None:
        return _verdict_of_signs(comparison, overall, better)
    if nothing is not None:
        return "undetermined", nothing, None
    low, high, percent = overall["low"], overall["high"], f"{100 * comparison.level:g} %"
    shown = f"the {percent} interval of the {comparison.metric} lift is [{low:.2f}, {high:.2f}]"
    few = _too_few(comparison, overall)
    if _is_clear(comparison, overall):
        return ("helps" if better * low > 0 else "harms"), shown, None
    if margin is None:
        shown += " and holds 0"
    else:
        ends = overall["equivalence_low"], overall["equivalence_high"]
        percent = f"{100 * (2 * comparison.level - 1):g} %"
        shown = f"the {percent} interval of the {comparison.metric} lift is [{ends[0]:.2f}, {ends[1]:.2f}]"
        if -margin < ends[0] and ends[1] < margin:
            return "equivalent", f"{shown}, inside ±{margin:g}", None
        shown += f", neither clear of 0 nor inside ±{margin:g}: too wide for this margin"
    if few:
        smallest = smallest_p(overall["discordant"])
        shown = (
            f"too few discordant tasks: with {overall['discordant']} no outcome could be "
            f"significant (the smallest p is {smallest:.3f})"
        )
    return "undetermined", shown, _families_to_settle(comparison, overall, margin)


def _verdict_of_signs(
    comparison: Evidence, overall: Mapping[str, Any], better: int
) -> tuple[Verdict, str, int | None]:
    """Decide where all families agree, and so leave no spread to make an interval of, and all tasks move one way."""
    families, lift = int(overall["families"]), overall["lift"]
    p = smallest_p(families)
    shown = (
        f"no interval ({overall['reason']}), but the {comparison.metric} lift is {'above' if lift > 0 else 'below'} 0 "
        f"in all {families:,} families: exact sign test p {p_value(p)}"
    )
    if p < 1 - comparison.level:
        return ("helps" if better * lift > 0 else "harms"), shown, None
    return "undetermined", f"too few families: {shown}", fewest_to_tell(comparison.level)


def p_value(p: float) -> str:
    """Show a p with its sign of relation.

    Examples
    --------
    >>> p_value(0.03125), p_value(2e-9)
    ('= 0.0313', '< 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"= {half_up(p, 4)}"  # noqa: PLR2004 - four digits are shown


def _all_move_one_way(row: Mapping[str, Any]) -> bool:
    """Tell whether every task behind a lift without an interval is better, or every one worse."""
    return bool(row["low"] is None and row["lift"] and row["tasks"] in {row["wins"], row["losses"]})


def _too_few(comparison: Evidence, row: Mapping[str, Any]) -> bool:
    """Tell whether so few tasks differ that not even all of them on one side would be significant."""
    return comparison.metric == "SR" and smallest_p(row["discordant"]) >= 1 - comparison.level


def _is_clear(comparison: Evidence, row: Mapping[str, Any]) -> bool:
    """Tell whether a slot's interval is on one side of 0, and could have been on either; or its families' signs are."""
    if _all_move_one_way(row):
        return smallest_p(row["families"]) < 1 - comparison.level
    known = row["low"] is not None and row["high"] is not None
    return known and (row["low"] > 0 or row["high"] < 0) and not _too_few(comparison, row)


def _no_interval(comparison: Evidence, overall: Mapping[str, Any]) -> str | None:
    """Say why there is nothing to decide on, or None where there is."""
    if not comparison.pairs:
        return "there are no pairs"
    if comparison.metric in NO_DIRECTION:
        return f"more {comparison.metric} is neither better nor worse"
    if overall["lift"] is None:
        return f"{comparison.metric} is undefined on a side"
    if overall["families"] < FEWEST_FAMILIES:
        return "too few tasks: a single family tells nothing about the next"
    if overall["low"] is None and not _all_move_one_way(overall):
        same = not overall["discordant"] and comparison.metric != "SFR"
        return "no spread: no pair differs" if same else str(overall["reason"])
    return None


def _families_to_settle(
    comparison: Evidence, overall: Mapping[str, Any], margin: float | None
) -> int | None:
    """Scale the families until the interval, shrinking with their square root, clears 0 or fits inside the margin."""
    families, discordant = int(overall["families"]), int(overall["discordant"])
    lift = abs(overall["lift"])
    half = (overall["high"] - overall["low"]) / 2
    if overall["method"] == "delta" and lift and overall["low"] == -overall["high"]:
        return None  # cut off on both sides, where a rate's lift cannot be: how far it would reach is not known
    # What has to shrink is the way from the lift to the end beyond 0; the interval need not be symmetric.
    reach = (
        overall["lift"] - overall["low"]
        if overall["lift"] > 0
        else overall["high"] - overall["lift"]
    )
    needed: list[float] = []
    if lift > _NEGLIGIBLE * half:
        clear = families * (reach / lift) ** 2
        if _too_few(comparison, overall):
            enough = fewest_to_tell(comparison.level)
            clear = max(clear, families * enough / max(1, discordant))
        needed.append(clear)
    if margin is not None and margin - lift > _NEGLIGIBLE * half:
        ends = overall["equivalence_low"], overall["equivalence_high"]
        inner = max(abs(end - overall["lift"]) for end in ends)
        needed.append(families * (inner / (margin - lift)) ** 2)
    return max(families + 1, math.ceil(min(needed))) if needed else None


def _recommend(
    comparison: Evidence, verdict: Verdict, overall: Mapping[str, Any], better: int
) -> tuple[Recommendation, list[str]]:
    if not comparison.pairs or overall["families"] < FEWEST_FAMILIES:
        return "insufficient evidence", []
    parts = comparison.lifts.filter(pl.col("slot") != "overall", metric=comparison.metric)
    clear = [row for row in parts.iter_rows(named=True) if _is_clear(comparison, row)]
    helped, harmed = ([r for r in clear if sign * better * _end(r) > 0] for sign in (1, -1))
    facts = [
        f"{word} {', '.join(map(_with_interval, rows))}"
        for word, rows in (("helped:", helped), ("harmed:", harmed))
        if rows
    ]
    steps = comparison.lifts.filter(pl.col("lift").is_not_null(), metric="AS", slot="overall")
    fewer = steps.filter(pl.col("high") < 0)
    recommendation: Recommendation = "insufficient evidence"
    if harmed and (verdict == "helps" or helped):
        recommendation = "revise"
    elif verdict == "harms":
        recommendation = "remove"
    elif verdict == "helps":
        recommendation = "retain"
        facts.append("no site or condition is harmed")
    elif verdict == "equivalent" and fewer.height:
        recommendation = "retain"
        facts.append(f"steps fall: {_with_interval(fewer.row(0, named=True))}")
    elif verdict == "equivalent" and not steps.height:
        facts.append("whether steps fall is not known: AS was not compared, or not recorded")
    elif verdict == "equivalent" and steps.row(0, named=True)["high"] is None:
        facts.append(f"whether steps fall is not known: {steps.row(0, named=True)['reason']}")
    elif verdict == "equivalent":
        recommendation = "remove"
        facts.append("no saving of steps is shown")
    return recommendation, facts


def _end(row: Mapping[str, Any]) -> float:
    return float(row["lift"] if row["low"] is None else row["low"])


def _with_interval(row: Mapping[str, Any]) -> str:
    ends = f"[{row['low']:.2f}, {row['high']:.2f}]" if row["low"] is not None else None
    signs = (
        f"(all {row['families']:,} families; sign test p {p_value(smallest_p(row['families']))})"
    )
    return f"{row['slot']} {row['lift']:+.2f} {ends or signs}"
