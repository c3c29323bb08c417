"""The terminal program, run until its user leaves it, what it shows has ended, or the terminal goes away.

Its garbage is not collected before the first frame: a collection walks all that was imported, and what was imported
stays. Afterwards it is never walked again, so no key waits for that.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from neuron_top.cli.terminal import watched_terminal

if TYPE_CHECKING:
    from neuron_top.tui.app import TopApp

SWITCH_SECONDS = 0.001
"""How long a thread that reads logs may keep the one that answers keys from running (Python's own: 5 ms)."""
SOURCES_SECONDS = 0.4
"""Loading ahead leaves the processor to the sources so long: what they tell first is what the user waits for."""
LOOK_SECONDS = 0.1
"""How often a program that does not run yet is asked again to leave."""


def disable_gc() -> None:
    """To be called before the program is imported."""
    gc.disable()


def show(app: TopApp, *reasons: Callable[[], object]) -> int:
    """Run the program on our terminal; its exit status, 1 when it broke.

    It leaves when one of the `reasons` has been waited for, each called in a thread of its own; without any, when the
    terminal is lost: where the hang-up signal is ignored it would draw for nobody for ever.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    ended = threading.Event()
    for reason in reasons or (watched_terminal().wait,):
        threading.Thread(target=_leave_after, args=(app, reason, ended), name="leaves the screen", daemon=True).start()
    threading.Thread(target=_preload, args=(app, ended), name="loads ahead", daemon=True).start()
    try:
        app.run()
    finally:
        ended.set()
        gc.enable()
        _end_input(app)
    return app.return_code or 0


def _end_input(app: TopApp) -> None:
    """End the thread that reads keys: an interrupted beginning leaves it, and Python would wait for it for ever."""
    from neuron_top.tui.driver import LastingDriver

    if isinstance(app._driver, LastingDriver):
        app._driver.exit_event.set()


def _preload(app: TopApp, ended: threading.Event) -> None:
    """Once the first frame is there: load what other screens need, then keep all that out of every collection."""
    from neuron_top.tui import preload

    app.begun.wait()
    ended.wait(SOURCES_SECONDS)
    preload.load(app)
    gc.freeze()
    gc.enable()


def _leave_after(app: TopApp, reason: Callable[[], object], ended: threading.Event) -> None:
    reason()
    while not ended.is_set():
        with contextlib.suppress(RuntimeError):  # it does not run yet, or no more
            app.call_from_thread(app.exit)
            return
        ended.wait(LOOK_SECONDS)
