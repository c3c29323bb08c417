"""Graphs that are compiled before the job asks for them: which, how many at a time, and how that ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")

from neuron_top.cache.model.keys import module_key
from neuron_top.cache.model.states import Lookup
from neuron_top.compile.compiler import CompileOutcome, CompileTask
from neuron_top.compile.torch import compile_ahead, machine_locks
from neuron_top.compile.torch.compile_ahead import CompileAhead
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import OnMiss
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.errors import CompileError
from tests.compile import fakes
from tests.compile.parallel import jobs

MANY = 99
FOUR_GRAPHS = """
import torch
from neuron_top.compile import spare_resources
spare_resources.IdleCores.lately = lambda self: 2.0  # what the machine of a test has is nobody's to say
for number in range(4):
    torch._dynamo.reset()
    x = torch.arange(16.0)
    compiled = torch.compile(lambda x, number=number: (x * (number + 1.5)).relu().cumsum(0), backend="neurontop")
    result = compiled(x)
    print(bool(torch.allclose(result, (x * (number + 1.5)).relu().cumsum(0))), flush=True)
"""


@pytest.fixture(autouse=True)
def _own_machine(own_caches: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine_locks, "folder", lambda: tmp_path / "locks")


def graph(number: int, flags: Sequence[str] = ()) -> GraphToCompile:
    return GraphToCompile(key=module_key(f"{number:020x}", flags), data=lambda: b"graph %d" % number)


def collected(root: Path, compiler: fakes.Copying, *graphs: GraphToCompile, flags: Sequence[str] = ()) -> Wrapper:
    """A wrapper on a cache in which these graphs were stored, a second apart."""
    wrapper = fakes.wrapper(root, compiler)
    for number, one in enumerate(graphs):
        entry = wrapper.entry(one.key)
        entry.store_graph(one.data(), one.key.graph, flags)
        os.utime(entry.graph, (1e9 + number, 1e9 + number))
    return wrapper


def asked(ahead: CompileAhead, wrapper: Wrapper, one: GraphToCompile) -> None:
    entry = wrapper.entry(one.key)
    found = compile_ahead.TrialGraph(entry.graph.stat().st_mtime_ns, entry.path, one.key)
    ahead.asked_for(found, missing=entry.state() is Lookup.MISS)


def always_room(_running: int) -> bool:
    return True


def test_what_was_collected_after_the_missed_graph_is_compiled_in_that_order(tmp_path: Path) -> None:
    compiler = fakes.Gated()
    compiler.allowed.set()
    graphs = [graph(number) for number in (7, 3, 9, 1)]
    wrapper = collected(tmp_path, compiler, *graphs)
    ahead = CompileAhead(wrapper, cores=MANY, is_room=lambda running: running == 0)
    asked(ahead, wrapper, graphs[1])
    jobs.until(lambda: not ahead.is_at_work)
    assert compiler.began == [graphs[2].key.name, graphs[3].key.name]
    assert wrapper.get_or_compile(graphs[2]).hit
    assert wrapper.entry(graphs[0].key).state() is Lookup.MISS
    assert wrapper.entry(graphs[1].key).state() is Lookup.MISS, "the job compiles what it asks for"


def test_graphs_of_other_flags_and_those_that_are_settled_or_under_way_are_left_alone(tmp_path: Path) -> None:
    compiler = fakes.Gated()
    first, done, failed, locked, last = map(graph, range(5))
    wrapper = collected(tmp_path, compiler, first, done, failed, locked, last)
    collected(tmp_path, compiler, first, graph(5, ["-O3"]), flags=["-O3"])
    fakes.wrapper(tmp_path).compile_entry(wrapper.entry(done.key).path)
    with pytest.raises(CompileError):
        fakes.wrapper(tmp_path, fakes.Copying(error=CompileError("no", module="m"))).compile_entry(
            wrapper.entry(failed.key).path
        )
    wrapper.entry(locked.key).lock.touch()
    ahead = CompileAhead(wrapper, cores=MANY, is_room=always_room)
    asked(ahead, wrapper, first)
    jobs.until(lambda: bool(compiler.began))
    compiler.allowed.set()
    jobs.until(lambda: wrapper.entry(last.key).state() is Lookup.HIT)
    assert compiler.began == [last.key.name]


def test_as_many_are_ahead_of_the_job_as_there_are_cores(tmp_path: Path) -> None:
    compiler = fakes.Gated()
    compiler.allowed.set()
    graphs = [graph(number) for number in range(6)]
    wrapper = collected(tmp_path, compiler, *graphs)
    ahead = CompileAhead(wrapper, cores=2, is_room=always_room)
    asked(ahead, wrapper, graphs[0])
    jobs.until(lambda: len(compiler.began) == 2)
    time.sleep(2 * compile_ahead.LOOK_SECONDS)
    assert {*compiler.began} == {one.key.name for one in graphs[1:3]}
    asked(ahead, wrapper, graphs[1])
    jobs.until(lambda: len(compiler.began) == 3)
    asked(ahead, wrapper, graphs[4])
    jobs.until(lambda: wrapper.entry(graphs[5].key).state() is Lookup.HIT)
    assert wrapper.entry(graphs[4].key).state() is Lookup.MISS, "the job asks for it itself"
    ahead.end()


def test_no_compile_begins_without_room(tmp_path: Path) -> None:
    compiler, beside, room = fakes.Gated(), [], threading.Event()

    def is_room(running: int) -> bool:
        beside.append(running)
        return room.is_set() or not running

    graphs = [graph(number) for number in range(3)]
    wrapper = collected(tmp_path, compiler, *graphs)
    ahead = CompileAhead(wrapper, cores=MANY, is_room=is_room)
    asked(ahead, wrapper, graphs[0])
    jobs.until(lambda: beside.count(1) > 1)
    assert compiler.began == [graphs[1].key.name]
    room.set()
    jobs.until(lambda: len(compiler.began) == 2)
    compiler.allowed.set()
    jobs.until(lambda: wrapper.entry(graphs[2].key).state() is Lookup.HIT)


def test_the_end_of_the_job_ends_them_and_leaves_nothing_behind(tmp_path: Path) -> None:
    compiler = fakes.Gated()
    graphs = [graph(number) for number in range(4)]
    wrapper = collected(tmp_path, compiler, *graphs)
    ahead = CompileAhead(wrapper, cores=2, is_room=always_room)
    asked(ahead, wrapper, graphs[0])
    jobs.until(lambda: len(compiler.began) == 2)
    ahead.end()
    left = tmp_path / fakes.Copying().directory()
    assert not [*left.rglob("*.lock"), *left.rglob("model.log"), *left.rglob("*.tmp")]
    asked(ahead, wrapper, graphs[0])
    assert len(compiler.began) == 2
    compiler.closed = False
    assert not wrapper.get_or_compile(graphs[1]).hit, "this process may compile again"


def test_a_graph_that_does_not_compile_is_a_failure_for_whoever_asks_and_the_next_one_is_compiled(
    tmp_path: Path,
) -> None:
    class Picky(fakes.Copying):
        def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
            if task.module == graphs[1].key.name:
                raise CompileError("no", module=task.module)
            return super().compile(task, began=began)

    graphs = [graph(number) for number in range(3)]
    wrapper = collected(tmp_path, Picky(), *graphs)
    asked(CompileAhead(wrapper, cores=MANY, is_room=always_room), wrapper, graphs[0])
    jobs.until(lambda: wrapper.entry(graphs[2].key).state() is Lookup.HIT)
    jobs.until(lambda: wrapper.entry(graphs[1].key).state() is Lookup.FAILED)


def test_one_process_of_a_machine_does_it_at_a_time(tmp_path: Path) -> None:
    first, second = fakes.Gated(), fakes.Gated()
    graphs = [graph(number) for number in range(3)]
    wrapper, other = collected(tmp_path, first, *graphs), fakes.wrapper(tmp_path, second)
    ahead = CompileAhead(wrapper, cores=1, is_room=always_room)
    asked(ahead, wrapper, graphs[0])
    jobs.until(lambda: bool(first.began))
    late = CompileAhead(other, cores=MANY, is_room=always_room)
    asked(late, other, graphs[0])
    jobs.until(lambda: not late.is_at_work)
    assert not second.began
    ahead.end()
    asked(late, other, graphs[0])
    jobs.until(lambda: len(second.began) == 2)
    second.allowed.set()
    jobs.until(lambda: not late.is_at_work)


@pytest.mark.parametrize(
    ("options", "variable"),
    [
        ({"no_cache": True}, ""),
        ({"extract_only": True}, ""),
        ({"on_miss": OnMiss.ERROR}, ""),
        ({}, "0"),
    ],
)
def test_it_does_nothing_where_it_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], variable: str
) -> None:
    collected(tmp_path, fakes.Copying(), graph(0), graph(1))
    monkeypatch.setenv("NEURONTOP_COMPILE_AHEAD", variable)
    begun: list[Wrapper] = []
    monkeypatch.setattr(compile_ahead, "_of", begun.append)
    compile_ahead.asked_for(fakes.wrapper(tmp_path, **options), graph(0).key)
    assert not begun


def test_it_does_nothing_for_a_graph_that_nobody_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead, "_of", pytest.fail)
    compile_ahead.asked_for(collected(tmp_path, fakes.Copying(), graph(1)), graph(0).key)


@pytest.mark.torch
@pytest.mark.timeout(1500)
@pytest.mark.xdist_group("compiles")
def test_a_job_whose_graphs_were_collected_finds_some_of_them_compiled(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(FOUR_GRAPHS)

    def run(**more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "job.py"]
        environment = {**os.environ, **more}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)

    run(NEURON_EXTRACT_GRAPHS_ONLY="1")
    job = run()
    assert job.stdout.split() == ["True"] * 4
    assert "Collected graphs that come after this one are compiled ahead on idle cores: 3" in job.stderr
    assert "Using a cached neff" in job.stderr
    assert job.stderr.count("Compilation Successfully Completed") == 4
