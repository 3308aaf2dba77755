"""One number per job, agent and model, as the tools print them, and rewards as each version of a tool counts them."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from skillshift_frames.errors import InputError, SkillshiftWarning
from skillshift_frames.lift import skill_lift
from skillshift_frames.lift_policies import POLICIES
from skillshift_frames.readers.tools.harbor_rewards import DAMAGED, INVALIDATING, NO_RESULT
from skillshift_frames.readers.trials import read_trials
from skillshift_frames.schema import FAULTS
from skillshift_frames.trials import with_arms
from tests.readers.tools.reading import write_json
from tests.readers.tools.tau_files import row
from tests.test_lift_policies import HARBOR, as_tool, by_numbers
from tests.test_skill_lift import trials
from tests.trials import SIX, evaluated, frame_of, trial

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

    from skillshift_frames.lift_tools import ToolGroup, ToolLift


def one(found: ToolLift, **of: str | None) -> ToolGroup:
    (group,) = [g for g in found.groups if all(g.of[k] == value for k, value in of.items())]
    return group


def job(scores: Sequence[float], **of: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - of any column
    """Four tasks: the first half with the skill, the second without."""
    half = len(scores) // 2
    return [
        trial(f"t{n % half}", "with" if n < half else "without", score, tool="harbor", **of)
        for n, score in enumerate(scores)
    ]


AGENTS = [
    *job((1.0, 1.0, 0.0, 0.0), run="r", agent="a", model="m"),  # +1
    *job((1.0, 0.0, 0.0, 0.0, 1.0, 1.0), run="r", agent="b", model="m"),  # 1/3 − 2/3
]


def test_each_agent_has_the_number_that_the_tool_prints_for_it_and_there_is_none_over_all() -> None:
    found = as_tool(AGENTS, "harbor-0.13")
    assert one(found, agent="a").composite == {"with": 1.0, "without": 0.0, "lift": 1.0}
    assert one(found, agent="b").composite["lift"] == pytest.approx(-1 / 3)
    assert (found.composite, found.metrics, found.difference) == (
        {"with": None, "without": None, "lift": None},
        {},
        None,
    )
    assert found.reason.endswith("2 numbers, since the tool prints none over several agents")
    assert [(g.difference, g.ours["cases"]) for g in found.groups] == [(0.0, 2), (0.0, 3)]


@pytest.mark.parametrize("column", ["run", "skill", "agent", "model", "dataset"])
def test_whatever_tells_jobs_apart_makes_a_number_of_its_own(column: str) -> None:
    same = {"run": "r", "skill": "s", "agent": "a", "model": "m", "dataset": "d"}
    rows = [
        *job((1.0, 0.0), **same | {column: "x"}),
        *job((0.0, 1.0), **same | {column: "y"}, path="elsewhere"),
    ]
    found = as_tool(rows, "harbor-0.13")
    assert [(g.of[column], g.composite["lift"]) for g in found.groups] == [("x", 1.0), ("y", -1.0)]
    assert f"several {column}s" in found.reason


def test_one_job_has_its_number_in_all_and_as_its_only_group() -> None:
    found = as_tool(HARBOR, "harbor-0.13")
    (group,) = found.groups
    assert (group.composite, group.difference) == (found.composite, found.difference)
    json.dumps(asdict(found), allow_nan=False)


def test_jobs_of_two_names_are_the_two_sides_of_one_number() -> None:
    rows = [row | {"arm": None, "run": row["arm"]} for row in AGENTS[:4]]
    found = as_tool(rows, "harbor-0.13", with_="with", without="without")
    assert found.composite["lift"] == 1.0
    assert found.groups[0].of["run"] == "with / without"


def test_a_side_in_two_jobs_has_two_numbers_and_no_lift() -> None:
    rows = [
        *(row | {"run": "x"} for row in AGENTS[:2]),
        *(row | {"run": "y", "path": "y"} for row in AGENTS[:2]),
        *(row | {"run": "z"} for row in AGENTS[2:4]),
    ]
    found = as_tool(rows, "harbor-0.13")
    assert [(g.of["run"], g.composite) for g in found.groups] == [
        ("x", {"with": 1.0, "without": None, "lift": None}),
        ("y", {"with": 1.0, "without": None, "lift": None}),
        ("z", {"with": None, "without": 0.0, "lift": None}),
    ]
    assert "only with the skill, without a single partner" in found.groups[0].reason
    assert [(g.ours["lift"], g.ours["cases"], g.difference) for g in found.groups] == [
        (None, 0, None)
    ] * 3


def two_agents() -> list[dict[str, Any]]:
    """Agent a, one of whose trials with the skill has no score, and agent b, whose trials all have 0.9."""
    every = [row | {"agent": agent} for agent in "ab" for row in evaluated()]
    rows = [row | (dict.fromkeys(SIX, 0.9) if row["agent"] == "b" else {}) for row in every]
    rows[0] |= {"status": "unscored"}
    return rows


def test_a_failed_arm_is_in_no_number_and_neither_is_its_partner() -> None:
    found = skill_lift(frame_of(two_agents()), errors="fail-arm", as_="skillevaluator")
    assert found.composite.cases == 2
    assert (found.composite.with_, found.composite.without, found.composite.lift) == (0.9, 0.9, 0.0)
    assert set(found.cases.get_column("agent")) == {"b"}
    assert found.tool is not None
    assert one(found.tool, agent="a").composite == {"with": None, "without": 0.5111, "lift": None}
    assert one(found.tool, agent="b").composite == {"with": 0.9, "without": 0.9, "lift": 0.0}


def test_a_group_without_a_score_has_no_rates_whatever_others_have() -> None:
    """Found by the test below."""
    row = {"uid": "u", "arm": "without", "trial": 1}
    rows = [
        row | {"score": None, "status": "unscored", "agent": "a"},
        row | {"score": 0.0, "status": "scored", "agent": "b"},
    ]
    found = as_tool(rows, "tau-bench")
    assert one(found, agent="a").extra == {}
    assert one(found, agent="b").extra == {"pass^1": {"with": None, "without": 0.0}}


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=10, deadline=None)
@given(rows=trials(), random=st.randoms(use_true_random=False))
def test_a_groups_number_is_that_of_its_trials_alone_in_any_order(
    policy: str,
    rows: list[dict[str, Any]],
    random: Random,
) -> None:
    if not rows:
        return
    found = as_tool(rows, policy)
    json.dumps(asdict(found), allow_nan=False)
    assert asdict(as_tool(random.sample(rows, len(rows)), policy)) == asdict(found)
    for group in found.groups if len(found.groups) > 1 else ():
        alone = as_tool([row for row in rows if row["agent"] == group.of["agent"]], policy)
        assert (alone.composite, alone.extra) == (group.composite, group.extra)
        assert alone.metrics == group.metrics
        assert all((rate or 0) <= 1 for of in group.extra.values() for rate in of.values()) or (
            policy == "skillsbench"
        )


def test_sides_that_share_nothing_but_the_tasks_have_one_number() -> None:
    of_all = ("tool", "skill", "agent", "model", "run", "dataset")
    rows = [
        trial("t", arm, score, **dict.fromkeys(of_all, arm))
        for arm, score in (("with", 1.0), ("without", 0.0))
    ]
    found = as_tool(rows, "harbor-0.13")
    assert found.composite["lift"] == 1.0
    assert set(found.groups[0].of.values()) == {"with / without"}


# --- Harbor's two versions -----------------------------------------------------------------------------------------


def timed_out(error: str, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - of any column
    """Two tasks: the second's only trial with the skill has a reward of 1 beside an exception."""
    rows = [
        *by_numbers({"t": [0.0], "u": [1.0]}, "with"),
        *by_numbers({"t": [0.0], "u": [0.0]}, "without"),
    ]
    rows[1] |= {"error_type": error} | more
    return rows


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        ("AgentTimeoutError", True),
        ("NonZeroAgentExitCodeError", True),
        ("SomethingNew", True),
        ("VerifierTimeoutError", False),
        ("ApiRateLimitError", False),
        ("AgentSetupTimeoutError", False),
    ],
)
def test_files_of_0_13_as_0_26_counts_them(error: str, *, counts: bool) -> None:
    """The exceptions are those of Harbor 0.26's own table."""
    assert (error not in INVALIDATING) == counts
    rows = timed_out(error)
    assert as_tool(rows, "harbor-0.13").composite["with"] == 0.5
    assert as_tool(rows, "harbor-0.26").composite["with"] == (0.5 if counts else 0.0)
    # What the reader found out of all exceptions of a trial goes before the first one's name.
    rows[1] |= {"recorded": 1.0, "valid": not counts}
    assert as_tool(rows, "harbor-0.26").composite["with"] == (0.0 if counts else 0.5)


def test_files_of_0_26_as_0_13_counts_them() -> None:
    rows = timed_out(
        "VerifierTimeoutError", status="errored", score=None, recorded=1.0, valid=False
    )
    old, new = as_tool(rows, "harbor-0.13"), as_tool(rows, "harbor-0.26")
    assert (old.composite["with"], new.composite["with"]) == (0.5, 0.0)
    assert "rewards beside an exception count otherwise" in old.reason


def test_a_reward_of_which_is_not_known_whether_it_is_valid_gives_no_number() -> None:
    rows = timed_out("exception", recorded=1.0, path="job/u__1")
    found = as_tool(rows, "harbor-0.26")
    assert found.composite == {"with": None, "without": None, "lift": None}
    assert "an exception names no type" in found.reason
    assert "job/u__1" in found.reason
    assert as_tool(rows, "harbor-0.13").composite["with"] == 0.5


@pytest.mark.parametrize("policy", ["harbor-0.13", "harbor-0.26"])
def test_a_damaged_result_gives_no_number_and_a_missing_one_was_never_counted(policy: str) -> None:
    rows = [*HARBOR, trial("new", "with", error_type=NO_RESULT)]
    assert as_tool(rows, policy).composite == as_tool(HARBOR, policy).composite
    rows = [*HARBOR, trial("new", "with", error_type=DAMAGED, path="job/new")]
    found = as_tool(rows, policy)
    assert found.composite["lift"] is None
    assert "cannot be read (job/new)" in found.reason


def test_of_several_rewards_one_that_a_trial_lacks_is_zero() -> None:
    """As Harbor's own mean: {tests: 1, style: 1/2} and {tests: 1} give tests 1, style 1/4."""
    of_with: list[dict[str, float]] = [{"tests": 1.0, "style": 0.5}, {"tests": 1.0}]
    rows = [trial(f"t{n}", "with", status="scored", **given) for n, given in enumerate(of_with)]
    rows += [trial(f"t{n}", "without", status="scored", tests=0.0, style=0.0) for n in range(2)]
    rows.append(trial("t2", "without", error_type="AgentTimeoutError"))
    found = as_tool(rows, "harbor-0.13")
    assert found.metrics["tests"]["with"] == 1.0
    assert found.metrics["style"]["with"] == 0.25
    rows[1] |= {"status": "errored", "valid": False}  # its metrics are as they were written
    assert as_tool(rows, "harbor-0.13").metrics == found.metrics
    assert as_tool(rows, "harbor-0.26").metrics["style"]["with"] == 0.5


# --- tau-bench -----------------------------------------------------------------------------------------------------


def tools_own(results: dict[str, list[tuple[int, float]]], k: int) -> Fraction:
    """tau-bench's formula as it prints it: the count of different numbers of trials stands for the trials of a task."""
    n = len({number for of_task in results.values() for number, _ in of_task})
    passed = [sum(reward == 1 for _, reward in of_task) for of_task in results.values()]
    return sum((Fraction(comb(c, k), comb(n, k)) for c in passed), Fraction()) / len(passed)


#: Two tasks that always pass, the second tried three times of four.
TAU = {"a": [(n, 1.0) for n in range(1, 5)], "b": [(n, 1.0) for n in range(1, 4)]}


def taus(results: dict[str, list[tuple[int, float]]]) -> list[dict[str, Any]]:
    return [
        trial(task, arm, reward, trial=number, tool="tau-bench", path=f"{arm}.json:{place}")
        for arm in ("with", "without")
        for task, of_task in results.items()
        for place, (number, reward) in enumerate(of_task)
    ]


def test_pass_hat_k_is_what_the_tool_prints() -> None:
    found = as_tool(taus(TAU), "tau-bench").extra
    assert tools_own(TAU, 1) == Fraction(7, 8)
    for k in range(1, 5):
        assert found[f"pass^{k}"]["with"] == float(tools_own(TAU, k))


def test_pass_hat_k_is_refused_where_a_trial_comes_twice_and_the_tool_gives_two() -> None:
    twice = {"a": [*TAU["a"], *TAU["a"]]}
    assert [tools_own(twice, 1), tools_own(twice, 4)] == [Fraction(2), Fraction(70)]
    found = as_tool(taus(twice), "tau-bench")
    assert found.extra == {}
    assert found.reason.endswith(
        "no pass^k: trial 1 of a is there twice (with.json:0, with.json:4)"
    )
    renumbered = {"a": [(n, 1.0) for n in range(1, 9)]}
    extra = as_tool(taus(renumbered), "tau-bench").extra
    assert {rate["with"] for rate in extra.values()} == {1.0}
    assert len(extra) == 8


def test_a_run_that_was_written_twice_into_a_file_has_no_pass_above_one(tmp_path: Path) -> None:
    """Eight trials of one task that always passes, and of one that passes in six."""
    results = [row(task, n, float((task, n) != (1, 0))) for task in (0, 1) for n in range(4)]
    arms = []
    for arm in ("with", "without"):
        file = write_json(tmp_path / f"{arm}.json", [*results, *results])
        with pytest.warns(SkillshiftWarning, match="again, as row"):
            arms.append(read_trials(file, from_="tau-bench"))
    found = skill_lift(with_arms(*arms), as_="tau-bench").tool
    assert found is not None
    for k in range(1, 9):
        expected = Fraction(comb(8, k) + comb(6, k), 2 * comb(8, k))
        assert found.extra[f"pass^{k}"]["with"] == pytest.approx(float(expected))
    assert "one whose number comes twice is one trial more" in found.reason


def test_planned_trials_of_no_arm_blank_every_arm_that_one_would_blank() -> None:
    frame = frame_of(evaluated())
    values = {"path": "x", "field": "file", "value": "5", "rule": "missing-trials"}
    fault = dict.fromkeys(FAULTS) | values | {"message": "m", "hint": "", "severity": "error"}
    lost = pl.DataFrame([fault], schema=FAULTS)
    found = skill_lift(frame, as_="skillevaluator", faults=lost).tool
    assert found is not None
    assert found.composite["lift"] is None
    assert "5 planned trials are not there, and nothing says of which arm" in found.reason
    zero = skill_lift(frame, errors="zero", faults=lost)
    assert any("5 planned trials of which nothing says" in note for note in zero.notes)
    assert skill_lift(frame, as_="inspect", faults=lost).tool.composite["lift"] is not None  # type: ignore[union-attr]


def test_faults_that_are_no_faults_are_refused() -> None:
    with pytest.raises(InputError, match="faults is no frame of faults; check_trials gives one"):
        skill_lift(frame_of(HARBOR), faults=frame_of(HARBOR))
