"""Undo: put back what a plan took away, the last first, with the times the folders had."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import msgspec

from neuron_top.actions import journal
from neuron_top.actions.journal import Chapter, Trash
from neuron_top.actions.opened import Changed, OpenRoot
from neuron_top.actions.plan import WHOLE, Action
from neuron_top.actions.records import Move, PlanRestored
from neuron_top.actions.user import user_name
from neuron_top.cache import lock_owner
from neuron_top.errors import NothingToShow, RefusedForSafety


def restore(identity: str, trash: Trash, *, read_only: bool = False) -> PlanRestored:
    """Undo the plan that is or begins with `identity`. What exists again at its place stays in the trash, and is said.

    Raises NothingToShow for an unknown plan, RefusedForSafety for one that was purged and in read-only mode.
    """
    if read_only:
        raise RefusedForSafety("read-only mode: nothing is changed")
    with trash.exclusively():
        chapter = trash.chapter(identity)
        if chapter.purged:
            raise RefusedForSafety(f"plan {chapter.begun.plan} was purged: nothing is left to restore")
        if chapter.begun.verb in journal.ADDING:
            raise NothingToShow(f"plan {chapter.begun.plan} took nothing away: there is nothing to bring back")
        restored, kept = _all_back(chapter, trash)
        record = PlanRestored(
            plan=chapter.begun.plan, at=time.time(), restored=restored, kept=tuple(kept), user=user_name()
        )
        trash.write(record)
        return record


def _all_back(chapter: Chapter, trash: Trash) -> tuple[int, list[tuple[str, str]]]:
    place = trash.folder / chapter.begun.plan
    token = place / "lock.restore"
    token.write_bytes(msgspec.json.encode(lock_owner.current()))
    restored, kept = 0, []
    folders: dict[str, int] = {}
    with contextlib.closing(OpenRoot(trash.root)) as root:
        try:
            for move in reversed(chapter.moves):
                source = place / move.path
                if not os.path.lexists(source):
                    continue
                try:
                    _put_back(root, source, move, token)
                    restored += 1
                except (Changed, OSError) as problem:
                    kept.append((move.path, str(problem)))
                    continue
                if move.action not in WHOLE:
                    folders[move.path.rpartition("/")[0]] = move.folder_mtime_ns
        finally:
            token.unlink(missing_ok=True)
        _times_back(root, folders)
    return restored, kept


def _put_back(root: OpenRoot, source: Path, move: Move, token: Path) -> None:
    if move.action in WHOLE:
        root.take_back(source, move.path, move.folder_mtime_ns)
        return
    folder, _, name = move.path.rpartition("/")
    with root.entry(folder) as entry, contextlib.ExitStack() as stack:
        if move.action is not Action.UNLOCK:
            stack.enter_context(entry.locked(token))
        entry.take_back(source, name)


def _times_back(root: OpenRoot, folders: dict[str, int]) -> None:
    for path, mtime_ns in folders.items():
        with contextlib.suppress(Changed, OSError), root.entry(path) as entry:
            entry.put_time_back(mtime_ns)
