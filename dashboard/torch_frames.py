"""torch.compile of plain PyTorch processes on the compile page: what was compiled, broke and came from which cache."""

from __future__ import annotations

from typing import Any

from dash import html

from neuron_top.dashboard.components import fact_list, panel, table
from neuron_top.units import count_text, duration_text
from neuron_top.views.torch_trace import FrameState, TorchView, cache_words, summary_words

FRAMES_SHOWN = 100


def torch_section(view: TorchView | None) -> Any:
    """The panel; nothing where no process wrote a trace."""
    if view is None:
        return None
    running_first = sorted(view.frames, key=lambda row: (row.state is not FrameState.COMPILING, -(row.began or 0.0)))
    frames = [
        (
            row.compile_id,
            html.Code(row.function),
            row.place,
            row.state,
            row.backend,
            duration_text(row.seconds),
            count_text(row.step),
            row.fx or "—",
            row.aot or "—",
            row.failure or "; ".join(row.recompiled),
        )
        for row in running_first[:FRAMES_SHOWN]
    ]
    breaks = [(count_text(row.times), html.Code(row.place), row.reason) for row in view.breaks[:FRAMES_SHOWN]]
    phases = [
        (row.meaning, html.Code(row.phase), count_text(row.times), duration_text(row.seconds)) for row in view.phases
    ]
    head = (
        "compile",
        "function",
        "place",
        "state",
        "back end",
        "took",
        "at step",
        "FX cache",
        "AOT cache",
        "why recompiled, or given up",
    )
    return panel(
        "torch.compile",
        html.P(summary_words(view.summary)),
        fact_list([(f"{row.cache} cache", cache_words(row)) for row in view.summary.caches]),
        table(head, frames, caption="Compiled frames, the newest first", right=(5, 6)),
        html.H3("Graph breaks") if breaks else None,
        table(("times", "place", "reason"), breaks, caption="Graph breaks", right=(0,)) if breaks else None,
        html.H3("Phases (nested, so they do not add up)") if phases else None,
        table(("phase", "PyTorch's name", "times", "seconds"), phases, caption="Phases; they nest", right=(2, 3))
        if phases
        else None,
        wide=True,
    )
