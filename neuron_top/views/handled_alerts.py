"""Alerts with what people did about them: those that want somebody, acknowledged and muted ones, and past ones.

An acknowledged alert stays in the list and no longer counts; when it ends and comes back, it counts again. A muted one
stays away for this job until it is unmuted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import msgspec

from neuron_top.run.model import Run
from neuron_top.views.alerts import Alert
from neuron_top.views.overview import Overview

MOST_PAST = 500
"""Alerts that are kept, unless more hold."""
FLICKER_SECONDS = 60.0
"""An alert that returns within this time counts as never ended."""


class PastAlert(msgspec.Struct, frozen=True, kw_only=True):
    """An alert that was seen. Times in seconds since the epoch."""

    key: str
    kind: str
    severity: str
    title: str
    evidence: str
    since: float | None
    seen: float
    """When a program noticed it first."""
    ended: float | None = None
    """When it was no longer true; None while it holds."""


class AlertHistory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of one job's alerts."""

    job: str = ""
    acknowledged: dict[str, float] = {}
    """When, by key of the alert."""
    muted: dict[str, float] = {}
    past: tuple[PastAlert, ...] = ()
    """Oldest first; those that hold now too."""


NO_HISTORY = AlertHistory()


class AlertList(msgspec.Struct, frozen=True, kw_only=True):
    """The alerts of one job."""

    job: str
    active: tuple[Alert, ...] = ()
    """Nobody has acknowledged or muted them; worst first."""
    acknowledged: tuple[Alert, ...] = ()
    muted: tuple[Alert, ...] = ()
    past: tuple[PastAlert, ...] = ()
    """Those that ended, newest first."""

    @property
    def holding(self) -> tuple[Alert, ...]:
        """All that hold, in the order in which they are shown."""
        return (*self.active, *self.acknowledged, *self.muted)


def job_key(run: Run) -> str:
    """The key under which a run's alerts are stored: its recording, else its first log, else this machine."""
    return run.job.run or next(iter(run.job.sources), "") or "machine"


def active_of(found: Sequence[Alert], history: AlertHistory) -> tuple[Alert, ...]:
    """The alerts that nobody has acknowledged or muted."""
    if not (history.acknowledged or history.muted):
        return tuple(found)
    return tuple(alert for alert in found if alert.key not in history.acknowledged and alert.key not in history.muted)


def without_handled(view: Overview, history: AlertHistory) -> Overview:
    """An overview that shows and counts only the alerts that nobody has acknowledged or muted."""
    active = active_of(view.alerts, history)
    if len(active) == len(view.alerts):
        return view
    return msgspec.structs.replace(view, alerts=active, alerts_handled=len(view.alerts) - len(active))


def alert_list(job: str, found: Sequence[Alert], history: AlertHistory) -> AlertList:
    """All of them, arranged."""
    return AlertList(
        job=job,
        active=active_of(found, history),
        acknowledged=tuple(a for a in found if a.key in history.acknowledged and a.key not in history.muted),
        muted=tuple(alert for alert in found if alert.key in history.muted),
        past=tuple(past for past in reversed(history.past) if past.ended is not None),
    )


def noted(history: AlertHistory, job: str, found: Sequence[Alert], now: float) -> AlertHistory:
    """The history with the alerts that hold at `now`; the same object if nothing changed."""
    holding = {past.key: index for index, past in enumerate(history.past) if past.ended is None}
    keys = {alert.key for alert in found}
    if keys == holding.keys():
        return history
    past, acknowledged = list(history.past), dict(history.acknowledged)
    for key in holding.keys() - keys:
        past[holding[key]] = msgspec.structs.replace(past[holding[key]], ended=now)
    newest = {one.key: index for index, one in enumerate(past)}
    for alert in found:
        if alert.key in holding:
            continue
        at = newest.get(alert.key)
        ended = past[at].ended if at is not None else None
        if at is not None and ended is not None and now - ended <= FLICKER_SECONDS:
            past[at] = msgspec.structs.replace(past[at], ended=None)
            continue
        if at is not None:
            acknowledged.pop(alert.key, None)
        past.append(_past(alert, now))
    return AlertHistory(job=job, acknowledged=acknowledged, muted=history.muted, past=_bounded(past))


def _bounded(past: Sequence[PastAlert]) -> tuple[PastAlert, ...]:
    """Without the oldest of those that ended, where there are too many; one that holds would count as new again."""
    surplus = len(past) - MOST_PAST
    if surplus <= 0:
        return tuple(past)
    left_out = set(islice((index for index, one in enumerate(past) if one.ended is not None), surplus))
    return tuple(one for index, one in enumerate(past) if index not in left_out)


def _past(alert: Alert, now: float) -> PastAlert:
    return PastAlert(
        key=alert.key,
        kind=alert.kind.value,
        severity=alert.severity.value,
        title=alert.title,
        evidence=alert.evidence,
        since=alert.since,
        seen=now,
    )
