"""Any engine's records → second moments over families: what intervals need, in a size that no record adds to.

The delta method wants of a site's families no more than the sums of their numbers and of these numbers' products. A number
here is what a family adds to the numerator or the denominator of a metric under a condition. Everything is summed in
integers, so the moments depend neither on the engine nor on how it parts the records, and moments of parts add up exactly.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import combinations_with_replacement
from math import lcm
from operator import add, or_
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from skillshift_frames.engine_records import (
    Unknown,
    collected,
    family_parts,
    per_task,
    per_trial,
    typed_records,
)
from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.metrics import Errors
from skillshift_frames.moment_sums import (
    FAMILIES,
    KEY,
    LARGEST,
    MOMENTS,
    PARTS,
    check_of,
    lowest,
    of_tasks,
)
from skillshift_frames.outcomes import CELL, OUTCOME, RATIOS, is_tally, used
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

_VERSIONS = 3  # tasks that a family can have in a cell: of the two site versions, and of none


def moments(
    frame: Any,  # noqa: ANN401 - any frame that narwhals knows
    counts: pl.DataFrame,
    *,
    run: str | None = None,
    errors: Errors = "exclude",
    extra: Unknown = "refuse",
) -> pl.DataFrame:
    """Sum up families and their products where the records are, for intervals of any number of records.

    One row is one run × site × pair of numbers of a family.

    Parameters
    ----------
    frame
        Records as for `tally`.
    counts
        Their tally, which has checked them; families need not be in it.
    run, extra
        As for `tally`.
    errors
        As for `cells`: moments serve intervals under the same policy only.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `MOMENTS`, sorted. ``part`` is ``SR_top``, ``SR_bottom`` and so on: what the family's tasks
        under ``condition`` add to a metric's numerator and denominator; of several trials of a task their mean. Together
        with ``families`` (and no condition) it is a plain sum. ``SR_families`` is how many families add to a denominator,
        under the condition, or under any where that is null. A pair is listed once, and a sum of 0 not at all. At most
        about 1,250 rows per run and site where there are six conditions, whatever the number of records.

    Raises
    ------
    InputError
        ``counts`` are no tally, or not of these records; or the sums could exceed 64 bits.
    RecordError
        A column is missing, unknown, or of another type.

    See Also
    --------
    intervals : takes them, beside the tally that holds the numbers themselves.
    merge : adds moments up.

    Notes
    -----
    Where families have few different outcomes, a tally with families is as small, and allows resampling, too. Where nearly
    every family has outcomes of its own, it is as large as the records, and these are not. With one trial per task all
    sums are integers; of several trials, means are summed over the least common multiple of how many there are.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks("data/demo/induced.jsonl")
    >>> found = sf.moments(tasks, sf.tally(tasks))
    >>> cell = found.filter(site="gitlab", condition="src", with_condition="src")
    >>> cell.filter(part="AS_top", with_part="AS_top").select("value", "scale").row(0)
    (14268, 1)
    """
    check_choice("errors", errors, get_args(Errors))
    if not is_tally(counts):
        msg = "counts hold tasks; give the tally that was made of the records"
        raise InputError(msg)
    trials = _trials(counts, errors)
    _check_size(counts, trials, errors)
    records = typed_records(frame, run, extra)
    one_each = counts.select((pl.col("trials") + pl.col("errored_trials")).max() == 1).item()
    tasks = per_trial(records) if one_each else per_task(records)
    alike = _alike(counts, trials, errors)
    conditions = counts.get_column("condition").unique().sort().to_list()
    kept = list(dict.fromkeys(part for part in alike.values() if part))
    columns = {
        (condition, part): f"_{n}_{m}"
        for n, condition in enumerate(conditions)
        for m, part in enumerate(kept)
    }
    made = MOMENTS.to_frame()
    if columns:  # else no trial counts, and there is nothing to sum
        found = _summed(tasks, _scaled(trials, errors), columns, _denominators(alike))
        listed = _listed(found, alike, columns, trials).with_columns(errors=pl.lit(errors))
        made = listed.select(pl.col(name).cast(dtype) for name, dtype in MOMENTS.items())
    unknown = sorted(set(made.get_column("run")) - set(counts.get_column("run")))
    if unknown:
        msg = f"the records are also of run {unknown[0]!r}, and the tally has none of it; give the tally of all of them"
        raise InputError(msg)
    check_of(counts, made, errors)
    return made.sort(KEY)


def _trials(counts: pl.DataFrame, errors: Errors) -> dict[str, list[int]]:
    """Give, for each metric that averages trials, how many of them tasks have."""
    found = {}
    for metric, (_, name) in RATIOS.items():
        number = counts.select(used(pl, name, errors)).to_series().unique().sort()
        found[metric] = [int(n) for n in number if n]
    return found


def _scale(part: str, trials: dict[str, list[int]]) -> int:
    metric, _, end = part.partition("_")
    return lcm(*trials[metric]) if end == "top" and metric in trials else 1


def _check_size(counts: pl.DataFrame, trials: dict[str, list[int]], errors: Errors) -> None:
    """Raise where a sum of products could exceed 64 bits: no engine would say so, and some would go round."""
    largest, most, where = 0, 0, ""
    for part, sums in of_tasks(counts, errors).items():
        scale, per_cell = _scale(part, trials), Counter[tuple[str, ...]]()
        for *cell, number, top, total in sums.iter_rows():
            largest = max(largest, top * scale // number)
            per_cell[tuple(cell)] += total * scale // number
        together = max(per_cell.values(), default=0)
        if together > most:
            most, where = together, part
    # A family's numbers are not negative, so its products are at most the largest number times the other one.
    if _VERSIONS * largest * most > LARGEST:
        msg = (
            f"sums of products could exceed 64 bits: a task has up to {largest:,}, and {where} adds up to {most:,} in a cell"
            f"{' (over the common multiple of the numbers of trials)' if any(len(t) > 1 for t in trials.values()) else ''}; "
            "make the tally with families=True, and let intervals take that"
        )
        raise InputError(msg)


def _scaled(trials: dict[str, list[int]], errors: Errors, lib: Any = None) -> dict[str, Any]:  # noqa: ANN401 - the module that makes expressions
    """Give what a task adds to every part, times its scale: integers, as expressions of narwhals or of ``lib``."""
    if lib is None:
        import narwhals.stable.v2 as lib
    parts: dict[str, Any] = {}
    for metric, names in RATIOS.items():
        total, number = (used(lib, name, errors) for name in names)
        scale = _scale(f"{metric}_top", trials)
        means = [
            lib.when(number == n).then(total * (scale // n)).otherwise(0) for n in trials[metric]
        ]
        parts[f"{metric}_top"] = total if scale == 1 else reduce(add, means)
        parts[f"{metric}_bottom"] = (number > 0).cast(lib.Int64)
    parts["SFR_top"] = used(lib, "skill_failures", errors)
    parts["SFR_bottom"] = used(lib, "skill_calls", errors)
    return {part: parts[part].cast(lib.Int64).alias(part) for part in PARTS}


def _alike(
    counts: pl.DataFrame, trials: dict[str, list[int]], errors: Errors
) -> dict[str, str | None]:
    """Give for each part the first one that has the same numbers in every task, None where all are 0.

    Most are alike (with one trial each, all denominators but that of SFR are), and a sum that is known need not be summed.
    """
    values = counts.select(OUTCOME).unique().select(_scaled(trials, errors, pl).values())
    seen: dict[str, str | None] = {}
    for part in PARTS:
        column = values.get_column(part)
        same = (p for p in PARTS if p in seen and values.get_column(p).equals(column))
        seen[part] = next(same, part) if (column != 0).any() else None
    return seen


def _denominators(alike: dict[str, str | None]) -> dict[str, str]:
    """Give of each metric that is defined at all the part that stands for its denominator."""
    firsts = {metric: alike[f"{metric}_bottom"] for metric in METRICS}
    return {metric: first for metric, first in firsts.items() if first}


def _summed(
    tasks: nw.LazyFrame[Any],
    parts: dict[str, nw.Expr],
    columns: dict[tuple[str, str], str],
    denominators: dict[str, str],
) -> pl.DataFrame:
    """Have the engine sum up products: one row per run × site.

    First a row per family, then its products; no intermediate has more rows than there are families.
    """
    import narwhals.stable.v2 as nw

    kept = dict.fromkeys(part for _, part in columns)
    named = tasks.select(*CELL, family_parts()[0].alias("family"), *(parts[part] for part in kept))
    wide = named.group_by("run", "site", "family").agg(
        *(
            nw.when(nw.col("condition") == condition)
            .then(nw.col(part))
            .otherwise(0)
            .sum()
            .cast(nw.Int64)
            .alias(name)
            for (condition, part), name in columns.items()
        )
    )
    there = {
        part: [nw.col(name) > 0 for (_, p), name in columns.items() if p == part]
        for part in dict.fromkeys(denominators.values())
    }
    counted = {FAMILIES: reduce(or_, (one for of_part in there.values() for one in of_part))}
    for part, of_part in there.items():
        counted[f"_any_{part}"] = reduce(or_, of_part)
    for (_, part), name in columns.items():
        if part in there:
            counted[f"_in{name}"] = nw.col(name) > 0
    products = combinations_with_replacement(columns.values(), 2)
    return collected(
        wide.group_by("run", "site").agg(
            *(value.cast(nw.Int64).sum().cast(nw.Int64).alias(n) for n, value in counted.items()),
            *(nw.col(name).sum().cast(nw.Int64).alias(name) for name in columns.values()),
            *(
                (nw.col(one) * nw.col(other)).sum().cast(nw.Int64).alias(f"{one}{other}")
                for one, other in products
            ),
        )
    )


def _listed(
    found: pl.DataFrame,
    alike: dict[str, str | None],
    columns: dict[tuple[str, str], str],
    trials: dict[str, list[int]],
) -> pl.DataFrame:
    """List every pair of parts, also of those that are alike and were summed once."""
    of_part = {part: first for part, first in alike.items() if first}
    numbers = sorted(
        (condition, part)
        for condition in {condition for condition, _ in columns}
        for part in of_part
    )
    place = {name: n for n, name in enumerate(columns.values())}
    rows: list[tuple[str | None, str, str | None, str, int, str]] = []
    rows.append((None, FAMILIES, None, FAMILIES, 1, FAMILIES))
    for metric, first in _denominators(alike).items():
        said = f"{metric}_{FAMILIES}"
        rows.append((None, said, None, FAMILIES, 1, f"_any_{first}"))
        rows += [
            (condition, said, None, FAMILIES, 1, f"_in{name}")
            for (condition, part), name in columns.items()
            if part == first
        ]
    for condition, part in numbers:
        name = columns[condition, of_part[part]]
        rows.append((condition, part, None, FAMILIES, _scale(part, trials), name))
    for (condition, part), (other, with_part) in combinations_with_replacement(numbers, 2):
        pair = sorted(
            (columns[condition, of_part[part]], columns[other, of_part[with_part]]),
            key=place.__getitem__,
        )
        scale = _scale(part, trials) * _scale(with_part, trials)
        rows.append((condition, part, other, with_part, scale, "".join(pair)))
    schema = {**dict.fromkeys(KEY[2:], pl.String), "scale": pl.Int64, "_sum": pl.String}
    wanted = pl.DataFrame(rows, schema=schema, orient="row")
    sums = found.unpivot(index=["run", "site"], variable_name="_sum", value_name="value")
    listed = wanted.join(sums.filter(pl.col("value") != 0), on="_sum")
    return lowest(listed)
