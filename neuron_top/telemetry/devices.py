"""Runs neuron-ls, at the start and then periodically, for the machine's devices and who uses them.

The tool is run with a time limit (on old drivers it hangs while another copy runs). No device: it ends with 1, nothing
on stdout and a line on stderr; unknown option: 1 and the complaint on stdout.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from neuron_top import programs
from neuron_top.escapes import visible
from neuron_top.events import AnyEvent, Device, DevicesFound, SourceAvailable, SourceUnavailable
from neuron_top.parsers.neuron_ls import LsDevice, devices_in, read_devices
from neuron_top.parsers.neuron_ls_table import read_tables
from neuron_top.telemetry import tools
from neuron_top.telemetry.instances import machine

LIMIT_SECONDS = 20.0
"""How long neuron-ls may take, in all of its forms together."""
_FORMS = (("--output-format", "json"), ("--json-output",), ())
"""The newest form first: `--json-output` ends with tools 2.34; the table is what every version prints."""
_BRACKET = re.compile(r"^\s*[\[{]", re.MULTILINE)
_MOST_DOCUMENTS = 64


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The result of neuron-ls: devices, or the reason why there are none."""

    devices: tuple[LsDevice, ...] = ()
    reason: str = ""


def list_devices(
    command: str | None = None, seconds: float = LIMIT_SECONDS, is_stopped: Callable[[], bool] = lambda: False
) -> Listing:
    """Run neuron-ls until a form of its output can be parsed, for `seconds`, or until it is stopped. Never raises: a
    failure becomes a reason in words."""
    command = command or tools.find("neuron-ls")
    if command is None:
        return Listing(reason=f"neuron-ls is neither on the PATH nor in {tools.SDK_BIN}")
    reasons: dict[str, list[str]] = {}
    deadline = time.monotonic() + seconds
    for options in _FORMS:
        words = " ".join((command, *options))
        try:
            left = max(0.0, deadline - time.monotonic())
            environ = tools.with_sdk_path()
            answer = programs.ask([command, *options], seconds=left, environ=environ, is_stopped=is_stopped)
        except programs.TooSlow:
            return Listing(reason=f"{words} did not answer within {seconds:g} s")
        except programs.NoAnswer as problem:
            return Listing(reason=f"{words} {problem}")
        except OSError as problem:
            return Listing(reason=f"{command} cannot be started ({problem.strerror or problem})")
        if answer.status != 0:
            said = (answer.err.strip() or answer.out.strip()).decode("utf-8", "replace").splitlines()
            why = f"ended with {answer.status}: {visible(said[-1]) if said else 'no output'}"
            reasons.setdefault(why, []).append(words)
        elif devices := listed_devices(answer.out):
            return Listing(devices=devices)
        elif answer.out.strip() == b"[]":
            return Listing(reason=f"{words} lists no device")
        else:
            reasons.setdefault("printed what cannot be read as a listing of devices", []).append(words)
    return Listing(reason="; ".join(f"{', '.join(words)} {why}" for why, words in reasons.items()))


def listed_devices(output: bytes) -> tuple[LsDevice, ...]:
    """The devices in what neuron-ls printed, as JSON or as a table, also inside other text; () where it lists none.

    Tables of one machine (`neuron-ls`, `neuron-ls --wide`) complete each other; of several machines the last counts.
    """
    with contextlib.suppress(ValueError):
        return read_devices(output)
    text = output.decode("utf-8", "replace")
    merged: dict[int, LsDevice] = {}
    for table in (*read_tables(text), *_json_inside(text)):
        if not _same_machine(table, merged):
            merged = {}
        for device in table:
            merged[device.index] = _completed(device, merged.get(device.index))
    return tuple(merged.values())


def _json_inside(text: str) -> Iterator[tuple[LsDevice, ...]]:
    decoder = json.JSONDecoder()
    for start in islice(_BRACKET.finditer(text), _MOST_DOCUMENTS):
        with contextlib.suppress(ValueError, RecursionError):
            yield devices_in(decoder.raw_decode(text, start.end() - 1)[0])


def _same_machine(table: tuple[LsDevice, ...], known: dict[int, LsDevice]) -> bool:
    types = {device.instance_type for device in (*table, *known.values()) if device.instance_type}
    addresses = {device.index: device.bdf for device in table}
    return len(types) <= 1 and addresses == {index: device.bdf for index, device in known.items()}


def _completed(device: LsDevice, before: LsDevice | None) -> LsDevice:
    """A device, completed from an earlier table of the same machine."""
    if before is None:
        return device
    earlier = msgspec.structs.asdict(before)
    silent = {name: value for name, value in earlier.items() if getattr(device, name) in (None, "", ())}
    return msgspec.structs.replace(device, **silent)


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

    def __init__(self, command: str | None = None, seconds: float = LIMIT_SECONDS) -> None:
        self._command, self._seconds = command, seconds
        self._last: Listing | None = None
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End a poll in progress, and make no more."""
        self._stopped.set()

    def __call__(self) -> list[AnyEvent]:
        """Poll once."""
        listing, before = list_devices(self._command, self._seconds, self._stopped.is_set), self._last
        self._last = listing
        if listing == before or self._stopped.is_set():
            return []
        if listing.reason:
            return [SourceUnavailable(source="neuron-ls", name=self.name, reason=listing.reason)]
        events: list[AnyEvent] = [devices_found(listing.devices)]
        if before is None or before.reason:
            count = len(listing.devices)
            detail = f"{count} device{'s' if count != 1 else ''}"
            events.insert(0, SourceAvailable(source="neuron-ls", name=self.name, detail=detail))
        return events
