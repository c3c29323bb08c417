"""Cores as lines: utilization and memory as bars, the last minutes as a sparkline.

Memory is drawn against the core's capacity; where that is unknown (a worker on a plain host has no limit of its own),
against the largest peak of all cores, and the title says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import (
    SMALL,
    BarPart,
    Line,
    bar,
    cells_by_largest_remainder,
    rule,
    short_command,
    spark,
    stacked,
)
from neuron_top.tui.panels.device_rows import device_rows
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, percent_text
from neuron_top.views.colors import Hue
from neuron_top.views.core_rows import CoreRow, cores_text, legend_kinds, silence_text
from neuron_top.views.device_map import ROW, device_map, summary_text

MANY = 16
"""More cores than this are drawn by device, with a glyph for each."""
ACROSS = 3
"""Devices side by side on a narrow screen."""
DEVICE = 22
"""Cells of a device with eight cores: name, glyphs, share."""


def size_request(cores: Sequence[CoreRow]) -> SizeRequest:
    """Title, a line per core, a legend where memory is known by kind; of many cores a line per device."""
    if not cores:
        return SizeRequest(0, 0)
    devices = {
        (core.node, core.device) if core.device is not None else place // ROW for place, core in enumerate(cores)
    }
    if len(cores) <= MANY:
        least = min(3, 1 + -(-len(devices) // ACROSS))
        has_legend = bool(legend_kinds(cores)) and not all(core.stale for core in cores)
        return SizeRequest(least, 1 + len(cores) + has_legend, len(cores), DEVICE)
    return SizeRequest(6, 2 + len(devices), 1 + len(devices), DEVICE)


def cores_panel(theme: Theme, cores: Sequence[CoreRow], now: float, width: int, height: int) -> list[Strip]:
    """The panel; many cores stand by device."""
    title = rule(theme, width, "Cores", _summary(cores, now))
    kinds = legend_kinds(cores)
    scale = memory_scale(cores)
    room = height - 1
    drawn = drawn_kinds(theme, cores, kinds, scale, _bar_widths(width)[1])
    legend = [legend_line(theme, cores, drawn, width)] if drawn and len(cores) < room else []
    room -= len(legend)
    if len(cores) <= min(room, MANY):
        return [title, *(core_line(theme, core, kinds, scale, width) for core in cores), *legend]
    view = device_map(cores, now)
    return [
        rule(theme, width, "Cores", f"{cores_text(cores)} · {summary_text(view)}"),
        *device_rows(theme, view, width, height - 1),
    ]


class Scale(NamedTuple):
    """What a full memory bar stands for; `relative` when it is the largest peak and no capacity."""

    bytes: int
    relative: bool


def memory_scale(cores: Sequence[CoreRow]) -> Scale:
    """The scale for cores without a capacity of their own."""
    largest = max((core.peak or core.memory or 0 for core in cores), default=0)
    return Scale(largest or 1, any(core.capacity is None and core.memory is not None for core in cores))


def _summary(cores: Sequence[CoreRow], now: float) -> str:
    if not cores:
        return ""
    words = [cores_text(cores)]
    if silence := silence_text(cores, now):
        words.append(silence)
    scale = memory_scale(cores)
    if scale.relative:
        words.append(f"full bar = {bytes_text(scale.bytes)}, the largest peak")
    return " · ".join(words)


def core_line(theme: Theme, core: CoreRow, kinds: Sequence[str], scale: Scale, width: int) -> Strip:
    """One core on one line; what does not fit is left out from the right."""
    quiet = core.stale
    line = Line(theme, width)
    line.put(f"{core.core}", theme.quiet if quiet else theme.strong, 3, right=True).gap()
    line.put(f"r{core.rank}" if core.rank is not None else "", theme.quiet, 4)
    use, memory = _bar_widths(width)
    line.add(bar(theme, core.utilization, use, theme.faint if quiet else None)).gap()
    line.put(use_text(core), theme.quiet, 6, right=True).gap()
    line.add(memory_bar(theme, core, kinds, scale, memory)).gap()
    line.put(bytes_text(core.memory), theme.quiet if quiet else theme.load(used_share(core)), 9, right=True).gap()
    trend = min(60, max(0, width - line.used - (24 if width >= 130 else 0)))
    line.put(spark(theme, core.trend, trend, top=1.0), theme.faint if quiet else theme.accent).gap()
    if width >= 130:
        line.put(f"{core.pid if core.pid is not None else ''} {short_command(core.process)}".strip(), theme.quiet)
    return line.strip()


def use_text(core: CoreRow) -> str:
    """How busy a core is, or why that is unknown."""
    return "ended" if core.ended else "stale" if core.stale else percent_text(core.utilization)


def _bar_widths(width: int) -> tuple[int, int]:
    """Cells of a core's bars of utilization and of memory, whose kinds are distinguished from SMALL cells on."""
    free = width - 8 - 7 - 10 - 4
    size = max(6, min(30, free // 4))
    return size, max(size, SMALL) if free >= 2 * SMALL + size else size


def used_share(core: CoreRow) -> float | None:
    """Used share of the capacity; None if unknown."""
    return None if core.headroom is None else 1 - core.headroom


def memory_bar(theme: Theme, core: CoreRow, kinds: Sequence[str], scale: Scale, width: int) -> list[tuple[str, Style]]:
    """Memory stacked by kind against the capacity, with the peak's mark."""
    if core.memory is None:
        return bar(theme, None, width)
    whole = core.capacity or scale.bytes
    peak = core.peak / whole if core.peak is not None else None
    if core.stale:
        return stacked(theme, [BarPart(core.memory / whole, theme.faint)], width, peak)
    parts = kind_parts(theme, core, kinds, whole)
    by_kind = sum(part.share for part in parts)
    style = theme.hues[Hue.BLUE] if core.capacity is None else memory_style(theme, core.memory / whole)
    rest = BarPart(max(0.0, core.memory / whole - by_kind), theme.memory("unattributed") if parts else style)
    return stacked(theme, [*parts, rest], width, peak)


def memory_style(theme: Theme, share: float) -> Style:
    """Memory without kinds: calm, then a warning, as `Theme.load` draws the line."""
    return theme.hues[Hue.BLUE] if share < 0.85 else theme.load(share)


def kind_parts(theme: Theme, core: CoreRow, kinds: Sequence[str], whole: int) -> list[BarPart]:
    """Shares of the whole by kind, in the colors that kinds have everywhere."""
    return [kind_part(theme, kind, core.kinds[kind] / whole) for kind in kinds if core.kinds.get(kind)]


def kind_part(theme: Theme, kind: str, share: float) -> BarPart:
    """A kind of memory as a part of a bar."""
    return BarPart(share, theme.memory(kind), theme.memory_glyph(kind))


def drawn_kinds(
    theme: Theme, cores: Sequence[CoreRow], kinds: Sequence[str], scale: Scale, width: int
) -> tuple[str, ...]:
    """The kinds that have a cell in a bar of this width; a stale bar shows none of them."""
    if width < SMALL:
        return ()
    cells = dict.fromkeys(kinds, 0)
    for core in cores:
        if core.stale or core.memory is None:
            continue
        whole = core.capacity or scale.bytes
        own = [kind for kind in kinds if core.kinds.get(kind)]
        shares = [core.kinds[kind] / whole for kind in own]
        shares.append(max(0.0, core.memory / whole - sum(shares)))
        for kind, count in zip(own, cells_by_largest_remainder(shares, width), strict=False):
            cells[kind] += count
    return tuple(kind for kind, count in cells.items() if count)


def legend_line(theme: Theme, cores: Sequence[CoreRow], kinds: Sequence[str], width: int) -> Strip:
    """Which color is which kind, in the order of the bars, with the sum over all cores where there is room.

    If there is no room for all, the smallest are left out.
    """
    line = Line(theme, width).put("memory", theme.quiet).gap()
    sums = {kind: sum(core.kinds.get(kind, 0) for core in cores) for kind in kinds}
    names = {kind: kind.removeprefix("model_shared_").replace("_", " ") for kind in sums}
    texts = {kind: f"{name} {bytes_text(sums[kind])}" for kind, name in names.items()}
    if _legend_cells(texts) > line.left:
        texts = names
    for smallest in sorted(sums, key=sums.__getitem__):
        if _legend_cells(texts) <= line.left:
            break
        del texts[smallest]
    for kind, text in texts.items():
        line.gap().put(theme.memory_glyph(kind), theme.memory(kind)).gap().put(text, theme.quiet)
    return line.strip()


def _legend_cells(texts: Mapping[str, str]) -> int:
    """A blank, the sign and another blank before each."""
    return sum(len(text) + 3 for text in texts.values())
