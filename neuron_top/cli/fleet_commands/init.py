"""Make the tables of a database, or migrate those of an earlier version; run it as the database's owner.

  NEURONTOP_STORE=postgresql://owner@db.example/neurontop neurontop fleet init
  neurontop fleet init --print-sql | psql …      for whoever must review it first; asks no server
  neurontop fleet init --print-sql --from 1      what a database of schema 1 lacks

It makes the schema `neurontop` with daily partitions, row security, and three roles without a login: neurontop_agent
(inserts rows of its own node), neurontop_viewer (reads) and neurontop_operator (reads, and asks nodes for changes).
Logins are the site's: a node's is named as the node. A schema that is up to date only gets its next days; a newer one
is refused. Making the roles needs CREATEROLE, unless they are there.

exit status: 0 fine · 1 the database cannot be used · 2 usage · 4 refused: the connection would not be safe
"""

from __future__ import annotations

import argparse

from neuron_top.cli.numbers import whole_number
from neuron_top.cli.output import print_json, print_text
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop fleet init`."""
    add_store(parser, of_fleet=True)
    parser.add_argument("--print-sql", action="store_true", help="print the SQL instead, and ask no server")
    parser.add_argument(
        "--from",
        dest="after",
        metavar="VERSION",
        type=whole_number(0),
        help="with --print-sql: the schema's version now (default: 0)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Make or migrate them."""
    from neuron_top.services.fleet_admin import FleetAdministration, sql_script

    if arguments.print_sql:
        print_text(sql_script(arguments.after or 0))
        return 0
    if arguments.after is not None:
        raise UsageError("--from needs --print-sql; without it the version is read from the server")
    administration = FleetAdministration(settings_of(arguments))
    done = administration.init()
    if arguments.json:
        print_json({"schema": 1, "store": administration.place, "before": done.before, "after": done.after})
    elif done.before == done.after:
        print_text(f"{administration.place}: schema {done.after} is up to date")
    elif done.before:
        print_text(f"{administration.place}: migrated from schema {done.before} to {done.after}")
    else:
        print_text(f"{administration.place}: schema {done.after} made, with the roles agent, viewer and operator")
    return 0
