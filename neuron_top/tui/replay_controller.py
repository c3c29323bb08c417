"""Time on the screens: held still, or a recording's own, played faster or slower, with pause and seek."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_top.errors import NeuronTopError
from neuron_top.ingest.feed import Feed
from neuron_top.tui.output_gate import OutputGate
from neuron_top.tui.protocols import Clock, Library
from neuron_top.tui.widgets.header import Tabs
from neuron_top.units import clock_text

if TYPE_CHECKING:
    from neuron_top.tui.screens.base import LiveScreen


class ReplayController(OutputGate):
    """An application that shows one feed, and may show a recording in its place."""

    feed: Feed
    _home: Feed
    """The feed that the program was started with."""
    paused = False

    @property
    def front(self) -> LiveScreen | None:
        """The nearest live screen."""
        raise NotImplementedError

    @property
    def library(self) -> Library:
        """Where recordings come from."""
        raise NotImplementedError

    def go(self, name: str) -> None:
        """Show another screen."""
        raise NotImplementedError

    def announce(self) -> None:
        """Something changed: draw soon."""
        raise NotImplementedError

    @property
    def replay(self) -> Clock | None:
        """The feed's clock, when it is a replay that can be steered."""
        return getattr(self.feed, "clock", None)

    def play(self, run: str) -> None:
        """Show a recording on these screens; escape on the overview goes back to what was shown before."""
        try:
            feed = self.library.replay(run)
        except NeuronTopError as problem:
            if self.front is not None:
                self.front.notice(str(problem))
            return
        self._change_feed(feed)

    def leave_replay(self) -> bool:
        """Back to the feed the program was started with; False when that is what is shown."""
        if self.feed is self._home:
            return False
        self._change_feed(self._home)
        return True

    def _change_feed(self, feed: Feed) -> None:
        if self.feed is not self._home:
            self.feed.stop()
        self.feed, self.paused = feed, False
        if feed is not self._home:
            feed.start(self.announce)
        self.go("overview")
        self.announce()

    def toggle_pause(self) -> None:
        """Hold the screen still, or stop a replay's clock; the same key goes on."""
        self.paused = not self.paused
        if self.replay is not None:
            self.replay.pause() if self.paused else self.replay.resume()
        self.announce()
        if self.front is not None:
            self.front.redraw_all()

    def clock_words(self) -> str:
        """What the header says about time: paused, or a replay's speed and position."""
        paused = "PAUSED (space)" if self.paused else ""
        clock = self.replay
        if clock is None:
            return paused
        at, length = clock_text(clock.now - clock.start), clock_text(clock.end - clock.start)
        return f"{paused or 'replay'} {at} of {length} at {clock.speed:g}×"

    def seek(self, seconds: float) -> None:
        """Move a replay by so many recorded seconds."""
        if self.replay is not None:
            self.replay.skip(seconds)
            self._clock_changed()

    def change_speed(self, by: int) -> None:
        """Double (1) or halve (-1) a replay's speed."""
        if self.replay is not None:
            self.replay.speed *= 2.0**by
            self._clock_changed()

    def _clock_changed(self) -> None:
        self.announce()
        if self.front is not None:
            self.front.query_one(Tabs).redraw()
