"""Frames and results as notebooks and terminals show them: the same cells as on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import polars as pl
    from rich.text import Text

    from skillshift_frames.benchmark import BenchmarkLike
    from skillshift_frames.render.document import Document

#: In colours of whatever is around: a notebook's theme is not the system's.
_STYLE = """\
.skillshift-frames .scroll { overflow-x: auto; }
.skillshift-frames table { border-collapse: collapse; font-variant-numeric: tabular-nums; border-block: 2px solid; margin: 0; color: inherit; }
.skillshift-frames caption { font-weight: bold; text-align: start; padding-block: .4rem; color: inherit; }
.skillshift-frames :is(th, td) { padding: .1rem .6rem; text-align: left; vertical-align: baseline; white-space: nowrap; border: 0; background: none; }
.skillshift-frames :is(th, td).right { text-align: right; }
.skillshift-frames thead th[colspan] { text-align: center; border-bottom: 1px solid; }
.skillshift-frames tbody { border-top: 1px solid; }
.skillshift-frames tbody th { font-weight: normal; }
.skillshift-frames .mark { font-size: .85em; font-style: italic; }
.skillshift-frames .notes { font-size: .85em; list-style: none; margin: .4rem 0 0; padding: 0; overflow-wrap: anywhere; }"""


@dataclass(frozen=True, repr=False)
class Shown:
    """A table that shows itself wherever it is: in notebooks (Jupyter, marimo, VS Code), with rich, and as text.

    All of them have the same cells, marks and notes. HTML has no script, no id and nothing to fetch, takes its colours
    from the page around it, and escapes every label.

    Attributes
    ----------
    document
        What is shown, finished and formatted.
    """

    document: Document

    def __str__(self) -> str:
        """Give the table as ``--format text`` prints it, without colour."""
        return self.render("text").removesuffix("\n")

    __repr__ = __str__

    def __rich__(self) -> Text:
        """Give the table to rich, with the styles of a terminal; where it is wider than that, lines go on below."""
        from skillshift_frames.render.text import text_lines  # noqa: PLC0415 - only rich asks

        return text_lines(self.document)

    def _repr_html_(self) -> str:
        """Give the table to a notebook."""
        from skillshift_frames.render.html import html_table  # noqa: PLC0415 - only notebooks ask

        return (
            f'<div class="skillshift-frames">\n<style>\n{_STYLE}\n</style>\n'
            f"{html_table(self.document)}</div>\n"
        )

    def render(self, format: Literal["text", "markdown", "latex", "html"]) -> str:  # noqa: A002 - the option's name
        """Give what the command line prints with ``--format``; LaTeX for a paper, HTML as a page of its own.

        Examples
        --------
        >>> import skillshift_frames as sf
        >>> costs = sf.show(sf.COSTS.to_frame())
        >>> costs.render("markdown").splitlines()[0]
        '**COSTS, one row per arm and quantity: 0 rows**'
        """
        return render_as(self.document, format)


def render_as(document: Document, chosen: str, *, color: bool = False) -> str:
    """Render a description in one of the formats that people read.

    Raises
    ------
    InputError
        There is no such format.
    """
    # Each renderer is imported for its own format only: the terminal's brings rich along.
    match chosen:
        case "text":
            from skillshift_frames.render.text import render_text  # noqa: PLC0415

            return render_text(document, color=color)
        case "markdown":
            from skillshift_frames.render.markdown import render_markdown  # noqa: PLC0415

            return render_markdown(document)
        case "latex":
            from skillshift_frames.render.latex import render_latex  # noqa: PLC0415

            return render_latex(document)
        case "html":
            from skillshift_frames.render.html import render_html  # noqa: PLC0415

            return render_html(document)
    from skillshift_frames.errors import InputError  # noqa: PLC0415

    msg = f"{chosen!r} is no format; there are text, markdown, latex and html"
    raise InputError(msg)


def show(
    what: Any,  # noqa: ANN401 - a frame, or one of several results
    *,
    cells: pl.DataFrame | None = None,
    benchmark: BenchmarkLike | None = None,
    rows: int | None = 200,
) -> Shown:
    r"""Show a frame or a result of this library as the command line does, in a notebook or a terminal.

    One row of what is shown is one row of the frame; `SLOTS` become the table in the paper's shape, records and tallies
    one row per run with what they cover. Frames are told by their columns and types; any other frame is shown as it is,
    its numbers with two decimals and null as ``–``.

    Parameters
    ----------
    what
        A Polars frame, or a result such as a `Comparison`, a `SkillLift` or a `Regression`.
    cells
        For slots and tables: the cells (`CELLS`) behind them, so that the notes say what was not measured where, as on the
        command line.
    benchmark
        Whose names they are; by default SkillShift where it has them all, else as ``"infer"``. Slots and tables of another
        benchmark need it: they do not tell sites from conditions.
    rows
        How many are shown at most; None shows all. Where some are left out, a note says so.

    Returns
    -------
    Shown
        With ``_repr_html_`` for notebooks, ``__rich__``, ``str`` and `Shown.render`.

    Raises
    ------
    InputError
        ``what`` is neither a Polars frame (a lazy one is to be collected) nor a result of this library.
    BenchmarkError
        The benchmark cannot be read.

    Notes
    -----
    A policy (``errors=``, ``null=``) is named where the frame itself shows it. What it does not tell, such as the seed of its
    intervals, is left out.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> cells = sf.cells(sf.read_tasks("data/demo/induced.jsonl"))
    >>> lines = str(sf.show(sf.slots(cells))).splitlines()
    >>> print("\n".join(line[:43] for line in lines[3:5]))
    Run      Metric  GitLab  Magento  WordPress
    induced  SR       21.30    34.21      51.48
    >>> lines[-2]
    'induced: 2,130 of 2,130 tasks behind SR'
    """
    from skillshift_frames.render.describe import describe  # noqa: PLC0415 - Shown alone needs no Polars

    return Shown(describe(what, cells=cells, benchmark=benchmark, rows=rows))
