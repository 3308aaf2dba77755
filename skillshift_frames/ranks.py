"""Runs in the order of their success rates, with what each rank is worth.

Runs share their tasks, so they are resampled together: each resample draws the same families for all of them, and ranks
them anew.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.errors import check_choice
from skillshift_frames.intervals import intervals
from skillshift_frames.outcomes import contributions, with_families
from skillshift_frames.sampling import (
    DEFAULT_LEVEL,
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Ends,
    Plan,
    difference,
    differences,
    families_behind,
    families_by_site,
    judge_difference,
    rounded,
)
from skillshift_frames.stats.bootstrap import UNDEFINED_LIMIT, draw, percentiles
from skillshift_frames.stats.macro import macro_means
from skillshift_frames.stats.rounding import half_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.sampling import Rng, Sample
    from skillshift_frames.stats.resampling import Array

#: One row is one run.
RANKS = pl.Schema(
    {
        "rank": pl.Int64,  # 1 is best; null where SR is undefined
        "run": pl.String,
        "SR": pl.Float64,  # percent
        "low": pl.Float64,
        "high": pl.Float64,
        "rank_low": pl.Int64,  # the best rank that the run may well have
        "rank_high": pl.Int64,  # the worst
        "families": pl.Int64,
        "method": pl.String,  # of low and high: bootstrap, delta or exact
        "below": pl.String,  # the run that comes next; null for the last
        "lift": pl.Float64,  # over it, in points
        "lift_low": pl.Float64,
        "lift_high": pl.Float64,
        "apart": pl.Boolean,  # whether that interval excludes 0
        "reason": pl.String,  # why SR has no interval
        "rank_reason": pl.String,  # why the rank has none
        "lift_reason": pl.String,  # why the lift has none
    }
)

#: Of a hundredth: numbers that differ by less are equal as printed.
_HAIR = 1e-7


def printed_form(value: float | None) -> Decimal | None:
    """Give a number as it is printed: what looks equal is equal.

    Examples
    --------
    >>> printed_form(35.294) == printed_form(35.291), printed_form(None)
    (True, None)
    """
    return None if value is None else half_up(value)


def ranks(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    slot: str = "overall",
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = DEFAULT_SEED,
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
) -> pl.DataFrame:
    """Rank runs by SR, with how far each rank is to be trusted.

    One row is one run.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, or their tally, made of all runs together with ``families=True``: of tallies
        that were merged run by run nothing says that runs share tasks, and each run is drawn for itself.
    slot
        A site, a condition or ``"overall"``: which SR to rank by.
    level, resamples, rng
        As for `skillshift_frames.intervals`.
    benchmark, errors
        As for `skillshift_frames.cells`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `RANKS`, the best run first. ``SR``, ``low``, ``high``, ``families``, ``method`` and
        ``reason`` are those of `skillshift_frames.intervals`. Runs that are equal as printed (two decimals) share a rank, and the next one is
        skipped: 1, 1, 3. A run with an undefined SR has no rank and comes last.

        ``rank_low`` and ``rank_high`` bound the rank: resampled families are the same ones for all runs, because runs share
        their tasks, and each resample ranks the runs anew. Ends are whole ranks, and the rank itself lies between them; both
        may be one and the same, which the run then has in nearly all resamples. ``lift`` is SR over that of the run ``below``, with an interval from the same draws; where it
        includes 0, the two cannot be told apart (``apart`` is false). Where there is no interval, ``rank_reason`` and
        ``lift_reason`` say why: a run alone has no rank to doubt, and resampling says nothing about a run whose families all
        agree. Empty for no tasks.

    Raises
    ------
    InputError
        There is no such slot, or as `skillshift_frames.intervals`.
    BenchmarkError
        The records are not the benchmark's.

    Notes
    -----
    The lift is between the runs' own numbers. Where runs lack tasks, `skillshift_frames.compare` uses those that both
    have. Neighbours are looked at one by one, without a correction for their number. A resample in which the SR of any
    ranked run is undefined has no ranks; above 5 % of them there are no intervals of ranks.

    References
    ----------
    Goldstein and Spiegelhalter (1996), League tables and their limitations, JRSS A 159, 385-443; Hall and Miller (2009),
    Using the bootstrap to quantify the authority of an empirical ranking, Annals of Statistics 37, 3929-3959.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> runs = [f"data/demo/{name}.jsonl" for name in ("reference", "induced", "workflow")]
    >>> found = ranks(sf.read_tasks(runs))
    >>> found.select("rank", "run", "rank_low", "rank_high", "below", "apart")
    shape: (3, 6)
    ┌──────┬───────────┬──────────┬───────────┬───────────┬───────┐
    │ rank ┆ run       ┆ rank_low ┆ rank_high ┆ below     ┆ apart │
    │ ---  ┆ ---       ┆ ---      ┆ ---       ┆ ---       ┆ ---   │
    │ i64  ┆ str       ┆ i64      ┆ i64       ┆ str       ┆ bool  │
    ╞══════╪═══════════╪══════════╪═══════════╪═══════════╪═══════╡
    │ 1    ┆ induced   ┆ 1        ┆ 2         ┆ workflow  ┆ false │
    │ 2    ┆ workflow  ┆ 1        ┆ 2         ┆ reference ┆ true  │
    │ 3    ┆ reference ┆ 3        ┆ 3         ┆ null      ┆ null  │
    └──────┴───────────┴──────────┴───────────┴───────────┴───────┘
    """
    plan = Plan.of(level, resamples, rng, "bootstrap")
    frame = with_families(tasks)
    axes = resolve_benchmark(benchmark, frame)
    check_choice("slot", slot, axes.slots)
    found = intervals(
        frame,
        level=level,
        resamples=resamples,
        rng=plan.seed,
        benchmark=axes,
        errors=errors,
    ).filter(metric="SR", slot=slot)
    numbers = {row["run"]: row for row in found.iter_rows(named=True)}
    names = sorted(run for run, row in numbers.items() if row["estimate"] is not None)
    rows: list[dict[str, Any]] = []
    if names:
        sums = contributions(frame, errors=errors)
        joint = _draw_jointly(sums, names, slot, axes, plan)
        rows += _ranked_runs(joint, numbers, plan.level)
    rows += [
        {"run": run, "families": row["families"], "reason": row["reason"]}
        | {"rank_reason": row["reason"]}
        for run, row in sorted(numbers.items())
        if row["estimate"] is None
    ]
    return pl.DataFrame(rows, schema=RANKS, orient="row")


class _Joint(NamedTuple):
    """One slot's SR of several runs in the same resamples.

    ``drawn`` is ``(resamples, runs)``, NaN where undefined; ``sites`` and ``conditions`` are the numbers of the slot's, None
    for all.
    """

    names: list[str]
    drawn: Array
    sample: Sample
    sites: list[int] | None
    conditions: list[int] | None

    def of_run(self, run: str) -> Array:
        """Give the resampled SR of a run."""
        return self.drawn[:, self.names.index(run)]

    def families(self, *runs: str) -> int:
        """Count the families behind the slot of any of the runs."""
        numbers = [self.names.index(run) for run in runs]
        return families_behind(self.sample, numbers, sites=self.sites, conditions=self.conditions)


def _draw_jointly(
    sums: pl.DataFrame, names: list[str], slot: str, axes: Benchmark, plan: Plan
) -> _Joint:
    """Draw the families of all runs together: runs take the place of metrics, and a family holds those of every run."""
    import numpy as np

    parts = ("SR_top", "SR_bottom")
    key = [name for name in ("site", "family", "condition", "times") if name in sums.columns]
    kinds = [[f"{part}_{number}" for number in range(len(names))] for part in parts]
    of_runs = [
        sums.filter(run=run).select(
            *key, *(pl.col(part).alias(f"{part}_{number}") for part in parts)
        )
        for number, run in enumerate(names)
    ]
    joined = pl.concat(of_runs, how="diagonal").with_columns(
        pl.col(name).fill_null(0.0) for kind in kinds for name in kind
    )
    sample = families_by_site(joined, kinds, axes)
    top, bottom = sample.columns
    means = macro_means(top, bottom, np.full(len(names), 100.0))
    place, step = axes.slots.index(slot), len(axes.slots)
    drawn = draw(
        sample.groups,
        lambda sums: means(sums)[..., place::step],
        resamples=plan.resamples,
        seed=plan.seed,
    )
    sites = [list(axes.sites).index(slot)] if slot in axes.sites else None
    conditions = [axes.conditions.index(slot)] if slot in axes.conditions else None
    return _Joint(names, drawn, sample, sites, conditions)


def _ranked_runs(
    joint: _Joint, numbers: dict[str, dict[str, Any]], level: float
) -> Iterator[dict[str, Any]]:
    """Give the runs that have a number in their order, with the intervals of their ranks and lifts."""
    printed = {run: printed_form(numbers[run]["estimate"]) or Decimal(0) for run in joint.names}
    order = sorted(joint.names, key=lambda run: -printed[run])  # equal ones stay in that of names
    spans, undefined = _rank_intervals(joint.drawn, level)
    for run, below in zip(order, [*order[1:], None], strict=True):
        number = numbers[run]
        reason = _no_rank(number, len(order), undefined)
        rank = 1 + sum(printed[other] > printed[run] for other in order)
        row = {"rank": rank, "run": run, "SR": number["estimate"], "rank_reason": reason}
        row |= {name: number[name] for name in ("low", "high", "families", "method", "reason")}
        if reason is None:  # of many runs that are alike, few resamples keep the first one first
            low, high = spans[joint.names.index(run)]
            row |= {"rank_low": min(low, rank), "rank_high": max(high, rank)}
        yield row | ({} if below is None else _over(joint, run, below, numbers, level))


def _no_rank(number: dict[str, Any], runs: int, undefined: float) -> str | None:
    """Say why a run's rank has no interval, None where it has one."""
    if runs == 1:
        return "a run alone has no other to rank against"
    if number["reason"] is not None:
        return str(number["reason"])
    if number["estimate"] in {0.0, 100.0}:
        return f"all {number['families']} families agree"
    if undefined > UNDEFINED_LIMIT:
        return f"a run is undefined in {100 * undefined:.1f} % of the resamples"
    return None


def _rank_intervals(drawn: Array, level: float) -> tuple[list[tuple[int, int]], float]:
    """Rank the runs of every resample, and give the percentile interval of each run's ranks, and the share without ranks."""
    import numpy as np

    whole = ~np.isnan(drawn).any(axis=1)
    if not whole.any():
        return [(0, 0)] * drawn.shape[1], 1.0
    # Rounded as printed: ranks are those of numbers that can be told apart on paper. The last digits of a sum of fractions
    # depend on how it was added up; the small term keeps them from deciding.
    hundredths = np.floor(100 * drawn[whole] + 0.5 + _HAIR)
    tail = (1 - level) / 2
    spans = []
    for run in range(drawn.shape[1]):
        placed = 1 + (hundredths > hundredths[:, [run]]).sum(axis=1)
        low, high = np.quantile(placed, [tail, 1 - tail], method="inverted_cdf").tolist()
        spans.append((int(low), int(high)))
    return spans, float(1 - whole.mean())


def _over(
    joint: _Joint, run: str, below: str, numbers: dict[str, dict[str, Any]], level: float
) -> dict[str, Any]:
    """Compare a run with the one below it."""
    lift = difference(numbers[run]["estimate"], numbers[below]["estimate"])
    drawn = differences(joint.of_run(run), joint.of_run(below))
    found = percentiles(drawn[:, None], level=level)
    low, high, undefined = (float(each[0]) for each in found)
    ends = Ends(rounded(low), rounded(high), undefined, "bootstrap")
    near, far, reason = judge_difference(lift, joint.families(run, below), ends)
    apart = None if near is None or far is None else near > 0 or far < 0
    said = {"lift_low": near, "lift_high": far, "lift_reason": reason, "apart": apart}
    return {"below": below, "lift": lift} | said
