"""Runs filters in separate threads, so that neither the event loop nor other slow work waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

THREADS = 2
"""Two, so that one slow filter does not block the next."""

_P = ParamSpec("_P")
_T = TypeVar("_T")

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="filter")


async def filtering(work: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> _T:
    """Call `work` in one of these threads and return its result."""
    return await asyncio.get_running_loop().run_in_executor(_pool, lambda: work(*given, **named))
