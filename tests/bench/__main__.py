"""Measure speed and memory against other ways to the same numbers: ``python -m tests.bench [--quick]``.

What is measured is whole processes, as a user starts them: import, reading, computing, printing (and calls, where it
says so). Printed are ratios of
two costs taken in the same run on the same machine, each the median of several rounds in which the candidates take turns:

- a table of one complete run, against ``import polars``, without which there is no table;
- ``--version`` and ``--help``, against the same: they must not import it;
- all 40 intervals of one run, 10,000 resamples, against one ``scipy.stats.bootstrap`` of one mean over its 2,130 values;
  and those of a run with 100 times the tasks against them (calls in one process, imports paid before);
- a table of 5,000,000 records (``--quick``: 200,000), against a bare Polars query that gives the same means and checks
  nothing: no unknown key, no repeated record, no type; likewise against DuckDB and pandas, where installed; and the same
  table without the look for repeated keys.

What can go wrong: another process on the machine (run it again), a cold disk (the first round is not counted), fewer
cores than two (Polars shares work out), too little memory (2 GB for the full size). So nothing here fails: a line over
its limit says ``over``, and somebody looks. Generated records (750 MB in full size, seeded) lie in a temporary folder,
or in ``$SKILLSHIFT_BENCH_DIR`` to be used again.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from tests.bench.intervals import TIMES, measure_intervals
from tests.bench.measure import measure
from tests.bench.records import write_records

DEMO = Path(__file__).parents[2] / "data" / "demo"
ONE_RUN, INDUCED = DEMO / "reference.jsonl", DEMO / "induced.jsonl"
OURS = (sys.executable, "-m", "skillshift_frames")

_KEYS = "['site', 'condition']"
_MEANS = "['success', 'steps', 'skill_calls']"
#: Other ways to the means of every cell, unchecked; the file is the argument.
OTHERS = {
    "polars": (
        f"import sys, polars as pl; c = pl.col({_MEANS}).mean(), pl.col('skill_failures').sum()\n"
        f"print(pl.scan_ndjson(sys.argv[1]).group_by({_KEYS}).agg(c).collect(engine='streaming'))"
    ),
    "duckdb": (
        "import sys, duckdb; q = 'select site, condition, avg(success::int), avg(steps), avg(skill_calls), "
        "sum(skill_failures) from read_json(?) group by all'\n"
        "print(duckdb.execute(q, [sys.argv[1]]).fetchall())"
    ),
    "pandas": (
        "import sys, pandas as pd; d = pd.read_json(sys.argv[1], lines=True, engine='pyarrow')\n"
        f"print(d.groupby({_KEYS})[{_MEANS}].mean())"
    ),
}


class Line(NamedTuple):
    """One comparison: what, against what, and how many times the cost it may have (None: for information)."""

    what: str
    against: str
    seconds: float | None
    peak: float | None = None


def python(script: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", script, *arguments]


def compare(commands: dict[str, list[str]], lines: list[Line], rounds: int) -> None:
    """Measure the commands and print one row per line."""
    costs = measure(commands, rounds)
    for line in lines:
        ours, theirs = costs[line.what], costs[line.against]
        print_row(
            line,
            "time",
            [f"{cost.seconds:.2f} s" for cost in (ours, theirs)],
            ours.seconds / theirs.seconds,
            line.seconds,
        )
        print_row(
            line,
            "peak",
            [f"{cost.peak / 1e6:,.0f} MB" for cost in (ours, theirs)],
            ours.peak / theirs.peak,
            line.peak,
        )


def print_row(
    line: Line, measure: str, costs: list[str], ratio: float, limit: float | None
) -> None:
    verdict = ("", "") if limit is None else (f"{limit:.1f}", "ok" if ratio <= limit else "over")
    cells = (line.what, line.against, measure, *costs, f"{ratio:.2f}", *verdict)
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__.split(":")[0]
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer records, seconds instead of minutes"
    )
    quick = parser.parse_args().quick
    count = 200_000 if quick else 5_000_000

    print(
        "| what | against | measure | costs | ratio | limit | |\n|---|---|---|---:|---:|---:|---|"
    )
    table, floor = "table of one run", "import polars"
    commands = {
        floor: python("import polars"),
        table: [*OURS, "table", str(ONE_RUN)],
        "--version": [*OURS, "--version"],
        "--help": [*OURS, "--help"],
    }
    lines = [Line(table, floor, 1.5), Line("--version", floor, 0.6), Line("--help", floor, 0.6)]
    compare(commands, lines, rounds=7)

    seconds = measure_intervals(INDUCED, rounds=9)
    all_40, large = "40 intervals of one run", f"40 intervals of {TIMES} × the tasks"
    for line in (Line(all_40, "one scipy.stats.bootstrap", 1.0), Line(large, all_40, 4.0)):
        costs = [seconds[line.what], seconds[line.against]]
        print_row(line, "time", [f"{s:.3f} s" for s in costs], costs[0] / costs[1], line.seconds)

    kept = os.environ.get("SKILLSHIFT_BENCH_DIR")
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"records-{count}.jsonl")
        if not path.exists():
            write_records(path, count)
        table, bare = f"table of {count:,} records", "bare Polars, unchecked"
        commands = {
            bare: python(OTHERS["polars"], str(path)),
            table: [*OURS, "table", str(path), "--benchmark", "infer"],
        }
        trusting = f"{table}, --no-unique"
        commands[trusting] = [*commands[table], "--no-unique"]
        lines = [Line(table, bare, 1, 1), Line(trusting, bare, 0.5)]
        others = {"duckdb": (1.3, 1.0), "pandas": (0.25, None)}
        for name, (limit, limit_trusting) in ({} if quick else others).items():
            if importlib.util.find_spec(name):
                commands[name] = python(OTHERS[name], str(path))
                lines += [Line(table, name, limit), Line(trusting, name, limit_trusting)]
        compare(commands, lines, rounds=5 if quick else 3)


if __name__ == "__main__":
    main()
