"""How the numbers of a report came about, in plain words: what a reader of a paper's appendix would look for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillshift_frames.render.numbers import format_count
from skillshift_frames.schema import STABLE_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.benchmark import Benchmark
    from skillshift_frames.metrics import Errors
    from skillshift_frames.table import Null

_ERRORS = {
    "exclude": "A task with an error was not measured. It is in no mean, and it is in the coverage (--errors exclude).",
    "zero": "A task with an error counts as a failure, with its steps and calls where they were recorded "
    "(--errors zero). It is in the coverage as errored.",
}
_NULLS = {
    "propagate": "A mean over an undefined cell is undefined (--null propagate).",
    "available": "A mean over an undefined cell is that of the defined cells, and is marked * (--null available).",
}


def methods(
    benchmark: Benchmark,
    *,
    errors: Errors,
    null: Null,
    level: float,
    seed: int,
    resamples: int,
    compared: bool,
    margin: float | None,
) -> Iterator[tuple[str, str]]:
    """Give term after term with what it means here."""
    tasks = ", ".join(
        f"{benchmark.title(site)} {format_count(n)}" for site, n in benchmark.sites.items()
    )
    percent = f"{100 * level:g} %"
    yield (
        "Benchmark",
        (
            f"{benchmark.name}: {tasks} tasks, each under {', '.join(map(benchmark.title, benchmark.conditions))}; "
            f"{format_count(benchmark.expected)} tasks in a complete run. One site under one condition is a cell."
        ),
    )
    yield (
        "SR, success rate",
        "100 × the mean of success over the scored tasks of a cell, in percent. More is better.",
    )
    yield "AS, average steps", "The mean number of steps, failures included. Less is better."
    yield (
        "ASC, average skill calls",
        "The mean number of skill calls per task. Zero is a measurement; -- means that the run records no calls.",
    )
    yield (
        "SFR, skill failure rate",
        (
            "100 × failed calls / calls, in percent of the calls. Less is better. Undefined where no skill was called, and "
            f"marked ⚠ where it rests on fewer than {STABLE_CALLS} calls."
        ),
    )
    yield (
        "Several trials",
        "Trials of one task are averaged first, so that every task counts once; SFR stays a ratio of sums.",
    )
    yield (
        "Sites, conditions, overall",
        (
            "Unweighted means of cells: of a site over its conditions, of a condition over its sites, overall over all. "
            "A cell with many tasks weighs no more than one with few."
        ),
    )
    yield (
        "Undefined is not zero",
        f"Without a scored task there is no SR, without a call no SFR: such a number is – and never 0. {_NULLS[null]}",
    )
    yield "Errors", _ERRORS[errors]
    yield (
        "Gaps and bounds",
        (
            "Expected tasks are the benchmark's. Those without a measured trial are gaps; the bounds give SR with every gap "
            "failed and with every gap passed."
        ),
    )
    yield (
        "Intervals",
        (
            f"{percent}, by resampling families (the same task under all conditions) within each site, "
            f"{format_count(resamples)} times with seed {seed}, or by the delta method where families are many; where all families "
            "agree on SR, the exact bound on families. Where no interval can be justified there is none, with the reason. The "
            "numbers themselves do not depend on the seed."
        ),
    )
    if compared:
        yield (
            "Comparison",
            "Pairs share site, task, condition and trial. Lift = treatment − base over what both have. Helps: the interval "
            "of the lift is on the better side of 0; harms: on the worse; equivalent: within ± the margin"
            + (
                f" of {margin:g}"
                if margin is not None
                else ", which was not given, so that no comparison can come out as equivalent"
            )
            + "; otherwise undetermined. That no change was shown does not mean that there is none.",
        )
    yield (
        "Rounding",
        "Two decimals (of intervals of rates one), rounded half up from the shortest decimal form; nothing is computed from rounded numbers.",
    )
