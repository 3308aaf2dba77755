"""What the readers of other tools' files share: strict JSON, folders that are not left, and the rows of trials.

Nothing here raises for content. Whatever is damaged becomes a problem with its file, and the reader goes on: of a thousand
trials one is always broken, and the others are what the reading is for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from skillshift_frames.progress import start
from skillshift_frames.readers.tools.files import Files
from skillshift_frames.readers.wording import as_written, printable, snippet
from skillshift_frames.schema import FAULTS
from skillshift_frames.trials import LARGEST, ORDER, STATUSES, TRIALS, concat_trials

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")

_LARGEST = (1 << 63) - 1

#: Columns whose numbers a tool may not make negative.
_AMOUNTS = ("cost", "seconds")
_COUNTS = tuple(name for name, dtype in TRIALS.items() if dtype == pl.Int64 and name != "trial")
_TEXTS = ("run", "dataset", "skill", "agent", "model", "arm", "error_type")


class Trials(Files):
    """What one named folder or file holds: its trials, its problems, and what a user should be told.

    Parameters
    ----------
    tool
        The name of the format.
    root
        The file or folder that was named; links that leave it are not followed.
    """

    def __init__(self, tool: str, root: Path) -> None:
        super().__init__(root)
        self.tool = tool
        self.notes: list[str] = []
        self._rows: list[list[object]] = []
        self._metrics: dict[str, list[tuple[int, float]]] = {}

    def add(
        self,
        *,
        uid: object,
        trial: object,
        status: str,
        path: Path,
        run: object = None,
        dataset: object = None,
        skill: object = None,
        agent: object = None,
        model: object = None,
        arm: object = None,
        negative: object = None,
        stops: object = None,
        error_type: object = None,
        success: object = None,
        score: object = None,
        recorded: object = None,
        valid: object = None,
        metrics: Mapping[str, object] | None = None,
        steps: object = None,
        tool_calls: object = None,
        skill_calls: object = None,
        skill_failures: object = None,
        input_tokens: object = None,
        cached_tokens: object = None,
        output_tokens: object = None,
        cost: object = None,
        seconds: object = None,
    ) -> None:
        """Add one trial, values as the tool wrote them; what is of a wrong type is a problem and becomes null.

        A trial said to be scored that has no number left is unscored. A score of any other trial is left out, since what
        an error's number means differs from tool to tool; of an unscored one the metrics stay that its judges did give, and
        of one whose tool says whether they are ``valid`` all.
        """
        given = {
            "run": run,
            "dataset": dataset,
            "skill": skill,
            "agent": agent,
            "model": model,
            "arm": arm,
            "error_type": error_type,
            "steps": steps,
            "tool_calls": tool_calls,
            "skill_calls": skill_calls,
            "skill_failures": skill_failures,
            "input_tokens": input_tokens,
            "cached_tokens": cached_tokens,
            "output_tokens": output_tokens,
            "cost": cost,
            "seconds": seconds,
        }
        assert status in STATUSES, status
        row: dict[str, object] = dict.fromkeys(TRIALS)
        row |= {name: self._text(path, name, given[name]) for name in _TEXTS}
        row |= {name: self._count(path, name, given[name]) for name in _COUNTS}
        row |= {name: self._amount(path, name, given[name]) for name in _AMOUNTS}
        row["tool"], row["path"] = self.tool, self.below(path)
        row["uid"], row["trial"] = self._uid(path, uid), self._trial(path, trial)
        row["negative"] = self._boolean(path, "negative", negative)
        row["stops"] = self._boolean(path, "stops", stops)
        row["recorded"] = self._number(path, "recorded", recorded)
        row["valid"] = self._boolean(path, "valid", valid)
        calls, failures = row["skill_calls"], row["skill_failures"]
        if isinstance(calls, int) and isinstance(failures, int) and failures > calls:
            message = f"{failures} failures of {calls} skill calls"
            self._mend(path, "skill_failures", message, "no more calls can fail than were made")
            row["skill_failures"] = None
        numbers = {}
        if status in {"scored", "unscored"} or valid is not None:
            of_metrics = {name: self._number(path, name, x) for name, x in (metrics or {}).items()}
            numbers = {column_of(name): x for name, x in of_metrics.items() if x is not None}
        if status == "scored":
            row["success"] = self._boolean(path, "success", success)
            row["score"] = self._number(path, "score", score)
            if row["success"] is None and row["score"] is None and not numbers:
                self._mend(path, "score", "nothing in it is a score", "the trial is unscored")
                status = "unscored"
        row["status"] = status
        for name, value in numbers.items():
            self._metrics.setdefault(name, []).append((len(self._rows), value))
        self._rows.append(list(row.values()))

    def _uid(self, path: Path, uid: object) -> str:
        name = self._text(path, "uid", uid)
        if name:
            return name
        name = printable(path.name) or "?"
        if uid is None or uid == "":  # of a wrong type it has been said
            self._mend(path, "uid", "there is no name of the case", f"{name} is taken")
        return name

    def _trial(self, path: Path, trial: object) -> int:
        number = self._count(path, "trial", trial)
        if number:
            return number
        if trial is None or trial == 0:
            self._mend(path, "trial", f"{as_written(trial)} is no trial's number", "1 is taken")
        return 1

    @property
    def count(self) -> int:
        """How many trials there are so far."""
        return len(self._rows)

    def note(self, text: str) -> None:
        """Say something that a user must be told, once."""
        if text not in self.notes:
            self.notes.append(text)

    def each(self, items: Sequence[T]) -> Iterator[T]:
        """Go through what is to be read, and report how far it is."""
        advance = start("reading trials", len(items))
        for item in items:
            yield item
            advance(1)

    def frame(self) -> pl.DataFrame:
        """Give the trials as one frame: the columns of `TRIALS`, then the metrics, rows in their one order."""
        columns = zip(*self._rows, strict=True) if self._rows else ([] for _ in TRIALS)
        fixed = pl.DataFrame(
            [
                pl.Series(name, list(values), dtype=dtype)
                for (name, dtype), values in zip(TRIALS.items(), columns, strict=True)
            ]
        )
        made = []
        for name, values in self._metrics.items():
            column: list[float | None] = [None] * fixed.height
            for row, value in values:
                column[row] = value
            made.append(pl.Series(name, column, dtype=pl.Float64))
        return concat_trials([_told_apart(fixed.hstack(made))])

    def faults(self) -> pl.DataFrame:
        """Give the problems as a frame of faults, by path."""
        rows = [[getattr(fault, name) for name in FAULTS] for fault in self.problems]
        every = pl.DataFrame(rows, schema=FAULTS, orient="row")
        return every.sort("path", "field", "message", maintain_order=True)

    def _mend(self, path: Path, field: str, message: str, hint: str) -> None:
        self.problem(path, message, hint, field=field, stands=True)

    def _text(self, path: Path, name: str, value: object) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str):
            self._wrong(path, name, value, "a string")
            return None
        return printable(value) or None

    def _boolean(self, path: Path, name: str, value: object) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        self._wrong(path, name, value, "true or false")
        return None

    def _number(self, path: Path, name: str, value: object) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(path, name, value, "a number")
            return None
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not abs(number) <= LARGEST:
            self._wrong(path, name, value, "a finite number")
            return None
        return number

    def _amount(self, path: Path, name: str, value: object) -> float | None:
        number = self._number(path, name, value)
        if number is not None and number < 0:
            self._wrong(path, name, value, "a number ≥ 0")
            return None
        return number

    def _count(self, path: Path, name: str, value: object) -> int | None:
        number = self._amount(path, name, value)
        if number is None:
            return None
        # A sum that a tool made with floats is whole and written 12000.0.
        if number != int(number) or number > _LARGEST:
            self._wrong(path, name, value, "a whole number")
            return None
        assert isinstance(value, int | float)
        return min(int(value), _LARGEST)

    def _wrong(self, path: Path, name: str, value: object, needed: str) -> None:
        written = snippet(as_written(value))
        self.problem(
            path,
            f"{written}; {needed} is needed",
            "it is left out",
            field=name,
            value=written,
            rule="type",
            stands=True,
        )


def _told_apart(trials: pl.DataFrame) -> pl.DataFrame:
    """Give trials that one file has under one name paths of their own: all of them were kept, and are two to whoever counts."""
    nth = pl.int_range(1, pl.len() + 1).over(ORDER)
    again = pl.format("{}#{}", "path", nth)
    return trials.with_columns(path=pl.when(nth > 1).then(again).otherwise("path"))


def column_of(metric: str) -> str:
    """Give the column of a metric: its name, lengthened where a fixed column has it.

    Examples
    --------
    >>> column_of("accuracy"), column_of("steps")
    ('accuracy', 'metric_steps')
    """
    name = printable(metric) or "metric"
    return f"metric_{name}" if name in TRIALS else name
