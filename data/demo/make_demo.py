"""Make the three demo runs: invented numbers in the shape of SkillShift-Bench.

``induced.jsonl``
    A method that induces skills and calls them sparsely: most SFR slots rest on fewer than 30
    calls, and one cell (wordpress, tgt-exec) on none, so that its SFR is undefined.
``workflow.jsonl``
    A method that reuses prompted workflows: skill calls do not apply and are null throughout.
    Four of its tasks ended with an error, two more were never run.
``reference.jsonl``
    An agent that could call skills and never does: ASC is 0, SFR undefined.

One record per task and condition, ordered by site, condition and task. A task keeps its index and
its difficulty under all six conditions and in all three runs, so the outcomes of a family
correlate, as they do in practice.

Only the standard library, and of `random.Random` only ``random()``, whose sequence Python promises
to keep: the same seed gives the same bytes on every version.

Usage: ``python make_demo.py [--out DIR]`` (default: the folder of this script).
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEED = 2130

SITES: Mapping[str, int] = {"gitlab": 162, "magento": 114, "wordpress": 79}
CONDITIONS = ("src", "src-perc", "src-exec", "tgt", "tgt-perc", "tgt-exec")
INDICES = 812  # task indices are spread over 0..811

EASE: Mapping[str, float] = {"gitlab": 0.32, "magento": 0.5, "wordpress": 0.8}
FATE = 0.75  # share of outcomes that follow from the difficulty of the task
MAX_STEPS = 30


@dataclass(frozen=True)
class Method:
    """One run: what the method achieves, and how often it calls skills.

    Attributes
    ----------
    name
        Stem of the file.
    shift
        Share of a site's ease that is left under each condition.
    calls
        Probability of a first skill call per site; None where skill calls do not apply.
    calls_shift
        Factor of that probability under each condition.
    failing
        Probability that a call fails on the source and on the target site.
    errors
        Cells with tasks that ended with an error: the text, and whether the steps were recorded.
    unrun
        Cells with tasks that were never run, and how many.
    """

    name: str
    shift: Mapping[str, float]
    calls: Mapping[str, float] | None
    calls_shift: Mapping[str, float]
    failing: tuple[float, float]
    errors: Mapping[tuple[str, str], Sequence[tuple[str, bool]]]
    unrun: Mapping[tuple[str, str], int]


METHODS = (
    Method(
        name="induced",
        shift=dict(zip(CONDITIONS, (1.0, 0.9, 0.4, 0.78, 0.62, 0.2), strict=True)),
        calls={"gitlab": 0.065, "magento": 0.15, "wordpress": 0.06},
        calls_shift=dict(zip(CONDITIONS, (1.4, 1.25, 0.65, 0.65, 0.55, 0.4), strict=True)),
        failing=(0.22, 0.42),
        errors={},
        unrun={},
    ),
    Method(
        name="workflow",
        shift=dict(zip(CONDITIONS, (0.94, 0.82, 0.34, 0.8, 0.68, 0.2), strict=True)),
        calls=None,
        calls_shift={},
        failing=(0.0, 0.0),
        errors={
            ("gitlab", "src-exec"): (
                ("browser closed unexpectedly", True),
                ("page did not load within 60 s", False),
            ),
            ("magento", "tgt"): (
                ("model endpoint answered 503", True),
                ("site was not reset: container exited with 137", False),
            ),
        },
        unrun={("wordpress", "tgt-perc"): 2},
    ),
    Method(
        name="reference",
        shift=dict(zip(CONDITIONS, (0.86, 0.78, 0.32, 0.7, 0.56, 0.16), strict=True)),
        calls=dict.fromkeys(SITES, 0.0),
        calls_shift=dict.fromkeys(CONDITIONS, 0.0),
        failing=(0.0, 0.0),
        errors={},
        unrun={},
    ),
)

SILENT = ("wordpress", "tgt-exec")  # no skill is called in this cell


@dataclass(frozen=True)
class Task:
    """One family: its index, and its difficulty from 0 (easy) to 1 (hard)."""

    index: int
    difficulty: float


def sample(rng: random.Random, population: Sequence[int], size: int) -> list[int]:
    """Draw without replacement, in random order, from ``random()`` alone."""
    keyed = sorted((rng.random(), one) for one in population)
    return [one for _, one in keyed[:size]]


def make_tasks(rng: random.Random) -> dict[str, list[Task]]:
    """Give every site its tasks; no index occurs at two sites."""
    indices = sample(rng, range(INDICES), sum(SITES.values()))
    tasks: dict[str, list[Task]] = {}
    for site, count in SITES.items():
        own, indices = sorted(indices[:count]), indices[count:]
        tasks[site] = [Task(index, rng.random()) for index in own]
    return tasks


def uid(site: str, condition: str, index: int) -> str:
    """Name a task; wordpress ships one task file for both versions of the site."""
    version = "v2" if condition.startswith("tgt") and site != "wordpress" else "v1"
    return f"skillshift.{site}.{version}.{index}"


def make_record(
    rng: random.Random, method: Method, site: str, condition: str, task: Task
) -> dict[str, Any]:
    """Run one invented task."""
    # Mostly the task's own difficulty decides, otherwise luck does.
    hurdle = task.difficulty if rng.random() < FATE else rng.random()
    success = hurdle < EASE[site] * method.shift[condition]

    # A failed task took about twice as long, and some ran into the limit.
    length = (0.4 + task.difficulty) * (0.3 + rng.random())
    steps = 1 + int(length * (5 if success else 10))
    if not success and rng.random() < 0.04:  # noqa: PLR2004
        steps = MAX_STEPS

    calls: int | None = None
    failures: int | None = None
    if method.calls is not None:
        first = method.calls[site] * method.calls_shift[condition]
        calls = failures = 0
        failing = method.failing[condition.startswith("tgt")]
        wanted = rng.random()
        if (site, condition) != SILENT:
            calls = (wanted < first) + (wanted < first / 5)
        failures = sum(rng.random() < failing for _ in range(calls))

    return {
        "uid": uid(site, condition, task.index),
        "site": site,
        "condition": condition,
        "success": success,
        "steps": min(steps, MAX_STEPS),
        "skill_calls": calls,
        "skill_failures": failures,
    }


def make_cell(
    rng: random.Random, method: Method, site: str, condition: str, tasks: Sequence[Task]
) -> list[dict[str, Any]]:
    """Run all tasks of one cell, and lose those that the method is to lose."""
    records = [make_record(rng, method, site, condition, task) for task in tasks]
    errors = method.errors.get((site, condition), ())
    for place, (error, recorded) in zip(
        sample(rng, range(len(records)), len(errors)), errors, strict=True
    ):
        lost = records[place]
        lost["success"] = None
        lost["steps"] = lost["steps"] if recorded else None
        lost["skill_calls"] = lost["skill_failures"] = None
        lost["error"] = error
    unrun = sample(rng, range(len(records)), method.unrun.get((site, condition), 0))
    return [record for place, record in enumerate(records) if place not in unrun]


def main(folder: Path) -> list[Path]:
    """Write the three runs into a folder.

    Parameters
    ----------
    folder
        Where to write; it is made when missing.

    Returns
    -------
    list[Path]
        The files written: ``induced.jsonl``, ``workflow.jsonl``, ``reference.jsonl``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tasks = make_tasks(random.Random(SEED))  # noqa: S311
    paths = []
    for number, method in enumerate(METHODS, start=1):
        rng = random.Random(SEED + number)  # noqa: S311
        records = [
            record
            for site in SITES
            for condition in CONDITIONS
            for record in make_cell(rng, method, site, condition, tasks[site])
        ]
        path = folder / f"{method.name}.jsonl"
        text = "".join(json.dumps(record) + "\n" for record in records)
        path.write_bytes(text.encode("ascii"))
        paths.append(path)
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the three demo runs.")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path(__file__).resolve().parent,
        help="folder to write into (default: the folder of this script)",
    )
    for written in main(parser.parse_args().out):
        print(written)
