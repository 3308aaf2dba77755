"""Folders of other tools → trials: whose they are is found by their content, and what is damaged in them is said."""

from __future__ import annotations

import glob
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from skillshift_frames.errors import (
    InputError,
    RecordError,
    SkillshiftWarning,
    check_choice,
    describe_faults,
)
from skillshift_frames.readers.sources import STDIN, holds_records, is_of_records
from skillshift_frames.readers.tools import NAMES, recognise, tool
from skillshift_frames.readers.tools.common import Trials
from skillshift_frames.readers.tools.files import sampled
from skillshift_frames.readers.wording import nearest, printable
from skillshift_frames.schema import FAULTS
from skillshift_frames.trials import concat_trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillshift_frames.readers.sources import Paths

#: A folder with more folders in it is one tool's: a job, with its trials.
_LOOKED_INTO = 50

#: What tells two trials of one run apart.
_KEY = ("tool", "run", "skill", "agent", "model", "arm", "uid", "trial")


class Collected(NamedTuple):
    """What other tools' folders hold: their trials, what is wrong with them, and what a user should be told besides."""

    trials: pl.DataFrame
    faults: pl.DataFrame
    notes: list[str]


def read_trials(paths: Paths, *, from_: str | None = None) -> pl.DataFrame:
    """Read what another tool wrote: its results folders or files, whichever of the known formats they are of.

    One row is one trial of one case.

    Parameters
    ----------
    paths
        One path or several, folders or files; strings may be globs. Each is of one tool. A path that is named twice is read
        once.
    from_
        The name of the format, where it is not to be found by content: ``"skillevaluator"``, ``"harbor"``, ``"atif"``,
        ``"inspect"``, ``"agentlab"``, ``"asi"``, ``"skill-creator"``, ``"tau-bench"``, ``"skillsbench"`` or
        ``"agentops"``.

    Returns
    -------
    polars.DataFrame
        Columns and dtypes as `TRIALS`, then one Float64 column per metric of the tool; sorted by tool, run, skill, agent,
        model, arm, uid and trial, whatever order the files are in. Null is what the tool does not say. A trial that cannot
        be read is there, too, as ``errored`` or ``unscored``, and so is one that the tool planned and that is not there, as
        ``missing``.

    Raises
    ------
    InputError
        A path that names nothing or is of no known format, a format that does not exist, or no trial at all.
    RecordError
        There is no trial, because of faults.

    Warns
    -----
    SkillshiftWarning
        Which format was found; and every fault, the first twenty of them in words: a file that is cut short, a value of a
        wrong type, a link that leaves the folder.

    See Also
    --------
    check_trials : gives the faults as a frame.
    read_tasks : gives such trials as records.

    Examples
    --------
    >>> import json, pathlib, tempfile, warnings
    >>> trial = {
    ...     "task_name": "task-1",
    ...     "trial_name": "task-1__aB3dE5g",
    ...     "agent_info": {"name": "codex"},
    ... }
    >>> trial["verifier_result"] = {"rewards": {"reward": 1.0}}
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # which format it is
    ...     job = pathlib.Path(folder, "job-1", "task-1__aB3dE5g")
    ...     job.mkdir(parents=True)
    ...     _ = (job / "result.json").write_text(json.dumps(trial))
    ...     read_trials(folder).select("tool", "run", "agent", "uid", "status", "success")
    shape: (1, 6)
    ┌────────┬───────┬───────┬────────┬────────┬─────────┐
    │ tool   ┆ run   ┆ agent ┆ uid    ┆ status ┆ success │
    │ ---    ┆ ---   ┆ ---   ┆ ---    ┆ ---    ┆ ---     │
    │ str    ┆ str   ┆ str   ┆ str    ┆ str    ┆ bool    │
    ╞════════╪═══════╪═══════╪════════╪════════╪═════════╡
    │ harbor ┆ job-1 ┆ codex ┆ task-1 ┆ scored ┆ true    │
    └────────┴───────┴───────┴────────┴────────┴─────────┘
    """
    return read_and_tell(paths, from_, stacklevel=3).trials


def read_and_tell(paths: Paths, from_: str | None, *, stacklevel: int = 2) -> Collected:
    """Read what another tool wrote as `read_trials` does, with its errors and warnings, and give the faults, too."""
    collected = collect(paths, from_)
    trials, faults, notes = collected
    if not trials.height:
        raise RecordError(faults)
    if faults.height:
        notes.append("\n".join(describe_faults(faults)))
    for note in notes:
        warnings.warn(note, SkillshiftWarning, stacklevel=stacklevel)
    return collected


def check_trials(paths: Paths, *, from_: str | None = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read what another tool wrote as `read_trials` does, and give what is wrong with it as a frame.

    Returns
    -------
    tuple of polars.DataFrame
        The trials, and the faults: one row each, columns as `FAULTS`, ``line`` null. ``severity`` is ``"warning"`` where the
        trial is in the first frame all the same (as ``errored`` or ``unscored``, or with a null), ``"error"`` where nothing
        stands for what was lost. Both may be empty.

    Raises
    ------
    InputError
        For what is no matter of content, as `read_trials`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     job = pathlib.Path(folder, "job-1", "task-1__aB3dE5g")
    ...     job.mkdir(parents=True)
    ...     _ = (job / "result.json").write_text('{"task_name": "task-1", ')
    ...     trials, faults = check_trials(folder, from_="harbor")
    >>> trials.select("uid", "status", "error_type").row(0), faults["severity"].to_list()
    (('task-1', 'errored', 'damaged result.json'), ['warning'])
    """
    collected = collect(paths, from_)
    for note in collected.notes:
        warnings.warn(note, SkillshiftWarning, stacklevel=2)
    return collected.trials, collected.faults


def collect(paths: Paths, from_: str | None) -> Collected:
    """Read what another tool wrote; arguments as for `read_trials`.

    Raises
    ------
    InputError
        As `read_trials`: there is neither a trial nor a fault that would say why.
    """
    if from_ is not None:
        known_tool(from_)
    read: list[tuple[Path, pl.DataFrame]] = []
    faults, notes, seen = [FAULTS.to_frame()], [], set()
    expanded = _expanded(paths)
    folders = {os.path.realpath(path) for path in expanded}
    for path in expanded:
        shown, real = printable(os.fspath(path)), os.path.realpath(path)
        if real in seen:
            notes.append(f"{shown}: named more than once; read once")
            continue
        if any(os.fspath(parent) in folders for parent in Path(real).parents):
            notes.append(f"{shown}: lies in another folder that was named; read with it")
            continue
        seen.add(real)
        name = from_ or _recognised(path)
        if from_ is None:
            notes += [f"{shown}: read as {name}", *_others_within(path, name)]
        found = Trials(name, path)
        tool(name).read(path, found)
        if not found.count and not found.problems:
            msg = f"{shown}: holds no trial of {name}; name the folder that the tool wrote its results to"
            raise InputError(msg)
        read.append((path, found.frame()))
        faults.append(found.faults())
        notes += [note for note in found.notes if note not in notes]
    return Collected(concat_trials(_named(read)), pl.concat(faults), notes)


def known_tool(name: str) -> None:
    """Raise for a format that does not exist, with the one that was probably meant.

    Raises
    ------
    InputError
        Names the formats.
    """
    near = nearest(str(name), tuple(NAMES))
    if name not in NAMES and near:
        msg = f"from_ is {name!r}; did you mean {near!r}?"
        raise InputError(msg)
    check_choice("from_", name, tuple(NAMES))


def _recognised(path: Path) -> str:
    name = recognise(path)
    if name is None:
        msg = (
            f"{printable(os.fspath(path))}: is of no format that is known ({', '.join(NAMES)}); "
            "if it is one of these, name it: from_= (--from); two runs of records are for compare"
        )
        raise InputError(msg)
    return name


def _others_within(path: Path, name: str) -> list[str]:
    """Say where a folder of one tool holds folders that look like another's: those are not read with it."""
    # Trajectories, and experiments of a runner that others build on, are parts of other formats.
    parts = {"atif", "agentlab"}
    below = sorted(inside for inside in path.iterdir() if inside.is_dir()) if path.is_dir() else []
    below = [inside for inside in below if not inside.name.startswith(("_", "."))]
    if len(below) > _LOOKED_INTO:
        return []
    found = {inside: recognise(inside) for inside in below}
    return [
        f"{printable(os.fspath(inside))}: looks like {other}, and is not read as {name}; name it by itself"
        for inside, other in found.items()
        if other not in {None, name, *parts}
    ]


def named_paths(paths: Paths) -> list[str | os.PathLike[str]]:
    """Give one path or several as several."""
    return [paths] if isinstance(paths, str | os.PathLike) else list(paths)


def _expanded(paths: Paths) -> list[Path]:
    named = named_paths(paths)
    if not named:
        msg = "no folder was named; give the path of another tool's results"
        raise InputError(msg)
    return [path for name in named for path in _matches(os.fspath(name))]


def _matches(name: str) -> list[Path]:
    if name == STDIN:
        msg = (
            "results of another tool are folders or files; they cannot be read from standard input"
        )
        raise InputError(msg)
    if not name:
        msg = "an empty path; name a folder or file"
        raise InputError(msg)
    path = Path(name).expanduser()
    if os.path.lexists(path):
        if not path.exists():
            msg = f"{printable(name)}: is a link to a file that is not there"
            raise InputError(msg)
        return [path]
    matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not matches:
        what = "the pattern matches no file" if glob.has_magic(name) else "no such file or folder"
        msg = f"{printable(name)}: {what}"
        raise InputError(msg)
    return [Path(match) for match in matches]


def _named(read: Sequence[tuple[Path, pl.DataFrame]]) -> list[pl.DataFrame]:
    """Give every trial a run, and runs of one name two where the same trials are in both of two folders."""
    frames = [frame.with_columns(pl.col("run").fill_null(_name(path))) for path, frame in read]
    if len(frames) > 1:
        keys = pl.concat(
            [
                frame.select(_KEY).unique().with_columns(_from=pl.lit(i))
                for i, frame in enumerate(frames)
            ]
        )
        twice = keys.filter(pl.struct(_KEY).is_duplicated()).select("tool", "run").unique()
        for index, label in enumerate(_folder_labels([path for path, _ in read])):
            longer = pl.concat_str(pl.lit(f"{label}/"), "run")
            again = pl.struct("tool", "run").is_in(twice.to_struct().implode())
            frames[index] = frames[index].with_columns(
                pl.when(again).then(longer).otherwise("run").alias("run")
            )
    return frames


def _name(path: Path) -> str:
    real = Path(os.path.abspath(path))  # noqa: PTH100 - a link keeps its name
    return printable(real.name if path.is_dir() else real.stem) or "results"


def _folder_labels(paths: Sequence[Path]) -> list[str]:
    """Name folders by their last parts, as many as tell them apart."""
    parts = [Path(os.path.abspath(path)).parts for path in paths]  # noqa: PTH100 - as above
    depth = 1
    while depth < max(map(len, parts)) and len({p[-depth:] for p in parts}) < len(parts):
        depth += 1
    return [printable("/".join(p[-depth:])) for p in parts]


def of_other_tools(paths: Paths, from_: str | None) -> bool:
    """Tell whether paths are another tool's results and not records: by content, unless somebody says so.

    A folder with a ``per_task.jsonl`` in it or below, and a file whose name ends like that of records, is none.

    Raises
    ------
    InputError
        Some are and some are not.
    """
    if from_ is not None:
        return True
    foreign = {os.fspath(name): _is_foreign(os.fspath(name)) for name in named_paths(paths)}
    if len(set(foreign.values())) > 1:
        records, others = (
            next(n for n, is_so in foreign.items() if is_so is w) for w in (False, True)
        )
        msg = (
            f"{printable(others)} is another tool's, {printable(records)} is not; read them one after the other "
            "(export makes records of another tool's results)"
        )
        raise InputError(msg)
    return any(foreign.values())


def _is_foreign(name: str) -> bool:
    path = Path(name).expanduser()
    if name != STDIN and not os.path.lexists(path) and glob.has_magic(name):
        matches = glob.glob(name, recursive=True)  # noqa: PTH207 - as above
        return bool(matches) and all(map(_is_foreign, matches))
    if path.is_dir():
        # Records mostly lie near the top: then no format need be tried, and no module of one imported.
        if any(True for _ in sampled(path, holds_records)):
            return False
        return recognise(path) is not None and not _has_records(path)
    return path.is_file() and not is_of_records(name) and recognise(path) is not None


def _has_records(folder: Path) -> bool:
    """Tell whether there are records in a folder or below it; links in it may lead anywhere, and are not followed."""
    return any(any(map(holds_records, files)) for _, _, files in os.walk(folder))
