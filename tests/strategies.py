"""Hypothesis strategies: lists of valid records in the shapes that runs come in.

`records` draws everything: one to three runs, complete or partial, with and without skill calls,
steps, errors and repeated trials. Where a test wants one shape, it says so::

    @given(records())  # any shape, the small benchmark
    @given(records(SKILLSHIFT, complete=True, trials=1, errors=False))

Valid means: unique (run, site, uid, condition, trial); failures ≤ calls; success null only in an
errored trial; steps null in a whole run or nowhere, and calls and failures likewise, both together
— except in an errored trial, which may lack either where its run has them.

`by_run`, `shuffled` and `to_jsonl` turn such a list into what a test needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterable

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """A benchmark: sites with their task counts, and conditions, in order."""

    sites: dict[str, int]
    conditions: tuple[str, ...]


SMALL = Shape({"forum": 3, "shop": 2}, ("plain", "hard"))
"""Ten tasks: small enough for every example to be read."""

SKILLSHIFT = Shape(
    {"gitlab": 162, "magento": 114, "wordpress": 79},
    ("src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec"),
)
"""2,130 tasks."""

ERRORS = ("timeout", "page crashed: 'net::ERR'", 'HTTP 503, "try later"', "é \u2028 \\", " ")
"""Why a trial was not measured. A space is an error, too: it is not empty."""


@dataclass(frozen=True)
class Outcome:
    """What one trial gave, before its run decides what it records at all."""

    success: bool
    steps: int
    calls: int
    failures: int
    error: str | None
    success_lost: bool
    steps_lost: bool
    calls_lost: bool


@dataclass(frozen=True)
class Recording:
    """What one run records at all."""

    steps: bool
    calls: bool
    silent: bool  # skills could have been called and never were


def numbers() -> st.SearchStrategy[int]:
    """Counts: mostly small, now and then large."""
    return st.one_of(st.integers(0, 4), st.integers(0, 30), st.integers(0, 10**6))


@st.composite
def outcomes(draw: st.DrawFn, *, errors: bool) -> Outcome:
    """One trial."""
    calls = draw(st.one_of(st.just(0), numbers()))
    error = draw(st.one_of(st.none(), st.none(), st.sampled_from(ERRORS))) if errors else None
    lost = error is not None
    return Outcome(
        success=draw(st.booleans()),
        steps=draw(numbers()),
        calls=calls,
        failures=draw(st.integers(0, calls)),
        error=error,
        success_lost=lost and draw(st.booleans()),
        steps_lost=lost and draw(st.booleans()),
        calls_lost=lost and draw(st.booleans()),
    )


def recordings() -> st.SearchStrategy[Recording]:
    """What a run records: usually everything."""
    usual = Recording(steps=True, calls=True, silent=False)
    return st.one_of(
        st.just(usual), st.builds(Recording, st.booleans(), st.booleans(), st.booleans())
    )


def odd_text() -> st.SearchStrategy[str]:
    """Text that is hard on readers: quotes, line ends, the separators of a record, any script."""
    pieces = ('"', "\\", "\n", "\r", "\t", "\x00", '", "site": "', "\u2028", "é", "👍", " ", "/")
    return st.one_of(
        st.lists(st.sampled_from(pieces), min_size=1, max_size=4).map("".join),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    ).filter(lambda text: not text.startswith("skillshift."))


def task_uid(site: str, condition: str, index: int) -> str:
    """Name a task as SkillShift-Bench does; only sites with two versions have a v2."""
    version = "v2" if condition.startswith("tgt") and site != "wordpress" else "v1"
    return f"skillshift.{site}.{version}.{index}"


def to_record(
    site: str, condition: str, uid: str, outcome: Outcome, recording: Recording
) -> Record:
    """Write one trial down, without its run and its number."""
    has_calls = recording.calls and not outcome.calls_lost
    record: Record = {
        "uid": uid,
        "site": site,
        "condition": condition,
        "success": None if outcome.success_lost else outcome.success,
        "steps": outcome.steps if recording.steps and not outcome.steps_lost else None,
        "skill_calls": (0 if recording.silent else outcome.calls) if has_calls else None,
        "skill_failures": (0 if recording.silent else outcome.failures) if has_calls else None,
    }
    if outcome.error is not None:
        record["error"] = outcome.error
    return record


@st.composite
def run_records(
    draw: st.DrawFn,
    shape: Shape = SMALL,
    *,
    complete: bool | None = None,
    trials: int = 3,
    errors: bool = True,
    odd_uids: bool = False,
) -> list[Record]:
    """One run, without a ``run`` key: at least one record.

    Parameters
    ----------
    shape
        The benchmark.
    complete
        Every task of every cell is there (True), some are lacking (False), or either (None).
    trials
        Up to how many trials a task has; at 1, no record has a ``trial`` key.
    errors
        Whether trials may have errored.
    odd_uids
        Whether uids may be any text.
    """
    recording = draw(recordings())
    cells = [(site, condition) for site in shape.sites for condition in shape.conditions]
    # A pool, dealt out with a stride, keeps the draw small however many tasks there are.
    pool = draw(st.lists(outcomes(errors=errors), min_size=1, max_size=12))
    stride = draw(st.integers(1, 12))
    repeats = draw(st.lists(st.integers(1, trials), min_size=1, max_size=5))
    prefixes = draw(st.lists(odd_text(), min_size=1, max_size=3)) if odd_uids else []
    whole = draw(st.booleans()) if complete is None else complete
    lacking = {} if whole else draw(absences(shape))
    if complete is False and not any(lacking.values()):
        lacking[cells[0]] = {0}

    result: list[Record] = []
    dealt = 0
    for site, condition in cells:
        for index in range(shape.sites[site]):
            if index in lacking.get((site, condition), ()):
                continue
            uid = task_uid(site, condition, index)
            if prefixes:
                uid = f"{prefixes[index % len(prefixes)]}{index}"
            count = repeats[(dealt + index) % len(repeats)]
            for trial in range(1, count + 1):
                outcome = pool[dealt * stride % len(pool)]
                dealt += 1
                record = to_record(site, condition, uid, outcome, recording)
                if trial > 1 or (count > 1 and dealt % 2):  # the first may say so or not
                    record["trial"] = trial
                result.append(record)
    return result


@st.composite
def absences(draw: st.DrawFn, shape: Shape) -> dict[tuple[str, str], set[int]]:
    """Tasks that are lacking, by cell: some of a cell, or all of it, but not all of all."""
    lacking: dict[tuple[str, str], set[int]] = {}
    for site, count in shape.sites.items():
        for condition in shape.conditions:
            some = st.sets(st.integers(0, count - 1), max_size=min(count, 4))
            every = st.just(set(range(count)))
            lacking[site, condition] = draw(st.one_of(st.just(set[int]()), some, every))
    if all(len(lacking[site, condition]) == shape.sites[site] for site, condition in lacking):
        lacking.popitem()
    return lacking


@st.composite
def records(
    draw: st.DrawFn,
    shape: Shape = SMALL,
    *,
    runs: int = 3,
    complete: bool | None = None,
    trials: int = 3,
    errors: bool = True,
    odd_uids: bool = False,
) -> list[Record]:
    """One to ``runs`` runs, each record with its ``run`` key; see `run_records` for the rest."""
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=runs, unique=True))
    one = run_records(shape, complete=complete, trials=trials, errors=errors, odd_uids=odd_uids)
    return [{**record, "run": f"run-{name}"} for name in names for record in draw(one)]


def shuffled(drawn: st.SearchStrategy[list[Record]]) -> st.SearchStrategy[list[Record]]:
    """Put the records in any order, as shards and threads do."""
    return drawn.flatmap(st.permutations)


def by_run(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Part records by run and take the ``run`` key off, as they lie in one file per run."""
    parted: dict[str, list[Record]] = {}
    for record in records:
        rest = {key: value for key, value in record.items() if key != "run"}
        parted.setdefault(record["run"], []).append(rest)
    return parted


def to_jsonl(records: Iterable[Record]) -> bytes:
    """Write records as a file holds them."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()
