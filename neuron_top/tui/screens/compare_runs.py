"""The pages that put recordings side by side or lay their curves over one axis.

Recordings are read in a thread, which takes a second for a long run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.strip import Strip

from neuron_top.tui.drawing import Line, cells_in, paragraph, rule
from neuron_top.tui.panels.comparison import comparison_lines
from neuron_top.tui.screens.async_page import AsyncPage
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, count_text, duration_text, number_text, signed_percent_text
from neuron_top.views.colors import Hue
from neuron_top.views.compare import Comparison
from neuron_top.views.multi_compare import ComparedRun, MultiComparison
from neuron_top.views.overlay import LETTERS, OverlaidRun
from neuron_top.views.trends import StepValue


def compare_page(compare: Callable[[], Comparison]) -> AsyncPage:
    """The page of what `compare` returns."""
    return AsyncPage(compare, _lines, waiting="Reading both recordings…", failed="The recordings cannot be compared")


def compare_many_page(compare: Callable[[], MultiComparison]) -> AsyncPage:
    """The page of several recordings, each compared with the first."""
    return AsyncPage(compare, many_lines, waiting="Reading the recordings…", failed="They cannot be compared")


def many_lines(theme: Theme, view: MultiComparison | str, width: int) -> list[Strip]:
    """What differs in sentences, then a row each."""
    strips = [rule(theme, width, "Recordings compared with the first")]
    if isinstance(view, str):
        return [*strips, Line(theme, width).gap(2).put(view, theme.quiet).strip()]
    strips += [strip for text in view.answer for strip in paragraph(theme, text, width)]
    strips.append(Line(theme, width).strip())
    head = Line(theme, width).gap(2)
    longest = max((cells_in(row.title) for row in view.rows), default=0)
    columns = (("Recording", max(_LEAST_TITLE, min(_MOST_TITLE, longest))), *_MANY)
    for number, (title, cells) in enumerate(columns):
        head.put(title, theme.title, cells, right=number > 0).gap()
    strips.append(head.strip())
    for row in view.rows:
        line = Line(theme, width).gap(2)
        for number, ((_title, cells), text) in enumerate(zip(columns, _many_cells(row), strict=True)):
            line.put(text, theme.text if number else theme.strong, cells, right=number > 0).gap()
        strips.append(line.strip())
    return strips


_LEAST_TITLE, _MOST_TITLE = 20, 40
"""Cells of a recording's name; the begin that tells equal names apart stands at their end."""
_MANY = (("Throughput", 18), ("Step", 9), ("Compile", 9), ("Loss", 9), ("Memory", 10))


def _many_cells(row: ComparedRun) -> tuple[str, ...]:
    is_like_first = row.throughput_change is not None
    change = f" {signed_percent_text(row.throughput_change)}" if is_like_first else f" {row.throughput_unit}".rstrip()
    change = change if row.throughput is not None else ""
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
        title = rule(theme, width, "Two recordings")
        return [title, Line(theme, width).gap(2).put(view, theme.quiet).strip()]
    return comparison_lines(theme, view, width)


ROWS = 12
SEVERAL = "*"
"""Marks a cell with several curves, as a letter would hide the others."""
_HUES = tuple(Hue)


def overlay_page(read: Callable[[], tuple[OverlaidRun, ...]]) -> AsyncPage:
    """The page of what `read` returns."""
    return AsyncPage(
        read, overlay_lines, waiting="Reading the recordings…", failed="They cannot be laid over each other"
    )


def overlay_lines(theme: Theme, view: Sequence[OverlaidRun] | str, width: int) -> list[Strip]:
    """The letter of each recording, then loss and throughput by step."""
    strips = [rule(theme, width, "Recordings over one axis")]
    if isinstance(view, str):
        return [*strips, Line(theme, width).gap(2).put(view, theme.quiet).strip()]
    for letter, hue, run in zip(LETTERS, _HUES, view, strict=False):
        last = run.loss[-1] if run.loss else None
        line = Line(theme, width).gap(2).put(letter, theme.hues[hue]).gap().put(run.title, theme.strong)
        words = f"{count_text(len(run.loss))} values of the loss"
        words += (
            f", the last {number_text(last.value)}"
            + (f" at step {count_text(last.step)}" if last.step is not None else "")
            if last
            else ""
        )
        strips.append(line.gap(2).put(words, theme.quiet).strip())
    units = {run.throughput_unit for run in view if run.throughput}
    strips += _panel(theme, "Loss by step", [run.loss for run in view], width)
    title = f"Throughput by step, {units.pop() or 'reports'}" if len(units) == 1 else "Throughput by step"
    return [*strips, *_panel(theme, title, [run.throughput for run in view], width)]


def _panel(theme: Theme, title: str, curves: Sequence[Sequence[StepValue]], width: int) -> list[Strip]:
    """A letter where a curve runs, SEVERAL where more than one does; the axis of steps is that of all."""
    placed = [[(_at(index, value), value.value) for index, value in enumerate(curve)] for curve in curves]
    every = [point for curve in placed for point in curve]
    if not every:
        head = [Line(theme, width).strip(), rule(theme, width, title)]
        return [*head, Line(theme, width).gap(2).put("None of them printed any.", theme.quiet).strip()]
    first, last = min(x for x, _y in every), max(x for x, _y in every)
    low, high = min(y for _x, y in every), max(y for _x, y in every)
    label = max(len(number_text(low)), len(number_text(high)))
    room = max(1, width - label - 3)
    cells: list[list[set[int]]] = [[set() for _column in range(room)] for _row in range(ROWS)]
    for number, curve in enumerate(placed):
        for x, y in curve:
            column = round((x - first) / ((last - first) or 1) * (room - 1))
            row = round((high - y) / ((high - low) or 1.0) * (ROWS - 1))
            cells[row][column].add(number)
    shared = {number for row in cells for numbers in row if len(numbers) > 1 for number in numbers}
    legend = f"{SEVERAL} several of {', '.join(LETTERS[number] for number in sorted(shared))}" if shared else ""
    strips = [Line(theme, width).strip(), rule(theme, width, title, legend)]
    for row, marks in enumerate(cells):
        text = number_text(high) if row == 0 else number_text(low) if row == ROWS - 1 else ""
        line = Line(theme, width).put(text, theme.quiet, label, right=True).gap()
        for numbers in marks:
            one = next(iter(numbers)) if len(numbers) == 1 else None
            if one is not None:
                line.put(LETTERS[one], theme.hues[_HUES[one]])
            else:
                line.put(SEVERAL if numbers else " ", theme.text)
        strips.append(line.strip())
    axis = Line(theme, width).to(label + 1).put(f"step {count_text(first)}", theme.quiet)
    return [*strips, axis.end(count_text(last), theme.quiet).strip()]


def _at(index: int, value: StepValue) -> int:
    """The position of a value: its step, else its index in the log."""
    return value.step if value.step is not None else index
