"""Which linker a kernel gets, and that PyTorch's own command is run where that linker fails."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch._inductor import cpp_builder  # noqa: E402
from torch._inductor.exc import CppCompileError  # noqa: E402

from neuron_top.compile.graphs import quick_linker  # noqa: E402
from tests.inductor_folder import inductor_folder  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compile servers")]

FOLDER = "/somewhere"
SCRIPT = """
import torch
from neuron_top.compile.graphs import quick_linker
quick_linker.use()
torch.compile(lambda x: (x + 1).exp())(torch.ones(64))
"""
MARKS = {"gold": b".note.gnu.gold-version", "lld": b"Linker: "}
"""What each linker writes into what it made, and the usual one does not."""


class Commands(list[str]):
    """Takes commands as PyTorch's function does; what contains `refused` fails with this output."""

    def __init__(self, refused: str, output: str) -> None:
        super().__init__()
        self.refused, self.output = refused, output

    def run(self, cmd_line: str, cwd: str) -> None:
        assert cwd == FOLDER
        self.append(cmd_line)
        if self.refused in cmd_line:
            raise CppCompileError(cmd_line.split(), self.output)


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    """The command that compiles and links a kernel with an exponential."""
    (tmp_path / "kernel.cpp").write_text("auto tmp1 = tmp0.exp();")
    return f"g++ {tmp_path}/kernel.cpp -shared -o kernel.so"


def used(
    monkeypatch: pytest.MonkeyPatch, linkers: tuple[str, ...], refused: str = "nothing", output: str = ""
) -> Commands:
    """The commands that are run from now on, with these linkers installed."""
    commands = Commands(refused, output)
    monkeypatch.delenv("NEURONTOP_LINKER", raising=False)
    monkeypatch.setattr(cpp_builder, "run_compile_cmd", lambda cmd_line, cwd: commands.run(cmd_line, cwd))
    monkeypatch.setattr(quick_linker, "_installed", lambda: linkers)
    monkeypatch.setattr(quick_linker, "_failed", set())
    quick_linker.use()
    quick_linker.use()  # twice is once
    return commands


def test_a_kernel_is_linked_by_the_first_linker_that_is_installed(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    commands = used(monkeypatch, ("lld", "gold"))
    cpp_builder.run_compile_cmd(kernel, FOLDER)
    assert commands == [f"{kernel} -fuse-ld=lld"]


def test_gold_links_only_kernels_that_call_pytorch(
    monkeypatch: pytest.MonkeyPatch, kernel: str, tmp_path: Path
) -> None:
    commands = used(monkeypatch, ("gold",))
    (tmp_path / "sum.cpp").write_text("auto tmp1 = tmp0 + static_cast<float>(1);")
    plain = kernel.replace("kernel.cpp", "sum.cpp")
    missing = kernel.replace("kernel.cpp", "missing.cpp")
    for command in (kernel, plain, missing):
        cpp_builder.run_compile_cmd(command, FOLDER)
    assert commands == [f"{kernel} -fuse-ld=gold", plain, missing]


def test_the_environment_names_the_linker_of_all_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands = used(monkeypatch, ("lld",))
    monkeypatch.setenv("NEURONTOP_LINKER", "bfd")
    cpp_builder.run_compile_cmd("g++ sum.cpp -shared -o sum.so", FOLDER)
    assert commands == ["g++ sum.cpp -shared -o sum.so -fuse-ld=bfd"]


def test_other_commands_stay_as_they_are(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    commands = used(monkeypatch, ("lld",))
    others = ["g++ header.h -c -o header.o", f"{kernel} -fuse-ld=mold"]
    for command in others:
        cpp_builder.run_compile_cmd(command, FOLDER)
    assert commands == others


def test_a_linker_that_fails_where_the_usual_one_does_not_is_left_out(
    monkeypatch: pytest.MonkeyPatch, kernel: str
) -> None:
    commands = used(monkeypatch, ("lld", "gold"), refused="lld", output="collect2: error: ld returned 1 exit status")
    cpp_builder.run_compile_cmd(kernel, FOLDER)
    cpp_builder.run_compile_cmd(kernel, FOLDER)
    assert commands == [f"{kernel} -fuse-ld=lld", kernel, f"{kernel} -fuse-ld=gold"]


def test_what_is_not_the_linkers_fault_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    commands = used(monkeypatch, ("lld",), refused=kernel, output="kernel.cpp:1:6: error: 'tmp0' was not declared")
    with pytest.raises(CppCompileError):
        cpp_builder.run_compile_cmd(kernel, FOLDER)
    assert commands == [f"{kernel} -fuse-ld=lld"]


@pytest.mark.skipif(
    not any(shutil.which(f"ld.{name}") for name in quick_linker.LINKERS), reason="neither lld nor gold is installed"
)
def test_inductor_links_its_kernels_with_it(tmp_path: Path) -> None:
    linker = next(name for name in quick_linker.LINKERS if shutil.which(f"ld.{name}"))
    environ = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(tmp_path / "inductor"))}
    environ.pop("NEURONTOP_LINKER", None)
    subprocess.run([*warm_python(), "-c", SCRIPT], env=environ, check=True)
    kernels = list(tmp_path.glob("**/*.main.so"))
    assert kernels
    assert [path for path in kernels if MARKS[linker] not in path.read_bytes()] == []


def test_one_that_cannot_link_costs_no_kernel(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(tmp_path / "inductor")),
        "NEURONTOP_LINKER": "nothing-of-this-name",
    }
    subprocess.run([*warm_python(), "-c", SCRIPT], env=environ, check=True)
    assert list(tmp_path.glob("**/*.main.so"))
