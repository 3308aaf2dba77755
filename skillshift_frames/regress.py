"""Two dated sets of lifts: where a model caught up with a skill, and where a skill lost what it had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from skillshift_frames.errors import InputError
from skillshift_frames.lift import skill_lift
from skillshift_frames.lift_cases import LIFT_CASES, name_cases
from skillshift_frames.lift_result import SkillLift
from skillshift_frames.readers.lift_files import lift_files, read_lift_file
from skillshift_frames.sampling import DEFAULT_LEVEL, Ends, Plan, judge_difference, rounded
from skillshift_frames.stats.clusters import clustered_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillshift_frames.lift_policies import CompositeLike, LiftErrors

#: What happened to a lift between two dates.
Change: TypeAlias = Literal[
    "caught up", "regressed", "improved", "unchanged", "undetermined", "no pairs"
]

_MEANS = ("without", "with", "lift")

#: One row is one skill × agent, and one for all of them (both null).
CHANGES = pl.Schema(
    {
        "skill": pl.String,
        "agent": pl.String,
        "cases": pl.Int64,  # in both sets
        "families": pl.Int64,  # distinct uids of a skill: what is taken for independent
        **{
            f"{name}_{part}": pl.Float64
            for name in _MEANS
            for part in ("old", "new", "change", "low", "high")
        },
        "change": pl.String,  # caught up, regressed, improved, unchanged, undetermined, no pairs
        "reason": pl.String,
    }
)

#: What names a case in both sets: runs have other names at another date, and the model may be the change itself.
_KEY = ("skill", "agent", "uid")


@dataclass(frozen=True, eq=False)  # frames have no one answer to ==
class Regression:
    """What became of lifts between two dates, case by case.

    Attributes
    ----------
    changes
        As `skillshift_frames.CHANGES`: all cases first, then each skill and agent.
    only_old, only_new
        Cases that one set has, as `skillshift_frames.LIFT_CASES`.
    composite, errors, level, margin
        As both sets have them, and as asked for.
    notes
        What limits all this, in sentences.
    """

    changes: pl.DataFrame
    only_old: pl.DataFrame
    only_new: pl.DataFrame
    composite: str
    errors: str
    level: float
    margin: float | None
    notes: tuple[str, ...]

    @property
    def regressed(self) -> bool:
        """Whether any lift fell by itself."""
        return bool((self.changes.get_column("change") == "regressed").any())

    @property
    def paired(self) -> bool:
        """Whether any case is in both sets."""
        return bool((self.changes.get_column("cases") > 0).any())

    def to_dict(self) -> dict[str, Any]:
        """Give what ``regress --format json`` prints: plain values, no NaN."""
        return {
            "schema_version": 1,
            "composite": self.composite,
            "errors": self.errors,
            "level": self.level,
            "margin": self.margin,
            "changes": self.changes.to_dicts(),
            "only_old": self.only_old.to_dicts(),
            "only_new": self.only_new.to_dicts(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class LiftSet:
    """One date's cases (`skillshift_frames.LIFT_CASES`), and the policies they were computed under."""

    cases: pl.DataFrame
    composite: str
    weights: tuple[tuple[str, float], ...]
    errors: str


#: What a date's lifts come as.
Lifts: TypeAlias = "SkillLift | pl.DataFrame | pl.LazyFrame | LiftSet | str | PathLike[str]"


def regress(
    old: Lifts,
    new: Lifts,
    *,
    margin: float | None = None,
    level: float = DEFAULT_LEVEL,
    errors: LiftErrors = "exclude",
    composite: CompositeLike = "default",
) -> Regression:
    """Compare the lifts of two dates on the cases that both have.

    Parameters
    ----------
    old, new
        What `skillshift_frames.skill_lift` gives, or trials that it takes; or the path of what ``lift --format json``
        wrote: a file, a glob, or a folder with such files, one per skill or as many as there are.
    margin
        The largest change of a lift that would not matter: inside ±margin it is unchanged. There is no default.
    level
        Nominal coverage of intervals.
    errors, composite
        For trials: as for `skillshift_frames.skill_lift`.

    Returns
    -------
    Regression
        Cases are paired by skill, agent and uid; several runs of one are averaged first. The intervals are of changes of the
        same cases. ``caught up``: without the skill it rose and the lift fell, both shown by their intervals;
        ``regressed``: the lift fell, and that the baseline rose is not shown; ``improved``: the lift rose; ``unchanged``:
        inside the margin; else ``undetermined``. Negative cases are left out.

    Raises
    ------
    InputError
        Two sets under different policies; a level or margin out of range; what is neither lift nor trials.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> def trials(without, with_):
    ...     return pl.DataFrame(
    ...         [
    ...             {"arm": arm, "uid": str(i), "trial": 1, "status": "scored", "score": score}
    ...             for arm, scores in (("without", without), ("with", with_))
    ...             for i, score in enumerate(scores)
    ...         ],
    ...         schema=sf.TRIALS,
    ...     )
    >>> old = trials([0.1, 0.2, 0.1, 0.3, 0.2], [0.7, 0.8, 0.9, 0.8, 0.7])
    >>> new = trials([0.6, 0.7, 0.8, 0.7, 0.7], [0.8, 0.8, 0.9, 0.9, 0.8])
    >>> sf.regress(old, new).changes["change"][0]
    'caught up'
    """
    Plan.of(level, _ENOUGH, 0, "auto")
    if margin is not None and not 0 < margin < math.inf:
        msg = f"margin {margin} is not a positive number"
        raise InputError(msg)
    first, second = (
        _lift_set(what, given, errors=errors, composite=composite)
        for what, given in (("old", old), ("new", new))
    )
    if (first.errors, first.weights) != (second.errors, second.weights):
        msg = (
            f"the two sets are of different policies: {first.composite} with --errors {first.errors}, and "
            f"{second.composite} with --errors {second.errors}; compute both lifts alike"
        )
        raise InputError(msg)
    sides = [_by_case(part.cases) for part in (first, second)]
    paired = sides[0].join(
        sides[1], on=_KEY, how="inner", suffix="_new", nulls_equal=True, validate="1:1"
    )
    lone = [
        part.cases.filter(~pl.col("negative")).join(other, on=_KEY, how="anti", nulls_equal=True)
        for part, other in ((first, sides[1]), (second, sides[0]))
    ]
    groups = [(None, None, paired)]
    groups += [
        (skill, agent, part)
        for (skill, agent), part in sorted(
            paired.group_by("skill", "agent"),
            key=lambda found: tuple((name is not None, name or "") for name in found[0]),
        )
    ]
    rows = [_row(skill, agent, part, level, margin) for skill, agent, part in groups]
    models = [sorted(set(part.cases.get_column("model").drop_nulls())) for part in (first, second)]
    return Regression(
        changes=pl.DataFrame(rows, schema=CHANGES),
        only_old=lone[0],
        only_new=lone[1],
        composite=first.composite,
        errors=first.errors,
        level=level,
        margin=margin,
        notes=tuple(_notes(lone, models)),
    )


_ENOUGH = 10_000


def _lift_set(
    what: str,
    given: object,
    *,
    errors: LiftErrors,
    composite: CompositeLike,
) -> LiftSet:
    if isinstance(given, LiftSet):
        return given
    if isinstance(given, str | PathLike):
        files = lift_files(Path(given))
        if not files:
            msg = f"{given}: is not there, or not what lift --format json writes; read_trials reads a tool's results"
            raise InputError(msg)
        return read_lift_sets(files)
    if not isinstance(given, SkillLift):
        if not hasattr(given, "lazy"):
            msg = f"{what} is {given!r:.60}; a skill lift, a frame of trials or a path is needed"
            raise InputError(msg)
        given = skill_lift(given, errors=errors, composite=composite)  # type: ignore[arg-type]
    weights = tuple(given.policy.weights.items())
    return LiftSet(given.cases, given.policy.policy, weights, given.errors)


def read_lift_sets(files: Sequence[Path]) -> LiftSet:
    """Put together what ``lift --format json`` wrote, one file per skill or as many as there are.

    Raises
    ------
    InputError
        A file that is none, files under different policies, a case that is there twice.
    """
    read = [(path, read_lift_file(path)) for path in files]
    first = read[0][1]
    for path, found in read[1:]:
        if (found.errors, found.weights) != (first.errors, first.weights):
            msg = f"{path}: is of another policy than {read[0][0]}; compute the lifts alike"
            raise InputError(msg)
    cases = pl.DataFrame([case for _, found in read for case in found.cases], schema=LIFT_CASES)
    names = ["tool", "run", "skill", "agent", "model", "uid"]
    if cases.height and cases.select(names).is_duplicated().any():
        twice = cases.filter(cases.select(names).is_duplicated()).row(0, named=True)
        msg = f"case {twice['uid']} of {twice['skill']} is in the files twice"
        raise InputError(msg)
    return LiftSet(cases, first.composite, tuple(first.weights.items()), first.errors)


def _by_case(cases: pl.DataFrame) -> pl.DataFrame:
    """Average the runs of a case."""
    return (
        cases.filter(~pl.col("negative"))
        .group_by(_KEY)
        .agg(pl.col("with", "without").sort().mean())
        .sort(_KEY)
    )


def _row(
    skill: str | None, agent: str | None, part: pl.DataFrame, level: float, margin: float | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"skill": skill, "agent": agent, "cases": part.height}
    columns = {
        "without": (pl.col("without"), pl.col("without_new")),
        "with": (pl.col("with"), pl.col("with_new")),
        "lift": (
            pl.col("with") - pl.col("without"),
            pl.col("with_new") - pl.col("without_new"),
        ),
    }
    for name, (old, new) in columns.items():
        row |= {f"{name}_{key}": value for key, value in _change(part, old, new, level).items()}
    row["families"] = row.pop("lift_families")
    why = row.pop("lift_reason")
    for name in ("without", "with"):
        row.pop(f"{name}_families")
        row.pop(f"{name}_reason")
    row["change"], row["reason"] = _judge(row, why, level, margin)
    return row


def _change(part: pl.DataFrame, old: pl.Expr, new: pl.Expr, level: float) -> dict[str, Any]:
    """Give the means of both dates, and their difference with its interval, families taken for independent."""
    values = part.select("skill", "uid", old=old, new=new)
    if not values.height:
        none = dict.fromkeys(("old", "new", "change", "low", "high"))
        return {**none, "families": 0, "reason": "no case is in both sets"}
    means = [math.fsum(values.get_column(name)) / values.height for name in ("old", "new")]
    sums = (
        values.with_columns(change=pl.col("new") - pl.col("old"))
        .group_by("skill", "uid")
        .agg(pl.col("change").sort().sum(), n=pl.len())
        .sort("change", "n")
    )
    found = clustered_mean(
        sums.get_column("change").to_list(), sums.get_column("n").to_list(), level=level
    )
    change = 0.0 if abs(found.value) <= _NEGLIGIBLE else rounded(found.value)
    ends = Ends(rounded(found.low), rounded(found.high), 0.0, "t")
    low, high, reason = judge_difference(change, sums.height, ends)
    return {
        "old": rounded(means[0]),
        "new": rounded(means[1]),
        "change": change,
        "low": low,
        "high": high,
        "families": sums.height,
        "reason": reason,
    }


_NEGLIGIBLE = 1e-12


def _judge(
    row: dict[str, Any], why: str | None, level: float, margin: float | None
) -> tuple[Change, str]:
    if not row["cases"]:
        return "no pairs", "no case is in both sets"
    if row["lift_low"] is None:
        return "undetermined", f"the change of the lift has no interval: {why}"
    shown = f"the lift changed by {row['lift_change']:+.4f} [{row['lift_low']:.4f}, {row['lift_high']:.4f}]"
    baseline = f"the baseline by {row['without_change']:+.4f}"
    if row["without_low"] is not None:
        baseline += f" [{row['without_low']:.4f}, {row['without_high']:.4f}]"
    if row["lift_high"] < 0:
        rose = row["without_low"] is not None and row["without_low"] > 0
        return ("caught up" if rose else "regressed"), f"{shown}, {baseline}"
    if row["lift_low"] > 0:
        return "improved", f"{shown}, {baseline}"
    if margin is not None and -margin < row["lift_low"] and row["lift_high"] < margin:
        return "unchanged", f"{shown}, inside ±{margin:g} at {100 * level:g} %"
    return "undetermined", f"{shown}, which holds 0"


def _notes(lone: Sequence[pl.DataFrame], models: Sequence[Sequence[str]]) -> Iterator[str]:
    for part, which in zip(lone, ("old", "new"), strict=True):
        if part.height:
            yield f"{part.height:,} only in the {which} set: {name_cases(part, ['skill', 'agent', 'uid'])}"
    if models[0] != models[1] and all(models):
        yield f"the model changed: {', '.join(models[0])} → {', '.join(models[1])}"
