"""Pairs → lifts: per metric and slot the difference of the two sides, its interval, and who won how often."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.decide import LOWER_IS_BETTER
from skillshift_frames.intervals import FEWEST_FAMILIES, SPREAD, families_by_site
from skillshift_frames.pairs import BASE, TREATMENT, per_task
from skillshift_frames.stats.macro import macro_means
from skillshift_frames.stats.resampling import total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.intervals import Ends, Plan
    from skillshift_frames.stats.resampling import Array, Group, Statistic

_SCALE = {"SR": 100.0, "SFR": 100.0}

#: One row is one metric × slot; ``slot`` may also be ``column=value`` where ``by`` was given.
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
        "tasks": pl.Int64,  # with at least one pair
        "families": pl.Int64,  # those with the metric
        "wins": pl.Int64,  # tasks on which the treatment is better; null for ASC and SFR
        "losses": pl.Int64,
        "ties": pl.Int64,
        "discordant": pl.Int64,  # tasks that differ
        "cells": pl.Int64,  # that have pairs
        "cells_expected": pl.Int64,
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
    tasks = per_task(both, metrics, composite)
    sample = _Sample.of(tasks, metrics, axes)
    base, treatment, lift = sample.estimates()
    ends = plan.ends(sample.groups, sample.lift)
    inner: list[Ends] | None = None
    if margin is not None:
        # Two one-sided tests at 1 − level each are one interval at 2 · level − 1.
        inner = replace(plan, level=2 * plan.level - 1).ends(sample.groups, sample.lift)
    none = (None, None)
    rows = []
    for number, (metric, slot) in enumerate(product(metrics, axes.slots)):
        inside = _inside(tasks, slot, axes)
        values = (base[number], treatment[number], lift[number])
        known = inside.filter(pl.any_horizontal(f"{metric}_{BASE}_n", f"{metric}_{TREATMENT}_n"))
        families = known.select("site", "family").n_unique()
        low, high, reason = _judge(values[2], inside.height, families, ends[number])
        rows.append(
            (
                metric,
                slot,
                *(None if math.isnan(value) else value for value in values),
                *(low, high),
                *((inner[number].low, inner[number].high) if inner and reason is None else none),
                *(inside.height, families),
                *_wins(inside, metric),
                *(inside.select("site", "condition").n_unique(), _cells_of(slot, axes)),
                reason,
            )
        )
    return pl.DataFrame(rows, schema=LIFTS, orient="row")


@dataclass(frozen=True, slots=True)
class _Sample:
    """The pairs' families by site, as rows of numbers of both sides, and the statistics of each side."""

    groups: list[Group]
    sides: tuple[Statistic, Statistic]

    @classmethod
    def of(cls, tasks: pl.DataFrame, metrics: Sequence[str], axes: Benchmark) -> _Sample:
        import numpy as np

        parts = [
            f"{m}_{side}{end}" for end in ("", "_n") for side in (BASE, TREATMENT) for m in metrics
        ]
        key = ["site", "family", "condition"]
        sums = tasks.group_by(key).agg(pl.col(parts).sum()).sort(key)
        groups, columns = families_by_site(sums, parts, axes)
        used = np.zeros((len(axes.sites), len(axes.conditions)), dtype=bool)
        for site, condition in tasks.select("site", "condition").unique().iter_rows():
            used[list(axes.sites).index(site), axes.conditions.index(condition)] = True
        scale = np.array([_SCALE.get(metric, 1.0) for metric in metrics])
        tops, bottoms = np.split(columns, 2)
        sides = [
            macro_means(top, bottom, scale, used=used)
            for top, bottom in zip(np.split(tops, 2), np.split(bottoms, 2), strict=True)
        ]
        return cls(groups, (sides[0], sides[1]))

    def lift(self, sums: Array) -> Array:
        """Give treatment − base of every metric and slot."""
        base, treatment = self.sides
        difference: Array = treatment(sums) - base(sums)
        return difference

    def estimates(self) -> tuple[list[float], list[float], list[float]]:
        """Give base, treatment and lift of the pairs themselves."""
        sums = total(self.groups)
        base, treatment = (side(sums).tolist() for side in self.sides)
        return base, treatment, self.lift(sums).tolist()


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
    if math.isnan(lift):
        return None, None, "undefined on a side"
    if families < FEWEST_FAMILIES:
        return None, None, "a single family tells nothing about the next"
    if math.isnan(ends.low):
        return None, None, f"undefined in {100 * ends.undefined:.1f} % of the resamples"
    if ends.high - ends.low <= SPREAD * max(1.0, abs(ends.high)):
        return None, None, f"no spread: all {families} families agree"
    return ends.low, ends.high, None


def _wins(tasks: pl.DataFrame, metric: str) -> tuple[int | None, int | None, int | None, int]:
    """Count the tasks on which the treatment is better, worse, the same; and those that differ."""
    known = tasks.filter(
        (pl.col(f"{metric}_{BASE}_n") > 0) & (pl.col(f"{metric}_{TREATMENT}_n") > 0)
    )
    difference = known.get_column(f"{metric}_{TREATMENT}") - known.get_column(f"{metric}_{BASE}")
    up, down = int((difference > 0).sum()), int((difference < 0).sum())
    if metric in {
        "ASC",
        "SFR",
    }:  # more calls are neither better nor worse; a task's own failure rate is mostly 0/0
        return None, None, None, up + down
    wins, losses = (down, up) if metric in LOWER_IS_BETTER else (up, down)
    return wins, losses, known.height - up - down, up + down
