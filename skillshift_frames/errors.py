"""What can go wrong, and how it is said: one root exception, faults with their place, nothing else.

Every exception is also the builtin that a caller would catch for its kind (`ValueError`, `FileExistsError`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

#: So many faults are spelled out in a message; the rest are counted.
FAULTS_SHOWN = 20


class SkillshiftError(Exception):
    """The root: everything this package raises on purpose."""


class InputError(SkillshiftError, ValueError):
    """Something that was asked for cannot be read: a path that names nothing, an unknown kind of file, an option."""


class BenchmarkError(SkillshiftError, ValueError):
    """A benchmark that contradicts itself, or a frame that does not fit the benchmark it is read under."""


class OutputExistsError(SkillshiftError, FileExistsError):
    """The file to write is there already, and nobody said that it may be replaced."""


class SkillshiftWarning(UserWarning):
    """Worth knowing, and no reason to stop: a file named twice, a uid of the other site version."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken rule at one place.

    Attributes
    ----------
    path, line
        Where: the file as it was named, and its line (a row number, from 1, where the input is a frame or Parquet);
        ``line`` is None where the fault is the whole file's.
    field
        The key of the record, or ``line`` or ``file`` where no single key is at fault.
    value
        The value as written, or None where there is none (a missing key).
    rule
        A stable name of the rule, such as ``unknown-site``.
    message, hint
        What is wrong, and what to do about it (may be empty).
    severity
        ``error``, or ``warning`` for what does not stop a computation.
    """

    path: str
    line: int | None
    field: str
    value: str | None
    rule: str
    message: str
    hint: str = ""
    severity: str = "error"

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        place += ": warning" if self.severity == "warning" else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}: {self.field}: {self.message}{hint}"


class RecordError(SkillshiftError, ValueError):
    """Records that break the rules; nothing was computed from them.

    Attributes
    ----------
    faults
        Every fault of every file, one row each (`skillshift_frames.FAULTS`).
    path, line, field, value, rule
        Those of the first fault.
    """

    def __init__(self, faults: pl.DataFrame) -> None:
        self.faults = faults
        first = next(iter_faults(faults.head(1)))
        self.path, self.line, self.field = first.path, first.line, first.field
        self.value, self.rule = first.value, first.rule
        super().__init__(first)

    def __reduce__(self) -> tuple[type[RecordError], tuple[pl.DataFrame]]:
        # By pickle an error in a worker process reaches its parent.
        return type(self), (self.faults,)

    def __str__(self) -> str:
        return "\n".join(describe_faults(self.faults))


def iter_faults(faults: pl.DataFrame) -> Iterator[Fault]:
    """Give the rows of a frame of faults as `Fault` objects, in order."""
    return (Fault(**row) for row in faults.iter_rows(named=True))


def describe_faults(faults: pl.DataFrame, *, limit: int = FAULTS_SHOWN) -> list[str]:
    """Give one line per fault, the first ``limit`` of them, and a line that counts the rest."""
    lines = [str(fault) for fault in iter_faults(faults.head(limit))]
    rest = faults.height - len(lines)
    if rest:
        lines.append(f"… and {rest:,} more {'fault' if rest == 1 else 'faults'}")
    return lines


def check_frame(what: str, value: object, reader: str) -> None:
    """Raise for something that is no Polars frame: most often a path, which another function reads.

    Raises
    ------
    InputError
        Names the argument, what it was given, and the function that reads files.
    """
    if not hasattr(value, "lazy"):
        msg = (
            f"{what} is {value!r:.60}; a Polars frame is needed, and {reader} reads one from files"
        )
        raise InputError(msg)


def check_records(what: str, frame: pl.DataFrame) -> None:
    """Raise for a frame that holds no records: most often their tally, which another function takes.

    Raises
    ------
    InputError
        Names the argument, and says what is needed.
    """
    if "uid" not in frame.columns:
        msg = f"{what} has no uid, so it holds no records; the records themselves are needed, no tally of them"
        raise InputError(msg)


def check_cells(cells: object) -> None:
    """Raise for something that is no frame of cells: most often a path, or the records that they are made of.

    Raises
    ------
    InputError
        Says how cells are made.
    """
    columns = getattr(cells, "columns", None)
    if columns is None or "scored" not in columns:
        given = f"is {cells!r:.60}" if columns is None else "has no column scored"
        msg = f"cells {given}; a frame as cells(read_tasks(...)) gives it is needed"
        raise InputError(msg)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise for an option that is none of its choices: a misspelt one would silently do what nobody asked for.

    Raises
    ------
    InputError
        Names the option, what it was given, and the choices.
    """
    if value not in choices:
        msg = f"{name} is {value!r}; one of {', '.join(choices)} is needed"
        raise InputError(msg)
