"""Messages about a run go on while it cannot be read: the page then asks, and says why."""

from __future__ import annotations

import asyncio
from typing import Any

from neuron_top.dashboard.push import _notify
from neuron_top.store.errors import StoreCorrupt


class Changing:
    """Feeds of which every run changes all the time."""

    async def opened(self, run: str) -> None:
        raise StoreCorrupt("batch 7 cannot be read")

    async def wait_for_change(self, run: str, version: int, seconds: float) -> int:
        return version + 1


class Heard:
    """A browser that goes away after two messages."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def send_text(self, text: str) -> None:
        self.texts.append(text)
        if len(self.texts) == 2:
            raise asyncio.CancelledError


async def test_a_run_that_cannot_be_read_is_a_message_without_news() -> None:
    answers = iter([StoreCorrupt("batch 7 cannot be read"), "news"])

    async def news(_run: str) -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    browser: Any = Heard()
    feeds: Any = Changing()
    await asyncio.gather(_notify(browser, feeds, "r1", news, 0.0), return_exceptions=True)
    assert browser.texts == ["", "news"]
