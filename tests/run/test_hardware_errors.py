"""ECC counts of devices, where several nodes and several sources report them."""

from __future__ import annotations

from neuron_top.events import HardwareErrorsCounted
from neuron_top.run.model import Run

DRIVER = {"mem_ecc_uncorrected": 2, "mem_ecc_repairable_uncorrected": 1}


def counted(counts: dict[str, int], source: str = "monitor", node: str = "a") -> HardwareErrorsCounted:
    return HardwareErrorsCounted(device=3, counts=counts, source=source, node=node, at=1.0)


def test_errors_of_a_device_are_not_those_of_the_same_device_of_another_node() -> None:
    run = Run()
    run.apply(counted({"mem_ecc_corrected": 7}, node="a"))
    run.apply(counted({"mem_ecc_corrected": 0}, node="b"))
    assert run.cores.hardware_errors == {("a", 3): {"mem_ecc_corrected": 7}, ("b", 3): {"mem_ecc_corrected": 0}}


def test_what_the_driver_counted_stays_between_two_readings_of_its_counters() -> None:
    run = Run()
    run.apply(counted(DRIVER, source="sysfs"))
    run.apply(counted({"mem_ecc_corrected": 4, "mem_ecc_uncorrected": 0}))
    assert run.cores.hardware_errors["a", 3] == {"mem_ecc_corrected": 4, **DRIVER}
    run.apply(counted({"mem_ecc_uncorrected": 5}, source="sysfs"))
    assert run.cores.hardware_errors["a", 3] == {"mem_ecc_uncorrected": 5}


def test_without_the_driver_s_counters_the_newest_counts_stand() -> None:
    run = Run()
    run.apply(counted({"mem_ecc_corrected": 4}))
    run.apply(counted({"mem_ecc_corrected": 5}))
    assert run.cores.hardware_errors["a", 3] == {"mem_ecc_corrected": 5}
