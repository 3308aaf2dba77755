"""Every kind of chart, as `plot` writes it, in a real browser: as a page, with and without JavaScript, and as a drawing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import skillshift_frames as sf
from skillshift_frames.cli.app import run
from tests.browser.conftest import WIDTHS, tip_of
from tests.browser.runs import HOSTILE, HOSTILE_AXES, hostile_tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.browser.conftest import Seen, Visit

pytestmark = pytest.mark.slow

FILES = [f"data/demo/{name}.jsonl" for name in ("induced", "reference", "workflow")]
PAIRED = [*FILES, "--base", "reference"]

#: Kind → what is drawn, and some of what must then be readable: numbers that `table`, `cells` and `compare` print.
KINDS: dict[str, tuple[list[str], list[str]]] = {
    "heatmap": (FILES, ["GitLab", "Tgt-Exec", "33.95", "29.63", "34.57", "induced", "workflow"]),
    "slope": (FILES, ["Src-Perc", "SR (percent)", "induced", "reference", "workflow"]),
    "lift": (PAIRED, ["+4.28 [2.3, 6.2]", "+3.14 [1.2, 5.1]", "helps", "undetermined"]),
    "flips": (PAIRED, ["+17", "−10", "both", "neither"]),
    "sfr": (FILES, ["SFR (percent)", "skill calls", "30 calls", "induced"]),
    "cost": (["data/harbor", "--from", "harbor"], ["USD", "per trial"]),
}


def drawn(kind: str, path: Path) -> Path:
    """Let the command draw a kind of chart of the demo data."""
    source, _ = KINDS[kind]
    assert run(["plot", *source, "--kind", kind, "-o", str(path)]) == 0
    return path


def words(seen: Seen) -> str:
    return " ".join(" ".join(seen.page.locator("svg text").all_text_contents()).split())


def assert_said(kind: str, shown: str) -> None:
    assert [said for said in KINDS[kind][1] if said not in shown] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_opens_quietly_and_comes_to_life(
    visit: Visit, tmp_path: Path, kind: str, width: int
) -> None:
    path = drawn(kind, tmp_path / f"{kind}.html")
    with visit(path, width=width) as seen:
        seen.page.wait_for_selector(
            "html[data-charts=live] #chart[data-chart=live] .vega-embed svg"
        )
        assert seen.sideways() == 0
        assert_said(kind, words(seen))
        assert len(tip_of(seen, "svg")) > 3
        seen.assert_quiet(path)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_its_chart_without_javascript(
    visit: Visit, tmp_path: Path, kind: str, width: int
) -> None:
    path = drawn(kind, tmp_path / f"{kind}.html")
    with visit(path, width=width, javascript=False) as seen:
        seen.assert_quiet(path)
        assert seen.sideways() == 0
        assert_said(kind, words(seen))
        box = seen.page.locator("svg").bounding_box()
        assert box
        assert min(box["width"], box["height"]) > 100
        texts = "[...document.querySelectorAll('svg text')].filter(e => e.textContent.trim())"
        heights: list[float] = seen.page.evaluate(
            f"{texts}.map(e => e.getBoundingClientRect().height)"
        )
        assert min(heights) >= 11  # pixels: a line of 10 pt, upright or at an angle


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawing_stands_alone(visit: Visit, tmp_path: Path, kind: str) -> None:
    path = drawn(kind, tmp_path / f"{kind}.svg")
    with visit(path) as seen:
        seen.assert_quiet(path)
        assert_said(kind, words(seen))
        root: dict[str, Any] = seen.page.evaluate(
            "(e => ({tag: e.tagName, name: e.getAttribute('aria-label'), role: e.getAttribute('role')}))"
            "(document.documentElement)"
        )
        assert root["tag"] == "svg"
        assert len(root["name"]) > 20
        assert root["role"]
        assert seen.page.locator("script, image, foreignObject, a, use").count() == 0
        # Nothing of the drawing lies outside its paper.
        outside = seen.page.evaluate(
            """() => {
              const paper = document.documentElement.getBoundingClientRect();
              return [...document.querySelectorAll("text")].filter(e => {
                const box = e.getBoundingClientRect();
                return e.textContent.trim() && (box.right > paper.right + 1 || box.left < paper.left - 1
                  || box.bottom > paper.bottom + 1 || box.top < paper.top - 1);
              }).map(e => e.textContent);
            }"""
        )
        assert outside == []


def hostile_charts() -> dict[str, Callable[[], Any]]:
    tasks = hostile_tasks()
    axes = HOSTILE_AXES
    cells = sf.cells(tasks, benchmark=axes)
    base, treatment = HOSTILE[:2]
    return {
        "heatmap": lambda: sf.heatmap_chart(cells, benchmark=axes),
        "slope": lambda: sf.slope_chart(sf.slots(cells, benchmark=axes), benchmark=axes),
        "lift": lambda: sf.lift_chart(
            sf.compare(tasks, base=base, treatment=treatment, benchmark=axes, resamples=100),
            benchmark=axes,
        ),
        "flips": lambda: sf.flip_chart(
            sf.pairs(tasks, base=base, treatment=treatment), benchmark=axes
        ),
        "sfr": lambda: sf.sfr_chart(cells, benchmark=axes),
    }


@pytest.mark.parametrize("suffix", ["html", "svg"])
@pytest.mark.parametrize("kind", ["heatmap", "slope", "lift", "flips", "sfr"])
def test_hostile_labels_are_drawn_and_never_obeyed(
    visit: Visit, tmp_path: Path, kind: str, suffix: str
) -> None:
    path = tmp_path / f"hostile.{suffix}"
    sf.save_chart(hostile_charts()[kind](), path)
    with visit(path, width=400) as seen:
        seen.page.wait_for_selector("svg text")
        for mark in seen.page.locator("svg path").all()[:20]:
            mark.dispatch_event("mouseover")
        seen.assert_quiet(path)
        assert seen.page.evaluate("window.pwned") is None
        assert seen.page.locator("img, iframe, [onmouseover], [onerror]").count() == 0
        assert re.search(r"<scrip|</scri|100 %|\\u202e", words(seen))
