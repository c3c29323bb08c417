"""The measured quality of estimates: leave one out, on compiles whose truth is known."""

from __future__ import annotations

import pytest

from neuron_top.store.records import CompileRecord
from tests.bench.bench_estimate import leave_one_out


def compiled(module: str, seconds: float, size: int | None = None) -> CompileRecord:
    return CompileRecord(
        module=module,
        node="",
        run="r",
        compiler="c",
        graph_bytes=size,
        operators=None,
        seconds=seconds,
        peak_rss=None,
        finished=0.0,
    )


def test_a_graph_that_always_takes_as_long_is_estimated_without_error() -> None:
    (error,) = leave_one_out([compiled("MODULE_1+a", 10.0), compiled("MODULE_1+a", 10.0)])
    assert (error.ground, error.estimated, error.inside, error.relative) == ("this graph", 2, 2, 0.0)


def test_each_compile_is_kept_out_of_its_own_estimate() -> None:
    assert leave_one_out([compiled("MODULE_1+a", 10.0)]) == ()


def test_similar_sizes_are_distinguished_from_the_same_graph() -> None:
    past = [compiled(f"MODULE_{number}+a", 10.0 + number, 1000 + number) for number in range(4)]
    (error,) = leave_one_out(past)
    assert (error.ground, error.estimated) == ("similar size", 4)
    assert error.relative < 0.3
    assert error.inside == pytest.approx(4)
