"""Turns into a command that ends when its parent does, however the parent ends: `die_with_parent.py PARENT COMMAND…`.

The child itself asks the kernel for this, because in a process with threads Python should run no code between fork and
exec. Linux only; elsewhere the command just runs.
"""

import ctypes
import os
import signal
import sys

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def main() -> None:
    """Ask the kernel, check that the parent still exists (it may have ended before), and exec the command."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() == int(sys.argv[1]):
        os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 (no shell is wanted)


if __name__ == "__main__":
    main()
