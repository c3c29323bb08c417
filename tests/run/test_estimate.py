"""Time left: a range where the past gives ground for it, and nothing otherwise."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top.run.estimate import SPREAD, Estimator, Range, made_alike, together


class PastCompile(msgspec.Struct, frozen=True):
    module: str
    seconds: float
    graph_bytes: int | None = None
    operators: int | None = None
    op_counts: dict[str, int] = {}


A, A_OTHER, B = "MODULE_1+aaaa", "MODULE_1+bbbb", "MODULE_2+aaaa"


def test_without_a_past_there_is_no_estimate():
    assert Estimator().left(A, 1000, 1.0) is None


def test_the_same_graph_is_the_best_ground():
    whole = Estimator([PastCompile(A, 100.0), PastCompile(A_OTHER, 900.0), PastCompile(A, 120.0)]).total(A)
    assert (whole.low, whole.high, whole.ground) == (100 * (1 - SPREAD), 120 * (1 + SPREAD), "this graph")


def test_the_same_graph_with_other_flags_comes_next():
    assert Estimator([PastCompile(A_OTHER, 100.0)]).total(A).ground == "this graph with other flags"


def test_two_graphs_of_similar_size_are_too_few_and_three_are_enough():
    past = [
        PastCompile(B, 10.0, 1000),
        PastCompile(B, 20.0, 1100),
        PastCompile("MODULE_3+a", 30.0, 1200),
        PastCompile("MODULE_4+a", 999.0, 5000),
    ]
    assert Estimator(past[:2]).total(A, 1000) is None
    whole = Estimator(past).total(A, 1000)
    assert (whole.low, whole.high) == (10 * (1 - SPREAD), 30 * (1 + SPREAD))


def test_a_graph_of_unknown_size_and_past_has_none():
    assert Estimator([PastCompile(B, 10.0, 1000)] * 5).total(A, None) is None


def test_time_left_shrinks_with_time_and_ends_where_the_past_ends():
    known = Estimator([PastCompile(A, 100.0)])
    assert known.left(A, None, 50.0).low == pytest.approx(25.0)
    assert known.left(A, None, 110.0).low == 0.0
    assert known.left(A, None, 126.0) is None


def test_operators_stand_in_where_no_size_is_known_and_the_same_flags_come_first():
    past = [PastCompile(f"MODULE_{number}+aaaa", 10.0 + number, None, 100) for number in range(3)]
    others = [PastCompile(f"MODULE_9{number}+cccc", 90.0, None, 100) for number in range(3)]
    whole = Estimator([*past, *others]).total("MODULE_77+aaaa", None, 110)
    assert (whole.high, whole.ground) == (12 * (1 + SPREAD), "3 graphs of similar size")
    assert Estimator([*past[:2], *others]).total("MODULE_77+aaaa", None, 110).ground.endswith("other flags")


def test_the_total_packs_what_is_to_come_behind_what_runs():
    one, two = Range(10.0, 20.0, "this graph"), Range(4.0, 8.0, "this graph")
    assert together([one], [two, two], 2) == Range(10.0, 20.0, "this graph")
    assert together([one], [two, two], 1) == Range(18.0, 36.0, "this graph")
    assert together([], [one, two, two], 2) == Range(10.0, 20.0, "this graph")


def test_a_total_with_a_hole_is_none():
    one = Range(10.0, 20.0, "this graph")
    assert together([one, None], [], 2) is None
    assert together([one], [None], 2) is None
    assert together([], [], 2) is None


def test_of_graphs_of_one_size_those_made_of_the_same_operators_are_the_ground():
    dense, conv = {"mm": 60, "add": 40}, {"convolution": 50, "relu": 50}
    past = [PastCompile(f"MODULE_{n}+a", 10.0 + n, None, 100, dense) for n in range(3)]
    past += [PastCompile(f"MODULE_9{n}+a", 90.0, None, 100, conv) for n in range(3)]
    whole = Estimator(past).total("MODULE_77+a", None, 105, {"mm": 66, "add": 39})
    assert (whole.high, whole.ground) == (12 * (1 + SPREAD), "3 graphs of similar size and operators")
    assert Estimator(past).total("MODULE_77+a", None, 105).ground == "6 graphs of similar size"


def test_a_make_that_two_graphs_share_is_no_ground_of_its_own():
    past = [PastCompile(f"MODULE_{n}+a", 10.0, None, 100, {"mm": 1}) for n in range(2)]
    past.append(PastCompile("MODULE_9+a", 90.0, None, 100, {"convolution": 1}))
    assert Estimator(past).total("MODULE_77+a", None, 100, {"mm": 1}).high == 90.0 * (1 + SPREAD)


def test_how_alike_two_graphs_are_made_does_not_depend_on_their_size():
    assert made_alike({"mm": 2, "add": 2}, {"mm": 50, "add": 50}) == pytest.approx(1.0)
    assert made_alike({"mm": 1}, {"add": 1}) == made_alike({}, {"add": 1}) == 0.0
    assert made_alike({"mm": 1, "add": 1}, {"mm": 1}) == pytest.approx(0.5)
