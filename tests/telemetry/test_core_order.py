"""Core numbers: selection order and physical order, logical and physical, banks and capacity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.events import CoreSample
from neuron_top.telemetry import core_order
from neuron_top.telemetry.banks import bank_levels
from neuron_top.telemetry.instances import DEVICES, GIB, generation, machine

ANY_INSTANCE = st.sampled_from(sorted(DEVICES))


@given(ANY_INSTANCE, st.sampled_from([None, 0, 1, 2, 3]), st.data())
def test_the_way_there_and_back_ends_where_it_began(kind: str, node: int | None, data: st.DataObject) -> None:
    family = generation(instance_type=kind)
    assert family is not None
    host = machine(instance_type=kind, lnc=data.draw(st.sampled_from([1, 2])) if family.cores == 8 else 1)
    order = [core_order.monitor_core(core, host, node) for core in host.cores]
    assert sorted(order) == list(host.cores)
    assert [core_order.visible_core(core, host, node) for core in order] == list(host.cores)


@pytest.mark.parametrize(
    ("device", "pairs"), [(0, (2, 3, 1, 0)), (1, (1, 0, 2, 3)), (4, (0, 1, 3, 2)), (5, (3, 2, 0, 1))]
)
def test_pairs_of_trn2_are_handed_out_in_the_drivers_order(device: int, pairs: tuple[int, ...]) -> None:
    host = machine(instance_type="trn2.48xlarge")
    assert core_order.logical_order(device, host) == pairs


def test_an_ultraserver_member_turns_the_positions_around() -> None:
    host = machine(instance_type="trn2u.48xlarge", lnc=1)
    # Position 0 ^ 6 = 6 of (4 5 6 7 2 3 0 1) is physical core 0, position 1 ^ 6 = 7 is core 1, and so on.
    assert core_order.physical_cores(0, host, 1) == (0, 1, 2, 3, 6, 7, 4, 5)
    assert core_order.physical_cores(0, host, 2) == core_order.TRN2_ORDER[0]


@pytest.mark.parametrize("kind", ["inf2.48xlarge", "trn1.32xlarge", "inf1.xlarge"])
def test_on_other_hardware_both_orders_are_the_same(kind: str) -> None:
    host = machine(instance_type=kind)
    assert [core_order.monitor_core(core, host) for core in host.cores] == list(host.cores)


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("0", (0,)),
        ("0-3", (0, 1, 2, 3)),
        ("0,2,4-5", (0, 2, 4, 5)),
        ("", ()),
        ("x", ()),
        ("3-1", ()),
        ("0-99999999", ()),
    ],
)
def test_visible_cores_are_read_in_every_written_form(text: str, cores: tuple[int, ...]) -> None:
    assert core_order.visible_cores(text) == cores


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
