"""The sub-commands of `neurontop fleet`: one module each, with `configure(parser)` and `execute(arguments)`.

Those that ask nodes for a change come from the registry of actions.
"""

from __future__ import annotations

from neuron_top.cli.command import Command
from neuron_top.services.cache_actions import FLEET_ACTIONS

SUBCOMMANDS = (
    Command("watch", "watch", "open the terminal program on the screen of the fleet"),
    Command("jobs", "jobs", "list jobs with their state, nodes and phase"),
    Command("nodes", "nodes", "list nodes with what they do and the worst of their cores"),
    Command("summary", "summary", "print the summary of a job over all its nodes"),
    Command("top", "top", "rank nodes by a metric, the worst first"),
    Command("different", "different", "say how the slow nodes, or the nodes named, differ from the rest"),
    Command("blame", "blame", "say who compiled the graphs of a job, who waited, and what it cost"),
    Command("check", "check", "say which nodes lack which graphs, before a launch"),
    *(Command(action.fleet, "act", action.fleet_help) for action in FLEET_ACTIONS.values()),
    Command("changes", "changes", "list what operators asked nodes for, and what became of it"),
    Command("undo", "undo", "undo such a change, on some nodes or on all"),
    Command("init", "init", "make the tables, roles and row security of a database, or migrate them"),
    Command("prune", "prune", "drop days of events that are older, or take more, than the policy allows"),
)
