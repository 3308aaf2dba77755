"""The shapes of the frames, and the rules of a record, as data.

`TASKS`, `CELLS`, `SLOTS` and `FAULTS` are what the functions of this package take and give. `RULES` are what a record
must keep beyond its types: each is an expression that is true where the rule is broken, so the same list judges
records from JSON lines, from Parquet and from any other library's frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from skillshift_frames.benchmark import SKILLSHIFT

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillshift_frames.benchmark import Benchmark

#: One row is one record: one trial of one task. Columns beyond these are what ``extra="keep"`` kept.
TASKS = pl.Schema(
    {
        "run": pl.String,  # the label of the run
        "uid": pl.String,
        "site": pl.String,
        "condition": pl.String,
        "trial": pl.Int64,  # from 1
        "success": pl.Boolean,  # null only where error is not
        "steps": pl.Int64,  # null: not recorded
        "skill_calls": pl.Int64,  # null: skills do not apply to the method
        "skill_failures": pl.Int64,
        "error": pl.String,  # null: the task was measured
    }
)

#: What names a record; two rows that share it are a fault.
KEY = ("run", "site", "uid", "condition", "trial")

#: One row is one run × site × condition, also where the run has no record of it.
CELLS = pl.Schema(
    {
        "run": pl.String,
        "site": pl.String,
        "condition": pl.String,
        "expected": pl.Int64,  # tasks that the benchmark has here
        "scored": pl.Int64,  # tasks with at least one measured trial
        "errored": pl.Int64,  # tasks with trials, none of them measured
        "missing": pl.Int64,  # tasks without a record
        "errored_trials": pl.Int64,
        "trials": pl.Int64,  # trials behind SR
        "n": pl.Int64,  # tasks behind SR
        "n_steps": pl.Int64,  # tasks behind AS
        "n_calls": pl.Int64,  # tasks behind ASC
        "successes": pl.Int64,  # sums over the trials that count
        "steps": pl.Int64,
        "skill_calls": pl.Int64,
        "skill_failures": pl.Int64,
        "SR": pl.Float64,  # percent, higher is better
        "AS": pl.Float64,  # steps per task, lower is better
        "ASC": pl.Float64,  # calls per task
        "SFR": pl.Float64,  # percent of calls, lower is better
    }
)

#: One row is one run × metric × slot: the table in long form, with what each number rests on.
SLOTS = pl.Schema(
    {
        "run": pl.String(),
        "metric": pl.String(),
        "slot": pl.String(),  # a site, a condition, or overall
        "value": pl.Float64(),
        "n": pl.Int64(),  # tasks behind the metric; for SFR those behind its calls
        "n_expected": pl.Int64(),
        "calls": pl.Int64(),  # skill calls behind the slot; null where skills do not apply
        "cells": pl.Int64(),  # cells in which the metric is defined
        "cells_expected": pl.Int64(),
        "marks": pl.List(pl.String()),
    }
)

#: One row is one fault: where, what, and what to do (`skillshift_frames.errors.Fault`).
FAULTS = pl.Schema(
    {
        "path": pl.String,
        "line": pl.Int64,
        "field": pl.String,
        "value": pl.String,
        "rule": pl.String,
        "message": pl.String,
        "hint": pl.String,
        "severity": pl.String,
    }
)

#: Metric → unit, in the order in which they are printed.
METRICS = {"SR": "percent", "AS": "steps", "ASC": "calls per task", "SFR": "percent"}

#: Of these less is better; of calls neither more nor less is; of all other columns more is.
LOWER_IS_BETTER = frozenset({"AS", "SFR", "steps", "skill_failures"})
NO_DIRECTION = frozenset({"ASC", "skill_calls"})

#: An SFR over fewer calls than this is marked: its denominator is too small to lean on.
STABLE_CALLS = 30


def table_schema(benchmark: Benchmark) -> pl.Schema:
    """Give the schema of `skillshift_frames.table`: one row per run × metric, one column per slot."""
    return pl.Schema(
        {"run": pl.String, "metric": pl.String} | dict.fromkeys(benchmark.slots, pl.Float64)
    )


#: One row is one run × metric of SkillShift; other benchmarks have other slots (`table_schema`).
TABLE = table_schema(SKILLSHIFT)

_OFFICIAL_UID = r"^skillshift\.(.+)\.(v[12])\.(\d+)$"


def family() -> pl.Expr:
    """Give the family of a record: the same task across conditions and site versions.

    One value per row, a string: ``skillshift.<site>.<v1|v2>.<index>`` becomes ``<site>.<index>``, any other uid is a
    family of its own.

    Examples
    --------
    >>> pl.DataFrame(
    ...     {"uid": ["skillshift.gitlab.v1.9", "skillshift.gitlab.v2.9", "my-task"]}
    ... ).select(family())["family"].to_list()
    ['gitlab.9', 'gitlab.9', 'my-task']
    """
    return pl.col("uid").str.replace(_OFFICIAL_UID, "${1}.${3}").alias("family")


def measured() -> pl.Expr:
    """Tell whether the trial was measured: no error was recorded for it."""
    return pl.col("error").is_null()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the record beyond the types of its fields.

    Attributes
    ----------
    name, field
        Its stable name, and the field that breaks it.
    broken
        Benchmark (None while it is inferred) → expression that is true where the rule is broken.
    message
        What is wrong; ``{value}`` stands for the field's value, other ``{names}`` for other fields'.
    known
        Benchmark → the names that would have been right; the nearest one is suggested.
    """

    name: str
    field: str
    broken: Callable[[Benchmark | None], pl.Expr]
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    known: Callable[[Benchmark], tuple[str, ...]] | None = None


def _empty(name: str) -> Rule:
    return Rule(f"empty-{name}", name, lambda _: pl.col(name) == "", "is empty; a name is needed")


def _null(name: str) -> Rule:
    """In a line the decoder refuses null by type; in a frame every column can hold it."""
    return Rule(f"{name}-null", name, lambda _: pl.col(name).is_null(), "is null; a name is needed")


def _below(name: str, least: int) -> Rule:
    return Rule(
        f"{name.replace('_', '-')}-range",
        name,
        lambda _: pl.col(name) < least,
        f"{{value}} is below {least}",
        f"an integer ≥ {least} is needed",
    )


def _unknown(name: str, known: Callable[[Benchmark], tuple[str, ...]]) -> Rule:
    def broken(benchmark: Benchmark | None) -> pl.Expr:
        if benchmark is None:
            return pl.lit(value=False)
        return (pl.col(name) != "") & ~pl.col(name).is_in(known(benchmark))

    return Rule(
        f"unknown-{name}", name, broken, f"{{value}} is not a {name} of this benchmark", known=known
    )


def _uid_of(site: pl.Expr) -> pl.Expr:
    return pl.concat_str(pl.lit("skillshift."), site, pl.lit(".v"))


def _uid_of_other_site(benchmark: Benchmark | None) -> pl.Expr:
    uid, site = pl.col("uid"), pl.col("site")
    # The prefix test is cheap and passes nearly every row; the pattern decides about the others. A condition does not
    # spare its second half any work in Polars, a filter would break up the columns, so the pattern sees nulls instead.
    suspect = uid.str.starts_with("skillshift.") & ~uid.str.starts_with(_uid_of(site))
    if benchmark is not None:
        suspect &= site.is_in(
            list(benchmark.sites)
        )  # else the site is at fault already, and the uid most likely right
    named = pl.when(suspect).then(uid).str.extract(_OFFICIAL_UID, 1)
    return named.is_not_null() & (named != site)


def _uid_of_other_version(_: Benchmark | None) -> pl.Expr:
    uid, site, condition = pl.col("uid"), pl.col("site"), pl.col("condition")
    prefix = _uid_of(site)
    source_of_target = uid.str.starts_with(
        pl.concat_str(prefix, pl.lit("1."))
    ) & condition.str.starts_with("tgt")
    target_of_source = uid.str.starts_with(
        pl.concat_str(prefix, pl.lit("2."))
    ) & condition.str.starts_with("src")
    suspect = (site != "wordpress") & (source_of_target | target_of_source)
    # As above; a uid that only starts like an official one is a name of its own.
    return pl.when(suspect).then(uid).str.contains(_OFFICIAL_UID).fill_null(value=False)


#: Every rule that one record can break by itself, in the order in which its faults are listed.
RULES = (
    _null("uid"),
    _null("site"),
    _null("condition"),
    _empty("run"),
    _empty("uid"),
    _empty("site"),
    _empty("condition"),
    _unknown("site", lambda benchmark: tuple(benchmark.sites)),
    _unknown("condition", lambda benchmark: benchmark.conditions),
    Rule(
        "uid-site",
        "uid",
        _uid_of_other_site,
        "{value} belongs to another site than {site}",
        "the site in the uid and the key site must be equal",
    ),
    Rule(
        "uid-version",
        "uid",
        _uid_of_other_version,
        "{value} is of the other site version than condition {condition}",
        "v1 goes with src*, v2 with tgt*",
        severity="warning",
    ),
    _below("trial", 1),
    Rule(
        "success-null",
        "success",
        lambda _: pl.col("success").is_null() & measured(),
        "is null",
        "true or false is needed; only a record with a non-empty error may leave it open",
    ),
    _below("steps", 0),
    _below("skill_calls", 0),
    _below("skill_failures", 0),
    Rule(
        "failures-exceed-calls",
        "skill_failures",
        lambda _: pl.col("skill_failures") > pl.col("skill_calls"),
        "{value} failures of {skill_calls} skill calls",
        "no more calls can fail than were made",
    ),
    Rule(
        "calls-together",
        "skill_calls",
        lambda _: pl.col("skill_calls").is_null() & pl.col("skill_failures").is_not_null(),
        "is null where skill_failures is {skill_failures}",
        "both are recorded, or both are null",
    ),
    Rule(
        "calls-together",
        "skill_failures",
        lambda _: pl.col("skill_failures").is_null() & pl.col("skill_calls").is_not_null(),
        "is null where skill_calls is {skill_calls}",
        "both are recorded, or both are null",
    ),
)

#: Fields that are null in a whole run or in none of its measured records; a fault of its own, since it takes the run.
WHOLE_RUN = ("steps", "skill_calls")
