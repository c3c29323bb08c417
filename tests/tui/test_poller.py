"""Rows from a disk are read one time after the other, however long it takes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from neuron_top.tui.screens.base import LiveScreen
from neuron_top.tui.screens.poller import Poller


class Front:
    """A screen in front, whose threads the test runs."""

    is_current = is_mounted = True
    host = SimpleNamespace(paused=False, paused_at=None)

    def __init__(self) -> None:
        self.begun: list[Callable[[], None]] = []
        self.app = SimpleNamespace(is_running=True, call_from_thread=lambda call, result: call(result))

    def run_worker(self, work: Callable[[], None], **_options: Any) -> None:
        self.begun.append(work)


def test_a_slow_disk_is_read_once_at_a_time_and_again_after_a_change() -> None:
    screen, answers, shown = Front(), iter(("before", "after")), list[str | Exception]()
    poller = Poller(cast("LiveScreen", screen), lambda: next(answers), shown.append, period=5.0)
    poller.poll()
    poller.poll()
    poller.read_again()
    assert len(screen.begun) == 1
    screen.begun[0]()
    assert len(screen.begun) == 2, "something has changed since it was begun"
    screen.begun[1]()
    assert shown == ["before", "after"]
    poller.poll()
    assert len(screen.begun) == 3
