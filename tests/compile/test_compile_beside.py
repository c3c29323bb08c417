"""A compile beside the job: what it is asked, in which thread, and how it ends."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from neuron_top.compile.compiler import NotSerializable
from neuron_top.compile.torch.compile_beside import CompileBeside
from neuron_top.errors import CompileError
from tests.compile import fakes

LONG = 600.0


def test_the_job_goes_on_while_its_graph_is_compiled(tmp_path: Path) -> None:
    compiler, threads = fakes.Gated(), []

    def data() -> bytes:
        threads.append(threading.current_thread())
        return b"the graph"

    wrapper = fakes.wrapper(tmp_path, compiler)
    beside = CompileBeside(wrapper, msgspec.structs.replace(fakes.GRAPH, data=data))
    beside.start()
    assert (beside.is_under_way, threads) == (True, [threading.current_thread()])
    compiler.allowed.set()
    compiled = beside.finish()
    assert compiled.entry.artifact.read_bytes() == b"the graphthe graph"
    assert (compiled.hit, beside.is_under_way, compiler.compiled) == (False, False, 1)


def test_a_hit_is_there_at_once(tmp_path: Path) -> None:
    wrapper = fakes.wrapper(tmp_path)
    wrapper.get_or_compile(fakes.GRAPH)
    beside = CompileBeside(wrapper, fakes.GRAPH)
    beside.start()
    assert not beside.is_under_way
    assert beside.finish().hit


def test_a_compile_of_somebody_else_is_waited_for_before_the_job_goes_on(tmp_path: Path) -> None:
    """Whoever compiles the forward graph goes on to the backward one; the others do not race them to it."""
    compiler = fakes.Gated()
    first = CompileBeside(fakes.wrapper(tmp_path, compiler), fakes.GRAPH)
    first.start()
    second = CompileBeside(fakes.wrapper(tmp_path), fakes.GRAPH)
    waiting = threading.Thread(target=second.start)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    compiler.allowed.set()
    waiting.join(LONG)
    assert not second.is_under_way
    assert second.finish().hit
    assert not first.finish().hit


def test_what_goes_wrong_is_raised_where_it_is_waited_for(tmp_path: Path) -> None:
    beside = CompileBeside(fakes.wrapper(tmp_path, fakes.Copying(error=CompileError("no", module="m"))), fakes.GRAPH)
    beside.start()
    with pytest.raises(CompileError, match="no"):
        beside.finish()


def test_a_graph_is_made_bytes_in_the_jobs_own_thread_and_one_that_cannot_be_is_left_to_it(tmp_path: Path) -> None:
    threads = []

    def data() -> bytes:
        threads.append(threading.current_thread())
        raise NotSerializable("it holds a lambda")

    beside = CompileBeside(fakes.wrapper(tmp_path), msgspec.structs.replace(fakes.GRAPH, data=data))
    beside.start()
    assert not beside.is_under_way
    with pytest.raises(NotSerializable, match="a lambda"):
        beside.finish()
    assert threads == [threading.current_thread()]


def test_interrupted_once_more_while_it_ends_a_compile_the_job_can_compile_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(self: CompileBeside) -> NoReturn:
        raise KeyboardInterrupt

    compiler = fakes.Gated()
    wrapper = fakes.wrapper(tmp_path, compiler)
    beside = CompileBeside(wrapper, fakes.GRAPH)
    beside.start()
    monkeypatch.setattr(CompileBeside, "is_under_way", property(again))
    with pytest.raises(KeyboardInterrupt):
        beside.end()
    compiler.closed = False
    assert wrapper.get_or_compile(fakes.GRAPH).entry.artifact.exists()


def test_an_ended_compile_leaves_no_failure_and_the_next_one_runs(tmp_path: Path) -> None:
    wrapper = fakes.wrapper(tmp_path, fakes.Gated())
    beside = CompileBeside(wrapper, fakes.GRAPH)
    beside.start()
    beside.end()
    assert not beside.is_under_way
    with pytest.raises(KeyboardInterrupt):
        beside.finish()
    assert not [*tmp_path.rglob("*.lock"), *tmp_path.rglob("model.log"), *tmp_path.rglob("*.tmp")]
    again = CompileBeside(fakes.wrapper(tmp_path), fakes.GRAPH)
    again.start()
    assert not again.finish().hit
    assert wrapper.get_or_compile(fakes.GRAPH).hit
