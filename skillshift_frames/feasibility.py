"""Printed means against the counts that they were made of: which values no complete run can give.

A site's SR is 100 · T / (cells · tasks) for a whole number T of successes. For 6 cells of 162 tasks such values lie 0.10
apart, and two printed decimals tell most numbers from all of them. That holds whoever made the number and however; it says
that the number is not what one complete run gives with these counts, and nothing about why.

Two ways of computing are allowed for: cells that were averaged exactly, and cells that were rounded, as the printed numbers
are, before they were averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, lcm
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from skillshift_frames.entry import slots_known
from skillshift_frames.errors import InputError
from skillshift_frames.marginals import half_unit, in_range
from skillshift_frames.readers.entries import Read
from skillshift_frames.readers.entry_files import read_entry_files
from skillshift_frames.readers.entry_rows import parse_frame
from skillshift_frames.readers.wording import Number
from skillshift_frames.stats.feasible import counts, decides, fitting_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.readers.entries import Entry
    from skillshift_frames.readers.sources import Paths

    #: Files, a frame of rows, or what was read already.
    Source: TypeAlias = Paths | pl.DataFrame | Read

#: Metric → what its counts are multiplied by, and whether a trial can add no more than 1 to them. SFR is a mean of ratios.
SCALES = {"SR": (100, True), "AS": (1, False), "ASC": (1, False)}

#: What a number that was not tested has in place of an answer.
POOLED = "pools the runs of several models, and does not say how many trials are behind a cell"
PARTIAL = "states a partial run, whose cells have unequal numbers of tasks"
TOO_COARSE = "at this precision every value is possible"

#: Task counts are tried up to so far from the stated one, as a share of it (and at least so many tasks).
_REACH, _LEAST_REACH, _LARGEST_REACH = 10, 5, 100

#: More trials of a task than anybody makes.
_LARGEST_TRIALS = 1_000_000
_INT64 = 1 << 63
_LONGEST_COUNT = 20

#: One row is one entry × metric × slot with a printed number.
FEASIBILITY = pl.Schema(
    {
        "entry": pl.String(),
        "method": pl.String(),
        "model": pl.String(),
        "metric": pl.String(),
        "slot": pl.String(),
        "printed": pl.String(),
        "trials": pl.Int64(),  # that it is a mean over; of conditions and overall the common denominator; null where unknown
        "spacing": pl.Float64(),  # between neighbouring possible values, in the metric's unit
        "exact": pl.Boolean(),  # whether some counts give it; null where that was not tested
        "rounded": pl.Boolean(),  # whether some do if cells were rounded before they were averaged
        "below": pl.Float64(),  # the nearest possible values
        "above": pl.Float64(),
        "tasks_that_fit": pl.List(
            pl.Int64()
        ),  # tasks per cell near the stated ones that would, nearest first
        "reason": pl.String(),  # why it was not tested
    }
)


def feasibility(
    source: Source, *, trials: int = 1, benchmark: BenchmarkLike = "skillshift"
) -> pl.DataFrame:
    """Tell for every printed SR, AS and ASC whether any counts give it.

    One row is one entry × metric × slot with a printed number.

    Parameters
    ----------
    source
        What `skillshift_frames.audit` takes.
    trials
        Trials of each task behind a cell; as many as there are runs where runs were pooled.
    benchmark
        Its conditions, and its task counts where an entry does not state its own.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `FEASIBILITY`. ``exact`` and ``rounded`` are null, with the reason, where nothing was tested:
        the precision cannot rule any value out (two decimals never can for AS and ASC of this benchmark, nor for
        conditions and overall, whose sites have task counts without common factors), or the entry pools models and
        ``trials`` is 1. A number that ``rounded`` calls impossible cannot come from one complete run per cell with the
        stated counts, computed either way. ``tasks_that_fit`` is for sites only: a wrong task count is one explanation of
        many, and by chance alone a share of about 2 · slack / spacing of all counts fits.

    Raises
    ------
    InputError
        As `skillshift_frames.audit`; ``trials`` is below 1.

    References
    ----------
    Brown, N. J. L. and Heathers, J. A. J. (2017), The GRIM test, Social Psychological and Personality Science 8, 363-369.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> lab = sf.Benchmark("lab", sites={"bench": 124}, conditions=("plain",))
    >>> row = pl.DataFrame({"metric": ["SR"], "bench": [22.38]})
    >>> feasibility(row, benchmark=lab).select(
    ...     "slot", "rounded", pl.col("below", "above").round(2)
    ... ).row(0)
    ('bench', False, 21.77, 22.58)
    """
    axes = slots_known(benchmark)
    rows = [
        row
        for entry in read_source(source, axes).entries
        for row in _rows(Counting(entry, axes, check_trials(trials)))
    ]
    return pl.DataFrame(rows, schema=FEASIBILITY, orient="row")


def check_trials(trials: int) -> int:
    """Give the number of trials per task, or raise `InputError` where it is none."""
    if type(trials) is not int or not 1 <= trials <= _LARGEST_TRIALS:
        msg = f"trials is {trials}; 1 to {_LARGEST_TRIALS:,} are needed"
        raise InputError(msg)
    return trials


def read_source(source: Source, benchmark: Benchmark) -> Read:
    """Give the entries of files or of a frame, and the findings that keep numbers of theirs from being read."""
    if isinstance(source, Read):
        return source
    if isinstance(source, pl.DataFrame):
        return Read(parse_frame(source, benchmark), [])
    if isinstance(source, dict):
        msg = "the source is a dict; give the file of the entry, or a frame of rows such as published gives"
        raise InputError(msg)
    found = read_entry_files(source, benchmark)
    # What an entry file says besides its numbers plays no part here; of a table every line does.
    files = {entry.name for entry in found.entries if entry.content is not None}
    about_numbers = [
        finding
        for finding in found.findings
        if finding.metric is not None or finding.entry not in files
    ]
    return Read(found.entries, about_numbers)


class Model(Enum):
    """A way of computing: from cells as they are, or from cells that were rounded as the coarsest printed number is."""

    EXACT = "exact"
    ROUNDED = "rounded"


EXACT, ROUNDED = Model.EXACT, Model.ROUNDED


@dataclass(frozen=True)
class Counting:
    """What the numbers of one entry are means over.

    Attributes
    ----------
    entry, benchmark
        Whose numbers, in which slots.
    trials
        Of each task behind a cell.
    """

    entry: Entry
    benchmark: Benchmark
    trials: int = 1

    @property
    def reason(self) -> str | None:
        """Why nothing can be counted, None where it can."""
        if self.entry.pools_models and self.trials == 1:
            return POOLED
        tasks = self.entry.tasks
        if not all(tasks.values()):
            return PARTIAL
        # A complete run has the same tasks in every condition; where an entry states others, some cells have fewer.
        summed = sum(tasks.values())
        return PARTIAL if any(n != summed for n in _condition_tasks(self.entry)) else None

    def size(self, slot: str, tasks: Mapping[str, int] | None = None) -> int:
        """Give the denominator of a slot: every value it can have is a multiple of scale / size."""
        sites = self.entry.tasks if tasks is None else tasks
        cells = len(self.benchmark.conditions)
        if slot in sites:
            return sites[slot] * cells * self.trials
        # A mean over sites: multiples of the least common one. Not all of them can be had, but nothing else can.
        common = lcm(*sites.values()) * len(sites) * self.trials
        return common * cells if slot == "overall" else common

    def slack(self, metric: str, number: Decimal, model: Model) -> Fraction:
        """Tell how far a printed number may be off the mean of its cells."""
        if model is EXACT:
            return half_unit(number)
        return half_unit(number) + max(half_unit(number), self._coarsest.get(metric, Fraction()))

    @cached_property
    def _coarsest(self) -> dict[str, Fraction]:
        """Metric → half a unit of the last digit of its coarsest printed number."""
        halves: dict[str, Fraction] = {}
        for (metric, _), number in self.entry.printed.items():
            if number is not None:
                halves[metric] = max(halves.get(metric, Fraction()), half_unit(number))
        return halves

    def counts(self, metric: str, slot: str, number: Decimal, model: Model) -> range:
        """Give the counts that a printed number allows; empty where it is impossible."""
        scale, at_most_one = SCALES[metric]
        size = self.size(slot)
        return counts(
            Fraction(number),
            self.slack(metric, number, model),
            size=size,
            scale=scale,
            largest=size if at_most_one else None,
        )

    def decides(self, metric: str, slot: str, number: Decimal, model: Model) -> bool:
        """Tell whether the precision of a number can rule it out."""
        slack = self.slack(metric, number, model)
        return decides(slack, size=self.size(slot), scale=SCALES[metric][0])

    def fits(self, metric: str, slot: str, number: Decimal, model: Model) -> bool:
        """Tell whether some counts give a printed number, also because its precision cannot tell."""
        return not self.decides(metric, slot, number, model) or bool(
            self.counts(metric, slot, number, model)
        )

    def nearest(self, metric: str, slot: str, number: Decimal) -> tuple[Fraction, Fraction | None]:
        """Give the possible values next to a printed number, None where there is none above."""
        scale, at_most_one = SCALES[metric]
        size = self.size(slot)
        position = max(Fraction(number), Fraction()) * size / scale
        largest = size if at_most_one else None
        below = floor(position) if largest is None else min(floor(position), largest)
        above = max(ceil(position), below)
        return (
            Fraction(below * scale, size),
            Fraction(above * scale, size) if largest is None or above <= largest else None,
        )

    def tasks_that_fit(self, metric: str, site: str, number: Decimal, model: Model) -> list[int]:
        """Give the task counts near the stated one for which some counts give a site's number, nearest first."""
        stated = self.entry.tasks[site]
        reach = min(max(_LEAST_REACH, stated // _REACH), _LARGEST_REACH)
        tried = {
            self.size(site, {site: n}): n
            for n in range(max(1, stated - reach), stated + reach + 1)
            if n != stated
        }
        scale, at_most_one = SCALES[metric]
        slack = self.slack(metric, number, model)
        fitting = fitting_sizes(
            Fraction(number), slack, tried, scale=scale, at_most_one=at_most_one
        )
        return sorted((tried[size] for size in fitting), key=lambda n: (abs(n - stated), n))


def _condition_tasks(entry: Entry) -> Iterator[int]:
    """Give the task counts that an entry states for its conditions, as far as they are counts."""
    stated = (entry.content or {}).get("n")
    conditions = stated.get("conditions") if isinstance(stated, dict) else None
    for count in conditions.values() if isinstance(conditions, dict) else ():
        if isinstance(count, Number) and count.is_integer and len(count.token) < _LONGEST_COUNT:
            yield int(count.token)


def _rows(counting: Counting) -> Iterator[tuple[object, ...]]:
    entry = counting.entry
    for (metric, slot), number in entry.printed.items():
        if number is None or metric not in SCALES or not in_range(metric, number):
            continue
        reason = counting.reason
        size = 0 if reason == PARTIAL else counting.size(slot)
        scale = SCALES[metric][0]
        answers: tuple[bool | None, bool | None] = (None, None)
        below, above, fitting = None, None, None
        if reason is None:
            tested = [
                counting.fits(metric, slot, number, model)
                if counting.decides(metric, slot, number, model)
                else None
                for model in (EXACT, ROUNDED)
            ]
            answers = (tested[0], tested[1])
            reason = TOO_COARSE if answers[0] is None else None
        if answers[0] is not None:
            nearest = counting.nearest(metric, slot, number)
            below, above = float(nearest[0]), None if nearest[1] is None else float(nearest[1])
            if slot in entry.tasks:
                fitting = counting.tasks_that_fit(metric, slot, number, ROUNDED)
        yield (
            *(entry.name, entry.method, entry.model, metric, slot, f"{number:f}"),
            *(
                size if 0 < size < _INT64 else None,
                float(Fraction(scale, size)) if size else None,
                *answers,
                below,
                above,
                fitting,
                reason,
            ),
        )


def common_tasks(feasible: pl.DataFrame, benchmark: BenchmarkLike = "skillshift") -> pl.DataFrame:
    """Tell for each site which numbers of tasks would give the SR of every entry, if all entries had the same.

    One row is one site with a tested SR, in the benchmark's order: ``site``, ``tasks`` (the benchmark's), ``entries`` that
    were tested, ``impossible`` ones among them, and ``tasks_that_fit`` (nearest first; the benchmark's own is one of them
    where no entry is impossible). Counts are Int64.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> lab = sf.Benchmark("lab", sites={"bench": 124}, conditions=("plain",))
    >>> two = pl.DataFrame({"method": ["a", "b"], "metric": ["SR"] * 2, "bench": [22.40, 39.20]})
    >>> common_tasks(feasibility(two, benchmark=lab), lab).row(0)
    ('bench', 124, 2, 2, [125])
    """
    axes = slots_known(benchmark)
    if "tasks_that_fit" not in feasible.columns:
        msg = "common_tasks takes a frame that feasibility gave"
        raise InputError(msg)
    rows = []
    for site, tasks in axes.sites.items():
        tested = feasible.filter(
            pl.col("rounded").is_not_null(), metric=pl.lit("SR"), slot=pl.lit(site)
        )
        if not tested.height:
            continue
        fitting = [
            set(near) | ({tasks} if possible else set())
            for near, possible in tested.select("tasks_that_fit", "rounded").iter_rows()
        ]
        shared = sorted(set.intersection(*fitting), key=lambda n: (abs(n - tasks), n))
        impossible = int((~tested.get_column("rounded")).sum())
        rows.append((site, tasks, tested.height, impossible, shared))
    schema = {"site": pl.String} | dict.fromkeys(("tasks", "entries", "impossible"), pl.Int64)
    return pl.DataFrame(rows, schema=schema | {"tasks_that_fit": pl.List(pl.Int64)}, orient="row")


def implied_overall(
    counting: Counting, metric: str, model: Model
) -> tuple[Fraction, Fraction] | None:
    """Give the ends between which the overall value lies, by the counts that the printed sites allow.

    None where a site was not printed, or no count gives it.
    """
    sites = tuple(counting.benchmark.sites)
    scale = SCALES[metric][0]
    low = high = Fraction()
    for site in sites:
        number = counting.entry.printed.get((metric, site))
        allowed = None if number is None else counting.counts(metric, site, number, model)
        if not allowed:
            return None
        size = counting.size(site)
        low += Fraction(allowed[0] * scale, size)
        high += Fraction(allowed[-1] * scale, size)
    return low / len(sites), high / len(sites)
