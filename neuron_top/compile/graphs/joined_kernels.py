"""Compiles the C++ kernels of a graph together, several in one run of the C++ compiler.

Inductor compiles each kernel by itself. Most of such a run is the same for all kernels: PyTorch's headers are read and
their templates instantiated. One run for the 19 kernels of a small transformer takes less than twice as long as a run
for one of them, and gives the same machine code.

The joint library takes each kernel's place in Inductor's folder, under the name that Inductor gives the kernel: the
hash of its own source and command. Imported under that name, it gives that kernel. So code that loads a kernel need not
know about this, and finds it whether it was compiled alone or with others.

Kernels that cannot be joined, or that do not compile or load together, are compiled one by one, as usual. Only compile
servers join kernels; a script that compiles with Inductor by itself gets what PyTorch does.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from neuron_top.compile import compiles_at_once
from neuron_top.folders import FOLDER_FLAGS, remove_folders
from neuron_top.late_pattern import late_pattern

_LEAST_TOGETHER = 6
"""Kernels in one run of the compiler, if there are that many: with fewer, their common part (0.47 s with precompiled
headers) takes longer than the kernels do (0.1 s each)."""
_PLACE = "neurontop"
"""Folder in Inductor's folder for the runs of the compiler; on its file system, so that libraries can be linked."""
_INCLUDE = late_pattern(r"^[ \t]*#[ \t]*include[ \t].*\n?", re.MULTILINE)
_BINDINGS = "// Python bindings to call kernel():\n"
_ENTRY = late_pattern(r'extern "C"\s+void\s+kernel\(')
_INIT = "PyMODINIT_FUNC PyInit_kernel(void)"
_OTHER_DIRECTIVE = late_pattern(
    r"^[ \t]*#(?![ \t]*(?:include[ \t]|pragma[ \t]+(?:GCC[ \t]+(?:ivdep|unroll)|omp)\b))", re.MULTILINE
)
_OF_ALL = """\
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cstring>
"""
_CHOICE = """\
namespace {
const struct { const char* name; PyObject* (*init)(void); } neurontop_kernels[] = {
%s};
PyModuleDef neurontop_probe = {PyModuleDef_HEAD_INIT, "kernel", NULL, -1, NULL, NULL, NULL, NULL, NULL};
}
// Python tells a library the name that it is imported under by the first module that the library makes.
PyMODINIT_FUNC PyInit_kernel(void) {
    PyObject* probe = PyModule_Create(&neurontop_probe);
    const char* name = probe == NULL ? NULL : PyModule_GetName(probe);
    PyObject* module = NULL;
    for (const auto& kernel : neurontop_kernels) {
        if (name != NULL && std::strcmp(name, kernel.name) == 0) {
            module = kernel.init();
        }
    }
    if (module == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ImportError, "this library has no kernel of the name %%s", name);
    }
    Py_XDECREF(probe);
    return module;
}
"""


class Source(NamedTuple):
    """A kernel's source, ready to be joined."""

    includes: tuple[str, ...]
    rest: str


def source_of(text: str) -> Source | None:
    """The parts of a kernel's source; None where it is not as Inductor writes it, or is more than one function."""
    code, mark, bindings = text.partition(_BINDINGS)
    entries = list(_ENTRY.finditer(code))
    if not mark or len(entries) != 1 or _OTHER_DIRECTIVE.search(code) or bindings.count(_INIT) != 1:
        return None
    if _INCLUDE.sub("", code[: entries[0].start()]).strip():
        return None
    rest = _ENTRY.sub("void kernel(", _INCLUDE.sub("", text)).replace(_INIT, "PyObject* PyInit_kernel(void)")
    return Source(tuple(line.strip() for line in _INCLUDE.findall(text)), rest)


def joined(sources: Sequence[tuple[str, Source]]) -> str:
    """One source for kernels, each with the name of its module."""
    includes = dict.fromkeys(line for _, source in sources for line in source.includes)
    first = next(iter(includes), "")  # Inductor's own header, which is precompiled
    spaces = "".join(
        f"namespace neurontop_{number} {{\n{source.rest}\n}}\n" for number, (_, source) in enumerate(sources)
    )
    names = "".join(
        f'    {{"{name}", neurontop_{number}::PyInit_kernel}},\n' for number, (name, _) in enumerate(sources)
    )
    return "\n".join((first, _OF_ALL, *list(includes)[1:], spaces, _CHOICE % names))


class Kernel:
    """A kernel that Inductor wants compiled."""

    def __init__(self, compile_alone: functools.partial[None]) -> None:
        """`compile_alone`: PyTorch's task, which holds the kernel's lock and builds the kernel if it is missing."""
        self.compile_alone = compile_alone
        self._lock, (builder,) = compile_alone.args
        self.library = Path(builder.get_target_file_path())
        self._source_file = self.library.with_suffix(".cpp")
        self._command: str = builder.get_command_line()
        self.key = self.library.name.partition(".")[0]
        self.source = source_of(self._source_file.read_text(encoding="utf-8"))

    def shape(self) -> str:
        """The command without the kernel's own names: kernels of one shape can be joined."""
        return self.command("kernels.cpp", "kernels.so")

    def command(self, source: str, library: str) -> str:
        """The command that compiles another source in the way this kernel is compiled."""
        return self._command.replace(str(self._source_file), source).replace(str(self.library), library)

    def take(self, library: Path) -> None:
        """Put `library` in the kernel's place, unless somebody compiled the kernel meanwhile. Raises OSError."""
        from torch._inductor.codecache import LOCK_TIMEOUT
        from torch.utils._filelock import FileLock

        with FileLock(self._lock, timeout=LOCK_TIMEOUT):
            if self.library.exists():
                return
            self.library.parent.mkdir(exist_ok=True)
            try:
                os.link(library, self.library)
            except OSError:  # a file system without hard links
                copy = library.with_name(self.library.name)
                shutil.copy(library, copy)
                copy.replace(self.library)

    def load(self) -> None:
        """Import the kernel as Inductor does. If that fails, compile it alone and let Inductor try again."""
        from torch._inductor.codecache import CppPythonBindingsCodeCache

        if self.source is None:
            return
        try:
            CppPythonBindingsCodeCache._load_library(str(self.library), self.key)
        except (ImportError, OSError):
            self.library.unlink(missing_ok=True)
            self.compile_alone()


class Kernels:
    """The kernels of this process: those that wait for a run of the compiler, and the runs that others are in."""

    def __init__(self, submit: Callable[[Callable[[], None]], Future[None]], threads: Callable[[], int]) -> None:
        self._submit, self._threads = submit, threads
        self._waiting: list[Kernel] = []
        self._runs: dict[Kernel, Future[None]] = {}
        self._guard = threading.Lock()

    def add(self, kernel: Kernel) -> Wanted:
        """Have `kernel` compiled, together with those that are added before the first of them is needed."""
        with self._guard:
            self._waiting.append(kernel)
        return Wanted(self, kernel)

    def run_of(self, kernel: Kernel) -> Future[None]:
        """The run of the compiler that `kernel` is in; it is started if need be."""
        with self._guard:
            if kernel not in self._runs:
                for together in divided(self._waiting, self._threads()):
                    self._runs.update(
                        dict.fromkeys(together, self._submit(functools.partial(compile_kernels, together)))
                    )
                self._waiting.clear()
            return self._runs[kernel]


class Wanted(NamedTuple):
    """The future that PyTorch gets for a kernel; it asks for the result before it loads the kernel."""

    kernels: Kernels
    kernel: Kernel

    def result(self) -> None:
        """Wait until the kernel is in its place and can be loaded. Raises what its own compile raises."""
        self.kernels.run_of(self.kernel).result()
        self.kernel.load()


def use() -> None:
    """Join kernels from now on, in this process and its forks."""
    from torch._inductor import codecache
    from torch._inductor.async_compile import AsyncCompile, get_compile_threads

    compile_alone, submit = getattr(codecache, "_worker_compile_cpp", None), AsyncCompile.submit
    if compile_alone is None or submit.__module__ == __name__:  # another version may do it differently
        return
    kernels = Kernels(submit, lambda: compiles_at_once.share_of(get_compile_threads()))

    def submit_or_join(task: Callable[..., Any]) -> Any:
        if isinstance(task, functools.partial) and task.func is compile_alone and len(task.args[1]) == 1:
            return kernels.add(Kernel(task))
        return submit(task)

    AsyncCompile.submit = staticmethod(submit_or_join)  # type: ignore[method-assign]


def divided(kernels: Sequence[Kernel], threads: int) -> list[list[Kernel]]:
    """Divide kernels into groups to be compiled together: one per thread, if that leaves enough kernels in each, and
    with about the same amount of source."""
    shapes: dict[str, list[Kernel]] = {}
    runs = []
    for kernel in sorted(kernels, key=lambda kernel: len(kernel.source.rest) if kernel.source else 0, reverse=True):
        if kernel.source is None:
            runs.append([kernel])
        else:
            shapes.setdefault(kernel.shape(), []).append(kernel)
    for alike in shapes.values():
        count = min(threads, math.ceil(len(alike) / _LEAST_TOGETHER))
        runs += [alike[number::count] for number in range(count)]
    return runs


def compile_kernels(kernels: Sequence[Kernel]) -> None:
    """Compile kernels of one shape together; where that fails, each by itself. Raises what its own compile raises."""
    from torch._inductor.exc import CppCompileError

    if len(kernels) > 1:
        with contextlib.suppress(CppCompileError, OSError):
            _compile_together(kernels)
            return
    for kernel in kernels:
        kernel.compile_alone()


def remove_left(inductor: Path, pid: int) -> None:
    """Remove what a process left in Inductor's folder that was ended while it compiled kernels together."""
    place = Path(inductor, _PLACE)
    with contextlib.suppress(OSError):
        above = os.open(place, FOLDER_FLAGS)
        try:
            remove_folders(above, [folder.name for folder in place.glob(f"joined-{pid}-*")])
        finally:
            os.close(above)


def _compile_together(kernels: Sequence[Kernel]) -> None:
    from torch._inductor import cpp_builder

    parts = [(f"{kernel.key}.kernel", kernel.source) for kernel in kernels if kernel.source is not None]
    place = kernels[0].library.parent.parent / _PLACE
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"joined-{os.getpid()}-", dir=place) as folder:
        source, library = Path(folder, "kernels.cpp"), Path(folder, "kernels.so")
        source.write_text(joined(parts), encoding="utf-8")
        cpp_builder.run_compile_cmd(kernels[0].command(str(source), str(library)), cwd=folder)
        for kernel in kernels:
            kernel.take(library)
