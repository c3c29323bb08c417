"""The index of a node's caches: what changed, and caches that go while an agent runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.agent import keys
from neuron_top.agent.keys import GONE, KeyIndex
from neuron_top.agent.node import compiled_keys
from neuron_top.cache.model.states import State
from neuron_top.events import CacheHit, CompileBegan
from neuron_top.run.model import Run
from neuron_top.store.fleet_records import NodeKey
from tests.actions import states
from tests.builders import small_hlo


def test_a_cache_that_was_removed_takes_its_entries_along_and_disturbs_nobody(tmp_path: Path) -> None:
    root = str(tmp_path / "cache")
    index = KeyIndex("n1", tmp_path / "state")
    assert index.changes([root]) == []
    index.sent([NodeKey(root=root, key="MODULE_1", node="n1", state="done", seen=1.0)])
    assert [(row.key, row.state) for row in index.changes([root])] == [("MODULE_1", GONE)]


def test_the_graphs_that_were_compiled_here_are_read_a_few_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "READ_BYTES", 1)
    root = tmp_path / "cache"
    names = []
    for number in (1, 2, 3):
        entry = states.entry_in(root, State.HIT, number=number)
        (entry / "model.hlo_module.pb").write_bytes(small_hlo())
        names.append(entry.name)
    index = KeyIndex("n1", tmp_path / "state")
    described = []
    for _ in range(4):
        rows = index.changes([str(root)], frozenset(names[:2]))
        described.append(len(rows))
        index.sent(rows)
    assert described == [3, 1, 0, 0]  # all by their states, then the second graph; the third is of another job
    sent = {row.key: row for row in KeyIndex("n2", tmp_path / "other").changes([str(root)], frozenset(names[:1]))}
    assert sent[names[0]].program
    assert sent[names[0]].held["replica groups"] == ["all-reduce {0,1,2,3}, {4,5,6,7}"]
    assert not sent[names[2]].program


def test_a_graph_that_cannot_be_read_leaves_the_row_without_a_description(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    entry = states.entry_in(root, State.HIT)
    (entry / "model.hlo_module.pb").write_bytes(b"no graph")
    index = KeyIndex("n1", tmp_path / "state")
    (row,) = index.changes([str(root)], frozenset([entry.name]))
    assert (row.key, row.program, row.held) == (entry.name, "", {})


def test_the_graphs_that_are_read_are_those_that_the_job_compiled_here() -> None:
    run = Run()
    found, made = f"MODULE_{1:020d}+a1b2c3d4", f"MODULE_{2:020d}+a1b2c3d4"
    run.apply(CacheHit(at=1.0, module=found, pid=1))
    run.apply(CompileBegan(at=2.0, module=made, pid=1))
    assert compiled_keys(run) == {made}


def test_an_agent_goes_on_from_what_the_one_before_it_sent_of_a_root(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "cache", str(tmp_path / "of another agent")
    (kept, evicted), index = (
        (states.entry_in(root, State.HIT, number=number) for number in (1, 2)),
        KeyIndex("n1", tmp_path),
    )
    before = [*index.changes([str(root)]), NodeKey(root=elsewhere, key="MODULE_1", node="n1", state="hit", seen=1.0)]
    evicted.rename(tmp_path / "evicted")
    index = KeyIndex("n1", tmp_path)
    index.known(before)
    assert [(row.key, row.state) for row in index.changes([str(root)])] == [(evicted.name, GONE)]
    assert kept.exists()
