"""Check before a launch, in a prolog or in CI, that every node will find every graph in its cache.

    neurontop fleet check --job pretrain --graphs last         graphs of the last recorded run, on nodes of a job
    neurontop fleet check --graphs graphs.txt --nodes n1,n2    graphs that a file names (a list, a job's log)
    neurontop fleet check                                      every graph that some node has, on all nodes
    neurontop fleet check --srun --graphs graphs.txt           in a Slurm allocation: ask its nodes first

A node that lacks a graph compiles it while all others wait for it; what that costs is estimated from past compiles.
The answer comes from what the nodes' agents reported of their caches. Where no agents run, let each node report once:
srun --overlap --ntasks-per-node=1 neurontop agent --once. --srun runs that on those nodes of the job (--job ID, else
SLURM_JOB_ID) of which no agent reported anything in the last minute.

exit status: 0 every node has every graph · 1 something is missing · 2 usage · 3 nothing is known of nodes or graphs
"""

from __future__ import annotations

import argparse

from neuron_top.cli.fleet_commands.common import add_reading_options, fleet_service, node_names
from neuron_top.cli.names import named
from neuron_top.cli.output import print_json, print_text, table
from neuron_top.cli.setting_options import settings_of
from neuron_top.errors import NothingToShow
from neuron_top.units import counted, duration_text
from neuron_top.views.fleet_check import ADVICE, Availability, CheckCost, FleetCheck

_NAMED = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `fleet check`."""
    parser.add_argument(
        "--graphs", type=named, metavar="RUN|FILE", help="graphs of a recorded run, or that a file names"
    )
    parser.add_argument("--nodes", type=named, metavar="A,B,…", help="only these nodes")
    parser.add_argument("--srun", action="store_true", help="let nodes of this Slurm job report first, without agents")
    add_reading_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print the matrix, what to do, and the exit status."""
    graphs: tuple[str, ...] = ()
    if arguments.graphs:
        from neuron_top.services.named_modules import modules_needed

        graphs = modules_needed(settings_of(arguments), arguments.graphs)
    job = arguments.job
    with fleet_service(arguments) as fleet:
        if arguments.srun:
            job = fleet.report_by_slurm(job)
        check = fleet.check(graphs, job=job, nodes=node_names(arguments.nodes))
    if arguments.json:
        print_json({"complete": check.is_complete, "known": check.is_known, **_plain(check)})
    elif check.is_known:
        _print(check)
    if not check.is_known:
        raise NothingToShow(
            "no node has reported its caches: start neurontop agent on them, or name other nodes or graphs"
        )
    return 0 if check.is_complete else 1


def _plain(check: FleetCheck) -> dict[str, object]:
    return {"graphs": check.graphs, "nodes": check.nodes, "skew": check.skew, "cost": check.cost}


def _print(check: FleetCheck) -> None:
    kinds = [found for found in Availability if found is not Availability.HAVE]
    rows = [
        (node.node, str(node.have), *(str(len(node.lacks.get(kind, ()))) for kind in kinds)) for node in check.nodes
    ]
    print(table(("node", "have", *map(str, kinds)), rows, right=tuple(range(1, len(kinds) + 2))))
    lacking: dict[Availability, dict[str, list[str]]] = {}
    for node in check.nodes:
        for kind, graphs in node.lacks.items():
            for graph in graphs:
                lacking.setdefault(kind, {}).setdefault(graph, []).append(node.node)
    for kind, by_graph in lacking.items():
        print_text(f"{kind}: {counted(len(by_graph), 'graph', 'graphs')}; {ADVICE[kind]}")
        for graph, nodes in sorted(by_graph.items(), key=lambda each: -len(each[1]))[:_NAMED]:
            print_text(f"  {graph} on {_some(nodes)}")
    for skew in check.skew:
        held = "; ".join(f"{value} on {_some(nodes)}" for value, nodes in skew.values.items())
        print_text(f"{skew.attribute} differs: {held}")
    if check.cost is not None:
        print_text(f"launched as it is: {_cost_text(check.cost, len(check.nodes))}")
    if check.is_complete:
        print_text(f"every node has all {counted(check.graphs, 'graph', 'graphs')}")


def _cost_text(cost: CheckCost, nodes: int) -> str:
    """What waiting for the missing compiles costs, and what of it is not known."""
    if cost.seconds is None:
        return f"the cost is unknown: no past compile of {counted(len(cost.unknown_graphs), 'graph')} is known"
    waiting = f"{counted(nodes, 'node')} wait about {duration_text(cost.seconds)} for {cost.node}"
    cores = f", {cost.core_hours:.1f} core-hours" if cost.core_hours is not None else ""
    text = f"{waiting}: {cost.node_hours:.1f} node-hours{cores}"
    if cost.core_hours is None:
        text += "; how many cores they have is unknown"
    elif cost.without_cores:
        text += f" without {_some(cost.without_cores)}, whose cores are unknown"
    if cost.unknown_graphs:
        text += f"; {counted(len(cost.unknown_graphs), 'graph')} more have never been compiled before"
    return text


def _some(nodes: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
    return ", ".join(nodes[:_NAMED]) + more
