"""All that a report shows, as it was computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.compare import Comparison
    from skillshift_frames.metrics import Errors
    from skillshift_frames.table import Null


class Audited(NamedTuple):
    """What the checks found in the entries of all runs; ``left_out`` says of a run why it cannot be an entry."""

    findings: pl.DataFrame
    notes: list[str]
    entries: int
    left_out: dict[str, str]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The frames behind a report; ``slots`` has the ends of its intervals, ``pairs`` is one frame per comparison."""

    benchmark: Benchmark
    records: dict[str, int]
    digests: dict[str, str]
    cells: pl.DataFrame
    slots: pl.DataFrame
    intervals: pl.DataFrame
    cell_intervals: pl.DataFrame
    coverage: pl.DataFrame
    bounds: pl.DataFrame
    gaps: pl.DataFrame
    base: str | None
    comparisons: list[Comparison]
    pairs: list[pl.DataFrame]
    audited: Audited
    errors: Errors
    null: Null
    level: float
    seed: int
    resamples: int
    method: str
    margin: float | None
