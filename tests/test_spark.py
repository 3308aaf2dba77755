"""Spark on two worker processes: the same integers, the same table, the same intervals, and as strict.

They fail, and are not skipped, where PySpark or Java 17 is missing: a promise that is never tested is none.
"""

from __future__ import annotations

import os
import signal
import time
from threading import Thread
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

import skillshift_frames as sf
from tests.cluster import MARKS, two_workers, workers
from tests.simulated import SHOP, frame_of, simulate, tasks_of
from tests.strategies import SMALL, records
from tests.test_tally import BENCHMARK, BROKEN, framed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.reference import Record

pytestmark = MARKS


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with two_workers() as session:
        yield session


def on(spark: Any, frame: pl.DataFrame) -> Any:  # noqa: ANN401 - a session, and a frame of its own
    return spark.createDataFrame(frame.to_arrow()).repartition(4)


def messy(run: str, seed: int) -> pl.DataFrame:
    """Simulate a run with several trials, errors, and tasks that are missing."""
    listed = []
    for number, record in enumerate(simulate(run, seed=seed)):
        for trial in range(1, 2 + number % 3):
            more: Record = {"trial": trial, "steps": record["steps"] + trial}
            if (number + trial) % 7 == 0:
                more |= {"error": "timeout", "success": None, "steps": None}
            listed.append(record | more)
    return frame_of(listed[:-5])


@pytest.mark.parametrize("families", [False, True])
def test_the_same_integers_from_two_workers(spark: Any, *, families: bool) -> None:  # noqa: ANN401
    tasks = pl.concat([messy("asi", 1), messy("mpcr", 2)])
    found = sf.tally(on(spark, tasks), benchmark=SHOP, families=families)
    assert found.equals(sf.tally(tasks, benchmark=SHOP, families=families))


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(listed=records(SMALL, odd_uids=True))
def test_the_same_integers_whatever_the_records(spark: Any, listed: list[Record]) -> None:  # noqa: ANN401
    frame = framed(listed)
    for families in (False, True):
        found = sf.tally(on(spark, frame), benchmark=BENCHMARK, families=families)
        assert found.equals(sf.tally(frame, benchmark=BENCHMARK, families=families))


@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_the_same_table_and_the_same_intervals(spark: Any, errors: Any) -> None:  # noqa: ANN401
    tasks = pl.concat([messy("asi", 1), messy("mpcr", 2)])
    counts = sf.tally(on(spark, tasks), benchmark=SHOP, families=True)
    options: Any = {"benchmark": SHOP, "errors": errors}
    assert sf.table(sf.cells(counts, **options), benchmark=SHOP).equals(
        sf.table(sf.cells(tasks, **options), benchmark=SHOP)
    )
    assert sf.intervals(counts, **options).equals(sf.intervals(tasks, **options))
    assert sf.cell_intervals(counts, **options).equals(sf.cell_intervals(tasks, **options))


def said(frame: Any) -> str:  # noqa: ANN401 - any frame
    with pytest.raises(sf.RecordError) as caught:
        sf.tally(frame, benchmark=SHOP)
    return "\n".join(map(str, sf.errors.iter_faults(caught.value.faults)))


def test_every_broken_rule_is_said_in_the_same_words(spark: Any) -> None:  # noqa: ANN401
    listed = simulate()
    for number, (changes, _) in enumerate(BROKEN.values()):
        listed[number] |= changes
    frame = framed(listed)
    assert said(on(spark, frame)) == said(frame)
    twice = pl.concat([tasks_of(), tasks_of().head(9)])
    assert said(on(spark, twice)) == said(twice)


def test_a_worker_that_is_killed_changes_nothing(spark: Any, tmp_path: Path) -> None:  # noqa: ANN401
    tasks = pl.concat([tasks_of(f"run-{seed}", seed=seed) for seed in range(8)])
    for number in range(40):
        part = tasks.filter(pl.int_range(pl.len()) % 40 == number)
        part.write_parquet(tmp_path / f"part-{number}.parquet")
    # One file, one task, and no task before its time: so the worker dies with work in its hands.
    spark.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))
    pause = "reflect('java.lang.Thread', 'sleep', 5L) is not null"
    frame = spark.read.parquet(str(tmp_path)).where(pause)
    found: list[pl.DataFrame] = []
    job = Thread(target=lambda: found.append(sf.tally(frame, benchmark=SHOP, families=True)))
    before = workers()
    assert len(before) == 2
    job.start()
    while not spark.sparkContext.statusTracker().getActiveStageIds():
        time.sleep(0.01)
    os.kill(min(before), signal.SIGKILL)
    assert job.is_alive()
    job.join()
    assert min(before) not in workers()
    assert found[0].equals(sf.tally(tasks, benchmark=SHOP, families=True))
