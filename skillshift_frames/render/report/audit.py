"""What the checks found in the entries that the runs would be published as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift_frames.render.document import Document, Note
from skillshift_frames.render.findings import findings_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.render.report.numbers import Audited


def audit_document(audited: Audited) -> Document:
    """Describe what was found, one row each, and what was tested."""
    document = findings_document(audited.findings, audited.entries, "Findings in the entries")
    left_out = (Note(f"{run}: no entry: {why}") for run, why in audited.left_out.items())
    return Document(
        document.title,
        document.columns,
        document.rows,
        notes=(*document.notes, *_notes(audited), *left_out),
    )


def _notes(audited: Audited) -> Iterator[Note]:
    yield from map(Note, audited.notes)
    yield Note(
        "Name, method, model and date, which records do not say, had stand-ins; a finding says nothing about how a number came about"
    )
