"""torch.compile of plain PyTorch processes, as lines: totals, caches, the newest compiles, and what broke."""

from __future__ import annotations

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule
from neuron_top.tui.look import Theme
from neuron_top.units import duration_text
from neuron_top.views.torch_trace import BreakRow, FrameRow, FrameState, TorchView, cache_words, summary_words

FRAMES_SHOWN = 6
BREAKS_SHOWN = 3


def torch_lines(view: TorchView | None) -> int:
    """Lines the panel fills; none where no process wrote a trace."""
    if view is None:
        return 0
    return (
        1
        + len(view.summary.caches)
        + bool(view.phases)
        + min(FRAMES_SHOWN, len(view.frames))
        + min(BREAKS_SHOWN, len(view.breaks))
    )


def torch_panel(look: Theme, view: TorchView, width: int, height: int) -> list[Strip]:
    """The panel: what is compiled now stands first, then the newest."""
    lines = [rule(look, width, "torch.compile", summary_words(view.summary))]
    lines += [
        Line(look, width).put(row.cache, look.quiet, 13).gap().put(cache_words(row), look.text).strip()
        for row in view.summary.caches
    ]
    lines += [_phases(look, view, width)] if view.phases else []
    frames = sorted(view.frames, key=lambda row: (row.state is not FrameState.COMPILING, -(row.began or 0.0)))
    lines += [_frame(look, row, width) for row in frames[:FRAMES_SHOWN]]
    lines += [_break(look, row, width) for row in view.breaks[:BREAKS_SHOWN]]
    return lines[:height]


def _phases(look: Theme, view: TorchView, width: int) -> Strip:
    """Where compiling spends its time, the longest first; phases nest, so they are no shares of a whole."""
    line = Line(look, width).put("phases", look.quiet, 13)
    longest = sorted(view.phases, key=lambda row: -row.seconds)
    for index, row in enumerate(longest):
        line.gap().put(("· " if index else "") + f"{row.meaning.strip()} {duration_text(row.seconds)}", look.text)
    return line.strip()


def _frame(look: Theme, row: FrameRow, width: int) -> Strip:
    glyphs = look.glyphs
    sign, style = {
        FrameState.COMPILING: (glyphs.running, look.kinds[0]), FrameState.FAILED: (glyphs.failed, look.bad),
        FrameState.UNFINISHED: (glyphs.note, look.warn),
    }.get(row.state, (glyphs.done, look.good))  # fmt: skip
    line = Line(look, width).put(f"{sign} {row.compile_id}", style, 9).gap()
    line.put(duration_text(row.seconds), look.text, 9, right=True).gap()
    line.put(row.function, look.text, min(32, max(12, width // 3))).gap()
    told = (row.fx and f"FX {row.fx}", row.aot and f"AOT {row.aot}")
    line.put(", ".join(words for words in told if words), look.quiet)
    if row.failure or row.recompiled:
        line.gap().put(row.failure or f"recompiled: {row.recompiled[0]}", look.bad if row.failure else look.warn)
    return line.strip()


def _break(look: Theme, row: BreakRow, width: int) -> Strip:
    line = Line(look, width).put(f"{look.glyphs.warn} {row.times} × break", look.warn, 14).gap()
    return line.put(row.place, look.text).gap().put(row.reason, look.quiet).strip()
