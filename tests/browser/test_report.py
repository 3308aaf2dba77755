"""The report in a real browser: read on a phone and on a desk, heard, printed, attacked, and without JavaScript."""

from __future__ import annotations

import io
import itertools
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.cli.app import run
from tests.browser.conftest import WIDTHS, tip_of
from tests.browser.runs import HOSTILE, HOSTILE_AXES, copies, errored, hostile_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import Seen, Visit

pytestmark = pytest.mark.slow

DEMO = ("induced", "reference", "workflow")
FILES = [f"data/demo/{name}.jsonl" for name in DEMO]

#: Elements that hide a part of themselves without offering to scroll to it.
CLIPPED = """() => [...document.querySelectorAll("main *, header *")].filter(e => {
  const style = getComputedStyle(e);
  return style.overflowX !== "visible" && !["auto", "scroll"].includes(style.overflowX)
    && e.scrollWidth > e.clientWidth + 1 && !e.closest("svg") && style.display !== "inline";
}).map(e => e.outerHTML.slice(0, 80))"""

#: Text of less contrast to its background than WCAG 2.2 AA asks of small text, charts left to their own tests.
FAINT = """() => {
  const channels = css => css.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let looked = 0;
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || e.closest("svg, script, style")) continue;
    looked += 1;
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) found.push(e.outerHTML.slice(0, 80));
  }
  return [looked, found];
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the three demo runs, made by the command line."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert run(["report", *FILES, "--base", "reference", "-o", str(path)]) == 0
    return path


def wait_for_charts(seen: Seen) -> None:
    seen.page.wait_for_selector("html[data-charts=live]", state="attached")


def table_rows(seen: Seen, section: str) -> list[list[str]]:
    """Give the words of the rows of a section's first table, as a reader has them."""
    rows: list[str] = (
        seen.page.locator(f"#{section} table").first.locator("tbody tr").all_inner_texts()
    )
    return [row.split() for row in rows]


@pytest.mark.parametrize("javascript", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_quietly_and_reads_at_every_width(
    visit: Visit, page: Path, width: int, *, javascript: bool
) -> None:
    with visit(page, width=width, javascript=javascript) as seen:
        if javascript:
            wait_for_charts(seen)
        seen.assert_quiet(page)
        assert seen.page.title() == "skillshift: induced, reference, workflow"
        assert seen.sideways() == 0
        assert seen.page.evaluate(CLIPPED) == []
        smallest = "[...document.querySelectorAll('main td, main th, main li, main p, main dd')]"
        sizes = f"Math.min(...{smallest}.map(e => parseFloat(getComputedStyle(e).fontSize)))"
        assert seen.page.evaluate(sizes) >= 13


def test_numbers_are_those_of_the_printed_table(
    visit: Visit, page: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["table", *FILES]) == 0
    printed = [line.split() for line in capsysbinary.readouterr().out.decode().splitlines()]
    metrics = [words for words in printed if {"SR", "AS", "ASC", "SFR"} & set(words[:2])]
    with visit(page, javascript=False) as seen:
        assert table_rows(seen, "table") == metrics[: 4 * len(DEMO)]
        assert len(metrics) >= 4 * len(DEMO)


def test_coverage_comes_first_and_counts_gaps(visit: Visit, page: Path) -> None:
    with visit(page, javascript=False) as seen:
        headings = seen.page.locator("h2").all_inner_texts()
        assert headings == [
            *("Coverage", "Table", "Cells", "Charts", "Intervals", "Comparison"),
            *("Audit of the entry", "Methods", "Reproduce"),
        ]
        assert table_rows(seen, "coverage") == [
            ["induced", "2,130", "2,130", "2,130", "0", "0", "35.66", "35.66", "35.66"],
            ["reference", "2,130", "2,130", "2,130", "0", "0", "31.38", "31.38", "31.38"],
            ["workflow", "2,128", "2,130", "2,124", "4", "2", "34.43", "34.31", "34.62"],
        ]


def test_charts_are_there_without_javascript_and_come_to_life_with_it(
    visit: Visit, tmp_path: Path
) -> None:
    path = tmp_path / "two.html"
    assert run(["report", *FILES[:2], "--base", "reference", "-o", str(path)]) == 0
    said = {
        "heatmap": ["33.95", "81.01", "6.79", "GitLab", "Tgt-Exec"],
        "slope": ["Src-Perc", "induced", "reference"],
        "lift": ["+4.28 [2.3, 6.2]", "-1.08 [-6.1, 4.2]", "helps"],
        "flips": ["+17", "−10", "neither"],
        "sfr": ["SFR (percent)", "30 calls"],
    }
    for javascript in (False, True):
        with visit(path, javascript=javascript) as seen:
            if javascript:
                wait_for_charts(seen)
            figures = seen.page.locator("figure")
            ids = [figure.get_attribute("id") for figure in figures.all()]
            assert ids == [f"chart-{kind}" for kind in said]
            for kind, words in said.items():
                svg = seen.page.locator(f"#chart-{kind} svg")
                text = " ".join(svg.locator("text").all_text_contents())
                assert [word for word in words if word not in text] == []
                box = svg.bounding_box()
                assert box
                assert min(box["width"], box["height"]) > 200
            assert seen.page.locator("figure[data-chart=live]").count() == 5 * javascript
            seen.assert_quiet(path)


@pytest.mark.parametrize("kind", ["heatmap", "slope", "lift", "sfr"])
def test_a_live_chart_says_its_numbers_under_the_pointer(
    visit: Visit, page: Path, kind: str
) -> None:
    with visit(page) as seen:
        wait_for_charts(seen)
        assert re.search(r"\d+\.\d", tip_of(seen, f"#chart-{kind} svg"))
        seen.assert_quiet(page)


@pytest.mark.parametrize("javascript", [True, False])
def test_printed_pages_hold_every_number(visit: Visit, page: Path, *, javascript: bool) -> None:
    import pypdf  # of the extra dev, which plain pytest need not have

    with visit(page, javascript=javascript) as seen:
        if javascript:
            wait_for_charts(seen)
        read = pypdf.PdfReader(io.BytesIO(seen.page.pdf(prefer_css_page_size=True)))
        words = " ".join(sheet.extract_text() for sheet in read.pages).split()
        numbers = seen.page.locator("main table td.right").all_text_contents()
    assert 4 < len(read.pages) < 30
    wanted = {number for cell in numbers for number in re.findall(r"\d[\d,.]*\d|\d", cell)}
    assert len(wanted) > 200  # the folded tables among them
    assert {number for number in wanted if not any(number in word for word in words)} == set()


def test_no_table_is_cut_off_on_paper(visit: Visit, page: Path) -> None:
    with visit(page, width=703, javascript=False) as seen:  # A4 between its margins
        seen.page.emulate_media(media="print")
        widths: list[float] = seen.page.evaluate(
            "[...document.querySelectorAll('table, svg, pre')].map(e => e.getBoundingClientRect().right)"
        )
        assert len(widths) > 8
        assert max(widths) <= 703


def test_the_keyboard_reaches_all_that_scrolls(visit: Visit, page: Path) -> None:
    with visit(page, width=400) as seen:
        wait_for_charts(seen)
        regions = seen.page.locator("[role=region][tabindex='0']:visible").count()
        reached, outlines = [], set()
        for _ in range(200):
            seen.page.keyboard.press("Tab")
            focused: dict[str, Any] = seen.page.evaluate(
                "(e => ({tag: e.tagName, role: e.getAttribute('role'), name: e.getAttribute('aria-label'),"
                " text: e.textContent.slice(0, 20), outline: getComputedStyle(e).outlineStyle}))"
                "(document.activeElement)"
            )
            if focused["tag"] == "BODY":
                break
            reached.append(focused)
            outlines.add(focused["outline"])
        assert reached[0]["text"] == "Skip to the content"
        assert [r["tag"] for r in reached[1:10]] == ["A"] * 9
        assert sum(focused["role"] == "region" for focused in reached) == regions > 8
        assert all(focused["name"] for focused in reached if focused["role"] == "region")
        assert outlines == {"solid"}


def test_skipping_goes_to_the_content_and_arrows_scroll_a_table(visit: Visit, page: Path) -> None:
    with visit(page, width=400) as seen:
        seen.page.keyboard.press("Tab")
        seen.page.keyboard.press("Enter")
        assert seen.page.evaluate("document.activeElement.id") == "main"
        seen.page.keyboard.press("Tab")
        for _ in range(5):
            seen.page.keyboard.press("ArrowRight")
        seen.page.wait_for_function("document.activeElement.scrollLeft > 0")
        assert seen.page.evaluate("document.activeElement.tagName") == "DIV"


def test_it_can_be_heard(visit: Visit, page: Path) -> None:
    with visit(page, javascript=False) as seen:
        heard = seen.page.locator("body").aria_snapshot()
        session = seen.page.context.new_cdp_session(seen.page)
        nodes: list[dict[str, Any]] = session.send("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""), node)
        for node in nodes
        if not node["ignored"]
    ]
    levels = [
        next(p["value"]["value"] for p in node["properties"] if p["name"] == "level")
        for role, _, node in named
        if role == "heading"
    ]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    roles = [role for role, _, _ in named]
    assert [roles.count(role) for role in ("main", "banner", "navigation")] == [1, 1, 1]
    for role, name, _ in named:
        if role in {"table", "region", "image", "img", "navigation", "link", "DisclosureTriangle"}:
            assert name.strip(), role
    assert {"table", "columnheader", "rowheader", "cell", "caption", "figure"} <= set(roles)
    assert 'heading "Coverage" [level=2]' in heard
    assert 'table "skillshift: tasks and gaps of each run"' in heard
    assert re.search(r'img "[^"]{20,}', heard)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(visit: Visit, page: Path, scheme: str) -> None:
    with visit(page, color_scheme=scheme) as seen:
        wait_for_charts(seen)
        looked, faint = seen.page.evaluate(FAINT)
        assert looked > 1000
        assert faint == []


def test_its_own_policy_forbids_requests_and_other_scripts(visit: Visit, page: Path) -> None:
    with visit(page) as seen:
        wait_for_charts(seen)
        seen.page.evaluate(
            """() => {
              for (const [tag, set] of [["script", {textContent: "window.pwned = 1"}],
                ["img", {src: "https://example.invalid/x.png"}], ["iframe", {src: "https://example.invalid/"}]]) {
                document.body.append(Object.assign(document.createElement(tag), set));
              }
            }"""
        )
        refused = "fetch('https://example.invalid/').then(() => 'sent', () => 'refused')"
        assert seen.page.evaluate(refused) == "refused"
        assert seen.page.evaluate("window.pwned") is None
        assert len(seen.messages) >= 4
        assert all(
            "Content Security Policy" in said for said in seen.messages if "Failed" not in said
        )


@pytest.mark.parametrize("javascript", [True, False])
def test_hostile_labels_are_shown_and_never_obeyed(
    visit: Visit, tmp_path: Path, *, javascript: bool
) -> None:
    path = tmp_path / "hostile.html"
    tasks = hostile_tasks()
    text = sf.report(tasks, base=HOSTILE[0], benchmark=HOSTILE_AXES, resamples=100)
    path.write_text(text, encoding="utf-8")
    for width in WIDTHS:
        with visit(path, width=width, javascript=javascript) as seen:
            if javascript:
                wait_for_charts(seen)
            seen.page.locator("details").first.evaluate("e => { e.open = true; }")
            for mark in seen.page.locator("figure svg path").all()[:40]:
                mark.dispatch_event("mouseover")
            seen.assert_quiet(path)
            assert seen.page.evaluate("window.pwned") is None
            assert seen.sideways() == 0
            labels = (
                seen.page.locator("#coverage table").first.locator("tbody th").all_inner_texts()
            )
            assert sorted(labels) == sorted(
                label.replace("\u202e", "[U+202E]") for label in HOSTILE
            )
            charts = seen.page.locator("figure").count()
            assert seen.page.locator("script").count() == 2 + charts
            assert seen.page.locator("img, iframe, [onmouseover], [onerror]").count() == 0


def ten_runs() -> pl.DataFrame:
    return copies("induced", [f"run {number:02}" for number in range(9)] + ["none"]).pipe(
        lambda tasks: pl.concat(
            [tasks.filter(pl.col("run") != "none"), errored(tasks.filter(run="none"), "none")]
        )
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_ten_runs_one_of_them_without_a_score_can_still_be_read(
    visit: Visit, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "ten.html"
    path.write_text(sf.report(ten_runs(), base="run 00", resamples=100), encoding="utf-8")
    with visit(path, width=width) as seen:
        wait_for_charts(seen)
        seen.assert_quiet(path)
        assert seen.sideways() == 0
        assert seen.page.evaluate("document.documentElement.scrollHeight") < 45_000
        none = next(row for row in table_rows(seen, "coverage") if row[0] == "none")
        assert none == ["none", "2,130", "2,130", "0", "2,130", "0", "–", "0.00", "100.00"]
        verdicts = table_rows(seen, "comparison")
        assert len(verdicts) == 9
        assert "insufficient evidence" in " ".join(verdicts[0])
