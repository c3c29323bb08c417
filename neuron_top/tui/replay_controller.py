"""Controls the shown feed and its clock: a live feed can be paused, a recording also moved and played faster."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from neuron_top.services.feeds import Feed, paused
from neuron_top.units import clock_text


class PlaybackClock(Protocol):
    """What the feed of a replay offers in addition: recorded time that can be stopped and moved."""

    start: float
    end: float
    speed: float

    @property
    def now(self) -> float:
        """The recorded moment, seconds since the epoch."""

    def pause(self) -> None:
        """Stop."""

    def resume(self) -> None:
        """Go on."""

    def skip(self, seconds: float) -> None:
        """Move by recorded seconds."""


class ReplayController:
    """Holds the feed that the program was started with, and a recording that is shown in its place."""

    def __init__(self, feed: Feed, changed: Callable[[], None]) -> None:
        """`changed` is called from a thread of the feed that is shown."""
        self._shown = self._first = feed
        self._held: Feed | None = None
        """What a paused live feed was at the moment of the pause."""
        self.paused_at: float | None = None
        """When the pause began (monotonic seconds); None while there is none."""
        self._changed = changed

    @property
    def feed(self) -> Feed:
        """What screens read: while a live feed is paused, what it was at that moment."""
        return self._held or self._shown

    @property
    def paused(self) -> bool:
        """Whether the screen, or a replay's clock, is paused."""
        return self.paused_at is not None

    @property
    def shows_first(self) -> bool:
        """Whether what the program was started with is shown, not a recording or a job chosen later."""
        return self._shown is self._first

    @property
    def first(self) -> Feed:
        """What the program was started with."""
        return self._first

    @property
    def clock(self) -> PlaybackClock | None:
        """The clock of the feed that is shown; None for a live one."""
        return getattr(self._shown, "clock", None)

    def start(self) -> None:
        """Start the feed that the program was started with."""
        self._shown.start(self._on_change)

    def stop(self) -> None:
        """Stop all feeds; returns when their threads have ended."""
        if not self.shows_first:
            self._shown.stop()
        self._first.stop()

    def play(self, recording: Feed) -> None:
        """Show a recording."""
        self._show(recording)
        recording.start(self._on_change)

    def leave(self) -> bool:
        """Show what the program was started with again; False when that is shown already."""
        if self.shows_first:
            return False
        self._show(self._first)
        return True

    def _show(self, feed: Feed) -> None:
        if not self.shows_first:
            self._shown.stop()
        self._shown, self._held, self.paused_at = feed, None, None

    def _on_change(self) -> None:
        if self._held is None:
            self._changed()

    def toggle_pause(self) -> None:
        """Pause the view of a live feed, or the clock of a replay; the second call resumes."""
        self.paused_at = None if self.paused else time.monotonic()
        if self.clock is not None:
            self.clock.pause() if self.paused else self.clock.resume()
        else:
            self._held = paused(self._shown) if self.paused else None

    def seek(self, seconds: float) -> None:
        """Move a replay by recorded seconds."""
        if self.clock is not None:
            self.clock.skip(seconds)

    def change_speed(self, by: int) -> None:
        """Double (1) or halve (-1) a replay's speed."""
        if self.clock is not None:
            self.clock.speed *= 2.0**by

    @property
    def texts(self) -> tuple[str, ...]:
        """Paused, or a replay's position and speed, from the longest wording to the shortest; () while live."""
        paused, clock = self.paused, self.clock
        if clock is None:
            return ("PAUSED (space)", "PAUSED") if paused else ()
        position, length = clock_text(clock.now - clock.start), clock_text(clock.end - clock.start)
        return (
            f"{'PAUSED (space)' if paused else 'replay'} {position} of {length} at {clock.speed:g}×",
            f"{'PAUSED' if paused else 'replay'} {position}",
            "PAUSED" if paused else position,
        )
