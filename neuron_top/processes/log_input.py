"""Reads one log as a stream of bytes, whatever its name refers to: a file, compressed data, a pipe, or no log at all.

A pipe that nobody writes to yet is waited for, with a remark. Folders, sockets and devices are refused in words:
reading `/dev/zero` would never end.
"""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import select
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from neuron_top.errors import UsageError
from neuron_top.plain_files import last_change, open_plain

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

CHUNK_BYTES = 1 << 20
STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_XZ = b"\xfd7zXZ\0"
_BZIP2 = tuple(b"BZh%d1AY&SY" % level for level in range(1, 10))
_BEGINNINGS = (_GZIP, _ZSTD, _XZ, *_BZIP2)
"""The first bytes of each compressor's data."""
_UNREAD = {
    b"\x04\x22\x4d\x18": "lz4",
    b"\x02\x21\x4c\x18": "lz4",
    b"\x1f\x9d": "compress (.Z)",
    b"\x1f\xa0": "compress (.Z)",
    b"\x5d\0\0": "lzma",
    b"LZIP\x01": "lzip",
    b"\x89LZO\0": "lzop",
    b"\xff\x06\0\0sNaPpY": "Snappy",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
}
"""The same for compressors that we do not read, with their names."""
_ALL_BEGINNINGS = (*_BEGINNINGS, *_UNREAD)
_FRAME_READ = 1 << 16
_FRAME_OUT = 1 << 20
"""Bytes that are decompressed at a time."""
_XZ_MEMORY = 1 << 28
"""Memory limit for xz; the strongest level of its own command takes a quarter of it."""
_ZSTD_WINDOW = 27
"""Binary logarithm of the bytes that a frame may look back, as zstd's own command allows without being asked."""
_MOST_UNPACKED = 4 * 1024**3
_MOST_TIMES = 500
"""Decompression stops if both this many bytes and this many times the compressed size have come out: repetitive logs
are compressed a hundred times, data that is made to fill a machine a thousand times."""
_QUIET_SECONDS = 1.0
"""Seconds without a writer after which a remark says that a pipe is waited for."""
Notify = Callable[[str], None]


def quiet(remark: str) -> None:
    """Does nothing: the `notify` of a caller that shows no remarks."""


def portions(name: str, notify: Notify, standard_input: IO[bytes] | None = None) -> Iterator[bytes]:
    """The bytes of a log, a megabyte at a time; `-` is `standard_input`.

    `notify`: takes remarks for the person. Raises UsageError, with name and reason, if it cannot be read.
    """
    try:
        with _opened(name, notify, standard_input) as file:
            yield from _read(name, file, notify)
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UsageError(f"cannot read {name}: {reason}") from None


def changed_at(name: str) -> float:
    """When a log was last written to, in seconds since the epoch; now for standard input and for a missing file."""
    changed = None if name == STANDARD_INPUT else last_change(name)
    return time.time() if changed is None else changed


def refusal(mode: int, descriptor: int | None = None) -> str:
    """Why a file with this `st_mode` is not a log, in words; "" if it may be one. A terminal and /dev/null are read."""
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
    """Whether a character device is one that people use instead of a log: a terminal, or /dev/null."""
    return os.isatty(descriptor) or os.fstat(descriptor).st_rdev == Path(os.devnull).stat().st_rdev


@contextmanager
def _opened(name: str, notify: Notify, standard_input: IO[bytes] | None) -> Iterator[IO[bytes]]:
    if name == STANDARD_INPUT:
        if standard_input is None:
            raise UsageError("standard input (-) is closed; name a file")
        yield standard_input
        return
    reason = refusal(Path(name).stat().st_mode)  # before opening: a socket cannot be opened
    if reason:
        raise UsageError(f"cannot read {name}: {reason}")
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe without a writer must not block us
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        reason = refusal(mode, descriptor)
        if reason:
            raise UsageError(f"cannot read {name}: {reason}")
        if stat.S_ISFIFO(mode):
            _wait_for_a_writer(name, descriptor, notify)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~os.O_NONBLOCK)
        yield file


def _wait_for_a_writer(name: str, descriptor: int, notify: Notify) -> None:
    """Return when there is something to read, or when a writer has come and gone."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(_QUIET_SECONDS * 1000):
        notify(f"neurontop: {name}: waiting until something writes to this pipe (Ctrl-C ends)")
        poll.poll()


def _read(name: str, file: IO[bytes], notify: Notify) -> Iterator[bytes]:
    read = _reader(file)
    first = read(CHUNK_BYTES)
    while first and any(len(first) < len(beginning) and beginning.startswith(first) for beginning in _ALL_BEGINNINGS):
        more = read(CHUNK_BYTES)
        if not more:
            break
        first += more
    if first.startswith(_BEGINNINGS):
        yield from _unpacked(name, first, file, notify)
        return
    unread = next((compressor for beginning, compressor in _UNREAD.items() if first.startswith(beginning)), "")
    if unread:
        raise ValueError(f"it is packed with {unread}; unpack it first (gzip, zstd, xz and bzip2 are read as they are)")
    while first:
        yield first
        first = read(CHUNK_BYTES)


def has_compressed_data(path: str) -> bool:
    """Whether a plain file has compressed data, readable for us or not; False if it cannot be opened."""
    try:
        with open(open_plain(path, follow=True), "rb") as file:
            return file.read(max(map(len, _ALL_BEGINNINGS))).startswith(_ALL_BEGINNINGS)
    except OSError:
        return False


def _reader(file: IO[bytes]) -> Callable[[int], bytes]:
    """A function that reads what is available without waiting for more, so that a pipe is shown while it is written."""
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    return read


def _unpacked(name: str, first: bytes, file: IO[bytes], notify: Notify) -> Iterator[bytes]:
    """Decompress data whose beginning was read already. Raises ValueError if it is not a log."""
    source = _Continued(first, file)
    inner = _gzip(name, source, notify) if first.startswith(_GZIP) else _frames(source.read1, _frame_kind(first))
    unpacked = 0
    for data in inner:
        unpacked += len(data)
        if unpacked > _MOST_UNPACKED and unpacked > _MOST_TIMES * source.taken:
            raise ValueError(f"more than {unpacked >> 20} MiB come out of {source.taken} bytes: that is not a log")
        yield data


def _gzip(name: str, source: _Continued, notify: Notify) -> Iterator[bytes]:
    """Decompress a gzip file; other data after its end is reported."""
    begun = False
    with gzip.open(io.BufferedReader(source)) as inner:
        try:
            while data := inner.read1(CHUNK_BYTES):
                begun = True
                yield data
        except gzip.BadGzipFile as problem:
            if not begun or not str(problem).startswith("Not a gzipped file"):
                raise
            notify(f"neurontop: {name}: the bytes after the end of the gzip data are not gzip data and are skipped")


class _Continued(io.RawIOBase):
    """A stream whose beginning was read already."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._read = first, _reader(rest)
        self.taken = 0
        """Bytes that were read of it."""

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill the buffer from the beginning, then from the stream."""
        view = memoryview(buffer).cast("B")
        data = self.read1(len(view))
        view[: len(data)] = data
        return len(data)

    def read1(self, length: int) -> bytes:
        """Read at most `length` bytes that are there now; empty at the end."""
        data = self._first[:length] or self._read(length)
        self._first = self._first[len(data) :]
        self.taken += len(data)
        return data


class _Frame(Protocol):
    """The interface of Python's decompressors of one frame."""

    @property
    def eof(self) -> bool:
        """Whether the end of the frame was read."""

    @property
    def needs_input(self) -> bool:
        """Whether more input is needed for further output."""

    @property
    def unused_data(self) -> bytes:
        """The input after the end of the frame."""

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        """Decompress `data`, at most this many bytes; the next call gives the rest."""


class _FrameKind(NamedTuple):
    """The format of one compressor: frames one after another."""

    name: str
    new: Callable[[], _Frame]
    problem: type[Exception]
    """Exceptions of the decompressor for damaged data."""
    padding: bytes = b""
    """Padding that may be between frames."""


def _frame_kind(first: bytes) -> _FrameKind:
    """The compressor of data with this beginning. Raises ValueError if this Python was built without it."""
    try:
        if first.startswith(_ZSTD):
            return _zstd()
        if first.startswith(_XZ):
            import lzma  # each is imported only when it is needed

            return _FrameKind("xz", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY), lzma.LZMAError, b"\0")
        import bz2

        return _FrameKind("bzip2", bz2.BZ2Decompressor, OSError)
    except ModuleNotFoundError as problem:
        raise ValueError(f"this Python was built without {problem.name}, which unpacks it") from None


def _zstd() -> _FrameKind:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW}
    return _FrameKind("zstd", lambda: zstd.ZstdDecompressor(options=options), zstd.ZstdError)


def _frames(read: Callable[[int], bytes], kind: _FrameKind) -> Iterator[bytes]:
    """Decompress the frames of this data. Raises EOFError if they are cut off, ValueError if they are damaged."""
    # The libraries' own stream readers do not all tell an end from cut-off data, so frames are read one by one.
    frame, begun = kind.new(), False
    try:
        while data := read(_FRAME_READ):
            begun = True
            while data:
                if frame.eof:
                    data = data.lstrip(kind.padding)
                    if not data:
                        break
                    frame = kind.new()
                yield frame.decompress(data, _FRAME_OUT)
                while not (frame.eof or frame.needs_input):
                    yield frame.decompress(b"", _FRAME_OUT)
                data = frame.unused_data if frame.eof else b""
    except kind.problem as problem:
        raise ValueError(f"damaged {kind.name} data: {problem}") from None
    if begun and not frame.eof:
        raise EOFError("its compressed data ends before its end-of-stream marker")
