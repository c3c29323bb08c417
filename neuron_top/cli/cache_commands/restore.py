"""Undo: bring back what a plan took away, with the bytes, modes and times it had.

  neurontop cache journal                         which plans can be undone
  neurontop cache restore 3f9a                    by the beginning of the plan's name
  neurontop cache restore 3f9a /path/of/cache

What exists again at its place stays in the trash, and is said. A plan that was purged cannot be undone.

exit status: 0 all is back · 1 something stays in the trash · 3 no such plan · 4 refused for safety
"""

from __future__ import annotations

import argparse

from neuron_top.actions.journal.restore import restore
from neuron_top.cli.cache_commands import acting, common
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.escapes import visible
from neuron_top.units import counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache restore`."""
    parser.add_argument("plan", metavar="PLAN", help="the plan's name, or its beginning")
    common.add_root(parser)
    parser.add_argument("--read-only", action="store_true", help="refuse to change anything (exit status 4)")
    acting.add_trash(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Restore."""
    root = acting.root_meant(arguments.root)
    if root.startswith("s3://"):
        from neuron_top.cli.cache_commands import bucket

        return bucket.bring_back(root, arguments)
    trash = acting.trash_of(root, arguments)
    record = restore(arguments.plan, trash, read_only=arguments.read_only)
    acting.tell_remarks(trash)
    if arguments.json:
        print_json({"plan": record.plan, "restored": record.restored, "kept": record.kept})
    else:
        back = counted(record.restored, "entry or file", "entries or files")
        none = record.restored == 0 and not record.kept
        told = "nothing of it lies in the trash any more" if none else f"undone: {back} brought back"
        log_stderr(f"neurontop: plan {record.plan}: {told}")
        for path, reason in record.kept:
            print(visible(f"stays in the trash: {path}: {reason}"))
    return 1 if record.kept else 0
