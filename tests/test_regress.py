"""Lifts of two dates: a model that caught up, a skill that lost, and what cannot be told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from scipy import stats  # noqa: TID253

from skillshift_frames.errors import InputError
from skillshift_frames.lift import skill_lift
from skillshift_frames.regress import CHANGES, read_lift_sets, regress
from tests.trials import frame_of, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def scores(with_: Iterable[float], without: Iterable[float], **fields: Any) -> pl.DataFrame:  # noqa: ANN401 - of any column
    both = {
        f"c{n}": (float(a), float(b)) for n, (a, b) in enumerate(zip(with_, without, strict=True))
    }
    return frame_of(pairs(both, skill="s", agent="a", **fields))


RNG = np.random.default_rng(9)
NOISE = RNG.normal(0, 0.03, (4, 12))
OLD = scores(0.8 + NOISE[0], 0.3 + NOISE[1])


def happened(new: pl.DataFrame, **options: Any) -> str:  # noqa: ANN401 - passed on
    return str(regress(OLD, new, **options).changes["change"][0])


def test_a_baseline_that_rose_under_a_lift_that_fell_is_a_model_that_caught_up() -> None:
    assert happened(scores(0.85 + NOISE[2], 0.7 + NOISE[3])) == "caught up"


def test_a_lift_that_fell_by_itself_is_a_regression() -> None:
    assert happened(scores(0.5 + NOISE[2], 0.3 + NOISE[3])) == "regressed"


def test_a_lift_that_fell_with_its_baseline_is_a_regression() -> None:
    assert happened(scores(0.3 + NOISE[2], 0.1 + NOISE[3])) == "regressed"


def test_a_baseline_whose_rise_is_not_shown_excuses_no_loss() -> None:
    """It is up by 0.003, well inside its noise."""
    level = NOISE[1].mean() - NOISE[3].mean() + 0.003
    row = regress(OLD, scores(0.5 + NOISE[2], 0.3 + level + NOISE[3])).changes.row(0, named=True)
    assert row["without_change"] == pytest.approx(0.003)
    assert row["change"] == "regressed"


def test_a_fall_that_is_not_shown_is_none() -> None:
    level = NOISE[0].mean() - NOISE[2].mean() + NOISE[3].mean() - NOISE[1].mean() - 0.003
    row = regress(OLD, scores(0.8 + level + NOISE[2], 0.3 + NOISE[3])).changes.row(0, named=True)
    assert row["lift_change"] == pytest.approx(-0.003)
    assert row["change"] == "undetermined"


def test_a_lift_that_rose_is_improved() -> None:
    assert happened(scores(0.95 + NOISE[2], 0.3 + NOISE[3])) == "improved"


def test_no_change_shown_is_unchanged_only_inside_a_margin() -> None:
    new = scores(0.8 + NOISE[2], 0.3 + NOISE[3])
    assert happened(new) == "undetermined"
    assert happened(new, margin=0.1) == "unchanged"


def test_both_rising_alike_changes_no_lift() -> None:
    """Absolute numbers rise, the skill adds what it did."""
    assert happened(scores(0.9 + NOISE[2], 0.4 + NOISE[3]), margin=0.1) == "unchanged"


def test_intervals_are_those_of_a_paired_t_test_on_changes() -> None:
    new = scores(0.6 + NOISE[2], 0.4 + NOISE[3])
    row = regress(OLD, new, level=0.9).changes.row(0, named=True)
    old_with, old_without = 0.8 + NOISE[0], 0.3 + NOISE[1]
    new_with, new_without = 0.6 + NOISE[2], 0.4 + NOISE[3]
    for name, after, before in (
        ("with", new_with, old_with),
        ("without", new_without, old_without),
        ("lift", new_with - new_without, old_with - old_without),
    ):
        ends = stats.ttest_rel(after, before).confidence_interval(0.9)
        assert row[f"{name}_change"] == pytest.approx(np.mean(after - before), abs=1e-10)
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(
            (ends.low, ends.high), abs=1e-9
        )
    assert row["lift_change"] == pytest.approx(
        row["with_change"] - row["without_change"], abs=1e-11
    )


def test_skills_and_agents_are_judged_apart() -> None:
    def both(first: float, second: float, noise: int) -> pl.DataFrame:
        rows = []
        for skill, high in (("one", first), ("two", second)):
            highs, lows = high + NOISE[noise], 0.3 + NOISE[noise + 1]
            cases = {f"c{n}": (float(highs[n]), float(lows[n])) for n in range(12)}
            rows += pairs(cases, skill=skill, agent="a")
        return frame_of(rows)

    found = regress(both(0.8, 0.8, 0), both(0.8, 0.5, 2)).changes
    assert found.select("skill", "agent").rows() == [(None, None), ("one", "a"), ("two", "a")]
    assert found["cases"].to_list() == [24, 12, 12]
    assert found["change"].to_list()[1:] == ["undetermined", "regressed"]


def test_cases_of_one_date_are_listed_and_in_no_mean() -> None:
    new = frame_of(
        [*OLD.filter(pl.col("uid") != "c0").to_dicts(), *pairs({"x": (1, 0)}, skill="s", agent="a")]
    )
    found = regress(OLD, new)
    assert found.changes["cases"][0] == 11
    assert found.only_old["uid"].to_list() == ["c0"]
    assert found.only_new["uid"].to_list() == ["x"]
    assert "1 only in the old set: c0" in found.notes


def test_the_same_set_twice_has_no_spread_and_no_verdict() -> None:
    row = regress(OLD, OLD).changes.row(0, named=True)
    assert (row["lift_change"], row["lift_low"], row["change"]) == (0.0, None, "undetermined")


def test_nothing_in_common() -> None:
    found = regress(OLD, frame_of(pairs({"x": (1, 0)}, skill="s", agent="a")))
    assert found.changes.schema == CHANGES
    assert found.changes["change"].to_list() == ["no pairs"]
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_new_model_is_said() -> None:
    old, new = (OLD.with_columns(model=pl.lit(m)) for m in ("m1", "m2"))
    assert "the model changed: m1 → m2" in regress(old, new).notes


def test_negative_cases_are_left_out() -> None:
    rows = [*OLD.to_dicts(), *pairs({"n": (1, 0)}, skill="s", agent="a", negative=True)]
    assert regress(frame_of(rows), frame_of(rows)).changes["cases"][0] == 12


def test_runs_of_one_case_are_averaged() -> None:
    old = pl.concat([OLD.with_columns(run=pl.lit(r)) for r in ("r1", "r2")])
    new = scores(0.5 + NOISE[2], 0.3 + NOISE[3], run="r9")
    assert regress(old, new).changes.drop("reason").equals(regress(OLD, new).changes.drop("reason"))


def written(path: Path, frame: pl.DataFrame, **options: Any) -> Path:  # noqa: ANN401 - passed on
    path.write_text(json.dumps(skill_lift(frame, **options).to_dict()))
    return path


def test_what_lift_wrote_gives_what_its_trials_give(tmp_path: Path) -> None:
    new = scores(0.5 + NOISE[2], 0.3 + NOISE[3])
    sets = [read_lift_sets([written(tmp_path / f"{n}.json", f)]) for n, f in enumerate((OLD, new))]
    assert regress(*sets).changes.equals(regress(OLD, new).changes)


def test_paths_of_what_lift_wrote_are_read(tmp_path: Path) -> None:
    new = scores(0.5 + NOISE[2], 0.3 + NOISE[3])
    (tmp_path / "may").mkdir()
    old, folder = (
        written(tmp_path / "old.json", OLD),
        written(tmp_path / "may" / "s.json", new).parent,
    )
    expected = regress(OLD, new).changes
    assert regress(old, folder).changes.equals(expected)
    assert regress(str(tmp_path / "o*.json"), folder).changes.equals(expected)
    with pytest.raises(InputError, match="not what lift --format json writes"):
        regress(tmp_path / "gone.json", folder)


def test_sets_under_other_policies_are_not_compared(tmp_path: Path) -> None:
    one, other = written(tmp_path / "a.json", OLD), written(tmp_path / "b.json", OLD, errors="zero")
    with pytest.raises(InputError, match="of different policies"):
        regress(read_lift_sets([one]), read_lift_sets([other]))
    with pytest.raises(InputError, match="of another policy"):
        read_lift_sets([one, other])
    with pytest.raises(InputError, match="is in the files twice"):
        read_lift_sets([one, one])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"schema_version": 2}, "schema_version 1 is needed"),
        ({"cases": None}, "a list of cases is needed"),
        ({"composite": {}}, "weights are needed"),
        ({"cases": [3]}, r"cases\[0\]: 3 is no object"),
        ({"cases": [{"uid": 1}]}, r"cases\[0\]: uid: 1; a text is needed"),
        ({"cases": [{"uid": "a", "negative": 0}]}, "negative: 0; true or false"),
        ({"cases": [{"uid": "a", "negative": False, "with": "1"}]}, "with: .*a number is needed"),
        (
            {"cases": [{"uid": "a", "negative": False, "with": 1, "without": 0, "lift": 0.5}]},
            "lift 0.5 is not with − without",
        ),
    ],
)
def test_damaged_lift_files_are_named(tmp_path: Path, change: dict[str, Any], match: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(skill_lift(OLD).to_dict() | change))
    with pytest.raises(InputError, match=match):
        read_lift_sets([path])


@pytest.mark.parametrize(
    ("options", "match"), [({"level": 2}, "level 2"), ({"margin": 0}, "margin 0")]
)
def test_wrong_options_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        regress(OLD, OLD, **options)


def test_what_is_neither_is_refused() -> None:
    with pytest.raises(InputError, match=r"old is 3; a skill lift"):
        regress(3, OLD)  # type: ignore[arg-type]
