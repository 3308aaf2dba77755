"""What a report says, section by section, from numbers that were computed elsewhere."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

from skillshift_frames._version import __version__
from skillshift_frames.render.charts.live import live_scripts
from skillshift_frames.render.comparison import comparison_document
from skillshift_frames.render.escape import escape_html
from skillshift_frames.render.numbers import format_count
from skillshift_frames.render.report.audit import audit_document
from skillshift_frames.render.report.charts import figure_html, plots_installed
from skillshift_frames.render.report.figures import figures, left_out
from skillshift_frames.render.report.methods import methods
from skillshift_frames.render.report.page import (
    Section,
    folded,
    paragraph,
    preformatted,
    table_html,
    terms,
)
from skillshift_frames.render.report.tables import (
    coverage_document,
    gaps_document,
    intervals_document,
    pairs_document,
    verdicts_document,
)
from skillshift_frames.render.tables import cells_document, table_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.render.document import Document
    from skillshift_frames.render.report.numbers import Numbers

#: More rows than these are folded away: they are looked up, not read.
_ROWS_READ, _GAPS_READ = 40, 12

_RUNS_NAMED = 4

NO_PLOTS = (
    "There are no charts, because altair and vl-convert-python are not installed. "
    'python -m pip install "skillshift-frames[plots]" brings both; every number is in the tables.'
)


def title_of(numbers: Numbers) -> str:
    """Name the page by its benchmark and its runs."""
    runs = list(numbers.records)
    runs.sort()
    named = ", ".join(runs) if len(runs) <= _RUNS_NAMED else f"{len(runs)} runs"
    return f"{numbers.benchmark.name}: {named}"


def lead(numbers: Numbers) -> list[str]:
    """Say in one sentence what the page is about."""
    runs = len(numbers.records)
    records = sum(numbers.records.values())
    said = [
        f"{format_count(runs)} {'run' if runs == 1 else 'runs'}, {format_count(records)} records",
        f"{100 * numbers.level:g} % intervals",
        f"seed {numbers.seed}",
    ]
    if numbers.base is not None:
        said.insert(1, f"compared with {numbers.base}")
    return [f"{'; '.join(said)}. Made by skillshift-frames {__version__} from the records alone."]


def sections(numbers: Numbers, *, command: str | None, alive: bool) -> list[Section]:
    """Give the sections in their order: what was measured comes before what came out."""
    return [
        Section("coverage", "Coverage", "".join(_coverage(numbers))),
        Section("table", "Table", table_html(_table(numbers))),
        Section("cells", "Cells", _cells(numbers)),
        Section("charts", "Charts", "".join(_charts(numbers, alive=alive))),
        Section("intervals", "Intervals", _intervals(numbers)),
        *(
            [Section("comparison", "Comparison", "".join(_comparison(numbers)))]
            if numbers.comparisons
            else []
        ),
        Section("audit", "Audit of the entry", "".join(_audit(numbers))),
        Section("methods", "Methods", _methods(numbers)),
        Section("reproduce", "Reproduce", "".join(_reproduce(numbers, command))),
    ]


def scripts(*, alive: bool) -> list[str]:
    """Give the scripts that bring charts to life, where there are charts and that is wanted."""
    return live_scripts() if alive and plots_installed() else []


def _coverage(numbers: Numbers) -> Iterator[str]:
    yield table_html(
        coverage_document(
            numbers.cells, numbers.coverage, numbers.bounds, numbers.records, numbers.benchmark
        )
    )
    lacking = gaps_document(numbers.gaps, numbers.coverage, numbers.benchmark)
    if lacking.rows or lacking.notes:
        cells = format_count(len(lacking.rows))
        yield _unless_long(lacking, f"Tasks that were not measured: {cells} cells", _GAPS_READ)


def _table(numbers: Numbers) -> Document:
    return table_document(
        numbers.slots.drop("low", "high"),
        numbers.cells,
        numbers.bounds,
        numbers.benchmark,
        errors=numbers.errors,
        null=numbers.null,
    )


def _cells(numbers: Numbers) -> str:
    document = cells_document(
        numbers.cells, numbers.bounds, numbers.benchmark, errors=numbers.errors
    )
    return _unless_long(document, f"All {format_count(len(document.rows))} cells")


def _charts(numbers: Numbers, *, alive: bool) -> Iterator[str]:
    if not plots_installed():
        yield paragraph(NO_PLOTS)
        return
    yield '<div class="charts">\n'
    for figure in figures(numbers):
        yield figure_html(figure, alive=alive)
    yield "</div>\n"
    said = left_out(numbers)
    if said:
        yield paragraph(said)


def _intervals(numbers: Numbers) -> str:
    document = intervals_document(
        numbers.slots,
        numbers.intervals,
        numbers.benchmark,
        level=numbers.level,
        seed=numbers.seed,
        resamples=numbers.resamples,
    )
    return _unless_long(document, f"Intervals of {format_count(len(document.rows))} slots")


def _comparison(numbers: Numbers) -> Iterator[str]:
    several = len(numbers.comparisons) > 1
    if several:
        yield table_html(verdicts_document(numbers.comparisons))
    for comparison in numbers.comparisons:
        document = comparison_document(comparison, numbers.benchmark, flips=False)
        if several:
            yield folded(document.title, table_html(document))
            continue
        decision = comparison.decision
        verdict, recommendation = map(escape_html, (decision.verdict, decision.recommendation))
        yield (
            f'<p class="verdict"><strong>Verdict: {verdict}.</strong> {escape_html(_sentence(decision.reason))} '
            f"<strong>Recommendation: {recommendation}.</strong></p>\n"
        )
        yield table_html(document)


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"


def _audit(numbers: Numbers) -> Iterator[str]:
    audited = numbers.audited
    if not audited.entries:
        whys = set(audited.left_out.values())
        for why in sorted(whys):
            yield paragraph(f"There is no entry to audit: {why}.")
        return
    yield paragraph(
        "Each run was made into a leaderboard entry with its receipt, as entry build does; the entry was checked against its "
        "receipt and its records, and its printed numbers were tested for what no run can give."
    )
    document = audit_document(audited)
    yield _unless_long(document, f"All {format_count(len(document.rows))} findings")


def _methods(numbers: Numbers) -> str:
    return terms(
        methods(
            numbers.benchmark,
            errors=numbers.errors,
            null=numbers.null,
            level=numbers.level,
            seed=numbers.seed,
            resamples=numbers.resamples,
            compared=bool(numbers.comparisons),
            margin=numbers.margin,
        )
    )


def _reproduce(numbers: Numbers, command: str | None) -> Iterator[str]:
    yield paragraph(
        "The same records give the same page, byte for byte, in whatever order they come:"
    )
    yield preformatted(command or _call(numbers), "Command")
    packages = ["polars", "numpy", "scipy"]
    packages += ["altair", "vl-convert-python"] if plots_installed() else []
    versions = [
        ("skillshift-frames", __version__),
        ("python", platform.python_version()),
        *((package, version(package)) for package in packages),
    ]
    yield table_html(pairs_document("Versions", ("Package", "Version"), versions))
    digests = sorted(numbers.digests.items())
    yield table_html(pairs_document("Records", ("Run", "SHA-256 (records_digest)"), digests))
    yield paragraph(
        "The digest is of the records, whatever their order and whatever file they lie in; a run's label is no part of it."
    )


def _call(numbers: Numbers) -> str:
    """Write the call that makes the page, with what differs from its defaults."""
    usual = {"base": None, "margin": None, "level": 0.95, "resamples": 10_000, "method": "auto"}
    usual |= {"errors": "exclude", "null": "propagate"}
    asked = {name: getattr(numbers, name) for name in usual} | {"rng": numbers.seed}
    given = [f"{name}={value!r}" for name, value in asked.items() if value != usual.get(name, 0)]
    if numbers.benchmark.name != "skillshift":
        given.append("benchmark=…")
    return f"skillshift_frames.report({', '.join(['tasks', *given])})"


def _unless_long(document: Document, summary: str, read: int = _ROWS_READ) -> str:
    shown = table_html(document)
    return folded(summary, shown) if len(document.rows) > read else shown
