"""Charts as SVG text: steps, lines and lanes of bars on a common time axis. No library, no script, no request.

Colors are classes of the style sheet, so a chart follows the page's light or dark theme; every mark carries a
`<title>`, which browsers show on hover and screen readers speak.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import groupby

import msgspec

from neuron_top.units import duration_text

WIDTH, LEFT, RIGHT = 1000.0, 90.0, 12.0
NAMES, FIGURES = 330.0, 90.0
"""Pixels beside horizontal bars: for their names, and for their values."""
AXIS_HEIGHT = 24.0
_STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_LETTER, _ROOM = 7.2, 8.0
"""Pixels that a letter of a mark's own label takes, and that are left free beside it."""
_NARROWEST = 0.6
"""Pixels: a bar is never drawn narrower, or nobody would see it."""
_DASH = 3.0
"""Pixels to both sides of a point that stands alone in its curve."""

Point = tuple[float, float]


class Axis(msgspec.Struct, frozen=True):
    """The horizontal axis: from `start` to `end`; `clock` says that they are times, shown from zero."""

    start: float
    end: float
    clock: bool = True

    def x(self, value: float) -> float:
        """Where a value stands, pixels."""
        span = self.end - self.start or 1.0
        return LEFT + (min(max(value, self.start), self.end) - self.start) / span * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> Iterable[tuple[float, str]]:
        """Round values and their text, six to twelve of them."""
        span = self.end - self.start
        step = _round_step(span / 8) if not self.clock else _time_step(span / 8)
        first = 0.0 if self.clock else math.ceil(self.start / step) * step
        for index in range(20):
            value = first + index * step
            at = self.start + value if self.clock else value
            if at > self.end + step * 1e-6:
                return
            yield at, (duration_text(value) if value else "0") if self.clock else f"{value:g}"


class Amount(msgspec.Struct, frozen=True):
    """One horizontal bar: its name, how long it is, the value in words, its class."""

    name: str
    value: float
    text: str
    kind: str = "done"


class BarShape(msgspec.Struct, frozen=True):
    """One bar of a lane: `kind` is its class, `text` what a hover says, `label` what stands in it where it has room."""

    start: float
    end: float
    kind: str
    text: str
    label: str = ""


def lanes(axis: Axis, rows: Sequence[tuple[str, Sequence[BarShape]]], *, height: float = 16.0) -> str:
    """Bars in named lanes, one below the other."""
    parts = [_vertical_lines(axis, len(rows) * height)]
    for index, (name, bars) in enumerate(rows):
        top = index * height
        parts.append(f'<text class="name" x="{LEFT - 6:g}" y="{top + height - 4:g}">{escape(name)}</text>')
        parts += [_rectangle(axis, bar, top + 1, height - 2) for bar in bars]
    return _picture("".join(parts), len(rows) * height)


def bars(rows: Sequence[Amount], *, height: float = 20.0) -> str:
    """Amounts side by side, one below the other, from zero."""
    most = max((row.value for row in rows), default=0.0) or 1.0
    parts = []
    for index, row in enumerate(rows):
        top, width = index * height, max(_NARROWEST, row.value / most * (WIDTH - NAMES - FIGURES))
        parts.append(f'<text class="name" x="{NAMES - 6:g}" y="{top + height - 6:g}">{escape(row.name)}</text>')
        title = f"<title>{escape(row.name)}: {escape(row.text)}</title>"
        place = f'x="{NAMES:g}" y="{top + 2:g}" width="{width:.1f}" height="{height - 4:g}"'
        parts.append(f'<rect class="{row.kind}" {place}>{title}</rect>')
        parts.append(f'<text x="{NAMES + width + 6:.1f}" y="{top + height - 6:g}">{escape(row.text)}</text>')
    return _framed("".join(parts), len(rows) * height + 6)


def steps(
    axis: Axis, points: Sequence[Point], label: Callable[[float], str], *, height: float = 110.0, kind: str = "area"
) -> str:
    """An area whose height changes at each point and then holds."""
    top = max((value for _, value in points), default=0.0) or 1.0
    path = [f"M{LEFT:g},{height:g}"]
    for index, (time, value) in enumerate(points):
        x, y = axis.x(time), height - value / top * (height - 8)
        path.append(f"V{_before(points, index, top, height):.1f}" if index else f"L{x:.1f},{height:g}")
        path.append(f"H{x:.1f}V{y:.1f}")
    path.append(f"H{axis.x(axis.end):.1f}V{height:g}Z")
    body = _vertical_lines(axis, height) + _scale(top, label, height) + f'<path class="{kind}" d="{"".join(path)}"/>'
    return _picture(body, height)


def lines(
    axis: Axis,
    rows: Sequence[tuple[str, Sequence[Point]]],
    label: Callable[[float], str],
    *,
    height: float = 150.0,
    zero: bool = True,
) -> str:
    """Named curves on one scale, with a gap where a value is no finite number; `zero`: the scale begins there."""
    values = [value for _, points in rows for _, value in points if math.isfinite(value)]
    top = max(values, default=1.0)
    bottom = 0.0 if zero and min(values, default=0.0) >= 0 else min(values, default=0.0)
    span = (top - bottom) or 1.0
    parts = [_vertical_lines(axis, height), _scale(top, label, height, bottom)]
    for index, (name, points) in enumerate(rows):
        for finite, stretch in groupby(points, key=lambda point: math.isfinite(point[1])):
            if finite:
                places = [(axis.x(x), height - (y - bottom) / span * (height - 8)) for x, y in stretch]
                if len(places) == 1:  # a curve of one point is invisible
                    places = [(places[0][0] + aside, places[0][1]) for aside in (-_DASH, _DASH)]
                path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
                title = f"<title>{escape(name)}</title>"
                parts.append(f'<polyline class="line c{index % 8}" points="{path}">{title}</polyline>')
    return _picture("".join(parts), height)


def _before(points: Sequence[Point], index: int, top: float, height: float) -> float:
    return height - points[index - 1][1] / top * (height - 8)


def _rectangle(axis: Axis, bar: BarShape, top: float, height: float) -> str:
    x = axis.x(bar.start)
    width = max(_NARROWEST, axis.x(bar.end) - x)
    drawn = (
        f'<rect class="{bar.kind}" x="{x:.1f}" y="{top:g}" width="{width:.1f}" height="{height:g}">'
        f"<title>{escape(bar.text)}</title></rect>"
    )
    label = _fitting(bar.label, width - _ROOM)
    if not label:
        return drawn
    return f'{drawn}<text class="label" x="{x + _ROOM / 2:.1f}" y="{top + height / 2 + 4:g}">{escape(label)}</text>'


def _fitting(label: str, width: float) -> str:
    """As much of a label as has room; nothing where too little of it would be left to know it by."""
    letters = int(width / _LETTER)
    if len(label) <= letters:
        return label
    return f"{label[: letters - 1]}…" if letters >= 10 else ""


def _vertical_lines(axis: Axis, height: float) -> str:
    parts = []
    for value, text in axis.ticks():
        x = axis.x(value)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height:g}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height + 16:g}">{escape(text)}</text>')
    return "".join(parts)


def _scale(top: float, label: Callable[[float], str], height: float, bottom: float = 0.0) -> str:
    return (
        f'<text class="name" x="{LEFT - 6:g}" y="12">{escape(label(top))}</text>'
        f'<text class="name" x="{LEFT - 6:g}" y="{height:g}">{escape(label(bottom))}</text>'
    )


def _picture(body: str, height: float) -> str:
    return _framed(body, height + AXIS_HEIGHT)


def _framed(body: str, height: float) -> str:
    return f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" preserveAspectRatio="xMinYMin meet">{body}</svg>'


def _time_step(least: float) -> float:
    return (
        next((float(step) for step in _STEPS if step >= least), _round_step(least))
        if least > 0.5
        else (_round_step(least))
    )


def _round_step(least: float) -> float:
    if least <= 0 or not math.isfinite(least):
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
