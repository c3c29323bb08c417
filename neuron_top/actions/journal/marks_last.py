"""In which order the files of an entry come back: its mark last, and only to the artifact that it was made for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from neuron_top.actions.journal.records import Move
from neuron_top.actions.reasons import NotDone, NotDoneCode

Kept = list[tuple[str, NotDone]]
"""(path, why it stays where the plan put it)."""


def bring_back(moves: Sequence[Move], one: Callable[[Move], NotDone | bool], kept: Kept) -> int:
    """Bring files of one entry back, each by `one`; its mark stays where one of the others did: what lies there then
    is not the artifact that it was made for.

    `one` returns True when it did, False when there was nothing to do, else why the file stays, which goes to `kept`.
    Returns how many files came back.
    """
    before, restored = len(kept), 0
    for move in sorted(moves, key=attrgetter("is_of_mark")):
        is_alone = move.is_of_mark and len(kept) > before
        found = NotDone(NotDoneCode.ARTIFACT_WRITTEN_AGAIN) if is_alone else one(move)
        if isinstance(found, NotDone):
            kept.append((move.path, found))
        else:
            restored += found
    return restored
