"""What needs a person: alerts derived from the run as it is now, so that each clears when it is no longer true."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from neuron_top.run.graph import Graph, GraphState
from neuron_top.run.model import Run


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When something becomes an alert."""

    memory_headroom: float = 0.1
    """Share of a core's memory that should stay free (a setting)."""
    lock_wait_seconds: float = 120.0
    """A lock wait longer than this is worth a look."""
    stale_seconds: float = 10.0
    """Telemetry that is silent for so long, and for five periods, is lost."""
    idle_seconds: float = 60.0
    """A core that idles this long while its peers work."""
    disk_free: float = 0.05
    """Share of a cache's own size below which free space is called short…"""
    disk_free_bytes: int = 2 * 1024**3
    """…and the bytes below which it is in any case."""


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that needs a person. `key` stays the same while it lasts, so a screen can keep its row."""

    key: str
    severity: str
    """`error`, `warning` or `info`."""
    since: float | None
    title: str
    evidence: str
    next_step: str
    graph: str | None = None
    """Key of the graph it is about."""
    core: str | None = None
    """Key of the core it is about."""


Rule = Callable[[Run, float, Limits], Iterator[Alert]]
SEVERITIES = ("error", "warning", "info")


def alerts(run: Run, now: float, limits: Limits | None = None) -> tuple[Alert, ...]:
    """All alerts that hold at `now`, worst first, then oldest first."""
    limits = limits or Limits()
    found = [alert for rule in RULES for alert in rule(run, now, limits)]
    return tuple(sorted(found, key=lambda alert: (SEVERITIES.index(alert.severity), alert.since or now, alert.key)))


def _failed_compiles(run: Run, now: float, limits: Limits) -> Iterator[Alert]:
    for graph in run.compiles.graphs.values():
        if graph.state is not GraphState.FAILED:
            continue
        attempt = graph.last_attempt
        killed = attempt is not None and attempt.killed
        yield Alert(
            key=f"{'killed' if killed else 'failed'} {graph.key}",
            severity="error",
            since=graph.since,
            title="compile killed" if killed else "compile failed",
            evidence=f"{graph.key}: {_first_line(graph.message) or _reason(attempt)}",
            next_step=_KILLED_STEP if killed else _FAILED_STEP.format(module=graph.module or graph.key),
            graph=graph.key,
        )


RULES: tuple[Rule, ...] = (_failed_compiles,)

_KILLED_STEP = (
    "Killed from outside, most often by the kernel for host memory: compile fewer graphs at a time (-j) or use a host "
    "with more memory, then retry; the graph itself may be fine."
)
_FAILED_STEP = "Open the graph for the compiler's text; `neurontop cache show {module}` says whether a retry can help."


def _reason(attempt: object) -> str:
    cause = getattr(attempt, "cause", "")
    code = getattr(attempt, "code", None)
    status = getattr(attempt, "exit_status", None)
    return cause or (f"code {code}" if code else f"exit status {status}" if status is not None else "no message")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:240]


def _name(graph: Graph) -> str:
    return graph.module or graph.key
