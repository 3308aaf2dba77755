"""Values as tools write them → values as a trial has them, and the first look at what a folder is."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from skillshift_frames.readers.tools.files import Damage
from skillshift_frames.readers.wording import as_written, snippet
from skillshift_frames.trials import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skillshift_frames.readers.tools.common import Trials

#: How far a look goes that only asks whose folder it is: a results tree shows within so many folders what it is, however
#: many trials each of them holds, and a home folder is not gone through.
_LEVELS = 5
_FOLDERS = 400

#: Integers from here on are no measurement, and some of them no float.
_TOO_MUCH = 1 << 63

#: A tool that has no word of its own for it says so by one of these; any other word stays as it is.
_ARMS = {
    "with": "with",
    "with_skill": "with",
    "with_skills": "with",
    "without": "without",
    "without_skill": "without",
    "without_skills": "without",
    "no_skill": "without",
    "no_skills": "without",
}


def arm_of(word: object) -> object:
    """Give the arm that a tool's word for it means: ``with``, ``without``, else the word.

    Examples
    --------
    >>> arm_of("With Skills"), arm_of("without-skill"), arm_of(True), arm_of("old_skill")
    ('with', 'without', 'with', 'old_skill')
    """
    if isinstance(word, bool):
        return "with" if word else "without"
    if not isinstance(word, str):
        return word
    return _ARMS.get(word.strip().lower().replace(" ", "_").replace("-", "_"), word)


def identifier(value: object) -> object:
    """Give an id as text where it is a number; whatever is no id stays, for the row to say so.

    Examples
    --------
    >>> identifier(7), identifier("task-7"), identifier(True)
    ('7', 'task-7', True)
    """
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def text(value: object) -> str | None:
    """Give a text that says something, None for an empty one and whatever is no text.

    Examples
    --------
    >>> text("codex"), text(""), text(3)
    ('codex', None, None)
    """
    return value if isinstance(value, str) and value.strip() else None


def number_of(value: object, first: int = 1) -> object:
    """Give the number of a trial, from 1 where a tool counts from ``first``; whatever is none stays, for the row to say so.

    Examples
    --------
    >>> number_of(0, first=0), number_of(2), number_of("0", first=0), number_of([1])
    (1, 2, '0', '[1]')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value + 1 - first
    return as_written(value) if isinstance(value, list | dict) else value


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a JSON value is a number that can be computed with; true and false are none.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number(10**400), is_number(float("inf"))
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # A float that no column takes is no reason for what would be found from it, such as success.
    return abs(value) <= LARGEST if isinstance(value, float) else abs(value) < _TOO_MUCH


def sum_of(values: Iterable[object]) -> int | float | None:
    """Give the sum of numbers; None where one of them is none, since the rest is no sum of all.

    Examples
    --------
    >>> sum_of([1, 2.5]), sum_of([1, None]), sum_of([])
    (3.5, None, 0)
    """
    numbers: list[int | float] = []
    for value in values:
        if not is_number(value):
            return None
        numbers.append(value)
    return sum(numbers)


def beside(path: Path, wanted: Callable[[str], bool]) -> list[Path]:
    """Give the other files of a file's folder whose name is wanted, by name, without links: nobody named that folder."""
    try:
        with os.scandir(path.parent) as entries:
            names = sorted(
                e.name
                for e in entries
                if e.name != path.name and wanted(e.name) and e.is_file(follow_symlinks=False)
            )
    except OSError:
        return []
    return [path.parent / name for name in names]


def run_names(files: Iterable[Path]) -> dict[Path, str]:
    """Give each file's run a name: the file's, without its ending, and as many folders before it as tell two apart.

    Examples
    --------
    >>> list(run_names([Path("old/a.json"), Path("new/a.json"), Path("b.json")]).values())
    ['old/a', 'new/a', 'b']
    """
    parts = {
        file: (*Path(os.path.realpath(file.parent)).parts, file.name.removesuffix(".json"))
        for file in files
    }
    names = dict.fromkeys(parts, "")
    depth = 1
    while alike := [file for file, count in _counts(names).items() if count > 1 or not names[file]]:
        names |= {file: "/".join(parts[file][-depth:]) for file in alike}
        depth += 1
        if depth > max(map(len, parts.values())) + 1:
            break
    return names


def _counts(names: dict[Path, str]) -> dict[Path, int]:
    counts = Counter(names.values())
    return {file: counts[name] for file, name in names.items()}


def load_any(path: Path, found: Trials) -> tuple[object, ...]:
    """Give a file's JSON of whatever kind (``null`` is one) as the only item; nothing, and a problem, where it is damaged."""
    try:
        return (found.parse(path),)
    except Damage as damage:
        found.problem(path, damage.message, damage.hint, rule=damage.rule)
        return ()


class Repeats:
    """Says of trials that have the key of another one: both stay, and neither silently replaces the other."""

    def __init__(self, found: Trials) -> None:
        self._found = found
        self._seen: set[tuple[str, ...]] = set()

    def say(self, path: Path, *key: object) -> None:
        """Say that a key came twice, if it did; its values name the trial."""
        # What comes from a file may be anything, and an array is no part of a set.
        named = tuple(str(value) for value in key if value is not None)
        if named in self._seen:
            self._found.problem(
                path,
                f"{', '.join(map(snippet, named))} is there more than once",
                "every one is kept; remove what does not belong",
                field="trial",
                rule="repeated-trial",
                stands=True,
            )
        self._seen.add(named)
