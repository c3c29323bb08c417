"""A job out of the fleet's database as a source: every event once, also when the database is away for a moment."""

from __future__ import annotations

import pytest

pytest.importorskip("psycopg")

from neuron_top.events import AnyEvent, CacheHit, ClockMeasured, SourceAvailable, SourceUnavailable
from neuron_top.ingest.job_source import JobSource, merged_run
from neuron_top.store.batches import pack
from neuron_top.store.errors import StoreUnreachable
from neuron_top.store.fleet_records import Batch, Cursor, Landed, NodeNow, NodeRecord
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.fleet import FleetStore


class AwayAfterTheFirstPage(FleetStore):
    """A database that does not answer once, when it is asked for what comes behind its first page."""

    asked = 0

    def news(self, run: str, cursor: Cursor) -> list[Landed]:
        self.asked += 1
        if self.asked == 2:
            raise StoreUnreachable("the database does not answer")
        return super().news(run, cursor)


def ship(store: FleetStore, count: int) -> list[str | None]:
    """Events that an agent shipped in one batch, by their modules."""
    hits: list[AnyEvent] = [CacheHit(module=f"MODULE_{number}+a", at=float(number)) for number in range(count)]
    packed = pack(hits)
    batch = Batch(first=packed.first, last=packed.last, count=packed.count, data=packed.data, sequence=1, run="job-1")
    store.ship("n1", "s", [batch])
    return modules(hits)


def modules(events: list[AnyEvent]) -> list[str | None]:
    return [event.module for event in events if isinstance(event, CacheHit)]


@pytest.mark.parametrize("at_once", [True, False])
def test_what_was_read_before_the_database_was_away_is_published_once(postgres_url: str, at_once: bool) -> None:
    with FleetStore(postgres_url) as store:
        shipped = ship(store, 300)
    published: list[AnyEvent] = []
    source = JobSource(AwayAfterTheFirstPage(postgres_url), "job-1", published.extend if at_once else None)

    def emit(event: AnyEvent) -> None:
        published.append(event)
        if isinstance(event, SourceAvailable):
            source.stop()

    source.start(emit)
    assert modules(published) == shipped
    said = [type(event).__name__ for event in published if isinstance(event, SourceAvailable | SourceUnavailable)]
    assert said == ["SourceUnavailable", "SourceAvailable"]


def test_all_of_a_node_whose_clock_is_wrong_is_dated_by_the_clock_of_the_database(postgres_url: str) -> None:
    """Also what it shipped before it had measured the distance, and that measurement."""
    ahead = 3600.0
    told: list[AnyEvent] = [
        CacheHit(module="MODULE_1+a", node="n1", at=100.0 + ahead),
        ClockMeasured(node="n1", at=105.0 + ahead, source="agent", offset_seconds=ahead),
        CacheHit(module="MODULE_2+a", node="n1", at=110.0 + ahead),
    ]
    with FleetStore(postgres_url) as store:
        store.open_job("job-1", started=100.0)
        store.register(NodeRecord(node="n1", job="job-1", machine_id="m", clock_offset=ahead))
        for sequence, event in enumerate(told, 1):
            packed = pack([event])
            batch = Batch(first=None, last=None, count=1, data=packed.data, sequence=sequence, run="job-1")
            store.ship("n1", "s", [batch])
        node = merged_run(store, "job-1", 3600.0).nodes.nodes["n1"]
    assert (node.first, node.last) == (100.0, 110.0)


def test_a_node_that_another_job_reports_from_as_well_is_heard_of_in_each_job_by_its_own_agent(
    postgres_url: str,
) -> None:
    """One that took turns with the agent of another job was silent for as long as the other happened to come last."""

    def heard(job: str) -> list[tuple[str, float]]:
        events: list[AnyEvent] = []
        JobSource(store, job)._look(events.append)
        return [(event.node, event.at or 0.0) for event in events if isinstance(event, ClockMeasured)]

    with FleetStore(postgres_url) as store, Database(postgres_url) as database:
        for job in ("a", "b"):
            store.open_job(job)
            store.register(NodeRecord(node="n1", job=job, machine_id="m"))
            store.beat(NodeNow(node="n1", at=0.0, job=job, clock_offset=0.0, cores={"utilization": [0.5]}))
        assert [[node for node, _ in heard(job)] for job in "ab"] == [["n1"], ["n1"]]
        with database.connection() as connection:
            connection.execute("UPDATE neurontop.node_now SET at = 7 WHERE job = 'a'")
        assert heard("a") == [("n1", 7.0)], "the sign of life of another job is none of this one"
        assert heard("b")[0][1] > 7.0
