"""Second moments from Spark on two worker processes: the same integers. As `tests.test_spark`, they fail without PySpark."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import skillshift_frames as sf
from tests.simulated import SHOP
from tests.test_spark import messy, on, pytestmark as as_for_spark, spark  # noqa: F401 - a fixture

pytestmark = as_for_spark


@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_the_same_moments_from_two_workers(spark: Any, errors: Any) -> None:  # noqa: ANN401, F811
    tasks = pl.concat([messy("asi", 1), messy("mpcr", 2)])
    frame = on(spark, tasks)
    counts = sf.tally(frame, benchmark=SHOP)
    found = sf.moments(frame, counts, errors=errors)
    assert found.get_column("scale").n_unique() > 1  # of several trials the means are summed
    assert found.equals(sf.moments(tasks, counts, errors=errors))
