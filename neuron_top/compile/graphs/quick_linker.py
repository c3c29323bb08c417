"""Links kernels that call PyTorch's library with a quicker linker than the usual one, where the machine has one.

The C++ compiler calls `ld`, nearly always `ld.bfd`. A kernel that computes exponentials, say, calls functions of
`libtorch_cpu.so`; to link it, `ld.bfd` reads every name in the library: 0.26 s, more than a quarter of the kernel's
compile. LLVM's linker takes 0.05 s and gold 0.09 s. The machine code comes from the compiler, whichever linker links
it.

Names of kernels are hashes of PyTorch's own command, so that command is changed nowhere else: a machine that lacks the
quick linker finds the same kernels. Only compile servers do this; a script that compiles with Inductor by itself gets
what PyTorch does.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

from neuron_top.late_pattern import late_pattern

LINKER_VARIABLE = "NEURONTOP_LINKER"
"""Variable that names the linker of all kernels, as `-fuse-ld=` does; `bfd` is the usual one."""
LINKERS = ("lld", "gold")
"""Linkers as `-fuse-ld=` of GCC and Clang names them, the quickest first."""
_CALLS_PYTORCH = late_pattern(
    r"\.(?:a?(?:sin|cos|tan)h?|atan2|exp2?|expm1|log(?:2|10|1p)?|erfc?|erfinv|pow|fmod|hypot|lgamma|nextafter)\("
)
"""Vector functions that call into `libtorch_cpu.so`. For kernels without them gold is a little slower than `ld.bfd`."""
_BLAMES_LINKER = late_pattern(r"collect2|linker command failed|fuse-ld|invalid linker name")

_failed: set[str] = set()
"""Linkers that failed where PyTorch's own command succeeded."""


def use() -> None:
    """Use the quick linker in this process from now on; where it fails, link with PyTorch's own command."""
    from torch._inductor import cpp_builder
    from torch._inductor.exc import CppCompileError

    run: Callable[[str, str], None] | None = getattr(cpp_builder, "run_compile_cmd", None)
    if run is None or getattr(run, "__module__", "") == __name__:  # another version may do it differently
        return

    def run_compile_cmd(cmd_line: str, cwd: str) -> None:
        linker = linker_for(cmd_line)
        if not linker:
            return run(cmd_line, cwd)
        try:
            run(f"{cmd_line} -fuse-ld={shlex.quote(linker)}", cwd)
        except CppCompileError as problem:
            if not _BLAMES_LINKER.search(problem.output):
                raise
            run(cmd_line, cwd)
            _failed.add(linker)

    cpp_builder.run_compile_cmd = run_compile_cmd


def linker_for(command: str) -> str:
    """The linker for a command that compiles and links; empty for the usual one."""
    if " -shared " not in command or "-fuse-ld" in command:
        return ""
    if named := os.environ.get(LINKER_VARIABLE):
        return "" if named in _failed else named
    linker = next((name for name in _installed() if name not in _failed), "")
    return linker if linker != "gold" or _calls_pytorch(command) else ""


@functools.cache
def _installed() -> tuple[str, ...]:
    return tuple(name for name in LINKERS if shutil.which(f"ld.{name}"))


def _calls_pytorch(command: str) -> bool:
    """Whether the sources of a command call PyTorch's library, by their text; one that cannot be read counts as no."""
    sources = (word for word in shlex.split(command) if word.endswith(".cpp"))
    return any(_CALLS_PYTORCH.search(_text(source)) for source in sources)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
