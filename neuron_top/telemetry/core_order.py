"""Two numberings of the same cores, and the way between them. Pure.

`NEURON_RT_VISIBLE_CORES` and neuron-ls count in the order in which the driver hands cores out (selection order);
neuron-monitor, sysfs and the logs count physically. On Trainium2 the two differ per device; elsewhere they are equal.
The table is the driver's (its v3 hardware layer, the same in versions 2.19.64 to 2.25.4).
"""

from __future__ import annotations

from neuron_top.telemetry.instances import Machine

_A = (4, 5, 6, 7, 2, 3, 0, 1)
_B = (2, 3, 0, 1, 4, 5, 6, 7)
_C = (0, 1, 2, 3, 6, 7, 4, 5)
_D = (6, 7, 4, 5, 0, 1, 2, 3)
TRN2_ORDER = (_A, _B, _A, _B, _C, _D, _C, _D, _A, _B, _A, _B, _C, _D, _C, _D)
"""Per device, the physical cores in selection order."""
_TURNED_NODES = (1, 3)
"""UltraServer members whose positions are turned around: exclusive-or with 6 before the lookup."""


def physical_cores(device: int, machine: Machine, ultraserver_node: int | None = None) -> tuple[int, ...]:
    """The physical cores of a device in selection order.

    Inside a container `device` is the container's own number: the one observation there is agrees with its row.
    """
    kind = machine.generation
    if kind is None:
        return tuple(range((machine.cores_per_device or 0) * machine.lnc))
    if kind.name != "trn2":
        return tuple(range(kind.cores))
    row = TRN2_ORDER[device % len(TRN2_ORDER)]
    turn = 6 if ultraserver_node in _TURNED_NODES else 0
    return tuple(row[position ^ turn] for position in range(len(row)))


def logical_order(device: int, machine: Machine, ultraserver_node: int | None = None) -> tuple[int, ...]:
    """The logical cores of a device (counted physically, within the device) in selection order."""
    physical = physical_cores(device, machine, ultraserver_node)
    return tuple(core // machine.lnc for core in physical[:: machine.lnc])


def monitor_core(visible: int, machine: Machine, ultraserver_node: int | None = None) -> int:
    """neuron-monitor's number of the core that NEURON_RT_VISIBLE_CORES calls `visible`."""
    if not machine.cores_per_device:
        return visible
    device, position = divmod(visible, machine.cores_per_device)
    order = logical_order(device, machine, ultraserver_node)
    place = order[position] if position < len(order) else position
    return device * machine.cores_per_device + place


def visible_core(monitor: int, machine: Machine, ultraserver_node: int | None = None) -> int:
    """The number that NEURON_RT_VISIBLE_CORES and neuron-ls give to neuron-monitor's core."""
    if not machine.cores_per_device:
        return monitor
    device, place = divmod(monitor, machine.cores_per_device)
    order = logical_order(device, machine, ultraserver_node)
    position = order.index(place) if place in order else place
    return device * machine.cores_per_device + position


def visible_cores(text: str) -> tuple[int, ...]:
    """`NEURON_RT_VISIBLE_CORES`: `0`, `0-3`, `0,2,4-5`; empty for anything that is not such a list."""
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            return ()
        first, last = int(low), int(high) if dash else int(low)
        if not first <= last < 65536:
            return ()
        found += range(first, last + 1)
    return tuple(found)
