"""``sf.show``: the cells of the command line, in notebooks, with rich and as text; every frame of the library."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import skillshift_frames as sf
from skillshift_frames.cli.app import run
from skillshift_frames.render.known import ROWS, schema_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillshift_frames.metrics import Errors
    from skillshift_frames.render.document import Document

    Build = Callable[[str], Document]

DEMO = Path(__file__).parents[2] / "data" / "demo"
HARBOR = DEMO.parent / "harbor"
FILES = [str(DEMO / f"{name}.jsonl") for name in ("induced", "reference", "workflow")]


@pytest.fixture(scope="module")
def tasks() -> pl.DataFrame:
    return sf.read_tasks(FILES)


@pytest.fixture(scope="module")
def cells(tasks: pl.DataFrame) -> pl.DataFrame:
    return sf.cells(tasks)


def harbor() -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.SkillshiftWarning)  # which format it is
        return sf.read_trials(HARBOR)


def printed(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> list[str]:
    assert run([*arguments]) == 0
    return capsysbinary.readouterr()[0].decode().splitlines()


def test_slots_with_cells_are_the_table_of_the_command_line(
    cells: pl.DataFrame, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    shown = str(sf.show(sf.slots(cells), cells=cells)).splitlines()
    assert shown == printed(capsysbinary, "table", *FILES)


def test_slots_alone_have_the_same_cells_marks_and_denominators(
    cells: pl.DataFrame, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    shown = str(sf.show(sf.slots(cells))).splitlines()
    wanted = printed(capsysbinary, "table", *FILES)
    assert shown[: wanted.index("")] == wanted[: wanted.index("")]
    assert [line for line in shown if "970/972" in line]
    assert "workflow: 2,124 of 2,130 tasks behind SR" in shown
    assert "n/N tasks behind the number, of those that the benchmark has" in shown


def test_available_means_are_told_by_their_marks(cells: pl.DataFrame) -> None:
    shown = str(sf.show(sf.slots(cells, null="available")))
    assert "--null available" in shown
    assert "* mean of the defined cells only" in shown


@pytest.mark.parametrize("errors", ["exclude", "zero"])
def test_cells_are_those_of_the_command_line(
    tasks: pl.DataFrame, errors: Errors, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    shown = str(sf.show(sf.cells(tasks, errors=errors))).splitlines()
    assert shown == printed(capsysbinary, "cells", *FILES, "--errors", errors)


def test_policy_that_made_no_difference_is_not_named(tasks: pl.DataFrame) -> None:
    complete = sf.cells(tasks.filter(run="induced"))
    assert "--errors" not in str(sf.show(complete))
    assert "--errors" not in str(sf.show(sf.slots(complete), cells=complete))


def test_comparison_is_that_of_the_command_line(
    tasks: pl.DataFrame, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    found = sf.compare(tasks, base="reference", treatment="induced", resamples=200)
    wanted = printed(capsysbinary, "compare", FILES[1], FILES[0], "--resamples", "200")
    assert str(sf.show(found)).splitlines() == wanted
    assert str(sf.show(found.outcomes)).startswith("Outcomes\n\nfield")
    assert re.search(r"^p +< 0.0001$", str(sf.show(found.outcomes)), re.MULTILINE)


def test_leaderboard_is_that_of_the_command_line_but_for_the_slot(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    for sort in ("SR", "AS"):
        for across in (False, True):
            board = sf.leaderboard(sf.published(), sort=sort, across_models=across)
            shown = str(sf.show(board)).splitlines()
            options = ["--sort", sort, *(["--across-models"] if across else [])]
            wanted = printed(capsysbinary, "leaderboard", "--published", *options)
            assert shown[0] == wanted[0].replace(" overall", "")
            assert [line.split() for line in shown[2:6]] == [line.split() for line in wanted[2:6]]


def test_part_of_a_leaderboard_claims_no_order() -> None:
    board = sf.leaderboard(sf.published()).filter(pl.col("rank") > 1)
    assert str(sf.show(board)).startswith("LEADERBOARD, one row per entry: ")


def test_skill_lift_and_regression_are_those_of_the_command_line(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    lift = sf.skill_lift(harbor())
    assert str(sf.show(lift)).splitlines()[0].startswith("Skill Lift ")
    assert str(sf.show(lift)).splitlines() == printed(capsysbinary, "lift", str(HARBOR))


def test_records_and_tallies_are_shown_by_what_they_cover(tasks: pl.DataFrame) -> None:
    shown = str(sf.show(tasks))
    assert re.search(r"^workflow +2,130 +2,124 +4 +2 +4 +2,124$", shown, re.MULTILINE)
    assert "workflow: 2,124 of 2,130 tasks scored, 4 errored, 2 missing" in shown
    assert str(sf.show(sf.tally(tasks))) == shown
    assert str(sf.show(sf.tally(tasks, families=True))) == shown


def test_part_of_the_cells_is_shown_as_what_it_is(cells: pl.DataFrame) -> None:
    some = cells.filter(site="gitlab")
    assert str(sf.show(some)).startswith("CELLS, one row per run and cell: 18 rows")
    overall = sf.slots(cells).filter(slot="overall")
    assert str(sf.show(overall)).startswith("SLOTS, one row per run, metric and slot: 12 rows")


def test_table_says_where_its_denominators_are(cells: pl.DataFrame) -> None:
    table = sf.table(cells)
    assert "are in the slots (sf.slots)" in str(sf.show(table))
    assert "workflow: 2,124 of 2,130 tasks scored" in str(sf.show(table, cells=cells))


def test_benchmark_of_ones_own() -> None:
    axes = sf.Benchmark("shop", {"shop": 2}, ("day", "night"))
    rows = [
        {"uid": f"u{n}", "site": "shop", "condition": condition, "success": n == 0, "steps": 3}
        for n in range(2)
        for condition in axes.conditions
    ]
    frame = pl.DataFrame(rows).with_columns(skill_calls=pl.lit(1), skill_failures=pl.lit(0))
    records = sf.from_frame(frame, run="a", benchmark=axes)
    cells = sf.cells(records, benchmark=axes)
    slots, table = sf.slots(cells, benchmark=axes), sf.table(cells, benchmark=axes)
    assert str(sf.show(cells)).startswith("inferred: one row per run and cell")
    assert str(sf.show(slots)).startswith(
        "SLOTS, one row"
    )  # sites and conditions are not told apart
    assert str(sf.show(slots, benchmark=axes)).startswith("shop: means of cells")
    assert "Condition" in str(sf.show(table, benchmark=axes))
    assert str(sf.show(records)).startswith("inferred: what the records of 1 run cover")


@pytest.mark.parametrize("name", ROWS)
def test_every_schema_is_known_and_shown_without_rows(name: str) -> None:
    frame = getattr(sf, name).to_frame()
    assert schema_name(frame) == name
    shown = sf.show(frame)
    assert str(shown).startswith(f"{name}, {ROWS[name]}: 0 rows")
    assert "<table>" in shown._repr_html_()


def test_no_schema_is_forgotten() -> None:
    schemas = {name for name in sf.__all__ if isinstance(getattr(sf, name), pl.Schema)}
    # Entries are numbers of a table with a name before them, and shown as they are.
    assert schemas == {*ROWS, "ENTRIES"}


@pytest.mark.parametrize("null", [None, float("nan"), float("inf")])
def test_what_is_no_number_is_a_dash(null: float | None) -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "n": [0, None], "f": [0.0, null]})
    shown = str(sf.show(frame)).splitlines()
    assert shown[3].split() == ["x", "0", "0.00"]
    assert shown[4].split() == ["y", "–", "–"]
    for rendered in (sf.show(frame)._repr_html_(), "\n".join(shown)):
        assert not re.search(r"\b(nan|inf|None|null)\b", re.sub(r"<style>.*?</style>", "", rendered, flags=re.DOTALL))  # fmt: skip


def test_plain_numbers_follow_the_rules() -> None:
    frame = pl.DataFrame(
        {
            "count": [2130, None],
            "value": [2.675, None],
            "low": [1.005, None],
            "high": [3.0, None],
            "p": [0.00001, 0.25],
            "ok": [True, None],
            "day": [date(2026, 11, 30), None],
            "tags": [["a", "b"], []],
            "of": [{"x": 1.5}, {"x": None}],
        }
    )
    rows = sf.show(frame).document.rows
    assert [cell.text for cell in rows[0].cells] == [
        *("2,130", "2.68", "< 0.0001", "yes", "2026-11-30", "a, b", "x 1.50"),
    ]
    assert rows[0].cells[1].marks == ("[1.01, 3.00]",)
    assert [cell.text for cell in rows[1].cells] == ["–", "–", "0.2500", "–", "–", "", "x –"]
    assert rows[1].cells[1].marks == ()


def test_equal_neighbours_of_a_number_column_are_all_shown() -> None:
    rows = str(sf.show(pl.DataFrame({"rank": [1, 1], "who": ["a", "b"]}))).splitlines()
    assert [row.split() for row in rows[3:]] == [["1", "a"], ["1", "b"]]


def test_many_rows_are_cut_and_said() -> None:
    frame = pl.DataFrame({"n": range(1000)})
    shown = sf.show(frame)
    assert len(shown.document.rows) == 200
    assert "the first 200 of 1,000 rows; rows=None shows all" in str(shown)
    assert len(sf.show(frame, rows=None).document.rows) == 1000


@pytest.mark.parametrize(
    "what", ["runs/a.jsonl", {"a": 1}, pl.LazyFrame({"a": [1]}), sf.Comparison, None]
)
def test_what_cannot_be_shown_says_what_is_needed(what: object) -> None:
    with pytest.raises(sf.InputError, match="a Polars frame, or a result of this library"):
        sf.show(what)


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_notebook_gets_html_and_text_of_the_same_cells(cells: pl.DataFrame) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    shown = sf.show(sf.slots(cells))
    data, metadata = formatters.DisplayFormatter().format(shown)
    assert set(data) == {"text/plain", "text/html"}
    assert metadata == {}
    assert data["text/plain"] == str(shown) == repr(shown)
    texts = " ".join(Page(data["text/html"]).texts).split()
    for row in shown.document.rows:
        for cell in row.cells[1:]:
            assert {*cell.text.split(), *cell.marks} <= set(texts)


def test_html_is_inert_and_collides_with_nothing(build: Build, label: str) -> None:
    html = sf.show(build(label))._repr_html_()
    page = Page(html)
    assert page.attributes <= {"class", "role", "aria-label", "tabindex", "scope", "span", "colspan", "rowspan"}  # fmt: skip
    assert not page.tags & {"script", "link", "img", "iframe", "a"}
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style
    # Every rule stays inside its own table, and no colour is set: the theme's are taken.
    assert all(rule.startswith(".skillshift-frames ") for rule in style[1].strip().splitlines())
    assert not re.search(r"#[0-9a-f]{3}|rgb|url|@import", style[1])
    assert sf.show(build(label))._repr_html_() == html


def test_rich_shows_the_same_lines(cells: pl.DataFrame) -> None:
    from rich.console import Console

    shown = sf.show(sf.slots(cells))
    wide = StringIO()
    Console(file=wide, width=400).print(shown)
    assert wide.getvalue().splitlines() == str(shown).splitlines()
    narrow = StringIO()
    Console(file=narrow, width=60).print(shown)
    assert max(map(len, narrow.getvalue().splitlines())) <= 60
    assert narrow.getvalue().split() == str(shown).split()  # nothing is cut
    colored, plain = StringIO(), StringIO()
    Console(file=colored, width=400, force_terminal=True, color_system="standard", _environ={}).print(shown)  # fmt: skip
    Console(file=plain, width=400, force_terminal=True, no_color=True).print(shown)
    assert "\x1b[33m" in colored.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*3\dm", plain.getvalue())


def test_rich_takes_no_markup_and_no_control_from_a_label(build: Build, label: str) -> None:
    from rich.console import Console

    out = StringIO()
    Console(file=out, width=2000).print(sf.show(build(label)))
    assert out.getvalue().splitlines() == str(sf.show(build(label))).splitlines()


def test_render_gives_the_formats_of_the_command_line(
    cells: pl.DataFrame, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    shown = sf.show(sf.slots(cells), cells=cells)
    for name in ("text", "markdown", "latex", "html"):
        assert run(["table", *FILES, "--format", name]) == 0
        assert capsysbinary.readouterr()[0].decode() == shown.render(name)
    with pytest.raises(sf.InputError, match="'csv' is no format"):
        shown.render("csv")  # type: ignore[arg-type]


def test_every_frame_of_the_demo_data_is_shown_whole(
    tasks: pl.DataFrame, cells: pl.DataFrame
) -> None:
    counts = sf.tally(tasks, families=True)
    trials = harbor()
    frames = [
        *(sf.intervals(tasks, resamples=200), sf.cell_intervals(tasks, resamples=200)),
        *(sf.ranks(tasks, resamples=200), sf.shift_intervals(tasks, resamples=200)),
        *(sf.coverage(cells), sf.bounds(cells), sf.gaps(tasks), sf.grid(cells, "SR")),
        *(sf.identity(sf.table(cells)), sf.published(), sf.audit(sf.published())),
        *(sf.feasibility(sf.published()), sf.costs(trials), trials),
        *(sf.skill_lift(trials).metrics, sf.moments(tasks, counts)),
    ]
    for frame in frames:
        shown = sf.show(frame, rows=None)
        assert len(shown.document.rows) == frame.height
        assert not re.search(r"\b(nan|None)\b", str(shown))
    assert "[" in str(sf.show(frames[2]))


def test_a_document_is_shown_as_it_is(document: Document) -> None:
    assert sf.show(document).document == document
    assert sf.show(replace(document, title="")).document.title == ""


def test_json_of_the_command_line_is_untouched_by_show(
    cells: pl.DataFrame, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    before = cells.clone()
    sf.show(cells)
    assert cells.equals(before)
    assert run(["cells", *FILES, "--format", "json"]) == 0
    assert json.loads(capsysbinary.readouterr()[0])["rows"] == before.to_dicts()
