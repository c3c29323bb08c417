"""A program without what names ranks: the same for each rank, another where something else differs."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.parsers.hlo import MalformedHlo
from neuron_top.parsers.hlo_program import HELD_KEPT, HeldKind, Program, read_program
from tests.builders import BF16, F32, field, hlo, instruction, replica_groups, shape, small_hlo, varint

S32 = 4


def constant(value: int) -> bytes:
    """A literal of one whole number."""
    return field(8, field(1, shape(S32)) + field(4, varint(value % (1 << 64))))


def program(
    *, rank: int = 0, groups: tuple[tuple[int, ...], ...] = ((0, 1), (2, 3)), first: int = 1, width: int = 8,
    metadata: str = "train.py", opcode: str = "add", swapped: bool = False, name: str = "SyncTensorsGraph.1",
) -> Program:  # fmt: skip
    one, two, three, four = range(first, first + 4)
    array = shape(F32, width)
    return read_program(
        hlo(
            [
                instruction(one, "parameter", array, extra=field(7, field(3, metadata))),
                instruction(two, "constant", shape(S32), extra=constant(rank)),
                instruction(three, opcode, array, (two, one) if swapped else (one, two)),
                instruction(four, "all-reduce", array, (three,), replica_groups(*groups) + field(26, 7)),
            ],
            name=name,
        )
    )


def test_names_and_numbers_of_ranks_are_kept_beside_the_program() -> None:
    one, other = program(), program(rank=32, groups=((32, 33), (34, 35)), first=900, metadata="r32.py", name="g.2")
    assert one.digest == other.digest
    assert (one.held[HeldKind.NUMBERS], other.held[HeldKind.NUMBERS]) == (["0"], ["32"])
    assert other.held[HeldKind.GROUPS] == ["all-reduce {32,33}, {34,35}"]
    assert (one.held[HeldKind.PLACES], other.held[HeldKind.PLACES]) == (["train.py"], ["r32.py"])
    assert other.held[HeldKind.NAMES][0] == "parameter.900"
    assert program(rank=-1).held[HeldKind.NUMBERS] == ["-1"]


@pytest.mark.parametrize(
    "change", [{"width": 9}, {"opcode": "multiply"}, {"swapped": True}, {"groups": ((0, 1, 2, 3),)}]
)
def test_another_shape_operator_order_or_size_of_a_group_is_another_program(change: dict[str, object]) -> None:
    assert program(**change).digest != program().digest  # type: ignore[arg-type]


def test_a_fraction_that_was_folded_in_is_part_of_the_program() -> None:
    def rate(data: bytes) -> str:
        return read_program(hlo([instruction(1, "constant", shape(F32), extra=field(8, field(8, data)))])).digest

    assert rate(b"\0\0\0\0") != rate(b"\0\0\0\1")


def test_device_lists_of_newer_modules_are_groups_too() -> None:
    def listed(*ranks: int) -> Program:
        group = field(1, field(1, b"".join(map(varint, ranks))))
        return read_program(hlo([instruction(1, "all-gather", shape(BF16, 4), extra=field(87, group))]))

    assert listed(0, 1).digest == listed(2, 3).digest != listed(0, 1, 2).digest
    assert listed(2, 3).held[HeldKind.GROUPS] == ["all-gather {2,3}"]


def test_groups_that_a_rule_generates_are_told_apart_by_the_rule_and_their_size_is_of_the_program() -> None:
    def generated(groups: int, ranks: int, order: int) -> Program:
        rule = field(2, field(1, groups) + field(2, ranks) + field(4, varint(order)))
        return read_program(hlo([instruction(1, "all-gather", shape(BF16, 4), extra=field(87, rule))]))

    assert generated(2, 4, 0).digest == generated(2, 4, 1).digest
    assert len({generated(groups, ranks, 0).digest for groups, ranks in ((2, 4), (4, 2), (1, 8))}) == 3
    (text,), (other,) = (generated(2, 4, order).held[HeldKind.GROUPS] for order in (0, 1))
    assert text.startswith("all-gather 2 groups of 4 by rule ")
    assert other != text


def test_a_partner_with_the_number_zero_is_named_though_its_field_is_left_out() -> None:
    pairs = field(52, field(1, 3)) + field(52, field(2, 1))
    made = hlo([instruction(1, "collective-permute", shape(F32, 4), extra=pairs)])
    assert read_program(made).held[HeldKind.PARTNERS] == ["3 → 0", "0 → 1"]


def test_a_large_graph_keeps_few_texts_and_still_reports_the_rest_apart() -> None:
    def many(last: int) -> Program:
        values = [*range(HELD_KEPT + 5), last]
        return read_program(
            hlo([instruction(at + 1, "constant", shape(S32), extra=constant(value)) for at, value in enumerate(values)])
        )

    one, other = many(1), many(2)
    assert one.digest == other.digest
    assert len(one.held[HeldKind.NUMBERS]) == HELD_KEPT + 1
    assert one.held[HeldKind.NUMBERS][-1] != other.held[HeldKind.NUMBERS][-1]
    assert len(one.held[HeldKind.NAMES]) < 10


def test_a_module_inside_an_hlo_proto_is_found() -> None:
    assert read_program(field(1, small_hlo())) == read_program(small_hlo())


@given(st.binary(max_size=500))
def test_junk_is_refused_or_read(data: bytes) -> None:
    with suppress(MalformedHlo):
        read_program(data)
