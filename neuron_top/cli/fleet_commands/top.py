"""Rank nodes by a metric, the worst first, with the core that is the worst one.

    neurontop fleet top                           the least busy cores
    neurontop fleet top step_seconds --count 3    the three slowest nodes
    neurontop fleet top memory --job 4711 --json

exit status: 0 fine · 1 the database cannot be used · 2 no database is named, or no such metric · 3 no such job
"""

from __future__ import annotations

import argparse

from neuron_top.cli.fleet_commands.common import add_reading_options, fleet_service
from neuron_top.cli.numbers import whole_number
from neuron_top.cli.output import print_json, print_text, table
from neuron_top.units import UNKNOWN
from neuron_top.views.fleet import METRICS, metric_named, top


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet top`."""
    words = "; ".join(f"{metric.name}: {metric.help}" for metric in METRICS)
    parser.add_argument(
        "metric", nargs="?", default=METRICS[0].name, metavar="METRIC", help=f"{words} (default: {METRICS[0].name})"
    )
    parser.add_argument("--count", type=whole_number(1), default=10, metavar="N", help="how many (default: 10)")
    add_reading_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    metric = metric_named(arguments.metric)
    with fleet_service(arguments) as fleet:
        rows = top(fleet.page(arguments.job), metric, arguments.count)
    if arguments.json:
        print_json(rows)
    elif rows:
        cells = [(row.node, row.text, metric.text(row.median), row.core or UNKNOWN, row.job) for row in rows]
        print(table(("node", metric.title, "median of its cores", "core", "job"), cells, right=(1, 2)))
    else:
        print_text(f"no node reports {metric.title}")
    return 0
