"""The index of a node's caches: what changed, and caches that go while an agent runs."""

from __future__ import annotations

from pathlib import Path

from neuron_top.agent.keys import GONE, KeyIndex
from neuron_top.store.fleet_records import NodeKey


def test_a_cache_that_was_removed_takes_its_entries_along_and_disturbs_nobody(tmp_path: Path) -> None:
    root = str(tmp_path / "cache")
    index = KeyIndex("n1", tmp_path / "state")
    assert index.changes([root]) == []
    index.sent([NodeKey(root=root, key="MODULE_1", node="n1", state="done", seen=1.0)])
    assert [(row.key, row.state) for row in index.changes([root])] == [("MODULE_1", GONE)]
