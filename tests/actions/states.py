"""One entry of every state, as files on disk; whoever holds a lock is really alive or really dead."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model.states import State
from tests.actions import caches

GRAPH = {"model.hlo_module.pb": b"\x0a\x01m"}
LOG = {"model.log": b"Failed compilation with ['neuronx-cc']: Killed"}
HIT = {**GRAPH, "model.neff": caches.neff(3072), "model.done": b""}
OLD_COMPILER = "neuronxcc-2.12.68.0+4480452af"


def living_owner() -> bytes:
    """A lock held by this very process."""
    return msgspec.json.encode(lock_owner.current())


@functools.cache
def dead_owner() -> bytes:
    """A lock whose holder has ended; asked for often, and as dead each time."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    start = lock_owner.process_start(process.pid)
    process.wait()
    return msgspec.json.encode(msgspec.structs.replace(lock_owner.current(), pid=process.pid, started=start))


def files_of(state: State) -> dict[str, bytes]:
    """The files that make an entry `state`."""
    lock = "model.hlo_module.pb.lock"
    return {
        State.HIT: HIT,
        State.HIT_LEFTOVER_LOCK: {**HIT, lock: b""},
        State.HIT_LEGACY: {**GRAPH, "model.neff": caches.neff(3072)},
        State.CORRUPT: {**HIT, "model.neff": b""},
        State.PARTIAL: {**GRAPH, "model.neff": caches.neff(3072)[:700]},
        State.COMPILING: {**GRAPH, lock: living_owner()},
        State.RETRYING: {**GRAPH, **LOG, lock: living_owner()},
        State.LOCKED_UNKNOWN: {**GRAPH, lock: b""},
        State.STALE_LOCK: {**GRAPH, lock: dead_owner()},
        State.FAILED: {**GRAPH, **LOG},
        State.FAILED_LEGACY: {**GRAPH, **LOG, "model.neff": b"error"},
        State.PUBLISHED_UNMARKED: {**GRAPH, "model.neff": caches.neff(3072)},
        State.EXTRACTED: GRAPH,
        State.EMPTY: {},
        State.INCONSISTENT: {**GRAPH, "model.done": b""},
        State.UNKNOWN: {"model.log": b"something else"},
    }[state]


def entry_in(root: Path, state: State, *, number: int = 1, age_days: float = 10.0) -> Path:
    """An entry in `state`, untouched for `age_days`; its lock, where no owner is named, was taken just now."""
    if state is State.TRACED:
        place = root / caches.COMPILER / "MODULE_0123456789abcdef0123"
        place.mkdir(parents=True)
        (place / "model.neuron").write_bytes(b"x" * 4096)
        caches.grow_old(place, age_days)
        return place
    compiler = OLD_COMPILER if state in (State.HIT_LEGACY, State.FAILED_LEGACY) else caches.COMPILER
    place = caches.entry(root, number, files=files_of(state), compiler=compiler, age_days=age_days)
    lock = place / "model.hlo_module.pb.lock"
    if lock.exists() and not lock.read_bytes():
        now = time.time()
        os.utime(lock, (now, now))
    return place
