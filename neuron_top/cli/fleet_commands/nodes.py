"""List the nodes of a fleet: what each does, the worst and the median of its cores, its step time, and what is wrong.

    neurontop fleet nodes
    neurontop fleet nodes --job 4711 --sort step_seconds
    neurontop fleet nodes --json | jq -r '.[] | select(.slow) | .node'

JSON: a list with an object per node; bytes, seconds, shares 0…1; null is unknown.

exit status: 0 fine · 1 the database cannot be used · 2 no database is named, or no such metric · 3 no such job
"""

from __future__ import annotations

import argparse

from neuron_top.cli.fleet_commands.common import add_reading_options, fleet_service
from neuron_top.cli.output import print_json, print_text, table
from neuron_top.units import UNKNOWN, count_text, duration_text
from neuron_top.views.fleet import METRICS, NodeRow, metric_named, sorted_nodes
from neuron_top.views.fleet_text import jobs_text, trouble_text

_COLUMNS = ("node", "job", "state", "phase", "step", "a step", "cores: worst", "median", "memory: worst", "")


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet nodes`."""
    add_reading_options(parser)
    names = [metric.name for metric in METRICS]
    parser.add_argument("--sort", metavar="METRIC", help=f"the worst first by one of: {', '.join(names)}")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    metric = metric_named(arguments.sort) if arguments.sort else None
    with fleet_service(arguments) as fleet:
        nodes = sorted_nodes(fleet.page(arguments.job).nodes, metric)
    if arguments.json:
        print_json(nodes)
    elif nodes:
        print(table(_COLUMNS, map(_cells, nodes), right=(4, 5, 6, 7, 8)))
    else:
        print_text("no node yet: start `neurontop agent` on each")
    return 0


def _cells(node: NodeRow) -> tuple[str, ...]:
    busy, memory = (node.metrics.get(name) for name in ("utilization", "memory"))
    share, size = metric_named("utilization"), metric_named("memory")
    return (
        node.node,
        jobs_text(node),
        node.state,
        node.phase or UNKNOWN,
        count_text(node.step),
        duration_text(node.step_seconds),
        share.text(busy.worst if busy else None),
        share.text(busy.median if busy else None),
        size.text(memory.worst if memory else None),
        trouble_text(node),
    )
