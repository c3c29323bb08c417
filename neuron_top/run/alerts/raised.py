"""Computes all alerts of a run from its current state, so that each disappears when it is no longer true.

A rule is a function `(run, now, limits) -> alerts` in the module of its subject. To add one, add a kind, a name in
RULES, and its text in `views/alerts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from neuron_top.run.alerts import caches, compiles, cores, job, nodes
from neuron_top.run.alerts.alert import Limits, RaisedAlert
from neuron_top.run.model import Run
from neuron_top.run.severity import SEVERITIES, Severity

Rule = Callable[[Run, float, Limits], Iterator[RaisedAlert]]

RULES: tuple[Rule, ...] = (
    cores.memory_exhausted,
    job.workers_died,
    compiles.failed_compiles,
    compiles.failed_workers,
    compiles.cached_failures,
    compiles.lock_waits,
    caches.disk_low,
    cores.memory_headroom,
    compiles.late_recompiles,
    cores.idle_cores,
    cores.telemetry_lost,
    compiles.cache_unused,
    caches.several_caches,
    compiles.trial_run,
    cores.advised,
    compiles.recompiled,
    nodes.silent_nodes,
    nodes.compiled_again,
    nodes.lost_holders,
    nodes.differing_nodes,
    nodes.slow_nodes,
    nodes.skewed_clocks,
)


def raised(run: Run, now: float, limits: Limits | None = None) -> tuple[RaisedAlert, ...]:
    """All alerts that hold at `now`: first that the job failed, then the worst, and of these the oldest, first."""
    bounds = limits or Limits()
    first = tuple(job.job_failed(run, now))  # by our own clock: a log has ended once it was quiet for long enough
    now = run.effective_now(now)
    found = _grouped_by_device(alert for rule in RULES for alert in rule(run, now, bounds))
    if not first and not any(alert.severity is Severity.ERROR for alert in found):
        found += job.error_lines(run)
    found.sort(key=lambda alert: (SEVERITIES.index(alert.severity), alert.since or now, alert.key))
    return (*first, *found)


def _grouped_by_device(found: Iterable[RaisedAlert]) -> list[RaisedAlert]:
    """One alert for all of the same kind and severity about cores of one device (or workers without a device of one
    node).

    The group's key does not name its cores, so it stays the same while cores come and go.
    """
    groups: dict[tuple[str, ...], list[RaisedAlert]] = {}
    for alert in found:
        key = (alert.kind.value, alert.severity.value, _device_of(alert)) if alert.core is not None else (alert.key,)
        groups.setdefault(key, []).append(alert)
    return [alerts[0] if len(alerts) == 1 else _most_so("\t".join(key), alerts) for key, alerts in groups.items()]


def _device_of(alert: RaisedAlert) -> str:
    node = (alert.core or "").partition("/")[0]
    return f"{node} device {alert.device}" if alert.device is not None else node


def _most_so(key: str, alerts: list[RaisedAlert]) -> RaisedAlert:
    """One alert for all of them, with the values of the most extreme: the fullest or the most idle core."""
    first = min(alerts, key=lambda alert: alert.share if alert.share is not None else 1.0)
    since = [alert.since for alert in alerts if alert.since is not None]
    return msgspec.structs.replace(first, key=key, count=len(alerts), since=min(since, default=None))
