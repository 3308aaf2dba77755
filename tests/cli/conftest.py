"""What the command line's tests share: two ways to run it, and small runs to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

from skillshift_frames.cli.app import run
from tests.strategies import to_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

DEMO = Path(__file__).parents[2] / "data" / "demo"

#: What would make the output of a test depend on who runs it.
_TERMINAL = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")


class Result(NamedTuple):
    """How a command ended, and what it wrote where."""

    code: int
    out: str
    err: str


class Cli(Protocol):
    """Runs the command line in this process."""

    def __call__(self, *arguments: object) -> Result: ...


class Spawn(Protocol):
    """Runs the command line as a process of its own."""

    def __call__(
        self,
        *arguments: object,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
    ) -> Result: ...


class Shop(NamedTuple):
    """A benchmark of its own with one complete run, small enough to be worked out by hand."""

    benchmark: Path
    run: Path
    records: list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _TERMINAL:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cli(capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    def call(*arguments: object) -> Result:
        capsysbinary.readouterr()
        code = run(list(map(str, arguments)))
        out, err = capsysbinary.readouterr()
        return Result(code, out.decode(), err.decode())

    return call


@pytest.fixture
def spawn() -> Spawn:
    def call(
        *arguments: object,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
    ) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "skillshift_frames", *map(str, arguments)],
            input=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **(env or {})},
            check=False,
            timeout=60,
        )
        return Result(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())

    return call


@pytest.fixture
def demo() -> list[Path]:
    """The three demo runs: one with few calls, one without any, one to which they do not apply."""
    return sorted(DEMO.glob("*.jsonl"))


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Write records to a file in a new folder, by default per_task.jsonl in a folder of the run's name."""

    def write(name: str, records: Iterable[dict[str, Any]]) -> Path:
        path = tmp_path / (name if name.endswith(".jsonl") else f"{name}/per_task.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(to_jsonl(records))
        return path

    return write


@pytest.fixture
def write_benchmark(tmp_path: Path) -> Callable[..., Path]:
    """Write a benchmark as TOML."""

    def write(name: str, sites: Mapping[str, int], conditions: Iterable[str]) -> Path:
        path = tmp_path / f"{name}.toml"
        lines = [f"conditions = {json.dumps(list(conditions))}", "[sites]"]
        lines += [f"{json.dumps(site)} = {count}" for site, count in sites.items()]
        path.write_text("\n".join(lines))
        return path

    return write


def make_record(site: str, condition: str, uid: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Give one record: a failure in three steps without a skill call, unless ``fields`` say otherwise."""
    usual = {"success": False, "steps": 3, "skill_calls": 0, "skill_failures": 0}
    return {"uid": uid, "site": site, "condition": condition, **usual, **fields}


@pytest.fixture
def record() -> Callable[..., dict[str, Any]]:
    return make_record


#: Site, condition, then per task: success, steps, skill calls, failures.
_SHOP = (
    ("cart", "plain", [(True, 1, 3, 1), (True, 2, 0, 0), (True, 3, 0, 0)]),
    ("cart", "shifted", [(True, 4, 0, 0), (False, 5, 2, 1), (False, 9, 1, 1)]),
    ("search", "plain", [(True, 10, 4, 1), (False, 20, 0, 0)]),
    ("search", "shifted", [(False, 7, 0, 0), (False, 8, 1, 0)]),
)


@pytest.fixture
def shop(write_run: Callable[..., Path], write_benchmark: Callable[..., Path]) -> Shop:
    fields = ("success", "steps", "skill_calls", "skill_failures")
    records = [
        make_record(site, condition, f"{site}-{index}", **dict(zip(fields, task, strict=True)))
        for site, condition, tasks in _SHOP
        for index, task in enumerate(tasks)
    ]
    benchmark = write_benchmark("shop", {"cart": 3, "search": 2}, ["plain", "shifted"])
    return Shop(benchmark, write_run("asi", records), records)


def _refuse(constant: str) -> None:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    assert len(set(keys)) == len(keys), f"a key twice: {keys}"
    return dict(pairs)


@pytest.fixture
def strict_json() -> Callable[[str], Any]:
    """Parse JSON as strictly as the strictest parser: no NaN, no Infinity, no key twice."""
    return lambda text: json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
