"""Views of runs for many browsers: made once until the run changes, and a costly one not all the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from neuron_top.services.feeds import Run

View = TypeVar("View")

FRESH_SECONDS = 0.9
"""A view is cached no longer than this, because elapsed times grow without an event."""
RESTS = 8.0
"""Costly views are cached for this many times the time that all views of their run take, although the run changes
meanwhile: otherwise the views of a job of a thousand nodes would be made without a pause, while its nodes' events
wait."""
COSTLY_SECONDS = 0.05
"""Time of all views of a run below which they are not costly, so changes are shown at once."""
LONGEST_REST = 1.5
"""The longest time, in seconds, that a view is cached, however costly."""
CHART_REST = 10.0
"""The longest time, in seconds, that views for charts of the whole run are cached: these may lag behind the figures
beside them, and figures are not cached longer because charts are costly."""


class _CachedView(NamedTuple, Generic[View]):
    version: int
    """The version of the run when the view began to be made."""
    began: float
    took: float
    """Seconds, with the wait for the run."""
    cost: float
    """The lower of what this one and the one before took: a single delay, or imports of the first one, do not count."""
    longest_rest: float
    value: View


class ViewCache:
    """The last value of each view of each run. Safe from any thread."""

    def __init__(self, read: Callable[[str, Callable[[Run, float], Any]], Any], version: Callable[[str], int]) -> None:
        """`read` makes a view of a run; `version` gives a number that is different after each change of the run."""
        self._read, self._version = read, version
        self._views: dict[tuple[str, Any], _CachedView[Any]] = {}
        self._making: dict[tuple[str, Any], threading.Lock] = {}

    def get(self, run: str, view: Callable[[Run, float], View], longest_rest: float) -> View:
        """`view(run, now)`, from the cache if the run has not changed or the view is recent. Raises as `read` does.

        `view` is a module's function; `longest_rest`, in seconds, is for one that is costly. Who asks while such a one
        is being made gets the one before, if there is one.
        """
        key = run, view
        cached: _CachedView[View] | None = self._views.get(key)
        if cached is not None and self._is_fresh(run, cached):
            return cached.value
        making = self._making.setdefault(key, threading.Lock())
        if not making.acquire(timeout=-1 if cached is None else COSTLY_SECONDS) and cached is not None:
            return cached.value
        try:
            made: _CachedView[View] | None = self._views.get(key)
            if made is not None and made is not cached and self._is_fresh(run, made):
                return made.value
            version, began = self._version(run), time.monotonic()
            value: View = self._read(run, view)
            took = time.monotonic() - began
            cost = min(took, made.took) if made is not None else 0.0
            self._views[key] = _CachedView(version, began, took, cost, longest_rest, value)
            return value
        except BaseException:
            self._making.pop(key, None)  # drop it, as there may be no such run, and anybody may request any name
            raise
        finally:
            making.release()

    def _is_fresh(self, run: str, cached: _CachedView[Any]) -> bool:
        now = time.monotonic()
        age = now - cached.began
        if cached.version == self._version(run) and age < FRESH_SECONDS:
            return True
        views = [view for (of, _view), view in list(self._views.items()) if of == run]
        looked_at = (view for view in views if now - view.began - view.took < 2 * view.longest_rest)
        costs = sum(view.cost for view in looked_at if view.longest_rest <= cached.longest_rest)
        rest = min(RESTS * costs, cached.longest_rest) if costs > COSTLY_SECONDS else 0.0
        return age - cached.took < rest

    def drop(self, run: str, view: Callable[[Run, float], Any]) -> None:
        """Make this view anew when it is asked for next."""
        self._views.pop((run, view), None)

    def forget(self, run: str) -> None:
        """Drop every view of a run that was closed."""
        self._views = {key: value for key, value in list(self._views.items()) if key[0] != run}
        self._making = {key: lock for key, lock in list(self._making.items()) if key[0] != run}
