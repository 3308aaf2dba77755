"""Notebooks are kept as source: no outputs, no counts, nothing of the machine that they were written on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
#: A path from the root of a disk or from a home.
MACHINE = re.compile(r"""(?:^|["'\s(=])(?:~?/[\w.-]+|[A-Z]:)[/\\]""", re.MULTILINE)


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_holds_no_outputs(path: Path) -> None:
    code = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert code
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_names_no_machine(path: Path) -> None:
    notebook = json.loads(path.read_text())
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    assert [source for source in sources if MACHINE.search(source)] == []


@pytest.mark.parametrize(
    "source", ['open("/home/ada/x.jsonl")', "~/runs/x", r"C:\runs", "a=/tmp/x", "%cd /srv/x"]
)
def test_a_machine_would_be_seen(source: str) -> None:
    assert MACHINE.search(source)
