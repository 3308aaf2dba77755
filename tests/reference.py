"""The oracle: every number of the table, by brute force, in exact fractions.

Written from the definitions and nothing else. It shares no code with the package, uses no frames
and no floats, and is slow on purpose: each number is one line that can be read against its
definition.

- A *trial* is one record. A *task* is the set of trials with the same (run, site, condition, uid).
  A *cell* is one (site, condition) pair of the benchmark; every run has every cell, also where it
  has no records.
- Per cell, each task's trials are averaged first and the tasks' means then averaged, so every task
  counts once: SR = 100 · mean(success), AS = mean(steps), ASC = mean(skill_calls). SFR stays a
  ratio of sums over trials: 100 · Σ skill_failures / Σ skill_calls.
- A metric is None (undefined) where nothing was measured: no scored task; steps not recorded; no
  skill call for SFR. Where skill calls are null in the whole run, ASC and SFR do not apply.
- A slot is an unweighted mean of cells: a site's over its conditions, a condition's over its
  sites, ``overall`` over all cells. Task counts never weigh.
- An errored trial (non-empty ``error``) was not measured. ``errors="exclude"``: it is in no mean.
  ``errors="zero"``: it is a failure in SR, and in the means of steps and calls where they were
  recorded. A task whose trials all errored is *errored*, any other task is *scored*, under both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Record: TypeAlias = dict[str, Any]
"""One trial: uid, site, condition, success, steps, skill_calls, skill_failures; perhaps trial, error, run."""

Number: TypeAlias = Fraction | None
"""An exact number, or None where it is undefined."""

METRICS = ("SR", "AS", "ASC", "SFR")
OVERALL = "overall"
UNNAMED = "run"
"""The run of records that name none."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One (site, condition) pair of one run.

    expected, scored, errored and missing count tasks; trials and errored_trials count records.
    calls is Σ skill_calls behind SFR, None where skill calls do not apply to the run.
    """

    values: dict[str, Number]
    expected: int
    scored: int
    errored: int
    missing: int
    trials: int
    errored_trials: int
    calls: int | None


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One marginal of one run: its metrics, and all calls of the cells behind it."""

    values: dict[str, Number]
    calls: int | None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One method: its cells by (site, condition), its slots by name."""

    cells: dict[tuple[str, str], Cell]
    slots: dict[str, Slot]


def evaluate(
    records: Iterable[Record],
    sites: Mapping[str, int],
    conditions: Sequence[str],
    *,
    errors: Literal["exclude", "zero"] = "exclude",
    null: Literal["propagate", "available"] = "propagate",
) -> dict[str, Run]:
    """Compute everything, per run.

    sites gives each site's expected number of tasks per condition. null says what a marginal is
    when one of its cells is undefined: undefined too, or the mean of the others. The records must
    be valid; nothing is checked.
    """
    runs: dict[str, list[Record]] = {}
    for record in records:
        runs.setdefault(record.get("run", UNNAMED), []).append(record)
    return {
        name: evaluate_run(own, sites, conditions, errors=errors, null=null)
        for name, own in runs.items()
    }


def evaluate_run(
    records: Sequence[Record],
    sites: Mapping[str, int],
    conditions: Sequence[str],
    *,
    errors: Literal["exclude", "zero"],
    null: Literal["propagate", "available"],
) -> Run:
    """Compute the cells and the slots of one run."""
    applies = any(record["skill_calls"] is not None for record in records)
    cells = {
        (site, condition): evaluate_cell(
            [r for r in records if r["site"] == site and r["condition"] == condition],
            expected=expected,
            errors=errors,
            applies=applies,
        )
        for site, expected in sites.items()
        for condition in conditions
    }
    behind: dict[str, list[Cell]] = {}
    for site in sites:
        behind[site] = [cells[site, condition] for condition in conditions]
    for condition in conditions:
        behind[condition] = [cells[site, condition] for site in sites]
    behind[OVERALL] = list(cells.values())
    return Run(
        cells=cells,
        slots={
            slot: Slot(
                values={
                    metric: marginal([cell.values[metric] for cell in own], null=null)
                    for metric in METRICS
                },
                calls=sum(cell.calls or 0 for cell in own) if applies else None,
            )
            for slot, own in behind.items()
        },
    )


def evaluate_cell(
    records: Sequence[Record],
    *,
    expected: int,
    errors: Literal["exclude", "zero"],
    applies: bool,
) -> Cell:
    """Compute one cell from its trials."""
    tasks: dict[str, list[Record]] = {}
    for record in records:
        tasks.setdefault(record["uid"], []).append(record)
    errored = sum(all(is_errored(trial) for trial in trials) for trials in tasks.values())
    scored = len(tasks) - errored

    counted = {
        uid: [trial for trial in trials if errors == "zero" or not is_errored(trial)]
        for uid, trials in tasks.items()
    }
    called = [
        (trial["skill_calls"], trial["skill_failures"])
        for trials in counted.values()
        for trial in trials
        if trial["skill_calls"] is not None
    ]
    calls = sum(call for call, _ in called)
    failures = sum(failure for _, failure in called)
    rate = mean_of_tasks([[succeeded(trial) for trial in trials] for trials in counted.values()])
    return Cell(
        values={
            "SR": None if rate is None else 100 * rate,
            "AS": mean_of_tasks(recorded(counted.values(), "steps")),
            "ASC": mean_of_tasks(recorded(counted.values(), "skill_calls")) if applies else None,
            "SFR": Fraction(100 * failures, calls) if calls else None,
        },
        expected=expected,
        scored=scored,
        errored=errored,
        missing=max(0, expected - scored - errored),
        trials=len(records),
        errored_trials=sum(is_errored(record) for record in records),
        calls=calls if applies else None,
    )


def is_errored(trial: Record) -> bool:
    """Say whether a trial was not measured."""
    return bool(trial.get("error"))


def succeeded(trial: Record) -> int:
    """Give 1 for a success; an errored trial that is counted at all is a failure."""
    return 1 if trial["success"] and not is_errored(trial) else 0


def recorded(tasks: Iterable[Sequence[Record]], field: str) -> list[list[int]]:
    """Give, per task, the values of the trials that have one."""
    return [[trial[field] for trial in trials if trial[field] is not None] for trials in tasks]


def mean(values: Sequence[int | Fraction]) -> Number:
    """Average exactly; nothing has no average."""
    if not values:
        return None
    total = Fraction(0)
    for value in values:
        total += value
    return total / len(values)


def mean_of_tasks(tasks: Iterable[Sequence[int]]) -> Number:
    """Average each task's trials, then the tasks; a task without a value is in no mean."""
    means = [mean(values) for values in tasks]
    return mean([one for one in means if one is not None])


def marginal(cells: Sequence[Number], *, null: Literal["propagate", "available"]) -> Number:
    """Average cells, each with the same weight."""
    defined = [cell for cell in cells if cell is not None]
    if null == "propagate" and len(defined) < len(cells):
        return None
    return mean(defined)
