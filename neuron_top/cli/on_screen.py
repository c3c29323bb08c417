"""Runs the terminal program until the user quits, its source ends, or the terminal is lost.

Garbage collection is off until the first frame, because a collection walks everything that was imported; afterwards
the imported objects are frozen, so that no key waits for a collection.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from neuron_top.cli.terminal import watched_terminal

if TYPE_CHECKING:
    from neuron_top.tui.app import TopApp

SWITCH_SECONDS = 0.001
"""How long a thread that reads logs may delay the one that handles keys (Python's default: 5 ms)."""
SOURCES_SECONDS = 0.4
"""Preloading begins after this time, as the user first waits for the sources' first events."""
ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end the program in order."""
LOOK_SECONDS = 0.1
"""Time between two requests to exit, for a program that is not running yet."""


def disable_gc() -> None:
    """Switch garbage collection off; called before the program is imported."""
    gc.disable()


def show(app: TopApp, *reasons: Callable[[], object]) -> int:
    """Run the program on our terminal; returns its exit status, 1 after an error. Raises what has ended the program.

    It exits when one of the `reasons` returns, each called in a thread of its own; without any, when the terminal is
    lost: if the hang-up signal is ignored, it would go on drawing for nobody. And it exits on a signal that would end
    it, with the status that a shell gives that signal: the terminal would keep its last screen and its raw input.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    ended, signalled = threading.Event(), _Signalled()
    for reason in (*(reasons or (watched_terminal().wait,)), signalled.wait):
        threading.Thread(target=_exit_after, args=(app, reason, ended), name="exit on end", daemon=True).start()
    threading.Thread(target=_preload, args=(app, ended), name="preload", daemon=True).start()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT, *ENDING)}
    for number in ENDING:
        if handlers[number] is signal.SIG_DFL:  # else it is ignored, or passed on to a job
            signal.signal(number, signalled.take)
    try:
        app.run()
    finally:
        ended.set()
        for number, handler in handlers.items():  # a screen that is closed must not come back after Ctrl-Z
            signal.signal(number, handler)
        gc.enable()
        _end_input(app)
    if app.problem is not None:
        raise app.problem
    return app.return_code or signalled.exit_status


class _Signalled:
    """Waits for a signal that ends the program."""

    def __init__(self) -> None:
        self.exit_status = 0
        self._came = threading.Event()
        self.wait = self._came.wait

    def take(self, number: int, _frame: object) -> None:
        """Handle such a signal."""
        self.exit_status = 128 + number
        self._came.set()


def _end_input(app: TopApp) -> None:
    """End the thread that reads keys: an interrupted start leaves it running, and Python would wait for it for ever."""
    from neuron_top.tui.driver import LastingDriver

    if isinstance(app._driver, LastingDriver):
        app._driver.exit_event.set()


def _preload(app: TopApp, ended: threading.Event) -> None:
    """After the first frame, load what other screens need, then keep all of that out of garbage collection."""
    from neuron_top.tui import preload

    app.begun.wait()
    ended.wait(SOURCES_SECONDS)
    preload.load(app)
    gc.freeze()
    gc.enable()


def _exit_after(app: TopApp, reason: Callable[[], object], ended: threading.Event) -> None:
    reason()
    while not ended.is_set():
        with contextlib.suppress(RuntimeError):  # it is not running yet, or no longer
            app.call_from_thread(app.leave)
            return
        ended.wait(LOOK_SECONDS)
