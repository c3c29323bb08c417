"""Undo: put back what a plan took away, the last first, with the times the folders had."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import msgspec

from neuron_top.actions import journal
from neuron_top.actions.chapters import Chapter
from neuron_top.actions.entry_lock import Held
from neuron_top.actions.journal import Trash
from neuron_top.actions.opened import Changed, OpenEntry, OpenRoot
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


Kept = list[tuple[str, str]]
"""(path, why it stays in the trash)."""


def _all_back(chapter: Chapter, trash: Trash) -> tuple[int, Kept]:
    place = trash.folder / chapter.begun.plan
    token = place / "lock.restore"
    token.write_bytes(msgspec.json.encode(lock_owner.current()))
    restored, kept = 0, Kept()
    try:
        with contextlib.closing(OpenRoot(trash.root)) as root:
            for entry, moves in groupby(reversed(chapter.moves), key=attrgetter("entry")):
                # What a plan that was gone on with intended twice went once.
                there = {move.path: move for move in moves if os.path.lexists(place / move.path)}
                if there:
                    restored += _entry_back(root, place, entry, tuple(there.values()), token, kept)
    finally:
        token.unlink(missing_ok=True)
    return restored, kept


def _entry_back(root: OpenRoot, place: Path, path: str, moves: Sequence[Move], token: Path, kept: Kept) -> int:
    """Bring one entry back, or the files of it that were taken; gives how many moves were undone."""
    first = moves[0]
    try:
        if first.action in WHOLE:
            root.take_back(place / path, path, first.folder_mtime_ns)
            return 1
        with root.entry(path) as entry:
            with Held(entry, token) if first.action is not Action.UNLOCK else contextlib.nullcontext():
                restored = sum(_file_back(entry, place, move, kept) for move in moves)
            if restored:
                entry.put_time_back(moves[-1].folder_mtime_ns)
            return restored
    except (Changed, OSError) as problem:
        kept.extend((move.path, str(problem)) for move in moves)
        return 0


def _file_back(entry: OpenEntry, place: Path, move: Move, kept: Kept) -> bool:
    try:
        entry.take_back(place / move.path, move.path.rpartition("/")[2])
    except (Changed, OSError) as problem:
        kept.append((move.path, str(problem)))
        return False
    return True
