"""The formats that programs read: JSON without NaN, CSV in full precision, null as null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.schema import METRICS
from skillshift_frames.table import Null, identity, widen

if TYPE_CHECKING:
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
) -> str:
    """Give the table, its denominators and marks, the coverage and the identity as one JSON object."""
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
        row |= {
            key: dict(numbers.select("slot", column).iter_rows()) for key, column in keys.items()
        }
        rows.append(row)
    return to_json(
        _header(benchmark, errors)
        | {"null": null, "level": None, "seed": None}
        | {
            "coverage": coverage_by_run(cells),
            "rows": rows,
            "identity": identity(widen(slots, benchmark), benchmark=benchmark).to_dicts(),
        }
    )


def cells_json(cells: pl.DataFrame, benchmark: Benchmark, *, errors: Errors) -> str:
    """Give the cells, one object each, as one JSON object."""
    return to_json(
        _header(benchmark, errors) | {"coverage": coverage_by_run(cells), "rows": cells.to_dicts()}
    )


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
