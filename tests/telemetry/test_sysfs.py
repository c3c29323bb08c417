"""The driver's counters: live levels, peaks, power, ECC, statuses; nothing is ever written."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from neuron_top.events import CoreKind, CoreSample, CoresSampled
from neuron_top.parsers import sysfs_values
from neuron_top.telemetry.core_owners import CoreOwners
from neuron_top.telemetry.instances import GIB
from neuron_top.telemetry.sources import SampleEnricher, SysfsPoller
from neuron_top.telemetry.sysfs import SysfsTree, overlaid
from tests.telemetry import trees

USED = {"tensors": 5 * GIB, "constants": GIB, "dma_rings": 1024, "collectives": 7}


def test_total_is_the_level_and_present_is_never_taken_for_it(tmp_path: Path) -> None:
    trees.device(tmp_path, 0, 2, used=USED)
    first, second = SysfsTree(tmp_path).sample().cores
    assert first.memory == sum(USED.values()) == sum(first.kinds.values())
    assert first.kinds == USED
    assert (first.capacity, first.bank, second.bank) == (16 * GIB, 0, 1)
    assert first.utilization is None
    assert (first.power, first.power_at) == (pytest.approx(0.1886), 1787754540.0)


def test_a_level_that_falls_is_seen_and_the_peak_stays(tmp_path: Path) -> None:
    folder = trees.device(tmp_path, 0, 2, used=USED) / "neuron_core0/stats/memory_usage/device_mem"
    tree = SysfsTree(tmp_path)
    tree.sample()
    trees.memory(folder, {"tensors": 5}, peak=6 * GIB)
    core = tree.sample().cores[0]
    assert (core.memory, core.peak, core.kinds) == (5, 6 * GIB, {"tensors": 5})


def test_two_physical_cores_of_trn2_make_one_logical_core(tmp_path: Path) -> None:
    base = trees.device(tmp_path, 0, 8, name="Trainium2")
    trees.memory(base / "neuron_core4/stats/memory_usage/device_mem", {"tensors": 10}, peak=30)
    trees.memory(base / "neuron_core5/stats/memory_usage/device_mem", {"tensors": 1, "constants": 2}, peak=20)
    trees.memory(base / "neuron_core6/stats/memory_usage/device_mem", {"tensors": 4}, peak=9)
    cores = SysfsTree(tmp_path).sample().cores
    assert [core.core for core in cores] == [0, 1, 2, 3]
    assert (cores[2].memory, cores[2].kinds, cores[2].bank) == (13, {"tensors": 11, "constants": 2}, 2)
    assert cores[2].peak is None  # 30 and 20 may have been at different times
    assert (cores[3].memory, cores[3].peak) == (4, 9)
    assert len(SysfsTree(tmp_path, lnc=1).sample().cores) == 8


def test_a_driver_with_fewer_categories_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    core = tmp_path / "devices/virtual/neuron_device/neuron0/neuron_core0"
    trees.put(core / "stats/memory_usage/device_mem/total", "9")
    trees.put(core / "stats/memory_usage/device_mem/tensors/total", "9")
    (sample,) = SysfsTree(tmp_path).sample().cores
    assert (sample.memory, sample.kinds, sample.peak, sample.power) == (9, {"tensors": 9}, None, None)
    assert sample.capacity is None  # no name of the device, no capacity


def test_the_folder_of_the_devices_itself_will_do_as_root(tmp_path: Path) -> None:
    trees.device(tmp_path, 0, 2)
    assert len(SysfsTree(tmp_path / "devices/virtual/neuron_device").sample().cores) == 2


def test_devices_are_counted_as_numbers_not_as_text(tmp_path: Path) -> None:
    for index in (0, 2, 10):
        trees.device(tmp_path, index, 2)
    found = SysfsTree(tmp_path).found()
    assert [device.index for device in found.devices] == [0, 2, 10]
    assert found.devices[0].connected_to == (1, 3)
    assert found.devices[2].cores == (20, 21)


def test_counters_leave_zeros_out_and_say_whether_they_are_live(tmp_path: Path) -> None:
    trees.device(tmp_path, 0, 2)
    trees.put(tmp_path / "module/neuron/version", "2.26.5.0\n")
    tree = SysfsTree(tmp_path)
    assert [(counted.physical, counted.counts, counted.live) for counted in tree.counters()] == [
        (0, {}, False),
        (1, {"success": 1}, False),
    ]
    assert tree.errors()[0].counts == {"mem_ecc_uncorrected": 2}


@pytest.mark.parametrize(("version", "live"), [("2.30.2", True), ("2.30.1.9", False), ("2.31", True), ("", None)])
def test_counters_of_running_processes_are_live_since_a_certain_driver(version: str, live: bool | None) -> None:
    assert sysfs_values.counters_are_live(sysfs_values.version(version)) is live


@pytest.mark.parametrize(
    "text", ["POWER_STATUS_NO_DATA,0,0,0,0", "POWER_STATUS_INVALID,1,2,3,4", "", "POWER_STATUS_VALID,1,2,3", "nan"]
)
def test_power_is_unknown_unless_it_says_valid(text: str) -> None:
    assert sysfs_values.power(text) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_only_root_may_read_is_reported_and_passed_over(tmp_path: Path) -> None:
    base = trees.device(tmp_path, 0, 2)
    (base / "connected_devices").chmod(0)
    tree = SysfsTree(tmp_path)
    assert tree.found().devices[0].connected_to == ()
    assert tree.denied == {str(base / "connected_devices")}


def test_reading_changes_nothing(tmp_path: Path) -> None:
    trees.device(tmp_path, 0, 2, used=USED)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    for path in before:
        path.chmod(0o444)
    tree = SysfsTree(tmp_path)
    tree.found(), tree.sample(), tree.errors(), tree.counters(), tree.ultraserver_node()
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before} == before


def test_the_overlay_takes_memory_and_power_from_the_driver_and_the_rest_from_the_monitor() -> None:
    monitor = CoreSample(core=0, utilization=0.5, memory=3, kinds={"tensors": 3}, pid=7)
    driver = CoreSample(core=0, memory=10, kinds={"tensors": 8, "dma_rings": 2}, peak=12, power=0.2)
    (merged,) = overlaid([monitor], [driver, CoreSample(core=1, memory=5)])
    assert merged == msgspec.structs.replace(driver, utilization=0.5, pid=7)


@pytest.mark.parametrize("lnc", [1, 2])
def test_the_driver_is_read_by_the_logical_cores_that_the_monitor_counts(tmp_path: Path, lnc: int) -> None:
    for index in range(2):
        base = trees.device(tmp_path, index, 8, name="Trainium2")
        for core in range(8):
            trees.memory(
                base / f"neuron_core{core}/stats/memory_usage/device_mem", {"tensors": 1 << (8 * index + core)}
            )
    refine, per_device = SampleEnricher(SysfsTree(tmp_path), CoreOwners()), 8 // lnc
    monitored = tuple(CoreSample(core=core, device=core // per_device) for core in range(2 * per_device))
    refined = refine(CoresSampled(kind=CoreKind.NEURON, cores=monitored))
    assert isinstance(refined, CoresSampled)
    expected = [((1 << lnc) - 1) << (lnc * core) for core in range(2 * per_device)]
    assert [core.memory for core in refined.cores] == expected
    alone = SysfsPoller(SysfsTree(tmp_path), lnc=lambda: refine.lnc)()
    (sampled,) = (event for event in alone if isinstance(event, CoresSampled))
    assert [core.memory for core in sampled.cores] == expected


def test_the_driver_s_counters_are_left_out_where_they_are_of_other_devices(tmp_path: Path) -> None:
    for index in range(2):
        trees.device(tmp_path, index, 2, used=USED)
    of_a_container = CoresSampled(kind=CoreKind.NEURON, cores=(CoreSample(core=0, device=0, memory=3),))
    refined = SampleEnricher(SysfsTree(tmp_path), CoreOwners())(of_a_container)
    assert isinstance(refined, CoresSampled)
    assert refined.cores[0].memory == 3


def test_a_driver_that_comes_later_is_noticed_and_its_absence_is_reported_once(tmp_path: Path) -> None:
    look = SysfsPoller(SysfsTree(tmp_path), clock=lambda: 1.0)
    (absent,) = look()
    assert "not loaded" in absent.reason  # type: ignore[union-attr]
    assert look() == []
    trees.device(tmp_path, 0, 2, used=USED)
    later = [type(event).__name__ for event in look()]
    assert later[:3] == ["SourceAvailable", "DevicesFound", "CoresSampled"]


def test_the_look_is_silent_while_the_monitor_delivers(tmp_path: Path) -> None:
    trees.device(tmp_path, 0, 2, used=USED)
    delivering = True
    look = SysfsPoller(SysfsTree(tmp_path), silent=lambda: delivering)
    assert "CoresSampled" not in [type(event).__name__ for event in look()]
    delivering = False
    assert [type(event).__name__ for event in look()] == ["CoresSampled"]
