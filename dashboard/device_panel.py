"""Neuron devices on the page Cores: how they are linked, what each does, and its errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dash import html

from neuron_top.dashboard.chart_colors import ChartColors
from neuron_top.dashboard.components import left_out, note, table
from neuron_top.dashboard.figures import Figure, empty, layout, plain
from neuron_top.units import UNKNOWN, bytes_text, count_text, counted, percent_text
from neuron_top.views.core_metrics import POWER, reported
from neuron_top.views.cores import CoreTable, DeviceGroup, machine_words
from neuron_top.views.device_map import DeviceMap, DeviceStrip, Topology

ACROSS = 8
"""Devices in a line where their links make neither a ring nor a torus."""
ROWS_SHOWN = 64
STUB = 0.35
"""Length of the stub of a link from the last device of a line back to its first."""
MARKER = 30
HEIGHT_OF_LINE = 74
HEIGHT_OF_RING = 330
_WORDS = frozenset({"device", "hardware errors", "linked with"})
"""Columns without numbers."""

Place = tuple[float, float]


def device_panel(view: CoreTable, shown: DeviceMap) -> Any:
    """The machine in a sentence, then a row per device. `shown`: the view's map of utilization."""
    groups = _devices(view)
    if not groups:
        return left_out()
    optional = {
        "power": bool(reported([POWER], [row for group in groups for row in group.rows])),
        "hardware errors": any(map(_errors, groups)),
        "linked with": any(view.links.values()),
    }
    several = _several_nodes(groups)
    cells = [
        {name: cell for name, cell in _cells(group, view, with_node=several).items() if optional.get(name, True)}
        for group in groups[:ROWS_SHOWN]
    ]
    head = list(cells[0])
    quiet = [] if optional["hardware errors"] else ["no hardware errors reported"]
    words = (counted(len(groups), "device"), *_topology(shown), *machine_words(view), *quiet)
    return [
        note(" · ".join(words)),
        table(
            head,
            [list(row.values()) for row in cells],
            caption="Devices",
            right=[place for place, name in enumerate(head) if name not in _WORDS],
        ),
        note(f"and {count_text(len(groups) - ROWS_SHOWN)} more devices") if len(groups) > ROWS_SHOWN else None,
        html.Span(className="no-map", hidden=True) if not _has_map(groups, view.links) else None,
    ]


def device_figure(view: CoreTable, shown: DeviceMap, colors: ChartColors) -> Figure:
    """A mark per device, placed by its links in a torus, a ring, or lines; colored by how busy it is."""
    if not _has_map(_devices(view), view.links):
        return empty(colors, "", 60)
    strips = [strip for strip in shown.strips if strip.device is not None]
    devices = [strip.device or 0 for strip in strips]
    in_lines = not _is_ring(shown, devices) and not _is_torus(shown, devices, view.links)
    places = _places(shown, devices, view.links)
    xs, ys = [x for x, _y in places.values()], [y for _x, y in places.values()]
    lines = max(ys) - min(ys) + 1
    height = HEIGHT_OF_RING if _is_ring(shown, devices) else 24 + HEIGHT_OF_LINE * lines
    marked = [strip for strip in strips if strip.share is not None and not strip.stale]
    return {
        "data": [
            _links(places, view.links, colors),
            _marks(marked, shown, places, colors, in_lines=in_lines),
            _unknown([strip for strip in strips if strip not in marked], places, colors, in_lines=in_lines),
        ],
        "layout": layout(
            colors,
            round(height),
            xaxis={
                "visible": False,
                "fixedrange": True,
                "range": [min(xs) - 0.5, max(xs) + 0.5] if in_lines else [min(xs) - STUB, max(xs) + 1],
            },
            yaxis={"visible": False, "fixedrange": True, "range": [max(ys) + 0.6, min(ys) - 0.4]},
        ),
    }


def _devices(view: CoreTable) -> list[DeviceGroup]:
    return [group for group in view.groups if group.device is not None]


def _several_nodes(groups: Sequence[DeviceGroup]) -> bool:
    return len({group.node for group in groups}) > 1


def _has_map(groups: Sequence[DeviceGroup], links: dict[int, tuple[int, ...]]) -> bool:
    """Places come from links, which are known by device: those of one machine. Without them the table says as much."""
    return len(groups) > 1 and not _several_nodes(groups) and any(links.values())


def _topology(shown: DeviceMap) -> tuple[str, ...]:
    if shown.sides is not None:
        return (f"a torus of {shown.sides[0]} × {shown.sides[1]}",)
    return ("a ring",) if shown.topology is Topology.RING else ()


def _errors(group: DeviceGroup) -> str:
    return ", ".join(f"{kind.replace('_', ' ')} {count_text(count)}" for kind, count in group.errors.items() if count)


def _cells(group: DeviceGroup, view: CoreTable, *, with_node: bool) -> dict[str, str]:
    headroom = 1 - group.memory / group.capacity if group.memory is not None and group.capacity else None
    name = f"{group.node} {group.device}" if group.node and with_node else f"{group.device}"
    return {
        "device": f"{name}, no longer reports" if group.stale else name,
        "cores": f"{len(group.rows)}",
        "busy": UNKNOWN if group.stale else percent_text(group.utilization),
        "in use": bytes_text(group.memory),
        "capacity": bytes_text(group.capacity),
        "free": percent_text(headroom),
        "power": POWER.text(group.rows[0]),
        "hardware errors": _errors(group) or "none reported",
        "linked with": ", ".join(map(str, view.links.get(group.device or 0, ()))) or UNKNOWN,
    }


def _is_ring(shown: DeviceMap, devices: Sequence[int]) -> bool:
    """Whether the links are a ring that has all of these devices."""
    return shown.topology is Topology.RING and set(shown.ring) >= set(devices)


def _is_torus(shown: DeviceMap, devices: Sequence[int], links: dict[int, tuple[int, ...]]) -> bool:
    """Whether the links are a torus that has all of these devices."""
    return shown.sides is not None and set(links) >= set(devices)


def _places(shown: DeviceMap, devices: Sequence[int], links: dict[int, tuple[int, ...]]) -> dict[int, Place]:
    if _is_ring(shown, devices):
        turn = 2 * math.pi / len(shown.ring)
        return {
            device: (2 * math.sin(turn * place), -math.cos(turn * place)) for place, device in enumerate(shown.ring)
        }
    if shown.sides is not None and _is_torus(shown, devices, links):
        across, known = shown.sides[1], sorted(links)
    else:
        across, known = min(ACROSS, len(devices)), list(devices)
    return {device: (float(place % across), float(place // across)) for place, device in enumerate(known)}


def _links(places: dict[int, Place], links: dict[int, tuple[int, ...]], colors: ChartColors) -> Figure:
    """Lines between neighbors; a link back to the begin of a line is a stub at both of its ends."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for one, others in links.items():
        for other in others:
            if one not in places or other not in places:
                continue
            (x, y), (to_x, to_y) = places[one], places[other]
            if abs(to_x - x) > 1 and to_y == y:
                to_x = x - math.copysign(STUB, to_x - x)
            elif abs(to_y - y) > 1 and to_x == x:
                to_y = y - math.copysign(STUB, to_y - y)
            elif other < one:
                continue  # already drawn from the other end
            xs += [round(x, 3), round(to_x, 3), None]
            ys += [round(y, 3), round(to_y, 3), None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "hoverinfo": "skip",
        "line": {"color": colors.quiet, "width": 1},
    }


def _marks(
    strips: Sequence[DeviceStrip], shown: DeviceMap, places: dict[int, Place], colors: ChartColors, *, in_lines: bool
) -> Figure:
    odd = [any(row.key in shown.outliers for row in strip.rows) for strip in strips]
    return _scatter(strips, places, colors, in_lines=in_lines) | {
        "marker": {
            "symbol": "square",
            "size": MARKER,
            "color": [round(strip.share or 0.0, 3) for strip in strips],
            "cmin": 0,
            "cmax": 1,
            "colorscale": [[index / (len(colors.heat) - 1), color] for index, color in enumerate(colors.heat)],
            "line": {
                "width": [3 if strip.errors or is_odd else 1 for strip, is_odd in zip(strips, odd, strict=True)],
                "color": [
                    colors.bad if strip.errors else colors.warn if is_odd else colors.quiet
                    for strip, is_odd in zip(strips, odd, strict=True)
                ],
            },
        },
    }


def _unknown(strips: Sequence[DeviceStrip], places: dict[int, Place], colors: ChartColors, *, in_lines: bool) -> Figure:
    marker = {"symbol": "hash-open", "size": MARKER - 8, "color": colors.quiet}
    return _scatter(strips, places, colors, in_lines=in_lines) | {"marker": marker}


def _scatter(strips: Sequence[DeviceStrip], places: dict[int, Place], colors: ChartColors, *, in_lines: bool) -> Figure:
    """Marks with their labels: below them where eight stand in a line, which a phone is too narrow for otherwise."""
    at = [places[strip.device or 0] for strip in strips]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": [round(x, 3) for x, _y in at],
        "y": [round(y, 3) for _x, y in at],
        "text": [_label(strip, "<br>" if in_lines else " ") for strip in strips],
        "textposition": "bottom center" if in_lines else "bottom right",
        "textfont": {"color": colors.text, "size": 11},
        "hovertext": [plain(_hover(strip)) for strip in strips],
        "hoverinfo": "text",
        "cliponaxis": False,
    }


def _label(strip: DeviceStrip, between: str) -> str:
    share = "stale" if strip.stale else percent_text(strip.share)
    parts = (
        f"{strip.device}:" if between == " " else f"{strip.device}",
        share,
        f"✗ {count_text(strip.errors)}" if strip.errors else "",
    )
    return between.join(filter(None, parts))


def _hover(strip: DeviceStrip) -> str:
    memory = (
        f"{bytes_text(strip.memory)} of {bytes_text(strip.capacity)}" if strip.capacity else bytes_text(strip.memory)
    )
    words = [f"device {strip.device}", counted(len(strip.rows), "core"), f"busy {percent_text(strip.share)}", memory]
    words += [counted(strip.errors, "hardware error")] if strip.errors else []
    words += [f"linked with {', '.join(map(str, strip.links))}"] if strip.links else []
    return " · ".join(words)
