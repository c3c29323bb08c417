"""The page of all misses of a run, each with its explanation.

The explanations are read from caches, in a thread: they stand for the moment in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from neuron_top.tui.panels.why import misses_lines
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.views.miss_explanation import Misses


def misses_page(find: Callable[[], Misses]) -> AsyncPage:
    """The page of all misses of a run; `find` explains them."""
    return AsyncPage(
        lambda: _or_none_text(find()),
        misses_lines,
        waiting="Looking into the cache…",
        failed="The misses cannot be explained",
        why="this page explains every miss",
    )


def _or_none_text(misses: Misses) -> Misses | str:
    return misses if misses.met else "No graph missed: all came from the cache, or the log names none."
