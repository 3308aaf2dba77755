"""What `check` says: every fault, then, for records without one, what was not measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.errors import describe_faults
from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.escape import escape_text
from skillshift_frames.render.machine import SCHEMA_VERSION, coverage_by_run, to_json
from skillshift_frames.render.numbers import format_count
from skillshift_frames.render.tables import coverage_by_run_notes, coverage_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark

_TASKS_NAMED = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """What records without a fault cover: their cells and gaps, and the bounds that the gaps leave."""

    benchmark: Benchmark
    cells: pl.DataFrame
    gaps: pl.DataFrame
    bounds: pl.DataFrame

    @property
    def complete(self) -> bool:
        """Every task that the benchmark expects was measured, in every run, and no trial failed to be."""
        return not self.cells.select(
            (pl.col("missing") + pl.col("errored") + pl.col("errored_trials")).sum()
        ).item()


def check_text(faults: pl.DataFrame, records: int, measured: Measured | None) -> str:
    """Say the first faults line by line, count the rest, then list the gaps."""
    lines = [*describe_faults(faults), _summary(faults, records)]
    if measured is not None:
        for run, note in coverage_by_run_notes(measured.cells, measured.bounds, measured.benchmark):
            lines += [note.text, *_gaps_of(run, measured)]
    return "".join(f"{escape_text(line)}\n" for line in lines)


def _summary(faults: pl.DataFrame, records: int) -> str:
    errors = faults.filter(pl.col("severity") == "error")
    warnings = faults.height - errors.height
    counted = [
        f"{format_count(n)} {word if n == 1 else word + 's'}"
        for n, word in ((errors.height, "fault"), (warnings, "warning"))
        if n
    ]
    good = f"{format_count(records)} {'record' if records == 1 else 'records'} without a fault"
    if not errors.height:
        return f"{good}{', ' + counted[0] if counted else ''}"
    files = errors.get_column("path").n_unique()
    return f"{', '.join(counted)} in {files} {'file' if files == 1 else 'files'}; {good}; nothing is computed from these files"


def _gaps_of(run: str, measured: Measured) -> Iterator[str]:
    """Name the tasks of one run that were not measured, cell by cell."""
    of_run = measured.gaps.filter(pl.col("run") == run)
    for (site, condition, status), tasks in of_run.group_by(
        "site", "condition", "status", maintain_order=True
    ):
        named = [
            f"{family} ({error})" if error else str(family)
            for family, error in tasks.select("family", "error").head(_TASKS_NAMED).iter_rows()
        ]
        rest = tasks.height - len(named)
        yield f"  {status} in {site} × {condition}: {', '.join(named)}{f' and {rest} more' if rest else ''}"
    missing = measured.cells.filter(pl.col("run") == run).get_column("missing").sum()
    unnamed = int(missing) - of_run.filter(pl.col("status") == "missing").height
    if unnamed > 0:
        yield f"  missing without a name: {format_count(unnamed)} tasks that no cell of these runs has"


def check_document(faults: pl.DataFrame, records: int, measured: Measured | None) -> Document:
    """Describe the faults as a table, one row each, with the coverage below."""
    columns = (
        Column("File", "left"),
        Column("Line"),
        *(Column(name, "left") for name in ("Field", "Fault", "Hint")),
    )
    rows = tuple(
        Row(tuple(Cell("" if value is None else str(value)) for value in row))
        for row in faults.select("path", "line", "field", "message", "hint").iter_rows()
    )
    notes = [Note(_summary(faults, records))]
    if measured is not None:
        notes += coverage_notes(measured.cells, measured.bounds, measured.benchmark)
    return Document(title="Faults", columns=columns, rows=rows, notes=tuple(notes))


def check_json(faults: pl.DataFrame, records: int, measured: Measured | None) -> str:
    """Give every fault, and for records without one the coverage and the tasks that were not measured."""
    content = {
        "schema_version": SCHEMA_VERSION,
        "records": records,
        "faults": faults.to_dicts(),
        "coverage": [] if measured is None else coverage_by_run(measured.cells),
        "gaps": [] if measured is None else measured.gaps.to_dicts(),
    }
    return to_json(content)
