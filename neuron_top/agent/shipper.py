"""The thread that ships the spool's batches, in order and each once, and a heartbeat with the newest samples.

A database that cannot be reached is tried again at growing intervals; unshipped batches stay in the spool.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol, TypeVar

import msgspec

from neuron_top.agent.spool import Spool
from neuron_top.agent.unexpected import UnexpectedErrors
from neuron_top.errors import NeuronTopError
from neuron_top.store.errors import NodeNameTaken, StoreRefused
from neuron_top.store.fleet_records import Batch, NodeKey, NodeNow, NodeRecord, WaitRecord
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.records import CompileRecord

BEAT_SECONDS = 5.0
SHIP_SECONDS = 1.0
KEYS_SECONDS = 30.0
LONGEST_PAUSE = 30.0
MOST_BATCHES = 64

Sent = TypeVar("Sent")


class Here(Protocol):
    """What the shipper needs to know about its node."""

    @property
    def name(self) -> str:
        """The node's name."""

    @property
    def job(self) -> str:
        """The job's id."""

    def record(self) -> NodeRecord:
        """The description of the node."""

    def now(self, notes: Mapping[str, int], offset: float | None) -> NodeNow:
        """The node's current activity."""

    def waits(self) -> list[WaitRecord]:
        """The waits of its ranks for other ranks' compiles."""

    def compiles(self) -> list[CompileRecord]:
        """Measured compiles that were not sent yet."""

    def compiles_sent(self, records: list[CompileRecord]) -> None:
        """Note that these arrived."""

    def keys_known(self, rows: list[NodeKey]) -> None:
        """Take over the rows that the database has from an earlier agent of this node."""

    def keys(self) -> list[NodeKey]:
        """The changes in its caches."""

    def keys_sent(self, rows: list[NodeKey]) -> None:
        """Note that these arrived."""

    def forget_sent(self) -> None:
        """Note that the database may have lost what arrived there."""

    def clock_measured(self, offset: float) -> None:
        """Note how far the node's clock is ahead of the database's."""


class Shipper:
    """Ships until stopped. `refused` is set while another machine has the node's name."""

    def __init__(self, store: FleetStore, spool: Spool, here: Here, warn: Callable[[str], None], title: str) -> None:
        self._store, self._spool, self._here, self._warn, self._title = store, spool, here, warn, title
        self._unexpected = UnexpectedErrors(warn)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="shipper", daemon=True)
        self._mark: int | None = None
        """Sequence of the last batch that the database has; None until it is asked."""
        self._due = {"beat": 0.0, "keys": 0.0}
        self._record: NodeRecord | None = None
        self._waits: list[WaitRecord] = []
        self._knows_keys = False
        """Whether it was asked what the database has of this node's caches."""
        self._pause = 0.0
        self._reported: set[type[Exception]] = set()
        """Kinds of problems of this outage that were warned of."""
        self._offset: float | None = None
        self.refused: NodeNameTaken | None = None
        self.is_reached = False

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float = 10.0) -> bool:
        """Ship what there is, within this time, then end; returns whether all of it arrived."""
        self._stopping.set()
        self._thread.join(seconds)
        with suppress(sqlite3.Error):  # of a spool that cannot be read nobody knows
            return not self._thread.is_alive() and not self._spool.batches(self._mark or 0, 1)
        return False

    def database_time(self, at: float) -> float:
        """A time of this node by the database's clock, as far as that was asked; nodes may be hours apart."""
        return at - (self._offset or 0.0)

    def _run(self) -> None:
        while True:
            last = self._stopping.is_set()
            if self._try() or last:
                if last:
                    return
                self._stopping.wait(SHIP_SECONDS)
            else:
                self._stopping.wait(self._pause * random.uniform(0.7, 1.0))  # noqa: S311 (not all nodes at once)

    def _try(self) -> bool:
        try:
            self._ship()
        except (NeuronTopError, sqlite3.Error) as problem:
            self._failed()
            self.refused = problem if isinstance(problem, NodeNameTaken) else None
            if type(problem) not in self._reported:  # once per outage, by type: one error may follow from another
                self._reported.add(type(problem))
                self._warn(f"{problem}; events wait in {self._spool.path}")
            return False
        except Exception as problem:  # noqa: BLE001 (whatever it is, it is tried again)
            self._failed()
            self._unexpected.report(f"events wait in {self._spool.path}, as shipping failed", problem)
            return False
        if self._reported:
            self._warn(f"{self._store.place} is reached again")
            self._reported.clear()
        self._pause, self.is_reached, self.refused = 0.0, True, None
        return True

    def _failed(self) -> None:
        """Connect again, after a longer pause each time: after a failover the old connection may lead to a server that
        no longer accepts writes, and the new server may lack what was written last."""
        self._store.close()
        self._mark, self._record, self.is_reached = None, None, False
        self._waits, self._knows_keys = [], False
        self._here.forget_sent()
        self._pause = min(LONGEST_PAUSE, max(1.0, 2 * self._pause))

    def _ship(self) -> None:
        if self._mark is None:
            self._first_words()
        self._describe()
        while batches := self._spool.batches(self._mark or 0, MOST_BATCHES):
            self._in_parts("a batch of events", self._ship_batches, batches)
            self._mark = batches[-1].sequence
            self._forget(self._mark)
            # Shipping what has gathered in an outage may take minutes; the node must not count as silent meanwhile.
            if not self._stopping.is_set() and self._is_due("beat", BEAT_SECONDS):
                self._beat()
        if self._is_due("beat", BEAT_SECONDS):
            self._beat()
        if not self._knows_keys:
            self._here.keys_known(self._store.keys_of(self._here.name))
            self._knows_keys = True
        if self._is_due("keys", KEYS_SECONDS) and (rows := self._here.keys()):
            self._in_parts("a cache entry", self._store.put_keys, rows)
            self._here.keys_sent(rows)

    def _first_words(self) -> None:
        """Register the node and ask which batches of its spool the database has; at the start and after every
        outage."""
        self._measure_clock()
        record = self._describe()
        started = self.database_time(time.time())
        self._store.open_job(self._here.job, name=self._title, cluster=record.cluster, started=started)
        self._store.go_on(self._here.name, self._spool.id, self._here.job)
        self._store.forget_left_jobs(self._here.name, self._here.job)
        mark = self._store.shipped(self._here.name, self._spool.id)
        self._forget(mark)
        self._spool.continue_after(mark)
        self._mark = mark

    def _forget(self, mark: int) -> None:
        """Free the room of what the database has; on a full disk with the next batch, as the mark says the same."""
        with suppress(sqlite3.Error):
            self._spool.shipped(mark)

    def _describe(self) -> NodeRecord:
        """The description of the node, which the database has then."""
        record = self._here.record()
        if record != self._record:
            self._store.register(msgspec.structs.replace(record, clock_offset=self._offset))
            self._record = record
        return record

    def _measure_clock(self) -> None:
        before, theirs, after = time.time(), self._store.clock(), time.time()
        self._offset = (before + after) / 2 - theirs
        self._here.clock_measured(self._offset)

    def _beat(self) -> None:
        self._measure_clock()
        now = self._here.now(self._spool.notes(), self._offset)
        self._in_parts("what this node does now", lambda _one: self._store.beat(now), [now])
        waits = self._here.waits()
        if waits != self._waits:
            self._in_parts("a wait", self._store.put_waits, waits)
            self._waits = waits
        if compiles := self._here.compiles():
            self._in_parts("a measured compile", self._store.put_compiles, compiles)
            self._here.compiles_sent(compiles)

    def _ship_batches(self, batches: Sequence[Batch]) -> None:
        self._store.ship(self._here.name, self._spool.id, batches)

    def _in_parts(self, what: str, store: Callable[[Sequence[Sent]], None], rows: Sequence[Sent]) -> None:
        """Store rows; those that the database never takes are left out, as they would hold up all that follows."""
        try:
            store(rows)
        except StoreRefused as problem:
            if len(rows) == 1:
                self._unexpected.report(f"{what} is left out", problem)
                return
            for row in rows:
                self._in_parts(what, store, [row])

    def _is_due(self, what: str, every: float) -> bool:
        now = time.monotonic()
        if now < self._due[what] and not self._stopping.is_set():
            return False
        self._due[what] = now + every
        return True
