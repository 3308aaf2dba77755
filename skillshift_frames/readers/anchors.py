"""Calibration anchors: what one reference run gave in each cell, with the sigma that a second run is measured in.

An anchor is one JSON object with exactly these keys; null stands for undefined, and is never 0:

``schema_version``
    ``"1.0"``.
``tool``
    ``{"name": …, "version": …}``: what wrote it.
``benchmark``, ``run``
    The names of the benchmark and of the reference run.
``errors``
    ``"exclude"`` or ``"zero"``: what tasks with an error counted as.
``threshold_sigma``
    A deviation above it is flagged, unless whoever compares says otherwise.
``step_budget``
    Steps that a task was allowed, or null where nobody said.
``subset``
    ``{site: [family, …]}``, or null for all tasks.
``cells``
    A list of ``{"site", "condition", "n", "metrics"}``: ``n`` tasks are behind SR, and ``metrics`` has for each of SR, AS,
    ASC and SFR ``{"value", "sigma"}``, in the metric's unit. SFR has no sigma.
"""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from skillshift_frames.errors import InputError
from skillshift_frames.readers.records import parse
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: An anchor of SkillShift-Bench has 10 KB. Whatever is larger than this is something else.
LARGEST_FILE = 16 << 20

_LARGEST = {"SR": 100.0, "SFR": 100.0}
_NEEDED = "an anchor of schema_version 1.0 is needed, as calibrate --make writes it"
_PLACE = re.compile(r"(?s)(.*) - at `\$\.?(.*)`")

_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
_Positive = Annotated[int, msgspec.Meta(ge=1, le=(1 << 63) - 1)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0)]
_Name = Annotated[str, msgspec.Meta(min_length=1)]


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What wrote the anchor."""

    name: str
    version: str


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One metric of one cell: its value, and the sigma of it."""

    value: _NotNegative | None
    sigma: _NotNegative | None


class References(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The metrics of one cell."""

    SR: Reference
    AS: Reference
    ASC: Reference
    SFR: Reference


class AnchorCell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One cell: the tasks behind its SR, and its metrics."""

    site: _Name
    condition: _Name
    n: _Count
    metrics: References


class Anchor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference run, as the file holds it."""

    schema_version: Literal["1.0"]
    tool: Tool
    benchmark: _Name
    run: _Name
    errors: Literal["exclude", "zero"]
    threshold_sigma: Annotated[float, msgspec.Meta(gt=0)]
    step_budget: _Positive | None
    subset: dict[_Name, list[_Name]] | None
    cells: list[AnchorCell]

    def to_dict(self) -> dict[str, Any]:
        """Give what the file holds, keys in their order."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return content


_decode = msgspec.json.Decoder(Anchor).decode


def read_anchor(source: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str, Anchor]:
    """Read an anchor, and give it with the name that messages call it by.

    Parameters
    ----------
    source
        A file, or what `skillshift_frames.anchor` gives.

    Raises
    ------
    InputError
        It cannot be read, is no anchor, or contradicts itself; names the file and the field.
    """
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        anchor = _decoded(name)
    else:
        name = "<anchor>"
        try:
            anchor = msgspec.convert(source, Anchor)
        except msgspec.ValidationError as error:
            raise _refusal(name, error) from error
    for field, problem in _problems(anchor):
        msg = f"{name}: {field}: {problem}"
        raise InputError(msg)
    return name, anchor


def _decoded(path: str) -> Anchor:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - the path is shown as it was given
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # a path with a null byte is a ValueError
        why = error.strerror if isinstance(error, OSError) else error
        msg = f"{path}: cannot be read: {why} ({_NEEDED})"
        raise InputError(msg) from error
    if len(content) > LARGEST_FILE:
        msg = f"{path}: has more than {LARGEST_FILE:,} bytes ({_NEEDED})"
        raise InputError(msg)
    try:
        anchor = _decode(content)
    except msgspec.DecodeError as error:
        raise _refusal(path, error) from error
    # msgspec keeps the last of equal keys without a word.
    for key in parse(content.decode())[1]:
        msg = f"{path}: {key}: the key is there twice in one object ({_NEEDED})"
        raise InputError(msg)
    return anchor


def _refusal(name: str, error: Exception) -> InputError:
    what, field = str(error), ""
    if placed := _PLACE.fullmatch(what):
        what, field = placed.groups()
    return InputError(f"{name}: {field + ': ' if field else ''}{what} ({_NEEDED})")


def _problems(anchor: Anchor) -> Iterator[tuple[str, str]]:
    """Find what is of the right type and still cannot be."""
    if not math.isfinite(anchor.threshold_sigma):
        yield "threshold_sigma", f"is {anchor.threshold_sigma}; a finite number is needed"
    if not anchor.cells:
        yield "cells", "is empty; there is nothing to compare with"
    if anchor.subset is not None:
        yield from _problems_of_subset(anchor.subset, {cell.site for cell in anchor.cells})
    seen: dict[tuple[str, str], int] = {}
    for place, cell in enumerate(anchor.cells):
        at = f"cells[{place}]"
        first = seen.setdefault((cell.site, cell.condition), place)
        if first != place:
            yield at, f"{cell.site} × {cell.condition} is in cells[{first}] already"
        if anchor.subset is not None:
            families = anchor.subset.get(cell.site)
            if families is None:
                yield f"{at}.site", f"{cell.site!r} is not a site of subset"
            elif cell.n != len(families):
                yield f"{at}.n", f"is {cell.n}; subset has {len(families)} tasks of {cell.site}"
        yield from _problems_of_metrics(cell, f"{at}.metrics")


def _problems_of_subset(
    subset: Mapping[str, list[str]], sites: set[str]
) -> Iterator[tuple[str, str]]:
    if not subset:
        yield "subset", "names no site; null stands for all tasks"
    for site, families in subset.items():
        if site not in sites:
            yield f"subset.{site}", "no cell is of this site"
        if not families:
            yield f"subset.{site}", "is empty; at least one family is needed"
        if len(set(families)) < len(families):
            twice = next(family for family in families if families.count(family) > 1)
            yield f"subset.{site}", f"{twice!r} is there twice"


def _problems_of_metrics(cell: AnchorCell, at: str) -> Iterator[tuple[str, str]]:
    for metric in METRICS:
        found: Reference = getattr(cell.metrics, metric)
        value, sigma = found.value, found.sigma
        for name, number in (("value", value), ("sigma", sigma)):
            # JSON has no such numbers, but a dict can.
            if number is not None and not math.isfinite(number):
                yield f"{at}.{metric}.{name}", f"is {number}; a finite number or null is needed"
        if value is not None and value > _LARGEST.get(metric, math.inf):
            yield f"{at}.{metric}.value", f"is {value:g}; 100 percent is the most there can be"
        if value is not None and not cell.n:
            yield f"{at}.{metric}.value", f"is {value:g} where n is 0; null is needed"
        if sigma is not None and (value is None or metric == "SFR"):
            why = "SFR has none" if metric == "SFR" else "value is null"
            yield f"{at}.{metric}.sigma", f"is {sigma:g} where {why}; null is needed"
    if cell.metrics.SR.value is None and cell.n:
        yield f"{at}.SR.value", f"is null where n is {cell.n}; a number is needed"
