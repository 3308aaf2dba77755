"""Same input, same bytes: whatever the order of records and files, the hash seed and the number of threads."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from skillshift_frames.cli.app import run
from tests.strategies import SMALL, by_run, records, to_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.cli.conftest import Cli

#: Every output there is: the command, and the file that it is written to.
OUTPUTS = (
    *((command, f"{command}.{suffix}") for command in ("table", "cells", "check")
      for suffix in ("txt", "md", "tex", "html", "csv", "json")),
    *((command, f"{command}.{suffix}") for command in ("leaderboard", "shift") for suffix in ("json", "html")),
    *(("export", f"runs.{suffix}") for suffix in ("parquet", "arrow", "csv", "jsonl")),
)  # fmt: skip
#: Those that hold all there is to say.
TELLING = ("table.json", "cells.csv", "check.txt", "runs.parquet")
OTHER_POLICIES = ("--errors", "zero", "--null", "available")


def write_outputs(
    folder: Path, files: Sequence[object], *options: str, only: Sequence[str] = ()
) -> dict[str, bytes]:
    """Let every command write in every format, or only some, and give the files."""
    outputs = [output for output in OUTPUTS if output[1] in only or not only]
    for command, name in outputs:
        arguments = [command, *map(str, files), *options, "-o", str(folder / name)]
        assert run(arguments) == 0
    return {name: (folder / name).read_bytes() for _, name in outputs}


@pytest.fixture
def shuffle_lines(tmp_path: Path) -> Callable[[Path, int], Path]:
    """Copy a file with its lines in another order."""

    def shuffle(path: Path, seed: int) -> Path:
        lines = path.read_bytes().splitlines(keepends=True)
        random.Random(seed).shuffle(lines)  # noqa: S311 - an order, not a secret
        copy = tmp_path / f"shuffled-{seed}" / path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(b"".join(lines))
        return copy

    return shuffle


def test_order_of_records_and_files_does_not_show(
    demo: list[Path], tmp_path: Path, shuffle_lines: Callable[[Path, int], Path]
) -> None:
    (tmp_path / "ordered").mkdir()
    (tmp_path / "shuffled").mkdir()
    ordered = write_outputs(tmp_path / "ordered", demo)
    files = [shuffle_lines(path, 1) for path in reversed(demo)]
    shuffled = write_outputs(tmp_path / "shuffled", files)
    assert [name for name in ordered if ordered[name] != shuffled[name]] == []


def test_other_policies_do_not_depend_on_the_order_either(
    cli: Cli, demo: list[Path], shuffle_lines: Callable[[Path, int], Path]
) -> None:
    ordered = cli("table", *demo, *OTHER_POLICIES)
    shuffled = cli("table", *(shuffle_lines(path, 2) for path in reversed(demo)), *OTHER_POLICIES)
    assert shuffled == ordered


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_run_of_any_shape_shows_its_order(data: st.DataObject) -> None:
    drawn = data.draw(records(SMALL))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        axes = folder / "small.toml"
        sites = "\n".join(f"{site} = {count}" for site, count in SMALL.sites.items())
        axes.write_text(f"conditions = {list(SMALL.conditions)}\n[sites]\n{sites}\n")
        results = []
        for way in (drawn, data.draw(st.permutations(drawn))):
            files = []
            for label, own in by_run(way).items():
                files.append(folder / f"{label}.jsonl")
                files[-1].write_bytes(to_jsonl(own))
            options = ("--benchmark", str(axes), "--force")
            results.append(write_outputs(folder, files, *options, only=TELLING))
        assert results[0] == results[1]


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_shards_in_any_order_are_one_run(
    cli: Cli, demo: list[Path], tmp_path: Path, suffix: str
) -> None:
    lines = demo[0].read_bytes().splitlines(keepends=True)
    shards = [tmp_path / f"induced-{part}.jsonl" for part in range(3)]
    for part, shard in enumerate(shards):
        shard.write_bytes(b"".join(lines[part::3]))
    whole = cli("table", demo[0], "--format", suffix)
    assert cli("table", "--pool", *shards, "--format", suffix) == whole
    assert cli("table", "--pool", *reversed(shards), "--format", suffix) == whole


def test_what_a_grid_could_show_is_listed_in_one_order() -> None:
    script = (
        "import skillshift_frames as sf\n"
        "try: sf.grid(sf.CELLS.to_frame(), 'x')\n"
        "except sf.InputError as error: print(error)"
    )
    shown = {
        subprocess.check_output([sys.executable, "-c", script], env={"PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    }
    assert len(shown) == 1
    assert b"there are SR, AS, ASC, SFR, errored, " in shown.pop()


def test_neither_hash_seed_nor_threads_show(demo: list[Path], tmp_path: Path) -> None:
    script = (
        "import sys; from skillshift_frames.cli.app import run\n"
        f"for command, name in {OUTPUTS!r}:\n"
        "    assert run([command, *sys.argv[2:], '-o', f'{sys.argv[1]}/{name}']) == 0\n"
    )
    results = []
    for env in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "POLARS_MAX_THREADS": "1"}):
        folder = tmp_path / env["PYTHONHASHSEED"]
        folder.mkdir()
        command = [sys.executable, "-c", script, str(folder), *map(str, demo)]
        subprocess.run(command, env=env, check=True, capture_output=True)
        results.append({name: (folder / name).read_bytes() for _, name in OUTPUTS})
    one, other = results
    assert [name for name in one if one[name] != other[name]] == []


@pytest.mark.parametrize(
    ("given_by_user", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")]
)
def test_products_are_rounded_alike_whatever_the_machine_has_unless_the_user_says_otherwise(
    given_by_user: dict[str, str], threads: str
) -> None:
    script = (
        "import os, sys; from skillshift_frames.cli import app, main\n"
        "def run(): assert 'numpy' not in sys.modules; print(os.environ['OPENBLAS_NUM_THREADS']); return 0\n"
        "app.run = run; main()"
    )
    said = subprocess.check_output([sys.executable, "-c", script], env=given_by_user, text=True)
    assert said == f"{threads}\n"
