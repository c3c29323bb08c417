"""Loads kernels that are in Inductor's folder already, without the work that only a compile needs.

Before PyTorch looks whether a kernel exists, it preprocesses a header and computes its digest, to find the precompiled
header: a run of the C++ compiler and one of `openssl`, 0.15 s of CPU time in each process. Here the kernel is given the
plain header instead; a kernel that is missing after all is compiled with that, which takes longer.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from torch._inductor import codecache

_here = threading.local()


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Within the block, this thread precompiles no headers."""
    _replace()
    before = getattr(_here, "loading", False)
    _here.loading = True
    try:
        yield
    finally:
        _here.loading = before


@functools.cache
def _replace() -> None:
    """Patch PyTorch, once in a process; other threads still get PyTorch's own behavior."""
    precompiled = getattr(codecache, "_precompile_header", None)
    if precompiled is None:  # another version may do it differently
        return

    @functools.wraps(precompiled)
    def header_of(header: str, *command: Any, **options: Any) -> Any:
        if not getattr(_here, "loading", False):
            return precompiled(header, *command, **options)
        _digest, path = codecache.write(f"#include <{header}>\n", "h")
        return path

    codecache._precompile_header = header_of  # type: ignore[assignment]
