"""Two dated sets of lifts: where a model caught up with a skill, and where a skill lost what it had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from skillshift_frames.changes import CHANGES, change_of
from skillshift_frames.decide import check_margin
from skillshift_frames.errors import InputError
from skillshift_frames.lift import skill_lift
from skillshift_frames.lift_cases import LIFT_CASES, name_cases
from skillshift_frames.lift_result import SkillLift
from skillshift_frames.readers.lift_files import lift_files, read_lift_file
from skillshift_frames.readers.trials import Collected
from skillshift_frames.sampling import DEFAULT_LEVEL, Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillshift_frames.lift_policies import CompositeLike, LiftErrors

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
    coverage
        ``old`` and ``new``: trials by status and ``paired_cases``, as of `skillshift_frames.SkillLift`; None where a file of
        lifts does not say.
    composite, errors, level, margin
        As both sets have them, and as asked for.
    notes
        What limits all this, in sentences.
    """

    changes: pl.DataFrame
    only_old: pl.DataFrame
    only_new: pl.DataFrame
    coverage: Mapping[str, Mapping[str, Any] | None]
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
            "coverage": dict(self.coverage),
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
    weights: Mapping[str, float]
    errors: str
    coverage: Mapping[str, Any] | None = None  # as of a skill lift; None where it is not said
    bounded: bool = False  # whether the composite is known to lie between 0 and 1


#: What a date's lifts come as.
Lifts: TypeAlias = (
    "SkillLift | pl.DataFrame | pl.LazyFrame | Collected | LiftSet | str | PathLike[str]"
)


def regress(
    old: Lifts,
    new: Lifts,
    *,
    margin: float | None = None,
    level: float = DEFAULT_LEVEL,
    errors: LiftErrors | None = None,
    composite: CompositeLike | None = None,
) -> Regression:
    """Compare the lifts of two dates on the cases that both have.

    Parameters
    ----------
    old, new
        What `skillshift_frames.skill_lift` gives, or trials that it takes; or the path of what ``lift --format json``
        wrote: a file, a glob, or a folder with such files, one per skill or as many as there are.
    margin
        The largest change of a lift that would not matter: with the interval at 2 · level − 1 (90 % at a level of 95 %)
        inside ±margin it is unchanged, by two one-sided tests. There is no default.
    level
        Nominal coverage of intervals.
    errors, composite
        For trials: as for `skillshift_frames.skill_lift`, by default ``"exclude"`` and ``"default"``. Lifts have theirs, and
        another one is refused.

    Returns
    -------
    Regression
        Cases are paired by skill, agent and uid; several runs of one are averaged first. The intervals are of changes of the
        same cases. ``caught up``: without the skill it rose and the lift fell, both shown by their intervals;
        ``regressed``: the lift fell, and that the baseline rose is not shown; ``improved``: the lift rose; ``unchanged``:
        inside the margin; else ``undetermined``. Negative cases are left out. Where every family changed alike there is no
        spread to make an interval of: then an exact sign test on the families decides, two-sided, p = 2^(1 − n) for n
        families that all move one way, in the columns ``…_p``; ``too few``: n is so small that no outcome could reach the
        level (up to 5 families at 95 %). Where the composite is known to lie between 0 and 1, intervals end where a change
        cannot be: ±1 for a side, ±2 for a lift.

    Raises
    ------
    InputError
        Two sets under different policies, or under another one than was asked for; a level or margin out of range (with a
        margin, the level must be above 0.5); what is neither lift nor trials.

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
    check_margin(margin, level)
    first, second = (
        _lift_set(what, given, errors=errors, composite=composite)
        for what, given in (("old", old), ("new", new))
    )
    if (first.errors, dict(first.weights)) != (second.errors, dict(second.weights)):
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
    span = 1.0 if first.bounded and second.bounded else math.inf
    rows = [change_of(*group, level=level, margin=margin, span=span) for group in groups]
    models = [sorted(set(part.cases.get_column("model").drop_nulls())) for part in (first, second)]
    return Regression(
        changes=pl.DataFrame(rows, schema=CHANGES),
        only_old=lone[0],
        only_new=lone[1],
        coverage={"old": first.coverage, "new": second.coverage},
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
    errors: LiftErrors | None,
    composite: CompositeLike | None,
) -> LiftSet:
    if isinstance(given, LiftSet):
        _refuse_other_policies(what, given, errors, composite)
        return given
    if isinstance(given, str | PathLike):
        files = lift_files(Path(given))
        if not files:
            msg = f"{given}: is not there, or not what lift --format json writes; read_trials reads a tool's results"
            raise InputError(msg)
        found = read_lift_sets(files)
        _refuse_other_policies(what, found, errors, composite)
        return found
    if isinstance(given, SkillLift):
        found = _set_of(given)
        _refuse_other_policies(what, found, errors, composite)
        return found
    faults = None
    if isinstance(given, Collected):
        faults = given.faults
    trials = given.trials if isinstance(given, Collected) else given
    if not hasattr(trials, "lazy"):
        msg = f"{what} is {given!r:.60}; a skill lift, a frame of trials or a path is needed"
        raise InputError(msg)
    lift = skill_lift(
        trials,  # type: ignore[arg-type]
        errors=errors or "exclude",
        composite="default" if composite is None else composite,
        faults=faults,
    )
    return _set_of(lift)


def _set_of(lift: SkillLift) -> LiftSet:
    made = lift.policy
    return LiftSet(lift.cases, made.policy, made.weights, lift.errors, lift.coverage, lift.bounded)


def _refuse_other_policies(
    what: str, found: LiftSet, errors: LiftErrors | None, composite: CompositeLike | None
) -> None:
    """Raise for a policy that would be ignored: lifts were computed under their own."""
    if errors is not None and errors != found.errors:
        msg = (
            f"the {what} lifts were computed with --errors {found.errors}, which cannot be changed afterwards; compute them "
            f"again with lift --errors {errors}, or name the trials"
        )
        raise InputError(msg)
    if composite is not None:
        msg = (
            f"composite is for trials (--composite, too); the {what} lifts have theirs ({found.composite}), which cannot be "
            "changed afterwards: name the trials"
        )
        raise InputError(msg)


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
    bounded = all(found.bounded for _, found in read)
    coverage = _added_up([found.coverage for _, found in read])
    return LiftSet(cases, first.composite, first.weights, first.errors, coverage, bounded)


def _added_up(counts: Sequence[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    """Add coverages up, arm by arm; of a sum with an unknown part nothing is known."""
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return None
    return {
        name: _added_up([count[name] for count in known])
        if isinstance(first, dict)
        else sum(count[name] for count in known)
        for name, first in known[0].items()
    }


def _by_case(cases: pl.DataFrame) -> pl.DataFrame:
    """Average the runs of a case."""
    return (
        cases.filter(~pl.col("negative"))
        .group_by(_KEY)
        .agg(pl.col("with", "without").sort().mean())
        .sort(_KEY)
    )


def _notes(lone: Sequence[pl.DataFrame], models: Sequence[Sequence[str]]) -> Iterator[str]:
    for part, which in zip(lone, ("old", "new"), strict=True):
        if part.height:
            yield f"{part.height:,} only in the {which} set: {name_cases(part, ['skill', 'agent', 'uid'])}"
    if models[0] != models[1] and all(models):
        yield f"the model changed: {', '.join(models[0])} → {', '.join(models[1])}"
