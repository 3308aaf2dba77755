"""What the checks of published entries say: every finding, and how many there are."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.escape import escape_text
from skillshift_frames.render.machine import SCHEMA_VERSION, to_json
from skillshift_frames.render.numbers import format_count

if TYPE_CHECKING:
    import polars as pl

_TITLES = {
    "entry": "Entry",
    "severity": "Severity",
    "code": "Code",
    "metric": "Metric",
    "slot": "Slot",
    "printed": "Printed",
    "bound": "Bound",
    "message": "Finding",
    "hint": "What to do",
}


def findings_text(findings: pl.DataFrame, entries: int) -> str:
    """Say every finding, with what to do about it below, and then how many there are in how many entries.

    Examples
    --------
    >>> from skillshift_frames.findings import Finding, findings_frame
    >>> found = Finding("a.json", "range", "170.71 is out of range", "look again", "SR", "src")
    >>> print(findings_text(findings_frame([found]), 2), end="")
    a.json: error [range] SR src: 170.71 is out of range
      look again
    1 error in 1 of 2 entries; 1 entry without a finding
    """
    lines = []
    rows = findings.rows(named=True)
    for finding, after in zip_longest(rows, rows[1:]):
        lines.append(_line(finding))
        # Said once, below the last of the findings that it is for.
        said_next = after and (after["entry"], after["hint"]) == (finding["entry"], finding["hint"])
        if finding["hint"] and not said_next:
            lines.append(f"  {finding['hint']}")
    lines.append(_summary(findings, entries))
    return "".join(f"{escape_text(line)}\n" for line in lines)


def findings_document(findings: pl.DataFrame, entries: int, title: str) -> Document:
    """Describe the findings as a table, one row each, with their number below."""
    rows = tuple(
        Row(tuple(Cell(finding[name] or "") for name in _TITLES))
        for finding in findings.iter_rows(named=True)
    )
    columns = tuple(Column(heading, "left") for heading in _TITLES.values())
    return Document(title, columns, rows, notes=(Note(_summary(findings, entries)),))


def findings_json(findings: pl.DataFrame, **more: Any) -> str:  # noqa: ANN401 - whatever JSON takes
    """Give the findings as one JSON object, with whatever else a command has to say before them."""
    return to_json({"schema_version": SCHEMA_VERSION, **more, "findings": findings.to_dicts()})


def _line(finding: dict[str, Any]) -> str:
    """Say a finding in one line, with the value and the bound where the message has them not."""
    place = " ".join(filter(None, (finding["metric"], finding["slot"])))
    message = finding["message"]
    missing = [
        f"{name} {finding[name]}"
        for name in ("printed", "bound")
        if finding[name] is not None and finding[name] not in message
    ]
    tail = f" ({', '.join(missing)})" if missing else ""
    where = f"{place}: " if place else ""
    return f"{finding['entry']}: {finding['severity']} [{finding['code']}] {where}{message}{tail}"


def _summary(findings: pl.DataFrame, entries: int) -> str:
    severities = findings.get_column("severity").to_list()
    counted = [
        _count(severities.count(severity), severity)
        for severity in ("error", "warning", "note")
        if severity in severities
    ]
    concerned = findings.get_column("entry").n_unique()
    # A file that cannot be read, or a table with a line that cannot, is named beside the entries that could.
    entries = max(entries, concerned)
    clean = entries - concerned
    good = f"{_count(clean, 'entry', 'entries')} without a finding"
    if not counted:
        return good
    where = f"{format_count(concerned)} of {_count(entries, 'entry', 'entries')}"
    return f"{', '.join(counted)} in {where}{f'; {good}' if clean > 0 else ''}"


def _count(n: int, one: str, several: str | None = None) -> str:
    return f"{format_count(n)} {one if n == 1 else several or f'{one}s'}"
