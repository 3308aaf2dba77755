"""The JSON of one entry → its numbers, and everything in which it departs from the leaderboard's schema."""

from __future__ import annotations

from datetime import date
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from skillshift_frames.findings import Finding
from skillshift_frames.readers.entries import Entry, Read
from skillshift_frames.readers.json_shape import (
    BOOLEAN,
    BOOLEAN_OR_NULL,
    CALLS_OR_NULL,
    DATE,
    METRIC_OR_NULL,
    NUMBER_OR_NULL,
    TASKS_COUNTED,
    TEXT,
    TEXT_OR_NULL,
    departures,
    exactly,
    parse_object,
)
from skillshift_frames.readers.wording import Number, printable, snippet
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.readers.json_shape import Problem, Shape

SCHEMA_VERSION = "1.0"

#: Where an entry's numbers are from: copied from a paper, from the benchmark's own paper, or from a run of one's own.
LABELS = ("reported-only", "verified-paper", "self-reported")

#: Digits behind the point that every printed number has.
DECIMALS = 2

# The largest float has 309 digits before the point; two more follow it.
_EXACT = Context(prec=400)


def slot_paths(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Give for each slot the keys that lead to it below a metric: ``gitlab`` is ``websites.gitlab``."""
    return {
        **{site: ("websites", site) for site in benchmark.sites},
        **{condition: ("conditions", condition) for condition in benchmark.conditions},
        "overall": ("overall",),
    }


def _shape(benchmark: Benchmark) -> dict[str, Shape]:
    block: Shape = {
        "websites": dict.fromkeys(benchmark.sites, METRIC_OR_NULL),
        "conditions": dict.fromkeys(benchmark.conditions, METRIC_OR_NULL),
        "overall": METRIC_OR_NULL,
    }
    return {
        "schema_version": exactly(SCHEMA_VERSION),
        "submission": {
            "name": TEXT,
            "date": DATE,
            "contact": TEXT_OR_NULL,
            "method": {
                "name": TEXT,
                "description": TEXT,
                "paper_url": TEXT_OR_NULL,
                "code_url": TEXT_OR_NULL,
            },
            "model": {"id": TEXT, "temperature": NUMBER_OR_NULL, "vision": BOOLEAN_OR_NULL},
            "provenance": {"label": TEXT, "source": TEXT, "code_released": BOOLEAN},
            "repro_command": TEXT_OR_NULL,
        },
        "harness_version": TEXT,
        "metrics": dict.fromkeys(METRICS, block),
        "n": {
            "websites": dict.fromkeys(benchmark.sites, TASKS_COUNTED),
            "conditions": dict.fromkeys(benchmark.conditions, TASKS_COUNTED),
            "skill_calls": CALLS_OR_NULL,
        },
        "reasons": None,
        "notes": TEXT,
    }


def parse_entry(text: str, name: str, benchmark: Benchmark) -> Read:
    """Read the JSON of one entry: its numbers, and a finding for everything that the schema does not allow.

    No entry comes back where the text is not one JSON object.
    """
    content, problems = parse_object(text)
    if content is None:
        hint = "an entry is one JSON object"
        return Read([], [Finding(name, "schema", problem.message, hint) for problem in problems])
    problems += departures(content, _shape(benchmark))
    broken = {problem.path for problem in problems if problem.path}
    findings = [_finding(name, problem) for problem in problems]
    return Read([_entry(content, broken, name, benchmark)], findings)


def _finding(name: str, problem: Problem) -> Finding:
    path = problem.path
    code, metric, slot, hint = "schema", None, None, problem.hint
    if path[:1] == ("metrics",) and len(path) > 1 and path[1] in METRICS:
        metric = path[1]
        slot = path[-1] if len(path) > 2 and path[-1] not in {"websites", "conditions"} else None  # noqa: PLR2004 - metrics, SR
        slot = None if slot is None else printable(slot)
    if path[:1] == ("metrics",) and problem.missing:
        code, hint = "missing-slot", "null, with a reason, where it was not measured"
    where = f"{snippet('.'.join(path))}: " if path else ""
    return Finding(
        name,
        code,
        f"{where}{problem.message}",
        hint,
        metric=metric,
        slot=slot,
        printed=problem.written,
    )


def _entry(
    content: dict[str, Any], broken: set[tuple[str, ...]], name: str, benchmark: Benchmark
) -> Entry:
    def get(*path: str) -> Any:  # noqa: ANN401 - whatever the schema has there
        """Give the value at a path, None where it, or something above it, is not what it must be."""
        value: Any = content
        for depth, key in enumerate(path, start=1):
            if path[:depth] in broken or not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return value

    printed: dict[tuple[str, str], Decimal | None] = {}
    for metric in METRICS:
        for slot, path in slot_paths(benchmark).items():
            full = ("metrics", metric, *path)
            number = get(*full)
            if number is not None:
                printed[metric, slot] = printed_number(number)
            elif full not in broken and get(*full[:-1]) is not None:
                printed[metric, slot] = None
    stated = {site: get("n", "websites", site) for site in benchmark.sites}
    calls, day = get("n", "skill_calls"), get("submission", "date")
    reasons = get("reasons") or {}
    return Entry(
        name=name,
        method=printable(get("submission", "method", "name") or get("submission", "name") or ""),
        model=printable(get("submission", "model", "id") or ""),
        printed=printed,
        tasks={
            site: benchmark.sites[site] if count is None else int(count.token)
            for site, count in stated.items()
        },
        path=name,
        date=None if day is None else date.fromisoformat(day),
        label=get("submission", "provenance", "label"),
        skill_calls=None if calls is None else int(calls.token),
        reasons={key: text for key, text in reasons.items() if isinstance(text, str)},
        content=content,
    )


def printed_number(number: Number) -> Decimal:
    """Give a number of an entry's JSON with its digits, at least the two that the schema has behind the point.

    Examples
    --------
    >>> printed_number(Number("16.9")), printed_number(Number("1.6905e1"))
    (Decimal('16.90'), Decimal('16.905'))
    """
    value = Decimal(number.token)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent > -DECIMALS:
        return value.quantize(Decimal(1).scaleb(-DECIMALS), context=_EXACT)
    return value
