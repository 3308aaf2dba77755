"""The formats that programs read: JSON without NaN, CSV in full precision, null as null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.schema import METRICS
from skillshift_frames.table import Null, identity, widen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors

SCHEMA_VERSION = 1

_COVERAGE = ("expected", "scored", "errored", "missing")


def table_json(
    slots: pl.DataFrame,
    cells: pl.DataFrame,
    benchmark: Benchmark,
    *,
    errors: Errors,
    null: Null,
    uncertainty: Mapping[str, object] | None = None,
) -> str:
    """Give the table, its denominators and marks, the coverage and the identity as one JSON object.

    Where ``slots`` has the columns ``low`` and ``high``, so have the rows; ``uncertainty`` says how they were found.
    """
    rows = []
    for (run, metric), numbers in slots.group_by("run", "metric", maintain_order=True):
        row: dict[str, Any] = {"run": run, "metric": metric, "unit": METRICS[str(metric)]}
        keys = {
            "values": "value",
            "n": "n",
            "n_expected": "n_expected",
            "calls": "calls",
            "marks": "marks",
        }
        keys |= {
            name: name for name in ("low", "high", "method", "reason") if name in slots.columns
        }
        row |= {
            key: dict(numbers.select("slot", column).iter_rows()) for key, column in keys.items()
        }
        rows.append(row)
    return to_json(
        _header(benchmark, errors)
        | {"null": null, "level": None, "seed": None, **(uncertainty or {})}
        | {
            "coverage": coverage_by_run(cells),
            "rows": rows,
            "identity": identity(widen(slots, benchmark), benchmark=benchmark).to_dicts(),
        }
    )


def cells_json(
    cells: pl.DataFrame,
    benchmark: Benchmark,
    *,
    errors: Errors,
    uncertainty: Mapping[str, object] | None = None,
) -> str:
    """Give the cells, one object each, as one JSON object."""
    return to_json(
        _header(benchmark, errors)
        | dict(uncertainty or {})
        | {"coverage": coverage_by_run(cells), "rows": cells.to_dicts()}
    )


def slots_with_ends(slots: pl.DataFrame, intervals: pl.DataFrame) -> pl.DataFrame:
    """Give the slots with ``low``, ``high``, ``method`` and ``reason`` after them."""
    key = ["run", "metric", "slot"]
    ends = intervals.select(*key, "low", "high", "method", "reason")
    return slots.join(ends, on=key, how="left", maintain_order="left")


def table_with_ends(slots: pl.DataFrame, benchmark: Benchmark) -> pl.DataFrame:
    """Give the table in wide form, with ``…_low`` and ``…_high`` per slot after it where ``slots`` has them."""
    wide = widen(slots, benchmark)
    for end in ("low", "high") if "low" in slots.columns else ():
        ends = widen(slots.with_columns(value=pl.col(end)), benchmark).select(benchmark.slots)
        wide = wide.hstack(ends.rename({slot: f"{slot}_{end}" for slot in benchmark.slots}))
    return wide


def cells_with_ends(cells: pl.DataFrame, intervals: pl.DataFrame) -> pl.DataFrame:
    """Give the cells with ``SR_low``, ``SR_high``, ``SR_method``, ``SR_reason`` and so on after them."""
    key = ["run", "site", "condition"]
    for metric in METRICS:
        said = ("low", "high", "method", "reason")
        ends = intervals.filter(metric=metric).select(
            *key, *(pl.col(name).alias(f"{metric}_{name}") for name in said)
        )
        cells = cells.join(ends, on=key, how="left", maintain_order="left")
    return cells


def _header(benchmark: Benchmark, errors: Errors) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION, "benchmark": benchmark.name, "errors": errors}


def coverage_by_run(cells: pl.DataFrame) -> list[dict[str, Any]]:
    """Give the coverage per run, and inside it per cell."""
    return [
        {"run": run}
        | of_run.select(pl.col(*_COVERAGE, "errored_trials").sum()).row(0, named=True)
        | {"cells": of_run.select("site", "condition", *_COVERAGE).to_dicts()}
        for (run,), of_run in cells.group_by("run", maintain_order=True)
    ]


def to_json(content: dict[str, Any]) -> str:
    """Write JSON that any strict parser takes: NaN and Infinity raise, since no number here may be one."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def to_csv(frame: pl.DataFrame) -> str:
    """Write CSV in full precision: header, line feeds, null as nothing between the commas."""
    return frame.write_csv(line_terminator="\n")
