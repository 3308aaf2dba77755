"""Agreement of scores against SciPy and NumPy; judges, gates, and every way in."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats  # noqa: TID253
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from skillshift_frames.agreement import Agreement, agreement
from skillshift_frames.errors import InputError
from skillshift_frames.readers.scores import read_scores
from skillshift_frames.render.agreement import agreement_document

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random


def corpus(n: int = 145, rho: float = 0.14) -> pl.DataFrame:
    """Give skills with a structural score and a judge's that hardly agree, as in the paper."""
    rng = np.random.default_rng(6)
    x, noise = rng.normal(size=(2, n))
    structural = np.clip(79.2 + 6 * x, 0, 100).round(1)
    judge = np.clip(7.6 + rho * x + noise, 0, 10).round(1)
    names = [f"skill-{i}" for i in range(n)]
    return pl.DataFrame({"skill": names, "structural": structural, "judge": judge})


def test_coefficients_are_scipys_with_ties() -> None:
    scores = corpus()
    row = agreement(scores, x="structural", y="judge").correlations.row(0, named=True)
    x, y = scores["structural"].to_numpy(), scores["judge"].to_numpy()
    assert row["n"] == 145
    assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-11)
    theirs = stats.pearsonr(x, y)
    ends = theirs.confidence_interval(0.95)
    assert row["pearson"] == pytest.approx(theirs.statistic, abs=1e-11)
    assert (row["pearson_low"], row["pearson_high"]) == pytest.approx(
        (ends.low, ends.high), abs=1e-11
    )


def test_pass_rates_are_counts_with_wilsons_interval() -> None:
    scores = corpus()
    found = agreement(
        scores, x="structural", y="judge", gates={"structural": [70, 80], "judge": [7]}
    )
    assert found.gates.select("score", "gate").rows() == [
        ("structural", 70.0),
        ("structural", 80.0),
        ("judge", 7.0),
    ]
    for row in found.gates.to_dicts():
        passed = int((scores[row["score"]].to_numpy() >= row["gate"]).sum())
        ends = proportion_confint(passed, 145, method="wilson")
        assert (row["passed"], row["n"], row["rate"]) == (passed, 145, passed / 145)
        assert (row["low"], row["high"]) == pytest.approx(ends, abs=1e-12)


def test_a_score_at_the_gate_passes() -> None:
    scores = pl.DataFrame({"a": [69.9, 70.0, 70.1], "b": [1.0, 2.0, 3.0]})
    found = agreement(scores, x="a", y="b", gates=[70])
    assert found.gates.filter(score="a")["passed"].item() == 2


def test_distribution_is_numpys() -> None:
    scores = corpus()
    row = agreement(scores, x="structural", y="judge").distributions.row(0, named=True)
    values = scores["structural"].to_numpy()
    five = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    assert [row[k] for k in ("min", "q25", "median", "q75", "max")] == pytest.approx(five.tolist())
    assert (row["mean"], row["sd"]) == pytest.approx((values.mean(), values.std(ddof=1)))


def test_a_missing_score_is_counted_and_never_zero() -> None:
    scores = pl.DataFrame({"a": [1.0, 2.0, None, 4.0], "b": [1.0, None, 3.0, 4.0]})
    found = agreement(scores, x="a", y="b", gates=[0])
    row = found.correlations.row(0, named=True)
    assert (row["n"], row["missing"]) == (2, 2)
    assert found.distributions.select("n", "missing", "min").rows() == [(3, 1, 1.0), (3, 1, 1.0)]
    assert found.gates["n"].to_list() == [3, 3]


def by_judge(shift: dict[str, float], n: int = 30) -> pl.DataFrame:
    """Give several judges' scores of the same skills: one order, other levels."""
    rng = np.random.default_rng(7)
    base, structural = rng.normal(7, 1, n), rng.normal(80, 5, n)
    return pl.concat(
        [
            pl.DataFrame(
                {
                    "skill": [f"s{i}" for i in range(n)],
                    "structural": structural,
                    "judge": base + up,
                    "model": [model] * n,
                }
            )
            for model, up in shift.items()
        ]
    )


def test_judges_that_differ_in_level_keep_the_ranking() -> None:
    """The paper's three judges: 1.5 points between the strictest and the most lenient, the ranking largely preserved."""
    found = agreement(
        by_judge({"a": 0, "b": -1.0, "c": 0.5}), x="structural", y="judge", by="model"
    )
    judges = found.judges
    assert judges is not None
    assert (judges.items, judges.strictest, judges.most_lenient) == (30, ("b",), ("c",))
    assert judges.spread == pytest.approx(1.5)
    assert (judges.concordance, judges.kept, judges.ranking) == (1.0, 1.0, "kept")
    assert [pair["difference"] for pair in judges.pairs] == pytest.approx([1.0, -0.5, -1.5])
    # Three scores of one skill are not three skills.
    assert found.correlations["n"].to_list() == [30, 30, 30, 30]
    assert found.correlations["by"].to_list() == [None, "a", "b", "c"]
    assert any("90 rows are 30 items" in note for note in found.notes)


def test_judges_that_turn_the_ranking_around_do_not_keep_it() -> None:
    scores = pl.DataFrame({"x": [1, 2, 3], "a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.0]})
    judges = agreement(scores, x="x", y=["a", "b"]).judges
    assert judges is not None
    assert (judges.ranking, judges.kept, judges.concordance) == ("not kept", 0.0, 0.0)
    assert judges.pairs[0]["flipped"] == judges.pairs[0]["told"] == 3


def test_one_flip_in_many_is_largely_kept() -> None:
    a = [float(i) for i in range(10)]
    b = [1.0, 0.0, *a[2:]]
    judges = agreement(pl.DataFrame({"x": a, "a": a, "b": b}), x="x", y=["a", "b"]).judges
    assert judges is not None
    assert judges.ranking == "largely kept"
    assert judges.kept == pytest.approx(44 / 45)


def test_judges_are_compared_on_items_that_all_of_them_scored() -> None:
    scores = by_judge({"a": 0, "b": 1}).with_columns(
        judge=pl.when(skill="s0", model="b").then(None).otherwise("judge")
    )
    judges = agreement(scores, x="structural", y="judge", by="model").judges
    assert judges is not None
    assert judges.items == 29


def test_a_judge_may_be_called_what_items_are_called() -> None:
    found = agreement(by_judge({"skill": 0, "b": 1}), x="structural", y="judge", by="model")
    assert found.judges is not None
    assert found.judges.spread == pytest.approx(1)


def test_without_a_name_of_items_values_of_by_are_no_judges() -> None:
    scores = by_judge({"a": 0, "b": 1}).drop("skill")
    found = agreement(scores, x="structural", y="judge", by="model")
    assert found.judges is None
    assert any("no column tells items apart" in note for note in found.notes)


_score = st.one_of(st.none(), st.integers(0, 10).map(float))


@given(
    st.lists(st.tuples(_score, _score, st.sampled_from("ab"), st.sampled_from("uvw")), max_size=25),
    st.randoms(use_true_random=False),
)
def test_order_of_rows_does_not_matter_and_json_is_strict(
    rows: list[tuple[Any, ...]], random: Random
) -> None:
    schema = {"x": pl.Float64, "y": pl.Float64, "model": pl.String, "skill": pl.String}
    first, second = (
        agreement(
            pl.DataFrame(given, schema=schema, orient="row"), x="x", y="y", by="model", gates=[5]
        ).to_dict()
        for given in (rows, random.sample(rows, len(rows)))
    )
    assert first == second
    json.dumps(first, allow_nan=False)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"x": "nope"}, "no column 'nope'"),
        ({"x": "judge"}, "compared with itself"),
        ({"y": []}, "compared with itself"),
        ({"by": "nope"}, "no column 'nope'"),
        ({"by": "judge"}, "'judge' cannot be a score and a name at once"),
        ({"by": "skill", "item": "skill"}, "'skill' cannot be a score and a name at once"),
        ({"y": "skill"}, "skill: row 1 holds 'skill-0', which is no number"),
        ({"gates": {"speed": [1]}}, "gate for 'speed'"),
        ({"gates": [float("nan")]}, "gate nan"),
        ({"level": 0}, "level 0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        agreement(corpus(), **{"x": "structural", "y": "judge", **options})


def test_nan_is_refused() -> None:
    scores = corpus(4).with_columns(judge=pl.Series([1.0, float("nan"), 2.0, 3.0]))
    with pytest.raises(InputError, match="judge: row 2 holds nan"):
        agreement(scores, x="structural", y="judge")


def test_a_path_is_told_what_reads_it() -> None:
    with pytest.raises(InputError, match="read_scores"):
        agreement("scores.csv", x="a", y="b")  # type: ignore[arg-type]


# --- files -----------------------------------------------------------------------------------------------------------


def test_csv_jsonl_json_and_parquet_are_one(tmp_path: Path) -> None:
    scores = corpus(6).with_columns(judge=pl.Series([1.5, None, 3, 4, 5, 6]))
    scores.write_csv(tmp_path / "s.csv")
    scores.write_ndjson(tmp_path / "s.jsonl")
    scores.write_json(tmp_path / "s.json")
    scores.write_parquet(tmp_path / "s.parquet")
    for suffix in ("csv", "jsonl", "json", "parquet"):
        assert read_scores(tmp_path / f"s.{suffix}").equals(scores), suffix


def test_csv_cells_that_are_no_numbers_stay_text_and_are_named_when_used(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("skill,a,b\nx, 1 ,2\ny,n/a,3\nz,,\n")
    scores = read_scores(path)
    assert scores.schema == {"skill": pl.String, "a": pl.String, "b": pl.Float64}
    with pytest.raises(InputError, match="a: row 2 holds 'n/a'"):
        agreement(scores, x="a", y="b")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("s.csv", "skill,x,y\na,1,2\nb,1, NaN\n", "s.csv: line 3: y: NaN is no score"),
        ("s.csv", "\ufeffskill,x,y\r\n\r\na,1,2\r\nb,inf,2\r\n", "s.csv: line 4: x: inf is"),
        ("s.csv", 'skill,x,y\n"a\n\nb",1,n/a\n,,\nc,1,2\n', "s.csv: line 2: y: n/a is"),
        ("s.csv", 'skill,x,y\n"a\n\nb",1,1\n,,\nc,1,1e101\n', "s.csv: line 6: y: 1e101 is"),
        ("s.jsonl", '{"x": 1, "y": 2}\n\n{"x": 1, "y": "NaN"}\n', 's.jsonl: line 3: y: "NaN" is'),
        ("s.json", '[{"x": 1, "y": 2}, {"x": true, "y": 1}]', "s.json: [1]: x: true is"),
    ],
)
def test_what_is_no_number_is_named_with_its_line(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    with pytest.raises(InputError, match=re.escape(said)):
        read_scores(path, numbers=["x", "y"])
    read_scores(path)  # whoever uses the column says so
    read_scores(path, numbers=["nope", "y" if ": x:" in said else "x"])


def test_what_is_no_number_is_named_with_its_row_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    pl.DataFrame({"x": [1.0, float("nan")]}).write_parquet(path)
    with pytest.raises(InputError, match=r"s\.parquet: row 2: x: nan is no score"):
        read_scores(path, numbers=["x"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_csv_with_nothing_on_them_are_no_items(tmp_path: Path, end: str) -> None:
    path = tmp_path / "s.csv"
    lines = ["skill,a,b", "x,1,2", "", "y,3,4", ",,", "z,,6", ""]
    path.write_bytes("".join(line + end for line in lines).encode())
    assert read_scores(path).rows() == [("x", 1.0, 2.0), ("y", 3.0, 4.0), ("z", None, 6.0)]


def report(**parts: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Give a JSON report as SkillEvaluator writes it: quality, rubric, live evaluation."""
    usual = {
        "skills": [{"name": "tables", "passed": True, "issue_count": 0}],
        "quality_summary": [
            {"overall_score": 88.0, "grade": "B", "dimensions": {"correctness": {"score": 90.0}}}
        ],
        "rubric_eval": {
            "execution_status": "succeeded",
            "overall_score": 64.0,
            "model": "judge-1",
            "checks": [{"id": "scope", "score": 6, "pass": False}],
        },
        "tier3": {"overall_score": 0.755, "composite_lift": 0.23},
    }
    return usual | parts


def test_reports_are_one_row_each(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(report()))
    (tmp_path / "b.json").write_text(json.dumps(report(skills=[], tier3={"composite_lift": None})))
    found = read_scores(tmp_path).to_dicts()
    assert found[0] == {
        "skill": "tables",
        "structural": 88.0,
        "judge": 64.0,
        "judge_model": "judge-1",
        "runtime": 0.755,
        "lift": 0.23,
        "structural_correctness": 90.0,
        "judge_scope": 6.0,
    }
    assert found[1] | {"skill": "tables", "runtime": 0.755, "lift": 0.23} == found[0]
    assert (found[1]["skill"], found[1]["lift"]) == ("b", None)


def test_a_rubric_that_failed_is_no_score(tmp_path: Path) -> None:
    failed = {"execution_status": "failed", "overall_score": 0.0, "checks": []}
    (tmp_path / "a.json").write_text(json.dumps(report(rubric_eval=failed)))
    assert read_scores(tmp_path / "a.json")["judge"].to_list() == [None]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("s.json", '{"a": 1}', "neither an array of objects nor a JSON report"),
        ("s.json", "[1, 2]", "neither an array"),
        ("s.json", '{"quality_summary": [{}, {}]}', "is of 2 skills"),
        ("s.json", '[{"a": 1, "a": 2}]', 'the key "a" is there 2 times'),
        ("s.json", '[{"a": {"b": 1}}]', "a: .* is no score"),
        ("s.json", '[{"a": NaN}]', "NaN is no JSON number"),
        ("s.jsonl", '{"a": 1}\n{"a": ', r"s\.jsonl:2: line 1"),
        ("s.jsonl", "[1]\n", r"s\.jsonl:1: \[1\] is no JSON object"),
        ("s.csv", "", "is no CSV with a header"),
        ("s.csv", "a,b\n1,2,3\n", "is no CSV with a header"),
        ("s.parquet", "PAR1", "is no Parquet file"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, content: str, match: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=match):
        read_scores(path)


def test_a_path_that_names_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scores there"):
        read_scores(tmp_path / "none*.csv")


def judged(*means: float) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"skill": skill, "x": n, "y": mean + part, "model": f"m{judge}"}
            for judge, mean in enumerate(means)
            for n, (skill, part) in enumerate((("a", -1), ("b", 0), ("c", 1)))
        ]
    )


def said(found: Agreement) -> str:
    return " | ".join(note.text for note in agreement_document(found).notes)


@pytest.mark.parametrize(
    ("means", "strictest", "most_lenient", "text"),
    [
        (
            (5, 5),
            ("m0", "m1"),
            ("m0", "m1"),
            "m0 and m1 tie: each has a mean of 5.00 on the 3 items",
        ),
        (
            (5, 7, 5),
            ("m0", "m2"),
            ("m1",),
            "m0 and m2 are strictest (a tie at a mean of 5.00), m1 is most lenient, 2.00 apart",
        ),
        ((5, 7), ("m0",), ("m1",), "m0 is strictest, m1 is most lenient, 2.00 apart on average"),
    ],
)
def test_judges_that_tie_are_named_with_what_they_tie_on(
    means: tuple[float, ...], strictest: tuple[str, ...], most_lenient: tuple[str, ...], text: str
) -> None:
    found = agreement(judged(*means), x="x", y="y", by="model")
    assert found.judges is not None
    assert (found.judges.strictest, found.judges.most_lenient) == (strictest, most_lenient)
    assert text in said(found)


def test_judges_without_a_common_item_or_a_ranking_say_so() -> None:
    apart = pl.DataFrame({"skill": ["a", "b"], "x": [1, 2], "y": [3, 4], "model": ["m0", "m1"]})
    found = agreement(apart, x="x", y="y", by="model")
    assert found.judges is not None
    assert found.judges.strictest == found.judges.most_lenient == ()
    assert "no item was scored by all judges (m0, m1)" in said(found)
    flat = judged(5, 7).with_columns(y=pl.when(pl.col("model") == "m0").then(5).otherwise(7))
    assert "Ranking unknown: no pair of items" in said(agreement(flat, x="x", y="y", by="model"))


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([10.0, 9.0, 9.5], ["9", "9.5", "10"]),
        ([10, 9, 100], ["9", "10", "100"]),
        (["10", "9", "1.10"], ["1.10", "9", "10"]),
        (["10", "9", "v1"], ["10", "9", "v1"]),
        ([True, False, None], ["false", "true", "null"]),
    ],
)
def test_groups_may_be_numbers(values: list[Any], shown: list[str]) -> None:
    frame = pl.DataFrame({"x": [1, 2, 3], "y": [3, 1, 2], "year": values})
    found = agreement(frame, x="x", y="y", by="year")
    assert found.correlations["by"].to_list() == [None, *shown]


def test_groups_that_are_no_names_are_refused() -> None:
    frame = pl.DataFrame({"x": [1, 2], "y": [3, 1], "by": [[1], [2]]})
    with pytest.raises(InputError, match="texts or numbers are needed to tell groups apart"):
        agreement(frame, x="x", y="y", by="by")
