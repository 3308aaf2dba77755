"""Whether two scores of the same items agree: correlation, pass rates at gates, and what judges do to the ranking."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.errors import InputError, check_frame
from skillshift_frames.judges import compare_judges, ends_of
from skillshift_frames.readers.scores import ITEMS, odd_scores
from skillshift_frames.sampling import DEFAULT_LEVEL, rounded
from skillshift_frames.stats.correlation import pearson, spearman
from skillshift_frames.stats.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillshift_frames.judges import Judges

#: One row is one pair of scores within one value of ``by`` (null: all rows).
CORRELATIONS = pl.Schema(
    {
        "by": pl.String,
        "x": pl.String,
        "y": pl.String,
        "n": pl.Int64,  # items with both
        "missing": pl.Int64,  # items without one of them
        "spearman": pl.Float64,
        "spearman_low": pl.Float64,
        "spearman_high": pl.Float64,
        "pearson": pl.Float64,
        "pearson_low": pl.Float64,
        "pearson_high": pl.Float64,
        "reason": pl.String,  # why a coefficient or an interval is missing
    }
)
#: One row is one score at one gate.
GATES = pl.Schema(
    {
        "by": pl.String,
        "score": pl.String,
        "gate": pl.Float64,
        "n": pl.Int64,  # items with the score
        "passed": pl.Int64,  # at or above the gate
        "rate": pl.Float64,  # share, 0 to 1; null without an item
        "low": pl.Float64,  # Wilson
        "high": pl.Float64,
    }
)
#: One row is one score: how it is distributed.
DISTRIBUTIONS = pl.Schema(
    {
        "by": pl.String,
        "score": pl.String,
        "n": pl.Int64,
        "missing": pl.Int64,
        **dict.fromkeys(("mean", "sd", "min", "q25", "median", "q75", "max"), pl.Float64),
    }
)


@dataclass(frozen=True, eq=False)  # frames have no one answer to ==
class Agreement:
    """How scores of the same items agree.

    Attributes
    ----------
    correlations, gates, distributions
        As `skillshift_frames.CORRELATIONS`, `skillshift_frames.GATES` and `skillshift_frames.DISTRIBUTIONS`: all rows
        first (``by`` null), then each value of the column that ``by`` named.
    judges
        See `Judges`; None where there is one judge, or nothing that tells items apart.
    x, y, by, item, level
        As asked for, or found.
    notes
        What limits all this, in sentences.
    """

    correlations: pl.DataFrame
    gates: pl.DataFrame
    distributions: pl.DataFrame
    judges: Judges | None
    x: str
    y: tuple[str, ...]
    by: str | None
    item: str | None
    level: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give what ``agreement --format json`` prints: plain values, no NaN."""
        return {
            "schema_version": 1,
            "x": self.x,
            "y": list(self.y),
            "by": self.by,
            "item": self.item,
            "level": self.level,
            "correlations": self.correlations.to_dicts(),
            "gates": self.gates.to_dicts(),
            "distributions": self.distributions.to_dicts(),
            "judges": None if self.judges is None else asdict(self.judges),
            "notes": list(self.notes),
        }


def agreement(
    scores: pl.DataFrame | pl.LazyFrame,
    *,
    x: str,
    y: str | Sequence[str],
    by: str | None = None,
    item: str | None = None,
    gates: Sequence[float] | Mapping[str, Sequence[float]] = (),
    level: float = DEFAULT_LEVEL,
) -> Agreement:
    """Compare two scores of the same items.

    Parameters
    ----------
    scores
        One row per item, or per item and value of ``by``.
    x, y
        Columns of numbers; several ``y`` are several judges.
    by
        A column, such as the judge's model: everything also for each of its values, which are taken for judges of the items.
        Numbers are shown as short as they can be (7, not 7.0) and come in their order, not that of their digits.
    item
        The column that names items; by default ``item``, ``skill``, ``uid``, ``id`` or ``name``, whichever is there.
    gates
        Numbers that a score at or above passes: for every score, or by score.
    level
        Nominal coverage of intervals.

    Returns
    -------
    Agreement
        A null score is missing, and counted, never 0. Rows of one item (several judges) are averaged before all of them
        are correlated, so that n counts items. Fewer than two items, and a constant score, have no coefficient; fewer than
        four, and ±1, no interval.

    Raises
    ------
    InputError
        A column that is not there or no number; NaN; a gate that is no number; a level out of range.

    Notes
    -----
    Spearman's ρ is Pearson's r of ranks, ties averaged. Intervals: Fisher's, for Spearman with the variance of Bonett and
    Wright (2000); Wilson's for rates. Quartiles are interpolated linearly.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> scores = pl.DataFrame(
    ...     {"skill": list("abcde"), "structural": [70, 80, 85, 90, 95], "judge": [7, 6, 9, 8, 10]}
    ... )
    >>> found = sf.agreement(scores, x="structural", y="judge", gates=[80])
    >>> round(found.correlations["spearman"][0], 4), found.correlations["n"][0]
    (0.8, 5)
    >>> found.gates.filter(score="structural").select("passed", "rate").row(0)
    (4, 0.8)
    """
    check_frame("scores", scores, "read_scores")
    if not 0 < level < 1:
        msg = f"level {level} is not between 0 and 1 (0.95 for 95 %)"
        raise InputError(msg)
    judges = (y,) if isinstance(y, str) else tuple(dict.fromkeys(y))
    named = tuple(dict.fromkeys([x, *judges]))
    frame = scores.lazy().collect()
    for column in (*named, *([by] if by else []), *([item] if item else [])):
        if column not in frame.columns:
            msg = f"there is no column {column!r} ({', '.join(frame.columns)})"
            raise InputError(msg)
    if x in judges or not judges:
        msg = f"{x!r} is compared with itself; another column is needed for y"
        raise InputError(msg)
    item = item or next(
        (name for name in ITEMS if name in frame.columns and name not in {by, *named}), None
    )
    if item in named or by in named or (by and item == by):
        msg = (
            f"{item if item in named or item == by else by!r} cannot be a score and a name at once"
        )
        raise InputError(msg)
    at = _gates(gates, named)
    frame = frame.with_columns(*(_numbers(frame, name) for name in named))
    if by:
        frame = frame.with_columns(_as_names(frame.get_column(by)))
    notes: list[str] = []
    whole = _by_item(frame, item, named)
    if whole.height < frame.height:
        notes.append(
            f"{frame.height:,} rows are {whole.height:,} items ({item}): averaged by item for all of them together"
        )
    parts: list[tuple[str | None, pl.DataFrame]] = [(None, whole), *_parts(frame, by)]
    found = _judges(frame, judges, by, item, level)
    if by and len(judges) == 1 and found is None:
        notes.append(
            f"no column tells items apart, so the values of {by} are not compared as judges; name one with item"
        )
    return Agreement(
        correlations=pl.DataFrame(
            [_correlate(part, x, name, of, level) for of, part in parts for name in judges],
            schema=CORRELATIONS,
        ),
        gates=pl.DataFrame(
            [
                _pass(part, name, gate, of, level)
                for of, part in parts
                for name in named
                for gate in at[name]
            ],
            schema=GATES,
        ),
        distributions=pl.DataFrame(
            [_describe(part, name, of) for of, part in parts for name in named],
            schema=DISTRIBUTIONS,
        ),
        judges=found,
        x=x,
        y=judges,
        by=by,
        item=item,
        level=level,
        notes=tuple(notes),
    )


def _numbers(frame: pl.DataFrame, name: str) -> pl.Series:
    column = frame.get_column(name)
    if column.dtype == pl.String:
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
        odd = (numbers.is_null() & column.is_not_null()).arg_true()
        if odd.len():
            msg = f"{name}: row {odd[0] + 1} holds {column[odd[0]]!r:.60}, which is no number (leave it empty where unknown)"
            raise InputError(msg)
        column = numbers
    elif not (column.dtype.is_numeric() or column.dtype == pl.Null):
        msg = f"{name} is {column.dtype}; numbers are needed"
        raise InputError(msg)
    column = column.cast(pl.Float64)
    odd = odd_scores(column)
    if odd.len():
        msg = f"{name}: row {odd[0] + 1} holds {column[odd[0]]}; null is needed where a score is unknown"
        raise InputError(msg)
    return column


def _as_names(column: pl.Series) -> pl.Series:
    """Give the values of a column as texts; a whole number has no point.

    Raises
    ------
    InputError
        It holds lists or objects, whose values are no names.
    """
    if column.dtype.is_nested():
        msg = f"{column.name} is {column.dtype}; texts or numbers are needed to tell groups apart"
        raise InputError(msg)
    if column.dtype.is_float():
        return pl.Series(
            column.name,
            [
                None if value is None else f"{value:.0f}" if value.is_integer() else repr(value)
                for value in column.cast(pl.Float64)
            ],
            dtype=pl.String,
        )
    return column.cast(pl.String)


def _in_order(names: pl.Series) -> list[str | None]:
    """Give the names of groups: numbers in their order, if they are that, else texts in theirs; null last."""
    listed = names.unique().drop_nulls().sort()
    numbers = not listed.cast(pl.Float64, strict=False).null_count()
    return [
        *(sorted(listed, key=float) if numbers else listed),
        *([None] if names.null_count() else []),
    ]


def _gates(
    gates: Sequence[float] | Mapping[str, Sequence[float]], named: Sequence[str]
) -> dict[str, list[float]]:
    at = (
        {name: list(values) for name, values in gates.items()}
        if hasattr(gates, "items")
        else {name: list(gates) for name in named}
    )
    if unknown := [name for name in at if name not in named]:
        msg = (
            f"there is a gate for {unknown[0]!r}, which is none of the scores ({', '.join(named)})"
        )
        raise InputError(msg)
    for gate in (value for values in at.values() for value in values):
        if not math.isfinite(gate):
            msg = f"gate {gate} is no number"
            raise InputError(msg)
    return {name: list(dict.fromkeys(map(float, at.get(name, [])))) for name in named}


def _by_item(frame: pl.DataFrame, item: str | None, named: Sequence[str]) -> pl.DataFrame:
    """Give one row per item: the mean of what it has; rows without a name are items of their own."""
    if item is None or not frame.get_column(item).is_duplicated().any():
        return frame.select(named)
    known = frame.filter(pl.col(item).is_not_null())
    means = known.group_by(item).agg(pl.col(named).drop_nulls().sort().mean()).sort(item)
    return pl.concat([means.select(named), frame.filter(pl.col(item).is_null()).select(named)])


def _parts(frame: pl.DataFrame, by: str | None) -> Iterator[tuple[str, pl.DataFrame]]:
    if by is None:
        return
    for value in _in_order(frame.get_column(by)):
        yield "null" if value is None else value, frame.filter(pl.col(by).eq_missing(value))


def _correlate(
    part: pl.DataFrame, x: str, y: str, of: str | None, level: float
) -> dict[str, object]:
    pairs = part.select(x, y).drop_nulls().sort(x, y)
    values = [pairs.get_column(name).to_list() for name in (x, y)]
    rank, line = spearman(*values, level=level), pearson(*values, level=level)
    row: dict[str, object] = {"by": of, "x": x, "y": y, "n": pairs.height}
    row["missing"] = part.height - pairs.height
    for name, coefficient in (("spearman", rank), ("pearson", line)):
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends_of(coefficient), strict=True))
    return row | {"reason": rank.reason or line.reason}


def _pass(
    part: pl.DataFrame, name: str, gate: float, of: str | None, level: float
) -> dict[str, object]:
    known = part.get_column(name).drop_nulls()
    passed = int((known >= gate).sum())
    low, high = wilson(passed, known.len(), level=level) or (None, None)
    rate = passed / known.len() if known.len() else None
    row: dict[str, object] = {"by": of, "score": name, "gate": gate, "n": known.len()}
    return row | {"passed": passed, "rate": rate, "low": low, "high": high}


def _describe(part: pl.DataFrame, name: str, of: str | None) -> dict[str, object]:
    known = part.get_column(name).drop_nulls().sort()

    def number(value: Any) -> float | None:  # noqa: ANN401 - what Polars gives
        return None if value is None else rounded(float(value))

    quartiles = {
        name: number(known.quantile(share, interpolation="linear"))
        for name, share in (("q25", 0.25), ("median", 0.5), ("q75", 0.75))
    }
    return {
        "by": of,
        "score": name,
        "n": known.len(),
        "missing": part.height - known.len(),
        "mean": rounded(math.fsum(known) / known.len()) if known.len() else None,
        "sd": number(known.std()),
        "min": number(known.min()),
        **quartiles,
        "max": number(known.max()),
    }


def _judges(
    frame: pl.DataFrame, judges: Sequence[str], by: str | None, item: str | None, level: float
) -> Judges | None:
    """Put the judges side by side over the items that all of them scored: columns, else values of ``by``."""
    if len(judges) > 1:
        wide = {
            name: of.to_list()
            for name, of in zip(judges, _by_item(frame, item, judges).drop_nulls(), strict=True)
        }
    elif by and item:
        # A judge may be called what the column of items is.
        listed = (
            frame.select(pl.col(item).alias("(item)"), by, *judges)
            .drop_nulls()
            .group_by("(item)", by)
            .agg(pl.col(judges[0]).sort().mean())
        )
        names = [name for name in _in_order(listed.get_column(by)) if name is not None]
        table = listed.pivot(by, index="(item)", values=judges[0]).drop_nulls().sort("(item)")
        wide = {name: table.get_column(name).to_list() for name in names}
    else:
        return None
    if len(wide) < 2:  # noqa: PLR2004 - a judge is compared with another
        return None
    return compare_judges(wide, level=level)
