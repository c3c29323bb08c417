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
    Subcommand("show", "show", "one entry in full: graph, artefact, flags, lock, failure log"),
    Subcommand("verify", "verify", "look for entries that are broken"),
    Subcommand("roots", "roots", "every compile cache of this machine, neighbours and work folders included"),
)
