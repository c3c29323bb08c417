"""Undo: bring back what a plan took away, with the bytes, modes and times it had.

  neurontop cache journal                         which plans can be undone
  neurontop cache restore                         the newest plan, after showing it and asking (--yes: without)
  neurontop cache restore 3f9a                    by the beginning of the plan's name; does not ask
  neurontop cache restore 3f9a /path/of/cache

What exists again at its place stays in the trash, mark and failure log of an artifact that was compiled again too, and
is named. A plan that was purged cannot be undone.

exit status: 0 all is back · 1 something stays in the trash, or is not there any more · 2 usage ·
3 no such plan · 4 refused for safety
"""

from __future__ import annotations

import argparse
from pathlib import Path

from neuron_top.cli.cache_commands import common, options
from neuron_top.cli.cache_commands.plan_runner import confirm
from neuron_top.cli.names import PLAN_NAME, named
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.errors import NothingToShow, ReadOnlyMode
from neuron_top.escapes import visible
from neuron_top.services.cache_reader import BackendKind
from neuron_top.services.caches import CacheService
from neuron_top.services.trash import PlanHistory
from neuron_top.units import bytes_text, counted
from neuron_top.views.plan_sentences import LEFT, not_done_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache restore`."""
    parser.usage = "%(prog)s [options] [PLAN] [ROOT]"
    parser.add_argument(
        "plan", nargs="?", type=named, metavar="PLAN", help="the plan's name, or its beginning (default: newest)"
    )
    common.add_root(parser)
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--dry-run", action="store_true", help="show which plan would be undone, and change nothing")
    answer.add_argument("--yes", action="store_true", help="without a PLAN: undo the newest one without asking")
    options.add_read_only(parser)
    options.add_trash(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Restore."""
    try:
        return _restore(arguments)
    except NothingToShow as problem:
        word = arguments.plan
        if arguments.root is not None or word is None or not PLAN_NAME.match(word) or not Path(word).is_dir():
            raise
        raise NothingToShow(
            f"{problem}; {word} was taken for the name of a plan: for the folder, write ./{word}"
        ) from None


def _restore(arguments: argparse.Namespace) -> int:
    service = options.service_of(arguments)
    plan, given = _plan_and_root(arguments)
    root = service.resolve(given)
    if plan is None or arguments.dry_run:
        history = _newest(service, root, given) if plan is None else service.backend(root).journal().history_of(plan)
        plan = history.begun.plan
        if arguments.json and arguments.dry_run:
            print_json({"plan": plan})
        elif not arguments.json:
            print(visible(_shown(history)))
        if arguments.dry_run:
            return 0
        if service.read_only:
            raise ReadOnlyMode()
        if not arguments.yes:
            confirm(f"Undo plan {plan}.")
    record, kind, remarks = service.trash.undo(root, plan)
    for remark in remarks:
        log_stderr(f"neurontop: {visible(remark)}")
    kept = [(path, not_done_text(why)) for path, why in record.kept]
    if arguments.json:
        print_json({"plan": record.plan, "restored": record.restored, "kept": kept, "gone": record.gone})
    else:
        back = (
            counted(record.restored, "object")
            if kind is BackendKind.BUCKET
            else (counted(record.restored, "entry or file", "entries or files"))
        )
        none = record.restored == 0 and not record.kept
        result = "nothing of it lies in the trash any more" if none else f"undone: {back} brought back"
        log_stderr(f"neurontop: plan {record.plan}: {result}")
        for path, reason in kept:
            print(visible(f"stays {LEFT[kind]}: {path}: {reason}"))
        for path in record.gone:
            print(visible(f"not {LEFT[kind]} any more: {path}"))
    return 1 if record.kept or record.gone else 0


def _plan_and_root(arguments: argparse.Namespace) -> tuple[str | None, str | None]:
    """A single word is a plan's name if it looks like one, else the root; two may stand in either order."""
    plan, root = arguments.plan, arguments.root
    if plan is not None and not PLAN_NAME.match(plan) and (root is None or PLAN_NAME.match(root)):
        return root, plan
    return plan, root


def _newest(service: CacheService, root: str, given: str | None) -> PlanHistory:
    try:
        return service.trash.last_restorable(root)
    except NothingToShow:
        if given is None or "/" in given or Path(given).exists():
            raise
        raise NothingToShow(
            f"{given!r} is no name of a plan (letters a to f and digits; `neurontop cache journal` lists them) and no "
            "folder of a cache"
        ) from None


def _shown(history: PlanHistory) -> str:
    begun, ended = history.begun, history.ended
    size = bytes_text(ended.moved_bytes if ended else begun.frees)
    criteria = f" ({begun.policy})" if begun.policy else ""
    return (
        f"plan {begun.plan}: {begun.verb}{criteria}, {counted(begun.steps, 'step')}, {size}, "
        f"{common.instant(begun.at)} by {begun.user}@{begun.host}, {history.state}"
    )
