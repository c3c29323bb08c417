"""The sub-commands of `neurontop cache`: one module each, with `configure(parser)` and `execute(arguments)`."""

from __future__ import annotations

from neuron_top.cli.command import Command

SUBCOMMANDS = (
    Command("ls", "listing", "the entries of a cache, with state, size, age and cause of failure"),
    Command("stats", "stats", "sums by state and compiler version, free disk space"),
    Command("show", "show", "one entry in full: graph, artifact, flags, lock, failure log"),
    Command("verify", "verify", "find broken entries, and move them aside"),
    Command("roots", "roots", "every compile cache of this machine, neighbors and work folders included"),
    Command("evict", "evict", "free disk: by size, free space, age, compiler, state or name; undoable"),
    Command("retry", "retry", "compile failed graphs again, now or on the next run"),
    Command("unlock", "unlock", "remove locks whose holder is proved dead"),
    Command("pin", "pin", "keep modules from eviction: by name, pattern or recorded run"),
    Command("unpin", "unpin", "remove pins"),
    Command("pins", "pins", "list the pins"),
    Command("copy", "copy", "copy usable entries to another root, verified"),
    Command("pull", "pull", "fetch what this node lacks from a bucket or a shared cache, verified"),
    Command("push", "push", "store what a bucket lacks of this node's cache, verified"),
    Command("apply", "apply", "execute a saved plan, or resume an interrupted one"),
    Command("journal", "journal", "what was done here, when and by whom"),
    Command("restore", "restore", "undo a plan: the newest, or one by name"),
    Command("purge", "purge", "empty the trash: frees its space, cannot be undone"),
    Command("policy", "policy", "show and edit the budget that maintain keeps"),
    Command("maintain", "maintain", "apply the policy once, for cron and systemd timers"),
)
