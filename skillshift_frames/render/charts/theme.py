"""What all charts share: sizes of a paper's column, a font that is there offline, colours that all can tell apart.

A chart is measured in pixels at 72 per inch, so that one pixel is one point: 240 px are a column of 3.33 in, and text of
10 px is printed at 10 pt. Files that `skillshift_frames.save_chart` writes as SVG say so (``width="240pt"``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skillshift_frames.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

#: A column of a paper, and its text, in points.
COLUMN_WIDTH, TEXT_SIZE = 240, 10

#: Comes with vl-convert, so that a chart looks the same on a machine without fonts; the others are for browsers.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

INK, MUTED, GRID, PAPER = "#000000", "#595959", "#d9d9d9", "#ffffff"

#: Runs, in the order of their labels: of Okabe and Ito's colours those with a contrast to paper of 3 or more.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000")
DASHES = ([1, 0], [6, 2], [2, 2], [6, 2, 1, 2], [8, 3, 2, 3], [1, 1], [10, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")

#: From low to high: one hue, by lightness alone, which every eye can order.
RAMP = ("#f1f6fb", "#08306b")

#: ⚠ as a path, because no font that comes with vl-convert has it.
WARNING = "M0 -1 L1 0.8 L-1 0.8 L0 -1 M0 -0.35 L0 0.25 M0 0.45 L0 0.6"


def altair() -> ModuleType:
    """Import Altair, or say which extra brings it.

    Raises
    ------
    InputError
        It is not installed.
    """
    return _needed("altair")


def vl_convert() -> ModuleType:
    """Import vl-convert, which draws; as `altair`."""
    return _needed("vl_convert")


def _needed(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        msg = f'charts need {module.replace("_", "-")}; install it with: pip install "skillshift-frames[plots]"'
        raise InputError(msg) from None


def config() -> dict[str, Any]:
    """Give the look of everything that a chart does not say itself."""
    text = {"font": FONT, "fontSize": TEXT_SIZE}
    label = {f"label{name[0].upper()}{name[1:]}": value for name, value in text.items()}
    title = {f"title{name[0].upper()}{name[1:]}": value for name, value in text.items()}
    plain = {"titleFontWeight": "normal", "titleColor": INK, "labelColor": INK}
    return {
        "font": FONT,
        "background": PAPER,
        "padding": 2,
        "view": {"stroke": None, "continuousWidth": 150, "continuousHeight": 130},
        "axis": {
            **label,
            **title,
            **plain,
            "domainColor": MUTED,
            "tickColor": MUTED,
            "tickSize": 3,
            "gridColor": GRID,
            "gridWidth": 0.5,
            "labelLimit": 70,
            "titlePadding": 4,
        },
        "legend": {**label, **title, **plain, "labelLimit": 180, "symbolStrokeWidth": 1.5},
        "title": {
            **text,
            "fontWeight": "bold",
            "color": INK,
            "anchor": "start",
            "frame": "bounds",
            "limit": COLUMN_WIDTH,
            "offset": 4,
            "subtitleFont": FONT,
            "subtitleFontSize": TEXT_SIZE,
            "subtitleColor": INK,
        },
        "text": {**text, "color": INK},
        "concat": {"spacing": 10},
    }


def color_between(share: float) -> str:
    """Give the ramp's colour at a share between 0 and 1, as Vega interpolates it: straight in sRGB.

    Examples
    --------
    >>> color_between(0), color_between(1)
    ('#f1f6fb', '#08306b')
    """
    low, high = (_channels(color) for color in RAMP)
    mixed = [round(a + share * (b - a)) for a, b in zip(low, high, strict=True)]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def ink_on(color: str) -> str:
    """Give black or white, whichever is read better on a colour: one of them always has a contrast of 4.5 or more.

    References
    ----------
    Web Content Accessibility Guidelines 2.2, contrast ratio and relative luminance.

    Examples
    --------
    >>> ink_on("#f1f6fb"), ink_on("#08306b")
    ('#000000', '#ffffff')
    """
    light = luminance(color) + 0.05
    return INK if light / 0.05 >= 1.05 / light else PAPER


def luminance(color: str) -> float:
    """Give a colour's relative luminance, from 0 (black) to 1 (white).

    Examples
    --------
    >>> luminance("#000000"), round(luminance("#ffffff"), 6)
    (0.0, 1.0)
    """
    shares = (channel / 255 for channel in _channels(color))
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]  # noqa: PLR2004 - sRGB
    return sum(w * s for w, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _channels(color: str) -> list[int]:
    return [int(color[place : place + 2], 16) for place in (1, 3, 5)]
