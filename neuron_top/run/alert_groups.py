"""Alerts about one core each that say the same of several cores of a device: one alert for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from neuron_top.run.alerts import RaisedAlert


def grouped_by_device(found: Iterable[RaisedAlert]) -> list[RaisedAlert]:
    """Those of the same kind and severity on one device (workers without a device: of one node) as one.

    The group's key does not name its cores, so it stays while cores come and go.
    """
    groups: dict[tuple[str, ...], list[RaisedAlert]] = {}
    for alert in found:
        key = (alert.kind.value, alert.severity.value, _where(alert)) if alert.core is not None else (alert.key,)
        groups.setdefault(key, []).append(alert)
    return [alerts[0] if len(alerts) == 1 else _one("\t".join(key), alerts) for key, alerts in groups.items()]


def _where(alert: RaisedAlert) -> str:
    node = (alert.core or "").partition("/")[0]
    return f"{node} device {alert.device}" if alert.device is not None else node


def _one(key: str, alerts: list[RaisedAlert]) -> RaisedAlert:
    """All of them as the one that is most so: the fullest, the idlest."""
    first = min(alerts, key=lambda alert: alert.share if alert.share is not None else 1.0)
    since = [alert.since for alert in alerts if alert.since is not None]
    return msgspec.structs.replace(first, key=key, count=len(alerts), since=min(since, default=None))
