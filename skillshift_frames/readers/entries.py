"""What a published entry is to everything that reads one: printed numbers, and what they were said to rest on.

A printed number is kept as a decimal with the digits that were printed: ``16.90`` says more than ``16.9``. Only in the
JSON of an entry has every number two decimals at least, because JSON writers drop trailing zeros.

Damage inside a file is found, not raised: whoever checks an entry wants to know all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date
    from decimal import Decimal

    from skillshift_frames.findings import Finding


@dataclass(frozen=True)
class Entry:
    """The numbers that somebody published, digit for digit, with what they were said to rest on.

    Attributes
    ----------
    name
        What findings call it: the file, or method / model where a file holds several.
    method, model
        As published; may be empty.
    printed
        (metric, slot) → the number as printed, None where null was printed. What was not printed at all has no key.
    tasks
        Site → tasks in each of its cells, as stated; the benchmark's where nothing is stated.
    path
        The file as it can be opened; empty for standard input and for a row.
    date, label, skill_calls, reasons
        As stated; None or empty where not.
    content
        The whole of an entry file, with numbers as written; None for rows.
    """

    name: str
    method: str
    model: str
    printed: Mapping[tuple[str, str], Decimal | None]
    tasks: Mapping[str, int]
    path: str = ""
    date: date | None = None
    label: str | None = None
    skill_calls: int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    content: dict[str, Any] | None = None

    @property
    def pools_models(self) -> bool:
        """Whether it pools the runs of several models, as the leaderboard's ``mixed`` entries do."""
        return self.model.strip().lower().split(" ")[0] == "mixed"


@dataclass(frozen=True)
class Read:
    """What was read: the entries, with as many numbers as could be read, and what is wrong with their files."""

    entries: list[Entry]
    findings: list[Finding]
