"""Agents as Prometheus' service discovery wants them: `http_sd_configs` of Prometheus, VictoriaMetrics and Alloy."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from neuron_top.identity import is_loopback
from neuron_top.views.fleet import FleetPage, NodeReporting, NodeRow

FORGOTTEN_SECONDS = 3600.0
"""A node that was silent for this long is no target any more; until then its failing scrapes report it."""


class TargetGroup(msgspec.Struct, frozen=True):
    """One agent, with the labels that the rules group by."""

    targets: tuple[str, ...]
    labels: dict[str, str]


def scrape_targets(page: FleetPage, here: str) -> tuple[TargetGroup, ...]:
    """Every agent that can be asked for metrics by a collector on the machine `here` (its id); not those that ended
    with their job, whose silence is no news."""
    going_on = [node for node in page.agents if node.state is not NodeReporting.ENDED]
    known = [node for node in going_on if node.address and node.silent_seconds < FORGOTTEN_SECONDS]
    return tuple(_group(node) for node in known if _is_reachable(node, here))


def _is_reachable(node: NodeRow, here: str) -> bool:
    """Whether an agent can be scraped: not on the loopback of another machine, as the collector would ask its own agent
    there and take its numbers for the node's; nor at what is no address."""
    try:
        host = urlsplit(node.address).hostname or ""
    except ValueError:
        return False
    return bool(host) and (not is_loopback(host) or node.attributes.get("machine") == here)


def _group(node: NodeRow) -> TargetGroup:
    parts = urlsplit(node.address)
    labels = {"node": node.node, "cluster": node.cluster, "neurontop_job": node.job}
    path = parts.path.rstrip("/").removesuffix("/metrics")
    labels |= {"__scheme__": parts.scheme, "__metrics_path__": f"{path}/metrics"}
    return TargetGroup((parts.netloc.rpartition("@")[2],), {name: value for name, value in labels.items() if value})
