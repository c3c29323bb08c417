"""Tensors that a compiled function makes of Python numbers: compiled, shared where equal, never where they differ."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(3600)]

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from neuron_top.compile.graphs import copying, graph_file, hashing  # noqa: E402
from tests.inductor_folder import inductor_folder  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

PROGRAM = """
import sys, torch
table = [[1, 2, 3], [4, 5, int(sys.argv[1])]]
class Buffers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.arange(3.0)); self.plain = torch.ones(3) * 7
    def forward(self, x): return x + self.kept * self.plain + torch.tensor(1.0)
FUNCTIONS = [
    lambda x: x + torch.tensor([1.0, 2.0, 3.0]),
    lambda x: x * torch.tensor(2.5) + torch.as_tensor([1.0, 5.0, 2.0]),
    lambda x: (x[torch.tensor([0, 2])], torch.tensor([True, False]), torch.tensor([]), torch.tensor([1 + 2j])),
    lambda x: x * torch.tensor(table, dtype=torch.int16).sum(),
    lambda x: (x.sum(), torch.tensor(table, dtype=torch.int16) + 1),
    lambda x: x.clone().masked_fill_(torch.tensor([True, False, True]), torch.tensor(4.0)),
    lambda x: torch.cond(x.sum() > 0, lambda x: x + torch.tensor([1.0, 2, 9]), lambda x: x - torch.tensor(3.), (x,)),
    Buffers(),
]
def flat(result): return result if isinstance(result, tuple) else (result,)
for function in FUNCTIONS:
    for settings in ({"dynamic": False}, {"dynamic": True}) if len(sys.argv) > 2 else ({"dynamic": False},):
        for grad in (False, True):
            torch._dynamo.reset()
            x = torch.ones(3, requires_grad=grad)
            ours = flat(torch.compile(function, backend="neurontop", **settings)(x))
            for one, other in zip(ours, flat(function(x)), strict=True):
                assert torch.equal(one, other) and one.dtype == other.dtype, (function, one, other)
print("all right")
"""


def run(number: int, tmp_path: Path) -> str:
    """What a process with this number in its table said."""
    work = inductor_folder(tmp_path / "inductor")
    root = {"NEURON_COMPILE_CACHE_URL": str(tmp_path / "root"), "TORCHINDUCTOR_CACHE_DIR": str(work)}
    done = subprocess.run(
        [*warm_python(), "-c", PROGRAM, str(number)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **root},
    )
    assert "all right" in done.stdout, done.stderr
    return done.stderr


def test_constants_compile_equal_ones_are_shared_and_different_ones_are_not(tmp_path: Path) -> None:
    run(6, tmp_path)
    again = run(6, tmp_path)
    assert "Compilation Successfully Completed" not in again
    other = run(7, tmp_path)
    assert 0 < other.count("Compilation Successfully Completed") <= 6  # of the two functions with the table
    assert "Using a cached neff at" in other


@pytest.mark.parametrize(
    "constant",
    [
        torch.tensor([1.0, 2.0]),
        torch.tensor(2.5),
        torch.tensor([], dtype=torch.int32),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j]),
        torch.arange(6.0).view(2, 3).t(),
    ],
    ids=str,
)
def test_a_constant_travels_with_its_value_and_stays_no_buffer(constant: torch.Tensor) -> None:
    gm = make_fx(lambda x: x + 1, tracing_mode="fake")(torch.zeros(2))
    inner = torch.fx.Graph()
    inner.output((inner.get_attr("deep.held"),))
    holder = torch.nn.Module()
    holder.deep = torch.nn.Module()
    object.__setattr__(holder.deep, "held", constant)
    gm.add_module("part", copying.copied(torch.fx.GraphModule(holder, inner)))
    hashing.strip_unserialized(gm)
    with gm.graph.inserting_before(next(iter(reversed(gm.graph.nodes)))):
        gm.graph.get_attr("part")
    traveled = graph_file.load(graph_file.dump(copying.copied(gm), [], {})).gm
    ((path, name, value),) = copying.constants(traveled)
    assert (path, name) == ("part", "deep.held")
    assert torch.equal(value, constant)
    assert (value.dtype, value.stride()) == (constant.dtype, constant.stride())
    assert not list(copying.copied(traveled).named_buffers())
