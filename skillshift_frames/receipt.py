"""What ties a published entry to the records behind it: a digest of them, and the receipt that commits to it.

A receipt is one JSON object beside its entry (``results.json`` has ``results.receipt.json``):

``schema_version``
    ``"1.0"``.
``tool``
    ``{"name": "skillshift-frames", "version": …}``: what wrote it.
``harness_version``
    The entry's.
``benchmark``, ``errors``
    The name of the benchmark, and what tasks with an error counted as (``"exclude"`` or ``"zero"``).
``n_per_cell``
    ``{site: {condition: tasks behind SR}}``.
``records``
    How many records there are.
``aggregate``
    The entry's ``metrics``, verbatim.
``env_digests``
    ``{}``: records say nothing about the environment that they are from.
``per_task_commitment``
    ``{"form": "skillshift-frames records 1", "sha256": …}``.

The digest is taken over a form of the records that depends neither on their order nor on the file that they lie in
(`records_digest`). Receipt and form are this package's own. The harness of the benchmark has a form of its own, which is
not public, so its receipts are checked in everything but their digest.
"""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from skillshift_frames._version import __version__
from skillshift_frames.errors import InputError, check_frame, check_records
from skillshift_frames.findings import Finding
from skillshift_frames.readers.entry_files import NotTextError, decode, read_bytes
from skillshift_frames.readers.json_shape import parse_object, too_long, whole
from skillshift_frames.readers.receipts import Receipt, read_receipt, receipt_path
from skillshift_frames.readers.wording import NO_NUMBERS, Number, as_written, printable
from skillshift_frames.schema import METRICS, TASKS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors
    from skillshift_frames.readers.entries import Entry

#: Whether the receipt beside an entry speaks of the entry's numbers.
ReceiptState: TypeAlias = Literal["matches", "differs", "missing"]

#: The label of numbers from a run of one's own, for which a receipt is owed.
OWN_RUN = "self-reported"

#: The first line of what is digested: the form's name and version.
FORM = "skillshift-frames records 1"

SCHEMA_VERSION = "1.0"

_FIELDS = (
    *("uid", "site", "condition", "trial", "success", "steps"),
    *("skill_calls", "skill_failures", "error"),
)

#: What JSON does not let stand in a string, and how it is written instead.
_ESCAPES = {
    **{chr(code): f"\\u{code:04x}" for code in range(0x20)},
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}

#: So many lines are put together at a time; the digest does not depend on it.
_LINES_AT_ONCE = 1 << 16

_NAMED = 4
_DIFFERENCES_SHOWN = 10


def records_digest(tasks: pl.DataFrame | pl.LazyFrame) -> str:
    r"""Digest the records of one run, whatever their order and whatever file they lie in.

    What is digested is text in UTF-8. Its first line is ``skillshift-frames records 1``. Then comes one line per record: the
    JSON array ``[uid, site, condition, trial, success, steps, skill_calls, skill_failures, error]``, without spaces, null
    for what was not recorded, characters beyond ASCII as they are, and in strings the escapes that JSON demands and no
    others (short where JSON has a short one, else ``\u001f`` with small letters). The lines are sorted by their bytes, and a
    line feed ends each. The run's label and columns that are not a record's are no part of it.

    Parameters
    ----------
    tasks
        Records of one run as `skillshift_frames.TASKS`, from `read_tasks` or `from_frame`.

    Returns
    -------
    str
        The SHA-256, 64 hexadecimal digits.

    Raises
    ------
    InputError
        There are records of several runs.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> row = {"uid": "t", "site": "gitlab", "condition": "src", "success": True, "steps": 3}
    >>> tasks = sf.from_frame(
    ...     pl.DataFrame([row | {"skill_calls": 0, "skill_failures": 0}]), run="asi"
    ... )
    >>> records_digest(tasks)[:16]
    '678a693def13047b'
    >>> text = 'skillshift-frames records 1\n["t","gitlab","src",1,true,3,0,0,null]\n'
    >>> records_digest(tasks) == hashlib.sha256(text.encode()).hexdigest()
    True
    """
    check_frame("tasks", tasks, "read_tasks")
    frame = tasks.lazy().collect()
    check_records("tasks", frame)
    single_run(frame)
    parts: list[pl.Expr] = []
    for name in _FIELDS:
        value = pl.col(name).cast(pl.String)
        # By what a record has there: a frame may hold its text as categories, too.
        if TASKS[name] == pl.String:
            escaped = value.str.replace_many(list(_ESCAPES), list(_ESCAPES.values()))
            value = pl.concat_str(pl.lit('"'), escaped, pl.lit('"'))
        parts += [pl.lit("," if parts else "["), value.fill_null("null")]
    lines = frame.select(pl.concat_str(*parts, pl.lit("]\n"))).to_series().sort()
    digest = hashlib.sha256(f"{FORM}\n".encode())
    for first in range(0, lines.len(), _LINES_AT_ONCE):
        digest.update(lines.slice(first, _LINES_AT_ONCE).str.join().item().encode())
    return digest.hexdigest()


def single_run(tasks: pl.DataFrame) -> str:
    """Give the label of the one run that records are of.

    Raises
    ------
    InputError
        There are several, or no record at all.
    """
    runs = tasks.get_column("run").unique().sort().to_list()
    if not runs:
        msg = "there are no records"
        raise InputError(msg)
    if len(runs) > 1:
        named = ", ".join(map(printable, runs[:_NAMED])) + (", …" if len(runs) > _NAMED else "")
        msg = f"an entry is made of one run, and these are {len(runs)}: {named}; name one of them (--pool reads shards as one run)"
        raise InputError(msg)
    return str(runs[0])


def make_receipt(
    tasks: pl.DataFrame,
    of_cells: pl.DataFrame,
    aggregate: dict[str, Any],
    *,
    harness_version: str,
    benchmark: Benchmark,
    errors: Errors,
) -> dict[str, Any]:
    """Make the receipt of an entry whose metrics are ``aggregate``, as the module's text describes it."""
    counts: dict[str, dict[str, int]] = {site: {} for site in benchmark.sites}
    for site, condition, n in of_cells.select("site", "condition", "n").iter_rows():
        counts[site][condition] = n
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "skillshift-frames", "version": __version__},
        "harness_version": harness_version,
        "benchmark": benchmark.name,
        "errors": errors,
        "n_per_cell": counts,
        "records": tasks.height,
        "aggregate": aggregate,
        "env_digests": {},
        "per_task_commitment": {"form": FORM, "sha256": records_digest(tasks)},
    }


def task_counts(of_cells: pl.DataFrame, benchmark: Benchmark) -> dict[str, Any]:
    """Count what an entry's ``n`` says: of a complete run the benchmark's tasks, of a partial one what was measured."""
    fewest = dict(of_cells.group_by("site").agg(pl.col("n").min()).iter_rows())
    summed = dict(of_cells.group_by("condition").agg(pl.col("n").sum()).iter_rows())
    calls = of_cells.get_column("skill_calls").drop_nulls()
    return {
        "websites": {site: fewest[site] for site in benchmark.sites},
        "conditions": {name: summed[name] for name in benchmark.conditions},
        "skill_calls": calls.sum() if calls.len() else None,
    }


def receipt_state(path: str | os.PathLike[str], label: str | None) -> ReceiptState | None:
    """Tell whether the receipt beside an entry speaks of the entry's numbers; None where no receipt is owed.

    ``"differs"`` also where one of the two cannot be read. `skillshift_frames.check_entry` says what is wrong.

    Raises
    ------
    InputError
        A file that is there cannot be opened.

    Examples
    --------
    >>> receipt_state("data/published.csv", "verified-paper") is None
    True
    >>> receipt_state("data/published.csv", "self-reported")
    'missing'
    """
    if label != OWN_RUN:
        return None
    beside = receipt_path(str(path))
    if beside is None or not beside.is_file():
        return "missing"
    receipt = read_receipt(beside)
    try:
        content, _ = parse_object(decode(read_bytes(Path(path))))
    except NotTextError:
        return "differs"
    if receipt.problems or content is None or not isinstance(content.get("metrics"), dict):
        return "differs"
    same = not any(_differences(content["metrics"], receipt.content["aggregate"]))
    return "matches" if same else "differs"


def receipt_findings(entry: Entry, receipt: Receipt, benchmark: Benchmark) -> Iterator[Finding]:
    """Find what is wrong with a receipt, and where it does not speak of the entry beside it."""

    def mismatch(message: str, hint: str = "build the entry again, with its receipt") -> Finding:
        return Finding(entry.name, "receipt-mismatch", f"{receipt.name}: {message}", hint)

    for message, hint in receipt.problems:
        yield mismatch(message, hint or "a receipt is written beside its entry, and not by hand")
    content, said = receipt.content, entry.content or {}
    if isinstance(said.get("metrics"), dict) and "aggregate" in content:
        yield from _other_numbers(entry, receipt, said["metrics"])
    if "n_per_cell" in content:
        wrong = list(_other_counts(content["n_per_cell"], benchmark))
        if wrong:
            yield mismatch(f"n_per_cell: {_some(wrong)}", "these are the counts of a complete run")
    own = said.get("harness_version")
    if isinstance(own, str) and content.get("harness_version", own) != own:
        theirs = as_written(content["harness_version"])
        yield mismatch(f"harness_version is {theirs}, that of the entry {as_written(own)}")
    if content.get("benchmark", benchmark.name) != benchmark.name:
        yield mismatch(
            f"benchmark is {as_written(content['benchmark'])}, not {benchmark.name}",
            "give the benchmark that the entry was built for",
        )
    digest = own_digest(receipt)
    if digest is not None and not re.fullmatch("[0-9a-f]{64}", digest):
        yield mismatch(f"per_task_commitment.sha256: {as_written(digest)} is no SHA-256")


def own_digest(receipt: Receipt) -> str | None:
    """Give the digest that a receipt commits to, None where it is of a form that is not ours.

    Examples
    --------
    >>> own_digest(
    ...     Receipt("r", {"per_task_commitment": {"form": "of another tool", "sha256": "00"}})
    ... ) is None
    True
    """
    commitment = receipt.content.get("per_task_commitment")
    if not isinstance(commitment, dict) or commitment.get("form") != FORM:
        return None
    digest = commitment.get("sha256")
    return digest if isinstance(digest, str) else None


def _other_numbers(entry: Entry, receipt: Receipt, metrics: dict[str, Any]) -> Iterator[Finding]:
    differing = list(_differences(metrics, receipt.content["aggregate"]))
    for path, own, theirs in differing[:_DIFFERENCES_SHOWN]:
        yield Finding(
            entry.name,
            "receipt-mismatch",
            f"{receipt.name}: aggregate has {theirs}, the entry {own}",
            "a number was changed after the entry was built; build it again, with its receipt",
            metric=path[0] if path[0] in METRICS else None,
            slot=printable(path[-1]) if path[0] in METRICS and len(path) > 1 else None,
            printed=own,
            bound=theirs,
        )
    if len(differing) > _DIFFERENCES_SHOWN:
        more = len(differing) - _DIFFERENCES_SHOWN
        message = f"{receipt.name}: aggregate differs in {more} more slots"
        yield Finding(entry.name, "receipt-mismatch", message)


def _differences(
    metrics: dict[str, Any], aggregate: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Give the keys under which two trees hold different values, with both as written."""
    own, theirs = dict(_leaves(metrics)), dict(_leaves(aggregate))
    for path in [*own, *(path for path in theirs if path not in own)]:
        if path not in own or path not in theirs or not _same(own[path], theirs[path]):
            yield (
                path,
                as_written(own[path]) if path in own else "nothing",
                as_written(theirs[path]) if path in theirs else "nothing",
            )


def _leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _leaves(below, (*path, key))
    else:
        yield path, value


def _same(one: object, other: object) -> bool:
    if isinstance(one, Number) and isinstance(other, Number):
        plain = not any(n.token in NO_NUMBERS or too_long(n) for n in (one, other))
        return one == other or (plain and Decimal(one.token) == Decimal(other.token))
    return one == other


def _other_counts(stated: dict[str, Any], benchmark: Benchmark) -> Iterator[str]:
    """Say where counts are not the benchmark's; a site has one for each condition, or one for all."""
    for site, expected in benchmark.sites.items():
        of_site = stated.get(site)
        if isinstance(of_site, dict):
            said = {f"{site} × {name}": of_site.get(name) for name in benchmark.conditions}
        else:
            said = {site: of_site}
        for name, count in said.items():
            if whole(count) != expected:
                shown = "missing" if count is None else as_written(count)
                yield f"{name} is {shown}, not {expected}"


def _some(said: Iterable[str]) -> str:
    listed = list(said)
    rest = len(listed) - _NAMED
    return ", ".join(listed[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
