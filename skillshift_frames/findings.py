"""What checks of a published entry find: a stable code, the slot, the number as printed, the bound, and what to do."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

Severity: TypeAlias = Literal["error", "warning", "note"]

#: Code → severity. Codes are stable: scripts may rely on them.
CODES: dict[str, Severity] = {
    "schema": "error",
    "missing-slot": "error",
    "missing-reason": "error",
    "count-mismatch": "error",
    "identity": "error",
    "identity-rounding": "warning",
    "range": "error",
    "unknown-label": "error",
    "receipt-missing": "error",
    "receipt-mismatch": "error",
    "sfr-without-calls": "warning",
    "sfr-unstable": "note",
    "impossible-value": "warning",
    "task-weighted": "warning",
}

#: One row is one finding.
FINDINGS = pl.Schema(
    {
        "entry": pl.String,  # the file, or method / model where a file holds several
        "code": pl.String,
        "severity": pl.String,  # error, warning or note
        "metric": pl.String,  # null where it is not about one
        "slot": pl.String,  # a site, a condition or overall; null where it is not about one
        "printed": pl.String,  # the value as written; null where there is none
        "bound": pl.String,  # what would have been allowed; null where that is not a number
        "message": pl.String,
        "hint": pl.String,  # what to do, or how to read it
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; the columns of `FINDINGS` but for the severity, which follows from the code."""

    entry: str
    code: str
    message: str
    hint: str = ""
    metric: str | None = None
    slot: str | None = None
    printed: str | None = None
    bound: str | None = None

    @property
    def severity(self) -> Severity:
        """How much it weighs."""
        return CODES[self.code]


def findings_frame(findings: Iterable[Finding]) -> pl.DataFrame:
    """Give findings as a frame, in the order in which they were found."""
    fields = ("entry", "code", "message", "hint", "metric", "slot", "printed", "bound")
    rows = [
        dict(zip(fields, astuple(finding), strict=True)) | {"severity": finding.severity}
        for finding in findings
    ]
    return pl.DataFrame(rows, schema=FINDINGS)


def worst(findings: pl.DataFrame) -> Severity | None:
    """Give the gravest severity that occurs, None where nothing was found.

    Examples
    --------
    >>> worst(findings_frame([Finding("a.json", "sfr-unstable", "rests on 12 calls")]))
    'note'
    """
    present = set(findings.get_column("severity"))
    order: tuple[Severity, ...] = ("error", "warning", "note")
    return next((severity for severity in order if severity in present), None)
