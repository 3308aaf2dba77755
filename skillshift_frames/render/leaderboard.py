"""What a leaderboard says: entries and runs in their order, and what a rank is worth."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.intervals import ends, say_methods
from skillshift_frames.render.machine import SCHEMA_VERSION, coverage_by_run, to_json
from skillshift_frames.render.numbers import format_count, format_number
from skillshift_frames.render.tables import (
    ERRORS,
    NOT_APPLICABLE,
    UNDEFINED,
    UNSTABLE,
    coverage_notes,
)
from skillshift_frames.schema import STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors

_NAMED = 4
_METRICS = ("SR", "AS", "ASC", "SFR")

#: Mark → what of an entry does not apply.
_ABSENT = {"not-applicable": "ASC and SFR"} | {
    f"{metric}-not-applicable": metric for metric in ("ASC", "SFR")
}

#: What is shown only where anything is known of it: column, heading.
_WHERE_KNOWN = (("date", "Date"), ("label", "Label"), ("receipt", "Receipt"))


def leaderboard_document(
    board: pl.DataFrame, benchmark: Benchmark, *, sort: str, slot: str | None, across_models: bool
) -> Document:
    """Describe ranked entries, a group per model, or all in one; a ``slot`` of None is not known, and not named."""
    known = [
        (name, title) for name, title in _WHERE_KNOWN if board.get_column(name).is_not_null().any()
    ]
    if _repeat_each_other(board):
        known.append(("entry", "Entry"))
    calls = board.get_column("skill_calls").is_not_null().any()
    group, *others = ("rank", "model", "method") if across_models else ("model", "rank", "method")
    named = [group, *others, *(name for name, _ in known)]
    titles = {"rank": "Rank", "model": "Model", "method": "Method"} | dict(known)
    columns = (
        *(Column(titles[name], "right" if name == "rank" else "left") for name in named),
        *map(Column, (*_METRICS, "Drop", "Gap", *(["Calls"] if calls else []))),
    )
    rows: list[Row] = []
    previous: object = object()
    for row in board.iter_rows(named=True):
        starts = across_models or row["model"] != previous
        previous = row["model"]
        cells = [Cell(UNDEFINED if row[name] is None else str(row[name])) for name in named]
        cells += [_number(row, metric) for metric in _METRICS]
        behind = () if row["drop"] is None else partial_marks(row)
        drop = Cell(format_number(row["drop"], undefined=UNDEFINED), behind)
        cells += [drop, Cell(format_number(row["gap"], undefined=UNDEFINED))]
        if calls:
            cells.append(Cell(_count(row["skill_calls"])))
        rows.append(Row(tuple(cells), starts_group=starts))
    gaps = any(cell.text == UNDEFINED for row in rows for cell in row.cells)
    order = "the lowest first" if sort == "AS" else "the highest first"
    scope = "across models" if across_models else "within each model"
    return Document(
        title=f"{benchmark.name}: entries by {_of_slot(sort, slot, benchmark)}, {order}, {scope}",
        columns=columns,
        rows=tuple(rows),
        notes=tuple(
            _notes(board, benchmark, sort=sort, slot=slot, across_models=across_models, gaps=gaps)
        ),
    )


def entry_names(entries: pl.DataFrame) -> list[str]:
    """Give each row's entry a name as short as it can be: method / model, or its own where that stands for several.

    ``entries`` has one row per entry.
    """
    short = [
        " / ".join(part for part in row if part)
        for row in entries.select("method", "model").iter_rows()
    ]
    times = Counter(short)
    own = entries.get_column("entry") if "entry" in entries.columns else short
    days = entries.get_column("date") if "date" in entries.columns else [None] * len(short)
    return [
        name
        if name and times[name] == 1
        else (entry if entry and entry != name else f"{name or 'an entry'} ({day})")
        for name, entry, day in zip(short, own, days, strict=True)
    ]


def _repeat_each_other(board: pl.DataFrame) -> bool:
    """Tell whether method, model and date leave open which entry a row is."""
    key = ["method", "model", "date"]
    return bool(board.select(pl.struct(key).is_duplicated().any()).item()) or bool(
        board.get_column("method").is_null().any()
    )


def _of_slot(metric: str, slot: str | None, benchmark: Benchmark) -> str:
    if slot is None:
        return metric
    return f"{metric} overall" if slot == "overall" else f"{metric} of {benchmark.title(slot)}"


def partial_marks(row: dict[str, Any]) -> tuple[str, ...]:
    """Give the denominator of an entry that is marked as partial, to stand behind its numbers."""
    known = "partial" in row["marks"] and row["tasks"] is not None
    return (f"{row['tasks']}/{row['tasks_expected']}",) if known else ()


def partial_note(names: Sequence[str], reasons: Sequence[str], consequence: str) -> Note:
    """Say which entries are partial, why, and what comes of it."""
    said = [f"{name} ({reason})" for name, reason in zip(names, reasons, strict=True)]
    return Note(
        f"tasks of the entry, as stated, of those that the benchmark has; {consequence}: {_list(said)}",
        "n/N",
    )


def _number(row: dict[str, Any], metric: str) -> Cell:
    absent = {"not-applicable", f"{metric}-not-applicable"} & set(row["marks"])
    if metric in {"ASC", "SFR"} and absent:
        return Cell(NOT_APPLICABLE)
    if row[metric] is None:
        return Cell(UNDEFINED)
    unstable = (UNSTABLE,) if metric == "SFR" and "unstable" in row["marks"] else ()
    return Cell(format_number(row[metric]), (*unstable, *partial_marks(row)))


def _count(value: int | None) -> str:
    return UNDEFINED if value is None else format_count(value)


def _notes(
    board: pl.DataFrame,
    benchmark: Benchmark,
    *,
    sort: str,
    slot: str | None,
    across_models: bool,
    gaps: bool,
) -> Iterator[Note]:
    named = board.with_columns(name=pl.Series(entry_names(board), dtype=pl.String))
    unstable = named.filter(pl.col("marks").list.contains("unstable"))
    few = unstable.filter(pl.col("skill_calls").is_not_null())
    if few.height:
        counts = [f"{name} {calls}" for name, calls in few.select("name", "skill_calls").rows()]
        yield Note(f"SFR over fewer than {STABLE_CALLS} skill calls: {_list(counts)}", UNSTABLE)
    unknown = unstable.filter(pl.col("skill_calls").is_null()).get_column("name").to_list()
    if unknown:
        all_of_them = board.get_column("SFR").is_not_null().sum() == len(unknown) > 1
        whose = f"all {len(unknown)} entries that have one" if all_of_them else _list(unknown)
        yield Note(
            f"SFR over a number of skill calls that is not stated, so that it may be small: {whose}",
            UNSTABLE,
        )
    for mark, what in _ABSENT.items():
        absent = named.filter(pl.col("marks").list.contains(mark)).get_column("name").to_list()
        if absent:
            yield Note(f"does not apply: {what} of {_list(absent)}", NOT_APPLICABLE)
    if gaps:
        yield Note("not given, or undefined", UNDEFINED)
    is_partial = pl.col("marks").list.contains("partial")
    partial = named.filter(is_partial)
    if partial.height:
        names, reasons = (partial.get_column(name).to_list() for name in ("name", "rank_reason"))
        without = "not comparable with a complete run, and so without a rank"
        yield partial_note(names, reasons, without)
    unranked = named.filter(pl.col("rank").is_null() & ~is_partial).get_column("name").to_list()
    if unranked:
        yield Note(
            f"Without {_of_slot(sort, slot, benchmark)}, and so without a rank: {_list(unranked)}"
        )
    yield from _rank_notes(board, sort, across_models=across_models)
    first, last = (benchmark.title(benchmark.conditions[end]) for end in (0, -1))
    better = "less" if sort == "AS" else "more"
    unit = "steps" if sort == "AS" else "points"
    yield Note(f"Drop: SR under {first} − SR under {last}, in points")
    yield Note(f"Gap: {unit} of {sort} behind the best, of which {better} is better")
    if board.get_column("receipt").is_not_null().any():
        yield Note(
            "Receipt: whether the receipt that a self-reported entry owes is there and has its numbers; "
            "it does not say that they are of a complete run, nor that they are right"
        )
    yield Note(
        "Numbers are ranked as printed (entry check and entry audit look at them), and carry no interval: "
        "how sure a rank is can be told from records only"
    )


def _rank_notes(board: pl.DataFrame, sort: str, *, across_models: bool) -> Iterator[Note]:
    models = board.get_column("model").n_unique()
    if across_models and models > 1:
        yield Note(
            "Ranks are across models: entries differ in model as well as in method, and a rank does not tell "
            "which of the two makes the difference"
        )
    elif models > 1:
        yield Note(
            "Ranks are within a model: entries of different models are not ranked against each other"
        )
    if across_models and any((model or "").lower().startswith("mixed") for model in board["model"]):
        yield Note("mixed is no model of its own: such an entry pools the runs of several")
    if board.get_column("model").is_null().sum() > 1:
        yield Note("Entries without a model are ranked together, though their models may differ")
    ranked = board.filter(pl.col("rank").is_not_null())
    group = ["rank"] if across_models else ["model", "rank"]
    if ranked.select(pl.struct(group).is_duplicated().any()).item():
        yield Note(f"Entries with the same printed {sort} share a rank")


def _list(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def leaderboard_json(
    board: pl.DataFrame, benchmark: Benchmark, *, sort: str, slot: str, across_models: bool
) -> str:
    """Give ranked entries, one object each, as one JSON object."""
    rows = board.with_columns(pl.col("date").cast(pl.String)).to_dicts()
    header = {"schema_version": SCHEMA_VERSION, "benchmark": benchmark.name}
    asked = {"sort": sort, "slot": slot, "across_models": across_models}
    return to_json(header | asked | {"rows": rows})


def flat(board: pl.DataFrame) -> pl.DataFrame:
    """Put the marks into one cell each, as CSV needs it; none are null."""
    return board.with_columns(pl.col("marks").list.join(";").replace("", None))


def ranks_document(
    ranked: pl.DataFrame,
    cells: pl.DataFrame,
    bounds: pl.DataFrame,
    benchmark: Benchmark,
    *,
    slot: str,
    errors: Errors,
    level: float,
    seed: int,
    resamples: int,
) -> Document:
    """Describe ranked runs, each with the interval of its rank and its lift over the next one."""
    columns = (
        Column("Rank"),
        Column("Run", "left"),
        *map(Column, ("SR", "Ranks", "Families", "Lift")),
        Column("Over", "left"),
    )
    rows = tuple(_run_row(row) for row in ranked.iter_rows(named=True))
    used = set(ranked.filter(pl.col("low").is_not_null()).get_column("method"))
    said = say_methods(used, seed=seed, resamples=resamples)
    notes = [
        *_neighbour_notes(ranked),
        *_reason_notes(ranked),
        Note(f"{100 * level:g} % interval: {said}", "[ ]"),
        Note(
            f"Ranks and Lift: {100 * level:g} % intervals of the rank, and of SR over that of the next run; "
            f"the same families drawn for all runs, {format_count(resamples)} resamples, seed {seed}"
        ),
        *coverage_notes(cells, bounds, benchmark),
        Note(f"Unweighted means of cells; {ERRORS[errors]}"),
    ]
    title = f"{benchmark.name}: runs by {_of_slot('SR', slot, benchmark)}, the highest first"
    return Document(title=title, columns=columns, rows=rows, notes=tuple(notes))


def _run_row(row: dict[str, Any]) -> Row:
    of_rate = ends("SR", row["low"], row["high"])
    of_lift = ends("SR", row["lift_low"], row["lift_high"])
    span = UNDEFINED
    if row["rank_low"] is not None:
        low, high = row["rank_low"], row["rank_high"]
        span = f"{low}–{high}" if low < high else str(low)
    lift = Cell("")
    if row["below"] is not None:
        lift = Cell(_signed(row["lift"]), (of_lift,) if of_lift else ())
    cells = (
        Cell(UNDEFINED if row["rank"] is None else str(row["rank"])),
        Cell(row["run"]),
        Cell(format_number(row["SR"], undefined=UNDEFINED), (of_rate,) if of_rate else ()),
        Cell(span),
        Cell(format_count(row["families"])),
        lift,
        Cell(row["below"] or ""),
    )
    return Row(cells, starts_group=True)  # two runs of one rank both show it


def _signed(value: float) -> str:
    shown = format_number(value)
    return f"+{shown}" if float(shown) > 0 else shown


def _neighbour_notes(ranked: pl.DataFrame) -> Iterator[Note]:
    alike = ranked.filter(pl.col("apart").eq(other=False))
    if alike.height:
        said = [
            f"{run} and {below} ({_signed(lift)} {ends('SR', low, high)})"
            for run, below, lift, low, high in alike.select(
                "run", "below", "lift", "lift_low", "lift_high"
            ).iter_rows()
        ]
        yield Note(f"Cannot be told apart: {'; '.join(said)}")
    if ranked.get_column("apart").is_not_null().any():
        yield Note(
            "Neighbours are told apart where the interval of their lift excludes 0; they are looked at one by one, "
            "without a correction for their number"
        )


def _reason_notes(ranked: pl.DataFrame) -> Iterator[Note]:
    """Say where there is no interval, and why; once for what lacks several for one reason."""
    reasons = (("reason", "SR"), ("rank_reason", "the rank"), ("lift_reason", "the lift"))
    lacking: dict[tuple[str, str], list[str]] = {}
    for row in ranked.iter_rows(named=True):
        for column, what in reasons:
            name = f"{row['run']} over {row['below']}" if column == "lift_reason" else row["run"]
            if row[column] is not None:
                lacking.setdefault((row[column], name), []).append(what)
    named: dict[tuple[str, str], list[str]] = {}
    for (reason, name), missing in lacking.items():
        named.setdefault((" and ".join(missing), reason), []).append(name)
    for (missing_of, reason), names in named.items():
        yield Note(f"no interval of {missing_of}: {reason}: {_list(names)}")


def ranks_json(
    ranked: pl.DataFrame,
    cells: pl.DataFrame,
    benchmark: Benchmark,
    *,
    slot: str,
    errors: Errors,
    level: float,
    seed: int,
    resamples: int,
) -> str:
    """Give ranked runs, one object each, and their coverage as one JSON object."""
    header = {"schema_version": SCHEMA_VERSION, "benchmark": benchmark.name, "errors": errors}
    asked = {"slot": slot, "level": level, "seed": seed, "resamples": resamples}
    content = {"coverage": coverage_by_run(cells), "rows": ranked.to_dicts()}
    return to_json(header | asked | content)
