"""Alerts that only several nodes of a job show; none of them of one machine."""

from __future__ import annotations

from neuron_top import events as ev
from neuron_top.events import AnyEvent, LogGeneration
from neuron_top.run.alerts.alert import AlertKind
from neuron_top.run.model import Run
from neuron_top.views.alerts import alerts
from tests.run.samples import A

NODES = ("n1", "n2", "n3", "n4", "n5")


def reported(events: list[AnyEvent], now: float = 1000.0) -> dict[AlertKind, str]:
    run = Run()
    for event in events:
        run.apply(event)
    return {alert.kind: alert.evidence for alert in alerts(run, now)}


def alive(node: str, at: float, offset: float = 0.0) -> AnyEvent:
    return ev.ClockMeasured(node=node, at=at, source="agent", offset_seconds=offset)


def test_a_node_that_went_silent_while_others_go_on() -> None:
    events = [alive(node, 998.0) for node in NODES[1:]]
    assert "n1: nothing for" in reported([alive("n1", 800.0), *events])[AlertKind.NODE_SILENT]
    assert AlertKind.NODE_SILENT not in reported([alive("n1", 990.0), *events])
    assert AlertKind.NODE_SILENT not in reported([alive(node, 800.0) for node in NODES])  # all: the job is over
    stopped = ev.AgentStopped(node="n1", at=800.0, source="agent")
    assert AlertKind.NODE_SILENT not in reported([alive("n1", 800.0), stopped, *events])


def test_a_node_that_compiles_what_another_found() -> None:
    found = ev.CacheHit(node="n1", at=100.0, pid=1, module=A, generation=LogGeneration.G3, source="log:a")
    began = ev.CompileStarted(node="n2", at=200.0, pid=1, module=A, generation=LogGeneration.G2, source="log:a")
    assert "n2 compiled 1 graph" in reported([found, began])[AlertKind.NODE_COMPILES_AGAIN]
    late = ev.CacheHit(node="n1", at=300.0, pid=1, module=A, generation=LogGeneration.G3, source="log:a")
    assert AlertKind.NODE_COMPILES_AGAIN not in reported([began, late])  # the usual: one compiles, the others find it


def test_ranks_that_wait_for_a_node_that_is_gone() -> None:
    began = ev.CompileStarted(node="n1", at=700.0, pid=1, module=A, generation=LogGeneration.G2, source="log:a")
    waited = ev.LockWaited(
        node="n2", at=990.0, pid=2, module=A, minutes=4.0, generation=LogGeneration.G3, source="log:a"
    )
    found = reported([began, waited, alive("n2", 999.0)])
    assert "whose lock n1 holds" in found[AlertKind.LOCK_HOLDER_GONE]
    assert AlertKind.LOCK_HOLDER_GONE not in reported([began, waited, alive("n1", 999.0), alive("n2", 999.0)])


def test_a_lock_whose_holder_only_the_cache_names() -> None:
    who = ev.NodeDescribed(node="n1", at=700.0, attributes={"host": "ip-10-0-0-1"})
    lock = ev.EntryChanged(
        node="n2", at=900.0, root="/c", compiler="x", module=A, state="locked", lock="alive",
        lock_holder="pid 4711 on ip-10-0-0-1",
    )  # fmt: skip
    waited = ev.LockWaited(
        node="n2", at=990.0, pid=2, module=A, minutes=4.0, generation=LogGeneration.G3, source="log:a"
    )
    assert "n1" in reported([who, lock, waited, alive("n2", 999.0)])[AlertKind.LOCK_HOLDER_GONE]


def test_versions_that_differ_raise_an_alert() -> None:
    events: list[AnyEvent] = [
        ev.NodeDescribed(node=node, at=1.0, attributes={"compiler": "2.21" if node != "n4" else "2.19"})
        for node in NODES
    ]
    assert reported(events)[AlertKind.VERSIONS_DIFFER] == "1 of 5 nodes have compiler 2.19, most have 2.21: n4"
    assert AlertKind.VERSIONS_DIFFER not in reported(events[:3])


def steps(node: str, seconds: float) -> list[AnyEvent]:
    return [
        ev.StepReported(node=node, at=100 + number * seconds, step=number, source=f"log:{node}") for number in range(12)
    ]


def test_a_node_slower_than_the_rest_raises_an_alert() -> None:
    paces = dict(zip(NODES, (1.0, 1.02, 0.98, 1.01, 1.6), strict=True))
    events = [event for node, pace in paces.items() for event in steps(node, pace)]
    assert "n5" in reported(events, 115.0)[AlertKind.NODE_SLOW]
    even = [event for node in NODES for event in steps(node, 1.0 if node != "n5" else 1.05)]
    assert AlertKind.NODE_SLOW not in reported(even, 115.0)


def test_ranks_that_print_a_step_one_after_the_other_do_not_make_their_node_faster() -> None:
    """Of each step the first report counts, as it does for the job: the others come a part of a step later."""
    run = Run()
    for step in range(10):
        for rank, late in ((0, 0.0), (1, 0.4)):
            at = 100.0 + step + late
            run.apply(ev.StepReported(node="n1", at=at, step=step, rank=rank, source=f"log:{rank}"))
    assert run.nodes.nodes["n1"].step_seconds == run.training.step_seconds == 1.0


def test_a_clock_that_is_off_raises_an_alert() -> None:
    assert reported([alive("n1", 999.0), alive("n2", 999.0, -3.5)])[AlertKind.CLOCK_SKEW].startswith("n2: -3.5 s")
    assert AlertKind.CLOCK_SKEW not in reported([alive("n1", 999.0, 0.4)])
