"""Runs of which the truth is known: families differ in how hard they are, and are so under every condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np  # noqa: TID253
import polars as pl

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Unequal sites, and conditions of which one has the other version's uids.
SHOP = sf.Benchmark("shop", sites={"cart": 24, "search": 9}, conditions=("src", "src-perc", "tgt"))


def uid(site: str, condition: str, index: int) -> str:
    return f"skillshift.{site}.{'v2' if condition.startswith('tgt') else 'v1'}.{index}"


def simulate(
    run: str = "asi",
    *,
    benchmark: sf.Benchmark = SHOP,
    logit: float = 0.0,
    calls: float = 1.5,
    seed: int = 0,
    tasks_seed: int = 0,
) -> list[dict[str, Any]]:
    """Give the records of a complete run; those with one ``tasks_seed`` share the hardness of their tasks."""
    rng, tasks = np.random.default_rng([seed, 1]), np.random.default_rng([tasks_seed, 2])
    rows: list[dict[str, Any]] = []
    for site, n in benchmark.sites.items():
        for index, ease in enumerate(tasks.normal(size=n).tolist()):
            for condition in benchmark.conditions:
                made = int(rng.poisson(calls))
                rows.append(
                    {
                        "run": run,
                        "uid": uid(site, condition, index),
                        "site": site,
                        "condition": condition,
                        "trial": 1,
                        "success": bool(rng.random() < 1 / (1 + np.exp(-logit - 1.5 * ease))),
                        "steps": int(1 + rng.poisson(np.exp(1.5 - 0.5 * ease))),
                        "skill_calls": made,
                        "skill_failures": int(rng.binomial(made, 0.3)),
                        "error": None,
                    }
                )
    return rows


def frame_of(
    records: Iterable[dict[str, Any]],
    benchmark: sf.Benchmark | str = SHOP,
    **reading: Any,  # noqa: ANN401 - passed on
) -> pl.DataFrame:
    frame = pl.DataFrame(list(records), schema_overrides=dict(sf.TASKS), infer_schema_length=None)
    return sf.from_frame(frame, benchmark=benchmark, **reading)


def tasks_of(
    run: str = "asi",
    *,
    benchmark: sf.Benchmark = SHOP,
    **simulation: Any,  # noqa: ANN401 - passed on
) -> pl.DataFrame:
    return frame_of(simulate(run, benchmark=benchmark, **simulation), benchmark)
