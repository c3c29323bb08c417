"""The database of the fleet that the settings name, connected at the first request."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from neuron_top.errors import UsageError
from neuron_top.settings import Settings

if TYPE_CHECKING:  # loads the database's driver: only where there is a fleet
    from neuron_top.store.postgres.fleet import FleetStore


def check_named(settings: Settings) -> None:
    """Raise UsageError if the settings name no database."""
    if not settings.store:
        raise UsageError("no database is named: pass --store postgresql://host/database, or set NEURONTOP_STORE")


class FleetDatabase:
    """Base of the fleet's services. Every call asks the database, so screens call in a thread."""

    def __init__(self, settings: Settings, *, connections: int = 1) -> None:
        """Raises UsageError if no database is named. Connects at the first request."""
        check_named(settings)
        self._settings, self._connections = settings, connections
        self._opening = threading.Lock()
        self._opened: FleetStore | None = None
        self._closed = False

    @property
    def _store(self) -> FleetStore:
        from neuron_top.store.postgres.fleet import FleetStore

        with self._opening:
            if self._opened is None:
                self._opened = FleetStore(
                    self._settings.store, insecure=self._settings.store_insecure, pool=max(0, self._connections - 1)
                )
                if self._closed:
                    self._opened.end()
            return self._opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_given: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections for good; later requests are refused."""
        with self._opening:
            self._closed = True
            if self._opened is not None:
                self._opened.end()
