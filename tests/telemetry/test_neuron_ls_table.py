"""Tables of neuron-ls as people publish them: squeezed, drawn with boxes, without a header, inside other text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.parsers.neuron_ls import read_devices
from neuron_top.parsers.neuron_ls_table import read_tables
from neuron_top.telemetry.devices import NeuronLsPoller, list_devices, listed_devices
from neuron_top.telemetry.instances import GIB
from neuron_top.telemetry.telemetry_file import TelemetryFile
from tests.corpus import corpus
from tests.telemetry.executables import executable

TABLE = """\
instance-type: trn2.48xlarge
instance-id: i-00000000000000001
logical-neuroncore-config: 2
+--------+--------+----------+--------+-----------+--------------+---------+-----------+------+---------+
| NEURON | NEURON |  NEURON  | NEURON | CONNECTED |     PCI      |   PID   |    CPU    | NUMA | RUNTIME |
| DEVICE | CORES  | CORE IDS | MEMORY |  DEVICES  |     BDF      |         | AFFINITY  | NODE | VERSION |
+--------+--------+----------+--------+-----------+--------------+---------+-----------+------+---------+
| 10     | 4      | 40-43    | 96 GB  | 6, 9      | 0000:85:00.0 | 7001    | 0-47      | 0    | 2.30.1  |
|        |        |          |        | 14, 11    |              | 7002    | ,96-143   |      | NA      |
+--------+--------+----------+--------+-----------+--------------+---------+-----------+------+---------+
| 11     | 4      | 44-47    | 96 GB  | 7         | 0000:9a:00.0 |         | 0-47      | -1   |         |
+--------+--------+----------+--------+-----------+--------------+---------+-----------+------+---------+
"""


def squeezed(text: str) -> str:
    return re.sub(r" +", " ", text)


def boxed(text: str) -> str:
    return text.replace("|", "│").replace("+", "┼").replace("-------", "───────").replace("─-", "──")


def as_markdown(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("+")).replace("NODE |", "NODE |")


def prefixed(text: str) -> str:
    return "\n".join(f"[1,0]<stdout>: {line}" for line in text.splitlines())


def in_text(text: str) -> str:
    return f"$ sudo neuron-ls\r\n{text}\nOn this host | two devices | are used.\n$ exit\n"


def with_rows_left_out(text: str) -> str:
    *before, last, end = text.splitlines()
    return "\n".join([*before, "...", last, " […] ", end])


@pytest.mark.parametrize("form", [str, squeezed, boxed, as_markdown, prefixed, in_text, with_rows_left_out])
def test_every_form_says_the_same(form: type[str]) -> None:
    ((tenth, eleventh),) = read_tables(form(TABLE))
    assert (tenth.index, tenth.core_count, tenth.cores, tenth.memory) == (10, 4, (40, 41, 42, 43), 96 * GIB)
    assert (tenth.bdf, tenth.numa_node, tenth.cpu_affinity) == ("0000:85:00.0", 0, "0-47,96-143")
    assert tenth.connected_to == (6, 9, 14, 11)
    assert [(process.pid, process.runtime_version) for process in tenth.processes] == [(7001, "2.30.1"), (7002, "")]
    assert (eleventh.numa_node, eleventh.processes) == (None, ())
    assert {(device.instance_type, device.lnc) for device in (tenth, eleventh)} == {("trn2.48xlarge", 2)}


def test_a_table_without_its_outer_bars_is_read_with_its_further_rows() -> None:
    text = """instance-type: trn2.3xlarge
Neuron Device | Neuron Cores | Neuron Core IDs | PID
0             | 4            | 0-3             | 71
              |              |                 | 72
2             | 4            | 8-11            |

7 | 8 | nine
"""
    (devices,) = read_tables(text)
    assert [(device.index, device.core_count, device.cores) for device in devices] == [
        (0, 4, (0, 1, 2, 3)),
        (2, 4, (8, 9, 10, 11)),
    ]
    assert [[process.pid for process in device.processes] for device in devices] == [[71, 72], []]
    assert {device.instance_type for device in devices} == {"trn2.3xlarge"}


def test_a_containers_rows_without_a_header_are_read_by_what_they_hold() -> None:
    rows = "\n".join(line for line in TABLE.splitlines() if re.match(r"\| +\d|\|  +\|", line))
    ((tenth, _),) = read_tables(rows)
    assert (tenth.index, tenth.cores, tenth.memory, tenth.bdf) == (10, (40, 41, 42, 43), 96 * GIB, "0000:85:00.0")
    assert (tenth.connected_to, tenth.numa_node) == ((6, 9, 14, 11), 0)
    assert [process.pid for process in tenth.processes] == [7001, 7002]
    assert (tenth.instance_type, tenth.lnc) == ("", None)


def test_an_old_table_with_commands_keeps_a_bar_within_a_command() -> None:
    table = """
        | NEURON | NEURON | NEURON | PCI     | PID | COMMAND          | RUNTIME |
        | DEVICE | CORES  | MEMORY | BDF     |     |                  | VERSION |
        | 0      | 2      | 32 GB  | 00:1e.0 | 42  | sh -c 'a | b'    | 2.5.0   |
    """
    (((device),),) = read_tables(table)
    assert (device.bdf, device.memory, device.cores) == ("0000:00:1e.0", 32 * GIB, ())
    assert [(each.command, each.runtime_version) for each in device.processes] == [("sh -c 'a | b'", "2.5.0")]


def test_the_oldest_table_begins_with_the_address_and_splits_the_memory() -> None:
    text = (
        "+--------------+---------+--------+-----------+-----------+------+------+\n"
        "|   PCI BDF    | LOGICAL | NEURON |  MEMORY   |  MEMORY   | EAST | WEST |\n"
        "|              |   ID    | CORES  | CHANNEL 0 | CHANNEL 1 |      |      |\n"
        "+--------------+---------+--------+-----------+-----------+------+------+\n"
        "| 0000:00:1b.0 |       0 |      4 | 2048 MB   | 4096 MB   |    0 |    0 |\n"
        "| 0000:00:1c.0 |       1 |      4 | 4096 MB   | 4096 MB   |    0 |    0 |\n"
    )
    ((first, second),) = read_tables(text)
    assert (first.index, first.core_count, first.memory, first.bdf) == (0, 4, 6 * GIB, "0000:00:1b.0")
    assert (second.index, second.memory, second.connected_to) == (1, 8 * GIB, ())


def test_a_table_of_the_daemons_time_names_the_process_among_its_runtime_columns() -> None:
    text = (
        "| NEURON | NEURON | NEURON |     PCI      | RUNTIME | RUNTIME | RUNTIME |\n"
        "| DEVICE | CORES  | MEMORY |     BDF      | ADDRESS |   PID   | VERSION |\n"
        "| 0      | 4      | 8 GB   | 0000:00:1c.0 | NA      | 7001    | NA      |\n"
        "| 1      | 4      | 8 GB   | 0000:00:1d.0 | NA      | NA      | NA      |\n"
    )
    ((first, second),) = read_tables(text)
    assert [(process.pid, process.runtime_version) for process in first.processes] == [(7001, "")]
    assert second.processes == ()


def test_what_is_true_of_one_machine_is_not_said_of_the_next() -> None:
    second = TABLE[TABLE.index("+--") :].replace("0000:", "0001:")
    first, other = read_tables(TABLE + "\n# another machine\n" + second)
    assert first[0].instance_type == "trn2.48xlarge"
    assert (other[0].instance_type, other[0].lnc) == ("", None)


@pytest.mark.parametrize(
    "text",
    [
        "| Model | Batch | Latency |\n|-------|-------|---------|\n| 7B | 1 | 20 ms |",
        "| 1 | 2 | 3 |\n| 4 | 5 | 6 |",
        "| GPU | Name | Memory |\n| 0 | H100 | 80 GB |",
        "a | b\n",
        "",
    ],
)
def test_other_tables_are_none_of_ours(text: str) -> None:
    assert read_tables(text) == ()


@given(st.text(alphabet="| \n+-0129NEURODVIC GB,.:a", max_size=400))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    for devices in read_tables(TABLE[:200] + text):
        assert devices


def test_a_short_table_and_a_wide_one_complete_each_other() -> None:
    wide = "| NEURON | NEURON | PCI | PID |\n| DEVICE | CORES | BDF | |\n| 10 | 4 | 0000:85:00.0 | 5 |\n"
    one = "\n".join(line for line in TABLE.splitlines() if not line.startswith("| 11"))
    (device,) = listed_devices((one + "\n$ neuron-ls --wide\n" + wide).encode())
    assert (device.numa_node, device.memory, [each.pid for each in device.processes]) == (0, 96 * GIB, [5])


def test_json_inside_other_text_is_read() -> None:
    text = '-- devices:\n[\n {"neuron_device": 3, "bdf": "00:1e.0", "nc_count": 2}\n]-- end\n'
    (device,) = listed_devices(text.encode())
    assert (device.index, device.core_count) == (3, 2)


def test_the_newest_json_says_the_instance_once() -> None:
    document = {"instance_type": "trn3.48xlarge", "anything": 1, "devices": [{"neuron_device": 0, "nc_count": 8}]}
    (device,) = read_devices(json.dumps(document))
    assert (device.instance_type, device.core_count) == ("trn3.48xlarge", 8)


@pytest.mark.parametrize("accepted", ["--output-format json", "--json-output", ""])
def test_each_form_of_the_tool_is_asked_in_its_turn(tmp_path: Path, accepted: str) -> None:
    tool = executable(
        tmp_path,
        "neuron-ls",
        f"""
given = " ".join(sys.argv[1:])
if given != {accepted!r}:
    print("unknown flag " + given); sys.exit(1)
print({TABLE!r} if not given else '[{{"neuron_device": 0, "nc_count": 2}}]')
""",
    )
    listing = list_devices(tool)
    assert listing.devices
    assert listing.reason == ""


def test_where_no_form_can_be_read_each_is_named_with_its_reason(tmp_path: Path) -> None:
    tool = executable(tmp_path, "neuron-ls", 'print("no " + " ".join(sys.argv[1:])); sys.exit(len(sys.argv) != 1)')
    reason = list_devices(tool).reason
    assert "--output-format json ended with 1: no --output-format json" in reason
    assert "--json-output ended with 1: no --json-output" in reason
    assert "cannot be read as a listing of devices" in reason


def test_a_saved_table_is_a_source_of_telemetry() -> None:
    file = TelemetryFile("saved")
    (event,) = [*file.feed(in_text(TABLE).encode()), *file.flush()]
    assert [device.index for device in event.devices] == [10, 11]
    assert (file.documents, file.malformed) == (1, 0)


def test_published_tables_are_read_whole() -> None:
    samples = sorted(corpus("neuron-ls").glob("*.txt"))
    assert samples
    for path in samples:
        expected = json.loads(path.with_suffix(".expect.json").read_text())
        devices = listed_devices(path.read_bytes())
        assert len(devices) == expected["devices"], path.name
        assert {device.instance_type for device in devices} == {expected["instance_type"]}
        assert {device.memory for device in devices} == {expected["memory_gib_per_device"] * GIB}
        assert devices[0].lnc == expected.get("logical_neuroncore_config")
        if links := expected.get("connected_to"):
            assert [list(device.connected_to) for device in devices] == links
        processes = expected["processes"] or []
        pids = {process.pid for device in devices for process in device.processes}
        assert pids == {process["pid"] for process in processes}


def test_the_screen_says_why_there_is_no_device(tmp_path: Path) -> None:
    from neuron_top.run.model import Run
    from neuron_top.views.cores import core_table
    from neuron_top.views.missing import missing_text
    from neuron_top.views.overview import overview

    tool = executable(tmp_path, "neuron-ls", 'print("driver and tools do not match", file=sys.stderr); sys.exit(1)')
    run = Run()
    for event in NeuronLsPoller(tool)():
        run.apply(event)
    (why,) = core_table(run, 0.0).absent
    assert why.startswith("neuron-ls: ")
    assert why.endswith("ended with 1: driver and tools do not match"), "said once, not for each form"
    assert all(form in why for form in ("--output-format json", "--json-output"))
    assert "device telemetry (neuron-ls: " in missing_text(overview(run, 0.0))
