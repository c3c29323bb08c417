"""The terminal program, run until its user leaves it, what it shows has ended, or the terminal goes away."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from neuron_top.runtime.lost_terminal import watched_terminal

if TYPE_CHECKING:
    from neuron_top.tui.app import TopApp

LOOK_SECONDS = 0.1
"""How often a program that does not run yet is asked again to leave."""


def show(app: TopApp, *reasons: Callable[[], object]) -> int:
    """Run the program on our terminal; its exit status, 1 when it broke.

    It leaves when one of the `reasons` has been waited for, each called in a thread of its own; without any, when the
    terminal is lost: where the hang-up signal is ignored it would draw for nobody for ever.
    """
    ended = threading.Event()
    for reason in reasons or (watched_terminal().wait,):
        threading.Thread(target=_leave_after, args=(app, reason, ended), name="leaves the screen", daemon=True).start()
    try:
        app.run()
    finally:
        ended.set()
    return app.return_code or 0


def _leave_after(app: TopApp, reason: Callable[[], object], ended: threading.Event) -> None:
    reason()
    while not ended.is_set():
        with contextlib.suppress(RuntimeError):  # it does not run yet, or no more
            app.call_from_thread(app.exit)
            return
        ended.wait(LOOK_SECONDS)
