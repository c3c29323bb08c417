"""neuron-ls: its listings of all ages, and a real process that fails in the known ways."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neuron_top import events
from neuron_top.parsers.neuron_ls import read_devices
from neuron_top.telemetry.devices import NeuronLsPoller, devices_found, list_devices
from neuron_top.telemetry.instances import GIB
from tests.telemetry.executables import executable

NEW = {
    "instance_type": "trn2.48xlarge",
    "neuron_device": 1,
    "bdf": "0000:e1:00.0",
    "numa_node": "1",
    "connected_to": [12, 1],
    "nc_count": 4,
    "logical_neuroncore_config": 2,
    "memory_size": 96 * GIB,
    "neuroncore_ids": [4, 5, 6, 7],
    "neuron_processes": [{"pid": 42, "command": "", "neuron_runtime_version": "2.34.10"}, {"pid": None}],
}


def test_a_listing_of_today_is_read_whole() -> None:
    found = devices_found(read_devices(json.dumps([NEW])))
    assert (found.instance_type, found.lnc) == ("trn2.48xlarge", 2)
    (device,) = found.devices
    assert (device.index, device.cores, device.pids, device.numa_node) == (1, (4, 5, 6, 7), (42,), 1)
    assert (device.kind, device.connected_to, device.memory) == ("Trainium2", (12, 1), 96 * GIB)


def test_what_an_old_listing_leaves_out_stays_unknown() -> None:
    (device,) = read_devices('[{"neuron_device":0,"bdf":"00:1e.0","connected_to":null,"nc_count":2}]')
    assert (device.bdf, device.cores, device.connected_to, device.memory) == ("0000:00:1e.0", (), (), None)
    assert (device.numa_node, device.lnc) == (None, None)


def test_no_numa_is_unknown_not_minus_one() -> None:
    assert read_devices(json.dumps([NEW | {"numa_node": "-1"}]))[0].numa_node is None


@pytest.mark.parametrize("text", ["", "{}", "3", '[{"x": 1}]', "[[[[", '{"neuron_device'])
def test_what_is_no_listing_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w+"):
        read_devices(text)


def test_a_machine_without_devices_is_reported_with_the_tools_own_words(tmp_path: Path) -> None:
    said = 'level=error msg="no neuron device found"'
    tool = executable(tmp_path, "neuron-ls", f"print({said!r}, file=sys.stderr); sys.exit(1)")
    listing = list_devices(tool)
    assert listing.devices == ()
    assert "ended with 1" in listing.reason
    assert "no neuron device found" in listing.reason


def test_a_complaint_on_stdout_is_found_there(tmp_path: Path) -> None:
    tool = executable(tmp_path, "neuron-ls", "print('unknown flag `json-output'); sys.exit(1)")
    assert "unknown flag" in list_devices(tool).reason


def test_output_that_is_no_json_is_a_reason(tmp_path: Path) -> None:
    assert "cannot be read" in list_devices(executable(tmp_path, "neuron-ls", "print('+----+')")).reason


def test_a_look_reports_only_what_changed(tmp_path: Path) -> None:
    tool = executable(tmp_path, "neuron-ls", f"print(open({str(tmp_path / 'out')!r}).read(), end='')")
    (tmp_path / "out").write_text(json.dumps([NEW]))
    look = NeuronLsPoller(tool)
    assert [type(event) for event in look()] == [events.SourceAvailable, events.DevicesFound]
    assert look() == []
    (tmp_path / "out").write_text(json.dumps([NEW | {"neuron_processes": []}]))
    assert [type(event) for event in look()] == [events.DevicesFound]
    (tmp_path / "out").write_text("")
    assert [type(event) for event in look()] == [events.SourceUnavailable]
