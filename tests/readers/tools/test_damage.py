"""Damage of every kind to what every tool writes: a trial has a status or a problem says where it went; nothing raises."""

from __future__ import annotations

import json
import os
import random
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from polars.testing import assert_frame_equal

from skillshift_frames.readers.tools import recognise, tool
from skillshift_frames.trials import STATUSES
from tests.readers.tools import (
    agentlab_files,
    agentops_files,
    inspect_files,
    skill_creator_files,
    skillsbench_files,
    tau_files,
)
from tests.readers.tools.reading import read, recognised, said, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials


def _tau2(root: Path) -> Path:
    every = [tau_files.simulation(task, n, 1.0) for task in ("a", "b") for n in (0, 1)]
    write_json(root / "one-file.json", tau_files.tau2(every, 2, ["a", "b"]))
    return tau_files.write_tau2_folder(root / "run", every, 2).parent


def _cards(root: Path) -> Path:
    write_json(root / "2026-08-04" / "plan-low.json", agentops_files.card(["AP", "AP", "AD"]))
    write_json(root / "2026-08-16" / "plan-low.json", agentops_files.card(["PP", "PA"]))
    return root


def _registry(root: Path) -> Path:
    cells = [skillsbench_files.cell(t, c, 50.0) for t in "ab" for c in ("With Skills", "No Skills")]
    write_json(root / "results-registry.json", cells)
    return root


def _table_only(root: Path) -> Path:
    entries = [("base", "webarena.1", seed, agentlab_files.summary()) for seed in (1, 2)]
    agentlab_files.table(root / "result_df.csv", entries, "study")
    return root


#: What is written → (the tool, the writer, how many trials).
TREES: dict[str, tuple[str, Callable[[Path], Path], int]] = {
    "agentlab": ("agentlab", agentlab_files.write_study, 8),
    "agentlab table": ("agentlab", _table_only, 2),
    "asi": ("asi", agentlab_files.write_asi, 6),
    "skill-creator": ("skill-creator", skill_creator_files.write_iteration, 12),
    "inspect": ("inspect", inspect_files.write_frames, 12),
    "inspect csv": ("inspect", lambda root: inspect_files.write_frames(root, ".csv"), 12),
    "tau-bench": ("tau-bench", tau_files.write_runs, 12),
    "tau2": ("tau-bench", _tau2, 8),
    "skillsbench": ("skillsbench", skillsbench_files.write_results, 18),
    "skillsbench registry": ("skillsbench", _registry, 4),
    "agentops report": ("agentops", agentops_files.write_report, 12),
    "agentops cards": ("agentops", _cards, 10),
}

every_tree = pytest.mark.parametrize("name", TREES)


def build(name: str, root: Path) -> tuple[str, Path]:
    tool, write, trials = TREES[name]
    root.mkdir(exist_ok=True)
    assert write(root) == root
    assert read(tool, root).count == trials
    return tool, root


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def check(found: Trials) -> None:
    """What holds of any reading, of whatever."""
    frame = found.frame()
    found.faults()
    assert set(frame.get_column("status")) <= set(STATUSES)
    assert frame.get_column("uid").null_count() == 0
    assert (frame.get_column("trial") >= 1).all()
    unscored = frame.filter(frame.get_column("status") != "scored")
    assert unscored.get_column("score").null_count() == unscored.height
    assert unscored.get_column("success").null_count() == unscored.height


@every_tree
def test_every_format_is_recognised_as_itself_and_as_no_other(name: str, tmp_path: Path) -> None:
    tool, root = build(name, tmp_path / "x")
    assert recognise(root) == tool
    # An experiment of ASI is one of BrowserGym: of these two the first one that is asked takes it.
    assert recognised(root) == (["asi", "agentlab"] if tool == "asi" else [tool])


@every_tree
def test_a_file_by_itself_is_recognised_too(name: str, tmp_path: Path) -> None:
    tool, root = build(name, tmp_path / "x")
    taken = {path for path in files(root) if recognise(path) == tool}
    assert taken
    for path in taken:
        check(read(tool, path))


@every_tree
def test_nothing_and_something_else_are_not_recognised(name: str, tmp_path: Path) -> None:
    tool = TREES[name][0]
    write_json(tmp_path / "other" / "package.json", {"name": "x", "results": [1], "info": {}})
    (tmp_path / "other" / "notes.csv").write_text("a,b\n1,2\n")
    for path in (tmp_path / "no such", tmp_path / "other", tmp_path / "other" / "package.json"):
        assert tool not in recognised(path)
    check(read(tool, tmp_path / "other"))


@contextmanager
def _any_order(seed: int) -> Iterator[None]:
    """Make the system give folders in an order of its own."""
    scandir = os.scandir

    class Shuffled:
        def __init__(self, folder: Any) -> None:  # noqa: ANN401
            with scandir(folder) as entries:
                self.entries = list(entries)
            random.Random(seed).shuffle(self.entries)  # noqa: S311 - any order will do

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            return iter(self.entries)

        def __exit__(self, *_: object) -> None: ...

    os.scandir = Shuffled  # type: ignore[assignment]
    try:
        yield
    finally:
        os.scandir = scandir


@every_tree
def test_the_order_of_folders_plays_no_part(name: str, tmp_path: Path) -> None:
    tool, root = build(name, tmp_path / "x")
    plain = read(tool, root)
    for seed in range(3):
        with _any_order(seed):
            found = read(tool, root)
        assert_frame_equal(found.frame(), plain.frame())
        assert_frame_equal(found.faults(), plain.faults())
        assert found.notes == plain.notes


def _truncated(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe" + path.read_bytes())


def _other_kind(path: Path) -> None:
    path.write_text("[3]")


def _null(path: Path) -> None:
    path.write_text("null")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _linked_outside(path: Path) -> None:
    kept = TOP[0].parent / f"outside-{path.name}"
    shutil.copy(path, kept)
    path.unlink()
    path.symlink_to(kept)


def _broken_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def _gone(path: Path) -> None:
    path.unlink()


#: The folder that is read, for the damage that reaches out of it.
TOP: list[Path] = []

DAMAGE = [
    _truncated,
    _empty,
    _no_text,
    _other_kind,
    _null,
    _folder,
    _linked_outside,
    _broken_link,
    _gone,
]

#: Files without which nothing changes: nobody reads them.
UNREAD = {"experiment.log", "exp_args.pkl", "cleaned_steps.json"}


@every_tree
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_told_and_takes_nothing_else_along(
    name: str, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    tool, write, trials = TREES[name]
    (tmp_path / "clean").mkdir()
    for path in files(write(tmp_path / "clean")):
        part = path.relative_to(tmp_path / "clean")
        shutil.rmtree(tmp_path / "x", ignore_errors=True)
        shutil.copytree(tmp_path / "clean", tmp_path / "x")
        clean = read(tool, tmp_path / "x")
        TOP[:] = [tmp_path / "x"]
        damage(tmp_path / "x" / part)
        found = read(tool, tmp_path / "x")
        check(found)
        if path.name in UNREAD:
            assert found.count == trials
            continue
        # A file that is not there is told of by another one, or by none: a run may be removed.
        if damage not in {_gone, _folder}:
            told = said(found) != said(clean) or found.notes != clean.notes
            assert told, (part, found.frame())
        # One file per trial: the others are not touched.
        if path.name in {"summary_info.json", "grading.json"}:
            assert found.count == trials
            assert len(set(found.frame().rows()) - set(clean.frame().rows())) == 1


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    yield path
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in parts:
        yield from _places(part, (*path, key))


WRONG: list[Any] = [None, True, -1, 2.5, 10**400, "", "x", "\ud800", [], [None], {}, {"a": {}}]


@every_tree
def test_no_value_of_a_wrong_type_raises(name: str, tmp_path: Path) -> None:
    tool, root = build(name, tmp_path / "x")
    rng = random.Random(name)  # noqa: S311 - a sample of places
    read_files = [p for p in files(root) if p.suffix == ".json" and p.name not in UNREAD]
    # One file of each name: those of one name have one shape.
    for path in {path.name: path for path in read_files}.values():
        text = path.read_text()
        places = [place for place in _places(json.loads(text)) if place]
        tried = [(place, wrong) for place in places for wrong in WRONG]
        for place, wrong in rng.sample(tried, min(len(tried), 60)):
            content = json.loads(text)
            at = content
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = wrong
            path.write_text(json.dumps(content))
            check(read(tool, root))
            recognise(path)
        path.write_text(text)


@every_tree
def test_keys_that_come_twice_and_numbers_that_are_none_are_told(name: str, tmp_path: Path) -> None:
    tool, root = build(name, tmp_path / "x")
    for path in files(root):
        if path.suffix != ".json" or path.name in UNREAD:
            continue
        text = path.read_text()
        key = text[text.index('"') :].split(":", 1)[0]
        for damaged in (
            text.replace("{", f"{{{key}: 1, ", 1),
            text.replace(": 1", ": NaN", 1)
            if ": 1" in text
            else text.replace("{", '{"nan": NaN, ', 1),
        ):
            path.write_text(damaged)
            found = read(tool, root)
            check(found)
            assert any(
                "times in one object" in line or "NaN is no JSON number" in line
                for line in said(found)
            )
        path.write_text(text)


def test_an_empty_folder_gives_no_trials_and_no_error(tmp_path: Path) -> None:
    for name in {name for name, _, _ in TREES.values()}:
        found = read(name, tmp_path)
        check(found)
        assert found.count == 0
    assert recognised(tmp_path) == []


def test_a_folder_of_thousands_is_recognised_by_the_first_ones(tmp_path: Path) -> None:
    agentlab_files.write_study(tmp_path)
    study = tmp_path / "2026-08-01_study"
    (study / "result_df.csv").unlink()
    for number in range(5000):
        (study / f"{agentlab_files.TIME}_z_on_t_{number}").mkdir()
    assert recognised(tmp_path) == ["agentlab"]


def test_no_path_makes_the_first_look_raise(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "closed").mkdir(mode=0)
    paths = ["loop", "closed", "x" * 300, "a\x00b"]
    for name in {name for name, _, _ in TREES.values()}:
        assert not any(tool(name).recognises(tmp_path / path) for path in paths)
