"""A real browser: Debian's Chromium without a window. A machine without it fails here, for skipping would prove nothing."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from playwright.sync_api import Browser, Page

#: As root, without a screen, and without a call home of its own.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

#: A phone and a desk.
WIDTHS = (400, 1400)


@dataclass
class Seen:
    """An open page, and everything that happened to it which nobody sees."""

    page: Page
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def assert_quiet(self, path: Path) -> None:
        """Nothing was said on the console, nothing popped up, and nothing but the file was asked for."""
        assert (self.messages, self.dialogs) == ([], [])
        assert self.requests == [path.as_uri()]

    def sideways(self) -> int:
        """Give by how many pixels the page is wider than its window."""
        return int(
            self.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
        )


def tip_of(seen: Seen, svg: str) -> str:
    """Put the pointer on one mark of a live chart after the other until one says something; give that."""
    marks = seen.page.locator(f"{svg} [aria-roledescription]:not(g)")
    marks.first.scroll_into_view_if_needed()
    tip = seen.page.locator("#vg-tooltip-element.visible")
    for mark in marks.all()[:40]:
        box = mark.bounding_box()
        if box:
            seen.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if tip.count():
            return tip.inner_text()
    return ""


class Visit(Protocol):
    """Opens a file."""

    def __call__(
        self,
        path: Path,
        *,
        width: int = 1400,
        javascript: bool = True,
        **context: Any,  # noqa: ANN401 - playwright's
    ) -> AbstractContextManager[Seen]: ...


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import (
        sync_playwright,
    )  # of the extra dev, which plain pytest need not have

    program = shutil.which("chromium")
    assert program, "chromium is not installed (Debian: apt-get install chromium)"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser) -> Visit:
    @contextmanager
    def opened(
        path: Path,
        *,
        width: int = 1400,
        javascript: bool = True,
        **context: Any,  # noqa: ANN401
    ) -> Iterator[Seen]:
        own = browser.new_context(
            viewport={"width": width, "height": 900}, java_script_enabled=javascript, **context
        )
        own.set_default_timeout(20_000)
        page = own.new_page()
        seen = Seen(page)
        page.on("console", lambda said: seen.messages.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: seen.messages.append(f"error: {error}"))
        page.on("request", lambda request: seen.requests.append(request.url))

        def dismiss(dialog: Any) -> None:  # noqa: ANN401
            seen.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.goto(path.as_uri())
        yield seen
        own.close()

    return opened
