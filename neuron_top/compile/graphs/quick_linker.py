"""Kernels are linked by the quickest linker that the machine has.

The C++ compiler calls `ld`, which is GNU's on nearly all machines. A kernel that calls a function of PyTorch's (an
exponential of four numbers at once, say) costs it 0.26 s, more than a quarter of the kernel's compile: it reads all
names in `libtorch_cpu.so` for it. Gold takes 0.09 s and LLVM's linker 0.05 s. The machine code is the compiler's,
whoever links it.

PyTorch's own command stands in the names of kernels, so it stays as it is everywhere else: a machine that lacks the
quick linker finds the same kernels.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable

LINKERS = ("gold", "lld")
"""As `-fuse-ld=` of GCC and Clang names them. Gold comes first: it belongs to the assembler that GCC uses."""

_failed: set[str] = set()
"""Linkers that failed at what PyTorch's own command did."""


def use() -> None:
    """From now on this process links so; what does not link goes to the linker that PyTorch's command takes."""
    from torch._inductor import cpp_builder
    from torch._inductor.exc import CppCompileError

    run: Callable[[str, str], None] | None = getattr(cpp_builder, "run_compile_cmd", None)
    if run is None or getattr(run, "__module__", "") == __name__:  # another version does it in another way
        return

    def run_compile_cmd(cmd_line: str, cwd: str) -> None:
        linker = _quickest()
        if not linker or " -shared " not in cmd_line or "-fuse-ld" in cmd_line:
            return run(cmd_line, cwd)
        try:
            run(f"{cmd_line} -fuse-ld={linker}", cwd)
        except CppCompileError:
            run(cmd_line, cwd)  # the error of a kernel that does not compile names PyTorch's own command
            _failed.add(linker)

    cpp_builder.run_compile_cmd = run_compile_cmd


def _quickest() -> str:
    """Empty where there is none."""
    return next((name for name in _installed() if name not in _failed), "")


@functools.cache
def _installed() -> tuple[str, ...]:
    return tuple(name for name in LINKERS if shutil.which(f"ld.{name}"))
