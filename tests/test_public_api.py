"""The names that users import: all there, lazily, and the same whatever was imported before."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import skillshift_frames as sf
from skillshift_frames import _HOMES

HEAVY = [
    *("polars", "numpy", "scipy", "pyarrow", "rich", "narwhals", "pandas", "altair"),
    *("msgspec", "typer", "great_tables", "vl_convert", "IPython"),
]


def test_every_public_name_resolves_and_is_listed() -> None:
    homes = {name for names in _HOMES.values() for name in names}
    assert {*homes, "__version__"} == set(sf.__all__)
    for name in sf.__all__:
        assert getattr(sf, name) is not None
    assert set(sf.__all__) <= set(dir(sf))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tabel'"):
        sf.tabel  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", ["cells", "table"])
@pytest.mark.parametrize(
    "before", ["", "import skillshift_frames.table, skillshift_frames.cells; "]
)
def test_function_wins_over_the_module_of_its_name(name: str, before: str) -> None:
    code = f"{before}import skillshift_frames as sf; assert callable(sf.{name}); from skillshift_frames import {name}; assert callable({name})"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, skillshift_frames; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_table_in_a_pipe_imports_only_what_it_needs() -> None:
    """Of rich only the width of characters: colour, and what draws it, is for terminals."""
    code = (
        "import sys; from skillshift_frames.cli.app import run; "
        "run(['table', 'data/demo/reference.jsonl']); "
        f"print([m for m in {[*HEAVY, 'rich.console', 'rich.text']} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr == "['polars', 'rich', 'msgspec', 'typer']\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["table", "--help"], ["table", "data/demo/reference.jsonl"]]
)
def test_what_draws_and_lays_out_is_not_imported_for_a_table(arguments: list[str]) -> None:
    optional = ["altair", "vl_convert", "great_tables", "pandas", "matplotlib", "IPython"]
    code = (
        "import sys, skillshift_frames; from skillshift_frames.cli.app import run; "
        f"run({arguments}); print([m for m in {optional} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr == "[]\n"


def test_show_imports_no_more_than_it_shows() -> None:
    code = (
        "import sys, skillshift_frames as sf; str(sf.show(sf.COSTS.to_frame())); "
        "print([m for m in ('rich.console', 'great_tables', 'pyarrow', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def _documented() -> list[str]:
    return [
        name
        for name in sf.__all__
        if inspect.isfunction(getattr(sf, name)) or inspect.isclass(getattr(sf, name))
    ]


@pytest.mark.parametrize("name", _documented())
def test_every_public_function_has_a_doctested_docstring(name: str) -> None:
    documented = getattr(sf, name)
    text = inspect.getdoc(documented) or ""
    assert len(text) > 40
    if inspect.isfunction(documented):
        assert ">>> " in text, name
