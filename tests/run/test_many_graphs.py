"""A run of many graphs: a line about one costs no more than in a run of few."""

from __future__ import annotations

import pytest

from neuron_top.events import (
    AnyEvent,
    CompileCompleted,
    CompileFailed,
    CompilerPassed,
    CompilerProgress,
    CompileStarted,
)
from neuron_top.run.model import Run
from tests.run.test_many_nodes import instructions


def key(number: int) -> str:
    return f"MODULE_{number:020d}+0a1b2c3d"


def compiled(graphs: int) -> Run:
    """Each graph's end was reported, and nothing else of it."""
    run = Run()
    for number in range(graphs):
        run.apply(CompileCompleted(module=key(number), pid=1, at=float(number)))
    return run


@pytest.mark.parametrize(
    "event",
    [CompileCompleted(module=key(9999), pid=1, at=9999.0), CompileFailed(module=key(9999), pid=1, at=9999.0)],
    ids=lambda event: type(event).__name__,
)
def test_the_end_of_a_compile_costs_as_much_after_four_hundred_graphs_as_after_four(event: AnyEvent) -> None:
    few, many = instructions(compiled(4), event), instructions(compiled(400), event)
    assert few > 50
    assert many <= few * 1.2


def test_so_does_a_pass_in_a_job_that_prints_nothing_else() -> None:
    def passed(times: int) -> int:
        run = Run()
        for _ in range(times):
            run.apply(CompilerPassed(source="log:a"))
        return instructions(run, CompilerPassed(source="log:a"))

    assert passed(400) <= passed(4) * 1.2


def test_so_does_a_start_where_no_compile_has_ended() -> None:
    def running(graphs: int) -> int:
        run = Run()
        for number in range(graphs):
            run.apply(CompileStarted(module=key(number), pid=1, at=float(number)))
        assert run.compiles.compiling == graphs
        return instructions(run, CompileStarted(module=key(9999), pid=1, at=9999.0))

    assert running(400) <= running(4) * 1.2


def test_dots_go_to_the_graph_that_is_named_after_them_among_many() -> None:
    run = compiled(400)
    run.apply(CompilerProgress(dots=3, at=500.0))
    run.apply(CompileCompleted(module=key(500), pid=1, at=560.0))
    (attempt,) = run.compiles.graphs[key(500)].attempts
    assert (attempt.dots, attempt.start, attempt.end) == (3, 500.0, 560.0)
    assert len(run.compiles.graphs) == 401


def test_passes_before_the_first_named_graph_leave_nothing_behind() -> None:
    run = Run()
    for _ in range(5):
        run.apply(CompilerPassed(source="log:a"))
    run.apply(CompileCompleted(module=key(1), pid=1, at=1.0))
    run.apply(CompileCompleted(module=key(2), pid=1, at=2.0))
    assert list(run.compiles.graphs) == [key(1), key(2)]
    assert not run.compiles.compiling
