"""Second moments: exact on every engine, sums of parts, and the delta method's intervals without a record in sight."""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isqrt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np  # noqa: TID253
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm  # noqa: TID253

import skillshift_frames as sf
from skillshift_frames.outcomes import contributions
from skillshift_frames.sampling import families_by_site
from skillshift_frames.summaries import summaries
from tests.simulated import SHOP, tasks_of
from tests.strategies import SMALL, records, shuffled
from tests.test_tally import BENCHMARK, ENGINE, ENGINES, framed, tally, tasks_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.reference import Record

Errors: TypeAlias = Literal["exclude", "zero"]

ERRORS = st.sampled_from(["exclude", "zero"])
METRICS = ("SR", "AS", "ASC", "SFR")
ANY_RECORDS = shuffled(st.one_of(records(SMALL), records(SMALL, odd_uids=True)))


def moments(frame: Any, counts: pl.DataFrame, **options: Any) -> pl.DataFrame:  # noqa: ANN401 - any frame
    return sf.moments(frame, counts, **options)


def both(tasks: pl.DataFrame, errors: Errors = "exclude", benchmark: Any = SHOP) -> dict[str, Any]:  # noqa: ANN401
    """Give what intervals take in place of tasks."""
    counts = sf.tally(tasks, benchmark=benchmark)
    made = sf.moments(tasks, counts, errors=errors)
    return {"tasks": counts, "moments": made, "errors": errors, "benchmark": benchmark}


# What they are: brute force, one family after the other


def of_task(counted: list[Record]) -> Iterator[tuple[str, Fraction]]:
    """Give what a task's trials add to the metrics of its cell."""
    values = {
        "SR": [int(bool(t["success"]) and not t.get("error")) for t in counted],
        "AS": [t["steps"] for t in counted if t["steps"] is not None],
        "ASC": [t["skill_calls"] for t in counted if t["skill_calls"] is not None],
    }
    for metric, of_metric in values.items():
        if of_metric:
            yield f"{metric}_top", Fraction(sum(of_metric), len(of_metric))
            yield f"{metric}_bottom", Fraction(1)
    for name, end in (("skill_failures", "top"), ("skill_calls", "bottom")):
        yield f"SFR_{end}", Fraction(sum(t[name] or 0 for t in counted))


def by_brute_force(listed: list[Record], errors: Errors) -> dict[tuple[Any, ...], Fraction]:
    """Give every sum that is not 0, from fractions."""
    per_task: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in listed:
        official = re.fullmatch(r"skillshift\.(.+)\.v[12]\.(\d+)", record["uid"])
        family = f"{official[1]}.{official[2]}" if official else record["uid"]
        key = (record["run"], record["site"], family, record["condition"], record["uid"])
        per_task[key].append(record)
    families: dict[tuple[str, str, str], dict[Any, Fraction]] = {}
    for (run, site, family, condition, _), trials in per_task.items():
        numbers = families.setdefault((run, site, family), defaultdict(Fraction))
        for part, value in of_task([t for t in trials if errors == "zero" or not t.get("error")]):
            numbers[condition, part] += value
    found: dict[tuple[Any, ...], Fraction] = defaultdict(Fraction)
    for (run, site, _), numbers in families.items():
        kept = sorted((key, value) for key, value in numbers.items() if value)
        there = {(c, p.partition("_")[0]) for (c, p), _ in kept if p.endswith("bottom")}
        if there:
            found[run, site, None, "families", None, "families"] += 1
        for condition, metric in there | {(None, metric) for _, metric in there}:
            found[run, site, condition, f"{metric}_families", None, "families"] += 1
        for (condition, part), value in kept:
            found[run, site, condition, part, None, "families"] += value
        for ((c, p), value), ((other, q), with_value) in combinations_with_replacement(kept, 2):
            found[run, site, c, p, other, q] += value * with_value
    return dict(found)


def as_fractions(made: pl.DataFrame) -> dict[tuple[Any, ...], Fraction]:
    names = ("run", "site", "condition", "part", "with_condition", "with_part", "value", "scale")
    rows = made.select(names).rows()
    found = {tuple(row[:-2]): Fraction(*row[-2:]) for row in rows}
    assert len(found) == len(rows)
    assert all(Fraction(*row[-2:]).denominator == row[-1] for row in rows)  # lowest terms
    return found


@ENGINE
@settings(max_examples=10)
@given(listed=ANY_RECORDS, errors=ERRORS)
def test_moments_are_sums_of_products_over_families(
    engine: str, listed: list[Record], errors: Errors
) -> None:
    frame = framed(listed)
    made = moments(ENGINES[engine](frame), tally(frame), errors=errors)
    assert made.schema == sf.MOMENTS
    assert as_fractions(made) == by_brute_force(listed, errors)
    assert made.get_column("errors").unique().to_list() in ([errors], [])
    # The same bytes, whatever the engine and the order of the rows.
    assert made.equals(moments(frame.reverse(), tally(frame, families=True), errors=errors))


def test_spread_is_numpys_covariance_of_per_family_sums() -> None:
    tasks = tasks_of(seed=3)
    made = sf.moments(tasks, sf.tally(tasks, benchmark=SHOP))
    index = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    for site, n in SHOP.sites.items():
        grid = tasks.filter(site=site).with_columns(index=index).sort("condition", "index")
        sides = {
            (condition, part): grid.filter(condition=condition).get_column(column).cast(pl.Int64)
            for condition in SHOP.conditions
            for part, column in (
                ("SR_top", "success"),
                ("AS_top", "steps"),
                ("SFR_top", "skill_failures"),
                ("SFR_bottom", "skill_calls"),
            )
        }
        expected = np.cov(np.array([s.to_numpy() for s in sides.values()]), ddof=0)
        sums = as_fractions(made.filter(site=site))
        asi = ("asi", site)
        plain = {k: sums.get((*asi, *k, None, "families"), Fraction(0)) for k in sides}
        found = [
            [
                float(sums.get((*asi, *min(a, b), *max(a, b)), 0) / n - plain[a] * plain[b] / n**2)
                for b in sides
            ]
            for a in sides
        ]
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
        assert sums[*asi, None, "families", None, "families"] == n


def test_what_the_delta_method_gets_are_the_families_columns_and_numpys_covariance() -> None:
    """Ratios alone would not tell centred moments from others: their gradients are blind to where the mean is."""
    tasks = tasks_of(seed=3).with_columns(success=pl.col("steps") > 0)  # SR_top is SR_bottom
    counts = sf.tally(tasks, benchmark=SHOP)
    ((run, summary),) = summaries(counts, sf.moments(tasks, counts), SHOP, "exclude")
    kinds = [[f"{metric}_{end}" for metric in METRICS] for end in ("top", "bottom")]
    sample = families_by_site(contributions(tasks), kinds, SHOP)
    assert run == "asi"
    assert np.array_equal(summary.columns, sample.columns)
    for known, families in zip(summary.groups, sample.groups, strict=True):
        rows = np.repeat(families.rows, families.times, axis=0)
        assert known.families == len(rows)
        assert np.array_equal(known.sums, rows.sum(axis=0))
        assert np.allclose(known.centred, np.cov(rows.T, ddof=0) * len(rows), rtol=1e-12, atol=1e-9)


def test_size_does_not_depend_on_the_records() -> None:
    heights = []
    for factor in (4, 12):
        shop = sf.Benchmark(
            "shop", {site: factor * n for site, n in SHOP.sites.items()}, SHOP.conditions
        )
        tasks = tasks_of(benchmark=shop)
        made = sf.moments(tasks, sf.tally(tasks, benchmark=shop))
        heights.append(made.height)
        per_family = sf.tally(tasks, benchmark=shop, families=True)
        assert per_family.height > 0.8 * tasks.height  # which grows with them
    c = 8 * len(SHOP.conditions)
    # Pairs, plain sums, families, and families behind each metric in each cell and in any.
    assert heights[0] == heights[1] == 2 * (c * (c + 1) // 2 + c + 1 + 4 * 4)


# Intervals from them


def assert_same(found: pl.DataFrame, expected: pl.DataFrame, within: float) -> None:
    """Ends are equal but for the rounding of floats, everything else to the last digit."""
    ends = ["low", "high"]
    assert found.drop(ends).equals(expected.drop(ends))
    for end in ends:
        mine, other = found.get_column(end), expected.get_column(end)
        assert mine.is_null().equals(other.is_null())
        close = pytest.approx(other.drop_nulls().to_list(), rel=within, abs=within)
        assert mine.drop_nulls().to_list() == close


@settings(max_examples=40)
@given(
    data=st.data(),
    trials=st.sampled_from([1, 3]),
    errors=ERRORS,
    null=st.sampled_from(["propagate", "available"]),
)
def test_intervals_are_those_of_the_delta_method_on_records(
    data: st.DataObject, trials: int, errors: Errors, null: Literal["propagate", "available"]
) -> None:
    listed = data.draw(
        st.one_of(records(SMALL, trials=trials), records(SMALL, trials=trials, odd_uids=True))
    )
    tasks = tasks_from(listed)
    given_ = both(tasks, errors, BENCHMARK)
    options: Any = {"method": "delta", "errors": errors, "benchmark": BENCHMARK}
    # Where a ratio hardly varies, its variance is a small difference of large terms, and rounding shows; more so of means
    # of several trials, which are fractions.
    within = 1e-9 if trials == 1 else 1e-8
    found = sf.intervals(**given_, method="delta", null=null)
    assert_same(found, sf.intervals(tasks, null=null, **options), within=within)
    found = sf.cell_intervals(**given_, method="delta")
    assert_same(found, sf.cell_intervals(tasks, **options), within=within)


def many(n: int, seed: int = 0) -> tuple[pl.DataFrame, sf.Benchmark]:
    """Give a run of about n records of which nearly every family has outcomes of its own."""
    rng = np.random.default_rng(seed)
    conditions = sf.SKILLSHIFT.conditions
    sites = {"gitlab": n * 3 // 42, "magento": n * 2 // 42, "wordpress": n * 2 // 42}
    parts = []
    for site, families in sites.items():
        ease = rng.normal(size=families)
        for condition in conditions:
            calls = rng.poisson(0.5, families)
            version = "v2" if condition.startswith("tgt") and site != "wordpress" else "v1"
            part = pl.DataFrame(
                {
                    "index": np.arange(families),
                    "success": rng.random(families) < 1 / (1 + np.exp(-ease)),
                    "steps": 1 + rng.poisson(np.exp(2 - 0.4 * ease)),
                    "skill_calls": calls,
                    "skill_failures": rng.binomial(calls, 0.3),
                }
            )
            uid = pl.format(f"skillshift.{site}.{version}.{{}}", "index")
            parts.append(
                part.select(
                    pl.lit("asi").alias("run"),
                    uid.alias("uid"),
                    pl.lit(site).alias("site"),
                    pl.lit(condition).alias("condition"),
                    pl.exclude("index"),
                )
            )
    benchmark = sf.Benchmark("many", sites, conditions)
    return sf.from_frame(pl.concat(parts), benchmark=benchmark), benchmark


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
def test_two_hundred_thousand_records_have_the_intervals_that_they_have_themselves(
    engine: str,
) -> None:
    tasks, benchmark = many(200_000)
    assert tasks.height > 199_000
    frame = ENGINES[engine](tasks)
    counts = sf.tally(frame, benchmark=benchmark)
    made = sf.moments(frame, counts)
    assert made.height < 4_000
    for function in (sf.intervals, sf.cell_intervals):
        found = function(counts, moments=made, benchmark=benchmark)
        assert found.equals(function(tasks, benchmark=benchmark))
        assert {"delta"} <= set(found.get_column("method")) <= {"delta", "wilson", "exact"}


def test_a_mean_has_the_textbook_interval() -> None:
    cell = sf.Benchmark("one", sites={"cart": 3_000}, conditions=("plain",))
    steps = 1 + np.random.default_rng(1).poisson(4, 3_000)
    row = {"run": "asi", "site": "cart", "condition": "plain", "success": True, "skill_calls": 0}
    rows = [
        row | {"uid": str(i), "steps": n, "skill_failures": 0} for i, n in enumerate(steps.tolist())
    ]
    tasks = sf.from_frame(pl.DataFrame(rows), benchmark=cell)
    found = sf.intervals(**both(tasks, benchmark=cell), level=0.9)
    row = found.filter(metric="AS", slot="overall").row(0, named=True)
    expected = norm.interval(0.9, steps.mean(), steps.std() / len(steps) ** 0.5)
    assert (row["low"], row["high"]) == pytest.approx(expected, rel=1e-9)
    assert (row["estimate"], row["method"]) == (steps.mean(), "delta")
    # All agree: the exact bound for SR, and no interval of width zero for the others.
    sr, asc = (found.filter(metric=m, slot="overall").row(0, named=True) for m in ("SR", "ASC"))
    assert (sr["method"], sr["high"]) == ("exact", 100.0)
    assert sr["low"] == pytest.approx(100 * 0.05 ** (1 / 3_000), abs=1e-9)
    assert asc["reason"] == "all 3000 families agree"


def test_few_families_are_not_judged_by_sums_unless_that_is_asked_for() -> None:
    tasks = tasks_of()
    given_ = both(tasks)
    found = sf.intervals(**given_)
    assert found.get_column("low").null_count() == found.height
    (reason,) = found.get_column("reason").unique()
    assert reason.startswith("fewer than 1,000 families behind a number")
    assert "takes a tally with families" in reason
    assert sf.intervals(**given_, method="delta").get_column("reason").null_count() == found.height
    # A single proportion needs neither.
    cells, of_tasks = sf.cell_intervals(**given_), sf.cell_intervals(tasks, benchmark=SHOP)
    assert cells.filter(metric="SR").equals(of_tasks.filter(metric="SR"))
    with pytest.raises(sf.InputError, match="a tally with families=True does"):
        sf.intervals(**given_, method="bootstrap")


def test_a_sparse_metric_is_not_judged_and_the_others_are() -> None:
    """Calls in 100 of 5,000 families: SFR rests on these."""
    tasks, benchmark = many(45_000)
    index = pl.col("uid").str.split(".").list.last().cast(pl.Int64)
    called = {name: pl.when(index < 100).then(name).otherwise(0) for name in ("skill_calls",)}
    called["skill_failures"] = pl.min_horizontal(called["skill_calls"], "skill_failures")
    tasks = tasks.with_columns(**called)
    found = sf.intervals(**both(tasks, benchmark=benchmark))
    reasons = dict(found.group_by("metric").agg(pl.col("reason").n_unique()).iter_rows())
    assert set(reasons) == set(METRICS)
    few = found.filter(pl.col("reason").is_not_null()).get_column("metric").unique().to_list()
    assert few == ["SFR"]
    others = sf.intervals(tasks, benchmark=benchmark, resamples=200)
    kept = pl.col("metric") != "SFR"
    assert found.filter(kept).equals(others.filter(kept))


@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_a_single_family_and_none_have_no_interval(errors: Errors) -> None:
    tasks = tasks_of().filter(pl.col("uid").str.ends_with(".3"))
    single = sf.intervals(**both(tasks, errors), method="delta")
    options: Any = {"benchmark": SHOP, "method": "delta", "errors": errors}
    assert single.equals(sf.intervals(tasks, **options))
    site = single.filter(slot="cart", metric="AS").row(0, named=True)
    assert site["reason"] == "a single family tells nothing about the next"
    nothing = tasks.with_columns(error=pl.lit("timeout"))
    given_ = both(nothing, errors)
    assert given_["moments"].is_empty() == (errors == "exclude")
    for function in (sf.intervals, sf.cell_intervals):
        assert function(**given_, method="delta").equals(function(nothing, **options))


# They add up


@settings(max_examples=20)
@given(listed=ANY_RECORDS, errors=ERRORS, data=st.data())
def test_moments_of_shards_and_runs_add_up(
    listed: list[Record], errors: Errors, data: st.DataObject
) -> None:
    """Shards are by family; each is tallied and summed by itself, also where it has other numbers of trials."""
    tasks = tasks_from(listed)
    part_of = data.draw(st.lists(st.integers(0, 2), min_size=7, max_size=7))
    key = tasks.select(pl.struct("site", sf.family()).rank("dense") % 7).to_series()
    dealt = key.replace_strict(list(range(7)), part_of)
    shards = [part for n in range(3) if (part := tasks.filter(dealt == n)).height]
    made = [moments(part, tally(part), errors=errors) for part in shards]
    whole = moments(tasks, tally(tasks), errors=errors)
    one, *others = data.draw(st.permutations(made))
    assert sf.merge([one, *others], shards=True).equals(whole)
    for other in others:
        one = sf.merge([other, one], shards=True)
    assert one.equals(whole)
    runs = [moments(part, tally(part), errors=errors) for part in tasks.partition_by("run")]
    assert sf.merge(reversed(runs)).equals(whole)
    counts = sf.merge([tally(part) for part in shards], shards=True)
    options: Any = {"benchmark": BENCHMARK, "errors": errors, "method": "delta"}
    of_parts = sf.intervals(counts, moments=one, **options)
    assert of_parts.equals(sf.intervals(tally(tasks), moments=whole, **options))
    run = tasks.item(0, "run")
    alone = sf.intervals(counts.filter(run=run), moments=whole, **options)
    assert alone.equals(of_parts.filter(run=run))


def test_moments_that_do_not_go_together_are_not_added_up() -> None:
    tasks = tasks_of()
    counts = sf.tally(tasks, benchmark=SHOP)
    made = sf.moments(tasks, counts)
    with pytest.raises(sf.InputError, match='have families of run "asi", site "cart"'):
        sf.merge([made, made])
    assert sf.merge([made, made], shards=True).get_column("value").equals(2 * made["value"])
    other = sf.moments(tasks, counts, errors="zero").with_columns(run=pl.lit("b"))
    with pytest.raises(sf.InputError, match="errors='exclude' and with 'zero' do not add up"):
        sf.merge([made, other])
    with pytest.raises(sf.InputError, match="the frame holds no moments"):
        sf.merge([made, counts])
    large = made.with_columns(value=pl.lit(2**62, pl.Int64))
    with pytest.raises(sf.InputError, match="more than 64 bits hold"):
        sf.merge([large, large], shards=True)


# What they refuse


def steps_of(steps: list[int], trials: int = 1, single: int = 1) -> pl.DataFrame:
    """Give a task for each number, the first ones with one trial, the others with so many."""
    row = {"run": "asi", "site": "forum", "condition": "plain", "success": True, "error": None}
    row |= {"skill_calls": 0, "skill_failures": 0}
    return framed(
        [
            row | {"uid": str(i), "steps": n, "trial": t}
            for i, n in enumerate(steps)
            for t in range(1, 1 + (1 if i < single else trials))
        ]
    )


def test_sums_beyond_64_bits_are_refused_before_they_are_made() -> None:
    fits = steps_of([10**9] * 3)
    made = moments(fits, tally(fits))
    assert as_fractions(made)["asi", "forum", "plain", "AS_top", "plain", "AS_top"] == 3 * 10**18
    large = steps_of([10**9] * 10)
    with pytest.raises(sf.InputError, match=r"exceed 64 bits: .* 1,000,000,000, and AS_top adds"):
        moments(large, tally(large))
    # Of a family's numbers the largest counts three times: it may have as many tasks in a cell.
    fitting = isqrt((2**63 - 1) // 3)
    moments(steps_of([fitting]), tally(steps_of([fitting])))
    with pytest.raises(sf.InputError, match="exceed 64 bits"):
        moments(steps_of([fitting + 1]), tally(steps_of([fitting + 1])))
    # Sums are over all tasks of a cell, however many trials each has.
    mixed = steps_of([250_000_000] * 16, trials=2, single=8)
    with pytest.raises(sf.InputError, match="exceed 64 bits"):
        moments(mixed, tally(mixed))
    # One trial here and 41 there: means are summed over their common multiple.
    scaled = steps_of([10**8] * 3, trials=41)
    with pytest.raises(sf.InputError, match="common multiple of the numbers of trials"):
        moments(scaled, tally(scaled))


def test_a_tally_of_other_records_is_noticed() -> None:
    tasks = tasks_of()
    counts, other = (sf.tally(t, benchmark=SHOP) for t in (tasks, tasks_of(seed=5)))
    with pytest.raises(
        sf.InputError, match=r"not those of the tally's records: .* of run 'asi', cart"
    ):
        sf.moments(tasks, other)
    two = pl.concat([tasks, tasks_of("b")])
    with pytest.raises(sf.InputError, match="also of run 'b', and the tally has none of it"):
        sf.moments(two, counts)
    made = sf.moments(tasks, counts)
    more = sf.tally(two, benchmark=SHOP)
    for tallied in (other, more, sf.merge([counts, counts], shards=True)):
        with pytest.raises(sf.InputError, match="the moments are not those of the tally's records"):
            sf.intervals(tallied, moments=made, benchmark=SHOP)


def test_what_does_not_go_together_is_said() -> None:
    tasks = tasks_of()
    counts = sf.tally(tasks, benchmark=SHOP)
    made = sf.moments(tasks, counts)
    options: Any = {"benchmark": SHOP, "method": "delta"}
    with pytest.raises(sf.InputError, match="errors='exclude', and 'zero' is asked for"):
        sf.intervals(counts, moments=made, errors="zero", **options)
    with pytest.raises(sf.InputError, match="these are tasks, which need none"):
        sf.cell_intervals(tasks, moments=made, **options)
    with pytest.raises(sf.InputError, match="counts hold tasks"):
        sf.moments(tasks, tasks)
    changed = made.cast({"value": pl.Float64})
    with pytest.raises(sf.InputError, match="no moments: value not as in skillshift_frames"):
        sf.intervals(counts, moments=changed, **options)
    with pytest.raises(sf.InputError, match="make it with families=True"):
        sf.intervals(counts, **options)
    with pytest.raises(sf.InputError, match="errors is 'some'"):
        sf.moments(tasks, counts, errors="some")  # type: ignore[arg-type]


def test_a_run_can_be_named_and_columns_ignored_as_for_a_tally() -> None:
    tasks = tasks_of()
    counts = sf.tally(tasks, benchmark=SHOP)
    bare = tasks.drop("run").with_columns(seed=1)
    with pytest.warns(sf.SkillshiftWarning, match="not keys of a record: seed"):
        made = sf.moments(bare, counts, run="asi", extra="ignore")
    assert made.equals(sf.moments(tasks, counts))
    with pytest.raises(sf.RecordError, match="seed: the column of Int"):
        sf.moments(bare, counts, run="asi")


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    given_ = both(tasks_of())
    turned = given_["moments"].select(reversed(sf.MOMENTS.names())).reverse()
    found = sf.intervals(**given_ | {"moments": turned}, method="delta")
    assert found.equals(sf.intervals(**given_, method="delta"))
    assert sf.merge([turned]).equals(given_["moments"])
