"""Kernels are linked by the quickest linker there is, and by PyTorch's own command where that one fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch._inductor import cpp_builder  # noqa: E402
from torch._inductor.exc import CppCompileError  # noqa: E402

from neuron_top.compile.graphs import quick_linker  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compiles")]

KERNEL, FOLDER = "g++ kernel.cpp -shared -o kernel.so", "/somewhere"
SCRIPT = """
import torch
from neuron_top.compile.graphs import quick_linker
quick_linker.use()
torch.compile(lambda x: (x.sin() + 1).exp())(torch.ones(64))
"""
MARKS = {"gold": b".note.gnu.gold-version", "lld": b"LLD"}
"""What each linker writes into what it made."""


class Commands(list[str]):
    """Takes commands as PyTorch's function does; what contains `refused` fails."""

    def __init__(self, refused: str = "nothing") -> None:
        super().__init__()
        self.refused = refused

    def run(self, cmd_line: str, cwd: str) -> None:
        assert cwd == FOLDER
        self.append(cmd_line)
        if self.refused in cmd_line:
            raise CppCompileError(cmd_line.split(), "it failed")


def used(monkeypatch: pytest.MonkeyPatch, linkers: tuple[str, ...], refused: str = "nothing") -> Commands:
    """The commands that are run from now on, with these linkers installed."""
    commands = Commands(refused)
    monkeypatch.setattr(cpp_builder, "run_compile_cmd", lambda cmd_line, cwd: commands.run(cmd_line, cwd))
    monkeypatch.setattr(quick_linker, "_installed", lambda: linkers)
    monkeypatch.setattr(quick_linker, "_failed", set())
    quick_linker.use()
    quick_linker.use()  # twice is once
    return commands


def test_a_kernel_is_linked_by_the_first_linker_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = used(monkeypatch, ("gold", "lld"))
    cpp_builder.run_compile_cmd(KERNEL, FOLDER)
    assert commands == [f"{KERNEL} -fuse-ld=gold"]


@pytest.mark.parametrize(
    ("linkers", "command"),
    [((), KERNEL), (("gold",), "g++ header.h -c -o header.o"), (("gold",), f"{KERNEL} -fuse-ld=mold")],
    ids=["none installed", "nothing is linked", "the settings name one"],
)
def test_other_commands_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch, linkers: tuple[str, ...], command: str
) -> None:
    commands = used(monkeypatch, linkers)
    cpp_builder.run_compile_cmd(command, FOLDER)
    assert commands == [command]


def test_a_linker_that_fails_where_the_usual_one_does_not_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = used(monkeypatch, ("gold", "lld"), refused="gold")
    cpp_builder.run_compile_cmd(KERNEL, FOLDER)
    cpp_builder.run_compile_cmd(KERNEL, FOLDER)
    assert commands == [f"{KERNEL} -fuse-ld=gold", KERNEL, f"{KERNEL} -fuse-ld=lld"]


def test_a_kernel_that_does_not_compile_fails_with_pytorchs_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = used(monkeypatch, ("gold",), refused=KERNEL)
    for _ in range(2):  # it was not the linker's fault, so the next kernel gets it again
        with pytest.raises(CppCompileError, match=r"kernel\.so\n"):
            cpp_builder.run_compile_cmd(KERNEL, FOLDER)
    assert commands == 2 * [f"{KERNEL} -fuse-ld=gold", KERNEL]


@pytest.mark.skipif(
    not any(shutil.which(f"ld.{name}") for name in quick_linker.LINKERS), reason="neither gold nor lld is installed"
)
def test_inductor_links_its_kernels_with_it(tmp_path: Path) -> None:
    linker = next(name for name in quick_linker.LINKERS if shutil.which(f"ld.{name}"))
    environ = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", SCRIPT], env=environ, check=True, capture_output=True)
    kernels = list(tmp_path.glob("**/*.main.so"))
    assert kernels
    assert [path for path in kernels if MARKS[linker] not in path.read_bytes()] == []
