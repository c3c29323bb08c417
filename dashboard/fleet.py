"""The fleet behind the pages: one query of the database per second, for any number of browsers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from functools import cached_property

from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.services.fleet import FleetService, NodeLogs
from neuron_top.services.fleet_actions import FleetActions
from neuron_top.settings import Settings
from neuron_top.views.blame.records import Blame
from neuron_top.views.fleet import FleetPage, of_job
from neuron_top.views.fleet_node import FleetCorePage, NodePage
from neuron_top.views.fleet_plan import FleetPlan
from neuron_top.views.phases import PhaseTimeline
from neuron_top.views.rank_steps import StepMap

FRESH_SECONDS = 1.0
"""Seconds for which a page is cached."""
BLAME_SECONDS = 10.0
"""Seconds after which a job's blame is computed again while somebody views it."""
CONNECTIONS = 2
PICTURE_SECONDS = 5.0
"""As often as heartbeats come."""
STEP_ROWS, STEP_COLUMNS = 24, 40
"""Limits for ranks × steps: more would not fit into a push."""
LOGS_KEPT = 16
NO_FLEET = "no fleet: start the server with --store, or NEURONTOP_STORE set"


class DashboardFleet:
    """The fleet that the settings name, if they name one. Every call may ask the database."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock, self._picturing = threading.Lock(), threading.Lock()
        self._cached: tuple[float, FleetPage] | None = None
        self._blaming = threading.Lock()
        self._blame: tuple[str, float, Blame | str] | None = None
        self._adding_up: threading.Thread | None = None
        self._pictures: tuple[str | None, float, tuple[StepMap, PhaseTimeline]] | None = None
        self._logs: OrderedDict[str, NodeLogs] = OrderedDict()
        self._node: tuple[tuple[str, str | None], float, NodePage] | None = None
        self._core: tuple[tuple[str, int, str | None], float, FleetCorePage] | None = None
        self._changes: tuple[float, tuple[FleetPlan, ...]] | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a fleet to show."""
        return bool(self._settings.store)

    @cached_property
    def service(self) -> FleetService:
        """The service of the fleet. Raises NothingToShow if no fleet is named."""
        if not self.exists:
            raise NothingToShow(NO_FLEET)
        return FleetService(self._settings, connections=CONNECTIONS)

    @cached_property
    def actions(self) -> FleetActions:
        """Changes of nodes, requested as the server's own login. Raises NothingToShow if no fleet is named."""
        if not self.exists:
            raise NothingToShow(NO_FLEET)
        return FleetActions(self._settings, connections=CONNECTIONS)

    def changes(self) -> tuple[FleetPlan, ...]:
        """The newest changes, newest first. Raises NothingToShow, StoreUnusable."""
        with self._lock:
            if self._changes is None or time.monotonic() - self._changes[0] > FRESH_SECONDS:
                self._changes = (time.monotonic(), self.actions.newest())
            return self._changes[1]

    def close(self) -> None:
        """Close the connections to the database."""
        if (adding_up := self._adding_up) is not None:
            adding_up.join()
        if "service" in self.__dict__:
            self.service.close()
        if "actions" in self.__dict__:
            self.actions.close()

    def page(self, job: str | None = None) -> FleetPage:
        """Jobs and nodes, of all jobs or of one. Raises NothingToShow, StoreUnusable."""
        with self._lock:
            cached = self._cached
            if cached is None or time.monotonic() - cached[0] > FRESH_SECONDS:
                page = self.service.page()
                cached = self._cached = (time.monotonic(), page)
        return of_job(cached[1], job) if job else cached[1]

    def pictures(self, job: str | None) -> tuple[StepMap, PhaseTimeline]:
        """Ranks × steps and the phases of nodes, of this job or the running one. Raises NothingToShow."""
        with self._picturing:
            cached = self._pictures
            if cached is None or cached[0] != job or time.monotonic() - cached[1] > PICTURE_SECONDS:
                page = self.page()
                steps = self.service.steps(job, rows=STEP_ROWS, columns=STEP_COLUMNS, page=page)
                cached = self._pictures = (job, time.monotonic(), (steps, self.service.phases(job, page)))
        return cached[2]

    def logs(self, node: str) -> NodeLogs:
        """The log of a node, from its agent; the last viewed ones are kept. Does not wait."""
        with self._lock:
            logs = self._logs.get(node)
            if logs is None:
                logs = self._logs[node] = self.service.logs(node)
            self._logs.move_to_end(node)
            while len(self._logs) > LOGS_KEPT:
                self._logs.popitem(last=False)
        return logs

    def blame(self, job: str) -> Blame:
        """Who compiled, who waited, what it cost; adds up what came since it was asked last. Raises NothingToShow."""
        return self.service.blame(job)

    def blame_so_far(self, job: str) -> Blame | str:
        """The newest blame of a job that a thread has added up, or why there is none yet. Never waits."""
        with self._blaming:
            known = self._blame if self._blame is not None and self._blame[0] == job else None
            if self._adding_up is None and (known is None or time.monotonic() - known[1] > BLAME_SECONDS):
                self._adding_up = threading.Thread(target=self._add_up, args=(job,), name="blame", daemon=True)
                self._adding_up.start()
        return known[2] if known is not None else f"Adding up {job}…"

    def _add_up(self, job: str) -> None:
        found: Blame | str
        try:
            found = self.blame(job)
        except NeuronTopError as problem:
            found = str(problem)
        with self._blaming:
            self._blame, self._adding_up = (job, time.monotonic(), found), None

    def node(self, name: str, job: str | None = None) -> NodePage:
        """One node (as a job's agent sees it) with its cores, as fresh as the page. Raises NothingToShow,
        StoreUnusable, PrometheusUnusable."""
        with self._lock:
            asked = name, job
            if self._node is None or self._node[0] != asked or time.monotonic() - self._node[1] > FRESH_SECONDS:
                self._node = (asked, time.monotonic(), self.service.node(name, job))
            return self._node[2]

    def core(self, node: str, core: int, job: str | None = None) -> FleetCorePage:
        """One core of a node, as fresh as the page. Raises NothingToShow, StoreUnusable."""
        with self._lock:
            asked = node, core, job
            if self._core is None or self._core[0] != asked or time.monotonic() - self._core[1] > FRESH_SECONDS:
                self._core = (asked, time.monotonic(), self.service.core(node, core, job))
            return self._core[2]
