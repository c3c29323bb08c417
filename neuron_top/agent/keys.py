"""The index of this node's caches in the database: each entry's state, sent when it changed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from neuron_top.cache.scan import catalog
from neuron_top.errors import NothingToShow
from neuron_top.store.fleet_records import NodeKey

GONE = "gone"
"""State of an entry that was there before."""


class KeyIndex:
    """Remembers what was sent of each root. Reads disks: not for an event loop."""

    def __init__(self, node: str, state: Path) -> None:
        self._node, self._state = node, state
        self._sent: dict[tuple[str, str], NodeKey] = {}

    def changes(self, roots: Iterable[str]) -> list[NodeKey]:
        """Rows that differ from those that were sent; `sent` says that they arrived."""
        now = time.time()
        found = {(row.root, row.key): row for root in roots for row in self._rows(root, now)}
        changed = [row for place, row in found.items() if _told(row) != _told(self._sent.get(place))]
        gone = [row for place, row in self._sent.items() if place not in found and row.state != GONE]
        return changed + [
            NodeKey(root=row.root, key=row.key, node=row.node, state=GONE, compiler=row.compiler, seen=now)
            for row in gone
        ]

    def sent(self, rows: Iterable[NodeKey]) -> None:
        """These arrived."""
        self._sent.update({(row.root, row.key): row for row in rows})

    def _rows(self, root: str, now: float) -> Iterable[NodeKey]:
        try:
            entries = catalog.open_root(root, self._state).entries
        except NothingToShow:  # removed since it was met: its entries are gone with it
            return
        for entry in entries:
            yield NodeKey(
                root=root,
                key=entry.module,
                node=self._node,
                state=str(entry.state),
                bytes=entry.artifact_bytes,
                compiler=entry.compiler,
                seen=now,
            )


def _told(row: NodeKey | None) -> tuple[object, ...]:
    return (row.state, row.bytes, row.compiler) if row is not None else ()
