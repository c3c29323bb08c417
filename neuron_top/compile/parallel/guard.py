"""Ends the processes that a command left behind when the pre-compile that ran it was killed: `guard.py MARK`.

A killed process cannot clean up, and the workers of a launcher live in sessions of their own, wait for each other and
would stay for hours. So this process waits on a pipe from the pre-compile: a line on it means that the command ended
normally; the pipe's end without a line means that the pre-compile is gone, and every process whose environment contains
MARK is killed.

Run as a file, not as a module: it needs the standard library alone and starts in milliseconds.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path


def marked(mark: bytes) -> Iterator[int]:
    """Living processes, other than this one, that were started with `mark` as a line of their environment."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def main() -> None:
    """Wait for a line or the end of standard input; at its end, kill the marked processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stdin.buffer.readline():
        return
    # A process may start another while we look: look again until there is none.
    while found := list(marked(sys.argv[1].encode())):
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
