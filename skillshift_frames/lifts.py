"""Pairs → lifts: per metric and slot the difference of the two sides, its interval, and who won how often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.pairs import BASE, TIMES, TREATMENT, per_task
from skillshift_frames.sampling import (
    SPREAD,
    differences,
    families_by_site,
    judge_difference,
    rounded,
)
from skillshift_frames.schema import LOWER_IS_BETTER, METRICS, NO_DIRECTION
from skillshift_frames.stats.macro import macro_means
from skillshift_frames.stats.resampling import total

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.sampling import Ends, Plan, Sample
    from skillshift_frames.stats.resampling import Array, Statistic

_SCALE = {"SR": 100.0, "SFR": 100.0}

#: One row is one metric × slot.
LIFTS = pl.Schema(
    {
        "metric": pl.String,
        "slot": pl.String,
        "base": pl.Float64,  # of the pairs, in the metric's unit
        "treatment": pl.Float64,
        "lift": pl.Float64,  # treatment − base
        "low": pl.Float64,
        "high": pl.Float64,
        "equivalence_low": pl.Float64,  # at 2 · level − 1; with a margin only
        "equivalence_high": pl.Float64,
        "tasks": pl.Int64,  # with a pair that has the metric on both sides (SFR: with a pair)
        "families": pl.Int64,  # those with the metric
        "wins": pl.Int64,  # tasks on which the treatment is better; null for ASC and SFR
        "losses": pl.Int64,
        "ties": pl.Int64,
        "discordant": pl.Int64,  # tasks that differ
        "cells": pl.Int64,  # that have pairs
        "cells_expected": pl.Int64,
        "method": pl.String,  # bootstrap or delta
        "reason": pl.String,  # why there is no interval
    }
)


def lifts(
    both: pl.DataFrame,
    metrics: Sequence[str],
    composite: Sequence[str],
    *,
    axes: Benchmark,
    plan: Plan,
    margin: float | None,
) -> pl.DataFrame:
    """Give the lift of every metric in every slot: columns and dtypes as `LIFTS`.

    ``both`` are pairs (`skillshift_frames.pairs.Pairs`); other arguments as for `skillshift_frames.compare`.
    """
    # The four come first, also where they were not asked for: so the draws, and with them a metric's interval, do not
    # depend on what else is compared.
    all_metrics = [*METRICS, *(metric for metric in metrics if metric not in METRICS)]
    tasks = per_task(both, all_metrics, composite)
    sample, lift = _sample(tasks, all_metrics, axes)
    base, treatment, difference = _estimates(sample, lift)
    slots = list(product(all_metrics, axes.slots))
    inside = {slot: _inside(tasks, slot, axes) for slot in axes.slots}
    behind = [_families(inside[slot], metric) for metric, slot in slots]
    # Two one-sided tests at 1 − level each are one interval at 2 · level − 1, of the same draws.
    levels = [plan.level] if margin is None else [plan.level, 2 * plan.level - 1]
    ends, *inner = (
        # A rate is between 0 and 100, so that no lift of it is beyond ±100.
        [
            found.within(_SCALE.get(metric, math.inf))
            for found, (metric, _) in zip(of, slots, strict=True)
        ]
        for of in plan.ends(sample, lift, behind, levels)
    )
    rows = []
    for number, (metric, slot) in enumerate(slots):
        part = inside[slot]
        values = (base[number], treatment[number], difference[number])
        low, high, reason = _judge(values[2], part.height, behind[number], ends[number])
        tested = inner[0][number][:2] if inner and reason is None else (None, None)
        rows.append(
            (
                metric,
                slot,
                *(None if math.isnan(value) else value for value in values),
                *(low, high),
                *tested,
                *(_count(_with_values(part, metric)), behind[number]),
                *_wins(part, metric),
                *(part.select("site", "condition").n_unique(), _cells_of(slot, axes)),
                *(ends[number].method if reason is None else None, reason),
            )
        )
    listed = pl.DataFrame(rows, schema=LIFTS, orient="row")
    wanted = {metric: number for number, metric in enumerate(metrics)}
    asked = listed.filter(pl.col("metric").is_in(list(wanted)))
    return asked.sort(pl.col("metric").replace_strict(wanted), maintain_order=True)


def _with_values(tasks: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Give the tasks behind a metric: those that have it on both sides (for SFR all: what counts there are calls)."""
    if metric == "SFR":
        return tasks
    return tasks.filter(
        (pl.col(f"{metric}_{BASE}_n") > 0) & (pl.col(f"{metric}_{TREATMENT}_n") > 0)
    )


def _count(tasks: pl.DataFrame) -> int:
    return int(tasks.get_column(TIMES).sum())


def _families(tasks: pl.DataFrame, metric: str) -> int:
    """Count the families that have the metric on a side."""
    known = tasks.filter(pl.any_horizontal(f"{metric}_{BASE}_n", f"{metric}_{TREATMENT}_n"))
    return _count(known.unique(["site", "family"]))


@dataclass(frozen=True, slots=True)
class _Lift:
    """Makes the statistic treatment − base of every metric and slot, over the cells that have pairs."""

    scale: list[float]
    used: NDArray[np.bool_]

    def sides(self, sample: Sample, metrics: Sequence[int]) -> tuple[Statistic, Statistic]:
        import numpy as np

        scale = np.array(self.scale)[list(metrics)]
        base, treatment, base_n, treatment_n = sample.columns
        return (
            macro_means(base, base_n, scale, used=self.used),
            macro_means(treatment, treatment_n, scale, used=self.used),
        )

    def __call__(self, sample: Sample, metrics: Sequence[int]) -> Statistic:
        base, treatment = self.sides(sample, metrics)

        def lift(sums: Array) -> Array:
            return differences(treatment(sums), base(sums))

        return lift


def _sample(tasks: pl.DataFrame, metrics: Sequence[str], axes: Benchmark) -> tuple[Sample, _Lift]:
    """Give the pairs' families by site, as rows of numbers of both sides."""
    import numpy as np

    kinds = [
        [f"{metric}_{side}{end}" for metric in metrics]
        for end in ("", "_n")
        for side in (BASE, TREATMENT)
    ]
    key = ["site", "family", "condition"]
    parts = [name for kind in kinds for name in kind]
    # All tasks of a kind stand for the same families.
    sums = tasks.group_by(key).agg(pl.col(parts).sum(), pl.col(TIMES).first())
    used = np.zeros((len(axes.sites), len(axes.conditions)), dtype=bool)
    for site, condition in tasks.select("site", "condition").unique().iter_rows():
        used[list(axes.sites).index(site), axes.conditions.index(condition)] = True
    scale = [_SCALE.get(metric, 1.0) for metric in metrics]
    return families_by_site(sums, kinds, axes), _Lift(scale, used)


def _estimates(sample: Sample, lift: _Lift) -> tuple[list[float], list[float], list[float]]:
    """Give base, treatment and lift of the pairs themselves."""
    sums = total(sample.groups)
    sides = [side(sums).tolist() for side in lift.sides(sample, range(len(lift.scale)))]
    differences = [_difference(*values) for values in zip(*sides, strict=True)]
    base, treatment = ([rounded(value) for value in side] for side in sides)
    return base, treatment, differences


def _difference(base: float, treatment: float) -> float:
    lift = treatment - base
    # What is left of two equal sums of fractions is no lift.
    return 0.0 if abs(lift) <= SPREAD * max(abs(base), abs(treatment)) else rounded(lift)


def _inside(tasks: pl.DataFrame, slot: str, axes: Benchmark) -> pl.DataFrame:
    """Give the tasks of a slot's cells."""
    if slot == "overall":
        return tasks
    return tasks.filter(pl.col("site" if slot in axes.sites else "condition") == slot)


def _cells_of(slot: str, axes: Benchmark) -> int:
    sites, conditions = len(axes.sites), len(axes.conditions)
    return sites * conditions if slot == "overall" else conditions if slot in axes.sites else sites


def _judge(
    lift: float, tasks: int, families: int, ends: Ends
) -> tuple[float | None, float | None, str | None]:
    """Give the interval or the reason why there is none; never a point."""
    if not tasks:
        return None, None, "no pairs"
    return judge_difference(None if math.isnan(lift) else lift, families, ends)


def _wins(tasks: pl.DataFrame, metric: str) -> tuple[int | None, int | None, int | None, int]:
    """Count the tasks on which the treatment is better, worse, the same; and those that differ."""
    known = _with_values(tasks, metric)
    difference = pl.col(f"{metric}_{TREATMENT}") - pl.col(f"{metric}_{BASE}")
    up, down = _count(known.filter(difference > 0)), _count(known.filter(difference < 0))
    if metric in NO_DIRECTION or metric == "SFR":  # a task's own failure rate is mostly 0/0
        return None, None, None, up + down
    wins, losses = (down, up) if metric in LOWER_IS_BETTER else (up, down)
    return wins, losses, _count(known) - up - down, up + down
