"""Reads a fleet's database for the screens, pages and commands about many nodes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import msgspec

from neuron_top.errors import NothingToShow
from neuron_top.events.fleet import SILENT_SECONDS
from neuron_top.ingest.agent_logs import LogDirection, LogRequest
from neuron_top.ingest.log_line import LogPage
from neuron_top.ingest.node_logs import NodeLogs
from neuron_top.run.state import ENDED
from neuron_top.run.step_times import STEPS_KEPT
from neuron_top.services.fleet_database import FleetDatabase
from neuron_top.services.site_history import SiteHistory
from neuron_top.settings import Settings
from neuron_top.views.blame.records import Blame
from neuron_top.views.fleet import FleetPage, NodeReporting, NodeRow, fleet_page, of_job, shown_job
from neuron_top.views.fleet_check import FleetCheck, fleet_check
from neuron_top.views.fleet_node import FleetCorePage, NodePage, core_page, node_page
from neuron_top.views.phases import PhaseTimeline, phase_timeline
from neuron_top.views.rank_steps import StepMap, series_of_nodes, series_of_run, step_map
from neuron_top.views.summary import Summary, summary

if TYPE_CHECKING:  # loads the database's driver: only where there is a fleet
    from neuron_top.ingest.job_source import NodeRuns
    from neuron_top.run.model import Run
    from neuron_top.store.fleet_records import NodeKey

__all__ = ["FleetService", "LogDirection", "LogPage", "LogRequest", "NodeLogs"]


class FleetService(FleetDatabase):
    """The fleet of the store in the settings. Every call asks the database, so screens call in a thread."""

    def __init__(self, settings: Settings, *, connections: int = 1) -> None:
        """Raises UsageError if no database is named. Connects at the first request."""
        super().__init__(settings, connections=connections)
        self._blaming = threading.Lock()
        self._read: NodeRuns | None = None
        """Events of the job that was blamed last."""
        self._history = SiteHistory(settings)

    @property
    def place(self) -> str:
        """The database's address without a password."""
        return self._store.place

    def page(self, job: str | None = None) -> FleetPage:
        """Jobs and nodes now; `job`: only this one, by id, unique prefix of one, or name. Raises NothingToShow."""
        jobs = self._store.jobs(named=job)
        page = fleet_page(self._store.clock(), jobs, self._store.nodes(), self._store.now())
        return page if job is None else of_job(page, job)

    def check(self, graphs: Collection[str], *, job: str | None = None, nodes: Collection[str] = ()) -> FleetCheck:
        """Which nodes lack which of `graphs` (empty: all graphs that some node has). `nodes`: only these.

        Raises NothingToShow for a job or node that is not there.
        """
        records = self._store.nodes()
        if job is not None:
            members = {node.node for node in self.page(job).nodes}
            records = [record for record in records if record.node in members]
        if missing := sorted(set(nodes) - {record.node for record in records}):
            raise NothingToShow(f"no node {', '.join(missing)}; `neurontop fleet nodes` lists them")
        chosen = [record for record in records if not nodes or record.node in nodes]
        from neuron_top.ingest.run_loader import estimator

        return fleet_check(chosen, self._store.keys(), graphs, estimator(self._settings))

    def report_by_slurm(self, job: str | None) -> str:
        """Let each node of a Slurm job report its caches once, unless agents do; returns the job. Raises UsageError."""
        from neuron_top.services import slurm_agents

        job = slurm_agents.job_of(job)
        heard = {row.node: row.silent_seconds for row in self.page().agents if row.job == job}
        if not heard or any(seconds > SILENT_SECONDS for seconds in heard.values()):
            slurm_agents.report_once(job, self._settings.store)
        return job

    def steps(
        self, job: str | None = None, *, rows: int = 0, columns: int = STEPS_KEPT, page: FleetPage | None = None
    ) -> StepMap:
        """The durations of the newest steps of each rank of a job; without a name, of the running job.

        For a job that has ended and whose nodes partly do other work by now, they are read from its events. `page`:
        jobs and nodes, if they were read a moment ago. Raises NothingToShow.
        """
        row = shown_job(page or self.page(job), job)
        reports = self._store.now(row.job, steps=True)
        if (row.goes_on or len(reports) >= row.nodes) and (series := series_of_nodes(reports)):
            return step_map(series, rows, columns)
        run = self._merged(row.job)
        return step_map(series_of_run(run), rows, columns, len(run.steps.left_out))

    def phases(self, job: str | None = None, page: FleetPage | None = None) -> PhaseTimeline:
        """The phases of each node of a job (without a name, of the running job) with their times.

        `page`: as in `steps`. Raises NothingToShow.
        """
        page = page or self.page(job)
        row = shown_job(page, job)
        return phase_timeline(page.now, row.job, self._store.phases(row.job), of_job(page, row.job).nodes)

    def node(self, name: str, job: str | None = None) -> NodePage:
        """One node in full, as seen by the agent of this job, or else of the job it is shown with. Raises
        NothingToShow."""
        now, row, cores = self._node_now(name, job)
        return node_page(now, row, cores, self._history.of_node(name))

    def core(self, node: str, core: int, job: str | None = None) -> FleetCorePage:
        """One core of a node, as in `node`. Raises NothingToShow."""
        _, row, cores = self._node_now(node, job)
        return core_page(row, cores, core, self._history.of_core(node, core))

    def _node_now(self, name: str, job: str | None) -> tuple[float, NodeRow, dict[str, list[float | None]]]:
        page = self.page(job)
        row = next((node for node in page.nodes if node.node == name), None)
        if row is None:
            of = f" of job {job}" if job is not None else ""
            raise NothingToShow(f"no node {name!r}{of}; `neurontop fleet nodes` lists them")
        latest = self._store.node_now(name, row.job)
        return page.now, row, latest.cores if latest is not None else {}

    def logs(self, node: str, changed: Callable[[], None] = lambda: None) -> NodeLogs:
        """The log of a node, from its agent, to browse; `changed` is called when new lines have come."""
        from neuron_top.ingest.fleet_job_feed import asker

        return NodeLogs(node, asker(self._settings, self._store, node), changed)

    def log_page(self, node: str, request: LogRequest, job: str | None = None) -> LogPage:
        """A page of a node's log lines, of this job where one is named. Raises LogsUnreachable with the reason,
        UsageError, NothingToShow for the job."""
        from neuron_top.ingest.fleet_job_feed import asker

        run = self.page(job).jobs[0].job if job is not None else None
        return asker(self._settings, self._store, node, run)(request)

    def summary(self, job: str) -> Summary:
        """The summary that `neurontop run` prints at its end, for a job over all its nodes. Raises NothingToShow."""
        (row,) = self.page(job).jobs
        run = self._merged(row.job)
        found = summary(run, row.finished if row.finished is not None else self._store.clock())
        if run.job.started is None:  # agents do not see a command, but the database has the job's name
            found = msgspec.structs.replace(found, run=row.job, name=row.name)
        if run.job.finished is None and row.state in ENDED:
            found = msgspec.structs.replace(
                found, state=row.state, state_text=row.state_text, finished=row.finished, exit_code=row.exit_code
            )
        return found

    def merged_run(self, job: str, into: Run | None = None) -> Run:
        """A job over all its nodes as it stands now; `job` and errors as in `page`. `into`: a new run to be filled."""
        (row,) = self.page(job).jobs
        return self._merged(row.job, into)

    def _merged(self, job: str, into: Run | None = None) -> Run:
        from neuron_top.ingest.job_source import merged_run

        return merged_run(self._store, job, self._settings.history_seconds, into)

    def keys(self) -> list[NodeKey]:
        """The entries in each node's caches, by the last report of its agent."""
        return self._store.keys()

    def blame(self, job: str) -> Blame:
        """Who compiled each graph of a job, who waited, and what it cost. Raises NothingToShow.

        Called again for the same job, it reads only what is new.
        """
        from neuron_top.ingest.job_source import NodeRuns
        from neuron_top.views.blame.blame import blame
        from neuron_top.views.blame.facts import facts_of

        page = self.page(job)
        (row,) = page.jobs
        gone = [node.node for node in page.nodes if node.state is NodeReporting.SILENT]
        with self._blaming:
            if self._read is None or self._read.job != row.job:
                self._read = NodeRuns(self._store, row.job, self._settings.history_seconds)
            facts = facts_of(self._read.read(), self._store.nodes(), self._store.keys(), gone)
            return blame(row.job, facts, row.finished if row.finished is not None else page.now)
