"""Frames and results as tables of great_tables, for those who lay out with it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from great_tables import GT

    from skillshift_frames.benchmark import BenchmarkLike
    from skillshift_frames.render.document import Document


def to_gt(
    what: Any,  # noqa: ANN401 - a frame, or one of several results
    *,
    cells: pl.DataFrame | None = None,
    benchmark: BenchmarkLike | None = None,
    rows: int | None = None,
) -> GT:
    """Make a ``great_tables.GT`` of the cells that `show` shows, to be styled further.

    One row of it is one row of what `show` shows. The data are texts, finished and with their marks, in columns ``c0``,
    ``c1`` and so on from left to right; headings, spanners, title, and notes (as source notes) are set. The same input
    gives the same bytes: the id is made from the content (``with_id`` sets another).

    Parameters
    ----------
    what, cells, benchmark, rows
        As for `show`; all rows are there unless ``rows`` says otherwise.

    Returns
    -------
    great_tables.GT
        great_tables escapes the texts for HTML and LaTeX. For pdflatex, which has no ``⚠``, declare it in the preamble, or
        take `Shown.render`, which needs nothing.

    Raises
    ------
    InputError
        As `show`; or great_tables is not installed.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> board = sf.to_gt(sf.leaderboard(sf.published()))
    >>> "MPCR" in board.as_raw_html(), "MPCR" in board.as_latex()
    (True, True)
    """
    from skillshift_frames.render.describe import describe  # noqa: PLC0415 - not for a missing library

    try:
        from great_tables import GT
    except ModuleNotFoundError as error:
        if error.name != "great_tables":
            raise
        msg = "to_gt needs great_tables 1 or later: pip install 'skillshift-frames[notebooks]'"
        raise InputError(msg) from None
    return _table(describe(what, cells=cells, benchmark=benchmark, rows=rows), GT)


def _table(document: Document, make: type[GT]) -> GT:
    import polars as pl  # noqa: PLC0415 - as above

    from skillshift_frames.render.escape import name_invisible  # noqa: PLC0415
    from skillshift_frames.render.layout import (  # noqa: PLC0415
        blocks,
        translate,
        with_marks,
        without_repeats,
    )

    digest = hashlib.sha256(repr(document).encode(errors="backslashreplace")).hexdigest()
    document = translate(document, name_invisible)
    names = [f"c{place}" for place in range(len(document.columns))]
    texts = [
        [with_marks(cell.text, cell.marks) for cell in row.cells]
        for block in blocks(document)
        for row in without_repeats(block)
    ]
    frame = pl.DataFrame(texts, schema=dict.fromkeys(names, pl.String), orient="row")
    table = make(frame, id=f"skillshift-{digest[:12]}", auto_align=False)
    table = table.cols_label(
        {name: column.title for name, column in zip(names, document.columns, strict=True)}
    )
    for side in ("left", "right"):
        leaning = [
            name
            for name, column in zip(names, document.columns, strict=True)
            if column.align == side
        ]
        if leaning:
            table = table.cols_align(side, columns=leaning)
    if document.title:
        table = table.tab_header(title=document.title)
    for place, spanner in enumerate(document.spanners):
        covered = names[spanner.first : spanner.last + 1]
        table = table.tab_spanner(label=spanner.title, columns=covered, id=f"spanner-{place}")
    for note in document.notes:
        table = table.tab_source_note(with_marks(note.mark, (note.text,)))
    return table
