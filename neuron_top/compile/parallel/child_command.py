"""Runs a command to its end, passes its output on as it comes, and leaves no process of it behind, however it ends.

A launcher starts its workers in sessions of their own, which a signal to the process group does not reach. While the
command runs we are therefore the reaper of its orphans: a process that loses its parent becomes our child and is found.
Should we be killed ourselves, `guard` ends them: it knows them by a name in their environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from neuron_top.compile.child_processes import die_with_parent
from neuron_top.errors import UsageError

MARK_VARIABLE = "NEURONTOP_CHILD"
"""A variable in the environment of the command and of all that it starts; the guard finds them by its value."""
_GUARD = Path(__file__).with_name("guard.py")
_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE_SECONDS = 10.0
"""How long a command may take to end after an interrupt before it is killed (torchrun ends its workers first)."""
_DRAIN_SECONDS = 1.0

Output = Callable[[int, bytes], None]
"""Called with what the command wrote: file descriptor (1 or 2) and bytes."""


def run_child(command: Sequence[str], environ: Mapping[str, str], output: Output) -> int:
    """Run `command`; returns its exit status (negative for a signal).

    Raises UsageError when there is no such command. An interrupt goes to the command, all its processes are ended,
    then KeyboardInterrupt is raised.
    """
    mark = uuid.uuid4().hex
    with _reaping_orphans(), _guarded(f"{MARK_VARIABLE}={mark}"):
        before = {child.pid for child in psutil.Process().children(recursive=True)}
        process = _start(command, {**environ, MARK_VARIABLE: mark})
        try:
            _pass_on(process, output)
            return process.wait()
        except KeyboardInterrupt:
            _interrupt(process)
            raise
        finally:
            _end_all(process, before)


@contextlib.contextmanager
def _guarded(mark: str) -> Iterator[None]:
    """Within the block, a guard is ready to end all processes that carry `mark`, should this process be killed."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(_GUARD), mark], stdin=subprocess.PIPE, start_new_session=True
    ) as guard:
        try:
            yield
        finally:
            with contextlib.suppress(BrokenPipeError):
                guard.communicate(b"all is well\n")


def _start(command: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command),
            env=dict(environ),
            stdin=subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            preexec_fn=die_with_parent(),
        )
    except FileNotFoundError:
        raise UsageError(f"no such command: {command[0]}") from None
    except OSError as problem:
        raise UsageError(f"{command[0]} cannot be started: {problem.strerror}") from None


def _pass_on(process: subprocess.Popen[bytes], output: Output) -> None:
    """Pass output on until both streams end, or the command has ended and a process it left keeps them open."""
    ended_at: float | None = None
    with selectors.DefaultSelector() as selector:
        for number, stream in ((1, process.stdout), (2, process.stderr)):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, number)
        while selector.get_map():
            for key, _ in selector.select(0.2):
                if data := os.read(key.fd, 65536):
                    output(key.data, data)
                else:
                    selector.unregister(key.fileobj)
            if ended_at is None and process.poll() is not None:
                ended_at = time.monotonic()
            if ended_at is not None and time.monotonic() - ended_at > _DRAIN_SECONDS:
                return


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    drains = [
        threading.Thread(target=stream.read, daemon=True) for stream in (process.stdout, process.stderr) if stream
    ]
    for drain in drains:  # a full pipe would keep it from ending
        drain.start()
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.wait(_PATIENCE_SECONDS)


def _end_all(process: subprocess.Popen[bytes], before: set[int]) -> None:
    """End what is left of the command: SIGTERM first, then SIGKILL."""
    for number, patience in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
        left = _living_children(before)
        for member in left:
            with contextlib.suppress(psutil.Error):
                member.send_signal(number)
        if left:
            psutil.wait_procs(left, timeout=patience)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1.0)


def _living_children(before: set[int]) -> list[psutil.Process]:
    """All our descendants that did not exist before the command: it, its descendants, and its orphans."""
    return [child for child in psutil.Process().children(recursive=True) if child.pid not in before and _lives(child)]


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


@contextlib.contextmanager
def _reaping_orphans() -> Iterator[None]:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0)
