"""Two runs of the same tasks → the lift: paired, with its interval, its bounds, and everything that found no pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import polars as pl

from skillshift_frames.benchmark import resolve_benchmark
from skillshift_frames.cells import bounds, cells
from skillshift_frames.decide import Decision, check_margin, decide
from skillshift_frames.errors import InputError
from skillshift_frames.lifts import LIFTS, lifts
from skillshift_frames.outcomes import CELL, with_families
from skillshift_frames.pairs import (
    BASE,
    COMPOSITE,
    PAIR,
    TIMES,
    check_metrics,
    flips,
    pair,
    task_of,
)
from skillshift_frames.sampling import DEFAULT_LEVEL, DEFAULT_RESAMPLES, DEFAULT_SEED, Plan
from skillshift_frames.schema import METRICS
from skillshift_frames.stats.paired import sign_test, smallest_p

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillshift_frames.benchmark import Benchmark, BenchmarkLike
    from skillshift_frames.metrics import Errors
    from skillshift_frames.pairs import Pairs
    from skillshift_frames.sampling import Method, Rng


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How pairs of trials came out on success, and what a coin would say of the tasks that differ.

    Attributes
    ----------
    both, treatment_only, base_only, neither
        Pairs of trials, by which sides succeeded.
    p
        Exact two-sided sign test on the tasks that differ (McNemar's test where each task has one trial); 1 where none does.
        It takes tasks for independent, as that test does: where the conditions of a family go together, p is too small,
        and the interval of the lift, which resamples families, is the one to trust.
    can_be_significant
        Whether any outcome with so many differing tasks could have had p below 1 − level.
    tasks, families
        Behind p, differing or not: with fewer families than tasks they are not independent.
    """

    both: int
    treatment_only: int
    base_only: int
    neither: int
    p: float
    can_be_significant: bool
    tasks: int
    families: int


@dataclass(frozen=True, slots=True)
class LiftBounds:
    """Ends of the SR lift if every unmeasured task is filled as it hurts most, and as it flatters most; in points."""

    low: float
    high: float

    @property
    def sign_survives(self) -> bool:
        """Whether the lift has one sign however the gaps are filled."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Use:
    """Whether the treatment's skills were used at all: what the lift over all tasks says little about if not.

    Attributes
    ----------
    tasks, with_call
        Tasks with pairs, and those of them in which the treatment called a skill; None where skills do not apply.
    lift
        Mean SR difference over the tasks with a call, in points; None where there is none. Tasks that made the agent
        call a skill are not a random sample: this describes, it does not prove.
    """

    tasks: int
    with_call: int | None
    lift: float | None

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.tasks:
            return "there are no pairs"
        if self.with_call is None:
            return "skills do not apply to the treatment: it records no calls"
        if not self.with_call:
            return "no skill was ever called: the lift is not the skills'"
        share = 100 * self.with_call / self.tasks
        return f"a skill was called in {self.with_call:,} of {self.tasks:,} tasks ({share:.1f} %); SR lift among those {self.lift:+.2f}"


@dataclass(frozen=True, eq=False)  # frames have no one answer to ==
class Comparison:
    """A treatment against a base, pair by pair.

    Attributes
    ----------
    base, treatment
        Labels of the runs.
    metric
        The primary metric: the first that was asked for.
    pairs
        Number of paired trials that count.
    lifts
        Columns and dtypes as `skillshift_frames.LIFTS`, one row per metric and slot.
    lifts_by
        The same for the values of the column that ``by`` named: overall lifts, ``slot`` is ``column=value``. They describe;
        a recommendation rests on sites and conditions.
    outcomes, bounds, use
        See `Outcomes`, `LiftBounds` and `Use`.
    only_base, only_treatment, errored, flips
        Records without a partner; pairs with a side that was not measured; pairs that changed sides (``gained``/``lost``).
        Each by site, condition, uid and trial; of a tally, which has no uids, a row is one site × condition × kind of
        family × version, and ``tasks`` is how many there are.
    level, seed, resamples, errors, margin
        As asked for.
    """

    base: str
    treatment: str
    metric: str
    pairs: int
    lifts: pl.DataFrame
    lifts_by: pl.DataFrame
    outcomes: Outcomes
    bounds: LiftBounds
    use: Use
    only_base: pl.DataFrame
    only_treatment: pl.DataFrame
    errored: pl.DataFrame
    flips: pl.DataFrame
    benchmark: str
    level: float
    seed: int
    resamples: int
    errors: Errors
    margin: float | None = None
    composite: tuple[str, ...] = field(default=())

    @cached_property
    def decision(self) -> Decision:
        """Verdict and recommendation (`skillshift_frames.decide` with the comparison's own margin)."""
        return decide(self, margin=self.margin)

    def to_dict(self) -> dict[str, Any]:
        """Give what ``compare --format json`` prints: plain values, no NaN."""
        metrics: dict[str, dict[str, Any]] = {}
        for row in pl.concat([self.lifts, self.lifts_by]).iter_rows(named=True):
            metric, slot = row.pop("metric"), row.pop("slot")
            metrics.setdefault(metric, {})[slot] = row
        return {
            "schema_version": 1,
            "benchmark": self.benchmark,
            "base": self.base,
            "treatment": self.treatment,
            "errors": self.errors,
            "level": self.level,
            "seed": self.seed,
            "resamples": self.resamples,
            "margin": self.margin,
            "composite": list(self.composite),
            "pairs": self.pairs,
            "only_base": self.only_base.to_dicts(),
            "only_treatment": self.only_treatment.to_dicts(),
            "errored": self.errored.to_dicts(),
            "metrics": metrics,
            "outcomes": asdict(self.outcomes),
            "bounds": asdict(self.bounds) | {"sign_survives": self.bounds.sign_survives},
            "use": asdict(self.use),
            "flips": self.flips.to_dicts(),
            "verdict": self.decision.verdict,
            "reason": self.decision.reason,
            "settle": self.decision.settle,
            "recommendation": self.decision.recommendation,
            "facts": list(self.decision.facts),
        }


def compare(
    tasks: pl.DataFrame | pl.LazyFrame,
    *,
    base: str,
    treatment: str,
    metrics: Sequence[str] = tuple(METRICS),
    composite: Sequence[str] = (),
    by: str | None = None,
    margin: float | None = None,
    level: float = DEFAULT_LEVEL,
    resamples: int = DEFAULT_RESAMPLES,
    rng: Rng = DEFAULT_SEED,
    method: Method = "auto",
    benchmark: BenchmarkLike = "skillshift",
    errors: Errors = "exclude",
) -> Comparison:
    """Compare two runs on the tasks that both have.

    Parameters
    ----------
    tasks
        Records as `skillshift_frames.TASKS`, or their tally, made with ``families=True``; of both runs at least.
    base, treatment
        Labels; lift = treatment − base.
    metrics
        SR, AS, ASC, SFR, or any numeric or boolean column that was kept (``extra="keep"``; in a tally none is). The first
        is the primary one.
    composite
        Columns or metrics whose mean per record is one more metric, ``composite`` (successes count 0 and 1).
    by
        A column; every value that it has on the base's side becomes one more slot, ``column=value``. Of a tally the site
        or the condition.
    margin
        See `skillshift_frames.decide`.
    level, resamples, rng, method
        As for `skillshift_frames.intervals`: families are resampled within sites, both sides of a pair together.
    benchmark
        The one that the records were read under.
    errors
        ``"exclude"`` leaves out pairs with a side that was not measured, ``"zero"`` counts that side as failed.

    Returns
    -------
    Comparison
        Pairs share site, condition, uid and trial; trials of a task are averaged first. Slots are unweighted means of the
        cells that have pairs (``cells`` of ``cells_expected``): a site or condition without any has a null lift, and
        overall is over what both have.

    Raises
    ------
    InputError
        No such run, no such metric, a column with NaN, a margin that is not positive, a level or number of resamples out of
        range (with a margin, the level must be above 0.5); a tally without families, or of tasks with several trials.
    BenchmarkError
        The records are not the benchmark's.

    Warns
    -----
    SkillshiftWarning
        Nothing pairs, because both have the same uids under other sites or conditions: `skill_lift` pairs two tools' jobs.

    Notes
    -----
    A tally gives the numbers that its records give. It holds no number of a trial: a task's only trial is paired with the
    other side's only one. Runs that were tallied apart share no kind of family, and so have no pairs: tally them together.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> tasks = sf.read_tasks(["data/demo/reference.jsonl", "data/demo/induced.jsonl"])
    >>> found = sf.compare(tasks, base="reference", treatment="induced")
    >>> found.lifts.filter(metric="SR", slot="overall").select(
    ...     pl.col("base", "treatment", "lift").round(2)
    ... ).row(0)
    (31.38, 35.66, 4.28)
    >>> found.decision.verdict
    'helps'
    """
    frame = with_families(tasks)
    metrics = [metrics] if isinstance(metrics, str) else metrics
    check_metrics(frame, metrics, composite)
    check_margin(margin, level)
    axes = resolve_benchmark(benchmark, frame)
    plan = Plan.of(level, resamples, rng, method)
    paired = pair(frame, base, treatment, errors)
    asked = tuple(dict.fromkeys([*metrics, *([COMPOSITE] if composite else [])]))
    lift = partial(lifts, metrics=asked, composite=composite, axes=axes, plan=plan, margin=margin)
    lifts_by = [
        lift(part).filter(slot="overall").with_columns(slot=pl.lit(f"{by}={value}"))
        for value, part in _parts(frame, paired, by)
    ]
    wanted = asked if "SR" in asked else (*asked, "SR")
    of_all = lift(paired.both, metrics=wanted)
    return Comparison(
        base=base,
        treatment=treatment,
        metric=metrics[0],
        pairs=_count(paired.both),
        lifts=of_all.filter(pl.col("metric").is_in(asked)),
        lifts_by=pl.concat([LIFTS.to_frame(), *lifts_by]),
        outcomes=_outcomes(paired.both, level),
        bounds=_bounds(frame, base, treatment, _sr_lift(of_all), axes=axes, errors=errors),
        use=_use(paired.both),
        only_base=paired.only_base,
        only_treatment=paired.only_treatment,
        errored=paired.errored,
        flips=flips(paired.both),
        benchmark=axes.name,
        level=level,
        seed=plan.seed,
        resamples=resamples,
        errors=errors,
        margin=margin,
        composite=tuple(composite),
    )


def _parts(
    tasks: pl.DataFrame, paired: Pairs, by: str | None
) -> Iterator[tuple[Any, pl.DataFrame]]:
    """Give the pairs of every value of a column, values sorted."""
    if by is None:
        return
    # What the two sides share has no side; of the rest the base's value counts.
    name = by if by in PAIR else f"{BASE}_{by}"
    if "uid" not in tasks.columns and by not in CELL[1:]:
        msg = f"a tally can be broken down by site or condition, not by {by!r}; compare the records themselves"
        raise InputError(msg)
    if name not in paired.both.columns:
        msg = f"there is no column {by!r} to break the lift down by ({', '.join(tasks.columns)})"
        raise InputError(msg)
    for value in paired.both.get_column(name).unique().sort(nulls_last=True):
        yield "null" if value is None else value, paired.both.filter(pl.col(name).eq_missing(value))


def _sr_lift(lifts: pl.DataFrame) -> float | None:
    value = lifts.row(
        by_predicate=(pl.col("metric") == "SR") & (pl.col("slot") == "overall"), named=True
    )["lift"]
    return None if value is None else float(value)


def _count(rows: pl.DataFrame) -> int:
    """Count the pairs, or the tasks, that the rows stand for."""
    return int(rows.get_column(TIMES).sum())


def _outcomes(both: pl.DataFrame, level: float) -> Outcomes:
    base, treatment = pl.col("base_success"), pl.col("treatment_success")
    # Trials of one task are not independent, so each task has one vote.
    tasks = both.group_by(*task_of(both), "family", TIMES).agg(
        difference=treatment.cast(pl.Int64).sum() - base.cast(pl.Int64).sum()
    )
    difference = pl.col("difference")
    wins, losses = (_count(tasks.filter(ahead)) for ahead in (difference > 0, difference < 0))
    return Outcomes(
        both=_count(both.filter(base & treatment)),
        treatment_only=_count(both.filter(treatment & ~base)),
        base_only=_count(both.filter(base & ~treatment)),
        neither=_count(both.filter(~treatment & ~base)),
        p=sign_test(wins, losses),
        can_be_significant=smallest_p(wins + losses) < 1 - level,
        tasks=_count(tasks),
        families=_count(tasks.unique(["site", "family"])),
    )


def _bounds(
    tasks: pl.DataFrame,
    base: str,
    treatment: str,
    lift: float | None,
    *,
    axes: Benchmark,
    errors: Errors,
) -> LiftBounds:
    """Fill the gaps of one side with failures and of the other with successes, and the other way round."""
    both = tasks.filter(pl.col("run").is_in([base, treatment]))
    ends = {
        row["run"]: row for row in bounds(cells(both, benchmark=axes, errors=errors)).to_dicts()
    }
    low = ends[treatment]["low"] - ends[base]["high"]
    high = ends[treatment]["high"] - ends[base]["low"]
    # Pairs leave out trials that only one side has, which the runs' own numbers do not: both are in sight.
    known = [] if lift is None else [lift]
    return LiftBounds(low=min([low, *known]), high=max([high, *known]))


def _use(both: pl.DataFrame) -> Use:
    calls = pl.col("treatment_skill_calls")
    tasks = both.group_by(*task_of(both), TIMES).agg(
        called=(calls > 0).any(),
        recorded=calls.is_not_null().any(),
        difference=100 * (pl.col("treatment_success").mean() - pl.col("base_success").mean()),
    )
    if tasks.height and not tasks.get_column("recorded").any():
        return Use(_count(tasks), None, None)
    # Sorted, because a sum of fractions depends on the order of its terms.
    called = tasks.filter("called").sort("difference")
    lifted = (called.get_column("difference") * called.get_column(TIMES)).sum()
    lift = float(lifted) / _count(called) if called.height else None
    return Use(_count(tasks), _count(called), lift)
