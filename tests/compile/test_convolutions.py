"""Convolutions of a training graph compute in the memory order that PyTorch chooses for training."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")


from neuron_top.compile.graphs import convolutions  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600), pytest.mark.xdist_group("compiles")]

PROGRAM = """
import torch
from torch import nn

torch._C._set_mkldnn_enabled(False)

def step(backend):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    made = torch.compile(model, backend=backend)(torch.randn(2, 3, 8, 8))
    made.square().sum().backward()
    return [made, *(it.grad for it in model.parameters()), *model.buffers()]

print(all(map(torch.equal, step("neurontop"), step("inductor"))))
"""


@pytest.fixture
def without_onednn() -> Iterator[None]:
    """With it, PyTorch turns all images for the CPU, in training as well."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    yield
    torch._C._set_mkldnn_enabled(before)


def captured(function: Any, *inputs: Any) -> torch.fx.GraphModule:
    return torch.fx.experimental.proxy_tensor.make_fx(function, tracing_mode="fake")(*inputs)


def test_only_training_graphs_with_convolutions_have_the_rule_for_training() -> None:
    convolving = captured(torch.ops.aten.convolution.default, *few_channels(), None, [1], [0], [1], False, [0], 1)
    other = captured(torch.relu, torch.ones(2))
    assert convolutions.with_rule({"state": 1}, convolving, "inference") == {"state": 1}
    assert convolutions.with_rule({"state": 1}, other, "forward") == {"state": 1}
    trained = [convolutions.with_rule({"state": 1}, convolving, direction) for direction in ("forward", "backward")]
    assert trained[0] == trained[1] != {"state": 1}


def few_channels() -> tuple[torch.Tensor, torch.Tensor]:
    """An image and a kernel of so few channels that PyTorch turns them for inference only."""
    return torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3)


@pytest.mark.usefixtures("without_onednn")
def test_a_rule_holds_within_its_block() -> None:
    from torch._inductor.graph import GraphLowering

    gm = captured(torch.ops.aten.convolution.default, *few_channels(), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    for direction, turned in (("inference", True), ("forward", False)):
        with convolutions.rule_of(convolutions.with_rule({}, gm, direction)):
            assert GraphLowering.decide_layout_opt(gm, is_inference=True) is turned
    assert GraphLowering.decide_layout_opt(gm, is_inference=True)


def test_a_training_step_has_inductors_results_where_the_rules_differ() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr
