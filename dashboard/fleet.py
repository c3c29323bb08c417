"""The fleet behind the pages: one query of the database per second, for any number of browsers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

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


_Question = TypeVar("_Question")
_Answer = TypeVar("_Answer")


class _Latest(Generic[_Question, _Answer]):
    """The last answer, for as long as it is fresh and the question is the same; one at a time is asked for."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._lock = seconds, threading.Lock()
        self._kept: tuple[_Question, float, _Answer] | None = None

    def get(self, question: _Question, ask: Callable[[], _Answer]) -> _Answer:
        with self._lock:
            kept = self._kept
            if kept is None or kept[0] != question or time.monotonic() - kept[1] > self._seconds:
                kept = self._kept = (question, time.monotonic(), ask())
            return kept[2]


class DashboardFleet:
    """The fleet that the settings name, if they name one. Every call but `logs` and `blame_so_far` may ask the
    database; what is slow (a node's history comes from Prometheus) delays only who asks for the same.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._page = _Latest[None, FleetPage](FRESH_SECONDS)
        self._changes = _Latest[None, tuple[FleetPlan, ...]](FRESH_SECONDS)
        self._node = _Latest[tuple[str, str | None], NodePage](FRESH_SECONDS)
        self._core = _Latest[tuple[str, int, str | None], FleetCorePage](FRESH_SECONDS)
        self._pictures = _Latest[str | None, tuple[StepMap, PhaseTimeline]](PICTURE_SECONDS)
        self._blaming = threading.Lock()
        self._blame: tuple[str, float, Blame | str] | None = None
        self._adding_up: threading.Thread | None = None
        self._logs: OrderedDict[str, NodeLogs] = OrderedDict()
        self._logs_lock = threading.Lock()

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
        return self._changes.get(None, lambda: self.actions.newest())

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
        page = self._page.get(None, lambda: self.service.page())
        if not job:
            return page
        try:
            return of_job(page, job)
        except NothingToShow:  # an old job: the page of all jobs has the newest ones
            return self.service.page(job)

    def pictures(self, job: str | None) -> tuple[StepMap, PhaseTimeline]:
        """Ranks × steps and the phases of nodes, of this job or the running one. Raises NothingToShow."""

        def drawn() -> tuple[StepMap, PhaseTimeline]:
            page = self.page()
            steps = self.service.steps(job, rows=STEP_ROWS, columns=STEP_COLUMNS, page=page)
            return steps, self.service.phases(job, page)

        return self._pictures.get(job, drawn)

    def logs(self, node: str) -> NodeLogs:
        """The log of a node, from its agent; the last viewed ones are kept. Does not wait."""
        with self._logs_lock:
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
        found: Blame | str = f"The blame of {job} cannot be added up; the server's output says why."
        try:
            found = self.blame(job)
        except NeuronTopError as problem:
            found = str(problem)
        finally:  # whatever happened: it is tried again
            with self._blaming:
                self._blame, self._adding_up = (job, time.monotonic(), found), None

    def node(self, name: str, job: str | None = None) -> NodePage:
        """One node (as a job's agent sees it) with its cores, as fresh as the page. Raises NothingToShow,
        StoreUnusable."""
        return self._node.get((name, job), lambda: self.service.node(name, job))

    def core(self, node: str, core: int, job: str | None = None) -> FleetCorePage:
        """One core of a node, as fresh as the page. Raises NothingToShow, StoreUnusable."""
        return self._core.get((node, core, job), lambda: self.service.core(node, core, job))
