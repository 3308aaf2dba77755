"""Published entries in order: the oracle is the print itself, sorted by hand or by plain Python."""

from __future__ import annotations

import csv
import random
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable

SHOP = sf.Benchmark("shop", sites={"cart": 2, "search": 1}, conditions=("plain", "odd", "far"))
PRINTED = Path(__file__).parent.parent / "data" / "published.csv"

#: By hand from data/published.csv: the column overall of the rows SR, the highest first.
BY_SR = {
    "claude-haiku-4.5": [("AWM", 33.00), ("ASI", 32.64), ("WALT", 27.50), ("SkillWeaver", 18.32)],
    "deepseek-v3.2": [("ASI", 38.32), ("WALT", 36.44), ("AWM", 35.30), ("SkillWeaver", 17.12)],
    "gpt-5-mini": [
        ("MPCR", 41.26),
        ("WALT", 40.46),
        ("ASI", 37.90),
        ("AWM", 37.56),
        ("SkillWeaver", 24.99),
    ],
    "mixed": [("ASI", 36.29), ("AWM", 35.29), ("WALT", 34.80), ("SkillWeaver", 20.15)],
}

#: The same of the rows AS, the lowest first.
BY_AS = {
    "claude-haiku-4.5": [("WALT", 6.62), ("AWM", 7.47), ("ASI", 7.51), ("SkillWeaver", 15.06)],
    "deepseek-v3.2": [("ASI", 6.94), ("AWM", 7.35), ("WALT", 15.90), ("SkillWeaver", 17.53)],
    "gpt-5-mini": [
        ("AWM", 6.20),
        ("ASI", 6.21),
        ("MPCR", 6.93),
        ("WALT", 9.87),
        ("SkillWeaver", 12.80),
    ],
    "mixed": [("ASI", 6.89), ("AWM", 7.01), ("WALT", 10.79), ("SkillWeaver", 15.13)],
}


def entry(
    method: str | None = "asi",
    model: str | None = "m",
    **said: Any,  # noqa: ANN401 - entry, date, label, skill_calls, receipt, a metric, or a slot of SR
) -> list[dict[str, Any]]:
    """Give the rows of an entry with one number per metric, in all slots."""
    known = ("entry", "date", "label", "skill_calls", "receipt")
    key = {name: said.get(name) for name in known} | {"method": method, "model": model}
    numbers = {"SR": 50.0, "AS": 5.0, "ASC": 0.5, "SFR": 10.0}
    rows = [
        key | {"metric": metric} | dict.fromkeys(SHOP.slots, said.get(metric, value))
        for metric, value in numbers.items()
    ]
    rows[0] |= {name: value for name, value in said.items() if name in SHOP.slots}
    return rows


def rated(method: str, metric: str, value: float | None, **said: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Give the rows of an entry with this value of the metric."""
    said[metric] = value
    return entry(method, **said)


def frame_of(*entries: list[dict[str, Any]]) -> pl.DataFrame:
    schema = {
        "entry": pl.String,
        "date": pl.Date,
        "method": pl.String,
        "model": pl.String,
        "label": pl.String,
        "skill_calls": pl.Int64,
        "receipt": pl.String,
        "metric": pl.String,
        **dict.fromkeys(SHOP.slots, pl.Float64),
    }
    return pl.DataFrame([row for rows in entries for row in rows], schema=schema)


def board(*entries: list[dict[str, Any]], **options: Any) -> pl.DataFrame:  # noqa: ANN401
    return sf.leaderboard(frame_of(*entries), benchmark=SHOP, **options)


# The published entries


@pytest.mark.parametrize(("sort", "expected"), [("SR", BY_SR), ("AS", BY_AS)])
def test_published_entries_are_in_the_order_worked_out_by_hand(
    sort: str, expected: dict[str, list[tuple[str, float]]]
) -> None:
    found = sf.leaderboard(sf.published(), sort=sort)
    assert found.schema == sf.LEADERBOARD
    listed = found.select("model", "rank", "method", sort).rows()
    assert listed == [
        (model, rank, method, value)
        for model, entries in expected.items()
        for rank, (method, value) in enumerate(entries, start=1)
    ]


def test_another_slot_ranks_otherwise() -> None:
    found = sf.leaderboard(sf.published(), slot="tgt-exec").filter(model="gpt-5-mini")
    assert found.select("method", "SR", "AS", "ASC", "SFR").rows() == [
        ("WALT", 26.69, 10.36, 0.24, 27.22),
        ("AWM", 20.80, 7.76, None, None),
        ("MPCR", 19.99, 8.51, 0.03, 33.33),
        ("ASI", 17.75, 7.42, 0.02, 16.67),
        ("SkillWeaver", 15.69, 16.42, 2.51, 15.44),
    ]


def printed_rates() -> dict[tuple[str, str], dict[str, str]]:
    with PRINTED.open() as file:
        rows = list(csv.DictReader(file))
    return {(row["method"], row["model"]): row for row in rows if row["metric"] == "SR"}


@pytest.mark.parametrize("across", [False, True])
def test_drop_and_gap_are_the_differences_of_the_printed_decimals(across: bool) -> None:  # noqa: FBT001
    printed = printed_rates()
    found = sf.leaderboard(sf.published(), across_models=across)
    assert found.height == len(printed) == 17
    for row in found.iter_rows(named=True):
        rates = printed[row["method"], row["model"]]
        best = max(
            Decimal(other["overall"])
            for (_, model), other in printed.items()
            if across or model == row["model"]
        )
        assert row["drop"] == float(Decimal(rates["src"]) - Decimal(rates["tgt-exec"]))
        assert row["gap"] == float(best - Decimal(rates["overall"]))


def test_across_models_all_are_ranked_together() -> None:
    rates = sorted((Decimal(row["overall"]) for row in printed_rates().values()), reverse=True)
    found = sf.leaderboard(sf.published(), across_models=True)
    assert found.get_column("SR").to_list() == [float(rate) for rate in rates]
    assert found.get_column("rank").to_list() == list(range(1, 18))
    assert found.select("method", "model").row(0) == ("MPCR", "gpt-5-mini")


def test_what_was_published_without_calls_is_marked() -> None:
    found = sf.leaderboard(sf.published())
    absent = found.filter(pl.col("marks").list.contains("not-applicable"))
    assert set(absent.get_column("method")) == {"AWM"}
    assert absent.select("ASC", "SFR").null_count().row(0) == (4, 4)
    others = found.filter(pl.col("method") != "AWM").get_column("marks").to_list()
    assert others == [["unstable"]] * 13  # no number of calls is stated
    assert found.filter(method="AWM").get_column("entry").to_list()[0] == "AWM / claude-haiku-4.5"


# Order


def test_equal_numbers_share_a_rank_and_the_next_is_skipped() -> None:
    found = board(entry("d", SR=9.0), entry("b"), entry("c", SR=60.0), entry("a"), entry("e", SR=8))
    assert found.select("rank", "method", "gap").rows() == [
        (1, "c", 0.0),
        (2, "a", 10.0),
        (2, "b", 10.0),
        (4, "d", 51.0),
        (5, "e", 52.0),
    ]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (35.291, 35.294, True),
        (35.294, 35.295, False),
        (35.285, 35.29, True),
        (35.285, 35.28, False),
        (2.675, 2.68, True),  # half up from the decimal that is read, whatever the binary below it
        (2.6749, 2.68, False),
        (0.0, -0.001, True),
    ],
)
def test_what_prints_alike_is_equal(one: float, other: float, equal: bool) -> None:  # noqa: FBT001
    for sort in ("SR", "AS"):
        found = board(rated("a", sort, one), rated("b", sort, other), sort=sort)
        assert found.get_column("rank").to_list() == ([1, 1] if equal else [1, 2])


@pytest.mark.parametrize("sort", ["SR", "AS"])
def test_who_shares_a_rank_shares_its_gap(sort: str) -> None:
    found = board(
        *(rated(name, sort, value) for name, value in (("a", 35.291), ("b", 35.294), ("c", 9.999))),
        sort=sort,
    )
    by_method = dict(found.select("method", "gap").iter_rows())
    best, other = (0.0, 25.29) if sort == "SR" else (25.29, 0.0)
    assert by_method == {"a": best, "b": best, "c": other}


def test_equal_entries_come_by_method_date_and_name() -> None:
    days = [date(2026, 8, day) for day in (1, 2)]
    listed = [
        entry("Asi", date=days[1], entry="a.json"),
        entry("awm", date=days[0], entry="z.json"),
        entry("awm", date=days[1], entry="b.json"),
        entry("awm", date=days[1], entry="c.json"),
        entry("awm", date=None, entry="a.json"),
        entry("WALT", date=None, entry="a.json"),
    ]
    found = board(*listed[::-1])
    assert found.get_column("rank").to_list() == [1] * 6
    assert found.select("method", "date", "entry").rows() == [
        (rows[0]["method"], rows[0]["date"], rows[0]["entry"]) for rows in listed
    ]


@pytest.mark.parametrize("sort", ["SR", "AS"])
@pytest.mark.parametrize("across", [False, True])
def test_without_the_number_there_is_no_rank_in_either_direction(sort: str, across: bool) -> None:  # noqa: FBT001
    found = board(
        rated("a", sort, None),
        rated("b", sort, 0.0),
        rated("c", sort, 9.0),
        sort=sort,
        across_models=across,
    )
    order = ["c", "b", "a"] if sort == "SR" else ["b", "c", "a"]
    assert found.get_column("method").to_list() == order
    assert found.get_column("rank").to_list() == [1, 2, None]
    assert found.get_column("gap").to_list() == [0.0, 9.0, None]


def test_an_entry_that_lacks_the_metric_is_listed_last() -> None:
    found = board(entry("a")[1:], entry("b", SR=0.0))
    assert found.select("rank", "method", "SR", "drop").rows() == [
        (1, "b", 0.0, 0.0),
        (None, "a", None, None),
    ]


def test_models_come_by_name_whatever_their_case() -> None:
    models = ["beta", None, "alpha", "Alpha", "GAMMA"]
    found = board(*(entry(model=model) for model in models))
    assert found.get_column("model").to_list() == ["Alpha", "Alpha", "beta", "GAMMA", None]
    assert found.get_column("rank").to_list() == [1] * 5


def test_models_that_differ_in_case_or_space_only_are_ranked_together() -> None:
    models = ["gpt-5-mini", "gpt-5-mini ", "GPT-5-mini", "\tGPT-5-Mini", "gpt-5"]
    listed = [entry(f"e{n}", model, SR=60.0 - n) for n, model in enumerate(models)]
    for shown in (listed, listed[::-1]):
        found = board(*shown)
        assert found.select("model", "rank", "method").rows() == [
            ("gpt-5", 1, "e4"),
            *(("gpt-5-mini", n + 1, f"e{n}") for n in range(4)),
        ]
    assert board(entry(model=" ")).get_column("model").to_list() == [None]


def test_no_model_and_an_empty_one_are_the_same() -> None:
    found = board(entry("a", None), entry("b", "", SR=60.0))
    assert found.select("rank", "model", "method", "entry").rows() == [
        (1, None, "b", "b"),
        (2, None, "a", "a"),
    ]


@given(
    numbers=st.lists(
        st.tuples(
            st.sampled_from(["m", "n"]),
            st.one_of(st.none(), st.integers(0, 40).map(lambda n: n / 400)),
        ),
        max_size=8,
    ),
    sort=st.sampled_from(["SR", "AS"]),
    across=st.booleans(),
    seed=st.integers(0, 5),
)
def test_a_rank_is_one_more_than_the_number_of_better_ones(
    numbers: list[tuple[str, float | None]],
    sort: str,
    across: bool,  # noqa: FBT001
    seed: int,
) -> None:
    listed = [
        rated(f"e{number}", sort, value, model=model)
        for number, (model, value) in enumerate(numbers)
    ]
    frame = frame_of(*listed)
    found = sf.leaderboard(frame, sort=sort, across_models=across, benchmark=SHOP)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=seed).select(reversed(frame.columns))
    again = sf.leaderboard(shuffled, sort=sort, across_models=across, benchmark=SHOP)
    assert again.equals(found)
    assert found.height == len(numbers)

    def hundredths(value: float) -> int:
        return (round(value * 400) + 2) // 4  # of n/400, half up

    for row in found.iter_rows(named=True):
        if row[sort] is None:
            assert row["rank"] is None
            continue
        rivals = [
            hundredths(value)
            for model, value in numbers
            if value is not None and (across or model == row["model"])
        ]
        mine = hundredths(row[sort])
        better = [other for other in rivals if (other > mine if sort == "SR" else other < mine)]
        assert row["rank"] == 1 + len(better)


def test_published_entries_in_any_order_are_the_same_board() -> None:
    rows = sf.published().rows(named=True)
    random.Random(1).shuffle(rows)  # noqa: S311 - an order, not a secret
    shuffled = pl.DataFrame(rows, schema=sf.published().schema)
    assert sf.leaderboard(shuffled).equals(sf.leaderboard(sf.published()))


# Marks, and what else is said


@pytest.mark.parametrize(("calls", "marked"), [(29, True), (30, False), (0, True), (None, True)])
def test_failure_rate_is_marked_where_calls_are_few_or_unknown(
    calls: int | None,
    marked: bool,  # noqa: FBT001
) -> None:
    found = board(entry(skill_calls=calls))
    assert found.select("skill_calls", "marks").row(0) == (calls, ["unstable"] if marked else [])
    assert board(entry(skill_calls=calls, SFR=None)).get_column("marks").to_list() == [[]]


@pytest.mark.parametrize(
    ("calls", "failures", "marks"),
    [
        (False, False, ["not-applicable"]),
        (False, True, ["ASC-not-applicable"]),
        (None, False, ["SFR-not-applicable"]),
        (True, True, []),
        (None, None, []),
    ],
)
def test_a_null_does_not_apply_where_that_was_said(
    calls: bool | None,  # noqa: FBT001
    failures: bool | None,  # noqa: FBT001
    marks: list[str],
) -> None:
    frame = frame_of(entry(ASC=None, SFR=None))
    applies = pl.Series([None, None, calls, failures], dtype=pl.Boolean)
    found = sf.leaderboard(frame.with_columns(applies=applies), benchmark=SHOP)
    assert found.get_column("marks").to_list() == [marks]


def test_a_number_applies_whatever_was_said_of_other_slots() -> None:
    frame = frame_of(entry(skill_calls=99)).with_columns(applies=pl.lit(value=False))
    assert sf.leaderboard(frame, benchmark=SHOP).get_column("marks").to_list() == [[]]


def test_rows_that_are_left_out_do_not_apply_only_where_other_entries_have_them() -> None:
    marks = board(entry("a")[:2], entry("b", skill_calls=99)).get_column("marks").to_list()
    assert marks == [["not-applicable"], []]
    assert board(entry("a")[:2]).get_column("marks").to_list() == [[]]
    nulls = board(entry("a", ASC=None, SFR=None), entry("b", skill_calls=99))
    assert nulls.get_column("marks").to_list() == [[], []]


# Partial entries


def counted(rows: list[dict[str, Any]], tasks: int | None, reason: str | None) -> pl.DataFrame:
    given = {"tasks": tasks, "tasks_expected": 9, "tasks_reason": reason}
    types = {"tasks": pl.Int64, "tasks_expected": pl.Int64, "tasks_reason": pl.String}
    return frame_of(rows).with_columns(pl.lit(given[n], dtype=types[n]).alias(n) for n in types)


@pytest.mark.parametrize(
    ("tasks", "reason", "said"),
    [
        (5, "5 of 9 tasks", "5 of 9 tasks"),
        (5, None, "5 of 9 tasks"),
        (10, None, "10 of 9 tasks"),
        (9, "they contradict each other", "they contradict each other"),
    ],
)
def test_a_partial_entry_has_no_rank_and_is_no_best(
    tasks: int, reason: str | None, said: str
) -> None:
    frame = pl.concat(
        [
            counted(entry("part", SR=100.0), tasks, reason),
            counted(entry("whole", SR=40.0), 9, None),
            counted(entry("unsaid", SR=30.0), None, None),
            counted(entry("none", SR=None), 9, None),
        ]
    )
    found = sf.leaderboard(frame, benchmark=SHOP)
    assert found.select("rank", "method", "gap", "rank_reason").rows() == [
        (1, "whole", 0.0, None),
        (2, "unsaid", 10.0, None),
        (None, "part", None, said),
        (None, "none", None, "SR overall is not given"),
    ]
    assert ["partial" in marks for marks in found["marks"]] == [False, False, True, False]
    assert found.get_column("tasks").to_list() == [9, None, tasks, 9]
    assert found.get_column("tasks_expected").to_list() == [9] * 4


def test_drop_is_null_where_a_side_is_and_where_there_is_one_condition() -> None:
    assert board(entry(plain=61.3, far=None)).get_column("drop").to_list() == [None]
    assert board(entry(plain=61.3, far=70.1)).get_column("drop").to_list() == [-8.8]
    one = sf.Benchmark("one", sites={"cart": 2}, conditions=("plain",))
    frame = frame_of(entry()).drop("search", "odd", "far")
    assert sf.leaderboard(frame, benchmark=one).get_column("drop").to_list() == [None]


def test_label_and_receipt_are_passed_on() -> None:
    found = board(entry(label="self-reported", receipt="matches", entry="a.json"))
    shown = found.select("label", "receipt", "entry").row(0)
    assert shown == ("self-reported", "matches", "a.json")


def test_entries_as_they_are_read_can_be_ranked() -> None:
    read = sf.read_entries(PRINTED)
    found = sf.leaderboard(read)
    # A table does not say why it leaves rows out; the package knows it of its own.
    assert found.drop("marks").equals(sf.leaderboard(sf.published()).drop("marks"))
    assert not found.get_column("marks").explode().is_in(["not-applicable"]).any()


def test_no_entries_give_no_rows() -> None:
    found = board()
    assert found.is_empty()
    assert found.schema == sf.LEADERBOARD


# Refusals


@pytest.mark.parametrize(
    ("sort", "reason"),
    [
        ("SFR", "a ratio over few skill calls is unstable, so it is never a sort key"),
        ("ASC", "neither more nor fewer skill calls are better"),
        ("drop", "a method that fails everywhere drops by nothing"),
        ("sr", "one of SR, AS is needed"),
    ],
)
def test_nothing_else_is_a_sort_key(sort: str, reason: str) -> None:
    with pytest.raises(sf.InputError, match=reason):
        sf.leaderboard(sf.published(), sort=sort)


def without(column: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda frame: frame.drop(column)


def with_(**columns: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:  # noqa: ANN401
    return lambda frame: frame.with_columns(**columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("metric"), "lacks the column 'metric'"),
        (without("model"), "lacks the column 'model'"),
        (without("method"), "lacks the column 'method'"),
        (without("far"), "lacks the slot 'far'"),
        (with_(far=pl.lit("9")), "slot 'far' is String; numbers are needed"),
        (with_(far=float("nan")), "slot 'far' holds NaN"),
        (with_(cart=-float("inf")), "slot 'cart' holds NaN or a number beyond measure"),
        (with_(overall=1e300), "slot 'overall' holds NaN or a number beyond measure"),
        (with_(metric=pl.lit("SR")), "asi / m: has two rows of SR"),
        (with_(metric=pl.lit("sr")), "asi / m: 'sr' is no metric"),
        (with_(date=pl.lit("2026-08-23")), "the column 'date' is String; Date is needed"),
        (with_(skill_calls=pl.Series([1, 2, 1, 1])), "asi / m: its rows differ in skill_calls"),
    ],
)
def test_what_is_no_frame_of_entries_is_refused(
    change: Callable[[pl.DataFrame], pl.DataFrame], message: str
) -> None:
    with pytest.raises(sf.InputError, match=message):
        sf.leaderboard(change(frame_of(entry())), benchmark=SHOP)


def test_no_slot_of_that_name_is_refused() -> None:
    with pytest.raises(sf.InputError, match="slot is 'target'; one of gitlab, magento"):
        sf.leaderboard(sf.published(), slot="target")
    with pytest.raises(sf.InputError, match="cannot be inferred"):
        sf.leaderboard(sf.published(), benchmark="infer")


def test_columns_that_are_not_there_or_of_a_smaller_type_do_not_matter() -> None:
    frame = frame_of(entry(skill_calls=40))
    found = sf.leaderboard(frame, benchmark=SHOP)
    lean = frame.drop("entry", "date", "label", "receipt").cast({"skill_calls": pl.UInt8})
    assert sf.leaderboard(lean, benchmark=SHOP).equals(found)
    nulls = frame.with_columns(pl.lit(None).alias(name) for name in ("entry", "date", "receipt"))
    assert sf.leaderboard(nulls, benchmark=SHOP).equals(found)
    whole = frame.with_columns(pl.col(SHOP.slots).cast(pl.Int64))
    assert sf.leaderboard(whole, benchmark=SHOP).get_column("SR").to_list() == [50.0]
