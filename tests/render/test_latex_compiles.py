"""Real pdflatex on real output; a machine without it fails here, for skipping would prove nothing."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from skillshift_frames.render.document import Cell, Column, Document, Note, Row
from skillshift_frames.render.latex import render_latex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
    run = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / name).with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    assert run.returncode == 0, log[-3000:]
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
