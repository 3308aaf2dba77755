"""Frames of trials: their order, and two of them as the two arms."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import skillshift_frames as sf
from skillshift_frames.trials import TRIALS, concat_trials, metric_names, with_arms


def trials(run: str | None, *uids: str, **metrics: float) -> pl.DataFrame:
    fixed = {"tool": "harbor", "trial": 1, "status": "scored"}
    rows = [{**fixed, "run": run, "uid": uid, **metrics} for uid in uids]
    return concat_trials([pl.DataFrame(rows, schema_overrides={"run": pl.String})])


def test_the_order_of_the_frames_changes_neither_rows_nor_columns() -> None:
    frames = [trials("b", "y", z=1.0, a=0.5), trials("a", "x", m=0.0)]
    both = concat_trials(frames)
    assert_frame_equal(both, concat_trials(frames[::-1]))
    assert both["run"].to_list() == ["a", "b"]
    assert metric_names(both) == ["m", "z", "a"]
    assert both.select(*TRIALS).schema == TRIALS


def test_two_jobs_become_two_arms_of_one_run() -> None:
    both = with_arms(trials("treatment", "x", "y"), trials("control", "x"))
    assert both.select("run", "arm", "uid").rows() == [
        ("treatment / control", "with", "x"),
        ("treatment / control", "with", "y"),
        ("treatment / control", "without", "x"),
    ]


def test_jobs_of_the_same_runs_keep_their_names() -> None:
    one = concat_trials([trials("a", "x"), trials("b", "x")])
    both = with_arms(one, one)
    assert both.select("run", "arm").rows() == [
        ("a", "with"),
        ("a", "without"),
        ("b", "with"),
        ("b", "without"),
    ]


def test_an_arm_of_other_runs_is_refused_with_their_names() -> None:
    several = concat_trials([trials("a", "x"), trials("b", "x")])
    with pytest.raises(sf.InputError, match=r"'with' has 2 runs \(a, b\)"):
        with_arms(several, trials("c", "x"))


def test_an_empty_arm_is_refused() -> None:
    with pytest.raises(sf.InputError, match="'without' has no trial"):
        with_arms(trials("a", "x"), TRIALS.to_frame())


def test_a_path_is_refused_with_the_reader_to_use() -> None:
    with pytest.raises(sf.InputError, match="read_trials"):
        with_arms("jobs/a", trials("a", "x"))  # type: ignore[arg-type]


def test_side_with_arms_of_its_own_is_no_side() -> None:
    rows = [{"tool": "x", "run": "r", "uid": "a", "trial": n, "status": "errored"} for n in (1, 2)]
    both = concat_trials(
        [
            pl.DataFrame(
                [row | {"arm": arm} for row, arm in zip(rows, ("with", "without"), strict=True)]
            )
        ]
    )
    one = both.filter(arm="without")
    with pytest.raises(sf.InputError, match="holds arms of its own"):
        with_arms(both, one)
    with pytest.warns(sf.SkillshiftWarning, match="says that it is 'without'; taken as named"):
        assert (
            with_arms(one, one.with_columns(trial=pl.lit(2, pl.Int64)))
            .get_column("arm")
            .unique()
            .len()
            == 2
        )
