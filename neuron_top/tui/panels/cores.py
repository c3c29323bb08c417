"""Cores as lines: utilization and memory as bars, the last minutes as a sparkline.

Memory is drawn against the core's capacity; where that is unknown (a worker on a plain host has no limit of its own),
against the largest peak of all cores, and the title says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from neuron_top.events import MEMORY_KINDS, WORKER_KINDS
from neuron_top.tui.arrange import SizeRequest
from neuron_top.tui.drawing import Line, bar, rule, safe, short_command, spark, stacked
from neuron_top.tui.theme import Theme
from neuron_top.units import bytes_text, duration_text, percent_text
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.model import CoreKind

COMPACT = 26
"""Cells of a core in the compact form."""
KINDS = (*WORKER_KINDS, *(kind for kind in MEMORY_KINDS if kind not in WORKER_KINDS))


def size_request(cores: Sequence[CoreRow]) -> SizeRequest:
    """Title, a line per core, a legend where memory is known by kind."""
    if not cores:
        return SizeRequest(2, 2)
    return SizeRequest(min(3, 1 + len(cores)), 1 + len(cores) + bool(legend_kinds(cores)), len(cores), COMPACT)


def cores_panel(
    theme: Theme, cores: Sequence[CoreRow], now: float, width: int, height: int, absent: Sequence[str] = ()
) -> list[Strip]:
    """The panel; when the cores are more than the lines, several stand side by side. `absent`: why there are none."""
    title = rule(theme, width, "Cores", _summary(cores, now))
    if not cores:
        text = "No core reports yet: no worker process and no device was seen."
        text += f" {safe('; '.join(absent))}" if absent else ""
        return [title, Line(theme, width).put(text, theme.quiet).strip()]
    kinds = legend_kinds(cores)
    scale = memory_scale(cores)
    room = height - 1
    legend = [legend_line(theme, cores, kinds, width)] if kinds and len(cores) < room else []
    room -= len(legend)
    if len(cores) <= room:
        return [title, *(core_line(theme, core, kinds, scale, width) for core in cores), *legend]
    return [title, *_compact(theme, cores, scale, width, room)]


class Scale(NamedTuple):
    """What a full memory bar stands for; `relative` when it is the largest peak and no capacity."""

    bytes: int
    relative: bool


def memory_scale(cores: Sequence[CoreRow]) -> Scale:
    """The scale for cores without a capacity of their own."""
    largest = max((core.peak or core.memory or 0 for core in cores), default=0)
    return Scale(largest or 1, any(core.capacity is None and core.memory is not None for core in cores))


def legend_kinds(cores: Sequence[CoreRow]) -> list[str]:
    """The kinds of memory that any core tells, in their fixed order."""
    told = {kind for core in cores for kind in core.kinds}
    return [kind for kind in KINDS if kind in told] + sorted(told.difference(KINDS))


def _summary(cores: Sequence[CoreRow], now: float) -> str:
    if not cores:
        return ""
    local = all(core.kind is CoreKind.LOCAL for core in cores)
    words = [f"{len(cores)} {'worker' if local else 'core'}{'' if len(cores) == 1 else 's'}"]
    stale = [core.sampled for core in cores if core.stale]
    if stale:
        newest = max((time for time in stale if time is not None), default=None)
        words.append(f"no data for {duration_text(now - newest)}" if newest is not None else "no data yet")
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
    free = width - 8 - 7 - 10 - 4
    size = max(6, min(30, free // 4))
    line.add(bar(theme, core.utilization, size, theme.faint if quiet else None)).gap()
    line.put("stale" if quiet else percent_text(core.utilization), theme.quiet, 6, right=True).gap()
    line.add(memory_bar(theme, core, kinds, scale, size)).gap()
    line.put(bytes_text(core.memory), theme.quiet if quiet else theme.load(used_share(core)), 9, right=True).gap()
    trend = min(60, max(0, width - line.used - (24 if width >= 130 else 0)))
    line.put(spark(theme, core.trend, trend, top=1.0), theme.faint if quiet else theme.accent).gap()
    if width >= 130:
        line.put(f"{core.pid if core.pid is not None else ''} {short_command(core.process)}".strip(), theme.quiet)
    return line.strip()


def used_share(core: CoreRow) -> float | None:
    """Used share of the capacity, None where it is unknown."""
    return None if core.headroom is None else 1 - core.headroom


def memory_bar(theme: Theme, core: CoreRow, kinds: Sequence[str], scale: Scale, width: int) -> list[tuple[str, Style]]:
    """Memory stacked by kind against the capacity, with the peak's mark."""
    if core.memory is None:
        return bar(theme, None, width)
    whole = core.capacity or scale.bytes
    peak = core.peak / whole if core.peak is not None else None
    if core.stale:
        return stacked(theme, [(core.memory / whole, theme.faint)], width, peak)
    parts = kind_parts(theme, core, kinds, whole)
    by_kind = sum(share for share, _ in parts)
    style = theme.kinds[0] if core.capacity is None else memory_style(theme, core.memory / whole)
    rest = max(0.0, core.memory / whole - by_kind), theme.quiet if parts else style
    return stacked(theme, [*parts, rest], width, peak)


def memory_style(theme: Theme, share: float) -> Style:
    """Memory without kinds: calm, then a warning, as `Theme.load` draws the line."""
    return theme.kinds[0] if share < 0.85 else theme.load(share)


def kind_parts(theme: Theme, core: CoreRow, kinds: Sequence[str], whole: int) -> list[tuple[float, Style]]:
    """Shares of the whole by kind, in the legend's colors."""
    return [
        (core.kinds[kind] / whole, kind_style(theme, index)) for index, kind in enumerate(kinds) if core.kinds.get(kind)
    ]


def kind_style(theme: Theme, index: int) -> Style:
    """The color of the kind at this place of the legend."""
    return theme.kinds[index % len(theme.kinds)]


def legend_line(theme: Theme, cores: Sequence[CoreRow], kinds: Sequence[str], width: int) -> Strip:
    """Which color is which kind, with the sum over all cores where there is room."""
    line = Line(theme, width).put("memory", theme.quiet).gap()
    names = [kind.replace("_", " ") for kind in kinds]
    sums = [bytes_text(sum(core.kinds.get(kind, 0) for core in cores)) for kind in kinds]
    texts = [f"{name} {total}" for name, total in zip(names, sums, strict=True)]
    if sum(len(text) + 4 for text in texts) > line.left:
        texts = names
    for index, text in enumerate(texts):
        if line.left < len(text) + 4:
            break
        sign = theme.glyphs.shades[index % len(theme.glyphs.shades)] if theme.palette.text is None else theme.glyphs.bar
        line.gap().put(sign, kind_style(theme, index)).gap().put(text, theme.quiet)
    return line.strip()


def _compact(theme: Theme, cores: Sequence[CoreRow], scale: Scale, width: int, room: int) -> list[Strip]:
    across = max(1, min(width // COMPACT, -(-len(cores) // max(1, room))))
    size = width // across
    fits = len(cores) if across * room >= len(cores) else across * room - 1
    down = -(-fits // across)
    strips = []
    for row in range(down):
        line = Line(theme, width)
        for column in range(across):
            index = column * down + row
            if index < fits:
                _compact_core(line, cores[index], scale, size - 1)
            line.to((column + 1) * size)
        strips.append(line.strip())
    if fits < len(cores):
        last = Line(theme, width).put(f"and {len(cores) - fits} more: 2 shows all", theme.quiet).strip()
        strips = [*strips[: room - 1], last]
    return strips


def _compact_core(line: Line, core: CoreRow, scale: Scale, width: int) -> None:
    theme, start = line.theme, line.used
    line.put(f"{core.core}", theme.quiet if core.stale else theme.strong, 3, right=True).gap()
    size = max(4, (width - 20) // 2)
    line.add(bar(theme, core.utilization, size, theme.faint if core.stale else None)).gap()
    line.put("stale" if core.stale else percent_text(core.utilization), theme.quiet, 5, right=True).gap()
    if start + width - line.used >= 9 + 4:
        line.add(memory_bar(theme, core, (), scale, start + width - line.used - 10)).gap()
    line.put(bytes_text(core.memory), theme.quiet, max(0, min(9, start + width - line.used)), right=True)
