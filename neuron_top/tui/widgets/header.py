"""The two lines at the top of every screen: what runs and how it stands, and the screens to go to."""

from __future__ import annotations

from rich.style import Style
from textual import events
from textual.strip import Strip

from neuron_top.tui.drawing import Line
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines
from neuron_top.units import clock_text, duration_text
from neuron_top.views.overview import Header
from neuron_top.views.states import JobState

_LEAST = 8
"""A name of fewer cells tells nothing."""


class HeaderLine(Lines):
    """The first line: program, state, job, command, elapsed time."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._view: Header | None = None

    def show(self, view: Header) -> None:
        """Take a newer view."""
        self._view = view
        self.redraw()

    def draw(self, width: int, height: int) -> list[Strip]:
        """One line."""
        return [header_line(self.theme, self._view, width)]


def header_line(theme: Theme, view: Header | None, width: int) -> Strip:
    """The first line for a view; without one, the program is still looking."""
    line = Line(theme, width).gap().put("neuron-top", theme.title).gap(2)
    if view is None:
        return line.put("looking…", theme.quiet).strip()
    sign, style = state_sign(theme, view)
    if view.silent is None or view.state is JobState.FAILED:
        line.put(f"{sign} {view.state_text}", style).gap(2)
    else:
        words = f"no new line for {duration_text(view.silent)}"
        state = view.state_text if line.left > len(view.state_text) + len(words) + 16 else "silent"
        line.put(f"{sign} {state}", style).gap(2).put(words, style).gap(2)
    ranks = f"{view.workers} of {view.world_size} workers" if view.world_size and view.active else ""
    elapsed = clock_text(view.elapsed if view.state is not JobState.IDLE else None)
    end = f"{ranks}  {elapsed} " if ranks else f"{elapsed} "
    room = max(0, line.left - len(end) - 2)
    job = Line(theme, room if room >= _LEAST else 0)
    job.put(view.name, theme.strong).gap(2).put(" ".join(view.command), theme.quiet)
    line.add([(segment.text, segment.style or theme.text) for segment in job.strip()])
    return line.end(end, theme.text).strip()


def state_sign(theme: Theme, view: Header) -> tuple[str, Style]:
    """Symbol and color of a state; the word stands beside it."""
    glyphs = theme.glyphs
    if view.silent is not None and view.state is not JobState.FAILED:
        return glyphs.waiting, theme.warn
    if not view.active:
        return (glyphs.done, theme.good) if view.exit_code == 0 else (glyphs.failed, theme.bad)
    if view.state in (JobState.IDLE, JobState.LOCK_WAIT):
        return glyphs.waiting, theme.warn
    return glyphs.running, theme.accent


class Tabs(Lines):
    """The screens with their digits; a click goes there."""

    def __init__(self, place: str) -> None:
        super().__init__(id="tabs")
        self._place = place
        self._spans: list[tuple[int, int, str]] = []

    def draw(self, width: int, height: int) -> list[Strip]:
        """One line: ` 1 Overview  2 Cores …`; paused or replaying is said at its end."""
        theme = self.theme
        line = Line(theme, width)
        self._spans = []
        for place in self.host.screens:
            start = line.used
            here = place.name == self._place
            text = f" {place.key} {place.title} "
            line.put(text, theme.title if here else theme.quiet)
            self._spans.append((start, line.used, place.name))
        words = self.host.time_text
        return [line.end(f"{words} ", theme.warn).strip() if words else line.strip()]

    def on_click(self, event: events.Click) -> None:
        """Go to the screen under the mouse."""
        for start, stop, name in self._spans:
            if start <= event.x < stop:
                self.host.go(name)
                return
