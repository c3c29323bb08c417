"""Loads kernels that are in Inductor's folder already, without the work that only a compile needs.

Before PyTorch looks whether a kernel is there, it preprocesses a header and has a digest made of it, to find the header
that is compiled beforehand: a run of the C++ compiler and one of `openssl`, 0.15 s of a processor in each process. Here
the kernel is given the header as it is; one that is missing after all is compiled with that, which takes longer.
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
    """Within the block, this thread compiles no headers beforehand."""
    _replace()
    before = getattr(_here, "loading", False)
    _here.loading = True
    try:
        yield
    finally:
        _here.loading = before


@functools.cache
def _replace() -> None:
    """Once in a process; other threads of it get what PyTorch does."""
    precompiled = getattr(codecache, "_precompile_header", None)
    if precompiled is None:  # another version does it in another way
        return

    @functools.wraps(precompiled)
    def header_of(header: str, *command: Any, **options: Any) -> Any:
        if not getattr(_here, "loading", False):
            return precompiled(header, *command, **options)
        _digest, path = codecache.write(f"#include <{header}>\n", "h")
        return path

    codecache._precompile_header = header_of  # type: ignore[assignment]
