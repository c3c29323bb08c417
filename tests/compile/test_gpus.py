"""GPUs: how the compile server stays able to use one, what counts of one, and, where there is one, the real thing."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import fx  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from neuron_top.compile.graphs import gpus, torch_settings  # noqa: E402

forks_here = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
"""The compile server forks with one thread; a process of tests has several."""
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU that PyTorch can use")
JOB = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 2)).cuda()
given = torch.randn(4, 8, device="cuda")
def trained(model, with_what):
    with_what.zero_grad()
    out = model(given)
    out.square().sum().backward()
    return [out, *(value.grad for value in with_what.parameters())]
plain = [value.clone() for value in trained(model, model)]
compiled = trained(torch.compile(model, backend="neurontop"), model)
print(all(torch.allclose(one, other, atol=1e-5) for one, other in zip(plain, compiled)))
"""


def count_from(place: Path) -> Callable[[], int]:
    """A driver that has three GPUs and notes who asked."""

    def count() -> int:
        with place.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return 3

    return count


@forks_here
def test_the_compile_server_does_not_ask_the_driver_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = count_from(tmp_path / "asked")
    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", ask, raising=False)
    with gpus.counted_elsewhere():
        assert [torch._C._cuda_getDeviceCount() for _ in range(2)] == [3, 3]
    assert torch._C._cuda_getDeviceCount is ask
    asked = (tmp_path / "asked").read_text().split()
    assert len(asked) == 1
    assert asked != [str(os.getpid())]


@forks_here
def test_a_driver_that_fails_has_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise RuntimeError("no driver")

    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", fail, raising=False)
    with gpus.counted_elsewhere():
        assert torch._C._cuda_getDeviceCount() == 0


def gpu(**more: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"name": "A", "major": 9, "minor": 0, "uuid": os.urandom(4), "total_memory": 1, **more})


@pytest.mark.parametrize(("found", "counted"), [
    ([gpu(), gpu(total_memory=2)], 1),  # which card it is, and what the driver left of its memory
    ([gpu(), gpu(minor=1)], 2),
    ([gpu(), gpu(name="B"), gpu()], 3),
    ([], 0),
])  # fmt: skip
def test_cards_of_one_kind_count_as_one(
    found: list[SimpleNamespace], counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(found))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(found))
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda place: found[place])
    kinds = gpus.kinds()
    assert len(kinds) == counted
    assert not any("uuid" in kind or "total_memory" in kind for kind in kinds)


def graph(*devices: str) -> fx.GraphModule:
    """The sum of one input per device, as AOTAutograd describes it."""
    made = fx.Graph()
    inputs = [made.placeholder(f"given{place}") for place in range(len(devices))]
    total = inputs[0]
    with FakeTensorMode():
        for node, device in zip(inputs, devices, strict=True):
            node.meta["val"] = torch.empty(2, device=device)
    for node in inputs[1:]:
        total = made.call_function(operator.add, (total, node))
        total.meta["val"] = inputs[0].meta["val"]
    made.output(total)
    return fx.GraphModule(torch.nn.Module(), made)


@pytest.mark.parametrize(("devices", "cpp_wrapper", "used", "cpu_code"), [
    (("cpu",), False, False, True),
    (("cuda",), False, True, False),
    (("cuda", "cuda"), True, True, True),
    (("cuda", "cpu"), False, True, True),
])  # fmt: skip
def test_vector_instructions_of_the_cpu_are_looked_for_only_where_code_for_it_is_made(
    devices: tuple[str, ...], cpp_wrapper: bool, used: bool, cpu_code: bool
) -> None:
    made = graph(*devices)
    assert gpus.used_by(made) is used
    assert gpus.cpu_code_in(made, {"cpp_wrapper": cpp_wrapper}) is cpu_code
    state = torch_settings.collect(cpu_code=cpu_code).state
    assert ("vector_instructions" in state) is cpu_code


@pytest.mark.parametrize(("device", "wanted", "stays"), [
    ("cuda", True, True), ("cuda", False, False), ("cpu", True, False),
])  # fmt: skip
def test_what_a_cuda_graph_is_recorded_of_is_compiled_in_the_job(device: str, wanted: bool, stays: bool) -> None:
    settings = torch_settings.collect({"triton.cudagraphs": wanted}).serializable()
    assert bool(gpus.reason_to_stay(settings, graph(device))) is stays


def test_a_process_that_has_compiled_a_kernel_has_the_settings_of_one_that_has_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from torch._inductor.runtime import compile_tasks

    monkeypatch.delenv("TRITON_PTXAS_PATH", raising=False)
    monkeypatch.setattr(
        compile_tasks, "_set_triton_ptxas_path", lambda: os.environ.update(TRITON_PTXAS_PATH="/torch/bin/ptxas")
    )
    fresh = torch_settings.collect().variables
    compile_tasks._set_triton_ptxas_path()
    monkeypatch.setenv("TRITON_CACHE_DIR", "/inductor/triton/0")
    assert torch_settings.collect().variables == fresh
    monkeypatch.setenv("TRITON_PTXAS_BLACKWELL_PATH", "/mine")
    assert torch_settings.collect().variables != fresh


@needs_gpu
@pytest.mark.timeout(300)
def test_a_model_on_a_gpu_is_compiled_once_and_found_by_the_next_process(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "NEURON_COMPILE_CACHE_URL": str(tmp_path / "cache"),
        "NEURONTOP_STATE_DIR": str(tmp_path / "state"),
        "TORCHINDUCTOR_DETERMINISTIC": "1",
    }
    for place, words in (("first", "Compilation Successfully Completed"), ("second", "Using a cached neff")):
        own = {**environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / place)}
        done = subprocess.run([sys.executable, "-c", JOB], env=own, capture_output=True, text=True, check=False)
        assert done.stdout.split()[-1:] == ["True"], done.stderr
        assert (done.stdout + done.stderr).count(words) == 2, done.stderr
