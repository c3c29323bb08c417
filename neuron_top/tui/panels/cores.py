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
from neuron_top.tui.drawing import Line, bar, rule, short_command, spark, stacked
from neuron_top.tui.look import Theme
from neuron_top.units import bytes_text, duration_text, percent_text
from neuron_top.views.core_rows import CoreRow

COMPACT = 26
"""Cells of a core in the compact form."""
KINDS = (*WORKER_KINDS, *(kind for kind in MEMORY_KINDS if kind not in WORKER_KINDS))


def wish(cores: Sequence[CoreRow]) -> SizeRequest:
    """Title, a line per core, a legend where memory is known by kind."""
    if not cores:
        return SizeRequest(2, 2)
    return SizeRequest(min(3, 1 + len(cores)), 1 + len(cores) + bool(legend_kinds(cores)), len(cores), COMPACT)


def cores_panel(look: Theme, cores: Sequence[CoreRow], now: float, width: int, height: int) -> list[Strip]:
    """The panel; when the cores are more than the lines, several stand side by side."""
    title = rule(look, width, "Cores", _summary(cores, now))
    if not cores:
        return [
            title,
            Line(look, width).put("No core reports yet: no worker process and no device was seen.", look.quiet).strip(),
        ]
    kinds = legend_kinds(cores)
    scale = memory_scale(cores)
    room = height - 1
    legend = [legend_line(look, cores, kinds, width)] if kinds and len(cores) < room else []
    room -= len(legend)
    if len(cores) <= room:
        return [title, *(core_line(look, core, kinds, scale, width) for core in cores), *legend]
    return [title, *_compact(look, cores, scale, width, room)]


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
    local = all(core.kind == "local" for core in cores)
    words = [f"{len(cores)} {'worker' if local else 'core'}{'' if len(cores) == 1 else 's'}"]
    stale = [core.sampled for core in cores if core.stale]
    if stale:
        newest = max((time for time in stale if time is not None), default=None)
        words.append(f"no data for {duration_text(now - newest)}" if newest is not None else "no data yet")
    scale = memory_scale(cores)
    if scale.relative:
        words.append(f"full bar = {bytes_text(scale.bytes)}, the largest peak")
    return " · ".join(words)


def core_line(look: Theme, core: CoreRow, kinds: Sequence[str], scale: Scale, width: int) -> Strip:
    """One core on one line; what does not fit is left out from the right."""
    quiet = core.stale
    line = Line(look, width)
    line.put(f"{core.core}", look.quiet if quiet else look.strong, 3, right=True).gap()
    line.put(f"r{core.rank}" if core.rank is not None else "", look.quiet, 4)
    free = width - 8 - 7 - 10 - 4
    size = max(6, min(30, free // 4))
    line.add(bar(look, core.utilization, size, look.faint if quiet else None)).gap()
    line.put("stale" if quiet else percent_text(core.utilization), look.quiet, 6, right=True).gap()
    line.add(memory_bar(look, core, kinds, scale, size)).gap()
    line.put(bytes_text(core.memory), look.quiet if quiet else look.load(used_share(core)), 9, right=True).gap()
    trend = min(60, max(0, width - line.used - (24 if width >= 130 else 0)))
    line.put(spark(look, core.trend, trend, top=1.0), look.faint if quiet else look.accent).gap()
    if width >= 130:
        line.put(f"{core.pid if core.pid is not None else ''} {short_command(core.process)}".strip(), look.quiet)
    return line.strip()


def used_share(core: CoreRow) -> float | None:
    """Used share of the capacity, None where it is unknown."""
    return None if core.headroom is None else 1 - core.headroom


def memory_bar(look: Theme, core: CoreRow, kinds: Sequence[str], scale: Scale, width: int) -> list[tuple[str, Style]]:
    """Memory stacked by kind against the capacity, with the peak's mark."""
    if core.memory is None:
        return bar(look, None, width)
    whole = core.capacity or scale.bytes
    peak = core.peak / whole if core.peak is not None else None
    if core.stale:
        return stacked(look, [(core.memory / whole, look.faint)], width, peak)
    parts = kind_parts(look, core, kinds, whole)
    told = sum(share for share, _ in parts)
    style = look.quiet if parts else look.kinds[0] if core.capacity is None else memory_style(look, core.memory / whole)
    return stacked(look, [*parts, (max(0.0, core.memory / whole - told), style)], width, peak)


def memory_style(look: Theme, share: float) -> Style:
    """Memory without kinds: calm, then a warning, as `Theme.load` draws the line."""
    return look.kinds[0] if share < 0.85 else look.load(share)


def kind_parts(look: Theme, core: CoreRow, kinds: Sequence[str], whole: int) -> list[tuple[float, Style]]:
    """Shares of the whole by kind, in the legend's colors."""
    return [
        (core.kinds[kind] / whole, kind_style(look, index)) for index, kind in enumerate(kinds) if core.kinds.get(kind)
    ]


def kind_style(look: Theme, index: int) -> Style:
    """The color of the kind at this place of the legend."""
    return look.kinds[index % len(look.kinds)]


def legend_line(look: Theme, cores: Sequence[CoreRow], kinds: Sequence[str], width: int) -> Strip:
    """Which color is which kind, with the sum over all cores where there is room."""
    line = Line(look, width).put("memory", look.quiet).gap()
    names = [kind.replace("_", " ") for kind in kinds]
    sums = [bytes_text(sum(core.kinds.get(kind, 0) for core in cores)) for kind in kinds]
    texts = [f"{name} {total}" for name, total in zip(names, sums, strict=True)]
    if sum(len(text) + 4 for text in texts) > line.left:
        texts = names
    for index, text in enumerate(texts):
        if line.left < len(text) + 4:
            break
        sign = look.glyphs.shades[index % len(look.glyphs.shades)] if look.palette.text is None else look.glyphs.bar
        line.gap().put(sign, kind_style(look, index)).gap().put(text, look.quiet)
    return line.strip()


def _compact(look: Theme, cores: Sequence[CoreRow], scale: Scale, width: int, room: int) -> list[Strip]:
    across = max(1, min(width // COMPACT, -(-len(cores) // max(1, room))))
    size = width // across
    fits = len(cores) if across * room >= len(cores) else across * room - 1
    down = -(-fits // across)
    strips = []
    for row in range(down):
        line = Line(look, width)
        for column in range(across):
            index = column * down + row
            if index < fits:
                _compact_core(line, cores[index], scale, size - 1)
            line.to((column + 1) * size)
        strips.append(line.strip())
    if fits < len(cores):
        last = Line(look, width).put(f"and {len(cores) - fits} more: 2 shows all", look.quiet).strip()
        strips = [*strips[: room - 1], last]
    return strips


def _compact_core(line: Line, core: CoreRow, scale: Scale, width: int) -> None:
    look, start = line.look, line.used
    line.put(f"{core.core}", look.quiet if core.stale else look.strong, 3, right=True).gap()
    size = max(4, (width - 20) // 2)
    line.add(bar(look, core.utilization, size, look.faint if core.stale else None)).gap()
    line.put("stale" if core.stale else percent_text(core.utilization), look.quiet, 5, right=True).gap()
    if start + width - line.used >= 9 + 4:
        line.add(memory_bar(look, core, (), scale, start + width - line.used - 10)).gap()
    line.put(bytes_text(core.memory), look.quiet, max(0, min(9, start + width - line.used)), right=True)
