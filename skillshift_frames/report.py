"""Everything there is to say about some runs, on one page that stands alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import polars as pl

from skillshift_frames.audit import audit
from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.cells import bounds, cells, coverage, gaps
from skillshift_frames.compare import compare
from skillshift_frames.entry import slots_known
from skillshift_frames.entry_check import check_entry
from skillshift_frames.errors import InputError, check_frame, check_records
from skillshift_frames.feasibility import feasibility
from skillshift_frames.findings import FINDINGS
from skillshift_frames.intervals import cell_intervals, intervals
from skillshift_frames.pairs import pairs
from skillshift_frames.receipt import records_digest
from skillshift_frames.render.audit import tested_notes
from skillshift_frames.render.entries import write_entry
from skillshift_frames.render.machine import slots_with_ends
from skillshift_frames.render.report.numbers import Audited, Numbers
from skillshift_frames.render.report.page import page_html
from skillshift_frames.render.report.sections import lead, scripts, sections, title_of
from skillshift_frames.sampling import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED, Plan
from skillshift_frames.submit import build_entry
from skillshift_frames.table import slots

if TYPE_CHECKING:
    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.sampling import Method, Rng
    from skillshift_frames.table import Null


#: What records do not say, and no check of numbers looks at.
_NAME, _METHOD, _MODEL, _DATE = "entry", "method", "model", "2000-01-01"


class _How(TypedDict):
    level: float
    resamples: int
    rng: int
    method: Method
    benchmark: Benchmark
    errors: Errors


def report(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    base: str | None = None,
    title: str | None = None,
    margin: float | None = None,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = DEFAULT_SEED,
    method: Method = "auto",
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
    null: Null = "propagate",
    javascript: bool = True,
    command: str | None = None,
) -> str:
    """Put everything there is to say about some runs on one page: coverage, table, cells, charts, intervals, audit, methods.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, of one run or of several.
    base
        The label of the run that every other one is compared with; without it nothing is compared.
    title
        The page's; by default the benchmark and the runs.
    margin, level, resamples, rng, method, benchmark, errors, null
        As for `skillshift_frames.compare`, `skillshift_frames.intervals` and `skillshift_frames.table`.
    javascript
        Whether charts come to life where scripts run (0.9 MB more). They are drawn on the page either way.
    command
        What made the page, as it is to be printed; by default the call of this function.

    Returns
    -------
    str
        HTML 5, whole: style, charts and scripts are inside, and its own policy forbids every request. The same records give
        the same bytes, in whatever order they come, on one installation. Without the extra ``plots`` a sentence stands
        where the charts would. An entry that cannot be made or audited is left out, with the reason in its place.

    Raises
    ------
    InputError
        ``base`` is no run, or the only one; what `skillshift_frames.intervals` and `skillshift_frames.compare` refuse.
    BenchmarkError
        The records are not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks("data/demo/reference.jsonl")
    >>> page = sf.report(tasks, resamples=100, javascript=False)
    >>> page.splitlines()[0], page.count("<h1>"), "<script" in page, "31.38" in page
    ('<!DOCTYPE html>', 1, False, True)
    """
    check_frame("tasks", tasks, "read_tasks")
    frame = tasks.lazy().collect()
    check_records("tasks", frame)
    labels = frame.get_column("run").unique().sort().to_list()
    _check_base(base, labels)
    plan = Plan.of(level, resamples, rng, method)
    axes = resolve_benchmark(benchmark, frame)
    of_cells = cells(frame, benchmark=axes, errors=errors)
    how = _How(
        level=level,
        resamples=resamples,
        rng=plan.seed,
        method=method,
        benchmark=axes,
        errors=errors,
    )
    ends = intervals(frame, **how, null=null)
    sides = [(base, label) for label in labels if base is not None and label != base]
    numbers = Numbers(
        benchmark=axes,
        records=dict(frame.group_by("run").len().iter_rows()),
        digests={label: records_digest(frame.filter(run=label)) for label in labels},
        cells=of_cells,
        slots=slots_with_ends(slots(of_cells, benchmark=axes, null=null), ends),
        intervals=ends,
        cell_intervals=cell_intervals(frame, **how),
        coverage=coverage(of_cells),
        bounds=bounds(of_cells),
        gaps=gaps(frame, benchmark=axes),
        base=base,
        comparisons=[compare(frame, base=a, treatment=b, margin=margin, **how) for a, b in sides],
        pairs=[pairs(frame, base=a, treatment=b, errors=errors) for a, b in sides],
        audited=_audit_runs(frame, benchmark=benchmark, errors=errors),
        errors=errors,
        null=null,
        level=level,
        seed=plan.seed,
        resamples=resamples,
        method=method,
        margin=margin,
    )
    return page_html(
        title_of(numbers) if title is None else title,
        lead(numbers),
        sections(numbers, command=command, alive=javascript),
        scripts(alive=javascript),
    )


def _check_base(base: str | None, labels: list[str]) -> None:
    """Raise where the base is no run, or there is none to compare it with."""
    if not labels:
        msg = "there are no records"
        raise InputError(msg)
    if base is None:
        return
    if base not in labels:
        msg = f"there is no run {base!r}; the records have {', '.join(labels)}"
        raise InputError(msg)
    if len(labels) == 1:
        msg = f"{base!r} is the only run; a base needs another to be compared with it"
        raise InputError(msg)


def _audit_runs(tasks: pl.DataFrame, *, benchmark: BenchmarkLike, errors: Errors) -> Audited:
    """Build the entry of each run, check it against its records, and audit its printed numbers."""
    found = [FINDINGS.to_frame()]
    left_out: dict[str, str] = {}
    said_of: dict[str, list[str]] = {}
    runs = tasks.get_column("run").unique().sort().to_list()
    for run in runs:
        try:
            findings, said = _audit_run(tasks.filter(run=run), benchmark, errors)
        except InputError as error:
            left_out[run] = str(error)
            continue
        found.append(findings.with_columns(entry=pl.lit(run, pl.String)))
        for note in said:
            said_of.setdefault(note, []).append(run)
    entries = len(runs) - len(left_out)
    notes = [
        note if len(of_runs) == entries else f"{', '.join(of_runs)}: {note}"
        for note, of_runs in said_of.items()
    ]
    return Audited(pl.concat(found), notes, entries, left_out)


def _audit_run(
    tasks: pl.DataFrame, benchmark: BenchmarkLike, errors: Errors
) -> tuple[pl.DataFrame, list[str]]:
    axes = slots_known(benchmark)
    built = build_entry(
        tasks,
        name=_NAME,
        method=_METHOD,
        model=_MODEL,
        date=_DATE,
        benchmark=axes,
        errors=errors,
        partial=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        # The checks read files, as the leaderboard's do.
        path, _ = write_entry(built, Path(folder, "entry.json"))
        checked = check_entry(path, records=tasks, benchmark=axes, errors=errors)
        audited = audit(path, benchmark=axes)
        tested = feasibility(path, benchmark=axes)
    # Both look at ranges and identities: what they agree on is said once.
    both = pl.concat([checked, audited]).unique(
        ["severity", "code", "metric", "slot", "message"], keep="first", maintain_order=True
    )
    # Where the files lay is nobody's concern, and never the same twice.
    place = pl.col("message", "hint").str.replace_all(f"{folder}{os.sep}", "", literal=True)
    return both.with_columns(place), list(tested_notes(tested, axes))
