"""Inspect AI: the data frames of its analysis, saved as Parquet or CSV → trials.

``samples_df`` has one row per sample and epoch, ``evals_df`` one per log; where both are there, they are joined. Inspect has
no notion of an arm: it is looked for among the arguments of the task, the tags and the metadata.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from skillshift_frames.readers.json_shape import value_at
from skillshift_frames.readers.tools.files import sampled
from skillshift_frames.readers.tools.inspect_values import (
    by_scorer,
    error_type,
    headline,
    scored,
    usage,
)
from skillshift_frames.readers.tools.tables import cell, columns_of, is_table, read_table
from skillshift_frames.readers.tools.values import (
    Repeats,
    arm_of,
    beside,
    identifier,
    is_number,
    text,
)
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

NAME = "inspect"

_SAMPLE = {"eval_id", "id", "epoch"}
_EVAL = {"eval_id", "task_name", "status"}

#: Names under which people keep which arm it was; of the flags only true and false say it.
_WORDS = ("arm", "condition", "variant", "configuration")
_FLAGS = ("with_skill", "with_skills", "use_skill", "use_skills", "has_skill", "has_skills")
_PLACES: dict[str, type] = {
    prefix + name: kind
    for prefix in ("task_arg_", "metadata_")
    for names, kind in ((_WORDS, str), (_FLAGS, bool))
    for name in names
}

_OF_A_SAMPLE = {"sample_id", "error", "model_usage", "total_time", "turn_count", *_SAMPLE}
_OF_AN_EVAL = {
    "total_samples",
    "task_name",
    "model",
    "solver",
    "tags",
    "metadata",
    "status",
    "epochs",
    "dataset_sample_ids",
    "eval_id",
}
_HEADLINE = "score_headline_"
_OF_AN_EVAL |= {f"{_HEADLINE}name", f"{_HEADLINE}score"}

#: Tables that are looked into before a folder is taken for another tool's.
_LOOKS = 30

#: More planned samples than any log has; a mistyped number of epochs must not fill the memory.
_MOST_PLANNED = 1_000_000

_Row = dict[str, object]


class _Log(NamedTuple):
    """What all samples of a log have in common."""

    run: str | None
    agent: str | None
    model: str | None
    row: _Row


def recognises(path: Path) -> bool:
    """Tell whether a path is a data frame of Inspect's samples or evals, or a folder that holds some."""
    return any(_kind(file) for file in islice(sampled(path, is_table), _LOOKS))


def _kind(table: Path) -> str | None:
    columns = columns_of(table)
    return "samples" if columns >= _SAMPLE else "evals" if columns >= _EVAL else None


def read(path: Path, found: Trials) -> None:
    """Add one trial per sample and epoch, and one that is missing per sample that a log planned and does not have."""
    samples, evals = _tables(path, found)
    logs: dict[str, _Row] = {}
    for table in evals:
        frame = read_table(table, found, lambda name: name in _OF_AN_EVAL or name in _PLACES)
        for row in frame.iter_rows(named=True) if frame is not None else ():
            logs.setdefault(str(row["eval_id"]), row)
    if not samples:
        found.problem(
            path,
            "has no table of samples",
            "write samples_df(…) of inspect_ai.analysis to Parquet; evals alone are means",
        )
    rows: list[tuple[Path, _Row]] = []
    for table in samples:
        frame = read_table(table, found, _wanted)
        rows += [(table, row) for row in (frame.iter_rows(named=True) if frame is not None else ())]
    rows = _once(rows, found)
    scores = dict.fromkeys(n for _, row in rows for n in row if n.startswith("score_"))
    named = _runs(rows, logs)
    every = _Samples(named, by_scorer(n for n in scores if not n.startswith(_HEADLINE)), found)
    for table, row in found.each(rows):
        every.add(table, row)
    every.note()
    _say_unknown(rows, logs, found)
    _add_missing(every.there, named, logs, evals, found)


def _wanted(column: str) -> bool:
    return column.startswith("score_") or column in _OF_A_SAMPLE | _OF_AN_EVAL or column in _PLACES


def _tables(path: Path, found: Trials) -> tuple[list[Path], list[Path]]:
    """Give the tables of samples and those of evals; of a CSV beside a Parquet file of its name only the latter."""
    files = [path]
    if path.is_dir():
        every = list(chain.from_iterable(inside.files for _, inside in found.walk(path)))
        files = [file for file in every if is_table(file.name)]
        logs = sum(file.suffix == ".eval" for file in every)
        if logs and not files:
            found.problem(
                path,
                f"has {logs} logs and no table",
                "write samples_df and evals_df of inspect_ai.analysis to Parquet",
            )
    elif _kind(path) == "samples":
        # What was named by itself has its evals beside it, most often; samples are only those that were named.
        others = [file for file in beside(path, is_table) if _kind(file) == "evals"]
        files += [file for file in others if file.suffix == path.suffix] or others
    both = {file.with_suffix("") for file in files if file.suffix == ".parquet"}
    twice = [file for file in files if file.suffix == ".csv" and file.with_suffix("") in both]
    if twice:
        found.note(
            f"left out: {', '.join(file.name for file in twice)}; of each the Parquet file of its name is taken"
        )
    kinds: dict[str, list[Path]] = {"samples": [], "evals": []}
    for file in files:
        kind = None if file in twice else _kind(file)
        if kind is not None:
            kinds[kind].append(file)
        elif file not in twice:
            _say_no_table(file, len(files) == 1, found)
    return kinds["samples"], kinds["evals"]


def _say_no_table(file: Path, alone: bool, found: Trials) -> None:  # noqa: FBT001 - one caller
    """Say of a table that it cannot be read, and of the only one also that it is another tool's."""
    if columns_of(file):
        if alone:
            found.problem(file, "is neither a table of samples nor one of evals")
        return
    # Of a table that cannot be read nobody knows what it is.
    read_table(file, found)


def _once(rows: list[tuple[Path, _Row]], found: Trials) -> list[tuple[Path, _Row]]:
    """Leave out samples that an earlier table has: two exports of one log must not count twice."""
    seen: dict[str, Path] = {}
    kept: list[tuple[Path, _Row]] = []
    again: Counter[tuple[Path, Path]] = Counter()
    for table, row in rows:
        name = text(row.get("sample_id"))
        if name is not None:
            first = seen.setdefault(name, table)
            if first != table:
                again[table, first] += 1
                continue
        kept.append((table, row))
    for (table, first), count in sorted(again.items()):
        found.problem(
            table,
            f"{count} samples are in {first.name}, too",
            "they are counted once; keep one of the two",
            rule="repeated-trial",
            field="sample_id",
            stands=True,
        )
    return kept


class _Samples:
    """Adds the samples of all tables, and says at the end what was to be said of many of them once."""

    def __init__(self, named: dict[str, _Log], scores: list[str], found: Trials) -> None:
        self.there: dict[str, set[tuple[str, int]]] = {}
        self._named, self._scores, self._found = named, scores, found
        self._repeats = Repeats(found)
        self._taken: set[str] = set()
        self._partly = self._armless = 0

    def add(self, table: Path, row: _Row) -> None:
        """Add one sample."""
        found, key = self._found, str(row["eval_id"])
        log, uid, epoch = self._named[key], identifier(row.get("id")), cell(row.get("epoch"))
        self._repeats.say(table, f"log {key}", f"sample {uid}", f"epoch {epoch}")
        if isinstance(epoch, int):
            self.there.setdefault(key, set()).add((str(uid), epoch))
        # The frames of several logs have each other's columns, empty.
        values = {name: cell(row.get(name)) for name in self._scores}
        main = headline(log.row, values, self._scores)
        metrics, success, score = scored(values, main, table, found)
        arm, said = _arm(row, log.row), text(row.get("error"))
        self._taken |= {main.removeprefix("score_")} if main else set()
        self._partly += success is None and score is not None
        self._armless += arm is None
        status = "scored" if metrics else "errored" if said else "unscored"
        found.add(
            uid=uid,
            trial=epoch,
            status=status,
            error_type=None if status == "scored" else error_type(said) if said else "no score",
            path=table,
            run=log.run,
            agent=log.agent,
            model=log.model,
            arm=arm,
            success=success,
            score=score,
            metrics=metrics,
            steps=cell(row.get("turn_count")),
            seconds=cell(row.get("total_time")),
            **usage(cell(row.get("model_usage")), table, found),
        )

    def note(self) -> None:
        """Say what was decided for many samples."""
        if len(self._scores) > 1 and self._taken:
            every = ", ".join(name.removeprefix("score_") for name in self._scores)
            self._found.note(
                f"of the scores {every}, {' and '.join(sorted(self._taken))} is taken as the trial's;"
                " all of them are metrics"
            )
        if self._partly:
            self._found.note(
                f"{self._partly} scores are neither 0 nor 1, and Inspect does not say where success begins:"
                " no success is taken from them"
            )
        if self._armless:
            self._found.note(
                f"{self._armless} samples do not say their arm (looked for: {', '.join(_WORDS)},"
                f" {', '.join(_FLAGS)} among task_arg_*, metadata_*, and tags)"
            )


def _say_unknown(rows: list[tuple[Path, _Row]], logs: dict[str, _Row], found: Trials) -> None:
    """Say of which logs there are samples, and no evals."""
    unknown = Counter((table, str(row["eval_id"])) for table, row in rows)
    for (table, key), count in sorted(unknown.items()):
        if logs and key not in logs:
            found.problem(
                table,
                f"{count} samples are of log {key}, which no table of evals has",
                "its model and arm may be lacking; export evals_df of the same logs",
                field="eval_id",
                value=key,
                stands=True,
            )


def _runs(rows: list[tuple[Path, _Row]], logs: dict[str, _Row]) -> dict[str, _Log]:
    """Name the runs: after their task, so that the arms of one task are one run; with the log's id where it ran twice."""
    firsts: dict[str, _Row] = {}
    for _, row in rows:
        firsts.setdefault(str(row["eval_id"]), row)
    found = {}
    for key in dict.fromkeys([*firsts, *logs]):
        # A frame of samples may have been joined with columns of its evals already.
        joined = {n: v for n, v in firsts.get(key, {}).items() if n in _OF_AN_EVAL or n in _PLACES}
        found[key] = joined | {n: v for n, v in logs.get(key, {}).items() if v is not None}
    owners = {
        key: (text(row.get("task_name")), text(row.get("solver")), text(row.get("model")))
        for key, row in found.items()
    }
    sides = {key: (owners[key], str(_arm(found[key], {}))) for key in found}
    alike = Counter(sides.values())
    named = {}
    for key, (task, solver, model) in owners.items():
        run = key if task is None else task if alike[sides[key]] == 1 else f"{task} {key}"
        named[key] = _Log(run, solver, model, found[key])
    return named


def _arm(sample: Mapping[str, object], log: Mapping[str, object]) -> object:
    """Give the arm of a sample, None where nothing says it."""
    for row in (sample, log):
        for place, kind in _PLACES.items():
            said = cell(row.get(place))
            if isinstance(said, kind):
                return arm_of(said)
    for row in (sample, log):
        for tag in re.split(r"[,\[\]\"\s]+", text(row.get("tags")) or ""):
            key, _, word = tag.partition(":")
            if key in _WORDS and word:
                return arm_of(word)
    metadata = _json(log.get("metadata"))
    said = next((v for n in _WORDS if isinstance(v := value_at(metadata, n), str)), None)
    return arm_of(said)


def _json(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _add_missing(
    there: dict[str, set[tuple[str, int]]],
    named: dict[str, _Log],
    logs: dict[str, _Row],
    evals: list[Path],
    found: Trials,
) -> None:
    """Add the samples that a log planned and does not have: it was cancelled, or ended in an error."""
    for key, row in logs.items():
        ids, epochs = _json(row.get("dataset_sample_ids")), cell(row.get("epochs"))
        if not isinstance(ids, list) or not isinstance(epochs, int):
            _say_unnamed(key, row, len(there.get(key, ())), evals[0], found)
            continue
        if len(ids) * epochs > _MOST_PLANNED:
            continue
        planned = {(str(one), epoch) for one in ids for epoch in range(1, epochs + 1)}
        absent = planned - there.get(key, set())
        if not absent:
            continue
        log = named[key]
        found.problem(
            evals[0],
            f"log {key} ({snippet(as_written(row.get('status')))}): {len(absent)} of {len(planned)} planned samples are not there",
            "they stand as missing",
            field="dataset_sample_ids",
            rule="missing-trial",
            stands=True,
        )
        for uid, epoch in sorted(absent):
            found.add(
                uid=uid,
                trial=epoch,
                status="missing",
                path=evals[0],
                run=log.run,
                agent=log.agent,
                model=log.model,
                arm=_arm({}, log.row),
            )


def _say_unnamed(key: str, row: _Row, there: int, table: Path, found: Trials) -> None:
    """Say how many samples of a log are not there, where it has their number and not their names."""
    total = cell(row.get("total_samples"))
    if is_number(total) and there < total <= _MOST_PLANNED:
        found.problem(
            table,
            f"log {key}: {there} of {total:g} samples are there, and nothing says which the others are",
            "export the log again, with all its samples",
            field="total_samples",
            value=str(int(total) - there),
            rule="missing-trials",
        )
