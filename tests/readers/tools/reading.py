"""Reads a folder as one tool's, for the tests of those tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.errors import describe_faults
from skillshift_frames.readers.tools import NAMES, tool
from skillshift_frames.readers.tools.common import Trials

if TYPE_CHECKING:
    from pathlib import Path


def read(name: str, path: Path) -> Trials:
    found = Trials(name, path)
    tool(name).read(path, found)
    return found


def rows(found: Trials, *columns: str) -> list[tuple[Any, ...]]:
    return found.frame().select(columns).rows()


def only(found: Trials, **values: object) -> dict[str, Any]:
    """The one trial that has these values."""
    kept = found.frame()
    for name, value in values.items():
        kept = kept.filter(pl.col(name) == value)
    assert kept.height == 1, kept
    return kept.row(0, named=True)


def said(found: Trials) -> list[str]:
    """Every problem without the folders before its file."""
    return [line.rpartition("/")[2] for line in faults(found)]


def faults(found: Trials) -> list[str]:
    """Every problem with its whole path."""
    return describe_faults(found.faults(), limit=1000)


def recognised(path: Path) -> list[str]:
    """Every tool that takes a path for its own."""
    return [name for name in NAMES if tool(name).recognises(path)]


def write_json(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path
