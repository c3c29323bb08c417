"""The pages that put recordings side by side; they are read in a thread, which takes a second for a long run."""

from __future__ import annotations

from collections.abc import Callable

from textual.strip import Strip

from neuron_top.tui.drawing import Line, paragraph, rule
from neuron_top.tui.panels.comparison import comparison_lines
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, duration_text, number_text
from neuron_top.views.compare import Comparison
from neuron_top.views.multi_compare import ComparedRun, MultiComparison


def compare_page(compare: Callable[[], Comparison]) -> AsyncPage:
    """The page of what `compare` returns."""
    return AsyncPage(compare, _lines, waiting="Reading both recordings…", failed="The recordings cannot be compared")


def compare_many_page(compare: Callable[[], MultiComparison]) -> AsyncPage:
    """The page of several recordings, each compared with the first."""
    return AsyncPage(compare, many_lines, waiting="Reading the recordings…", failed="They cannot be compared")


def many_lines(theme: Theme, view: MultiComparison | str, width: int) -> list[Strip]:
    """What differs in sentences, then a row each."""
    strips = [rule(theme, width, "Recordings compared with the first", "esc goes back")]
    if isinstance(view, str):
        return [*strips, Line(theme, width).gap(2).put(view, theme.quiet).strip()]
    strips += [strip for text in view.answer for strip in paragraph(theme, text, width)]
    strips.append(Line(theme, width).strip())
    head = Line(theme, width).gap(2)
    for title, cells in _MANY:
        head.put(title, theme.title, cells, right=title != "Recording").gap()
    strips.append(head.strip())
    for row in view.rows:
        line = Line(theme, width).gap(2)
        for (title, cells), text in zip(_MANY, _many_cells(row), strict=True):
            line.put(
                text, theme.strong if title == "Recording" else theme.text, cells, right=title != "Recording"
            ).gap()
        strips.append(line.strip())
    return strips


_MANY = (("Recording", 28), ("Throughput", 18), ("Step", 9), ("Compile", 9), ("Loss", 9), ("Memory", 10))


def _many_cells(row: ComparedRun) -> tuple[str, ...]:
    change = f" {row.throughput_change:+.0%}" if row.throughput_change is not None else ""
    return (
        row.title,
        f"{number_text(row.throughput)}{change}",
        duration_text(row.step_seconds),
        duration_text(row.compile_seconds),
        number_text(row.loss),
        bytes_text(row.memory),
    )


def _lines(theme: Theme, view: Comparison | str, width: int) -> list[Strip]:
    if isinstance(view, str):
        title = rule(theme, width, "Two recordings", "esc goes back")
        return [title, Line(theme, width).gap(2).put(view, theme.quiet).strip()]
    return comparison_lines(theme, view, width)
