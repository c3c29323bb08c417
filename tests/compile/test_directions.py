"""Graphs of a training step are compiled as such: what PyTorch does for inference alone would give other results."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")

from neuron_top.compile.graphs import directions
from tests.warm_python import warm_python

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600), pytest.mark.xdist_group("compiles")]

STEP = """
import sys
import torch
from torch import nn
from torch.nn import functional as F

def step(function, model, given, backend):
    torch._dynamo.reset()
    torch.manual_seed(1)
    outputs = torch.compile(function, backend=backend)(given)
    sum(output.square().sum() for output in outputs).backward()
    found = [*outputs, given.grad, *(it.grad for it in model.parameters()), *model.buffers()]
    return [it.detach().clone() for it in found]

def convolving():
    torch._C._set_mkldnn_enabled(False)  # with oneDNN, images are channels last in training as well
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    return lambda given: [model(given)], model, torch.randn(2, 3, 8, 8, requires_grad=True)

def drawing():
    def function(given):
        left = F.relu(given * 2)
        drawn = [torch.normal(left, left.detach().abs() + 1), left * torch.randperm(6)]
        return *drawn, left * torch.multinomial(left.detach().abs(), 1), F.dropout(left, 0.3)

    return function, nn.Module(), torch.randn(5, 6, requires_grad=True)

def made(build, backend):
    torch.manual_seed(0)
    return step(*build(), backend)

build = {"convolving": convolving, "drawing": drawing}[sys.argv[1]]
print(all(map(torch.equal, made(build, "neurontop"), made(build, "inductor"))))
"""


@pytest.mark.parametrize("program", ["convolving", "drawing"])
def test_a_training_step_has_inductors_results(program: str) -> None:
    done = subprocess.run([*warm_python(), "-c", STEP, program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")  # of PyTorch's own modules
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {}),
        (directions.with_direction({}, directions.INFERENCE), {}),
        (directions.with_direction({}, directions.FORWARD), {"is_inference": False, "is_backward": False}),
        (directions.with_direction({}, directions.BACKWARD), {"is_inference": False, "is_backward": True}),
    ],
)
def test_a_graph_is_compiled_for_what_its_settings_say(
    settings: dict[str, str], expected: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor import compile_fx, config

    told: dict[str, bool] = {}
    monkeypatch.setattr(compile_fx, "compile_fx_inner", lambda *_, **how: told.update(how))
    is_part = bool(expected)
    monkeypatch.setattr(
        compile_fx, "compile_fx", lambda inner_compile=None: inner_compile and inner_compile(is_inference=True)
    )
    with directions.compiled_as(settings):
        compile_fx.compile_fx()
        assert config.use_joint_graph_passes is not is_part, "of the parts, the job did that to the whole"
    assert told == expected


def test_the_key_counts_what_a_graph_is_for() -> None:
    settings = [
        directions.with_direction({"state": 1}, direction)
        for direction in (directions.INFERENCE, directions.FORWARD, directions.BACKWARD)
    ]
    assert all(one != other for place, one in enumerate(settings) for other in settings[:place])


ROUNDED = """
import sys
from pathlib import Path
import torch
from torch._inductor import lowering
from neuron_top.compile.graphs import graph_file, hashing, inductor_compile

rounded, dumped = [], []
asked, dump = lowering._has_saved_lowp_output_use, graph_file.dump

def noted(node):
    found = asked(node)
    rounded.extend([str(node.target)] if found else [])
    return found

lowering._has_saved_lowp_output_use = noted
graph_file.dump = lambda *graph: dumped.append(dump(*graph)) or dumped[-1]

def function(x):
    left = x @ x - x @ x.sin()  # one tensor to save, instead of two products
    return (left * left.float().square().mean(-1, keepdim=True).rsqrt().bfloat16()) @ x

def given():
    x = torch.ones(8, 8, dtype=torch.bfloat16)
    if sys.argv[2] != "distributed":
        return x.requires_grad_()
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    from torch.distributed.tensor import Replicate, distribute_tensor, init_device_mesh
    return distribute_tensor(x, init_device_mesh("cpu", (1,)), [Replicate()]).requires_grad_()

x = given()
if sys.argv[2] == "regions":
    region = torch.compiler.nested_compile_region(function)
    function = lambda x: region(region(x))

def compiled(backend):
    torch._dynamo.reset()
    torch.compile(function, backend=backend)(x)

with torch.compiler.config.patch(force_disable_caches=True):
    compiled("inductor")
theirs = rounded[:]
compiled("neurontop")  # only collects
graph = graph_file.load(dumped[0])
digest = hashing.digest_graph(graph.gm, graph.inputs, graph.settings)
rounded.clear()
outputs = {name: Path(sys.argv[1], name) for name in ("model.inductor", "model.kernels")}
inductor_compile.compile_serialized(graph, outputs, module=sys.argv[1], digest=digest)  # PyTorch's caches find nothing
print(theirs, rounded)
"""


@pytest.mark.parametrize("kind", ["plain", "distributed", "regions"])
def test_inductor_rounds_what_is_saved_in_16_bits_as_without_our_cache(tmp_path: Path, kind: str) -> None:
    """Only code for GPUs differs by that, so the test asks Inductor what it was told. The graph of a distributed tensor
    also returns what is cut out of it."""
    environ = {**os.environ, "NEURON_EXTRACT_GRAPHS_ONLY": "1"}
    command = [*warm_python(), "-c", ROUNDED, str(tmp_path), kind]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["['aten.sub.Tensor'] ['aten.sub.Tensor']"], done.stdout + done.stderr


def test_a_subgraph_that_returns_a_single_value_saves_nothing() -> None:
    """As the functions that attention is given do."""
    import torch

    outer = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Identity()))
    outer.add_module("inner", torch.fx.symbolic_trace(torch.nn.Sigmoid()))
    assert not isinstance(outer.graph.output_node().args[0], tuple)
    assert directions.rounded(outer) == [[], []]
