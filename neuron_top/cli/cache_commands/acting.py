"""What the commands that change a cache share: their options, and show → confirm → carry out → tell.

Without --dry-run and --yes the plan is shown and confirmed, and the answer is no unless somebody types yes. Without a
terminal nothing is done. What is large, or a whole compiler version, needs the verb typed out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from neuron_top import settings
from neuron_top.actions import plan as plans
from neuron_top.actions import plan_context
from neuron_top.actions import usage_history as history
from neuron_top.actions.execution.copy_targets import CopyTarget
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cli.cache_commands import common
from neuron_top.cli.cache_commands.carrying import carried_out, journal_at
from neuron_top.cli.output import log_stderr, print_json
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.escapes import visible
from neuron_top.units import bytes_text, counted
from neuron_top.views.plan import many_text, outcome_lines, plan_lines, typed_word

REFUSED = RefusedForSafety.exit_code
SHOWN = 25
"""Steps, and exclusions of each reason, that are shown before the question; --dry-run shows all."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that changes a cache."""
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--dry-run", action="store_true", help="print the whole plan and change nothing")
    answer.add_argument("--yes", action="store_true", help="carry the plan out without asking")
    parser.add_argument("--save-plan", metavar="FILE", type=Path, help="write the plan to FILE and change nothing")
    parser.add_argument("--read-only", action="store_true", help="refuse to change anything (exit status 4)")
    parser.add_argument(
        "--i-am-alone", action="store_true",
        help="state that no other host or container uses this cache (shared file systems, S3)",
    )  # fmt: skip
    add_trash(parser)


def add_trash(parser: argparse.ArgumentParser) -> None:
    """Where the trash and its journal lie."""
    parser.add_argument(
        "--trash", metavar="DIR", type=Path, help="folder of the trash, on the cache's file system (default: beside it)"
    )


def trash_of(root: str, arguments: argparse.Namespace) -> Trash:
    """The trash of `root`."""
    return Trash(root, arguments.trash)


def open_trash(arguments: argparse.Namespace) -> Trash:
    """The trash, or a bucket's journal, of the root that the arguments mean."""
    return journal_at(root_meant(arguments.root), arguments.trash)


def tell_remarks(trash: Trash) -> None:
    """What went wrong in the trash beside what was asked for."""
    for remark in trash.remarks:
        log_stderr(f"neurontop: {visible(remark)}")


def root_meant(given: str | None) -> str:
    """The folder or bucket that is meant. Raises UsageError."""
    root = common.chosen_root(given, buckets=True)
    return root.rstrip("/") if root.startswith("s3://") else local_root(root)


def local_root(given: str | None) -> str:
    """The folder that is meant, as a path a plan can name. Raises UsageError."""
    root = str(Path(common.chosen_root(given)).resolve())
    try:
        root.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{visible(root)}: the path is not valid UTF-8; plans and journals cannot name it") from None
    return root


def look(root: str, arguments: argparse.Namespace, *, with_logs: bool = False) -> tuple[Snapshot, PlanContext]:
    """The cache as it is, and all that planners must know besides; `with_logs`: of a bucket, failure logs too."""
    if root.startswith("s3://"):
        from neuron_top.cli.cache_commands import bucket

        return bucket.look(root, arguments, with_logs=with_logs)
    current = settings.load()[0]
    snapshot = common.take_snapshot(root)
    past = history.known(current.state_path)
    context = plan_context.collect_context(
        snapshot,
        pins=(*Pins(current.state_path).patterns(), *common.words(current.cache_pins)),
        used=past.used,
        compiled=past.compiled,
        shared_confirmed=arguments.i_am_alone,
        read_only=arguments.read_only,
        trash=Trash(root, getattr(arguments, "trash", None)),
    )
    return snapshot, context


def pictured(place: CopyTarget) -> Snapshot:
    """The entries of a root on either kind of shelf."""
    if place.name.startswith("s3://"):
        from neuron_top.cache import s3

        return s3.take(s3.connect(place.name)).snapshot
    return common.take_snapshot(place.name)


def settle(found: Sequence[Plan], arguments: argparse.Namespace) -> int:
    """Show the plans, save them or ask, carry them out, tell; gives the exit status."""
    if arguments.save_plan is not None:
        _save(arguments.save_plan, found)
    if arguments.dry_run or arguments.save_plan is not None:
        return _shown(found, arguments)
    refusal = next((plan.refused for plan in found if plan.refused), "")
    wanted = [plan for plan in found if plan.steps]
    if not arguments.yes and not arguments.json:
        _print(found, SHOWN)
    if refusal:
        raise RefusedForSafety(f"nothing was done: {refusal}")
    if not wanted:
        return _nothing(found, arguments)
    if not arguments.yes:
        _confirm(wanted)
    outcomes = [carried_out(plan, arguments) for plan in wanted]
    if arguments.json:
        _print_json(found, outcomes)
    else:
        for outcome in outcomes:
            print("\n".join(visible(line.text) for line in outcome_lines(outcome)))
    if any(outcome.interrupted for outcome in outcomes):
        return 130
    return 1 if any(outcome.refused for outcome in outcomes) else 0


def _shown(found: Sequence[Plan], arguments: argparse.Namespace) -> int:
    if arguments.json:
        _print_json(found, None)
    else:
        _print(found, None)
    if any(plan.refused for plan in found):
        return REFUSED
    return 0


def _nothing(found: Sequence[Plan], arguments: argparse.Namespace) -> int:
    """Nothing to do is fine; everything that was asked for being protected is a refusal."""
    if arguments.json:
        _print_json(found, [])
    protected = sum(len(plan.exclusions) for plan in found)
    if protected:
        left = f"{counted(protected, 'entry is', 'entries are')} left alone"
        log_stderr(f"neurontop: nothing was done: {left}, see above or --dry-run")
        return 0 if all(plan.verb == "copy" for plan in found) else REFUSED
    if arguments.yes and not arguments.json:
        log_stderr("neurontop: nothing to do")
    return 0


def _save(path: Path, found: Sequence[Plan]) -> None:
    try:
        path.write_bytes(plans.encode(*found))
    except OSError as problem:
        raise UsageError(f"--save-plan {path}: {problem.strerror}") from None
    log_stderr(f"neurontop: saved; carry it out with: neurontop cache apply {path}")


def _print(found: Sequence[Plan], most: int | None) -> None:
    for plan in found:
        print("\n".join(visible(line.text) for line in plan_lines(plan, most)))


def _print_json(found: Sequence[Plan], outcomes: Sequence[Outcome] | None) -> None:
    print_json({"schema": plans.SCHEMA, "plans": list(found), "outcomes": outcomes})


def _confirm(wanted: Sequence[Plan]) -> None:
    word = typed_word(*wanted)
    steps, frees = sum(len(plan.steps) for plan in wanted), sum(plan.frees for plan in wanted)
    confirm(f"{many_text(steps, 'step')}, {bytes_text(frees)}.", word)


def confirm(what: str, word: str) -> None:
    """Ask on the terminal whether to do `what`; `word`, where given, must be typed out.

    Raises RefusedForSafety unless the answer is yes, and where there is nobody to ask.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RefusedForSafety(
            "nothing was done: there is no terminal to confirm on; --yes does it, --dry-run shows it"
        )
    answer = ask(f"{what} " + (f"Type {word} to go on: " if word else "Go on? [y/N] "))
    if (answer != word) if word else (answer.lower() not in ("y", "yes")):
        raise RefusedForSafety("nothing was done")


def ask(question: str) -> str:
    """The answer typed on the terminal; an end of input is none."""
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
