"""The agent: a feed of this node, the spool, and the thread that ships."""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Generic, TypeVar

from neuron_top import private_files
from neuron_top.agent.intents import Acts, IntentWorker
from neuron_top.agent.node import Node, Readable
from neuron_top.agent.shipper import Shipper
from neuron_top.agent.sink import SpoolSink
from neuron_top.agent.spool import MOST_BYTES, Spool, SpoolUnusable, usable
from neuron_top.agent.unexpected import UnexpectedErrors
from neuron_top.errors import RefusedForSafety
from neuron_top.events import AgentStopped
from neuron_top.identity import Identity
from neuron_top.settings import Settings
from neuron_top.store.errors import StoreUnusable
from neuron_top.store.fleet_records import AgentCount
from neuron_top.store.postgres.fleet import FleetStore

FOLDER = "agent"
FeedT = TypeVar("FeedT", bound=Readable)


class AgentRuns(SpoolUnusable):
    """Another agent of this node and job is running with the same state folder."""


def spool_path(settings: Settings, node: str, job: str) -> Path:
    """The spool file of an agent of this node and job: one file name, whatever characters the names contain."""
    name = hashlib.sha256(f"{node}\0{job}".encode()).hexdigest()[:16]
    return settings.state_path / FOLDER / f"{name}.db"


class Agent(Generic[FeedT]):
    """Folds, spools and ships the events of a feed until stopped."""

    def __init__(
        self,
        settings: Settings,
        who: Identity,
        job: str,
        make_feed: Callable[[SpoolSink], FeedT],
        warn: Callable[[str], None],
        *,
        title: str = "",
        most_bytes: int = MOST_BYTES,
        acts: Acts | None = None,
    ) -> None:
        """`make_feed` makes the node's feed with the sink that it is given. `title`: what people call the job.
        `acts`: what carries out changes that operators ask for; None: this agent answers none.

        Raises AgentRuns where an agent runs for this node and job already; SpoolUnusable; UsageError, RefusedForSafety
        for the address of the database.
        """
        path = spool_path(settings, who.node.value, job)
        with ExitStack() as undone:
            self._lock = _only_one(path.with_suffix(".lock"))
            undone.callback(os.close, self._lock)
            self.spool = Spool(path, most_bytes)
            undone.callback(self.spool.close)
            with usable(path):  # what an earlier process left there is read
                self.sink = SpoolSink(self.spool, job, warn)
            self.feed = make_feed(self.sink)
            self._node = Node(who, job, self.feed, self.sink, settings)
            self._store = FleetStore(settings.store, insecure=settings.store_insecure)
            self.shipper = Shipper(self._store, self.spool, self._node, warn, title or job)
            self._answering = (
                IntentWorker(self._store, who.node.value, settings.state_path, acts, warn) if acts is not None else None
            )
            undone.pop_all()
        self._unexpected = UnexpectedErrors(warn)
        self._stopping = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="agent", daemon=True)

    @property
    def address(self) -> str:
        """The address where the agent answers; "" if it does not."""
        return self._node.address

    @address.setter
    def address(self, address: str) -> None:
        self._node.address = address

    def notes(self) -> dict[str, int]:
        """Counts of what waits to be shipped, and of what was dropped."""
        return {**self.spool.notes(), AgentCount.DROPPED_EVENTS: self.sink.dropped}

    def start(self) -> None:
        """Start the agent; the owner of the feed starts the feed."""
        self._look()
        self._ticker.start()
        self.shipper.start()
        if self._answering is not None:
            self._answering.start()

    def wait(self, stop: threading.Event) -> None:
        """Wait until `stop` is set, or the database refuses this node. Raises NodeNameTaken."""
        while not stop.wait(1.0):
            if self.shipper.refused is not None:
                raise self.shipper.refused

    def close(self, seconds: float = 10.0) -> bool:
        """Commit and ship the last events, once the feed's owner has stopped it; returns whether all arrived.

        A change that is carried out is finished; a database that does not answer is given up after `seconds`.
        """
        self._stopping.set()
        if self._answering is not None:
            self._answering.begin_nothing()
        self._ticker.join()
        now = time.time()
        stopped = AgentStopped(node=self._node.name, at=now, source="agent")
        self.feed.read(lambda run, _now: run.apply(stopped))  # so that the last heartbeat says how the job ended
        self.sink.emit(stopped)
        is_kept = self.sink.close(now)
        arrived = self.shipper.stop(seconds) and is_kept
        if arrived:
            self._end_part(now, seconds)
        else:
            self._store.end()
        if self._answering is not None:
            self._answering.stop(seconds)
        self._store.end()
        self.spool.close()
        os.close(self._lock)
        return arrived

    def _end_part(self, now: float, seconds: float) -> None:
        """Report that this node's part of the job has ended, with the exit status if one was seen."""
        code = self.feed.read(lambda run, _now: run.job.exit_code)
        giving_up = threading.Timer(seconds, self._store.end)
        giving_up.start()
        with suppress(StoreUnusable):  # the database just went away; the agent's events say that it stopped
            ended = self.shipper.database_time(now)
            self._store.end_job(self._node.name, self.spool.id, self._node.job, ended, code)
        giving_up.cancel()

    def _tick(self) -> None:
        while not self._stopping.wait(1.0):
            self._look()

    def _look(self) -> None:
        try:
            self.sink.tick(time.time())
            self._node.describe()
        except Exception as problem:  # noqa: BLE001 (whatever it is, the agent goes on)
            self._unexpected.report("the agent cannot look at its node", problem)


def _only_one(path: Path) -> int:
    """Take the lock of a spool, which is held as long as this process lives. Raises AgentRuns, SpoolUnusable."""
    try:
        private_files.make_folder(path.parent.parent)
        private_files.make_folder(path.parent)
        number = private_files.open_file(path, os.O_RDWR)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(number)
            raise
    except BlockingIOError:
        raise AgentRuns(
            f"another agent runs for this node and job (it holds {path}); stop it, or give this one a job or a "
            "node of its own with --job or NEURONTOP_NODE"
        ) from None
    except (OSError, RefusedForSafety) as problem:
        raise SpoolUnusable(f"{path}: the spool cannot be locked: {problem}") from None
    return number
