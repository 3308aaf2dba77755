"""Cells → the website × condition table: marginals, overall, what each number rests on, and the identity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import polars as pl

from skillshift_frames.benchmark import Benchmark, BenchmarkLike, resolve_benchmark
from skillshift_frames.errors import BenchmarkError, InputError, check_choice
from skillshift_frames.schema import METRICS, SLOTS, STABLE_CALLS, table_schema
from skillshift_frames.stats.exact import as_ratio, mean_of_ratios

if TYPE_CHECKING:
    from collections.abc import Callable

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
    BenchmarkError
        The cells are not those of the benchmark, each once.

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
    rows: list[tuple[Any, ...]] = []
    for (run,), of_run in cells.sort("run").group_by("run", maintain_order=True):
        named = {(cell["site"], cell["condition"]): cell for cell in of_run.iter_rows(named=True)}
        for metric in METRICS:
            for slot, inside in _slot_tests(axes):
                grouped = [cell for key, cell in named.items() if inside(*key)]
                rows.append(
                    (run, metric, slot, *_slot(grouped, list(named.values()), metric, null))
                )
    return pl.DataFrame(rows, schema=SLOTS, orient="row")


def _axes_of(cells: pl.DataFrame, benchmark: BenchmarkLike) -> Benchmark:
    axes = resolve_benchmark(benchmark, cells)
    wanted = {(site, condition) for site in axes.sites for condition in axes.conditions}
    for (run,), of_run in cells.group_by("run"):
        found = of_run.select("site", "condition").rows()
        if set(found) != wanted or len(found) != len(wanted):
            msg = f"run {run} has not the cells of benchmark {axes.name}, each once; give the one they were computed under"
            raise BenchmarkError(msg)
    return axes


def _slot_tests(axes: Benchmark) -> list[tuple[str, Callable[[str, str], bool]]]:
    """Give each slot with a test whether a cell belongs to it."""
    return [
        *((site, lambda s, _, site=site: s == site) for site in axes.sites),
        *(
            (condition, lambda _, c, condition=condition: c == condition)
            for condition in axes.conditions
        ),
        ("overall", lambda _, __: True),
    ]


def _slot(
    cells: list[dict[str, Any]], run: list[dict[str, Any]], metric: str, null: Null
) -> tuple[float | None, int, int, int | None, int, int, list[str]]:
    basis = _BASES[metric]
    defined = [cell for cell in cells if cell[metric] is not None]
    value = None
    if len(defined) == len(cells) or null == "available":
        value = mean_of_ratios(
            as_ratio(cell[metric], basis.scale * cell[basis.numerator], cell[basis.denominator])
            for cell in defined
        )
    tasks = sum(cell[basis.tasks] for cell in cells)
    expected = sum(cell["expected"] for cell in cells)
    applies = any(cell["skill_calls"] is not None for cell in run) or not any(
        cell["n"] for cell in run
    )
    calls = sum(cell["skill_calls"] or 0 for cell in cells) if applies else None
    if metric in {"ASC", "SFR"} and not applies:
        marks = ["not-applicable"]
    else:
        marks = [
            *(["undefined"] if value is None else []),
            *(["available"] if value is not None and len(defined) < len(cells) else []),
            *(["partial"] if 0 < tasks < expected or (tasks == 0 and metric == "SR") else []),
            *(["excess"] if tasks > expected else []),
            *(
                ["unstable"]
                if metric == "SFR" and value is not None and (calls or 0) < STABLE_CALLS
                else []
            ),
        ]
    return value, tasks, expected, calls, len(defined), len(cells), marks


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
