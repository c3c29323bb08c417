"""Ranks × steps as lines: a cell per step, as high as it took long, with a sign where a rank stands out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, cells_in, message, paragraph, rule
from neuron_top.tui.theme import Theme
from neuron_top.units import count_text, counted, duration_text
from neuron_top.views.rank_steps import LEAST_RANKS, RankSeries, StepMap, StepMapRow, folded_words, step_map

_LABEL, _TIME = 16, 9
_WIDEST_CELL = 8
_NOTES = 6
"""Lines besides those of ranks: title, axis, and the legend."""
TITLE = "Step times, ranks × steps"
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
    words = _outlier_words(theme, view)
    if view.worst is not None and view.outliers:
        words += f" · slowest {view.worst_name}, step {count_text(view.worst_step)}, {duration_text(view.worst)}"
    strips = [rule(theme, width, "Step times by rank", f"{words} · r shows all")]
    if height < 3 or not view.steps:
        return strips
    cell = max(1, min(_WIDEST_CELL, steps_that_fit(width) // len(view.steps)))
    return [*strips, *(_row(theme, row, cell, width) for row in view.rows), _axis(theme, view, cell, width)]


def rank_steps_lines(theme: Theme, view: StepMap | str, width: int, job: str = "") -> list[Strip]:
    """The picture with its legend; a text while it is read, or where there is none. `job`: the one of a fleet."""
    title = f"{TITLE}: job {job}" if job else TITLE
    if isinstance(view, str):
        return message(theme, title, view, width)
    if not view.rows:
        return message(theme, title, NOTHING, width)
    strips = [rule(theme, width, title, _outlier_words(theme, view))]
    cell = max(1, min(_WIDEST_CELL, steps_that_fit(width) // len(view.steps)))
    strips += [_row(theme, row, cell, width) for row in view.rows]
    strips.append(_axis(theme, view, cell, width))
    for text in legend(theme, view, width - 1):
        strips += paragraph(theme, text, width, theme.quiet, left=1)
    return strips


def _outlier_words(theme: Theme, view: StepMap) -> str:
    """`▲ 1 of 21 ranks stands out, at 20 steps`; of fewer ranks than have a typical one, how many of their steps do."""
    ranks, steps = counted(view.ranks, "rank"), counted(view.outliers, "step")
    if not view.outliers:
        return f"{ranks} · none stands out"
    if view.ranks < LEAST_RANKS:
        return f"{ranks} · {theme.glyphs.warn} {steps} {'stands' if view.outliers == 1 else 'stand'} out"
    verb = "stands" if view.slow_ranks == 1 else "stand"
    return f"{theme.glyphs.warn} {count_text(view.slow_ranks)} of {ranks} {verb} out, at {steps}"


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
    return steps[min(len(steps) - 1, int(level * len(steps)))], theme.accent


def _axis(theme: Theme, view: StepMap, cell: int, width: int) -> Strip:
    first, last = f"step {count_text(view.steps[0])}", count_text(view.steps[-1])
    line = Line(theme, width).gap(_LABEL).put(first, theme.quiet)
    return line.to(max(line.used + 1, _LABEL + cell * len(view.steps) - len(last))).put(last, theme.quiet).strip()


def legend(theme: Theme, view: StepMap, width: int) -> list[str]:
    """The scale, what stands out, what was folded, and the worst by name; no sign is apart from its meaning."""
    low, middle, high = (theme.glyphs.spark[index] for index in (0, len(theme.glyphs.spark) // 2, -1))
    others = "the others at the same step" if view.ranks >= LEAST_RANKS else "the median step"
    signs = [
        f"{low} {duration_text(view.low)} or less",
        f"{middle} {duration_text(view.median)}, the median",
        f"{high} {duration_text(view.high)} or more",
        f"{theme.glyphs.warn} far above {others}",
    ]
    slowest = f"the slowest: {view.worst_name}, step {count_text(view.worst_step)}, {duration_text(view.worst)}"
    return [
        *_side_by_side(signs, width),
        *_side_by_side([slowest, "right: a row's slowest"], width),
        *folded_words(view),
    ]


def _side_by_side(texts: Sequence[str], width: int) -> list[str]:
    """The texts on as few lines as they fit, each whole."""
    lines: list[str] = []
    for text in texts:
        if lines and cells_in(lines[-1]) + 2 + cells_in(text) <= width:
            lines[-1] += f"  {text}"
        else:
            lines.append(text)
    return lines
