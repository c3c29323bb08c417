"""The index of this node's caches in the database: each entry's state, sent when it changed."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from pathlib import Path

from neuron_top.cache.model.entry import Entry, Part
from neuron_top.cache.scan import catalog
from neuron_top.errors import NothingToShow
from neuron_top.escapes import name_text
from neuron_top.parsers.hlo_program import Program
from neuron_top.store.fleet_records import NodeKey

GONE = "gone"
"""The state reported for an entry that is gone."""
READ_BYTES = 2 * 1024**2
"""Bytes of graphs compiled here that are read at a time: a megabyte takes a fifth of a second."""
_UNREAD = Program("", {})


class KeyIndex:
    """Remembers what was sent about each root. Reads disks, so do not call it in an event loop."""

    def __init__(self, node: str, state: Path) -> None:
        self._node, self._state = node, state
        self._sent: dict[tuple[str, str], NodeKey] = {}
        self._known: dict[str, list[NodeKey]] = {}
        """What an earlier agent sent, by root, of roots that were not met yet."""
        self._programs: dict[tuple[str, str], Program] = {}
        self._room = 0
        """Bytes of graphs that may still be read this time."""

    def known(self, rows: Iterable[NodeKey]) -> None:
        """Take over rows that an earlier agent of this node sent; those of a root seen here may have changed since."""
        for row in rows:
            self._known.setdefault(row.root, []).append(row)

    def changes(self, roots: Collection[str], compiled: Collection[str] = ()) -> list[NodeKey]:
        """Rows that differ from those that were sent; call `sent` once they have arrived.

        `compiled`: keys that this node compiled in its job. Their graphs are read, some of them each time.
        """
        now, self._room = time.time(), READ_BYTES
        for root in roots:
            for row in self._known.pop(name_text(root), ()):
                self._sent.setdefault((row.root, row.key), row)
        found = {(row.root, row.key): row for root in roots for row in self._rows(root, now, compiled)}
        changed = [
            row for place, row in found.items() if _shipped_fields(row) != _shipped_fields(self._sent.get(place))
        ]
        gone = [row for place, row in self._sent.items() if place not in found and row.state != GONE]
        return changed + [
            NodeKey(root=row.root, key=row.key, node=row.node, state=GONE, compiler=row.compiler, seen=now)
            for row in gone
        ]

    def sent(self, rows: Iterable[NodeKey]) -> None:
        """Note that these rows arrived."""
        self._sent.update({(row.root, row.key): row for row in rows})

    def forget_sent(self) -> None:
        """Note that nothing is known to be there of what was sent; call `known` with what is."""
        self._sent.clear()
        self._known.clear()

    def _rows(self, root: str, now: float, compiled: Collection[str]) -> Iterable[NodeKey]:
        try:
            entries = catalog.open_root(root, self._state).entries
        except NothingToShow:  # the root was removed, and its entries with it
            return
        for entry in entries:
            program = self._program(root, entry) if entry.module in compiled else _UNREAD
            yield NodeKey(
                root=name_text(root),
                key=name_text(entry.module),
                node=self._node,
                state=str(entry.state),
                bytes=entry.artifact_bytes,
                compiler=name_text(entry.compiler),
                seen=now,
                program=program.digest,
                held=program.held,
            )

    def _program(self, root: str, entry: Entry) -> Program:
        """Digest of what an entry's graph computes, read once, as a key stands for one graph; at least one per call."""
        place = root, entry.module
        if place not in self._programs:
            size = entry.graph_bytes
            if size is None or not entry.parts & Part.GRAPH or self._room <= 0:
                return _UNREAD
            self._room -= size
            from neuron_top.cache.scan.contents import Contents  # only where something was compiled

            self._programs[place] = Contents(root, entry).program() or _UNREAD
        return self._programs[place]


def _shipped_fields(row: NodeKey | None) -> tuple[object, ...]:
    return (row.state, row.bytes, row.compiler, row.program) if row is not None else ()
