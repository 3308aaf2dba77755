"""The report as text: its parts and their order, its bytes, and what it says where something is not to be had."""

from __future__ import annotations

import json
import re
import tempfile
from html.parser import HTMLParser
from importlib.util import find_spec

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.render.charts import live
from skillshift_frames.render.report import charts as report_charts, sections as report_sections

SHOP = sf.Benchmark("shop", sites={"cart": 3, "search": 2}, conditions=("plain",))
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """Collects tags, ids, links and headings, and minds that every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if (tag, name) == ("a", "href") and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and re.fullmatch("h[1-6]", self.open[-1]):
            self.headings.append((self.open[-1], data))


def record(run: str, site: str, uid: str, **fields: object) -> dict[str, object]:
    usual = {"success": True, "steps": 3, "skill_calls": 0, "skill_failures": 0}
    return {"run": run, "site": site, "condition": "plain", "uid": uid, **usual, **fields}


def shop_tasks(*runs: str, **fields: object) -> pl.DataFrame:
    rows = [
        record(run, site, f"{site}-{index}", **fields)
        for run in runs
        for site, count in SHOP.sites.items()
        for index in range(count)
    ]
    return sf.from_frame(pl.DataFrame(rows, infer_schema_length=None), benchmark=SHOP)


@pytest.fixture(scope="module")
def demo() -> pl.DataFrame:
    return sf.read_tasks("data/demo/*.jsonl")


@pytest.fixture(scope="module")
def page(demo: pl.DataFrame) -> str:
    return sf.report(demo, base="reference", resamples=200)


def section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    assert found, name
    return found[0]


def test_sections_come_in_their_order_and_links_lead_to_them(page: str) -> None:
    outline = Outline(page)
    assert [level for level, _ in outline.headings] == ["h1"] + ["h2"] * 9
    assert [title for _, title in outline.headings[1:]] == [
        *("Coverage", "Table", "Cells", "Charts", "Intervals", "Comparison"),
        *("Audit of the entry", "Methods", "Reproduce"),
    ]
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)
    assert len(outline.links) == 10


def test_nothing_is_asked_of_a_network(page: str) -> None:
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'\b(?:src|action|poster|data|srcset)="', markup)
    assert not re.search(r'\bhref="(?!#|data:)', markup)
    assert "@import" not in markup
    assert "default-src 'none'" in page


def test_row_order_does_not_show(demo: pl.DataFrame, page: str) -> None:
    for seed in (1, 2):
        shuffled = demo.sample(fraction=1, shuffle=True, seed=seed)
        assert sf.report(shuffled.lazy(), base="reference", resamples=200) == page


def test_seed_shows_and_a_generator_is_drawn_from_once(demo: pl.DataFrame, page: str) -> None:
    import numpy as np

    other = sf.report(demo, base="reference", resamples=200, rng=1)
    assert section(other, "table") == section(page, "table")
    assert section(other, "intervals") != section(page, "intervals")
    assert "rng=1" in section(other, "reproduce")
    drawn = [sf.report(demo, resamples=200, rng=np.random.default_rng(5)) for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_intervals_are_those_of_intervals(demo: pl.DataFrame, page: str) -> None:
    found = sf.intervals(demo, resamples=200).filter(run="induced", metric="SR", slot="overall")
    low, high = found.select("low", "high").row(0)
    rows = re.findall(r"<tr>.*?</tr>", section(page, "intervals"))
    overall = [re.sub("<[^>]*>", " ", row).split() for row in rows if ">O/A<" in row]
    assert overall[0][1] == "35.66"
    ends = [float(end.strip("[,]")) for end in overall[0][2:4]]
    assert ends == [pytest.approx(low, abs=0.051), pytest.approx(high, abs=0.051)]


def test_comparison_says_verdict_reason_and_recommendation(demo: pl.DataFrame) -> None:
    two = demo.filter(pl.col("run") != "workflow")
    compared = sf.compare(two, base="reference", treatment="induced", resamples=200)
    shown = section(sf.report(two, base="reference", resamples=200), "comparison")
    assert f"<strong>Verdict: {compared.decision.verdict}.</strong>" in shown
    assert compared.decision.reason[1:] in shown
    assert f"<strong>Recommendation: {compared.decision.recommendation}.</strong>" in shown


def test_several_comparisons_say_that_nothing_was_corrected(page: str) -> None:
    shown = section(page, "comparison")
    assert "2 comparisons, each judged by itself" in shown
    assert shown.count("<details>") == 2


def test_without_a_base_nothing_is_compared(demo: pl.DataFrame) -> None:
    page = sf.report(demo.filter(run="induced"), resamples=200)
    assert 'id="comparison"' not in page
    assert "Lift =" not in page


@pytest.mark.parametrize(
    ("base", "said"),
    [("indced", "there is no run 'indced'; the records have a, b"), ("a", "'a' is the only run")],
)
def test_a_base_that_is_none_is_refused(base: str, said: str) -> None:
    tasks = shop_tasks("a", "b") if base != "a" else shop_tasks("a")
    with pytest.raises(sf.InputError, match=said):
        sf.report(tasks, base=base, benchmark=SHOP)


def test_no_records_are_refused() -> None:
    with pytest.raises(sf.InputError, match="there are no records"):
        sf.report(sf.TASKS.to_frame())


def test_gaps_are_named_with_their_errors_cut_short() -> None:
    tasks = shop_tasks("a")
    long = f"boom {'x' * 5000}"
    failed = (pl.col("uid") == "cart-0").fill_null(value=False)
    tasks = tasks.with_columns(
        error=pl.when(failed).then(pl.lit(long)),
        success=pl.when(~failed).then("success"),
    ).filter(pl.col("uid") != "search-1")
    shown = section(sf.report(tasks, benchmark=SHOP, resamples=100), "coverage")
    text = " ".join(re.sub("<[^>]*>", " ", shown).split())
    assert f"a cart plain errored 1 cart-0 ({long[:80]}…)" in text
    assert "a: 1 missing tasks have no name" in text
    assert "a 4 5 3 1 1 – 25.00" not in text
    assert "3 of 5 tasks scored, 1 errored, 1 missing" in text
    assert len(shown) < 4000


def test_a_run_without_a_score_has_dashes_and_no_zero() -> None:
    tasks = shop_tasks("a", "b")
    none = pl.col("run") == "b"
    tasks = tasks.with_columns(
        error=pl.when(none).then(pl.lit("HTTP 503")), success=pl.when(~none).then("success")
    )
    page = sf.report(tasks, base="a", benchmark=SHOP, resamples=100)
    rows = re.findall(r"<tr>.*?</tr>", section(page, "table"))
    values = [re.sub("<[^>]*>", " ", row).split() for row in rows]
    assert ["b", "SR", "–", "0/3", "–", "0/2", "–", "0/5", "–", "0/5"] in values
    assert "insufficient evidence" in section(page, "comparison")


def test_skills_that_do_not_apply_are_two_dashes() -> None:
    page = sf.report(
        shop_tasks("awm", skill_calls=None, skill_failures=None), benchmark=SHOP, resamples=100
    )
    assert '<th scope="row">SFR</th><td class="right">--</td>' in section(page, "table")
    assert "does not apply" in section(page, "intervals")


def test_an_entry_that_cannot_be_made_is_left_out_with_the_reason() -> None:
    page = sf.report(shop_tasks("a"), benchmark="infer", resamples=100)
    assert "There is no entry to audit: the benchmark of an entry cannot be inferred" in page


def test_audit_finds_what_check_entry_finds(page: str) -> None:
    shown = section(page, "audit")
    assert shown.count("<td>count-mismatch</td>") == 6
    assert "7 errors in 1 of 3 entries; 2 entries without a finding" in shown
    assert tempfile.gettempdir() not in re.sub("<script>.*?</script>", "", page, flags=re.DOTALL)


def test_records_are_named_by_their_digest(demo: pl.DataFrame, page: str) -> None:
    for (run,), tasks in demo.group_by("run"):
        row = f'<th scope="row">{run}</th><td>{sf.records_digest(tasks)}</td>'
        assert row in section(page, "reproduce")


@pytest.mark.parametrize("missing", report_charts.PLOTS)
def test_without_the_extra_a_sentence_stands_where_the_charts_would(
    demo: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr(
        report_charts, "find_spec", lambda name: None if name == missing else find_spec(name)
    )
    page = sf.report(demo, resamples=100)
    assert "skillshift-frames[plots]" in section(page, "charts")
    assert "<script" not in page
    assert "<svg" not in page
    assert "35.66" in page
    assert "altair" not in section(page, "reproduce")


def test_specifications_cannot_leave_their_element() -> None:
    content = {"run": "</script><!--<script>&\u2028", "n": 1}
    written = live.inert_json(content)
    assert not set("<>&\u2028") & set(written)
    assert json.loads(written) == content
    with pytest.raises(ValueError, match="JSON"):
        live.inert_json(float("nan"))


def test_scripts_are_known_by_their_digests(page: str) -> None:
    allowed = re.search(r"script-src ([^\"]*)\"", page)
    assert allowed
    assert len(re.findall(r"'sha256-[^']{44}'", allowed[1])) == 2
    assert "unsafe-eval" not in page.split("</head>", maxsplit=1)[0]


def test_static_page_has_no_script_and_the_same_numbers(demo: pl.DataFrame, page: str) -> None:
    static = sf.report(demo, base="reference", resamples=200, javascript=False)
    assert "<script" not in static
    assert "script-src" not in static
    for name in ("coverage", "table", "cells", "intervals", "comparison", "audit"):
        assert section(static, name) == section(page, name)
    assert len(static) < 600_000 < len(page) < 2_000_000


def test_long_tables_are_folded_and_short_ones_are_not(demo: pl.DataFrame) -> None:
    one = sf.report(demo.filter(run="induced"), resamples=100)
    assert "<details>" not in section(one, "cells")
    assert report_sections._ROWS_READ >= 18
    assert "<summary>All 54 cells</summary>" in sf.report(demo, resamples=100)
