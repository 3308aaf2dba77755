"""What a calibration says: the answer first, then every number, then what the answer rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.intervals import ends
from skillshift_frames.render.machine import SCHEMA_VERSION, to_json
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.render.tables import ERRORS, UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.calibrate import Calibration

_NAMED = 4


def calibration_document(found: Calibration) -> Document:
    """Describe a calibration, one row per cell and metric."""
    columns = (
        *(Column(title, "left") for title in ("Site", "Condition", "Metric")),
        *(Column(title) for title in ("Tasks", "Observed", "Reference", "Sigma", "Deviation")),
        *(Column(title, "left") for title in ("Verdict", "Gates")),
    )
    rows: list[Row] = []
    previous = None
    for row in found.rows.iter_rows(named=True):
        rows.append(_row(row, found.benchmark, starts_group=row["site"] != previous))
        previous = row["site"]
    return Document(
        title=f"{found.run} against {found.name}: {_answer(found)}",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(_notes(found)),
    )


def _answer(found: Calibration) -> str:
    numbers = f"{format_count(found.judged)} gated {'number' if found.judged == 1 else 'numbers'}"
    said = f"deviates in {format_count(found.deviating)} of {numbers}"
    if not found.deviating:
        said = f"within {found.threshold:g} sigma in all {numbers}"
    return f"{said}; {format_count(found.not_judged)} not judged" if found.not_judged else said


def _row(row: dict[str, Any], benchmark: Benchmark, *, starts_group: bool) -> Row:
    verdict = {True: "deviates", False: "within", None: "not judged"}[row["deviates"]]
    bound = ends(row["metric"], row["low"], row["high"])
    numbers = [
        Cell(format_number(row[name], undefined=UNDEFINED))
        for name in ("observed", "value", "sigma")
    ]
    deviation = format_number(row["deviation"], undefined=UNDEFINED)
    return Row(
        (
            Cell(benchmark.title(row["site"])),
            Cell(benchmark.title(row["condition"])),
            Cell(row["metric"]),
            Cell(format_count(row["n"])),
            *numbers,
            Cell(deviation, (bound,) if bound else ()),
            Cell(verdict),
            Cell("yes" if row["gates"] else "no"),
        ),
        starts_group=starts_group,
    )


def _notes(found: Calibration) -> Iterator[Note]:
    reference = found.reference
    beyond = found.rows.filter("gates", "deviates")
    if beyond.height:
        yield Note(f"Deviates: {_name(beyond)}")
    yield Note(
        f"Deviation = |observed − reference| / sigma; a number deviates above {found.threshold:g}; "
        "SR and AS gate, ASC and SFR are shown only"
    )
    if found.rows.get_column("low").count():
        yield Note(
            "exact bound on SR at the same tail probability, where all tasks of the reference passed or failed",
            "[ ]",
        )
    for gates, what in ((True, "not judged"), (False, "not judged, and not gated")):
        rows = found.rows.filter(pl.col("deviates").is_null(), gates=gates)
        for (reason,), alike in rows.group_by("reason", maintain_order=True):
            yield Note(f"{what}: {reason}: {_name(alike)}", UNDEFINED)
    subset = "all its tasks"
    if reference.subset is not None:
        sizes = {site: len(reference.subset.get(site, ())) for site in found.benchmark.sites}
        counts = [f"{n} of {site}" for site, n in sizes.items() if n]
        subset = f"a subset of its tasks ({', '.join(counts)})"
    yield Note(
        f"Reference: {reference.run}, {subset}; sigma is the standard error of the reference alone, within the cell, "
        "so the difference of two honest runs has 1.4 times as much"
    )
    if found.judged:
        yield Note(
            f"Where every attempt is a new draw, about {format_number(found.by_chance, decimals=1)} of "
            f"{found.judged} would deviate by chance; fewer where the same tasks mostly come out alike"
        )
    yield from map(Note, found.notes)
    yield Note(f"{ERRORS[reference.errors][0].upper()}{ERRORS[reference.errors][1:]}")


def _name(rows: pl.DataFrame) -> str:
    named = [
        f"{metric} {site} × {condition}"
        for metric, site, condition in rows.select("metric", "site", "condition")
        .head(_NAMED)
        .iter_rows()
    ]
    rest = rows.height - len(named)
    return ", ".join(named) + (f" and {format_count(rest)} more" if rest else "")


def calibration_json(found: Calibration) -> str:
    """Give a calibration as one JSON object."""
    reference = found.reference
    content = {
        "schema_version": SCHEMA_VERSION,
        "run": found.run,
        "anchor": found.name,
        "reference": reference.run,
        "benchmark": found.benchmark.name,
        "errors": reference.errors,
        "step_budget": reference.step_budget,
        "subset": reference.subset,
        "threshold": found.threshold,
        "deviates": found.deviating > 0,
        "deviating": found.deviating,
        "judged": found.judged,
        "not_judged": found.not_judged,
        "notes": list(found.notes),
        "rows": found.rows.to_dicts(),
    }
    return to_json(content)
