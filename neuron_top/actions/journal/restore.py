"""Undo: put back what a plan took away, the last first, with the times the folders had."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from neuron_top.actions.entry_lock import EntryLockGuard
from neuron_top.actions.journal import trash_contents
from neuron_top.actions.journal.journal import ADDING
from neuron_top.actions.journal.marks_last import Kept, bring_back
from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.actions.journal.records import Move, PlanRestored, user_name
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.open_entries import OpenEntry, OpenRoot, StaleEntryError, not_done
from neuron_top.actions.plan import WHOLE_ENTRY, Action
from neuron_top.actions.reasons import NotDone
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.errors import NothingToShow, ReadOnlyMode, RefusedForSafety

TOKEN = "lock.restore"  # noqa: S105 (the name of a file)


def restore(identity: str, trash: Trash, *, read_only: bool = False) -> PlanRestored:
    """Undo the plan whose name is or begins with `identity`. A file whose place is taken again stays in the trash, and
    is reported.

    Raises NothingToShow for an unknown plan, RefusedForSafety for one that was purged and in read-only mode.
    """
    if read_only:
        raise ReadOnlyMode()
    with trash.exclusively():
        history = trash.history_of(identity)
        plan = history.begun.plan
        if history.purged:
            raise RefusedForSafety(f"plan {plan} was purged: nothing is left to restore")
        if history.begun.verb in ADDING:
            raise NothingToShow(f"plan {plan} removed nothing: there is nothing to restore")
        refusal = trash.half_purged(history)
        if refusal:
            raise RefusedForSafety(refusal)
        trash.check_writable()
        restored, kept = _all_back(history, trash)
        record = PlanRestored(
            plan=plan,
            at=time.time(),
            restored=restored,
            kept=tuple(kept),
            gone=_gone(history, trash),
            user=user_name(),
        )
        try:
            trash.write(record)
        except RefusedForSafety as problem:
            raise RefusedForSafety(
                f"plan {plan} was undone ({restored} restored, {len(kept)} stay in the trash), "
                f"but the journal could not be written: {problem}"
            ) from None
        if not record.kept:
            trash.discard(history)
        return record


def _all_back(history: PlanHistory, trash: Trash) -> tuple[int, Kept]:
    """(how many moves were undone, what stays). Raises RefusedForSafety if the trash cannot be used; nothing was done
    then."""
    plan, restored, kept = history.begun.plan, 0, Kept()
    token = trash.folder / plan / TOKEN
    taken = frozenset(move.inode for move in history.moves if move.is_of_artifact)
    with contextlib.ExitStack() as stack:
        try:
            root = stack.enter_context(contextlib.closing(OpenRoot(trash.root)))
            trashed_files = stack.enter_context(contextlib.closing(trash.opened(plan)))
            # The token names us as owner of the locks; removing it makes room for the closing record on a full disk.
            stack.callback(_remove_token, trashed_files)
            trashed_files.write(TOKEN, msgspec.json.encode(lock_owner.current()))
            moves = _moves(history, trash)
        except FileNotFoundError:
            return 0, kept
        except OSError as problem:
            raise RefusedForSafety(
                f"nothing was done: the trash {trash.folder} cannot be used ({problem.strerror}): make room, or make "
                "it writable, and restore again"
            ) from None
        for entry, of_entry in _by_entry(moves).items():
            there = [move for path, move in of_entry.items() if os.path.lexists(trash.folder / plan / path)]
            if there:
                restored += _entry_back(root, trashed_files, entry, there, token, kept, taken)
    return restored, kept


def _gone(history: PlanHistory, trash: Trash) -> tuple[str, ...]:
    """What was taken and now lies neither in the trash nor at its place: somebody has deleted it.

    Of a plan that was undone before that cannot be said: what came back may have been removed since.
    """
    if history.restored is not None:
        return ()
    places = (trash.folder / history.begun.plan, trash.root)
    paths = dict.fromkeys(move.path for move in history.moves if trash_contents.is_sound(move))
    return tuple(path for path in paths if not any(os.path.lexists(place / path) for place in places))


def _by_entry(moves: Iterable[Move]) -> dict[str, dict[str, Move]]:
    """Entry → path → its move. Each attempt of a resumed plan may have intended it, but it happened once."""
    found: dict[str, dict[str, Move]] = {}
    for move in moves:
        found.setdefault(move.entry, {}).setdefault(move.path, move)
    return found


def _remove_token(trashed_files: OpenRoot) -> None:
    with contextlib.suppress(OSError):  # the disk may be read-only by now; the next maintainer removes it
        trashed_files.remove(TOKEN)


def _moves(history: PlanHistory, trash: Trash) -> list[Move]:
    """What was taken, by the journal, the last first; before that, what lies in the trash and the journal lacks."""
    place = trash.folder / history.begun.plan
    journaled = [move for move in reversed(history.moves) if trash_contents.is_sound(move)]
    paths = {move.path for move in journaled}
    whole = {move.path for move in journaled if move.action in WHOLE_ENTRY}
    lying = trash_contents.moves_found(place, trash.root, trash_contents.saved_plan(place, trash.root))
    return [*(move for move in lying if move.path not in paths and move.entry not in whole), *journaled]


def _entry_back(
    root: OpenRoot,
    trashed_files: OpenRoot,
    path: str,
    moves: Sequence[Move],
    token: Path,
    kept: Kept,
    taken: Collection[int],
) -> int:
    """Bring back one entry, or the files taken from it; returns how many moves were undone. `taken`: inodes of the
    artifacts that the plan took."""
    first = moves[0]
    try:
        if first.action in WHOLE_ENTRY:
            root.take_back(trashed_files, path, first.folder_mtime_ns)
            return 1
        with root.entry(path) as entry, trashed_files.entry(path) as source:
            with EntryLockGuard(entry, token) if first.action is not Action.UNLOCK else contextlib.nullcontext():
                again = _has_other_artifact(entry, taken)
                back = partial(_file_back, entry, source.handle)
                restored = bring_back(moves, back, kept, is_compiled_again=again)
            if restored:
                entry.put_time_back(moves[-1].folder_mtime_ns)
            return restored
    except (StaleEntryError, OSError) as problem:
        kept.extend((move.path, not_done(problem)) for move in moves)
        return 0


def _has_other_artifact(entry: OpenEntry, taken: Collection[int]) -> bool:
    """Whether the entry has an artifact that the plan did not take; one that it took may be back already."""
    names = entry.names()
    return any(entry.facts(name).st_ino not in taken for name in filenames.ARTIFACT_NAMES if name in names)


def _file_back(entry: OpenEntry, source: int, move: Move) -> NotDone | bool:
    try:
        entry.take_back(source, move.path.rpartition("/")[2])
    except (StaleEntryError, OSError) as problem:
        return not_done(problem)
    return True
