"""A job out of the fleet's database as a source: every event once, also when the database is away for a moment."""

from __future__ import annotations

import pytest

pytest.importorskip("psycopg")

from neuron_top.events import AnyEvent, CacheHit, SourceAvailable, SourceUnavailable
from neuron_top.ingest.job_source import JobSource
from neuron_top.store.batches import pack
from neuron_top.store.errors import StoreUnreachable
from neuron_top.store.fleet_records import Batch, Cursor, Landed
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
