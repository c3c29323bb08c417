"""Counts the graphs that a compile server compiles at this moment, in memory that it shares with its forks.

A compile that has the machine's cores for itself runs the C++ compiler several times at once; beside others it does
not, since each run reads PyTorch's headers anew.
"""

from __future__ import annotations

import mmap
import sys

_BYTES = 4
_shared = mmap.mmap(-1, mmap.PAGESIZE)


def tell(count: int) -> None:
    """Set the count for all forks of this process, including those already at work."""
    _shared[:_BYTES] = count.to_bytes(_BYTES, sys.byteorder)


def share_of(cores: int) -> int:
    """How many of `cores` each compile has for itself, at least one."""
    count = int.from_bytes(_shared[:_BYTES], sys.byteorder)
    return max(1, cores // max(1, count))
