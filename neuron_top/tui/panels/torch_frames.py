"""torch.compile of plain PyTorch processes, as lines: totals, caches, the newest compiles, and what broke."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, rule, whole_clauses
from neuron_top.tui.theme import Theme
from neuron_top.units import duration_text
from neuron_top.views.torch_trace import (
    BreakRow,
    FrameRow,
    FrameState,
    TorchView,
    cache_name,
    cache_words,
    nth_text,
    summary_words,
)

FRAMES_SHOWN = 6
BREAKS_SHOWN = 3
_LABEL = 14
"""Cells of what stands at the left of a line."""


def torch_lines(view: TorchView | None) -> int:
    """Lines the panel fills; none where no process wrote a trace."""
    if view is None:
        return 0
    return (
        1
        + len(view.summary.caches)
        + bool(view.phases)
        + min(FRAMES_SHOWN, len(_folded(view.frames)))
        + min(BREAKS_SHOWN, len(view.breaks))
    )


def torch_panel(theme: Theme, view: TorchView, width: int, height: int) -> list[Strip]:
    """The panel: what is compiled now stands first, then the newest."""
    processes = view.summary.processes
    ranks = f"{processes} ranks, added up: " if processes > 1 else ""  # the sum over ranks exceeds the elapsed time
    lines = [rule(theme, width, "torch.compile", f"{ranks}{summary_words(view.summary)}")]
    lines += [
        Line(theme, width)
        .put("its caches", theme.quiet, _LABEL)
        .gap()
        .put(f"{cache_name(row.cache)}: {cache_words(row)}", theme.text)
        .strip()
        for row in view.summary.caches
    ]
    lines += [_phases(theme, view, width)] if view.phases else []
    lines += [_frame(theme, row, alike, width) for row, alike in _folded(view.frames)[:FRAMES_SHOWN]]
    lines += [_break(theme, row, width) for row in view.breaks[:BREAKS_SHOWN]]
    return lines[:height]


def _folded(frames: Sequence[FrameRow]) -> list[tuple[FrameRow, int]]:
    """Of rows that differ only in their rank, the slowest one, and how many more there are."""
    alike: dict[object, list[FrameRow]] = {}
    for row in sorted(frames, key=lambda row: (row.state is not FrameState.COMPILING, -(row.began or 0.0))):
        key = (row.compile_id, row.function, row.state, row.fx, row.aot, row.failure, row.recompiled)
        alike.setdefault(key, []).append(row)
    return [(max(rows, key=lambda row: row.seconds or 0.0), len(rows) - 1) for rows in alike.values()]


def _phases(theme: Theme, view: TorchView, width: int) -> Strip:
    """The phases of compiling, the longest first; phases are nested, so they are not shares of a whole."""
    line = Line(theme, width).put("phases", theme.quiet, _LABEL).gap()
    longest = sorted(view.phases, key=lambda row: -row.seconds)
    words = " · ".join(f"{row.meaning.strip()} {duration_text(row.seconds)}" for row in longest)
    return line.put(whole_clauses(words, line.left), theme.text).strip()


def _frame(theme: Theme, row: FrameRow, alike: int, width: int) -> Strip:
    glyphs = theme.glyphs
    sign, style = {
        FrameState.COMPILING: (glyphs.running, theme.state("compiling")),
        FrameState.FAILED: (glyphs.failed, theme.state("failed")),
        FrameState.UNFINISHED: (glyphs.note, theme.warn),
    }.get(row.state, (glyphs.done, theme.good))
    line = Line(theme, width).put(f"{sign} {nth_text(row.compile_id)} compile", style, _LABEL).gap()
    line.put(duration_text(row.seconds), theme.text, 9, right=True).gap()
    rank = f"r{row.rank}" if row.rank is not None else ""
    line.put(f"{rank}+{alike}" if alike else rank, theme.quiet, 7).gap()
    line.put(row.function, theme.text, min(32, max(12, width // 3))).gap()
    stages = (row.fx and f"Inductor's cache {row.fx}", row.aot and f"AOTAutograd's cache {row.aot}")
    line.put(", ".join(words for words in stages if words), theme.quiet)
    if row.failure or row.recompiled:
        line.gap().put(row.failure or f"recompiled: {row.recompiled[0]}", theme.bad if row.failure else theme.warn)
    return line.strip()


def _break(theme: Theme, row: BreakRow, width: int) -> Strip:
    line = Line(theme, width).put(f"{theme.glyphs.warn} {row.times} × break", theme.warn, _LABEL).gap()
    return line.put(row.place, theme.text).gap().put(row.reason, theme.quiet).strip()
