"""Cells → the website × condition table: marginals, overall, what each number rests on, and the identity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import add, itemgetter
from typing import Literal, TypeAlias, get_args

import polars as pl

from skillshift_frames.benchmark import Benchmark, BenchmarkLike, resolve_benchmark
from skillshift_frames.errors import BenchmarkError, InputError, check_cells, check_choice
from skillshift_frames.schema import CELLS, METRICS, SLOTS, STABLE_CALLS, table_schema
from skillshift_frames.stats.exact import as_ratio, means_of_groups

#: What a marginal is where one of its cells is undefined: undefined too, or the mean of the others (and marked).
Null: TypeAlias = Literal["propagate", "available"]

#: Two printed decimals allow this much between the mean of printed slots and a printed mean, in units of the metric.
ROUNDING_BOUND = 0.01


@dataclass(frozen=True, slots=True)
class _Basis:
    """From which counts of a cell a metric comes: ``scale · numerator / denominator`` over ``tasks``."""

    scale: int
    numerator: str
    denominator: str
    tasks: str


_BASES = {
    "SR": _Basis(100, "successes", "trials", "n"),
    "AS": _Basis(1, "steps", "trials", "n_steps"),
    "ASC": _Basis(1, "skill_calls", "trials", "n_calls"),
    "SFR": _Basis(100, "skill_failures", "skill_calls", "n_calls"),
}


def slots(
    cells: pl.DataFrame, *, benchmark: BenchmarkLike = "skillshift", null: Null = "propagate"
) -> pl.DataFrame:
    """Give every number of the table with what it rests on.

    One row is one run × metric × slot; a slot is a site, a condition or ``overall``.

    Parameters
    ----------
    cells
        From `skillshift_frames.cells`.
    benchmark
        The one that the cells were computed under.
    null
        ``"propagate"``: a marginal whose cells are not all defined is null. ``"available"``: it is the mean of the defined
        ones, and carries the mark ``available``.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `SLOTS`; by run, then SR, AS, ASC, SFR, then sites, conditions, overall. ``value`` is the
        unweighted mean of the slot's cells (units and directions as in `cells`); ``n`` the tasks behind it,
        ``n_expected`` those of the benchmark; ``calls`` all skill calls behind the slot (null where skills do not
        apply). ``marks``: ``not-applicable`` (calls are null in the whole run), ``undefined``, ``available``, ``partial``
        (fewer tasks than expected), ``excess`` (more), ``unstable`` (an SFR over fewer than 30 calls).

    Raises
    ------
    BenchmarkError, InputError
        The cells are not those of the benchmark, each once; these are no cells.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 1}, conditions=("plain",))
    >>> row = {
    ...     "run": "asi",
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "uid": "a",
    ...     "success": True,
    ...     "steps": 3,
    ... }
    >>> tasks = sf.from_frame(
    ...     pl.DataFrame([row | {"skill_calls": 2, "skill_failures": 1}]), benchmark=shop
    ... )
    >>> slots(sf.cells(tasks, benchmark=shop), benchmark=shop).filter(
    ...     pl.col("metric") == "SFR"
    ... ).select("slot", "value", "calls", "marks").row(2)
    ('overall', 50.0, 2, ['unstable'])
    """
    check_choice("null", null, get_args(Null))
    axes = _axes_of(cells, benchmark)
    members = _members(axes)
    ordered = _in_order(cells, axes)
    counts = _counts(ordered, members)
    of_metrics = [
        counts.with_columns(
            _values(ordered, metric, members),
            metric=pl.lit(metric),
            n=pl.col(_BASES[metric].tasks),
            cells=pl.col(metric),
            _metric=number,
        )
        for number, metric in enumerate(METRICS)
    ]
    shown = (pl.col("cells") == pl.col("cells_expected")) | pl.lit(null == "available")
    return (
        pl.concat(of_metrics)
        .sort("run", "_metric", "_slot")
        .with_columns(value=pl.when(shown).then("value"))
        .select(pl.col(name).cast(dtype) for name, dtype in SLOTS.items() if name != "marks")
        .with_columns(marks=_marks())
    )


def _axes_of(cells: pl.DataFrame, benchmark: BenchmarkLike) -> Benchmark:
    check_cells(cells)
    axes = resolve_benchmark(benchmark, cells)
    size = len(axes.sites) * len(axes.conditions)
    known = pl.col("site").is_in(list(axes.sites)) & pl.col("condition").is_in(axes.conditions)
    distinct = pl.struct("site", "condition").n_unique()
    right = known.all() & (pl.len() == size) & (distinct == size)
    wrong = cells.group_by("run").agg(right=right).filter(~pl.col("right")).get_column("run")
    if len(wrong):
        msg = f"run {wrong.sort()[0]} has not the cells of benchmark {axes.name}, each once; give the one they were computed under"
        raise BenchmarkError(msg)
    return axes


def _members(axes: Benchmark) -> dict[str, slice]:
    """Give for each slot which of a run's cells are its own, these in the benchmark's order."""
    width = len(axes.conditions)
    sites = [slice(width * place, width * (place + 1)) for place in range(len(axes.sites))]
    conditions = [slice(place, None, width) for place in range(width)]
    return dict(zip(axes.slots, [*sites, *conditions, slice(None)], strict=True))


def _in_order(cells: pl.DataFrame, axes: Benchmark) -> pl.DataFrame:
    """Sort by run and by the benchmark's order, in which ``_place`` numbers the cells."""
    places = [(site, condition) for site in axes.sites for condition in axes.conditions]
    grid = pl.DataFrame(places, schema=["site", "condition"], orient="row").with_row_index("_place")
    numbers = pl.col(name for name in CELLS if CELLS[name].is_numeric())
    ordered = cells.join(grid, on=["site", "condition"]).sort("run", "_place")
    return ordered.select("run", "_place", numbers)


def _counts(ordered: pl.DataFrame, members: dict[str, slice]) -> pl.DataFrame:
    """Count for each run and slot the tasks, the calls, and the cells in which a metric is defined."""
    places = ordered.get_column("_place").unique().sort()
    own = [
        places[inside].to_frame().with_columns(slot=pl.lit(slot), _slot=number)
        for number, (slot, inside) in enumerate(members.items())
    ]
    # Calls that are null in all of a run do not apply to it, unless nothing of it was measured.
    applies = pl.col("skill_calls").is_not_null().any() | (pl.col("n") == 0).all()
    calls = pl.when(applies.over("run")).then(pl.col("skill_calls").fill_null(0))
    return (
        ordered.with_columns(calls=calls)
        .join(pl.concat(own), on="_place")
        .group_by("run", "_slot", "slot")
        .agg(
            pl.col(*{basis.tasks for basis in _BASES.values()}).sum(),
            pl.col(*METRICS).count(),
            pl.when(pl.col("calls").count() > 0).then(pl.col("calls").sum()),
            n_expected=pl.col("expected").sum(),
            cells_expected=pl.len(),
        )
        .sort("run", "_slot")
    )


def _values(ordered: pl.DataFrame, metric: str, members: dict[str, slice]) -> pl.Series:
    """Give for each run and slot the mean of the cells in which a metric is defined."""
    basis = _BASES[metric]
    numbers = ordered.select("run", metric, basis.numerator, basis.denominator).rows()
    means: list[float | None] = []
    for _, of_run in groupby(numbers, key=itemgetter(0)):
        ratios = [
            None if value is None else as_ratio(value, basis.scale * numerator, denominator)
            for _, value, numerator, denominator in of_run
        ]
        means += means_of_groups(ratios, members.values())
    return pl.Series("value", means, dtype=pl.Float64)


def _marks() -> pl.Expr:
    """Say what a reader must know of a slot."""
    metric, n, expected = map(pl.col, ("metric", "n", "n_expected"))
    defined = pl.col("value").is_not_null()
    marks = {
        "undefined": ~defined,
        "available": defined & (pl.col("cells") < pl.col("cells_expected")),
        "partial": ((n > 0) & (n < expected)) | ((n == 0) & (metric == "SR")),
        "excess": n > expected,
        "unstable": defined & (metric == "SFR") & (pl.col("calls") < STABLE_CALLS),
    }
    absent = metric.is_in(["ASC", "SFR"]) & pl.col("calls").is_null()
    said = (pl.when(~absent & holds).then(pl.lit(mark)) for mark, holds in marks.items())
    only = pl.when(absent).then(pl.lit("not-applicable"))
    # By way of strings, in a tenth of the time that pl.concat_list takes.
    return pl.concat_str(only, *said, separator=" ", ignore_nulls=True).str.extract_all(r"\S+")


def table(
    cells: pl.DataFrame, *, benchmark: BenchmarkLike = "skillshift", null: Null = "propagate"
) -> pl.DataFrame:
    """Give the website × condition table: the marginals of the cells.

    One row is one run × metric. `slots` gives the same numbers in long form with their denominators and marks.

    Parameters
    ----------
    cells, benchmark, null
        As for `slots`.

    Returns
    -------
    polars.DataFrame
        ``run``, ``metric``, then Float64 per site, per condition and ``overall``, in the benchmark's order; runs by label,
        metrics SR, AS, ASC, SFR (units and directions as in `cells`). A site's number is the unweighted mean of its cells,
        a condition's likewise, ``overall`` that of all cells; task counts never weigh. Null where a cell is undefined.

    Raises
    ------
    BenchmarkError
        The cells are not those of the benchmark, each once.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 2, "search": 1}, conditions=("plain",))
    >>> row = {
    ...     "run": "asi",
    ...     "condition": "plain",
    ...     "steps": 3,
    ...     "skill_calls": 0,
    ...     "skill_failures": 0,
    ... }
    >>> tasks = pl.DataFrame(
    ...     [
    ...         row | {"site": "cart", "uid": "a", "success": True},
    ...         row | {"site": "cart", "uid": "b", "success": False},
    ...         row | {"site": "search", "uid": "c", "success": True},
    ...     ]
    ... )
    >>> table(sf.cells(sf.from_frame(tasks, benchmark=shop), benchmark=shop), benchmark=shop).head(
    ...     1
    ... )
    shape: (1, 6)
    ┌─────┬────────┬──────┬────────┬───────┬─────────┐
    │ run ┆ metric ┆ cart ┆ search ┆ plain ┆ overall │
    │ --- ┆ ---    ┆ ---  ┆ ---    ┆ ---   ┆ ---     │
    │ str ┆ str    ┆ f64  ┆ f64    ┆ f64   ┆ f64     │
    ╞═════╪════════╪══════╪════════╪═══════╪═════════╡
    │ asi ┆ SR     ┆ 50.0 ┆ 100.0  ┆ 75.0  ┆ 75.0    │
    └─────┴────────┴──────┴────────┴───────┴─────────┘
    """
    axes = resolve_benchmark(benchmark, cells)
    return widen(slots(cells, benchmark=axes, null=null), axes)


def widen(slots: pl.DataFrame, benchmark: Benchmark) -> pl.DataFrame:
    """Pivot the values of `slots` into `table`'s shape."""
    wide = slots.pivot("slot", index=["run", "metric"], values="value", maintain_order=True)
    schema = table_schema(benchmark)
    return (
        schema.to_frame()
        if wide.is_empty()
        else wide.select(pl.col(n).cast(t) for n, t in schema.items())
    )


def grid(
    cells: pl.DataFrame, metric: str = "SR", *, benchmark: BenchmarkLike = "skillshift"
) -> pl.DataFrame:
    """Give one metric's cells as a site × condition pivot.

    One row is one run × site.

    Parameters
    ----------
    cells
        From `skillshift_frames.cells`.
    metric
        ``"SR"``, ``"AS"``, ``"ASC"`` or ``"SFR"`` (or any numeric column of the cells, such as ``"scored"``).
    benchmark
        The one that the cells were computed under.

    Returns
    -------
    polars.DataFrame
        ``run``, ``site``, then one column per condition in the benchmark's order, of the metric's dtype; null where the
        cell is undefined.

    Raises
    ------
    InputError
        There is no such column.
    BenchmarkError
        The cells are not those of the benchmark, each once.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 1}, conditions=("plain", "shifted"))
    >>> row = {
    ...     "run": "asi",
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "uid": "a",
    ...     "success": True,
    ...     "steps": 3,
    ... }
    >>> tasks = sf.from_frame(
    ...     pl.DataFrame([row | {"skill_calls": 0, "skill_failures": 0}]), benchmark=shop
    ... )
    >>> grid(sf.cells(tasks, benchmark=shop), benchmark=shop).row(0)
    ('asi', 'cart', 100.0, None)
    """
    numeric = [name for name, dtype in cells.schema.items() if dtype.is_numeric()]
    if metric not in numeric:
        msg = f"cells have no metric {metric!r}; there are {', '.join([*METRICS, *sorted(set(numeric) - set(METRICS))])}"
        raise InputError(msg)
    axes = _axes_of(cells, benchmark)
    order = {site: index for index, site in enumerate(axes.sites)}
    wide = cells.pivot("condition", index=["run", "site"], values=metric, maintain_order=True)
    return wide.sort("run", pl.col("site").replace_strict(order)).select(
        "run", "site", *axes.conditions
    )


def identity(
    table: pl.DataFrame,
    *,
    benchmark: BenchmarkLike = "skillshift",
    tolerance: float = ROUNDING_BOUND,
) -> pl.DataFrame:
    """Check that the sites' mean, the conditions' mean and overall are one number, as means of the same cells are.

    One row is one row of ``table``.

    Parameters
    ----------
    table
        From `table`, or published numbers in the same columns (`published`).
    benchmark
        Names the columns.
    tolerance
        How far the three may lie apart. The default is what two printed decimals allow: half of the last digit for the
        mean of the slots, and half for overall.

    Returns
    -------
    polars.DataFrame
        The columns of ``table`` that are no slots, then Float64 ``sites``, ``conditions`` (means of their slots),
        ``overall``, ``difference`` (the largest between any two; 0 is best), and Boolean ``holds``; the last two are null
        where one of the three is undefined.

    Raises
    ------
    InputError
        ``table`` lacks a slot of the benchmark.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> sf.identity(sf.published()).select(pl.len(), pl.col("holds").sum().alias("holds")).row(0)
    (60, 60)
    """
    axes = _slots_of(table, benchmark)
    missing = [slot for slot in axes.slots if slot not in table.columns]
    if missing:
        msg = f"the table has no column {missing[0]!r}, a slot of benchmark {axes.name}"
        raise InputError(msg)
    means = {"sites": _mean_all(list(axes.sites)), "conditions": _mean_all(list(axes.conditions))}
    parts = pl.concat_list(*means, "overall")
    difference = pl.when(parts.list.drop_nulls().list.len() == parts.list.len()).then(
        parts.list.max() - parts.list.min()
    )
    # Decimal digits are not binary ones: 0.01 between two printed numbers may come out a hair above 0.01.
    slack = 1e-9
    return table.select(
        pl.all().exclude(axes.slots), *(mean.alias(name) for name, mean in means.items()), "overall"
    ).with_columns(difference=difference, holds=difference <= tolerance + slack)


def _slots_of(table: pl.DataFrame, benchmark: BenchmarkLike) -> Benchmark:
    if benchmark == "infer":
        msg = "which columns are sites and which are conditions cannot be inferred from a table; give the benchmark"
        raise InputError(msg)
    return resolve_benchmark(benchmark, table)


def _mean_all(names: list[str]) -> pl.Expr:
    """Average columns, null where one of them is."""
    # One by one: pl.sum_horizontal adds in an order that depends on the number of threads, and so does its last digit.
    return reduce(add, map(pl.col, names)) / len(names)
