"""A node's agent: what `watch` does, without a screen, shipped to the fleet's database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from neuron_top.agent.agent import Agent, AgentRuns
from neuron_top.agent.sink import SpoolSink
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.escapes import name_of
from neuron_top.identity import LONGEST_NAME, Identity, Named, identity, usable
from neuron_top.ingest import assembly
from neuron_top.ingest.agent_logs import MOST_LINES, LogDirection, LogRequest, agent_token
from neuron_top.ingest.feed import Feed
from neuron_top.ingest.live import LiveFeed
from neuron_top.ingest.log_line import LogPage
from neuron_top.ingest.log_query import LogQuery
from neuron_top.ingest.recording import Recording
from neuron_top.run.model import Run
from neuron_top.services.node_actions import NodeActions
from neuron_top.settings import Settings
from neuron_top.telemetry import instance_metadata

__all__ = ["Agent", "AgentRuns", "LogRequest", "NodeAgent", "agent_token", "log_page", "ship", "who_am_i"]

View = TypeVar("View")

_QUICK_LOOK = 3.0
"""The most seconds that the sources may take for one snapshot."""


def who_am_i(job: str = "") -> Identity:
    """The identity of this node and its job; `job` comes from the command line. If only EC2's instance id can name the
    node, EC2 is asked, for at most a third of a second. Raises UsageError for a name that labels no row."""
    if job and not usable(job):
        raise UsageError(f"--job: expected a name of at most {LONGEST_NAME} printable characters")
    who = identity()
    if who.node.is_last_resort and instance_metadata.on_ec2():
        who = identity(instance=instance_metadata.ask().get("instance_id", ""))
    return msgspec.structs.replace(who, job=Named(job, "command line")) if job else who


class NodeAgent:
    """An agent with a feed of its own, of everything that runs on this node."""

    def __init__(
        self, settings: Settings, paths: Sequence[str], job: str, warn: Callable[[str], None], *, once: bool = False
    ) -> None:
        """`once`: for one snapshot; it answers no operator.

        Raises UsageError without a database, AgentRuns where an agent of this job runs here; NothingToShow for a path.
        """
        if not settings.store:
            raise UsageError(
                "an agent ships to a database: name it with --store or NEURONTOP_STORE (postgresql://host/database); "
                "`neurontop watch` shows this machine without one"
            )
        self.who = who_am_i(job)

        def feed(sink: SpoolSink) -> LiveFeed:
            return assembly.node_feed(settings, paths, self.who.node.value, sink)

        acts = None if once else NodeActions(settings)
        self.agent = Agent(settings, self.who, self.who.job.value, feed, warn, acts=acts)
        self.feed = self.agent.feed

    def start(self) -> None:
        """Start the agent and its feed."""
        self.agent.start()
        self.feed.start(lambda: None)

    def wait(self, stop: threading.Event) -> None:
        """Wait until `stop` is set. Raises NodeNameTaken if another machine has this node's name."""
        self.agent.wait(stop)

    def snapshot(self) -> None:
        """Wait until the sources have reported the present state."""
        self.feed.settle(_QUICK_LOOK)

    def stop(self, seconds: float) -> bool:
        """End the sources and ship their last events; returns whether all arrived. Raises NodeNameTaken."""
        self.feed.stop()
        arrived = self.agent.close(seconds)
        if self.agent.shipper.refused is not None:
            raise self.agent.shipper.refused
        return arrived


def log_page(feed: Feed, request: LogRequest) -> LogPage:
    """Lines of the logs that this node's feed follows, and of no other file. Raises UsageError."""
    if not 1 <= request.count <= MOST_LINES:
        raise UsageError(f"count must lie between 1 and {MOST_LINES}")
    only = name_of(request.only) if request.only is not None else None
    query = LogQuery(request.query, only)
    if query.problem:
        raise UsageError(query.problem)
    if request.way is LogDirection.TAIL:
        lines = feed.log_tail(request.count, only)
        return LogPage(lines=tuple(lines), at={}, ended=False)
    read = feed.log_older if request.way is LogDirection.OLDER else feed.log_newer
    return read({name_of(source): max(0, offset) for source, offset in request.at.items()}, request.count, query)


class JobAgent:
    """An agent of a job that is run and recorded here: it ships the recorded events."""

    def __init__(self, recording: Recording, settings: Settings, warn: Callable[[str], None]) -> None:
        """A job without a name of its own gets that of its recording. Raises UsageError, RefusedForSafety."""
        self._recording, self._warn = recording, warn
        who = who_am_i()
        job = recording.run if who.job.is_own else who.job.value
        self._agent = Agent(settings, who, job, lambda _sink: self, warn, title=recording.name)

    def read(self, view: Callable[[Run, float], View]) -> View:
        """Give the agent the run as it is now."""
        return self._recording.feed.read(view)

    def sink(self) -> SpoolSink:
        """The sink that keeps the events until they are shipped."""
        return self._agent.sink

    def start(self) -> None:
        """Begin to ship."""
        self._agent.start()

    def finish(self) -> None:
        """Ship the job's last events, without waiting for a database that is away."""
        arrived = self._agent.close(10.0 if self._agent.shipper.is_reached else 1.0)
        if not arrived:
            self._warn(f"some events of the run are not shipped; those that were kept wait in {self._agent.spool.path}")


def ship(recording: Recording, settings: Settings, warn: Callable[[str], None]) -> None:
    """Ship `recording` to the fleet's database, too. If the agent cannot be started, the job runs without it."""
    try:
        recording.companion = JobAgent(recording, settings, warn)
    except (UsageError, RefusedForSafety) as problem:
        warn(f"{problem}; the job is recorded here and not shipped")
