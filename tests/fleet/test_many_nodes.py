"""A job over more nodes than there is room for on the screen of cores: nothing is left out without a reason."""

from __future__ import annotations

from neuron_top.events import AnyEvent, CoresSampled, SourceUnavailable
from neuron_top.ingest.job_source import MOST_NODES_WITH_CORES, JobSource
from neuron_top.store.fleet_records import NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from tests.fleet.samples import told


def test_cores_of_too_many_nodes_are_left_out_with_a_reason_told_once(postgres_url: str) -> None:
    with FleetStore(postgres_url) as store:
        store.open_job("4711")
        for number in range(MOST_NODES_WITH_CORES + 1):
            store.register(NodeRecord(node=f"n{number}", job="4711"))
        store.beat(told("n1", cores={"utilization": [0.5]}))
        found: list[AnyEvent] = []
        source = JobSource(store, "4711")
        source._look(found.append)
        source._look(found.append)
        assert not any(isinstance(event, CoresSampled) for event in found)
        (reason,) = [event for event in found if isinstance(event, SourceUnavailable)]
        assert "of 65 nodes" in reason.reason
        with store._database.connection() as connection:
            connection.execute("DELETE FROM neurontop.nodes WHERE node = 'n64'")
        source._look(found.append)
        assert any(isinstance(event, CoresSampled) for event in found)
