"""Printed slots against each other: bounds that are met or not met, by a hundredth."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

import skillshift_frames as sf
from skillshift_frames.marginals import (
    half_unit,
    identity_findings,
    range_findings,
    unstable_findings,
)
from skillshift_frames.readers.entries import Entry
from skillshift_frames.readers.entry_files import read_entry_files
from tests.entries import PUBLISHED

SITES = tuple(sf.SKILLSHIFT.sites)
CONDITIONS = sf.SKILLSHIFT.conditions


def entry(numbers: dict[tuple[str, str], str | None], calls: int | None = None) -> Entry:
    printed = {key: None if n is None else Decimal(n) for key, n in numbers.items()}
    return Entry("a.json", "asi", "m", printed, sf.SKILLSHIFT.sites, skill_calls=calls)


def slots(sites: list[str], conditions: list[str], overall: str, metric: str = "SR") -> Entry:
    numbers = dict(
        zip((*SITES, *CONDITIONS, "overall"), [*sites, *conditions, overall], strict=True)
    )
    return entry({(metric, slot): number for slot, number in numbers.items()})


def disagreements(read: Entry) -> list[tuple[str, str | None]]:
    return [(found.code, found.slot) for found in identity_findings(read, sf.SKILLSHIFT)]


@pytest.mark.parametrize(
    ("number", "half"),
    [("16.90", "0.005"), ("16.9", "0.05"), ("17", "0.5"), ("1E+1", "5"), ("0.000", "0.0005")],
)
def test_half_a_unit_is_of_the_last_digit_that_was_printed(number: str, half: str) -> None:
    assert half_unit(Decimal(number)) == Fraction(half)


@pytest.mark.parametrize(
    ("metric", "fits", "too_far"),
    [
        ("SR", ["0.00", "100.00", "-0.00"], ["-0.01", "100.01"]),
        ("AS", ["0.01", "1000.00"], ["0.00", "-3.00"]),
        ("ASC", ["0.00", "7.50"], ["-0.01"]),
        ("SFR", ["0.00", "100.00"], ["-0.01", "100.01"]),
    ],
)
def test_a_metric_has_its_range_with_its_ends(
    metric: str, fits: list[str], too_far: list[str]
) -> None:
    for number in fits:
        assert range_findings(entry({(metric, "src"): number})) == []
    for number in too_far:
        (found,) = range_findings(entry({(metric, "src"): number, (metric, "tgt"): None}))
        assert (found.code, found.metric, found.slot) == ("range", metric, "src")
        assert found.printed == number
        assert found.bound is not None
        assert found.bound in found.message


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("10.03", None),  # the mean of the sites is 10.01: as far off as rounding allows
        ("10.04", "identity-rounding"),
        ("10.06", "identity-rounding"),  # 10.02: as far off as the leaderboard allows
        ("10.07", "identity"),
        ("9.97", None),
        ("9.96", "identity-rounding"),
        ("9.93", "identity"),
    ],
)
def test_bounds_of_the_identity_are_inclusive(last: str, code: str | None) -> None:
    read = slots(["10.00", "10.00", last], ["10.00"] * 6, "10.00")
    expected = [] if code is None else [(code, "sites"), (code, "sites")]
    assert disagreements(read) == expected


def test_the_bound_follows_from_the_digits_that_were_printed() -> None:
    read = slots(["10.0", "10.0", "10.3"], ["10.0"] * 6, "10.0")
    assert disagreements(read) == []
    read = slots(["10.0", "10.0", "10.4"], ["10.0"] * 6, "10.0")
    assert {found.bound for found in identity_findings(read, sf.SKILLSHIFT)} == {"0.10"}
    # Sites with one decimal, all else with two: half of 0.1 and half of 0.01.
    read = slots(["10.0", "10.0", "10.2"], ["10.00"] * 6, "10.00")
    (one, other) = identity_findings(read, sf.SKILLSHIFT)
    assert (one.bound, other.bound) == ("0.055", "0.055")
    assert one.code == "identity-rounding"


@pytest.mark.parametrize(
    ("sites", "conditions", "overall", "slot"),
    [
        ("20.00", "10.00", "10.00", "sites"),
        ("10.00", "20.00", "10.00", "conditions"),
        ("10.00", "10.00", "20.00", "overall"),
    ],
)
def test_the_one_that_two_others_contradict_is_named(
    sites: str, conditions: str, overall: str, slot: str
) -> None:
    read = slots([sites] * 3, [conditions] * 6, overall)
    found = identity_findings(read, sf.SKILLSHIFT)
    assert [(f.code, f.slot) for f in found] == [("identity", slot)] * 2
    assert all(f"look at {slot}" in f.hint or f"one of the {slot}" in f.hint for f in found)
    assert {f.printed for f in found} == {"20.00" if slot == "overall" else None}


def test_of_three_that_all_differ_none_is_blamed() -> None:
    found = identity_findings(slots(["10.00"] * 3, ["20.00"] * 6, "30.00"), sf.SKILLSHIFT)
    assert [f.slot for f in found] == ["overall", "overall", "conditions"]
    assert len({f.hint for f in found}) == 1


def test_a_message_has_the_means_their_difference_and_the_bound() -> None:
    read = slots(["10.00", "10.00", "10.05"], ["10.00"] * 6, "10.00", metric="AS")
    one, other = identity_findings(read, sf.SKILLSHIFT)
    assert one.metric == other.metric == "AS"
    assert one.message == (
        "mean of the sites is 10.0167, overall is 10.00: they differ by 0.0167, "
        "where rounding allows 0.01 (the leaderboard lets 0.02 pass)"
    )
    assert other.message.startswith(
        "mean of the sites is 10.0167, mean of the conditions is 10.0000"
    )


def test_a_difference_is_shown_with_as_many_digits_as_it_takes_to_see_it() -> None:
    many = sf.Benchmark("many", {f"s{i}": 1 for i in range(9973)}, ("plain",))
    numbers: dict[tuple[str, str], str | None] = {("SR", site): "10.00" for site in many.sites}
    numbers |= {("SR", "s0"): "109.74", ("SR", "plain"): "10.00", ("SR", "overall"): "10.00"}
    one, _ = identity_findings(entry(numbers), many)
    assert "they differ by 0.010001, where rounding allows 0.01" in one.message


def test_a_mean_with_an_undefined_slot_is_not_tested() -> None:
    sites, conditions = ["90.00"] * 3, ["10.00"] * 6
    whole = slots(sites, conditions, "50.00")
    assert len(disagreements(whole)) == 3
    for slot, left in (("gitlab", ["overall"]), ("tgt", ["overall"]), ("overall", ["conditions"])):
        null = entry({**{k: str(v) for k, v in whole.printed.items()}, ("SR", slot): None})
        absent = entry({k: str(v) for k, v in whole.printed.items() if k[1] != slot})
        for read in (null, absent):
            assert disagreements(read) == [("identity", name) for name in left]


hundredths = st.integers(990, 1010)


@given(
    st.lists(hundredths, min_size=3, max_size=3),
    st.lists(hundredths, min_size=6, max_size=6),
    hundredths,
)
def test_identity_against_whole_numbers(
    sites: list[int], conditions: list[int], overall: int
) -> None:
    """In hundredths the bounds are 1 and 2, and multiplied out there is nothing left to round."""
    read = slots(
        [f"{Decimal(n) / 100:.2f}" for n in sites],
        [f"{Decimal(n) / 100:.2f}" for n in conditions],
        f"{Decimal(overall) / 100:.2f}",
    )
    apart = [
        abs(sum(sites) - 3 * overall) / Fraction(3),
        abs(sum(conditions) - 6 * overall) / Fraction(6),
        abs(2 * sum(sites) - sum(conditions)) / Fraction(6),
    ]
    expected = ["identity" if d > 2 else "identity-rounding" for d in apart if d > 1]
    assert [code for code, _ in disagreements(read)] == expected


@given(
    st.lists(
        st.fractions(min_value=0, max_value=100, max_denominator=200), min_size=18, max_size=18
    )
)
def test_no_honest_table_breaks_the_identity(cells: list[Fraction]) -> None:
    def printed(values: list[Fraction]) -> str:
        mean = sum(values, Fraction()) / len(values)
        exact = Decimal(mean.numerator) / Decimal(mean.denominator)
        return str(exact.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))

    read = slots(
        [printed(cells[i * 6 : i * 6 + 6]) for i in range(3)],
        [printed(cells[i::6]) for i in range(6)],
        printed(cells),
    )
    assert disagreements(read) == []
    assert range_findings(read) == []


def test_published_entries_keep_ranges_and_identity() -> None:
    read = read_entry_files(PUBLISHED, sf.SKILLSHIFT)
    assert len(read.entries) == 17
    for published in read.entries:
        assert identity_findings(published, sf.SKILLSHIFT) == []
        assert range_findings(published) == []


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        (None, "is printed, and nothing says whether it rests on 30 skill calls"),
        (0, "rests on 0 skill calls, fewer than 30"),
        (1, "rests on 1 skill call, fewer than 30"),
        (29, "rests on 29 skill calls, fewer than 30"),
    ],
)
def test_an_sfr_over_few_calls_is_unstable(calls: int | None, message: str) -> None:
    (found,) = unstable_findings(entry({("SFR", "src"): "12.50", ("SFR", "tgt"): None}, calls))
    assert (found.code, found.severity, found.metric) == ("sfr-unstable", "note", "SFR")
    assert (found.message, found.bound) == (message, "30")
    assert found.printed == (None if calls is None else str(calls))


def test_an_sfr_over_30_calls_is_stable_and_so_is_none() -> None:
    assert unstable_findings(entry({("SFR", "src"): "12.50"}, 30)) == []
    assert unstable_findings(entry({("SFR", "src"): None}, 3)) == []
    assert unstable_findings(entry({("SR", "src"): "1.00"}, None)) == []
