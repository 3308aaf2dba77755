"""What each tool computes of the same trials, as the tool does it, and ours beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest

from skillshift_frames.cli.lift import Policy
from skillshift_frames.lift import skill_lift
from skillshift_frames.lift_policies import POLICIES, composite_of
from tests.trials import SIX, evaluated, frame_of, trial

if TYPE_CHECKING:
    from skillshift_frames.lift_tools import ToolLift


def as_tool(rows: list[dict[str, Any]], name: str, **options: Any) -> ToolLift:  # noqa: ANN401 - passed on
    found = skill_lift(frame_of(rows), as_=name, **options).tool
    assert found is not None
    return found


def by_numbers(scores: dict[str, list[float | None]], arm: str) -> list[dict[str, Any]]:
    """Give the attempts of every case; None errored."""
    return [
        trial(uid, arm, score, trial=number)
        for uid, attempts in scores.items()
        for number, score in enumerate(attempts, 1)
    ]


#: Two jobs of three tasks and two attempts: one timed out without a reward, one has neither reward nor exception.
HARBOR = [
    *by_numbers({"alpha": [0.0, 0.0], "beta": [1.0, 0.0], "gamma": [None, 0.0]}, "without"),
    *by_numbers({"alpha": [1.0, 1.0], "beta": [1.0, 1.0], "gamma": [0.0]}, "with"),
    trial("gamma", "with", status="unscored", trial=2),
]


def test_the_command_offers_every_policy() -> None:
    assert set(get_args(Policy.__value__ if hasattr(Policy, "__value__") else Policy)) == set(
        POLICIES
    )


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_says_how_it_comes_to_its_number_in_one_line(name: str) -> None:
    found = as_tool(HARBOR, name)
    assert "\n" not in found.reason
    assert found.reason.startswith(POLICIES[name].rule)
    assert len(found.reason) < 250


def test_harbor_0_13_counts_what_has_no_reward_as_zero() -> None:
    found = as_tool(HARBOR, "harbor-0.13")
    assert found.composite == {"with": 2 / 3, "without": 1 / 6, "lift": 0.5}
    assert found.errors == "zero for unscored, errored but no result.json"


def test_harbor_0_26_leaves_it_out_and_the_lift_moves() -> None:
    found = as_tool(HARBOR, "harbor-0.26")
    assert found.composite == {"with": 0.8, "without": 0.2, "lift": 0.6}


def test_ours_pairs_tasks_and_says_how_far_it_is_from_the_tools() -> None:
    ours = skill_lift(frame_of(HARBOR), as_="harbor-0.13")
    assert ours.composite.lift == 0.5  # alpha 1, beta 0.5, gamma 0
    assert ours.tool is not None
    assert ours.tool.difference == 0.0
    later = skill_lift(frame_of(HARBOR), as_="harbor-0.26").tool
    assert later is not None
    assert later.difference == -0.1
    assert later.reason.endswith("ours differs: cases with more attempts weigh more in the tool's")


#: Means over trials, and their differences, each rounded to four digits.
EVALUATOR = {
    "security": (0.9167, 1.0, -0.0833),
    "skill_execution": (0.8833, 0.3333, 0.55),
    "skill_efficiency": (0.7083, 0.3333, 0.375),
    "accuracy": (0.6667, 0.5167, 0.15),
    "goal_accuracy": (0.5667, 0.4833, 0.0834),  # 0.0833 but for rounding first
    "behavior_check": (0.6333, 0.4, 0.2333),
}


def test_skillevaluator_rounds_means_before_it_subtracts_them() -> None:
    found = as_tool(evaluated(), "skillevaluator")
    assert {
        name: (row["with"], row["without"], row["lift"]) for name, row in found.metrics.items()
    } == EVALUATOR
    assert found.composite == {"with": 0.7292, "without": 0.5111, "lift": 0.2181}
    assert "negative cases are apart in ours" in found.reason


def test_skillevaluator_5d_is_the_mean_of_five_dimensions() -> None:
    found = as_tool(evaluated(), "skillevaluator-5d")
    assert found.composite == {"with": 0.755, "without": 0.525, "lift": 0.23}


def test_skillevaluator_blanks_an_arm_with_one_bad_trial_and_ours_does_not() -> None:
    rows = evaluated()
    rows[0] |= {"status": "unscored", "score": None, "accuracy": None}
    ours = skill_lift(frame_of(rows), as_="skillevaluator")
    assert ours.tool is not None
    assert ours.tool.composite == {"with": None, "without": 0.5111, "lift": None}
    assert ours.tool.reason.endswith("it gives no number: an arm has a trial without a score")
    assert ours.composite.lift is not None


def test_skillevaluators_old_metric_set_has_no_security() -> None:
    rows = [{k: v for k, v in row.items() if k != "security"} for row in evaluated()]
    found = as_tool(rows, "skillevaluator")
    assert found.composite["lift"] == round(
        round(sum(EVALUATOR[m][0] for m in SIX[1:]) / 5, 4)
        - round(sum(EVALUATOR[m][1] for m in SIX[1:]) / 5, 4),
        4,
    )
    # Its dimensions take the behaviour check in place of security.
    fallback = as_tool(rows, "skillevaluator-5d").composite["with"]
    assert fallback == round((0.6333 + 0.6667 + 0.8833 + 0.6 + 0.7083) / 5, 4)


def test_inspect_averages_epochs_and_then_samples() -> None:
    without = by_numbers({"s1": [1.0, 1.0], "s2": [0.0, None], "s3": [1.0, 0.0]}, "without")
    found = as_tool(
        [*without, *by_numbers({"s1": [1.0, 1.0], "s2": [1.0, 0.0], "s3": [1.0, 1.0]}, "with")],
        "inspect",
    )
    assert found.composite == {"with": 5 / 6, "without": 0.5, "lift": 0.333333333333}


def test_inspect_keeps_a_sample_that_one_arm_lacks_and_ours_does_not() -> None:
    rows = [
        *by_numbers({"s1": [1.0], "s2": [0.0]}, "with"),
        *by_numbers({"s1": [0.0], "s2": [None]}, "without"),
    ]
    ours = skill_lift(frame_of(rows), as_="inspect")
    assert ours.composite.lift == 1.0
    assert ours.tool is not None
    assert ours.tool.composite["lift"] == 0.5
    assert ours.tool.reason.endswith("cases without a partner are left out")


def test_agentlab_rounds_rewards_and_leaves_incomplete_rows_out() -> None:
    base = by_numbers({"t": [0.0, 1.0, None], "u": [0.0, 0.0, 1.0]}, "without")
    base.append(trial("v", "without", trial=1, error_type="incomplete"))
    base.append(trial("v", "without", trial=2, status="missing"))
    base.append(trial("v", "without", trial=3, status="unscored"))
    skill = by_numbers({"t": [1.0, 1.0, 0.0], "u": [0.0, 1.0, 1.0]}, "with")
    found = as_tool([*base, *skill], "agentlab")
    assert found.composite == {"with": 0.667, "without": 0.333, "lift": 0.334}


def test_skill_creator_counts_a_missing_pass_rate_as_zero_and_drops_a_run_without_grading() -> None:
    with_ = by_numbers({"0": [1.0, 0.75], "1": [0.5, 0.25], "2": [1.0, 1.0]}, "with")
    without = by_numbers({"0": [0.25, 0.5], "1": [0.25, None], "2": [1.0]}, "without")
    without.append(trial("2", "without", trial=2, status="unscored"))
    found = as_tool([*with_, *without], "skill-creator")
    assert found.composite == {"with": 0.75, "without": 0.4, "lift": 0.35}
    ours = skill_lift(frame_of([*with_, *without])).composite
    assert ours.without == pytest.approx((0.375 + 0.25 + 1.0) / 3, abs=1e-11)


def test_skill_creator_prints_its_delta_with_two_digits() -> None:
    rows = [*by_numbers({"0": [0.7534]}, "with"), *by_numbers({"0": [0.4]}, "without")]
    assert as_tool(rows, "skill-creator").composite == {
        "with": 0.7534,
        "without": 0.4,
        "lift": 0.35,
    }


def test_tau_bench_counts_a_crash_as_zero_and_prints_pass_hat_k() -> None:
    base = by_numbers({"0": [1.0, 0.0], "1": [0.0, None], "2": [1.0, 0.0]}, "without")
    skill = by_numbers({"0": [1.0, 1.0], "1": [0.0, 1.0], "2": [1.0, 0.0]}, "with")
    found = as_tool([*base, *skill], "tau-bench")
    assert found.composite == {
        "with": 2 / 3,
        "without": 1 / 3,
        "lift": 0.333333333333,
    }
    assert found.extra == {
        "pass^1": {"with": 2 / 3, "without": 1 / 3},
        "pass^2": {"with": 1 / 3, "without": 0.0},
    }
    base[3]["error_type"] = "infrastructure_error"
    assert as_tool([*base, *skill], "tau-bench").composite["without"] == 0.4


def test_skillsbench_averages_eligible_rows() -> None:
    with_ = by_numbers({"a": [1.0, 1.0], "b": [1.0, 0.0], "c": [0.0, 0.0]}, "with")
    no = by_numbers({"a": [0.0, 1.0], "b": [0.0, None], "c": [0.0, 0.0]}, "without")
    rows = [
        row | {"success": None if row["score"] is None else row["score"] > 0}
        for row in (*with_, *no)
    ]
    found = as_tool(rows, "skillsbench")
    assert found.composite == {"with": 0.5, "without": 0.2, "lift": 0.3}
    assert found.extra == {"pass rate, %": {"with": 66.7, "without": 33.3}}
    assert found.difference == pytest.approx(0.5 - 0.5 / 3 - 0.3, abs=1e-9)


def test_agentops_pairs_repetitions_and_tells_errors_apart() -> None:
    def trials(uid: str, number: int, *outcomes: str) -> list[dict[str, Any]]:
        rows = []
        for arm, outcome in zip(("without", "with"), outcomes, strict=True):
            known = {"success": True, "failed": False}.get(outcome)
            status = (
                "scored"
                if known is not None
                else "unscored"
                if outcome == "unknown_outcome"
                else "errored"
            )
            rows.append(
                trial(
                    uid,
                    arm,
                    None if known is None else float(known),
                    success=known,
                    status=status,
                    trial=number,
                )
                | {"error_type": None if known is not None else outcome}
            )
        return rows

    rows = [
        *trials("stop", 1, "failed", "success"),
        *trials("stop", 2, "success", "success"),
        *trials("handoff", 1, "infrastructure_error", "success"),
        *trials("handoff", 2, "failed", "failed"),
        *trials("scope", 1, "execution_error", "success"),
        *trials("scope", 2, "failed", "unknown_outcome"),
    ]
    found = as_tool(rows, "agentops")
    assert found.composite["lift"] == 0.5
    assert found.unit == "pair"


def test_asi_is_a_share_of_tasks() -> None:
    rows = [
        trial(uid, arm, reward, success=reward > 0)
        for arm, rewards in (("without", (0.0, 1.0, 0.0)), ("with", (1.0, 1.0, 0.0)))
        for uid, reward in zip("abc", rewards, strict=True)
    ]
    found = as_tool(rows, "asi")
    assert found.composite == {
        "with": 2 / 3,
        "without": 1 / 3,
        "lift": 0.333333333333,
    }
    assert found.reason.endswith("ours is the same")


def test_another_tools_policy_is_said() -> None:
    frame = frame_of([row | {"tool": "harbor"} for row in HARBOR])
    said = "--as agentlab is applied to trials of harbor: that tool never saw them"
    assert said in skill_lift(frame, as_="agentlab").notes
    assert not any("never saw" in note for note in skill_lift(frame, as_="harbor-0.26").notes)


@pytest.mark.parametrize(
    ("asked", "recorded", "said"),
    [
        ("default", SIX, f"six metrics, 1/6 each: {', '.join(SIX)}"),
        ("default", SIX[1:], f"five metrics, 1/5 each: {', '.join(SIX[1:])}"),
        ("default", ("column_coverage", "score", "success"), "score"),
        ("default", ("accuracy", "score", "success"), "score"),
        ("default", ("success",), "success"),
        ("default", ("speed", "style"), "recorded metrics, 1/2 each: speed, style"),
        ("default", (), "none: nothing was recorded that a composite is made of"),
        (
            "dimensions",
            SIX,
            "five dimensions, 1/5 each: security; correctness = accuracy; discoverability = skill_execution; effectiveness = 0.5 goal_accuracy + 0.5 behavior_check; efficiency = skill_efficiency",
        ),
        (
            "dimensions",
            SIX[1:],
            "five dimensions, 1/5 each: security = behavior_check; correctness = accuracy; discoverability = skill_execution; effectiveness = 0.5 goal_accuracy + 0.5 behavior_check; efficiency = skill_efficiency",
        ),
        (["accuracy", "score"], ("accuracy", "score"), "chosen metrics, 1/2 each: accuracy, score"),
        (
            {"accuracy": 3, "score": 1},
            ("accuracy", "score"),
            "chosen metrics: 0.75 accuracy + 0.25 score",
        ),
    ],
)
def test_composite_names_its_policy_and_weights(asked: Any, recorded: Any, said: str) -> None:  # noqa: ANN401 - as the function takes it
    made = composite_of(asked, recorded)
    assert str(made) == said
    assert sum(made.weights.values()) == pytest.approx(1 if recorded else 0)


def test_the_reason_knows_what_trials_without_a_score_count_as_in_ours() -> None:
    said = "trials without a score count otherwise"
    scores: dict[str, list[float | None]] = {"a": [1.0, 1.0, None], "b": [0.0]}
    rows = by_numbers(scores, "with") + by_numbers({"a": [0.0, 0.0], "b": [0.0]}, "without")
    # Harbor 0.13 takes it for 0, Harbor 0.26 leaves it out: 1/2 and 2/3 of its trials.
    for policy, theirs, zero, exclude in (
        ("harbor-0.13", 0.5, False, True),
        ("harbor-0.26", 2 / 3, True, False),
    ):
        for errors, otherwise in (("zero", zero), ("exclude", exclude)):
            found = as_tool(rows, policy, errors=errors)
            assert found.composite["lift"] == pytest.approx(theirs)
            if found.difference:
                assert (said in found.reason) is otherwise, (policy, errors, found.reason)
    failed = as_tool(rows, "harbor-0.13", errors="fail-arm").reason
    assert failed.endswith("ours is undefined: an arm has a trial without a score")


def test_the_reason_names_other_metrics_that_ours_is_of() -> None:
    rows = [
        {"arm": arm, "uid": uid, "trial": 1, "status": "scored", "score": score, "other": other}
        for arm, score, other in (("with", 0.5, 0.9), ("without", 0.25, 0.1))
        for uid in "ab"
    ]
    assert as_tool(rows, "inspect").reason.endswith("ours is the same")
    found = as_tool(rows, "inspect", composite="other")
    assert (found.composite["lift"], found.difference) == (0.25, 0.55)
    assert found.reason.endswith("ours differs: it is of other")


def test_a_repetition_that_an_arm_has_twice_is_in_no_pair_of_agentops() -> None:
    rows = [
        {"arm": arm, "uid": "t", "trial": trial, "status": "scored", "success": success}
        | {"score": float(success), "path": str(number)}
        for number, (arm, trial, success) in enumerate(
            [
                ("with", 1, True),
                ("with", 1, True),
                ("without", 1, False),
                ("with", 2, True),
                ("without", 2, True),
            ]
        )
    ]
    found = as_tool(rows, "agentops")
    assert found.composite == {"with": 1.0, "without": 1.0, "lift": 0.0}
    # Our composite is of the score, which says no more than the tool's success.
    assert found.reason.endswith(
        "ours differs: a repetition that an arm has twice is in none of the tool's pairs"
    )
