"""A table of Neuron hardware: which instance has which devices, cores and memory banks. Pure; asks no machine.

Telemetry reports use, never capacity, so capacity comes from this table, or from what the machine reports (`Machine`).
Sources: AWS's architecture pages (SDK 2.32), observed hosts for trn2.3xlarge; bank counts of Trainium3 are inferred
from its memory size.
"""

from __future__ import annotations

import msgspec

GIB = 1024**3


class Generation(msgspec.Struct, frozen=True):
    """One generation of device: `cores` physical per device, `banks` of memory that cores share, `memory` in bytes."""

    name: str
    device_name: str
    core_version: str
    cores: int
    banks: int
    memory: int
    lnc: int

    @property
    def bank_memory(self) -> int:
        """Bytes of one bank."""
        return self.memory // self.banks


GENERATIONS = (
    Generation("inf1", "Inferentia", "v1", cores=4, banks=1, memory=8 * GIB, lnc=1),
    Generation("inf2", "Inferentia2", "v2", cores=2, banks=2, memory=32 * GIB, lnc=1),
    Generation("trn1", "Trainium1", "v2", cores=2, banks=2, memory=32 * GIB, lnc=1),
    Generation("trn2", "Trainium2", "v3", cores=8, banks=4, memory=96 * GIB, lnc=2),
    Generation("trn3", "Trainium3", "v4", cores=8, banks=4, memory=144 * GIB, lnc=2),
)
_DEVICE_NAMES = {
    "inferentia": "inf1", "inferentia1": "inf1", "inferentia2": "inf2", "inf2": "inf2", "inf1": "inf1",
    "trainium": "trn1", "trainium1": "trn1", "trn1": "trn1", "trainium2": "trn2", "trn2": "trn2",
    "trainium3": "trn3", "trn3": "trn3",
}  # fmt: skip
_CORE_VERSIONS = {"v1": "inf1", "v2": "trn1", "v3": "trn2", "v3d": "trn2", "v4": "trn3", "v4d": "trn3"}

DEVICES = {
    "inf1.xlarge": 1, "inf1.2xlarge": 1, "inf1.6xlarge": 4, "inf1.24xlarge": 16,
    "inf2.xlarge": 1, "inf2.8xlarge": 1, "inf2.24xlarge": 6, "inf2.48xlarge": 12,
    "trn1.2xlarge": 1, "trn1.32xlarge": 16, "trn1n.32xlarge": 16,
    "trn2.3xlarge": 1, "trn2.48xlarge": 16, "trn2n.48xlarge": 16, "trn2u.48xlarge": 16,
}  # fmt: skip
"""Devices of a whole instance; a container may see fewer."""


def generation(*, instance_type: str = "", device_kind: str = "", core_version: str = "") -> Generation | None:
    """The generation by any of these names, the most specific first; None if none is known."""
    family = instance_type.lower().split(".")[0]
    names = (
        next((row.name for row in GENERATIONS if family.startswith(row.name)), None),
        _DEVICE_NAMES.get(device_kind.lower()),
        _CORE_VERSIONS.get(core_version.lower().removeprefix("nc")),
    )
    name = next((name for name in names if name), None)
    return next((row for row in GENERATIONS if row.name == name), None)


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The Neuron hardware of one machine, for everything that follows from a core's number.

    A core's number is neuron-monitor's: device × logical cores per device + position, where the position follows the
    physical cores (`core_order` gives the other number, that of NEURON_RT_VISIBLE_CORES).
    """

    instance_type: str = ""
    generation: Generation | None = None
    devices: int | None = None
    cores_per_device: int | None = None
    """Logical cores."""
    lnc: int = 1
    device_memory: int | None = None

    @property
    def cores(self) -> range:
        """All logical cores; empty while the machine is not known."""
        return range((self.devices or 0) * (self.cores_per_device or 0))

    def device(self, core: int) -> int | None:
        """The device of a logical core."""
        return core // self.cores_per_device if self.cores_per_device else None

    def bank(self, core: int) -> int | None:
        """The memory bank of a logical core, counted within its device."""
        if not self.cores_per_device or not self.generation:
            return None
        physical = core % self.cores_per_device * self.lnc
        return min(physical * self.generation.banks // self.generation.cores, self.generation.banks - 1)

    @property
    def bank_memory(self) -> int | None:
        """Bytes of one bank: the most that a logical core can use, shared with the other cores of the bank."""
        if not self.generation:
            return None
        return (self.device_memory or self.generation.memory) // self.generation.banks

    def core_of_physical(self, device: int, physical: int) -> int:
        """The logical core that a physical core of a device belongs to."""
        per_device = self.cores_per_device or (self.generation.cores // self.lnc if self.generation else physical + 1)
        return device * per_device + physical // self.lnc


def machine(
    *,
    instance_type: str = "",
    device_kind: str = "",
    core_version: str = "",
    devices: int | None = None,
    cores_per_device: int | None = None,
    lnc: int | None = None,
    device_memory: int | None = None,
) -> Machine:
    """A machine from whatever is known of it; its own report takes precedence over the table."""
    kind = generation(instance_type=instance_type, device_kind=device_kind, core_version=core_version)
    if kind is not None:
        if lnc is None:
            lnc = max(1, kind.cores // cores_per_device) if cores_per_device else kind.lnc
        cores_per_device = cores_per_device or kind.cores // lnc
        device_memory = device_memory or kind.memory
    return Machine(
        instance_type=instance_type,
        generation=kind,
        devices=DEVICES.get(instance_type) if devices is None else devices,
        cores_per_device=cores_per_device,
        lnc=lnc or 1,
        device_memory=device_memory,
    )
