"""What trials cost, in money, time and tokens, per arm; unknown costs stay unknown, and are counted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.errors import InputError, check_frame, check_records
from skillshift_frames.lift_cases import SIDE, as_trials
from skillshift_frames.outcomes import CELL
from skillshift_frames.sampling import rounded
from skillshift_frames.schema import KEY, measured
from skillshift_frames.trials import LARGEST, WITH, WITHOUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: One row is one arm × quantity.
COSTS = pl.Schema(
    {
        "arm": pl.String,
        "quantity": pl.String,
        "unit": pl.String,
        "trials": pl.Int64,  # that were run: all but missing ones
        "n": pl.Int64,  # of which the quantity is known
        "unknown": pl.Int64,
        "mean": pl.Float64,  # of the known ones, and so are median and p90
        "median": pl.Float64,
        "p90": pl.Float64,
        "total_known": pl.Float64,  # of the known ones; null where none is
        "total": pl.Float64,  # null where any is unknown
        "tasks": pl.Int64,
        "successful_tasks": pl.Int64,  # with at least one attempt that passed; null where success was not recorded
        "success_rate": pl.Float64,  # percent of the tasks that succeeded; null as successful_tasks
        "per_success": pl.Float64,  # total of all attempts / successful_tasks; null at zero successes, and where the total is
        "per_success_at_least": pl.Float64,  # total_known / successful_tasks
    }
)

#: One row is one run × site × condition × quantity; the numbers are those of `COSTS`.
CELL_COSTS = pl.Schema(
    {
        **dict.fromkeys(CELL, pl.String()),
        **{name: dtype for name, dtype in COSTS.items() if name != "arm"},
    }
)

#: Quantity → unit. Input includes cached input, so that tokens are input + output.
QUANTITIES = {
    "cost": "USD",
    "seconds": "s",
    "tokens": "tokens",
    "input_tokens": "tokens",
    "cached_tokens": "tokens",
    "output_tokens": "tokens",
}
_P90 = 0.9
_OWNERS = ("tool", "run", "skill", "agent", "model")


def costs(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Sum up what trials cost, per arm: money, time and tokens, of all attempts.

    Parameters
    ----------
    frame
        Trials as `skillshift_frames.TRIALS`.

    Returns
    -------
    pl.DataFrame
        Columns and dtypes as `skillshift_frames.COSTS`, one row per arm (null: not said) and quantity that any trial of
        the frame has. Attempts that failed or had no score are in it: they were paid for. Lower is better. Where no
        trial of an arm has a quantity its means and totals are null, never 0.

    Raises
    ------
    InputError
        No trials frame.

    Notes
    -----
    p90 is interpolated linearly (NumPy's default). A task succeeds if any of its attempts does. Input tokens include
    cached ones, which are a part of them and are never added.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> trials = pl.DataFrame(
    ...     {
    ...         "arm": ["with"] * 3,
    ...         "uid": ["a", "a", "b"],
    ...         "trial": [1, 2, 1],
    ...         "status": ["scored", "scored", "errored"],
    ...         "success": [False, True, None],
    ...         "cost": [0.2, 0.3, 0.1],
    ...     },
    ...     schema_overrides={"success": pl.Boolean},
    ... )
    >>> trials = pl.concat([sf.TRIALS.to_frame(), trials], how="diagonal_relaxed")
    >>> sf.costs(trials).select("n", "total", "successful_tasks", "per_success").row(0)
    (3, 0.6, 1, 0.6)
    """
    trials = as_trials(frame)
    key = (*_OWNERS, "uid")
    arms = trials.get_column("arm").unique().sort(nulls_last=True)
    of_arms = [trials.filter(pl.col("arm").eq_missing(arm)) for arm in arms]
    return _frame(zip(arms, of_arms, strict=True), trials, key)


def costs_of(trials: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Give the same for the two sides of a lift, cases named by ``key``."""
    sides = [(side, trials.filter(pl.col(SIDE) == side)) for side in (WITH, WITHOUT)]
    return _frame(sides, trials, key)


def cell_costs(tasks: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Sum up what each cell's records cost: money, time and tokens, of all attempts.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, with any of the columns ``cost`` (USD), ``seconds``, ``input_tokens`` (cached ones
        included), ``cached_tokens`` and ``output_tokens``: kept keys of records (``extra="keep"``), or what
        `read_tasks` keeps of another tool's trials.

    Returns
    -------
    pl.DataFrame
        Columns and dtypes as `skillshift_frames.CELL_COSTS`, one row per cell that has records and quantity that any record
        has; cells by name. Lower is better. ``per_success`` is the total of all attempts, failed and errored ones included,
        divided by the tasks with an attempt that passed: null at zero successes, and null where the cost of any attempt is
        unknown, of which ``unknown`` is the number.

    Raises
    ------
    InputError
        No records, or none of the columns; a value that is no number of 0 or more.

    Examples
    --------
    >>> row = {"run": "a", "site": "cart", "condition": "plain", "trial": 1, "error": None}
    >>> tasks = pl.DataFrame(
    ...     [
    ...         {**row, "uid": "t1", "success": False, "cost": 0.2},
    ...         {**row, "uid": "t2", "success": True, "cost": 0.4},
    ...     ]
    ... )
    >>> cell_costs(tasks).select("quantity", "total", "successful_tasks", "per_success").row(0)
    ('cost', 0.6, 1, 0.6)
    """
    check_frame("tasks", tasks, "read_tasks")
    frame: pl.DataFrame = tasks.lazy().collect()
    check_records("tasks", frame)
    recorded = [name for name in QUANTITIES if name in frame.columns and name != "tokens"]
    if not recorded:
        lacking = ", ".join(name for name in QUANTITIES if name != "tokens")
        msg = (
            f"no record says what it cost: there is no column {lacking}; read or export them again with --extra keep "
            "(extra='keep'), where what they are from has them"
        )
        raise InputError(msg)
    for name in recorded:
        _check_amounts(frame, name)
    # An errored attempt passed nothing, whatever it says.
    passed = pl.when(measured()).then("success")
    unknown = (pl.lit(None, pl.Float64).alias(name) for name in QUANTITIES if name not in recorded)
    attempts = frame.with_columns(passed.alias("success"), pl.lit("").alias("status"), *unknown)
    wanted = [name for name in QUANTITIES if _values(attempts, name).count()]
    rows = [
        {**dict(zip(CELL, cell, strict=True)), "quantity": name, "unit": QUANTITIES[name]}
        | _row(of_cell, name, ["uid"])
        for cell, of_cell in sorted(attempts.group_by(CELL), key=lambda found: found[0])
        for name in wanted
    ]
    return pl.DataFrame(rows, schema=CELL_COSTS) if rows else CELL_COSTS.to_frame()


def _check_amounts(tasks: pl.DataFrame, name: str) -> None:
    """Raise for the first record whose amount is none."""
    column = tasks.get_column(name)
    if column.dtype == pl.Null:
        return
    if column.dtype.is_numeric():
        fits = column.cast(pl.Float64).is_between(0, LARGEST)
    else:
        fits = column.is_null()
    odd = tasks.filter(~fits.fill_null(value=True)).sort(*KEY)
    if odd.height:
        first = odd.row(0, named=True)
        msg = (
            f"{name} of {first['run']}, {first['uid']} in {first['site']} × {first['condition']} is {first[name]!r}; a number "
            "of 0 or more is needed, and null where it is unknown"
        )
        raise InputError(msg)


def _frame(
    arms: Iterable[tuple[str | None, pl.DataFrame]], trials: pl.DataFrame, key: Sequence[str]
) -> pl.DataFrame:
    wanted = [name for name in QUANTITIES if _values(trials, name).count()]
    rows = [
        {"arm": arm, "quantity": name, "unit": QUANTITIES[name]} | _row(of_arm, name, key)
        for arm, of_arm in arms
        for name in wanted
    ]
    return pl.DataFrame(rows, schema=COSTS) if rows else COSTS.to_frame()


def _values(trials: pl.DataFrame, name: str) -> pl.Series:
    if name == "tokens":
        return trials.select(pl.col("input_tokens") + pl.col("output_tokens")).to_series()
    return trials.get_column(name)


def _row(trials: pl.DataFrame, name: str, key: Sequence[str]) -> dict[str, object]:
    run = trials.filter(pl.col("status") != "missing")
    values = _values(run, name).drop_nulls().cast(pl.Float64).sort()
    unknown = run.height - values.len()
    known = rounded(math.fsum(values)) if values.len() else None
    total = None if unknown else known
    tasks = trials.group_by(key).agg(
        passed=pl.col("success").cast(pl.Boolean).any(ignore_nulls=True),
        said=pl.col("success").is_not_null().any(),
    )
    succeeded = int(tasks.get_column("passed").sum()) if tasks.get_column("said").any() else None

    def per_success(amount: float | None) -> float | None:
        return rounded(amount / succeeded) if amount is not None and succeeded else None

    def number(value: object) -> float | None:
        return None if value is None else rounded(float(value))  # type: ignore[arg-type]

    return {
        "trials": run.height,
        "n": values.len(),
        "unknown": unknown,
        "mean": None if known is None else rounded(math.fsum(values) / values.len()),
        "median": number(values.median()),
        "p90": number(values.quantile(_P90, interpolation="linear")),
        "total_known": known,
        "total": total,
        "tasks": tasks.height,
        "successful_tasks": succeeded,
        "success_rate": None if succeeded is None else rounded(100 * succeeded / tasks.height),
        "per_success": per_success(total),
        "per_success_at_least": per_success(known),
    }
