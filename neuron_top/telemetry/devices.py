"""neuron-ls: the devices of the machine and who uses them, at the start and then now and then.

The tool is run once per look with a time limit (on old drivers it hangs while another copy runs). No device: it ends
with 1, nothing on stdout and a line on stderr; unknown option: 1 and the complaint on stdout.
"""

from __future__ import annotations

import msgspec

from neuron_top import programs
from neuron_top.escapes import visible
from neuron_top.events import AnyEvent, Device, DevicesFound, SourceAvailable, SourceUnavailable
from neuron_top.parsers.neuron_ls import LsDevice, read_devices
from neuron_top.telemetry import tools
from neuron_top.telemetry.instances import machine

_LIMIT = 20.0
"""Seconds that one look may take."""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What neuron-ls said: devices, or the reason why not."""

    devices: tuple[LsDevice, ...] = ()
    reason: str = ""


def list_devices(command: str | None = None) -> Listing:
    """Run neuron-ls once. Never raises: a failure is a reason in words."""
    command = command or tools.find("neuron-ls")
    if command is None:
        return Listing(reason=f"neuron-ls is neither on the PATH nor in {tools.SDK_BIN}")
    try:
        answer = programs.ask([command, "--json-output"], seconds=_LIMIT, environ=tools.with_sdk_path())
    except programs.NoAnswer as problem:
        return Listing(reason=f"{command} {problem}")
    except OSError as problem:
        return Listing(reason=f"{command} cannot be started ({problem.strerror or problem})")
    if answer.status != 0:
        said = (answer.err.strip() or answer.out.strip()).decode("utf-8", "replace").splitlines()
        return Listing(reason=f"{command} ended with {answer.status}: {visible(said[-1]) if said else 'no word'}")
    try:
        devices = read_devices(answer.out)
    except ValueError as problem:
        return Listing(reason=f"{command}: its output cannot be read: {problem}")
    return Listing(devices=devices, reason="" if devices else f"{command} lists no device")


def devices_found(devices: tuple[LsDevice, ...]) -> DevicesFound:
    """A listing as an event."""
    first = devices[0] if devices else LsDevice(index=0)
    host = machine(
        instance_type=first.instance_type,
        devices=len(devices),
        cores_per_device=first.core_count,
        lnc=first.lnc,
        device_memory=first.memory,
    )
    return DevicesFound(
        source="neuron-ls",
        instance_type=first.instance_type,
        lnc=host.lnc if first.lnc or host.generation else None,
        devices=tuple(
            Device(
                index=device.index,
                core_count=device.core_count,
                memory=device.memory,
                cores=device.cores,
                kind=host.generation.device_name if host.generation else "",
                bdf=device.bdf,
                numa_node=device.numa_node,
                connected_to=device.connected_to,
                pids=tuple(process.pid for process in device.processes),
            )
            for device in devices
        ),
    )


class NeuronLsPoller:
    """`look()` for a `Periodic` source: events at the start and whenever the listing or the failure changes."""

    name = "neuron-ls"

    def __init__(self, command: str | None = None) -> None:
        self._command = command
        self._last: Listing | None = None

    def __call__(self) -> list[AnyEvent]:
        """Look once."""
        listing, before = list_devices(self._command), self._last
        self._last = listing
        if listing == before:
            return []
        if listing.reason:
            return [SourceUnavailable(source="neuron-ls", name=self.name, reason=listing.reason)]
        events: list[AnyEvent] = [devices_found(listing.devices)]
        if before is None or before.reason:
            count = len(listing.devices)
            detail = f"{count} device{'s' if count != 1 else ''}"
            events.insert(0, SourceAvailable(source="neuron-ls", name=self.name, detail=detail))
        return events
