"""What all tests share: how hard hypothesis tries, and files that hold the expected output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=150, derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite golden files that differ; such a test fails once, so that nobody forgets to read the change",
    )


@pytest.fixture
def check_golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file in ``golden/`` beside the test, byte for byte."""

    def check(name: str, text: str) -> None:
        path = Path(request.path).parent / "golden" / name
        expected = path.read_bytes().decode() if path.exists() else None
        if text == expected:
            return
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
            pytest.fail(f"{name} was rewritten: read the change, then run again")
        assert expected is not None, f"{name} is missing: run with --update-golden"
        assert text == expected

    return check
