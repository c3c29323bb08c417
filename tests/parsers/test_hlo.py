"""HLO modules, written by a wire-format writer of the tests' own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neuron_top.parsers.hlo import HloSummary, MalformedHlo, read_hlo
from neuron_top.parsers.hlo_nodes import read_nodes
from neuron_top.units import bytes_text, number_text
from tests.builders import BF16, F32, contracting, field, hlo, instruction, replica_groups, shape, small_hlo, varint


def test_a_graph_is_summarized_in_numbers() -> None:
    graph = read_hlo(small_hlo())
    assert (graph.name, graph.entry, graph.computations, graph.instructions) == ("SyncTensorsGraph.1", "main", 1, 5)
    assert [str(one) for one in graph.parameters] == ["bf16[8,16]", "bf16[16,4]"]
    assert [str(one) for one in graph.results] == ["f32[8,4]"]
    assert graph.opcodes == {"parameter": 2, "dot": 1, "all-reduce": 1, "custom-call": 1}
    assert graph.dot_flops == 2 * 8 * 4 * 16
    assert graph.moved_bytes == (256 + 128 + 128) + (128 + 128) + (128 + 128)
    assert (graph.collectives, graph.group_sizes, graph.world_size) == ({"all-reduce": 1}, (4,), 8)
    assert graph.custom_calls == {"AwsNeuronCustomNativeKernel": 1}
    assert graph.dtypes == {"f32": 3, "bf16": 2}


def test_a_module_inside_an_hlo_proto_is_found() -> None:
    assert read_hlo(field(1, small_hlo())) == read_hlo(small_hlo())


def test_a_tuple_result_is_given_part_by_part() -> None:
    parts = field(2, 13) + field(4, shape(F32, 2)) + field(4, shape(BF16))
    graph = read_hlo(hlo([instruction(1, "tuple", parts)], program=field(2, parts)))
    assert [str(one) for one in graph.results] == ["f32[2]", "bf16[]"]


def test_instruction_ids_use_all_64_bits() -> None:
    big = 2**63 + 5
    made = hlo([instruction(big, "parameter", shape(F32, 4)), instruction(big + 1, "add", shape(F32, 4), (big, big))])
    assert read_hlo(made).moved_bytes == 3 * 16


@pytest.mark.parametrize("element", [F32, 32])
def test_impossible_dimensions_give_numbers_that_can_be_shown(element: int) -> None:
    huge = shape(element, *[1 << 48] * 64)
    made = hlo(
        [instruction(1, "parameter", huge), instruction(2, "dot", huge, (1, 1), contracting(*range(32)))],
        program=field(2, huge),
    )
    graph = read_hlo(made)
    assert bytes_text(graph.moved_bytes)
    assert number_text(graph.dot_flops)
    assert [bytes_text(one.bytes) for one in graph.results] == [
        bytes_text(int((1 << 60) * (4 if element == F32 else 0.5)))
    ]


def test_one_device_without_collectives_has_no_world_size() -> None:
    assert read_hlo(hlo([instruction(1, "parameter", shape(F32))])).world_size is None


def test_groups_may_be_many_and_small() -> None:
    made = hlo([instruction(1, "all-gather", shape(F32, 2), (), replica_groups(*([one] for one in range(32))))])
    assert (read_hlo(made).group_sizes, read_hlo(made).world_size) == ((1,), 32)


def _list(*groups: bytes) -> bytes:
    return field(87, b"".join(groups))


@pytest.mark.parametrize(
    ("groups", "sizes", "world", "count"),
    [
        (_list(*(field(1, field(1, b"".join(map(varint, ranks)))) for ranks in ((0, 1, 2), (3, 4, 5)))), (3,), 6, 2),
        (_list(field(2, field(1, 16) + field(2, 4))), (4,), 64, 16),
        (replica_groups((0, 1)) + _list(field(1, field(1, varint(0) + varint(1)))), (2,), 2, 1),
    ],
    ids=["one by one", "by a rule", "twice"],
)
def test_groups_in_the_list_of_newer_modules_are_counted(
    groups: bytes, sizes: tuple[int, ...], world: int, count: int
) -> None:
    made = hlo([instruction(1, "all-gather", shape(F32, 2), (), groups)])
    assert (read_hlo(made).group_sizes, read_hlo(made).world_size) == (sizes, world)
    assert [node.groups for node in read_nodes(made)] == [(count, sizes[0])]


@pytest.mark.parametrize("data", [b"", b"\0", b"hello", field(1, "name only"), small_hlo()[:-3], b"\xff" * 20])
def test_what_is_no_module_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedHlo):
        read_hlo(data)


@settings(deadline=None)
@given(st.binary(max_size=2000))
@example(field(3, field(2, field(3, field(4, field(4, field(4, field(4, b"")))) * 3))))
@example(varint(3 << 3 | 2) + varint(2**62))
def test_no_bytes_make_the_reader_raise_anything_else(data: bytes) -> None:
    read_or_refuse(data)


@settings(deadline=None)
@given(st.data())
def test_no_damage_makes_the_reader_raise_anything_else(data: st.DataObject) -> None:
    made = bytearray(small_hlo())
    for _ in range(data.draw(st.integers(1, 6))):
        made[data.draw(st.integers(0, len(made) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(made))


def read_or_refuse(data: bytes) -> HloSummary | None:
    """Either a summary or MalformedHlo."""
    try:
        return read_hlo(data)
    except MalformedHlo:
        return None


MEMORY = """
import sys
from neuron_top.parsers.hlo import read_hlo

def most():
    (line,) = (one for one in open("/proc/self/status") if one.startswith("VmHWM:"))
    return int(line.split()[1])

data = sys.stdin.buffer.read()
before = most()
graph = read_hlo(data)
print(graph.instructions, graph.exact, most() - before)
"""
"""Asks the system for the most memory that reading took: `tracemalloc` makes it take eight times as long."""


def test_a_module_of_a_million_tiny_instructions_keeps_memory_small() -> None:
    computation = field(2, b"") * 500_000
    many_shapes = b"".join(field(2, field(35, one) + field(3, shape(F32, one))) for one in range(1, 120_000))
    data = field(3, computation) + field(3, many_shapes)
    done = subprocess.run([sys.executable, "-c", MEMORY], input=data, capture_output=True, check=True)
    instructions, exact, kib = done.stdout.split()
    assert int(instructions) == 500_000 + 119_999
    assert exact == b"False"
    assert int(kib) < 64 * 1024


def test_nested_tuples_do_not_recurse_for_ever() -> None:
    deep = shape(F32)
    for _ in range(2000):
        deep = field(2, 13) + field(4, deep)
    assert read_hlo(hlo([instruction(1, "parameter", deep)])).instructions == 1
