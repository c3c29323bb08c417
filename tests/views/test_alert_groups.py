"""Cores of one device that say the same are one alert."""

from __future__ import annotations

from neuron_top import events as ev
from neuron_top.run.model import Run
from neuron_top.views.alerts import AlertKind, alerts


def sampled(run: Run, seconds: int, idle: set[int], *, device: bool = True) -> None:
    for second in range(seconds):
        cores = tuple(
            ev.CoreSample(
                core=core, device=core // 8 if device else None, utilization=0.004 if core in idle else 0.9, memory=1
            )
            for core in range(32)
        )
        run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=float(second), node="n"))


def test_eight_idle_cores_of_one_device_are_one_alert() -> None:
    run = Run()
    sampled(run, 90, set(range(8, 16)))
    (alert,) = alerts(run, 90.0)
    assert alert.kind is AlertKind.IDLE_CORE
    assert alert.title == "cores idle while their peers work"
    assert alert.evidence == "8 cores of device 1 below 5.0 %, median of 32 cores 90 % over 30 s or a step"
    assert alert.core == "n/neuron/8"


def test_the_key_of_the_group_stays_while_cores_come_and_go() -> None:
    keys = []
    for idle in ({8, 9}, {9, 10, 11}):
        run = Run()
        sampled(run, 90, idle)
        keys += [alert.key for alert in alerts(run, 90.0)]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_idle_cores_of_two_devices_are_two_alerts_and_one_core_keeps_its_own_words() -> None:
    run = Run()
    sampled(run, 90, {8, 9, 17})
    both = sorted(alert.evidence for alert in alerts(run, 90.0))
    assert both[0].startswith("2 cores of device 1 below 5.0 %")
    assert both[1].startswith("core 17 at 0.4 %")
