"""What our cache cannot hold is compiled as `backend="inductor"` does it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm_python import warm_python

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(600), pytest.mark.xdist_group("compile servers")]

FROZEN = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)).eval()
model[1].running_mean.normal_()
model[1].running_var.uniform_(0.5, 2)

def inferred(backend):
    torch._dynamo.reset()
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        return torch.compile(model, backend=backend)(images)

images = torch.randn(2, 3, 8, 8)
print(torch.equal(inferred("neurontop"), inferred("inductor")))
"""


def test_parameters_are_frozen_as_by_inductor_and_it_says_that_nothing_is_shared(own_caches: Path) -> None:
    done = subprocess.run([*warm_python(), "-c", FROZEN], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr
    said = "graph is compiled in the job, by Inductor alone: the values of parameters are frozen into its code"
    assert done.stderr.count(said) == 1
    assert not list(own_caches.rglob("model.done"))


TRAINED_WITH_FREEZING = """
import torch
from torch import nn

def trained(backend):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 2))
    output = torch.compile(model, backend=backend, options={"freezing": True})(torch.randn(3, 6))
    output.square().sum().backward()
    return [output, *(it.grad for it in model.parameters())]

print(all(map(torch.equal, trained("neurontop"), trained("inductor"))))
"""


def test_a_training_step_freezes_nothing_and_is_kept(own_caches: Path) -> None:
    done = subprocess.run([*warm_python(), "-c", TRAINED_WITH_FREEZING], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr
    assert "compiled in the job" not in done.stderr
    assert len(list(own_caches.rglob("model.done"))) == 2


NOT_SAVED = """
import torch

fold = {"aot_inductor.use_runtime_constant_folding": True}
print(torch.compile(lambda x: x.sin() * 2, backend="neurontop", options=fold)(torch.zeros(3)).tolist())
"""


def test_why_pytorch_cannot_save_code_is_said_in_its_words(own_caches: Path) -> None:
    done = subprocess.run([*warm_python(), "-c", NOT_SAVED], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[0.0, 0.0, 0.0]"], done.stderr
    why = "Runtime constant folding can introduce constants that aren't static across runs"
    said = f"inference graph cannot be cached (PyTorch cannot save its compiled code: {why}); compiled in the job"
    assert said in done.stderr


HOOKED = """
import torch

def hooked(given):
    doubled = given * 2
    doubled.register_hook(lambda gradient: gradient * 3)
    return doubled.square().sum()

given = torch.arange(3.0, requires_grad=True)
with torch._dynamo.compiled_autograd._enable(torch.compile(backend="neurontop")):
    torch.compile(hooked, backend="neurontop", fullgraph=True)(given).backward()
print(given.grad.tolist())
"""


def test_a_backward_graph_that_only_compiled_autograd_can_run_fails_nothing_beforehand(own_caches: Path) -> None:
    done = subprocess.run([*warm_python(), "-c", HOOKED], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["[0.0, 24.0, 48.0]"], done.stderr


AHEAD_OF_TIME = """
import sys
import torch

def doubled(given):
    return given.sin() * 2

given = torch.arange(4.0)
compiled = torch.compile(doubled, backend=sys.argv[1], fullgraph=True, dynamic=True).aot_compile(((given,), {}))
compiled.save_compiled_function(sys.argv[2])
with open(sys.argv[2], "rb") as file:
    loaded = torch.compiler.load_compiled_function(file)
print(loaded(given).tolist(), loaded(given[:3]).tolist())
"""


def test_what_is_compiled_for_a_file_is_inductors_and_needs_no_cache(own_caches: Path, tmp_path: Path) -> None:
    def run(backend: str) -> subprocess.CompletedProcess[str]:
        command = [*warm_python(), "-c", AHEAD_OF_TIME, backend, str(tmp_path / backend)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    ours, theirs = run("neurontop"), run("inductor")
    assert (ours.returncode, ours.stdout) == (0, theirs.stdout), ours.stderr + theirs.stderr
    assert "by Inductor alone: the script saves it in a file of its own" in ours.stderr
    assert not list(own_caches.rglob("model.done"))


CUSTOMIZED = """
import torch._inductor.codegen.cpp as cpp
cpp.CppVecOverrides.sin = staticmethod(lambda x: f"{x}.cos()")
cpp.CppOverrides.sin = staticmethod(lambda x: f"std::cos({x})")
"""
SINE = """
import torch
print(torch.compile(lambda x: x.sin() * 3, backend="neurontop")(torch.zeros(32))[0].item())
"""


def test_code_of_an_inductor_that_python_customized_as_it_started_is_not_shared(
    own_caches: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(CUSTOMIZED)
    before = os.environ.get("PYTHONPATH", "")

    def run(search_path: str) -> tuple[float, str]:
        environ = {**os.environ, "PYTHONPATH": search_path}
        done = subprocess.run([sys.executable, "-c", SINE], capture_output=True, text=True, check=False, env=environ)
        assert done.returncode == 0, done.stderr
        return float(done.stdout), done.stderr

    value, said = run(f"{tmp_path}{os.pathsep}{before}")
    assert value == 3
    assert "in a compile process the script replaces a function in torch._inductor.codegen.cpp" in said
    assert not list(own_caches.rglob("model.done"))
    assert run(before)[0] == 0
