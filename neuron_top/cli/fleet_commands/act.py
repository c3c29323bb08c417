"""Ask the agents of chosen nodes for a change of their caches.

    neurontop fleet evict 'MODULE_1234*' --nodes n1,n2           entries of these modules
    neurontop fleet retry --job pretrain                         failures are compiled again by the next run
    neurontop fleet unlock --all                                 locks whose holder is proved dead
    neurontop fleet verify --nodes n7 --dry-run                  read artifacts whole; what is corrupt is moved aside
    neurontop fleet pin --graphs last --all                      no eviction on these nodes takes them
    neurontop fleet pull --from s3://bucket/prefix --graphs graphs.txt --nodes n1,n2

The agent of each node plans, on nodes with `fleet_actions = true` in their settings. One plan, with the sum and what
each node leaves out, is shown and confirmed once. Each agent checks it again and carries it out once, under the locks
of the entries and with a journal of its own. A node that has not begun after 15 minutes does nothing.
`neurontop fleet undo` undoes it, on some nodes or on all.
The database's login needs the role neurontop_operator.

exit status: 0 done on every node · 1 some nodes refused, failed or did not answer, or the login may not ask · 2 usage ·
3 no such node or graphs · 4 refused: nobody confirmed
"""

from __future__ import annotations

import argparse
from collections.abc import Collection

from neuron_top.cli.cache_commands.plan_runner import confirm
from neuron_top.cli.fleet_commands import SUBCOMMANDS
from neuron_top.cli.fleet_commands.common import fleet_service
from neuron_top.cli.names import named
from neuron_top.cli.numbers import number_in
from neuron_top.cli.output import log_stderr, print_json, print_text, table
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.errors import UsageError
from neuron_top.services.fleet_actions import FleetActions, FleetRequest
from neuron_top.units import counted
from neuron_top.views.fleet import NodeReporting
from neuron_top.views.fleet_plan import FleetPlan, done_text, node_text, skipped_texts, state_text, sum_text

PLAN_SECONDS = 60.0
DONE_SECONDS = 3600.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of every action on the fleet."""
    action = parser.prog.rpartition(" ")[2]
    parser.set_defaults(fleet_action=action)
    parser.description = _description(action)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="names of modules, or patterns: 'MODULE_123*'")
    parser.add_argument(
        "--graphs", type=named, metavar="RUN|FILE", help="modules of a recorded run, or that a file names"
    )
    where = parser.add_argument_group("nodes").add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--nodes", type=named, metavar="A,B,…", help="these nodes; a pattern ('trn-*'): those that report now"
    )
    where.add_argument("--job", type=named, metavar="JOB", help="the nodes of a job")
    where.add_argument("--all", action="store_true", help="every node that reports")
    parser.add_argument("--root", metavar="ROOT", default="", help="the cache (default: the one in force on each node)")
    if action == "pull":
        parser.add_argument(
            "--from", dest="source", metavar="SOURCE", required=True, help="s3://bucket/prefix, or a folder"
        )
    parser.add_argument(
        "--assume-exclusive",
        action="store_true",
        help="state that no other host uses the caches, though they are shared",
    )
    parser.add_argument(
        "--wait",
        type=number_in(0, 86400, "must lie between 0 and 86400"),
        default=PLAN_SECONDS,
        metavar="SECONDS",
        help="longest wait for the plans of the nodes (default: 60)",
    )
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")
    answer.add_argument("--yes", action="store_true", help="do it without asking")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_store(parser, of_fleet=True)


def execute(arguments: argparse.Namespace) -> int:
    """Ask, show, confirm, follow, report."""
    request = FleetRequest(
        action=arguments.fleet_action,
        modules=_modules(arguments),
        root=arguments.root,
        source=getattr(arguments, "source", ""),
        assume_exclusive=arguments.assume_exclusive,
    )
    with FleetActions(settings_of(arguments)) as actions:
        plan = actions.ask(request, _nodes(actions, arguments))
        try:
            plan = actions.answered(plan.batch, arguments.wait)
            if not arguments.json:
                print_plan(plan)
            if arguments.dry_run or not plan.planned:
                return _left(actions, plan, arguments)
            if not arguments.yes:
                confirm(f"{sum_text(plan)}.", plan.word)
            actions.confirm(plan, plan.word)
        except BaseException:
            actions.take_back(plan.batch)
            raise
        plan = actions.answered(plan.batch, DONE_SECONDS)
    return report(plan, as_json=arguments.json)


def _description(action: str) -> str:
    """This module's text with the summary and the example of one action."""
    summary = next(row.summary for row in SUBCOMMANDS if row.name == action)
    _, *others = (__doc__ or "").splitlines()
    shown = [line for line in others if not line.startswith("    ") or f" fleet {action} " in line]
    return "\n".join((f"{summary[0].upper()}{summary[1:]}.", *shown))


def _modules(arguments: argparse.Namespace) -> tuple[str, ...]:
    if not arguments.graphs:
        return tuple(arguments.modules)
    from neuron_top.services.named_modules import modules_needed

    return (*arguments.modules, *modules_needed(settings_of(arguments), arguments.graphs))


def _nodes(actions: FleetActions, arguments: argparse.Namespace) -> Collection[str]:
    if arguments.nodes:
        return actions.nodes_named(arguments.nodes)
    with fleet_service(arguments) as fleet:
        nodes = {row.node for row in fleet.page(arguments.job).nodes if row.state is NodeReporting.REPORTING}
    if not nodes:
        raise UsageError("no node reports now; name some with --nodes")
    return nodes


def _left(actions: FleetActions, plan: FleetPlan, arguments: argparse.Namespace) -> int:
    """Withdraw a plan by which nothing is done; returns the exit status."""
    if arguments.json:
        print_json(plan)
    actions.take_back(plan.batch)
    refused = any(node.plan is None for node in plan.nodes)
    if not arguments.dry_run and not arguments.json:
        log_stderr("neurontop: nothing was done: no node has anything to do")
    return 1 if refused else 0


def print_plan(plan: FleetPlan) -> None:
    """Print a line for each node, what it skips, and the sum."""
    print(table(("node", "", "plan"), [(node.node, state_text(node), node_text(node)) for node in plan.nodes]))
    for node in plan.nodes:
        lines = [*(node.plan.shown if node.plan is not None else ()), *(f"  {text}" for text in skipped_texts(node))]
        lines += [f"  note: {text}" for text in node.plan.notes] if node.plan is not None else []
        if lines:
            print_text(f"{node.node}:")
            print_text("\n".join(lines))
            if node.plan is not None and node.plan.steps > len(node.plan.shown):
                print_text(f"  and {counted(node.plan.steps - len(node.plan.shown), 'step')} more")
    print_text(sum_text(plan))


def report(plan: FleetPlan, *, as_json: bool) -> int:
    """What every node did; the exit status."""
    if as_json:
        print_json(plan)
    else:
        print(
            table(("node", "", "what it did"), [(node.node, state_text(node), node_text(node)) for node in plan.nodes])
        )
        for node in plan.nodes:
            for text in skipped_texts(node):
                print_text(f"  {node.node}: {text}")
        print_text(done_text(plan))
        if plan.awaited:
            names = ", ".join(node.node for node in plan.awaited)
            log_stderr(f"neurontop: no answer from {names}; `neurontop fleet changes` shows it when it comes")
        if any(node.done is not None and node.done.undoable for node in plan.nodes):
            print_text(f"undo: neurontop fleet undo {plan.batch} [--nodes A,B]")
    return 0 if plan.went_well else 1
