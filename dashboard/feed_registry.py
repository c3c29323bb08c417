"""The runs that the server shows: what happens now, and recordings as they are asked for; and when they move.

A feed tells of changes in a thread of its own; here they become a number that grows, which coroutines wait for. Fifty
browsers on the same page cost one view: what was arranged for one is kept until the run moves on.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from neuron_top.errors import NeuronTopError
from neuron_top.ingest.feed import Feed
from neuron_top.ingest.follow import FollowedRun
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.recordings import is_folder_name, is_recording, run_folder
from neuron_top.ingest.repository import Library
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.views.runs import RunRow

View = TypeVar("View")

LIVE = ""
"""The name of what happens now; every other name is a recording's id."""
OPEN_RECORDINGS = 6
"""Recordings held in memory at once; the one unused longest is closed."""
FRESH_SECONDS = 0.9
"""A view is kept no longer than this, because elapsed times grow without an event."""
_ROWS_SECONDS = 2.0


class FeedRegistry:
    """Feeds by name. `read` may be called from any thread; `moved` belongs to the server's loop."""

    def __init__(self, settings: Settings, live: Feed) -> None:
        self.library = Library(settings)
        self._settings, self._live = settings, live
        self._recordings: OrderedDict[str, Feed] = OrderedDict()
        self._kept: dict[tuple[str, Any], tuple[int, float, Any]] = {}
        self._rows: tuple[float, tuple[RunRow, ...]] = (float("-inf"), ())
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._versions: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Future[None]] = set()

    def start(self) -> None:
        """Start the live feed."""
        self._live.start(lambda: self._changed(LIVE))

    def stop(self) -> None:
        """Stop every feed."""
        for feed in (self._live, *self._recordings.values()):
            feed.stop()

    def version(self, run: str) -> int:
        """A number that differs whenever the run has changed."""
        return self._versions.get(run, 0)

    def read(self, run: str, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)`. Raises NothingToShow when there is no such recording."""
        return self.feed(run).read(view)

    def kept(self, run: str, view: Callable[[Run, float], View]) -> View:
        """The same; but an answer that nothing has changed since is given again. `view` is a module's function."""
        version, now = self.version(run), time.monotonic()
        known = self._kept.get((run, view))
        if known is not None and known[0] == version and now - known[1] < FRESH_SECONDS:
            return known[2]  # type: ignore[no-any-return]
        answer = self.read(run, view)
        self._kept[run, view] = (version, now, answer)
        return answer

    def feed(self, run: str) -> Feed:
        """The feed of a run: live, or a recording, which is opened when it was not. Raises NothingToShow."""
        if run == LIVE:
            return self._live
        with self._lock:
            feed = self._recordings.get(run)
            if feed is None:
                feed = self._recordings[run] = self._open(run)
                feed.start(lambda: self._changed(run))
            self._recordings.move_to_end(run)
            closed = [self._recordings.popitem(last=False) for _ in range(len(self._recordings) - OPEN_RECORDINGS)]
        for name, old in closed:
            old.stop()
            self._kept = {key: value for key, value in self._kept.items() if key[0] != name}
        return feed

    def rows(self) -> tuple[RunRow, ...]:
        """The recordings, newest first; none when the store cannot be read."""
        taken, rows = self._rows
        if time.monotonic() - taken > _ROWS_SECONDS:
            try:
                rows = self.library.runs()
            except NeuronTopError:
                rows = ()
            self._rows = (time.monotonic(), rows)
        return rows

    async def moved(self, run: str, version: int, seconds: float) -> int:
        """The version of the run, as soon as it differs from `version`, and after `seconds` at the latest."""
        self._loop = asyncio.get_running_loop()
        deadline = self._loop.time() + seconds
        while self.version(run) == version and (left := deadline - self._loop.time()) > 0:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiting.add(waiter)
            try:
                await asyncio.wait_for(waiter, left)
            except TimeoutError:
                break
            finally:
                self._waiting.discard(waiter)
        return self.version(run)

    def nudge(self) -> None:
        """Something besides the run has moved: pages of the live run ask again. From any thread."""
        self._changed(LIVE)

    def _open(self, run: str) -> Feed:
        if is_folder_name(run) and is_recording(run_folder(self._settings, run)):
            book = LogBuffer()
            return LiveFeed([FollowedRun(self._settings, run, book)], book=book)
        feed = self.library.replay(run)
        feed.clock.pause()
        feed.clock.seek(feed.clock.end)
        return feed

    def _changed(self, run: str) -> None:
        """In a feed's thread."""
        self._versions[run] = next(self._numbers)
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
