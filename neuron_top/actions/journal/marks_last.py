"""Orders the files of an entry that are brought back: its mark comes last, and only to the artifact it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from neuron_top.actions.journal.records import Move
from neuron_top.actions.reasons import NotDone, NotDoneCode

Kept = list[tuple[str, NotDone]]
"""(path, why it stays where the plan put it)."""


def bring_back(
    moves: Sequence[Move], one: Callable[[Move], NotDone | bool], kept: Kept, *, is_compiled_again: bool
) -> int:
    """Bring files of one entry back, each by `one`; its mark stays where one of the others did: what lies there then
    is not the artifact that it was made for. `is_compiled_again`: such an artifact was seen there before; what went
    with the old one, its failure log too, stays then.

    `one` returns True when it did, False when there was nothing to do, else why the file stays, which goes to `kept`.
    Returns how many files came back.
    """
    before, restored = len(kept), 0
    for move in sorted(moves, key=attrgetter("is_of_mark")):
        is_alone = move.is_of_mark and len(kept) > before
        is_of_old = is_compiled_again and move.is_beside_artifact
        found = NotDone(NotDoneCode.ARTIFACT_WRITTEN_AGAIN) if is_alone or is_of_old else one(move)
        if isinstance(found, NotDone):
            kept.append((move.path, found))
        else:
            restored += found
    return restored
