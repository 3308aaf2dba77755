"""``sf.to_arrow``, ``sf.to_pandas`` and ``sf.to_gt``: nothing is converted without a word, and labels stay labels."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import skillshift_frames as sf

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillshift_frames.render.document import Document

    Build = Callable[[str], Document]

DEMO = Path(__file__).parents[2] / "data" / "demo"


@pytest.fixture(scope="module")
def cells() -> pl.DataFrame:
    return sf.cells(sf.read_tasks(str(DEMO / "workflow.jsonl")))


def test_arrow_keeps_values_types_and_nulls(cells: pl.DataFrame) -> None:
    table = sf.to_arrow(cells)
    assert pl.DataFrame(table).equals(cells)
    assert str(table.schema.field("skill_calls").type) == "int64"
    assert table["skill_calls"].null_count == cells.height
    assert table.schema.metadata == {
        b"skillshift_frames.version": sf.__version__.encode(),
        b"skillshift_frames.schema": b"CELLS",
        b"skillshift_frames.errors": b"exclude",
    }


def test_metadata_survives_a_file(cells: pl.DataFrame, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    slots = sf.slots(cells, null="available")
    pq.write_table(sf.to_arrow(slots), tmp_path / "slots.parquet")
    read = pq.read_table(tmp_path / "slots.parquet")
    assert read.schema.metadata[b"skillshift_frames.schema"] == b"SLOTS"
    assert pl.DataFrame(read).equals(slots)


def test_own_frame_has_no_schema_name() -> None:
    assert sf.to_arrow(pl.DataFrame({"a": [1, None]})).schema.metadata == {
        b"skillshift_frames.version": sf.__version__.encode()
    }


def test_pandas_keeps_integers_with_nulls(cells: pl.DataFrame) -> None:
    import pandas as pd  # type: ignore[import-untyped]

    frame = sf.to_pandas(cells)
    assert list(frame.columns) == cells.columns
    assert {str(dtype) for dtype in frame.dtypes} == {
        *("large_string[pyarrow]", "int64[pyarrow]", "double[pyarrow]")
    }
    assert frame["skill_calls"].isna().all()
    assert frame["skill_calls"].iloc[0] is pd.NA
    assert frame["expected"].sum() == 2130
    assert frame.attrs["skillshift_frames.schema"] == "CELLS"
    assert pl.from_pandas(frame).equals(cells)


@pytest.mark.parametrize("call", [sf.to_arrow, sf.to_pandas])
@pytest.mark.parametrize("what", ["a.parquet", pl.LazyFrame({"a": [1]}), None])
def test_what_is_no_frame_is_refused(call: Callable[[Any], object], what: object) -> None:
    with pytest.raises(sf.InputError, match="is no Polars frame"):
        call(what)


@pytest.mark.parametrize(
    ("call", "library", "hint"),
    [
        (sf.to_gt, "great_tables", r"skillshift-frames\[notebooks\]"),
        (sf.to_pandas, "pandas", "pip install pandas"),
    ],
)
def test_library_that_is_missing_is_named(
    call: Callable[[pl.DataFrame], object],
    library: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    cells: pl.DataFrame,
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(sf.InputError, match=hint):
        call(cells)


class Tags(HTMLParser):
    """The tags of a page, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_great_table_has_the_cells_marks_spanners_and_notes(cells: pl.DataFrame) -> None:
    pytest.importorskip("great_tables")
    slots = sf.slots(cells)
    table = sf.to_gt(slots, cells=cells)
    html, latex = table.as_raw_html(), table.as_latex()
    document = sf.show(slots, cells=cells).document
    text = Tags(html).text
    for row in document.rows:
        for cell in row.cells[1:]:
            assert " ".join((cell.text, *cell.marks)) in text
    for words in (document.title, "Website", "Environment", "GitLab", "21.94 970/972", "– undefined"):  # fmt: skip
        assert words in text or words == "– undefined"
    assert all(note.text in text for note in document.notes)
    assert "21.94 970/972" in latex
    assert r"\cmidrule" in latex
    # The same input gives the same bytes; another table has another id.
    assert sf.to_gt(slots, cells=cells).as_raw_html() == html
    ids = [re.search(r'<div id="([^"]+)"', one) for one in (html, sf.to_gt(cells).as_raw_html())]
    assert ids[0]
    assert ids[1]
    assert ids[0][1] != ids[1][1]


def test_great_table_of_hostile_labels_is_inert(build: Build, label: str) -> None:
    pytest.importorskip("great_tables")
    table = sf.to_gt(build(label))
    tags = Tags(table.as_raw_html())
    assert not tags.tags & {"script", "a", "img", "b", "code"}
    assert "\x1b" not in table.as_latex()
    assert "\u202e" not in table.as_raw_html()


def test_repeated_label_stands_once_and_a_table_may_be_empty(cells: pl.DataFrame) -> None:
    pytest.importorskip("great_tables")
    assert Tags(sf.to_gt(sf.slots(cells)).as_raw_html()).text.count("workflow") >= 1
    assert "COSTS" in sf.to_gt(sf.COSTS.to_frame()).as_raw_html()
