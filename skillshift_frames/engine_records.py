"""Records in any engine's frame → their distinct values: what the rules of a record need, without collecting the records.

Null and impossible values are values like any other here, so what is wrong with millions of records is seen in the few
rows that the engine gives back, by the same `skillshift_frames.schema.RULES` that judge records one by one.
"""

from __future__ import annotations

import warnings
from functools import reduce
from operator import xor
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from skillshift_frames.errors import InputError, RecordError, SkillshiftWarning, describe_faults
from skillshift_frames.outcomes import CELL, OUTCOME, outcome_parts
from skillshift_frames.readers.checks import LINE, SOURCE, find_faults
from skillshift_frames.readers.diagnosis import Finding
from skillshift_frames.readers.frames import conform, to_polars
from skillshift_frames.readers.records import FIELDS, INT64, REQUIRED
from skillshift_frames.readers.wording import as_written, nearest, printable
from skillshift_frames.schema import FAULTS, KEY, TASKS, WHOLE_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import narwhals.stable.v2 as nw

    from skillshift_frames.benchmark import Benchmark

#: What to do with columns that are not a record's; a tally cannot keep them.
Unknown: TypeAlias = Literal["refuse", "ignore"]

FRAME = "<frame>"

# Only what Rust, RE2 and Java read alike: there a dot, \d and $ mean different things.
_OFFICIAL_UID = r"^skillshift\.[^\n]+\.v[12]\.\p{Nd}+\z"
_INDEX, _BEFORE_INDEX = r"\.v[12]\.\p{Nd}+\z", r"^skillshift\.[^\n]+\.v[12]\."

#: In how many records each distinct row occurs, and the ends of the trials there.
_RECORDS, _LOW, _HIGH = "_records", "_low", "_high"


def typed_records(
    frame: Any,  # noqa: ANN401 - any frame that narwhals knows
    run: str | None,
    extra: Unknown,
) -> nw.LazyFrame[Any]:
    """Give a frame's records with the columns and types of `skillshift_frames.TASKS`, where they are.

    A frame that is in memory becomes a Polars one: its rows are here already.

    Raises
    ------
    RecordError
        A column is missing, unknown, or of another type.
    TypeError
        It is no frame that narwhals knows.
    """
    import narwhals.stable.v2 as nw

    records = nw.from_native(frame)
    schema = records.collect_schema()
    unknown = [name for name in schema if name not in FIELDS]
    if isinstance(records, nw.LazyFrame):
        records, findings = _conform_lazily(records)
    else:
        conformed, findings = conform(to_polars(frame), "ignore")
        records = nw.from_native(conformed.lazy())
    if extra == "refuse":
        findings += [_unknown(name, schema) for name in unknown]
    if findings:
        raise RecordError(_whole_frame(findings))
    if unknown:
        names = ", ".join(sorted(map(printable, unknown)))
        warnings.warn(f"ignored, not keys of a record: {names}", SkillshiftWarning, stacklevel=3)
    error, label = nw.col("error"), nw.col("run")
    return records.with_columns(
        (label if run is None else label.fill_null(run)).alias("run"),
        nw.col("trial").fill_null(1).alias("trial"),
        # An empty error says that there was none, so that null alone has to be asked for from here on.
        nw.when(error != "").then(error).alias("error"),
    )


def _whole_frame(findings: Iterable[Finding]) -> pl.DataFrame:
    rows = [(FRAME, None, *finding, "error") for finding in findings]
    return pl.DataFrame(rows, schema=FAULTS, orient="row")


def _conform_lazily(records: nw.LazyFrame[Any]) -> tuple[nw.LazyFrame[Any], list[Finding]]:
    """Do what `conform` does to a frame that is nowhere yet; the engine is asked only where a type is not the right one."""
    import narwhals.stable.v2 as nw

    schema = records.collect_schema()
    findings = [
        Finding(name, None, "missing-key", "the column is missing")
        for name in REQUIRED
        if name not in schema
    ]
    wide = {nw.UInt64, nw.Int128, nw.UInt128}
    doubtful = [
        name
        for name in FIELDS
        if name in schema and (not _fits(schema[name], name) or schema[name].base_type() in wide)
    ]
    empty = []
    for name in doubtful:
        # What is null throughout has no type of its own, whatever its engine made of it.
        column, fits = nw.col(name), _fits(schema[name], name)
        ends = (column.min().alias("low"), column.max().alias("high")) if fits else ()
        found = collected(
            records.select((~column.is_null()).cast(nw.Int64).sum().alias("known"), *ends)
        )
        known, *beyond = found.row(0)
        if not known:
            empty.append(name)
        elif not fits:
            wanted = f"the column is {schema[name]}; {TASKS[name]} is needed"
            hint = "floats are often integers with gaps: convert them before"
            is_float = schema[name].is_float()
            findings.append(
                Finding(name, str(schema[name]), "type", wanted, hint if is_float else "")
            )
        else:
            findings += [
                Finding(name, str(end), "range", f"{int(end)} is beyond 64 bits with a sign")
                for end in dict.fromkeys(beyond)
                if int(end) not in INT64
            ]
    types: dict[pl.DataType, Any] = {
        pl.String(): nw.String,
        pl.Int64(): nw.Int64,
        pl.Boolean(): nw.Boolean,
    }
    columns = [
        (
            nw.col(name)
            if name in schema and name not in empty
            else nw.lit(1 if name == "trial" else None)
        )
        .cast(types[dtype])
        .alias(name)
        for name, dtype in TASKS.items()
    ]
    return (records if findings else records.select(*columns)), findings


def _fits(dtype: Any, name: str) -> bool:  # noqa: ANN401 - a type of narwhals
    import narwhals.stable.v2 as nw

    if TASKS[name] == pl.String:
        return isinstance(dtype, nw.String | nw.Categorical | nw.Enum)
    return bool(dtype.is_integer()) if TASKS[name] == pl.Int64 else dtype == nw.Boolean


def _unknown(name: str, schema: Mapping[str, Any]) -> Finding:
    near = nearest(name, tuple(field for field in FIELDS if field not in schema))
    hint = f"did you mean {near}?" if near else "extra='ignore' leaves it out"
    message = f"the column of {schema[name]} is not a key of a record"
    return Finding(printable(name), None, "unknown-key", message, hint)


def collected(frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Have the engine compute a frame, and take what it gives."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        return native.collect(engine="streaming")
    found: pl.DataFrame = frame.collect("polars").to_native()
    return found


def family_parts() -> tuple[nw.Expr, nw.Expr]:
    """Give, of a uid, the name of its family, and its site version: v1, v2, or null."""
    import narwhals.stable.v2 as nw

    uid = nw.col("uid")
    official = uid.str.contains(_OFFICIAL_UID)
    index = uid.str.replace_all(_BEFORE_INDEX, "")
    family = nw.when(official).then(nw.concat_str(_site_in(uid), nw.lit("."), index)).otherwise(uid)
    first = uid.str.contains(r"\.v1\.\p{Nd}+\z")
    version = nw.when(first).then(nw.lit("v1")).otherwise(nw.lit("v2"))
    return family, nw.when(official).then(version)


def _site_in(official_uid: nw.Expr) -> nw.Expr:
    return official_uid.str.replace_all(_INDEX, "").str.replace_all(r"^skillshift\.", "")


def per_trial(records: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Give what each trial contributes; ``_records`` is 1."""
    import narwhals.stable.v2 as nw

    parts = [part.alias(name) for name, part in outcome_parts(nw).items()]
    return records.select(*CELL, "uid", "trial", *parts, nw.lit(1).alias(_RECORDS))


def per_task(records: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Add up the trials of each task; ``_records`` is above 1 where a key is there more than once."""
    import narwhals.stable.v2 as nw

    sums = [nw.col(name).sum() for name in (*OUTCOME, _RECORDS)]
    per_key = per_trial(records).group_by(*CELL, "uid", "trial").agg(*sums)
    return per_key.group_by(*CELL, "uid").agg(*sums[:-1], nw.col(_RECORDS).max())


def distinct_values(records: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Give the distinct values of the records, as far as a rule can tell them apart.

    One row stands for one or more records: the columns of `skillshift_frames.TASKS` (of uids the least one, of errors only
    whether there is one, of trials each one that is out of range), how many records it stands for as ``_records``, and the
    ends of their trials.
    """
    import narwhals.stable.v2 as nw

    uid, trial, condition = nw.col("uid"), nw.col("trial"), nw.col("condition")
    first, second = (
        uid.str.starts_with(nw.concat_str(nw.lit("skillshift."), nw.col("site"), nw.lit(version)))
        for version in (".v1.", ".v2.")
    )
    # Patterns are slow, so they see null in place of the uids that a prefix has settled: nearly all.
    foreign = nw.when(uid.str.starts_with("skillshift.") & ~(first | second)).then(uid)
    other = (first & condition.str.starts_with("tgt")) | (second & condition.str.starts_with("src"))
    keys = {
        "errored": ~nw.col("error").is_null(),
        # Whether a uid breaks a rule depends on nothing else: is it there, of which other site, of the other version.
        "no_uid": nw.when(uid == "").then(nw.lit("")),
        "of_site": nw.when(foreign.str.contains(_OFFICIAL_UID)).then(_site_in(foreign)),
        "other_version": nw.when(other).then(uid).str.contains(_OFFICIAL_UID),
        "bad_trial": nw.when(trial < 1).then(trial),
    }
    values = ("success", "steps", "skill_calls", "skill_failures")
    with_keys = records.with_columns(**{f"_{name}": key for name, key in keys.items()})
    grouped = with_keys.group_by(*CELL, *values, *(f"_{name}" for name in keys)).agg(
        nw.len().alias(_RECORDS),
        uid.min().alias("uid"),
        trial.min().alias(_LOW),
        trial.max().alias(_HIGH),
    )
    found = collected(grouped).sort(*CELL, *values, "uid", nulls_last=True)
    # Rows need keys of their own, as records have.
    numbers = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return found.select(
        *(pl.col(name).cast(TASKS[name]) for name in ("run", "uid", "site", "condition")),
        pl.coalesce("_bad_trial", numbers).cast(pl.Int64).alias("trial"),
        *(pl.col(name).cast(TASKS[name]) for name in values),
        pl.when("_errored").then(pl.lit("errored")).alias("error"),
        *(pl.col(name).cast(pl.Int64) for name in (_RECORDS, _LOW, _HIGH)),
    )


def check_distinct(rows: pl.DataFrame, benchmark: Benchmark | None) -> bool:
    """Put every rule to the distinct values of the records; returns whether every task has one trial.

    Raises
    ------
    RecordError
        Names each broken rule once per run, site and condition, with the values and the number of records.
    InputError
        A record does not say of which run it is.
    """
    if rows.is_empty():
        nothing = Finding("file", None, "empty-file", "holds no record")
        raise RecordError(_whole_frame([nothing]))
    if rows.get_column("run").null_count():
        msg = "the records do not say which run they are of; give run="
        raise InputError(msg)
    numbered = rows.select(
        *TASKS,
        pl.lit(0, dtype=pl.UInt32).alias(SOURCE),
        pl.int_range(pl.len(), dtype=pl.UInt32).alias(LINE),
    )
    found, _ = find_faults(numbered, [], benchmark, [FRAME])
    # Two rows may share what is asked here of keys; the keys themselves are counted by the engine.
    raise_or_warn(_in_records(found.filter(pl.col("rule") != "repeated-record"), rows))
    return rows.get_column(_LOW).min() == rows.get_column(_HIGH).max()


def _in_records(faults: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Say of faults of distinct rows in how many records, and where, they are: one row per rule, values, and cell."""
    if faults.is_empty():
        return faults
    places = rows.select(*CELL, _RECORDS).with_row_index("line").cast({"line": pl.Int64})
    recorded = {
        name: dict(
            rows.filter(pl.col(name).is_not_null())
            .group_by("run")
            .agg(pl.col(_RECORDS).sum())
            .iter_rows()
        )
        for name in WHOLE_RUN
    }
    said = [name for name in FAULTS if name not in {"path", "line"}]
    counted: dict[tuple[Any, ...], int] = {}
    for fault in faults.join(places, on="line", maintain_order="left").iter_rows(named=True):
        if fault["rule"] == "null-in-part":
            others = recorded[fault["field"]][fault["run"]]
            fault["message"] = f"is null, and recorded in {others:,} other records of the run"
        key = tuple(fault[name] for name in (*said, *CELL))
        counted[key] = counted.get(key, 0) + fault[_RECORDS]
    listed = [
        (dict(zip([*said, *CELL], key, strict=True)), records) for key, records in counted.items()
    ]
    return pl.DataFrame(
        [
            fault
            | {
                "path": FRAME,
                "line": None,
                "message": f"{fault['message']} {_where(fault, records)}",
            }
            for fault, records in listed
        ],
        schema=FAULTS,
    )


def _where(cell: dict[str, Any], records: int) -> str:
    named = ", ".join(f"{name} {as_written(cell[name])}" for name in CELL)
    return f"in {records:,} {'record' if records == 1 else 'records'} of {named}"


def raise_or_warn(faults: pl.DataFrame) -> None:
    """Raise `RecordError` for faults; warn where there are only warnings."""
    errors = faults.filter(severity="error")
    if errors.height:
        raise RecordError(errors)
    if faults.height:
        warnings.warn("\n".join(describe_faults(faults)), SkillshiftWarning, stacklevel=4)


def has_repeated_keys(records: nw.LazyFrame[Any]) -> bool:
    """Tell whether any key is there more than once, of records of which each task has one trial."""
    import narwhals.stable.v2 as nw

    native = records.to_native()
    if isinstance(native, pl.LazyFrame):
        # 64 bits per key first: different ones may share them, but nearly always none do, and it takes a tenth of the time.
        parts = [pl.col(name).hash(seed) for seed, name in enumerate((*CELL, "uid"))]
        hashes = native.select(reduce(xor, parts).n_unique().alias("keys"), pl.len().alias("n"))
        keys, n = hashes.collect(engine="streaming").row(0)
        if keys == n:
            return False
    per_key = records.group_by(*CELL, "uid").agg(nw.len().alias(_RECORDS))
    most = collected(per_key.select(nw.col(_RECORDS).max()))
    return int(most.item()) > 1


def refuse_repeated_keys(records: nw.LazyFrame[Any]) -> None:
    """Raise for keys that more than one record has, once per run, site and condition.

    Raises
    ------
    RecordError
        Names the least uid of each cell, and counts the others.
    """
    import narwhals.stable.v2 as nw

    per_key = records.group_by(*KEY).agg(nw.len().alias(_RECORDS))
    repeated = per_key.filter(nw.col(_RECORDS) > 1).group_by(*CELL)
    per_cell = collected(
        repeated.agg(
            nw.len().alias("keys"), nw.col(_RECORDS).sum(), nw.col("uid").min().alias("uid")
        )
    )
    rows = []
    for cell in per_cell.sort(*CELL).iter_rows(named=True):
        others = int(cell["keys"]) - 1
        more = f" and of {others:,} other {'key' if others == 1 else 'keys'}" if others else ""
        uid = as_written(cell["uid"])
        message = f"more than one record of {uid}{more}: {_where(cell, int(cell[_RECORDS]))}"
        hint = "number the trials, or remove all but one"
        rows.append((FRAME, None, "uid", uid, "repeated-record", message, hint, "error"))
    raise RecordError(pl.DataFrame(rows, schema=FAULTS, orient="row"))
