"""What intervals cost, in one process: imports are paid before, calls take turns."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TIMES = 100  # as many tasks in the large run


def measure_intervals(path: Path, rounds: int) -> dict[str, float]:
    """Give the median seconds of: 40 intervals of one run, the same of a run with many tasks, one interval of SciPy."""
    import numpy as np
    from scipy.stats import bootstrap

    tasks = sf.read_tasks(path)
    values = tasks.get_column("success").cast(pl.Float64).to_numpy()
    many = pl.concat(tasks.with_columns(pl.col("uid") + f"{copy:03}") for copy in range(TIMES))
    sites = {site: n * TIMES for site, n in sf.SKILLSHIFT.sites.items()}
    large = sf.Benchmark("large", sites, sf.SKILLSHIFT.conditions)

    def one_of_scipy() -> object:
        # A batch that fits the cache is SciPy at its best: without one, it takes a third longer.
        return bootstrap(
            (values,), np.mean, n_resamples=10_000, method="percentile", batch=100, rng=1
        )

    return _in_turn(
        {
            "40 intervals of one run": lambda: sf.intervals(tasks),
            f"40 intervals of {TIMES} × the tasks": lambda: sf.intervals(many, benchmark=large),
            "one scipy.stats.bootstrap": one_of_scipy,
        },
        rounds,
    )


def _in_turn(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for counted in [False] + [True] * rounds:
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if counted:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(of) for name, of in seconds.items()}
