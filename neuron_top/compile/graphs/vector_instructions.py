"""Runs PyTorch's tests of the CPU's vector instructions, only as far as an answer needs them.

PyTorch compiles and loads test programs for every kind of instructions that the processor has, and then takes the first
kind that passed. Later kinds are needed only for certain settings (`cpp.simdlen`, ATEN_CPU_CAPABILITY). Here the same
tests run in the same order, each only when somebody asks for its result, so every answer is PyTorch's own.

In PyTorch each process also loads the compiled programs once more, each in a new Python process (0.3 s of CPU time).
Here a note beside a program says that it loads, for this processor and this PyTorch, so it need not be tried again. A
process that exists to try the programs loads them itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import torch

if TYPE_CHECKING:
    from torch._inductor.cpu_vec_isa import VecISA

T = TypeVar("T")


class OnDemand(Sequence[T]):
    """The results of `find` for each candidate in turn; a candidate is tried only when an iteration reaches it."""

    def __init__(self, candidates: Sequence[T], find: Callable[[T], Sequence[T]]) -> None:
        self._left, self._find = list(candidates), find
        self._found: list[T] = []
        self._lock = threading.RLock()

    def __iter__(self) -> Iterator[T]:
        place = 0
        while self._reaches(place):
            yield self._found[place]
            place += 1

    def __bool__(self) -> bool:
        return self._reaches(0)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, int) and place >= 0 and self._reaches(place):
            return self._found[place]
        return list(self)[place]

    def _reaches(self, place: int) -> bool:
        with self._lock:
            while len(self._found) <= place and self._left:
                found = self._find(self._left[0])
                del self._left[0]  # only now, so that a candidate that raised is tried again
                self._found += found
            return len(self._found) > place


def try_on_demand() -> None:
    """From now on, try a kind of instructions only when its result is asked for, instead of all of them at once."""
    from torch._inductor import cpu_vec_isa

    whole = cpu_vec_isa.valid_vec_isa_list
    if platform.machine() not in ("x86_64", "AMD64") or not hasattr(whole, "__wrapped__"):
        return  # other architectures have only one kind
    tests, one_at_a_time = whole.__wrapped__, threading.Lock()
    if getattr(tests, "__module__", "") == __name__:
        return

    def those_of(kind: VecISA) -> list[VecISA]:
        with one_at_a_time:
            everything = cpu_vec_isa.supported_vec_isa_list
            cpu_vec_isa.supported_vec_isa_list = [kind]
            try:
                return list(tests())
            finally:
                cpu_vec_isa.supported_vec_isa_list = everything

    def valid_vec_isa_list() -> Sequence[VecISA]:
        return OnDemand(cpu_vec_isa.supported_vec_isa_list, those_of)

    cpu_vec_isa.valid_vec_isa_list = functools.cache(valid_vec_isa_list)  # type: ignore[arg-type]  # read like a list
    if loads := getattr(cpu_vec_isa.VecISA, "_probe_load", None):  # another version may do it differently
        _note_what_loads(cpu_vec_isa.VecISA, loads)


def try_here() -> None:
    """Find what PyTorch finds, in a process that does nothing else: if a program crashes it, nothing is noted."""
    from torch._inductor import cpu_vec_isa

    if hasattr(cpu_vec_isa.VecISA, "_probe_load"):
        _note_what_loads(cpu_vec_isa.VecISA, _loads_here)
    cpu_vec_isa.pick_vec_isa()


def try_all_but_the_largest() -> None:
    """Try all kinds but the first, whose test program takes longest to compile, as if that one had passed.

    Their programs are then compiled already when another process needs them.
    """
    from torch._inductor.cpu_vec_isa import VecISA

    largest, check = VecISA._avx_code, VecISA.check_build
    VecISA.check_build = lambda self, code: code == largest or check(self, code)  # type: ignore[method-assign]
    try_here()


def _note_what_loads(kind: type[VecISA], loads: Callable[[VecISA, str], Any]) -> None:
    """From now on, let `loads` decide whether a test program loads; one that has loaded is not loaded again."""

    @functools.wraps(loads)
    def noted(self: VecISA, program: str) -> Any:
        note, where = Path(f"{program}.loads"), _where_it_loads(program)
        with contextlib.suppress(OSError, ValueError):
            if where and note.read_text() == where:
                return True
        answer = loads(self, program)
        if answer is True:
            with contextlib.suppress(OSError):  # without a complete note, the program is tried again
                note.write_text(where)
        return answer

    kind._probe_load = noted  # type: ignore[assignment, method-assign]


def _loads_here(_kind: VecISA, program: str) -> bool:
    try:
        ctypes.CDLL(program)
    except OSError:
        return False
    return True


def _where_it_loads(program: str) -> str:
    """Everything that decides whether a program loads, as text: file, PyTorch's library, processor, loader settings.

    Empty if it cannot be determined.
    """
    try:
        files = [path.stat() for path in (Path(program), Path(torch.__file__).parent / "lib" / "libtorch_cpu.so")]
        processor = _processor()
    except OSError:
        return ""
    facts = [(file.st_size, file.st_mtime_ns) for file in files]
    loader = {name: value for name, value in sorted(os.environ.items()) if name.startswith("LD_")}
    return f"{facts} {loader} {torch.__file__} {processor}"


@functools.cache
def _processor() -> str:
    """Model and instructions of the first processor, as the kernel reports them. Raises OSError."""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        first = itertools.takewhile(str.strip, file)
        return " ".join(line.strip() for line in first if line.startswith(("vendor_id", "model", "flags", "microcode")))
