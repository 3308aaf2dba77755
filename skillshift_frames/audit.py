"""What printed numbers alone show: values that no complete run gives, means that do not agree, rates without calls.

Nothing here knows how a number came about, and nothing claims to. A finding says that a number cannot come from one
complete run per cell with the stated counts, or that two numbers cannot both be means of the same cells; a mistyped digit,
another number of tasks or trials, a partial run and another way of averaging all have that effect.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from skillshift_frames.entry import slots_known
from skillshift_frames.feasibility import (
    ROUNDED,
    SCALES,
    Counting,
    check_trials,
    read_source,
)
from skillshift_frames.findings import Finding, findings_frame
from skillshift_frames.marginals import (
    half_unit,
    identity_findings,
    in_range,
    known,
    mean_half,
    mean_of,
    range_findings,
    unstable_findings,
)
from skillshift_frames.repairs import disagreements, margins_fit, repairs
from skillshift_frames.schema import METRICS
from skillshift_frames.stats.feasible import attainable_ratio_mean, decidable_total

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from decimal import Decimal

    import polars as pl

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.feasibility import Source
    from skillshift_frames.readers.entries import Entry

#: Task counts, and repaired values, that a hint spells out.
_SHOWN = 6

#: Findings after which it is worth knowing which single value would repair the metric.
_CONTRADICTIONS = {"identity", "identity-rounding", "impossible-value"}


def audit(
    source: Source, *, trials: int = 1, benchmark: BenchmarkLike = "skillshift"
) -> pl.DataFrame:
    """Audit published entries by their printed numbers.

    One row is one finding; no row, no finding.

    Parameters
    ----------
    source
        Entry files (``.json``), folders of them, tables of rows (``.csv``), globs; or a frame of rows such as `published`,
        whose numbers count as printed with two decimals at least. Digits of files count as they stand: ``16.90`` is more
        precise than ``16.9``, but for the JSON of entries, whose numbers all have two decimals.
    trials
        Trials of each task behind a cell.
    benchmark
        Its conditions, and its task counts where an entry does not state its own.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `FINDINGS`, entry by entry. Codes: ``impossible-value`` (no counts give the number, whether
        cells were averaged as they are or rounded first; or those that give the sites do not give it), ``identity`` and
        ``identity-rounding`` (sites, conditions and overall disagree by more than rounding allows), ``task-weighted``
        (overall is the sites' mean weighted by their tasks, and not the unweighted one), ``sfr-without-calls`` (an SFR where
        ASC prints 0 or null), ``range``, ``sfr-unstable``, and what keeps numbers from being read: ``schema``,
        ``missing-slot``. The hint of a metric's last contradiction names the single slots that, changed alone, would remove
        all of them. `feasibility` tells which numbers were tested.

    Raises
    ------
    InputError
        A path that names nothing, a frame of another shape, ``trials`` below 1, or a benchmark that is to be inferred.
    BenchmarkError
        The benchmark cannot be read.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> weaver = sf.published().filter(method="SkillWeaver", model="claude-haiku-4.5")
    >>> audit(weaver).filter(slot="overall").select("code", "metric", "printed").row(0)
    ('sfr-without-calls', 'SFR', '0.00')
    """
    axes = slots_known(benchmark)
    check_trials(trials)
    found = read_source(source, axes)
    audited = (
        finding for entry in found.entries for finding in _audit(Counting(entry, axes, trials))
    )
    return findings_frame([*found.findings, *audited])


def _audit(counting: Counting) -> list[Finding]:
    entry = counting.entry
    agreement = identity_findings(entry, counting.benchmark)
    found = [
        *range_findings(entry),
        *_impossible(counting),
        *_impossible_together(counting, skip={finding.metric for finding in agreement}),
        *agreement,
        *_task_weighted(entry, counting.benchmark),
        *_without_calls(counting),
        *_impossible_rates(counting),
        *unstable_findings(entry),
    ]
    order = {metric: number for number, metric in enumerate(METRICS)}
    found.sort(key=lambda finding: order.get(finding.metric or "", len(order)))
    for metric in METRICS:
        last = max(
            (n for n, f in enumerate(found) if f.metric == metric and f.code in _CONTRADICTIONS),
            default=None,
        )
        said = None if last is None else _said_repairs(counting, metric)
        if last is not None and said is not None:
            found[last] = replace(found[last], hint=f"{found[last].hint}; {said}")
    return found


def _impossible(counting: Counting) -> Iterator[Finding]:
    """Find values that no counts give, computed either way."""
    if counting.reason is not None:
        return
    for (metric, slot), number in counting.entry.printed.items():
        if number is None or metric not in SCALES or not in_range(metric, number):
            continue
        if counting.fits(metric, slot, number, ROUNDED):
            continue
        nearest = [
            _shown(v, number) for v in counting.nearest(metric, slot, number) if v is not None
        ]
        bound = " or ".join(dict.fromkeys(nearest))
        message = (
            f"{number:f} cannot come from one complete run per cell with these counts "
            f"({_said_counts(counting, slot)}, averaged as they are or rounded like the printed numbers first): "
            f"the nearest possible {'values are' if ' or ' in bound else 'value is'} {bound}"
        )
        hint = _other_counts(counting, metric, slot, number)
        yield _finding(
            counting.entry, "impossible-value", (metric, slot), message, hint, bound=bound
        )


def _said_counts(counting: Counting, slot: str) -> str:
    """Say what a slot's value is a mean over."""
    conditions, tasks = len(counting.benchmark.conditions), counting.entry.tasks
    if slot in tasks:
        cells, sizes = conditions, str(tasks[slot])
    else:
        cells = len(tasks) * (conditions if slot == "overall" else 1)
        sizes = " / ".join(map(str, tasks.values()))
    trials = "" if counting.trials == 1 else f", {counting.trials} trials each"
    return f"{cells} {'cell' if cells == 1 else 'cells'} of {sizes} tasks{trials}"


def _other_counts(counting: Counting, metric: str, slot: str, number: Decimal) -> str:
    """Say which other numbers of tasks would give the value, and what else would."""
    if slot not in counting.entry.tasks:
        return "a partial run, several trials per task or a mistyped digit would explain it"
    stated = counting.entry.tasks[slot]
    fitting = counting.tasks_that_fit(metric, slot, number, ROUNDED)
    other = "a partial run, several trials per task, cells rounded to fewer digits, another average or a mistyped digit"
    if not fitting:
        return f"no number of tasks near {stated} gives it; {other} would explain it"
    width = 2 * counting.slack(metric, number, ROUNDED) * counting.size(slot)
    by_chance = max(1, round(SCALES[metric][0] / width))
    return (
        f"{_some(map(str, fitting))} tasks would give it (of those near {stated} about one in {by_chance} "
        f"gives any number); so would {other}"
    )


def _impossible_together(counting: Counting, *, skip: set[str | None]) -> Iterator[Finding]:
    """Find overall values and means of conditions that the counts behind the printed sites do not give."""
    if counting.reason is not None:
        return
    for metric in SCALES:
        if metric in skip:
            continue
        for slot, value, (low, high) in disagreements(counting, metric, ROUNDED):
            like = next(n for (m, _), n in counting.entry.printed.items() if m == metric and n)
            bound = f"{_shown(low, like)} to {_shown(high, like)}"
            what = "overall is" if slot == "overall" else "the mean of the conditions is"
            message = (
                f"{what} {_shown(value, like)}, and the only counts that give the printed sites lead to {bound}, "
                "rounding included"
            )
            hint = "look for a mistyped digit"
            yield _finding(
                counting.entry, "impossible-value", (metric, slot), message, hint, bound=bound
            )
    if "SR" not in skip and not margins_fit(counting, "SR", ROUNDED):
        message = "no rates from 0 to 100 in the cells have these sites and these conditions as their means"
        hint = "a condition holds no more than every site has; look for a mistyped digit"
        yield _finding(counting.entry, "impossible-value", ("SR", "conditions"), message, hint)


def _task_weighted(entry: Entry, benchmark: Benchmark) -> Iterator[Finding]:
    """Find metrics whose overall value, or whose conditions, are means of all tasks and not of all cells."""
    sites = tuple(benchmark.sites)
    weights = [entry.tasks[site] for site in sites]
    if not all(weights):  # a site that was not run, or a partial run of unknown counts
        return
    for metric in METRICS:
        numbers = known(entry, metric, sites)
        if numbers is None:
            continue
        macro, weighted = mean_of(numbers), mean_of(numbers, weights)
        for slot, names in (("overall", ("overall",)), ("conditions", benchmark.conditions)):
            others = known(entry, metric, names)
            if others is None:
                continue
            value, slack = mean_of(others), mean_half(others)
            if abs(value - macro) <= slack + mean_half(numbers):
                continue
            if abs(value - weighted) > slack + mean_half(numbers, weights):
                continue
            like = numbers[0]
            what = "overall is" if slot == "overall" else "the mean of the conditions is"
            message = (
                f"{what} {_shown(value, like)}, as is the mean of the sites weighted by their tasks "
                f"({_shown(weighted, like)}); the unweighted mean of the cells is {_shown(macro, like)}"
            )
            hint = "sites count alike, however many tasks they have: print the unweighted mean"
            bound = _shown(macro, like)
            yield _finding(entry, "task-weighted", (metric, slot), message, hint, bound=bound)


def _without_calls(counting: Counting) -> Iterator[Finding]:
    """Find rates of failed calls where no calls are printed, and too few can have been made."""
    entry = counting.entry
    for (metric, slot), number in entry.printed.items():
        if metric != "SFR" or number is None:
            continue
        message = None
        if entry.skill_calls == 0:
            message = f"SFR is printed as {number:f} where n.skill_calls is 0"
        elif ("ASC", slot) in entry.printed:
            message = _too_few_calls(counting, slot, number)
        if message is not None:
            hint = "where no skill was called SFR is null, with its reason; where some were, state n.skill_calls"
            yield _finding(entry, "sfr-without-calls", (metric, slot), message, hint)


def _too_few_calls(counting: Counting, slot: str, number: Decimal) -> str | None:
    """Say that ASC leaves no room for the calls that an SFR needs, None where it does.

    A mean over cells needs a call in each of them, and a printed 0 leaves room for a few calls only: many where there are
    many tasks, and then nothing is amiss.
    """
    asc = counting.entry.printed["ASC", slot]
    if asc is None:
        return f"SFR is printed as {number:f} where ASC is null"
    if asc != 0:
        return None
    said = f"SFR is printed as {number:f} where ASC prints {asc:f}"
    if counting.reason is not None:
        return (
            f"{said}; for how many calls that leaves room is not known: the entry {counting.reason}"
        )
    room = _totals(counting, slot, half_unit(asc)).stop - 1
    cells = _cells(counting, slot)
    if room >= cells:
        return None
    calls = (
        "not even one call" if room == 0 else f"{room} {'call' if room == 1 else 'calls'} at most"
    )
    needed = "" if cells == 1 else f"; a mean over its {cells} cells needs one in each"
    return f"{said}, which leaves room for {calls}{needed}"


def _totals(counting: Counting, slot: str, slack: Fraction) -> range:
    """Give the numbers of calls behind a slot that its ASC leaves room for, if it is off by no more than the slack."""
    entry, trials = counting.entry, counting.trials
    value = entry.printed["ASC", slot]
    assert value is not None
    low, high = max(Fraction(), Fraction(value) - slack), Fraction(value) + slack
    tasks = list(entry.tasks.values()) if slot not in entry.tasks else [entry.tasks[slot]]
    cells = _cells(counting, slot)
    # Sites with few tasks have few calls for the same mean: the ends are those of the smallest and the largest.
    return range(
        ceil(low * cells * min(tasks) * trials), floor(high * cells * max(tasks) * trials) + 1
    )


def _cells(counting: Counting, slot: str) -> int:
    sites, conditions = len(counting.entry.tasks), len(counting.benchmark.conditions)
    return (
        conditions
        if slot in counting.entry.tasks
        else sites * (conditions if slot == "overall" else 1)
    )


def _impossible_rates(counting: Counting) -> Iterator[Finding]:
    """Find rates of failed calls that no failures of so few calls give."""
    entry = counting.entry
    if counting.reason is not None:
        return
    for (metric, slot), number in entry.printed.items():
        calls = entry.printed.get(("ASC", slot))
        if metric != "SFR" or number is None or calls is None:
            continue
        totals = _totals(counting, slot, counting.slack("ASC", calls, ROUNDED))
        totals = range(max(1, totals.start), totals.stop)
        cells = _cells(counting, slot)
        slack = counting.slack(metric, number, ROUNDED)
        if not decidable_total(totals, cells) or attainable_ratio_mean(
            Fraction(number), slack, totals=totals, cells=cells
        ):
            continue
        bound = f"{totals.start} to {totals.stop - 1} calls"
        message = (
            f"{number:f} is no mean of failure rates of {_said_counts(counting, slot)} with {bound} in all, "
            f"which is what ASC {calls:f} leaves room for"
        )
        hint = "look for a mistyped digit in SFR or ASC"
        yield _finding(entry, "impossible-value", (metric, slot), message, hint, bound=bound)


def _said_repairs(counting: Counting, metric: str) -> str | None:
    """Say which single values would remove all contradictions; never which of them did go wrong."""
    found = repairs(counting, metric)
    if found is None:
        return None
    if not found:
        return f"no single slot of {metric}, changed alone, removes every contradiction"
    said = [f"{slot} as {_values(numbers)}" for slot, numbers in found.items()]
    if len(said) == 1:
        return f"changed alone, {said[0]} removes every contradiction of {metric}"
    return (
        f"changed alone, each of these removes every contradiction of {metric}, "
        f"and nothing tells them apart: {_some(said, ', or ')}"
    )


def _values(numbers: Sequence[Decimal]) -> str:
    steps = {after - before for before, after in itertools.pairwise(numbers)}
    if len(numbers) > 2 and len(steps) == 1:  # noqa: PLR2004 - a range has more than its ends
        return f"{numbers[0]:f} to {numbers[-1]:f}"
    return " or ".join(f"{number:f}" for number in numbers)


def _some(said: Iterable[str], separator: str = ", ") -> str:
    listed = list(said)
    rest = len(listed) - _SHOWN
    return separator.join(listed[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _finding(
    entry: Entry,
    code: str,
    at: tuple[str, str],
    message: str,
    hint: str,
    *,
    bound: str | None = None,
) -> Finding:
    metric, slot = at
    number = entry.printed.get((metric, slot))
    printed = None if number is None else f"{number:f}"
    return Finding(entry.name, code, message, hint, metric, slot, printed, bound)


def _shown(value: Fraction, like: Decimal) -> str:
    """Show an exact value with two digits more than a printed one has."""
    decimals = max(0, -int(like.as_tuple().exponent)) + 2
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(round(value * 10**decimals)), 10**decimals)
    return f"{sign}{whole}.{rest:0{decimals}}"
