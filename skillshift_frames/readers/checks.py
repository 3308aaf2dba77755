"""The rules of a record, put to a whole frame: which rows break which, said with the values they hold.

Nearly every frame is clean, so one streaming query asks of each rule whether any row breaks it, and only the rules that
are broken are looked at row by row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.readers.wording import as_written, nearest, printable
from skillshift_frames.schema import FAULTS, KEY, RULES, TASKS, WHOLE_RUN, Rule, measured

if TYPE_CHECKING:
    from skillshift_frames.benchmark import Benchmark

#: Where a row is from; these columns ride along until the checks are done.
ROW, SOURCE, LINE = "_row", "_source", "_line"

#: One row per broken rule and row of the frame: its number there, and what a fault says.
_FOUND = pl.Schema(
    {ROW: pl.UInt32} | {name: FAULTS[name] for name in FAULTS if name not in {"path", "line"}}
)

_NAMES_SHOWN = 12


def find_faults(
    tasks: pl.DataFrame, extras: list[pl.Series], benchmark: Benchmark | None, paths: list[str]
) -> tuple[pl.DataFrame, pl.Series]:
    """Put every rule to every row.

    ``tasks`` has the columns `SOURCE` (an index into ``paths``) and `LINE` beside those of a record; ``extras`` are
    apart from it, since they can have any name. Returns the faults with their place, and the numbers of the rows that
    broke more than a warning.
    """
    questions = tasks.lazy().select(
        *(rule.broken(benchmark).any().alias(str(i)) for i, rule in enumerate(RULES)),
        *(pl.col(name).null_count().alias(name) for name in WHOLE_RUN),
        _key_hash().n_unique().alias("keys"),
    )
    answers = questions.collect(engine="streaming").row(0, named=True)
    indexed = tasks.with_row_index(ROW)
    found = [
        *(_faults_of(rule, indexed, benchmark) for i, rule in enumerate(RULES) if answers[str(i)]),
        *(_null_in_part_of_a_run(name, indexed) for name in WHOLE_RUN if answers[name]),
    ]
    bad_rows = [faults.filter(severity="error").get_column(ROW) for faults in found]
    if answers["keys"] < tasks.height:
        repeated = _repeated_records(indexed, extras, paths)
        found.append(repeated.select(*_FOUND))
        bad_rows += [repeated.get_column(ROW), repeated.get_column("_first")]
    faults = _with_place(pl.concat([_FOUND.to_frame(), *found]), indexed, paths)
    return faults, pl.concat([pl.Series(ROW, [], dtype=pl.UInt32), *bad_rows])


def _key_hash() -> pl.Expr:
    """Give 64 bits per row that are equal where keys are; that different keys share them is settled exactly later."""
    first, *others = (pl.col(name).hash(seed) for seed, name in enumerate(KEY))
    for other in others:
        first = first ^ other
    return first


def _faults_of(rule: Rule, tasks: pl.DataFrame, benchmark: Benchmark | None) -> pl.DataFrame:
    # In one piece: pl.format panics on a single row that an empty chunk precedes (Polars 2.1).
    rows = tasks.filter(rule.broken(benchmark)).rechunk()
    written = {
        name: _written(rows.get_column(name)) for name in {rule.field, *_placeholders(rule.message)}
    }
    return rows.select(
        pl.col(ROW),
        field=pl.lit(rule.field),
        value=written[rule.field],
        rule=pl.lit(rule.name),
        message=_message(rule, written),
        hint=_hints(rule, rows.get_column(rule.field), benchmark),
        severity=pl.lit(rule.severity),
    )


def _placeholders(message: str) -> list[str]:
    return [name for name in re.findall(r"{(\w+)}", message) if name != "value"]


def _message(rule: Rule, written: dict[str, pl.Series]) -> pl.Expr:
    names = re.findall(r"{(\w+)}", rule.message)
    template = re.sub(r"{\w+}", "{}", rule.message)
    if not names:
        return pl.lit(template)
    return pl.format(
        template, *(written[rule.field if name == "value" else name] for name in names)
    )


def _written(values: pl.Series) -> pl.Series:
    """Give each value as JSON has it."""
    if values.dtype != pl.String:
        return values.cast(pl.String).fill_null("null")
    distinct = values.unique()
    return values.replace_strict(
        distinct, [as_written(value) for value in distinct], return_dtype=pl.String
    )


def _hints(rule: Rule, values: pl.Series, benchmark: Benchmark | None) -> pl.Expr | pl.Series:
    if rule.known is None or benchmark is None:
        return pl.lit(rule.hint)
    known = rule.known(benchmark)
    shown = ", ".join(known[:_NAMES_SHOWN]) + (", …" if len(known) > _NAMES_SHOWN else "")
    other = f"known are {shown}; --benchmark infer or FILE.toml reads another benchmark's records"
    distinct = values.unique()
    near = [nearest(value, known) for value in distinct]
    hints = [f"did you mean {name}?" if name else other for name in near]
    return values.replace_strict(distinct, hints, return_dtype=pl.String)


def _null_in_part_of_a_run(name: str, tasks: pl.DataFrame) -> pl.DataFrame:
    """Find nulls in measured records of runs that record the field elsewhere."""
    counts = (
        tasks.group_by("run")
        .agg(
            _recorded=pl.col(name).is_not_null().sum(),
            _null=(pl.col(name).is_null() & measured()).sum(),
        )
        .filter((pl.col("_recorded") > 0) & (pl.col("_null") > 0))
    )
    rows = (
        tasks.filter(pl.col(name).is_null() & measured())
        .join(counts, on="run", maintain_order="left")
        .rechunk()
    )
    return rows.select(
        pl.col(ROW),
        field=pl.lit(name),
        value=pl.lit("null"),
        rule=pl.lit("null-in-part"),
        message=pl.format(
            "is null, and recorded in {} other records of run {}",
            "_recorded",
            _written(rows.get_column("run")),
        ),
        hint=pl.lit(
            "null says that a whole run does not record it; 0 is a measurement; error excuses one record"
        ),
        severity=pl.lit("error"),
    )


def _repeated_records(
    tasks: pl.DataFrame, extras: list[pl.Series], paths: list[str]
) -> pl.DataFrame:
    """Find rows that share the key of an earlier row; ``_first`` is that row's number."""
    suspects = tasks.filter(_key_hash().is_duplicated())
    first = suspects.group_by(KEY, maintain_order=True).first()
    both = (
        suspects.join(first, on=list(KEY), suffix="_first", maintain_order="left")
        .filter(pl.col(ROW) != pl.col(f"{ROW}_first"))
        .rechunk()
    )
    told = [tasks.get_column(name) for name in TASKS if name not in KEY] + extras
    rows, firsts = both.get_column(ROW), both.get_column(f"{ROW}_first")
    differing = pl.concat_list(
        pl.when(values.gather(rows).ne_missing(values.gather(firsts))).then(
            pl.lit(printable(values.name))
        )
        for values in told
    ).list.drop_nulls()
    where = pl.format(
        "{}:{}",
        pl.col(f"{SOURCE}_first").replace_strict(list(range(len(paths))), paths),
        f"{LINE}_first",
    )
    return both.select(
        pl.col(ROW),
        pl.col(f"{ROW}_first").alias("_first"),
        field=pl.lit("uid"),
        value=_written(both.get_column("uid")),
        rule=pl.lit("repeated-record"),
        message=pl.format(
            "the record of {}, site {}, condition {}, trial {} (run {}) is already at {}",
            *(_written(both.get_column(name)) for name in ("uid", "site", "condition", "trial", "run")),
            where,
        ),
        hint=pl.when(differing.list.len() == 0)
        .then(pl.lit("the two are identical: remove one"))
        .otherwise(pl.format("they differ in {}: number the trials or remove one", differing.list.join(", "))),
        severity=pl.lit("error"),
    )  # fmt: skip


def _with_place(found: pl.DataFrame, tasks: pl.DataFrame, paths: list[str]) -> pl.DataFrame:
    """Put path and line in place of the row's number; ``_source`` stays for ordering."""
    places = tasks.select(ROW, SOURCE, LINE)[found.get_column(ROW)]
    return found.with_columns(
        places.get_column(SOURCE),
        places.get_column(LINE).cast(pl.Int64).alias("line"),
        places.get_column(SOURCE)
        .replace_strict(list(range(len(paths))), paths, return_dtype=pl.String)
        .alias("path"),
    ).select(*FAULTS, SOURCE)
