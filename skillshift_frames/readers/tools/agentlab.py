"""BrowserGym and AgentLab: ``summary_info.json`` per experiment, ``result_df.csv`` per study → trials.

Task, seed, agent and model of an experiment lie in ``exp_args.pkl``. A pickle runs whatever code its writer put there, so it
is never opened: the study's table has them, too, and what the table does not have is in the folder's name.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from skillshift_frames.readers.tools.files import sampled
from skillshift_frames.readers.tools.tables import cell, columns_of, read_table
from skillshift_frames.readers.tools.values import identifier, is_number, sum_of, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from skillshift_frames.readers.tools.common import Trials

NAME = "agentlab"

SUMMARY = "summary_info.json"
_TABLE = "result_df.csv"
_TASK, _SEED, _AGENT = "env.task_name", "env.task_seed", "agent.agent_name"
_MODELS = ("agent.chat_model.model_name", "agent.model.model_name", "agent.model_name")

#: Tables that are looked into before a folder is taken for another tool's.
_LOOKS = 30

#: What an experiment's folder holds beside its summary, from its first moment on.
_MARKS = frozenset({SUMMARY, "exp_args.pkl", "experiment.log"})

_FOLDER = re.compile(
    r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_(?P<agent>.+)_on_(?P<task>.+?)_(?P<seed>-?\d+|None)(?:_\d+)?"
)
_UNCAUGHT = "Exception uncaught by agent or environment"
_EXCEPTION = re.compile(r"^([A-Za-z_][\w.]*)\s*:", re.MULTILINE)


# What stays in memory of a summary; its stack traces are the most of it.
_KEPT = (
    "n_steps",
    "cum_reward",
    "err_msg",
    "terminated",
    "truncated",
    "stats.cum_input_tokens",
    "stats.cum_output_tokens",
    "stats.cum_cost",
    "stats.cum_step_elapsed",
    "stats.cum_agent_elapsed",
)
# Columns of a table that are text whatever they look like.
_TEXTS = frozenset({_TASK, _AGENT, *_MODELS, "err_msg", "exp_dir"})

_Rows: TypeAlias = "dict[tuple[str, str], tuple[Path, dict[str, object]]]"


class Experiment(NamedTuple):
    """One run of one task: its folder (or the table, where there is only a row), and who ran what."""

    path: Path
    run: str | None
    task: object
    seed: object
    agent: object
    model: object
    summary: Mapping[str, object] | None


def recognises(path: Path) -> bool:
    """Tell whether a path is an AgentLab study, an experiment of one, or its table."""
    tables = 0
    for file in sampled(path, lambda name: name in _MARKS or name.endswith(".csv")):
        if file.name == SUMMARY or _FOLDER.fullmatch(file.parent.name):
            return True
        if file.suffix == ".csv" and tables < _LOOKS:
            tables += 1
            if {_TASK, "cum_reward"} <= columns_of(file):
                return True
    return False


def read(path: Path, found: Trials) -> None:
    """Add one trial per experiment; pair those of two agents by task and seed."""
    tables, folders, superseded = _survey(path, found)
    rows = _rows(tables, found)
    experiments = [
        _experiment(folder, _row_of(folder, rows), found) for folder in found.each(folders)
    ]
    # Of what has no folder (only the table was kept, or some were removed) the table's row stands.
    experiments += [_from_row(name, table, row) for (_, name), (table, row) in rows.items()]
    if superseded:
        found.note(
            f"{superseded} superseded {'run is' if superseded == 1 else 'runs are'} left out"
            " (AgentLab puts _ before the name of what it ran again)"
        )
    recovered = 0
    for experiment, number in zip(experiments, _numbers(experiments), strict=True):
        recovered += _add(experiment, number, found)
    if recovered:
        found.note(
            f"{recovered} {'trial' if recovered == 1 else 'trials'} with an error that the agent recovered from:"
            " the episode came to its end, and counts with its reward"
        )


def _survey(path: Path, found: Trials) -> tuple[list[Path], list[Path], int]:
    """Give the tables, the folders of experiments, and how many were superseded."""
    if path.is_file():
        return ([path], [], 0) if path.suffix == ".csv" else ([], [path.parent], 0)
    tables, folders, superseded = [], [], 0
    for here, inside in found.walk(path, _may_hold):
        names = {file.name for file in inside.files}
        if _FOLDER.fullmatch(here.name) or names & _MARKS:
            folders.append(here)
            continue
        superseded += sum(folder.name.startswith("_") for folder in inside.folders)
        tables += [
            file
            for file in inside.files
            if file.name == _TABLE
            or (file.suffix == ".csv" and {_TASK, "cum_reward"} <= columns_of(file))
        ]
    return tables, folders, superseded


def _may_hold(folder: Path) -> bool:
    """Tell whether a folder may be an experiment, or hold some: a superseded one is not looked at, nor videos of one."""
    return not folder.name.startswith("_") and not _FOLDER.fullmatch(folder.parent.name)


def _rows(tables: Iterable[Path], found: Trials) -> _Rows:
    """Give the rows of the tables by the names of their experiment's study and folder."""
    rows: _Rows = {}
    for table in tables:
        frame = read_table(table, found)
        if frame is not None and not {_TASK, "cum_reward"} <= set(frame.columns):
            found.problem(
                table,
                f"has no columns {_TASK} and cum_reward",
                "it is left out; AgentLab makes it anew from the study",
            )
            continue
        for at, row in enumerate(frame.iter_rows(named=True) if frame is not None else (), start=1):
            values = {name: value if name in _TEXTS else cell(value) for name, value in row.items()}
            where = Path(text(row.get("exp_dir")) or f"row {at} of {table.name}")
            key = (where.parent.name, where.name)
            if key in rows:
                found.problem(
                    table,
                    f"{where.name} has more than one row",
                    "the first one is taken; two copies of one study?",
                    field="exp_dir",
                    stands=True,
                )
                continue
            rows[key] = (table, values)
    return rows


def _row_of(folder: Path, rows: _Rows) -> dict[str, object]:
    """Take the row of an experiment's folder: that of its study, which may have been renamed since."""
    key = (folder.parent.name, folder.name)
    if key not in rows:
        alike = [other for other in rows if other[1] == folder.name]
        if len(alike) != 1:
            return {}
        key = alike[0]
    return rows.pop(key)[1]


def _experiment(folder: Path, row: Mapping[str, object], found: Trials) -> Experiment:
    summary = found.load(folder / SUMMARY, stands=True)
    named = _FOLDER.fullmatch(folder.name)
    parts = named.groupdict() if named else {}
    task = text(row.get(_TASK)) or parts.get("task")
    if task is None:
        found.problem(
            folder,
            f"neither a {_TABLE} nor the folder's name says which task it is",
            "the name is taken; AgentLab writes <time>_<agent>_on_<task>_<seed>",
            field="task",
            stands=True,
        )
        task = folder.name
    seed = row.get(_SEED)
    if seed is None and parts.get("seed") not in {None, "None"}:
        seed = int(parts["seed"])
    agent = text(row.get(_AGENT)) or parts.get("agent")
    kept = None if summary is None else {key: summary.get(key) for key in _KEPT}
    return Experiment(folder, _name(folder.parent), task, seed, agent, _model(row), kept)


def _from_row(name: str, table: Path, row: Mapping[str, object]) -> Experiment:
    above = Path(str(row.get("exp_dir") or "")).parent.name
    summary = row if row.get("cum_reward") is not None else None
    run = above or _name(table.parent)
    task = identifier(row.get(_TASK)) or name
    return Experiment(table, run, task, row.get(_SEED), text(row.get(_AGENT)), _model(row), summary)


def _name(folder: Path) -> str | None:
    """Give a folder's own name, also where it was named as ``.``."""
    return folder.name or Path(os.path.realpath(folder)).name or None


def _model(row: Mapping[str, object]) -> str | None:
    return next((model for name in _MODELS if (model := text(row.get(name)))), None)


def _numbers(experiments: list[Experiment]) -> list[int]:
    """Give each trial its number within its task: those of one seed alike for every agent, since they are what pairs.

    Where an agent has a seed twice, what comes after it moves on for all agents.
    """
    counts: dict[object, dict[object, dict[object, int]]] = {}
    nth = []
    for one in experiments:
        by_agent = counts.setdefault((one.run, one.task), {}).setdefault(one.seed, {})
        nth.append(by_agent.setdefault(one.agent, 0))
        by_agent[one.agent] += 1
    first: dict[object, dict[object, int]] = {}
    for task, seeds in counts.items():
        at = 1
        for seed in sorted(
            seeds, key=lambda seed: (not is_number(seed), seed if is_number(seed) else 0, str(seed))
        ):
            first.setdefault(task, {})[seed] = at
            at += max(seeds[seed].values())
    return [first[one.run, one.task][one.seed] + n for one, n in zip(experiments, nth, strict=True)]


def _add(one: Experiment, number: int, found: Trials) -> bool:
    """Add a trial, and tell whether it recovered from an error."""
    status, error_type = judge(one.summary)
    found.add(
        uid=one.task,
        trial=number,
        status=status,
        error_type=error_type,
        path=one.path,
        run=one.run,
        agent=one.agent,
        model=one.model,
        **measured(one.summary or {}, one.path, found, status),
    )
    return status == "scored" and text((one.summary or {}).get("err_msg")) is not None


def judge(summary: Mapping[str, object] | None) -> tuple[str, str | None]:
    """Give the status of an experiment and the type of its error.

    AgentLab copies into ``err_msg`` also the last error that its agent recovered from; such an episode came to an end
    (``terminated`` or ``truncated``) and has a reward that means something.

    Examples
    --------
    >>> judge({"terminated": True, "err_msg": "ParseError: retried"})
    ('scored', None)
    >>> judge({"terminated": False, "truncated": False, "err_msg": None})
    ('errored', 'unfinished')
    >>> judge(None)
    ('errored', 'incomplete')
    """
    if summary is None:
        return "errored", "incomplete"
    message = text(summary.get("err_msg"))
    ended = summary.get("terminated") is True or summary.get("truncated") is True
    if ended and not (message or "").startswith(_UNCAUGHT):
        return "scored", None
    if message is None or message.startswith("Last step in episode was not"):
        return "errored", "unfinished"
    rest = message.partition("\n")[2] if message.startswith(_UNCAUGHT) else message
    named = _EXCEPTION.search(rest)
    return "errored", named[1] if named else "error"


def measured(
    summary: Mapping[str, object], path: Path, found: Trials, status: str
) -> dict[str, Any]:
    """Give what a summary measured, as the columns of a trial."""
    reward = summary.get("cum_reward")
    if status == "errored" and is_number(reward) and reward:
        found.problem(
            path,
            f"has an error and a reward of {reward}",
            "the reward is left out; AgentLab's own summary refuses such a study",
            field="cum_reward",
            stands=True,
        )
    steps = summary.get("n_steps")
    elapsed = [summary.get(f"stats.cum_{part}_elapsed") for part in ("step", "agent")]
    return {
        "success": reward > 0 if is_number(reward) else None,
        "score": reward,
        # Interrupted before its first observation, AgentLab counts one action fewer than none.
        "steps": None if steps == -1 else steps,
        "input_tokens": summary.get("stats.cum_input_tokens"),
        "output_tokens": summary.get("stats.cum_output_tokens"),
        "cost": summary.get("stats.cum_cost"),
        "seconds": sum_of(elapsed),
    }
