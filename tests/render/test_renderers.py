from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt  # comes with rich
from rich.cells import cell_len
from rich.text import Text

from skillshift_frames.render.document import Cell, Column, Document, Note, Row, Spanner
from skillshift_frames.render.html import render_html
from skillshift_frames.render.latex import render_latex
from skillshift_frames.render.markdown import render_markdown
from skillshift_frames.render.text import render_text, text_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    Build = Callable[[str], Document]
    Render = Callable[[Document], str]

RENDERERS: dict[str, Render] = {
    "txt": render_text,
    "md": render_markdown,
    "tex": render_latex,
    "html": render_html,
}
VOID = {"meta"}


@pytest.fixture(params=RENDERERS.values(), ids=tuple(RENDERERS))
def render(request: pytest.FixtureRequest) -> Render:
    renderer: Render = request.param
    return renderer


def shown(label: str) -> str:
    """How Markdown and HTML name what cannot be seen."""
    return "".join(sign if sign.isprintable() else f"[U+{ord(sign):04X}]" for sign in label)


class Page(HTMLParser):
    """The tags of a page in order, its table as rows of texts, and everything that is wrong with it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def shape(self) -> list[tuple[str, list[str]]]:
        return [(tag, [name for name, _ in attributes]) for tag, attributes in self.tags]


def markdown_tokens(source: str) -> tuple[list[str], list[str]]:
    """The structure of a Markdown text, and the text of each of its cells, paragraphs and items."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    structure, texts = [], []
    for token in parser.parse(source):
        structure.append(token.type)
        if token.type == "inline":
            children = token.children or []
            structure += [c.type for c in children if c.type not in {"text", "html_inline"}]
            tags = {c.content for c in children if c.type == "html_inline"}
            assert tags <= {"<span>", "</span>"}
            texts.append("".join(c.content for c in children if c.type == "text"))
    return structure, texts


# --- the same in every format -------------------------------------------------------------------


def expected_words(document: Document) -> list[list[str]]:
    return [
        [word for cell in row.cells for word in (cell.text, *cell.marks)] for row in document.rows
    ]


def words_of_text(output: str) -> list[list[str]]:
    words = [line.split() for line in output.splitlines()[4:-4] if line]
    return [line if line[0] in {"asi", "mpcr"} else ["", *line] for line in words]


def words_of_markdown(output: str) -> list[list[str]]:
    lines = [line for line in output.splitlines() if line.startswith("|")][2:]
    return [[word for word in line.split() if word != "|"] for line in lines]


def words_of_latex(output: str) -> list[list[str]]:
    body = output.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    for source, sign in {
        r"\ensuremath{^{\triangle}}": "⚠",
        r"\textendash{}": "–",
        "{}": "",
        "~": " ",
        r"\\": "",
        r"\addlinespace": "",
    }.items():
        body = body.replace(source, sign)
    rows = [line for line in body.splitlines() if line.strip()]
    return [
        [row.split("&")[0].strip(), *"".join(row.split("&", 1)[1:]).replace("&", " ").split()]
        for row in rows
    ]


def words_of_html(output: str) -> list[list[str]]:
    rows = [[word for cell in row for word in cell.split()] for row in Page(output).rows[2:]]
    return [row if row[0] in {"asi", "mpcr"} else ["", *row] for row in rows]


@pytest.mark.parametrize(
    ("render", "words", "repeats"),
    [
        (render_text, words_of_text, False),
        (render_markdown, words_of_markdown, True),
        (render_latex, words_of_latex, False),
        (render_html, words_of_html, False),
    ],
    ids=tuple(RENDERERS),
)
def test_cells_are_the_same_in_every_format(
    document: Document,
    render: Render,
    words: Callable[[str], list[list[str]]],
    *,
    repeats: bool,
) -> None:
    expected = expected_words(document)
    if not repeats:
        expected = [
            line if row.starts_group else ["", *line[1:]]
            for row, line in zip(document.rows, expected, strict=True)
        ]
    assert words(render(document)) == expected


@pytest.mark.parametrize(("suffix", "render"), RENDERERS.items())
def test_golden(
    suffix: str, render: Render, document: Document, check_golden: Callable[[str, str], None]
) -> None:
    check_golden(f"table.{suffix}", render(document))


def test_lines_end_where_their_text_ends(
    render: Render, build_everywhere: Build, label: str
) -> None:
    output = render(build_everywhere(label))
    assert output.endswith("\n")
    assert not output.endswith("\n\n")
    assert [line for line in output.split("\n") if line != line.rstrip()] == []


def test_rendering_twice_gives_the_same_bytes(
    render: Render, build_everywhere: Build, label: str
) -> None:
    first = render(build_everywhere(label)).encode()
    assert render(build_everywhere(label)).encode() == first


def test_everything_but_columns_is_optional(render: Render) -> None:
    output = render(Document("", (Column("Run", "left"), Column("SR")), ()))
    assert "Run" in output
    assert not output.startswith("\n")
    assert "**" not in output
    assert "<ul" not in output
    assert "<caption" not in output
    assert "cmidrule" not in output


def test_formats_for_files_do_not_import_rich() -> None:
    names = ["html", "latex", "markdown"]
    imports = "; ".join(f"import skillshift_frames.render.{name}" for name in names)
    check = f"import sys; {imports}; print([m for m in sys.modules if m.split('.')[0] == 'rich'])"
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


# --- text ---------------------------------------------------------------------------------------


def test_text_has_the_shape_of_the_paper() -> None:
    sample = Document(
        title="",
        columns=(Column("", "left"), *map(Column, ("GitLab", "Magento", "WordPress", "Src", ""))),
        rows=(Row(tuple(map(Cell, ("SR", "17.71", "25.49", "62.66", "50.07", "35.29")))),),
        spanners=(Spanner("Website", 1, 3), Spanner("Env", 4, 4), Spanner("O/A", 5, 5)),
    )
    assert render_text(sample).splitlines() == [
        "             Website             Env    O/A",
        "    GitLab  Magento  WordPress    Src",
        "SR   17.71    25.49      62.66  50.07  35.29",
    ]


def test_text_aligns_decimal_points_beside_marks_and_wide_labels(build: Build) -> None:
    lines = [
        line
        for line in render_text(build("漢字漢字")).splitlines()
        if re.search(r"\b(SR|SFR) +\d", line)
    ]
    points = [
        {cell_len(line[: match.end()]) for match in re.finditer(r"\d+\.", line)} for line in lines
    ]
    assert len(lines) == 4
    assert len(points[0]) == 6
    assert all(columns <= points[0] for columns in points)


def test_text_columns_are_two_spaces_apart(document: Document) -> None:
    heading = render_text(document).splitlines()[3]
    assert heading.startswith("Run   Metric  GitLab")
    plain = replace(
        document,
        rows=tuple(
            replace(row, cells=tuple(Cell(cell.text) for cell in row.cells))
            for row in document.rows
        ),
    )
    assert (
        render_text(plain).splitlines()[3]
        == "Run   Metric  GitLab  Magento    Src  Src-Perc    Tgt"
    )


def test_text_shows_a_label_once_per_group_and_a_gap_between_groups(document: Document) -> None:
    starts = [line[:4] for line in render_text(document).splitlines()[4:11]]
    assert starts == ["asi ", "    ", "    ", "", "mpcr", "    ", "    "]


def test_a_group_shows_its_label_even_where_it_equals_the_one_above() -> None:
    row = Row((Cell("asi"), Cell("1.00")), starts_group=True)
    table = Document("", (Column("Run", "left"), Column("SR")), (row, row))
    assert render_text(table).count("asi") == 2
    assert render_html(table).count("asi") == 2
    assert render_latex(table).count("asi") == 2


def test_groups_of_one_row_stand_together() -> None:
    rows = tuple(Row((Cell(run), Cell("1.00")), starts_group=True) for run in "abc")
    table = Document("", (Column("Run", "left"), Column("SR")), rows)
    assert "\n\n" not in render_text(table)
    assert r"\addlinespace" not in render_latex(table)
    assert render_html(table).count("<tbody>") == 1


def test_text_makes_room_for_a_spanner_wider_than_its_columns() -> None:
    table = Document(
        "",
        (Column("a"), Column("b"), Column("c")),
        (Row((Cell("1"), Cell("2"), Cell("3"))),),
        (Spanner("0123456789x", 0, 1),),
    )
    assert render_text(table).splitlines() == ["0123456789x", "   a      b  c", "   1      2  3"]


def test_text_notes_begin_with_their_marks(document: Document) -> None:
    assert render_text(document).splitlines()[-4:] == [
        "",
        "⚠ SFR rests on fewer than 30 calls",
        "-- does not apply",
        "Errors: excluded",
    ]


@pytest.mark.parametrize("color", [False, True])
def test_text_is_neither_cut_nor_wrapped(
    build: Build, monkeypatch: pytest.MonkeyPatch, *, color: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    label = "x" * 200
    lines = render_text(build(label), color=color).splitlines()
    assert len(lines) == len(render_text(build("mpcr")).splitlines())
    assert sum(label in line for line in lines) == 2  # the title and the row
    assert "…" not in "".join(lines)


def test_color_changes_nothing_but_color(
    build_everywhere: Build, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")  # the caller has asked already
    monkeypatch.setenv("TERM", "dumb")
    plain, colored = (render_text(build_everywhere(label), color=color) for color in (False, True))
    assert re.sub(r"\x1b\[[\d;]+m", "", colored) == plain
    assert "\x1b[1m" in colored
    assert "\x1b[33m" in colored


def test_styles_are_on_what_they_mean(document: Document) -> None:
    lines = text_lines(document)
    styled = {(str(span.style), lines.plain[span.start : span.end].strip()) for span in lines.spans}
    assert {text for style, text in styled if style == "yellow"} == {"⚠", "158/162", "⚠ 60/114"}
    assert ("bold", "GitLab") in styled
    assert ("dim", "Errors: excluded") in styled
    assert isinstance(lines, Text)


def test_labels_are_inert_in_text(build_everywhere: Build, label: str) -> None:
    output = render_text(build_everywhere(label))
    assert len(output.splitlines()) == len(render_text(build_everywhere("mpcr")).splitlines())
    assert not [sign for sign in output if not sign.isprintable() and sign != "\n"]
    visible = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in label)
    assert output.splitlines()[0] == visible


# --- Markdown -----------------------------------------------------------------------------------


def test_labels_are_inert_in_markdown(build_everywhere: Build, label: str) -> None:
    structure, texts = markdown_tokens(render_markdown(build_everywhere(label)))
    tame_structure, tame_texts = markdown_tokens(render_markdown(build_everywhere("mpcr")))
    assert structure == tame_structure
    spaces = re.compile(r"\s+")
    assert [spaces.sub(" ", text) for text in texts] == [
        spaces.sub(" ", text.replace("mpcr", shown(label))) for text in tame_texts
    ]


def test_markdown_lines_have_the_same_columns_and_width(
    build_everywhere: Build, label: str
) -> None:
    lines = [
        line
        for line in render_markdown(build_everywhere(label)).split("\n")
        if line.startswith("|")
    ]
    borders = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert len(lines) == 9
    assert borders == {9}
    assert len({cell_len(line) for line in lines}) == 1


def test_markdown_aligns(document: Document) -> None:
    rule = render_markdown(document).splitlines()[3]
    sides = [cell.strip() for cell in rule.strip("|").split("|")]
    assert [(side[0], side[-1]) for side in sides] == [(":", "-")] * 2 + [("-", ":")] * 6


def test_markdown_takes_a_spanner_where_the_heading_needs_one() -> None:
    table = Document(
        "",
        (Column("Run", "left"), Column("SR"), Column("AS"), Column("SR"), Column("")),
        (),
        (Spanner("base", 1, 2), Spanner("treatment", 3, 3), Spanner("O/A", 4, 4)),
    )
    assert render_markdown(table).splitlines()[0] == "| Run | base SR |  AS | treatment SR | O/A |"


@pytest.mark.parametrize("start", ["- a", "+ a", "1. a", "12) a", "--- "])
def test_a_note_is_no_list_of_its_own(start: str) -> None:
    table = Document("", (Column("a"),), (), notes=(Note(start),))
    structure, texts = markdown_tokens(render_markdown(table))
    assert structure.count("list_item_open") == 1
    assert texts[-1] == start.strip()


# --- LaTeX --------------------------------------------------------------------------------------


def test_labels_are_inert_in_latex(build_everywhere: Build, label: str) -> None:
    def skeleton(output: str) -> list[str]:
        structure = r"(?<!\\)&|\\\\$|\\(?:begin|end|input|\w*rule|multicolumn)\b"
        return re.findall(structure, output, re.MULTILINE)

    output = render_latex(build_everywhere(label))
    assert skeleton(output) == skeleton(render_latex(build_everywhere("mpcr")))
    bare = re.sub(r"\\[{}]", "", output)
    assert bare.count("{") == bare.count("}")
    assert "%" not in re.sub(r"\\%|%$", "", output.partition(r"\centering")[2], flags=re.MULTILINE)


def test_latex_rules_stand_under_their_spanners(document: Document) -> None:
    output = render_latex(document)
    assert r"\begin{tabular}{@{}llr@{~}lr@{~}lrr@{~}lrr@{}}" in output
    assert r"\multicolumn{4}{c}{Website} & \multicolumn{4}{c}{Environment}" in output
    assert r"\cmidrule(lr){3-6} \cmidrule(lr){7-10} \cmidrule(lr){11-11}" in output


def test_latex_never_starts_a_row_with_something_that_a_row_end_reads() -> None:
    table = Document("", (Column("a"),), (Row((Cell("[2cm]"),)), Row((Cell("*"),))))
    assert not re.search(r"(\\\\|rule|addlinespace)\s*[\[*]", render_latex(table))


def test_latex_breaks_only_words_that_cannot_fit() -> None:
    table = Document("src_perc " * 20 + "x" * 200, (Column("a"),), ())
    title = render_latex(table).partition(r"\bfseries ")[2].splitlines()[0]
    assert title.startswith(r"src\_perc src\_perc")
    assert title.count(r"\penalty999{}") == 199


# --- HTML ---------------------------------------------------------------------------------------


def test_labels_are_inert_in_html(build_everywhere: Build, label: str) -> None:
    page, tame = (
        Page(render_html(build_everywhere(label))),
        Page(render_html(build_everywhere("mpcr"))),
    )
    assert page.shape() == tame.shape()
    assert page.text == tame.text.replace("mpcr", shown(label))


def test_html_is_complete_and_asks_for_nothing(document: Document) -> None:
    output = render_html(document)
    assert output.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    assert "<title>SkillShift: mpcr</title>" in output
    assert "<caption>SkillShift: mpcr</caption>" in output
    assert not re.search(r"<script|<link|<img|@import|url\(|https?:|\son\w+=", output)


def test_html_tables_are_rectangular(build_everywhere: Build, document: Document) -> None:
    for table in (document, build_everywhere("mpcr")):
        covered: dict[int, set[int]] = {}
        line = -1
        for tag, attributes in Page(render_html(table)).tags:
            if tag == "tr":
                line += 1
            if tag in {"td", "th"}:
                spans = dict(attributes)
                columns, rows = (int(spans.get(f"{kind}span") or 1) for kind in ("col", "row"))
                taken = covered.setdefault(line, set())
                start = next(i for i in range(99) if i not in taken)
                for below in range(line, line + rows):
                    covered.setdefault(below, set()).update(range(start, start + columns))
        assert line + 1 == len(table.rows) + 2
        assert set(map(frozenset, covered.values())) == {frozenset(range(len(table.columns)))}
        assert len(covered) == line + 1


def test_html_headings_say_what_they_head(document: Document) -> None:
    output = render_html(document)
    assert output.count("<tbody>") == 2
    assert '<th scope="rowgroup" rowspan="3">mpcr</th><th scope="row">SR</th>' in output
    assert '<th scope="colgroup" colspan="3">Environment</th>' in output
    assert '<th scope="col" rowspan="2">Run</th>' in output
    assert '<th scope="col" rowspan="2" class="right">O/A</th>' in output
    assert (
        '<td class="right">9.50 <span class="mark">⚠</span> <span class="mark">60/114</span></td>'
        in output
    )
    assert '<li><span class="mark">⚠</span> SFR rests on fewer than 30 calls</li>' in output
    assert "<th></th>" not in output
