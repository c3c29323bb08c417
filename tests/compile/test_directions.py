"""Graphs of a training step are compiled as such: what PyTorch does for inference alone would give other results."""

from __future__ import annotations

import subprocess

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
