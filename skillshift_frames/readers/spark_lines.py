"""JSON lines that Spark reads, judged here: one line of each shape, by the decoder that judges all records.

Spark's reader of JSON is no validation: with a schema it leaves out unknown keys and fills in missing ones, without one it
makes text of what does not agree; the last of two equal keys wins, what follows the first object of a line is not looked
at, and bytes that are no UTF-8 become question marks (measured with Spark 4.3). So lines are read as text first, and counted
by their *shape*: the keys, and the types of their values. Lines of one shape are records, or are not, together.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from skillshift_frames.errors import InputError
from skillshift_frames.readers.diagnosis import Finding, diagnose
from skillshift_frames.readers.records import (
    REFUSALS,
    decode_line,
    decode_line_with_extras,
    fits_64_bits,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: What to do with unknown keys; a tally cannot keep them.
Unknown: TypeAlias = Literal["refuse", "ignore"]

# Within an object that has an end after it: what follows a first value would take the end's place. Null where a key comes
# twice, a string holds half of a surrogate pair, or it is no JSON.
_WRAPPED = """try_parse_json(concat('{"record":', value, ',"end":0}'))"""
_ONE_OBJECT = "OBJECT<end: BIGINT, record: OBJECT<"

# Lines without a shape are each wrong in its own way: so many of a file are looked at, however many there are.
_LOOKED_AT = 20
#: Of all files together; more are not brought here.
_SHAPES = 100_000

_BLANK = r"trim(BOTH ' \t\r' FROM value) = ''"
_PLACE = {
    "address": "_metadata.file_path",
    "shape": f"CASE WHEN is_valid_utf8(value) THEN schema_of_variant({_WRAPPED}) END",
    "line": "CAST(value AS BINARY)",
    # Stands for the line: of texts the least could only be found by sorting all of them.
    "mark": "xxhash64(value)",
}
_SHARE = f"CASE WHEN shape IS NULL THEN pmod(mark, {_LOOKED_AT}) END"


class Judged(NamedTuple):
    """What is wrong with the lines of each address, which unknown keys there are, and which addresses hold any line."""

    faults: list[tuple[str, Finding]]
    unknown: set[str]
    addresses: set[str]


def judge_lines(text: DataFrame, extra: Unknown) -> Judged:
    """Find what is wrong with lines, before anybody reads their values.

    ``text`` is as Spark's reader of text gives it, with line feeds alone between lines.

    Raises
    ------
    InputError
        There are too many shapes: the lines are hardly records.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    lines = text.where(f"NOT ({_BLANK})").selectExpr(
        *(f"{how} AS {name}" for name, how in _PLACE.items())
    )
    per_shape = (
        lines.groupBy("address", "shape", F.expr(_SHARE).alias("share"))
        .agg(F.min("mark").alias("mark"), F.count("*").alias("lines"))
        .orderBy("address", "mark")
        .limit(_SHAPES + 1)
    )
    rows = per_shape.toArrow().to_pylist()
    if len(rows) > _SHAPES:
        msg = f"the files' lines have more than {_SHAPES:,} different sets of keys and types: too many to look at"
        raise InputError(msg)
    marked = lines.where(F.col("mark").isin([row["mark"] for row in rows]))
    # Should two lines have one mark, the lesser is taken, for the same words every time.
    texts = marked.select("mark", "line").distinct().toArrow().to_pylist()
    line_of = {
        row["mark"]: row["line"] for row in sorted(texts, key=itemgetter("line"), reverse=True)
    }
    found: dict[tuple[str, str, str], tuple[Finding, int, bool]] = {}
    unknown: set[str] = set()
    for row in rows:
        wrong, others = _judge(line_of[row["mark"]], row["shape"], extra)
        unknown |= others.keys()
        for finding in wrong:
            # Without a shape there is no telling whether two lines have the same fault.
            same = finding.rule if row["shape"] else f"{finding.rule} {row['share']}"
            key = (row["address"], finding.field, same)
            first, before, _ = found.get(key, (finding, 0, True))
            found[key] = (first, before + row["lines"], row["shape"] is not None)
    faults = [
        (address, finding._replace(message=f"{finding.message} {_in_lines(count, alike=alike)}"))
        for (address, _, _), (finding, count, alike) in found.items()
    ]
    return Judged(faults, unknown, {row["address"] for row in rows})


def _judge(line: bytes, shape: str | None, extra: Unknown) -> tuple[list[Finding], dict[str, Any]]:
    """Give what is wrong with a line, and what it holds under unknown keys."""
    if shape is None or not shape.startswith(_ONE_OBJECT):
        return diagnose(line, extra), {}
    try:
        record, others = (
            (decode_line(line), dict[str, Any]())
            if extra == "refuse"
            else decode_line_with_extras(line)
        )
    except REFUSALS:
        return diagnose(line, extra), {}
    return ([] if fits_64_bits(record) else diagnose(line, extra)), others


def _in_lines(lines: int, *, alike: bool) -> str:
    if lines == 1:
        return "in 1 line"
    return (
        f"in {lines:,} lines" if alike else f"in this line, and {lines - 1:,} more are no records"
    )
