"""A fleet as its database knows it: what the screens, pages and commands of many nodes ask."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

from neuron_top.errors import NothingToShow, UsageError
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import JobRecord
from neuron_top.views.fleet import FleetPage, fleet_page

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
        jobs = self._store.jobs()
        if job is None:
            return fleet_page(self._store.clock(), jobs, self._store.nodes(), self._store.now())
        one = _named(jobs, job)
        return fleet_page(self._store.clock(), [one], self._store.nodes(one.run), self._store.now(one.run))


def _named(jobs: list[JobRecord], name: str) -> JobRecord:
    """The job of this id, the newest of this name, or the only one whose id begins so. Raises NothingToShow."""
    matches = [job for job in jobs if job.run == name] or [job for job in jobs if job.name == name][:1]
    matches = matches or [job for job in jobs if job.run.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise NothingToShow(f"{len(matches)} jobs begin with {name!r}: {', '.join(job.run for job in matches[:5])}")
    raise NothingToShow(f"no job {name!r}; `neurontop fleet jobs` lists them")
