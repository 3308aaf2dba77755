"""The table in LaTeX with booktabs: a file that compiles alone and that a paper can input."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from string import ascii_lowercase
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

# Alone, a tall table of texts goes on on the next page. A paper has two columns perhaps, where longtable does not work.
_BREAKS = r"""\chardef\skillshiftlong=0
\ifx\skillshiftend\relax\else\ifdim\wd0>\linewidth\else\ifdim\dimexpr\ht0+\dp0>.8\textheight
  \chardef\skillshiftlong=1
\fi\fi\fi
\ifnum\skillshiftlong=1
  \setbox0=\hbox to\linewidth{\hfil}%
  {\footnotesize\LTchunksize=10000
  \begin{longtable}{\skillshiftcolumns}
  \toprule \skillshifthead \midrule \endhead
  \bottomrule \endfoot
  \skillshiftrows
  \end{longtable}}%
\else"""

_TAIL = r"""\endgroup
\skillshiftend"""

# TeX breaks lines at spaces and hyphenates words it knows. A word beyond this length, in LaTeX, may not fit a column:
# it may break anywhere, at a price that keeps it whole where it does fit.
_LONGEST_WORD = 20
_BREAK = r"\penalty999{}"

# Of a page alone, in points: its width, what a character takes, and what lies between columns.
_PAGE, _CHARACTER, _GAP = 785, 4.6, 12
# A text of more characters wraps where the page would not hold the table, in a column that is at least so wide.
_TEXT, _NARROWEST = 32, 100


def render_latex(document: Document) -> str:
    r"""Show a table as LaTeX.

    Parameters
    ----------
    document
        The table.

    Returns
    -------
    str
        A file for ``pdflatex`` or for ``\input`` in a paper that uses booktabs, graphicx and T1 fonts. A table that is too wide
        is scaled down; one with long texts wraps them, and alone it goes on over pages.

    Examples
    --------
    >>> from skillshift_frames.render.document import Cell, Column, Document, Row
    >>> table = Document("", (Column("Run", "left"),), (Row((Cell("src_perc"),)),))
    >>> [line for line in render_latex(table).splitlines() if line.endswith(r"\\")]
    ['Run \\\\', 'src\\_perc \\\\']
    """
    shares = _wrapped(document)
    translated = translate(document, escape_latex, prose=_prose)
    if shares:
        rows = zip(translated.rows, document.rows, strict=True)
        wrapping = tuple(_with_prose(*pair, shares) for pair in rows)
        translated = replace(translated, rows=wrapping)
        head = _HEAD.replace("graphicx}\n", "graphicx,longtable}\n")
        table = [*_long_table(translated, shares), _BREAKS, _FIT, r"\fi"]
    else:
        head = _HEAD
        table = [*_table(translated), _FIT]
    return "\n".join([head, *_title(translated), *table, *_notes(translated), _TAIL, ""])


def _wrapped(document: Document) -> dict[int, float]:
    """Give the columns of text that have to wrap for a page to hold the table, with their shares of the room there is."""
    marked = any(cell.marks for row in document.rows for cell in row.cells)
    if document.spanners or marked or len(document.columns) > len(ascii_lowercase):
        return {}
    longest = [
        max(len(row.cells[index].text) for row in (heading(document), *document.rows))
        for index in range(len(document.columns))
    ]
    gaps = _GAP * (len(longest) - 1)
    texts = {
        index: length
        for index, length in enumerate(longest)
        if length > _TEXT and document.columns[index].align == "left"
    }
    if sum(longest) * _CHARACTER + gaps <= _PAGE or not texts:
        return {}
    room = _PAGE - gaps - _CHARACTER * (sum(longest) - sum(texts.values()))
    if room < _NARROWEST * len(texts):
        return {}  # it is too wide in any case
    # By their roots: twice the text gets more room and more lines.
    whole = sum(length**0.5 for length in texts.values())
    return {index: length**0.5 / whole for index, length in texts.items()}


def _with_prose(row: Row, raw: Row, shares: dict[int, float]) -> Row:
    cells = tuple(
        replace(cell, text=_prose(given.text)) if index in shares else cell
        for index, (cell, given) in enumerate(zip(row.cells, raw.cells, strict=True))
    )
    return replace(row, cells=cells)


def _long_table(document: Document, shares: dict[int, float]) -> Iterator[str]:
    """Define the table's parts, and put it into its box: all its columns have a width, so that it may be set in pieces."""
    names = [rf"\skillshiftwidth{letter}" for letter in ascii_lowercase[: len(document.columns)]]
    yield r"\dimen4=\linewidth"
    yield rf"\ifx\skillshiftend\relax \dimen4={_PAGE}pt \fi"
    yield rf"\advance\dimen4-{2 * len(names) - 2}\tabcolsep"
    for index, name in enumerate(names):
        if index in shares:
            continue
        yield r"\dimen2=0pt"
        for text in dict.fromkeys(
            row.cells[index].text for row in (heading(document), *document.rows)
        ):
            yield rf"\setbox0=\hbox{{\footnotesize {text}}}\ifdim\wd0>\dimen2 \dimen2=\wd0 \fi"
        yield rf"\edef{name}{{\the\dimen2}}\advance\dimen4-\dimen2"
    for index, share in shares.items():
        yield rf"\dimen2={int(share * 1000) / 1000}\dimen4 \edef{names[index]}{{\the\dimen2}}"
    columns = "".join(f"p{{{name}}}" for name in names)
    yield rf"\def\skillshiftcolumns{{@{{}}{columns}@{{}}}}"
    yield rf"\def\skillshifthead{{{_lines(heading(document), document)}}}"
    yield r"\def\skillshiftrows{%"
    for index, block in enumerate(blocks(document)):
        if index:
            yield r"\addlinespace"
        for row in without_repeats(block):
            yield _lines(row, document)
    yield r"}"
    yield r"\setbox0=\hbox{\footnotesize"
    yield r"\begin{tabular}{\skillshiftcolumns}"
    yield r"\toprule \skillshifthead \midrule"
    yield r"\skillshiftrows"
    yield r"\bottomrule"
    yield r"\end{tabular}}%"


def _lines(row: Row, document: Document) -> str:
    r"""Write a row whose cells may have several lines; \raggedright takes \\ for itself."""
    cells = (
        rf"\ragged{'right' if column.align == 'left' else 'left'} {cell.text}"
        for cell, column in zip(row.cells, document.columns, strict=True)
    )
    return rf"{' & '.join(cells)} \tabularnewline"


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
