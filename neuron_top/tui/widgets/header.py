"""The two lines at the top of every screen: what runs and how it stands, and the screens to go to."""

from __future__ import annotations

from typing import NamedTuple

from rich.style import Style
from textual import events
from textual.strip import Strip

from neuron_top.tui.drawing import Line, bar, cells_in, safe, whole_clauses
from neuron_top.tui.keys import FLEET
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.lines import Lines
from neuron_top.units import clock_text
from neuron_top.views.overview import Header
from neuron_top.views.verdict import (
    ENDED,
    Freshness,
    Verdict,
    VerdictState,
    freshness_text,
    progress_text,
    state_words,
)

_LEAST = 8
"""A name of fewer cells says nothing."""
_LEAST_NAME = 16
"""Cells of a name that are shown before a word of what is said of its job."""
_CELLS = 8
"""Of the progress bar."""
_ROOMY = 100
"""Columns from which on the right end is always whole."""


class Band(NamedTuple):
    """What stands above every screen."""

    header: Header
    verdict: Verdict


class HeaderLine(Lines):
    """The first line, the same on every screen: program, verdict on the job, how fresh it is, elapsed time."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._band: Band | None = None

    def show(self, band: Band) -> None:
        """Take a newer one."""
        self._band = band
        self.redraw()

    def draw(self, width: int, height: int) -> list[Strip]:
        """One line; of the fleet on its screen and the pages opened there."""
        fleet = self.host.fleet_words if self.host.current_mode == FLEET.name else ""
        return [header_line(self.theme, self._band, width, fleet)]


def header_line(theme: Theme, band: Band | None, width: int, fleet: str = "") -> Strip:
    """The first line; without a band, the program is still looking. `fleet`: what stands in the place of no job."""
    line = Line(theme, width).gap().put("neuron-top", theme.title).gap(2)
    if fleet and (band is None or band.verdict.state is VerdictState.IDLE):
        line.put(f"{theme.glyphs.live} FLEET", theme.accent).gap()
        return line.put(whole_clauses(fleet, line.left - 1), theme.text).strip()
    if band is None:
        return line.put("looking…", theme.quiet).strip()
    head, one = band.header, band.verdict
    sign, style = state_sign(theme, one.state)
    line.put(f"{sign} {state_words(one.state)}", style).gap()
    said, share = "  ".join(filter(None, (progress_text(one), one.reason))), one.progress
    if one.state in ENDED:  # how far it came is part of the reason
        said, share = one.reason, None
    name, first = theme.to_ascii(safe(one.name)), cells_in(said.partition(" · ")[0])
    left = line.left - cells_in(name) - 4 - (_CELLS + 1) * bool(share)
    end = _end(head, one, width, left - cells_in(said), left - first)
    room = max(0, line.left - len(end) - 2)
    room = room if room >= _LEAST else 0
    after = 2 + (_CELLS + 1) * (share is not None)
    shown = min(cells_in(name), max(_LEAST_NAME, room - first - after))  # it gives way to what is said of its job
    said = _whole_words(said, room - shown - after)
    if not said or one.state in ENDED:  # of a job that goes on, the name would change with each report
        taken = cells_in(said) + after if said else (2 + _CELLS) * (share is not None)
        shown = min(cells_in(name), max(shown, room - taken))
    job = Line(theme, room).put(name, theme.strong, shown).gap(2)
    if share is not None and job.left >= _CELLS:
        job.add(bar(theme, share, _CELLS, style)).gap()
    job.put(said, theme.quiet)
    line.add([(segment.text, segment.style or theme.text) for segment in job.strip()])
    return line.end(end, theme.text).strip()


def _whole_words(text: str, room: int) -> str:
    """As many whole clauses as there is room for, or words of the first one: half a number would be a wrong one.

    "" if there is room for a single word only.
    """
    clauses = whole_clauses(text, room)
    if cells_in(clauses) <= room:
        return clauses
    words = clauses.split(" ")
    while words and cells_in(" ".join(words)) + 2 > room:
        words.pop()
    return f"{' '.join(words)} …" if len(words) > 1 else ""


def _end(head: Header, one: Verdict, width: int, room: int, most: int) -> str:
    """Workers, how fresh it is, elapsed time. On a narrow screen what is as usual goes before the reason is cut.

    `room` is left beside the whole reason, `most` beside its first clause alone: after an end that is enough for the
    elapsed time to stay.
    """
    ranks = f"{head.workers} of {head.world_size} workers" if head.world_size and head.active else ""
    elapsed = clock_text(head.elapsed) if head.elapsed is not None and one.state is not VerdictState.IDLE else ""
    fresh = freshness_text(one) if one.freshness is not Freshness.REPLAY else ""  # the line below says where it is
    parts = [part for part in (ranks, fresh, elapsed) if part]
    usual = [(elapsed, most)] if one.state in ENDED else []
    usual += [(fresh, room)] if one.freshness is Freshness.LIVE else []
    usual += [(ranks, room)] if head.workers == head.world_size else []
    for part, free in usual:
        if width < _ROOMY and sum(len(one) + 2 for one in parts) > free:
            parts = [other for other in parts if other != part]
    return "  ".join(parts) + " "


def state_sign(theme: Theme, state: VerdictState) -> tuple[str, Style]:
    """Symbol and color of a state; the word stands beside it."""
    glyphs = theme.glyphs
    return {
        VerdictState.IDLE: (glyphs.queued, theme.warn),
        VerdictState.WAITING: (glyphs.waiting, theme.warn),
        VerdictState.COMPLETED: (glyphs.done, theme.good),
        VerdictState.FAILED: (glyphs.failed, theme.bad),
        VerdictState.INTERRUPTED: (glyphs.warn, theme.warn),
        VerdictState.CUT_OFF: (glyphs.warn, theme.warn),
        VerdictState.SILENT: (glyphs.warn, theme.warn),
    }.get(state, (glyphs.live, theme.accent))


class Tabs(Lines):
    """The screens with their digits; a click goes there."""

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self._spans: list[tuple[int, int, str]] = []
        self._alerts = 0

    def show(self, alerts: int) -> None:
        """How many alerts there are now."""
        self._alerts = alerts
        self.redraw()

    def draw(self, width: int, height: int) -> list[Strip]:
        """One line: ` 1 Overview  2 Cores …`; paused or replaying is said at its end."""
        theme = self.theme
        texts = self.host.time_texts
        names = [(place, f" {place.key} {place.title} ") for place in self.host.screens]
        needed = cells_in(texts[-1]) + 2 if texts else 0
        is_narrow = width // 2 >= needed > width - sum(len(text) for _place, text in names)
        line = Line(theme, width - needed if is_narrow else width)
        self._spans = []
        for place, text in names:
            start = line.used
            here = place.name == self.host.current_mode  # of a page, the screen that it was opened on
            line.put(text, theme.title if here else theme.quiet)
            self._spans.append((start, line.used, place.name))
        if texts:
            if is_narrow:
                line = Line(theme, width).add([(piece.text, piece.style or theme.text) for piece in line.strip()])
            text = next((text for text in texts if cells_in(text) + 1 <= line.left), texts[-1])
            return [line.end(f"{text} ", theme.warn).strip()]
        marks = ((f"{theme.glyphs.warn}{self._alerts}", theme.warn, "app.alerts") if self._alerts else None,
                 ("^P commands", theme.quiet, "app.command_palette"), ("? help", theme.quiet, "app.help"))  # fmt: skip
        shown = [mark for mark in marks if mark is not None]
        while shown and sum(len(text) + 2 for text, _style, _action in shown) > line.left:
            shown.pop()
        line.to(width - sum(len(text) + 2 for text, _style, _action in shown))
        for text, style, action in shown:
            start = line.used
            line.put(text, style).gap(2)
            self._spans.append((start, line.used, action))
        return [line.strip()]

    async def on_click(self, event: events.Click) -> None:
        """Go to the screen under the mouse, or do what the word says."""
        for start, stop, name in self._spans:
            if start <= event.x < stop:
                if name.startswith("app."):
                    await self.screen.run_action(name)
                else:
                    self.host.go(name)
                return
