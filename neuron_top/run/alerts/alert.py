"""What an alert is: its kind, its limits, and the evidence, as values. `views/alerts.py` has the words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from neuron_top.events.diagnosis import Cause
from neuron_top.run.graph import Attempt
from neuron_top.run.severity import Severity
from neuron_top.run.training import RaisedError


class AlertKind(StrEnum):
    """What an alert is about. The values are what `--json` and the API carry."""

    JOB_FAILED = "job-failed"
    MEMORY_EXHAUSTED = "memory-exhausted"
    WORKER_DIED = "worker-died"
    ERROR_LINES = "error-lines"
    COMPILE_FAILED = "compile-failed"
    COMPILE_KILLED = "compile-killed"
    COMPILE_WORKER_FAILED = "compile-worker-failed"
    CACHED_FAILURE = "cached-failure"
    LOCK_WAIT = "lock-wait"
    STALE_LOCK = "stale-lock"
    DISK_LOW = "disk-low"
    MEMORY_LOW = "memory-low"
    LATE_RECOMPILES = "late-recompiles"
    IDLE_CORE = "idle-core"
    TELEMETRY_LOST = "telemetry-lost"
    FALLBACK = "fallback"
    CACHE_UNUSED = "cache-unused"
    SEVERAL_CACHES = "several-caches"
    TRIAL_RUN = "trial-run"
    DEVICE_RESET = "device-reset"
    RUNTIME_ADVICE = "runtime-advice"
    RECOMPILED = "recompiled"
    NODE_SILENT = "node-silent"
    NODE_COMPILES_AGAIN = "node-compiles-again"
    LOCK_HOLDER_GONE = "lock-holder-gone"
    VERSIONS_DIFFER = "versions-differ"
    NODE_SLOW = "node-slow"
    CLOCK_SKEW = "clock-skew"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When something becomes an alert. Seconds, bytes, shares 0…1."""

    memory_headroom: float = 0.1
    """Share of a core's memory that should stay free (a setting)."""
    lock_wait_seconds: float = 120.0
    """A lock wait from this on is reported."""
    stale_seconds: float = 10.0
    """Telemetry that was silent for this long, and for five of its periods, counts as lost."""
    idle_seconds: float = 60.0
    """A core that idles this long while its peers work is reported."""
    disk_free_bytes: int = 2 * 1024**3
    """Free bytes on a cache's disk below which it is nearly full."""


class RaisedAlert(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a person should know, with the evidence; which fields are set depends on the kind."""

    kind: AlertKind
    key: str
    """Stays the same while it lasts, so a screen can keep its row."""
    severity: Severity
    since: float | None
    graph: str | None = None
    """Key of the graph it is about."""
    core: str | None = None
    """Key of the core it is about."""
    count: int = 0
    """How many are affected."""
    total: int = 0
    """Of how many; for lock waits, the number of running compiles."""
    seconds: float | None = None
    size: int | None = None
    capacity: int | None = None
    """Bytes; for a disk, what the cache takes."""
    share: float | None = None
    typical: float | None = None
    """The median of the peers' shares; for steps, of their seconds."""
    index: int | None = None
    """Of a core, as screens number it."""
    rank: int | None = None
    device: int | None = None
    local: bool = False
    """It is a local worker that stands for a core."""
    compiling_elsewhere: bool = False
    exit_code: int | None = None
    signal: str = ""
    text: str = ""
    """Quoted: what the compiler, a traceback or a source of telemetry said."""
    proof: str = ""
    """Evidence on who holds a lock."""
    names: tuple[str, ...] = ()
    attempt: Attempt | None = None
    """The failed compile."""
    cause: Cause | None = None
    """Why the job failed; None if its logs do not say."""


def exception_of(errors: Sequence[RaisedError]) -> tuple[str, ...]:
    """The `names` of an alert that quotes the last of these errors: the exception's name and its message."""
    return (errors[-1].exception, errors[-1].message) if errors else ()
