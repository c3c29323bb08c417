"""Finds the work folders that dead compiles left outside the cache, and plans which of them may go.

A folder goes if it lies where compilers work, belongs to us, did not change for a day, and no process names it, works
in it or has a file of it open. Each parent folder has a plan of its own, because its trash lies beside it. Where other
hosts or containers may work too, whose processes cannot be seen, it is refused unless the operator states that none do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from neuron_top.actions.plan import Action, Exclusion, Fingerprint, Plan, Step, Totals, identity_of
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.reasons import Reason, ReasonCode, Refusal, RefusalCode
from neuron_top.actions.verb import Verb
from neuron_top.cache import filesystem, processes, work_dirs
from neuron_top.cache.filesystem import Filesystem
from neuron_top.cache.tree import measure


class WorkFolder(msgspec.Struct, frozen=True, kw_only=True):
    """One work folder as it was found."""

    path: str
    kind: str
    size: int
    files: int
    newest: float
    inode: int
    mtime_ns: int
    owner: int
    busy: str | None
    """Why it seems to be in use; None: nobody was seen."""


def find_work_folders() -> list[WorkFolder]:
    """Every work folder of this machine."""
    running = processes.read_processes()
    found = []
    for folder in work_dirs.find(running):
        try:
            facts = os.lstat(folder.path)
        except OSError:
            continue
        found.append(
            WorkFolder(
                path=folder.path,
                kind=folder.kind,
                size=folder.allocated or 0,
                files=folder.files or 0,
                newest=max(folder.newest or 0.0, facts.st_mtime),
                inode=facts.st_ino,
                mtime_ns=facts.st_mtime_ns,
                owner=facts.st_uid,
                busy=_user_of(folder.path, running),
            )
        )
    return found


def plan_sweeps(
    found: Iterable[WorkFolder],
    context: PlanContext,
    user: int,
    *,
    disk_of: Callable[[str], Filesystem] = filesystem.describe,
) -> list[Plan]:
    """One plan per parent folder. `context` is the cache's: its clock, protection and read-only mode apply here, and
    what the operator states."""
    parents: dict[str, list[WorkFolder]] = {}
    for folder in found:
        parents.setdefault(str(Path(folder.path).parent), []).append(folder)
    return [
        _plan(parent, folders, context, user, disk_of(os.path.realpath(parent)))
        for parent, folders in sorted(parents.items())
    ]


def _plan(parent: str, folders: list[WorkFolder], context: PlanContext, user: int, disk: Filesystem) -> Plan:
    steps, exclusions = [], []
    for folder in sorted(folders, key=lambda each: each.newest):
        obstacle = _obstacle(folder, context, user)
        if obstacle is not None:
            exclusions.append(
                Exclusion(path=Path(folder.path).name, state="work folder", size=folder.size, cause=obstacle)
            )
        else:
            steps.append(_step(folder, context))
    before = Totals(
        entries=len(folders),
        files=sum(folder.files for folder in folders),
        size=sum(folder.size for folder in folders),
        free=disk.free,
        free_inodes=disk.free_inodes,
    )
    files, size = sum(step.files for step in steps), sum(step.frees for step in steps)
    after = Totals(
        entries=before.entries - len(steps),
        files=before.files - files,
        size=before.size - size,
        free=None if disk.free is None else disk.free + size,
        free_inodes=None if disk.free_inodes is None else disk.free_inodes + files,
    )
    return Plan(
        identity=identity_of("sweep", parent, context.now, steps),
        verb=Verb.SWEEP,
        root=parent,
        policy="work folders of dead compiles",
        made_at=context.now,
        steps=tuple(steps),
        exclusions=tuple(exclusions),
        before=before,
        after=after,
        notes=context.notes,
        refusal=_refusal(context, disk) if steps else None,
    )


def _refusal(context: PlanContext, disk: Filesystem) -> Refusal | None:
    if context.read_only:
        return Refusal(RefusalCode.READ_ONLY)
    if disk.why_shared and not context.shared_confirmed:
        return Refusal(RefusalCode.SHARED, disk.why_shared)
    return None


def _step(folder: WorkFolder, context: PlanContext) -> Step:
    return Step(
        action=Action.SWEEP,
        path=Path(folder.path).name,
        cause=Reason(ReasonCode.ABANDONED, "", context.now - folder.newest),
        frees=folder.size,
        files=folder.files,
        fingerprint=Fingerprint(state=folder.kind, folder_inode=folder.inode, folder_mtime_ns=folder.mtime_ns),
    )


def _obstacle(folder: WorkFolder, context: PlanContext, user: int) -> Reason | None:
    if folder.busy:
        return Reason(ReasonCode.IN_USE, folder.busy)
    if folder.owner != user:
        return Reason(ReasonCode.OTHER_USER)
    if context.now - folder.newest < context.protect_seconds:
        return Reason(ReasonCode.CHANGED_RECENTLY)
    return None


def why_busy(path: str, since: float) -> str:
    """Why the work folder at `path` must stay after all, for a check right before it goes; empty if it may go."""
    if not work_dirs.is_work_folder(path):
        return "no compiler works in such a place"
    newest = measure(path).newest
    if newest is not None and newest > since:
        return "it changed since the plan was made"
    return _user_of(path, processes.read_processes()) or ""


def _user_of(path: str, running: Iterable[processes.CacheProcess]) -> str | None:
    real = os.path.realpath(path)  # commands have names as people wrote them, the kernel has them without links
    below = real + os.sep
    for process in running:
        if any(path in word or real in word for word in process.command):
            return f"process {process.pid} names it in its command"
        if process.cwd is not None and (process.cwd + os.sep).startswith(below):
            return f"process {process.pid} works in it"
        if any(opened.startswith(below) for opened in processes.open_paths(process.pid) or ()):
            return f"process {process.pid} has a file of it open"
    return None
