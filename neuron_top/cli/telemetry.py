"""Print telemetry of the Neuron devices of this machine, once or as a stream.

Without --source all that is available is read: neuron-monitor for utilization, the driver's counters under /sys for
memory, peaks and power, neuron-ls for the devices, and Neuron Observer where neuron-monitor is silent. A missing source
is reported on stderr; the others are read.

examples:
  neurontop telemetry --once                       one table
  neurontop telemetry --json >telemetry.jsonl      every sample as a JSON line, until Ctrl-C
  neurontop telemetry --source monitor.jsonl       a file written by neuron-monitor
  ssh trn1 neuron-monitor | neurontop telemetry --source -
  neurontop telemetry --once --source sysfs        the driver's counters alone; needs no SDK tool
  neurontop telemetry --source http://10.0.0.7:7001/metrics        Neuron Observer, of this machine or of another

In the table — means unknown: the first record of neuron-monitor has no rates yet, and no process has a runtime while a
job only compiles. `free` is what is left of the memory bank, which several cores may share.

exit status: 0 fine · 1 the file holds no telemetry · 2 the file cannot be read · 3 no device and no tool found (reasons
on stderr), or file not found
"""

from __future__ import annotations

import argparse

from neuron_top import settings
from neuron_top.cli.output import log_stderr, print_json_line, print_text, standard_input_bytes, table
from neuron_top.errors import NothingToShow
from neuron_top.services.telemetry import (
    AUTO,
    LatestTelemetry,
    MachineTelemetry,
    SavedTelemetry,
    TelemetryEvent,
    changes_tables,
    is_of_machine,
    is_sample,
    malformed_reason,
    source_remark,
)
from neuron_top.views import telemetry as views
from neuron_top.views.telemetry import TelemetryTable

_PATIENCE = 8.0
"""Seconds that --once waits for a sample with rates before it shows what it has."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop telemetry`."""
    parser.add_argument(
        "--once",
        action="store_true",
        help=f"print one sample (of a file: the last one); waits for at most {_PATIENCE:g} s",
    )
    parser.add_argument("--json", action="store_true", help="print one event per line, as in a recording")
    parser.add_argument(
        "--source",
        default=AUTO,
        metavar="auto|monitor|ls|sysfs|observer|URL|FILE|-",
        help="what to read; URL is an address of Neuron Observer; FILE or - (stdin) holds records of neuron-monitor, a "
        "page of its Prometheus exporter, a listing of neuron-ls or saved metrics of Neuron Observer",
    )
    parser.add_argument(
        "--sysfs-root", default="/sys", metavar="DIR", help="read the driver's counters below DIR (default: /sys)"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Show the telemetry. Raises NothingToShow when there is none."""
    return _of_machine(arguments) if is_of_machine(arguments.source) else _of_file(arguments)


def _of_machine(arguments: argparse.Namespace) -> int:
    patience = _PATIENCE if arguments.once else None
    machine = MachineTelemetry(settings.load()[0], arguments.source, arguments.sysfs_root, patience=patience)
    latest = LatestTelemetry()
    stream = machine.events()
    try:
        for event in stream:
            latest.apply(event)
            if remark := source_remark(event):
                log_stderr(f"neurontop: {remark}")
                if latest.is_empty and machine.is_hopeless(latest.unavailable):
                    break
            elif not arguments.once:
                _show(event, latest, as_json=arguments.json)
            elif latest.is_complete(arguments.source):
                break
    finally:
        stream.close()
    if latest.is_empty:
        raise NothingToShow("no telemetry here; `neurontop doctor` says what is missing")
    if arguments.once:
        _show_once(latest, as_json=arguments.json)
    return 0


def _of_file(arguments: argparse.Namespace) -> int:
    saved = SavedTelemetry(arguments.source, log_stderr, standard_input_bytes())
    latest = LatestTelemetry()
    warned, live = False, arguments.source == "-" and not arguments.once
    for event in saved.events():
        latest.apply(event)
        if reason := malformed_reason(event):
            if not warned:
                log_stderr(f"neurontop: {saved.title}: skipped a line that cannot be read: {reason}")
            warned = True
        elif remark := source_remark(event):
            log_stderr(f"neurontop: {saved.title}: {remark}")
        elif not arguments.once and (arguments.json or live):
            _show(event, latest, as_json=arguments.json)
    if saved.malformed > 1:
        log_stderr(f"neurontop: {saved.title}: skipped {saved.malformed} lines in all")
    saved.check()
    if arguments.once or not (arguments.json or live):
        _show_once(latest, as_json=arguments.json)
    return 0


def _show(event: TelemetryEvent, latest: LatestTelemetry, *, as_json: bool) -> None:
    if as_json:
        if is_sample(event):
            print_json_line(event)
    elif changes_tables(event):
        print_text(f"{_tables(latest)}\n")


def _show_once(latest: LatestTelemetry, *, as_json: bool) -> None:
    if as_json:
        for event in latest.events():
            print_json_line(event)
    else:
        print_text(_tables(latest))


def _tables(latest: LatestTelemetry) -> str:
    """The newest of everything as tables."""
    errors = views.memory_error_lines(latest.errors.values())
    parts = (
        _table_text(views.device_table(latest.devices)) if latest.devices is not None else "",
        _table_text(views.core_table(latest.cores, latest.headroom())) if latest.cores is not None else "",
        _table_text(views.process_table(latest.processes)) if latest.processes is not None else "",
        _table_text(views.execution_table(latest.executions.values())),
        views.host_text(latest.host) if latest.host is not None else "",
        "\n".join(["memory errors:", *errors]) if errors else "",
    )
    return "\n\n".join(part for part in parts if part)


def _table_text(shown: TelemetryTable) -> str:
    rows = table(shown.header, shown.rows, right=shown.right) if shown.header else ""
    return "\n".join(part for part in (shown.title, rows) if part)
