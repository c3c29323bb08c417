"""Removes locks that a killed neurontop left in entries, which it finds through the token.

An execution locks an entry by linking its token, a file in the trash that names the process, into it. If a token is
still there although its process is dead, the attempt was killed, and another name of the token's inode is the lock that
it held. Whoever takes the maintainers' lock next removes it: the SDK's clients would wait for it without end.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from neuron_top.actions import entry_lock
from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.actions.journal.trash_contents import is_sound, plan_folders
from neuron_top.actions.open_entries import OpenRoot, StaleEntryError
from neuron_top.cache.locks import lock_owner

TOKEN = "lock."  # noqa: S105 (the beginning of a file's name)
"""`<plan>/lock.<what>`: the token of one attempt."""


class TrashFolder(Protocol):
    """The part of `Trash` that this module needs."""

    root: Path
    folder: Path

    def histories(self) -> list[PlanHistory]:
        """The journal by plan."""
        ...


def free_locks(trash: TrashFolder, spared: str = "") -> None:
    """Remove every lock that a dead process left, and its token. Called under the maintainers' lock.

    The plan `spared` is skipped, as it is about to be resumed. A folder that cannot be opened is skipped, too.
    """
    histories: dict[str, PlanHistory] | None = None
    for identity, names in plan_folders(trash.folder).items():
        for name in names if identity != spared else ():
            with contextlib.suppress(OSError), contextlib.closing(OpenRoot(trash.folder / name)) as place:
                tokens = [token for token in place.names() if token.startswith(TOKEN) and _is_left(place, token)]
                if tokens and histories is None:
                    histories = {history.begun.plan: history for history in trash.histories()}
                for token in tokens:
                    _free_lock(trash.root, place, token, (histories or {}).get(identity))


def _free_lock(root: Path, place: OpenRoot, token: str, history: PlanHistory | None) -> None:
    facts = place.facts(token)
    if facts.st_nlink > 1 and history is not None:
        entries = dict.fromkeys(move.entry for move in history.moves if is_sound(move))
        _free(root, entries, facts.st_ino)
        _free(place.path, entries, facts.st_ino)
    place.remove(token)


def _is_left(place: OpenRoot, token: str) -> bool:
    """Whether a dead process left this token. One that names nobody was cut short while it was written, before anything
    was locked with it."""
    facts = place.facts(token)
    if not stat.S_ISREG(facts.st_mode):
        return False
    owner = lock_owner.read_record(place.path / token)
    return lock_owner.is_alive(owner) is False if owner else facts.st_nlink == 1


def _free(place: Path, entries: Iterable[str], inode: int) -> None:
    with contextlib.closing(OpenRoot(place)) as root:
        for path in entries:
            with contextlib.suppress(StaleEntryError, OSError), root.entry(path) as entry:
                entry_lock.free(entry, inode)
