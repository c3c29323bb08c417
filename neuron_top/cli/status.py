"""Print the overview once, for scripts: of the job that is being recorded, else of worker processes that run here,
else of the last recording.

    neurontop status
    neurontop status last                a recording (last, id or name), whatever runs here
    neurontop status train.log           a log that nobody recorded
    neurontop status --json | jq .compile.running
    until [ "$(neurontop status --json | jq .training.step)" -ge 100 ]; do sleep 5; done

JSON: bytes, seconds, shares 0…1, times in seconds since the epoch; what is unknown is null.
A job that failed says why in the first line; "diagnosis" in the JSON is the answer of `neurontop diagnose`.

The job of a log without a failure counts as running until the file has not changed for 15 minutes.

exit status: 0 fine · 1 the job failed or was interrupted, or its recording was cut off (a log that just stops, or
ends in a wait for a lock, is 0) · 2 usage, or a file cannot be read · 3 not found
"""

from __future__ import annotations

import argparse

from neuron_top import settings as configuration
from neuron_top.cli.output import log_stderr, print_json, standard_input_bytes
from neuron_top.cli.plain import print_overview
from neuron_top.services.status import status


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `status`."""
    parser.add_argument(
        "run", nargs="?", metavar="RUN|LOG", help="recording (id, unique prefix of one, name, or last), or log"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    view = status(configuration.load()[0], arguments.run, standard_input_bytes(), log_stderr)
    print_json(view) if arguments.json else print_overview(view)
    ended_well = view.header.active or view.header.exit_code == 0 or not view.header.run
    failed = view.compile.failed > 0 if view.diagnosis is None else view.diagnosis.has_surely_failed
    return 0 if ended_well and not failed else 1
