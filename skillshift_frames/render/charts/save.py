"""Charts → text and files: svg, pdf and png drawn here and now, html that needs nothing else, json that says what was drawn."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from skillshift_frames.errors import InputError, check_choice
from skillshift_frames.render.charts.live import (
    live_scripts,
    policy_html,
    scripts_html,
    specification_html,
)
from skillshift_frames.render.charts.theme import altair, config, vl_convert
from skillshift_frames.render.escape import escape_html
from skillshift_frames.render.files import refuse_to_overwrite, replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

ChartFormat: TypeAlias = Literal["svg", "html", "json"]

#: Suffix → how `save_chart` writes it.
CHART_SUFFIXES = (".svg", ".pdf", ".png", ".html", ".json")

#: Pixels of a png per point: 300 per inch, as printers want.
_SCALE = 300 / 72

_SVG_SIZE = re.compile(r'^<svg ([^>]*?)width="([\d.]+)" height="([\d.]+)"')


def chart_text(chart: Any, format: ChartFormat) -> str:  # noqa: A002, ANN401 - as the command's option; an extra's type
    """Give a chart as text: the drawing, a page, or the Vega-Lite specification.

    Parameters
    ----------
    chart
        Any Altair chart, such as `skillshift_frames.heatmap_chart` makes, also layered or put together by hand. What it does
        not say of its look is this project's theme.
    format
        ``"svg"``: the drawing, measured in points, without scripts and links. ``"html"``: one page with that drawing, which
        becomes interactive (tooltips) where there is JavaScript; all that it needs is in it. ``"json"``: Vega-Lite.

    Returns
    -------
    str
        The same for the same chart, on every machine that has the same versions of Altair and vl-convert.

    Raises
    ------
    InputError
        No Altair chart, or no such format; Altair or vl-convert is not installed.

    Examples
    --------
    >>> import skillshift_frames as sf
    >>> cells = sf.cells(sf.read_tasks(["data/demo/induced.jsonl"]))
    >>> sf.chart_text(sf.heatmap_chart(cells), "svg").count("54.39</text>")
    1
    """
    check_choice("format", format, get_args(ChartFormat))
    spec = _specification(chart)
    if format == "json":
        return json.dumps(spec, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    svg = _svg(spec)
    return svg if format == "svg" else _page(svg, spec)


def save_chart(chart: Any, path: str | os.PathLike[str], *, force: bool = False) -> None:  # noqa: ANN401
    """Write a chart to a file, whole or not at all.

    Parameters
    ----------
    chart
        As for `chart_text`.
    path
        Its suffix says how: ``.svg``, ``.html`` and ``.json`` as `chart_text` gives them, ``.png`` at 300 pixels
        per inch, ``.pdf`` for LaTeX. The drawing in a pdf is always the same; its fonts come in another order each time, so that
        of all formats this one has not the same bytes.
    force
        Replace a file that exists.

    Raises
    ------
    InputError
        The suffix is none of these, or the folder does not exist; else as `chart_text`.
    OutputExistsError
        The file exists and ``force`` is false.

    Examples
    --------
    >>> import skillshift_frames as sf, tempfile
    >>> cells = sf.cells(sf.read_tasks(["data/demo/induced.jsonl"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.save_chart(sf.heatmap_chart(cells), f"{folder}/induced.png")
    ...     Path(folder, "induced.png").read_bytes()[1:4]
    b'PNG'
    """
    suffix = check_target(path, force=force)
    if suffix == ".png":
        content: bytes = vl_convert().vegalite_to_png(
            json.dumps(_specification(chart)), scale=_SCALE, ppi=72
        )
    elif suffix == ".pdf":
        content = vl_convert().vegalite_to_pdf(json.dumps(_specification(chart)))
    else:
        formats: Mapping[str, ChartFormat] = {".svg": "svg", ".html": "html", ".json": "json"}
        content = chart_text(chart, formats[suffix]).encode()
    with replacing(path, force=force) as draft:
        draft.write_bytes(content)


def check_target(path: str | os.PathLike[str], *, force: bool) -> str:
    """Find out whatever is in the way of `save_chart` before the work behind the chart; give the suffix.

    Raises
    ------
    InputError, OutputExistsError
        As `save_chart`.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in CHART_SUFFIXES:
        msg = f"{os.fspath(path)}: unknown kind of chart; {', '.join(CHART_SUFFIXES)} is needed"
        raise InputError(msg)
    refuse_to_overwrite(path, force=force)
    altair()
    if suffix != ".json":
        vl_convert()
    return suffix


def _specification(chart: Any) -> dict[str, Any]:  # noqa: ANN401
    """Give a chart as Vega-Lite under our theme, whatever the session has set up for its own charts."""
    alt = altair()
    if not isinstance(chart, alt.TopLevelMixin):
        msg = f"chart is {chart!r:.60}; an Altair chart is needed, such as heatmap_chart makes"
        raise InputError(msg)

    @alt.theme.register("skillshift", enable=False)  # type: ignore[untyped-decorator]
    def _theme() -> Any:  # noqa: ANN401
        return alt.theme.ThemeConfig(config=config())

    # Rows stay where they are used: the name of a data set that is put apart would be one more thing to keep stable.
    with (
        alt.theme.enable("skillshift"),
        alt.data_transformers.enable("default", max_rows=None),
    ):
        kept = alt.data_transformers.consolidate_datasets
        alt.data_transformers.consolidate_datasets = False
        try:
            spec: dict[str, Any] = chart.to_dict()
        finally:
            alt.data_transformers.consolidate_datasets = kept
    return spec


def _svg(spec: dict[str, Any]) -> str:
    drawn: str = vl_convert().vegalite_to_svg(json.dumps(spec))
    said = escape_html(str(spec.get("description", "")))
    # A pixel of the chart is a point of the page, and who cannot see the drawing hears what it shows.
    return _SVG_SIZE.sub(
        lambda found: (
            f'<svg {found[1]}role="graphics-document document" aria-roledescription="visualization" '
            # A reader's font may be wider than the one that was measured with.
            f'aria-label="{said}" overflow="visible" width="{found[2]}pt" height="{found[3]}pt"'
        ),
        drawn,
        count=1,
    )


def _page(svg: str, spec: dict[str, Any]) -> str:
    scripts = live_scripts()
    return _PAGE.format(
        policy=policy_html(scripts),
        title=escape_html(str(spec.get("description", "Chart"))),
        svg=svg,
        spec=specification_html(spec),
        scripts=scripts_html(scripts),
    )


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 1em; background: #fff; color: #000; font-family: "Liberation Sans", Arial, Helvetica, sans-serif; }}
figure {{ margin: 0; overflow-x: auto; }}
.plot > svg {{ zoom: 1.25; }}
.plot.live svg {{ zoom: 1.6667; }} /* measured in pixels, of which a point has 1.3333 */
</style>
</head>
<body>
<figure id="chart" data-chart tabindex="0">
<div class="plot">
{svg}
</div>
{spec}
</figure>
{scripts}</body>
</html>
"""
