"""Graphs with convolutions save what Inductor saves, in its strides: every result is that of Inductor, bit by bit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.inductor_folder import inductor_folder  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1500), pytest.mark.xdist_group("compiles")]

PROGRAM = """
import torch
from torch import nn
from torch.nn import functional as F

def results(build, forward, backend, side):
    torch._dynamo.reset()
    torch.manual_seed(0)
    layers = build()
    compiled = forward if backend == "eager" else torch.compile(forward, backend=backend)
    found = []
    for _step in range(2):
        x = torch.randn(2, 3, side, side, generator=torch.Generator().manual_seed(1)).requires_grad_()
        outputs = compiled(layers, x)
        sum(output.square().mean() for output in outputs).backward()
        gradients = (it.grad for it in layers.parameters() if it.grad is not None)
        found += [*outputs, x.grad, *gradients, *(it.clone() for it in layers.buffers())]
        layers.zero_grad()
    return [tensor.detach() for tensor in found]

def normalized():
    convolutions = (nn.Conv2d(channels, 8, 3, padding=1) for channels in (3, 8))
    return nn.ModuleList([next(convolutions), nn.BatchNorm2d(8), next(convolutions), nn.Linear(512, 5)])

def residual(layers, x):
    y = F.relu(layers[1](layers[0](x)))
    return (layers[3]((layers[2](y) + y).flatten(1)),)

def squeezing():
    first, by_channel, of_one_pixel = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 8, 1)
    return nn.ModuleList([first, nn.GroupNorm(2, 8), by_channel, of_one_pixel])

def excited(layers, x):
    y = F.silu(layers[1](layers[0](x)))
    z = layers[2](y)
    return z * torch.sigmoid(layers[3](F.adaptive_avg_pool2d(z, 1))), y

def patches():
    return nn.ModuleList([nn.Conv2d(3, 16, 4, stride=4), nn.LayerNorm(16), nn.Linear(16, 16)])

def attended(layers, x):
    y = layers[0](x)
    q = layers[2](layers[1](y.flatten(2).transpose(1, 2)))[:, None]
    return F.scaled_dot_product_attention(q, q, q), F.max_pool2d(y, 2)

def read_by_stride(layers, x):
    y = F.relu(layers[1](layers[0](x)))
    return layers[2](y), torch.as_strided(y * 2, (2, 64), (512, 1))

def remembering():
    layers = nn.ModuleList([nn.Conv2d(3, 8, 3)])
    layers.register_buffer("state", torch.randn(2, 3, 8, 8))
    return layers

def written_before_use(layers, x):
    layers.state.mul_(0.5).add_(x.detach())
    return F.relu(layers[0](layers.state)), F.relu(x * 2)

@torch.library.custom_op("neurontop_test::in_memory", mutates_args=())
def in_memory(x: torch.Tensor) -> torch.Tensor:
    return torch.as_strided(x, (x.numel(),), (1,)) * 1

in_memory.register_fake(lambda x: x.new_empty(x.numel()))
in_memory.register_autograd(
    lambda ctx, gradient: gradient.view(ctx.sizes),
    setup_context=lambda ctx, inputs, output: setattr(ctx, "sizes", inputs[0].shape),
)

def read_by_an_operator(layers, x):
    y = F.relu(layers[1](layers[0](x)))
    z = F.relu(layers[2](y))
    return in_memory(z), in_memory(y * 2) * torch.linspace(0, 1, 1024)

@torch.library.custom_op("neurontop_test::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2

doubled.register_fake(torch.empty_like)
doubled.register_autograd(lambda ctx, gradient: gradient * 2)

def returned_by_an_operator(layers, x):
    y = F.relu(layers[1](layers[0](x)))
    return layers[2](doubled(y)), in_memory(y * 2)

def read_as_other_numbers(layers, x):
    y = F.relu(layers[1](layers[0](x)))
    return layers[2](y), (y > 0).float().view(torch.int16).float()

def returned_twice(layers, x):
    y = F.relu(layers[0](x)) + 1
    return y, y.clone(), layers[2](F.relu(layers[0](x)))

def dropped(layers, x):
    y = F.relu(layers[1](layers[0](x)))
    return F.dropout(y, 0.5), layers[2](F.dropout(y, 0.3)), F.dropout(y.permute(0, 2, 3, 1), 0.5)

@torch.compiler.nested_compile_region
def block(convolution, y):
    return F.relu(convolution(y))

def compiled_once_for_two(layers, x):
    y = layers[0](x)
    return block(layers[2], block(layers[2], y)), y

for build, forward, side in (
    (normalized, residual, 8), (squeezing, excited, 8), (patches, attended, 32), (normalized, read_by_stride, 8),
    (remembering, written_before_use, 8), (normalized, read_by_an_operator, 8),
    (normalized, returned_by_an_operator, 8), (normalized, read_as_other_numbers, 8),
    (normalized, compiled_once_for_two, 8), (normalized, returned_twice, 8), (normalized, dropped, 8),
):
    with torch._inductor.config.patch(fallback_random=forward is dropped):  # the same numbers as without a compiler
        ours, theirs, eager = (results(build, forward, backend, side) for backend in ("neurontop", "inductor", "eager"))
    name = forward.__name__
    exact = forward is not compiled_once_for_two  # a graph with subgraphs keeps PyTorch's own strides
    same = all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))
    assert same or not exact, f"{name} differs from Inductor"
    assert all(torch.allclose(*pair, atol=1e-5) for pair in zip(ours, eager, strict=True)), f"{name} is wrong"
    assert [it.stride() for it in ours] == [it.stride() for it in eager], f"{name}: results in other strides"
    assert forward is not returned_twice or ours[0].data_ptr() != ours[1].data_ptr(), "an output and its copy are one"
print("as Inductor")
"""


def test_convolutions_give_the_results_of_inductor_cold_and_warm(tmp_path: Path) -> None:
    environment = os.environ | {
        "NEURON_COMPILE_CACHE_URL": str(tmp_path / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(tmp_path / "inductor")),
        "NEURONTOP_STATE_DIR": str(tmp_path / "state"),
    }
    entries: list[set[str]] = []
    for more in ({}, {}, {"NEURONTOP_SKIP_TRACE": "0"}):
        job = subprocess.run(
            [*warm_python(), "-c", PROGRAM], env=environment | more, capture_output=True, text=True, timeout=600
        )
        assert "as Inductor" in job.stdout, job.stderr
        assert "compiled in the job" not in job.stderr + job.stdout
        entries.append({entry.name for entry in (tmp_path / "cache").glob("*/MODULE_*")})
    assert all(entries[0]), entries
    assert entries[1:] == [entries[0]] * 2, "every later run finds the graphs of the first one"
