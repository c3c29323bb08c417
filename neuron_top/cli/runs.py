"""List recordings, newest first: start, duration, state, share of compile time, hit rate and size; label, delete them.

    neurontop runs                 the newest 20
    neurontop runs --all --json    all of them, as JSON
    neurontop runs --starred --tag sweep     those with a star and this tag
    neurontop runs name RUN "tp 2, bs 16"    call it so from now on; "" is the name that it was recorded under
    neurontop runs tag RUN sweep bf16        give it tags; with --remove take them away
    neurontop runs star RUN …                mark recordings; with --remove take the star away
    neurontop runs note RUN "lr too high"    write a note; "" removes it
    neurontop runs rm RUN …        show what deleting them frees, ask, delete; --dry-run only shows, --yes does not ask
    neurontop runs push RUN …      copy recordings of this machine into the database that --store names
    neurontop runs pull RUN …      copy recordings of that database to this machine

`neurontop replay RUN` plays one back; RUN is an id, a unique prefix of one, a name, or `last`. Names, tags, stars and
notes are kept in the state folder of this user. A copy that was cut short, or whose recording went on since, is
completed by the next one. The log of a job stays on its machine.

What `rm` deletes is gone: there is no trash for recordings. One that is still being written is skipped, and nothing
outside the folder of the recordings is touched: compile caches stay, and so do compile times that estimates use.

exit status: 0 fine · 1 the store cannot be used, or a recording was not deleted · 2 usage · 3 no recording found · 4
refused for safety: not confirmed, or every recording named is still being written
"""

from __future__ import annotations

import argparse
import time

from neuron_top import units
from neuron_top.cli.output import log_stderr, print_json, print_text, table
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.errors import NothingToShow, RefusedForSafety, UsageError
from neuron_top.services.runs import RunService
from neuron_top.settings import Settings
from neuron_top.units import counted
from neuron_top.views.run_deletion import RunDeleted, deleted_line, deletion_lines
from neuron_top.views.runs import RunRow

_SHOWN = 20
_COPIES = ("push", "pull")
_LABELS = ("name", "tag", "star", "note")
_DELETE = "rm"
_HEADER = ("run", "name", "started", "took", "state", "compile", "hits", "size", "tags")


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `runs`."""
    actions = (*_LABELS, *_COPIES, _DELETE)
    parser.add_argument(
        "action", nargs="?", choices=actions, metavar="|".join(actions), help="label, copy or delete recordings"
    )
    parser.add_argument("names", nargs="*", metavar="RUN", help="recordings; after them the name, tags or note")
    parser.add_argument("--remove", action="store_true", help="with tag and star: remove them")
    parser.add_argument("--dry-run", action="store_true", help="with rm: show what would be deleted, delete nothing")
    parser.add_argument("--yes", action="store_true", help="with rm: delete without asking")
    parser.add_argument("--starred", action="store_true", help="list recordings with a star only")
    parser.add_argument("--tag", metavar="TAG", help="list recordings with this tag only")
    parser.add_argument("--all", action="store_true", help="list all recordings, not only the newest 20")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_store(parser)


def execute(arguments: argparse.Namespace) -> int:
    """List them, or label, copy or delete some."""
    settings = settings_of(arguments)
    if arguments.action in _COPIES:
        return _copy(settings, arguments)
    service = RunService(settings)
    if arguments.action == _DELETE:
        return _delete(service, arguments)
    if arguments.action:
        return _label(service, arguments)
    rows, count = _listed(service, arguments)
    if arguments.json and service.was_used:
        print_json({"schema": 1, "runs": rows})
        return 0
    if not rows and count:
        raise NothingToShow("no recording has these labels; `neurontop runs --all` lists all")
    if not rows:
        raise service.nothing_recorded
    columns = len(_HEADER) if any(row.tags for row in rows) else len(_HEADER) - 1
    print(table(_HEADER[:columns], [_cells(row)[:columns] for row in rows], right=(3, 5, 6, 7), names=1))
    if count > len(rows) and not _is_filtered(arguments):
        log_stderr(f"{counted(count - len(rows), 'older recording')}; list them with neurontop runs --all")
    return 0


def _listed(service: RunService, arguments: argparse.Namespace) -> tuple[list[RunRow], int]:
    """(what is shown, how many recordings there are)."""
    rows = service.rows(None if arguments.all or _is_filtered(arguments) else _SHOWN)
    shown = [
        row
        for row in rows
        if (row.starred or not arguments.starred) and (arguments.tag is None or arguments.tag in row.tags)
    ]
    return shown, service.count()


def _is_filtered(arguments: argparse.Namespace) -> bool:
    return bool(arguments.starred or arguments.tag is not None)


def _label(service: RunService, arguments: argparse.Namespace) -> int:
    action, names = arguments.action, arguments.names
    if action == "star":
        if not names:
            raise UsageError("runs star: name the recordings; `neurontop runs` lists them")
        rows = [service.label(name, starred=not arguments.remove) for name in names]
    elif action == "tag":
        if len(names) < 2:
            raise UsageError("runs tag: give a recording, then its tags: `neurontop runs tag last sweep bf16`")
        gone, come = (names[1:], ()) if arguments.remove else ((), names[1:])
        rows = [service.label(names[0], add_tags=come, remove_tags=gone)]
    else:
        if len(names) != 2:
            raise UsageError(f'runs {action}: give a recording, then one text: `neurontop runs {action} last "text"`')
        text = {"new_name": names[1]} if action == "name" else {"note": names[1]}
        rows = [service.label(names[0], **text)]
    if arguments.json:
        print_json({"schema": 1, "runs": rows})
        return 0
    for row in rows:
        print_text(f"{row.id}: {_labels_text(row)}")
    return 0


def _labels_text(row: RunRow) -> str:
    words = [row.name, "starred" if row.starred else "", f"tags {' '.join(row.tags)}" if row.tags else ""]
    words.append(f"note: {row.note}" if row.note else "")
    return " · ".join(filter(None, words)) or "no name, no tags, no note"


def _copy(settings: Settings, arguments: argparse.Namespace) -> int:
    from neuron_top.services import transfer

    if not arguments.names:
        raise UsageError(f"runs {arguments.action}: name the recordings to copy; `neurontop runs` lists them")
    copied = (transfer.push if arguments.action == "push" else transfer.pull)(settings, arguments.names)
    if arguments.json:
        print_json({"schema": 1, "copied": copied})
        return 0
    for one in copied:
        print_text(f"{one.id}: {counted(one.events, 'event')}, {one.new:,} of them new")
    return 0


def _delete(service: RunService, arguments: argparse.Namespace) -> int:
    """Show the plan, ask, delete, report; returns the exit status."""
    if not arguments.names:
        raise UsageError("runs rm: name the recordings to delete; `neurontop runs` lists them")
    plan = service.plan_deletion(arguments.names)
    if not arguments.json and (arguments.dry_run or not arguments.yes or plan.exclusions):
        print_text("\n".join(deletion_lines(plan)))
    if arguments.dry_run:
        if arguments.json:
            print_json({"schema": 1, "plan": plan, "outcomes": None})
        return 0
    if not plan.steps:
        raise RefusedForSafety(f"nothing was done: {plan.exclusions[0].id}: {plan.exclusions[0].reason}")
    if not arguments.yes:
        from neuron_top.cli.cache_commands.plan_runner import confirm

        confirm(f"{counted(len(plan.steps), 'recording')}, {units.bytes_text(plan.frees)}, for ever.")
    outcomes = [_deleted(service, row) for row in plan.steps]
    if arguments.json:
        print_json({"schema": 1, "plan": plan, "outcomes": outcomes})
    else:
        print_text("\n".join(map(deleted_line, outcomes)))
    return 1 if any(outcome.not_done for outcome in outcomes) else 0


def _deleted(service: RunService, row: RunRow) -> RunDeleted:
    try:
        return RunDeleted(id=row.id, freed_bytes=service.delete(row.id))
    except RefusedForSafety as problem:  # a job that began to write it meanwhile, a link in the place of its folder
        return RunDeleted(id=row.id, freed_bytes=0, not_done=str(problem))


def _cells(row: RunRow) -> tuple[str, ...]:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.started)) if row.started else units.UNKNOWN
    return (
        row.id,
        ("* " if row.starred else "") + row.called,
        started,
        units.duration_text(row.seconds),
        row.state_text,
        units.percent_text(row.compile_share),
        units.percent_text(row.hit_rate),
        units.bytes_text(row.bytes),
        " ".join(row.tags),
    )
