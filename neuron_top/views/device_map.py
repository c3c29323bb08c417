"""Cores by device, to find the ones that differ from the rest: outliers, the worst five, links between devices."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from neuron_top.run.history import median
from neuron_top.units import counted, duration_text, percent_text
from neuron_top.views.core_metrics import MEMORY, SHARES, UTILIZATION, CoreMetric
from neuron_top.views.core_rows import CoreRow, capacity_of, total

WORST = 5
DEVIATIONS = 4.5
"""Median absolute deviations from the median that make a core stand out: three standard deviations of a normal one."""
LEAST_APART = 0.1
"""The least share of the whole by which a core must differ, too."""
FEW = 4
"""Fewer cores have no median from which one could stand out."""
ROW = 32
"""Cores per line if no device is known."""


class Topology(StrEnum):
    """How devices are linked."""

    UNKNOWN = "unknown"
    RING = "ring"
    TORUS = "torus"
    OTHER = "other"


class WorstCore(msgspec.Struct, frozen=True, kw_only=True):
    """A core that stands out, or all of a device that do, and by what: the farthest value and the median of all."""

    name: str
    """`c88`, or `d11 c88–c95`."""
    row: CoreRow
    """The farthest of them."""
    metric: str
    text: str
    typical: str


class DeviceStrip(msgspec.Struct, frozen=True, kw_only=True):
    """The cores of one device, or of one line of cores whose device is not known."""

    node: str
    device: int | None
    name: str
    rows: tuple[CoreRow, ...]
    share: float | None
    """Mean of its cores' shares of the shown metric; None where none is reported."""
    memory: int | None
    capacity: int | None
    stale: bool
    errors: int
    links: tuple[int, ...]
    """Devices that it is linked to."""


class DeviceMap(msgspec.Struct, frozen=True, kw_only=True):
    """All cores by device, by one metric."""

    now: float
    metric: str
    low: float | None
    typical: float | None
    """The median."""
    high: float | None
    strips: tuple[DeviceStrip, ...]
    outliers: frozenset[str]
    """Keys of cores that stand out by the metric."""
    worst: tuple[WorstCore, ...]
    stale: int
    newest: float | None
    """When any of the stale ones was last sampled."""
    topology: Topology
    sides: tuple[int, int] | None
    """Rows and columns of a torus."""
    ring: tuple[int, ...]
    """The devices of a ring in their order."""


def device_map(
    rows: Sequence[CoreRow],
    now: float,
    metric: str = "",
    *,
    links: dict[int, tuple[int, ...]] | None = None,
    errors: dict[tuple[str, int | None], int] | None = None,
) -> DeviceMap:
    """The map of these cores, by a metric of SHARES or the first that any reports. `links` by device, `errors` by node
    and device."""
    chosen = shown_metric(rows, metric)
    shares = _shares(chosen, rows)
    known = sorted(shares.values())
    nodes = len({row.node for row in rows})
    groups: dict[tuple[str, int | None, int], list[CoreRow]] = {}
    for place, row in enumerate(rows):
        groups.setdefault((row.node, row.device, -1 if row.device is not None else place // ROW), []).append(row)
    topology, sides = _topology(links or {})
    return DeviceMap(
        now=now,
        metric=chosen.name,
        low=known[0] if known else None,
        typical=median(known) if known else None,
        high=known[-1] if known else None,
        strips=tuple(
            _strip(group, device, shares, nodes > 1, (links or {}).get(device or 0, ()), errors or {})
            for (_node, device, _line), group in groups.items()
        ),
        outliers=frozenset(outliers(shares)),
        worst=tuple(_worst(rows)),
        stale=sum(row.stale for row in rows),
        newest=max((row.sampled for row in rows if row.stale and row.sampled is not None), default=None),
        topology=topology,
        sides=sides,
        ring=tuple(_circle(links or {})) if topology is Topology.RING else (),
    )


def metric_of(name: str) -> CoreMetric:
    """The metric of this name; utilization where there is none."""
    return next((metric for metric in SHARES if metric.name == name), UTILIZATION)


def shown_metric(rows: Sequence[CoreRow], name: str = "") -> CoreMetric:
    """The metric of this name where a core reports it, else the first that one does; utilization where none does."""
    known = [metric for metric in SHARES if any(share_of(metric, row) is not None for row in rows)]
    return next((metric for metric in known if metric.name == name), known[0] if known else UTILIZATION)


def summary_text(view: DeviceMap) -> str:
    """What is shown, and its spread: `utilization · min 0.4 % med 88 % max 99 %`."""
    words = [metric_of(view.metric).title]
    if view.typical is not None:
        words += [
            f"min {percent_text(view.low)} med {percent_text(view.typical)} max {percent_text(view.high)}",
        ]
    if view.stale:
        age = duration_text(view.now - view.newest) if view.newest is not None else "never sampled"
        words.append(f"{view.stale} stale, last {age} ago" if view.newest is not None else age)
    if view.topology is Topology.RING:
        words.append("ring")
    if view.sides is not None:
        words.append(f"{view.sides[0]}×{view.sides[1]} torus")
    return " · ".join(words)


def share_of(metric: CoreMetric, row: CoreRow) -> float | None:
    """A core's share of the most that there can be, 0…1."""
    return metric.share(row) if metric.share is not None else None


def _shares(metric: CoreMetric, rows: Sequence[CoreRow]) -> dict[str, float]:
    """The shares of the cores that report the metric now, by key."""
    return {row.key: share for row in rows if not row.stale and (share := share_of(metric, row)) is not None}


def outliers(shares: dict[str, float]) -> list[str]:
    """Keys of the cores that are far from the median of all, in the order given; none where there are few cores."""
    if len(shares) < FEW:
        return []
    middle = median(shares.values())
    spread = median(abs(share - middle) for share in shares.values())
    apart = max(DEVIATIONS * spread, LEAST_APART)
    return [key for key, share in shares.items() if abs(share - middle) > apart]


def _worst(rows: Sequence[CoreRow]) -> list[WorstCore]:
    """The cores that stand out most by any metric (idle among busy ones, fuller than the others); all of one device are
    one row."""
    found: list[tuple[float, WorstCore]] = []
    by_key = {row.key: row for row in rows}
    for metric in SHARES:
        shares = _shares(metric, rows)
        if len(shares) < FEW:
            continue
        middle = median(shares.values())
        groups: dict[tuple[str, int | str], list[CoreRow]] = {}
        for key in outliers(shares):
            row = by_key[key]
            groups.setdefault((row.node, row.device if row.device is not None else key), []).append(row)
        for group in groups.values():
            row = max(group, key=lambda row: abs(shares[row.key] - middle))
            of_all = f" ({percent_text(shares[row.key])})" if metric is MEMORY else ""
            worst = WorstCore(
                name=_cores_name(group),
                row=row,
                metric=metric.name,
                text=f"{metric.text(row)}{of_all}",
                typical=percent_text(middle),
            )
            found.append((abs(shares[row.key] - middle), worst))
    found.sort(key=lambda pair: -pair[0])
    return [worst for _far, worst in found[:WORST]]


def _cores_name(rows: Sequence[CoreRow]) -> str:
    """One core, or several of one device."""
    cores = [row.core for row in rows]
    if len(cores) == 1:
        return f"c{cores[0]}"
    is_row = cores == [*range(cores[0], cores[0] + len(cores))]
    return f"d{rows[0].device} " + (f"c{cores[0]}–c{cores[-1]}" if is_row else counted(len(cores), "core"))


def _strip(
    rows: Sequence[CoreRow],
    device: int | None,
    shares: dict[str, float],
    several_nodes: bool,
    links: tuple[int, ...],
    errors: dict[tuple[str, int | None], int],
) -> DeviceStrip:
    first, last = rows[0], rows[-1]
    known_shares = [shares[row.key] for row in rows if row.key in shares]
    where = f"{first.node} " if several_nodes and first.node else ""
    name = f"d{device}" if device is not None else f"c{first.core}" + (f"-{last.core}" if last is not first else "")
    return DeviceStrip(
        node=first.node,
        device=device,
        name=f"{where}{name}",
        rows=tuple(rows),
        share=sum(known_shares) / len(known_shares) if known_shares else None,
        memory=total(row.memory for row in rows),
        capacity=capacity_of(rows),
        stale=all(row.stale for row in rows),
        errors=errors.get((first.node, device), 0) if device is not None else 0,
        links=links if device is not None else (),
    )


def _topology(links: dict[int, tuple[int, ...]]) -> tuple[Topology, tuple[int, int] | None]:
    """A ring: each linked with two in one circle; a torus: each with four, its rows and columns closed."""
    if len(links) < FEW or not all(links.values()):
        return Topology.UNKNOWN, None
    each = {len(set(others)) for others in links.values()}
    if each == {2} and len(_circle(links)) == len(links):
        return Topology.RING, None
    sides = _torus_sides(links) if each == {4} else None
    return (Topology.TORUS, sides) if sides is not None else (Topology.OTHER, None)


def _circle(links: dict[int, tuple[int, ...]]) -> list[int]:
    """The devices in the order of a walk from the first one, each once."""
    walked, at = [], min(links)
    while at not in walked:
        walked.append(at)
        at = next((other for other in sorted(links.get(at, ())) if other not in walked), at)
    return walked


def _torus_sides(links: dict[int, tuple[int, ...]]) -> tuple[int, int] | None:
    """Rows and columns of the torus that these links are, devices numbered row by row."""
    count = len(links)
    for columns in range(3, count // 3 + 1):
        rows = count // columns
        if rows * columns == count and all(
            set(links.get(index, ())) == _neighbors(index, rows, columns) for index in range(count)
        ):
            return rows, columns
    return None


def _neighbors(index: int, rows: int, columns: int) -> set[int]:
    row, column = divmod(index, columns)
    return {
        row * columns + (column + 1) % columns,
        row * columns + (column - 1) % columns,
        (row + 1) % rows * columns + column,
        (row - 1) % rows * columns + column,
    }
