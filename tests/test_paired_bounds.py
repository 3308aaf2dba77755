"""What totals alone say of a paired test: between the ends that trying every pairing finds."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.readers.entries import Read
from skillshift_frames.readers.entry_rows import parse_typed

LAB = sf.Benchmark("lab", sites={"a": 3, "b": 4}, conditions=("x", "y"))


def entry(axes: sf.Benchmark, **successes: int) -> pl.DataFrame:
    cells = len(axes.conditions)
    rates = {site: round(100 * t / (cells * axes.sites[site]), 2) for site, t in successes.items()}
    return pl.DataFrame({"metric": ["SR"]} | {site: [rate] for site, rate in rates.items()})


def mcnemar(wins: int, losses: int) -> float:
    from scipy.stats import binomtest

    if not wins + losses:
        return 1.0
    return float(binomtest(wins, wins + losses).pvalue)


def pairings(first: int, second: int, n: int) -> list[tuple[int, int]]:
    """Wins and losses of the second, for every number of pairs on which both succeed."""
    both = range(max(0, first + second - n), min(first, second) + 1)
    return [(second - k, first - k) for k in both]


@pytest.mark.parametrize("base", [(0, 0), (1, 7), (6, 3)])
@pytest.mark.parametrize("treatment", [(6, 8), (3, 0), (1, 7)])
def test_ends_are_those_of_all_pairings(base: tuple[int, int], treatment: tuple[int, int]) -> None:
    sizes = {"a": 6, "b": 8}
    found = sf.paired_bounds(
        entry(LAB, a=base[0], b=base[1]),
        entry(LAB, a=treatment[0], b=treatment[1]),
        benchmark=LAB,
    )
    per_site = {
        site: pairings(first, second, n)
        for (site, n), first, second in zip(sizes.items(), base, treatment, strict=True)
    }
    together = [
        (one[0] + other[0], one[1] + other[1])
        for one, other in product(per_site["a"], per_site["b"])
    ]
    for row, options in zip(
        found.iter_rows(named=True), [per_site["a"], per_site["b"], together], strict=True
    ):
        p = [mcnemar(*option) for option in options]
        assert row["p_low"] == pytest.approx(min(p), rel=1e-12), row
        assert row["p_high"] == pytest.approx(max(p), rel=1e-12), row
        assert row["difference_low"] == row["difference_high"] == options[0][0] - options[0][1]
        assert row["discordant_low"] == min(map(sum, options))
        assert row["discordant_high"] == max(map(sum, options))
    assert found.get_column("pairs").to_list() == [6, 8, 14]


def test_verdict_is_that_of_the_ends() -> None:
    axes = sf.Benchmark("one", sites={"a": 100}, conditions=("x",))

    def significant(first: int, second: int, level: float = 0.95) -> str:
        found = sf.paired_bounds(
            entry(axes, a=first), entry(axes, a=second), level=level, benchmark=axes
        )
        return str(found.get_column("significant")[0])

    assert significant(0, 6) == "always"  # 6 wins, no losses are possible: p = 1/32
    assert significant(0, 5) == "never"  # p = 1/16 at best
    assert significant(0, 5, level=0.9) == "always"
    assert significant(50, 60) == "possibly"  # between 10 wins and 50 wins against 40 losses
    assert significant(50, 50) == "never"
    assert significant(10, 90) == "always"


def test_sides_swapped_have_the_same_p_and_the_opposite_difference() -> None:
    of_model = sf.published().filter(model="gpt-5-mini", metric="SR")
    asi, mpcr = (of_model.filter(method=method) for method in ("ASI", "MPCR"))
    there, back = sf.paired_bounds(asi, mpcr), sf.paired_bounds(mpcr, asi)
    assert there.select("p_low", "p_high", "significant").equals(
        back.select("p_low", "p_high", "significant")
    )
    assert there.get_column("difference_low").to_list() == [
        -n for n in back.get_column("difference_high").to_list()
    ]


def test_impossible_rates_stand_for_the_counts_next_to_them() -> None:
    # ASI prints 23.00 on gitlab: 223 of 972 are 22.94, 224 are 23.05. MPCR 23.20: 225 and 226.
    of_model = sf.published().filter(model="gpt-5-mini", metric="SR")
    found = sf.paired_bounds(of_model.filter(method="ASI"), of_model.filter(method="MPCR"))
    gitlab = found.row(0, named=True)
    assert (gitlab["difference_low"], gitlab["difference_high"]) == (225 - 224, 226 - 223)


def test_schema_and_order() -> None:
    found = sf.paired_bounds(entry(LAB, a=1, b=2), entry(LAB, a=2, b=2), benchmark=LAB)
    assert found.schema == sf.PAIRED_BOUNDS
    assert found.get_column("slot").to_list() == ["a", "b", "overall"]


def test_trials_multiply_pairs() -> None:
    found = sf.paired_bounds(entry(LAB, a=1, b=2), entry(LAB, a=2, b=2), trials=5, benchmark=LAB)
    assert found.get_column("pairs").to_list() == [30, 40, 70]


@pytest.mark.parametrize(
    ("base", "options", "message"),
    [
        (entry(LAB, a=1), {}, "SR of b is not printed"),
        (entry(LAB, a=1, b=2), {"level": 1.0}, "level 1.0"),
        (entry(LAB, a=1, b=2), {"trials": 0}, "trials is 0"),
        (
            pl.concat([entry(LAB, a=1, b=2)] * 2).with_columns(method=pl.Series(["m", "n"])),
            {},
            "one entry is needed on each side, 2 are there: m, n",
        ),
        (entry(LAB, a=1, b=2).with_columns(model=pl.lit("mixed")), {}, "pools the runs"),
    ],
)
def test_what_cannot_be_paired_is_refused(
    base: pl.DataFrame, options: dict[str, float], message: str
) -> None:
    with pytest.raises(sf.InputError, match=message):
        sf.paired_bounds(base, entry(LAB, a=1, b=2), benchmark=LAB, **options)  # type: ignore[arg-type]


def test_coarse_numbers_of_many_sites_are_no_burden() -> None:
    sites = {f"s{n}": 100 + n for n in range(12)}
    axes = sf.Benchmark("many", sites=sites, conditions=tuple("abcdef"))
    first, second = (
        Read([parse_typed([", ".join(f"{site} {rate}" for site in sites)], axes)], [])
        for rate in (40, 50)
    )
    found = sf.paired_bounds(first, second, benchmark=axes)
    low, high = found.row(-1)[2:4]
    # Each rate is within a point of what is printed, rounding of cells included.
    assert low == pytest.approx(0.08 * sum(sites.values()) * 6, abs=30)
    assert high == pytest.approx(0.12 * sum(sites.values()) * 6, abs=30)
