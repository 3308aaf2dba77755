"""What other tools' files become: one row is one trial of one case, with or without a skill.

The tools disagree on what counts, so nothing is decided here: each row says what the tool recorded and whether it can be
judged (`STATUSES`); what a mean makes of it is a policy of whoever takes one.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.errors import InputError, SkillshiftWarning, check_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

#: No score, cost or time is larger; sums of squares of what is would not be finite.
LARGEST = 1e100

#: One row is one trial; after these columns come a tool's metrics, one Float64 each.
TRIALS = pl.Schema(
    {
        "tool": pl.String,  # the name of the format
        "run": pl.String,  # null only where neither the tool nor the path has a name for it
        "dataset": pl.String,  # what the tool averages by itself within a run; null: not said
        "skill": pl.String,
        "agent": pl.String,
        "model": pl.String,
        "arm": pl.String,  # "with", "without", else the tool's own word; null: not said
        "uid": pl.String,  # the case, never null
        "trial": pl.Int64,  # from 1
        "negative": pl.Boolean,  # a case in which the skill should not be used; null: not said
        "stops": pl.Boolean,  # attempts at the case end with the first pass; null: not said
        "status": pl.String,  # one of STATUSES, never null
        "error_type": pl.String,
        "success": pl.Boolean,  # null unless scored
        "score": pl.Float64,  # the tool's headline of one trial; null unless scored
        "recorded": pl.Float64,  # the same as the tool wrote it, also where it does not count; null: not written
        "valid": pl.Boolean,  # whether what was recorded counts by the tool's newest rule; null: no such rule, or not known
        "steps": pl.Int64,
        "tool_calls": pl.Int64,
        "skill_calls": pl.Int64,
        "skill_failures": pl.Int64,
        "input_tokens": pl.Int64,  # with the cached ones
        "cached_tokens": pl.Int64,
        "output_tokens": pl.Int64,
        "cost": pl.Float64,  # USD
        "seconds": pl.Float64,
        "path": pl.String,  # below the folder that was named; with #2 after it for the second trial of one name in a file
    }
)

#: ``scored``; ``unscored``: it ran, but judge or grader gave nothing usable; ``errored``: it did not come to an end that
#: can be judged; ``missing``: the tool planned it, and it is not there.
STATUSES = ("scored", "unscored", "errored", "missing")

#: The two arms of a lift.
WITH, WITHOUT = "with", "without"

#: The order of the rows, which no folder's order changes.
ORDER = ("tool", "run", "skill", "agent", "model", "arm", "uid", "trial", "path")


def metric_names(trials: pl.DataFrame) -> list[str]:
    """Give the columns of a tool's metrics, in their order.

    Examples
    --------
    >>> metric_names(TRIALS.to_frame().with_columns(accuracy=pl.lit(0.5)))
    ['accuracy']
    """
    return [name for name in trials.columns if name not in TRIALS]


def concat_trials(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put frames of trials together, rows in their one order, metrics in that in which the rows first have them.

    The same trials so make the same frame, in whatever order they were read.
    """
    every = pl.concat([TRIALS.to_frame(), *frames], how="diagonal")
    every = every.sort(ORDER, nulls_last=False, maintain_order=True)
    first = {name: every.get_column(name).is_not_null().arg_max() for name in metric_names(every)}
    return every.select(*TRIALS, *sorted(first, key=lambda name: first[name] or 0))


def with_arms(with_skill: pl.DataFrame, without_skill: pl.DataFrame) -> pl.DataFrame:
    """Make two jobs the two arms of one run: tools such as Harbor do not say which arm a job is.

    One row is one trial, as in both frames.

    Parameters
    ----------
    with_skill, without_skill
        Frames of trials (`TRIALS`), as `skillshift_frames.read_trials` gives them, each of one run, or both of the same
        runs.

    Returns
    -------
    polars.DataFrame
        All rows, ``arm`` set to ``"with"`` and ``"without"``. Where each frame is of one run, of whatever name, ``run``
        becomes ``"<with> / <without>"`` (or stays, where both have one name), so that the two are compared.

    Raises
    ------
    InputError
        One side has no trial, or holds both arms; or the sides have several runs, and not the same ones: what is to be compared with what
        cannot be told.

    Examples
    --------
    >>> trial = {"tool": "harbor", "uid": "task-1", "trial": 1, "status": "errored"}
    >>> new, old = (concat_trials([pl.DataFrame({**trial, "run": run})]) for run in ("new", "old"))
    >>> with_arms(new, old).select("run", "arm", "uid").rows()
    [('new / old', 'with', 'task-1'), ('new / old', 'without', 'task-1')]
    """
    sides = {WITH: with_skill, WITHOUT: without_skill}
    for arm, frame in sides.items():
        check_frame(f"the arm {arm!r}", frame, "read_trials")
        if not frame.height:
            msg = f"the arm {arm!r} has no trial; name a folder that holds some"
            raise InputError(msg)
        own = frame.get_column("arm").drop_nulls().unique().sort().to_list()
        if len(own) > 1:
            msg = (
                f"what was named for the arm {arm!r} holds arms of its own ({', '.join(own)}); "
                "name it as SOURCE, and what two dates say with regress"
            )
            raise InputError(msg)
        if own and own[0] in sides and own[0] != arm:
            note = f"what was named for the arm {arm!r} says that it is {own[0]!r}; taken as named"
            warnings.warn(note, SkillshiftWarning, stacklevel=2)
    runs = {arm: sorted(set(_runs(frame))) for arm, frame in sides.items()}
    label = None
    if runs[WITH] != runs[WITHOUT]:
        many = next((arm for arm in sides if len(runs[arm]) > 1), None)
        if many is not None:
            names = ", ".join(runs[many])
            msg = f"the arm {many!r} has {len(runs[many])} runs ({names}), not those of the other arm; name one run per arm"
            raise InputError(msg)
        label = f"{runs[WITH][0]} / {runs[WITHOUT][0]}"
    return concat_trials(
        [
            frame.with_columns(
                pl.lit(arm).alias("arm"), *([pl.lit(label).alias("run")] if label else [])
            )
            for arm, frame in sides.items()
        ]
    )


def _runs(frame: pl.DataFrame) -> list[str]:
    return frame.get_column("run").fill_null("").to_list()
