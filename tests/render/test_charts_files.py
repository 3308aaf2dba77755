"""Charts as files: the same bytes, everything inside, and labels that are shown and never obeyed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.render.charts.save import CHART_SUFFIXES
from tests.render.charting import NAMES, SHOP, SVG, all_charts, parse, records, rows_of, shop_tasks
from tests.render.conftest import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def charts() -> dict[str, Any]:
    return all_charts(shop_tasks(), "base")


@pytest.mark.parametrize("name", NAMES)
def test_svg_is_xml_without_scripts_and_links(charts: dict[str, Any], name: str) -> None:
    root = parse(sf.chart_text(charts[name], "svg"))
    assert root.get("role") == "graphics-document document"
    assert root.get("aria-label") == charts[name].description
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "g", "rect", "path", "text", "line", "defs", "clipPath", "tspan"}
    for element in root.iter():
        assert not [key for key in element.attrib if key.endswith("href") or key.startswith("on")]


def test_same_charts_same_bytes_in_another_process(charts: dict[str, Any]) -> None:
    code = (
        "import sys; import skillshift_frames as sf; import altair as alt\n"
        "from tests.render.charting import all_charts, shop_tasks\n"
        # What a session has drawn before, and how it likes its own charts, is no part of ours.
        "alt.Chart().mark_bar().add_params(alt.selection_interval()).to_dict()\n"
        "alt.theme.enable('dark')\n"
        "for name, chart in all_charts(shop_tasks(), 'base').items():\n"
        "    for format in ('svg', 'json'):\n"
        "        sys.stdout.buffer.write(sf.chart_text(chart, format).encode())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    formats: tuple[Any, ...] = ("svg", "json")
    here = [sf.chart_text(chart, kind) for chart in charts.values() for kind in formats]
    assert done.stdout.decode() == "".join(here)


def test_the_session_stays_as_it_was(charts: dict[str, Any]) -> None:
    import altair as alt

    before = alt.theme.active, alt.data_transformers.active
    sf.chart_text(charts["slope"], "json")
    assert (alt.theme.active, alt.data_transformers.active) == before
    assert alt.data_transformers.consolidate_datasets is True


def test_json_is_vega_lite_with_its_schema_and_no_names_that_count_up(
    charts: dict[str, Any],
) -> None:
    for chart in charts.values():
        text = sf.chart_text(chart, "json")
        spec = json.loads(text)
        assert re.fullmatch(
            r"https://vega\.github\.io/schema/vega-lite/v6[.\d]*\.json", spec["$schema"]
        )
        assert not re.search(r"view_\d|param_\d|data-[0-9a-f]{8}", text)


class _Page(HTMLParser):
    """Reads a page: which elements, which attributes, and the text of its drawing."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [pair for pair in attrs if pair[0] in {"src", "href", "xlink:href", "action"}]

    def handle_data(self, data: str) -> None:
        inside = self.tags and self.lasttag == "script" and data.strip()
        (self.scripts if inside else self.words).append(data)


def test_html_needs_nothing_else_and_shows_the_chart_without_javascript(
    charts: dict[str, Any],
) -> None:
    page = _Page()
    text = sf.chart_text(charts["heatmap"], "html")
    page.feed(text)
    assert page.tags.count("script") == 3
    assert page.links == [("href", "data:,")]  # the icon, for which a browser would ask otherwise
    assert "66.67" in page.words
    assert sf.chart_text(charts["heatmap"], "svg") in text
    assert text == sf.chart_text(charts["heatmap"], "html")
    assert json.loads(page.scripts[0]) == json.loads(sf.chart_text(charts["heatmap"], "json"))
    assert all("vegaEmbed" in script for script in page.scripts[1:])


def test_a_page_forbids_all_but_its_own_scripts(charts: dict[str, Any]) -> None:
    page = _Page()
    text = sf.chart_text(charts["slope"], "html")
    page.feed(text)
    said = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert said
    assert text.index(said[0]) < text.index("<style>")
    policy = dict(rule.split(" ", 1) for rule in said[1].split("; "))
    assert policy["default-src"] == "'none'"
    digests = [hashlib.sha256(script.encode()).digest() for script in page.scripts[1:]]
    own = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert policy["script-src"].split() == own


def hostile_tasks(label: str) -> tuple[pl.DataFrame, sf.Benchmark]:
    """Put a label into the run, a site, a condition and the tasks."""
    site, condition = f"site {label}", f"condition {label}"
    axes = sf.Benchmark("hostile", sites={site: 4, "search": 4}, conditions=("plain", condition))
    rows = [
        row
        | {
            "run": f"run {label}" if row["run"] == "asi" else row["run"],
            "site": site if row["site"] == "cart" else row["site"],
            "condition": condition if row["condition"] == "shifted" else row["condition"],
            "uid": f"{row['uid']} {label}",
        }
        for row in records()
    ]
    return sf.from_frame(pl.DataFrame(rows), benchmark=axes), axes


@pytest.fixture(scope="module")
def hostile() -> dict[str, Any]:
    """Every chart, with every hostile label as a site, and some as a run and a condition."""
    names = [label for label in HOSTILE.values() if "\ud800" not in label]  # no frame can hold it
    sites = dict.fromkeys([f"{label} " for label in names], 1)
    axes = sf.Benchmark("hostile", sites=sites, conditions=(HOSTILE["script"], HOSTILE["override"]))
    runs = [
        HOSTILE[name]
        for name in ("attribute", "backslash", "long", "right to left", "newline", "joined")
    ]
    rows = [
        {
            "run": run,
            "site": site,
            "condition": condition,
            "uid": f"{number}{run}",
            "success": (number + place) % 2 == 0,
            "steps": 3,
            "skill_calls": place * number,
            "skill_failures": number,
        }
        for place, run in enumerate(runs, 1)
        for number, site in enumerate(sites)
        for condition in axes.conditions
    ]
    for row in rows:
        row["uid"] = str(row["uid"]).replace(str(row["run"]), HOSTILE["ampersand"])
    return all_charts(sf.from_frame(pl.DataFrame(rows), benchmark=axes), runs[0], axes)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_labels_are_inert(hostile: dict[str, Any], name: str) -> None:
    root = parse(sf.chart_text(hostile[name], "svg"))
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "g", "rect", "path", "text", "line", "defs", "clipPath", "tspan"}
    assert all(not key.startswith("on") for element in root.iter() for key in element.attrib)
    said = [element.get("aria-label", "") for element in root.iter()]
    said += ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert not re.search("[\u202e\u2028\x00\x1b\n\r\t]", "".join(said))
    assert any("<script>alert(" in text for text in said)


@pytest.mark.parametrize("kind", ["script", "attribute", "backslash", "markup"])
def test_hostile_labels_are_inert_in_a_page(all_labels: dict[str, str], kind: str) -> None:
    tasks, axes = hostile_tasks(all_labels[kind] + "</script><img src=x onerror=alert(1)>")
    page = _Page()
    chart = sf.slope_chart(
        sf.slots(sf.cells(tasks, benchmark=axes), benchmark=axes), benchmark=axes
    )
    page.feed(sf.chart_text(chart, "html"))
    assert page.tags.count("script") == 3
    assert set(page.tags) <= {
        *("html", "head", "meta", "link", "title", "style", "body", "figure", "div", "script"),
        *("svg", "g", "rect", "path", "text", "line", "defs", "clippath", "tspan"),
    }


def test_labels_are_no_part_of_an_expression() -> None:
    marker = "zzq"
    tasks, axes = hostile_tasks(marker)
    for chart in all_charts(tasks, "base", axes).values():
        spec = json.loads(sf.chart_text(chart, "json"))
        for key, value in _leaves(spec):
            if key in {
                "filter",
                "calculate",
                "expr",
                "signal",
                "field",
                "test",
                "labelExpr",
                "format",
            }:
                assert marker not in str(value)


def _leaves(node: Any, key: str = "") -> Any:  # noqa: ANN401 - JSON
    if isinstance(node, dict):
        for name, below in node.items():
            yield from _leaves(below, name)
    elif isinstance(node, list):
        for below in node:
            yield from _leaves(below, key)
    else:
        yield key, node


def test_long_labels_are_cut_in_the_drawing_and_whole_beside_it() -> None:
    long = "x" * 200
    tasks, axes = hostile_tasks(long)
    chart = sf.slope_chart(
        sf.slots(sf.cells(tasks, benchmark=axes), benchmark=axes), benchmark=axes
    )
    root = parse(sf.chart_text(chart, "svg"))
    drawn = [t.text or "" for t in root.iter(f"{SVG}text")]
    assert any(text.endswith("…") and text.startswith("run x") for text in drawn)
    assert not any(long in text for text in drawn)
    assert f"run {long}" in (root.get("aria-label") or "")
    assert any(row["run"] == f"run {long}" for row in rows_of(chart))
    assert float((root.get("width") or "").removesuffix("pt")) < 320


def test_names_that_look_alike_stay_two() -> None:
    twins = sf.Benchmark("twins", sites={"a\n": 4, "a\\n": 4}, conditions=("plain",))
    rows = [
        row | {"site": "a\n" if row["site"] == "cart" else "a\\n"}
        for row in records()
        if row["condition"] == "plain"
    ]
    cells = sf.cells(sf.from_frame(pl.DataFrame(rows), benchmark=twins), benchmark=twins)
    drawn = rows_of(sf.heatmap_chart(cells, run="asi", benchmark=twins))
    assert [row["row"] for row in drawn] == [r"a\n", r"a\n (a\n)"]


def test_png_has_300_pixels_per_inch(charts: dict[str, Any], tmp_path: Path) -> None:
    sf.save_chart(charts["slope"], tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    width, _ = struct.unpack(">II", content[16:24])
    svg = parse(sf.chart_text(charts["slope"], "svg"))
    points = float((svg.get("width") or "").removesuffix("pt"))
    assert abs(width - points * 300 / 72) <= 2
    sf.save_chart(charts["slope"], tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes() == content


def test_pdf_is_as_wide_as_the_svg(charts: dict[str, Any], tmp_path: Path) -> None:
    sf.save_chart(charts["lift"], tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    svg = parse(sf.chart_text(charts["lift"], "svg"))
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
    assert box is not None
    assert [float(side) for side in box.groups()] == [
        float((svg.get(side) or "").removesuffix("pt")) for side in ("width", "height")
    ]


@pytest.mark.parametrize("suffix", CHART_SUFFIXES)
def test_files_are_whole_or_not_there(charts: dict[str, Any], tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"chart{suffix}"
    target.write_text("mine")
    with pytest.raises(sf.OutputExistsError, match="--force"):
        sf.save_chart(charts["slope"], target)
    assert target.read_text() == "mine"
    sf.save_chart(charts["slope"], target, force=True)
    assert target.stat().st_size > 1000
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    if suffix not in {".png", ".pdf"}:
        kind: Any = suffix[1:]
        assert target.read_text() == sf.chart_text(charts["slope"], kind)


def test_what_cannot_be_saved_is_named(charts: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(sf.InputError, match=r"\.svg, \.pdf, \.png, \.html, \.json is needed"):
        sf.save_chart(charts["slope"], tmp_path / "a.eps")
    with pytest.raises(sf.InputError, match="an Altair chart is needed"):
        sf.save_chart({"mark": "bar"}, tmp_path / "a.svg")
    with pytest.raises(sf.InputError, match="format"):
        sf.chart_text(charts["slope"], "pdf")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["altair", "vl_convert"])
def test_a_missing_extra_says_how_to_get_it(
    module: str, charts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(sf.InputError, match=r'pip install "skillshift-frames\[plots\]"'):
        sf.chart_text(charts["slope"], "svg")


def test_charts_are_imported_without_what_draws_them() -> None:
    code = (
        "import sys, skillshift_frames as sf; sf.heatmap_chart, sf.save_chart, sf.cost_chart; "
        "print([m for m in ('altair', 'vl_convert') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_theme_does_not_reach_other_charts() -> None:
    import altair as alt

    sf.chart_text(sf.heatmap_chart(sf.cells(shop_tasks(), benchmark=SHOP), benchmark=SHOP), "json")
    plain = alt.Chart(alt.InlineData(values=[{"a": 1}])).mark_point().encode(x="a:Q").to_dict()
    assert "font" not in plain["config"]
