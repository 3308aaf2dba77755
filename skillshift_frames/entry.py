"""Published entries: numbers that others printed, in the shape of the table."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import polars as pl

from skillshift_frames.benchmark import SKILLSHIFT

#: One row is one entry × metric of the public leaderboard.
PUBLISHED = pl.Schema(
    {"date": pl.Date, "method": pl.String, "model": pl.String, "metric": pl.String}
    | dict.fromkeys(SKILLSHIFT.slots, pl.Float64)
)


def published() -> pl.DataFrame:
    """Give the 17 published SkillShift entries.

    One row is one entry × metric: 60 rows, since skills do not apply to AWM, which has no ASC and no SFR.

    Returns
    -------
    polars.DataFrame
        ``date``, ``method``, ``model`` (``mixed``: the mean of three models), ``metric``, then the ten slots as printed,
        with two decimals (SR and SFR in percent, AS in steps, ASC in calls per task). Transcribed from the public
        SkillShift-Bench leaderboard, which holds the fourteen rows of the paper's Table 1.

    Examples
    --------
    >>> mean_of_mixed = pl.col("model") == "mixed", pl.col("metric") == "SR"
    >>> published().filter(mean_of_mixed).select("method", "src", "tgt-exec", "overall")
    shape: (4, 4)
    ┌─────────────┬───────┬──────────┬─────────┐
    │ method      ┆ src   ┆ tgt-exec ┆ overall │
    │ ---         ┆ ---   ┆ ---      ┆ ---     │
    │ str         ┆ f64   ┆ f64      ┆ f64     │
    ╞═════════════╪═══════╪══════════╪═════════╡
    │ AWM         ┆ 50.07 ┆ 16.9     ┆ 35.29   │
    │ ASI         ┆ 53.65 ┆ 15.79    ┆ 36.29   │
    │ SkillWeaver ┆ 35.13 ┆ 9.71     ┆ 20.15   │
    │ WALT        ┆ 46.82 ┆ 19.09    ┆ 34.8    │
    └─────────────┴───────┴──────────┴─────────┘
    """
    shipped = files("skillshift_frames") / "published.csv"
    # A wheel carries the file; a checkout that is used in place has it where the wheel takes it from.
    source = (
        shipped if shipped.is_file() else Path(__file__).parent.parent / "data" / "published.csv"
    )
    return pl.read_csv(source.read_bytes(), schema=PUBLISHED)
