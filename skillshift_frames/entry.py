"""Published entries: numbers that others printed, in the shape of the table."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.benchmark import SKILLSHIFT, known_benchmark
from skillshift_frames.errors import InputError
from skillshift_frames.readers.entry_files import read_entry_files
from skillshift_frames.readers.entry_json import slot_paths
from skillshift_frames.readers.json_shape import whole
from skillshift_frames.schema import METRICS

if TYPE_CHECKING:
    from decimal import Decimal

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.readers.entries import Entry
    from skillshift_frames.readers.sources import Paths

#: So many findings are spelled out where an entry cannot be read; the rest are counted.
_FINDINGS_SHOWN = 5

#: How a reason says that a null is none of a measurement.
_DOES_NOT_APPLY = ("not applicable", "does not apply")


def entries_schema(benchmark: Benchmark) -> pl.Schema:
    """Give the schema of `skillshift_frames.read_entries`: one row per entry × metric, one column per slot."""
    said = {
        "entry": pl.String,
        "date": pl.Date,
        "method": pl.String,
        "model": pl.String,
        "label": pl.String,
        "skill_calls": pl.Int64,
        "tasks": pl.Int64,  # of all cells, as stated; null where not
        "tasks_expected": pl.Int64,  # of all cells of the benchmark
        "tasks_reason": pl.String,  # why the stated counts are not the benchmark's; null where they are
        "metric": pl.String,
        "applies": pl.Boolean,  # false: all nulls of the row were said not to apply; true: one was not
    }
    return pl.Schema(said | dict.fromkeys(benchmark.slots, pl.Float64))


#: One row is one entry × metric of SkillShift; other benchmarks have other slots (`entries_schema`).
ENTRIES = entries_schema(SKILLSHIFT)

#: One row is one entry × metric of the public leaderboard.
PUBLISHED = pl.Schema(
    {"date": pl.Date, "method": pl.String, "model": pl.String, "metric": pl.String}
    | dict.fromkeys(SKILLSHIFT.slots, pl.Float64)
)


def read_entries(paths: Paths, *, benchmark: BenchmarkLike = "skillshift") -> pl.DataFrame:
    """Read published entries: what `skillshift_frames.leaderboard` and `skillshift_frames.shift` take.

    One row is one entry × metric.

    Parameters
    ----------
    paths
        Entry files (``.json``), folders of them (receipts are left out), tables of rows (``.csv``, as `published` gives
        them), globs, or ``-`` for standard input.
    benchmark
        Whose slots the entries have.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `ENTRIES`, by entry, then SR, AS, ASC, SFR: ``entry`` (the file, or method / model where a
        file holds several), ``date``, ``method``, ``model``, ``label`` (where the numbers are from), ``skill_calls`` (all
        of the run, null where not stated), ``tasks`` (of all cells, as stated; null for tables of rows, which state none),
        ``tasks_expected`` (the benchmark's), ``tasks_reason`` (where ``n.websites`` or ``n.conditions`` are not the
        benchmark's: what is wrong with them), ``metric``, ``applies`` (false where every null of the row has a reason that
        says "not applicable" or "does not apply", true where one has another or none; null without nulls, and for tables of
        rows), and the slots as printed (SR and SFR in percent, AS in steps, ASC in calls per task), null where null was
        printed or nothing was.

    Raises
    ------
    InputError
        A path that names nothing, or a file that is no entry; `skillshift_frames.check_entry` lists everything that is
        wrong with it.
    BenchmarkError
        The benchmark cannot be read.

    Examples
    --------
    >>> read_entries("data/published.csv").filter(metric="SR").select(
    ...     "entry", "src", "overall"
    ... ).row(0)
    ('AWM / mixed', 50.07, 35.29)
    """
    return read_with_files(paths, slots_known(benchmark))[0]


def read_with_files(paths: Paths, axes: Benchmark) -> tuple[pl.DataFrame, dict[str, str]]:
    """Do what `read_entries` does, and give the file of each entry, as it can be opened, by the entry's name.

    An entry's name is made for print. A file of which the name cannot be printed is not found by it.
    """
    read = read_entry_files(paths, axes)
    wrong = [f"{f.entry}: {f.message}" for f in read.findings if f.severity == "error"]
    if wrong:
        rest = len(wrong) - _FINDINGS_SHOWN
        more = [f"… and {rest} more; entry check lists them"] if rest > 0 else []
        raise InputError("\n".join([*wrong[:_FINDINGS_SHOWN], *more]))
    paths_in = slot_paths(axes)
    rows = [
        (
            *(entry.name, entry.date, entry.method, entry.model, entry.label, entry.skill_calls),
            *counts,
            metric,
            _applies(entry, metric, paths_in),
            *(_float(entry.printed.get((metric, slot))) for slot in axes.slots),
        )
        for entry, counts in [(entry, _counts(entry, axes)) for entry in read.entries]
        for metric in METRICS
        if any(printed == metric for printed, _ in entry.printed)
    ]
    files_of = {entry.name: entry.path for entry in read.entries}
    return pl.DataFrame(rows, schema=entries_schema(axes), orient="row"), files_of


def _counts(entry: Entry, axes: Benchmark) -> tuple[int | None, int, str | None]:
    """Give the tasks that an entry states over all cells, those of the benchmark, and why the two are not the same."""
    if entry.content is None:
        return None, axes.expected, None
    by_condition = {
        name: whole(entry.content["n"]["conditions"][name]) or 0 for name in axes.conditions
    }
    per_condition = sum(axes.sites.values())
    sites_agree = dict(entry.tasks) == dict(axes.sites)
    conditions_agree = set(by_condition.values()) == {per_condition}
    # Of a partial run n.websites is its smallest cell per site, and n.conditions are sums: only these count all tasks.
    tasks = (
        sum(entry.tasks.values()) * len(axes.conditions)
        if conditions_agree
        else sum(by_condition.values())
    )
    if sites_agree and conditions_agree:
        return tasks, axes.expected, None
    if sites_agree or conditions_agree:
        reason = "n.websites and n.conditions contradict each other"
    elif tasks == axes.expected:
        reason = "sites or conditions have other numbers of tasks"
    else:
        reason = f"{tasks:,} of {axes.expected:,} tasks"
    return tasks, axes.expected, reason


def _applies(entry: Entry, metric: str, paths: dict[str, tuple[str, ...]]) -> bool | None:
    """Tell whether a null of the metric is more than one that does not apply; None where nothing is said of any."""
    if entry.content is None:
        return None
    null = [slot for slot in paths if entry.printed.get((metric, slot), 0) is None]
    if not null:
        return None
    # The slot's own reason is the more precise one.
    said = [
        entry.reasons.get(".".join((metric, *paths[slot]))) or entry.reasons.get(metric) or ""
        for slot in null
    ]
    return not all(any(words in text.casefold() for words in _DOES_NOT_APPLY) for text in said)


def _float(number: Decimal | None) -> float | None:
    return None if number is None else float(number)


def slots_known(benchmark: BenchmarkLike) -> Benchmark:
    """Resolve a benchmark that must be known before an entry is read.

    Raises
    ------
    InputError
        It was to be inferred: an entry does not say how many tasks a site has, nor in which order its slots come.
    """
    axes = known_benchmark(benchmark)
    if axes is None:
        msg = "the benchmark of an entry cannot be inferred; give skillshift or the path of a TOML file"
        raise InputError(msg)
    return axes


def published_absences() -> pl.DataFrame:
    """Give the rows that `published` leaves out because skills do not apply, as `ENTRIES`: null in every slot."""
    entries = published().with_columns(entry=pl.format("{} / {}", "method", "model"))
    key = ["entry", "date", "method", "model"]
    listed = entries.select(key).unique(maintain_order=True)
    every = listed.join(pl.DataFrame({"metric": list(METRICS)}), how="cross")
    absent = every.join(entries, on=[*key, "metric"], how="anti", maintain_order="left")
    known = absent.with_columns(applies=pl.lit(value=False))
    return pl.concat([ENTRIES.to_frame(), known], how="diagonal")


def published() -> pl.DataFrame:
    """Give the 17 published SkillShift entries.

    One row is one entry × metric: 60 rows, since skills do not apply to AWM, which has no ASC and no SFR.

    Returns
    -------
    polars.DataFrame
        ``date``, ``method``, ``model`` (``mixed``: the mean of three models), ``metric``, then the ten slots as printed,
        with two decimals (SR and SFR in percent, AS in steps, ASC in calls per task). Transcribed from the public
        SkillShift-Bench leaderboard, which holds the fourteen rows of the paper's Table 1.

    Examples
    --------
    >>> mean_of_mixed = pl.col("model") == "mixed", pl.col("metric") == "SR"
    >>> published().filter(mean_of_mixed).select("method", "src", "tgt-exec", "overall")
    shape: (4, 4)
    ┌─────────────┬───────┬──────────┬─────────┐
    │ method      ┆ src   ┆ tgt-exec ┆ overall │
    │ ---         ┆ ---   ┆ ---      ┆ ---     │
    │ str         ┆ f64   ┆ f64      ┆ f64     │
    ╞═════════════╪═══════╪══════════╪═════════╡
    │ AWM         ┆ 50.07 ┆ 16.9     ┆ 35.29   │
    │ ASI         ┆ 53.65 ┆ 15.79    ┆ 36.29   │
    │ SkillWeaver ┆ 35.13 ┆ 9.71     ┆ 20.15   │
    │ WALT        ┆ 46.82 ┆ 19.09    ┆ 34.8    │
    └─────────────┴───────┴──────────┴─────────┘
    """
    shipped = files("skillshift_frames") / "published.csv"
    # A wheel carries the file; a checkout that is used in place has it where the wheel takes it from.
    source = (
        shipped if shipped.is_file() else Path(__file__).parent.parent / "data" / "published.csv"
    )
    return pl.read_csv(source.read_bytes(), schema=PUBLISHED)
