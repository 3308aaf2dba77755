"""Verdicts and recommendations: each one from numbers made for it, and from runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from scipy import stats  # noqa: TID253
from statsmodels.stats.weightstats import ttost_paired  # type: ignore[import-untyped]

import skillshift_frames as sf
from skillshift_frames.decide import p_value
from tests.simulated import frame_of, simulate

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Made:
    """What a decision needs of a comparison, made up."""

    lifts: pl.DataFrame
    metric: str = "SR"
    level: float = 0.95
    pairs: int = 300


def lift(
    metric: str,
    slot: str,
    low: float | None,
    high: float | None,
    **changes: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Give one row of lifts: the interval around its middle, and the equivalence interval at 84 % of its width."""
    row: dict[str, Any] = dict.fromkeys(sf.LIFTS)
    row |= {"metric": metric, "slot": slot, "low": low, "high": high}
    row |= {"tasks": 300, "families": 100, "discordant": 60, "cells": 4, "cells_expected": 4}
    if low is not None and high is not None:
        middle, half = (low + high) / 2, 0.84 * (high - low) / 2
        row |= {"lift": middle, "equivalence_low": middle - half, "equivalence_high": middle + half}
    return row | changes


def made(*rows: dict[str, Any], **changes: Any) -> Made:  # noqa: ANN401
    return Made(pl.DataFrame(list(rows), schema=sf.LIFTS), **changes)


def verdict(*rows: dict[str, Any], margin: float | None = None, **changes: Any) -> str:  # noqa: ANN401
    return sf.decide(made(*rows, **changes), margin=margin).verdict


# Verdicts


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (1, 9, None, "helps"),
        (-9, -1, None, "harms"),
        (-1, 9, None, "undetermined"),
        (0.0, 9, None, "undetermined"),  # 0 is not above 0
        (-9, 0.0, None, "undetermined"),
        (1, 9, 20, "helps"),  # a lift that does not matter is still a lift
        (-2, 3, 4, "equivalent"),
        (-2, 3, 2, "undetermined"),
        (-4, 5, 4.3, "equivalent"),  # the 90 % interval is inside, the 95 % one is not
        (-4, 5, 4.2, "undetermined"),
        (-30, 30, 5, "undetermined"),
    ],
)
@pytest.mark.parametrize("metric", ["SR", "AS", "steps", "SFR", "skill_failures", "reward"])
def test_verdict_is_where_the_interval_lies(
    metric: str, low: float, high: float, margin: float | None, expected: str
) -> None:
    less_is_better = metric in {"AS", "SFR", "steps", "skill_failures"}
    turned = {"helps": "harms", "harms": "helps"}
    if less_is_better:
        expected = turned.get(expected, expected)
    assert verdict(lift(metric, "overall", low, high), metric=metric, margin=margin) == expected


def test_reason_holds_the_interval_and_its_level() -> None:
    row = lift("SR", "overall", -1, 9)
    reason = sf.decide(made(row)).reason
    assert reason == "the 95 % interval of the SR lift is [-1.00, 9.00] and holds 0"
    reason = sf.decide(made(row, level=0.9)).reason
    assert reason.startswith("the 90 % interval")
    reason = sf.decide(made(row), margin=5).reason
    assert reason == (
        "the 90 % interval of the SR lift is [-0.20, 8.20], neither clear of 0 nor inside ±5: too wide for this margin"
    )
    assert sf.decide(made(row), margin=20).reason.endswith("inside ±20")


@pytest.mark.parametrize(
    ("level", "discordant", "few"),
    [(0.95, 5, True), (0.95, 6, False), (0.99, 7, True), (0.99, 8, False), (0.9, 5, False)],
)
def test_too_few_discordant_tasks_are_a_reason_of_their_own(
    level: float,
    discordant: int,
    few: bool,  # noqa: FBT001
) -> None:
    """At 95 % fewer than six: 2 · 2⁻⁵ = 0.0625, 2 · 2⁻⁶ = 0.031."""
    row = lift("SR", "overall", 1, 9, discordant=discordant)
    found = sf.decide(made(row, level=level))
    assert (found.verdict == "undetermined") == few
    assert ("no outcome could be significant" in found.reason) == few
    if few:
        assert f"with {discordant} no outcome" in found.reason
        assert f"smallest p is {2 * 0.5**discordant:.3f}" in found.reason
        # As many families more as bring the discordant tasks that are needed.
        assert found.settle == -(-100 * (discordant + 1) // discordant)
    # Only SR has outcomes; steps may differ in few tasks and still be clear.
    assert verdict(lift("AS", "overall", 1, 9, discordant=2), metric="AS") == "harms"


def test_few_discordant_tasks_can_still_be_equivalence() -> None:
    row = lift("SR", "overall", -1, 1, discordant=3)
    assert verdict(row, margin=2) == "equivalent"
    found = sf.decide(made(row), margin=0.5)
    assert found.verdict == "undetermined"
    assert "too few discordant tasks" in found.reason


@pytest.mark.parametrize(
    ("row", "pairs", "reason"),
    [
        (lift("SR", "overall", None, None), 0, "there are no pairs"),
        (lift("SR", "overall", None, None), 9, "SR is undefined on a side"),
        (
            lift("SR", "overall", None, None, lift=2.0, families=1),
            9,
            "too few tasks: a single family",
        ),
        (
            lift("SR", "overall", None, None, lift=0.0, discordant=0),
            9,
            "no spread: no pair differs",
        ),
        (
            lift("SR", "overall", None, None, lift=100.0, reason="no spread: all 9 families agree"),
            9,
            "no spread: all 9 families agree",
        ),
        (
            lift(
                "SFR", "overall", None, None, lift=4.0, reason="undefined in 7.1 % of the resamples"
            ),
            9,
            "undefined in 7.1 % of the resamples",
        ),
    ],
)
def test_without_an_interval_nothing_is_decided(
    row: dict[str, Any], pairs: int, reason: str
) -> None:
    found = sf.decide(made(row, pairs=pairs, metric=row["metric"]))
    assert (found.verdict, found.settle) == ("undetermined", None)
    assert found.reason.startswith(reason)
    assert found.recommendation == "insufficient evidence"


# What would settle it


def test_settling_takes_the_square_of_what_is_lacking() -> None:
    # Half-width 8 around a lift of 4: half of it takes four times the families.
    assert sf.decide(made(lift("SR", "overall", -4, 12))).settle == 400
    # Within ±6: room 2 for a 90 % half-width of 6.72; to clear 0 is nearer than to fit.
    assert sf.decide(made(lift("SR", "overall", -4, 12)), margin=6).settle == 400
    # Around 1, clearing 0 would take 6,400; to fit inside ±6 with 0.84 · 8 takes 181.
    assert sf.decide(made(lift("SR", "overall", -7, 9)), margin=6).settle == 181
    assert sf.decide(made(lift("SR", "overall", 1, 9))).settle is None


def test_lift_of_nothing_cannot_be_told_from_nothing() -> None:
    assert sf.decide(made(lift("SR", "overall", -8, 8))).settle is None
    noise = lift("SR", "overall", -8, 8, lift=1e-17)
    assert sf.decide(made(noise)).settle is None
    assert (
        sf.decide(made(lift("SR", "overall", -8, 8)), margin=4).settle == 283
    )  # 100 · (6.72 / 4)²


def repeated(
    base: Sequence[int],
    treatment: Sequence[int],
    times: int,
    **options: Any,  # noqa: ANN401
) -> sf.Comparison:
    """Compare two runs whose every task occurs so many times, as families of their own."""
    shop = sf.Benchmark("shop", sites={"cart": len(base) * times}, conditions=("plain",))
    rows = [
        {
            "run": run,
            "site": "cart",
            "condition": "plain",
            "uid": f"{copy}.{i}",
            "success": bool(passed),
            "steps": 3,
            "skill_calls": 0,
            "skill_failures": 0,
        }
        for run, side in (("a", base), ("b", treatment))
        for copy in range(times)
        for i, passed in enumerate(side)
    ]
    return sf.compare(
        frame_of(rows, shop), base="a", treatment="b", benchmark=shop, method="delta", **options
    )


def test_settled_by_as_many_families_as_it_said() -> None:
    base = [1] * 12 + [0] * 28
    treatment = [1] * 8 + [0] * 4 + [1] * 7 + [0] * 21  # 7 gained, 4 lost of 40: +7.5
    undecided = repeated(base, treatment, 1).decision
    assert undecided.verdict == "undetermined"
    assert undecided.settle is not None
    times = undecided.settle / 40
    assert repeated(base, treatment, int(times)).decision.verdict == "undetermined"
    assert repeated(base, treatment, int(times) + 1).decision.verdict == "helps"


def test_margin_settled_by_as_many_families_as_it_said() -> None:
    base, treatment = [1, 0] * 20, [0, 1] * 4 + [1, 0] * 16
    undecided = repeated(base, treatment, 1, margin=10).decision
    assert undecided.verdict == "undetermined"
    assert undecided.settle is not None
    times = undecided.settle / 40
    assert repeated(base, treatment, int(times), margin=10).decision.verdict == "undetermined"
    assert repeated(base, treatment, int(times) + 1, margin=10).decision.verdict == "equivalent"


# Families that all move one way


@pytest.mark.parametrize("n", [2, 5, 6, 40])
@pytest.mark.parametrize(("side", "verdict"), [(1, "helps"), (0, "harms")])
def test_tasks_that_all_move_alike_are_told_by_an_exact_sign_test(
    n: int, side: int, verdict: str
) -> None:
    """No interval, and with 40 of 40 no doubt: SciPy's binomial test is the oracle."""
    found = repeated([1 - side], [side], n)
    p = stats.binomtest(n, n, 0.5).pvalue
    assert found.lifts.filter(metric="SR", slot="overall")["low"][0] is None
    told = p < 0.05
    assert found.decision.verdict == (verdict if told else "undetermined")
    assert f"0 in all {n} families: exact sign test" in found.decision.reason
    expected = {"helps": "retain", "harms": "remove"}[verdict] if told else "insufficient evidence"
    assert found.decision.recommendation == expected
    assert found.decision.settle == (None if told else 6)


def test_one_family_that_moves_tells_nothing() -> None:
    assert repeated([0], [1], 1).decision.verdict == "undetermined"


def test_a_slot_in_which_all_move_alike_is_harmed_without_an_interval() -> None:
    """A lift overall does not hide ten losses of ten at one site."""
    shop = sf.Benchmark("shop", sites={"cart": 90, "search": 10}, conditions=("plain",))
    rows = [
        {"run": run, "site": site, "condition": "plain", "uid": f"{site}.{i}", "success": passed(i)}
        | {"steps": 3, "skill_calls": 0, "skill_failures": 0}
        for run, site, n, passed in (
            ("a", "cart", 90, lambda _: False),
            ("b", "cart", 90, lambda i: i > 3),
            ("a", "search", 10, lambda _: True),
            ("b", "search", 10, lambda _: False),
        )
        for i in range(n)
    ]
    found = sf.compare(frame_of(rows, shop), base="a", treatment="b", benchmark=shop)
    assert found.lifts.filter(metric="SR", slot="search")["low"][0] is None
    assert found.decision.recommendation == "revise"
    assert any(
        "harmed: search -100.00 (all 10 families; sign test p = 0.0020)" in fact
        for fact in found.decision.facts
    )


# Equivalence


@pytest.mark.parametrize("margin", [0.15, 0.19, 0.25, 0.35, 0.5])
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_equivalence_is_two_one_sided_tests(margin: float, shift: float) -> None:
    """On one number per task, against the two tests of statsmodels."""
    n = 400
    values = np.random.default_rng(8).normal(shift, 2.0, size=n)
    shop = sf.Benchmark("shop", sites={"cart": n}, conditions=("plain",))
    rows = [
        row | {"run": run, "score": score}
        for run, scores in (("a", np.zeros(n)), ("b", values))
        for row, score in zip(simulate(benchmark=shop), scores.tolist(), strict=True)
    ]
    found = sf.compare(
        frame_of(rows, shop, extra="keep"),
        base="a",
        treatment="b",
        metrics=["score"],
        margin=margin,
        method="delta",
        benchmark=shop,
    )
    p, _, _ = ttost_paired(values, np.zeros(n), -margin, margin)
    assert abs(p - 0.05) > 0.002  # where normal and t cannot be told apart
    assert (found.decision.verdict == "equivalent") == (p < 0.05)


@pytest.mark.parametrize("margin", [0, -1, float("nan"), float("inf")])
def test_margin_is_a_positive_number(margin: float) -> None:
    with pytest.raises(sf.InputError, match="is not a positive number"):
        sf.decide(made(lift("SR", "overall", 1, 9)), margin=margin)


def test_margin_needs_an_interval_made_for_it() -> None:
    row = lift("SR", "overall", -1, 9) | {"equivalence_low": None, "equivalence_high": None}
    with pytest.raises(sf.InputError, match="made without a margin"):
        sf.decide(made(row), margin=5)
    with pytest.raises(sf.InputError, match=r"a level above 0.5"):
        sf.decide(made(lift("SR", "overall", -1, 9), level=0.5), margin=5)


# Recommendations

Recommended = Literal["retain", "revise", "remove", "insufficient evidence"]
SR = {
    "helps": lift("SR", "overall", 1, 9),
    "harms": lift("SR", "overall", -9, -1),
    "equivalent": lift("SR", "overall", -1, 1),
    "undetermined": lift("SR", "overall", -9, 10),
}
BETTER, WORSE, OPEN = (
    lift("SR", slot, *ends) for slot, ends in (("src", (2, 8)), ("tgt", (-8, -2)), ("src", (-3, 4)))
)
FEW_WORSE = lift("SR", "tgt", -8, -2, discordant=4)
FALL, SAME, RISE = (lift("AS", "overall", *ends) for ends in ((-3, -1), (-1, 1), (1, 3)))
ALIKE = lift("AS", "overall", None, None, lift=0.0, reason="no spread: all 100 families agree")
UNKNOWN = lift("AS", "overall", None, None, reason="undefined on a side")


@pytest.mark.parametrize(
    ("overall", "others", "expected"),
    [
        ("helps", [], "retain"),
        ("helps", [BETTER, OPEN, RISE], "retain"),
        ("helps", [FEW_WORSE], "retain"),  # four tasks cannot show a harm
        ("helps", [WORSE], "revise"),
        ("helps", [BETTER, WORSE], "revise"),
        ("undetermined", [BETTER, WORSE], "revise"),
        ("undetermined", [BETTER], "insufficient evidence"),
        ("undetermined", [WORSE], "insufficient evidence"),
        ("undetermined", [FALL], "insufficient evidence"),
        ("harms", [], "remove"),
        ("harms", [FALL], "remove"),
        ("equivalent", [FALL], "retain"),
        ("equivalent", [SAME], "remove"),
        ("equivalent", [RISE], "remove"),
        (
            "equivalent",
            [ALIKE],
            "insufficient evidence",
        ),  # every task saves the same: no interval, no proof
        ("equivalent", [BETTER, WORSE, FALL], "revise"),
        ("equivalent", [], "insufficient evidence"),  # nobody looked at the steps
        ("equivalent", [UNKNOWN], "insufficient evidence"),
    ],
)
def test_recommendation(overall: str, others: list[dict[str, Any]], expected: Recommended) -> None:
    found = sf.decide(made(SR[overall], *others), margin=2)
    assert found.verdict == overall
    assert found.recommendation == expected
    assert found.facts[0] == found.reason
    facts = "; ".join(found.facts)
    assert ("helped: src +5.00 [2.00, 8.00]" in facts) == (BETTER in others)
    assert ("harmed: tgt -5.00 [-8.00, -2.00]" in facts) == (WORSE in others)
    if overall == "equivalent" and expected == "retain":
        assert "steps fall: overall -2.00 [-3.00, -1.00]" in facts


def test_fewer_steps_in_a_slot_are_help_and_more_are_harm() -> None:
    rows = [lift("AS", "overall", -9, -1), lift("AS", "src", -8, -2), lift("AS", "tgt", 2, 8)]
    found = sf.decide(made(*rows, metric="AS"))
    assert (found.verdict, found.recommendation) == ("helps", "revise")
    assert found.facts[1:] == ("helped: src -5.00 [-8.00, -2.00]", "harmed: tgt +5.00 [2.00, 8.00]")


def test_other_metrics_slots_play_no_part() -> None:
    rows = [SR["helps"], lift("AS", "tgt", 2, 8), lift("reward", "tgt", -8, -2)]
    assert sf.decide(made(*rows)).recommendation == "retain"


# From runs


def compared(base: float, treatment: float, seed: int = 0, **options: Any) -> sf.Comparison:  # noqa: ANN401
    shop = sf.Benchmark("shop", sites={"cart": 60, "search": 40}, conditions=("src", "tgt"))
    rows = [
        *simulate("a", benchmark=shop, logit=base, seed=1 + seed),
        *simulate("b", benchmark=shop, logit=treatment, seed=2 + seed),
    ]
    return sf.compare(
        frame_of(rows, shop),
        base="a",
        treatment="b",
        benchmark=shop,
        resamples=1_000,
        **options,
    )


def test_large_effects_are_found_from_records() -> None:
    good, bad = compared(0.0, 1.5), compared(0.0, -1.5)
    assert (good.decision.verdict, good.decision.recommendation) == ("helps", "retain")
    assert (bad.decision.verdict, bad.decision.recommendation) == ("harms", "remove")
    assert good.decision.settle is None


def test_no_effect_is_undetermined_without_a_margin_and_equivalent_with_a_wide_one() -> None:
    assert compared(0.0, 0.0, seed=20).decision.verdict == "undetermined"
    found = compared(0.0, 0.0, seed=20, margin=20)
    assert found.decision.verdict == "equivalent"
    assert found.decision == sf.decide(found, margin=20)
    assert sf.decide(found).verdict == "undetermined"


def test_identical_input_gives_identical_verdicts() -> None:
    first, second = (compared(0.0, 0.35, margin=5).decision for _ in range(2))
    assert first == second


def test_five_of_five_is_undetermined_and_says_why() -> None:
    found = repeated([0] * 30, [1] * 5 + [0] * 25, 1).decision
    assert found.verdict == "undetermined"
    assert found.reason == (
        "too few discordant tasks: with 5 no outcome could be significant (the smallest p is 0.062)"
    )
    assert found.settle == 36
    assert repeated([0] * 36, [1] * 6 + [0] * 30, 1).decision.verdict == "helps"


def test_one_task_can_never_pass() -> None:
    found = repeated([0], [1], 1).decision
    assert (found.verdict, found.recommendation) == ("undetermined", "insufficient evidence")
    assert found.reason.startswith("too few tasks")


@pytest.mark.parametrize(
    ("p", "said"),
    [(2 / 2**6, "= 0.0313"), (1.0, "= 1.0000"), (0.0001, "= 0.0001"), (0, "< 0.0001")],
)
def test_p_is_rounded_half_up_as_every_number_is(p: float, said: str) -> None:
    assert p_value(p) == said
