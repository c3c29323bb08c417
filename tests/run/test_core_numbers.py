"""Cores that get other numbers, as those of a Trainium2 do when a job asks for logical cores of another size."""

from __future__ import annotations

from neuron_top.events import CoreKind, CoreSample, CoresSampled, Device, DevicesFound
from neuron_top.run.model import Run
from neuron_top.views.core_rows import core_rows


def sampled(run: Run, at: float, per_bank: int, memory: int, node: str = "a") -> None:
    """The cores of a device with four banks."""
    cores = tuple(
        CoreSample(core=core, device=0, bank=core // per_bank, memory=memory, capacity=100, utilization=0.5)
        for core in range(4 * per_bank)
    )
    run.apply(CoresSampled(kind=CoreKind.NEURON, cores=cores, period=1.0, at=at, node=node))


def found(run: Run, at: float, lnc: int, node: str = "a") -> None:
    run.apply(DevicesFound(devices=(Device(index=0),), lnc=lnc, at=at, node=node))


def test_cores_of_another_size_replace_those_before() -> None:
    run = Run()
    for node in "ab":
        found(run, 1.0, lnc=1, node=node)
        sampled(run, 1.0, per_bank=2, memory=40, node=node)
    found(run, 2.0, lnc=2)
    sampled(run, 2.0, per_bank=1, memory=30)
    rows = core_rows(run, 2.0)
    assert [row.core for row in rows if row.node == "a"] == [0, 1, 2, 3]
    assert [row.core for row in rows if row.node == "b"] == list(range(8))
    found(run, 3.0, lnc=2)
    assert len(core_rows(run, 3.0)) == 12


def test_a_core_shares_the_bank_that_it_is_in_now() -> None:
    run = Run()
    sampled(run, 1.0, per_bank=2, memory=40)
    assert {row.beside for row in core_rows(run, 1.0)} == {40}
    sampled(run, 2.0, per_bank=1, memory=40)
    assert [(row.beside, row.headroom) for row in core_rows(run, 2.0)][:4] == [(0, 0.6)] * 4
