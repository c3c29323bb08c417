"""A job over more nodes than there is room for on the screen of cores: the worst are shown, and why no others are."""

from __future__ import annotations

from neuron_top.events import AnyEvent, CoresSampled, SourceUnavailable
from neuron_top.ingest.job_source import MOST_NODES_WITH_CORES, WORST_NODES, JobSource
from neuron_top.store.fleet_records import NodeNow, NodeRecord, Spread
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.views.fleet import worst_nodes
from tests.fleet.samples import GIB, reported


def node(number: int, busy: float = 0.9, used: float = 10, seconds: float = 1.0) -> NodeNow:
    """A node with two cores."""
    metrics = {
        "utilization": Spread(low=busy, median=0.9, high=0.95, worst_core=1),
        "memory": Spread(low=10 * GIB, median=10 * GIB, high=used * GIB, worst_core=0),
    }
    cores: dict[str, list[float | None]] = {"utilization": [0.95, busy], "memory": [used * GIB, 10 * GIB]}
    return reported(f"n{number}", metrics=metrics, cores=cores, step_seconds=seconds)


def test_slow_nodes_come_first_then_the_least_busy_and_the_fullest_by_turns() -> None:
    nodes = [node(number) for number in range(70)]
    nodes[5], nodes[6], nodes[7], nodes[8] = node(5, busy=0.1), node(6, used=23), node(7, seconds=9), node(8, busy=0.2)
    assert worst_nodes(nodes, 4) == ["n7", "n5", "n6", "n8"]
    assert worst_nodes([], 4) == []
    assert worst_nodes(nodes, 4) == worst_nodes(nodes[::-1], 4)


def test_of_too_many_nodes_the_worst_are_shown_with_a_reason_reported_once(postgres_url: str) -> None:
    with FleetStore(postgres_url) as store:
        store.open_job("4711")
        for number in range(MOST_NODES_WITH_CORES + 1):
            store.register(NodeRecord(node=f"n{number}", job="4711"))
            store.beat(node(number, busy=0.1 if number == 40 else 0.9))
        found: list[AnyEvent] = []
        source = JobSource(store, "4711")
        source._look(found.append)
        sampled = [event.node for event in found if isinstance(event, CoresSampled)]
        assert (len(sampled), sampled.count("n40")) == (WORST_NODES, 1)
        store.beat(node(40))
        store.beat(node(64, busy=0.0))
        source._look(found.append)
        later = [event.node for event in found if isinstance(event, CoresSampled)][WORST_NODES:]
        assert {"n40", "n64"} <= set(later), "one that was among the worst is shown on"
        (reason,) = [event for event in found if isinstance(event, SourceUnavailable)]
        assert "of 65 nodes only the 16 worst are shown" in reason.reason
        with store._database.connection() as connection:
            connection.execute("DELETE FROM neurontop.nodes WHERE node = 'n64'")
        for number in range(MOST_NODES_WITH_CORES):
            store.beat(node(number))
        source._look(found.append)
        last = [event.node for event in found if isinstance(event, CoresSampled)][-MOST_NODES_WITH_CORES:]
        assert set(last) >= {f"n{number}" for number in range(MOST_NODES_WITH_CORES)}
