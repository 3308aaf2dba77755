"""Planning: tasks for a lift, the lift for so many tasks, and what is refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import pytest
import typer
from hypothesis import given, strategies as st
from scipy.stats import chi2  # noqa: TID253
from statsmodels.stats.power import (  # type: ignore[import-untyped]
    normal_sample_size_one_tail,
)
from typer.testing import CliRunner

from skillshift_frames.cli.plan import add_commands
from skillshift_frames.errors import InputError
from skillshift_frames.plan import PowerPlan, plan

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result


def expected_tasks(
    baseline: float, lift: float, discordance: float, power: float = 0.8, level: float = 0.95
) -> int:
    """Give statsmodels' opinion, everything in percent."""
    found = normal_sample_size_one_tail(
        abs(lift),
        power,
        (1 - level) / 2,
        std_null=math.sqrt(100 * discordance),
        std_alternative=math.sqrt(100 * discordance - lift**2),
    )
    assert 0 <= baseline + lift <= 100
    return math.ceil(float(found) - 1e-6)


@pytest.mark.parametrize(("baseline", "lift"), [(40, 5), (40, -5), (0, 10), (90, 10), (97.5, 2)])
def test_tasks_for_a_lift_between_independent_sides(baseline: float, lift: float) -> None:
    share, treated = baseline / 100, (baseline + lift) / 100
    differ = 100 * (share * (1 - treated) + treated * (1 - share))
    found = plan(baseline=baseline, lift=lift)
    assert found.tasks == expected_tasks(baseline, lift, differ)
    assert found.discordance == pytest.approx(differ)
    assert (found.baseline, found.lift, found.assumed_independent) == (baseline, lift, True)


@pytest.mark.parametrize(("power", "level"), [(0.8, 0.95), (0.9, 0.95), (0.8, 0.99)])
def test_tasks_for_a_lift_at_a_pilots_discordance(power: float, level: float) -> None:
    found = plan(baseline=40, lift=5, discordance=20, power=power, level=level)
    assert found == PowerPlan(
        baseline=40,
        lift=5,
        discordance=20,
        tasks=expected_tasks(40, 5, 20, power, level),
        power=power,
        level=level,
        assumed_independent=False,
    )


def test_planned_experiment_finds_its_lift_as_often_as_promised() -> None:
    """Two independent sides at 40 and 50 %, compared by McNemar's asymptotic test."""
    n = plan(baseline=40, lift=10).tasks
    base, treated = np.random.default_rng(4).random((2, 8_000, n)) < [[[0.4]], [[0.5]]]
    gained, lost = (treated & ~base).sum(axis=1), (base & ~treated).sum(axis=1)
    statistic = (gained - lost) ** 2 / np.maximum(gained + lost, 1)
    assert np.mean(statistic > chi2.ppf(0.95, 1)) == pytest.approx(0.8, abs=0.02)


@given(
    baseline=st.floats(0, 95),
    tasks=st.integers(20, 5_000),
    discordance=st.none() | st.floats(10, 40),
)
def test_findable_lift_is_the_smallest(
    baseline: float, tasks: int, discordance: float | None
) -> None:
    found = plan(baseline=baseline, tasks=tasks, discordance=discordance)
    if found.lift is None:
        return
    assert 0 < found.lift <= 100 - baseline
    assert found.discordance is not None
    assert expected_tasks(baseline, found.lift, found.discordance) <= tasks
    a_little_less = 0.998 * found.lift
    if discordance is not None and found.lift == pytest.approx(discordance - 2 * baseline):
        # So many tasks cannot differ with less: one of the sides has to solve them.
        with pytest.raises(InputError, match="of the tasks differ"):
            plan(baseline=baseline, lift=a_little_less, discordance=discordance)
        return
    again = plan(baseline=baseline, lift=a_little_less, discordance=discordance)
    assert again.tasks >= tasks


@pytest.mark.parametrize(
    ("baseline", "discordance", "tasks", "lift"),
    [(5, 30, 1_000, 20), (0, 30, 1_000, 30), (30, 100, 1_000, 40), (5, 30, 10, None)],
)
def test_findable_lift_is_one_that_the_discordance_allows(
    baseline: float, discordance: float, tasks: int, lift: float | None
) -> None:
    found = plan(baseline=baseline, tasks=tasks, discordance=discordance)
    assert found.lift == (None if lift is None else pytest.approx(lift))
    if lift is not None:
        assert plan(baseline=baseline, lift=lift, discordance=discordance).tasks <= tasks


@pytest.mark.parametrize("tasks", [1, 3, 5])
def test_too_few_tasks_find_no_lift(tasks: int) -> None:
    found = plan(baseline=40, tasks=tasks)
    assert (found.lift, found.discordance) == (None, None)
    assert plan(baseline=100, tasks=1_000).lift is None
    # From 90 % up with 15 % that differ, 5 points are the most that there can be, and need 469 tasks.
    assert expected_tasks(90, 5, 15) == 469
    assert plan(baseline=90, tasks=468, discordance=15).lift is None
    assert plan(baseline=90, tasks=469, discordance=15).lift == pytest.approx(5, abs=0.01)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "either a lift"),
        ({"lift": 5, "tasks": 100}, "either a lift"),
        ({"lift": 0}, "a lift of 0"),
        ({"lift": 61}, "101 %; that is no rate"),
        ({"lift": -41}, "-1 %; that is no rate"),
        ({"lift": float("nan")}, "no rate"),
        ({"baseline": -1, "lift": 5}, "baseline -1 is not"),
        ({"baseline": float("nan"), "lift": 5}, "baseline nan is not"),
        ({"tasks": 0}, "0 tasks show nothing"),
        ({"lift": 5, "discordance": 4}, "between 5 and 85 % of the tasks differ, not 4"),
        ({"lift": 5, "discordance": 86}, "between 5 and 85 % of the tasks differ, not 86"),
        ({"tasks": 100, "discordance": 0}, "discordance 0 is not"),
        ({"tasks": 100, "discordance": 101}, "discordance 101 is not"),
        ({"lift": 5, "power": 1}, "power 1 is not between 0.05"),
        ({"lift": 5, "power": 0.05}, "power 0.05 is not"),
        ({"lift": 5, "level": 1}, "level 1 is not"),
        ({"lift": 5, "level": 95}, "0.95 for 95 %"),
    ],
)
def test_impossible_questions_are_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(**{"baseline": 40, **asked})


def invoke(*arguments: object) -> Result:
    app = typer.Typer(callback=lambda: None)
    add_commands(app)
    return CliRunner().invoke(app, ["plan", *map(str, arguments)])


def test_command_says_how_many_tasks() -> None:
    result = invoke("--baseline", 40, "--lift", 5)
    tasks = expected_tasks(40, 5, 40 * 0.55 + 45 * 0.6)
    assert result.exit_code == 0
    assert f"a lift of +5 points is found by {tasks:,} paired tasks" in result.output
    assert "with 49 % of the tasks coming out differently" in result.output
    assert "as if both sides succeeded independently" in result.output


def test_command_says_that_shares_of_1_are_taken_for_percent() -> None:
    said = invoke("--baseline", 0.4, "--lift", 0.05).stderr
    assert said == "note: --baseline 0.4 and --lift 0.05: taken in percent, not as a share of 1\n"
    assert invoke("--baseline", 40, "--lift", 5).stderr == ""


def test_command_says_which_lift() -> None:
    result = invoke("--baseline", 40, "--tasks", 355, "--discordance", 20)
    assert result.exit_code == 0
    assert "a lift of +6.628 points is found by 355 paired tasks" in result.output
    assert expected_tasks(40, 6.628, 20) == 355
    nothing = invoke("--baseline", 40, "--tasks", 3)
    assert "3 paired tasks find no lift at all" in nothing.output


def test_command_takes_a_harm_and_gives_json(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    result = invoke("--baseline", 40, "--lift", -5, "--power", 0.9, "-o", file)
    assert (result.exit_code, result.output) == (0, "")
    assert json.loads(file.read_text()) == {
        "schema_version": 1,
        "baseline": 40.0,
        "lift": -5.0,
        "discordance": pytest.approx(47.0),
        "tasks": expected_tasks(40, -5, 47, 0.9),
        "power": 0.9,
        "level": 0.95,
        "assumed_independent": True,
    }


def test_command_has_two_formats() -> None:
    result = invoke("--baseline", 40, "--lift", 5, "--format", "latex")
    assert isinstance(result.exception, InputError)
    assert "there are text and json" in str(result.exception)
