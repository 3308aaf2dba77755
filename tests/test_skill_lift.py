"""Skill Lift against exact fractions, textbook intervals, and what the paper printed."""

from __future__ import annotations

import json
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import optimize, stats  # noqa: TID253

from skillshift_frames.errors import InputError
from skillshift_frames.lift import skill_lift
from skillshift_frames.trials import TRIALS
from tests.trials import EVALUATED, SIX, evaluated, frame_of, pairs, trial

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from skillshift_frames.lift_result import SkillLift


def exact(value: float) -> Fraction:
    return Fraction(str(value))


def of_case(uid: str, metric: int) -> tuple[Fraction, Fraction]:
    """Give a metric's mean over a case's attempts, with and without the skill."""
    sides = []
    for arm in ("with", "without"):
        values = [exact(float(attempt[metric])) for attempt in EVALUATED[uid, arm]]
        sides.append(sum(values, Fraction()) / len(values))
    return sides[0], sides[1]


def row(found: SkillLift, metric: str) -> dict[str, Any]:
    return found.metrics.row(by_predicate=pl.col("metric") == metric, named=True)


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "metric"), list(enumerate(SIX)))
def test_a_metric_is_the_mean_over_cases_of_the_means_over_attempts(
    place: int, metric: str
) -> None:
    """Exact fractions, worked out without any of our code; the negative case is apart."""
    sides = [of_case(uid, place) for uid in ("c1", "c2")]
    with_, without = (sum((s[n] for s in sides), Fraction()) / 2 for n in (0, 1))
    found = row(skill_lift(frame_of(evaluated())), metric)
    assert found["with"] == pytest.approx(float(with_), abs=1e-11)
    assert found["without"] == pytest.approx(float(without), abs=1e-11)
    assert found["lift"] == pytest.approx(float(with_ - without), abs=1e-11)
    assert (found["cases"], found["families"]) == (2, 2)


def test_attempts_of_any_number_are_averaged_and_weigh_as_one_case() -> None:
    attempts = [trial("a", "with", score, trial=n) for n, score in enumerate((0.0, 0.0, 0.9), 1)]
    found = skill_lift(frame_of([*attempts, trial("a", "without", 0.1), *pairs({"b": (0.5, 0.4)})]))
    assert found.cases["with"].to_list() == [0.3, 0.5]
    assert found.composite.lift == 0.15  # (0.2 + 0.1) / 2; over trials it would be 0.1


def test_the_headline_is_the_mean_of_the_printed_rows() -> None:
    """The complaint of NVIDIA/SkillEvaluator#61: a headline of other signals than its table's."""
    found = skill_lift(frame_of(evaluated()))
    lifts = found.metrics.filter(pl.col("weight") > 0)["lift"].to_list()
    assert len(lifts) == 6
    assert found.composite.lift == float(f"{float(sum(map(exact, lifts)) / 6):.12g}")


def test_the_headline_is_the_mean_of_its_rows_although_a_judge_failed_on_one_metric() -> None:
    rows = evaluated()
    for one in rows:
        if one["uid"] == "c2" and one["arm"] == "with":
            one["accuracy"] = None
    found = skill_lift(frame_of(rows))
    weighted = found.metrics.select((pl.col("weight") * pl.col("lift")).sum()).item()
    assert found.composite.lift == pytest.approx(weighted, abs=1e-12)
    assert set(found.metrics.filter(pl.col("weight") > 0)["cases"]) == {1}
    assert "1 without the composite's metrics on a side: c2" in found.notes


def test_five_dimensions_weigh_as_their_tool_does() -> None:
    found = skill_lift(frame_of(evaluated()), composite="dimensions")
    by_metric = {m: row(found, m)["lift"] for m in SIX}
    effectiveness = (by_metric["goal_accuracy"] + by_metric["behavior_check"]) / 2
    expected = [by_metric[m] for m in ("security", "accuracy", "skill_execution")]
    expected += [effectiveness, by_metric["skill_efficiency"]]
    assert found.dimensions["metric"].to_list() == [
        *("security", "correctness", "discoverability", "effectiveness", "efficiency")
    ]
    assert found.dimensions["lift"].to_list() == pytest.approx(expected, abs=1e-11)
    assert found.composite.lift == pytest.approx(sum(expected) / 5, abs=1e-11)


def test_outcome_only_is_the_mean_of_accuracy_and_goal_accuracy() -> None:
    found = skill_lift(frame_of(evaluated()))
    assert found.outcome is not None
    expected = (row(found, "accuracy")["lift"] + row(found, "goal_accuracy")["lift"]) / 2
    assert found.outcome.lift == pytest.approx(expected, abs=1e-12)
    assert skill_lift(frame_of(pairs({"a": (1, 0)}))).outcome is None


def test_negative_cases_are_apart_and_what_they_would_do_is_said() -> None:
    found = skill_lift(frame_of(evaluated()))
    assert found.negative is not None
    assert found.pooled is not None
    sides = [of_case("c3", place) for place in range(6)]
    negative = sum((w - o for w, o in sides), Fraction()) / 6
    assert found.negative.lift == pytest.approx(float(negative), abs=1e-11)
    assert found.pooled.lift == pytest.approx(
        (2 * found.composite.lift + found.negative.lift) / 3,  # type: ignore[operator]
        abs=1e-11,
    )
    assert found.coverage["paired_cases"] == 2
    assert any("with them it would be" in note for note in found.notes)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_is_that_of_a_paired_t_test(level: float) -> None:
    rng = np.random.default_rng(3)
    scores = {f"c{n}": (float(a), float(b)) for n, (a, b) in enumerate(rng.random((9, 2)))}
    found = skill_lift(frame_of(pairs(scores)), level=level).composite
    after, before = np.array(list(scores.values())).T
    theirs = stats.ttest_rel(after, before).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-10)


def test_interval_of_repeated_cases_is_that_of_clustered_errors() -> None:
    """One case by several agents: statsmodels' cluster-robust standard error of a mean, its small-sample factor G/(G − 1)."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(5)
    rows, differences, clusters = [], [], []
    for case in range(12):
        for agent in range(1 + case % 3):
            scores = {f"c{case}": tuple(map(float, rng.random(2) + 0.3 * case))}
            rows += pairs(scores, agent=f"a{agent}")  # type: ignore[arg-type]
            differences.append(scores[f"c{case}"][0] - scores[f"c{case}"][1])
            clusters.append(case)
    model = sm.OLS(np.array(differences), np.ones(len(differences)))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": np.array(clusters)}, use_t=True)
    n, groups = len(differences), 12
    half = stats.t.ppf(0.975, groups - 1) * float(fit.bse[0])
    found = skill_lift(frame_of(rows)).composite
    assert (found.cases, found.families) == (n, groups)
    assert found.low == pytest.approx(np.mean(differences) - half, abs=1e-9)
    assert found.high == pytest.approx(np.mean(differences) + half, abs=1e-9)


@pytest.mark.parametrize("method", ["bootstrap", "delta"])
def test_the_other_methods_agree_with_t_where_there_are_many_cases(method: Any) -> None:  # noqa: ANN401 - a literal
    rng = np.random.default_rng(4)
    scores = {f"c{n}": (float(a), float(b)) for n, (a, b) in enumerate(rng.random((400, 2)))}
    frame = frame_of(pairs(scores))
    ours, other = skill_lift(frame).composite, skill_lift(frame, method=method).composite
    width = ours.high - ours.low  # type: ignore[operator]
    assert (other.low, other.high) == pytest.approx((ours.low, ours.high), abs=0.03 * width)
    assert other.lift == ours.lift


def covered(method: Any, cases: int, runs: int) -> float:  # noqa: ANN401 - a literal
    """Give how often the interval holds the true lift, of skewed differences as scores have them."""
    rng = np.random.default_rng(8)
    truth, hits = 0.2, 0
    for _ in range(runs):
        lifts = truth + 0.3 * (rng.beta(2, 2, size=cases) - 0.5)
        scores = {f"c{n}": (0.5 + float(lift), 0.5) for n, lift in enumerate(lifts)}
        found = skill_lift(frame_of(pairs(scores)), method=method, resamples=400).composite
        hits += found.low is not None and found.low <= truth <= found.high  # type: ignore[operator]
    return hits / runs


def test_t_covers_with_five_cases_where_the_percentile_bootstrap_does_not() -> None:
    assert covered("t", 5, 300) == pytest.approx(0.95, abs=0.035)
    assert covered("bootstrap", 5, 300) < 0.9


# --- the paper's arithmetic ----------------------------------------------------------------------------------------


def corpus(n: int, positive: int, mean: float, spread: float) -> np.ndarray[Any, Any]:
    """Give n lifts of which so many are positive, with this mean and standard deviation: two free numbers, two equations."""
    up, down = np.linspace(0, 1, positive + 2)[1:-1], np.linspace(0, 1, n - positive)

    def made(scale: float, power: float) -> np.ndarray[Any, Any]:
        return np.concatenate([scale * up**power, -0.15 * down])

    def off(parameters: np.ndarray[Any, Any], /) -> list[float]:
        values = made(*parameters.tolist())
        return [float(values.mean() - mean), float(values.std(ddof=1) - spread)]

    return made(*optimize.fsolve(off, np.array([0.8, 1.5])).tolist())


def test_aces_interval_and_positive_share_to_the_printed_digits() -> None:
    """947 paired cases, mean 0.2134, 95 % interval [0.1967, 0.2301], positive in 72.8 %; outcome only 0.1799.

    The spread is what the printed interval implies: half of 0.0334 is 1.96 standard errors.
    """
    n, positive = 947, 689
    spread = 0.0167 / stats.norm.ppf(0.975) * n**0.5
    lifts = corpus(n, positive, 0.2134, spread)
    rows = []
    outcome = 0.1799 / 0.2134
    for case, lift in enumerate(lifts.tolist()):
        # Outcome metrics rise less than the four others; together the six rise by the lift.
        rises = [lift * (6 - 2 * outcome) / 4] * 3 + [lift * outcome] * 2
        rises.append(6 * lift - sum(rises))
        base = dict.fromkeys(SIX, 0.4)
        high = {name: 0.4 + rise for name, rise in zip(SIX, rises, strict=True)}
        for arm, values in (("with", high), ("without", base)):
            rows.append(
                trial(f"case-{case % 200}", arm, sum(values.values()) / 6, agent=f"h{case % 4}")
                | {"skill": f"skill-{case}"}
                | values
            )
    frame = frame_of(rows)
    found = skill_lift(frame)
    assert found.composite.cases == found.coverage["paired_cases"] == n
    assert f"{found.composite.lift:.4f}" == "0.2134"
    assert (f"{found.composite.low:.4f}", f"{found.composite.high:.4f}") == ("0.1967", "0.2301")
    assert found.positive.cases == positive
    assert f"{100 * found.positive.share:.1f}" == "72.8"  # type: ignore[operator]
    assert found.outcome is not None
    assert f"{found.outcome.lift:.4f}" == "0.1799"
    assert found.decision.verdict == "helps"
    delta = skill_lift(frame, method="delta").composite
    assert (f"{delta.low:.4f}", f"{delta.high:.4f}") == ("0.1967", "0.2301")


# --- what does not matter ------------------------------------------------------------------------------------------

_score = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0])


@st.composite
def trials(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw trials of a few cases on both sides, of two agents, some without a score."""
    rows = []
    for agent in ("a", "b"):
        for uid in draw(st.lists(st.sampled_from("uvwxyz"), unique=True, max_size=5)):
            for arm in ("with", "without"):
                for number in range(1, 1 + draw(st.integers(0, 3))):
                    scored = draw(st.booleans()) or draw(st.booleans())
                    score = draw(_score) if scored else None
                    more = (
                        {}
                        if scored
                        else {"status": draw(st.sampled_from(["unscored", "errored", "missing"]))}
                    )
                    extra = (
                        {"accuracy": draw(_score), "goal_accuracy": draw(_score)} if scored else {}
                    )
                    rows.append(trial(uid, arm, score, agent=agent, trial=number, **extra, **more))
    return rows


@given(
    trials(), st.randoms(use_true_random=False), st.sampled_from(["exclude", "zero", "fail-arm"])
)
def test_order_of_rows_and_of_attempts_does_not_matter(
    rows: list[dict[str, Any]],
    random: Random,
    errors: Any,  # noqa: ANN401 - hypothesis', a literal
) -> None:
    if not rows:
        return
    shuffled = random.sample(rows, len(rows))
    frame, other = frame_of(rows), pl.concat([frame_of([one]) for one in shuffled], how="diagonal")
    # Attempts are exchangeable: their numbers say nothing.
    numbers = {(r["agent"], r["uid"], r["arm"]): 0 for r in rows}
    renumbered = []
    for one in shuffled:
        key = (one["agent"], one["uid"], one["arm"])
        numbers[key] += 1
        renumbered.append(one | {"trial": numbers[key]})
    first = skill_lift(frame, errors=errors).to_dict()
    columns = frame.columns
    assert skill_lift(other.select(columns), errors=errors).to_dict() == first
    third = skill_lift(frame_of(renumbered).select(columns), errors=errors).to_dict()
    assert {k: v for k, v in third.items() if k != "notes"} == {
        k: v for k, v in first.items() if k != "notes"
    }


@given(trials())
def test_swapping_the_sides_turns_the_sign(rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    frame = frame_of(rows)
    there = (
        skill_lift(frame, with_="with", without="without")
        if _has(rows, "with") and _has(rows, "without")
        else None
    )
    if there is None:
        return
    back = skill_lift(frame, with_="without", without="with")
    assert back.composite.with_ == there.composite.without
    if there.composite.lift is None:
        assert back.composite.lift is None
        return
    assert back.composite.lift == pytest.approx(-there.composite.lift, abs=1e-12)
    if there.composite.low is not None:
        assert back.composite.high == pytest.approx(-there.composite.low, abs=1e-11)


def _has(rows: list[dict[str, Any]], arm: str) -> bool:
    return any(one["arm"] == arm for one in rows)


@given(trials())
def test_repeating_every_attempt_changes_nothing(rows: list[dict[str, Any]]) -> None:
    """Attempts are averaged first: twice the trials are not twice the evidence."""
    if not rows:
        return
    again = [one | {"trial": one["trial"] + 10} for one in rows]
    once, twice = skill_lift(frame_of(rows)), skill_lift(frame_of([*rows, *again]))
    assert twice.composite == once.composite
    assert twice.metrics.equals(once.metrics)
    assert twice.cases.equals(once.cases)


@given(trials())
def test_json_is_strict_and_counts_every_trial(rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    content = skill_lift(frame_of(rows)).to_dict()
    json.dumps(content, allow_nan=False)
    counted = content["coverage"]
    assert counted["expected"] == len(rows)
    assert counted["expected"] == sum(
        counted[status] for status in ("scored", "unscored", "errored", "missing")
    )
    assert counted["paired_cases"] == content["composite"]["cases"] == len(content["cases"])


# --- errors and gaps -----------------------------------------------------------------------------------------------


def half_scored() -> pl.DataFrame:
    """One case with both attempts, one with an attempt that failed to be judged, one that errored throughout."""
    return frame_of(
        [
            *pairs({"a": (1.0, 0.5)}),
            trial("b", "with", 0.8),
            trial("b", "with", status="unscored", trial=2),
            trial("b", "without", 0.4),
            trial("c", "with"),
            trial("c", "without", 0.2),
            trial("d", "without", status="missing"),
        ]
    )


def test_exclude_leaves_out_what_has_no_score() -> None:
    found = skill_lift(half_scored())
    assert found.composite.lift == 0.45  # (0.5 + 0.4) / 2
    assert found.coverage == {
        "expected": 8,
        "scored": 5,
        "unscored": 1,
        "errored": 1,
        "missing": 1,
        "unlisted": 0,
        "arms": {
            "with": {"expected": 4, "scored": 2, "unscored": 1, "errored": 1, "missing": 0},
            "without": {"expected": 4, "scored": 3, "unscored": 0, "errored": 0, "missing": 1},
        },
        "paired_cases": 2,
    }


def test_zero_counts_it_as_nothing() -> None:
    found = skill_lift(half_scored(), errors="zero")
    # a 0.5, b 0.4 − 0.4, c 0 − 0.2; d was never tried with the skill.
    assert found.composite.lift == 0.1
    assert found.composite.cases == 3
    assert any("(--errors zero)" in note for note in found.notes)


def test_fail_arm_blanks_the_arm_and_names_it() -> None:
    found = skill_lift(half_scored(), errors="fail-arm")
    assert found.composite.lift is None
    assert found.composite.reason == "no pairs"
    assert "arm fails: with: 2 of 4 trials have no score" in found.notes


def test_fail_arm_is_judged_run_by_run_and_agent_by_agent() -> None:
    good, bad = pairs({"a": (1.0, 0.5)}, agent="x"), pairs({"a": (1.0, 0.5)}, agent="y")
    found = skill_lift(frame_of([*good, *bad, trial("b", "with", agent="y")]), errors="fail-arm")
    assert found.composite.cases == 1


def test_null_is_not_zero() -> None:
    rows = [
        trial("a", "with", 1.0, accuracy=None, goal_accuracy=0.5),
        trial("a", "without", 0.0, accuracy=0.5, goal_accuracy=0.5),
    ]
    both = ["accuracy", "goal_accuracy"]
    found = skill_lift(frame_of(rows), errors="zero", composite=both)
    assert row(found, "accuracy")["with"] is None
    assert found.composite.lift is None


def test_a_frame_without_trials_of_a_side_has_no_lift_and_says_so() -> None:
    found = skill_lift(frame_of([trial("a", "with", 1.0), trial("b", "with", 0.5)]))
    assert found.composite.lift is None
    assert found.positive.share is None
    assert "there is no trial without the skill: no lift can be computed" in found.notes
    assert found.decision.verdict == "undetermined"


def test_one_case_has_a_lift_and_no_interval() -> None:
    found = skill_lift(frame_of(pairs({"a": (1.0, 0.5)}))).composite
    assert (found.lift, found.low) == (0.5, None)
    assert found.reason == "a single family tells nothing about the next"


def test_cases_that_all_agree_have_no_interval() -> None:
    found = skill_lift(frame_of(pairs({"a": (1.0, 0.5), "b": (0.7, 0.2)}))).composite
    assert (found.lift, found.low) == (0.5, None)
    assert found.reason == "no spread: all 2 families agree"


def test_a_lift_that_rounding_makes_is_none() -> None:
    found = skill_lift(frame_of(pairs({"a": (0.1 + 0.2, 0.3), "b": (0.3 + 2e-12, 0.3)})))
    assert found.composite.lift == 0.0
    assert found.positive.cases == 0


# --- sides ---------------------------------------------------------------------------------------------------------


def test_agents_can_be_the_sides() -> None:
    rows = [trial("a", None, 1.0, agent="skilled"), trial("a", None, 0.25, agent="base")]
    found = skill_lift(frame_of(rows), with_="skilled", without="base")
    assert found.composite.lift == 0.75
    assert not any("differ in agent" in note for note in found.notes)


def test_runs_can_be_the_sides() -> None:
    rows = [trial("a", None, 1.0, run="new"), trial("a", None, 0.25, run="old")]
    assert skill_lift(frame_of(rows), with_="new", without="old").composite.lift == 0.75


def test_sides_of_other_models_are_said() -> None:
    rows = [trial("a", "with", 1.0, model="new"), trial("a", "without", 0.25, model="old")]
    found = skill_lift(frame_of(rows))
    assert any("differ in model (new with, old without)" in note for note in found.notes)


def test_cases_of_two_agents_are_two_cases_and_one_family() -> None:
    rows = [*pairs({"a": (1, 0)}, agent="x"), *pairs({"a": (0.5, 0)}, agent="y")]
    found = skill_lift(frame_of(rows)).composite
    assert (found.lift, found.cases, found.families) == (0.75, 2, 1)


@pytest.mark.parametrize(
    ("sides", "match"),
    [
        ({}, "no trial says which arm"),
        ({"with_": "new", "without": "nope"}, "no arm, run or agent 'nope': .*run new, old"),
        ({"with_": "new", "without": "new"}, "with and without are the same"),
    ],
)
def test_sides_that_are_not_there(sides: dict[str, str], match: str) -> None:
    rows = [trial("a", None, 1.0, run="new"), trial("a", None, 0.25, run="old")]
    with pytest.raises(InputError, match=match):
        skill_lift(frame_of(rows), **sides)  # type: ignore[arg-type]


def test_several_skills_against_one_baseline_cannot_be_paired() -> None:
    rows = [trial("a", "with", 1.0, skill=s) for s in ("one", "two")]
    with pytest.raises(InputError, match="no skill in common"):
        skill_lift(frame_of([*rows, trial("a", "without", 0.5)]))


def test_cases_of_one_side_are_named() -> None:
    found = skill_lift(
        frame_of([*pairs({"a": (1, 0)}), trial("b", "with", 1.0), trial("c", "without", 1.0)])
    )
    assert "1 only with the skill: b" in found.notes
    assert "1 only without the skill: c" in found.notes


def test_attempts_that_stopped_on_a_pass_are_said() -> None:
    def attempts(arm: str, uid: str, passes: Sequence[bool]) -> list[dict[str, Any]]:
        return [trial(uid, arm, float(p), success=p, trial=n) for n, p in enumerate(passes, 1)]

    rows = [
        *attempts("with", "a", [True]),
        *attempts("with", "b", [False, True]),
        *attempts("without", "a", [False, False, True]),
        *attempts("without", "b", [False, False, False]),
    ]
    inferred = "attempts seem to have stopped on a pass (inferred: the files do not say) in 2 of 4"
    assert any(inferred in n for n in skill_lift(frame_of(rows)).notes)
    said = [row | {"stops": True} for row in rows]
    stated = "attempts stop on a pass, as the files say, and did so in 2 of 4"
    assert any(stated in n for n in skill_lift(frame_of(said)).notes)
    said_not = frame_of(row | {"stops": False} for row in rows)
    assert not any("on a pass" in n for n in skill_lift(said_not).notes)
    went_on = [*rows, *attempts("with", "c", [True, True]), *attempts("without", "c", [False] * 3)]
    assert not any("stopped on a pass" in n for n in skill_lift(frame_of(went_on)).notes)
    # What the files say holds where attempts ended for another reason, too.
    said = [row | {"stops": True} for row in (rows[0], rows[1], *rows[3:])]
    assert any(
        "as the files say, and did so in 1 of 4" in n for n in skill_lift(frame_of(said)).notes
    )
    lost = [*rows[:1], *rows[1:2], *rows[3:]]  # b with the skill: one attempt, which failed
    assert not any("stopped on a pass" in n for n in skill_lift(frame_of(lost)).notes)


# --- verdict -------------------------------------------------------------------------------------------------------


def test_five_yes_or_no_cases_cannot_help_whatever_t_says() -> None:
    scores = {f"c{n}": (1.0, 0.0) for n in range(5)} | {"c9": (1.0, 1.0)}
    found = skill_lift(frame_of(pairs(scores)))
    assert found.composite.low is not None
    assert found.composite.low > 0
    assert found.decision.verdict == "undetermined"
    assert "smallest p is 0.062" in found.decision.reason
    six = {f"c{n}": (1.0, 0.0) for n in range(6)} | {"c9": (1.0, 1.0)}
    assert skill_lift(frame_of(pairs(six))).decision.verdict == "helps"


def test_harm_and_equivalence() -> None:
    worse = {f"c{n}": (0.2 + n / 100, 0.5) for n in range(8)}
    assert skill_lift(frame_of(pairs(worse))).decision.verdict == "harms"
    same = {f"c{n}": (0.5 + (-1) ** n / 100, 0.5) for n in range(8)}
    assert skill_lift(frame_of(pairs(same)), margin=0.05).decision.verdict == "equivalent"
    assert skill_lift(frame_of(pairs(same))).decision.verdict == "undetermined"


@pytest.mark.parametrize("n", [1, 2, 5, 6, 50])
@pytest.mark.parametrize(("with_", "verdict"), [(1.0, "helps"), (0.0, "harms")])
def test_cases_that_all_move_alike_are_told_by_an_exact_sign_test(
    n: int, with_: float, verdict: str
) -> None:
    """No spread makes no interval, and 50 of 50 cases are no matter of doubt: SciPy's binomial test is the oracle."""
    found = skill_lift(frame_of(pairs({f"c{i}": (with_, 1 - with_) for i in range(n)})))
    p = stats.binomtest(n, n, 0.5).pvalue
    assert found.composite.low is None
    assert found.decision.verdict == (verdict if p < 0.05 else "undetermined")
    if n > 1:
        rounded = Decimal(str(p)).quantize(Decimal("0.0001"), ROUND_HALF_UP)
        shown = "p < 0.0001" if p < 0.0001 else f"p = {rounded}"
        assert f"exact sign test {shown}" in found.decision.reason
        assert found.decision.reason.startswith("too few families") == (p >= 0.05)
        assert found.decision.settle == (6 if p >= 0.05 else None)


def test_families_have_one_sign_each() -> None:
    """Five cases by four agents are twenty lifts of five families."""
    rows = [
        row
        for a in "abcd"
        for row in pairs({f"c{i}": (1.0, 0.0) for i in range(5)}, agent=a, skill="s")
    ]
    decision = skill_lift(frame_of(rows)).decision
    assert decision.verdict == "undetermined"
    assert "all 5 families" in decision.reason


def test_a_family_moves_where_its_cases_do_on_the_whole() -> None:
    """One agent gains in every case and the other in none: eight families of a lift of a half each, of which none is 0."""
    gained = pairs({f"c{i}": (1.0, 0.0) for i in range(8)}, agent="a", skill="s")
    same = pairs({f"c{i}": (1.0, 1.0) for i in range(8)}, agent="b", skill="s")
    found = skill_lift(frame_of([*gained, *same]))
    assert (found.composite.lift, found.composite.low) == (0.5, None)
    assert found.decision.verdict == "helps"
    assert f"p = {stats.binomtest(8, 8).pvalue:.4f}" in found.decision.reason


def test_families_that_agree_on_no_lift_have_no_sign() -> None:
    found = skill_lift(frame_of(pairs({f"c{i}": (0.5, 0.5) for i in range(9)})))
    assert (found.decision.verdict, found.decision.settle) == ("undetermined", None)
    assert found.decision.reason == "no spread: no pair differs"


def test_positive_share_takes_a_case_by_several_agents_for_one() -> None:
    """Ten cases, each by four agents alike, say what ten cases say, not what forty would."""
    scores = {f"c{i}": (0.5 + (0.1 if i < 7 else -0.1) + i / 1000, 0.5) for i in range(10)}
    one, four = (
        skill_lift(frame_of([row for a in agents for row in pairs(scores, agent=a, skill="s")]))
        for agents in ("a", "abcd")
    )
    theirs = stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert (one.positive.low, one.positive.high) == pytest.approx((theirs.low, theirs.high))
    assert one.positive.effective == 10
    assert (four.positive.cases, four.positive.share) == (28, 0.7)
    # Variance of ten clusters of four alike, each counted with nine degrees of freedom, over that of forty items with 39.
    assert four.positive.effective == pytest.approx(40 / (40 / 36 * 39 / 40 * 4))
    assert four.positive.high - four.positive.low > one.positive.high - one.positive.low  # type: ignore[operator]


@pytest.mark.parametrize("method", ["t", "bootstrap", "delta"])
def test_no_interval_goes_where_a_lift_cannot_be(method: str) -> None:
    """Two cases, lifts 0.5 and 1: Student's interval would end near 4, and passes have no lift above 1."""
    rows = pairs({"a": (1.0, 0.5), "b": (1.0, 0.0)})
    rows = [row | {"success": None if row["score"] == 0.5 else row["score"] == 1} for row in rows]
    loose = skill_lift(frame_of(rows), method=method).composite  # type: ignore[arg-type]
    passes = [row for row in rows if row["uid"] == "b"] + pairs({"c": (1, 1)})
    passes = [row | {"success": row["score"] == 1} for row in passes]
    tight = skill_lift(frame_of(passes), method=method)  # type: ignore[arg-type]
    assert tight.bounded
    assert -1 <= tight.composite.low < tight.composite.high <= 1  # type: ignore[operator]
    if method == "t":
        assert loose.high == pytest.approx(0.75 + 0.25 * stats.t.ppf(0.975, 1))
        assert (tight.composite.low, tight.composite.high) == (-1, 1)
        assert (tight.composite.inner_low, tight.composite.inner_high) == (-1, 1)


def test_what_would_settle_it_is_not_cut_off() -> None:
    """Passes in one case of two: Student's interval is 0.5 ± 12.7 · 0.5, and it is that which has to shrink to 0.5."""
    passes = [row | {"success": row["score"] == 1} for row in pairs({"a": (1, 0), "b": (1, 1)})]
    free, cut = (
        skill_lift(frame_of(pairs({"a": (1, 0), "b": (1, 1)}))),
        skill_lift(frame_of(passes)),
    )
    assert (free.bounded, cut.bounded) == (False, True)
    reach = stats.t.ppf(0.975, 1) * 0.5
    assert free.decision.settle == cut.decision.settle == int(np.ceil(2 * (reach / 0.5) ** 2))


def test_a_metric_that_leaves_its_range_has_no_range() -> None:
    rows = [row | {"accuracy": row["score"]} for row in pairs({"a": (1.0, 0.5), "b": (1.0, 0.0)})]
    assert row(skill_lift(frame_of(rows)), "accuracy")["high"] == 1
    large = [one | {"accuracy": 7 * one["accuracy"]} for one in rows]
    assert row(skill_lift(frame_of(large)), "accuracy")["high"] > 7


# --- asked for wrongly ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"errors": "drop"}, "errors is 'drop'"),
        ({"as_": "harbor"}, "as_ is 'harbor'; one of harbor-0.13"),
        ({"method": "normal"}, "method is 'normal'"),
        ({"level": 1.5}, "level 1.5"),
        ({"resamples": 3}, "3 resamples"),
        ({"margin": -1}, "margin -1"),
        ({"composite": "speed"}, "composite 'speed' is neither"),
        ({"composite": ["score", "speed"]}, "no metric 'speed'"),
        ({"composite": {"score": -1.0}}, "positive weights"),
        ({"composite": []}, "positive weights"),
        ({"composite": "dimensions"}, "five dimensions need"),
        ({"composite": "metrics"}, "none of SkillEvaluator's metrics was recorded"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        skill_lift(frame_of(pairs({"a": (1, 0)})), **options)


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        ("results/", "a Polars frame is needed, and read_trials reads one"),
        (pl.DataFrame({"uid": ["a"]}), "no column 'tool'"),
        (frame_of(pairs({"a": (1, 0)})).with_columns(score=pl.lit("high")), "'score' is String"),
        (frame_of(pairs({"a": (1, 0)})).with_columns(score=pl.lit(float("nan"))), "NaN"),
        (frame_of(pairs({"a": (1, 0)})).with_columns(status=pl.lit("fine")), "status is 'fine'"),
        (frame_of(pairs({"a": (1, 0)})).with_columns(speed=pl.lit(3)), "metric 'speed' is Int32"),
        (pl.concat([frame_of(pairs({"a": (1, 0)}))] * 2), "trial 1 of a is there twice"),
        (frame_of(pairs({"a": (1, 0)})).with_columns(uid=pl.lit(None, pl.String)), "no uid"),
    ],
)
def test_what_is_no_frame_of_trials_is_refused(frame: Any, match: str) -> None:  # noqa: ANN401 - anything
    with pytest.raises(InputError, match=match):
        skill_lift(frame)


def test_an_empty_frame_says_what_is_missing() -> None:
    with pytest.raises(InputError, match="no trial says which arm"):
        skill_lift(TRIALS.to_frame())


def test_a_metric_may_be_called_anything() -> None:
    names = ("side", "composite", "has", "n", "complete", "difference", "with")
    rows = pairs({"a": (1.0, 0.5), "b": (0.5, 0.25)})
    rows = [row | dict.fromkeys(names, row["score"]) for row in rows]
    found = skill_lift(frame_of(rows), as_="harbor-0.13")
    assert found.metrics["metric"].to_list() == [*names, "score"]
    assert set(found.metrics["lift"]) == {0.375}
    assert found.tool is not None
    assert {row["lift"] for row in found.tool.metrics.values()} == {0.375}


def test_damaged_trial_is_of_the_run_that_it_lies_in() -> None:
    """It does not say whose it is; neither does a control without a skill. The others say it for them."""
    rows = [
        *pairs({"a": (1.0, 0.0), "b": (1.0, 0.0), "c": (0.0, 0.0)}, agent="codex", model="m"),
        trial("c", "with", None, trial=2),
    ]
    for row in rows:
        row["run"] = f"run of {row['arm']}"
        row["skill"] = "s" if row["arm"] == "with" and row["status"] == "scored" else None
    made = skill_lift(frame_of(rows)).composite
    assert made.cases == 3
    assert made.lift == pytest.approx(2 / 3)
    assert skill_lift(frame_of(rows), errors="fail-arm").composite.cases == 0


def test_trials_of_no_arm_are_counted() -> None:
    rows = [
        *pairs({"a": (1.0, 0.0)}),
        trial("a", "old_skill", 1.0),
        trial("b", None, 1.0),
        trial("b", None, 0.0, trial=2),
    ]
    notes = skill_lift(frame_of(rows)).notes
    assert [note for note in notes if note.startswith("3 of 5 trials are on neither side")]
    assert any("old_skill" in note and "2 trials name none" in note for note in notes)


@pytest.mark.parametrize("column", ["score", "cost", "accuracy"])
def test_number_of_which_no_mean_can_be_made_is_refused(column: str) -> None:
    rows = [row | {column: 1e308} for row in pairs({"a": (1.0, 0.0)})]
    with pytest.raises(InputError, match=f"{column}.*beyond"):
        skill_lift(frame_of(rows))
