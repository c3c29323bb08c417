"""What is read to explain misses: journals of what was removed, and graphs.

Misses of one run are explained from the same journals and mostly from the same graphs, which are read once.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.actions.journal.records import Move
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import LOSES_ARTIFACT, Action
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.scan.contents import Contents, LocalGraph
from neuron_top.errors import RefusedForSafety
from neuron_top.explain.signature import GraphSignature, of_hlo, of_local

_REMOVES = LOSES_ARTIFACT | {Action.QUARANTINE}
"""Actions after which a lookup misses; one that removes a lock or a failure leaves what there is to hit."""
KEPT_BYTES = 8 * 1024**2
"""Graphs that are kept, read, for further explanations, in bytes of their files."""


class MissEvidence:
    """The journals, and the graphs that were compared last. For one thread, while the same snapshots are used."""

    def __init__(self) -> None:
        self._removals: dict[str, dict[str, list[tuple[PlanHistory, Move]]]] = {}
        self._signatures: OrderedDict[tuple[str, str], tuple[int, GraphSignature | None, str]] = OrderedDict()
        self._kept_bytes = 0

    def removals(self, root: str) -> Mapping[str, Sequence[tuple[PlanHistory, Move]]]:
        """By module: what plans took from it, and nobody brought back, the newest first."""
        found = self._removals.get(root)
        if found is None:
            found = self._removals[root] = {}
            for history in _histories(root):
                for move in history.gone:
                    if move.action in _REMOVES:
                        found.setdefault(move.entry.rpartition("/")[2], []).append((history, move))
        return found

    def signature(self, root: str, entry: Entry) -> tuple[GraphSignature | None, str]:
        """The graph of an entry and the version of PyTorch that made it; None where it cannot be read."""
        key = root, entry.path
        kept = self._signatures.get(key)
        if kept is None:
            kept = self._signatures[key] = (entry.graph_bytes or 0, *_signature(root, entry))
            self._kept_bytes += kept[0]
            while self._kept_bytes > KEPT_BYTES and len(self._signatures) > 1:
                _key, (size, *_) = self._signatures.popitem(last=False)
                self._kept_bytes -= size
        self._signatures.move_to_end(key)
        return kept[1:]


def _histories(root: str) -> list[PlanHistory]:
    """The journals beside the root, those of other users too where they may be read; the newest plan first."""
    own = Trash(root)
    folders = {own.folder.parent, *Path(root).parent.glob(".neurontop-trash-*")}
    histories: list[PlanHistory] = []
    for folder in folders:
        with contextlib.suppress(OSError, RefusedForSafety):
            histories += Trash(root, folder).histories()
    return sorted(histories, key=lambda history: -history.begun.at)


def _signature(root: str, entry: Entry) -> tuple[GraphSignature | None, str]:
    nodes = Contents(root, entry).nodes()
    if nodes is None:
        return None, ""
    if isinstance(nodes, LocalGraph):
        return of_local(nodes), nodes.torch or ""
    return of_hlo(nodes), ""
