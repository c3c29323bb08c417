"""The feed of a job over all its nodes; its log lines are fetched from the agent of one node at a time."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

from neuron_top.events.log_sources import log_source
from neuron_top.identity import machine_id
from neuron_top.ingest.agent_logs import LogRequest, LogsUnreachable, fetch
from neuron_top.ingest.job_source import JobSource, find_job
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_buffer import LogBuffer
from neuron_top.ingest.log_line import LogChain, LogLine, LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.ingest.node_logs import Ask, NodeLogs
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.postgres.fleet import FleetStore

_NAMED = re.compile(r"(?:^|\s)source:(\S+)")


def asker(settings: Settings, store: FleetStore, node: str, job: str | None = None) -> Ask:
    """A function that fetches pages from a node's agent, at the address that the database then has.

    The agent is that of `job`; without one, the node's newest agent.
    """

    def ask(request: LogRequest) -> LogPage:
        record = store.node(node, job)
        if record is None:
            raise LogsUnreachable(f"no node {node!r}; `neurontop fleet nodes` lists them")
        if job is not None and record.job != job:
            raise LogsUnreachable(
                f"{node} has no agent of job {job} any more, which alone served its log; on {node}, "
                "`neurontop watch PATH` shows it"
            )
        return fetch(settings, node, record.address, record.machine_id == machine_id(), request)

    return ask


class FleetJobFeed(LiveFeed):
    """A job's feed. Its log is that of the node last asked for, by a line of it or by `source:NODE` in a filter."""

    def __init__(self, settings: Settings, store: FleetStore, job: str) -> None:
        ahead = time.time() - store.clock()
        super().__init__(
            [JobSource(store, job, self.publish_all)],
            buffer=LogBuffer(),
            history_seconds=settings.history_seconds,
            clock=lambda: time.time() - ahead,
            node="",  # who looks at a job is none of its nodes
        )
        self._run.job.listed_name = job  # agents that only read logs tell no name
        self._settings, self._store, self._job = settings, store, job
        self._logs: dict[str, NodeLogs] = {}
        self._shown = ""

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        """The newest lines of the node."""
        logs = self._log([source] if source is not None else [])
        return logs.log_tail(count, source) if logs is not None else []

    def log_older(self, before: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that ends before these offsets."""
        logs = self._log(before, query)
        return logs.log_older(before, count, query) if logs is not None else _nothing()

    def log_newer(self, after: Mapping[str, int], count: int, query: LogQuery | None = None) -> LogPage:
        """A page that begins at these offsets."""
        logs = self._log(after, query)
        return logs.log_newer(after, count, query) if logs is not None else _nothing()

    def log_lines(self, places: Sequence[tuple[str, int]]) -> list[LogLine]:
        """None: see `NodeLogs`."""
        return []

    def log_chains(self) -> list[LogChain]:
        """None: see `NodeLogs`."""
        return []

    def log_state(self) -> str:
        """Why there are no lines of the node, or none yet."""
        logs = self._logs.get(self._shown)
        return logs.state if logs is not None else ""

    def _log(self, sources: Sequence[str] | Mapping[str, int], query: LogQuery | None = None) -> NodeLogs | None:
        nodes = self.read(_nodes)
        named = [*sources, *([query.only] if query and query.only else [])]
        asked = [log_source("", name) for name in _NAMED.findall(query.text)] if query else []
        wanted = next(
            (node for name in (*asked, *named) for node in nodes if name.startswith(log_source("", node))), None
        )
        self._shown = wanted or self._shown or next(iter(nodes), "")
        if not self._shown:
            return None
        logs = self._logs.get(self._shown)
        if logs is None:
            ask = asker(self._settings, self._store, self._shown, self._job)
            logs = self._logs[self._shown] = NodeLogs(self._shown, ask, self._dirty.set)
        return logs


def job_feed(settings: Settings, job: str) -> FleetJobFeed:
    """The feed of a job over all its nodes, by the database's clock. Raises NothingToShow, StoreUnusable."""
    store = FleetStore(settings.store, insecure=settings.store_insecure)
    try:
        return FleetJobFeed(settings, store, find_job(store, job))
    except BaseException:
        store.close()
        raise


def _nodes(run: Run, now: float) -> list[str]:
    return sorted(run.nodes.nodes)


def _nothing() -> LogPage:
    return LogPage(lines=(), at={}, ended=True)
