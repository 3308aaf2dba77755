"""Charts: plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypedDict

import typer

import skillshift_frames as sf
from skillshift_frames.cli.options import (
    BenchmarkOption,
    ErrorsOption,
    Extra,
    Force,
    FromOption,
    Labels,
    LevelOption,
    MethodOption,
    NullOption,
    Pool,
    ResamplesOption,
    Runs,
    SeedOption,
)
from skillshift_frames.cli.output import say
from skillshift_frames.cli.progress import progress_shown
from skillshift_frames.cli.reading import hint_at_shards, reading

if TYPE_CHECKING:
    from skillshift_frames.cli.reading import Reading

Errors: TypeAlias = Literal["exclude", "zero"]
Null: TypeAlias = Literal["propagate", "available"]
Method: TypeAlias = Literal["auto", "bootstrap", "delta"]
Kind: TypeAlias = Literal["heatmap", "slope", "lift", "flips", "sfr", "cost"]

_EXAMPLE = """\b
Example:
  skillshift-frames plot runs/*.jsonl -o heatmap.svg
  skillshift-frames plot runs/*.jsonl --kind lift --base reference -o lift.png
  skillshift-frames plot jobs/ --kind cost -o cost.html"""


class Found(TypedDict):
    """How intervals are found, as `skillshift_frames.compare` takes it."""

    level: float
    resamples: int
    rng: int
    method: Method
    errors: Errors


def add_commands(app: typer.Typer) -> None:
    """Add this family's commands to the tree."""
    app.command(
        short_help="Draw a chart: svg, pdf, png, html or Vega-Lite.",
        epilog=_EXAMPLE,
        no_args_is_help=True,
    )(plot)


def plot(
    runs: Runs = None,
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            help="A metric by site and condition; by condition; lifts with intervals; pairs by who succeeded; SFR against "
            "calls; cost against success (of another tool's results).",
        ),
    ] = "heatmap",
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Of heatmap, slope and lift: SR, AS, ASC or SFR, default SR. Of cost: cost, seconds, tokens, input_tokens, "
            "cached_tokens or output_tokens, default the first that is known.",
            show_default=False,
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="LABEL",
            help="Of lift and flips: the run that all others are compared with.",
            show_default=False,
        ),
    ] = None,
    label: Labels = None,
    pool: Pool = False,
    extra: Extra = "refuse",
    from_: FromOption = None,
    benchmark: BenchmarkOption = "skillshift",
    errors: ErrorsOption = "exclude",
    null: NullOption = "propagate",
    level: LevelOption = 0.95,
    seed: SeedOption = 0,
    resamples: ResamplesOption = 10_000,
    method: MethodOption = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .svg, .pdf, .png, .html or .json (Vega-Lite) file, written whole or not at all; needed.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Draw a chart of runs and write it to a file (needs skillshift-frames[plots])."""
    from skillshift_frames.render.charts.save import check_target  # noqa: PLC0415 - not for --help

    if output is None or str(output) == "-":
        msg = "plot needs -o FILE (.svg, .pdf, .png, .html or .json)"
        raise sf.InputError(msg)
    if base is not None and kind not in {"lift", "flips"}:
        msg = f"--base is for --kind lift and flips, not {kind}"
        raise sf.InputError(msg)
    if metric is not None and kind in {"flips", "sfr"}:
        msg = f"--metric is not for --kind {kind}, which has only one"
        raise sf.InputError(msg)
    how = reading(label, benchmark, pool=pool, extra=extra, from_=from_)
    check_target(output, force=force)
    found = Found(level=level, resamples=resamples, rng=seed, method=method, errors=errors)
    with progress_shown():
        if kind == "cost":
            chart = _cost_chart(runs, how, metric)
        elif kind in {"heatmap", "slope"}:
            chart = _table_chart(runs, how, kind, metric or "SR", errors, null)
        elif kind == "sfr":
            chart = _sfr_chart(runs, how, found)
        else:
            chart = _paired_chart(runs, how, kind, metric or "SR", base, found)
        sf.save_chart(chart, output, force=force)
    say(f"{output}: {chart.description}")


def _table_chart(
    runs: list[str] | None, how: Reading, kind: Kind, metric: str, errors: Errors, null: Null
) -> Any:  # noqa: ANN401 - Altair is an extra
    tally = sf.read_tally(runs or [], **how)
    axes = sf.resolve_benchmark(how["benchmark"], tally)
    cells = sf.cells(tally, benchmark=axes, errors=errors)
    hint_at_shards(cells)
    if kind == "heatmap":
        return sf.heatmap_chart(cells, metric, benchmark=axes)
    return sf.slope_chart(sf.slots(cells, benchmark=axes, null=null), metric, benchmark=axes)


def _sfr_chart(runs: list[str] | None, how: Reading, found: Found) -> Any:  # noqa: ANN401
    tasks = sf.read_tasks(runs or [], **how)
    axes = sf.resolve_benchmark(how["benchmark"], tasks)
    cells = sf.cells(tasks, benchmark=axes, errors=found["errors"])
    hint_at_shards(cells)
    return sf.sfr_chart(cells, sf.cell_intervals(tasks, benchmark=axes, **found), benchmark=axes)


def _paired_chart(
    runs: list[str] | None, how: Reading, kind: Kind, metric: str, base: str | None, found: Found
) -> Any:  # noqa: ANN401
    import polars as pl  # noqa: PLC0415 - not for --help

    tasks = sf.read_tasks(runs or [], **how)
    axes = sf.resolve_benchmark(how["benchmark"], tasks)
    labels = tasks.get_column("run").unique().sort().to_list()
    if base is None or base not in labels:
        which = (
            "which run is the base? Give --base" if base is None else f"there is no run {base!r}"
        )
        msg = f"{which}; the files have {', '.join(labels)}"
        raise sf.InputError(msg)
    others = [label for label in labels if label != base]
    if not others:
        msg = f"there is only one run, {base!r}; --kind {kind} compares others with it"
        raise sf.InputError(msg)
    if kind == "flips":
        pairs = [
            sf.pairs(tasks, base=base, treatment=other, errors=found["errors"]) for other in others
        ]
        for other, found_pairs in zip(others, pairs, strict=True):
            if not found_pairs.height:
                say(f"note: {other} and {base} have no pair, so there is no grid of them")
        return sf.flip_chart(pl.concat(pairs), benchmark=axes)
    compared = [
        sf.compare(tasks, base=base, treatment=other, metrics=[metric], benchmark=axes, **found)
        for other in others
    ]
    return sf.lift_chart(compared, benchmark=axes)


def _cost_chart(runs: list[str] | None, how: Reading, quantity: str | None) -> Any:  # noqa: ANN401
    if how["labels"] or how["pool"]:
        msg = "--label and --pool are not for --kind cost, which reads another tool's results"
        raise sf.InputError(msg)
    return sf.cost_chart(sf.read_trials(runs or [], from_=how["from_"]), quantity)
