"""The sub-commands of `neurontop cache`: one module each, with `configure(parser)` and `execute(arguments)`.

Those that carry out an action come from its row in the registry of actions, with their names and their help.
"""

from __future__ import annotations

from neuron_top.cli.command import Command
from neuron_top.services.cache_actions import ACTIONS

_LISTS = (
    Command("ls", "listing", "the entries of a cache, with state, size, age and cause of failure"),
    Command("stats", "stats", "sums by state and compiler version, free disk space"),
    Command("show", "show", "one entry in full: graph, artifact, flags, lock, failure log"),
    Command("roots", "roots", "every compile cache of this machine, neighbors and work folders included"),
    Command("pins", "pins", "list the pins"),
    Command("journal", "journal", "what was done here, when and by whom"),
)
_PLANS_AND_POLICY = (
    Command("apply", "apply", "execute a saved plan, or resume an interrupted one"),
    Command("policy", "policy", "show and edit the budget that maintain keeps"),
    Command("maintain", "maintain", "apply the policy once, for cron and systemd timers"),
)
SUBCOMMANDS = (
    *_LISTS,
    *(Command(name, name, summary) for action in ACTIONS for name, summary in action.commands.items()),
    *_PLANS_AND_POLICY,
)
READING = frozenset(row.name for row in _LISTS)
"""Commands that only look: where one fails, nothing was done."""
