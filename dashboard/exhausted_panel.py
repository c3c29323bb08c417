"""Device memory that ran out: what filled it and what to do, in short for the overview, whole for the page Cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from neuron_top.dashboard import memory_figures as figures
from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import chart, note, table
from neuron_top.units import bytes_text, count_text
from neuron_top.views.exhausted import ExhaustedCore, ExhaustedMemory

EXHAUSTED_SHOWN = 128


def exhausted_summary(memory: ExhaustedMemory, colors: ChartColors, identity: str) -> list[Any]:
    """The sum, what follows from it, and a bar per core of what filled its memory. `identity`: of the chart."""
    parts = [html.P(html.Strong(memory.summary)), *(note(f"→ {text}") for text in memory.advice)]
    if any(core.kinds for core in memory.cores):
        name = "What filled the memory of each core when it ran out"
        parts.append(chart(identity, name, 300, figures.exhausted(memory, colors)))
    return parts


def exhausted_panel(memory: ExhaustedMemory, colors: ChartColors) -> list[Any]:
    """All of it: the summary, the largest programs, a row for devices alike, and each core on demand."""
    parts = exhausted_summary(memory, colors, "cores-exhausted-kinds")
    if memory.programs:
        rows = [(program.name, bytes_text(program.total), program.cores) for program in memory.programs]
        head = ("largest programs", "memory, at most", "cores")
        parts.append(table(head, rows, caption="The largest programs that were loaded", right=(1, 2)))
    return [*parts, _devices(memory), _cores(memory)]


def _devices(memory: ExhaustedMemory) -> Any:
    groups: dict[tuple[str, int | None, str], list[ExhaustedCore]] = {}
    for core in memory.cores:
        groups.setdefault((core.node, core.device, core.usage), []).append(core)
    alike: dict[tuple[Any, ...], list[int]] = {}
    for (node, device, usage), cores in groups.items():
        numbers = (
            ", ".join(str(core.core) for core in cores if core.core is not None) or "—",
            sum(core.count for core in cores),
            bytes_text(max((core.requested for core in cores if core.requested is not None), default=None)),
            usage or "—",
            bytes_text(max((core.in_use for core in cores if core.in_use is not None), default=None)),
        )
        alike.setdefault((node, *numbers), []).extend([device] if device is not None else [])
    rows = [
        (" ".join(filter(None, (node, _devices_words(devices)))) or "—", cores, failures * max(1, len(devices)), *rest)
        for (node, cores, failures, *rest), devices in alike.items()
    ]
    head = ("device", "cores", "failures", "asked for, at most", "for", "in use, at most")
    return table(head, rows, caption="Allocations that failed, by device", right=(2, 3, 5))


def _devices_words(devices: Sequence[int]) -> str:
    """Devices in a row, or each by its number."""
    if len(devices) < 2:
        return f"device {devices[0]}" if devices else ""
    if devices[-1] - devices[0] == len(devices) - 1:
        return f"devices {devices[0]}–{devices[-1]}"
    return f"devices {', '.join(map(str, devices))}"


def _cores(memory: ExhaustedMemory) -> Any:
    kinds = list(dict.fromkeys(kind for core in memory.cores for kind in core.kinds))
    rows = [
        (
            core.place,
            core.count,
            bytes_text(core.requested),
            bytes_text(core.in_use),
            *(bytes_text(core.kinds[kind]) if kind in core.kinds else "—" for kind in kinds),
        )
        for core in memory.cores[:EXHAUSTED_SHOWN]
    ]
    head = ("core", "failures", "asked for", "in use", *(kind.replace("_", " ") for kind in kinds))
    left = len(memory.cores) - len(rows)
    return html.Details(
        [
            html.Summary(f"Each core ({count_text(len(memory.cores))})"),
            table(head, rows, caption="Memory of each core when it ran out", right=range(1, len(head))),
            note(f"and {count_text(left)} more cores") if left else None,
        ]
    )
