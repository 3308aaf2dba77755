"""Moments → what the delta method needs of each run: means and spreads of its families, site by site."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from skillshift_frames.moment_sums import FAMILIES, PARTS, check_of
from skillshift_frames.sampling import Summary
from skillshift_frames.schema import METRICS
from skillshift_frames.stats.resampling import Moments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors

#: Condition and part of a number of a family.
_Number: TypeAlias = "tuple[str | None, str]"

#: Two numbers, in either order → the sum of their products over a site's families; 0 where it is not there.
_Products: TypeAlias = "dict[tuple[_Number, _Number], Fraction]"

_ONE: _Number = (None, FAMILIES)


def summaries(
    counts: pl.DataFrame, moments: pl.DataFrame, axes: Benchmark, errors: Errors
) -> Iterator[tuple[str, Summary]]:
    """Give each run of a tally with what its moments say of its families, runs by label.

    Columns that hold the same numbers in every family are one, as in `skillshift_frames.sampling.families_by_site`: that two
    are, their products show exactly.

    Raises
    ------
    InputError
        As `skillshift_frames.moment_sums.check_of`.
    """
    check_of(counts, moments, errors)
    numbers: list[_Number] = [(condition, part) for part in PARTS for condition in axes.conditions]
    for run in counts.get_column("run").unique().sort():
        of_run = moments.filter(run=run)
        sites = [_products(of_run.filter(site=site)) for site in axes.sites]
        yield run, _summary(sites, numbers, axes.conditions)


def _products(of_site: pl.DataFrame) -> _Products:
    listed: _Products = {}
    columns = ("condition", "part", "with_condition", "with_part", "value", "scale")
    for *names, value, scale in of_site.select(columns).iter_rows():
        one, other = (names[0], names[1]), (names[2], names[3])
        listed[one, other] = listed[other, one] = Fraction(value, scale)
    return listed


def _summary(
    sites: Sequence[_Products], numbers: Sequence[_Number], conditions: Sequence[str]
) -> Summary:
    import numpy as np

    kept: list[_Number] = []
    which: list[int] = []
    for number in numbers:
        same = next((n for n, first in enumerate(kept) if _are_same(sites, first, number)), None)
        which.append(len(kept) if same is None else same)
        if same is None:
            kept.append(number)
    # As rows of numbers have them: metric × (top, bottom) × condition; a summary has the ends first.
    columns = np.array(which, dtype=np.int64).reshape(len(METRICS), 2, len(conditions))
    counted = [f"{metric}_{FAMILIES}" for metric in METRICS]
    return Summary(
        [_moments(products, kept) for products in sites],
        np.moveaxis(columns, 0, 1),
        np.array([[_count(site, (None, name)) for name in counted] for site in sites]),
        np.array([[[_count(s, (c, name)) for c in conditions] for name in counted] for s in sites]),
    )


def _count(products: _Products, number: _Number) -> int:
    return int(products.get((number, _ONE), 0))


def _are_same(sites: Sequence[_Products], one: _Number, other: _Number) -> bool:
    """Tell whether two numbers are equal in every family: whether the squares of their differences add up to 0."""
    return all(
        p.get((one, one), 0) + p.get((other, other), 0) == 2 * p.get((one, other), 0) for p in sites
    )


def _moments(products: _Products, kept: Sequence[_Number]) -> Moments:
    import numpy as np

    families = _count(products, _ONE)
    sums = [products.get((number, _ONE), Fraction(0)) for number in kept]
    centred = np.zeros((len(kept), len(kept)))
    for i, one in enumerate(kept if families else ()):
        for j, other in enumerate(kept[: i + 1]):
            # Subtracted before anything is rounded: what is left is small beside what it is left of.
            apart = products.get((one, other), 0) - sums[i] * sums[j] / families
            centred[i, j] = centred[j, i] = float(apart)
    return Moments(families, np.array([float(s) for s in sums]), centred)
