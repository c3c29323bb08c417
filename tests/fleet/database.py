"""A small fleet in a real database."""

from __future__ import annotations

from neuron_top.events import StepReported
from neuron_top.identity import machine_id
from neuron_top.store.batches import pack
from neuron_top.store.fleet_records import Batch, NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from tests.fleet.samples import reported

NODES = ("n1", "n2", "n3", "n4")


def fill(url: str) -> None:
    """Job 4711 on n1 to n4, of which n3 is slow and has another compiler; and job 4700, which failed on n1."""
    with FleetStore(url) as store:
        for run, nodes, started in (("4711", NODES, 1000.0), ("4700", NODES[:1], 500.0)):
            store.open_job(run, name="bert", cluster="trn", started=started)
            for node in nodes:
                packed = pack([StepReported(at=started + 10, node=node, step=3, loss=1.5)])
                batch = Batch(sequence=1, run=run, first=packed.first, last=packed.last, count=1, data=packed.data)
                store.ship(node, f"spool-{run}-{node}", [batch])
        store.end_job("n1", "spool-4700-n1", "4700", 900.0, 1)
        for number, node in enumerate(NODES):
            compiler = "2.20" if node == "n3" else "2.21"
            address = f"http://127.0.0.1:{9000 + number}{'/metrics' if number else ''}"
            store.register(
                NodeRecord(
                    node=node, machine_id=node, job="4711", cluster="trn", address=address,
                    attributes={"compiler": compiler, "machine": machine_id()},
                )
            )  # fmt: skip
            store.beat(reported(node, step_seconds=2.0 if node == "n3" else 1.0))


def answer_at(url: str, node: str, address: str, machine: str) -> None:
    """Let a node's agent answer there, on that machine."""
    with FleetStore(url) as store, store._database.connection() as connection:
        connection.execute(
            "UPDATE neurontop.nodes SET address = %s, machine_id = %s WHERE node = %s", (address, machine, node)
        )
