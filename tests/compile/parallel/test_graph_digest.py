"""A task names its graph by what is compiled: a node that signs the file anew changes nothing."""

from __future__ import annotations

from pathlib import Path

from neuron_top.cache.model import graph_header
from neuron_top.cache.signing import keys_in_force
from neuron_top.compile.parallel.on_node import graph_digest


def test_signed_by_another_node_it_is_the_same_graph(tmp_path: Path, monkeypatch) -> None:
    digests, files = set(), set()
    for node in ("n1", "n2"):
        monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / f"state-{node}"))
        graph = tmp_path / node / "model.fxgraph"
        graph.parent.mkdir()
        graph.write_bytes(graph_header.wrap(b"body", module="MODULE_1+a", graph="1", keys=keys_in_force()))
        digests.add(graph_digest(graph))
        files.add(graph.read_bytes())
    assert (len(digests), len(files)) == (1, 2)
    graph.write_bytes(graph_header.wrap(b"other", module="MODULE_1+a", graph="1", keys=keys_in_force()))
    assert graph_digest(graph) not in digests


def test_a_file_that_is_no_graph_of_ours_counts_whole(tmp_path: Path) -> None:
    digests = set()
    for name in ("model.fxgraph", "model.hlo_module.pb"):
        (tmp_path / name).write_bytes(b"HLO")
        digests.add(graph_digest(tmp_path / name))
    assert len(digests) == 1
