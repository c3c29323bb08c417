"""Read the Neuron devices of this machine, once or as a stream.

Without --source it takes what is there: neuron-monitor for utilization, the driver's counters under /sys for memory,
peaks and power, neuron-ls for the devices. A source that is absent says so on stderr, and why; the others go on.

examples:
  neurontop telemetry --once                       one table, then the end
  neurontop telemetry --json >telemetry.jsonl      every sample as a line of JSON, until Ctrl-C
  neurontop telemetry --source monitor.jsonl       what neuron-monitor wrote to a file
  ssh trn1 neuron-monitor | neurontop telemetry --source -
  neurontop telemetry --once --source sysfs        the driver's counters alone; no SDK tool is needed

In the table a dash is an unknown value, never zero: the first record of neuron-monitor has no rates yet, and no process
has a runtime while a job only compiles. `left` counts for the memory bank, which several cores may share.

exit status: 0 fine · 1 nothing in the file is telemetry · 2 the file cannot be read · 3 no device and no tool here
(the reasons are on stderr), or no such file
"""

from __future__ import annotations

import argparse
import errno
import os
import queue
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path

from neuron_top import events, settings
from neuron_top.cli.output import log_stderr, print_json_line, print_text
from neuron_top.cli.telemetry_text import Snapshot
from neuron_top.errors import FileMalformed, NothingToShow, UsageError
from neuron_top.events import AnyEvent
from neuron_top.processes import log_input
from neuron_top.telemetry.source import Source
from neuron_top.telemetry.telemetry_file import TelemetryFile

_MACHINE = ("auto", "monitor", "ls", "sysfs")
_PATIENCE = 8.0
"""Seconds that --once waits for a sample with rates before it shows what it has."""
_SAMPLES = (
    events.CoresSampled
    | events.HostSampled
    | events.ExecutionsCounted
    | events.NeuronProcessesSampled
    | events.DevicesFound
    | events.HardwareErrorsCounted
    | events.CoreCountersRead
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop telemetry`."""
    parser.add_argument("--once", action="store_true", help="one sample, then the end (of a file: the last one)")
    parser.add_argument("--json", action="store_true", help="one event per line, as in a recording")
    parser.add_argument(
        "--source",
        default="auto",
        metavar="auto|monitor|ls|sysfs|FILE|-",
        help="where from; FILE or - (standard input) holds records of neuron-monitor or a listing of neuron-ls",
    )
    parser.add_argument(
        "--sysfs-root", default="/sys", metavar="DIR", help="read the driver's counters below DIR instead of /sys"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Show the telemetry. Raises NothingToShow when there is none."""
    if arguments.source in _MACHINE:
        return _of_machine(arguments)
    return _of_file(arguments)


def _of_machine(arguments: argparse.Namespace) -> int:
    sources = _sources(arguments.source, arguments.sysfs_root)
    snapshot, silent = Snapshot(), set[str]()
    stream = _driven(sources, patience=_PATIENCE if arguments.once else None)
    try:
        for event in stream:
            snapshot.apply(event)
            if isinstance(event, events.SourceUnavailable):
                log_stderr(f"neurontop: {event.name}: {event.reason}")
                silent.add(event.name)
                if snapshot.empty and silent.issuperset(source.name for source in sources):
                    break
            elif not arguments.once:
                _show(event, snapshot, as_json=arguments.json)
            elif snapshot.complete(arguments.source):
                break
    finally:
        stream.close()
    if snapshot.empty:
        raise NothingToShow("no telemetry here; `neurontop doctor` says what is missing")
    if arguments.once:
        _show_once(snapshot, as_json=arguments.json)
    return 0


def _sources(wanted: str, sysfs_root: str) -> list[Source]:
    from neuron_top.telemetry import sources
    from neuron_top.telemetry.devices import NeuronLsPoller
    from neuron_top.telemetry.monitor import MonitorSource
    from neuron_top.telemetry.source import Periodic
    from neuron_top.telemetry.sysfs import SysfsTree

    if not Path(sysfs_root).is_dir():
        raise UsageError(f"--sysfs-root {sysfs_root}: no such folder")
    current, _ = settings.load()
    if wanted == "monitor":
        return [MonitorSource(current.sample_seconds)]
    if wanted == "ls":
        return [Periodic("neuron-ls", 60.0, NeuronLsPoller())]
    if wanted == "sysfs":
        return [Periodic("sysfs", current.sample_seconds, sources.SysfsPoller(SysfsTree(sysfs_root)))]
    return sources.telemetry_sources(current, sysfs_root)


def _driven(sources: list[Source], patience: float | None) -> Generator[AnyEvent, None, None]:
    """The events of several sources, each in its own thread; ends when all have ended, or patience has."""
    arrived: queue.SimpleQueue[AnyEvent | None] = queue.SimpleQueue()

    def drive(source: Source) -> None:
        try:
            source.start(arrived.put)
        finally:
            arrived.put(None)

    threads = [threading.Thread(target=drive, args=(source,), daemon=True) for source in sources]
    deadline = None if patience is None else time.monotonic() + patience
    running = len(threads)
    for thread in threads:
        thread.start()
    try:
        while running:
            event = arrived.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            if event is None:
                running -= 1
            else:
                yield event
    except queue.Empty:
        pass
    finally:
        for source in sources:
            source.stop()
        for thread in threads:
            thread.join()


def _of_file(arguments: argparse.Namespace) -> int:
    name = "standard input" if arguments.source == "-" else arguments.source
    reader = TelemetryFile(f"monitor:{arguments.source}")
    snapshot = Snapshot()
    told, live = False, arguments.source == "-" and not arguments.once
    for event in _file_events(reader, arguments.source):
        snapshot.apply(event)
        if isinstance(event, events.LineMalformed):
            if not told:
                log_stderr(f"neurontop: {name}: a line that cannot be read is left out: {event.reason}")
            told = True
        elif not arguments.once and (arguments.json or live):
            _show(event, snapshot, as_json=arguments.json)
    if reader.malformed > 1:
        log_stderr(f"neurontop: {name}: {reader.malformed} lines in all were left out")
    if reader.documents == 0:
        raise FileMalformed(name, "records of neuron-monitor or a listing of neuron-ls")
    if arguments.once or not (arguments.json or live):
        _show_once(snapshot, as_json=arguments.json)
    return 0


def _file_events(reader: TelemetryFile, path: str) -> Iterator[AnyEvent]:
    if path != log_input.STANDARD_INPUT and not os.path.lexists(path):
        raise NothingToShow(f"{path}: {os.strerror(errno.ENOENT)}")
    for data in log_input.portions(path, log_stderr, log_input.standard_input_bytes()):
        yield from reader.feed(data)
    yield from reader.flush()


def _show(event: AnyEvent, snapshot: Snapshot, *, as_json: bool) -> None:
    if as_json:
        if isinstance(event, _SAMPLES):
            print_json_line(event)
    elif isinstance(event, events.CoresSampled | events.DevicesFound):
        print_text(f"{snapshot.text()}\n")


def _show_once(snapshot: Snapshot, *, as_json: bool) -> None:
    if as_json:
        for event in snapshot.events():
            print_json_line(event)
    else:
        print_text(snapshot.text())
