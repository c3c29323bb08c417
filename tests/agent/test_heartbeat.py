"""What a heartbeat says of a node."""

from __future__ import annotations

from neuron_top.agent.node import node_now
from neuron_top.events import CoreKind, CoreSample, CoresSampled
from neuron_top.run.model import Run


def test_the_worst_core_is_the_least_busy_one_and_the_one_with_most_memory() -> None:
    run = Run()
    cores = [CoreSample(core=core, utilization=busy, memory=used) for core, busy, used in
             ((0, 0.9, 10), (1, 0.2, 30), (2, 0.95, 20))]  # fmt: skip
    run.apply(CoresSampled(node="n1", at=100.0, kind=CoreKind.NEURON, period=1.0, cores=tuple(cores)))
    metrics = node_now(run, 100.5, "n1", "j", {}, None).metrics
    assert (metrics["utilization"].low, metrics["utilization"].worst_core) == (0.2, 1)
    assert (metrics["memory"].high, metrics["memory"].worst_core) == (30, 1)
    assert metrics["utilization"].median == 0.9
