"""Records of one run → a leaderboard entry and its receipt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812 - `date` is the option's name
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames._version import __version__
from skillshift_frames.cells import cells
from skillshift_frames.entry import slots_known
from skillshift_frames.errors import InputError, check_choice, check_frame, check_records
from skillshift_frames.readers.entry_json import LABELS, SCHEMA_VERSION, slot_paths
from skillshift_frames.readers.json_shape import is_date
from skillshift_frames.receipt import OWN_RUN, make_receipt, single_run, task_counts
from skillshift_frames.schema import METRICS
from skillshift_frames.stats.rounding import half_up
from skillshift_frames.table import slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors

#: So many cells are spelled out in a message or a reason; the rest are counted. What an entry itself says names all.
_CELLS_NAMED = 6

_NOT_APPLICABLE = "Not applicable: the run records no skill calls."

#: What a cell lacks where it has measured tasks and no value.
_LACKS = {
    "SR": "No task was measured in",
    "AS": "No steps were recorded in",
    "ASC": "No skill calls were recorded in",
    "SFR": "No skill was invoked in",
}


@dataclass(frozen=True)
class BuiltEntry:
    """An entry and its receipt, as `build_entry` makes them.

    Attributes
    ----------
    entry
        The leaderboard's JSON object: schema_version, submission, harness_version, metrics, n, reasons, notes.
    receipt
        What commits to the records behind it.
    """

    entry: dict[str, Any]
    receipt: dict[str, Any]

    @property
    def file_name(self) -> str | None:
        """What the leaderboard would call the entry's file; None where method or model has no letter for it."""
        said = self.entry["submission"]
        return entry_file_name(said["date"], said["method"]["name"], said["model"]["id"])


def build_entry(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    name: str,
    method: str,
    model: str,
    date: str | Date,
    label: str = OWN_RUN,
    description: str = "",
    source: str | None = None,
    code_url: str | None = None,
    paper_url: str | None = None,
    repro_command: str | None = None,
    contact: str | None = None,
    notes: str = "",
    temperature: float | None = None,
    vision: bool | None = None,
    harness_version: str = "n/a",
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
    partial: bool = False,
) -> BuiltEntry:
    """Build a leaderboard entry, and its receipt, from the records of one run.

    Numbers are those of `table` with the two decimals that are printed. Every null gets its reason.

    Parameters
    ----------
    tasks
        Records of one run as `TASKS`, from `read_tasks` or `from_frame`.
    name, method, model, date
        What is submitted, as the leaderboard lists it; the date of submission as ``2026-11-30``.
    label
        Where the numbers are from: ``"self-reported"`` (a run of one's own), ``"reported-only"``, ``"verified-paper"``.
    description, source, code_url, paper_url, repro_command, contact, notes, temperature, vision
        Of the method, of the numbers, and of the model, as the leaderboard's schema has them. Code counts as released
        where ``code_url`` says where. Unless told otherwise, the source is a run's records and this package.
    harness_version
        Version of the benchmark's harness that ran the tasks.
    benchmark
        Whose sites and conditions.
    errors
        Tasks with an error: ``"exclude"`` them from every mean, or count them as failures (``"zero"``).
    partial
        Build the entry also where tasks were not measured (a task with an error is, where it counts as a failure); its
        notes then say which cells, and ``n`` what was measured (of a site the fewest tasks of its cells). `check_entry` reports such an entry: its counts are not the benchmark's.

    Returns
    -------
    BuiltEntry
        The entry and its receipt as JSON objects; `write_entry` writes both.

    Raises
    ------
    InputError
        Records of several runs or of none, a run that is not complete, an empty name, method or model, no such date or
        label, the benchmark to be inferred.
    BenchmarkError
        A record's site or condition is not the benchmark's.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks("data/demo/induced.jsonl")
    >>> built = build_entry(
    ...     tasks,
    ...     name="Induced",
    ...     method="ASI",
    ...     model="demo",
    ...     date="2026-11-30",
    ...     code_url="https://…",
    ... )
    >>> built.file_name, built.entry["metrics"]["SR"]["overall"], built.entry["n"]["skill_calls"]
    ('2026-11-30--asi--demo.json', 35.66, 191)
    >>> built.entry["reasons"]
    {'SFR.websites.wordpress': 'No skill was invoked in wordpress × tgt-exec.', 'SFR.conditions.tgt-exec': 'No skill was invoked in wordpress × tgt-exec.', 'SFR.overall': 'No skill was invoked in wordpress × tgt-exec.'}
    """
    axes = slots_known(benchmark)
    check_choice("label", label, LABELS)
    day = date.isoformat() if isinstance(date, Date) else date
    _check_date(day)
    _check_named(name=name, method=method, model=model)
    _check_texts(
        name=name,
        method=method,
        model=model,
        description=description,
        source=source,
        code_url=code_url,
        paper_url=paper_url,
        repro_command=repro_command,
        contact=contact,
        notes=notes,
        harness_version=harness_version,
    )
    if temperature is not None and not 0 <= temperature < float("inf"):
        msg = f"temperature is {temperature}; a number from 0 is needed"
        raise InputError(msg)
    check_frame("tasks", tasks, "read_tasks")
    frame = tasks.lazy().collect()
    check_records("tasks", frame)
    run = single_run(frame)
    of_cells = cells(frame, benchmark=axes, errors=errors)
    gaps = _gaps(of_cells, errors)
    if gaps and not partial:
        msg = f"run {run} is not complete: {_some(gaps)}; --partial builds an entry that says so"
        raise InputError(msg)
    numbers = slots(of_cells, benchmark=axes)
    metrics = _metrics(numbers, axes)
    entry = {
        "schema_version": SCHEMA_VERSION,
        "submission": {
            "name": name,
            "date": day,
            "contact": contact,
            "method": {
                "name": method,
                "description": description,
                "paper_url": paper_url,
                "code_url": code_url,
            },
            "model": {"id": model, "temperature": temperature, "vision": vision},
            "provenance": {
                "label": label,
                "source": _own_source() if source is None else source,
                "code_released": code_url is not None,
            },
            "repro_command": repro_command,
        },
        "harness_version": harness_version,
        "metrics": metrics,
        "n": task_counts(of_cells, axes),
        "reasons": dict(_reasons(numbers, of_cells, axes)),
        "notes": " ".join(filter(None, (notes, *_remarks(of_cells, gaps, errors)))),
    }
    receipt = make_receipt(
        frame,
        of_cells,
        metrics,
        harness_version=harness_version,
        benchmark=axes,
        errors=errors,
    )
    return BuiltEntry(entry, receipt)


def entry_file_name(date: str, method: str, model: str) -> str | None:
    """Give an entry's file the leaderboard's name; None where method or model has no letter or digit for it.

    Raises
    ------
    InputError
        There is no such date.

    Examples
    --------
    >>> entry_file_name("2026-11-30", "Skill Weaver", "vendor/Model_4.5")
    '2026-11-30--skill-weaver--vendor-model-4.5.json'
    """
    _check_date(date)
    parts = [re.sub("[^a-z0-9.]+", "-", part.lower()).strip("-") for part in (method, model)]
    return f"{date}--{'--'.join(parts)}.json" if all(parts) else None


def _check_named(**said: str) -> None:
    for option, value in said.items():
        if not value.strip():
            msg = f"{option} is empty; the leaderboard lists entries by it"
            raise InputError(msg)


def _check_texts(**said: str | None) -> None:
    """Refuse halves of surrogate pairs: what a command line makes of bytes that are not UTF-8."""
    for option, value in said.items():
        try:
            (value or "").encode()
        except UnicodeEncodeError as error:
            msg = f"{option} is not UTF-8"
            raise InputError(msg) from error


def _check_date(date: str) -> None:
    if not is_date(date):
        msg = f"date is {date!r}; one like 2026-11-30 is needed"
        raise InputError(msg)


def _own_source() -> str:
    return f"Computed by skillshift-frames {__version__} from the records of the run."


def _gaps(of_cells: pl.DataFrame, errors: Errors) -> list[str]:
    """Say which cells have not exactly the benchmark's tasks, all of them measured or counted as failures."""
    said = []
    for cell in of_cells.iter_rows(named=True):
        if errors == "zero":  # a failure is a result, and no gap
            if cell["n"] != cell["expected"]:
                said.append(f"{_name(cell)} {cell['n']}/{cell['expected']}")
        elif cell["scored"] != cell["expected"] or cell["errored"]:
            errored = f" ({cell['errored']} with an error)" if cell["errored"] else ""
            said.append(f"{_name(cell)} {cell['scored']}/{cell['expected']}{errored}")
    return said


def _metrics(numbers: pl.DataFrame, axes: Benchmark) -> dict[str, Any]:
    """Put the table's numbers into the leaderboard's shape, as they are printed."""
    values = {
        (metric, slot): None if value is None else float(half_up(value))
        for metric, slot, value in numbers.select("metric", "slot", "value").iter_rows()
    }
    return {
        metric: {
            "websites": {site: values[metric, site] for site in axes.sites},
            "conditions": {name: values[metric, name] for name in axes.conditions},
            "overall": values[metric, "overall"],
        }
        for metric in METRICS
    }


def _remarks(of_cells: pl.DataFrame, gaps: list[str], errors: Errors) -> Iterator[str]:
    """Say in the entry what its numbers alone would not."""
    counts = of_cells.select(
        pl.col("scored", "expected", "errored", "errored_trials", "trials", "n").sum()
    )
    total = counts.row(0, named=True)
    if gaps:
        done = "were run" if errors == "zero" else "were measured"
        yield f"Partial: {total['n']} of {total['expected']} tasks {done} ({', '.join(gaps)})."
    if total["errored_trials"]:
        what = "count as failures" if errors == "zero" else "are in no mean"
        yield f"Trials with an error ({total['errored_trials']}) {what}."
    if total["trials"] > total["n"]:
        yield f"Tasks were tried several times ({total['trials']} trials of {total['n']} tasks); the trials of a task are averaged first."


def _reasons(
    numbers: pl.DataFrame, of_cells: pl.DataFrame, axes: Benchmark
) -> Iterator[tuple[str, str]]:
    """Give for every null its reason: under the metric where all of it is null, else under the slot."""
    paths = slot_paths(axes)
    for metric in METRICS:
        of_metric = numbers.filter(metric=metric)
        null = of_metric.filter(pl.col("value").is_null())
        if null.height == of_metric.height:
            yield metric, _whole_reason(metric, of_metric, of_cells)
            continue
        for slot in null.get_column("slot"):
            inside = of_cells
            if slot != "overall":
                inside = of_cells.filter((pl.col("site") == slot) | (pl.col("condition") == slot))
            yield ".".join((metric, *paths[slot])), _reason(metric, inside)


def _whole_reason(metric: str, of_metric: pl.DataFrame, of_cells: pl.DataFrame) -> str:
    if "not-applicable" in of_metric.get_column("marks").explode():
        return _NOT_APPLICABLE
    if of_cells.select((pl.col("n") > 0).all() & pl.col(metric).is_null().all()).item():
        return {"AS": "Steps were not recorded.", "SFR": "No skill was invoked."}[metric]
    return _reason(metric, of_cells)


def _reason(metric: str, inside: pl.DataFrame) -> str:
    """Say for each undefined cell behind a slot why it is undefined, cells with one reason together."""
    without: dict[str, list[str]] = {}
    for cell in inside.filter(pl.col(metric).is_null()).iter_rows(named=True):
        if not cell["scored"] and not cell["errored"]:
            why = "was not run"
        elif not cell["n"]:
            why = _LACKS["SR"]
        elif metric == "SFR" and cell["skill_calls"] is None:
            why = _LACKS["ASC"]
        else:
            why = _LACKS[metric]
        without.setdefault(why, []).append(_name(cell))
    said = []
    for why, names in without.items():
        if why == "was not run":
            said.append(f"{_some(names)} {why if len(names) == 1 else 'were not run'}.")
        else:
            said.append(f"{why} {_some(names)}.")
    return " ".join(said)


def _name(cell: dict[str, Any]) -> str:
    return f"{cell['site']} × {cell['condition']}"


def _some(said: Iterable[str]) -> str:
    listed = list(said)
    rest = len(listed) - _CELLS_NAMED
    return ", ".join(listed[:_CELLS_NAMED]) + (f" and {rest} more" if rest > 0 else "")
