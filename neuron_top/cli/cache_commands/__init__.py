"""The sub-commands of `neurontop cache`: one module each, with `configure(parser)` and `execute(arguments)`."""

from __future__ import annotations

from typing import NamedTuple


class Subcommand(NamedTuple):
    """One row of the table."""

    name: str
    module: str
    summary: str


SUBCOMMANDS = (
    Subcommand("ls", "listing", "the entries of a cache, with state, size, age and cause of failure"),
    Subcommand("stats", "stats", "sums by state and compiler version, free disk space"),
    Subcommand("show", "show", "one entry in full: graph, artifact, flags, lock, failure log"),
    Subcommand("verify", "verify", "find broken entries, and move them aside"),
    Subcommand("roots", "roots", "every compile cache of this machine, neighbors and work folders included"),
    Subcommand("evict", "evict", "free disk: by size, free space, age, compiler, state or name; undoable"),
    Subcommand("retry", "retry", "compile failed graphs again, now or on the next run"),
    Subcommand("unlock", "unlock", "remove locks whose holder is proved dead"),
    Subcommand("pin", "pin", "keep modules from eviction: by name, pattern or recorded run"),
    Subcommand("unpin", "unpin", "remove pins"),
    Subcommand("pins", "pins", "list the pins"),
    Subcommand("copy", "copy", "copy usable entries to another root, verified"),
    Subcommand("pull", "pull", "fetch what this node lacks from a bucket or a shared cache, verified"),
    Subcommand("push", "push", "store what a bucket lacks of this node's cache, verified"),
    Subcommand("apply", "apply", "execute a saved plan, or resume an interrupted one"),
    Subcommand("journal", "journal", "what was done here, when and by whom"),
    Subcommand("restore", "restore", "undo a plan: the newest, or one by name"),
    Subcommand("purge", "purge", "empty the trash: frees its space, cannot be undone"),
    Subcommand("policy", "policy", "show and edit the budget that maintain keeps"),
    Subcommand("maintain", "maintain", "apply the policy once, for cron and systemd timers"),
)
