"""The skill calls that an entry states, as far as its own ASC and SFR let them be known."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from skillshift_frames.findings import Finding
from skillshift_frames.marginals import half_unit, unstable_findings
from skillshift_frames.readers.json_shape import value_at, whole
from skillshift_frames.receipt import OWN_RUN, own_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors
    from skillshift_frames.readers.entries import Entry
    from skillshift_frames.readers.receipts import Receipt


def call_findings(
    entry: Entry, receipt: Receipt | None, axes: Benchmark, errors: Errors, *, recounted: bool
) -> Iterator[Finding]:
    """Find a number of skill calls that is not that of ASC, or lacks; and an SFR that rests on too few.

    Where calls are ``recounted`` from records, ASC, which rounding blurs, has nothing to add.
    """
    calls = entry.skill_calls
    asc = [number for (metric, _), number in entry.printed.items() if metric == "ASC"]
    applies = any(number is not None for number in asc)
    if entry.content is not None and calls is None:
        null = value_at(entry.content, "n", "skill_calls", default=0) is None
        if null and applies and entry.label == OWN_RUN:
            message = "n.skill_calls is null, and a self-reported entry owes it where skills apply"
            hint = "the sum of skill_calls over all records; 0 where none was made"
            yield Finding(entry.name, "schema", message, hint)
    if calls is not None and not recounted:
        if not applies and len(asc) == len(axes.slots):
            yield Finding(
                entry.name,
                "count-mismatch",
                f"n.skill_calls is {calls}, and ASC is null",
                "where skills do not apply to the method both are null; where they do, ASC is a number",
                metric="ASC",
                printed=str(calls),
                bound="null",
            )
        yield from _calls_against_asc(entry, calls, receipt, axes, errors)
    rates = [
        slot for (m, slot), number in entry.printed.items() if m == "SFR" and number is not None
    ]
    if calls == 0 and rates:
        message = "is printed, and no skill was called: a share of nothing is null"
        hint = f"null, with a reason, in {', '.join(rates)}"
        yield Finding(entry.name, "sfr-without-calls", message, hint, metric="SFR", printed="0")
    else:
        yield from unstable_findings(entry)


def _calls_against_asc(
    entry: Entry, calls: int, receipt: Receipt | None, axes: Benchmark, errors: Errors
) -> Iterator[Finding]:
    """Compare the stated calls with calls per task times tasks, as far as rounding of ASC allows."""
    printed = {site: entry.printed.get(("ASC", site)) for site in axes.sites}
    asc = {site: number for site, number in printed.items() if number is not None}
    if len(asc) < len(printed) or dict(entry.tasks) != dict(axes.sites):
        return
    if any(number < 0 for number in asc.values()):  # out of range, and no bound for anything
        return
    tasks = {site: n * len(axes.conditions) for site, n in axes.sites.items()}
    implied = sum((Fraction(number) * tasks[site] for site, number in asc.items()), Fraction())
    slack = sum((half_unit(number) * tasks[site] for site, number in asc.items()), Fraction())
    low, high = ceil(implied - slack), floor(implied + slack)
    if low > high:  # no whole number lies between: the nearest ones on either side
        low, high = high, low
    # Tasks that count as failures may be without calls; then ASC is the mean of fewer tasks than these.
    below = errors != "zero" and calls < low
    # Where tasks were tried several times, calls are those of all trials, and ASC is per trial.
    once = _tried_once(receipt, axes)
    if not below and not (once and calls > high):
        return
    if not once:
        allowed = f"{low} or more"
    else:
        allowed = f"{high} or fewer" if errors == "zero" else f"{max(0, low)} to {high}"
    yield Finding(
        entry.name,
        "count-mismatch",
        f"n.skill_calls is {calls}, and ASC over all tasks gives {allowed}",
        "the sum of skill_calls over all records; ASC is the same per task",
        metric="ASC",
        printed=str(calls),
        bound=allowed,
    )


def _tried_once(receipt: Receipt | None, axes: Benchmark) -> bool:
    """Tell whether each task is known to have one trial: only our own receipts say how many records there are."""
    return (
        receipt is not None
        and own_digest(receipt) is not None
        and whole(receipt.content.get("records")) == axes.expected
    )
