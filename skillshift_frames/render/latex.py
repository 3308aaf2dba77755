"""The table in LaTeX with booktabs: a file that compiles alone and that a paper can input."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from skillshift_frames.render.escape import escape_latex
from skillshift_frames.render.layout import (
    blocks,
    has_own_marks,
    heading,
    segments,
    translate,
    with_marks,
    without_repeats,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillshift_frames.render.document import Document, Row

# \documentclass turns itself into \@twoclasseserror, so the first comparison tells whether a paper is around. \end
# must not stand inside the condition, hence the name for it.
_HEAD = r"""% Alone: pdflatex this file.
% In a paper: \usepackage[T1]{fontenc} \usepackage{booktabs,graphicx}, then \input this file.
\expandafter\ifx\csname @twoclasseserror\endcsname\documentclass
  \let\skillshiftend\relax
\else
  \documentclass[a4paper]{article}
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
  \usepackage{booktabs,graphicx}
  \usepackage[landscape,margin=1cm]{geometry}
  \pagestyle{empty}
  \begin{document}
  \def\skillshiftend{\end{document}}
\fi
\par\begingroup
\setlength{\parindent}{0pt}%
\centering"""

# A table that fits keeps its size; one that does not is scaled down, for nothing may be cut.
_FIT = r"""\ifdim\wd0>\linewidth
  \setbox0=\hbox{\resizebox{\linewidth}{!}{\box0}}%
\fi
\ifdim\dimexpr\ht0+\dp0>.8\textheight
  \setbox0=\hbox{\resizebox*{!}{.8\textheight}{\box0}}%
\fi
\leavevmode\copy0\par"""

_TAIL = r"""\endgroup
\skillshiftend"""

# TeX breaks lines at spaces and hyphenates words it knows. A word beyond this length, in LaTeX, may not fit a column:
# it may break anywhere, at a price that keeps it whole where it does fit.
_LONGEST_WORD = 20
_BREAK = r"\penalty999{}"


def render_latex(document: Document) -> str:
    r"""Show a table as LaTeX.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    str
        A file for ``pdflatex`` or for ``\input`` in a paper that uses booktabs, graphicx and T1 fonts.

    Examples
    --------
    >>> from skillshift_frames.render.document import Cell, Column, Document, Row
    >>> table = Document("", (Column("Run", "left"),), (Row((Cell("src_perc"),)),))
    >>> [line for line in render_latex(table).splitlines() if line.endswith(r"\\")]
    ['Run \\\\', 'src\\_perc \\\\']
    """
    document = translate(document, escape_latex, prose=_prose)
    return "\n".join(
        [_HEAD, *_title(document), *_table(document), _FIT, *_notes(document), _TAIL, ""]
    )


def _prose(text: str) -> str:
    return " ".join(map(_word, text.split(" ")))


def _word(word: str) -> str:
    escaped = escape_latex(word)
    if len(escaped) <= _LONGEST_WORD:
        return escaped
    return _BREAK.join(map(escape_latex, unicodedata.normalize("NFC", word)))


def _title(document: Document) -> Iterator[str]:
    if document.title:
        yield rf"{{\bfseries {document.title}\par}}\smallskip"


def _table(document: Document) -> Iterator[str]:
    yield r"\setbox0=\hbox{\footnotesize"
    yield rf"\begin{{tabular}}{{@{{}}{''.join(_specifications(document))}@{{}}}}"
    yield r"\toprule"
    if document.spanners:
        yield from _spanners(document)
    split = [has_own_marks(document, index) for index in range(len(document.columns))]
    yield _row(heading(document), split)
    yield r"\midrule"
    for index, block in enumerate(blocks(document)):
        if index:
            yield r"\addlinespace"
        for row in without_repeats(block):
            yield _row(row, split)
    yield r"\bottomrule"
    yield r"\end{tabular}}%"


def _specifications(document: Document) -> Iterator[str]:
    for index, column in enumerate(document.columns):
        if has_own_marks(document, index):
            yield "r@{~}l"  # one column for the numbers, one for the marks behind them
        else:
            yield column.align[0]


def _spanners(document: Document) -> Iterator[str]:
    cells: list[str] = []
    rules: list[str] = []
    end = 0  # in columns of LaTeX, which may be two for one of ours
    for segment in segments(document):
        covered = range(segment.first, segment.last + 1)
        start, end = end + 1, end + sum(1 + has_own_marks(document, index) for index in covered)
        cells.append(rf"\multicolumn{{{end - start + 1}}}{{c}}{{{segment.title}}}")
        if segment.title:
            rules.append(rf"\cmidrule(lr){{{start}-{end}}}")
    yield rf"{' & '.join(cells)} \\"
    yield " ".join(rules)


def _row(row: Row, split: list[bool]) -> str:
    cells: list[str] = []
    for cell, own_marks in zip(row.cells, split, strict=True):
        if own_marks:
            cells += [cell.text, with_marks("", cell.marks, gap="~")]
        else:
            cells.append(with_marks(cell.text, cell.marks, gap="~"))
    return rf"{' & '.join(cells)} \\"


def _notes(document: Document) -> Iterator[str]:
    if document.notes:
        yield r"\smallskip"
        # From the left edge of the table, which is still in its box, to the margin.
        yield r"{\footnotesize\raggedright\leftskip=\dimexpr(\linewidth-\wd0)/2\relax"
        for note in document.notes:
            yield rf"{with_marks(note.mark, (note.text,))}\par"
        yield "}"
