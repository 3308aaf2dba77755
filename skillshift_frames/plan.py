"""Before an experiment: how many tasks a lift needs, or which lift so many tasks can show."""

from __future__ import annotations

from dataclasses import dataclass

from skillshift_frames.errors import InputError
from skillshift_frames.stats.power import independent_discordance, lift_findable, pairs_needed

_HAIR = 1e-9


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """What an experiment with pairs of tasks can find; rates and lifts in percent and points, as SR.

    Attributes
    ----------
    baseline
        Success rate without the treatment.
    lift
        Treatment − base: the one asked about, or the smallest that ``tasks`` find; None where not even the largest that is
        possible would be found.
    discordance
        Share of the tasks on which the two sides differ; None where ``lift`` is.
    tasks
        Needed, or given.
    power
        The chance to find the lift if it is there.
    level
        1 − the two-sided error of the first kind.
    assumed_independent
        Whether the discordance is that of sides that succeed independently of each other, since none was given.
    """

    baseline: float
    lift: float | None
    discordance: float | None
    tasks: int
    power: float
    level: float
    assumed_independent: bool


def plan(
    *,
    baseline: float,
    lift: float | None = None,
    tasks: int | None = None,
    discordance: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> PowerPlan:
    """Plan a paired comparison of success rates: tasks for a lift, or the lift that tasks can show.

    Parameters
    ----------
    baseline
        Success rate of the base, in percent.
    lift
        Points of SR that should be found; negative for a harm. Either this or ``tasks``.
    tasks
        How many there are; the smallest lift upwards that they find, and that ``discordance`` allows, is looked for.
    discordance
        Percent of tasks on which the two sides differ, from a pilot. By default that of independent sides, the most to
        allow for as long as tasks that one side solves are not the ones that the other fails.
    power, level
        Chance to find the lift, and 1 − the chance to find one that is not there (two-sided).

    Returns
    -------
    PowerPlan
        ``tasks`` are pairs that are independent of each other: the same task under several conditions, or tried several
        times, counts once.

    Raises
    ------
    InputError
        Neither or both of ``lift`` and ``tasks``; a rate outside 0 to 100, also after the lift; no lift; a discordance that
        these rates cannot have; a power that is not between 1 − level and 1, a level that is not between 0 and 1.

    References
    ----------
    Miettinen (1968) and Connor (1987): see `skillshift_frames.stats.power`. The exact test that `compare` prints is
    conservative, and finds a little less than planned where few tasks differ.

    Examples
    --------
    >>> plan(baseline=40, lift=10).tasks
    391
    >>> plan(baseline=40, lift=10, discordance=30).tasks
    234
    >>> round(plan(baseline=40, tasks=355).lift, 1)
    10.5
    """
    if (lift is None) == (tasks is None):
        msg = "give either a lift (how many tasks does it need?) or a number of tasks (which lift do they find?)"
        raise InputError(msg)
    _check_chances(power, level)
    if not 0 <= baseline <= 100:  # noqa: PLR2004 - percent
        msg = f"baseline {baseline} is not between 0 and 100 percent"
        raise InputError(msg)
    if discordance is not None and not 0 < discordance <= 100:  # noqa: PLR2004 - percent
        msg = f"discordance {discordance} is not between 0 and 100 percent"
        raise InputError(msg)
    question = _Question(baseline / 100, discordance, power, level)
    if lift is not None:
        question.check(lift / 100)
        tasks = question.needed(lift / 100)
    assert tasks is not None
    if lift is None:
        if tasks < 1:
            msg = f"{tasks} tasks show nothing; one or more are needed"
            raise InputError(msg)
        smallest = question.findable(tasks)
        lift = None if smallest is None else 100 * smallest
    share = None if lift is None else 100 * question.share(lift / 100)
    return PowerPlan(baseline, lift, share, tasks, power, level, discordance is None)


def _check_chances(power: float, level: float) -> None:
    if not 0 < level < 1:
        msg = f"level {level} is not between 0 and 1 (0.95 for 95 %)"
        raise InputError(msg)
    if not 1 - level < power < 1:
        msg = f"power {power} is not between {1 - level:g} (what chance alone finds) and 1"
        raise InputError(msg)


@dataclass(frozen=True, slots=True)
class _Question:
    """Everything but the lift and the number of tasks; shares, not percent."""

    baseline: float
    discordance: float | None  # percent, as given
    power: float
    level: float

    def share(self, lift: float) -> float:
        """Give the share of tasks on which the sides differ."""
        if self.discordance is not None:
            return self.discordance / 100
        return independent_discordance(self.baseline, lift)

    def check(self, lift: float) -> None:
        """Raise `InputError` for a lift that cannot be asked about."""
        treated = self.baseline + lift
        if not -_HAIR <= treated <= 1 + _HAIR:
            msg = f"a baseline of {100 * self.baseline:g} % and a lift of {100 * lift:g} points are {100 * treated:g} %; that is no rate"
            raise InputError(msg)
        if not lift:
            msg = "a lift of 0 cannot be found, however many tasks there are"
            raise InputError(msg)
        most = min(self.baseline + treated, 2 - self.baseline - treated)
        if not abs(lift) - _HAIR <= self.share(lift) <= most + _HAIR:
            msg = (
                f"with a baseline of {100 * self.baseline:g} % and a lift of {100 * lift:.4g} points, between "
                f"{100 * abs(lift):.4g} and {100 * most:.4g} % of the tasks differ, not {self.discordance}"
            )
            raise InputError(msg)

    def needed(self, lift: float) -> int:
        """Give the number of tasks for a lift."""
        return pairs_needed(lift, self._allowed(lift), level=self.level, power=self.power)

    def findable(self, tasks: int) -> float | None:
        """Give the smallest lift upwards for which so many tasks are enough, None where none is."""
        least, most = 0.0, 1 - self.baseline
        if self.discordance is not None:
            share = self.discordance / 100
            # More tasks cannot differ than one of the sides solves, nor than one of them fails.
            least = max(0.0, share - 2 * self.baseline)
            most = min(most, share, 2 * most - share)
        return lift_findable(tasks, self._allowed, least, most, level=self.level, power=self.power)

    def _allowed(self, lift: float) -> float:
        """Give the share of tasks that differ, which rounding must not put below the lift."""
        return max(self.share(lift), abs(lift))
