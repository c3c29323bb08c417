"""The cores screen's rows, its host line, out-of-memory tables and a core's page, as lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from rich.style import Style
from textual.strip import Strip

from neuron_top.tui.drawing import (
    BarPart,
    Line,
    bar,
    chart,
    downsample,
    fact,
    rule,
    short_command,
    spark,
    stacked,
    without_backticks,
)
from neuron_top.tui.panels.cores import Scale, kind_part, memory_bar, use_text, used_share
from neuron_top.tui.theme import Theme
from neuron_top.tui.widgets.table import Cell, Column
from neuron_top.units import bytes_text, count_text, counted, duration_text, percent_text
from neuron_top.views.colors import Hue
from neuron_top.views.core_metrics import CORE_METRICS, MEMORY, UTILIZATION, CoreMetric, reported
from neuron_top.views.core_rows import CoreRow, cores_text
from neuron_top.views.cores import CorePage, CoreTable, DeviceGroup, machine_words, visible_words
from neuron_top.views.gaps import with_gaps


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table: the head of a group, or a core with the scale and the kinds that its bar is drawn with."""

    key: str
    place: tuple[int, bool] = (0, True)
    """Sort key: the group's place in the view, then whether the row is below the group's head."""
    group: DeviceGroup | None = None
    folded: bool = False
    core: CoreRow | None = None
    kinds: tuple[str, ...] = ()
    scale: Scale = Scale(1, False)


def items(view: CoreTable, kinds: Sequence[str], scale: Scale, folded: frozenset[str], grouped: bool) -> list[Item]:
    """Rows in their order: cores below the head of their group, when there are several groups and no other order."""
    rows: list[Item] = []
    heads = grouped and len(view.groups) > 1
    for index, group in enumerate(view.groups):
        key = f"{group.node}/{group.kind}/{group.name}"
        place = (index if heads else 0, True)
        if heads:
            head = Item(key=key, place=(index, False), group=group, folded=key in folded, kinds=tuple(kinds))
            rows.append(head)
        if not heads or key not in folded:
            rows += [Item(key=core.key, place=place, core=core, kinds=tuple(kinds), scale=scale) for core in group.rows]
    return rows


def filter_text(item: Item) -> str:
    """The text for filters, and for copying with `y`."""
    core = item.core
    if core is None:
        return item.group.name if item.group is not None else ""
    pid = f"{core.pid or ''}"
    words = (
        f"core {core.core}",
        f"device {core.device}" if core.device is not None else "",
        _rank(core),
        core.node,
        core.process,
        pid,
        percent_text(core.utilization),
        bytes_text(core.memory),
        " ".join(core.models),
        use_text(core) if core.stale else "",
    )
    return " ".join(word for word in words if word)


def _rank(core: CoreRow) -> str:
    return f"r{core.rank}" if core.rank is not None else ""


def _head(group: DeviceGroup, folded: bool, theme: Theme) -> Cell:
    sign = "+" if folded else "-"
    return [(f"{sign} {group.name}", theme.title)]


def _errors(item: Item, theme: Theme, width: int) -> Cell:
    count = sum(item.group.errors.values()) if item.group is not None else 0
    return [(count_text(count), theme.bad)] if count else []


def _name(item: Item, theme: Theme, width: int) -> Cell:
    if item.group is not None:
        return _head(item.group, item.folded, theme)
    core = item.core
    return [] if core is None else [(f"  {core.core}", theme.quiet if core.stale else theme.strong)]


def _of_core(draw: Callable[[CoreRow, Theme, int], Cell]) -> Callable[[Item, Theme, int], Cell]:
    return lambda item, theme, width: draw(item.core, theme, width) if item.core is not None else []


def _use(item: Item, theme: Theme, width: int) -> Cell:
    row = item.core or item.group
    return bar(theme, row.utilization, width, theme.faint if row.stale else None) if row is not None else []


def _percent(item: Item, theme: Theme, width: int) -> Cell:
    if item.core is not None:
        return [(use_text(item.core), theme.text)]
    group = item.group
    return [(_group_text(group), theme.quiet)] if group is not None else []


def _group_text(group: DeviceGroup) -> str:
    return use_text(group.rows[0]) if group.stale else percent_text(group.utilization)


def _memory(item: Item, theme: Theme, width: int) -> Cell:
    if item.core is not None:
        return memory_bar(theme, item.core, item.kinds, item.scale, width)
    group = item.group
    if group is None or group.memory is None or not group.capacity:
        return [("", theme.quiet)]
    if group.stale:
        return bar(theme, group.memory / group.capacity, width, theme.faint)
    sums = {kind: sum(core.kinds.get(kind, 0) for core in group.rows) for kind in item.kinds}
    parts = [kind_part(theme, kind, size / group.capacity) for kind, size in sums.items() if size]
    style = theme.memory("unattributed") if parts else theme.hues[Hue.BLUE]
    rest = max(0.0, (group.memory - sum(sums.values())) / group.capacity)
    return stacked(theme, [*parts, BarPart(rest, style)], width)


def _bytes(item: Item, theme: Theme, width: int) -> Cell:
    if item.core is None:
        return [(bytes_text(item.group.memory if item.group is not None else None), theme.quiet)]
    return [(bytes_text(item.core.memory), theme.load(used_share(item.core)))]


def _text(text: Callable[[CoreRow], str]) -> Callable[[Item, Theme, int], Cell]:
    return _of_core(lambda core, theme, width: [(text(core), theme.quiet)])


def _by(value: Callable[[CoreRow], float | str | None]) -> Callable[[Item], float | str | None]:
    return lambda item: value(item.core) if item.core is not None else None


def _trend(core: CoreRow, theme: Theme, width: int) -> Cell:
    return [(spark(theme, core.trend, width, top=1.0), theme.faint if core.stale else theme.accent)]


_DRAWN = {UTILIZATION: _percent, MEMORY: _bytes}
"""Metrics that a head of a group has too, or that are colored by how much they are."""


def _metric(metric: CoreMetric) -> Column:
    return Column(
        metric.column,
        metric.column_width,
        _DRAWN.get(metric) or _text(metric.text),
        _by(metric.value) if metric.is_sorted else None,
        True,
        least=metric.least_width,
        down=True,
    )


METRIC_COLUMNS = {metric: _metric(metric) for metric in CORE_METRICS if metric.column}
COLUMNS = (
    Column("Core", 12, _name, _by(lambda core: core.core)),
    Column("Rank", 5, _text(_rank), _by(lambda core: core.rank)),
    Column("Use", 12, _use, None, grow=1, least=66),
    METRIC_COLUMNS[UTILIZATION],
    Column("Memory", 14, _memory, None, grow=2),
    *(column for metric, column in METRIC_COLUMNS.items() if metric is not UTILIZATION and not metric.is_optional),
    Column("Last minute", 12, _of_core(_trend), None, grow=2, least=76),
    Column("PID", 8, _text(lambda core: f"{core.pid or ''}"), _by(lambda core: core.pid), True, least=120),
    Column("Process", 14, _text(lambda core: short_command(core.process)), _by(lambda core: core.process), least=120,
           grow=2),
    Column("Model", 16, _text(lambda core: " ".join(core.models)), None, grow=1, least=160),
)  # fmt: skip


ERRORS = Column("HW err", 7, _errors, None, True)
"""A device's hardware errors, in the head of its cores; only where a device reported any."""


def columns(view: CoreTable) -> tuple[Column, ...]:
    """The columns for these cores; those that only some sources report are at the end, if any does."""
    cores = [row for group in view.groups for row in group.rows]
    optional = reported([metric for metric in METRIC_COLUMNS if metric.is_optional], cores)
    errors = (ERRORS,) if len(view.groups) > 1 and _hardware_errors(view) else ()
    return (*COLUMNS, *(METRIC_COLUMNS[metric] for metric in optional), *errors)


def _hardware_errors(view: CoreTable) -> int:
    return sum(sum(group.errors.values()) for group in view.groups)


def host_lines(view: CoreTable) -> int:
    """The title, and a line for the host when anything is known of it."""
    return 1 + bool(view.host.cpu is not None or view.host.memory_used is not None or machine_words(view))


def host_panel(theme: Theme, view: CoreTable, width: int, height: int) -> list[Strip]:
    """The host, the machine's kind, executions and latency, on a line below the title."""
    rows = [row for group in view.groups for row in group.rows]
    stale = sum(row.stale and not row.ended for row in rows)
    errors = _hardware_errors(view)
    words = (
        cores_text(rows),
        f"{stale} stale" if stale else "",
        counted(errors, "hardware error") if errors else "",
    )
    summary = " · ".join(filter(None, words))
    if host_lines(view) == 1:
        return [rule(theme, width, "Cores", summary)]
    line = Line(theme, width).put("host", theme.quiet).gap()
    host = view.host
    faint, plain = (theme.faint, theme.quiet) if host.stale else (None, theme.text)
    if host.cpu is not None:
        line.add(bar(theme, host.cpu, 10, faint)).gap().put(percent_text(host.cpu), plain, 6, right=True).gap(2)
    if host.memory_used is not None:
        share = host.memory_used / host.memory_total if host.memory_total else None
        style = theme.load(share) if share is not None and share >= 0.85 else theme.hues[Hue.BLUE]
        line.add(bar(theme, share, 10, faint or style)).gap()
        line.put(f"{bytes_text(host.memory_used)} of {bytes_text(host.memory_total)}", plain)
    if host.stale and not view.over:
        line.gap(2).put("stale", theme.quiet)
    for text in machine_words(view):
        if line.left > len(text) + 3:
            line.gap(2).put(text, theme.quiet)
    return [rule(theme, width, "Cores", summary), line.strip()]


_ADVICE_SHOWN = 3
"""Lines of advice below a table of cores."""


def exhausted_lines(view: CoreTable) -> int:
    """Lines of the out-of-memory panel: what filled the fullest core's memory, the largest programs, the advice."""
    memory = view.exhausted
    if memory is None:
        return 0
    return 1 + bool(memory.kinds) + bool(memory.programs) + len(memory.advice[:_ADVICE_SHOWN])


def exhausted_panel(theme: Theme, view: CoreTable, width: int, height: int) -> list[Strip]:
    """Allocations that failed, on all cores together."""
    memory = view.exhausted
    if memory is None:
        return []
    title = f"{theme.glyphs.failed} Out of memory"
    strips = [rule(theme, width, title, memory.summary)]
    if memory.kinds:
        strips.append(memory_row(theme, memory.kinds, width))
    if memory.programs:
        line = Line(theme, width).put("programs", theme.text, 14).gap()
        for program in memory.programs:
            text = f"{program.name.rpartition('/')[2]} {bytes_text(program.total)}"
            if line.left > len(text) + 2:
                line.put(text, theme.quiet).gap(2)
        strips.append(line.strip())
    advice = (without_backticks(text) for text in memory.advice[:_ADVICE_SHOWN])
    strips += (Line(theme, width).put("advice", theme.text, 14).gap().put(text, theme.text).strip() for text in advice)
    return strips[:height]


def memory_row(theme: Theme, kinds: Mapping[str, int], width: int) -> Strip:
    """What filled a memory, as a bar and in words."""
    total = sum(kinds.values())
    line = Line(theme, width).put("filled by", theme.text, 14).gap()
    parts = [kind_part(theme, kind, size / (total or 1)) for kind, size in kinds.items()]
    line.add(stacked(theme, parts, max(10, width // 4))).gap().put(bytes_text(total), theme.strong, 9, right=True)
    for kind, size in kinds.items():
        text = f"{kind.replace('_', ' ')} {bytes_text(size)}"
        if line.left > len(text) + 3:
            line.gap(2).put(theme.memory_glyph(kind), theme.memory(kind)).gap().put(text, theme.quiet)
    return line.strip()


def _core_state(theme: Theme, page: CorePage) -> tuple[str, Style]:
    if page.row.sampled is None:
        return "no data yet", theme.quiet
    if page.over:
        return "as last seen, the job is over", theme.quiet
    return ("stale", theme.warn) if page.row.stale else ("live", theme.good)


def core_page_lines(theme: Theme, page: CorePage, width: int) -> list[Strip]:
    """One core: what it does now, its memory by kind, its history."""
    row = page.row
    title = f"Core {row.core}" + (f" · rank {row.rank}" if row.rank is not None else "")
    strips = [rule(theme, width, title)]
    when = "at last" if page.over or row.stale else "now"
    facts: list[tuple[str, str, Style]] = [
        ("state", *_core_state(theme, page)),
        ("process", f"{row.pid if row.pid is not None else theme.glyphs.unknown} {row.process}".strip(), theme.text),
        (
            "where",
            " · ".join(
                word
                for word in (row.node, f"device {row.device}" if row.device is not None else "", row.gpu, row.container)
                if word
            ),
            theme.text,
        ),
        ("called", visible_words(page), theme.text),
        (
            "utilization",
            f"{percent_text(row.utilization)} {when}, {percent_text(row.smoothed)} smoothed"
            + (", of a core of the host" if row.gpu else ""),
            theme.text,
        ),
        (
            "memory",
            bytes_text(row.memory)
            + (f" of {bytes_text(row.capacity)}" if row.capacity is not None else "")
            + f", peak {bytes_text(row.peak)}"
            + (
                f", {'others and the driver' if row.gpu else 'other cores of its bank'} {bytes_text(row.beside)}"
                if row.beside
                else ""
            ),
            theme.load(used_share(row)),
        ),
        *(
            (metric.title, metric.text(row), theme.text)
            for metric in reported([metric for metric in CORE_METRICS if metric.is_optional], [row])
        ),
        ("models", ", ".join(row.models), theme.text),
    ]
    strips += [strip for label, text, style in facts if text for strip in fact(theme, label, text, width, style)]
    for kind, size in row.kinds.items():
        line = Line(theme, width).gap(4).put(kind.replace("_", " "), theme.quiet, 24)
        whole = row.capacity or row.memory or 1
        line.add(bar(theme, size / whole, max(4, min(30, width - 39)), theme.memory(kind))).gap().put(
            bytes_text(size), theme.text, 9, right=True
        )
        strips.append(line.strip())
    strips += _history(theme, "Utilization", page.recent_utilization, 1.0, width, percent_text)
    strips += _history(theme, "Memory", page.recent_memory, row.capacity, width, bytes_text)
    whole_run = with_gaps((point.time, point.peak) for point in page.memory)
    title = f"Memory, the whole run, peaks of {duration_text(page.step)}"
    return strips + _history(theme, title, whole_run, row.capacity, width, bytes_text)


def _history(
    theme: Theme,
    title: str,
    samples: Sequence[tuple[float, float | None]],
    most: float | None,
    width: int,
    text: Callable[[float | None], str],
) -> list[Strip]:
    """A chart of samples in time, whose full height is `most`, or the largest of them where that is not known."""
    if len(samples) < 2:
        return []
    values = [value for _time, value in samples]
    top = float(most or max(filter(None, values), default=1.0))
    strips = [Line(theme, width).strip(), rule(theme, width, title, f"full height {text(top)}")]
    lines = chart(theme, downsample(values, width), min(width, len(values)), 5, top)
    return strips + [Line(theme, width).put(line, theme.accent).strip() for line in lines]
