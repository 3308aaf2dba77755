"""Real pdflatex on real output; a machine without it fails here, for skipping would prove nothing."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import chdir, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from skillshift_frames.cli.app import app, run
from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.latex import render_latex
from tests.hostile import COMMANDS, SOME, write_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Build = Callable[[str], Document]

pytestmark = pytest.mark.slow

PAPER = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,graphicx}
\begin{document}
Before. \input{table} Between. \input{table} After.
\end{document}
"""


def pages(folder: Path, name: str) -> int:
    """Compile and count the pages; a warning is as bad as an error."""
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / name).with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert not re.findall(
        r"^(?:!|Overfull|Underfull|Missing character|.*Warning:).*", log, re.MULTILINE
    )
    assert "incomplete" not in log
    written = re.search(r"Output written on \S+ \((\d+) page", log)
    assert written
    return int(written[1])


def with_all(labels: dict[str, str]) -> Document:
    values = ("17.71", "–", "--", "9.50")
    return Document(
        title=" ".join(labels.values()),
        columns=(
            Column("Run", "left"),
            *(Column(label[:20]) for label in list(labels.values())[:4]),
        ),
        rows=tuple(
            Row((Cell(label), *(Cell(value, (label[:9],)) for value in values)), starts_group=first)
            for label in labels.values()
            for first in (True, False)
        ),
        notes=tuple(Note(label, label[:9]) for label in labels.values()),
    )


def test_compiles_alone(document: Document, tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(render_latex(document), encoding="utf-8")
    assert pages(tmp_path, "table.tex") == 1


def test_compiles_in_a_paper(document: Document, tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(render_latex(document), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    assert pages(tmp_path, "paper.tex") == 1


def test_compiles_in_floats(document: Document, tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(render_latex(document), encoding="utf-8")
    narrow, wide = (
        rf"\begin{{{name}}}\input{{table}}\caption{{Again}}\end{{{name}}}"
        for name in ("table", "table*")
    )
    floats = PAPER.replace(r"Between. \input{table}", narrow + wide)
    (tmp_path / "paper.tex").write_text(floats, encoding="utf-8")
    assert pages(tmp_path, "paper.tex") == 2  # LaTeX puts a wide float on the next page


@pytest.mark.parametrize("name", ["table.tex", "paper.tex"])
def test_compiles_with_hostile_labels(
    name: str, all_labels: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "table.tex").write_text(render_latex(with_all(all_labels)), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    assert pages(tmp_path, name) >= 1


def test_compiles_with_a_hostile_label_everywhere(
    build_everywhere: Build, label: str, tmp_path: Path
) -> None:
    (tmp_path / "table.tex").write_text(render_latex(build_everywhere(label)), encoding="utf-8")
    assert pages(tmp_path, "table.tex") == 1


def test_compiles_with_every_letter(tmp_path: Path) -> None:
    letters = "".join(map(chr, [*range(0x20, 0x250), *range(0x2010, 0x2040), 0x1F600]))
    table = Document(
        " ".join(letters), (Column("a", "left"),), tuple(Row((Cell(c),)) for c in letters)
    )
    (tmp_path / "table.tex").write_text(render_latex(table), encoding="utf-8")
    assert pages(tmp_path, "table.tex") >= 1


def test_a_table_that_fits_keeps_its_size_and_others_fit_too(
    document: Document, tmp_path: Path
) -> None:
    many = Document(document.title, document.columns, document.rows * 60, document.spanners)
    (tmp_path / "table.tex").write_text(render_latex(many), encoding="utf-8")
    assert pages(tmp_path, "table.tex") == 1


def sentences(labels: list[str]) -> Document:
    """Describe findings of hostile things in hostile words, more of them than a page holds."""
    columns = (*(Column(name, "left") for name in ("What", "Finding", "To do")), Column("n"))
    return Document(
        "Findings",
        columns,
        tuple(
            Row(
                (Cell(label[:20]), Cell(f"{label} is what was found. " * 4), Cell(label), Cell("7"))
            )
            for label in labels
            for _ in range(4)
        ),
        notes=(Note("That is all"),),
    )


@pytest.mark.parametrize("name", ["table.tex", "paper.tex"])
def test_long_texts_wrap_and_a_table_of_them_goes_on_over_pages(
    name: str, all_labels: dict[str, str], tmp_path: Path
) -> None:
    labels = list(all_labels.values())
    (tmp_path / "table.tex").write_text(render_latex(sentences(labels)), encoding="utf-8")
    paper = PAPER.replace(r"\begin{document}", "\\raggedbottom\n\\begin{document}")
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    assert pages(tmp_path, name) > (2 if name == "table.tex" else 0)


def test_the_published_audit_can_be_read(tmp_path: Path) -> None:
    audit = ["entry", "audit", "--published", "-o", str(tmp_path / "table.tex")]
    assert run(audit) == 1
    text = (tmp_path / "table.tex").read_text(encoding="utf-8")
    # What scales a table down says so, and stops.
    scaled = text.replace(r"\resizebox", r"\errmessage{scaled}\resizebox")
    (tmp_path / "table.tex").write_text(scaled, encoding="utf-8")
    assert pages(tmp_path, "table.tex") > 1


DATA = Path(__file__).parents[2] / "data"
RUNS = [str(DATA / "demo" / f"{name}.jsonl") for name in ("induced", "workflow", "reference")]

#: Every command that has LaTeX, on the data of the repository.
REAL = {
    "table": ["table", *RUNS],
    "table with intervals": ["table", *RUNS, "--ci", "--resamples", "200"],
    "cells": ["cells", *RUNS],
    "check": ["check", *RUNS],
    "compare": ["compare", RUNS[2], RUNS[0], "--resamples", "200"],
    "compare flips": ["compare", RUNS[2], RUNS[0], "--flips", "--resamples", "200"],
    "leaderboard": ["leaderboard", "--published"],
    "ranks": ["leaderboard", *RUNS, "--resamples", "200"],
    "shift": ["shift", *RUNS, "--resamples", "200"],
    "shift of entries": ["shift", "--published"],
    "audit": ["entry", "audit", "--published"],
    "check of an entry": ["entry", "check", "entry.json"],
    "lift": ["lift", str(DATA / "harbor")],
    "lift as a tool": ["lift", str(DATA / "harbor"), "--as", "harbor-0.13"],
    "regress": ["regress", "old.json", "new.json"],
    "agreement": ["agreement", "scores.csv", "--x", "scan", "--y", "judge", "--gate", "scan=70"],
    "calibrate": ["calibrate", RUNS[2], "--anchor", "anchor.json"],
    "headroom": ["headroom", "card.json"],
}
CARD = """{"schema": "agentops-skill-probe.v1", "probe": "close_out", "skill": "validator", "mode": "live",
 "generated_at": "2026-08-01T12:00:00Z", "reps": 2, "producer": {"model": "m", "effort": "low"}, "honesty": "synthetic",
 "control": {"present": 0, "usable": 2, "rate": 0.0}, "treatment": {"present": 2, "usable": 2, "rate": 1.0},
 "per_rep": [{"rep": 1, "control": "ABSENT", "treatment": "PRESENT"}, {"rep": 2, "control": "ABSENT", "treatment": "PRESENT"}],
 "verdict": "BEHAVIORAL"}"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what some commands need besides the data."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "card.json").write_text(CARD)
    (folder / "scores.csv").write_text(
        "skill,scan,judge\na_b,92,8.5\nb,85,9\nc,71,6\nd,65,7\ne,8,6\n"
    )
    about = ["--name", "A_B", "--method", "ASI", "--model", "demo", "--date", "2026-11-30"]
    for arguments in (
        ["entry", "build", RUNS[0], "-o", "entry.json", *about],
        ["lift", str(DATA / "harbor"), "-o", "old.json"],
        ["lift", str(DATA / "harbor"), "-o", "new.json"],
        ["calibrate", "--make", RUNS[0], "-o", "anchor.json"],
    ):
        with chdir(folder):
            assert run(arguments) == 0
    return folder


@pytest.mark.parametrize("name", REAL)
def test_every_command_compiles(
    name: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(prepared)
    assert run([*REAL[name], "--format", "latex", "-o", str(tmp_path / "table.tex")]) in {0, 1}
    assert pages(tmp_path, "table.tex") >= 1
    # A table does not break, so the column before a tall one ends early, which a paper may have as well.
    paper = PAPER.replace(r"\begin{document}", "\\raggedbottom\n\\begin{document}")
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    assert pages(tmp_path, "paper.tex") >= 1


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("labels", SOME, ids=lambda labels: next(iter(labels)))
def test_every_command_compiles_with_hostile_labels(
    command: str, labels: dict[str, str], tmp_path: Path
) -> None:
    files = map(str, write_runs(tmp_path, labels))
    chosen = ["--benchmark", "infer", "-o", str(tmp_path / "table.tex")]
    assert run([*COMMANDS[command], *files, *chosen]) == 0
    assert pages(tmp_path, "table.tex") >= 1


def test_every_command_with_latex_is_compiled() -> None:
    def names(command: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:  # noqa: ANN401 - of the click inside typer
        for name, below in command.commands.items():
            if hasattr(below, "commands"):
                yield from names(below, (*above, name))
            elif any("latex" in getattr(option.type, "choices", ()) for option in below.params):
                yield (*above, name)

    # A plan is sentences, and an entry is built as JSON.
    without = {("plan",), ("entry", "build")}
    wanted = set(names(typer.main.get_command(app))) - without
    assert {name for name in wanted if not any(list(name) == a[: len(name)] for a in REAL.values())} == set()  # fmt: skip


def test_the_notebooks_paper_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reader copies, with its table and its figures."""
    notebooks = Path(__file__).parents[2] / "notebooks"
    notebook = json.loads((notebooks / "05_figures_for_a_paper.ipynb").read_text(encoding="utf-8"))
    kept = nullcontext(str(tmp_path))
    monkeypatch.setattr("tempfile.TemporaryDirectory", lambda: kept)
    names: dict[str, Any] = {"__name__": "notebook"}
    with chdir(notebooks):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)  # noqa: S102 - our own
    assert pages(tmp_path, "paper.tex") == 1
