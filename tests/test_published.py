"""What the published SkillShift numbers show, recomputed: the oracle is the leaderboard's own print."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.render.numbers import format_number

SITES = list(sf.SKILLSHIFT.sites)
CONDITIONS = list(sf.SKILLSHIFT.conditions)
SLOTS = list(sf.SKILLSHIFT.slots)
MIXED = ["AWM", "ASI", "SkillWeaver", "WALT"]


@pytest.fixture
def published() -> pl.DataFrame:
    return sf.published()


def test_there_are_17_entries_in_60_rows(published: pl.DataFrame) -> None:
    assert published.height == 60
    assert published.select("method", "model", "date").unique().height == 17
    assert published.null_count().sum_horizontal().item() == 0


def test_the_shipped_file_is_the_one_in_data(published: pl.DataFrame) -> None:
    file = Path(__file__).parent.parent / "data" / "published.csv"
    assert pl.read_csv(file, try_parse_dates=True).equals(published)


def test_the_identity_holds_for_every_row_within_what_rounding_allows(
    published: pl.DataFrame,
) -> None:
    checked = sf.identity(published)
    assert checked.get_column("holds").to_list() == [True] * 60
    assert checked.get_column("difference").max() < 0.01 + 1e-9  # type: ignore[operator]
    # The bound is not generous: half of it does not hold for all of them.
    assert not sf.identity(published, tolerance=0.005).get_column("holds").all()


def test_one_mistyped_digit_breaks_the_identity(published: pl.DataFrame) -> None:
    first = published.head(1)
    for slot in SLOTS:
        typo = first.with_columns(pl.col(slot) + 0.1)
        assert not sf.identity(typo).get_column("holds").item(), slot


def test_the_macro_average_reproduces_overall_for_the_fourteen_rows_of_table_1(
    published: pl.DataFrame,
) -> None:
    table_1 = published.filter(pl.col("model") == "mixed")
    assert table_1.height == 14
    for row in table_1.iter_rows(named=True):
        for names in (SITES, CONDITIONS):
            mean = sum(row[name] for name in names) / len(names)
            assert abs(mean - row["overall"]) <= 0.01 + 1e-9, (row["method"], row["metric"])


def test_task_weights_move_sr_of_awm_from_35_29_to_30_21(published: pl.DataFrame) -> None:
    row = published.row(by_predicate=_entry("AWM", "mixed", "SR"), named=True)
    weights = sf.SKILLSHIFT.sites
    weighted = sum(row[site] * n for site, n in weights.items()) / sum(weights.values())
    assert format_number(weighted) == "30.21"
    assert format_number(sum(row[site] for site in SITES) / 3) == "35.29"
    assert row["overall"] == 35.29


def test_mean_sr_of_the_four_mixed_methods_falls_under_each_shift(published: pl.DataFrame) -> None:
    mixed = published.filter(pl.col("model") == "mixed", pl.col("metric") == "SR")
    assert sorted(mixed.get_column("method")) == sorted(MIXED)

    def mean(*conditions: str) -> str:
        return format_number(mixed.select(pl.mean_horizontal(conditions)).to_series().mean())  # type: ignore[arg-type]

    assert mean("src", "tgt") == "40.97"
    assert mean("src-perc", "tgt-perc") == "35.23"
    assert mean("src-exec", "tgt-exec") == "18.68"


def test_mpcr_is_8_87_percent_above_asi(published: pl.DataFrame) -> None:
    mpcr = published.row(by_predicate=_entry("MPCR", "gpt-5-mini", "SR"), named=True)["overall"]
    asi = published.row(by_predicate=_entry("ASI", "gpt-5-mini", "SR"), named=True)["overall"]
    assert (mpcr, asi) == (41.26, 37.90)
    assert format_number(100 * (mpcr - asi) / asi) == "8.87"


@pytest.mark.parametrize("method", MIXED)
def test_each_mixed_row_is_the_mean_of_its_three_models(
    published: pl.DataFrame, method: str
) -> None:
    of_method = published.filter(pl.col("method") == method)
    for row in of_method.filter(pl.col("model") == "mixed").iter_rows(named=True):
        models = of_method.filter(pl.col("model") != "mixed", pl.col("metric") == row["metric"])
        assert models.height == 3
        for slot in SLOTS:
            assert abs(models.get_column(slot).mean() - row[slot]) <= 0.01 + 1e-9, slot


def _entry(method: str, model: str, metric: str) -> pl.Expr:
    return (pl.col("method") == method) & (pl.col("model") == model) & (pl.col("metric") == metric)
