"""The sub-commands of `neurontop fleet`: one module each, with `configure(parser)` and `execute(arguments)`."""

from __future__ import annotations

from typing import NamedTuple


class Subcommand(NamedTuple):
    """One row of the table."""

    name: str
    module: str
    summary: str


SUBCOMMANDS = (
    Subcommand("init", "init", "make the tables, roles and row security of a database, or migrate them"),
    Subcommand("prune", "prune", "drop days of events that are older, or take more, than the policy allows"),
)
