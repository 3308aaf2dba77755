"""Colours of charts: told apart by every eye, and text that can be read on them."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from colorspacious import cspace_convert, deltaE

import skillshift_frames as sf
from skillshift_frames.render.charts.flips import OUTCOMES
from skillshift_frames.render.charts.theme import (
    COLORS,
    INK,
    MUTED,
    PAPER,
    RAMP,
    color_between,
    ink_on,
    luminance,
)
from tests.render.charting import SHOP, shop_tasks

#: Distances in CAM02-UCS; one is about what can just be seen side by side.
_APART = 10.0
_CATEGORIES = {
    "runs": COLORS,
    "outcomes": tuple(color for color, _ in OUTCOMES.values()),
}


def shares(color: str) -> list[float]:
    return [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def seen(color: str, kind: str) -> list[float]:
    """Simulate full protanopia, deuteranopia or tritanopia (Machado, Oliveira and Fernandes, 2009)."""
    if kind == "normal":
        return shares(color)
    space = {"name": "sRGB1+CVD", "cvd_type": kind, "severity": 100}
    return [min(1.0, max(0.0, float(s))) for s in cspace_convert(shares(color), space, "sRGB1")]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2's contrast ratio, written down once more."""

    def light(color: str) -> float:
        linear = [
            s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares(color)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def closest(colors: tuple[str, ...], kind: str) -> float:
    return min(
        float(deltaE(seen(one, kind), seen(other, kind), input_space="sRGB1"))
        for one, other in combinations(colors, 2)
    )


@pytest.mark.parametrize("kind", ["normal", "protanomaly", "deuteranomaly", "tritanomaly"])
@pytest.mark.parametrize("colors", _CATEGORIES.values(), ids=list(_CATEGORIES))
def test_categories_are_told_apart_by_every_eye(colors: tuple[str, ...], kind: str) -> None:
    assert closest(colors, kind) >= _APART


def test_the_check_finds_red_and_green() -> None:
    assert (
        closest(("#d62728", "#2ca02c"), "deuteranomaly")
        < _APART
        < closest(("#d62728", "#2ca02c"), "normal")
    )


@pytest.mark.parametrize(
    "color", sorted({color for colors in _CATEGORIES.values() for color in colors})
)
def test_marks_stand_out_from_the_paper(color: str) -> None:
    assert contrast(color, PAPER) >= 3


def test_muted_text_can_be_read() -> None:
    assert contrast(MUTED, PAPER) >= 4.5


def test_ink_can_be_read_on_the_whole_ramp() -> None:
    colors = [color_between(step / 1000) for step in range(1001)]
    assert (colors[0], colors[-1]) == RAMP
    assert all(contrast(color, ink_on(color)) >= 4.5 for color in colors)
    lights = [luminance(color) for color in colors]
    assert lights == sorted(lights, reverse=True)


def test_ramp_is_a_ramp_for_every_eye() -> None:
    for kind in ("protanomaly", "deuteranomaly", "tritanomaly"):
        lightness = [
            cspace_convert(seen(color_between(step / 20), kind), "sRGB1", "CIELab")[0]
            for step in range(21)
        ]
        assert lightness == sorted(lightness, reverse=True)
        assert lightness[0] - lightness[-1] > 60


def test_text_in_drawn_cells_can_be_read() -> None:
    """The drawing itself: the colour that Vega gave each cell against the ink that was chosen before."""
    cells = sf.cells(sf.read_tasks(["data/demo/induced.jsonl"]))
    drawing = sf.chart_text(sf.heatmap_chart(cells), "svg")
    fills = re.findall(r'aria-roledescription="rect mark"[^>]* fill="([^"]*)"', drawing)
    marks = drawing.partition("mark-text role-mark")[2]
    inks = re.findall(r'<text [^>]*fill="(#[0-9a-f]{6})"[^>]*>\d', marks)
    assert len(fills) == len(inks) == 18
    assert {INK, PAPER} == set(inks)
    for fill, ink in zip(fills, inks, strict=True):
        red, green, blue = map(int, re.findall(r"\d+", fill))
        assert contrast(f"#{red:02x}{green:02x}{blue:02x}", ink) >= 4.5


def test_no_text_is_smaller_than_ten_points() -> None:
    cells = sf.cells(shop_tasks(), benchmark=SHOP)
    drawing = sf.chart_text(sf.heatmap_chart(cells, benchmark=SHOP), "svg")
    assert set(re.findall(r'font-size="([^"]*)"', drawing)) == {"10px"}
    width = re.search(r' width="([\d.]+)pt" height="[\d.]+pt" viewBox="0 0 ([\d.]+) ', drawing)
    assert width
    assert width[1] == width[2]  # a unit of the drawing is a point
    assert float(width[1]) <= 245  # a column
