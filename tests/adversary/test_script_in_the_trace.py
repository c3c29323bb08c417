"""What a script changes in the code that traces acts in its process, also where another one has filled the cache.

The cache then holds a trace of the same captured graph, made by a process that changed nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(3600)]

from tests.adversary import attacker  # noqa: E402

PROGRAM = """
import sys, torch
import torch._decomp.decompositions as decompositions
def inner():
    return next(cell.cell_contents for cell in decompositions.hardswish.__closure__ if callable(cell.cell_contents))
def code():
    found = inner()
    while found.__closure__:
        found = next(cell.cell_contents for cell in found.__closure__ if callable(cell.cell_contents))
    def mine(self): return self * 21
    found.__code__ = mine.__code__
def method(): torch.Tensor.add = torch.Tensor.sub
def kernel(): torch.ops.aten.hardswish.default.py_impl(torch._C.DispatchKey.AutogradCPU)(lambda x: x * 22)
CHANGES = {"nothing": lambda: None, "code": code, "method": method, "kernel": kernel}
CHANGES[sys.argv[1]]()
def function(x): return torch.nn.functional.hardswish(x).add(100)
print("result", round(torch.compile(function, backend="neurontop")(torch.ones(3))[0].item(), 3))
"""


def run(change: str, tmp_path: Path) -> tuple[float, str]:
    """The result of a process with this change, and what it said."""
    return attacker.result_of(PROGRAM, change, tmp_path)


def test_what_a_script_changes_in_the_trace_is_never_taken_from_a_process_that_did_not(tmp_path: Path) -> None:
    plain, _ = run("nothing", tmp_path)
    assert plain == pytest.approx(100 + 2 / 3, abs=1e-3)
    assert run("code", tmp_path)[0] == 121
    assert run("kernel", tmp_path)[0] == 122
    assert run("method", tmp_path)[0] == pytest.approx(2 / 3 - 100, abs=1e-3)
    warm, said = run("nothing", tmp_path)
    assert warm == plain
    assert "Compilation" not in said
