"""What a forward graph saves has the strides that the backward graph was compiled for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import sympy  # type: ignore[import-untyped]  # noqa: E402

from neuron_top.compile.torch.saved_strides import ExpectedStrides, SavedStrides  # noqa: E402
from tests.inductor_folder import inductor_folder  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1500), pytest.mark.xdist_group("compiles")]

PARTS_OF_ONE_TENSOR = """
import torch
def loss(x, weight, left, right):
    one, other = torch.nn.functional.silu(twice(x @ weight)).split([16, 8], -1)  # each is saved as a view with gaps
    return (one @ left).sum() + (other @ right).sum()
parameters = [torch.randn(shape, requires_grad=True) for shape in ((8, 24), (16, 5), (8, 5))]
compiled = torch.compile(loss, backend="neurontop", dynamic=DYNAMIC)
for rows in ROWS:
    x = torch.randn(rows, 6, 8)
    ours = torch.autograd.grad(compiled(x, *parameters), parameters)
    theirs = torch.autograd.grad(loss(x, *parameters), parameters)
    assert all(torch.allclose(*pair, atol=1e-4) for pair in zip(ours, theirs)), rows
print("gradients right")
"""


OWN_OPERATOR = """
import torch
@torch.library.custom_op("neurontop_tests::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2
twice.register_fake(torch.empty_like)
twice.register_autograd(lambda _context, gradient: twice(gradient))
"""
"""Its graphs are compiled in the job, the forward one when the backward one has been compiled."""
EVERY_GRAPH_TRACED = {"NEURONTOP_SKIP_TRACE": "0"}


@pytest.mark.parametrize(
    ("dynamic", "rows", "before", "settings"),
    [
        (False, (2,), "twice = lambda x: x * 2", ({}, {}, EVERY_GRAPH_TRACED)),
        (True, (2, 5, 3), "twice = lambda x: x * 2", ({},)),
        (False, (2,), OWN_OPERATOR, ({},)),
    ],
)
def test_parts_of_one_tensor_that_are_saved_give_right_gradients_cold_and_warm(
    tmp_path: Path, dynamic: bool, rows: tuple[int, ...], before: str, settings: tuple[dict[str, str], ...]
) -> None:
    program = f"{before}\nDYNAMIC, ROWS = {dynamic}, {rows}\n{PARTS_OF_ONE_TENSOR}"
    environment = os.environ | {
        "NEURON_COMPILE_CACHE_URL": str(tmp_path / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(tmp_path / "inductor")),
        "NEURONTOP_STATE_DIR": str(tmp_path / "state"),
    }
    for more in settings:
        job = subprocess.run(
            [*warm_python(), "-c", program], env=environment | more, capture_output=True, text=True, timeout=600
        )
        assert "gradients right" in job.stdout, job.stderr


def test_only_what_has_other_strides_is_copied() -> None:
    whole = torch.arange(24.0).reshape(2, 12)
    right, wrong = whole[:, :8], whole[:, :8].contiguous()
    saved = SavedStrides(ExpectedStrides({1: (12, 1), 2: (12, 1)}))
    for _call in range(2):
        first, same, changed = saved.applied([whole, right, wrong])
        assert first is whole
        assert same is right
        assert changed.stride() == (12, 1)
        assert torch.equal(changed, wrong)
    outputs = (whole, right, right)
    assert SavedStrides(ExpectedStrides({1: (12, 1)})).applied(outputs) is outputs


def test_a_dimension_of_one_step_needs_no_copy_and_an_empty_tensor_fits_any_stride() -> None:
    one, empty = torch.zeros(1, 4), torch.zeros(0, 4)
    first, second = SavedStrides(ExpectedStrides({0: (99, 1), 1: (99, 7)})).applied((one, empty))
    assert first.stride() == (99, 1)
    assert first.data_ptr() == one.data_ptr()
    assert second is empty


def test_a_tensor_that_was_expanded_is_written_once() -> None:
    given = torch.tensor([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    (changed,) = SavedStrides(ExpectedStrides({0: (1, 0)})).applied([given])
    assert changed.stride() == (1, 0)
    assert torch.equal(changed, given)


def test_symbolic_strides_follow_the_sizes_of_each_call() -> None:
    size = sympy.Symbol("s0", integer=True)
    saved = SavedStrides(ExpectedStrides({1: (3 * size, 1)}, {size: (0, None)}))
    for number in (4, 5, 4):
        _, changed = saved.applied([number, torch.ones(2, number)])
        assert changed.stride() == (3 * number, 1)
    saved = SavedStrides(ExpectedStrides({0: (2 * size, 1)}, {size: (0, 1)}))
    assert saved.applied([torch.ones(2, 6)])[0].stride() == (12, 1)
