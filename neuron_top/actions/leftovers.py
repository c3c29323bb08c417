"""Locks that a killed neurontop left in entries: found again through its token, and taken away.

An execution locks an entry by linking its token, a file in the trash that names the process, into it. A token that is
still there although its process is dead is a killed attempt; the other name of its inode is the lock it held. Whoever
takes the maintainers' lock next frees it: the SDK's clients would wait for it without end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from neuron_top.actions import entry_lock
from neuron_top.actions.chapters import Chapter
from neuron_top.actions.opened import Changed, OpenRoot
from neuron_top.cache import lock_owner

TOKEN = "lock."  # noqa: S105 (the beginning of a file's name)
"""`<plan>/lock.<what>`: the token of one attempt."""


class Trash(Protocol):
    """As much of the journal's trash as this module needs."""

    root: Path
    folder: Path

    def entries(self) -> list[Chapter]:
        """The journal by plan."""
        ...


def free_locks(trash: Trash, spared: str = "") -> None:
    """Take away every lock that a dead process left, and its token. Called under the maintainers' lock.

    The plan `spared` is left alone: it is about to be gone on with.
    """
    tokens = [token for token in trash.folder.glob(f"*/{TOKEN}*") if token.parent.name != spared and _is_left(token)]
    chapters = {chapter.begun.plan: chapter for chapter in trash.entries()} if tokens else {}
    for token in tokens:
        facts = token.lstat()
        if facts.st_nlink > 1 and token.parent.name in chapters:
            entries = dict.fromkeys(move.entry for move in chapters[token.parent.name].moves)
            _free(trash.root, entries, facts.st_ino)
            _free(token.parent, entries, facts.st_ino)
        token.unlink()


def _is_left(token: Path) -> bool:
    """A token without an owner was cut while it was written, before anything was locked with it."""
    owner = lock_owner.read_record(token)
    return lock_owner.is_alive(owner) is False if owner else token.is_file() and token.lstat().st_nlink == 1


def _free(place: Path, entries: Iterable[str], inode: int) -> None:
    with contextlib.closing(OpenRoot(place)) as root:
        for path in entries:
            with contextlib.suppress(Changed, OSError), root.entry(path) as entry:
                entry_lock.free(entry, inode)
