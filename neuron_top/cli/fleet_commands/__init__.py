"""The sub-commands of `neurontop fleet`: one module each, with `configure(parser)` and `execute(arguments)`."""

from __future__ import annotations

from typing import NamedTuple


class Subcommand(NamedTuple):
    """One row of the table."""

    name: str
    module: str
    summary: str


SUBCOMMANDS = (
    Subcommand("watch", "watch", "open the terminal program on the screen of the fleet"),
    Subcommand("jobs", "jobs", "list jobs with their state, nodes and phase"),
    Subcommand("nodes", "nodes", "list nodes with what they do and the worst of their cores"),
    Subcommand("summary", "summary", "print the summary of a job over all its nodes"),
    Subcommand("top", "top", "rank nodes by a metric, the worst first"),
    Subcommand("different", "different", "say in what the slow nodes, or named ones, differ from the rest"),
    Subcommand("check", "check", "say which nodes lack which graphs, before a launch"),
    Subcommand("init", "init", "make the tables, roles and row security of a database, or migrate them"),
    Subcommand("prune", "prune", "drop days of events that are older, or take more, than the policy allows"),
)
