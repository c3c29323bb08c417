"""List the jobs of a fleet, the newest first: state, nodes, phase, step, graphs left and the longest wait.

    neurontop fleet jobs
    neurontop fleet jobs --json | jq '.[0].slow_nodes'

JSON: a list with an object per job; seconds, seconds since the epoch; null is unknown.

exit status: 0 fine · 1 the database cannot be used · 2 no database is named · 3 it has no tables yet
"""

from __future__ import annotations

import argparse

from neuron_top.cli.fleet_commands.common import add_reading_options, fleet_service
from neuron_top.cli.output import print_json, print_text, table
from neuron_top.units import count_text
from neuron_top.views.fleet import JobRow
from neuron_top.views.fleet_text import nodes_text, phases_text, steps_text, wait_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet jobs`."""
    add_reading_options(parser, job=False)


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    with fleet_service(arguments) as fleet:
        jobs = fleet.page().jobs
    if arguments.json:
        print_json(jobs)
    elif jobs:
        header = ("job", "name", "state", "nodes", "phase", "step", "left", "longest wait")
        print(table(header, map(_cells, jobs), (6,), names=1))
    else:
        print_text("no job yet: start one under `neurontop run --store …`, or agents beside it (`neurontop agent`)")
    return 0


def _cells(job: JobRow) -> tuple[str, ...]:
    return (
        job.job,
        job.name,
        job.state_text,
        nodes_text(job),
        phases_text(job),
        steps_text(job),
        count_text(job.graphs_left),
        wait_text(job),
    )
