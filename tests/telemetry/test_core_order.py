"""Core numbers of neuron-monitor in the order in which the driver hands cores out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.telemetry import core_order
from neuron_top.telemetry.instances import DEVICES, generation, machine

ANY_INSTANCE = st.sampled_from(sorted(name for name in DEVICES if not name.startswith("trn2u")))


@given(ANY_INSTANCE, st.data())
def test_each_core_of_a_device_has_another_number_of_the_same_device(kind: str, data: st.DataObject) -> None:
    family = generation(instance_type=kind)
    assert family is not None
    host = machine(instance_type=kind, lnc=data.draw(st.sampled_from([1, 2])) if family.cores == 8 else 1)
    numbers = [core_order.visible_core(core, host) for core in host.cores]
    assert sorted(number for number in numbers if number is not None) == list(host.cores)
    assert all(number is not None and host.device(number) == host.device(core) for core, number in enumerate(numbers))


@pytest.mark.parametrize(
    ("device", "pairs"), [(0, (2, 3, 1, 0)), (1, (1, 0, 2, 3)), (4, (0, 1, 3, 2)), (5, (3, 2, 0, 1))]
)
def test_pairs_of_trn2_are_handed_out_in_the_drivers_order(device: int, pairs: tuple[int, ...]) -> None:
    host = machine(instance_type="trn2.48xlarge")
    assert core_order.logical_order(device, host) == pairs
    assert [core_order.visible_core(4 * device + place, host) for place in pairs] == [4 * device + n for n in range(4)]


def test_which_member_of_an_ultraserver_a_machine_is_nobody_reports() -> None:
    assert core_order.visible_core(2, machine(instance_type="trn2u.48xlarge")) is None


@pytest.mark.parametrize("kind", ["inf2.48xlarge", "trn1.32xlarge", "inf1.xlarge"])
def test_on_other_hardware_both_orders_are_the_same(kind: str) -> None:
    host = machine(instance_type=kind)
    assert [core_order.visible_core(core, host) for core in host.cores] == list(host.cores)
    assert core_order.visible_core(7, machine()) == 7
