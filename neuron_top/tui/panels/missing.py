"""The last line of the overview: what there is no data for, and how to get it."""

from __future__ import annotations

import textwrap

from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import paragraph, safe
from neuron_top.tui.panels.compiling import has_compiles
from neuron_top.tui.panels.training import has_training
from neuron_top.tui.theme import Theme
from neuron_top.units import counted
from neuron_top.views.overview import Overview

_LONGEST_REASON = 150


def size_request(view: Overview, width: int) -> SizeRequest:
    """All of the sentence; nothing where nothing is absent."""
    text = missing_text(view)
    lines = len(textwrap.wrap(text, max(20, width)))
    return SizeRequest(lines, lines)


def missing_panel(theme: Theme, view: Overview, width: int, height: int) -> list[Strip]:
    """The sentence."""
    return paragraph(theme, missing_text(view), width, theme.quiet, left=0)[:height]


def missing_text(view: Overview) -> str:
    """`Not available: device telemetry (…), training (no step printed yet)`; "" where all is there."""
    over = view.header.over
    absent = []
    if not view.cores:
        absent.append(f"device telemetry ({_why(view)})")
    if view.training.simulated_reports and view.training.step is None and view.training.loss is None:
        left_out = counted(view.training.simulated_reports, "report")
        absent.append(f"training ({left_out} of a trial run left out: their numbers mean nothing)")
    elif not has_training(view.training):
        absent.append("training (no step was printed)" if over else "training (no step printed yet)")
    if not has_compiles(view.compile, view.cache):
        absent.append("compiles (no graph was named)" if over else "compiles (no graph yet)")
    return f"Not available: {', '.join(absent)}" if absent else ""


def _why(view: Overview) -> str:
    """What the sources of telemetry said, as far as a line holds it; else who can tell."""
    told = "; ".join(f"{source.name}: {source.text}" for source in view.sources if not source.available)
    return textwrap.shorten(safe(told), _LONGEST_REASON, placeholder=" … 2 says all") or "`neurontop doctor` helps"
