"""List recordings, newest first: start, duration, state, share of compile time, hit rate and size.

    neurontop runs                 the newest 20
    neurontop runs --all --json    all of them, as JSON
    neurontop runs push RUN …      copy recordings of this machine into the database that --store names
    neurontop runs pull RUN …      copy recordings of that database to this machine

`neurontop replay RUN` plays one back; RUN is an id, a unique prefix of one, a name, or `last`. A copy that was cut
short, or whose recording went on since, is completed by the next one. The log of a job stays on its machine.

exit status: 0 fine · 1 the store cannot be used · 2 usage · 3 no recording found · 4 refused for safety
"""

from __future__ import annotations

import argparse
import time

from neuron_top import units
from neuron_top.cli.output import log_stderr, print_json, print_text, table
from neuron_top.cli.store_option import add_store, settings_of
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.units import counted
from neuron_top.views.runs import RunRow

_SHOWN = 20
_COPIES = ("push", "pull")
_HEADER = ("run", "name", "started", "took", "state", "compile", "hits", "size")


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `runs`."""
    parser.add_argument("action", nargs="?", choices=_COPIES, metavar="push|pull", help="copy recordings instead")
    parser.add_argument("names", nargs="*", metavar="RUN", help="which recordings to copy")
    parser.add_argument("--all", action="store_true", help="list all recordings, not only the newest 20")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_store(parser)


def execute(arguments: argparse.Namespace) -> int:
    """List them, or copy some."""
    settings = settings_of(arguments)
    if arguments.action:
        return _copy(settings, arguments)
    service = RunService(settings)
    rows, count = service.rows(None if arguments.all else _SHOWN), service.count()
    if arguments.json and service.was_used:
        print_json({"schema": 1, "runs": rows})
        return 0
    if not rows:
        raise NothingToShow(
            f"nothing was recorded yet in {service.folder}; `neurontop run -- <command>` makes a recording"
        )
    print(table(_HEADER, [_cells(row) for row in rows], right=(3, 5, 6, 7)))
    if count > len(rows):
        log_stderr(f"{count - len(rows)} older recordings; list them with neurontop runs --all")
    return 0


def _copy(settings: Settings, arguments: argparse.Namespace) -> int:
    from neuron_top.services import transfer

    if not arguments.names:
        raise UsageError(f"runs {arguments.action}: name the recordings to copy; `neurontop runs` lists them")
    copied = (transfer.push if arguments.action == "push" else transfer.pull)(settings, arguments.names)
    if arguments.json:
        print_json({"schema": 1, "copied": copied})
        return 0
    for one in copied:
        print_text(f"{one.id}: {counted(one.events, 'event')}, {one.new:,} of them new")
    return 0


def _cells(row: RunRow) -> tuple[str, ...]:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.started)) if row.started else units.UNKNOWN
    return (
        row.id,
        row.name or (row.command[0].rpartition("/")[2] if row.command else units.UNKNOWN),
        started,
        units.duration_text(row.seconds),
        row.state_text,
        units.percent_text(row.compile_share),
        units.percent_text(row.hit_rate),
        units.bytes_text(row.bytes),
    )
