"""Every exception the project raises on purpose, as one tree.

NeuronTopError                 a clear sentence for the user; `exit_code` is what the program then ends with
├── UsageError          2      the command line or the settings are wrong
├── NothingToShow       3      asked for something that is not there
├── RefusedForSafety    4      could be done, but might do harm
├── LimitReached        4      too many at once, or too often, for one who shares with others
├── GraphNotCompiled    1      a graph is not in the cache, and a miss is to be an error
├── FileMalformed       1      a file is not what it should be: path, line, what was expected
└── CompileError        1      a graph could not be compiled
    ├── CompilerMissing        the compiler itself cannot be run here
    ├── CompilerKilled         a signal ended it (-9: usually host memory)
    ├── CachedFailure          the cache says this graph failed before
    └── CacheUnusable          the cache root cannot be read or written
        ├── CacheNotMade       there is no cache root, and none can be made
        └── DiskFull           a disk that a compile works on is full: the cache's or another
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class NeuronTopError(Exception):
    """Base of all: its text is shown to the user as it is, without a traceback."""

    exit_code: ClassVar[int] = 1


class UsageError(NeuronTopError):
    """The command line, an environment variable or the settings file asks for something impossible."""

    exit_code = 2


class NothingToShow(NeuronTopError):
    """The thing asked for does not exist: no such run, no cache, no device."""

    exit_code = 3


class RefusedForSafety(NeuronTopError):
    """It could be done, but might harm a running job, lose data or run code of somebody else's."""

    exit_code = 4


class ReadOnlyMode(RefusedForSafety):
    """A change was asked for, and the settings or --read-only forbid every change."""

    def __init__(self, text: str = "read-only mode: nothing is changed") -> None:
        super().__init__(text)


class LimitReached(NeuronTopError):
    """More of something was asked for than one may have of it at a time."""

    exit_code = 4


def is_thread_limit(problem: RuntimeError) -> bool:
    """Whether Python could not start a thread, as the user may have no more."""
    return str(problem) == "can't start new thread"


class GraphNotCompiled(NeuronTopError):
    """The cache has no artifact for a graph, and `NEURONTOP_ON_MISS=error` forbids to compile it here."""


class FileMalformed(NeuronTopError):
    """A file does not hold what its place promises.

    `line` is 1-based, or None where the file has no lines; `expected` completes "expected …".
    """

    def __init__(self, path: Path | str, expected: str, line: int | None = None) -> None:
        self.path, self.line, self.expected = Path(path), line, expected
        place = f"{path}, line {line}" if line is not None else str(path)
        super().__init__(f"{place}: expected {expected}")


class CompileError(NeuronTopError):
    """A graph was not compiled. `module` is its cache key, `log` what the compiler said (may be empty)."""

    def __init__(self, message: str, *, module: str | None = None, log: str = "") -> None:
        self.module, self.log = module, log
        super().__init__(message)


class CompilerMissing(CompileError):
    """The compiler cannot be started on this machine."""


class CompilerKilled(CompileError):
    """The compile process was ended from outside, most often by the kernel's out-of-memory killer.

    It says nothing about the graph: it is tried once more, and never stored as the graph's failure.
    """


class CachedFailure(CompileError):
    """The cache holds a failure for this graph and was not asked to retry it."""


class CacheUnusable(CompileError):
    """The cache root cannot be used: a file in its place, no permission, no space left."""


class CacheNotMade(CacheUnusable):
    """The cache root is not there, and its disk is full or not this user's to write to."""


class DiskFull(CacheUnusable):
    """A compile found no room: on the cache's disk, on that of its own scratch, or by a quota."""
