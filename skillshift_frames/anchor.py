"""A run → a calibration anchor: what it gave in each cell, with the sigma that later runs are measured in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import polars as pl

from skillshift_frames._version import __version__
from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.cells import cells as compute_cells
from skillshift_frames.errors import InputError, check_choice, check_frame, check_records
from skillshift_frames.metrics import Errors
from skillshift_frames.outcomes import count_outcomes
from skillshift_frames.readers.anchors import Anchor, AnchorCell, Reference, References, Tool
from skillshift_frames.readers.wording import nearest
from skillshift_frames.schema import METRICS, family, measured

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike

#: Site → how many of its families, evenly spread over the list of them; ``"pinned"`` is the benchmark's own choice.
Subset: TypeAlias = Literal["pinned"] | Mapping[str, int]

#: The subset that SkillShift-Bench calibrates on.
PINNED = {"gitlab": 14, "magento": 10, "wordpress": 6}

#: More sigmas than this is a deviation, unless somebody says otherwise.
THRESHOLD = 3.0

#: What to do about tasks that are not there.
NOT_MEASURED = "run what is missing again"

_NAMED = 4


def anchor(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    subset: Subset | None = None,
    step_budget: int | None = None,
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
) -> dict[str, Any]:
    """Make a calibration anchor of a run: the value and the sigma of every metric in every cell.

    Parameters
    ----------
    tasks
        Records of one run, as `skillshift_frames.TASKS`.
    subset
        Site → how many of its families the anchor is of. Of a site with n families, in the order of their numeric index,
        k are taken: those at floor(j·n/k) for j = 0 … k − 1. ``"pinned"`` is 14 of gitlab, 10 of magento and 6 of wordpress.
        None takes all tasks.
    step_budget
        How many steps a task was allowed.
    benchmark, errors
        As for `skillshift_frames.cells`.

    Returns
    -------
    dict
        What the file holds, field by field as `skillshift_frames.readers.anchors` says. Values are those of
        `skillshift_frames.cells` (SR and SFR in percent). Sigma is the standard error within the cell: √(p(1 − p)/n) for
        SR, in percent; the sample standard deviation/√n for AS and ASC, null where n is 1; none for SFR.

    Raises
    ------
    InputError
        There are several runs, or none; a task took more steps than ``step_budget``; the run lacks a task of the
        subset, or lacks families of a site that a subset is taken of; a subset of more families than there are.
    BenchmarkError
        As for `skillshift_frames.cells`.

    Notes
    -----
    Several trials of one task are averaged first. Then n is the number of tasks, p the mean of their rates and the
    standard deviation that of their means, so the formulas stay the same. For SR that sigma is an upper bound, since rates
    spread less than single outcomes. ``n`` in the file counts the tasks behind SR; with ``errors="zero"`` a task that
    errored before its steps were recorded is among them, but not among those behind AS.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> shop = sf.Benchmark("shop", sites={"cart": 4}, conditions=("plain",))
    >>> row = {
    ...     "run": "asi",
    ...     "site": "cart",
    ...     "condition": "plain",
    ...     "skill_calls": 0,
    ...     "skill_failures": 0,
    ... }
    >>> frame = pl.DataFrame(
    ...     [row | {"uid": str(i), "success": i < 1, "steps": i} for i in range(4)]
    ... )
    >>> made = anchor(sf.from_frame(frame, benchmark=shop), benchmark=shop)
    >>> made["cells"][0]["n"], made["cells"][0]["metrics"]["SR"]
    (4, {'value': 25.0, 'sigma': 21.650635094610966})
    """
    check_choice("errors", errors, get_args(Errors))
    check_frame("tasks", tasks, "read_tasks")
    frame = tasks.lazy().collect()
    check_records("tasks", frame)
    run = only_run(frame)
    axes = resolve_benchmark(benchmark, frame)
    if step_budget is not None:
        check_budget(frame, step_budget, "a step budget of")
    families = None if subset is None else _pick(frame, subset, axes)
    used = restrict(frame, families)
    cells = [
        cell
        for cell in compute_cells(used, benchmark=axes, errors=errors).iter_rows(named=True)
        if families is None or cell["site"] in families
    ]
    if not any(cell["n"] for cell in cells):
        msg = f"run {run!r}: not one task was scored; an anchor needs a run that was measured"
        raise InputError(msg)
    if families is not None:
        wanted = {(cell["site"], cell["condition"]): len(families[cell["site"]]) for cell in cells}
        check_complete(used, cells, wanted, families, errors)
    sigmas = _sigmas(used, errors)
    made = Anchor(
        schema_version="1.0",
        tool=Tool("skillshift-frames", __version__),
        benchmark=axes.name,
        run=run,
        errors=errors,
        threshold_sigma=THRESHOLD,
        step_budget=step_budget,
        subset=families,
        cells=[_anchor_cell(cell, sigmas) for cell in cells],
    )
    return made.to_dict()


def only_run(tasks: pl.DataFrame) -> str:
    """Give the label of the run; raise where there is none, or more than one."""
    runs = tasks.get_column("run").unique().sort().to_list()
    if not runs:
        msg = "there are no records; one run is needed"
        raise InputError(msg)
    if len(runs) > 1:
        shown = ", ".join(runs[:_NAMED]) + (", …" if len(runs) > _NAMED else "")
        msg = f"one run is compared at a time; these records are of {len(runs)} ({shown}); --pool reads shards as one"
        raise InputError(msg)
    return str(runs[0])


def check_budget(tasks: pl.DataFrame, budget: int, said: str) -> None:
    """Raise where a record has more steps than were allowed, naming the worst."""
    if type(budget) is not int or not 1 <= budget < 1 << 63:
        msg = f"step_budget is {budget!r}; a positive integer is needed"
        raise InputError(msg)
    over = tasks.filter(pl.col("steps") > budget).sort(
        "steps", "site", "condition", "uid", descending=[True, False, False, False]
    )
    if over.height:
        site, condition, uid, steps = over.select("site", "condition", "uid", "steps").row(0)
        msg = (
            f"the run had another step budget: {uid} in {site} × {condition} took {steps} steps, "
            f"more than {said} {budget} allows"
        )
        raise InputError(msg)


def _pick(tasks: pl.DataFrame, subset: Subset, axes: Benchmark) -> dict[str, list[str]]:
    """Give the families of a subset, by site in the benchmark's order."""
    if isinstance(subset, str):
        check_choice("subset", subset, ("pinned",))
        subset = PINNED
    for site in subset:
        if site not in axes.sites:
            msg = f"subset: {site!r} is not a site of benchmark {axes.name}{suggest(site, tuple(axes.sites))}"
            raise InputError(msg)
    if not subset:
        msg = "subset: names no site; leave it out for all tasks"
        raise InputError(msg)
    chosen = {}
    for site in (site for site in axes.sites if site in subset):
        k, expected = subset[site], axes.sites[site]
        if type(k) is not int or not 1 <= k <= expected:
            msg = f"subset: {site} is {k!r}; an integer from 1 to {expected} is needed"
            raise InputError(msg)
        listed = tasks.filter(site=site).select(family()).to_series().unique().to_list()
        if len(listed) != expected:
            # Another list would put other families at the same places.
            msg = (
                f"subset: the run has {len(listed)} families of {site}, and benchmark {axes.name} has {expected}; "
                "a subset can be taken of complete lists only"
            )
            raise InputError(msg)
        listed.sort(key=_by_index)
        chosen[site] = [listed[place] for place in spread(expected, k)]
    return chosen


def spread(n: int, k: int) -> list[int]:
    """Give k of the places 0 … n − 1, evenly spread: floor(j·n/k).

    Examples
    --------
    >>> spread(79, 6)
    [0, 13, 26, 39, 52, 65]
    """
    return [j * n // k for j in range(k)]


def _by_index(name: str) -> tuple[int, int, str, str]:
    """Sort families by the number that their name ends in, however long, and those without one after them."""
    digits = name.rpartition(".")[2]
    if not (digits.isascii() and digits.isdigit()):
        return (1, 0, "", name)
    significant = digits.lstrip("0")
    return (0, len(significant), significant, name)


def restrict(tasks: pl.DataFrame, families: Mapping[str, Collection[str]] | None) -> pl.DataFrame:
    """Keep the records of these families, by site; None keeps all."""
    if families is None:
        return tasks
    listed = [(site, name) for site, names in families.items() for name in names]
    schema = {"site": pl.String, "family": pl.String}
    chosen = pl.DataFrame(listed, schema=schema, orient="row")
    return tasks.with_columns(family()).join(chosen, on=["site", "family"], how="semi")


def suggest(value: str, known: tuple[str, ...]) -> str:
    """Give the hint with the name that was probably meant, empty where there is none."""
    meant = nearest(value, known)
    return f" (did you mean {meant}?)" if meant else ""


def check_complete(
    used: pl.DataFrame,
    cells: Iterable[Mapping[str, Any]],
    wanted: Mapping[tuple[str, str], int],
    families: Mapping[str, Sequence[str]] | None,
    errors: Errors,
) -> None:
    """Raise where a cell has fewer scored tasks than are wanted, or, of a subset, not exactly those."""
    counted = used.filter(measured()) if errors == "exclude" else used
    present: dict[tuple[str, str], set[str]] = {}
    if families is not None:
        for site, condition, name in counted.select("site", "condition", family()).iter_rows():
            present.setdefault((site, condition), set()).add(name)
    lacking = []
    for cell in cells:
        place = (cell["site"], cell["condition"])
        without = [
            name
            for name in (families or {}).get(cell["site"], ())
            if name not in present.get(place, ())
        ]
        # One family has two tasks in a cell where it holds both site versions.
        exact = cell["n"] >= wanted[place] if families is None else cell["n"] == wanted[place]
        if without or not exact:
            named = f" (without {some(without)})" if without else ""
            lacking.append(
                f"{' × '.join(place)} {cell['n']} of {wanted[place]} scored tasks{named}"
            )
    if lacking:
        policy = "tasks with an error are not scored" if errors == "exclude" else ""
        msg = f"cells are not complete: {some(lacking)}; {NOT_MEASURED}{policy and f' ({policy})'}"
        raise InputError(msg)


def some(names: Sequence[str]) -> str:
    """List the first names, and count the rest."""
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _anchor_cell(
    cell: Mapping[str, Any], sigmas: Mapping[tuple[str, str], Mapping[str, float | None]]
) -> AnchorCell:
    of_cell = sigmas.get((cell["site"], cell["condition"]), {})
    return AnchorCell(
        site=cell["site"],
        condition=cell["condition"],
        n=cell["n"],
        metrics=References(
            **{metric: Reference(cell[metric], of_cell.get(metric)) for metric in METRICS}
        ),
    )


#: What a metric is the mean of, as `skillshift_frames.outcomes.count_outcomes` counts it.
_COUNTS = {
    "SR": ("successes", "trials"),
    "AS": ("steps", "steps_trials"),
    "ASC": ("skill_calls", "calls_trials"),
}


def _sigmas(tasks: pl.DataFrame, errors: Errors) -> dict[tuple[str, str], dict[str, float | None]]:
    """Give the standard errors within each cell, by metric."""
    by_cell: dict[tuple[str, str], list[dict[str, int]]] = {}
    for outcome in count_outcomes(tasks).iter_rows(named=True):
        by_cell.setdefault((outcome["site"], outcome["condition"]), []).append(outcome)

    def used(outcome: Mapping[str, int], name: str) -> int:
        return outcome[name] + (outcome.get(f"errored_{name}", 0) if errors == "zero" else 0)

    return {
        cell: {
            metric: _sigma(
                [
                    (used(outcome, total), used(outcome, trials), outcome["tasks"])
                    for outcome in outcomes
                    if used(outcome, trials)
                ],
                rate=metric == "SR",
            )
            for metric, (total, trials) in _COUNTS.items()
        }
        for cell, outcomes in by_cell.items()
    }


def _sigma(terms: Sequence[tuple[int, int, int]], *, rate: bool) -> float | None:
    """Give the standard error of a mean of tasks, in integers up to one division and one root.

    ``terms`` has a task's sum over its trials, their number, and how many tasks are like that.
    """
    n = sum(tasks for _, _, tasks in terms)
    common = math.lcm(*(trials for _, trials, _ in terms))
    values = [(total * (common // trials), tasks) for total, trials, tasks in terms]
    total = sum(value * tasks for value, tasks in values)
    if rate and n:  # 100 · √(p(1 − p)/n) with p = total/(common · n)
        return math.sqrt(10_000 * total * (common * n - total) / (common**2 * n**3))
    if n < 2:  # noqa: PLR2004 - a single task has no spread
        return None
    squares = sum(value * value * tasks for value, tasks in values)
    return math.sqrt((n * squares - total**2) / (common**2 * n**2 * (n - 1)))
