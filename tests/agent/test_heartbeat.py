"""What a heartbeat says of a node."""

from __future__ import annotations

from neuron_top.agent.node import node_now
from neuron_top.events import CoreKind, CoreSample, CoresSampled
from neuron_top.ingest.job_source import samples_of
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


def test_a_core_keeps_its_number_where_others_are_not_sampled() -> None:
    run = Run()
    for at, numbers in ((100.0, range(6)), (160.0, (2, 3, 5))):  # a device and a core have vanished
        cores = tuple(CoreSample(core=core, utilization=core / 10, memory=core) for core in numbers)
        run.apply(CoresSampled(node="n1", at=at, kind=CoreKind.NEURON, period=1.0, cores=cores))
    now = node_now(run, 160.5, "n1", "j", {}, None)
    assert now.cores["utilization"] == [None, None, 0.2, 0.3, None, 0.5]
    sampled = samples_of(now, CoreKind.NEURON)
    assert [(core.core, core.utilization, core.memory) for core in sampled.cores] == [
        (2, 0.2, 2),
        (3, 0.3, 3),
        (5, 0.5, 5),
    ]


def test_a_number_that_no_core_has_makes_no_long_heartbeat() -> None:
    run = Run()
    worker = CoreSample(core=999_999_999, utilization=0.5)
    run.apply(CoresSampled(node="n1", at=100.0, kind=CoreKind.LOCAL, period=1.0, cores=(worker,)))
    assert node_now(run, 100.5, "n1", "j", {}, None).cores["utilization"] == [0.5]
