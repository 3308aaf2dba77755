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
  table without the look for repeated keys;
- the same records as Parquet, against JSON lines;
- lines of another layout, from the first one on or in the last one only, against the general reader, which reads
  all of them one by one;
- 1,000 complete runs in 1,000 files (``--quick``: 50), against one file of the same size;
- a table of 10,000 to 10,000,000 records: what a megabyte takes, beyond what the smallest file does;
- ``export`` of the 20,000 trial folders of two Harbor jobs (``--quick``: 2,000), against parsing the same 40,000 files with
  Python's ``json`` one by one; and against ``export`` of a quarter of them, which shows that the time is linear.

What can go wrong: another process on the machine (run it again), a cold disk (the first round is not counted), fewer
cores than two (Polars shares work out), too little memory (2 GB for the full size). So nothing here fails: a line over
its limit says ``over``, and somebody looks. Generated records (750 MB in full size, seeded) and trials (500 MB) lie in a temporary folder,
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

import polars as pl

from tests.bench.intervals import TIMES, measure_intervals
from tests.bench.measure import measure
from tests.bench.records import write_records, write_runs
from tests.bench.trials import write_trials

DEMO = Path(__file__).parents[2] / "data" / "demo"
ONE_RUN, INDUCED = DEMO / "reference.jsonl", DEMO / "induced.jsonl"
OURS = (sys.executable, "-m", "skillshift_frames")

#: What is in the files, and nothing made of it.
PARSE = (
    "import json, os, sys\n"
    "for folder, _, files in os.walk(sys.argv[1]):\n"
    "    for name in files:\n"
    "        if name in {'result.json', 'trajectory.json'}:\n"
    "            json.load(open(os.path.join(folder, name), 'rb'))"
)

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
#: Every line by itself, whatever its layout.
GENERAL = (
    "import sys, skillshift_frames as sf; t = sf.read_tasks(sys.argv[1], benchmark='infer')\n"
    "print(sf.table(sf.cells(t, benchmark='infer'), benchmark='infer'))"
)


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
    verdict = ("", "") if limit is None else (f"{limit:g}", "ok" if ratio <= limit else "over")
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
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = records_of(folder, count)
        against_others(path, count, quick=quick)
        against_layouts(records_of(folder, 200_000 if quick else 1_000_000))
        against_one_file(folder, 50 if quick else 1_000)
        sizes = (
            [10_000, 100_000, 200_000] if quick else [10_000, 100_000, 1_000_000, count, 10_000_000]
        )
        against_size([records_of(folder, size) for size in sizes])
        measure_trials(folder, 2_000 if quick else 20_000)


def records_of(folder: Path, count: int) -> Path:
    path = folder / f"records-{count}.jsonl"
    if not path.exists():
        write_records(path, count)
    return path


def table_of(*paths: Path) -> list[str]:
    return [*OURS, "table", *map(str, paths), "--benchmark", "infer"]


def against_others(path: Path, count: int, *, quick: bool) -> None:
    table, bare = f"table of {count:,} records", "bare Polars, unchecked"
    trusting, parquet = f"{table}, --no-unique", f"{table}, Parquet"
    as_parquet = path.with_suffix(".parquet")
    if not as_parquet.exists():
        pl.scan_ndjson(path).sink_parquet(as_parquet)
    commands = {
        bare: python(OTHERS["polars"], str(path)),
        table: table_of(path),
        trusting: [*table_of(path), "--no-unique"],
        parquet: table_of(as_parquet),
    }
    lines = [Line(table, bare, 1, 1), Line(trusting, bare, 0.5), Line(parquet, bare, 0.5)]
    lines.append(Line(parquet, table, None))
    others = {"duckdb": (1.3, 1.0), "pandas": (0.25, None)}
    for name, (limit, limit_trusting) in ({} if quick else others).items():
        if importlib.util.find_spec(name):
            commands[name] = python(OTHERS[name], str(path))
            lines += [Line(table, name, limit), Line(trusting, name, limit_trusting)]
    compare(commands, lines, rounds=5)


def against_layouts(path: Path) -> None:
    """Lines in which the uid comes second, and a file that is unlike itself in its last line."""
    other, last = path.with_suffix(".other.jsonl"), path.with_suffix(".last.jsonl")
    if not other.exists():
        swapped = pl.col("line").str.replace(r'^\{("uid": "[^"]*"), ("site": "[^"]*")', "{$2, $1")
        pl.scan_lines(path).select(swapped).sink_csv(
            other, include_header=False, quote_style="never"
        )
        content = path.read_bytes().rstrip(b"\n")
        start = content.rindex(b"\n") + 1
        last.write_bytes(content[:start] + b" " + content[start:] + b"\n")
    commands: dict[str, list[str]] = {}
    lines: list[Line] = []
    for file, what in ((other, "table of another layout"), (last, "table of another last line")):
        general = f"the general reader, {file.suffixes[-2][1:]}"
        commands |= {what: table_of(file), general: python(GENERAL, str(file))}
        lines.append(Line(what, general, 1.25))
    compare(commands, lines, rounds=3)


def against_one_file(folder: Path, runs: int) -> None:
    many = folder / f"runs-{runs}"
    if not many.exists():
        write_runs(many, runs)
    files = sorted(many.iterdir())
    one = folder / f"runs-{runs}.jsonl"
    if not one.exists():
        write_records(one, sum(1 for _ in files[0].open("rb")) * runs)
    what, against = f"table of {runs:,} runs", "one file of their size"
    commands = {what: [*OURS, "table", str(many / "*.jsonl")], against: table_of(one)}
    compare(commands, [Line(what, against, 2)], rounds=5)


def against_size(paths: list[Path]) -> None:
    """Print what each size takes, and per megabyte beyond the smallest."""
    costs = measure({str(path): table_of(path) for path in paths}, rounds=3)
    least = costs[str(paths[0])]
    print("\n| file | time | peak | ms per MB beyond the smallest |\n|---|---:|---:|---:|")
    for path in paths:
        cost, size = costs[str(path)], path.stat().st_size
        more = size - paths[0].stat().st_size
        slope = f"{1e9 * (cost.seconds - least.seconds) / more:.2f}" if more else ""
        cells = (
            f"{size / 1e6:,.0f} MB",
            f"{cost.seconds:.2f} s",
            f"{cost.peak / 1e6:,.0f} MB",
            slope,
        )
        print(f"| {' | '.join(cells)} |", flush=True)


def measure_trials(folder: Path, count: int) -> None:
    """Measure the reading of trial folders, and print its rows."""
    commands, names = {}, []
    for size in (count, count // 4):
        path = folder / f"trials-{size}"
        if not path.exists():
            write_trials(path, size)
        names.append(f"export of {size:,} trial folders")
        out = str(folder / "trials.parquet")
        read = ["export", str(path), "--from", "harbor", "--benchmark", "infer", "-o", out]
        commands[names[-1]] = [*OURS, *read, "--force"]
    parsed = "json.load of their files"
    commands[parsed] = python(PARSE, str(folder / f"trials-{count}"))
    # No more memory than Polars itself needs, and a row per trial.
    compare(commands, [Line(names[0], parsed, 3.0), Line(names[0], names[1], 4.4, 1.5)], rounds=3)


if __name__ == "__main__":
    main()
