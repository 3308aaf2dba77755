"""What an audit finds in printed numbers, and what it must leave alone."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.readers.entries import Entry, Read
from skillshift_frames.readers.entry_rows import parse_typed
from tests.honest import SITES, draw_cells, print_entry, rounded, slot_means, weighted_overall

if TYPE_CHECKING:
    from tests.honest import Cells

PUBLISHED = Path(__file__).parent.parent / "data" / "published.csv"
CONDITIONS = sf.SKILLSHIFT.conditions


def audited(*entries: Entry, **options: object) -> pl.DataFrame:
    """Give the findings that are more than notes."""
    found = sf.audit(Read(list(entries), []), **options)  # type: ignore[arg-type]
    return found.filter(pl.col("severity") != "note")


def changed(entry: Entry, metric: str, slot: str, number: str | None) -> Entry:
    value = None if number is None else Decimal(number)
    return replace(entry, printed={**entry.printed, (metric, slot): value})


@pytest.fixture
def cells() -> Cells:
    return draw_cells(Random(4))  # noqa: S311 - a simulation


@pytest.fixture
def honest(cells: Cells) -> Entry:
    return print_entry(cells, "honest", cells_rounded_first=False)


@pytest.fixture(scope="module")
def published() -> pl.DataFrame:
    return sf.audit(PUBLISHED)


# What the public leaderboard shows


def test_published_entries_keep_the_identity(published: pl.DataFrame) -> None:
    codes = set(published.get_column("code"))
    assert codes == {"impossible-value", "sfr-without-calls", "sfr-unstable"}


def test_20_of_39_single_model_site_rates_are_impossible_even_if_cells_were_rounded() -> None:
    tested = sf.feasibility(PUBLISHED).filter(metric="SR").drop_nulls("exact")
    assert set(tested.get_column("slot")) == set(SITES)
    assert "mixed" not in set(tested.get_column("model"))
    assert (tested.height, (~tested.get_column("rounded")).sum()) == (39, 20)
    # By the same arithmetic in floats: the sketch from which the figure is.
    slow = [
        not any(
            abs(float(row["printed"]) - 100 * t / (6 * SITES[row["slot"]])) <= 0.01 + 1e-9
            for t in range(6 * SITES[row["slot"]] + 1)
        )
        for row in tested.iter_rows(named=True)
    ]
    assert tested.get_column("rounded").to_list() == [not impossible for impossible in slow]


def test_each_impossible_published_value_is_one_warning(published: pl.DataFrame) -> None:
    found = published.filter(code="impossible-value")
    assert found.height == 20
    assert set(found.get_column("metric")) == {"SR"}
    assert set(found.get_column("severity")) == {"warning"}


def test_skillweaver_on_claude_prints_sfr_in_every_slot_without_calls(
    published: pl.DataFrame,
) -> None:
    found = published.filter(code="sfr-without-calls", entry="SkillWeaver / claude-haiku-4.5")
    assert found.get_column("slot").to_list() == list(sf.SKILLSHIFT.slots)
    # 0.00 leaves room below 0.005 calls per task: 4 of 972, 3 of 684, 2 of 474.
    room = dict(found.select("slot", "message").iter_rows())
    for site, calls in {"gitlab": 4, "magento": 3, "wordpress": 2}.items():
        assert calls == int(0.005 * 6 * SITES[site])
        assert f"room for {calls} calls at most" in room[site]


def test_a_frame_and_its_file_give_the_same_findings(published: pl.DataFrame) -> None:
    assert sf.audit(sf.published()).equals(published)


def test_order_of_rows_does_not_matter(published: pl.DataFrame) -> None:
    shuffled = sf.published().sample(fraction=1.0, shuffle=True, seed=3)
    found = sf.audit(shuffled)
    assert found.sort(found.columns).equals(published.sort(published.columns))


def test_words_accuse_nobody(published: pl.DataFrame) -> None:
    said = " ".join(
        published.get_column("message").to_list() + published.get_column("hint").to_list()
    )
    assert "cannot come from one complete run per cell with these counts" in said
    for word in ("fabricat", "fake", "fraud", "manipulat", "cheat", "wrong", "lie", "dishonest"):
        assert word not in said.lower().replace("slie", "")


# Integer counts


def test_wish_31_a_printed_rate_that_fits_125_and_not_124() -> None:
    lab = sf.Benchmark("lab", sites={"bench": 124}, conditions=("plain",))
    entry = parse_typed(["bench 22.4"], lab)
    found = audited(entry, benchmark=lab).row(0, named=True)
    assert found["code"] == "impossible-value"
    assert (found["printed"], found["bound"]) == ("22.4", "21.774 or 22.581")  # 27 and 28 of 124
    assert "125" in found["hint"]
    assert audited(replace(entry, tasks={"bench": 125}), benchmark=lab).is_empty()


def test_trailing_zeros_carry_precision() -> None:
    """28 of 125 is 22.4 exactly; 22.40 rules out what 22.4 leaves open."""
    lab = sf.Benchmark("lab", sites={"bench": 129}, conditions=("plain",))  # 29 of 129 is 22.48
    assert audited(parse_typed(["bench 22.5"], lab), benchmark=lab).is_empty()
    assert audited(parse_typed(["bench 22.50"], lab), benchmark=lab).height == 1


def test_a_value_that_only_rounded_cells_give_is_let_pass() -> None:
    two = sf.Benchmark("two", sites={"cart": 3}, conditions=("a", "b"))
    # Cells of 1 and 2 of 3: exactly 50; of 1 and 1: 33.33; rounded to 33.33 and 66.67 first: 50.00 as well.
    # 0 and 1 of 3: 16.6667 prints 16.67; rounded first (0.00 + 33.33) / 2 = 16.665, which prints 16.67 or 16.66.
    entry = parse_typed(["cart 16.66"], two)
    tested = sf.feasibility(Read([entry], []), benchmark=two)
    assert tested.select("exact", "rounded").row(0) == (False, True)
    assert audited(entry, benchmark=two).is_empty()


def test_conditions_of_sites_with_equal_counts_are_tested_too() -> None:
    twins = sf.Benchmark("twins", sites={"a": 10, "b": 10}, conditions=("x", "y"))
    entry = parse_typed(["x 35.00, y 32.50, overall 33.75"], twins)
    found = audited(entry, benchmark=twins)
    assert found.select("slot", "bound").rows() == [
        ("y", "30.0000 or 35.0000"),  # 20 tasks: steps of 5
        ("overall", "32.5000 or 35.0000"),  # 40 tasks: steps of 2.5
    ]


def test_sites_without_common_factors_tie_conditions_to_nothing(honest: Entry) -> None:
    tested = sf.feasibility(Read([honest], [])).filter(metric="SR")
    undecided = tested.filter(pl.col("exact").is_null())
    assert undecided.get_column("slot").to_list() == [*CONDITIONS, "overall"]
    assert undecided.get_column("reason").unique().to_list() == [
        "at this precision every value is possible"
    ]


def test_several_trials_make_finer_steps(honest: Entry) -> None:
    # 1 of 972 · 3 is 0.0343: impossible with one trial, one success in three.
    entry = Entry("e", "m", "x", {("SR", "gitlab"): Decimal("10.05")}, SITES)
    assert audited(entry).height == 1
    step = Fraction(100, 3 * 6 * 162)
    possible = any(abs(Fraction("10.05") - t * step) <= Fraction("0.01") for t in range(400))
    assert audited(entry, trials=3).is_empty() == possible
    with pytest.raises(sf.InputError, match="trials is 0"):
        sf.audit(Read([honest], []), trials=0)


def test_pooled_models_are_not_tested_unless_trials_are_given() -> None:
    pooled = sf.published().filter(model="mixed", metric="SR")
    reasons = sf.feasibility(pooled).get_column("reason").unique().to_list()
    assert reasons == [
        "pools the runs of several models, and does not say how many trials are behind a cell"
    ]
    assert sf.feasibility(pooled, trials=3).get_column("exact").null_count() < pooled.height * 10


def test_which_counts_would_fit_all_entries() -> None:
    rows = [(f"m{k}", float(rounded(Fraction(100 * k, 125)) or 0)) for k in (28, 49, 77, 101)]
    frame = pl.DataFrame(rows, schema=["method", "bench"], orient="row").with_columns(
        metric=pl.lit("SR")
    )
    lab = sf.Benchmark("lab", sites={"bench": 124}, conditions=("plain",))
    found = sf.common_tasks(sf.feasibility(frame, benchmark=lab), benchmark=lab)
    assert found.rows() == [("bench", 124, 4, 4, [125])]


# Sites, conditions and overall together


@pytest.mark.parametrize("slot", sf.SKILLSHIFT.slots)
def test_one_altered_rate_is_found_and_its_repair_holds_the_true_value(
    honest: Entry, slot: str
) -> None:
    true = honest.printed["SR", slot]
    assert true is not None
    found = audited(changed(honest, "SR", slot, str(true + Decimal("1.03"))))
    assert set(found.get_column("metric")) == {"SR"}
    hints = " ".join(found.get_column("hint"))
    repaired = hints.partition(f"{slot} as ")[2].split(",")[0].split(" removes")[0]
    assert _holds(repaired, true), hints


def _holds(said: str, number: Decimal) -> bool:
    ends = [Decimal(part) for part in said.replace(" to ", " ").replace(" or ", " ").split()]
    return min(ends) <= number <= max(ends)


def test_a_repair_that_cannot_be_told_from_others_names_all(honest: Entry) -> None:
    steps = honest.printed["AS", "src"]
    assert steps is not None
    found = audited(changed(honest, "AS", "src", str(steps + 1)))
    hint = found.get_column("hint").to_list()[-1]
    assert "nothing tells them apart" in hint
    assert all(f"{condition} as " in hint for condition in CONDITIONS)
    assert not any(f"{site} as " in hint for site in SITES)


def test_two_altered_values_have_no_single_repair(honest: Entry) -> None:
    twice = honest
    for site in ("gitlab", "magento"):
        value = honest.printed["SR", site]
        assert value is not None
        twice = changed(twice, "SR", site, str(value + Decimal("0.05")))
    hints = " ".join(audited(twice).get_column("hint"))
    assert "no single slot of SR" in hints


def test_overall_that_rounding_allows_but_the_counts_of_the_sites_do_not() -> None:
    """The identity leaves 0.01; counts behind the sites leave less, once cells were not rounded twice as much."""
    sites = {"a": Fraction(100 * 333, 972), "b": Fraction(100 * 111, 684), "c": Fraction(100, 474)}
    axes = sf.Benchmark("x", sites={"a": 972, "b": 684, "c": 474}, conditions=("all",))
    row = ", ".join(f"{site} {rounded(value)}" for site, value in sites.items())
    exact = sum(sites.values(), Fraction()) / 3
    overall = rounded(exact)
    assert overall is not None
    assert audited(parse_typed([f"{row}, overall {overall}"], axes), benchmark=axes).is_empty()
    printed_mean = sum((Fraction(str(rounded(v))) for v in sites.values()), Fraction()) / 3
    far = max(
        (overall + Decimal(step) / 100 for step in (-2, -1, 1, 2)),
        key=lambda o: (
            abs(Fraction(o) - printed_mean) <= Fraction("0.01"),
            abs(Fraction(o) - exact),
        ),
    )
    if abs(Fraction(far) - printed_mean) <= Fraction("0.01") < abs(Fraction(far) - exact):
        found = audited(parse_typed([f"{row}, overall {far}"], axes), benchmark=axes)
        assert found.get_column("code").to_list() == ["impossible-value"]
        assert found.get_column("slot").to_list() == ["overall"]


# Weights


def test_task_weighted_overall_is_recognised(cells: Cells, honest: Entry) -> None:
    weighted = rounded(weighted_overall(cells, "SR"))
    found = audited(changed(honest, "SR", "overall", str(weighted))).filter(code="task-weighted")
    assert found.select("slot", "printed").rows() == [("overall", str(weighted))]
    assert f"{honest.printed['SR', 'overall']}"[:4] in found.get_column("message").item()


def test_conditions_that_are_means_of_tasks_are_recognised(cells: Cells, honest: Entry) -> None:
    entry = honest
    for condition in CONDITIONS:
        of = [(SITES[site], cells["SR", site, condition]) for site in SITES]
        value = sum((n * (v or Fraction()) for n, v in of), Fraction()) / sum(SITES.values())
        entry = changed(entry, "SR", condition, str(rounded(value)))
    entry = changed(entry, "SR", "overall", str(rounded(weighted_overall(cells, "SR"))))
    found = audited(entry).filter(code="task-weighted")
    assert found.get_column("slot").to_list() == ["overall", "conditions"]


def test_published_35_29_as_30_21_would_be_called_task_weighted() -> None:
    awm = sf.published().filter(method="AWM", model="mixed", metric="SR")
    found = sf.audit(awm.with_columns(overall=30.21))
    assert found.filter(code="task-weighted").get_column("bound").to_list() == ["35.2867"]


# Calls and failures


def test_sfr_where_asc_is_null(honest: Entry) -> None:
    entry = changed(changed(honest, "ASC", "src", None), "SFR", "src", "12.00")
    found = audited(entry).filter(code="sfr-without-calls")
    assert found.select("slot", "printed").rows() == [("src", "12.00")]


def test_sfr_that_is_null_where_asc_is_zero_is_in_order() -> None:
    printed = {("ASC", slot): Decimal("0.00") for slot in sf.SKILLSHIFT.slots}
    entry = Entry("e", "m", "x", printed | {("SFR", s): None for s in sf.SKILLSHIFT.slots}, SITES)
    assert audited(entry).is_empty()


def test_where_no_call_fits_into_a_printed_zero_it_says_so() -> None:
    lab = sf.Benchmark("lab", sites={"bench": 50}, conditions=("plain",))
    entry = parse_typed(["ASC: bench 0.00", "SFR: bench 0.00"], lab)
    found = audited(entry, benchmark=lab)
    assert found.get_column("code").to_list() == ["sfr-without-calls"]
    assert "room for not even one call" in found.get_column("message").item()


def test_failure_rate_that_no_failures_of_so_few_calls_give() -> None:
    lab = sf.Benchmark("lab", sites={"bench": 50}, conditions=("plain",))
    # 0.14 calls per task are 7 calls; 3 of 7 failed is 42.86.
    good, bad = (
        parse_typed(["ASC: bench 0.14", f"SFR: bench {sfr}"], lab) for sfr in ("42.86", "42.00")
    )
    assert audited(good, benchmark=lab).is_empty()
    found = audited(bad, benchmark=lab)
    assert found.select("code", "metric", "printed", "bound").rows() == [
        ("impossible-value", "SFR", "42.00", "7 to 7 calls")
    ]


def test_failure_rate_over_several_cells_with_few_calls() -> None:
    # ASC 0.01 of 474 tasks leaves room for 9 calls, however it was rounded. 3.33 is 1 of 5 in one of six cells, which takes
    # 10 calls with one in each of the others…
    entry = Entry(
        "e",
        "m",
        "x",
        {("ASC", "wordpress"): Decimal("0.01"), ("SFR", "wordpress"): Decimal("3.33")},
        SITES,
    )
    found = audited(entry)
    assert found.select("code", "metric").rows() == [("impossible-value", "SFR")]
    # … and 4.17 is 1 of 4, which takes 9.
    assert audited(changed(entry, "SFR", "wordpress", "4.17")).is_empty()


# What can be audited


def test_nothing_found_is_an_empty_frame_of_findings(honest: Entry) -> None:
    found = sf.audit(Read([replace(honest, skill_calls=10_000)], []))
    assert found.is_empty()
    assert found.schema == sf.FINDINGS


def test_what_is_undefined_is_left_alone(honest: Entry) -> None:
    entry = honest
    for metric, slot in honest.printed:
        if slot in {"wordpress", "overall", *CONDITIONS}:
            entry = changed(entry, metric, slot, None)
    assert audited(entry).is_empty()


def test_unreadable_file_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "entry.json"
    file.write_text('{"schema_version": "1.0", "metrics": {"SR"')
    found = sf.audit(file)
    assert found.select("code", "severity").rows() == [("schema", "error")]
    assert "line 1, column" in found.get_column("message").item()


def test_only_numbers_are_judged_in_an_entry_file(tmp_path: Path, honest: Entry) -> None:
    block: dict[str, dict[str, object]] = {
        metric: {
            "websites": {s: _number(honest, metric, s) for s in SITES},
            "conditions": {c: _number(honest, metric, c) for c in CONDITIONS},
            "overall": _number(honest, metric, "overall"),
        }
        for metric in ("SR", "AS", "ASC", "SFR")
    }
    file = tmp_path / "entry.json"
    file.write_text(json.dumps({"metrics": block, "notes": 7}))
    assert sf.audit(file).filter(pl.col("severity") != "note").is_empty()
    block["SR"]["overall"] = "35"
    file.write_text(json.dumps({"metrics": block}))
    found = sf.audit(file).filter(code="schema")
    assert found.select("metric", "slot", "printed").rows() == [("SR", "overall", '"35"')]


def _number(entry: Entry, metric: str, slot: str) -> float | None:
    value = entry.printed[metric, slot]
    return None if value is None else float(value)


@pytest.mark.parametrize("axes", ["infer", "nowhere.toml"])
def test_the_benchmark_must_be_known(axes: str) -> None:
    with pytest.raises((sf.InputError, sf.BenchmarkError)):
        sf.audit(PUBLISHED, benchmark=axes)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"gitlab": [1.0]}), "needs a column metric"),
        (pl.DataFrame({"metric": ["SR"]}), "needs a column metric and some of the slots"),
        (pl.DataFrame({"metric": ["SR", "SR"], "src": [1.0, 2.0]}), "twice"),
        (pl.DataFrame({"metric": ["Sr"], "src": [1.0]}), '"Sr" is no metric'),
        (pl.DataFrame({"metric": ["SR"], "src": [float("nan")]}), "nan"),
    ],
)
def test_frame_of_another_shape_is_refused(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(sf.InputError, match=message):
        sf.audit(frame)


# What a second pair of eyes found


def test_a_number_with_many_more_digits_does_not_make_the_audit_hang() -> None:
    entry = parse_typed(
        ["GitLab 23.05, Magento 32.31, WordPress 58.44, O/A 37.1234567"], sf.SKILLSHIFT
    )
    assert "identity" in audited(entry).get_column("code").to_list()


def test_an_unrounded_overall_among_rounded_numbers_is_in_order(
    cells: Cells, honest: Entry
) -> None:
    exact = slot_means(cells, "SR")["overall"]
    assert exact is not None
    entry = changed(honest, "SR", "overall", repr(float(exact)))
    assert audited(entry).is_empty()


def test_the_packages_own_unrounded_table_is_in_order() -> None:
    runs = [PUBLISHED.parent / "demo" / f"{name}.jsonl" for name in ("induced", "reference")]
    found = sf.audit(sf.table(sf.cells(sf.read_tasks(runs))))
    assert found.filter(pl.col("severity") != "note").is_empty()
    assert set(found.get_column("entry")) <= {"induced", "reference"}


def test_overall_of_cells_that_were_rounded_first_may_have_more_digits(cells: Cells) -> None:
    entry = print_entry(cells, "rounded", cells_rounded_first=True)
    cut = {key: rounded(value) for key, value in cells.items() if key[0] == "SR"}
    mean = sum((Fraction(str(value)) for value in cut.values()), Fraction()) / len(cut)
    assert audited(changed(entry, "SR", "overall", f"{float(mean):.5f}")).is_empty()


def test_a_partial_run_that_says_so_is_not_tested(tmp_path: Path) -> None:
    records = [
        line
        for line in (PUBLISHED.parent / "demo" / "induced.jsonl")
        .read_text()
        .splitlines(keepends=True)
        if '"site": "gitlab", "condition": "tgt-exec"' not in line
    ]
    (tmp_path / "run.jsonl").write_text("".join(records))
    tasks = sf.read_tasks(tmp_path / "run.jsonl")
    one_less = tasks.filter(pl.col("uid") != "skillshift.magento.v1.602")
    for part in (tasks, tasks.filter(pl.col("site") == "magento"), one_less):
        built = sf.build_entry(
            part, name="n", method="m", model="x", date="2026-11-30", partial=True
        )
        path, _ = sf.write_entry(built, tmp_path / "entry.json", force=True)
        assert sf.audit(path).filter(pl.col("severity") != "note").is_empty()
        reasons = sf.feasibility(path).get_column("reason").unique().to_list()
        assert reasons == ["states a partial run, whose cells have unequal numbers of tasks"]


def test_a_frame_of_entries_knows_which_are_partial(tmp_path: Path) -> None:
    tasks = sf.read_tasks(PUBLISHED.parent / "demo" / "workflow.jsonl")
    built = sf.build_entry(tasks, name="n", method="m", model="x", date="2026-11-30", partial=True)
    path, _ = sf.write_entry(built, tmp_path / "entry.json")
    frame = sf.read_entries(path)
    assert audited_frame(frame).equals(audited_frame(path))
    with pytest.raises(sf.InputError, match="other numbers of tasks"):
        sf.paired_bounds(sf.published().filter(method="MPCR"), frame)


def audited_frame(source: Path | pl.DataFrame) -> pl.DataFrame:
    return sf.audit(source).filter(pl.col("severity") != "note")


def test_second_row_of_an_entry_is_not_dropped_without_a_word(tmp_path: Path) -> None:
    file = tmp_path / "twice.csv"
    file.write_text("method,metric,gitlab\nA,SR,17.70\nA,SR,23.00\n")
    found = sf.audit(file)
    assert found.select("code", "severity").rows() == [("schema", "error")]
    assert "a second row of SR" in found.get_column("message").item()


def test_sites_with_many_different_prime_counts() -> None:
    """Their common multiple is beyond 64 bits, and says that everything is possible."""
    primes = [101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167]
    axes = sf.Benchmark("primes", sites={f"s{n}": n for n in primes}, conditions=("x",))
    frame = pl.DataFrame({"metric": ["SR"], "x": [50.0], "s101": [50.5]})
    tested = sf.feasibility(frame, benchmark=axes)
    assert tested.select("slot", "trials", "exact").rows() == [
        ("s101", 101, True),
        ("x", None, None),
    ]


def test_a_printed_zero_that_leaves_room_for_calls_is_no_finding() -> None:
    large = sf.Benchmark("large", sites={"a": 3000}, conditions=("x",))
    entry = parse_typed(["ASC: a 0.00", "SFR: a 50.00"], large)  # up to 15 calls
    assert audited(entry, benchmark=large).is_empty()
    stated = replace(entry, skill_calls=0)
    found = audited(stated, benchmark=large)
    assert found.select("code", "slot").rows() == [("sfr-without-calls", "a")]


def test_one_printed_slot_is_repaired_by_the_values_next_to_it() -> None:
    hint = audited(parse_typed(["Magento 32.26"], sf.SKILLSHIFT)).get_column("hint").item()
    assert "changed alone, magento as 32.16 or 32.31 removes every contradiction" in hint


def test_sites_and_conditions_that_no_cells_can_have() -> None:
    """A site at 0 has nothing but zeros, so no condition is above the mean of the others."""
    row = "GitLab 0.00, Magento 50.00, WordPress 100.00, O/A 50.00, Src 100.00, " + ", ".join(
        f"{condition} 40.00" for condition in CONDITIONS[1:]
    )
    found = audited(parse_typed([row], sf.SKILLSHIFT))
    assert found.select("code", "slot").rows() == [("impossible-value", "conditions")]


def test_what_is_out_of_range_is_said_to_be_that_and_no_more() -> None:
    found = audited(parse_typed(["Magento 132.26"], sf.SKILLSHIFT))
    assert found.get_column("code").to_list() == ["range"]
    tested = sf.feasibility(Read([parse_typed(["Magento 132.26"], sf.SKILLSHIFT)], []))
    assert tested.is_empty()


def test_the_value_next_to_the_largest_is_one() -> None:
    lab = sf.Benchmark("lab", sites={"bench": 7}, conditions=("plain",))
    found = audited(parse_typed(["bench 99.00"], lab), benchmark=lab)
    assert found.get_column("bound").item() == "85.7143 or 100.0000"


def test_the_honest_entries_of_these_tests_keep_the_identity(cells: Cells) -> None:
    for metric in ("SR", "AS", "ASC"):
        means = slot_means(cells, metric)
        known = [means[site] for site in SITES]
        assert sum((v for v in known if v is not None), Fraction()) / 3 == means["overall"]
