"""One log as a stream of bytes, whatever stands under its name: a file, a gzip file, a pipe, or no log at all.

A pipe that nobody writes to yet is waited for, and that is said. Folders, sockets and devices are refused in words:
reading `/dev/zero` would never end.
"""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import select
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from neuron_top.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

CHUNK_BYTES = 1 << 20
STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_QUIET_SECONDS = 1.0
"""How long nobody may write to a pipe before it is said that it is waited for."""
Tell = Callable[[str], None]


def quiet(remark: str) -> None:
    """Take remarks for nobody."""


def portions(name: str, tell: Tell, standard_input: IO[bytes] | None = None) -> Iterator[bytes]:
    """The bytes of a log, a megabyte at a time; `-` is `standard_input`. `tell`: takes remarks for the person.

    Raises UsageError, with the name and the reason, where it cannot be read.
    """
    try:
        with _opened(name, tell, standard_input) as file:
            yield from _read(name, file, tell)
    except (OSError, EOFError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UsageError(f"cannot read {name}: {reason}") from None


def refusal(mode: int, descriptor: int | None = None) -> str:
    """Why something of this `st_mode` is no log, in words; "" = it may be one. A terminal and /dev/null are read."""
    if stat.S_ISDIR(mode):
        return "it is a folder; name the files in it"
    if stat.S_ISSOCK(mode):
        return "it is a socket, not a log"
    if stat.S_ISBLK(mode):
        return "it is a device, not a log"
    if stat.S_ISCHR(mode) and descriptor is not None and not _ends(descriptor):
        return "it is a device without an end, not a log"
    return ""


def _ends(descriptor: int) -> bool:
    """Whether a character device is one that people name instead of a log: a terminal, or the one that is empty."""
    return os.isatty(descriptor) or os.fstat(descriptor).st_rdev == Path(os.devnull).stat().st_rdev


@contextmanager
def _opened(name: str, tell: Tell, standard_input: IO[bytes] | None) -> Iterator[IO[bytes]]:
    if name == STANDARD_INPUT:
        if standard_input is None:
            raise UsageError("- is standard input, and it is closed")
        yield standard_input
        return
    reason = refusal(Path(name).stat().st_mode)  # before opening: a socket cannot be opened
    if reason:
        raise UsageError(f"cannot read {name}: {reason}")
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer must not hold us
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        reason = refusal(mode, descriptor)
        if reason:
            raise UsageError(f"cannot read {name}: {reason}")
        if stat.S_ISFIFO(mode):
            _wait_for_a_writer(name, descriptor, tell)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~os.O_NONBLOCK)
        yield file


def _wait_for_a_writer(name: str, descriptor: int, tell: Tell) -> None:
    """Return when there is something to read, or when a writer has come and gone."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(_QUIET_SECONDS * 1000):
        tell(f"neurontop: {name}: waiting until something writes to this pipe (Ctrl-C ends)")
        poll.poll()


def _read(name: str, file: IO[bytes], tell: Tell) -> Iterator[bytes]:
    read = _reader(file)
    first = read(CHUNK_BYTES)
    if len(first) == 1:
        first += read(CHUNK_BYTES)
    if first[:2] == _GZIP:
        yield from _unpacked(name, first, file, tell)
        return
    while first:
        yield first
        first = read(CHUNK_BYTES)


def _reader(file: IO[bytes]) -> Callable[[int], bytes]:
    """How to read what is there now, without waiting for the rest: a pipe is shown while it is written."""
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    return read


def _unpacked(name: str, first: bytes, file: IO[bytes], tell: Tell) -> Iterator[bytes]:
    """What is in a gzip file, of which the beginning was read already; what a tool has left behind its end is told."""
    begun = False
    with gzip.open(io.BufferedReader(_Continued(first, file))) as inner:
        try:
            while data := inner.read1(CHUNK_BYTES):
                begun = True
                yield data
        except gzip.BadGzipFile as problem:
            if not begun or not str(problem).startswith("Not a gzipped file"):
                raise
            tell(f"neurontop: {name}: what stands behind the end of the gzip data is no gzip data and is left out")


class _Continued(io.RawIOBase):
    """A stream of which the beginning was read already."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._read = first, _reader(rest)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill the buffer from the beginning, then from the stream."""
        view = memoryview(buffer).cast("B")
        data = self._first[: len(view)] or self._read(len(view))
        self._first = self._first[len(data) :]
        view[: len(data)] = data
        return len(data)
