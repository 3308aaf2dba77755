"""The formats that programs read: JSON without NaN, CSV in full precision, null as null."""

from __future__ import annotations

import json
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec
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
    ends = [name for name in ("low", "high", "method", "reason") if name in slots.columns]
    keys = {"value": "values"} | {
        name: name for name in ("n", "n_expected", "calls", "marks", *ends)
    }
    rows = []
    in_rows = groupby(slots.select("run", "metric", "slot", *keys).rows(), key=itemgetter(0, 1))
    for (run, metric), of_row in in_rows:
        _, _, names, *columns = zip(*of_row, strict=True)
        row: dict[str, Any] = {"run": run, "metric": metric, "unit": METRICS[metric]}
        row |= {
            key: dict(zip(names, numbers, strict=True))
            for key, numbers in zip(keys.values(), columns, strict=True)
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
    of_runs = cells.select("run", "site", "condition", *_COVERAGE).rows_by_key("run", named=True)
    totals = cells.group_by("run", maintain_order=True).agg(
        pl.col(*_COVERAGE, "errored_trials").sum()
    )
    return [row | {"cells": of_runs[row["run"]]} for row in totals.iter_rows(named=True)]


def to_json(content: dict[str, Any]) -> str:
    """Write JSON that any strict parser takes: NaN and Infinity raise, since no number here may be one."""
    # Indented by msgspec, which Python's encoder takes four times as long for.
    written = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return msgspec.json.format(written, indent=2) + "\n"


def to_csv(frame: pl.DataFrame) -> str:
    """Write CSV in full precision: header, line feeds, null as nothing between the commas."""
    return frame.write_csv(line_terminator="\n")
