"""Nothing runs: what was looked for, what was found, and what to do next."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.look import Look
from neuron_top.tui.panels import alerts
from neuron_top.units import bytes_text
from neuron_top.views.overview import Overview

NEXT = (
    ("neurontop run -- torchrun --nproc_per_node=4 train.py", "run, record, show it"),
    ("neurontop watch train.log", "follow a job that runs elsewhere"),
    ("neurontop compile -- torchrun … train.py", "compile a job's graphs beforehand"),
    ("neurontop replay", "play the last recording here"),
    ("neurontop doctor", "say what was found on this machine"),
)


def welcome_panel(look: Look, view: Overview, width: int, height: int) -> list[Strip]:
    """The page that stands in place of all panels."""
    strips = [
        rule(look, width, "Nothing runs here yet", "a job that starts is picked up by itself"),
        *_looked_for(look, view, width),
        Line(look, width).strip(),
        rule(look, width, "What you can do"),
    ]
    for command, text in NEXT:
        line = Line(look, width).gap(2).put(command, look.accent)
        strips.append(line.to(min(58, max(line.used + 2, 44))).put(text, look.quiet).strip())
    if view.alerts:  # a cache's disk fills up without a job, too
        wanted = alerts.wish(view.alerts, width).full
        strips = [*alerts.alerts_panel(look, view.alerts, view.now, width, wanted), Line(look, width).strip(), *strips]
    return strips


def _looked_for(look: Look, view: Overview, width: int) -> list[Strip]:
    glyphs = look.glyphs
    strips = []
    for source in view.sources:
        sign, style = (glyphs.done, look.good) if source.available else (glyphs.queued, look.quiet)
        line = Line(look, width).put(f"  {sign} ", style).put(source.name, look.text, 18).gap()
        strips.append(line.put(source.text or ("found" if source.available else "not found"), look.quiet).strip())
    if not strips:
        strips.append(
            Line(look, width).put("  looking for worker processes, Neuron devices and logs…", look.quiet).strip()
        )
    if view.host.memory_total is not None:
        line = Line(look, width).put(f"  {glyphs.done} ", look.good).put("this host", look.text, 18).gap()
        used = f"{bytes_text(view.host.memory_used)} of {bytes_text(view.host.memory_total)} memory in use"
        strips.append(line.put(used, look.quiet).strip())
    for root in view.cache.roots or view.cache.paths:
        line = Line(look, width).put(f"  {glyphs.done} ", look.good).put("compile cache", look.text, 18).gap()
        strips.append(line.put(root, look.quiet).strip())
    return strips
