"""What an audit says besides its findings: which numbers were tested, and what two entries' totals allow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.decide import p_value
from skillshift_frames.feasibility import TOO_COARSE
from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.escape import escape_text
from skillshift_frames.render.numbers import format_count
from skillshift_frames.render.text import render_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillshift_frames.benchmark import Benchmark


def tested_notes(feasible: pl.DataFrame, benchmark: Benchmark) -> Iterator[str]:
    """Say metric by metric how many numbers could be tested against counts, how they came out, and why others were not.

    ``feasible`` is a frame of `skillshift_frames.feasibility`.
    """
    for (metric,), numbers in feasible.group_by("metric", maintain_order=True):
        tested = numbers.filter(pl.col("exact").is_not_null())
        impossible = tested.filter(~pl.col("rounded")).height
        rounded = tested.filter(~pl.col("exact") & pl.col("rounded").fill_null(value=True)).height
        said = f"{metric}: {_of(tested.height, numbers.height)} printed numbers could be tested against counts"
        if tested.height:
            said += f": {format_count(impossible)} impossible, {format_count(tested.height - impossible)} possible"
        if rounded:
            said += f" ({format_count(rounded)} of them only if cells were rounded first)"
        untested = numbers.filter(pl.col("exact").is_null())
        for (reason,), rows in untested.group_by("reason", maintain_order=True):
            slots = rows.get_column("slot").unique(maintain_order=True).to_list()
            where = f" ({', '.join(map(benchmark.title, slots))})" if reason == TOO_COARSE else ""
            said += f"; {format_count(rows.height)} not: {reason}{where if len(slots) < len(benchmark.slots) else ''}"
        yield said


def audit_text(findings: str, notes: Sequence[str], paired: Document | None, *, color: bool) -> str:
    """Put findings, what was tested, and the bounds of a paired test below each other."""
    said = "".join(f"{escape_text(note)}\n" for note in notes)
    return f"{findings}{said}" + (f"\n{render_text(paired, color=color)}" if paired else "")


def with_notes(document: Document, notes: Sequence[str]) -> Document:
    """Give the description of findings with what was tested below it."""
    return replace(document, notes=(*document.notes, *map(Note, notes)))


def _of(n: int, total: int) -> str:
    return f"{format_count(n)} of {format_count(total)}"


def shared_task_notes(common: pl.DataFrame) -> Iterator[str]:
    """Say which numbers of tasks would give every entry's number of a site (`skillshift_frames.feasibility.common_tasks`)."""
    for row in common.iter_rows(named=True):
        if row["impossible"] and row["entries"] > 1:
            counts = ", ".join(map(str, row["tasks_that_fit"])) or "no number of tasks near it"
            yield (
                f"{row['site']}: {row['impossible']} of {row['entries']} entries cannot have {row['tasks']} tasks; "
                f"all {row['entries']} together: {counts}"
            )


_WORDS = {
    "always": "whatever the pairing",
    "possibly": "depends on the pairing: only the records can tell",
    "never": "whatever the pairing",
}


def paired_document(found: pl.DataFrame, base: str, treatment: str, *, level: float) -> Document:
    """Describe the bounds that two entries' totals set to a paired test (`skillshift_frames.paired_bounds`)."""
    columns = (
        Column("Slot", "left"),
        *(Column(title) for title in ("Pairs", "Difference", "Discordant", "p")),
        Column("Significant", "left"),
    )
    rows = tuple(
        Row(
            (
                Cell("O/A" if row["slot"] == "overall" else row["slot"]),
                Cell(format_count(row["pairs"])),
                Cell(_span(f"{row['difference_low']:+,}", f"{row['difference_high']:+,}")),
                Cell(_span(f"{row['discordant_low']:,}", f"{row['discordant_high']:,}")),
                Cell(_span(_p(row["p_low"]), _p(row["p_high"]))),
                Cell(f"{row['significant']}, {_WORDS[row['significant']]}"),
            )
        )
        for row in found.iter_rows(named=True)
    )
    notes = (
        Note(
            f"Difference: successes of {treatment} more than of {base}, by the printed SR of the sites"
        ),
        Note("Discordant: pairs that come out differently, at least and at most"),
        Note(
            f"p: exact McNemar, two-sided, over every pairing that has these totals; significant is below {1 - level:g}. "
            "It takes pairs for independent: the same task under several conditions counts as several"
        ),
        Note("O/A adds up pairs, so that sites weigh by their tasks; the macro means do not"),
    )
    return Document(f"{base} → {treatment}: bounds from totals alone", columns, rows, notes=notes)


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _p(p: float) -> str:
    return p_value(p).removeprefix("= ")
