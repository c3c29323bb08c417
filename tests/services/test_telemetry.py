"""The newest telemetry, and when one sample of a source is complete."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from neuron_top import events as ev
from neuron_top.errors import FileMalformed, NothingToShow, UsageError
from neuron_top.services.telemetry import (
    AUTO,
    MONITOR,
    NEURON_LS,
    SYSFS,
    LatestTelemetry,
    MachineTelemetry,
    SavedTelemetry,
)
from neuron_top.settings import Settings

CORES = ev.CoresSampled(kind=ev.CoreKind.NEURON, source=MONITOR, cores=(
    ev.CoreSample(core=0, device=0, bank=0, memory=6, capacity=16), ev.CoreSample(core=1, device=0, bank=0, memory=4),
))  # fmt: skip


def latest(*events: ev.AnyEvent) -> LatestTelemetry:
    telemetry = LatestTelemetry()
    for event in events:
        telemetry.apply(event)
    return telemetry


def test_the_newest_of_each_kind_stands_and_processes_begin_their_executions_anew() -> None:
    telemetry = latest(
        ev.ExecutionsCounted(pid=1, statuses={"completed": 1}),
        ev.NeuronProcessesSampled(processes=()),
        ev.ExecutionsCounted(pid=2, statuses={"completed": 2}),
        ev.HostSampled(cpu=0.1),
        ev.HostSampled(cpu=0.2),
    )
    assert [pid for pid, _ in telemetry.executions] == [2]
    assert telemetry.host is not None
    assert telemetry.host.cpu == 0.2
    assert [type(event).__name__ for event in telemetry.events()] == [
        "NeuronProcessesSampled",
        "ExecutionsCounted",
        "HostSampled",
    ]


def test_errors_that_only_the_driver_counts_stay_when_the_monitor_reports_its_own() -> None:
    telemetry = latest(
        ev.HardwareErrorsCounted(device=0, counts={"mem_ecc_repairable_uncorrected": 1}, source="sysfs"),
        ev.HardwareErrorsCounted(device=0, counts={"mem_ecc_corrected": 4}, source="monitor"),
    )
    assert telemetry.errors[0].counts == {"mem_ecc_corrected": 4, "mem_ecc_repairable_uncorrected": 1}


def test_cores_that_share_a_bank_share_what_is_left() -> None:
    assert latest(CORES).headroom() == {(0, 0): 6}
    assert latest().headroom() == {}


@pytest.mark.parametrize(
    ("source", "events", "complete"),
    [
        (NEURON_LS, [CORES], False),
        (NEURON_LS, [ev.DevicesFound()], True),
        (SYSFS, [CORES], True),
        (AUTO, [CORES], False),
        (AUTO, [CORES, ev.HostSampled()], False),  # its first record has no rates yet
        (AUTO, [CORES, ev.HostSampled(cpu=0.5)], True),
        (AUTO, [CORES, ev.SourceUnavailable(name="neuron-monitor", reason="gone", source=MONITOR)], True),
    ],
)
def test_one_sample_is_complete_with_rates_where_the_monitor_is_there(source, events, complete) -> None:
    assert latest(*events).is_complete(source) is complete


def test_nothing_is_empty_until_something_of_the_machine_is_known() -> None:
    assert latest(ev.ExecutionsCounted(pid=1)).is_empty
    assert not latest(ev.HostSampled()).is_empty


def test_a_folder_that_is_not_there_and_a_file_that_is_no_telemetry_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        MachineTelemetry(Settings(), AUTO, str(tmp_path / "none"))
    with pytest.raises(NothingToShow, match=r"none\.json"):
        list(SavedTelemetry(str(tmp_path / "none.json"), print).events())
    (tmp_path / "text").write_text("hello\n")
    saved = SavedTelemetry(str(tmp_path / "text"), print)
    list(saved.events())
    with pytest.raises(FileMalformed, match="neuron-monitor"):
        saved.check()


def test_a_source_that_breaks_is_reported_as_lost_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """neuron-monitor gets its configuration in a temporary file, for which there may be no room."""
    tool = tmp_path / "neuron-monitor"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no such folder"))
    machine = MachineTelemetry(Settings(), MONITOR, patience=60)
    (event,) = machine.events()
    assert isinstance(event, ev.SourceUnavailable)
    assert (event.name, event.reason.partition(": ")[0]) == ("neuron-monitor", "stopped")
    assert machine.is_hopeless({event.name})
