"""What the tests of the pages share: a browser for each module, and a job that tries to be markup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from neuron_top import events as ev
from neuron_top.events.levels import LineLevel, LogLevel
from neuron_top.ingest.log_line import LogLine
from tests.dashboard.browser import chromium
from tests.tui.feeds import START, StillFeed, compiles, job, samples, steps

SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture(scope="module")
def _chromium() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def browser(_chromium: Any) -> Iterator[Any]:
    """A browser whose pages are closed after each test: those that stay open look for their server again and again."""
    yield _chromium
    for context in _chromium.contexts:
        context.close()


@pytest.fixture
def feed() -> StillFeed:
    """A job of 32 cores, some graphs, and texts that try to be markup."""
    # fmt: off
    lines = [LogLine(source="log:a", offset=n * 10, text=f"line {n} {SCRIPT if n == 5 else ''}",
                     level=LineLevel.ERROR if n % 10 == 5 else LineLevel.PLAIN) for n in range(40)]
    events = [*job(), *samples(32, 90), *compiles(), *steps(60),
              ev.LineMarked(level=LogLevel.ERROR, text=SCRIPT, at=START + 50, source="log:a", offset=50),
              ev.CompileBegan(module=f"MODULE_{SCRIPT}", at=START + 60, pid=4001, rank=0,
                              node=f"trn1{SCRIPT}")]
    # fmt: on
    return StillFeed(events, now=START + 90, lines=lines)
