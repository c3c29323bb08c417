"""What `neuron_parallel_compile` (the SDK's or ours) reports about a whole set of graphs."""

from __future__ import annotations

from neuron_top.events.base import LogEvent


class TrialRunStarted(LogEvent, frozen=True, kw_only=True):
    """Graph extraction began; everything the script prints until it ends is meaningless."""

    command: str = ""


class GraphsListed(LogEvent, frozen=True, kw_only=True):
    """The graphs that extraction found, one path per rank and graph."""

    paths: tuple[str, ...] = ()


class WorkerStarted(LogEvent, frozen=True, kw_only=True):
    """A compile worker began on `items` graphs (which counts ranks and graphs, not distinct graphs)."""

    worker: str = ""
    items: int | None = None


class WorkerFinished(LogEvent, frozen=True, kw_only=True):
    """A compile worker ended after `tasks` compiles."""

    worker: str = ""
    tasks: int | None = None


class WorkerFailed(LogEvent, frozen=True, kw_only=True):
    """A compile worker raised an exception."""

    worker: str = ""
    message: str = ""


class QueueCounted(LogEvent, frozen=True, kw_only=True):
    """`Current remaining items are …`: counts of the whole cache directory of this compiler version."""

    remaining: int
    locked: int
    failed: int
    done: int
    total: int


class GraphReported(LogEvent, frozen=True, kw_only=True):
    """One entry of the JSON report. `seconds` only from SDK 2.18 on."""

    path: str
    module: str | None = None
    ok: bool | None = None
    status: str = ""
    retry: int = 0
    seconds: float | None = None


class SummaryReported(LogEvent, frozen=True, kw_only=True):
    """The totals at the end of a parallel compile: this run only, one per node."""

    total: int
    success: int | None = None
    failed: int | None = None
    seconds: float | None = None
