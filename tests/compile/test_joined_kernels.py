"""Kernels of a graph are compiled together, each is found under its own name, and none is lost where that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from neuron_top.cache import trust  # noqa: E402
from neuron_top.compile.graphs import joined_kernels, kernel_archive  # noqa: E402
from tests.inductor_folder import inductor_folder  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compile servers")]

KERNELS = 7
SCRIPT = """
import json, os, subprocess, sys
from torch._inductor import cpu_vec_isa
from neuron_top.compile.graphs import inductor_compile, joined_kernels, kernel_archive
import torch
cpu_vec_isa.pick_vec_isa()
inductor_compile._prepare_headers()
{before}
started = []
def noted(self, command, *rest, real=subprocess.Popen.__init__, **more):
    started.append(" ".join(command))
    real(self, command, *rest, **more)
subprocess.Popen.__init__ = noted
def several(x, w):
    for wave in (torch.sin, torch.cos, torch.relu, torch.sigmoid, torch.abs, torch.tanh, torch.erf):
        x = wave(x) @ w
    return x
torch.manual_seed(0)
x, w = torch.randn(32, 32), torch.randn(32, 32) / 6
compiled, expected = torch.compile(several), several(x, w)
assert torch.allclose(compiled(x, w), expected, atol=1e-4), "another result"
kernels = [str(path) for path in kernel_archive.loaded() if path.name.endswith(".main.so")]
print(json.dumps([sum(".so" in command for command in started), kernels]))
"""
JOINED = "joined_kernels.use()"


def run(folder: Path, before: str = JOINED, threads: str = "2") -> tuple[int, list[Path]]:
    """Compile a function of seven kernels in `folder`: how often the C++ compiler ran, and the kernels' libraries."""
    work = inductor_folder(folder / "inductor")
    environ = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(work), "TORCHINDUCTOR_COMPILE_THREADS": threads}
    environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "0"
    command = [sys.executable, "-c", SCRIPT.format(before=before)]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    runs, kernels = json.loads(done.stdout.splitlines()[-1])
    return runs, list(map(Path, kernels))


def of_graph(kernels: list[Path]) -> list[Path]:
    """Without the libraries that PyTorch tests vector instructions with, which lie in the same folder."""
    return [path for path in kernels if "kernel_py" in path.with_suffix(".cpp").read_text()]


def libraries(kernels: list[Path]) -> int:
    return len({path.stat().st_ino for path in kernels})


def test_seven_kernels_are_two_runs_of_the_compiler_and_any_process_finds_them(tmp_path: Path) -> None:
    runs, kernels = run(tmp_path)
    assert (runs, len(of_graph(kernels)), libraries(of_graph(kernels))) == (2, KERNELS, 2)
    assert not list(tmp_path.rglob("joined-*")), "what was only needed to compile them"
    runs, found = run(tmp_path, before="")
    assert runs == 0, "a process that joins nothing compiles nothing anew"
    assert set(of_graph(found)) == set(of_graph(kernels))


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("joined_kernels._CHOICE = '#error no\\n%s'; " + JOINED, id="do not compile together"),
        pytest.param("joined_kernels._CHOICE = '// %s'; " + JOINED, id="do not load together"),
        pytest.param("joined_kernels.source_of = lambda text: None; " + JOINED, id="cannot be joined"),
    ],
)
def test_kernels_that_do_not_go_together_are_compiled_one_by_one(tmp_path: Path, before: str) -> None:
    _, kernels = run(tmp_path, before)
    assert libraries(of_graph(kernels)) == len(of_graph(kernels)) == KERNELS


def test_without_hard_links_each_kernel_has_a_copy(tmp_path: Path) -> None:
    refuse = "def refuse(*_): raise OSError(95, 'no hard links here')\nos.link = refuse; "
    runs, kernels = run(tmp_path, refuse + JOINED)
    assert (runs, libraries(of_graph(kernels))) == (2, KERNELS)


def test_beside_another_compile_a_graph_has_half_of_the_cores(tmp_path: Path) -> None:
    runs, kernels = run(tmp_path, JOINED + "; joined_kernels.compiles_at_once.tell(2)")
    assert (runs, libraries(of_graph(kernels))) == (1, 1)


def test_with_one_thread_for_compiles_pytorch_compiles_each_kernel_where_it_stands(tmp_path: Path) -> None:
    runs, kernels = run(tmp_path, threads="1")
    assert (runs, libraries(of_graph(kernels))) == (KERNELS, KERNELS)


BINDINGS = (
    "\n// Python bindings to call kernel():\n#include <Python.h>\nPyMODINIT_FUNC PyInit_kernel(void) { return 0; }\n"
)
KERNEL = '#include <torch/csrc/inductor/cpp_prefix.h>\nextern "C"  void  kernel(float* out)\n{\n%s}\n'


def test_a_source_keeps_its_includes_apart_and_gives_up_its_outer_names() -> None:
    source = joined_kernels.source_of(KERNEL % "#pragma GCC ivdep\n" + BINDINGS)
    assert source is not None
    assert source.includes == ("#include <torch/csrc/inductor/cpp_prefix.h>", "#include <Python.h>")
    assert "#include" not in source.rest
    assert "extern" not in source.rest
    assert "PyMODINIT_FUNC" not in source.rest


@pytest.mark.parametrize(
    "text",
    [
        KERNEL % "",
        KERNEL % "#define SIZE 4\n" + BINDINGS,
        KERNEL % "#pragma GCC optimize(0)\n" + BINDINGS,
        (KERNEL % "").replace("extern", "template <typename T> T twice(T value);\nextern") + BINDINGS,
        KERNEL % "" + KERNEL % "" + BINDINGS,
        KERNEL % "" + BINDINGS.replace("PyInit_kernel", "PyInit_other"),
    ],
    ids=["no bindings", "a macro", "a pragma", "a function of its own", "two kernels", "another module"],
)
def test_a_source_that_is_not_one_plain_kernel_is_left_alone(text: str) -> None:
    assert joined_kernels.source_of(text) is None


class Named(joined_kernels.Kernel):
    """A kernel with so much source."""

    def __init__(self, length: int, shape: str = "") -> None:
        self.source, self._shape = joined_kernels.Source((), "x" * length), shape

    def shape(self) -> str:
        return self._shape


@pytest.mark.parametrize(
    ("count", "threads", "runs"), [(1, 8, 1), (6, 8, 1), (7, 8, 2), (21, 2, 2), (60, 32, 10), (3, 1, 1)]
)
def test_there_are_as_many_runs_as_threads_if_each_has_enough_kernels(count: int, threads: int, runs: int) -> None:
    divided = joined_kernels.divided([Named(10 + number) for number in range(count)], threads)
    assert len(divided) == runs
    assert sorted(len(kernel.source.rest) for run in divided for kernel in run if kernel.source) == [
        10 + number for number in range(count)
    ]
    assert max(map(len, divided)) - min(map(len, divided)) <= 1


def test_kernels_of_different_commands_are_not_joined() -> None:
    one, other = Named(10, "with AVX-512"), Named(10, "without")
    assert sorted(joined_kernels.divided([one, other], 2), key=lambda run: run[0].shape()) == [[one], [other]]


@pytest.fixture
def inductor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder of Inductor's by its name; made, and in force from then on."""

    def made(name: str) -> Path:
        folder = tmp_path / name
        for shelf in ("ab", "cd", "ef"):
            (folder / shelf).mkdir(parents=True)
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder))
        return folder

    return made


def test_an_artifact_holds_a_shared_library_once_and_brings_it_back_under_all_names(
    tmp_path: Path, inductor: Any
) -> None:
    names = ["ab/cab.main.so", "cd/ccd.main.so", "ef/cef.main.so"]
    compiled = inductor("compiled")
    first, second, alone = (compiled / name for name in names)
    first.write_bytes(b"joint" * 1000)
    os.link(first, second)
    alone.write_bytes(b"alone")
    kernel_archive.save(tmp_path / "archive", [first, second, alone])
    assert (tmp_path / "archive").stat().st_size < 2 * len(b"joint" * 1000)
    loaded = inductor("loaded")
    with trust.open_folder(str(loaded)) as folder:
        kernel_archive.place((tmp_path / "archive").read_bytes(), folder)
    assert [(loaded / name).read_bytes() for name in names] == [b"joint" * 1000, b"joint" * 1000, b"alone"]
    assert (loaded / names[0]).samefile(loaded / names[1])
    assert not list(loaded.rglob("*.tmp"))


def test_a_link_in_an_artifact_to_anything_but_a_kernel_is_refused(tmp_path: Path, inductor: Any) -> None:
    folder = inductor("loaded")
    with zipfile.ZipFile(tmp_path / "archive", "w") as zipped:
        link = zipfile.ZipInfo("ab/cab.main.so")
        link.external_attr = kernel_archive._LINK
        zipped.writestr(link, "../../outside")
        zipped.writestr("../outside", "x")
    with trust.open_folder(str(folder)) as checked, pytest.raises(zipfile.BadZipFile, match="which is no kernel"):
        kernel_archive.place((tmp_path / "archive").read_bytes(), checked)
    assert not (folder / "ab" / "cab.main.so").exists()
