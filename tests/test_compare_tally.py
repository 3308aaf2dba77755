"""Two runs compared from their tally: the numbers of the records, and a sentence where counts cannot give them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest  # noqa: TID253

import skillshift_frames as sf
from skillshift_frames.render.comparison import comparison_document
from skillshift_frames.render.text import render_text
from tests.simulated import SHOP, frame_of, simulate, tasks_of
from tests.strategies import SMALL, records, shuffled
from tests.test_tally import BENCHMARK, framed, tasks_from

if TYPE_CHECKING:
    from tests.reference import Record

FEW = 200


def two_runs(**same: int) -> pl.DataFrame:
    """Give runs a and b; with a number for every column but success, many families are alike."""
    runs = pl.concat([tasks_of("a", seed=1), tasks_of("b", seed=2, logit=0.6)])
    return runs.with_columns(**{name: pl.lit(n, pl.Int64) for name, n in same.items()})


def both_ways(tasks: pl.DataFrame, **options: Any) -> tuple[sf.Comparison, sf.Comparison]:  # noqa: ANN401
    usual = {"base": "a", "treatment": "b", "benchmark": SHOP, "resamples": FEW, **options}
    counts = sf.tally(tasks, families=True, benchmark=usual["benchmark"])
    return sf.compare(tasks, **usual), sf.compare(counts, **usual)


def assert_same(of_tasks: sf.Comparison, of_tally: sf.Comparison) -> None:
    """Everything is equal, to the last digit; lists by as much as a tally can say of them."""
    assert of_tally.lifts.equals(of_tasks.lifts)
    assert of_tally.lifts_by.equals(of_tasks.lifts_by)
    for name in ("pairs", "outcomes", "bounds", "use", "decision", "metric", "benchmark"):
        assert getattr(of_tally, name) == getattr(of_tasks, name), name
    by: dict[str, tuple[str | pl.Expr, ...]] = {
        "only_base": (),
        "only_treatment": (),
        "errored": ("base_errored", "treatment_errored"),
        "flips": ("flip",),
    }
    for name, columns in by.items():
        key = ["site", "condition", "version", *columns]
        listed = getattr(of_tasks, name).with_columns(
            pl.col("uid").str.extract(r"^skillshift\..+\.(v[12])\.\d+$").alias("version")
        )
        if name == "errored":
            flags = [pl.col(f"{side}_error").is_not_null() for side in ("base", "treatment")]
            listed = listed.with_columns(flag.name.suffix("ed") for flag in flags)
        expected = listed.group_by(key).agg(tasks=pl.len().cast(pl.Int64)).sort(key)
        given = getattr(of_tally, name)
        assert given.columns == ["site", "condition", "kind", "version", *columns, "tasks"]
        assert given.group_by(key).agg(pl.col("tasks").sum()).sort(key).equals(expected), name


@settings(max_examples=40)
@given(
    listed=shuffled(st.one_of(records(SMALL, trials=1), records(SMALL, trials=1, odd_uids=True))),
    errors=st.sampled_from(["exclude", "zero"]),
    method=st.sampled_from(["auto", "delta"]),
    by=st.sampled_from([None, "site", "condition"]),
    margin=st.sampled_from([None, 20.0]),
    inferred=st.booleans(),
    data=st.data(),
)
def test_a_tally_is_compared_as_its_records_are(
    listed: list[Record],
    errors: Literal["exclude", "zero"],
    data: st.DataObject,
    *,
    method: Literal["auto", "delta"],
    by: str | None,
    margin: float | None,
    inferred: bool,
) -> None:
    tasks = tasks_from(listed)
    runs = tasks.get_column("run").unique().sort().to_list()
    base, treatment = data.draw(st.sampled_from(runs)), data.draw(st.sampled_from(runs[::-1]))
    metrics = data.draw(st.permutations(["SR", "AS", "ASC", "SFR", "steps"]))
    options: Any = {"base": base, "treatment": treatment, "errors": errors, "method": method}
    options |= {"metrics": metrics, "composite": ["success", "ASC"], "by": by, "margin": margin}
    options |= {"benchmark": "infer" if inferred else BENCHMARK, "resamples": FEW}
    counts = sf.tally(framed(listed), families=True, benchmark=BENCHMARK)
    assert_same(sf.compare(tasks, **options), sf.compare(counts, **options))


@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_families_that_are_alike_count_as_often_as_there_are_of_them(errors: str) -> None:
    tasks = two_runs(steps=1, skill_calls=1, skill_failures=0)
    tasks = tasks.with_columns(error=pl.when(pl.int_range(pl.len()) % 17 == 3).then(pl.lit("x")))
    kinds = sf.tally(tasks, families=True, benchmark=SHOP).get_column("tasks")
    assert kinds.max() != 1
    of_tasks, of_tally = both_ways(tasks[:-3], errors=errors, by="site", margin=5)
    assert_same(of_tasks, of_tally)
    # As many decimals as are computed, whatever they are sums of: not just what is printed.
    assert of_tally.lifts.filter(slot="overall", metric="SR").item(0, "lift") != 0


def test_counts_and_p_are_those_of_the_kinds_by_hand() -> None:
    """Twelve families that only the treatment solves, three that only the base does, five that both, four that none."""
    cell = sf.Benchmark("one", sites={"cart": 24}, conditions=("plain",))
    kinds = [((False, True), 12), ((True, False), 3), ((True, True), 5), ((False, False), 4)]
    outcomes = [pair for pair, families in kinds for _ in range(families)]
    row = {"site": "cart", "condition": "plain", "steps": 3, "skill_failures": 0}
    tasks = frame_of(
        [
            row | {"run": run, "uid": str(i), "success": pair[side], "skill_calls": side}
            for side, run in enumerate("ab")
            for i, pair in enumerate(outcomes)
        ],
        cell,
    )
    counts = sf.tally(tasks, families=True, benchmark=cell)
    assert counts.height == 2 * len(kinds)
    found = sf.compare(counts, base="a", treatment="b", benchmark=cell, resamples=FEW)
    assert (found.outcomes.treatment_only, found.outcomes.base_only) == (12, 3)
    assert (found.outcomes.both, found.outcomes.neither, found.pairs) == (5, 4, 24)
    assert found.outcomes.p == pytest.approx(binomtest(3, 15).pvalue, rel=1e-12)
    assert found.use.with_call == 24
    assert found.use.lift == pytest.approx(100 * 9 / 24, rel=1e-15)
    assert found.flips.select("flip", "tasks").sort("flip").rows() == [("gained", 12), ("lost", 3)]
    overall = found.lifts.filter(metric="SR", slot="overall").row(0, named=True)
    assert overall["lift"] == pytest.approx(100 * 9 / 24, rel=1e-12)
    counted = {name: overall[name] for name in ("tasks", "families", "wins", "losses", "ties")}
    assert list(counted.values()) == [24, 24, 12, 3, 9]


def test_a_kind_of_another_site_or_version_is_no_partner() -> None:
    row = {"success": True, "steps": 3, "skill_calls": 0, "skill_failures": 0, "condition": "hard"}
    listed = [
        row | {"run": "a", "site": "forum", "uid": "skillshift.forum.v1.0"},
        row | {"run": "b", "site": "forum", "uid": "skillshift.forum.v2.0"},
        row | {"run": "b", "site": "shop", "uid": "skillshift.shop.v1.0"},
    ]
    tasks = tasks_from([record | {"error": None} for record in listed])
    of_tasks, of_tally = both_ways(tasks, benchmark=BENCHMARK)
    assert_same(of_tasks, of_tally)
    assert of_tally.pairs == 0
    assert of_tally.only_treatment.select("site", "version", "tasks").rows() == [
        ("forum", "v2", 1),
        ("shop", "v1", 1),
    ]


def test_what_counts_keep_of_the_unpaired_is_written_and_printed() -> None:
    tasks = two_runs(steps=1, skill_calls=0, skill_failures=0)
    index = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    gone = (pl.col("run") == "b") & (pl.col("site") == "cart") & (index < 7)
    tasks = tasks.filter(~gone).with_columns(
        error=pl.when(run="a", site="search", condition="tgt").then(pl.lit("timeout"))
    )
    of_tasks, of_tally = both_ways(tasks)
    assert_same(of_tasks, of_tally)
    mine, theirs = json.loads(json.dumps(of_tally.to_dict())), of_tasks.to_dict()
    lists = ("only_base", "only_treatment", "errored", "flips")
    for name in lists:
        assert sum(row["tasks"] for row in mine[name]) == len(theirs[name]), name
    assert {k: v for k, v in mine.items() if k not in lists} == json.loads(
        json.dumps({k: v for k, v in theirs.items() if k not in lists})
    )
    said, usual = (
        render_text(comparison_document(found, SHOP, flips=True)) for found in (of_tally, of_tasks)
    )
    for line in ("21 only in a: cart × src 7, cart × src-perc 7, cart × tgt 7", "search × tgt 9"):
        assert line in said
    heads = ("Lift =", "95 % interval", "SR lift between", "Verdict")
    for head in heads:
        assert [x for x in said.splitlines() if head in x] == [
            x for x in usual.splitlines() if head in x
        ]
    gained = of_tally.flips.filter(site="cart", condition="src", flip="gained")
    assert f"gained: cart × src {gained.get_column('tasks').sum()}" in said


def test_a_lazy_tally_of_any_column_order_will_do() -> None:
    counts = sf.tally(two_runs(), families=True, benchmark=SHOP)
    options: Any = {"base": "a", "treatment": "b", "benchmark": SHOP, "resamples": FEW}
    turned = counts.select(reversed(counts.columns)).sample(fraction=1, shuffle=True, seed=1)
    mine, other = (sf.compare(tally, **options) for tally in (counts.lazy(), turned))
    assert json.dumps(mine.to_dict()) == json.dumps(other.to_dict())


# What counts cannot say


def test_several_trials_are_paired_one_by_one_so_not_by_their_sums() -> None:
    again = tasks_of("a", seed=5).filter(site="search").with_columns(trial=pl.lit(2, pl.Int64))
    tasks = pl.concat([two_runs(), again])
    counts = sf.tally(tasks, families=True, benchmark=SHOP)
    options: Any = {"benchmark": SHOP, "resamples": FEW}
    with pytest.raises(
        sf.InputError, match=r"run 'a' has tasks with several trials \(search × src"
    ):
        sf.compare(counts, base="a", treatment="b", **options)
    # Of the third run that nobody asked about, it does not matter.
    more = pl.concat([tasks, tasks_of("c", seed=3)])
    counts = sf.tally(more, families=True, benchmark=SHOP)
    assert_same(
        sf.compare(more, base="b", treatment="c", **options),
        sf.compare(counts, base="b", treatment="c", **options),
    )


def test_a_trial_that_errored_is_one_of_several() -> None:
    again = tasks_of("a", seed=5).head(1).with_columns(trial=2, error=pl.lit("x"))
    tasks = pl.concat([two_runs(), again.cast(sf.TASKS)])
    counts = sf.tally(tasks, families=True, benchmark=SHOP)
    with pytest.raises(sf.InputError, match="several trials"):
        sf.compare(counts, base="a", treatment="b", benchmark=SHOP)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metrics": ["reward"]}, "no metric 'reward'.*a tally keeps no other column"),
        ({"metrics": ["kind"]}, "no metric 'kind'"),
        ({"composite": ["SR", "tasks"]}, "no metric 'tasks'"),
        ({"by": "version"}, "broken down by site or condition, not by 'version'"),
        ({"by": "steps"}, "not by 'steps'; compare the records themselves"),
        ({"treatment": "c"}, "no run 'c'; there are a, b"),
        ({"composite": ["SFR"]}, "SFR cannot be part of a composite"),
    ],
)
def test_what_a_tally_does_not_hold_is_said(options: dict[str, Any], said: str) -> None:
    counts = sf.tally(two_runs(), families=True, benchmark=SHOP)
    usual: dict[str, Any] = {"base": "a", "treatment": "b", "benchmark": SHOP, "resamples": FEW}
    with pytest.raises(sf.InputError, match=said):
        sf.compare(counts, **usual | options)


def test_families_are_asked_for() -> None:
    counts = sf.tally(two_runs(), benchmark=SHOP)
    with pytest.raises(sf.InputError, match="make it with families=True"):
        sf.compare(counts, base="a", treatment="b", benchmark=SHOP)


def test_columns_that_records_kept_do_not_get_in_the_way() -> None:
    """A weight is not a column of theirs, whatever they call theirs."""
    rows = [*simulate("a", seed=1), *simulate("b", seed=2, logit=0.6)]
    names = ("times", "tasks", "kind", "version", "family")
    kept = frame_of([row | dict.fromkeys(names, i % 3) for i, row in enumerate(rows)], extra="keep")
    options: Any = {"base": "a", "treatment": "b", "benchmark": SHOP, "resamples": FEW}
    plain = sf.compare(kept.select(sf.TASKS.names()), **options)
    assert sf.compare(kept, **options).to_dict() == plain.to_dict()
    found = sf.compare(kept, metrics=["tasks", "times"], by="kind", **options)
    assert found.pairs == 99
    assert found.lifts_by.get_column("slot").unique().sort().to_list() == [
        "kind=0",
        "kind=1",
        "kind=2",
    ]
