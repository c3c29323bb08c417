"""Charts of training: loss and throughput by step or by time, every value, a smoothed line on demand."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from neuron_top.dashboard.chart_colors import ChartColors, state_color
from neuron_top.dashboard.figures import Figure, empty, iso, layout, moments, steps
from neuron_top.dashboard.page_diff import AppendChart, PageChart
from neuron_top.views.trends import MarkKind, StepValue, TrainingMark, Trends

STEP, TIME = "step", "time"
HEIGHT = 200
LEFT = 56
"""Pixels for the numbers of the y axis, the same in both charts: a step is at one place in them."""
SMOOTHED = 0.9
"""Weight of earlier values in the smoothed line."""
FEW = 60
"""Fewer values get a mark each."""


def loss(view: Trends, axis: str, smooth: bool, colors: ChartColors) -> PageChart | AppendChart:
    """The loss."""
    return _chart(view, view.loss_values, "loss", axis, smooth, colors, "no loss was printed yet")


def throughput(view: Trends, axis: str, smooth: bool, colors: ChartColors) -> PageChart | AppendChart:
    """The throughput, in the unit that was printed."""
    return _chart(view, view.throughput_values, "throughput", axis, smooth, colors, "no throughput was printed yet")


def smoothed(values: Sequence[float]) -> list[float]:
    """The exponential moving average, with bias correction; a value that is not finite is a gap."""
    made: list[float] = []
    mean, weight = 0.0, 0.0
    for value in values:
        if not isfinite(value):
            made.append(value)
            continue
        mean = SMOOTHED * mean + (1 - SMOOTHED) * value
        weight = SMOOTHED * weight + (1 - SMOOTHED)
        made.append(mean / weight)
    return made


def _chart(
    view: Trends,
    values: Sequence[StepValue],
    name: str,
    axis: str,
    smooth: bool,
    colors: ChartColors,
    words: str,
) -> PageChart | AppendChart:
    by_step = axis == STEP and any(value.step is not None for value in values)
    shown = [value for value in values if (value.step if by_step else value.time) is not None]
    if not shown:
        return AppendChart({"data": [], "layout": empty(colors, words, HEIGHT)["layout"]})
    places = [value.step if by_step else iso(value.time or 0.0) for value in shown]
    numbers = [round(value.value, 6) for value in shown]
    data = [_line(name, places, numbers, colors.accent, 0.9 if smooth else 1.6, faint=smooth)]
    if smooth:
        data.append(_line(f"{name}, smoothed", places, [round(one, 6) for one in smoothed(numbers)], colors.text, 2))
    if by_step:
        data = [
            {**line, "customdata": [iso(one.time) if one.time is not None else "" for one in shown]} for line in data
        ]
    times = (
        moments([str(place) for place in places])
        if not by_step
        else steps([value.step for value in shown if value.step is not None])
    )
    marks = [mark for mark in view.marks if (mark.step if by_step else mark.time) is not None]
    whole = layout(
        colors,
        HEIGHT,
        margin={"l": LEFT},
        yaxis={"automargin": False},
        xaxis=times,
        shapes=_shapes(marks, by_step, places, colors),
    )
    figure: Figure = {"data": data, "layout": whole | {"uirevision": f"{axis}"}}
    parts = ("x", "y", "customdata") if by_step else ("x", "y")
    moving = tuple(("data", place, part) for place in range(len(data)) for part in parts)
    return PageChart(figure, moving)


def _line(name: str, x: Sequence[Any], y: Sequence[float], color: str, width: float, faint: bool = False) -> Figure:
    mode = "lines+markers" if len(x) < FEW else "lines"
    opacity = 0.45 if faint else 1
    return {"type": "scatter", "mode": mode, "name": name, "x": list(x), "y": list(y), "opacity": opacity,
            "line": {"color": color, "width": width}}  # fmt: skip


def _shapes(marks: Sequence[TrainingMark], by_step: bool, places: Sequence[Any], colors: ChartColors) -> list[Figure]:
    """Lines across the chart where something compiled or failed within the shown range; the first failure by name."""
    shapes: list[Figure] = []
    is_named = False
    first, last = min(places), max(places)  # a run that resumed from a checkpoint repeats steps
    for mark in marks:
        at = mark.step if by_step else iso(mark.time or 0.0)
        if at is not None and first <= at <= last:
            style = {"color": state_color(colors, mark.state), "width": 1, "dash": "dot"}
            line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at, "line": style}
            shapes.append(line if is_named or mark.state is not MarkKind.FAILED else line | _failed(colors))
            is_named = is_named or mark.state is MarkKind.FAILED
    return shapes


def _failed(colors: ChartColors) -> Figure:
    """The label of a failure's line, to its left: a failure is mostly at the right end of the chart."""
    font = {"color": colors.bad, "size": 11}
    return {
        "label": {
            "text": "failed",
            "textangle": 0,
            "textposition": "end",
            "xanchor": "right",
            "yanchor": "top",
            "font": font,
        }
    }
