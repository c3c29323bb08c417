"""The fleet behind the pages: one question to the database a second, however many browsers ask."""

from __future__ import annotations

import threading
import time
from functools import cached_property

from neuron_top.errors import NothingToShow
from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from neuron_top.views.fleet import FleetPage, of_job
from neuron_top.views.fleet_node import NodePage

FRESH_SECONDS = 1.0
"""A page is cached so long."""
CONNECTIONS = 2


class DashboardFleet:
    """The fleet that the settings name, if they name one. Every call may ask the database."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._cached: tuple[float, FleetPage] | None = None
        self._node: tuple[str, float, NodePage] | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a fleet to show."""
        return bool(self._settings.store)

    @cached_property
    def service(self) -> FleetService:
        """Raises NothingToShow where no fleet is named."""
        if not self.exists:
            raise NothingToShow("no fleet: start the server with --store, or NEURONTOP_STORE set")
        return FleetService(self._settings, connections=CONNECTIONS)

    def close(self) -> None:
        """Leave the database."""
        if "service" in self.__dict__:
            self.service.close()

    def page(self, job: str | None = None) -> FleetPage:
        """Jobs and nodes, of all jobs or of one. Raises NothingToShow, StoreUnusable."""
        with self._lock:
            cached = self._cached
            if cached is None or time.monotonic() - cached[0] > FRESH_SECONDS:
                page = self.service.page()
                cached = self._cached = (time.monotonic(), page)
        return of_job(cached[1], job) if job else cached[1]

    def node(self, name: str) -> NodePage:
        """One node with its cores, as fresh as the page. Raises NothingToShow, StoreUnusable, PrometheusUnusable."""
        with self._lock:
            if self._node is None or self._node[0] != name or time.monotonic() - self._node[1] > FRESH_SECONDS:
                self._node = (name, time.monotonic(), self.service.node(name))
            return self._node[2]
