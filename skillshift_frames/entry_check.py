"""The five checks of a published entry: schema, coverage, marginals, ranges, receipt."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.entry import slots_known
from skillshift_frames.entry_calls import call_findings
from skillshift_frames.entry_records import records_findings
from skillshift_frames.errors import InputError, SkillshiftWarning, check_choice
from skillshift_frames.findings import Finding, findings_frame
from skillshift_frames.marginals import identity_findings, range_findings
from skillshift_frames.readers.entry_files import read_entry_files
from skillshift_frames.readers.entry_json import LABELS, slot_paths
from skillshift_frames.readers.json_shape import MOST_TASKS, value_at, whole
from skillshift_frames.readers.receipts import Receipt, read_receipt, receipt_path
from skillshift_frames.readers.tasks import from_frame, read_tasks
from skillshift_frames.readers.wording import as_written, nearest, printable
from skillshift_frames.receipt import OWN_RUN, own_digest, receipt_findings, single_run
from skillshift_frames.schema import METRICS, TASKS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.readers.entries import Entry
    from skillshift_frames.readers.records import Extra
    from skillshift_frames.readers.sources import Paths

_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}--")
_PART = re.compile(r"[a-z0-9.]+(-[a-z0-9.]+)*")
_POLICIES = ("exclude", "zero")

#: An entry has at most 40 reasons; a file with more is compared with so many when a key looks misspelt.
_REASONS_COMPARED = 100


class Checked(NamedTuple):
    """What was found, in how many entries it was looked for, and whether a digest was recomputed.

    The last is None without records or without a digest, and False where the digest is of a form that is not ours.
    """

    findings: pl.DataFrame
    entries: int
    digest_recomputed: bool | None = None


def check_entry(
    paths: Paths,
    *,
    receipt: str | os.PathLike[str] | None = None,
    records: Paths | pl.DataFrame | None = None,
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors | None = None,
    extra: Extra = "refuse",
) -> pl.DataFrame:
    """Check published entries: schema, coverage, marginals, ranges, receipt.

    One row is one finding; no row, and nothing was found.

    Parameters
    ----------
    paths
        Entry files (``.json``), folders of them (receipts are left out), globs, or ``-`` for standard input. Of a table of
        rows (``.csv``) only the numbers are checked.
    receipt
        The receipt of the one entry that is checked; else it is looked for beside each entry (``.receipt.json``).
    records
        The records that the one entry is said to be from: the receipt's digest, and every count and number, are recomputed
        from them. Files as for `read_tasks` (several are shards of one run), or a frame.
    benchmark
        Whose slots and task counts.
    errors
        What tasks with an error count as when numbers are recomputed; the receipt says so unless this does.
    extra
        What to do with unknown keys of ``records``, as for `read_tasks`.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `FINDINGS`, entry by entry. Codes, of severity error unless said otherwise: ``schema`` (also:
        the file's name), ``missing-slot``, ``missing-reason`` (a null without a reason under its metric or its slot; a
        reason beside a number is not looked at), ``count-mismatch`` (other task counts than the benchmark's or the records',
        or skill calls that are not those of the records, without these those of ASC), ``identity``, ``identity-rounding`` (warning), ``range``, ``sfr-without-calls``
        (warning), ``sfr-unstable`` (note), ``unknown-label``, ``receipt-missing`` (owed for ``self-reported``),
        ``receipt-mismatch`` (also: damaged).

    Raises
    ------
    InputError
        A path that names nothing, a receipt or records for several entries, records of several runs.
    RecordError
        The records have faults.
    BenchmarkError
        The benchmark cannot be read.

    Examples
    --------
    >>> import skillshift_frames as sf, tempfile
    >>> tasks = sf.read_tasks("data/demo/induced.jsonl")
    >>> built = sf.build_entry(tasks, name="Induced", method="ASI", model="demo", date="2026-11-30")
    >>> built.entry["metrics"]["SR"]["overall"] += 0.1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, _ = sf.write_entry(built, f"{folder}/results.json")
    ...     found = sf.check_entry(path)
    >>> found.select("code", "severity", "metric", "slot").rows()
    [('identity', 'error', 'SR', 'overall'), ('identity', 'error', 'SR', 'overall')]
    """
    return examine(
        paths, receipt=receipt, records=records, benchmark=benchmark, errors=errors, extra=extra
    ).findings


def examine(
    paths: Paths,
    *,
    receipt: str | os.PathLike[str] | None,
    records: Paths | pl.DataFrame | None,
    benchmark: BenchmarkLike,
    errors: Errors | None,
    extra: Extra,
) -> Checked:
    """Do what `check_entry` does, and count the entries."""
    axes = slots_known(benchmark)
    if errors is not None:
        check_choice("errors", errors, _POLICIES)
    read = read_entry_files(paths, axes)
    known = {entry.name for entry in read.entries}
    unread = {finding.entry for finding in read.findings} - known
    unread -= {entry.path for entry in read.entries}  # the file of a table whose rows have names
    total = len(read.entries) + len(unread)
    if total > 1 and (receipt is not None or records is not None):
        msg = f"a receipt or records belong to one entry, and {total} are named"
        raise InputError(msg)
    tasks = None if records is None else _records(records, axes, extra)
    found = [finding for finding in read.findings if finding.entry not in known]
    digest_recomputed = None
    for entry in read.entries:
        found += [finding for finding in read.findings if finding.entry == entry.name]
        evidence = _find_receipt(entry, receipt)
        stated = None if evidence is None else evidence.content.get("errors")
        policy: Errors = errors or stated or "exclude"
        found += _name_findings(entry)
        found += _coverage_findings(entry, axes)
        found += _count_findings(entry, axes)
        found += identity_findings(entry, axes)
        found += range_findings(entry)
        found += call_findings(entry, evidence, axes, policy, recounted=tasks is not None)
        found += _label_findings(entry)
        found += _evidence_findings(entry, evidence, axes)
        if tasks is not None:
            found += records_findings(entry, evidence, tasks, axes, policy)
            if evidence is not None and "per_task_commitment" in evidence.content:
                digest_recomputed = own_digest(evidence) is not None
                if not digest_recomputed:
                    note = f"{evidence.name}: the digest is of a form that only another tool knows; the numbers were recomputed, it was not"
                    warnings.warn(note, SkillshiftWarning, stacklevel=3)
    return Checked(findings_frame(found), total, digest_recomputed)


def _records(records: Paths | pl.DataFrame, axes: Benchmark, extra: Extra) -> pl.DataFrame:
    if isinstance(records, pl.DataFrame):
        known = [name for name in TASKS if name in records.columns]
        tasks = from_frame(records.select(known), run="records", benchmark=axes)
    else:
        with warnings.catch_warnings():
            # What the run is called plays no part here.
            warnings.filterwarnings("ignore", "(?s).*: the label .* is not used", SkillshiftWarning)
            tasks = read_tasks(records, pool=True, benchmark=axes, extra=extra)
    single_run(tasks)
    return tasks


def _name_findings(entry: Entry) -> Iterator[Finding]:
    """Find a file that is named as on the leaderboard, but not as its content says."""
    name = Path(entry.path).name
    if entry.content is None or not _DATED.match(name):
        return
    day, *parts = name.removesuffix(".json").split("--")
    if entry.date is not None and day != entry.date.isoformat():
        message = f"the file's name begins with {day}, and submission.date is {entry.date}"
        yield Finding(entry.name, "schema", message, "rename the file, or correct the date")
    if len(parts) != 2 or not all(map(_PART.fullmatch, parts)):  # noqa: PLR2004 - method, model
        message = f"the file's name is not of the form {day}--method--model.json"
        hint = "each part of a-z, 0-9, - and ., and -- between the parts only"
        yield Finding(entry.name, "schema", message, hint)


def _coverage_findings(entry: Entry, axes: Benchmark) -> Iterator[Finding]:
    """Find nulls without a reason; and, in a table of rows, slots that were left out."""
    if entry.content is None:
        printed = {metric for metric, _ in entry.printed}
        for metric, slot in ((m, s) for m in METRICS if m in printed for s in axes.slots):
            if (metric, slot) not in entry.printed:
                hint = "the identity needs all of them"
                yield Finding(entry.name, "missing-slot", "is missing", hint, metric, slot)
        return
    reasons = {key for key, text in entry.reasons.items() if text.strip()}
    paths = {slot: ".".join(path) for slot, path in slot_paths(axes).items()}
    for metric in METRICS:
        null = [slot for slot in axes.slots if entry.printed.get((metric, slot), 0) is None]
        owed = [slot for slot in null if not {metric, f"{metric}.{paths[slot]}"} & reasons]
        if metric not in reasons and len(owed) == len(axes.slots):
            message = "is null in every slot, without a reason"
            yield Finding(
                entry.name, "missing-reason", message, f'reasons: {{"{metric}": "…"}}', metric
            )
            continue
        for slot in owed:
            key = f"{metric}.{paths[slot]}"
            near = nearest(key, tuple(sorted(reasons)[:_REASONS_COMPARED]))
            hint = f'reasons: {{"{key}": "…"}}'
            if near and not _names_a_null(near, entry, paths):
                hint = f"the reason under {as_written(near)} names no null; {hint}"
            yield Finding(
                entry.name, "missing-reason", "is null, without a reason", hint, metric, slot
            )


def _names_a_null(key: str, entry: Entry, paths: dict[str, str]) -> bool:
    metric, _, path = key.partition(".")
    return any(
        name == path and entry.printed.get((metric, slot), 0) is None
        for slot, name in paths.items()
    )


def _count_findings(entry: Entry, axes: Benchmark) -> Iterator[Finding]:
    """Find task counts that are not those of a complete run."""
    if entry.content is None:
        return
    everywhere = sum(axes.sites.values())
    expected = {("websites", site): n for site, n in axes.sites.items()}
    expected |= {("conditions", name): everywhere for name in axes.conditions}
    for (axis, slot), n in expected.items():
        stated = whole(value_at(entry.content, "n", axis, slot), MOST_TASKS)
        if stated is not None and stated != n:
            yield Finding(
                entry.name,
                "count-mismatch",
                f"n.{axis}.{slot} is {stated}, and {axes.name} has {n} tasks there",
                "run what is missing: a partial run cannot be compared with complete ones",
                slot=slot,
                printed=str(stated),
                bound=str(n),
            )


def _label_findings(entry: Entry) -> Iterator[Finding]:
    """Find a label that the leaderboard does not know."""
    if entry.label is not None and entry.label not in LABELS:
        near = nearest(entry.label, LABELS)
        yield Finding(
            entry.name,
            "unknown-label",
            f"submission.provenance.label is {as_written(entry.label)}",
            f"did you mean {near}?" if near else f"known: {', '.join(LABELS)}",
            printed=as_written(entry.label),
        )


def _find_receipt(entry: Entry, given: str | os.PathLike[str] | None) -> Receipt | None:
    """Read the receipt that was named, else the one beside the entry, if there is one."""
    if given is not None:
        path = Path(given)
        if entry.content is None:
            msg = f"{entry.path}: is a table of rows, which has no receipt"
            raise InputError(msg)
        if not path.is_file():
            msg = f"{path}: no such file"
            raise InputError(msg)
        return read_receipt(path)
    beside = receipt_path(entry.path)
    return read_receipt(beside) if beside is not None and beside.is_file() else None


def _evidence_findings(entry: Entry, receipt: Receipt | None, axes: Benchmark) -> Iterator[Finding]:
    """Find where the receipt does not speak for the entry, or lacks."""
    if receipt is not None:
        yield from receipt_findings(entry, receipt, axes)
    elif entry.label == OWN_RUN:
        beside = receipt_path(entry.path)
        where = f" ({printable(beside.name)} beside it)" if beside is not None else ""
        yield Finding(
            entry.name,
            "receipt-missing",
            f"is self-reported, and has no receipt{where}",
            "entry build writes both; --receipt names one that lies elsewhere",
        )
