"""List recordings, newest first: start, duration, state, share of compile time, hit rate and size.

    neurontop runs                 the newest 20
    neurontop runs --all --json    all of them, as JSON

`neurontop replay RUN` plays one back; RUN is an id, a unique prefix of one, a name, or `last`.

exit status: 0 fine · 3 no recording found
"""

from __future__ import annotations

import argparse
import time

from neuron_top import settings as configuration
from neuron_top import units
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.errors import NothingToShow
from neuron_top.services.runs import RunService
from neuron_top.views.runs import RunRow

_SHOWN = 20
_HEADER = ("run", "name", "started", "took", "state", "compile", "hits", "size")


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `runs`."""
    parser.add_argument("--all", action="store_true", help="list all recordings, not only the newest 20")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """List them."""
    service = RunService(configuration.load()[0])
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
