"""The jobs that the terminal program can show: listed at most once a second, and offered when they begin."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Protocol

from neuron_top.errors import NeuronTopError
from neuron_top.tui.replay_controller import ReplayController
from neuron_top.tui.services import Services
from neuron_top.views.jobs import JobCard

_FRESH_SECONDS = 1.0
_READ_SECONDS = 3.0
"""Seconds between two reads of the recordings in progress, in a thread."""


class _Notified(Protocol):
    def notice(self, text: str) -> None: ...


class JobListHost(Protocol):
    """What the list asks of the application."""

    playback: ReplayController

    @property
    def begun_seconds(self) -> float: ...
    @property
    def services(self) -> Services: ...
    @property
    def front(self) -> _Notified | None: ...
    def run_worker(self, work: Callable[[], None], *, thread: bool, exit_on_error: bool) -> object: ...
    def action_jobs(self) -> None: ...


class JobList:
    """Cards of the jobs of the feed, and of recordings that are being made."""

    def __init__(self, app: JobListHost) -> None:
        self._app = app
        self._cards: tuple[float, tuple[JobCard, ...]] = (float("-inf"), ())
        self._recorded: tuple[JobCard, ...] = ()
        self._read_at = float("-inf")
        self._was_read = False
        """Whether the recordings were read once, or cannot be."""
        self._known: set[str] | None = None
        """Jobs that were there when the program began, or were offered."""
        self._opened = False

    def cards(self) -> tuple[JobCard, ...]:
        """The jobs, those of logs first."""
        from neuron_top.services.jobs import log_cards

        made_at, cards = self._cards
        if time.monotonic() - made_at >= _FRESH_SECONDS:
            cards = (*log_cards(self._app.playback.first), *self._recorded)
            self._cards = (time.monotonic(), cards)
        return cards

    def tick(self) -> None:
        """Once a second: open the list where several logs turned out to be several jobs; offer a job that begins."""
        if time.monotonic() - self._read_at >= _READ_SECONDS:
            self._read_at = time.monotonic()
            self._app.run_worker(self._read_recordings, thread=True, exit_on_error=False)
        cards = self.cards()
        is_several = sum(card.id.startswith("job:") for card in cards) > 1
        if is_several and not self._opened:
            self._opened = True
            self._known = {card.id for card in cards}
            if self._app.playback.shows_first:
                self._app.action_jobs()
            return
        self._offer(cards)

    def _offer(self, cards: tuple[JobCard, ...]) -> None:
        if self._known is None:
            if self._was_read and (self._recorded or self._app.begun_seconds > 2 * _READ_SECONDS):
                self._known = {card.id for card in (*cards, *self._recorded)}  # the cards may be older
            return
        self._known |= self._shown()
        fresh = [card for card in cards if card.id not in self._known]
        self._known.update(card.id for card in fresh)
        if fresh and self._app.front is not None:
            self._app.front.notice(f"a new job runs: {fresh[0].name}; J lists the jobs")

    def _shown(self) -> set[str]:
        """The recordings that are on these screens: one that this program makes is listed only after it began."""
        found = set()
        for feed in (self._app.playback.first, self._app.playback.feed):
            with contextlib.suppress(NeuronTopError):  # the recording cannot be read, which the screen reports
                found.add(feed.read(lambda run, _now: run.job.run))
        return found

    def _read_recordings(self) -> None:
        from neuron_top.services.jobs import running_cards

        try:
            self._recorded = tuple(running_cards(self._app.services.runs.unfinished()))
        except NeuronTopError:
            self._recorded = ()
        self._was_read = True
