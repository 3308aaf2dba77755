"""The README's pictures are what the product draws, byte for byte."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

from skillshift_frames.cli.app import app

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "data" / "pictures"
DRAWN = {
    "heatmap.svg": ["data/demo/induced.jsonl"],
    "lift.svg": [
        *("data/demo/reference.jsonl", "data/demo/induced.jsonl"),
        *("--kind", "lift", "--base", "reference"),
    ],
}


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_are_drawn_by_plot(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with chdir(ROOT):
        app(["plot", *DRAWN[name], "-o", str(tmp_path / name)], standalone_mode=False)
    drawn, kept = (tmp_path / name).read_bytes(), PICTURES / name
    if request.config.getoption("--update-golden"):
        differ = not kept.exists() or kept.read_bytes() != drawn
        kept.write_bytes(drawn)
        assert not differ, f"{name} was drawn anew: look at it"
    assert kept.read_bytes() == drawn


def test_readme_shows_every_picture_with_its_text() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in PICTURES.iterdir()) == sorted(DRAWN)
    for name in DRAWN:
        assert f'<img src="data/pictures/{name}"' in readme
    assert readme.count("<img ") == readme.count('alt="') == len(DRAWN)
