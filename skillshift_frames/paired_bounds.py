"""Two published entries, no records: what their totals alone say of a paired comparison.

Two success rates over the same tasks fix how many tasks more one of them solved, but not on which tasks they differ. The
fewer they differ on, the stronger the evidence; the totals bound that number from both sides.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from skillshift_frames.entry import slots_known
from skillshift_frames.errors import InputError
from skillshift_frames.feasibility import ROUNDED, Counting, check_trials, read_source
from skillshift_frames.stats.paired import extreme_pairings, sign_test

if TYPE_CHECKING:
    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.feasibility import Source
    from skillshift_frames.readers.entries import Entry

#: One row is one site, or all of them (``overall``).
PAIRED_BOUNDS = pl.Schema(
    {
        "slot": pl.String,
        "pairs": pl.Int64,  # of trials: the same task under the same condition
        "difference_low": pl.Int64,  # successes of the second entry more than of the first
        "difference_high": pl.Int64,
        "discordant_low": pl.Int64,  # pairs that come out differently, at least and at most
        "discordant_high": pl.Int64,
        "p_low": pl.Float64,  # exact McNemar, two-sided: the smallest and the largest that any pairing has
        "p_high": pl.Float64,
        "significant": pl.String,  # always, possibly or never, at 1 − level
    }
)

#: Difference of successes → pairs that come out differently, at least and at most.
_Discordant: TypeAlias = "dict[int, tuple[int, int]]"


def paired_bounds(
    base: Source,
    treatment: Source,
    *,
    level: float = 0.95,
    trials: int = 1,
    benchmark: BenchmarkLike = "skillshift",
) -> pl.DataFrame:
    """Bound what a paired test of two published entries could say, from their success rates per site alone.

    One row is one site, then ``overall`` for all pairs together.

    Parameters
    ----------
    base, treatment
        One entry each, as `skillshift_frames.audit` takes them.
    level
        Significant is a p below 1 − level.
    trials
        Trials of each task behind a cell.
    benchmark
        As for `skillshift_frames.audit`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `PAIRED_BOUNDS`. ``significant`` is ``"always"`` where every pairing of outcomes that has these
        totals is, ``"never"`` where none is, else ``"possibly"``: then only the records can tell. The test takes pairs for
        independent, as McNemar's does; where conditions of a task go together, p is too small. Where a printed rate allows
        several counts, or none, the counts next to it are all tried. ``overall`` adds up pairs, so that sites weigh by
        their tasks; the macro means of the table do not.

    Raises
    ------
    InputError
        Not one entry on a side, an entry without the SR of a site, entries with other task counts, an entry that pools
        models while ``trials`` is 1, or a level out of range.

    References
    ----------
    McNemar, Q. (1947), Note on the sampling error of the difference between correlated proportions or percentages,
    Psychometrika 12, 153-157.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> of_model = sf.published().filter(model="gpt-5-mini", metric="SR")
    >>> found = paired_bounds(of_model.filter(method="ASI"), of_model.filter(method="MPCR"))
    >>> found.select("slot", "difference_low", "difference_high", "significant").rows()[1]
    ('magento', 47, 48, 'always')
    """
    if not 0 < level < 1:
        msg = f"level {level} is not between 0 and 1 (0.95 for 95 %)"
        raise InputError(msg)
    check_trials(trials)
    axes = slots_known(benchmark)
    entries = [_one(source, axes) for source in (base, treatment)]
    if dict(entries[0].tasks) != dict(entries[1].tasks):
        msg = f"{entries[0].name} and {entries[1].name} state other numbers of tasks; their outcomes cannot be paired"
        raise InputError(msg)
    sides = [Counting(entry, axes, trials) for entry in entries]
    for counting in sides:
        if counting.reason is not None:
            msg = f"{counting.entry.name}: {counting.reason}; give the trials behind a cell"
            raise InputError(msg)
    rows = []
    sites: list[_Discordant] = []
    for site in axes.sites:
        size = sides[0].size(site)
        first, second = (_successes(counting, site) for counting in sides)
        sites.append(_discordant(first, second, size))
        rows.append(_row(site, size, sites[-1], 1 - level))
    size = sum(sides[0].size(site) for site in axes.sites)
    rows.append(_row("overall", size, reduce(_added, sites), 1 - level))
    return pl.DataFrame(rows, schema=PAIRED_BOUNDS, orient="row")


def _one(source: Source, benchmark: Benchmark) -> Entry:
    found = read_source(source, benchmark)
    if len(found.entries) == 1:
        return found.entries[0]
    wrong = "; ".join(f"{f.entry}: {f.message}" for f in found.findings)
    named = ", ".join(entry.name for entry in found.entries)
    msg = f"one entry is needed on each side, {len(found.entries)} are there: {named or wrong}"
    raise InputError(msg)


def _successes(counting: Counting, site: str) -> range:
    """Give the numbers of successes that a printed rate stands for; those next to it where it stands for none."""
    number = counting.entry.printed.get(("SR", site))
    if number is None:
        msg = (
            f"{counting.entry.name}: SR of {site} is not printed; without it nothing can be paired"
        )
        raise InputError(msg)
    allowed = counting.counts("SR", site, number, ROUNDED)
    if allowed:
        return allowed
    size, slack = counting.size(site), counting.slack("SR", number, ROUNDED)
    low, high = ((Fraction(number) + end) * size / 100 for end in (-slack, slack))
    return range(min(max(0, floor(low)), size), min(max(0, ceil(high)), size) + 1)


def _discordant(first: range, second: range, size: int) -> _Discordant:
    """Give for every difference that two sites' counts allow how many pairs can differ, at least and at most."""
    found: _Discordant = {}
    for a, b in product(first, second):
        fewest, most = extreme_pairings(a, b, size)
        _widen(found, b - a, sum(fewest), sum(most))
    return found


def _added(one: _Discordant, other: _Discordant) -> _Discordant:
    """Put the pairs of different sites together, every difference with every other."""
    found: _Discordant = {}
    for (a, (fewest, most)), (b, (more_fewest, more_most)) in product(one.items(), other.items()):
        _widen(found, a + b, fewest + more_fewest, most + more_most)
    return found


def _widen(found: _Discordant, difference: int, fewest: int, most: int) -> None:
    least, largest = found.get(difference, (fewest, most))
    found[difference] = (min(least, fewest), max(largest, most))


def _row(slot: str, pairs: int, found: _Discordant, alpha: float) -> tuple[object, ...]:
    # Of one difference the more pairs differ, the larger is p: the ends of the one are those of the other.
    smallest = min(_p(difference, fewest) for difference, (fewest, _) in found.items())
    largest = max(_p(difference, most) for difference, (_, most) in found.items())
    significant = "always" if largest < alpha else "possibly" if smallest < alpha else "never"
    ends = [min(fewest for fewest, _ in found.values()), max(most for _, most in found.values())]
    return (slot, pairs, min(found), max(found), *ends, smallest, largest, significant)


def _p(difference: int, discordant: int) -> float:
    return sign_test((discordant + difference) // 2, (discordant - difference) // 2)
