"""Draws the page for a machine on which nothing runs: what was searched, what was found, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.strip import Strip

from neuron_top.tui.drawing import Line, fit_start, lines_of, rule, without_backticks
from neuron_top.tui.panels import alerts
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, counted, duration_text, whole_seconds_text
from neuron_top.views.overview import Overview
from neuron_top.views.progress import CacheSpace
from neuron_top.views.states import JobState
from neuron_top.views.welcome import NEXT, looks_for_jobs

if TYPE_CHECKING:  # it imports the store, for which the first frame need not wait
    from neuron_top.views.runs import RunRow

_TEXT = 23
"""Column of what was found."""

_AGO = 14
"""Cells for how long ago a job ended, or for how long it has run."""
_TOOK, _TOOK_FROM = 15, 100
"""Cells for how long a job took, and of a window that has room for them beside the reason."""
_BELOW = 6
"""Column of what a command does below it."""
_NARROW = 44
"""Column of what a command does where there is no room for all behind the longest one."""
MOST_RECENT = 6
_SOME_RECENT = 3
"""Jobs for which other texts are shortened."""
_JOB_LINES = 2
"""A blank line and the title above them."""
_STATE_SIGNS = {
    JobState.FINISHED: ("done", "good"),
    JobState.FAILED: ("failed", "bad"),
    JobState.KILLED: ("failed", "bad"),
    JobState.RUNNING: ("running", "accent"),
}
"""How a recording ended → its glyph and its style."""


def welcome_panel(theme: Theme, view: Overview, width: int, height: int, recent: Sequence[RunRow] = ()) -> list[Strip]:
    """The page that stands in place of all panels; texts are shown in full where there is room for them, first what
    commands do, and for some jobs.

    `recent`: recordings, newest first; as many are shown as there is room for.
    """
    above = []
    if view.alerts:  # a cache's disk fills up without a job, too
        wanted = alerts.size_request(view.alerts, width).full
        above = [*alerts.alerts_panel(theme, view.alerts, view.now, width, wanted), Line(theme, width).strip()]
    waits = "a job that starts is shown automatically" if looks_for_jobs(view) else "only what was named is watched"
    above.append(rule(theme, width, "Nothing runs here yet", waits if view.sources else ""))
    some = _JOB_LINES + min(_SOME_RECENT, len(recent)) if recent else 0
    for whole_found, whole_next in ((True, True), (False, True), (False, False)):
        found = _looked_for(theme, view, width, whole=whole_found)
        below = _next(theme, width, whole=whole_next)
        room = height - len(above) - len(found) - len(below)
        if room >= some:
            break
    most = max(0, min(MOST_RECENT, room - _JOB_LINES))
    return [*above, *found, *_recent(theme, recent[:most], view.now, width), *below]


def _recent(theme: Theme, rows: Sequence[RunRow], now: float, width: int) -> list[Strip]:
    """The last jobs that were recorded here: how each ended, when, and why."""
    if not rows:
        return []
    strips = [Line(theme, width).strip(), rule(theme, width, "Recent jobs", "6 shows all")]
    for row in rows:
        sign, style = _STATE_SIGNS.get(row.state, ("note", "quiet"))
        line = Line(theme, width).gap(2).put(getattr(theme.glyphs, sign), getattr(theme, style)).gap()
        line.put(row.called, theme.text, 24).gap().put(_when(row, now), theme.quiet, _AGO).gap()
        if width >= _TOOK_FROM:
            took = (
                f"took {duration_text(row.seconds)}"
                if row.seconds is not None and row.state is not JobState.RUNNING
                else ""
            )
            line.put(took, theme.quiet, _TOOK).gap()
        strips.append(line.put(row.reason or row.state_text, theme.quiet).strip())
    return strips


def _when(row: RunRow, now: float) -> str:
    """`3 m 05 s ago`, since its end; `for 3 m 05 s` while it runs; "" where neither is known."""
    if row.state is JobState.RUNNING:
        return f"for {whole_seconds_text(max(0.0, now - row.started))}" if row.started is not None else ""
    end = row.finished
    if end is None and row.started is not None and row.seconds is not None:  # cut off: use the time of the last write
        end = row.started + row.seconds
    return f"{whole_seconds_text(max(0.0, now - end))} ago" if end is not None else ""


def _next(theme: Theme, width: int, *, whole: bool) -> list[Strip]:
    """What can be done; `whole`: a text that would be cut stands below its command."""
    strips = [Line(theme, width).strip(), rule(theme, width, "What you can do")]
    longest = max(len(command) for command, _text in NEXT) + 4
    column = longest if longest + max(len(text) for _command, text in NEXT) <= width else _NARROW
    for command, text in NEXT:
        line = Line(theme, width).gap(2).put(command, theme.accent)
        start = max(line.used + 2, min(column, width - len(text)))
        if whole and start + len(text) > width:
            strips.append(line.strip())
            line, start = Line(theme, width), _BELOW
        strips.append(line.to(start).put(text, theme.quiet).strip())
    return strips


def _looked_for(theme: Theme, view: Overview, width: int, *, whole: bool) -> list[Strip]:
    glyphs = theme.glyphs
    strips = []
    for source in view.sources:
        if source.available and source.name.startswith("cache:"):  # shown below, with what is in it
            continue
        sign, style = (glyphs.done, theme.good) if source.available else (glyphs.queued, theme.quiet)
        name = source.name.partition(":")[0] if source.is_file else source.name  # its path stands in the text
        line = Line(theme, width).put(f"  {sign} ", style).put(name, theme.text, 18).gap()
        text = without_backticks(source.text) or ("found" if source.available else "not found")
        first, *more = lines_of(text, max(20, line.left)) if whole else [text]
        strips.append(line.put(first, theme.quiet).strip())
        strips += [Line(theme, width).gap(_TEXT).put(part, theme.quiet).strip() for part in more]
    if not view.sources:  # what was named, or all of the machine: nothing has answered yet
        strips.append(Line(theme, width).put("  looking for what is to be watched…", theme.quiet).strip())
    if view.host.memory_total is not None and not view.host.stale:
        line = Line(theme, width).put(f"  {glyphs.done} ", theme.good).put("this host", theme.text, 18).gap()
        used = f"{bytes_text(view.host.memory_used)} of {bytes_text(view.host.memory_total)} memory in use"
        strips.append(line.put(used, theme.quiet).strip())
    strips += [_place(theme, place, width) for place in view.cache.places]
    return strips


def _place(theme: Theme, place: CacheSpace, width: int) -> Strip:
    """A cache with what it holds; its path loses its beginning where there is no room for it."""
    line = Line(theme, width).put(f"  {theme.glyphs.done} ", theme.good).put("compile cache", theme.text, 18).gap()
    facts = counted(place.entries, "entry", "entries")
    facts += f", {bytes_text(place.size)}" if place.size is not None else ""
    facts += f", {bytes_text(place.free)} free" if place.free is not None else ""
    path = fit_start(place.root, max(8, line.left - len(facts) - 3), theme.glyphs.more)
    return line.put(path, theme.quiet).gap(2).put(facts, theme.text).strip()
