"""Charts: their rows are the frames' numbers, in the frames' order, and what is undefined is drawn as no number."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import skillshift_frames as sf
from skillshift_frames.render.charts import flips
from skillshift_frames.render.charts.parts import apart, round_ticks, shown
from skillshift_frames.render.numbers import format_number, format_signed
from tests.render.charting import (
    SHOP,
    all_charts,
    labels,
    parse,
    records,
    rows_of,
    shop_tasks,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DEMO = [f"data/demo/{run}.jsonl" for run in ("induced", "reference", "workflow")]


@pytest.fixture(scope="module")
def demo() -> pl.DataFrame:
    return sf.read_tasks(DEMO)


@pytest.fixture(scope="module")
def shop() -> pl.DataFrame:
    return shop_tasks()


@pytest.mark.parametrize("metric", ["SR", "AS", "ASC", "SFR"])
def test_heatmap_has_every_cell_with_the_digits_of_the_table(
    demo: pl.DataFrame, metric: str
) -> None:
    cells = sf.cells(demo)
    rows = rows_of(sf.heatmap_chart(cells, metric))
    # The drawing goes row by row, which are conditions; a sort by the benchmark's order of both gives the cells' own.
    titles = sf.SKILLSHIFT.title
    drawn = {(row["run"], row["column"], row["row"]): row for row in rows}
    assert len(drawn) == len(rows) == cells.height
    for cell in cells.iter_rows(named=True):
        row = drawn[cell["run"], titles(cell["site"]), titles(cell["condition"])]
        assert row["value"] == cell[metric]
        if cell[metric] is not None:
            assert row["text"] == format_number(cell[metric])


def test_heatmap_marks_are_those_of_the_table(shop: pl.DataFrame) -> None:
    drawn = {
        (row["run"], row["column"], row["row"]): row
        for row in rows_of(sf.heatmap_chart(sf.cells(shop, benchmark=SHOP), benchmark=SHOP))
    }
    assert drawn["asi", "search", "plain"]["note"] == "3/4"
    assert (
        drawn["asi", "search", "shifted"] | {"text": "–", "note": "0/4", "value": None}
        == (drawn["asi", "search", "shifted"])
    )
    assert drawn["asi", "Cart", "shifted"]["text"] == "0.00"
    assert {row["note"] for (run, *_), row in drawn.items() if run == "base"} == {""}


def test_heatmap_warns_of_few_calls_and_only_of_those(shop: pl.DataFrame) -> None:
    chart = sf.heatmap_chart(sf.cells(shop, benchmark=SHOP), "SFR", benchmark=SHOP)
    signs = {(row["run"], row["column"], row["row"]): row["sign"] for row in rows_of(chart)}
    assert signs["asi", "search", "plain"] == "⚠"  # 4 calls
    assert signs["asi", "Cart", "plain"] == ""  # 43 calls
    assert [label for label in labels(chart) if "⚠" in label] == ["plain, search: SFR 25.00 ⚠ 3/4"]


def test_heatmap_of_slots_is_the_table(demo: pl.DataFrame) -> None:
    slots = sf.slots(sf.cells(demo))
    rows = rows_of(sf.heatmap_chart(slots, "SFR"))
    wanted = slots.filter(metric="SFR")
    assert len(rows) == wanted.height
    titles = {slot: sf.SKILLSHIFT.title(slot) for slot in sf.SKILLSHIFT.slots}
    drawn = {(row["run"], row["row"]): (row["value"], bool(row["sign"])) for row in rows}
    assert drawn == {
        (slot["run"], titles[slot["slot"]]): (slot["value"], "unstable" in slot["marks"])
        for slot in wanted.iter_rows(named=True)
    }
    assert {row["text"] for row in rows if row["run"] == "workflow"} == {"--"}
    assert {row["text"] for row in rows if row["run"] == "reference"} == {"–"}


def test_undefined_cells_have_no_colour_and_no_zero(shop: pl.DataFrame) -> None:
    chart = sf.heatmap_chart(sf.cells(shop, benchmark=SHOP), "SFR", "base", benchmark=SHOP)
    said = texts(chart)
    assert said.count("–") == 4
    assert [text for text in said if "0" in text] == []
    drawing = sf.chart_text(chart, "svg")
    cells = re.findall(r'aria-roledescription="rect mark" ([^>]*)', drawing)
    assert len(cells) == 4
    assert all('fill="#ffffff"' in cell and "stroke-dasharray" in cell for cell in cells)


def test_only_the_run_that_is_asked_for(shop: pl.DataFrame) -> None:
    cells = sf.cells(shop, benchmark=SHOP)
    assert {row["run"] for row in rows_of(sf.heatmap_chart(cells, run="asi", benchmark=SHOP))} == {
        "asi"
    }
    with pytest.raises(sf.InputError, match="there is no run 'nobody'; there are asi, base"):
        sf.heatmap_chart(cells, run="nobody", benchmark=SHOP)


def test_slope_breaks_where_a_condition_is_undefined(shop: pl.DataFrame) -> None:
    chart = sf.slope_chart(sf.slots(sf.cells(shop, benchmark=SHOP), benchmark=SHOP), benchmark=SHOP)
    rows = {(row["run"], row["condition"]): row for row in rows_of(chart)}
    assert rows["asi", "shifted"]["value"] is None  # search × shifted has no record
    assert rows["asi", "shifted"]["text"] == "–"
    assert rows["asi", "plain"]["text"] == format_number(100 * (3 / 4 + 2 / 3) / 2)
    assert [text for text in texts(chart) if text in {"asi", "base", "–"}] == ["–", "asi", "base"]
    # A line through one point only is no line: a move, and nothing drawn from there.
    lines = re.findall(r'class="mark-line.*?<path [^>]*d="([^"]*)"', sf.chart_text(chart, "svg"))
    assert sum("L" in line for line in lines) == 1


def test_slope_marks_what_the_table_marks(demo: pl.DataFrame) -> None:
    slots = sf.slots(sf.cells(demo), null="available")
    chart = sf.slope_chart(slots, "SFR")
    signs = {row["condition"]: row["sign"] for row in rows_of(chart) if row["run"] == "induced"}
    assert signs == {
        "Src": "",
        "Src-Perc": "",
        "Src-Exec": "⚠",
        "Tgt": "⚠",
        "Tgt-Perc": "⚠",
        "Tgt-Exec": "⚠*",
    }
    drawing = sf.chart_text(chart, "svg")
    assert len(re.findall(r'aria-roledescription="point"[^>]* fill="#ffffff"', drawing)) == 4
    assert "induced, Tgt-Exec: SFR 60.26 ⚠*" in labels(chart)


def test_runs_of_a_slope_differ_without_colour(demo: pl.DataFrame) -> None:
    spec = sf.slope_chart(sf.slots(sf.cells(demo))).to_dict()
    ranges = {
        channel: layer["encoding"][channel]["scale"]["range"]
        for layer in spec["layer"]
        for channel in ("strokeDash", "shape")
        if channel in layer["encoding"]
    }
    for found in ranges.values():
        assert len({json.dumps(one) for one in found}) == 3
    assert set(ranges) == {"strokeDash", "shape"}


def test_lifts_are_those_of_the_comparison(demo: pl.DataFrame) -> None:
    found = sf.compare(demo, base="reference", treatment="induced", resamples=500)
    chart = sf.lift_chart(found)
    of_metric = found.lifts.filter(metric="SR")
    rows = rows_of(chart)
    for name in ("lift", "low", "high"):
        assert [row[name] for row in rows] == of_metric.get_column(name).to_list()
    said = texts(chart)
    for row, lift in zip(rows, of_metric.iter_rows(named=True), strict=True):
        assert row["text"] in said
        assert row["text"].startswith(format_signed(lift["lift"]))
    assert rows[-1]["verdict"] == found.decision.verdict
    frames = rows_of(sf.lift_chart(of_metric))
    assert frames == rows
    marks = re.findall(
        r'aria-roledescription="point"[^>]* fill="([^"]*)"', sf.chart_text(chart, "svg")
    )
    assert len(marks) == of_metric.height
    assert "#ffffff" not in marks  # hollow is what has no interval


@pytest.mark.parametrize("metric", ["SR", "AS", "ASC", "SFR"])
def test_verdict_of_overall_is_the_decision(demo: pl.DataFrame, metric: str) -> None:
    found = sf.compare(demo, base="reference", treatment="induced", metrics=[metric], resamples=500)
    judged = sf.verdicts(found.lifts, level=found.level)
    assert judged.filter(slot="overall").item(0, "verdict") == found.decision.verdict
    assert judged.drop("verdict").equals(found.lifts)


@pytest.mark.parametrize(
    ("metric", "below_zero"),
    [("SR", "harms"), ("AS", "helps"), ("SFR", "helps"), ("ASC", "undetermined")],
)
def test_verdicts_know_which_way_is_better(
    demo: pl.DataFrame, metric: str, below_zero: str
) -> None:
    found = sf.compare(demo, base="reference", treatment="induced", metrics=[metric], resamples=200)
    fallen = found.lifts.with_columns(
        pl.lit(value).alias(name) for name, value in (("lift", -2.0), ("low", -3.0), ("high", -1.0))
    )
    verdicts = sf.verdicts(fallen).get_column("verdict")
    assert set(verdicts) == {below_zero}


def test_verdicts_know_the_margin(demo: pl.DataFrame) -> None:
    found = sf.compare(
        demo, base="reference", treatment="reference", metrics=["SR"], margin=5, resamples=500
    )
    assert set(sf.verdicts(found.lifts, margin=5).get_column("verdict")) == {"undetermined"}
    found = sf.compare(
        demo, base="reference", treatment="workflow", metrics=["SR"], margin=20, resamples=500
    )
    judged = sf.verdicts(found.lifts, margin=20).get_column("verdict")
    assert judged[-1] == found.decision.verdict
    assert "equivalent" in judged.to_list()


def test_lift_without_an_interval_has_a_hollow_mark_and_a_reason(shop: pl.DataFrame) -> None:
    found = sf.compare(shop, base="base", treatment="base", benchmark=SHOP, resamples=200)
    chart = sf.lift_chart(found, benchmark=SHOP)
    rows = rows_of(chart)
    assert [row["low"] for row in rows] == [None] * 5
    assert all(row["reason"] and row["below"] == row["reason"] for row in rows)
    drawing = sf.chart_text(chart, "svg")
    assert len(re.findall(r'aria-roledescription="point"[^>]* fill="#ffffff"', drawing)) == 5
    assert len(re.findall(r"<line ", drawing.partition("mark-rule role-mark")[2])) == 1  # zero


def test_slots_without_pairs_have_no_mark(shop: pl.DataFrame) -> None:
    found = sf.compare(shop, base="base", treatment="asi", benchmark=SHOP, resamples=200)
    nothing = found.lifts.with_columns(
        pl.lit(None, pl.Float64).alias(name)
        for name in ("base", "treatment", "lift", "low", "high")
    ).with_columns(reason=pl.lit("no pairs"), tasks=pl.lit(0, pl.Int64))
    chart = sf.lift_chart(nothing, benchmark=SHOP)
    assert re.findall(r'aria-roledescription="point"', sf.chart_text(chart, "svg")) == []
    assert texts(chart).count("no pairs") == 5
    assert texts(chart).count("–") == 5


def test_pairs_are_what_compare_counts(demo: pl.DataFrame) -> None:
    pairs = sf.pairs(demo, base="reference", treatment="workflow")
    outcomes = sf.compare(demo, base="reference", treatment="workflow", resamples=200).outcomes
    counted = dict(pairs.group_by("outcome").len().iter_rows())
    assert counted == {
        name: getattr(outcomes, name) for name in ("both", "treatment_only", "base_only", "neither")
    }
    assert pairs.schema == sf.PAIRS
    assert pairs.equals(sf.pairs(demo.reverse(), base="reference", treatment="workflow"))


def test_pairs_count_errors_as_asked(demo: pl.DataFrame) -> None:
    without = sf.pairs(demo, base="reference", treatment="workflow")
    failed = sf.pairs(demo, base="reference", treatment="workflow", errors="zero")
    assert failed.height - without.height == 4


def test_pairs_are_of_records() -> None:
    tally = sf.tally(sf.read_tasks(DEMO[:2]), families=True)
    with pytest.raises(sf.InputError, match="no tally"):
        sf.pairs(tally, base="reference", treatment="induced")


def test_flips_have_a_mark_per_pair(shop: pl.DataFrame) -> None:
    pairs = sf.pairs(shop, base="base", treatment="asi")
    chart = sf.flip_chart(pairs, benchmark=SHOP)
    rows = rows_of(chart)
    words = {"both": "both", "treatment_only": "only asi", "base_only": "only base"}
    wanted = sorted(
        (
            SHOP.title(pair["site"]),
            pair["condition"],
            pair["uid"],
            words.get(pair["outcome"], "neither"),
        )
        for pair in pairs.iter_rows(named=True)
    )
    assert sorted((r["column"], r["row"], r["text"], r["outcome"]) for r in rows) == wanted
    assert len({(row["column"], row["row"], row["i"], row["j"]) for row in rows}) == len(rows)
    said = texts(chart)
    assert "+2 −0" in said  # cart × plain
    assert "no pairs" in said  # search × shifted
    marks = re.findall(r'aria-roledescription="point"', sf.chart_text(chart, "svg"))
    assert len(marks) == pairs.height


def test_many_pairs_are_counted(demo: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = sf.pairs(demo, base="reference", treatment="induced")
    monkeypatch.setattr(flips, "MOST_DRAWN", pairs.height - 1)
    chart = sf.flip_chart(pairs)
    assert sum(row["pairs"] for row in rows_of(chart)) == pairs.height
    assert len(rows_of(chart)) == 18 * 4
    both = pairs.filter(site="gitlab", condition="src", outcome="both").height
    assert f"Src, GitLab: both {both}" in labels(chart)


def test_sfr_intervals_are_those_that_were_given(demo: pl.DataFrame) -> None:
    from scipy.stats import binomtest

    cells = sf.cells(demo)
    ends = sf.cell_intervals(demo, resamples=200).filter(metric="SFR")
    rows = {(row["run"], row["cell"]): row for row in rows_of(sf.sfr_chart(cells, ends))}
    assert len(rows) == cells.height
    for end in ends.iter_rows(named=True):
        where = f"{sf.SKILLSHIFT.title(end['site'])} × {sf.SKILLSHIFT.title(end['condition'])}"
        row = rows[end["run"], where]
        assert (row["value"], row["low"], row["high"]) == (end["estimate"], end["low"], end["high"])
    exact = [end for end in ends.iter_rows(named=True) if end["method"] == "exact"]
    assert len(exact) > 5
    for end in exact:
        where = f"{sf.SKILLSHIFT.title(end['site'])} × {sf.SKILLSHIFT.title(end['condition'])}"
        row = rows[end["run"], where]
        failures = round(row["value"] * row["calls"] / 100)
        low, high = binomtest(failures, row["calls"]).proportion_ci(method="exact")
        if 0 < failures < row["calls"]:  # else families are fewer than calls, and say less
            assert (row["low"], row["high"]) == pytest.approx((100 * low, 100 * high))
    assert all(row["low"] is None for row in rows_of(sf.sfr_chart(cells)))


def test_sfr_without_calls_is_counted_not_drawn(shop: pl.DataFrame) -> None:
    chart = sf.sfr_chart(sf.cells(shop, benchmark=SHOP), benchmark=SHOP)
    said = "|".join(texts(chart))
    assert "– no call in 1 cell, nothing scored in 1 cell: asi" in said
    assert "– no call in 4 cells: base" in said
    assert "|30 calls" in said
    assert len(re.findall(r'aria-roledescription="point"', sf.chart_text(chart, "svg"))) == 2


def test_sfr_of_nothing_is_a_drawing_of_some_size_that_says_so() -> None:
    outcomes = {"base": {(site, "plain"): [(True, 0, 0)] for site in SHOP.sites}}
    cells = sf.cells(shop_tasks(records(outcomes)), benchmark=SHOP)
    drawing = parse(sf.chart_text(sf.sfr_chart(cells, benchmark=SHOP), "svg"))
    assert max(float(drawing.attrib[side].removesuffix("pt")) for side in ("width", "height")) < 500
    said = "".join(drawing.itertext())
    assert "no call in 2 cells, nothing scored in 2 cells: base" in said
    assert "30 calls" in said


@pytest.mark.parametrize("start", ["a library of skills, run ", "W" * 12, "i" * 40])
def test_labels_that_differ_also_differ_where_they_are_cut(start: str) -> None:
    outcomes = {f"{start}{end}": {("cart", "plain"): [(True, 3, 1)]} for end in "123"}
    slots = sf.slots(sf.cells(shop_tasks(records(outcomes)), benchmark=SHOP), benchmark=SHOP)
    said = [text for text in texts(sf.slope_chart(slots, benchmark=SHOP)) if text.endswith("…")]
    assert len(said) == len(set(said)) == 3


def test_sfr_names_every_run_that_it_draws() -> None:
    labels = [f"run {number:02}" for number in range(35)]
    outcomes = {label: {("cart", "plain"): [(True, 3, 1)]} for label in labels}
    cells = sf.cells(shop_tasks(records(outcomes)), benchmark=SHOP)
    said = texts(sf.sfr_chart(cells, benchmark=SHOP))
    assert [label for label in labels if label not in said] == []


def test_cells_with_equally_many_calls_stand_side_by_side(demo: pl.DataFrame) -> None:
    rows = [row for row in rows_of(sf.sfr_chart(sf.cells(demo))) if row["value"] is not None]
    places = [(row["x"], row["value"]) for row in rows]
    assert len(set(places)) == len(places)
    assert all(abs(row["x"] / row["calls"] - 1) < 0.2 for row in rows)


def trials(**columns: list[Any]) -> pl.DataFrame:
    size = len(columns["uid"])
    frame = pl.DataFrame({"trial": [1] * size, "status": ["scored"] * size, **columns})
    return pl.concat([sf.TRIALS.to_frame(), frame], how="diagonal_relaxed")


def test_costs_are_those_of_the_frame() -> None:
    found = trials(
        arm=["with", "with", "without", "without", "third"],
        uid=["a", "b", "a", "b", "a"],
        success=[True, False, False, False, True],
        cost=[0.25, 0.5, 0.125, None, None],
    )
    costs = sf.costs(found)
    chart = sf.cost_chart(costs)
    rows = {row["arm"]: row for row in rows_of(chart)}
    assert rows == {row["arm"]: row for row in rows_of(sf.cost_chart(found))}
    of_money = costs.filter(quantity="cost")
    assert {arm: row["mean"] for arm, row in rows.items()} == dict(
        of_money.select("arm", "mean").iter_rows()
    )
    assert {arm: row["success"] for arm, row in rows.items()} == {
        "with": 50.0,
        "without": 0.0,
        "third": 100.0,
    }
    assert rows["third"]["text"] == "unknown"
    assert rows["third"]["x"] < 0
    assert rows["without"]["label"] == "without 0/2, 1/2 known"
    assert {"unknown", "third 1/1", "with 1/2"} <= set(texts(chart))


def test_a_run_of_unknown_cost_stays_in_sight() -> None:
    found = trials(
        run=["a", "b"], uid=["x", "x"], success=[True, True], cost=[0.5, None], arm=[None, None]
    ).with_columns(pl.col("arm").cast(pl.String))
    rows = rows_of(sf.cost_chart(found))
    assert [(row["arm"], row["text"]) for row in rows] == [("a", "0.5000 USD"), ("b", "unknown")]


def test_costs_without_a_success_have_no_height() -> None:
    found = trials(arm=["with"], uid=["a"], seconds=[3.0])
    chart = sf.cost_chart(found)
    (row,) = rows_of(chart)
    assert (row["success"], row["tasks"]) == (None, "–")
    assert row["y"] < 0


def test_cost_of_nothing_known_says_so() -> None:
    assert texts(sf.cost_chart(trials(arm=["with"], uid=["a"]))) == ["No trial says what it cost."]
    with pytest.raises(sf.InputError, match="no trial says its tokens; known are seconds"):
        sf.cost_chart(trials(arm=["with"], uid=["a"], seconds=[3.0]), "tokens")


def test_row_order_changes_nothing() -> None:
    rows = list(records())
    charts, reversed_ = (all_charts(shop_tasks(order), "base") for order in (rows, rows[::-1]))
    for name, chart in charts.items():
        assert sf.chart_text(chart, "json") == sf.chart_text(reversed_[name], "json"), name


def _shuffled(make: Callable[[pl.DataFrame], Any], frame: pl.DataFrame) -> bool:
    mixed = frame.sample(fraction=1, shuffle=True, seed=3)
    return sf.chart_text(make(frame), "json") == sf.chart_text(make(mixed), "json")


def test_order_of_the_frames_changes_nothing(shop: pl.DataFrame) -> None:
    cells = sf.cells(shop, benchmark=SHOP)
    slots = sf.slots(cells, benchmark=SHOP)
    found = sf.compare(shop, base="base", treatment="asi", benchmark=SHOP, resamples=200)
    assert _shuffled(lambda frame: sf.heatmap_chart(frame, benchmark=SHOP), cells)
    assert _shuffled(lambda frame: sf.heatmap_chart(frame, benchmark=SHOP), slots)
    assert _shuffled(lambda frame: sf.slope_chart(frame, benchmark=SHOP), slots)
    assert _shuffled(lambda frame: sf.sfr_chart(frame, benchmark=SHOP), cells)
    of_metric = found.lifts.filter(metric="SR")
    assert _shuffled(lambda frame: sf.lift_chart(frame, benchmark=SHOP), of_metric)
    pairs = sf.pairs(shop, base="base", treatment="asi")
    assert _shuffled(lambda frame: sf.flip_chart(frame, benchmark=SHOP), pairs)


def test_order_is_the_benchmarks(demo: pl.DataFrame) -> None:
    rows = rows_of(sf.slope_chart(sf.slots(sf.cells(demo))))
    assert list(dict.fromkeys(row["run"] for row in rows)) == ["induced", "reference", "workflow"]
    titles = list(map(sf.SKILLSHIFT.title, sf.SKILLSHIFT.conditions))
    assert list(dict.fromkeys(row["condition"] for row in rows)) == titles
    for name, chart in all_charts(shop_tasks(), "base").items():
        spec = json.dumps(chart.to_dict())
        assert '"sort": "' not in spec, name  # nothing is left to be sorted by the drawing


def test_empty_frames_say_so(shop: pl.DataFrame) -> None:
    cells = sf.cells(shop, benchmark=SHOP)
    slots = sf.slots(cells, benchmark=SHOP)
    found = sf.compare(shop, base="base", treatment="asi", benchmark=SHOP, resamples=200)
    pairs = sf.pairs(shop, base="base", treatment="asi")
    charts = [
        sf.heatmap_chart(cells.clear(), benchmark=SHOP),
        sf.heatmap_chart(slots.clear(), benchmark=SHOP),
        sf.slope_chart(slots.clear(), benchmark=SHOP),
        sf.lift_chart(found.lifts.clear(), benchmark=SHOP),
        sf.lift_chart([], benchmark=SHOP),
        sf.flip_chart(pairs.clear(), benchmark=SHOP),
        sf.sfr_chart(cells.clear(), benchmark=SHOP),
        sf.cost_chart(sf.TRIALS.to_frame()),
    ]
    for chart in charts:
        (said,) = texts(chart)
        assert re.match(r"There are no|No trial", said)


def test_one_cell_and_all_null_can_be_drawn() -> None:
    one = sf.Benchmark("one", sites={"s": 1}, conditions=("c",))
    row = next(records()) | {"site": "s", "condition": "c", "uid": "a", "run": "r"}
    errored = row | {"success": None, "error": "timeout"}
    cells = sf.CELLS.to_frame()
    for record in (row, errored):
        tasks = sf.from_frame(
            pl.DataFrame([record], schema_overrides={"success": pl.Boolean}), benchmark=one
        )
        cells = sf.cells(tasks, benchmark=one)
        other = tasks.with_columns(run=pl.lit("q"))
        for chart in all_charts(pl.concat([tasks, other]), "q", one).values():
            assert sf.chart_text(chart, "svg").startswith("<svg ")
    assert {"–", "0/1"} <= set(texts(sf.heatmap_chart(cells, benchmark=one)))


def test_wrong_frames_are_named(shop: pl.DataFrame) -> None:
    cells = sf.cells(shop, benchmark=SHOP)
    with pytest.raises(sf.InputError, match=r"no column 'site'.*skillshift_frames\.cells"):
        sf.heatmap_chart(cells.drop("site"), benchmark=SHOP)
    with pytest.raises(sf.InputError, match="a Polars frame is needed, and slots"):
        sf.slope_chart("runs.jsonl")  # type: ignore[arg-type]
    with pytest.raises(sf.InputError, match="metric"):
        sf.slope_chart(sf.slots(cells, benchmark=SHOP), "speed", benchmark=SHOP)
    with pytest.raises(sf.BenchmarkError, match="has no site 'cart'"):
        sf.heatmap_chart(cells)
    with pytest.raises(sf.BenchmarkError, match="has no slot 'cart'"):
        sf.slope_chart(sf.slots(cells, benchmark=SHOP))
    with pytest.raises(sf.InputError, match="cannot be inferred"):
        sf.slope_chart(sf.slots(cells, benchmark=SHOP), benchmark="infer")
    with pytest.raises(sf.InputError, match="lifts is 'x'"):
        sf.lift_chart("x")  # type: ignore[arg-type]


def test_charts_can_be_layered(shop: pl.DataFrame) -> None:
    import altair as alt

    slots = sf.slots(sf.cells(shop, benchmark=SHOP), benchmark=SHOP)
    chart = sf.slope_chart(slots, benchmark=SHOP)
    line = alt.Chart(alt.InlineData(values=[{"value": 50}])).mark_rule().encode(y="value:Q")
    before = len(chart.layer)
    assert len((chart + line).to_dict()["layer"]) == before + 1
    assert sf.chart_text(chart + line, "svg").startswith("<svg ")
    assert sf.chart_text(chart | chart, "svg").startswith("<svg ")


@given(st.lists(st.floats(-50, 250), max_size=12), st.sampled_from([5.0, 12.0]))
@settings(max_examples=100)
def test_labels_are_moved_apart_and_stay_in_order(wanted: list[float], gap: float) -> None:
    placed = apart(wanted, gap, 200)
    assert len(placed) == len(wanted)
    order = sorted(range(len(wanted)), key=lambda number: (wanted[number], number))
    steps = [placed[b] - placed[a] for a, b in pairwise(order)]
    assert all(step >= gap - 1e-9 for step in steps)
    assert all(-1e-9 <= place <= 200 + 1e-9 for place in placed)


@given(st.floats(1e-6, 1e9))
def test_ticks_reach_from_zero_over_the_largest(largest: float) -> None:
    ticks = round_ticks(largest)
    assert ticks[0] == 0
    assert ticks[-1] >= largest * (1 - 1e-9)
    assert ticks[-1] <= largest * 1.6
    assert 3 <= len(ticks) <= 7


def test_a_name_like_anothers_numbered_form_stays_another() -> None:
    names = [f"a-library-of-skills-{n}" for n in (1, 2)]
    assert len(set(shown([*names, f"1 {names[0]}"]).values())) == 3


@given(st.lists(st.text(max_size=3), unique=True, max_size=8))
def test_no_two_names_look_alike(names: list[str]) -> None:
    forms = shown(names, lambda _: "same")
    assert list(forms) == names
    assert len(set(forms.values())) == len(names)
    assert len(set(shown(names).values())) == len(names)
