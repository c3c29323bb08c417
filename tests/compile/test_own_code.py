"""Whose code takes part in a compile: what PyTorch registers itself is not the script's."""

from __future__ import annotations

import subprocess

import pytest

from tests.warm_python import warm_python

pytest.importorskip("torch")

VMAP = """
import torch
from neuron_top.compile.graphs import own_code
before = len(torch.library._impls)
torch.func.vmap(torch.sin)(torch.ones(3))
print(len(torch.library._impls) - before, repr(own_code.foreign()))
"""
OWN_RULE = (
    VMAP
    + """
library = torch.library.Library("aten", "IMPL")
library.impl("lerp.Scalar", lambda *given: given[0], "FuncTorchBatched")
print(own_code.foreign())
"""
)

REGISTERED = """
import sys, types, torch
from neuron_top.compile.graphs import own_code
kept = torch.library.Library("aten", "IMPL")
kept.impl("lerp.Scalar", lambda *given: given[0], "PythonTLSSnapshot")
print(repr(own_code.foreign()))
sys.modules["torch.of_another_version"] = types.ModuleType("torch.of_another_version")
sys.modules["torch.of_another_version"].kept = kept
print(repr(own_code.foreign()))
"""


def test_a_kernel_that_a_module_of_pytorch_registers_keeps_no_graph_out_of_the_cache() -> None:
    """PyTorch 2.14 registers two as it is imported."""
    by_the_script, by_pytorch = _said(REGISTERED)
    assert "aten/lerp.Scalar/PythonTLSSnapshot" in by_the_script
    assert by_pytorch == "''"


def test_a_use_of_vmap_keeps_no_graph_out_of_the_cache() -> None:
    """PyTorch registers kernels in Python at its first use."""
    registered, foreign = _said(VMAP)[0].split()
    assert int(registered) > 0
    assert foreign == "''"


def test_a_kernel_of_the_script_beside_them_is_seen() -> None:
    assert "aten/lerp.Scalar/FuncTorchBatched" in _said(OWN_RULE)[1]


def _said(script: str) -> list[str]:
    done = subprocess.run([*warm_python(), "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
