"""Finds out from the trash's folders what they hold, in case the journal was emptied, cut or garbled, or lacks plans.

A plan's folder holds what was taken away, under the path that it had below the root, and the plan itself. Names are
read from the disk, one at a time and through no link; the saved plan, if it can be read, only adds what it says of
them.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import pwd
import re
import socket
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from neuron_top.actions import plan as plans
from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.actions.journal.records import Move, PlanBegun
from neuron_top.actions.open_entries import OpenRoot
from neuron_top.actions.plan import Action, Plan, Step
from neuron_top.actions.verb import Verb
from neuron_top.cache.locks.lock_owner import LockOwner
from neuron_top.cache.model.entry import MODULE, NEFF_FILE, PARTS, Part
from neuron_top.folders import FOLDER_FLAGS, freed_by, open_folder

PLAN_FILE = "plan.json"
GOING, APART = ".purging", ".apart"
"""Suffix of a plan's folder while it is deleted, and suffix once deleting it has failed."""
_NAME = re.compile(rf"([0-9a-f]{{10}})({GOING}|{APART})?\Z")
_PLAN_LIMIT = 1 << 30
_LARGEST_TIME = ((1 << 63) - 1) * 1_000_000_000
"""Nanoseconds: the seconds of a file's time fill 64 bits."""
_LOCKS = Part.OWNER | Part.LOCK
_TAKEN_ALONE = functools.reduce(operator.or_, (parts for order in plans.FILES_REMOVED.values() for parts in order))
"""Parts that some action takes from an entry that stays."""


def plan_folders(trash: Path) -> dict[str, list[str]]:
    """Plan → names of its folders in the trash: the plan's own, the one being deleted, the one set apart."""
    found: dict[str, list[str]] = {}
    try:
        with os.scandir(trash) as members:
            for member in members:
                if match := _NAME.match(member.name):
                    found.setdefault(match[1], []).append(member.name)
    except OSError:
        return {}
    return found


def lost_histories(trash: Path, root: Path, known: Collection[str]) -> list[PlanHistory]:
    """Histories of plans that lie in the trash and that the journal does not know, oldest first."""
    histories = []
    for identity, names in plan_folders(trash).items():
        if identity not in known:
            with contextlib.suppress(OSError):
                histories.append(_lost(trash, root, identity, sorted(names)[0]))
    return sorted((history for history in histories if history.moves), key=lambda history: history.begun.at)


def _lost(trash: Path, root: Path, identity: str, name: str) -> PlanHistory:
    """The history of one plan, from its folder `name`. Raises OSError for a link, and for what cannot be read."""
    facts = (trash / name).lstat()
    plan = saved_plan(trash / name, root)
    moves = moves_found(trash / name, root, plan)
    history = PlanHistory(
        PlanBegun(
            plan=identity,
            at=plan.made_at if plan else facts.st_mtime,
            verb=plan.verb if plan else Verb.UNKNOWN,
            root=str(root),
            policy=plan.policy if plan else "found in the trash, the journal does not know it",
            user=_name_of(facts.st_uid),
            host=socket.gethostname(),
            owner=LockOwner(host="", boot_id="", pid=0),
            steps=len(plan.steps) if plan else len({move.entry for move in moves}),
            frees=plan.frees if plan else 0,
        ),
        found=True,
    )
    history.moves = moves
    return history


def saved_plan(place: Path, root: Path) -> Plan | None:
    """The plan in a plan's folder; None if it cannot be read, or is for another root."""
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
        plan = read_plan(place)
        if os.path.realpath(plan.root) == str(root):
            return plan
    return None


def read_plan(place: Path) -> Plan:
    """The plan in a plan's folder; no link is followed. Raises OSError, ValueError, msgspec.MsgspecError."""
    with contextlib.closing(OpenRoot(place)) as folder:
        found = plans.decode(folder.read(PLAN_FILE, _PLAN_LIMIT))
    if len(found) != 1:
        raise ValueError(f"{PLAN_FILE} holds {len(found)} plans")
    return found[0]


def moves_found(place: Path, root: Path, plan: Plan | None) -> list[Move]:
    """What lies in a plan's folder, as moves of the journal. Raises OSError for a link, or for what is no folder."""
    steps = {step.path: (number, step) for number, step in enumerate(plan.steps)} if plan else {}
    found: list[Move] = []
    handle = os.open(place, FOLDER_FLAGS)
    try:
        for path, folder in _entries(handle, "", plans.DEEPEST, steps):
            found += _moves(path, folder, root, *steps.get(path, (0, None)))
        found += _neff_files(handle, steps)
        if plan is None:
            found += _work_folders(handle, {move.path.partition("/")[0] for move in found})
    finally:
        os.close(handle)
    return found


def _neff_files(top: int, steps: Mapping[str, tuple[int, Step]]) -> list[Move]:
    """Moves of entries of TorchNeuron's cache, which are files: `ab/cd/<key>.neff` below the plan's folder."""
    moves = []
    for path, facts in _sharded_files(top):
        if NEFF_FILE.match(path) and stat.S_ISREG(facts.st_mode):
            number, step = steps.get(path, (0, None))
            mtime = step.fingerprint.folder_mtime_ns if step else facts.st_mtime_ns
            moves.append(Move(number, Action.EVICT, path, facts.st_ino, mtime, freed_by(facts)))
    return moves


def _sharded_files(top: int) -> Iterator[tuple[str, os.stat_result]]:
    """(path, status) of what lies in `<two letters>/<two letters>/`; no link is followed."""
    for shard in _shards(top):
        with _opened(shard, top) as outer:
            for below in _shards(outer):
                with _opened(below, outer) as inner:
                    for name in sorted(os.listdir(inner)):  # noqa: PTH208 (a descriptor, not a path)
                        yield f"{shard}/{below}/{name}", os.stat(name, dir_fd=inner, follow_symlinks=False)


def _shards(above: int) -> list[str]:
    with os.scandir(above) as members:
        return sorted(
            member.name for member in members if len(member.name) == 2 and member.is_dir(follow_symlinks=False)
        )


@contextlib.contextmanager
def _opened(name: str, above: int) -> Iterator[int]:
    handle = open_folder(name, above)
    try:
        yield handle
    finally:
        os.close(handle)


def _work_folders(above: int, holding: Collection[str]) -> list[Move]:
    """Moves of work folders, for when no plan names them: folders that hold something, but no entry of a cache."""
    found = []
    with os.scandir(above) as members:
        for member in members:
            if member.name not in holding and member.is_dir(follow_symlinks=False):
                facts = member.stat(follow_symlinks=False)
                with contextlib.suppress(OSError):
                    if _holds_files(member.name, above):
                        found.append(Move(0, Action.SWEEP, member.name, facts.st_ino, facts.st_mtime_ns, 0))
    return found


def _holds_files(name: str, above: int) -> bool:
    """Whether a folder holds more than folders of entries, which stay behind empty when files are brought back."""
    with _opened(name, above) as handle:
        return any(not MODULE.match(each) for each in os.listdir(handle))  # noqa: PTH208 (a descriptor, not a path)


def _entries(above: int, prefix: str, levels: int, steps: Collection[str]) -> Iterator[tuple[str, int]]:
    """(path below the plan's folder, open folder) of what was taken away: entries, and folders that a step names."""
    with os.scandir(above) as members:
        names = sorted(member.name for member in members if member.is_dir(follow_symlinks=False))
    for name in names:
        path = prefix + name
        try:
            handle = open_folder(name, above)
        except OSError:
            continue
        try:
            if path in steps or (prefix and MODULE.match(name)):
                yield path, handle
            elif levels:
                yield from _entries(handle, path + "/", levels - 1, steps)
        finally:
            os.close(handle)


def _moves(path: str, folder: int, root: Path, number: int, step: Step | None) -> list[Move]:
    """The move of an entry as a whole, or of each of its files that was taken."""
    facts = os.fstat(folder)
    names = sorted(os.listdir(folder))
    mtime = step.fingerprint.folder_mtime_ns if step else facts.st_mtime_ns
    action = step.action if step else _action(root / path, names)
    if action in plans.WHOLE_ENTRY:
        return [Move(number, action, path, facts.st_ino, mtime, step.frees if step else 0)]
    found = []
    for name in names:
        one = os.stat(name, dir_fd=folder, follow_symlinks=False)
        found.append(Move(number, action, f"{path}/{name}", one.st_ino, mtime, freed_by(one)))
    return found


def _action(entry: Path, names: Collection[str]) -> Action:
    """The action that took an entry, where no plan says it: EVICT where the entry is gone from the root, or more of it
    was taken than other actions take; else UNLOCK for locks alone, QUARANTINE for an artifact."""
    parts = functools.reduce(operator.or_, (PARTS.get(name, Part.OTHER) for name in names), 0)
    if parts & ~_TAKEN_ALONE or not os.path.lexists(entry):
        return Action.EVICT
    return Action.QUARANTINE if parts & ~_LOCKS else Action.UNLOCK


def is_sound(move: Move) -> bool:
    """Whether a move of the journal, which anybody may have written, can be undone: its path leads below the root, and
    its time is one that a file can have."""
    parts = move.path.split("/")
    below = not plans.LEADING_OUT.intersection(parts) and "\0" not in move.path and len(parts) <= plans.DEEPEST + 1
    return below and abs(move.folder_mtime_ns) <= _LARGEST_TIME


def _name_of(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
