"""Brings the files of an entry back in a safe order: the mark last, and only beside the artifact it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from neuron_top.actions.journal.records import Move
from neuron_top.actions.reasons import NotDone, NotDoneCode

Kept = list[tuple[str, NotDone]]
"""(path, why it stays where the plan put it)."""


def bring_back(
    moves: Sequence[Move], bring_file: Callable[[Move], NotDone | bool], kept: Kept, *, is_compiled_again: bool
) -> int:
    """Bring back the files of one entry, each by `bring_file`, the mark last. Returns how many came back.

    If another file stays in the trash, so does the mark: the entry would not hold the artifact that it was made for.
    `is_compiled_again`: the entry has a new artifact; what belongs to the old one, its failure log too, then stays.

    `bring_file` returns True if it brought a file back, False if there was nothing to do, else why the file stays; that
    is added to `kept`.
    """
    before, restored = len(kept), 0
    for move in sorted(moves, key=attrgetter("is_of_mark")):
        is_incomplete = move.is_of_mark and len(kept) > before
        is_outdated = is_compiled_again and move.is_beside_artifact
        result = NotDone(NotDoneCode.ARTIFACT_WRITTEN_AGAIN) if is_incomplete or is_outdated else bring_file(move)
        if isinstance(result, NotDone):
            kept.append((move.path, result))
        else:
            restored += result
    return restored
