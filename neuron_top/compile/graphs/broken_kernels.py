"""Replaces kernels that a killed compile left half written in Inductor's folder, where the next compile fails on them.

The C++ compiler writes a kernel in its final place, and PyTorch takes what is there for complete. The loader names the
file that it cannot load (`/…/ab/cab….main.so: file too short`), whatever the reason is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from torch._inductor.runtime.cache_dir_utils import cache_dir

from neuron_top.compile.wrapper.compile_end import chain

T = TypeVar("T")
_NOT_LOADED = re.compile(r"(/[^\n:]+\.so): ")
_MOST = 100
"""Broken kernels of one graph that are replaced; more than these cannot come from a killed compile."""


def written_anew(compile_graph: Callable[[], T]) -> T:
    """The result of `compile_graph`; kernels in Inductor's folder that do not load are removed, and it is called again.

    A kernel that still does not load after that is an error as usual.
    """
    removed: set[Path] = set()
    while True:
        try:
            return compile_graph()
        except Exception as problem:
            kernel = _not_loaded(problem)
            if kernel is None or kernel in removed or len(removed) >= _MOST:
                raise
            print(f"{kernel} cannot be loaded (a compile was killed while it wrote it?): written anew", file=sys.stderr)
            kernel.unlink(missing_ok=True)
            removed.add(kernel)


def _not_loaded(problem: BaseException) -> Path | None:
    folder = Path(cache_dir())
    for error in chain(problem):
        if isinstance(error, (ImportError, OSError)) and (found := _NOT_LOADED.search(str(error))):
            kernel = Path(found.group(1))
            if folder in kernel.parents and ".." not in kernel.parts:
                return kernel
    return None
