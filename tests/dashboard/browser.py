"""A headless Chromium for tests: the system's own, driven by Playwright, which brings none here."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first takes two thirds of the others' processor time: it draws no windows of its own."""
PATIENCE = 150.0
"""Seconds that a condition may take on a machine that has other things to do."""


def chromium_program() -> str | None:
    """Where the browser is; None where there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A browser; skips the test where there is none."""
    program = chromium_program()
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium-headless-shell)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


DRAWN = """([selector, words]) => document.querySelector(selector)?.innerText.includes(words) &&
    [...document.querySelectorAll('#page .dash-graph')].every((one) => one.querySelector('.js-plotly-plot')) &&
    (!/(compile|cache|runs)$/.test(location.pathname) || document.querySelector('#page .ag-header-cell'))"""


class Watched:
    """A page whose complaints and requests are kept."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.alerts: list[str] = []
        self.page = browser.new_page(**{"viewport": {"width": 1440, "height": 1000}, **options})
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        self.page.on("console", self._said)
        self.page.on("request", self._asked)
        self.page.on("dialog", lambda dialog: (self.alerts.append(dialog.message), dialog.dismiss()))

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
            self.foreign.append(request.url)

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.page.inner_text(selector))

    def until(self, selector: str, words: str, seconds: float = PATIENCE) -> str:
        """Wait until an element says `words`; what it said at that moment, as the page may be drawn again at once."""
        said = self.page.wait_for_function(
            """([s, w]) => {
                const text = document.querySelector(s)?.innerText;
                return text?.includes(w) ? { text } : false;
            }""",
            arg=[selector, words],
            timeout=seconds * 1000,
        )
        return str(said.json_value()["text"])

    def titled(self, words: str) -> None:
        """Wait until the tab's title begins with `words`: it comes with the next message of the server."""
        self.page.wait_for_function("words => document.title.startsWith(words)", arg=words, timeout=PATIENCE * 1000)

    def drawn(self, selector: str, words: str) -> None:
        """Wait until an element says `words`, and every chart and grid of the page has been drawn."""
        self.page.wait_for_function(DRAWN, arg=[selector, words])
