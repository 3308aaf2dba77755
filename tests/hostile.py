"""Runs whose every name is hostile: what the command line's tests and those of real TeX feed to it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.readers.conftest import record
from tests.render.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

#: No file of records can hold these: a name is UTF-8 text, and JSON has neither.
LABELS = {name: label for name, label in HOSTILE.items() if name not in {"null", "surrogate"}}

#: The same a few at a time: all of them at once would make a table of a thousand cells.
SOME = [dict(list(LABELS.items())[start : start + 5]) for start in range(0, len(LABELS), 5)]


def write_runs(folder: Path, labels: dict[str, str]) -> list[Path]:
    """Write two runs, in which every label is a site, a condition, and a part of the run's name and of uids."""
    written = []
    for turn, run in enumerate(("base", "treatment")):
        rows = [
            record(
                f"{label}-{n}",
                site=f"at {label}",
                condition=f"{condition} {label}",
                run=" ".join((run, *labels.values())),
                success=(n + turn) % 2 == 0,
                steps=n,
            )
            for label in labels.values()
            for condition in ("src", "tgt")
            for n in range(3)
        ]
        written.append(folder / f"{run}.jsonl")
        written[-1].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return written


#: Commands that take two runs, and what is to be given besides.
COMMANDS = {
    "table": ["table"],
    "table with intervals": ["table", "--ci", "--resamples", "100"],
    "cells": ["cells"],
    "check": ["check"],
    "compare": ["compare", "--flips", "--resamples", "100"],
    "leaderboard": ["leaderboard", "--resamples", "100"],
    "shift": ["shift", "--resamples", "100"],
}
