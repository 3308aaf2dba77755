"""How often an audit speaks up: never about an honest entry, nearly always about an altered one. Seeds are fixed."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.readers.entries import Entry, Read
from tests.honest import SITES, draw_cells, print_entry, rounded, weighted_overall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.honest import Cells

SLOW = pytest.param(2_000, marks=pytest.mark.slow, id="2000 entries")
ways = pytest.mark.parametrize("first", [False, True], ids=["cells exact", "cells rounded first"])
sizes = pytest.mark.parametrize("size", [pytest.param(100, id="100 entries"), SLOW])


def draw(size: int, *, first: bool) -> list[tuple[Cells, Entry]]:
    rng = Random(20260830)  # noqa: S311 - a simulation
    drawn = [draw_cells(rng) for _ in range(size)]
    return [
        (cells, print_entry(cells, f"entry {n}", cells_rounded_first=first))
        for n, cells in enumerate(drawn)
    ]


def more_than_notes(entries: Sequence[Entry]) -> pl.DataFrame:
    return sf.audit(Read(list(entries), [])).filter(pl.col("severity") != "note")


@sizes
@ways
def test_honest_entries_are_left_alone(size: int, *, first: bool) -> None:
    found = more_than_notes([entry for _, entry in draw(size, first=first)])
    assert found.rows() == []


@sizes
@ways
def test_one_altered_site_is_caught(size: int, *, first: bool) -> None:
    """By 0.01 to 5 points, evenly, up or down: at least 98 %; and the true value is among the repairs."""
    rng = Random(7)  # noqa: S311
    altered = {}
    for _, entry in draw(size, first=first):
        site = rng.choice(list(SITES))
        true = entry.printed["SR", site]
        assert true is not None
        changes = [Decimal(rng.randint(1, 500) * rng.choice([-1, 1])) / 100 for _ in range(50)]
        value = next(true + change for change in changes if 0 <= true + change <= 100)
        printed = {**entry.printed, ("SR", site): value}
        altered[entry.name] = (replace(entry, printed=printed), site, true)
    found = more_than_notes([entry for entry, _, _ in altered.values()])
    assert set(found.get_column("metric")) == {"SR"}
    caught = set(found.get_column("entry"))
    assert len(caught) >= 0.98 * size
    hints = dict(found.select("entry", "hint").iter_rows())  # the last of each entry
    repaired = sum(f"{altered[name][1]} as " in hints[name] for name in caught)
    assert repaired >= 0.98 * len(caught)


@sizes
@ways
def test_task_weighted_overall_is_caught(size: int, *, first: bool) -> None:
    weighted = []
    for cells, entry in draw(size, first=first):
        overall = rounded(weighted_overall(cells, "SR"))
        weighted.append(replace(entry, printed={**entry.printed, ("SR", "overall"): overall}))
    found = more_than_notes(weighted).filter(code="task-weighted", metric="SR", slot="overall")
    assert found.get_column("entry").n_unique() >= 0.95 * size
