"""Imports in the background what the first frame does not need but the first press of a key would wait for.

The compile screen alone takes a tenth of a second to import, more than a key may take to be answered.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING

from neuron_top.services import feeds

if TYPE_CHECKING:
    from neuron_top.tui.app import TopApp

_MODULES = (
    "neuron_top.tui.screens.alerts",
    "neuron_top.tui.screens.compare_runs",
    "neuron_top.tui.screens.help",
    "neuron_top.services.misses",
    "neuron_top.services.reports",
    "neuron_top.services.runs",
    "neuron_top.tui.widgets.prompt",
)


def load(app: TopApp) -> None:
    """Import everything and make each screen; takes a few tenths of a second in a thread of its own."""
    for spec in app.screens:
        importlib.import_module(f"neuron_top.tui.screens.{spec.name}")
        if app.is_running:
            with contextlib.suppress(RuntimeError):  # the program is just exiting
                app.call_from_thread(app.prepare_screen, spec.name)
    for name in _MODULES:
        importlib.import_module(name)
    feeds.import_log_reader()
