"""A fleet as its database knows it: what the screens, pages and commands of many nodes ask."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

from neuron_top.errors import UsageError
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.views.fleet import FleetPage, fleet_page, of_job
from neuron_top.views.summary import Summary, summary

if TYPE_CHECKING:  # loads the database's driver: only where there is a fleet
    from neuron_top.store.postgres.fleet import FleetStore

VIEWER_CONNECTIONS = 4
"""Of a server with many viewers; a command needs one."""


class FleetService:
    """The fleet of the store that the settings name. Every call asks the database: screens make it in a thread."""

    def __init__(self, settings: Settings, *, connections: int = 1) -> None:
        """Raises UsageError where no database is named. Connects with the first question."""
        if not settings.store:
            raise UsageError(
                "no fleet is named: set NEURONTOP_STORE, or give --store, as postgresql://user@host/database"
            )
        self._settings, self._connections = settings, connections

    @cached_property
    def _store(self) -> FleetStore:
        from neuron_top.store.postgres.fleet import FleetStore

        return FleetStore(
            self._settings.store, insecure=self._settings.store_insecure, pool=max(0, self._connections - 1)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_given: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the database."""
        if "_store" in self.__dict__:
            self._store.close()

    def page(self, job: str | None = None) -> FleetPage:
        """Jobs and nodes now; `job`: only this one, by id, unique prefix of one, or name. Raises NothingToShow."""
        page = fleet_page(self._store.clock(), self._store.jobs(), self._store.nodes(), self._store.now())
        return page if job is None else of_job(page, job)

    def summary(self, job: str) -> Summary:
        """What `neurontop run` prints at its end, of a job over all its nodes. Raises NothingToShow."""
        from neuron_top.store.postgres.recordings import PostgresStore

        (row,) = self.page(job).jobs
        run = Run(self._settings.history_seconds)
        with PostgresStore(self._settings.store, insecure=self._settings.store_insecure) as store:
            for event in store.replay(row.job):
                run.apply(event)
        return summary(run, row.finished if row.finished is not None else self._store.clock())
