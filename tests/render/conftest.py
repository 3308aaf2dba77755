"""Documents to render: a representative one, and the same with a hostile label in every place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner

if TYPE_CHECKING:
    from collections.abc import Callable

    Build = Callable[[str], Document]

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": "\" onload='x' \"",
    "percent": "100% of it",
    "underscore": "src_perc_x",
    "ampersand": "a & b &lt; c",
    "dollar": "$x$ or $$y$$",
    "hash": "# 1 #1",
    "backslash": r"\input{x} \\ \| \end{tabular}\\[2cm]",
    "option": "[2cm]",
    "star": "*",
    "braces": "}{",
    "tilde": "~~a~~ ^b^ ~",
    "pipe": "a|b||c",
    "backtick": "`a` ``b``",
    "link": "[a](https://a.example) www.a.example ![](b)",
    "mention": "@alice",
    "list": "- a",
    "number": "1. a",
    "hyphens": "-- --- ----",
    "ligatures": "?` !` '' ,, << >>",
    "long": "x" * 200,
    "long words": "ab " * 70 + "c",
    "override": "abc\u202edcba",
    "right to left": "עברית العربية",
    "wide": "漢字 😀",
    "joined": "👩\u200d💻",
    "combining": "e\u0301 n\u0303 x\u0301",
    "accents": "Łódź Ħ ĳ ß ÿ Ș",
    "markup": "[bold red]x[/]",
    "newline": "a\nb\r\nc\u2028d",
    "tab": "a\tb",
    "escape": "\x1b[31mred\x1b]0;title\x07\x9b31m",
    "null": "a\x00b",
    "surrogate": "a\ud800b",
}


def build_document(label: str) -> Document:
    sites, shifts = ("GitLab", "Magento"), ("Src", "Src-Perc", "Tgt")
    values = {
        "SR": ("17.71", "25.49", "50.07", "143.35", "41.28", "35.29"),
        "ASC": ("--",) * 6,
        "SFR": ("0.00", "9.50", "–", "8.00", "13.37", "–"),
    }
    marks = {("SR", 0): ("158/162",), ("SFR", 1): ("⚠", "60/114"), ("SFR", 3): ("⚠",)}
    rows = [
        Row(
            (
                Cell(run),
                Cell(metric),
                *(Cell(text, marks.get((metric, index), ())) for index, text in enumerate(texts)),
            ),
            starts_group=metric == "SR",
        )
        for run in ("asi", label)
        for metric, texts in values.items()
    ]
    return Document(
        title=f"SkillShift: {label}",
        columns=(
            *(Column(title, "left") for title in ("Run", "Metric")),
            *(Column(title) for title in (*sites, *shifts, "")),
        ),
        rows=tuple(rows),
        spanners=(Spanner("Website", 2, 3), Spanner("Environment", 4, 6), Spanner("O/A", 7, 7)),
        notes=(
            Note("SFR rests on fewer than 30 calls", "⚠"),
            Note("does not apply", "--"),
            Note("Errors: excluded"),
        ),
    )


def build_hostile(label: str) -> Document:
    tame = build_document(label)
    cells = (*tame.rows[-1].cells[:-1], Cell(label, (label, label)))
    return Document(
        title=label,
        columns=(Column(label, "left"), *tame.columns[1:-1], Column(label)),
        rows=(*tame.rows, Row(cells)),
        spanners=(*tame.spanners[:-1], Spanner(label, 7, 7)),
        notes=(Note(label, label), Note(label)),
    )


@pytest.fixture
def document() -> Document:
    return build_document("mpcr")


@pytest.fixture
def build() -> Build:
    """Build the representative document with another label for its second run."""
    return build_document


@pytest.fixture
def build_everywhere() -> Build:
    """Build a document that has a label in every place a text can be."""
    return build_hostile


@pytest.fixture(params=HOSTILE.values(), ids=tuple(HOSTILE))
def label(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture
def all_labels() -> dict[str, str]:
    return HOSTILE
