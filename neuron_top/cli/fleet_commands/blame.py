"""Say who compiled the graphs of a job, why there, who waited for them how long, and what it cost in core-hours.

    neurontop fleet blame 4711
    neurontop fleet blame bert --graphs 30 --json | jq '.repeated[] | {because, text, cost}'

Times are of ranks, added up over all nodes; a rank that waits or compiles keeps its cores idle. What is unknown, such
as the cores of a node, is left out of core-hours and named. The timeline shows each node: C compiling, w waiting.

exit status: 0 fine · 1 the database cannot be used · 2 no database is named · 3 no such job
"""

from __future__ import annotations

import argparse
import shutil

from neuron_top.cli.fleet_commands.common import add_reading_options, fleet_service
from neuron_top.cli.names import named
from neuron_top.cli.numbers import whole_number
from neuron_top.cli.output import print_json, print_text, table
from neuron_top.units import counted
from neuron_top.views.blame.records import Blame
from neuron_top.views.blame.text import (
    ADVICE,
    GRAPH_COLUMNS,
    REPEATED_COLUMNS,
    compiles_text,
    graph_cells,
    headline,
    notes,
    repeated_cells,
    span_text,
    timeline_label,
    wait_text,
)
from neuron_top.views.blame.timeline import blame_timeline

_WAITS_SHOWN = 3
_ROWS_SHOWN = 20
_LEAST_COLUMNS = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet blame`."""
    parser.add_argument("job", type=named, metavar="JOB", help="id, unique prefix of one, or name")
    parser.add_argument(
        "--graphs", type=whole_number(1), default=10, metavar="N", help="graphs to show, by cost (default: 10)"
    )
    add_reading_options(parser, job=False)


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    with fleet_service(arguments) as fleet:
        found = fleet.blame(arguments.job)
    print_json(found) if arguments.json else _print(found, arguments.graphs)
    return 0


def _print(found: Blame, most: int) -> None:
    for what, text in headline(found):
        print_text(f"{what:<10} {text}")
    for note in notes(found):
        print_text(f"           {note}")
    if found.graphs:
        print()
        print(table(GRAPH_COLUMNS, map(graph_cells, found.graphs[:most]), right=(2, 5, 7)))
        if len(found.graphs) > most:
            print_text(f"and {len(found.graphs) - most} more: --graphs N")
    for row in found.graphs[:most]:
        lines = [*compiles_text(row), *(f"waited: {wait_text(wait)}" for wait in row.waits[:_WAITS_SHOWN])]
        if lines:
            print_text(f"\n{row.graph}")
            for line in lines:
                print_text(f"  {line}")
            if len(row.waits) > _WAITS_SHOWN:
                print_text(f"  and {counted(len(row.waits) - _WAITS_SHOWN, 'node')} more waited")
    if found.repeated:
        print()
        print(table(REPEATED_COLUMNS, map(repeated_cells, found.repeated), right=(1, 2, 4, 5)))
        for repeated in found.repeated:
            print_text(f"{repeated.because}: {ADVICE[repeated.because]}")
    _print_timeline(found)


def _print_timeline(found: Blame) -> None:
    columns = shutil.get_terminal_size((100, 24)).columns
    drawn = blame_timeline(found, max(_LEAST_COLUMNS, columns - 30))
    if drawn is None:
        return
    span = span_text(drawn.start, drawn.end)
    print_text(f"\nnodes over time, {span}: C compiling, w waiting")
    for row in drawn.rows[:_ROWS_SHOWN]:
        print_text(f"{timeline_label(row)[:28]:<28}  {''.join(row.cells)}")
    left = sum(len(row.nodes) for row in drawn.rows[_ROWS_SHOWN:])
    if left:
        print_text(f"and {counted(left, 'node')} more, which spent less")
