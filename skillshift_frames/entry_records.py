"""What records say about the entry that is said to be from them: digest, counts and numbers, recomputed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from skillshift_frames.cells import cells
from skillshift_frames.findings import Finding
from skillshift_frames.marginals import half_unit
from skillshift_frames.readers.json_shape import MOST_TASKS, value_at, whole
from skillshift_frames.readers.wording import printable
from skillshift_frames.receipt import own_digest, records_digest, task_counts
from skillshift_frames.stats.rounding import half_up
from skillshift_frames.table import slots

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    import polars as pl

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors
    from skillshift_frames.readers.entries import Entry
    from skillshift_frames.readers.receipts import Receipt

_DIGITS_SHOWN = 12


def records_findings(
    entry: Entry, receipt: Receipt | None, tasks: pl.DataFrame, benchmark: Benchmark, errors: Errors
) -> Iterator[Finding]:
    """Find where records of one run are not those that a receipt commits to, or do not give the entry's numbers."""
    if receipt is not None:
        yield from _other_records(entry, receipt, tasks)
    of_cells = cells(tasks, benchmark=benchmark, errors=errors)
    hint = "build the entry again from these records, or name those that it was built from"
    if tasks.get_column("error").is_not_null().any():
        hint = f"tasks with an error: --errors {errors}"
    yield from _other_counts(entry, of_cells, benchmark, hint)
    yield from _other_numbers(entry, of_cells, benchmark, hint)


def _other_records(entry: Entry, receipt: Receipt, tasks: pl.DataFrame) -> Iterator[Finding]:
    digest, stated = own_digest(receipt), whole(receipt.content.get("records"))
    if digest is not None and digest != (found := records_digest(tasks)):
        message = (
            f"the records are not those of the receipt: their digest is {found[:_DIGITS_SHOWN]}…, "
            f"not {printable(digest[:_DIGITS_SHOWN])}…"
        )
        if stated is not None:
            message += f"; {tasks.height:,} records, in the receipt {stated:,}"
        hint = "name the per_task.jsonl that the entry was built from, as it was then"
        yield Finding(entry.name, "receipt-mismatch", f"{receipt.name}: {message}", hint)
    elif stated is not None and stated != tasks.height:
        yield Finding(
            entry.name,
            "receipt-mismatch",
            f"{receipt.name}: records is {stated}, and there are {tasks.height}",
            "build the entry again, with its receipt",
            printed=str(stated),
            bound=str(tasks.height),
        )


def _other_counts(
    entry: Entry, of_cells: pl.DataFrame, benchmark: Benchmark, hint: str
) -> Iterator[Finding]:
    """Find counts of tasks and of calls that are not those of the records; what is not stated is no count."""
    counted = task_counts(of_cells, benchmark)
    differing = [
        (axis, slot, stated, n)
        for axis in ("websites", "conditions")
        for slot, n in counted[axis].items()
        if (stated := whole(value_at(entry.content, "n", axis, slot), MOST_TASKS)) is not None
        and stated != n
    ]
    if differing:
        axis, slot, stated, n = differing[0]
        more = len(differing) - 1
        rest = f"; {more} more {'count differs' if more == 1 else 'counts differ'}" if more else ""
        yield Finding(
            entry.name,
            "count-mismatch",
            f"n.{axis}.{slot} is {stated}, and the records give {n}{rest}",
            hint,
            slot=slot,
            printed=str(stated),
            bound=str(n),
        )
    calls = counted["skill_calls"]
    if entry.skill_calls is not None and entry.skill_calls != calls:
        given = "null" if calls is None else str(calls)
        yield Finding(
            entry.name,
            "count-mismatch",
            f"n.skill_calls is {entry.skill_calls}, and the records give {given}",
            hint,
            metric="ASC",
            printed=str(entry.skill_calls),
            bound=given,
        )


def _other_numbers(
    entry: Entry, of_cells: pl.DataFrame, benchmark: Benchmark, hint: str
) -> Iterator[Finding]:
    of_records = slots(of_cells, benchmark=benchmark)
    differing = [
        (metric, slot, value, entry.printed[metric, slot])
        for metric, slot, value in of_records.select("metric", "slot", "value").iter_rows()
        if (metric, slot) in entry.printed and not _prints(entry.printed[metric, slot], value)
    ]
    if not differing:
        return
    metric, slot, value, number = differing[0]
    more = len(differing) - 1
    shown = "null" if value is None else f"{half_up(value, 4):f}"
    printed = "null" if number is None else f"{number:f}"
    rest = f"; {more} more {'slot differs' if more == 1 else 'slots differ'}" if more else ""
    yield Finding(
        entry.name,
        "receipt-mismatch",
        f"is {printed}, and the records give {shown}{rest}",
        hint,
        metric=metric,
        slot=slot,
        printed=printed,
        bound=shown,
    )


def _prints(number: Decimal | None, value: float | None) -> bool:
    """Tell whether a printed number is a value rounded to the digits that were printed, ties either way."""
    if number is None or value is None:
        return number is None and value is None
    return abs(Fraction(number) - Fraction(repr(value))) <= half_unit(number)
