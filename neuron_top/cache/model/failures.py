"""Reads from `model.log` why a compile failed, when, and whether a retry can help.

A log has `Failed compilation with [<argument list>]:` and a message, sometimes followed by the client's version. The
classes are those of the published table: a graph that the compiler rejects will fail again (deterministic); a compile
that the machine made fail need not (environment). An empty message points to a compiler that was killed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache

import msgspec

from neuron_top.escapes import strip_ansi, visible
from neuron_top.parsers.failure_signs import ERROR_CODE, FAILURE

READ_BYTES = 256 * 1024
"""Most bytes that are read of a log; longer ones have a traceback, whose beginning tells all that matters."""


class FailureKind(StrEnum):
    """Whether a retry can help."""

    DETERMINISTIC = "deterministic"
    """It fails again until graph, compiler or flags change."""
    ENVIRONMENT = "environment"
    """The machine made the compile fail, not the graph."""
    UNKNOWN = "unknown"


class FailureClass(StrEnum):
    """Why a compile failed."""

    DISK = "disk"
    MEMORY = "memory"
    """The host's memory: the compiler was killed for want of it, or an allocation failed."""
    LIMITS = "limits"
    """The number of processes, threads or open files that this user or this machine may have."""
    FILES = "files"
    """A file that cannot be read, written, loaded or locked: permissions, or a read-only, noexec or failing file
    system."""
    INTERRUPTED = "interrupted"
    INSTALLATION = "installation"
    TOO_LARGE = "too large"
    """The graph is too large for the memory or the instruction limit of the device."""
    REJECTED = "rejected"
    """The compiler rejected the graph, with an error of its own."""
    UNKNOWN = "unknown"

    @property
    def kind(self) -> FailureKind:
        """Whether a retry can help."""
        return _KINDS[self]


_ENVIRONMENT = (
    FailureClass.DISK,
    FailureClass.MEMORY,
    FailureClass.LIMITS,
    FailureClass.FILES,
    FailureClass.INTERRUPTED,
    FailureClass.INSTALLATION,
)
_KINDS = {
    **dict.fromkeys(_ENVIRONMENT, FailureKind.ENVIRONMENT),
    FailureClass.TOO_LARGE: FailureKind.DETERMINISTIC,
    FailureClass.REJECTED: FailureKind.DETERMINISTIC,
    FailureClass.UNKNOWN: FailureKind.UNKNOWN,
}


class Failure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A cached failure, read from `model.log`."""

    cause: FailureClass
    code: str | None
    message: str
    at: float | None
    """When the compile failed, even if the failure was replayed days later; None if the log does not say."""

    @property
    def kind(self) -> FailureKind:
        """Whether a retry can help."""
        return self.cause.kind


_TIME = re.compile(r"\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z")
_CLIENT = re.compile(r"\[libneuronxla [^\]]*\]\]?\s*\Z")
_BACKEND = re.compile(r"Non-signal exit\. Backend exited with code -?\d+ and stderr:\s*")


def read_failure(text: str) -> Failure | None:
    """The failure that a log holds; None if the text does not start as one."""
    if not text.startswith(FAILURE):
        return None
    return failure_of(_message(text))


def failure_of(message: str) -> Failure:
    """The failure that a compiler's message describes; its colors say nothing."""
    message = strip_ansi(message)
    stamp = _TIME.search(message)
    code = ERROR_CODE.search(message)
    return Failure(
        cause=class_of(message) if message else FailureClass.MEMORY,  # a compiler that was killed leaves no message
        code=code[1] if code else None,
        message=_shortened(message),
        at=_epoch(stamp[1]) if stamp else None,
    )


def class_of(message: str) -> FailureClass:
    """The class of a compile that failed with this message."""
    return next((cause for cause, pattern in _rules() if pattern.search(message)), FailureClass.UNKNOWN)


@cache
def _rules() -> tuple[tuple[FailureClass, re.Pattern[str]], ...]:
    """Classes and their patterns, in order of precedence. Compiled only when a first failure is read."""
    return (
        (
            FailureClass.DISK,
            re.compile(r"No space left on device|Disk quota exceeded|\berrno (?:28|122)\b", re.IGNORECASE),
        ),
        (
            FailureClass.TOO_LARGE,
            re.compile(r"\bNCC_EOOM\d*|\bXCG815\b|exceeds (?:HBM limit|16GB)|\bLUR015\b|too many instructions"),
        ),
        (
            FailureClass.MEMORY,
            re.compile(
                r"\[F137\]|\bforcibly killed\b|\bSIGKILL\b|\bKilled\b|signal 9\b|oom-kill"
                r"|\bexit(?:ed)?(?: with)?(?: code| status)? -?(?:9|137)\b"
                r"|MemoryError|[Cc]annot allocate memory|std::bad_alloc|\bout of memory allocating\b|memory exhausted"
                r"|LLVM ERROR: out of memory"
            ),
        ),
        (
            FailureClass.INTERRUPTED,
            re.compile(
                r"\[F1(?:29|30|43)\]|KeyboardInterrupt|\bSIG(?:INT|TERM|HUP)\b|\bInterrupted\b|\bHangup\b"
                r"|\bended by signal (?:1|2|3|15)\b|\bcompile server ended\b"
            ),
        ),
        (
            FailureClass.INSTALLATION,
            re.compile(
                r"error while loading shared libraries|cannot open shared object|ModuleNotFoundError|ImportError"
                r"|InvalidCxxCompiler|fatal error: \S+\.h(?:pp)?: No such file|\bcannot find -l\w"
            ),
        ),
        (
            FailureClass.REJECTED,
            re.compile(r"\[(?:NCC_)?[A-Z]{3,5}\d{3}\]|\[NCC_[A-Z0-9_]+\]|\[F1\d\d\]|(?i:\bInternal\b.{0,40}\berror\b)"),
        ),
        # Last: a log with an error of the compiler's own may also complain of a file.
        (
            FailureClass.LIMITS,
            re.compile(
                r"Resource temporarily unavailable|[Cc]an't start new thread|Too many open files"
                r"|\[Errno (?:11|23|24|27)\]|File size limit exceeded|CPU time limit exceeded"
            ),
        ),
        (
            FailureClass.FILES,
            re.compile(
                r"Input/output error|Read-only file system|Stale file handle|No usable temporary directory"
                r"|Permission denied|\[Errno (?:1|5|13|30|116)\]|Cannot create temporary file"
                r"|The file lock .+ could not be acquired|failed to map segment from shared object"
            ),
        ),
    )


def _message(text: str) -> str:
    """What follows the argument list, which may have brackets of its own in quoted flags."""
    _, mark, rest = text.partition("']:")
    if not mark:
        _, mark, rest = text.partition("]:")
    return _CLIENT.sub("", rest).strip() if mark else text[len(FAILURE) :].strip()


def _shortened(message: str) -> str:
    """The first line with an error code, else the first line, without time stamp, safe to show; at most 500
    characters."""
    lines = [_BACKEND.sub("", _TIME.sub("", line)).strip() for line in message.splitlines()]
    coded = next((line for line in lines if ERROR_CODE.search(line)), None)
    return visible((coded or next((line for line in lines if line), ""))[:500])


def _epoch(stamp: str) -> float | None:
    try:
        return datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
