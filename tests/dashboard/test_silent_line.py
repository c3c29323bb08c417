"""A line that is cut without a word: connections that were accepted and are never answered, and never closed."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neuron_top import events as ev
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.tui.feeds import START, StillFeed

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


class Mute:
    """Takes connections at a port and says nothing; it keeps them when it takes no more."""

    def __init__(self, port: int) -> None:
        self.kept: list[socket.socket] = []
        self.questions = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", port))
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        while True:
            try:
                taken, _address = self._listener.accept()
            except OSError:
                return
            self.kept.append(taken)
            if len(self.kept) >= 2:
                self.questions.set()

    def deaf(self) -> None:
        """Take no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(60)


@contextlib.contextmanager
def mute(port: int) -> Iterator[Mute]:
    one = Mute(port)
    try:
        yield one
    finally:
        one.deaf()


def test_a_page_comes_back_although_connections_of_the_old_server_hang_for_ever(
    browser: Any, feed: StillFeed, tmp_path: Path
) -> None:
    with serving(feed, tmp_path) as served:
        port = served.port
        seen = Watched(browser)
        seen.page.clock.install()
        seen.page.goto(served.address)
        seen.page.wait_for_selector("#connection.up")
        seen.until("#live-step", "60")
    with mute(port) as between:
        assert between.questions.wait(150), "the page has asked again, by its socket and otherwise"
    feed.push(ev.StepReported(step=77, total_steps=200, loss=1.5, at=START + 99, rank=0, node="trn1"), now=START + 99)
    try:
        with serving(feed, tmp_path, port=port):
            seen.page.clock.fast_forward(20_000)
            seen.until("#live-step", "77")
            seen.page.wait_for_selector("#connection.up")
    finally:
        for held in between.kept:
            held.close()
