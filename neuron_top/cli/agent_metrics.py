"""`/metrics` of an agent: the slim profile, on loopback, with what the agent itself counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from neuron_top.dashboard.metrics import slim_metrics_of
from neuron_top.errors import UsageError
from neuron_top.views.overview import overview

if TYPE_CHECKING:
    from neuron_top.services.agent import NodeAgent

LOOPBACK = "127.0.0.1"


class _AgentMetrics(Collector):
    def __init__(self, node: NodeAgent) -> None:
        self._node = node

    def collect(self) -> Iterator[Metric]:
        yield from slim_metrics_of(self._node.feed.read(overview))
        for name, count in self._node.agent.notes().items():
            yield GaugeMetricFamily(f"neurontop_agent_{name}", "Of the agent: see docs/fleet.md", value=count)

    def describe(self) -> Iterator[Metric]:
        return iter(())


def serve_metrics(node: NodeAgent, port: int) -> str:
    """Serve until the process ends; the address. `port` 0 takes a free one. Raises UsageError for a taken one."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_AgentMetrics(node))
    try:
        server, _thread = start_http_server(port, LOOPBACK, registry)
    except OSError as problem:
        raise UsageError(f"--metrics-port {port}: {problem.strerror or problem}") from None
    return f"http://{LOOPBACK}:{server.server_port}/metrics"
