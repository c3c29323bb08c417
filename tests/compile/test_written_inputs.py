"""Writing to an input counts in its version as with Inductor: no saved tensor is stale that is not so elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(600), pytest.mark.xdist_group("compiles")]

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from neuron_top.compile.torch import written_inputs  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

PROGRAM = """
import torch

class Counting(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, count):
        ctx.save_for_backward(count)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        ctx.saved_tensors[0].data.add_(1)
        return gradient * 2, None

count, x = torch.ones(3), torch.ones(3, requires_grad=True)
saved = x * count
out = torch.compile(lambda x: Counting.apply(x, count), backend="neurontop")(x)
for _twice in range(2):
    out.sum().backward(retain_graph=True)
saved.sum().backward()
print("count", count.tolist(), "gradient", x.grad.tolist(), "version", count._version)

double = torch.compile(lambda y: y.mul_(2), backend="neurontop")
double(count)
print("version", count._version)
with torch.inference_mode():
    print("without a version", torch.compile(lambda y: y.mul_(2), backend="neurontop")(torch.ones(3)).tolist())
"""


def test_what_is_written_counts_once_cold_and_warm(own_caches: Path) -> None:
    for _start in range(2):
        job = subprocess.run([*warm_python(), "-c", PROGRAM], capture_output=True, text=True, check=False)
        assert job.returncode == 0, job.stderr
        assert job.stdout.splitlines() == [
            "count [3.0, 3.0, 3.0] gradient [7.0, 7.0, 7.0] version 0",
            "version 1",
            "without a version [2.0, 2.0, 2.0]",
        ]
    assert "compiled in the job" not in job.stderr


def test_inputs_that_are_written_to_are_found_in_arguments_of_every_kind() -> None:
    def writing(a, b, c, d, e):
        torch.add(a, 1, out=b)
        torch._foreach_mul_([c], 2)
        d.copy_(a + e)
        return e.add(1)

    graph = make_fx(writing)(*(torch.ones(2) for _ in range(5)))
    assert written_inputs.places(graph) == (1, 2, 3)
