"""The application layer as the screens see it: one object with a service each, made when it is first asked for.

None of the services is imported before the first frame.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from neuron_top.settings import Settings

if TYPE_CHECKING:
    from neuron_top.services.alerts import AlertService
    from neuron_top.services.cache_listing import CacheListing
    from neuron_top.services.caches import CacheService
    from neuron_top.services.fleet import FleetService
    from neuron_top.services.fleet_actions import FleetActions
    from neuron_top.services.fleet_database import FleetDatabase
    from neuron_top.services.misses import MissService
    from neuron_top.services.reports import ReportService
    from neuron_top.services.runs import RunService

    Fleet = TypeVar("Fleet", bound=FleetDatabase)


class Services:
    """The services of this user on this machine. Every call reads disks, so screens make it in a thread."""

    def __init__(self, settings: Settings, caches: Sequence[str] | None = ()) -> None:
        """`caches`: those that were named for this program, listed before the configured ones; None: list none."""
        self._settings, self._named_caches = settings, caches
        self._closing = threading.Lock()
        self._closed = False
        self._connected: list[FleetDatabase] = []

    @cached_property
    def runs(self) -> RunService:
        """Recordings."""
        from neuron_top.services.runs import RunService

        return RunService(self._settings)

    @cached_property
    def alerts(self) -> AlertService:
        """Alerts acknowledged, muted and kept."""
        from neuron_top.services.alerts import AlertService

        return AlertService(self._settings)

    @cached_property
    def reports(self) -> ReportService:
        """Reports and comparisons."""
        from neuron_top.services.reports import ReportService

        return ReportService(self._settings)

    @cached_property
    def misses(self) -> MissService:
        """Why graphs missed."""
        from neuron_top.services.misses import MissService

        return MissService(self._settings, named=self._named_caches or ())

    @cached_property
    def caches(self) -> CacheService:
        """Compile caches: listed, planned for and changed."""
        from neuron_top.services.caches import CacheService

        return CacheService(self._settings)

    @cached_property
    def cache_listing(self) -> CacheListing:
        """The entries of every cache that exists or was named."""
        from neuron_top.services.cache_listing import CacheListing

        return CacheListing(self._settings, self._named_caches, self.caches)

    @cached_property
    def fleet(self) -> FleetService:
        """Jobs and nodes of the fleet that the settings name."""
        from neuron_top.services.fleet import FleetService

        return self._kept(FleetService(self._settings))

    @cached_property
    def fleet_actions(self) -> FleetActions:
        """Changes of the caches of that fleet. Raises UsageError where the settings name none."""
        from neuron_top.services.fleet_actions import FleetActions

        return self._kept(FleetActions(self._settings))

    def _kept(self, service: Fleet) -> Fleet:
        """Have the service closed when the program ends; closes it at once where the program has ended already."""
        with self._closing:
            self._connected.append(service)
            if self._closed:
                service.close()
        return service

    def close(self) -> None:
        """Close connections."""
        with self._closing:
            self._closed = True
            for service in self._connected:
                service.close()
