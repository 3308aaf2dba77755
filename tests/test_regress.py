"""Lifts of two dates: a model that caught up, a skill that lost, and what cannot be told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from scipy import stats  # noqa: TID253

from skillshift_frames.changes import CHANGES
from skillshift_frames.errors import InputError
from skillshift_frames.lift import skill_lift
from skillshift_frames.regress import read_lift_sets, regress
from skillshift_frames.render.regress import regression_document
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


# --- where every case changed alike, there is no interval ------------------------------------------------------------


def alike(n: int, with_: float, without: float) -> pl.DataFrame:
    return scores([with_] * n, [without] * n)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 50])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("new", "changed"),
    [((0.0, 0.0), "regressed"), ((1.0, 1.0), "caught up"), ((0.5, 0.0), "regressed")],
)
def test_falls_of_all_cases_alike_are_told_by_an_exact_sign_test(
    n: int, level: float, new: tuple[float, float], changed: str
) -> None:
    """The oracle is SciPy's binomial test; 50 falls of 50 cases are no matter of doubt, 5 of 5 no proof at 95 %."""
    row = regress(alike(n, 1.0, 0.0), alike(n, *new), level=level).changes.row(0, named=True)
    p = stats.binomtest(n, n, 0.5).pvalue
    assert row["lift_low"] is None
    assert row["lift_p"] == pytest.approx(p, rel=1e-12)
    told = p < 1 - level
    assert row["change"] == (changed if told else "too few")
    assert row["test"] == ("sign test" if told else None)
    assert ("exact sign test" in row["reason"]) == (n > 1)


def test_rises_of_all_cases_alike_are_improvements() -> None:
    row = regress(alike(9, 0.0, 0.0), alike(9, 1.0, 0.0)).changes.row(0, named=True)
    assert (row["change"], row["test"]) == ("improved", "sign test")


def test_a_baseline_that_rose_alike_in_all_cases_excuses_a_lift_that_fell() -> None:
    """The lift's own change has an interval, its baseline's none."""
    new = scores(0.6 + NOISE[2], [0.5] * 12)
    row = regress(scores(0.8 + NOISE[0], [0.3] * 12), new).changes.row(0, named=True)
    assert (row["without_low"], row["test"]) == (None, "interval")
    assert row["without_p"] == pytest.approx(stats.binomtest(12, 12).pvalue)
    assert row["change"] == "caught up"


def test_signs_are_of_families_not_of_cases() -> None:
    """Five cases by two agents each are ten falls of five families, and five tell nothing at 95 %."""
    old, new = (
        pl.concat([alike(5, with_, 0.0).with_columns(agent=pl.lit(a)) for a in ("a", "b")])
        for with_ in (1.0, 0.0)
    )
    row = regress(old, new).changes.row(0, named=True)
    assert (row["cases"], row["families"], row["lift_p"]) == (10, 5, 0.0625)
    assert row["change"] == "too few"
    assert "with 5 families p cannot be below 0.0625" in row["reason"]


def test_no_change_at_all_is_not_too_few() -> None:
    for n in (2, 12):
        row = regress(alike(n, 1.0, 0.0), alike(n, 1.0, 0.0)).changes.row(0, named=True)
        assert (row["change"], row["lift_p"]) == ("undetermined", None)


# --- margins and ends ------------------------------------------------------------------------------------------------


def test_unchanged_is_the_interval_at_twice_the_level_less_one_inside_the_margin() -> None:
    """Two one-sided tests: SciPy's paired interval at 90 % decides at a level of 95 %, not the one at 95 %."""
    new = scores(0.8 + NOISE[2], 0.3 + NOISE[3])
    change = (NOISE[2] - NOISE[3]) - (NOISE[0] - NOISE[1])
    narrow, wide = (
        stats.ttest_1samp(change, 0).confidence_interval(level) for level in (0.9, 0.95)
    )
    reach, further = (max(abs(float(e.low)), abs(float(e.high))) for e in (narrow, wide))
    assert reach < further
    for margin, changed in (
        ((reach + further) / 2, "unchanged"),
        (reach * 0.99, "undetermined"),
    ):
        row = regress(OLD, new, margin=margin).changes.row(0, named=True)
        assert row["change"] == changed
        assert "the 90 % interval" in row["reason"]
        assert (row["equivalence_low"], row["equivalence_high"]) == pytest.approx(
            (narrow.low, narrow.high), abs=1e-9
        )
    assert regress(OLD, new).changes["equivalence_low"][0] is None


def test_a_margin_needs_a_level_that_leaves_an_interval() -> None:
    with pytest.raises(InputError, match=r"level 0\.5 leaves no interval"):
        regress(OLD, OLD, margin=0.1, level=0.5)


def test_no_interval_goes_where_a_change_cannot_be() -> None:
    """Passes and failures: a side changes by at most 1, a lift by at most 2."""

    def passes(cases: list[tuple[float, float]]) -> pl.DataFrame:
        both = {f"c{n}": case for n, case in enumerate(cases)}
        rows = pairs(both, skill="s", agent="a")
        return frame_of([row | {"success": row["score"] == 1} for row in rows])

    old, new = passes([(0, 1), (1, 1)]), passes([(1, 0), (1, 1)])
    row = regress(old, new).changes.row(0, named=True)
    assert (row["lift_low"], row["lift_high"]) == (-2, 2)
    assert (row["with_low"], row["with_high"]) == (-1, 1)
    free = regress(*(frame.with_columns(success=None) for frame in (old, new))).changes
    assert free["lift_high"][0] > 2


def test_ends_are_cut_off_for_files_as_for_trials(tmp_path: Path) -> None:
    frames = [
        scores(a, b).with_columns(success=pl.col("score") == 1)
        for a, b in (([0, 1], [1, 1]), ([1, 1], [0, 1]))
    ]
    sets = [written(tmp_path / f"{n}.json", frame) for n, frame in enumerate(frames)]
    assert regress(*sets).changes.equals(regress(*frames).changes)


# --- coverage --------------------------------------------------------------------------------------------------------


def changed_file(path: Path, found: pl.DataFrame, **changed: Any) -> Path:  # noqa: ANN401 - JSON
    path.write_text(json.dumps(skill_lift(found).to_dict() | changed))
    return path


def test_coverages_of_files_add_up(tmp_path: Path) -> None:
    """One file per skill: 24 trials of the one and 4, of which one errored, of the other."""
    other = scores([1.0, 0.5], [0.0, 0.0]).with_columns(skill=pl.lit("other"))
    gap = (pl.col("arm") == "with") & (pl.col("uid") == "c1")
    other = other.with_columns(
        status=pl.when(gap).then(pl.lit("errored")).otherwise("status"),
        score=pl.when(~gap).then("score"),
        success=pl.when(~gap).then("success"),
    )
    written(tmp_path / "a.json", OLD)
    written(tmp_path / "b.json", other)
    coverage = regress(tmp_path, skill_lift(OLD)).coverage
    assert coverage["old"] == {
        "expected": 28,
        "scored": 27,
        "unscored": 0,
        "errored": 1,
        "missing": 0,
        "unlisted": 0,
        "paired_cases": 13,
        "arms": {
            "with": {"expected": 14, "scored": 13, "unscored": 0, "errored": 1, "missing": 0},
            "without": {"expected": 14, "scored": 14, "unscored": 0, "errored": 0, "missing": 0},
        },
    }
    assert coverage["new"] == skill_lift(OLD).coverage


@pytest.mark.parametrize("said", [{}, {"arms": {}}, {"expected": 1, "arms": {"with": {}}}])
def test_a_coverage_that_a_file_does_not_say_is_unknown_and_not_zero(
    tmp_path: Path, said: dict[str, Any]
) -> None:
    path = changed_file(tmp_path / "a.json", OLD, coverage=said)
    written(tmp_path / "b.json", OLD.with_columns(skill=pl.lit("other")))
    for old in (path, tmp_path):
        found = regress(old, OLD)
        assert found.coverage["old"] is None
        assert found.to_dict()["coverage"]["old"] is None
        notes = [note.text for note in regression_document(found).notes]
        assert "coverage of the old set: not said by its files" in notes


@pytest.mark.parametrize("odd", [-1, 1.0, True, "12", None])
def test_a_count_that_is_none_is_named(tmp_path: Path, odd: object) -> None:
    coverage = skill_lift(OLD).coverage | {"scored": odd}
    path = changed_file(tmp_path / "a.json", OLD, coverage=coverage)
    with pytest.raises(InputError, match=r"a\.json: coverage: scored: .*; a count is needed"):
        regress(path, OLD)
    with pytest.raises(InputError, match=r"coverage: 3; an object with counts is needed"):
        regress(changed_file(tmp_path / "a.json", OLD, coverage=3), OLD)


# --- policies --------------------------------------------------------------------------------------------------------


def test_the_order_of_a_composites_metrics_does_not_matter() -> None:
    def lifts(names: tuple[str, ...], rise: float) -> Any:  # noqa: ANN401 - a skill lift
        rows = [row | {"x": 0.5, "y": rise * n} for n, row in enumerate(OLD.to_dicts())]
        return skill_lift(frame_of(rows), composite=names)

    found = regress(lifts(("x", "y"), 0.01), lifts(("y", "x"), 0.02))
    assert found.changes["cases"][0] == 12
    with pytest.raises(InputError, match="of different policies"):
        regress(lifts(("x", "y"), 0.01), lifts(("x",), 0.02))


def test_a_policy_that_lifts_do_not_have_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "old.json", OLD)
    for given in (path, read_lift_sets([path]), skill_lift(OLD)):
        assert regress(given, OLD, errors="exclude").errors == "exclude"
        with pytest.raises(InputError, match=r"the old lifts were computed with --errors exclude"):
            regress(given, OLD, errors="zero")
        with pytest.raises(InputError, match="composite is for trials"):
            regress(given, OLD, composite="score")
    assert regress(OLD, OLD, errors="zero").errors == "zero"
