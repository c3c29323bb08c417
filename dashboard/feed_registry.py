"""The runs that the server shows: the live run, and recordings as they are requested.

A feed reports changes in a thread of its own; here they become a version number that coroutines wait for.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, TypeVar

from neuron_top.dashboard.guard import browser_now
from neuron_top.dashboard.view_cache import LONGEST_REST, ViewCache
from neuron_top.errors import NeuronTopError, UsageError
from neuron_top.services.alerts import AlertAct, AlertService
from neuron_top.services.dropped_logs import DROPPED, DroppedLogs
from neuron_top.services.feeds import Feed, Run
from neuron_top.services.jobs import PREFIX, job_feed_of, log_cards, running_cards
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.views.handled_alerts import NO_HISTORY, AlertHistory, AlertList, alert_list, job_key, without_handled
from neuron_top.views.jobs import JobCard
from neuron_top.views.miss_explanation import known_roots, roots
from neuron_top.views.overview import Overview, overview
from neuron_top.views.runs import RunRow
from neuron_top.views.verdict import freshness_text, title_text, verdict

View = TypeVar("View")

LIVE = ""
"""The name of the live run; every other name is a recording's id."""
OPEN_RECORDINGS = 6
"""Recordings that stay open although no browser shows them, so that going back to one is quick."""
SHOWN_SECONDS = 60.0
"""A recording that was requested this recently is in a browser, which polls it: closed, it would be read again from its
beginning at the next poll."""
MOST_RECORDINGS = 32
"""Recordings open at once, whoever shows them. A job of two cores takes a megabyte, one of 128 cores some twenty."""
PULSE_SECONDS = 1.0
OPENED_AT_ONCE = 4
"""Runs that are read from their beginning at the same time, in threads of their own: all others stay free."""
_RECORDINGS_SECONDS = 2.0


class Pulse(NamedTuple):
    """The state of a run in the frame of its pages."""

    title: str
    freshness: str
    """`live`, `replay` or `ended`."""
    words: str


MACHINE = "live: this machine, now"
"""Name of the live run if nothing was named."""


class _OpenFeed:
    """The feed of a recording, and when it was last requested."""

    def __init__(self, feed: Feed) -> None:
        self.feed, self.used = feed, time.monotonic()


class FeedRegistry:
    """Feeds by name. `read` may be called from any thread; `opened` and `wait_for_change` belong to the server's loop,
    in which a run is read only after `opened`.
    """

    def __init__(self, settings: Settings, live: Feed, live_name: str = MACHINE) -> None:
        """`live_name`: of the live run, by what is watched."""
        self.settings, self.live_name = settings, live_name
        self._runs, self._live = RunService(settings), live
        self._alerts = AlertService(settings)
        self.dropped = DroppedLogs(settings, self._changed, self._forget)
        self._histories: dict[str, tuple[float, AlertHistory]] = {}
        self.is_replay = getattr(live, "clock", None) is not None
        """Whether what is shown as the live run is a recording that is played: the demo."""
        self._open: OrderedDict[str, _OpenFeed] = OrderedDict()
        """The least recently used one first."""
        self._opening: dict[str, asyncio.Future[None]] = {}
        self._readable: set[str] = set()
        """Runs whose feeds have read all that was there when they were opened."""
        self._openers = ThreadPoolExecutor(OPENED_AT_ONCE, thread_name_prefix="opening")
        self._one_opens = threading.Lock()
        self._views = ViewCache(self.read, self.version)
        self._recordings: tuple[float, tuple[RunRow, ...]] = (float("-inf"), ())
        self._unlisted: NeuronTopError | None = None
        """Why the recordings could not be listed the last time."""
        self._pulses: dict[str, tuple[float, Pulse]] = {}
        self._jobs: tuple[float, tuple[JobCard, ...]] = (float("-inf"), ())
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._versions: dict[str, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Future[None]] = set()

    def start(self) -> None:
        """Start the live feed."""
        self.dropped.remove_left()
        self._live.start(lambda: self._changed(LIVE))

    def stop(self) -> None:
        """Stop every feed."""
        for feed in (self._live, *(kept.feed for kept in list(self._open.values()))):
            feed.stop()
        self.dropped.stop()
        self._openers.shutdown(wait=False, cancel_futures=True)

    async def opened(self, run: str) -> None:
        """Wait until a run can be read at once, while the loop goes on.

        A feed waits with its first answer until it has read all of a recording, so that no part is taken for the whole.
        Raises NothingToShow, StoreUnusable.
        """
        if is_dropped(run):
            self.feed(run)  # refuses other browsers; such a feed never waits
            return
        with self._lock:
            has_surplus = self._has_surplus()
        if has_surplus:
            asyncio.get_running_loop().run_in_executor(self._openers, self._close_surplus)
        if run in self._readable:
            self._open_feed(run)
            return
        opening = self._opening.get(run)
        if opening is None:
            opening = asyncio.get_running_loop().run_in_executor(self._openers, self.read, run, _nothing)
            self._opening[run] = opening
            opening.add_done_callback(lambda done: self._has_opened(run, done))
        await asyncio.shield(opening)  # a browser that goes away does not cancel it for the others

    def _has_opened(self, run: str, done: asyncio.Future[None]) -> None:
        self._opening.pop(run, None)
        if not done.cancelled() and done.exception() is None and (run == LIVE or run in self._open):
            self._readable.add(run)

    def version(self, run: str) -> int:
        """A number that is different after each change of the run."""
        return self._versions.get(run, 0)

    def read(self, run: str, view: Callable[[Run, float], View]) -> View:
        """`view(run, now)`. Raises NothingToShow when there is no such recording."""
        return self.feed(run).read(view)

    def cached_view(self, run: str, view: Callable[[Run, float], View], longest_rest: float = LONGEST_REST) -> View:
        """The same, from the cache where that will do: see `ViewCache.get`."""
        if is_dropped(run):
            self.feed(run)  # checked first, as another browser's log must not be answered from the cache
        return self._views.get(run, view, longest_rest)

    def feed(self, run: str) -> Feed:
        """The feed of a run: live, or a recording, which is opened if it is not open. Raises NothingToShow."""
        if run == LIVE:
            return self._live
        if is_dropped(run):
            return self.dropped.feed(run, browser_now.get())
        return self._open_feed(run) or self._start_feed(run)

    def _open_feed(self, run: str) -> Feed | None:
        with self._lock:
            kept = self._open.get(run)
            if kept is None:
                return None
            kept.used = time.monotonic()
            self._open.move_to_end(run)
            return kept.feed

    def _start_feed(self, run: str) -> Feed:
        """Open a feed, unless another thread has done so meanwhile. What is open can be read in the meantime."""
        with self._one_opens:
            feed = self._open_feed(run)
            if feed is not None:
                return feed
            feed = job_feed_of(self._live, run) if run.startswith(PREFIX) else self._runs.open(run)
            feed.start(lambda: self._changed(run))
            with self._lock:
                self._open[run] = _OpenFeed(feed)
        self._close_surplus()
        return feed

    def _has_surplus(self) -> bool:
        """Whether more recordings are open than browsers show and than stay open anyway. Call it with the lock."""
        if len(self._open) <= OPEN_RECORDINGS:
            return False
        oldest = next(iter(self._open.values()))
        return len(self._open) > MOST_RECORDINGS or time.monotonic() - oldest.used > SHOWN_SECONDS

    def _close_surplus(self) -> None:
        """Close the least recently used recordings that are too many. Waits for their threads."""
        closed = []
        with self._lock:
            while self._has_surplus():
                name, kept = self._open.popitem(last=False)
                self._readable.discard(name)
                closed.append((name, kept.feed))
        for name, feed in closed:
            feed.stop()
            self._forget(name)

    def dropped_here(self) -> list[tuple[str, str]]:
        """(id, name) of each log that the requesting browser has dropped."""
        return [(log.identity, log.name) for log in self.dropped.of(browser_now.get())]

    def cache_roots(self, run: str) -> tuple[str, ...]:
        """The caches that a run names. What a dropped log names is not looked at: anybody may have written it."""
        return () if is_dropped(run) else self.cached_view(run, _roots)

    def listed_roots(self, run: str) -> tuple[str, ...]:
        """As `cache_roots`, with the caches that were seen on this machine while the run was watched, which the first
        page lists."""
        return () if is_dropped(run) else self.cached_view(run, _known_roots)

    def _forget(self, run: str) -> None:
        """Drop what is remembered of a closed feed."""
        self._views.forget(run)
        self._pulses.pop(run, None)
        self._versions.pop(run, None)
        self._readable.discard(run)

    def recordings(self) -> tuple[RunRow, ...]:
        """The recordings, newest first; none when the store cannot be read."""
        listed_at, rows = self._recordings
        if time.monotonic() - listed_at > _RECORDINGS_SECONDS:
            try:
                rows, self._unlisted = self._runs.rows(), None
            except NeuronTopError as problem:
                rows, self._unlisted = (), problem
            self._recordings = (time.monotonic(), rows)
        return rows

    def listed_recordings(self) -> tuple[RunRow, ...]:
        """As `recordings`, for pages that show nothing else. Raises StoreUnusable."""
        rows, problem = self.recordings(), self._unlisted
        if problem is not None:
            raise problem.with_traceback(None)
        return rows

    def shown(self, run: str) -> tuple[Overview, AlertList]:
        """The overview without the alerts that somebody acknowledged or muted, and all alerts with what was done."""
        view = self.cached_view(run, overview)
        job = self.cached_view(run, _job_key)
        read_at, history = self._histories.get(job, (float("-inf"), NO_HISTORY))
        if time.monotonic() - read_at >= PULSE_SECONDS:
            with suppress(NeuronTopError):  # the state folder cannot be written to
                history = self._alerts.note(job, view.alerts, time.time()) if run == LIVE else self._alerts.history(job)
            self._histories[job] = time.monotonic(), history
        return without_handled(view, history), alert_list(job, view.alerts, history)

    def act_on_alert(self, run: str, act: AlertAct, key: str) -> None:
        """Acknowledge or mute an alert of a run, or undo that. Raises FileMalformed, RefusedForSafety."""
        if is_dropped(run):
            raise UsageError("alerts of a dropped log cannot be acknowledged or muted: nothing about it is stored")
        job = self.cached_view(run, _job_key)
        self._histories[job] = time.monotonic(), self._alerts.act(job, act, [key])
        self._pulses.pop(run, None)
        self._views.drop(run, overview)

    def list_again(self) -> None:
        """Note that the recordings have changed: the next request reads them again."""
        self._recordings = (float("-inf"), self._recordings[1])

    def pulse(self, run: str) -> Pulse:
        """What the frame of every page says of a run; at most a second old. Raises NothingToShow."""
        if is_dropped(run):
            self.feed(run)
        made = self._pulses.get(run)
        now = time.monotonic()
        if made is None or now - made[0] >= PULSE_SECONDS:
            view, _listed = self.shown(run)
            one = verdict(view, replayed=self.is_replay and run == LIVE, clock=time.time() if run else None)
            made = self._pulses[run] = now, Pulse(title_text(one), str(one.freshness), freshness_text(one))
        return made[1]

    def jobs(self) -> tuple[JobCard, ...]:
        """The jobs that can be chosen: those of several logs, and recordings that are being made; at most a second old.

        One job that is shown anyway is no choice.
        """
        made_at, cards = self._jobs
        if time.monotonic() - made_at >= PULSE_SECONDS:
            try:
                unfinished = self._runs.unfinished()
            except NeuronTopError:
                unfinished = ()
            cards = (*log_cards(self._live), *running_cards(unfinished))
            self._jobs = (time.monotonic(), cards)
        return cards

    async def wait_for_change(self, run: str, version: int, seconds: float) -> int:
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

    def notify(self) -> None:
        """Report a change that is not the run's own to pages of the live run. From any thread."""
        self._changed(LIVE)

    def _changed(self, run: str) -> None:
        """Called in a feed's thread when its run has changed."""
        self._versions[run] = next(self._numbers)
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


def is_dropped(run: str) -> bool:
    """Whether a run is a log that a browser dropped into a page."""
    return run.startswith(DROPPED)


def _nothing(_run: Run, _now: float) -> None:
    """The view for those who only wait until a run can be read."""


def _roots(run: Run, _now: float) -> tuple[str, ...]:
    return roots(run)


def _known_roots(run: Run, _now: float) -> tuple[str, ...]:
    return known_roots(run)


def _job_key(run: Run, _now: float) -> str:
    return job_key(run)
