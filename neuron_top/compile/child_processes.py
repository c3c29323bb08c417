"""Child processes as every compiler needs them: they end with their parent, are reaped, and their peak memory is
measured."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable

from neuron_top.compile.child_output import ChildOutput

_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS = 2.0
FORK_GRACE_SECONDS, LOOK_SECONDS = 1.0, 0.01
"""How long the C++ compiler may take to delete its temporary files after a request to end, and between two looks."""
_POLL_MILLISECONDS = 200


def die_with_parent() -> Callable[[], None]:
    """A function to call in a new child, after which the kernel kills the child when the thread that started it
    ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def arrange() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the call
            os._exit(1)

    return arrange


def wait_with_usage(process: subprocess.Popen[bytes], output: ChildOutput) -> tuple[int, int | None]:
    """Take a child's output until it ends; its exit status (negative: a signal) and its largest process's peak bytes.

    A process that the child left behind may keep the output open; only the child's own end counts.
    """
    waiting = select.poll()
    waiting.register(output, select.POLLIN)
    while not output.ended:
        if waiting.poll(_POLL_MILLISECONDS):
            output.take()
        if (ended := _ended(process, os.WNOHANG)) is not None:
            return ended
    ended = _ended(process, 0)
    if ended is None:
        raise AssertionError("waiting without WNOHANG gives a status")
    return ended


def _ended(process: subprocess.Popen[bytes], options: int) -> tuple[int, int | None] | None:
    pid, status, usage = os.wait4(process.pid, options)
    if not pid:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024


def end_fork(pid: int) -> None:
    """End a fork that leads its own session, with the tools it started, and reap it.

    The C++ compiler gets a second to delete its temporary files.
    """
    deadline, is_reaped = time.monotonic() + FORK_GRACE_SECONDS, False
    if not signal_group(pid, signal.SIGTERM):  # it has no session of its own yet, and so no tools
        os.kill(pid, signal.SIGKILL)
    try:
        while (not is_reaped or signal_group(pid, 0)) and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
            is_reaped = is_reaped or bool(os.waitpid(pid, os.WNOHANG)[0])
    finally:
        signal_group(pid, signal.SIGKILL)
        if not is_reaped:
            os.waitpid(pid, 0)


def signal_group(leader: int, number: int) -> bool:
    """Send a signal to a process group; False if there is no such group."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a child that leads its own session, with everything it started: SIGTERM first, then SIGKILL."""
    if process.returncode is not None:
        return
    for number, patience in ((signal.SIGTERM, _GRACE_SECONDS), (signal.SIGKILL, None)):
        signal_group(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            break
