"""Decides what the end of a compile process means: a fault of the graph, of the machine, or a full disk.

Only a fault of the graph is worth storing, because only that occurs again for everybody who asks. A process that was
killed (the kernel's out-of-memory killer, a person, a scheduler) says nothing about its graph, and neither does a
missing library or a full disk. A compiler that crashes by itself (a segmentation fault) does say something: its input
makes it crash. A process that is killed for memory each time looks like any other that is killed: it is reported, and
the next process that asks for the graph tries again, as it may have more memory or fewer neighbors.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

from neuron_top.cache.model.failures import FailureClass, class_of
from neuron_top.compile.wrapper.cache_root import FULL
from neuron_top.errors import CompileError, CompilerKilled, CompilerMissing, DiskFull

_CRASHES = frozenset(
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS")
    if hasattr(signal, name)
)
"""Signals that a process brings upon itself."""
_OUTSIDE = frozenset(signal.valid_signals()) - _CRASHES
"""All others, which come from outside."""
_SHELL_BASE = 128
_FULL_BYTES = 1 << 20
"""A disk with less room than this is full for a compiler: a failure on it proves nothing, whatever was printed."""
_LOW_BYTES = 16 << 20
"""A disk with less room than this is probably the one that was full: unfinished files are deleted by now."""
_ADVICE: dict[int, str] = {
    signal.SIGKILL: "most often the host's memory ran out: compile fewer graphs at a time, or free some memory",
}
_ENDED = {
    FailureClass.MEMORY: "ran out of memory or was killed for it",
    FailureClass.LIMITS: "met a limit of processes, threads or open files, which ulimit -u and -n raise",
    FailureClass.INTERRUPTED: "was interrupted",
}
"""Errors that may be gone a moment later."""
_LACKING = {
    FailureClass.INSTALLATION: "the compiler's installation lacks a part: install what its output names",
    FailureClass.FILES: "the compiler cannot read or write a file that it needs: mend what its output names",
}


def failure(status: int, log: str, module: str, places: Iterable[Path], process: str) -> CompileError | None:
    """The exception for the end of a compile process; None if it succeeded.

    `status` is negative for a signal; `log` the end of what it said; `places` the folders that it wrote to; `process`
    names it in the message.
    """
    if status == 0:
        return None
    cause, number = class_of(log), _signal(status)
    if cause is FailureClass.DISK or (number not in _OUTSIDE and full_place(places, _FULL_BYTES)):
        return disk_full(places, module, log)
    if number in _OUTSIDE:
        return killed(process, number, module, log)
    if number:
        return CompileError(f"{process} crashed: {signal_text(number)}", module=module, log=log)
    if cause in _ENDED:
        return CompilerKilled(f"{process} {_ENDED[cause]} ({_last_line(log, cause)})", module=module, log=log)
    if cause in _LACKING:
        return CompilerMissing(f"{_LACKING[cause]} ({_last_line(log, cause)})", module=module, log=log)
    return CompileError(f"the compile failed: {_last_line(log) or f'exit status {status}'}", module=module, log=log)


def killed(process: str, number: int, module: str | None = None, log: str = "") -> CompilerKilled:
    """The exception for a death by a signal from outside."""
    advice = _ADVICE.get(number, "somebody ended it")
    return CompilerKilled(f"{process} was ended by {signal_text(number)}: {advice}", module=module, log=log)


def disk_full(places: Iterable[Path], module: str | None, log: str = "") -> DiskFull:
    """The exception for a compile that found no room; it names the fullest of the places."""
    place = full_place(places, _LOW_BYTES)
    where = f"the disk of {place} is full" if place else "a disk that the compiler writes to is full"
    advice = "free some space, or set TMPDIR and TORCHINDUCTOR_CACHE_DIR to a disk that has some"
    return DiskFull(f"no space left to compile {module or 'a graph'}: {where}: {advice}", module=module, log=log)


def full_place(places: Iterable[Path], least_bytes: int = _LOW_BYTES) -> Path | None:
    """The first of these folders whose disk has less than `least_bytes` or no inode left."""
    return next((place for place in places if (free := _free_bytes(place)) is not None and free < least_bytes), None)


def chain(problem: BaseException) -> Iterator[BaseException]:
    """An exception with its causes and contexts, each once."""
    seen: set[int] = set()
    left: list[BaseException | None] = [problem]
    while left:
        one = left.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        left += [one.__cause__, one.__context__]


def is_disk_full(problem: BaseException) -> bool:
    """Whether a full disk (or a spent quota) is at the root of an exception."""
    for one in chain(problem):
        if isinstance(one, DiskFull) or (isinstance(one, OSError) and one.errno in FULL):
            return True
        if not isinstance(one, OSError) and any(os.strerror(number) in str(one) for number in FULL):
            return True  # the words of a tool, such as the C++ compiler
    return False


def signal_text(number: int) -> str:
    """`signal 9 (SIGKILL)`."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _signal(status: int) -> int:
    """The signal that ended the process, also where a shell around it reports it (128 + n); 0 for none."""
    if status < 0:
        return -status
    number = status - _SHELL_BASE
    return number if number in signal.valid_signals() and number < signal.SIGRTMIN else 0


def _last_line(log: str, cause: FailureClass | None = None) -> str:
    """The last line that contains `cause`, or else the last line: the C++ compiler's last lines are of no use."""
    lines = log.splitlines()
    telling = (line for line in reversed(lines) if cause is not None and class_of(line) is cause)
    return next(telling, lines[-1]) if lines else ""


def _free_bytes(place: Path) -> int | None:
    """Free bytes on the disk of a folder that may not exist yet, 0 where no inode is left; None if unknown."""
    for folder in (place, *place.parents):
        try:
            facts = os.statvfs(folder)
        except OSError as problem:
            if problem.errno in (errno.ENOENT, errno.ENOTDIR):
                continue
            break
        if not facts.f_blocks:  # a file system that counts none
            return None
        return 0 if facts.f_files and not facts.f_favail else facts.f_bavail * facts.f_frsize
    return None
