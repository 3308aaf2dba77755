"""A run against a reference run, cell by cell: how many sigmas lie between them.

It answers one question before any other: does this set-up give the numbers that it gave before? A run that deviates says
nothing about a skill yet; the harness, the sites or the step budget may have changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import polars as pl

from skillshift_frames.anchor import (
    NOT_MEASURED,
    check_budget,
    check_complete,
    only_run,
    restrict,
    some,
    suggest,
)
from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.cells import cells as compute_cells
from skillshift_frames.errors import InputError, check_choice, check_frame, check_records
from skillshift_frames.metrics import Errors
from skillshift_frames.readers.anchors import read_anchor
from skillshift_frames.schema import METRICS, family

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.readers.anchors import Anchor, AnchorCell, Reference

#: Only these decide; calls are too rare for the other two.
GATES = ("SR", "AS")

#: One row is one site × condition × metric.
CALIBRATION = pl.Schema(
    {
        "site": pl.String(),
        "condition": pl.String(),
        "metric": pl.String(),
        "n": pl.Int64(),  # tasks behind the reference's SR
        "observed": pl.Float64(),  # the run's, in the metric's unit
        "value": pl.Float64(),  # the reference's
        "sigma": pl.Float64(),
        "deviation": pl.Float64(),  # in sigmas; null where there is no sigma, or it is 0
        "low": pl.Float64(),  # the exact bound that stands in for sigma where it is 0
        "high": pl.Float64(),
        "gates": pl.Boolean(),
        "deviates": pl.Boolean(),  # null: cannot be judged
        "reason": pl.String(),  # why there is no deviation
    }
)


def calibrate(
    tasks: pl.DataFrame | pl.LazyFrame,
    anchor: str | os.PathLike[str] | Mapping[str, Any],
    *,
    threshold: float | None = None,
    step_budget: int | None = None,
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors | None = None,
) -> pl.DataFrame:
    """Compare a run with a reference run, in sigmas of the reference.

    One row is one site × condition × metric of the anchor.

    Parameters
    ----------
    tasks
        Records of one run, as `skillshift_frames.TASKS`. Only tasks of the anchor's subset are used.
    anchor
        A file that ``calibrate --make`` wrote, or what `anchor` gives.
    threshold
        More sigmas than this is a deviation; default: what the anchor says, which is 3 unless somebody changed it.
    step_budget
        How many steps a task was allowed; it must equal the anchor's. Where it is not given, a run in which no task took
        more steps than the anchor allows is taken to have had the same.
    benchmark
        As for `skillshift_frames.cells`; it must be the anchor's.
    errors
        As for `skillshift_frames.cells`; it must be the anchor's, which is the default.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `CALIBRATION`, sites and conditions in the benchmark's order. ``deviation`` is
        ``|observed − value| / sigma``, and ``deviates`` tells whether it is above the threshold. Only rows with ``gates``
        (SR and AS) decide about a run. Where all of the reference's n tasks passed, or all failed, sigma is 0 and the
        deviation null; SR is then judged by the exact bound at the same tail probability: α = 2(1 − Φ(threshold)), ``low`` is
        100·(α/2)^(1/n) (``high`` mirrored), and below it the run deviates. For other metrics without a sigma, or with a
        sigma of 0, an equal number does not deviate and any other cannot be judged: ``deviates`` is null and ``reason``
        says why. So it is for a number that is undefined on either side, and for SFR, which has no sigma.

    Raises
    ------
    InputError
        The two cannot be compared: no or a broken anchor, several runs, another benchmark, another policy for errors,
        another step budget, a cell in which fewer tasks were scored than the anchor has, or no row that gates can be
        judged.
    BenchmarkError
        As for `skillshift_frames.cells`.

    Notes
    -----
    Sigma is the reference's alone, but both runs are samples. Where every attempt is a new draw, the difference of two
    honest runs has √2 times that sigma and is beyond 3 of them in 2(1 − Φ(3/√2)) = 3.4 % of the rows that gate, more often
    where few tasks are behind a cell. Measured on reruns with the rates and steps of ``data/demo/induced.jsonl``: 4 % of
    these rows on all tasks and 8 % on the pinned subset, so that 8 of 10 and 19 of 20 honest reruns have at least one. It is
    far less where a task mostly ends as it did before: 0.2 % and 0.9 % with rates of tasks as unequal as Beta(p, 1 − p), and
    steps that are Poisson around a task's own number. A row just above the threshold is no proof that something changed.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 4}, conditions=("plain",))
    >>> row = {
    ...     "run": "asi",
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "skill_calls": 0,
    ...     "skill_failures": 0,
    ... }
    >>> rows = [row | {"uid": str(i), "success": i < 1, "steps": 2 * i} for i in range(4)]
    >>> old = sf.from_frame(pl.DataFrame(rows), benchmark=shop)
    >>> new = old.with_columns(success=pl.lit(value=True), steps=pl.col("steps") + 5)
    >>> found = calibrate(new, sf.anchor(old, benchmark=shop), benchmark=shop)
    >>> found.select(
    ...     "metric", "observed", "value", pl.col("deviation").round(2), "deviates"
    ... ).rows()[:2]
    [('SR', 100.0, 25.0, 3.46, True), ('AS', 8.0, 3.0, 3.87, True)]
    """
    check_frame("tasks", tasks, "read_tasks")
    name, reference = read_anchor(anchor)
    return calibration(
        tasks,
        name,
        reference,
        threshold=threshold,
        step_budget=step_budget,
        benchmark=benchmark,
        errors=errors,
    ).rows


@dataclass(frozen=True, slots=True)
class Calibration:
    """A run against an anchor.

    Attributes
    ----------
    run, benchmark
        What was compared.
    name, reference
        The anchor: how it was named, and what it holds.
    threshold
        In sigmas.
    rows
        One row is one site × condition × metric (`CALIBRATION`).
    notes
        What had to be taken for granted, as sentences.
    """

    run: str
    benchmark: Benchmark
    name: str
    reference: Anchor
    threshold: float
    rows: pl.DataFrame
    notes: tuple[str, ...]

    def count(self, *, deviates: bool | None) -> int:
        """Count the rows that gate and deviate, that gate and do not, or that gate and cannot be judged (None)."""
        gating = self.rows.filter("gates").get_column("deviates")
        return gating.to_list().count(deviates)

    @property
    def deviating(self) -> int:
        """How many rows that gate deviate."""
        return self.count(deviates=True)

    @property
    def judged(self) -> int:
        """How many rows that gate could be judged."""
        return self.deviating + self.count(deviates=False)

    @property
    def by_chance(self) -> float:
        """How many of them would deviate if the run were the reference's again, every attempt a new draw.

        The difference of two runs has √2 times the sigma of one, so that it is beyond the threshold with probability
        2(1 − Φ(threshold / √2)) = erfc(threshold / 2).
        """
        return self.judged * math.erfc(self.threshold / 2)

    @property
    def not_judged(self) -> int:
        """How many rows that gate could not."""
        return self.count(deviates=None)


def calibration(
    tasks: pl.DataFrame | pl.LazyFrame,
    name: str,
    reference: Anchor,
    *,
    threshold: float | None = None,
    step_budget: int | None = None,
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors | None = None,
) -> Calibration:
    """Compare a run with an anchor that was read already; as `calibrate`, with all that limits the answer."""
    sigmas = reference.threshold_sigma if threshold is None else threshold
    if not (math.isfinite(sigmas) and sigmas > 0):
        msg = f"threshold is {sigmas:g}; a positive number of sigmas is needed"
        raise InputError(msg)
    if errors is not None and errors != reference.errors:
        check_choice("errors", errors, get_args(Errors))
        msg = (
            f"{name}: errors: is {reference.errors!r}, and the run was to be read with {errors!r}; "
            f"give --errors {reference.errors}"
        )
        raise InputError(msg)
    frame = tasks.lazy().collect()
    check_records("tasks", frame)
    run = only_run(frame)
    axes = resolve_benchmark(benchmark, frame)
    _check_axes(name, reference, axes)
    budget_note = _compare_budgets(frame, name, reference.step_budget, step_budget)
    used = restrict(frame, reference.subset)
    if reference.subset is not None:
        _check_subset(used, name, run, reference.subset)
    anchored = {(cell.site, cell.condition): cell for cell in reference.cells}
    computed = compute_cells(used, benchmark=axes, errors=reference.errors)
    cells = [
        cell
        for cell in computed.iter_rows(named=True)
        if (cell["site"], cell["condition"]) in anchored
    ]
    wanted = {place: cell.n for place, cell in anchored.items()}
    check_complete(used, cells, wanted, reference.subset, reference.errors)
    rows = [
        row
        for cell in cells
        for row in _rows(cell, anchored[cell["site"], cell["condition"]], sigmas)
    ]
    result = Calibration(
        run=run,
        benchmark=axes,
        name=name,
        reference=reference,
        threshold=sigmas,
        rows=pl.DataFrame(rows, schema=CALIBRATION, orient="row"),
        notes=(budget_note, *_notes_on_tasks(cells, wanted)),
    )
    if not result.judged:
        why = result.rows.filter("gates").item(0, "reason")
        msg = (
            f"{name}: not one of the {result.not_judged} numbers that gate can be judged: {why}; "
            "an anchor of more tasks is needed"
        )
        raise InputError(msg)
    return result


def _compare_budgets(
    tasks: pl.DataFrame, name: str, anchored: int | None, given: int | None
) -> str:
    """Raise where the two runs had different budgets, and say what is known of them otherwise."""
    if given is not None and given != anchored:
        if anchored is None:
            msg = (
                f"{name}: step_budget: is null, so there is nothing to compare {given} with; "
                "leave --step-budget out, or make the anchor with it"
            )
        else:
            msg = f"{name}: step_budget: is {anchored}, and the run's is {given}; runs with different budgets cannot be compared"
        raise InputError(msg)
    if anchored is None:
        return "Step budget: none was recorded; it is taken for the same"
    check_budget(tasks, anchored, f"the budget in {name},")
    if given is not None:
        return f"Step budget: {anchored} on both sides"
    if tasks.get_column("steps").null_count() == tasks.height:
        return f"Step budget: taken for the same, {anchored}; the run does not record steps"
    return f"Step budget: taken for the same, {anchored}; no task took more steps"


def _check_axes(name: str, reference: Anchor, axes: Benchmark) -> None:
    if reference.benchmark != axes.name:
        msg = f"{name}: benchmark: is {reference.benchmark!r}, and the run is read under {axes.name!r}; give the same --benchmark"
        raise InputError(msg)
    for place, cell in enumerate(reference.cells):
        for field, known in (("site", tuple(axes.sites)), ("condition", axes.conditions)):
            value = getattr(cell, field)
            if value not in known:
                msg = f"{name}: cells[{place}].{field}: {value!r} is not a {field} of benchmark {axes.name}{suggest(value, known)}"
                raise InputError(msg)


def _check_subset(
    used: pl.DataFrame, name: str, run: str, families: Mapping[str, Sequence[str]]
) -> None:
    """Raise where the run does not know a task of the subset under any condition."""
    present = set(used.select("site", family()).unique().iter_rows())
    lacking = [
        task for site, names in families.items() for task in names if (site, task) not in present
    ]
    if lacking:
        size = sum(map(len, families.values()))
        msg = (
            f"{name}: subset: run {run!r} has no record of {some(lacking)}, "
            f"{len(lacking)} of the {size} tasks that the anchor is of; {NOT_MEASURED}"
        )
        raise InputError(msg)


def _notes_on_tasks(
    cells: Iterable[Mapping[str, Any]], wanted: Mapping[tuple[str, str], int]
) -> Iterator[str]:
    more = [
        f"{cell['site']} × {cell['condition']} {cell['n']}, not {n}"
        for cell in cells
        for n in [wanted[cell["site"], cell["condition"]]]
        if cell["n"] > n
    ]
    if more:
        yield f"More tasks than in the reference: {some(more)}"


def _rows(
    seen: Mapping[str, Any], cell: AnchorCell, threshold: float
) -> Iterator[tuple[object, ...]]:
    """Give the rows of one cell, in the order of `CALIBRATION`."""
    for metric in METRICS:
        found: Reference = getattr(cell.metrics, metric)
        judged = _judge(metric, seen[metric], found, cell.n, threshold)
        numbers = (cell.n, seen[metric], found.value, found.sigma)
        deviation, low, high, deviates, reason = judged
        yield (
            *(cell.site, cell.condition, metric, *numbers),
            *(deviation, low, high, metric in GATES, deviates, reason),
        )


#: Deviation, low, high, whether it deviates, reason.
_Judged: TypeAlias = tuple[float | None, float | None, float | None, bool | None, str | None]


def _judge(
    metric: str, observed: float | None, reference: Reference, n: int, threshold: float
) -> _Judged:
    """Decide what may be said of one number; nothing is divided by a sigma that is not there, or 0."""
    value, sigma = reference.value, reference.sigma
    if value is None or observed is None or metric == "SFR":
        why = "SFR has no sigma"
        if value is None or observed is None:
            why = f"undefined in {'the reference' if value is None else 'the run'}"
        return (None, None, None, None, why)
    if sigma:
        deviation = abs(observed - value) / sigma
        if math.isinf(deviation):
            return (None, None, None, True, "more sigmas than a number can hold")
        return (deviation, None, None, deviation > threshold, None)
    if metric == "SR" and sigma is not None and value in {0.0, 100.0}:
        low, high = _bound(n, threshold, passed=value > 0)
        how = "passed" if value > 0 else "failed"
        why = f"all tasks of the reference {how}; judged by the exact bound"
        return (None, low, high, not low <= observed <= high, why)
    why = "the anchor has no sigma" if sigma is None else "no spread in the reference"
    equal = observed == value
    why += "; the run is equal" if equal else ", and the run differs"
    return (None, None, None, False if equal else None, why)


def _bound(n: int, threshold: float, *, passed: bool) -> tuple[float, float]:
    """Give the exact bound of an SR, in percent, where all n tasks passed, or all failed.

    As `skillshift_frames.stats.intervals.exact_binomial` at level 1 − α, from the tail itself: 1 − α has no digits left for
    a threshold of 8. The closed form also spares the half second that importing scipy takes.
    """
    tail = math.erfc(threshold / math.sqrt(2)) / 2  # α/2 = 1 − Φ(threshold)
    exponent = math.log(tail) / n if tail else -math.inf
    edge = 100 * math.exp(exponent)
    return (edge, 100.0) if passed else (0.0, 100.0 - edge)
