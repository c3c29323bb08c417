"""What a job whose graphs are all cached starts: no compiler, no program that tries vector instructions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(900), pytest.mark.xdist_group("compile servers")]

from torch._inductor import cpu_vec_isa  # noqa: E402
from torch._inductor.codecache import CppPythonBindingsCodeCache  # noqa: E402

from neuron_top.compile.graphs import ready_kernels, vector_instructions  # noqa: E402
from tests.inductor_folder import inductor_folder  # noqa: E402

TRAIN = """
import json, subprocess, torch
started = []
def noted(self, command, *rest, real=subprocess.Popen.__init__, **more):
    started.append(list(map(str, command)))
    real(self, command, *rest, **more)
subprocess.Popen.__init__ = noted
weight = torch.nn.Parameter(torch.ones(4, 4))
loss = torch.compile(lambda x: torch.tanh(x @ weight).square().sum(), backend="neurontop")
loss(torch.ones(3, 4)).backward()
assert torch.allclose(weight.grad, weight.grad[:, :1].expand(4, 4))
print(json.dumps(started))
"""
QUESTIONS = (["--version"], ["-v"], ["-dumpversion"])
"""What the C++ compiler is asked about itself."""


def started(folder: Path) -> list[list[str]]:
    """The programs that a job in a fresh process starts, but for questions to the compiler about itself."""
    places = {"NEURON_COMPILE_CACHE_URL": str(folder / "cache"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
    environ = {**os.environ, **places, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", TRAIN], capture_output=True, text=True, check=True, env=environ)
    return [command for command in json.loads(done.stdout.splitlines()[-1]) if command[1:] not in QUESTIONS]


def test_a_warm_job_starts_no_other_program(tmp_path: Path) -> None:
    inductor_folder(tmp_path / "inductor")
    assert started(tmp_path), "a server compiles"
    assert started(tmp_path) == []


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    return inductor_folder(tmp_path / "inductor")


def test_a_kernel_that_is_missing_after_all_is_compiled(own_folder: Path) -> None:
    CppPythonBindingsCodeCache.cache.clear()
    code = 'extern "C" void kernel(float* first) { first[0] = at::vec::Vectorized<float>::size(); }'
    with ready_kernels.loading():
        kernel = CppPythonBindingsCodeCache.load_pybinding(["float*"], code)
    first = torch.zeros(1)
    kernel(first)
    assert first.item() > 0
    headers = [path.read_text() for path in own_folder.glob("*/*.h")]
    assert any("cpp_prefix.h" in text for text in headers), "with the header as it is"


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that PyTorch's own test was asked to load; all do, but the refused one."""
    tried: list[str] = []

    def load(_kind: object, program: str) -> bool:
        tried.append(program)
        return "refused" not in program

    monkeypatch.setattr(cpu_vec_isa.VecISA, "_probe_load", None)
    vector_instructions._note_what_loads(cpu_vec_isa.VecISA, load)
    return tried


def probe(program: Path) -> bool:
    kind = cpu_vec_isa.supported_vec_isa_list[0]
    return bool(kind._probe_load(str(program)))


Change = Callable[[Path, pytest.MonkeyPatch], object]
CHANGES: dict[str, Change] = {
    "the program": lambda program, _patch: program.write_bytes(b"another one"),
    "the processor": lambda _program, patch: patch.setattr(vector_instructions, "_processor", lambda: "flags : sse2"),
    "the loader's settings": lambda _program, patch: patch.setenv("LD_PRELOAD", "/lib/other.so"),
    "the note": lambda program, _patch: Path(f"{program}.loads").write_bytes(b"\xff[(1"),
}


@pytest.mark.skipif(not hasattr(cpu_vec_isa.VecISA, "_probe_load"), reason="this PyTorch tests in another way")
@pytest.mark.parametrize("what", CHANGES)
def test_a_program_that_loaded_is_loaded_again_only_where_something_changed(
    what: str, loads: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "avx.so"
    program.write_bytes(b"a program")
    assert [probe(program) for _ in range(3)] == [True] * 3
    assert len(loads) == 1
    CHANGES[what](program, monkeypatch)
    assert [probe(program) for _ in range(2)] == [True] * 2
    assert len(loads) == 2


@pytest.mark.skipif(not hasattr(cpu_vec_isa.VecISA, "_probe_load"), reason="this PyTorch tests in another way")
def test_a_program_that_does_not_load_is_tried_again(loads: list[str], tmp_path: Path) -> None:
    program = tmp_path / "refused.so"
    program.write_bytes(b"a program")
    assert [probe(program) for _ in range(2)] == [False] * 2
    assert len(loads) == 2
