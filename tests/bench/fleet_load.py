"""Agents of a thousand nodes: `python -m tests.bench.fleet_load URL ROWS_A_SECOND SECONDS`.

A recording is multiplied: each node reports its events under a name of its own, again and again, each time with other
graphs, for no process compiles a graph twenty times. A row is an event. Every node ships a batch a second, as an agent
does, by the agent's own way (COPY, then the mark, in one transaction); the first node also reports a step of the job
each second. It prints when it began, then what landed and the processor time that it took.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from neuron_top.agent.sink import STAY_HERE
from neuron_top.events import AnyEvent, RunFinished, RunStarted, StepReported, decode_lines, encode
from neuron_top.run.fold import Fold
from neuron_top.store.batches import pack
from neuron_top.store.fleet_records import Batch
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.sqlite import SqliteStore

RECORDING = Path(__file__).parents[2] / "assets" / "demo" / "neurontop.db"
JOB = "4711"
NODES = 1000
SENDERS = 40
"""Connections: what pgbouncer leaves of a thousand agents."""
_MODULE = re.compile(r"(MODULE_[0-9a-f]{16})[0-9a-f]{4}")
_NOT_OF_A_JOB_THAT_GOES_ON = RunStarted | RunFinished | StepReported


def recorded() -> list[AnyEvent]:
    """What an agent ships of the recording: folded, without the samples that stay on the node."""
    with SqliteStore(RECORDING, read_only=True) as store:
        (record,) = store.runs(limit=1)
        left_out = _NOT_OF_A_JOB_THAT_GOES_ON | STAY_HERE
        events = [event for event in store.replay(record.id) if not isinstance(event, left_out)]
    fold = Fold()
    reported = [one for event in events for one in fold.add(event, event.seen or 0.0)]
    return [*reported, *fold.flush(0.0, everything=True)]


class Rounds:
    """The events again and again. In each round their graphs have other names; nodes in one round share it."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self._text = b"\n".join(map(encode, events)).decode()
        self._rounds: dict[int, list[AnyEvent]] = {}

    def stream(self) -> Iterator[AnyEvent]:
        """What one node reports."""
        return chain.from_iterable(map(self._round, itertools.count()))

    def _round(self, number: int) -> list[AnyEvent]:
        if number not in self._rounds:
            self._rounds.pop(number - 3, None)
            self._rounds[number] = decode_lines(_MODULE.sub(lambda name: f"{name[1]}{number:04x}", self._text).encode())
        return self._rounds[number]


class Sender(threading.Thread):
    """Some of the nodes: a batch of each in every second, as far as the database keeps up."""

    def __init__(self, url: str, nodes: range, rounds: Rounds, rate: int, seconds: float, began: float) -> None:
        super().__init__()
        self._url, self._nodes, self._rounds, self._seconds, self._began = url, nodes, rounds, seconds, began
        self._each = rate // NODES
        self.rows = 0
        self.slowest = 0.0

    def run(self) -> None:
        """Ship."""
        with FleetStore(self._url) as store:
            sequences = {node: store.shipped(f"trn-{node:04}", f"load-{node}") for node in self._nodes}
            streams = {node: self._rounds.stream() for node in self._nodes}
            for second in range(int(self._seconds)):
                for place, node in enumerate(self._nodes):
                    at = self._began + second + place / len(self._nodes)
                    if time.time() > self._began + self._seconds:
                        return  # it did not keep up: what is missing of the rows says how far
                    time.sleep(max(0.0, at - time.time()))
                    batch = self._batch(streams[node], node, second, at, sequences[node] + 1)
                    asked = time.time()
                    sequences[node] = store.ship(f"trn-{node:04}", f"load-{node}", [batch])
                    self.slowest = max(self.slowest, time.time() - asked)
                    self.rows += batch.count

    def _batch(self, stream: Iterator[AnyEvent], node: int, second: int, at: float, sequence: int) -> Batch:
        name = f"trn-{node:04}"
        reported = [
            msgspec.structs.replace(one, node=name, at=at, seen=at) for one in itertools.islice(stream, self._each)
        ]
        if node == 0:
            reported[-1] = StepReported(step=int(at), loss=2.0, at=at, seen=at, rank=0, node=name, source="load")
        packed = pack(reported)
        return Batch(
            sequence=sequence, run=JOB, first=packed.first, last=packed.last, count=packed.count, data=packed.data
        )


def main() -> None:
    """Ship, and report."""
    url, rate, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    rounds = Rounds(recorded())
    began = math.ceil(time.time()) + 1.0  # a step is named as the second in which it was made
    print(began, flush=True)
    senders = [Sender(url, range(first, NODES, SENDERS), rounds, rate, seconds, began) for first in range(SENDERS)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    print(
        json.dumps(
            {
                "rows": sum(sender.rows for sender in senders),
                "seconds": time.time() - began,
                "slowest": max(sender.slowest for sender in senders),
                "cpu": time.process_time(),
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    main()
