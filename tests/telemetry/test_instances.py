"""Instances as numbers: banks, capacity, and what is known of an instance that is not in the table."""

from __future__ import annotations

import pytest

from neuron_top.events import CoreSample
from neuron_top.telemetry.banks import bank_levels
from neuron_top.telemetry.instances import GIB, generation, machine


def test_at_lnc_1_two_cores_of_trn2_share_a_bank_and_what_is_left_of_it() -> None:
    host = machine(instance_type="trn2.3xlarge", lnc=1)
    assert [host.bank(core) for core in host.cores] == [0, 0, 1, 1, 2, 2, 3, 3]
    cores = [
        CoreSample(core=core, device=0, bank=host.bank(core), memory=core * GIB, capacity=host.bank_memory)
        for core in host.cores
    ]
    assert [level.headroom for level in bank_levels(cores)] == [23 * GIB, 19 * GIB, 15 * GIB, 11 * GIB]


def test_a_bank_of_which_no_core_reports_has_unknown_headroom() -> None:
    (level,) = bank_levels([CoreSample(core=0, device=0, bank=0, capacity=5), CoreSample(core=1)])
    assert (level.used, level.headroom) == (None, None)


@pytest.mark.parametrize("name", ["trn2u-ac.24xlarge", "trn2n.48xlarge", "TRN2.48xlarge"])
def test_an_instance_that_is_not_in_the_table_is_known_by_its_family(name: str) -> None:
    kind = generation(instance_type=name)
    assert kind is not None
    assert kind.name == "trn2"


def test_what_the_machine_says_goes_before_the_table() -> None:
    host = machine(instance_type="trn2.48xlarge", devices=1, cores_per_device=8)
    assert (len(host.cores), host.lnc, host.bank_memory) == (8, 1, 24 * GIB)


def test_an_unknown_machine_has_no_banks_and_no_capacity() -> None:
    host = machine(devices=2, cores_per_device=2)
    assert (host.bank(3), host.bank_memory, host.device(3)) == (None, None, 1)
