"""Cores by device as lines: one glyph a core, outliers marked, the worst five named. 128 cores fit on one screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import Line, bar
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, counted, percent_text
from neuron_top.views.core_metrics import MEMORY
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.device_map import DeviceMap, DeviceStrip, metric_of, share_of

GAP = 1
NUMBERS = 6
"""Cells of a strip's share."""
LEAST_BAR, MOST_BAR = 8, 40
"""Cells of a bar of memory."""
ERRORS = 13
"""Cells for the number of errors."""
FULL = 0.85
"""Share of its memory from which on a core or a device is drawn as full."""


def device_lines(view: DeviceMap, width: int, most: int) -> int:
    """Lines for all devices and the worst cores, in as many columns as it takes to need at most so many."""
    lines = -(-len(view.strips) // max(1, min(_most_across(view, width), -(-len(view.strips) // max(1, most)))))
    return lines + bool(view.worst)


def device_rows(theme: Theme, view: DeviceMap, width: int, height: int) -> list[Strip]:
    """The devices, in as many columns as their number needs, then the worst cores on one line."""
    worst = [_worst(theme, view, width)] if view.worst and height > 1 else []
    room = max(1, height - len(worst))
    across = max(1, min(_most_across(view, width), -(-len(view.strips) // room)))
    size = (width + GAP) // across - GAP
    down = min(room, -(-len(view.strips) // across))
    memory = _memory_column(view, size)
    strips = []
    for row in range(down):
        line = Line(theme, width)
        for column in range(across):
            index = column * down + row
            if index < len(view.strips):
                _device(line, view, view.strips[index], size, memory)
            line.to((column + 1) * (size + GAP))
        strips.append(line.strip())
    hidden = len(view.strips) - down * across
    if hidden > 0:
        hidden += across
        strips[-1] = Line(theme, width).put(f"and {hidden} more devices: 2 shows all", theme.quiet).strip()
    return [*strips, *worst]


def _most_across(view: DeviceMap, width: int) -> int:
    """Columns that fit when a device shows its name, its glyphs, its share and the outlier's mark."""
    return max(1, (width + GAP) // (_fixed_cells(view) + GAP))


def _fixed_cells(view: DeviceMap) -> int:
    """Cells of what every device shows: its name, its glyphs, its share and the outlier's mark."""
    glyphs = max((len(strip.rows) for strip in view.strips), default=1)
    return _name_cells(view) + 1 + glyphs + 1 + NUMBERS


def _name_cells(view: DeviceMap) -> int:
    return min(18, max((len(strip.name) for strip in view.strips), default=2))


class _MemoryColumn(NamedTuple):
    """How the memory of a device is written: text, width and bar are the same for all devices."""

    text: Callable[[DeviceStrip], str]
    longest: int
    """Cells of the longest text."""
    bar: int
    """Cells of the bar behind it; 0 is none."""


def _device(line: Line, view: DeviceMap, strip: DeviceStrip, size: int, memory: _MemoryColumn | None) -> None:
    theme, start = line.theme, line.used
    line.put(strip.name, theme.quiet, _name_cells(view)).gap()
    glyphs = max(len(each.rows) for each in view.strips)
    line.column([core_glyph(theme, view, row) for row in strip.rows], min(glyphs, size)).gap()
    odd = any(row.key in view.outliers for row in strip.rows)
    text = "stale" if strip.stale else percent_text(strip.share)
    line.put(text, theme.faint if strip.stale else theme.warn if odd else theme.text, NUMBERS - 1, right=True)
    line.put("!" if odd else " ", theme.warn)
    if memory is not None:
        text = memory.text(strip)
        line.gap().put(text, theme.quiet)
        if memory.bar and strip.memory is not None and strip.capacity:
            share = strip.memory / strip.capacity
            line.gap(1 + memory.longest - len(text)).add(bar(theme, share, memory.bar, _fill_style(theme, share)))
    if strip.errors and size - (line.used - start) >= ERRORS:
        line.gap().put(f"{theme.glyphs.failed} {counted(strip.errors, 'error')}", theme.bad)


def _memory_column(view: DeviceMap, size: int) -> _MemoryColumn | None:
    """`17.3 of 24 GiB` and a bar where that fits on every device, else what is used where that does; else nothing."""
    room = size - _fixed_cells(view) - 1
    if room < 1:
        return None
    for text in (_used_of, _used):
        longest = max((len(text(strip)) for strip in view.strips), default=0)
        if 0 < longest <= room:
            free = room - longest - 1 - (ERRORS if any(strip.errors for strip in view.strips) else 0)
            known = text is _used_of and all(strip.memory is not None and strip.capacity for strip in view.strips)
            return _MemoryColumn(text, longest, min(free, MOST_BAR) if known and free >= LEAST_BAR else 0)
    return None


def _used(strip: DeviceStrip) -> str:
    return bytes_text(strip.memory) if strip.memory is not None else ""


def _used_of(strip: DeviceStrip) -> str:
    return (
        f"{_used(strip)} of {bytes_text(strip.capacity)}"
        if strip.memory is not None and strip.capacity
        else _used(strip)
    )


def core_glyph(theme: Theme, view: DeviceMap, row: CoreRow) -> tuple[str, Style]:
    """One core: its height is its share; faint where it is old, a mark where it is unknown, warned as an outlier."""
    share = share_of(metric_of(view.metric), row)
    if share is None:
        return "?", theme.faint
    steps = theme.glyphs.spark
    glyph = theme.glyphs.track if share < 0.005 else steps[min(len(steps) - 1, max(0, int(share * len(steps))))]
    if row.stale:
        return glyph, theme.faint
    if row.key in view.outliers:
        return glyph, theme.warn + Style(bold=True, reverse=share >= 0.5 or None)
    return glyph, _fill_style(theme, share) if view.metric == MEMORY.name else theme.accent


def _fill_style(theme: Theme, share: float) -> Style:
    """The color of a memory filled to this share: a warning only when it is nearly full."""
    return theme.load(share) if share >= FULL else theme.accent


def _worst(theme: Theme, view: DeviceMap, width: int) -> Strip:
    line = Line(theme, width).put("worst", theme.warn)
    for worst in view.worst:
        what = "" if worst.metric == view.metric else f" {metric_of(worst.metric).title}"
        text = f"{worst.name}{what} {worst.text}"
        if line.left > len(text) + 2:
            line.gap(2).put(text, theme.text)
    typical = metric_of(view.worst[0].metric).title
    text = f"(median {typical} {view.worst[0].typical})"
    return line.gap(2).put(text, theme.quiet).strip() if line.left > len(text) + 2 else line.strip()
