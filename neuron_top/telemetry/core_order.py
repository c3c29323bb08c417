"""Converts between two numberings of the same cores. Pure.

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
_ULTRASERVER = "trn2u"


def visible_core(monitor: int, machine: Machine) -> int | None:
    """The number that NEURON_RT_VISIBLE_CORES and neuron-ls give to neuron-monitor's core; None where it is not known.

    Two members of an UltraServer have the positions exchanged, and nothing reports which member a machine is.
    """
    if machine.instance_type.startswith(_ULTRASERVER):
        return None
    if not machine.cores_per_device:
        return monitor
    device, place = divmod(monitor, machine.cores_per_device)
    order = logical_order(device, machine)
    return device * machine.cores_per_device + (order.index(place) if place in order else place)


def logical_order(device: int, machine: Machine) -> tuple[int, ...]:
    """The logical cores of a device (counted physically, within the device) in selection order.

    Inside a container `device` is the container's own number: the one observation there is agrees with its row.
    """
    physical: tuple[int, ...] = tuple(range((machine.cores_per_device or 0) * machine.lnc))
    if machine.generation is not None and machine.generation.name == "trn2":
        physical = TRN2_ORDER[device % len(TRN2_ORDER)]
    return tuple(core // machine.lnc for core in physical[:: machine.lnc])
