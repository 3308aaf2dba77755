"""Runs for pages: hostile ones, many, and one that came to nothing."""

from __future__ import annotations

from typing import Any

import polars as pl

import skillshift_frames as sf

#: What a label may hold, each with a tag, a quote, an entity, a sign of some language, a direction, or simply length.
HOSTILE = (
    "<script>window.pwned = 1; alert(1)</script>",
    "</script><script>window.pwned = 1</script><!--",
    "\"onmouseover='window.pwned = 1' x=\"<img src=x onerror=alert(1)>",
    "100 % of src_perc & more' \\ `${window.pwned = 1}`",
    "שלום \u202egnp.txt עולם",
    "x" * 200,
)

#: A benchmark whose names are as bad as its labels.
HOSTILE_AXES = sf.Benchmark(
    'a <b>bad</b> "benchmark" & co',
    sites={f"site {HOSTILE[0]}": 3, f"site {HOSTILE[3]}": 2},
    conditions=(f"condition {HOSTILE[1]}", f"condition {HOSTILE[4]}", HOSTILE[5]),
)


def hostile_tasks() -> pl.DataFrame:
    """Give runs whose labels, sites, conditions, uids and errors are hostile."""
    rows = [
        {
            "run": run,
            "uid": f"{HOSTILE[index % 6]} {index}",
            "site": site,
            "condition": condition,
            "success": None if index == 1 else (index + number) % 2 == 0,
            "steps": 3 + index,
            "skill_calls": index,
            "skill_failures": index // 2,
            "error": HOSTILE[number % 6] if index == 1 else None,
        }
        for number, run in enumerate(HOSTILE)
        for site, tasks in HOSTILE_AXES.sites.items()
        for condition in HOSTILE_AXES.conditions
        for index in range(tasks)
    ]
    return sf.from_frame(pl.DataFrame(rows), benchmark=HOSTILE_AXES)


def copies(demo: str, labels: list[str]) -> pl.DataFrame:
    """Give a demo run under several labels."""
    tasks = sf.read_tasks(f"data/demo/{demo}.jsonl")
    return pl.concat([tasks.with_columns(run=pl.lit(label)) for label in labels])


def errored(tasks: pl.DataFrame, label: str) -> pl.DataFrame:
    """Give a run in which nothing was measured."""
    nothing: dict[str, Any] = {"run": pl.lit(label), "error": pl.lit("HTTP 503")}
    nothing["success"] = pl.lit(None, pl.Boolean)
    return tasks.with_columns(**nothing)
