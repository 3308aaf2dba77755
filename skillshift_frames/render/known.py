"""Which of the library's frames a frame is, told by its columns and their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import skillshift_frames as sf
from skillshift_frames.benchmark import SKILLSHIFT, known_benchmark
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.table import Null

#: Public name of a schema → what one row is.
ROWS = {
    "CALIBRATION": "one row per cell and metric, against the reference",
    "CELLS": "one row per run and cell",
    "CELL_COSTS": "one row per run, cell and quantity",
    "CELL_INTERVALS": "one row per run, cell and metric",
    "CHANGES": "one row per skill and agent, all first",
    "CORRELATIONS": "one row per pair of scores",
    "COSTS": "one row per arm and quantity",
    "DISTRIBUTIONS": "one row per score",
    "FAMILY_TALLY": "one row per task of a kind of family",
    "FAULTS": "one row per fault",
    "FEASIBILITY": "one row per printed number",
    "FINDINGS": "one row per finding",
    "GATES": "one row per score and gate",
    "HEADROOM": "one row per probe",
    "INTERVALS": "one row per run, metric and slot",
    "LEADERBOARD": "one row per entry",
    "LIFTS": "one row per metric and slot",
    "LIFT_CASES": "one row per paired case and metric",
    "METRIC_LIFTS": "one row per metric",
    "MOMENTS": "one row per sum over families",
    "PAIRS": "one row per pair",
    "PAIRED_BOUNDS": "one row per slot",
    "RANKS": "one row per run",
    "SHIFTS": "one row per run and condition",
    "SLOTS": "one row per run, metric and slot",
    "TABLE": "one row per run and metric",
    "TALLY": "one row per run, cell and outcome",
    "TASKS": "one row per record",
    "TRIALS": "one row per trial",
}

#: Of these, further columns are the user's own: kept keys of records, or what a tool recorded.
_OPEN = ("TASKS", "TRIALS")


def schema_name(frame: pl.DataFrame) -> str | None:
    """Give the public name of a frame's schema; None where it has none, as after a column was added or dropped.

    Examples
    --------
    >>> import skillshift_frames as sf, polars as pl
    >>> schema_name(sf.CELLS.to_frame()), schema_name(pl.DataFrame({"run": ["asi"]}))
    ('CELLS', None)
    """
    has = dict(frame.schema)
    for name in ROWS:
        wanted = dict(getattr(sf, name))
        if has == wanted or (name in _OPEN and wanted.items() <= has.items()):
            return name
    return None


def benchmark_of(frame: pl.DataFrame, given: BenchmarkLike | None) -> Benchmark | None:
    """Give the benchmark whose table a frame of records, cells or slots makes: the given one, else the one it fits.

    Parameters
    ----------
    frame
        Has ``site`` and ``condition``, or ``slot``, or is a table with a column per slot.
    given
        What the caller said; ``"infer"`` and None look at the frame.

    Returns
    -------
    Benchmark or None
        None where the frame does not tell: in slots of another benchmark, sites and conditions are not told apart.

    Raises
    ------
    BenchmarkError
        The given one cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> benchmark_of(pl.DataFrame({"site": ["gitlab"], "condition": ["src"]}), None).name
    'skillshift'
    >>> benchmark_of(pl.DataFrame({"slot": ["shop"]}), None) is None
    True
    """
    known = None if given is None else known_benchmark(given)
    if known is not None:
        return known
    if {"site", "condition"} <= set(frame.columns):
        sites, conditions = (set(frame.get_column(name)) for name in ("site", "condition"))
        if sites <= set(SKILLSHIFT.sites) and conditions <= set(SKILLSHIFT.conditions):
            return SKILLSHIFT
        from skillshift_frames.benchmark import infer_benchmark  # noqa: PLC0415 - nearly all are SkillShift's

        return infer_benchmark(frame)
    named = frame.get_column("slot") if "slot" in frame.columns else frame.columns[2:]
    return SKILLSHIFT if set(named) <= set(SKILLSHIFT.slots) else None


def is_whole(frame: pl.DataFrame, benchmark: Benchmark) -> bool:
    """Tell whether every run of a frame of cells, or every run and metric of a frame of slots, has all its rows in order.

    A table of some of them would look like one of all.
    """
    if "slot" in frame.columns:
        key, rows = ("metric", "slot"), [(m, s) for m in METRICS for s in benchmark.slots]
    else:
        key, rows = (
            ("site", "condition"),
            [(s, c) for s in benchmark.sites for c in benchmark.conditions],
        )
    runs = frame.get_column("run").unique(maintain_order=True)
    expected = [(run, *names) for run in runs for names in rows]
    return frame.select("run", *key).rows() == expected


def errors_policy(cells: pl.DataFrame) -> Errors | None:
    """Tell what became of tasks with an error; None where there is none, so that it made no difference."""
    errored = cells.filter(pl.col("errored_trials") > 0)
    if not errored.height:
        return None
    zero = errored.select((pl.col("n") > pl.col("scored")).any()).item()
    # A task with a measured trial counts either way: only its trials tell.
    only_trials = errored.select((pl.col("errored") == 0).all()).item()
    if only_trials:
        return None
    return "zero" if zero else "exclude"


def null_policy(slots: pl.DataFrame) -> Null | None:
    """Tell how means over undefined cells were made; None where there is none, so that it made no difference."""
    marks = set(slots.get_column("marks").explode().drop_nulls())
    if "available" in marks:
        return "available"
    short = slots.filter(
        pl.col("value").is_null() & (pl.col("cells") > 0) & (pl.col("cells") < pl.col("cells_expected"))
    )  # fmt: skip
    return "propagate" if short.height else None
