"""`neurontop fleet check`: which node lacks which graph, what to do, and the exit status."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import msgspec
import pytest

from neuron_top.cli.main import main
from neuron_top.events import GraphExtracted, RunStarted
from neuron_top.store.fleet_records import NodeKey, NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.records import CompileRecord
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from neuron_top.views.fleet_check import Availability, fleet_check
from tests.actions.caches import entry
from tests.servers.postgres import postgres_server, postgres_url
from tests.servers.slurm import SlurmCluster

__all__ = ["postgres_server", "postgres_url"]

NEW, OLD = "neuronxcc-2.21.1.0+0a1b2c3d", "neuronxcc-2.20.1.0+0a1b2c3d"
GRAPHS = [f"MODULE_{number:020d}+e30acd3a" for number in range(1, 6)]


def row(node: str, graph: int, state: str, compiler: str = NEW, root: str = "/cache") -> NodeKey:
    return NodeKey(root=root, key=GRAPHS[graph], node=node, state=state, compiler=compiler, seen=100.0)


def fleet() -> tuple[list[NodeRecord], list[NodeKey]]:
    """n1 and n2 have all; n3 lacks each graph in another way; n4 never told anything."""
    nodes = [
        NodeRecord(node=f"n{number}", attributes={"compiler": "2.21", "zone": f"z{number}"}) for number in (1, 2, 4)
    ]
    nodes.append(NodeRecord(node="n3", attributes={"compiler": "2.20", "zone": "z3"}))
    keys = [row(node, graph, "hit") for node in ("n1", "n2") for graph in range(5)]
    keys += [row("n3", 0, "hit", OLD), row("n3", 1, "failed"), row("n3", 2, "locked-unknown"), row("n3", 3, "corrupt")]
    keys += [row("n3", 4, "gone"), row("n9", 0, "hit")]
    return nodes, keys


def test_every_way_of_lacking_a_graph_is_distinguished() -> None:
    check = fleet_check(*fleet(), GRAPHS)
    by_node = {node.node: node for node in check.nodes}
    assert by_node["n3"].lacks == {
        Availability.OTHER_COMPILER: (GRAPHS[0],),
        Availability.FAILED: (GRAPHS[1],),
        Availability.LOCKED: (GRAPHS[2],),
        Availability.UNREADABLE: (GRAPHS[3],),
        Availability.MISSING: (GRAPHS[4],),
    }
    assert (by_node["n1"].have, by_node["n1"].lacks) == (5, {})
    assert (by_node["n4"].lacks, by_node["n4"].seen) == ({Availability.MISSING: tuple(GRAPHS)}, None)
    assert [node.node for node in check.nodes][:2] == ["n3", "n4"]
    assert [(skew.attribute, skew.values) for skew in check.skew] == [
        ("compiler", {"2.20": ("n3",), "2.21": ("n1", "n2", "n4")})
    ]
    assert (check.is_known, check.is_complete) == (True, False)


def test_a_graph_that_no_node_has_is_failed_or_locked_where_an_entry_says_so() -> None:
    nodes = [NodeRecord(node=f"n{number}") for number in (1, 2, 3)]
    check = fleet_check(nodes, [row("n1", 0, "failed"), row("n2", 0, "locked-unknown")], GRAPHS[:1])
    assert {node.node: list(node.lacks) for node in check.nodes} == {
        "n1": [Availability.FAILED],
        "n2": [Availability.LOCKED],
        "n3": [Availability.MISSING],
    }


def test_of_several_roots_the_best_counts() -> None:
    check = fleet_check(
        [NodeRecord(node="n1")], [row("n1", 0, "failed"), row("n1", 0, "hit", root="/other")], GRAPHS[:1]
    )
    assert check.is_complete


def test_a_check_without_reports_is_not_complete() -> None:
    check = fleet_check([NodeRecord(node="n1")], [], GRAPHS)
    assert (check.is_known, check.is_complete) == (False, False)


def test_the_command_prints_the_matrix_and_ends_with_its_status(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    nodes, keys = fleet()
    with FleetStore(postgres_url) as store:
        for node in nodes:
            store.register(node)
        store.put_keys(keys)
    monkeypatch.setenv("NEURONTOP_STORE", postgres_url)
    graphs = tmp_path / "graphs.txt"
    graphs.write_text("\n".join(GRAPHS))
    assert main(["fleet", "check", "--graphs", str(graphs)]) == 1
    said = capsys.readouterr().out
    assert "compiler differs: 2.20 on n3; 2.21 on n1, n2, n4" in said
    assert "failed: 1 graph; compile it again (neurontop cache retry)" in said
    assert main(["fleet", "check", "--graphs", str(graphs), "--nodes", "n1,n2"]) == 0
    assert "every node has all 5 graphs" in capsys.readouterr().out
    assert main(["fleet", "check", "--nodes", "n4"]) == 3
    assert main(["fleet", "check", "--nodes", "n1,nobody"]) == 3
    capsys.readouterr()
    assert main(["fleet", "check", "--json"]) == 1
    reported = json.loads(capsys.readouterr().out)
    assert (reported["complete"], reported["graphs"], reported["nodes"][0]["node"]) == (False, 5, "n3")


def test_the_graphs_of_a_recorded_trial_run_are_those_that_it_collected(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    nodes, keys = fleet()
    with FleetStore(postgres_url) as store:
        for node in nodes:
            store.register(node)
        store.put_keys(keys)
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path))
    with SqliteStore(tmp_path / FILE_NAME) as recordings:
        recordings.begin(RunStarted(run="r1", name="trial", command=(), node="here", at=1.0), pid=7, folder="/")
        recordings.append("r1", [GraphExtracted(at=2.0, module=graph) for graph in GRAPHS[:2]], 3.0)
    monkeypatch.setenv("NEURONTOP_STORE", postgres_url)
    assert main(["fleet", "check", "--graphs", "trial", "--nodes", "n1,n2"]) == 0
    assert "every node has all 2 graphs" in capsys.readouterr().out
    assert main(["fleet", "check", "--graphs", "trial", "--nodes", "n3"]) == 1


def test_the_cost_of_a_launch_comes_from_past_compiles_and_what_is_unknown_is_named(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes, keys = fleet()
    assert (cost := fleet_check(nodes, keys, GRAPHS).cost) is not None
    assert (cost.seconds, cost.node_hours, cost.core_hours, len(cost.unknown_graphs)) == (None, None, None, 5)
    with FleetStore(postgres_url) as store:
        for node in nodes:
            cores = {} if node.node == "n4" else {"cores": 32}
            store.register(msgspec.structs.replace(node, attributes={**node.attributes, **cores}))
        store.put_keys(keys)
        store.put_compiles([past(graph, 450.0) for graph in range(4)])
    monkeypatch.setenv("NEURONTOP_STORE", postgres_url)
    assert main(["fleet", "check", "--json"]) == 1
    reported = json.loads(capsys.readouterr().out)["cost"]
    assert (reported["seconds"], reported["node"], reported["node_hours"]) == (1800.0, "n4", 2.0)
    assert (reported["core_hours"], reported["without_cores"], reported["unknown_graphs"]) == (
        48.0,
        ["n4"],
        [GRAPHS[4]],
    )
    assert main(["fleet", "check"]) == 1
    said = capsys.readouterr().out
    assert "4 nodes wait about 30 m 00 s for n4: 2.0 node-hours, 48.0 core-hours without n4" in said
    assert "1 graph more have never been compiled before" in said
    assert fleet_check(nodes[:1], keys, GRAPHS).cost is None


def past(graph: int, seconds: float) -> CompileRecord:
    return CompileRecord(
        module=GRAPHS[graph], node="n1", run="earlier", compiler=NEW, graph_bytes=None, operators=None,
        seconds=seconds, peak_rss=None, finished=50.0,
    )  # fmt: skip


def test_nodes_of_a_slurm_job_report_without_agents(postgres_url: str, slurm: SlurmCluster, tmp_path: Path) -> None:
    name = entry(tmp_path / "cache", 1).name
    (tmp_path / "graphs").write_text(name)
    here = {"NEURONTOP_STORE": postgres_url, "NEURONTOP_STATE_DIR": str(tmp_path / "state"), "PYTHON": sys.executable}
    here |= {"NEURON_COMPILE_CACHE_URL": str(tmp_path / "cache"), "NEURONTOP_CONFIG": os.devnull}
    check = f'"$PYTHON" -m neuron_top fleet check --srun --json --graphs {tmp_path}/graphs; echo "status $?"'
    printed = slurm.run("salloc", "--quiet", "--nodes=4", "bash", "-c", check, timeout=300, **here)
    text, _, status = printed.rpartition("status ")
    assert {node["node"]: node["have"] for node in json.loads(text)["nodes"]} == dict.fromkeys(slurm.nodes, 1)
    assert status.strip() == "0"
