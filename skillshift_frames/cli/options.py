"""The options that commands share, spelled and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from skillshift_frames.cli.output import Format
from skillshift_frames.errors import InputError

Runs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN...",
        help="Files of records (.jsonl, .ndjson, also .gz and .zst; .parquet, .arrow), folders (every per_task.jsonl below), "
        "globs, or - for standard input. One file is one run. Or another tool's results (--from).",
        show_default=False,
    ),
]
Labels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="NAME=PATH",
        help="Call the run in PATH NAME; PATH need not be named again.",
    ),
]
Pool: TypeAlias = Annotated[bool, typer.Option("--pool", help="All files are shards of one run.")]
Extra: TypeAlias = Annotated[
    Literal["refuse", "keep", "ignore"],
    typer.Option("--extra", help="What to do with keys that are not the record's."),
]
Unique: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--unique/--no-unique",
        help="Whether to look for records that repeat a key. An archive known to be clean is read faster without.",
    ),
]
EngineOption: TypeAlias = Annotated[
    Literal["polars", "spark"],
    typer.Option(
        "--engine",
        help="What reads the files: this machine, or a cluster (needs skillshift-frames[spark]), with paths as it sees them.",
    ),
]
MasterOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Of --engine spark, such as yarn or spark://host:7077; default: as Spark is configured.",
        show_default=False,
    ),
]
MarginOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="X",
        help="The largest lift that would not matter; needed for `equivalent`.",
    ),
]
GateOption: TypeAlias = Annotated[
    bool, typer.Option("--gate", help="Exit 1 unless the verdict is `helps`.")
]
FromOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TOOL",
        help="Whose results these are: skillevaluator, harbor, atif, inspect, agentlab, asi, skill-creator, tau-bench, "
        "skillsbench, agentops. Default: whichever they look like.",
        show_default=False,
    ),
]
CompositeOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--composite",
        metavar="default|metrics|dimensions|NAME",
        help="What the headline is the mean of: the tool's own metrics, SkillEvaluator's five dimensions, or the metrics "
        "that are named.",
        show_default=False,
    ),
]
BenchmarkOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--benchmark", metavar="skillshift|infer|FILE.toml", help="Whose sites and conditions."
    ),
]
#: Of an entry the benchmark cannot be inferred.
EntryBenchmarkOption: TypeAlias = Annotated[
    str,
    typer.Option("--benchmark", metavar="skillshift|FILE.toml", help="Whose sites and conditions."),
]
ErrorsOption: TypeAlias = Annotated[
    Literal["exclude", "zero"],
    typer.Option("--errors", help="Tasks with an error: in no mean, or counted as failures."),
]
NullOption: TypeAlias = Annotated[
    Literal["propagate", "available"],
    typer.Option(
        "--null",
        help="A mean over an undefined cell: undefined, or that of the defined cells (marked).",
    ),
]
FormatOption: TypeAlias = Annotated[
    Format | None,
    typer.Option(
        "--format",
        "-f",
        help="Of the output; default: by the suffix of -o, else text.",
        show_default=False,
    ),
]
Output: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to FILE, whole or not at all.",
        show_default=False,
    ),
]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")]


def parse_labels(given: list[str] | None) -> dict[str, str]:
    """Split ``NAME=PATH`` options.

    Raises
    ------
    InputError
        There is no ``=``, or a name comes twice.
    """
    labels: dict[str, str] = {}
    for option in given or []:
        name, separator, path = option.partition("=")
        if not separator or not path:
            msg = f"--label {option}: NAME=PATH is needed"
            raise InputError(msg)
        if name in labels:
            msg = f"--label {name} is given twice; use --pool to read several files as one run"
            raise InputError(msg)
        labels[name] = path
    return labels


Ci: TypeAlias = Annotated[bool, typer.Option("--ci", help="Show an interval behind every number.")]
LevelOption: TypeAlias = Annotated[
    float,
    typer.Option("--level", metavar="P", help="Nominal coverage of intervals, between 0 and 1."),
]
SeedOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seed", metavar="N", help="Of the resampling; the same seed gives the same bytes."
    ),
]
ResamplesOption: TypeAlias = Annotated[
    int, typer.Option("--resamples", metavar="N", help="How many.")
]
MethodOption: TypeAlias = Annotated[
    Literal["auto", "bootstrap", "delta"],
    typer.Option(
        "--method",
        help="How intervals are made; auto resamples unless there are very many families.",
    ),
]
WatchOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Draw the table again whenever a file has changed, until Ctrl-C, for a sweep that is still writing.",
    ),
]
IntervalOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--interval",
        metavar="SECONDS",
        help="Of --watch: how often to look; default: 1.",
        show_default=False,
    ),
]
