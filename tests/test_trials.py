"""Several trials of a task: pass@k and pass^k as expressions."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf
from skillshift_frames.metrics import pass_at_k, pass_hat_k

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TASK = {"run": "asi", "site": "gitlab", "condition": "src"}


def trials_of(outcomes: Mapping[str, Sequence[bool | None]]) -> pl.DataFrame:
    """Give a frame of trials by uid; None is a trial that was not measured."""
    rows: list[dict[str, object]] = [
        TASK | {"uid": uid, "trial": number, "success": success, "error": _error(success)}
        for uid, of_task in outcomes.items()
        for number, success in enumerate(of_task, 1)
    ]
    dtypes = {"success": pl.Boolean, "error": pl.String, "trial": pl.Int64}
    return pl.DataFrame(
        rows, schema_overrides=dtypes, schema=[*TASK, "uid", "trial", "success", "error"]
    )


def _error(success: bool | None) -> str | None:  # noqa: FBT001
    return "timeout" if success is None else None


def value_of(tasks: pl.DataFrame, expression: pl.Expr) -> Any:  # noqa: ANN401
    return tasks.select(expression).item()


#: Two tasks that always pass, and one that lacks its fourth trial.
TAU = {"a": [True] * 4, "b": [True] * 4, "c": [True] * 3}


def test_task_with_too_few_trials_makes_pass_null_and_not_understated() -> None:
    tasks = trials_of(TAU)
    assert value_of(tasks, pass_hat_k(4)) is None
    assert value_of(tasks, pass_at_k(4)) is None
    for k in (1, 2, 3):  # where a fixed number of trials would say 0.875 at k = 1
        assert value_of(tasks, pass_hat_k(k)) == 1.0
        assert value_of(tasks, pass_at_k(k)) == 1.0


def test_same_results_twice_never_give_more_than_one() -> None:
    tasks = trials_of(TAU)
    twice = pl.concat([tasks, tasks])
    for k in range(1, 7):
        assert value_of(twice, pass_hat_k(k)) == 1.0
        assert value_of(twice, pass_at_k(k)) == 1.0
    assert value_of(twice, pass_hat_k(7)) is None


def test_trial_that_was_not_measured_is_none_or_a_failure() -> None:
    tasks = trials_of({"a": [True, True, None], "b": [True, False, True]})
    assert value_of(tasks, pass_hat_k(3)) is None
    assert value_of(tasks, pass_hat_k(2)) == pytest.approx((1 + 1 / 3) / 2)
    assert value_of(tasks, pass_hat_k(3, errors="zero")) == 0.0
    assert value_of(tasks, pass_hat_k(2, errors="zero")) == pytest.approx(1 / 3)
    assert value_of(tasks, pass_at_k(2, errors="zero")) == 1.0
    # A task of which nothing was measured has fewer than k trials, whatever k is.
    tasks = trials_of({"a": [True], "b": [None]})
    assert value_of(tasks, pass_at_k(1)) is None
    assert value_of(tasks, pass_at_k(1, errors="zero")) == 0.5


def test_one_trial_is_the_success_rate() -> None:
    tasks = trials_of({"a": [True, False, False], "b": [True], "c": [False]})
    rate = value_of(tasks, sf.success_rate()) / 100
    assert value_of(tasks, pass_at_k(1)) == pytest.approx(rate)
    assert value_of(tasks, pass_hat_k(1)) == pytest.approx(rate)


@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_every_choice_of_k_trials_counts_alike(outcomes: list[list[bool]], k: int) -> None:
    tasks = trials_of(dict(zip(map(str, range(9)), outcomes, strict=False)))
    for expression, passes in ((pass_at_k, any), (pass_hat_k, all)):
        found = value_of(tasks.sample(fraction=1, shuffle=True, seed=k), expression(k))
        if min(map(len, outcomes)) < k:
            assert found is None
            continue
        chosen = [list(combinations(of_task, k)) for of_task in outcomes]
        shares = [sum(map(passes, of_task)) / len(of_task) for of_task in chosen]
        assert found == pytest.approx(sum(shares) / len(shares), abs=1e-12)
        assert 0 <= found <= 1


def test_groups_are_judged_each_for_itself() -> None:
    tasks = pl.concat(
        [
            trials_of({"a": [True, False]}).with_columns(site=pl.lit("long")),
            trials_of({"a": [True]}).with_columns(site=pl.lit("short")),
        ]
    )
    found = tasks.group_by("site", maintain_order=True).agg(pass_at_k(2), pass_hat_k(2))
    assert found.rows() == [("long", 1.0, 0.0), ("short", None, None)]
    assert found.columns == ["site", "pass@2", "pass^2"]
    assert found.dtypes[1:] == [pl.Float64, pl.Float64]


def test_no_trials_give_null() -> None:
    assert value_of(trials_of({}), pass_at_k(1)) is None
    assert value_of(trials_of({}), pass_hat_k(1)) is None


@pytest.mark.parametrize("expression", [pass_at_k, pass_hat_k])
def test_no_trial_to_choose_is_refused(expression: Any) -> None:  # noqa: ANN401
    with pytest.raises(sf.InputError, match="k is 0"):
        expression(0)
