"""Ranks × steps as lines: a cell per step, as high as it took long, with a sign where a rank stands out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.theme import Theme
from neuron_top.units import count_text, counted, duration_text
from neuron_top.views.rank_steps import RankSeries, StepMap, StepMapRow, folded_words, step_map

_LABEL, _TIME = 16, 9
_WIDEST_CELL = 3
_NOTES = 6
"""Lines besides those of ranks: title, axis, and the legend."""
NOTHING = (
    "No rank has reported two steps yet. Times of steps come from what training prints: a step number, and a clock or "
    "a duration."
)


def steps_that_fit(width: int) -> int:
    """Columns of steps."""
    return max(8, width - _LABEL - _TIME - 2)


def rows_that_fit(height: int) -> int:
    """Lines of ranks."""
    return max(4, height - _NOTES)


def stragglers_panel(theme: Theme, series: Sequence[RankSeries], width: int, height: int) -> list[Strip]:
    """Step times of the ranks in so many lines: those that stand out have a line of their own."""
    view = step_map(series, max(1, height - 2), steps_that_fit(width))
    words = f"{counted(view.ranks, 'rank')} · {theme.glyphs.warn} {count_text(view.outliers)} stand out"
    if view.worst is not None and view.outliers:
        words += f" · slowest {view.worst_name}, step {view.worst_step}, {duration_text(view.worst)}"
    strips = [rule(theme, width, "Step times by rank", f"{words} · r shows all")]
    if height < 3 or not view.steps:
        return strips
    cell = max(1, min(_WIDEST_CELL, steps_that_fit(width) // len(view.steps)))
    return [*strips, *(_row(theme, row, cell, width) for row in view.rows), _axis(theme, view, cell, width)]


def rank_steps_lines(theme: Theme, view: StepMap | str, width: int) -> list[Strip]:
    """The picture with its legend; a text while it is read, or where there is none."""
    if isinstance(view, str):
        return paragraph(theme, view, width, theme.quiet)
    if not view.rows:
        return [rule(theme, width, "Step times, ranks × steps"), *paragraph(theme, NOTHING, width, theme.quiet)]
    right = f"{counted(view.ranks, 'rank')} · {theme.glyphs.warn} {count_text(view.outliers)} stand out"
    strips = [rule(theme, width, "Step times, ranks × steps", right)]
    cell = max(1, min(_WIDEST_CELL, steps_that_fit(width) // len(view.steps)))
    strips += [_row(theme, row, cell, width) for row in view.rows]
    strips.append(_axis(theme, view, cell, width))
    for text in legend(theme, view):
        strips += paragraph(theme, text, width, theme.quiet, left=1)
    return strips


def _row(theme: Theme, row: StepMapRow, cell: int, width: int) -> Strip:
    line = Line(theme, width).put(row.name, theme.warn if any(row.outliers) else theme.quiet, _LABEL)
    for level, outlier in zip(row.levels, row.outliers, strict=True):
        glyph, style = _cell(theme, level, outlier)
        line.put(glyph * cell, style)
    worst = duration_text(row.worst)
    return line.gap().put(worst, theme.warn if any(row.outliers) else theme.text, _TIME, right=True).strip()


def _cell(theme: Theme, level: float | None, outlier: bool) -> tuple[str, Style]:
    if level is None:
        return " ", theme.faint
    if outlier:
        return theme.glyphs.warn, theme.bad
    steps = theme.glyphs.spark
    style = theme.good if level < 0.5 else theme.accent if level < 1.0 else theme.warn
    return steps[min(len(steps) - 1, int(level * len(steps)))], style


def _axis(theme: Theme, view: StepMap, cell: int, width: int) -> Strip:
    first, last = f"step {view.steps[0]}", str(view.steps[-1])
    line = Line(theme, width).gap(_LABEL).put(first, theme.quiet)
    return line.to(max(line.used + 1, _LABEL + cell * len(view.steps) - len(last))).put(last, theme.quiet).strip()


def legend(theme: Theme, view: StepMap) -> list[str]:
    """The scale, what stands out, what was folded, and the worst by name."""
    low, middle, high = (theme.glyphs.spark[index] for index in (0, len(theme.glyphs.spark) // 2, -1))
    scale = f"{low} {duration_text(view.low)} or less  {middle} {duration_text(view.median)}, the median  "
    words = [
        f"{scale}{high} {duration_text(view.high)} or more  {theme.glyphs.warn} far above the others at the same step",
        f"the slowest: {view.worst_name}, step {view.worst_step}, {duration_text(view.worst)}; right: a row's slowest",
    ]
    return [*words, *folded_words(view)]
