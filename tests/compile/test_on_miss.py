"""`NEURONTOP_ON_MISS=error`: a miss ends the job at once and names graph, key and what lies nearest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache.model.keys import module_key
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import OnMiss, parse_environment
from neuron_top.errors import GraphNotCompiled, UsageError
from tests.compile.fakes import GRAPH, Copying, wrapper


def described(graph: str, counts: dict[str, int], inputs: tuple[str, ...] = ("f32[8]",)) -> GraphToCompile:
    """A graph of these operators."""
    words = {
        "direction": "forward",
        "operators": sum(counts.values()),
        "operator_counts": counts,
        "inputs": inputs,
    }
    return GraphToCompile(
        key=module_key(graph, []), data=lambda: b"the graph", description=lambda: json.dumps(words).encode()
    )


def refusal(root: Path, graph: GraphToCompile, compiler: Copying | None = None) -> str:
    """What is said of a graph that is not in the cache; nothing is compiled, nothing is written."""
    before = sorted(root.rglob("*"))
    strict = wrapper(root, compiler or Copying(), on_miss=OnMiss.ERROR)
    with pytest.raises(GraphNotCompiled) as said:
        strict.get_or_compile(graph)
    assert strict.compiler.compiled == 0
    assert [path for path in sorted(root.rglob("*")) if path not in before and path.name.startswith("m")] == []
    return str(said.value)


def test_a_hit_is_as_ever_and_a_miss_is_a_failure(tmp_path):
    root = tmp_path / "cache"
    said = refusal(root, GRAPH)
    assert said.startswith(
        f"{GRAPH.key.name} is not in the cache {root}/inductor-1.0.0+00000000, and NEURONTOP_ON_MISS"
    )
    wrapper(root).get_or_compile(GRAPH)
    assert wrapper(root, on_miss=OnMiss.ERROR).get_or_compile(GRAPH).hit


def test_the_nearest_entry_is_named_by_what_differs(tmp_path):
    root = tmp_path / "cache"
    near = described("a" * 20, {"aten.mm": 4, "aten.add": 2})
    wrapper(root).get_or_compile(near)
    wrapper(root).get_or_compile(described("b" * 20, {"aten.conv": 9}))
    wanted = described("c" * 20, {"aten.mm": 4, "aten.add": 3})
    assert f"Nearest: {near.key.name}, which differs in 1 of its operators" in refusal(root, wanted)
    assert "(forward graph of 7 operators)" in refusal(root, wanted)
    resized = described("c" * 20, {"aten.mm": 4, "aten.add": 2}, ("f32[16]",))
    assert "of the same operators with inputs f32[8]; here they are f32[16]" in refusal(root, resized)
    flags = msgspec.structs.replace(near, key=module_key("a" * 20, ["-O3"]))
    assert f"Nearest: {near.key.name}, the same graph with other compiler flags" in refusal(root, flags)

    class Newer(Copying):
        def directory(self) -> str:
            return "inductor-2.0.0+00000000"

    said = refusal(root, near, Newer())
    assert "Nearest: the same graph for inductor-1.0.0+00000000: another compiler version, CPU or installation" in said


def test_a_collected_graph_is_reported_as_waiting(tmp_path):
    root = tmp_path / "cache"
    wrapper(root).extract(GRAPH)
    assert "Its graph was collected there and never compiled" in refusal(root, GRAPH)


def test_a_pre_compile_compiles_all_the_same(tmp_path):
    root = tmp_path / "cache"
    strict = wrapper(root, on_miss=OnMiss.ERROR)
    strict.extract(GRAPH)
    assert not strict.compile_entry(strict.entry(GRAPH.key).path).hit


def test_another_word_is_refused(tmp_path):
    assert parse_environment({"NEURONTOP_ON_MISS": "Error"}).on_miss is OnMiss.ERROR
    assert parse_environment({}).on_miss is OnMiss.COMPILE
    with pytest.raises(UsageError, match="NEURONTOP_ON_MISS must be one of compile, error, is 'fail'"):
        parse_environment({"NEURONTOP_ON_MISS": "fail"})


def test_run_hands_it_to_the_job(tmp_path, monkeypatch):
    monkeypatch.delenv("NEURONTOP_ON_MISS", raising=False)
    asked = "import os; print(os.environ['NEURONTOP_ON_MISS'])"
    command = [
        sys.executable,
        "-m",
        "neuron_top",
        "run",
        "--on-miss",
        "error",
        "--plain",
        "--",
        sys.executable,
        "-c",
        asked,
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "error\n"
