"""Nothing runs: what was looked for, what was found, and what to do next."""

from __future__ import annotations

import textwrap

from textual.strip import Strip

from neuron_top.tui.drawing import Line, fit_start, rule, safe
from neuron_top.tui.look import Theme
from neuron_top.tui.panels import alerts
from neuron_top.units import bytes_text, counted
from neuron_top.views.overview import Overview
from neuron_top.views.progress import CachePlace

NEXT = (
    ("neurontop run -- torchrun --nproc_per_node=4 train.py", "run, record, show it"),
    ("neurontop watch train.log", "follow a job that runs elsewhere"),
    ("neurontop compile -- torchrun … train.py", "compile a job's graphs beforehand"),
    ("neurontop replay", "play the last recording here"),
    ("neurontop doctor", "say what was found on this machine"),
)


_TEXT = 23
"""Column of what was found."""


def welcome_panel(look: Theme, view: Overview, width: int, height: int) -> list[Strip]:
    """The page that stands in place of all panels; what was not found is told in full where there is room for it."""
    above = []
    if view.alerts:  # a cache's disk fills up without a job, too
        wanted = alerts.wish(view.alerts, width).full
        above = [*alerts.alerts_panel(look, view.alerts, view.now, width, wanted), Line(look, width).strip()]
    above.append(rule(look, width, "Nothing runs here yet", "a job that starts is picked up by itself"))
    below = _next(look, width)
    found = _looked_for(look, view, width, whole=True)
    if len(above) + len(found) + len(below) > height:
        found = _looked_for(look, view, width, whole=False)
    return [*above, *found, *below]


def _next(look: Theme, width: int) -> list[Strip]:
    strips = [Line(look, width).strip(), rule(look, width, "What you can do")]
    for command, text in NEXT:
        line = Line(look, width).gap(2).put(command, look.accent)
        strips.append(line.to(min(58, max(line.used + 2, 44))).put(text, look.quiet).strip())
    return strips


def _looked_for(look: Theme, view: Overview, width: int, *, whole: bool) -> list[Strip]:
    glyphs = look.glyphs
    strips = []
    for source in view.sources:
        if source.available and source.name.startswith("cache:"):  # told below, with what is in it
            continue
        sign, style = (glyphs.done, look.good) if source.available else (glyphs.queued, look.quiet)
        line = Line(look, width).put(f"  {sign} ", style).put(source.name, look.text, 18).gap()
        text = safe(source.text or ("found" if source.available else "not found"))
        first, *more = textwrap.wrap(text, max(20, line.left)) if whole else [text]
        strips.append(line.put(first, look.quiet).strip())
        strips += [Line(look, width).gap(_TEXT).put(part, look.quiet).strip() for part in more]
    if not strips:
        strips.append(
            Line(look, width).put("  looking for worker processes, Neuron devices and logs…", look.quiet).strip()
        )
    if view.host.memory_total is not None:
        line = Line(look, width).put(f"  {glyphs.done} ", look.good).put("this host", look.text, 18).gap()
        used = f"{bytes_text(view.host.memory_used)} of {bytes_text(view.host.memory_total)} memory in use"
        strips.append(line.put(used, look.quiet).strip())
    strips += [_place(look, place, width) for place in view.cache.places]
    return strips


def _place(look: Theme, place: CachePlace, width: int) -> Strip:
    """A cache with what it holds; its path loses its beginning where there is no room for it."""
    line = Line(look, width).put(f"  {look.glyphs.done} ", look.good).put("compile cache", look.text, 18).gap()
    facts = counted(place.entries, "entry", "entries")
    facts += f", {bytes_text(place.size)}" if place.size is not None else ""
    facts += f", {bytes_text(place.free)} free" if place.free is not None else ""
    path = fit_start(place.root, max(8, line.left - len(facts) - 3), look.glyphs.more)
    return line.put(path, look.quiet).gap(2).put(facts, look.text).strip()
